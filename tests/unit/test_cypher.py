"""Cypher over a projection: values, limits, errors, the guard, and the wall that stands without it."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from kgcore.cypher import CypherExecutor, Node, Relationship, Way, executor, guard
from kgcore.errors import ConfigError, KgError, QueryError
from kgcore.types import HAS_ATTRIBUTE
from tests.contract.graphs import PUBLIC, SECRET, edge, only
from tests.data.build import graph

LOCK = only("allowed_principals", "contains_any", ["all"])


@pytest.fixture(scope="module")
def world() -> Iterator[CypherExecutor]:
    """Ann works at Acme, twice over; what Acme is founded in; a secret of Ann's."""
    store = graph(
        edge("e1", "ann", "WORKS_AT", "acme", properties={**PUBLIC, "year": 2024, "tags": ("a", "b"), "id": "x"}),
        edge("e2", "ann", "WORKS_AT", "acme", doc="d2", properties={**PUBLIC, "year": 2**62}),
        edge("e3", "acme", "USES", "helios", properties=dict(PUBLIC), description="every day"),
        edge("e4", "acme", HAS_ATTRIBUTE, "acme::founded", dst="1989", key="founded", properties=dict(PUBLIC)),
        edge("e5", "ann", "KNOWS `WELL`", "helios", properties=dict(PUBLIC)),
        edge("s1", "ann", "SPIES_ON", "bluebird", properties={**SECRET, "codeword": "nightfall"}),
    )
    made = CypherExecutor(store=store, filters=LOCK)
    yield made
    made.close()
    store.close()


def test_nodes_relationships_and_paths_have_the_graphs_ids(world: CypherExecutor) -> None:
    answer = world.query("MATCH p = (a {id: 'ann'})-[r:WORKS_AT]->(b) RETURN a, r, p, {n: [b, 1]} AS m ORDER BY r.id")
    assert answer.columns == ("a", "r", "p", "m")
    first, second = answer.rows
    ann, acme = Node(id="ann", type="Thing", name="ann"), Node(id="acme", type="Thing", name="acme")
    works = Relationship(
        id="e1",
        source_id="ann",
        target_id="acme",
        relation="WORKS_AT",
        properties={
            "src_name": "ann",
            "dst_name": "acme",
            "source_doc_id": "d1",
            "year": 2024,
            "tags": ("a", "b"),
            "meta.id": "x",
        },
    )
    assert first == (ann, works, Way(nodes=(ann, acme), relationships=(works,)), {"n": (acme, 1)})
    assert isinstance(second[1], Relationship)
    assert second[1].properties["year"] == 2**62


def test_the_schema_and_the_examples_are_of_what_is_visible(world: CypherExecutor) -> None:
    schema = world.schema()
    assert dict(schema.labels) == {"Thing": 4}
    assert dict(schema.relations) == {"WORKS_AT": 2, HAS_ATTRIBUTE: 1, "KNOWS `WELL`": 1, "USES": 1}
    assert "codeword" not in world.describe()
    assert "allowed_principals" not in world.describe()
    assert "(:Thing)-[:`KNOWS ``WELL```]->(:Thing) (1)" in world.describe()
    assert len(world.examples()) == 5
    for example in world.examples():
        assert world.query(example).rows


@pytest.mark.parametrize(
    "query",
    [
        "MATCH (n {id: 'bluebird'}) RETURN n",
        "MATCH (n) WHERE n.name CONTAINS 'blue' RETURN n",
        "MATCH ()-[r:SPIES_ON]->() RETURN r",
        "MATCH ()-[r]->() WHERE r.codeword IS NOT NULL RETURN r",
        "MATCH ()-[r]->() WHERE r.allowed_principals IS NOT NULL RETURN r",
        "MATCH ()-[r]->() UNWIND keys(r) AS k WITH k WHERE k IN ['codeword', 'allowed_principals'] RETURN k",
    ],
)
def test_what_is_hidden_is_not_there(world: CypherExecutor, query: str) -> None:
    assert world.query(query).rows == ()


def test_a_callers_filter_narrows_alone(world: CypherExecutor) -> None:
    count = "MATCH ()-[r]->() RETURN count(r) AS n"
    assert world.query(count).rows == ((5,),)
    assert world.query(count, filters=only("year", "==", 2024)).rows == ((1,),)
    assert world.query(count, filters=only("allowed_principals", "contains_any", ["board"])).rows == ((0,),)


def test_rows_and_bytes_are_cut_and_said(world: CypherExecutor) -> None:
    cut = world.query("UNWIND range(1, 50) AS x RETURN x", rows=10)
    assert (cut.truncated, [row[0] for row in cut.rows]) == (True, list(range(1, 11)))
    whole = world.query("UNWIND range(1, 10) AS x RETURN x", rows=10)
    assert (whole.truncated, len(whole.rows)) == (False, 10)
    large = world.query(
        "UNWIND range(1, 9000) AS x RETURN reduce(s = 'aaaaaaaa', i IN range(1, 8) | s + s)", rows=9_000
    )
    assert large.truncated
    assert 1 < len(large.rows) < 4_000


def test_parameters_are_values(world: CypherExecutor) -> None:
    given = {"id": "ann' OR 1=1", "many": [1, 2.5, None, True, {"a": "b"}]}
    assert world.query("RETURN $id AS id, $many AS many", given).rows == (
        ("ann' OR 1=1", (1, 2.5, None, True, {"a": "b"})),
    )
    assert world.query("MATCH (n {id: $id}) RETURN n", given).rows == ()


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"parameters": {"x": object()}}, "parameters"),
        ({"parameters": {"x": float("nan")}}, "parameters"),
        ({"parameters": [1]}, "parameters"),
        ({"parameters": {"x": "a" * 1_000_001}}, "parameters"),
        ({"rows": 0}, "rows"),
        ({"rows": 10_001}, "rows"),
        ({"timeout": 0}, "timeout"),
        ({"timeout": 31}, "timeout"),
    ],
)
def test_arguments_out_of_bounds_are_said(world: CypherExecutor, options: dict[str, Any], field: str) -> None:
    with pytest.raises(ConfigError) as refused:
        world.query("RETURN 1 AS x", **options)
    assert refused.value.field == field
    assert refused.value.remedy


@pytest.mark.parametrize(
    "query", ["MATCH (n RETURN n", "RETURN x", "RETURN nonsense(1)", "MATCH (n) RETURN n.", "RETURN $x"]
)
def test_a_wrong_query_is_said(world: CypherExecutor, query: str) -> None:
    with pytest.raises(QueryError) as refused:
        world.query(query)
    assert str(refused.value)
    assert refused.value.remedy
    assert "/" not in str(refused.value).replace("n/a", "")


def test_too_many_edges_are_said() -> None:
    store = graph(*(edge(f"e{n}", "a", "R", f"b{n}") for n in range(4)))
    with pytest.raises(QueryError, match="More than 3 edges"):
        CypherExecutor(store=store, limit_edges=3).query("RETURN 1 AS x")
    narrowed = CypherExecutor(store=store, limit_edges=3, filters=only("dst_name", "==", "b1"))
    assert narrowed.query("MATCH ()-[r]->() RETURN count(r) AS n").rows == ((1,),)
    narrowed.close()


def test_a_graph_that_changed_is_copied_anew() -> None:
    store = graph(edge("e1", "a", "R", "b"))
    cypher = CypherExecutor(store=store)
    assert cypher.query("MATCH ()-[r]->() RETURN count(r) AS n").rows == ((1,),)
    store.upsert([], [edge("e2", "a", "R", "b")])
    assert cypher.query("MATCH ()-[r]->() RETURN count(r) AS n").rows == ((2,),)
    cypher.close()
    assert cypher.query("MATCH ()-[r]->() RETURN count(r) AS n").rows == ((2,),)
    cypher.close()


def test_an_empty_graph_has_no_rows() -> None:
    cypher = CypherExecutor(store=graph())
    assert cypher.query("MATCH (n) RETURN n").rows == ()
    assert cypher.examples() == ()
    cypher.close()


def test_threads_get_their_own_answers(world: CypherExecutor) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = pool.map(lambda x: world.query("RETURN $x AS x", {"x": x}).rows[0][0], range(60))
    assert list(answers) == list(range(60))


ATTACKS = {
    "a file": "LOAD CSV FROM 'file://{file}' AS line RETURN line",
    "a file by its path": "LOAD CSV FROM '{file}' AS line RETURN line",
    "a server": "LOAD CSV FROM '{url}' AS line RETURN line",
    "a file within a subquery": "CALL () {{ LOAD CSV FROM 'file://{file}' AS line RETURN line }} RETURN line",
    "a procedure": "CALL dbms.listConfig() YIELD name RETURN name",
    "a write": "CREATE (n:X {{id: 'x'}})",
    "a deletion": "MATCH (n) DETACH DELETE n",
    "a property": "MATCH (n) SET n.name = 'x'",
    "the schema": "CREATE INDEX FOR (n:X) ON (n.x)",
    "a listing": "SHOW PROCEDURES",
    "two queries": "MATCH (n) RETURN n; MATCH (n) DETACH DELETE n",
    "deep brackets": "RETURN " + "(" * 3_000 + "1" + ")" * 3_000,
    "deep lists": "RETURN " + "[" * 3_900 + "]" * 3_900,
    "length": "RETURN '" + "a" * 9_000 + "'",
}
HEAVY = {
    "endless counting": "UNWIND range(1, 1000000) AS x UNWIND range(1, 1000000) AS y RETURN count(x * y)",
    "a product": "MATCH (a), (b), (c), (d), (e), (f), (g), (h), (i), (j), (k) RETURN count(*)",
    "memory": "RETURN reduce(s = 'aaaaaaaaaa', x IN range(1, 60) | s + s) AS s",
    "lists": "RETURN reduce(s = [1, 2, 3], x IN range(1, 60) | s + s) AS s",
    "paths": "MATCH p = (a)-[*1..60]-(b) RETURN count(p)",
    "a pattern of text": "RETURN 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab' =~ '(a+)+(a+)+(a+)+c' AS x",
}


@pytest.fixture(scope="module")
def asked() -> Iterator[tuple[str, list[str]]]:
    """A server on this machine that nothing may ask, and what it was asked."""
    requests: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requests.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"treasure,1\n")

        def log_message(self, *_: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/x.csv", requests
        server.shutdown()


@pytest.mark.parametrize("checked", [True, False], ids=["checked", "by the wall alone"])
@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_reaches_nothing(
    world: CypherExecutor,
    asked: tuple[str, list[str]],
    attack: str,
    checked: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("treasure,1\n", encoding="utf-8")
    query = ATTACKS[attack].format(file=secret, url=asked[0])
    if not checked:
        monkeypatch.setattr(executor, "check", lambda text: text)
    said = outcome(world, query)
    assert "treasure" not in said
    assert asked[1] == []
    if checked:
        assert said.startswith("QueryError")
    still(world)


@pytest.mark.parametrize("attack", HEAVY)
def test_a_heavy_query_ends_and_the_next_is_answered(world: CypherExecutor, attack: str) -> None:
    outcome(world, HEAVY[attack], timeout=1.0)
    still(world)


def outcome(cypher: CypherExecutor, query: str, timeout: float = 3.0) -> str:
    """What comes of it, in words."""
    try:
        return str(cypher.query(query, timeout=timeout).rows)
    except KgError as error:
        return f"{type(error).__name__} {error} {error.remedy}"


def still(cypher: CypherExecutor) -> None:
    """The graph is as it was."""
    assert cypher.query("MATCH (n) RETURN n.name AS name ORDER BY name").rows == (
        ("1989",),
        ("acme",),
        ("ann",),
        ("helios",),
    )
    assert cypher.query("MATCH ()-[r]->() RETURN count(r) AS n").rows == ((5,),)


@pytest.mark.parametrize(
    "query",
    [
        "MATCH (n) WHERE n.set = 1 RETURN n",
        "MATCH (n:Load)-[:SHOW]->() RETURN n",
        "RETURN {create: 1, use: 2} AS map",
        "RETURN 'DELETE everything; CALL x()' AS text, \"LOAD CSV\" AS other",
        "MATCH (n) /* SET n.x = 1; */ RETURN n // DROP",
        "MATCH (`create`) RETURN `create`.`load csv`",
        "MATCH (n) CALL (n) { RETURN 1 AS x } RETURN x",
        "RETURN $load AS x",
        "MATCH (n) WHERE n.name = 'it\\'s; SET' RETURN n",
        "match (n) return n.name as name order by name skip 1 limit 1",
    ],
)
def test_the_guard_lets_reading_through(query: str) -> None:
    assert guard.check(query) == query


@pytest.mark.parametrize(
    "query",
    [
        "",
        "   ",
        "match (n) set n.x = 1",
        "MATCH (n) SeT n.x = 1",
        "MATCH (n) REMOVE n.x",
        "MATCH (n) DELETE n",
        "MERGE (n)",
        "FOREACH (x IN [1] | CREATE (n))",
        "CALL db.labels()",
        "CALL`db`.labels()",
        "CALL /* { */ db.labels()",
        "LOAD/**/CSV FROM 'x' AS l RETURN l",
        "EXPLAIN MATCH (n) RETURN n",
        "PROFILE MATCH (n) RETURN n",
        "USE system MATCH (n) RETURN n",
        "SHOW INDEXES",
        "DROP INDEX x",
        "TERMINATE TRANSACTION 'x'",
        "RETURN 1; RETURN 2",
        "RETURN 'open",
        "RETURN `open",
        "RETURN 1 /* open",
        "RETURN 'a' // x\nSET n.x = 1",
        "RETURN 'a\\\\' SET n.x = 'b'",
    ],
)
def test_the_guard_refuses_the_rest(query: str) -> None:
    with pytest.raises(QueryError) as refused:
        guard.check(query)
    assert refused.value.remedy
