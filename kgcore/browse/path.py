"""The shortest ways between two entities, as facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kgcore.filters import AccessFilter
from kgcore.names import fact_id
from kgcore.retrieve.render import merge_edges, relation_of
from kgcore.store.protocol import GraphStore
from kgcore.types import Edge, End, Fact

PATH_HOPS = 4
PATHS = 20
_READ = 5_000
"""Facts that are read at once."""


def paths_between(
    store: GraphStore, one: str, other: str, filter: AccessFilter, *, limit: int = PATHS
) -> tuple[tuple[Fact, ...], ...]:
    """The shortest visible paths of at most `PATH_HOPS` hops, each its facts in order; the first `limit` by edges.

    Empty where there is none, and for an entity that is not visible.
    """
    ways = store.paths(one, other, filter, PATH_HOPS, limit)
    edges = [edge for way in ways for edge in way]
    ids = sorted({end for edge in edges for end in (edge.source_id, edge.target_id)})
    ends = {end.id: end for end in store.entities(ids, filter)}
    told = _all_edges(edges, ends, store, filter)

    def fact(edge: Edge) -> Fact:
        id_ = _fact_id(edge)
        return merge_edges(id_, told.get(id_, [edge]), edge, ends, 0, 0.0)

    return tuple(tuple(fact(edge) for edge in way) for way in ways)


def chain(facts: Sequence[Fact], start: str) -> tuple[str, ...]:
    """The entities on a path, from its start on."""
    ids = [start]
    for fact in facts:
        ids.append(fact.target_id if fact.source_id == ids[-1] else fact.source_id)
    return tuple(ids)


def _all_edges(
    edges: Sequence[Edge], ends: Mapping[str, End], store: GraphStore, filter: AccessFilter
) -> dict[str, list[Edge]]:
    """All visible edges of the facts that these assert, by fact: each is looked for at the end that has fewer."""
    told: dict[str, list[Edge]] = {}
    wanted: dict[str, set[str]] = {}
    for edge in edges:
        known = [ends[id_] for id_ in (edge.source_id, edge.target_id) if id_ in ends]
        if known:
            wanted.setdefault(min(known, key=lambda end: (end.degree, end.id)).id, set()).add(_fact_id(edge))
    relations = sorted({relation_of(edge) for edge in edges})
    for together in _groups([ends[id_] for id_ in wanted]):
        facts = {id_ for end in together for id_ in wanted[end]}
        others: list[str] = []
        while facts:
            found = store.expand(together, others, filter, None, _READ, relations=relations).edges
            here = dict.fromkeys(visible.fact_id for visible in found)
            for visible in found:
                if visible.fact_id in facts:
                    told.setdefault(visible.fact_id, []).append(visible.edge)
            facts = facts - here.keys() if here else set()
            others += here
    return told


def _groups(ends: Sequence[End]) -> Iterator[list[str]]:
    """Entities that are read at once: as many as have `_READ` edges, or one that has more."""
    together, edges = list[str](), 0
    for end in sorted(ends, key=lambda end: (end.degree, end.id)):
        if together and edges + end.degree > _READ:
            yield together
            together, edges = [], 0
        together.append(end.id)
        edges += end.degree
    if together:
        yield together


def _fact_id(edge: Edge) -> str:
    return fact_id(edge.source_id, edge.relation, edge.key, edge.target_id, edge.dst_name)
