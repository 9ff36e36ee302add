"""The retriever: seed, expand, rank, render, ground, summarize."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from typing import Any, get_args

from kgcore.errors import ConfigError
from kgcore.filters import AccessFilter
from kgcore.models.offline import OfflineEmbedder
from kgcore.models.protocol import ChatModel, Embedder, Reranker
from kgcore.retrieve.expand import walk
from kgcore.retrieve.export import retrieval_dict
from kgcore.retrieve.ground import ground
from kgcore.retrieve.rank import rank
from kgcore.retrieve.render import fact_documents, facts_text
from kgcore.retrieve.score import Coverage
from kgcore.retrieve.seed import Seeder
from kgcore.retrieve.summarize import summarize as write_answer
from kgcore.store.protocol import DocumentRetriever, GraphStore
from kgcore.types import Description, Ontology, Retrieval, Scoring, SeedMode, Settings, Trace, Vector

MAX_QUESTION = 2_000
MAX_NAMES = 50
_BOUNDS = {
    "max_hops": (1, 4),
    "beam_width": (1, 1_000),
    "top_k": (1, 1_000),
    "hub_limit": (1, 10_000_000),
    "vector_top_k": (0, 100),
}


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
            "summarize": summarize,
            "seed_mode": "query" if seed_by_query else "auto",
        }
        self._settings({}, None)

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
        relations: Sequence[str] | None = None,
        scoring: Scoring | None = None,
        summarize: bool | None = None,
        hub_limit: int | None = None,
        document_reranker: Reranker | None = None,
    ) -> Retrieval:
        """Facts, passages and the trace for one question.

        What is None takes the retriever's own value. Raises ConfigError (empty or over-long question, a value
        out of bounds, an unknown entity id), FilterError (with its path), StoreError. A model that fails is a
        warning in the trace.
        """
        given = {
            "max_hops": max_hops,
            "top_k": top_k,
            "beam_width": beam_width,
            "seed_mode": seed_mode,
            "scoring": scoring,
            "summarize": summarize,
            "hub_limit": hub_limit,
            "entities": _names(entities, "entities"),
            "entity_ids": _names(entity_ids, "entity_ids"),
            "relations": _names(relations, "relations"),
        }
        reranker = document_reranker or self.reranker
        filter = self.filter.narrowed(filters)
        settings = self._settings({k: v for k, v in given.items() if v is not None}, filters, reranker)
        text = _question(question)
        timings: dict[str, float] = {}
        warnings: list[str] = []
        with _timed(timings, "describe"):
            description = self.store.describe(self.filter)
            warnings += _unknown_fields(filter, description)
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
            sources = ground(ranked.facts, self.documents, warnings)
        content = "\n\n".join(d.content for d in sources if d.content) or facts_text(ranked.facts)
        context = ""
        if settings.summarize and self.llm is not None and ranked.facts:
            with _timed(timings, "summarize"):
                answer = write_answer(text, f"{facts_text(ranked.facts)}\n\n{content}", self.llm, warnings)
            content, context = (answer, content) if answer else (content, "")
        return Retrieval(
            content=content,
            facts=ranked.facts,
            documents=fact_documents(ranked.facts),
            source_documents=sources,
            context=context,
            trace=Trace(
                question=text,
                settings=settings,
                words=walked.words,
                seeds=seeds,
                hops=ranked.hops,
                result=tuple(fact.id for fact in ranked.facts),
                warnings=tuple(dict.fromkeys(warnings)),
            ),
            timings=timings,
        )

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

    def _settings(
        self, given: Mapping[str, Any], filters: Mapping[str, Any] | None, reranker: Reranker | None = None
    ) -> Settings:
        values = {**self._defaults, **given}
        for name, (low, high) in _BOUNDS.items():
            value = values[name]
            if name == "beam_width" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                raise ConfigError(
                    f"{name} is {value!r}.", remedy=f"Give a whole number from {low} to {high:,}.", field=name
                )
        for name, allowed in (("scoring", get_args(Scoring)), ("seed_mode", get_args(SeedMode))):
            if values[name] not in allowed:
                raise ConfigError(
                    f"{name} is {values[name]!r}.", remedy=f"Use one of {', '.join(allowed)}.", field=name
                )
        if not isinstance(values["summarize"], bool):
            raise ConfigError(f"summarize is {values['summarize']!r}.", remedy="Give true or false.", field="summarize")
        for name in ("summarize", "seed_mode"):
            if values[name] in (True, "llm") and self.llm is None:
                raise ConfigError(
                    f"{name}={values[name]!r} needs a chat model.",
                    remedy="Give the retriever an llm; in the app set HOPSCOPE_CHAT_URL and HOPSCOPE_CHAT_MODEL.",
                    field=name,
                )
        auto = values["beam_width"] is None
        beam = max(1, values["top_k"] // values["max_hops"]) if auto else values["beam_width"]
        return Settings(
            **{**values, "beam_width": beam},
            beam_auto=auto,
            filters=dict(filters) if filters is not None else None,
            reranker=reranker.name if reranker is not None else None,
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
    "relations",
    "scoring",
    "summarize",
    "hub_limit",
)


@lru_cache(maxsize=1)
def _offline() -> OfflineEmbedder:
    return OfflineEmbedder()


def _question(question: object) -> str:
    given = question if isinstance(question, str) else ""
    text = given.encode("utf-8", "replace").decode().replace("\0", " ").strip()
    if not text:
        raise ConfigError("The question is empty.", remedy="Ask a question.", field="question")
    if len(given) > MAX_QUESTION:
        raise ConfigError(
            f"The question has {len(given):,} characters.",
            remedy=f"Shorten it to {MAX_QUESTION:,}: name the entities and ask one thing.",
            field="question",
        )
    return text


def _names(names: Sequence[str] | None, what: str) -> tuple[str, ...] | None:
    if names is None:
        return None
    listed = [names] if isinstance(names, str) else list(names)
    if len(listed) > MAX_NAMES or not all(isinstance(name, str) and name.strip() for name in listed):
        raise ConfigError(
            f"{what} is not a list of names.", remedy=f"Give up to {MAX_NAMES} texts, none empty.", field=what
        )
    return tuple(listed)


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
