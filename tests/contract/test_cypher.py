"""Cypher over each store: the same rows, for each who asks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kgcore.cypher import CypherExecutor
from kgcore.filters import AccessFilter
from kgcore.store import GraphStore
from tests.contract.graphs import HIDDEN_EDGES, NOBODY, READER, VISIBLE_EDGES, WORLD_EDGES

ROWS = """
MATCH (a)-[r]->(b)
RETURN r.id AS id, a.id AS source, type(r) AS relation, b.id AS target, r.key AS key, r.description AS description,
       r.source_doc_id AS document, r.src_name AS src_name, r.dst_name AS dst_name, properties(r) AS all
ORDER BY id
"""


def asked(store: GraphStore, filter: AccessFilter) -> CypherExecutor:
    made = CypherExecutor(store=store)
    made.filter = filter
    return made


@pytest.fixture
def reader(world: GraphStore) -> Iterator[CypherExecutor]:
    made = asked(world, READER)
    yield made
    made.close()


def test_the_rows_are_the_visible_edges(reader: CypherExecutor) -> None:
    rows = reader.query(ROWS).rows
    expected = sorted(VISIBLE_EDGES, key=lambda edge: edge.id)
    assert [row[:9] for row in rows] == [
        (e.id, e.source_id, e.relation, e.target_id, e.key, e.description, e.source_doc_id, e.src_name, e.dst_name)
        for e in expected
    ]
    for row, edge in zip(rows, expected, strict=True):
        held = row[9]
        assert isinstance(held, dict)
        assert "allowed_principals" not in held
        assert {name: held[name] for name in edge.properties if name in held} == {
            name: value for name, value in edge.properties.items() if name != "allowed_principals"
        }


def test_nobody_sees_nothing_and_all_see_all(world: GraphStore) -> None:
    for filter, count in ((NOBODY, 0), (AccessFilter.of(), len(WORLD_EDGES))):
        cypher = asked(world, filter)
        assert cypher.query("MATCH ()-[r]->() RETURN count(r) AS n").rows == ((count,),)
        cypher.close()


def test_names_types_and_degrees_are_of_visible_edges(world: GraphStore, reader: CypherExecutor) -> None:
    rows = reader.query(
        "MATCH (n) OPTIONAL MATCH (n)-[r]->() WITH n, count(r) AS out OPTIONAL MATCH (n)<-[r]-() "
        "RETURN n.id AS id, n.name AS name, [x IN labels(n) WHERE x <> 'Entity'] AS type, out + count(r) AS degree "
        "ORDER BY id"
    ).rows
    ids = sorted({id_ for edge in VISIBLE_EDGES for id_ in (edge.source_id, edge.target_id)})
    loops = {e.source_id: sum(f.source_id == f.target_id == e.source_id for f in VISIBLE_EDGES) for e in VISIBLE_EDGES}
    ends = {end.id: end for end in world.entities(ids, READER)}
    assert [row[0] for row in rows] == ids
    for id_, name, kind, degree in rows:
        end = ends[str(id_)]
        assert (name, kind) == (end.name, (end.type,) if end.type != "Entity" else ())
        assert degree == end.degree + loops.get(end.id, 0)


def test_a_hidden_edge_is_in_no_schema(reader: CypherExecutor) -> None:
    described = reader.describe()
    for edge in HIDDEN_EDGES:
        assert edge.relation not in described or edge.relation in {e.relation for e in VISIBLE_EDGES}
    assert "allowed_principals" not in described
    assert sum(reader.schema().relations.values()) == len(VISIBLE_EDGES)
