"""The nodes, relationships and paths of an answer as a picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kgcore.browse import Explored
from kgcore.browse.explore import Line, Node
from kgcore.cypher import answer as cypher
from kgcore.filters import AccessFilter
from kgcore.names import fact_id
from kgcore.retrieve.render import merge_edges
from kgcore.store.protocol import GraphStore
from kgcore.types import Edge

MOST = 200
"""Entities, and relationships, that are drawn."""


def pictured(answer: cypher.CypherAnswer, store: GraphStore, filter: AccessFilter) -> Explored:
    """What the rows hold that the filter lets through, the first `MOST` of it; empty where rows hold values alone.

    Raises StoreError.
    """
    nodes, edges = dict[str, None](), dict[str, None]()
    for row in answer.rows:
        for part in _parts(row):
            if isinstance(part, cypher.Node):
                nodes.setdefault(part.id)
            elif len(edges) < MOST:
                edges.setdefault(part.id)
        if len(nodes) >= MOST:
            break
    found = store.edges(list(edges), filter)
    ids = [*nodes, *(id_ for edge in found for id_ in (edge.source_id, edge.target_id))]
    ends = {end.id: end for end in store.entities(list(dict.fromkeys(ids))[: 2 * MOST], filter)}
    facts: dict[str, list[Edge]] = {}
    for edge in found:
        if edge.source_id in ends and edge.target_id in ends:
            id_ = fact_id(edge.source_id, edge.relation, edge.key, edge.target_id, edge.dst_name)
            facts.setdefault(f"{id_} {edge.target_id}", []).append(edge)
    lines = [
        Line(fact=merge_edges(key.partition(" ")[0], told, told[0], ends, 0, 0.0), since=0, by=frozenset())
        for key, told in facts.items()
    ]
    return Explored(nodes=tuple(Node(end=end, since=0, root=True) for end in ends.values()), lines=tuple(lines))


def _parts(value: Any) -> Iterator[cypher.Node | cypher.Relationship]:
    if isinstance(value, cypher.Node | cypher.Relationship):
        yield value
    elif isinstance(value, cypher.Way):
        yield from value.nodes
        yield from value.relationships
    elif isinstance(value, tuple):
        for item in value:
            yield from _parts(item)
    elif isinstance(value, Mapping):
        yield from _parts(tuple(value.values()))
