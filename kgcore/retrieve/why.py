"""Why an entity or a fact is not in a result: which step of the walk left it out, and what would bring it in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from kgcore.filters import AccessFilter, conditions_of
from kgcore.retrieve.again import WIDEST, Again, Target, Tick, Walked
from kgcore.retrieve.asking import Asking
from kgcore.store.protocol import GraphStore
from kgcore.types import HAS_ATTRIBUTE, KEPT_BY_BEAM, Alias, Candidate, Edge, Retrieval, Settings, Trace

FAR = 6
"""Hops within which a path is looked for that is longer than the walk."""
FARTHEST_WALK = 4
_VALUES = 100
"""Facts of an entity that are looked at for those that it is the value of: a value node has one or a few."""
_READ = 10_000
_ANY_HUB = 10_000_000

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
    Of a hub it is the fact that leads to the one on the way.

    `beam_width` is a width under which the walk keeps it, of those up to `WIDEST`, the `smallest` one where every
    narrower one was tried; None if none of those `tried` does or a width is not the reason. `path` is a shortest
    visible path to it, from a seed on, where there is one within `FAR` hops and no path is short enough; it may go on
    from `aliases` of what it reached. `condition` is that of the caller's filter without which it would be reached;
    None where more than one keeps it out. What a locked filter hides is `unknown`, as what does not exist.
    """

    reason: Reason
    candidate: Candidate | None = None
    beam_width: int | None = None
    smallest: bool = False
    tried: tuple[int, ...] = ()
    path: tuple[Edge, ...] = ()
    aliases: tuple[Alias, ...] = ()
    condition: Mapping[str, Any] | None = None


def why_not(
    asking: Asking, store: GraphStore, filter: AccessFilter, result: Retrieval, target: Target, tick: Tick
) -> WhyNot:
    """The reason, found by the trace, by paths, and by walking again. `filter` is the run's. Raises StoreError, and
    what `tick` does, which is called before each hop and each look for a path."""
    trace = result.trace
    sought = _sought(store, filter.locked_only, trace, target, tick)
    if sought is None:
        return WhyNot(reason="unknown")
    target = sought.target
    known = target.best_in(trace)
    if known is not None and known.fate == "kept":
        return WhyNot(reason="in_result", candidate=known)
    if target.fact_id is None and target.entity_id in {seed.entity_id for seed in trace.seeds}:
        return WhyNot(reason="seed", candidate=known)
    if known is not None and known.fate in KEPT_BY_BEAM:
        return WhyNot(reason="reranker" if known.fate == "reranked_out" else "top_k", candidate=known)
    if known is not None and known.fate == "llm_cut":
        return WhyNot(reason="llm_filter", candidate=known)
    if known is None and not sought.seen(store, filter):
        return _by_filter(trace.settings, store, filter, sought)
    again = Again(asking=asking, settings=_settings(trace), target=target, tick=tick)
    by_model = trace.settings.llm_filter
    widest = again.widest(filter) if known is None or by_model else None
    cut = known or (_cut_on(widest.kept.chain, trace) if widest and widest.kept else None)
    if known is None and widest is not None:
        if by_model and widest.kept and (cut is None or cut.fate == "llm_cut"):
            return WhyNot(reason="llm_filter", candidate=cut)
        if target.best_in(widest.trace) is None:
            if sought.path(store, trace, filter, again.settings.max_hops, tick):
                return _other(again, filter, trace, None, (WIDEST,))
            return _no_path(again, sought, store, trace, filter)
    found = again.width(filter, None if by_model else widest)
    if found.kept is not None:
        cut = known or _cut_on(found.kept.chain, trace)
    elif not (by_model and widest is not None and widest.kept):
        return _other(again, filter, trace, known, found.tried)
    return WhyNot(reason="beam", candidate=cut, beam_width=found.width, smallest=found.smallest, tried=found.tried)


@dataclass(frozen=True, kw_only=True)
class _Sought:
    """A target that may be seen. Of a fact `edges` are those that assert it, as far as they may be seen."""

    target: Target
    edges: tuple[Edge, ...] = ()

    def seen(self, store: GraphStore, filter: AccessFilter) -> bool:
        """Whether it is visible under this filter too."""
        if self.target.fact_id is None:
            return bool(store.entities([self.target.entity_id], filter))
        return bool(store.edges([edge.id for edge in self.edges], filter))

    def path(
        self, store: GraphStore, trace: Trace, filter: AccessFilter, max_hops: int, tick: Tick
    ) -> tuple[Edge, ...]:
        """A shortest visible path of at most so many hops, from a seed to the entity or through the fact; () if
        none."""
        tail = store.edges([edge.id for edge in self.edges], filter)[:1]
        if self.target.fact_id is not None and not tail:
            return ()
        ends = sorted({end for edge in tail for end in (edge.source_id, edge.target_id)} or {self.target.entity_id})
        best: tuple[Edge, ...] = ()
        left = max_hops - len(tail)
        for seed in trace.seeds:
            if seed.entity_id in ends:
                return tail
            for end in ends:
                tick()
                found = store.paths(seed.entity_id, end, filter, left) if left > 0 else ()
                if found:
                    best, left = (*found[0], *tail), len(found[0]) - 1
        return best


def _sought(store: GraphStore, filter: AccessFilter, trace: Trace, target: Target, tick: Tick) -> _Sought | None:
    """What is asked for, as far as this filter lets it be seen; None if it does not."""
    if target.fact_id is None:
        found = store.expand([target.entity_id], (), filter, None, _VALUES).edges
        values = {
            visible.fact_id
            for visible in found
            if visible.edge.relation == HAS_ATTRIBUTE and visible.edge.target_id == target.entity_id
        }
        return _Sought(target=replace(target, facts=frozenset(values))) if found else None
    known = target.best_in(trace)
    if known is not None and target.entity_id in (known.fact.source_id, known.fact.target_id):
        return _Sought(target=target, edges=store.edges(known.fact.edge_ids, filter))
    edges = edges_of(store, filter, target.entity_id, target.fact_id, tick)
    return _Sought(target=target, edges=edges) if edges else None


def edges_of(
    store: GraphStore, filter: AccessFilter, entity_id: str, fact_id: str, tick: Tick = lambda: None
) -> tuple[Edge, ...]:
    """The visible edges at an entity that assert a fact; () if there is none. Raises StoreError."""
    others: list[str] = []
    while True:
        tick()
        found = store.expand([entity_id], others, filter, None, _READ).edges
        edges = tuple(visible.edge for visible in found if visible.fact_id == fact_id)
        if edges or not found:
            return edges
        others += dict.fromkeys(visible.fact_id for visible in found)


def _by_filter(settings: Settings, store: GraphStore, filter: AccessFilter, sought: _Sought) -> WhyNot:
    """The one condition without which it is visible."""
    parts = conditions_of(settings.filters)
    visible = (part for part, without in parts if sought.seen(store, filter.narrowed(without)))
    return WhyNot(reason="filter", condition=next(visible, None))


def _no_path(again: Again, sought: _Sought, store: GraphStore, trace: Trace, filter: AccessFilter) -> WhyNot:
    """No path is short enough: by the caller's own filter, or in all that can be seen."""
    settings = again.settings

    def leads(under: AccessFilter) -> bool:
        near = sought.path(store, trace, under, settings.max_hops, again.tick)
        return bool(near) or again.widest(under).kept is not None

    if filter.caller is not None and leads(filter.locked_only):
        ways = (part for part, rest in conditions_of(settings.filters) if leads(filter.narrowed(rest)))
        return WhyNot(reason="filter", condition=next(ways, None))
    path = sought.path(store, trace, filter, FAR, again.tick)
    if settings.aliases and settings.max_hops < FARTHEST_WALK:
        way, aliases = _by_alias(again.widest(filter, max_hops=FARTHEST_WALK))
        if aliases and (not path or len(way) < len(path)):
            return WhyNot(
                reason="no_path", path=store.edges([c.fact.edge_ids[0] for c in way], filter), aliases=aliases
            )
    return WhyNot(reason="no_path", path=path)


def _by_alias(walked: Walked) -> tuple[tuple[Candidate, ...], tuple[Alias, ...]]:
    """The way of a walk to its target, and the aliases from which it goes on."""
    aliases = {alias.entity_id: alias for hop in walked.trace.hops for alias in hop.aliases}
    way = walked.way()
    return way, tuple(aliases[c.parent_id] for c in way if c.parent_id in aliases)


def _other(again: Again, filter: AccessFilter, trace: Trace, known: Candidate | None, tried: tuple[int, ...]) -> WhyNot:
    """No width keeps it: which other setting keeps it out, found by walking wide without it."""
    settings = again.settings
    for part, without in conditions_of(settings.filters):
        if again.widest(filter.narrowed(without)).kept:
            return WhyNot(reason="filter", condition=part)
    if (through := again.widest(filter, hub_limit=_ANY_HUB)).kept:
        hubs = (c for c in through.way()[:-1] if c.degree > settings.hub_limit)
        return WhyNot(reason="hub", candidate=next(hubs, None))
    if settings.relations and again.widest(filter, relations=()).kept:
        return WhyNot(reason="relations")
    if known is None and any(hop.left_out for hop in trace.hops):
        return WhyNot(reason="shortlist")
    return WhyNot(reason="beam", candidate=known, tried=tried)


def _settings(trace: Trace) -> Settings:
    """The run's, from the seeds that it had where a model named them: it is not asked again."""
    settings = replace(trace.settings, summarize=False, beam_auto=False)
    by_model = any(seed.found_by == "name" or (seed.found_by == "vector" and seed.text) for seed in trace.seeds)
    if not by_model or settings.entities:
        return settings
    return replace(settings, entity_ids=tuple(seed.entity_id for seed in trace.seeds))


def _cut_on(chain: Sequence[str], trace: Trace) -> Candidate | None:
    """The first fact of a chain that the run cut."""
    cut = {c.fact.id: c for hop in trace.hops for c in hop.candidates if c.fate in ("beam_cut", "llm_cut")}
    kept = {c.fact.id for hop in trace.hops for c in hop.candidates if c.fate in KEPT_BY_BEAM}
    return next((cut[fact_id] for fact_id in chain if fact_id in cut and fact_id not in kept), None)
