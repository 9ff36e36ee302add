"""Why an entity or a fact is not in a result: which step of the walk left it out, and what would bring it in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from kgcore.filters import AccessFilter, conditions_of
from kgcore.retrieve.asking import Asking
from kgcore.store.protocol import GraphStore
from kgcore.types import KEPT_BY_BEAM, Candidate, Edge, Retrieval, Settings, Trace

WIDEST = 200
"""The widest beam that is tried."""
FAR = 6
"""Hops within which a path is looked for that is longer than the walk."""
_READ = 1_000

Reason = Literal[
    "in_result",
    "seed",
    "unknown",
    "no_path",
    "beam",
    "shortlist",
    "llm_filter",
    "filter",
    "hub",
    "relations",
    "reranker",
    "top_k",
]


@dataclass(frozen=True, kw_only=True)
class WhyNot:
    """Why something is not in a result.

    `candidate` is what the run made of it, or of the first fact on its way that was cut; None where no hop saw either.
    `beam_width` is the smallest width under which the walk keeps it, of those up to `WIDEST`; None if there is none or
    a width is not the reason. `path` is a shortest visible path to it, from a seed on, where there is one within `FAR`
    hops and no path is short enough. `condition` is that of the caller's filter without which it would be reached;
    None where more than one keeps it out. What a locked filter hides is `unknown`, as what does not exist.
    """

    reason: Reason
    candidate: Candidate | None = None
    beam_width: int | None = None
    path: tuple[Edge, ...] = ()
    condition: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class Target:
    """An entity, or one fact of it."""

    entity_id: str
    fact_id: str | None = None

    def is_in(self, candidate: Candidate) -> bool:
        """Whether a candidate is the fact, or one of the entity's."""
        fact = candidate.fact
        return fact.id == self.fact_id if self.fact_id else self.entity_id in (fact.source_id, fact.target_id)

    def kept_in(self, trace: Trace) -> Candidate | None:
        """The best candidate of it that a beam kept."""
        return self._best(trace, KEPT_BY_BEAM)

    def best_in(self, trace: Trace) -> Candidate | None:
        """What the trace says of it: of those kept the best, else of those cut."""
        cut = ("beam_cut", "llm_cut")
        return self._best(trace, ("kept",)) or self.kept_in(trace) or self._best(trace, cut)

    def _best(self, trace: Trace, fates: Sequence[str]) -> Candidate | None:
        found = [c for hop in trace.hops for c in hop.candidates if c.fate in fates and self.is_in(c)]
        return min(found, key=lambda c: (c.hop, c.rank, c.fact.id), default=None)

    def edges(self, store: GraphStore, filter: AccessFilter) -> tuple[Edge, ...]:
        """Visible edges of the fact, or of the entity one."""
        found = store.expand([self.entity_id], (), filter, None, _READ if self.fact_id else 1).edges
        return tuple(one.edge for one in found if self.fact_id in (None, one.fact_id))


def why_not(asking: Asking, store: GraphStore, filter: AccessFilter, result: Retrieval, target: Target) -> WhyNot:
    """The reason, found by the trace, by paths, and by walking again. `filter` is the run's. Raises StoreError."""
    trace, settings = result.trace, _settings(result.trace)
    if not target.edges(store, filter.locked_only):
        return WhyNot(reason="unknown")
    known = target.best_in(trace)
    if known is not None and known.fate == "kept":
        return WhyNot(reason="in_result", candidate=known)
    if target.fact_id is None and target.entity_id in {seed.entity_id for seed in trace.seeds}:
        return WhyNot(reason="seed", candidate=known)
    if known is not None and known.fate in KEPT_BY_BEAM:
        return WhyNot(reason="reranker" if known.fate == "reranked_out" else "top_k", candidate=known)
    if known is not None and known.fate == "llm_cut":
        return WhyNot(reason="llm_filter", candidate=known)
    if not target.edges(store, filter):
        return _by_filter(settings, store, filter, target)
    walks = _Walks(asking=asking, settings=settings, target=target)
    path = _path(store, trace, filter, target, settings.max_hops)
    if known is None and not path and not walks.keep(filter):
        return _no_path(walks, store, trace, filter, target)
    if not settings.llm_filter and (found := walks.smallest(filter)):
        width, kept = found
        return WhyNot(reason="beam", candidate=known or _cut_on(kept.chain, trace), beam_width=width)
    return _other(walks, store, trace, filter, target, known)


@dataclass(frozen=True, kw_only=True)
class _Walks:
    """The run again under other settings."""

    asking: Asking
    settings: Settings
    target: Target

    def smallest(self, filter: AccessFilter) -> tuple[int, Candidate] | None:
        """The smallest width that keeps it, tried one by one: a wider beam brings rivals too, so a width that keeps it
        says nothing of those between."""
        for width in range(1, WIDEST + 1):
            trace = self._walk(filter, beam_width=width)
            if kept := self.target.kept_in(trace):
                return width, kept
            if all(hop.kept == hop.considered - hop.left_out for hop in trace.hops):
                return None  # nothing was cut: a wider one is the same
        return None

    def keep(self, filter: AccessFilter, **changed: Any) -> bool:
        """Whether the widest walk, with these settings changed, keeps it."""
        return self.target.kept_in(self._walk(filter, beam_width=WIDEST, **changed)) is not None

    def _walk(self, filter: AccessFilter, **changed: Any) -> Trace:
        return self.asking.run(replace(self.settings, **changed), filter, None, passages=False).trace


def _by_filter(settings: Settings, store: GraphStore, filter: AccessFilter, target: Target) -> WhyNot:
    """The one condition without which it is visible."""
    parts = conditions_of(settings.filters)
    visible = (part for part, without in parts if target.edges(store, filter.narrowed(without)))
    return WhyNot(reason="filter", condition=next(visible, None))


def _no_path(walks: _Walks, store: GraphStore, trace: Trace, filter: AccessFilter, target: Target) -> WhyNot:
    """No path is short enough: by the caller's own filter, or in all that can be seen."""
    hops = walks.settings.max_hops
    if filter.caller is not None and _path(store, trace, filter.locked_only, target, hops):
        parts = conditions_of(walks.settings.filters)
        ways = (part for part, rest in parts if _path(store, trace, filter.narrowed(rest), target, hops))
        return WhyNot(reason="filter", condition=next(ways, None))
    return WhyNot(reason="no_path", path=_path(store, trace, filter, target, FAR))


def _other(
    walks: _Walks, store: GraphStore, trace: Trace, filter: AccessFilter, target: Target, known: Candidate | None
) -> WhyNot:
    """No width keeps it: which other setting keeps it out, found by walking wide without it."""
    settings = walks.settings
    if settings.llm_filter and walks.keep(filter, llm_filter=False):
        return WhyNot(reason="llm_filter", candidate=known)
    for part, without in conditions_of(settings.filters):
        if walks.keep(filter.narrowed(without)):
            return WhyNot(reason="filter", condition=part)
    if walks.keep(filter, hub_limit=10_000_000):
        hub = next((c for hop in trace.hops for c in hop.candidates if c.fate == "hub"), None)
        return WhyNot(reason="hub", candidate=hub)
    if settings.relations and walks.keep(filter, relations=()):
        return WhyNot(reason="relations")
    if known is None and any(hop.left_out for hop in trace.hops):
        return WhyNot(reason="shortlist")
    return WhyNot(reason="beam", candidate=known)


def _settings(trace: Trace) -> Settings:
    """The run's, from the seeds that it had where a model named them: it is not asked again."""
    settings = replace(trace.settings, summarize=False, beam_auto=False)
    by_model = not settings.entities and any(seed.found_by == "name" for seed in trace.seeds)
    return replace(settings, entity_ids=tuple(seed.entity_id for seed in trace.seeds)) if by_model else settings


def _cut_on(chain: Sequence[str], trace: Trace) -> Candidate | None:
    """The first fact of a chain that the run cut."""
    cut = {c.fact.id: c for hop in trace.hops for c in hop.candidates if c.fate in ("beam_cut", "llm_cut")}
    kept = {c.fact.id for hop in trace.hops for c in hop.candidates if c.fate in KEPT_BY_BEAM}
    return next((cut[fact_id] for fact_id in chain if fact_id in cut and fact_id not in kept), None)


def _path(store: GraphStore, trace: Trace, filter: AccessFilter, target: Target, max_hops: int) -> tuple[Edge, ...]:
    """A shortest visible path of at most so many hops, from a seed to the entity or through the fact; () if none."""
    last = target.edges(store, filter)
    if not last:
        return ()
    ends = {last[0].source_id, last[0].target_id} if target.fact_id else {target.entity_id}
    tail = last[:1] if target.fact_id else ()
    best: tuple[Edge, ...] = ()
    left = max_hops - len(tail)
    for seed in trace.seeds:
        if seed.entity_id in ends:
            return tail
        for end in sorted(ends):
            found = store.paths(seed.entity_id, end, filter, left) if left > 0 else ()
            if found:
                best, left = (*found[0], *tail), len(found[0]) - 1
    return best
