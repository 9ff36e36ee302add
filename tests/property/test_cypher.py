"""A hidden edge changes nothing that a Cypher query gives: no row, no count, no schema, no example, no error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import HealthCheck, given, settings

from kgcore import KgError
from kgcore.cypher import CypherExecutor
from kgcore.store import GraphStore
from tests.property.conftest import stored
from tests.property.strategies import LOCK, Graph, filters, graphs

QUERIES = (
    "MATCH (n) RETURN n ORDER BY n.id",
    "MATCH (a)-[r]->(b) RETURN r.id AS id, r, a, b ORDER BY id",
    "MATCH (n) RETURN count(n) AS n",
    "MATCH ()-[r]->() RETURN type(r) AS kind, count(*) AS n ORDER BY kind",
    "MATCH ()-[r]-() UNWIND keys(r) AS name RETURN DISTINCT name ORDER BY name",
    "MATCH p = (a {id: 'n0'})-[*1..3]-(b) RETURN count(p) AS n",
    "MATCH (n:Nothing) RETURN n",
    "MATCH (n) RETURN nonsense(n)",
    "MATCH (n {name: 'Codename Bluebird'}) RETURN count(n) AS n",
)


def answers(store: GraphStore, filter: dict[str, Any]) -> Iterator[Any]:
    cypher = CypherExecutor(store=store, filters=LOCK)
    yield cypher.schema(), cypher.describe(), cypher.examples()
    for narrowing in (None, filter):
        for query in QUERIES:
            try:
                yield cypher.query(query, filters=narrowing)
            except KgError as error:
                yield type(error).__name__, str(error), error.remedy
    cypher.close()


@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(graphs(), filters)
def test_without_its_hidden_edges_a_graph_answers_the_same(graph: Graph, filter: dict[str, Any]) -> None:
    entities, edges = graph.without_hidden
    with stored(*graph.edges, entities=graph.entities) as store:
        whole = list(answers(store, filter))
    with stored(*edges, entities=entities) as store:
        rest = list(answers(store, filter))
    assert whole == rest
