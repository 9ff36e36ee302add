"""Cypher over what can be seen answers as a real Neo4j does over the same graph; past the filter it can only read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import neo4j
import pytest

from kgcore import open_store
from kgcore.cypher import CypherExecutor, Node, Relationship, UnscopedCypher, Way, unscoped
from kgcore.errors import QueryError
from kgcore.ingest.demo import ensure_demo
from kgcore.store.neo4j import NeoStore
from kgcore.store.neo4j_server import Address
from tests.data.build import offline
from tests.neo4j.addresses import addresses, emptied
from tests.neo4j.cypher_reads import DIFFERENCES, PARAMETERS, READS

SERVERS = [pytest.param(address, id=f"neo4j-{number}") for number, address in enumerate(addresses(), 1)]


@pytest.fixture(scope="module")
def scoped() -> Iterator[CypherExecutor]:
    """The demo, every edge of it."""
    store = open_store(ensure_demo(embedder=offline()))
    made = CypherExecutor(store=store)
    yield made
    made.close()
    store.close()


@pytest.fixture(scope="module", params=SERVERS)
def server(request: pytest.FixtureRequest, scoped: CypherExecutor) -> Iterator[UnscopedCypher]:
    """The same nodes and relationships in Neo4j, and nothing else there."""
    emptied(request.param)
    copied(scoped, request.param)
    store = open_store(request.param)
    assert isinstance(store, NeoStore)
    yield UnscopedCypher(store)
    store.close()
    emptied(request.param)


def copied(scoped: CypherExecutor, address: str) -> None:
    """Writes what the projection holds in plain Cypher, not by our own writer, which keeps more than is asked of."""
    parsed = Address.parse(address)
    rows = scoped.query("MATCH (a)-[r]->(b) RETURN a, r, b", rows=10_000, timeout=20.0).rows
    with (
        neo4j.GraphDatabase.driver(parsed.uri, auth=(parsed.user, parsed.password)) as driver,
        driver.session() as session,
    ):
        for one, edge, other in rows:
            assert isinstance(one, Node) and isinstance(edge, Relationship) and isinstance(other, Node)
            session.run(
                f"MERGE (a:Entity {{id: $a.id}}) SET a:`{one.type}`, a.name = $a.name "
                f"MERGE (b:Entity {{id: $b.id}}) SET b:`{other.type}`, b.name = $b.name "
                f"CREATE (a)-[r:`{edge.relation}`]->(b) SET r = $p",
                a={"id": one.id, "name": one.name},
                b={"id": other.id, "name": other.name},
                p={**edge.properties, "id": edge.id},
            ).consume()


def comparable(value: Any) -> Any:
    """Nodes and relationships by what both sides hold of them; labels of a list without their order."""
    match value:
        case Node():
            return "node", value.id, value.type, value.name
        case Relationship():
            return (
                "edge",
                value.id,
                value.source_id,
                value.target_id,
                value.relation,
                comparable(dict(value.properties)),
            )
        case Way():
            return "path", comparable(value.nodes), comparable(value.relationships)
        case tuple() | list():
            return [comparable(item) for item in value]
        case dict():
            return {name: comparable(item) for name, item in value.items()}
        case float():
            return round(value, 9)
    return value


def rows_of(executor: Any, query: str) -> list[Any]:
    asked = {name: value for name, value in PARAMETERS.items() if f"${name}" in query}
    rows = [comparable(row) for row in executor.query(query, asked, rows=10_000, timeout=20.0).rows]
    if "collect(" in query:
        rows = [[sorted(cell, key=repr) if isinstance(cell, list) else cell for cell in row] for row in rows]
    return rows if "ORDER BY" in query and "collect(" not in query else sorted(rows, key=repr)


@pytest.mark.parametrize("query", READS)
def test_a_read_gives_neo4js_answer(scoped: CypherExecutor, server: UnscopedCypher, query: str) -> None:
    assert rows_of(scoped, query) == rows_of(server, query)


def test_there_are_65_reads_and_all_but_few_give_rows(scoped: CypherExecutor) -> None:
    assert len(set(READS)) == len(READS) >= 65
    empty = [query for query in READS if not rows_of(scoped, query)]
    assert empty == ["MATCH (n:Nothing) RETURN n"]


@pytest.mark.parametrize("query", DIFFERENCES)
def test_the_differences_that_the_docs_name_are_there(
    scoped: CypherExecutor, server: UnscopedCypher, query: str
) -> None:
    ours, theirs = DIFFERENCES[query]
    assert [rows_of(scoped, query), rows_of(server, query)] == [[[ours]], [[theirs]]]


@pytest.mark.parametrize(
    "query",
    [
        "CREATE (n:X)",
        "MATCH (n) SET n.x = 1",
        "MATCH (n) DETACH DELETE n",
        "LOAD CSV FROM 'file:///etc/hostname' AS line RETURN line",
        "LOAD CSV FROM 'http://127.0.0.1:1/' AS line RETURN line",
        "CALL dbms.listConfig() YIELD name RETURN name",
        "CALL db.labels() YIELD label RETURN label",
        "CALL () { LOAD CSV FROM 'file:///etc/hostname' AS line RETURN line } RETURN line",
        "SHOW DATABASES",
        "SHOW TRANSACTIONS",
        "TERMINATE TRANSACTION 'x-1'",
        "CREATE INDEX x FOR (n:X) ON (n.x)",
        "PROFILE MATCH (n) RETURN n",
    ],
)
@pytest.mark.parametrize("checked", [True, False])
def test_an_administrator_reads_and_does_nothing_else(
    server: UnscopedCypher, query: str, checked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not checked:
        monkeypatch.setattr(unscoped, "check", lambda text: text)
    before = server.query("MATCH (n) OPTIONAL MATCH (n)-[r]->() RETURN count(*) AS n").rows
    with pytest.raises(QueryError) as refused:
        server.query(query)
    assert refused.value.remedy
    assert server.query("MATCH (n) OPTIONAL MATCH (n)-[r]->() RETURN count(*) AS n").rows == before


def test_an_endless_query_is_ended_by_the_server(server: UnscopedCypher) -> None:
    with pytest.raises(QueryError, match="longer than 1 seconds"):
        server.query("UNWIND range(1, 1000000) AS x UNWIND range(1, 1000000) AS y RETURN count(x * y)", timeout=1.0)
    assert server.query("RETURN 1 AS x").rows == ((1,),)


def test_a_wrong_query_is_said(server: UnscopedCypher) -> None:
    with pytest.raises(QueryError, match=r"(?i)invalid input"):
        server.query("MATCH (n RETURN n")


def test_rows_are_cut(server: UnscopedCypher) -> None:
    answer = server.query("UNWIND range(1, 100) AS x RETURN x", rows=10)
    assert answer.truncated
    assert [row[0] for row in answer.rows] == list(range(1, 11))
