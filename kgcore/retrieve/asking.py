"""One question to a retriever, under one setting or many: what they share is done once."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache

from kgcore.filters import AccessFilter
from kgcore.models.offline import Encoded, OfflineEmbedder
from kgcore.models.protocol import ChatModel, Embedder, Reranker
from kgcore.retrieve.expand import Looks, Walk, walk
from kgcore.retrieve.fetched import Fetched
from kgcore.retrieve.ground import WEIGHED, Grounded, ground
from kgcore.retrieve.llm_filter import FactFilter, LlmFilter
from kgcore.retrieve.rank import rank
from kgcore.retrieve.render import fact_documents
from kgcore.retrieve.score import Coverage
from kgcore.retrieve.seed import Seeder
from kgcore.retrieve.summarize import retrieved_text
from kgcore.store.protocol import DocumentRetriever, GraphStore
from kgcore.types import Description, Ontology, Retrieval, Scoring, Seed, Settings, Trace, Vector


@dataclass(frozen=True, kw_only=True)
class Sources:
    """What a question is asked of. `locked` is the filter that every asker's is AND-ed with."""

    store: GraphStore
    locked: AccessFilter
    embedder: Embedder | None
    llm: ChatModel | None
    ontology: Ontology | None
    documents: DocumentRetriever | None


@dataclass(frozen=True, kw_only=True)
class _Seeds:
    found: tuple[Seed, ...]
    warnings: tuple[str, ...]
    ms: float


@dataclass(kw_only=True)
class _Walks:
    """The walks of one width after each hop, as far as one was asked for, and the milliseconds until each, without what
    covering texts took."""

    going: Iterator[Walk]
    coverage: Coverage
    after: list[Walk] = field(default_factory=list)
    ms: list[float] = field(default_factory=list)

    def hops(self, number: int) -> tuple[Walk, float]:
        """The walk of so many hops, or of all that it has."""
        while len(self.after) < number:
            began, covering = time.perf_counter(), self.coverage.ms
            walked = next(self.going, None)
            if walked is None:
                break
            self.after.append(walked)
            spent = _since(began) - (self.coverage.ms - covering)
            self.ms.append((self.ms[-1] if self.ms else 0.0) + spent)
        at = min(number, len(self.after)) - 1
        walked = self.after[at]
        return walked, self.ms[at] + walked.saved + self.coverage.ms_of(len(walked.texts))


class Asking:
    """A question as it is asked of sources. Its runs are what each would be alone; what was done for one before is not
    done again, and counts in the timings of each run that it is part of: texts and passages by what one
    takes.

    Seeds are found once for all that start alike; of walks that differ in their length the longest is walked, and what
    a hop looks at is looked at once for all widths that kept the same until then. `llm_filter` stands in for one that
    asks the chat model. Raises StoreError.
    """

    def __init__(self, question: str, sources: Sources, llm_filter: FactFilter | None = None) -> None:
        self._question, self._sources, self._fact_filter = question, sources, llm_filter
        self._timings: dict[str, float] = {}
        self._warnings: list[str] = []
        with _timed(self._timings, "describe"):
            self._description = sources.store.describe(sources.locked)
        with _timed(self._timings, "embed"):
            words = sources.embedder if isinstance(sources.embedder, OfflineEmbedder) else _offline()
            encoded = words.encode(question)
            self._vector = _vector(sources.embedder, question, encoded, self._description, self._warnings)
            self._coverage = Coverage(words, encoded, question)
        if encoded.truncated:
            self._warnings.append("The question is long: only its first 256 wordpieces are scored.")
        self._fetched = Fetched()
        self._seeds: dict[tuple[str, Settings], _Seeds] = {}
        self._walks: dict[tuple[str, Settings], _Walks] = {}
        self._looks: dict[tuple[str, Settings], Looks] = {}

    def run(
        self, settings: Settings, filter: AccessFilter, reranker: Reranker | None, *, passages: bool = True
    ) -> Retrieval:
        """The result of these settings, without an answer, and with `passages` False without source passages.

        A model that fails is a warning in the trace. Raises ConfigError for an id that is not there, StoreError.
        """
        timings = dict(self._timings)
        warnings = [*self._description.warnings, *_unknown_fields(filter, self._description), *self._warnings]
        scoring: Scoring = settings.scoring
        if scoring == "edge" and self._vector is None:
            scoring = "coverage"
            warnings.append("Edge scoring needs the graph's vectors: coverage scoring is used.")
        seeds = self._find_seeds(settings, filter)
        warnings += seeds.warnings
        timings["seed"] = seeds.ms
        walked, ms = self._walk(seeds.found, replace(settings, scoring=scoring), filter)
        warnings += walked.warnings
        timings["expand"] = round(ms, 3)
        with _timed(timings, "rank"):
            ranked = rank(self._question, walked.hops, settings.top_k, reranker, warnings)
        grounded = Grounded()
        if passages:
            began, covering, fetching = time.perf_counter(), self._coverage.ms, self._fetched.ms
            grounded = ground(
                ranked.facts,
                walked,
                seeds.found,
                self._coverage,
                self._vector,
                self._sources.documents,
                filter,
                warnings,
                self._fetched,
            )
            ms = _since(began) - (self._coverage.ms - covering) - (self._fetched.ms - fetching)
            ms += self._fetched.wanted * self._fetched.each + self._coverage.ms_of(min(WEIGHED, len(grounded.passages)))
            timings["ground"] = round(ms, 3)
        return Retrieval(
            content=retrieved_text(ranked.facts, grounded.documents),
            facts=ranked.facts,
            documents=fact_documents(ranked.facts),
            source_documents=grounded.documents,
            context="",
            trace=Trace(
                question=self._question,
                settings=settings,
                words=walked.words,
                seeds=seeds.found,
                hops=ranked.hops,
                result=tuple(fact.id for fact in ranked.facts),
                passages=grounded.passages,
                warnings=tuple(dict.fromkeys(warnings)),
            ),
            timings=timings,
        )

    def forget(self) -> None:
        """Drops the walks, for room, and what they looked at but in the hop from the seeds: no width changes that."""
        self._walks.clear()
        for looks in self._looks.values():
            for key in [(limit, kept) for limit, kept in looks if kept]:
                del looks[key]

    def _find_seeds(self, settings: Settings, filter: AccessFilter) -> _Seeds:
        walks = replace(_of_the_walk(settings), beam_width=0, scoring="coverage", relations=(), hub_limit=0)
        key = filter.key, replace(walks, llm_filter=False)
        if key not in self._seeds:
            began, warnings = time.perf_counter(), list[str]()
            seeder = Seeder(
                reader=self._sources.store,
                filter=filter,
                settings=settings,
                embedder=self._sources.embedder,
                vector=self._vector,
                llm=self._sources.llm,
                ontology=self._sources.ontology,
                warnings=warnings,
            )
            found = seeder.find(self._question)
            self._seeds[key] = _Seeds(found=found, warnings=tuple(warnings), ms=round(_since(began), 3))
        return self._seeds[key]

    def _walk(self, seeds: tuple[Seed, ...], settings: Settings, filter: AccessFilter) -> tuple[Walk, float]:
        key = filter.key, _of_the_walk(settings)
        if key not in self._walks:
            looks = self._looks.setdefault((filter.key, replace(key[1], beam_width=0)), {})
            reader = self._sources.store
            going = walk(
                reader, seeds, filter, settings, self._coverage, self._vector, looks, self._llm_filter(settings)
            )
            self._walks[key] = _Walks(going=going, coverage=self._coverage)
        return self._walks[key].hops(settings.max_hops)

    def _llm_filter(self, settings: Settings) -> FactFilter | None:
        llm = self._sources.llm
        if settings.llm_filter and self._fact_filter is None and llm is not None:
            return LlmFilter(llm=llm, question=self._question)
        return self._fact_filter if settings.llm_filter else None


def _of_the_walk(settings: Settings) -> Settings:
    """The same for all settings that walk alike, however far."""
    return replace(settings, max_hops=0, top_k=0, beam_auto=False, filters=None, reranker=None, summarize=False)


def _vector(
    embedder: Embedder | None, question: str, encoded: Encoded, description: Description, warnings: list[str]
) -> Vector | None:
    """The question's vector, if the graph has vectors of this embedder."""
    if not description.has_vectors:
        if description.bare:
            warnings.append(
                f"{description.bare:,} of {description.edges:,} edges have no vector yet: vectors are not used until "
                "they are computed."
            )
        return None
    if embedder is None:
        warnings.append("No embedder was given: the graph's vectors are not used.")
        return None
    if (embedder.name, embedder.dimension) != (description.embedder, description.dimension):
        warnings.append(
            f"The graph's vectors were made by {description.embedder} ({description.dimension} numbers), not by "
            f"{embedder.name} ({embedder.dimension}): they are not used. Use that one or import again."
        )
        return None
    if isinstance(embedder, OfflineEmbedder):
        return encoded.vector
    try:
        vector: Vector = embedder.embed([question])[0]
    except Exception:
        warnings.append(f"The embedder {embedder.name} failed: vectors are not used.")
        return None
    return vector


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
    began = time.perf_counter()
    yield
    timings[stage] = round(_since(began), 3)


def _since(began: float) -> float:
    return (time.perf_counter() - began) * 1000
