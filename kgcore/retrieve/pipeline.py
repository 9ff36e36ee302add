"""The retriever: seed, expand, rank, render, ground, summarize."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from typing import Any

from kgcore.errors import ConfigError
from kgcore.filters import AccessFilter, filter_dict
from kgcore.models.offline import OfflineEmbedder
from kgcore.models.protocol import ChatModel, Embedder, Reranker
from kgcore.retrieve.expand import walk
from kgcore.retrieve.export import retrieval_dict
from kgcore.retrieve.ground import ground
from kgcore.retrieve.rank import rank
from kgcore.retrieve.render import fact_documents
from kgcore.retrieve.score import Coverage
from kgcore.retrieve.seed import Seeder
from kgcore.retrieve.settings import NAME_LISTS, check_names, check_question, no_chat_model, resolve
from kgcore.retrieve.summarize import answer_pieces, retrieved_text
from kgcore.retrieve.summarize import summarize as with_answer
from kgcore.store.protocol import DocumentRetriever, GraphStore
from kgcore.types import Description, Ontology, Retrieval, Scoring, SeedMode, Settings, Trace, Vector


class KnowledgeGraphRetriever:
    """Retrieves facts for a question by a beam search over visible edges, and keeps the trace of it.

    `filters` is the locked filter: AND-ed with every caller's, and shown nowhere. `scoring` is `coverage` or
    `edge`. `beam_width` defaults to `top_k // max_hops`. Raises ConfigError for settings out of bounds and for
    `summarize` without an `llm`, FilterError for a bad locked filter.
    """

    def __init__(
        self,
        store: GraphStore,
        *,
        embedder: Embedder | None = None,
        llm: ChatModel | None = None,
        ontology: Ontology | None = None,
        filters: Mapping[str, Any] | None = None,
        top_k: int = 50,
        max_hops: int = 1,
        beam_width: int | None = None,
        vector_top_k: int = 5,
        seed_by_query: bool = False,
        summarize: bool = False,
        document_reranker: Reranker | None = None,
        document_retriever: DocumentRetriever | None = None,
        scoring: Scoring = "coverage",
        hub_limit: int = 500,
        aliases: bool = True,
    ) -> None:
        self.store = store
        self.embedder = embedder
        self.llm = llm
        self.ontology = ontology
        self.filter = AccessFilter.of(filters, access_fields=store.access_fields)
        self.reranker = document_reranker
        self.documents = document_retriever
        self._defaults: dict[str, Any] = {
            "top_k": top_k,
            "max_hops": max_hops,
            "beam_width": beam_width,
            "vector_top_k": vector_top_k,
            "scoring": scoring,
            "hub_limit": hub_limit,
            "aliases": aliases,
            "summarize": summarize,
            "seed_mode": "query" if seed_by_query else "auto",
        }
        self._settings({}, self.filter)

    def retrieve(
        self,
        question: str,
        *,
        max_hops: int | None = None,
        top_k: int | None = None,
        entities: Sequence[str] | None = None,
        entity_ids: Sequence[str] | None = None,
        filters: Mapping[str, Any] | None = None,
        beam_width: int | None = None,
        seed_mode: SeedMode | None = None,
        entity_types: Sequence[str] | None = None,
        relations: Sequence[str] | None = None,
        scoring: Scoring | None = None,
        summarize: bool | None = None,
        hub_limit: int | None = None,
        aliases: bool | None = None,
        document_reranker: Reranker | None = None,
    ) -> Retrieval:
        """Facts, passages and the trace for one question.

        What is None takes the retriever's own value. `entity_types` limits what a model is asked to find in the
        question, else the ontology's types or all that are visible. Raises ConfigError (empty or over-long
        question, a value out of bounds, an unknown entity id), FilterError (with its path), StoreError. A model
        that fails is a warning in the trace.
        """
        given = {
            "max_hops": max_hops,
            "top_k": top_k,
            "beam_width": beam_width,
            "seed_mode": seed_mode,
            "scoring": scoring,
            "summarize": summarize,
            "hub_limit": hub_limit,
            "aliases": aliases,
            "entities": entities,
            "entity_ids": entity_ids,
            "entity_types": entity_types,
            "relations": relations,
        }
        given |= {name: check_names(given[name], name) for name in NAME_LISTS}
        reranker = document_reranker or self.reranker
        filter = self.filter.narrowed(filters)
        settings = self._settings({k: v for k, v in given.items() if v is not None}, filter, reranker)
        text = check_question(question)
        timings: dict[str, float] = {}
        warnings: list[str] = []
        with _timed(timings, "describe"):
            description = self.store.describe(self.filter)
            warnings += [*description.warnings, *_unknown_fields(filter, description)]
        with _timed(timings, "embed"):
            words = self.embedder if isinstance(self.embedder, OfflineEmbedder) else _offline()
            encoded = words.encode(text)
            vector = self._vector(text, description, encoded.vector, warnings)
            coverage = Coverage(words, encoded, text)
            if encoded.truncated:
                warnings.append("The question is long: only its first 256 wordpieces are scored.")
            scoring = settings.scoring
            if scoring == "edge" and vector is None:
                scoring = "coverage"
                warnings.append("Edge scoring needs the graph's vectors: coverage scoring is used.")
        with _timed(timings, "seed"):
            seeder = Seeder(
                reader=self.store,
                filter=filter,
                settings=settings,
                embedder=self.embedder,
                vector=vector,
                llm=self.llm,
                ontology=self.ontology,
                warnings=warnings,
            )
            seeds = seeder.find(text)
        with _timed(timings, "expand"):
            walked = walk(self.store, seeds, filter, replace(settings, scoring=scoring), coverage, vector)
        with _timed(timings, "rank"):
            ranked = rank(text, walked.hops, settings.top_k, reranker, warnings)
        with _timed(timings, "ground"):
            grounded = ground(ranked.facts, walked, seeds, coverage, vector, self.documents, filter, warnings)
            sources = grounded.documents
        result = Retrieval(
            content=retrieved_text(ranked.facts, sources),
            facts=ranked.facts,
            documents=fact_documents(ranked.facts),
            source_documents=sources,
            context="",
            trace=Trace(
                question=text,
                settings=settings,
                words=walked.words,
                seeds=seeds,
                hops=ranked.hops,
                result=tuple(fact.id for fact in ranked.facts),
                passages=grounded.passages,
                warnings=tuple(dict.fromkeys(warnings)),
            ),
            timings=timings,
        )
        if settings.summarize and self.llm is not None and ranked.facts:
            with _timed(timings, "summarize"):
                result = with_answer(result, self.llm)
        return result

    def answer(self, result: Retrieval) -> Iterator[str]:
        """The answer to a result's question, from its facts and passages, in pieces as the model writes them.

        A generator: closing it ends the writing. All pieces as one text go to `answered`. Nothing without facts.
        Raises ConfigError without an llm, ModelError while iterating.
        """
        if self.llm is None:
            raise no_chat_model("An answer", "summarize")
        return answer_pieces(result, self.llm)

    def run(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The same call as a dict in, dict out: `query` and the arguments of `retrieve`.

        Gives content, facts (as text), documents, source_documents, trace, timings, and context if summarized.
        Raises ConfigError for an argument that there is not.
        """
        known = {"query", *_ARGUMENTS}
        for name in arguments:
            if name not in known:
                raise ConfigError(f"There is no argument {name!r}.", remedy=f"Use one of {', '.join(sorted(known))}.")
        options = {name: value for name, value in arguments.items() if name != "query"}
        result = self.retrieve(arguments.get("query", ""), **options)
        return retrieval_dict(result)

    def _settings(self, given: Mapping[str, Any], filter: AccessFilter, reranker: Reranker | None = None) -> Settings:
        return resolve(
            {**self._defaults, **given},
            filters=filter_dict(filter.caller) if filter.caller is not None else None,
            reranker=reranker.name if reranker is not None else None,
            has_llm=self.llm is not None,
        )

    def _vector(self, text: str, description: Description, own: Vector, warnings: list[str]) -> Vector | None:
        """The question's vector, if the graph has vectors of this embedder."""
        if description.embedder is None:
            return None
        if self.embedder is None:
            warnings.append("No embedder was given: the graph's vectors are not used.")
            return None
        if (self.embedder.name, self.embedder.dimension) != (description.embedder, description.dimension):
            warnings.append(
                f"The graph's vectors were made by {description.embedder} ({description.dimension} numbers), not by "
                f"{self.embedder.name} ({self.embedder.dimension}): they are not used. Use that one or import again."
            )
            return None
        if isinstance(self.embedder, OfflineEmbedder):
            return own
        try:
            vector: Vector = self.embedder.embed([text])[0]
        except Exception:
            warnings.append(f"The embedder {self.embedder.name} failed: vectors are not used.")
            return None
        return vector


_ARGUMENTS = (
    "max_hops",
    "top_k",
    "entities",
    "entity_ids",
    "filters",
    "beam_width",
    "seed_mode",
    "entity_types",
    "relations",
    "scoring",
    "summarize",
    "hub_limit",
    "aliases",
)


@lru_cache(maxsize=1)
def _offline() -> OfflineEmbedder:
    return OfflineEmbedder()


def _unknown_fields(filter: AccessFilter, description: Description) -> list[str]:
    """Warnings for filter fields that no visible edge has, whether hidden ones have them or not."""
    known = {p.name for p in description.properties}
    shown = ", ".join(sorted(known)) or "none"
    return [
        f"No edge has a property {name!r}: conditions on it match nothing. Known: {shown}."
        for name in filter.caller_fields()
        if name not in known
    ]


@contextmanager
def _timed(timings: dict[str, float], stage: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    timings[stage] = round((time.perf_counter() - start) * 1000, 3)
