"""The shortest ways between two entities, as facts."""

from __future__ import annotations

from collections.abc import Sequence

from kgcore.browse.near import RANKED
from kgcore.filters import AccessFilter
from kgcore.names import fact_id
from kgcore.retrieve.render import merge_edges, relation_of
from kgcore.store.protocol import GraphStore
from kgcore.types import Edge, Fact

PATH_HOPS = 4


def paths_between(store: GraphStore, one: str, other: str, filter: AccessFilter) -> tuple[tuple[Fact, ...], ...]:
    """The shortest visible paths of at most `PATH_HOPS` hops, each its facts in order, those of the first 20 by edges.

    Empty where there is none, and for an entity that is not visible.
    """
    unique: dict[tuple[tuple[str, str], ...], Sequence[Edge]] = {}
    for way in store.paths(one, other, filter, PATH_HOPS):
        unique.setdefault(tuple((_fact_id(edge), edge.target_id) for edge in way), way)
    edges = [edge for way in unique.values() for edge in way]
    ids = sorted({end for edge in edges for end in (edge.source_id, edge.target_id)})
    ends = {end.id: end for end in store.entities(ids, filter)}
    told = _all_edges(edges, ids, store, filter)

    def fact(edge: Edge) -> Fact:
        id_ = _fact_id(edge)
        return merge_edges(id_, told.get(id_, [edge]), edge, ends, 0, 0.0)

    return tuple(tuple(fact(edge) for edge in way) for way in unique.values())


def chain(facts: Sequence[Fact], start: str) -> tuple[str, ...]:
    """The entities on a path, from its start on."""
    ids = [start]
    for fact in facts:
        ids.append(fact.target_id if fact.source_id == ids[-1] else fact.source_id)
    return tuple(ids)


def _all_edges(
    edges: Sequence[Edge], ids: Sequence[str], store: GraphStore, filter: AccessFilter
) -> dict[str, list[Edge]]:
    """All visible edges of the facts that these assert, by fact, where the store's shortlist has them."""
    told: dict[str, list[Edge]] = {}
    if edges:
        relations = sorted({relation_of(edge) for edge in edges})
        for visible in store.expand(ids, (), filter, None, RANKED, relations=relations).edges:
            told.setdefault(visible.fact_id, []).append(visible.edge)
    return told


def _fact_id(edge: Edge) -> str:
    return fact_id(edge.source_id, edge.relation, edge.key, edge.target_id, edge.dst_name)
