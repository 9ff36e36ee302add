"""The retriever: seed, expand, rank, render, ground, summarize."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kgcore.errors import ConfigError
from kgcore.filters import AccessFilter, filter_dict
from kgcore.models.protocol import ChatModel, Embedder, Reranker
from kgcore.retrieve.again import Remembered, Target
from kgcore.retrieve.asking import Asking, Sources
from kgcore.retrieve.export import retrieval_dict
from kgcore.retrieve.settings import NAME_LISTS, check_names, check_question, no_chat_model, resolve
from kgcore.retrieve.summarize import answer_pieces
from kgcore.retrieve.summarize import summarize as with_answer
from kgcore.retrieve.why import WhyNot, why_not
from kgcore.store.protocol import DocumentRetriever, GraphStore
from kgcore.types import Ontology, Retrieval, Scoring, SeedMode, Settings


class KnowledgeGraphRetriever:
    """Retrieves facts for a question by a beam search over visible edges, and keeps the trace of it.

    `filters` is the locked filter: AND-ed with every caller's, and shown nowhere. `scoring` is `coverage` or
    `edge`. `beam_width` defaults to `top_k // max_hops`. Raises ConfigError for settings out of bounds and for
    `summarize` or `llm_filter` without an `llm`, FilterError for a bad locked filter.
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
        llm_filter: bool = False,
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
            "llm_filter": llm_filter,
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
        llm_filter: bool | None = None,
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
            "llm_filter": llm_filter,
            "entities": entities,
            "entity_ids": entity_ids,
            "entity_types": entity_types,
            "relations": relations,
            "filters": filters,
            "document_reranker": document_reranker,
        }
        return next(self.sweep(question, [given]))

    def sweep(
        self, question: str, settings: Iterable[Mapping[str, Any]], *, passages: bool = True
    ) -> Iterator[Retrieval]:
        """What `retrieve` gives for each of these settings, its arguments, in order; what they share is done once.

        Without `passages` none are looked for. Timings are those of a run alone: work that runs share counts in each.
        Raises what `retrieve` does, before the first result for whatever is wrong with any settings.
        """
        asked = [self._resolved(given) for given in settings]
        asking = Asking(check_question(question), self._sources())
        for resolved, filter, reranker in asked:
            result = asking.run(resolved, filter, reranker, passages=passages)
            if resolved.summarize and self.llm is not None and result.facts:
                began = time.perf_counter()
                result = with_answer(result, self.llm)
                ms = round((time.perf_counter() - began) * 1000, 3)
                result = replace(result, timings={**result.timings, "summarize": ms})
            yield result

    def answer(self, result: Retrieval) -> Iterator[str]:
        """The answer to a result's question, from its facts and passages, in pieces as the model writes them.

        A generator: closing it ends the writing. All pieces as one text go to `answered`. Nothing without facts.
        Raises ConfigError without an llm, ModelError while iterating.
        """
        if self.llm is None:
            raise no_chat_model("An answer", "summarize")
        return answer_pieces(result, self.llm)

    def why_not(
        self,
        result: Retrieval,
        entity_id: str,
        *,
        fact_id: str | None = None,
        tick: Callable[[], None] = lambda: None,
    ) -> WhyNot:
        """Why an entity, or one fact of it, is not in a result of this retriever.

        The run is walked again under other widths and settings; no chat model is asked. `tick()` is called before each
        hop of these walks, and what it raises ends them. Raises StoreError.
        """
        trace = result.trace
        filter = self.filter.narrowed(trace.settings.filters)
        sources = replace(self._sources(), llm=None, documents=None)
        asking = Asking(trace.question, sources, Remembered(trace=trace))
        return why_not(asking, self.store, filter, result, Target(entity_id=entity_id, fact_id=fact_id), tick)

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

    def _sources(self) -> Sources:
        return Sources(
            store=self.store,
            locked=self.filter,
            embedder=self.embedder,
            llm=self.llm,
            ontology=self.ontology,
            documents=self.documents,
        )

    def _resolved(self, given: Mapping[str, Any]) -> tuple[Settings, AccessFilter, Reranker | None]:
        """The arguments of one run, each with its value, its filter and its reranker."""
        own = {name: value for name, value in given.items() if value is not None}
        reranker = own.pop("document_reranker", None) or self.reranker
        filter = self.filter.narrowed(own.pop("filters", None))
        own |= {name: check_names(own[name], name) for name in NAME_LISTS if name in own}
        return self._settings(own, filter, reranker), filter, reranker

    def _settings(self, given: Mapping[str, Any], filter: AccessFilter, reranker: Reranker | None = None) -> Settings:
        return resolve(
            {**self._defaults, **given},
            filters=filter_dict(filter.caller) if filter.caller is not None else None,
            reranker=reranker.name if reranker is not None else None,
            has_llm=self.llm is not None,
        )


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
    "llm_filter",
)
