"""What goes wrong with a real server: a clear message with the remedy, nothing lost, and work going on afterwards."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import neo4j
import numpy as np
import pytest

from kgcore import AccessFilter, KnowledgeGraphRetriever, StoreError, open_store
from kgcore.store.neo4j import NeoStore
from kgcore.store.neo4j_server import Address, server_error
from kgcore.types import Edge, Entity
from tests.contract.graphs import OPEN, READER, edge, vec, write, write_world
from tests.contract.test_changes import broken_off
from tests.neo4j.addresses import emptied
from tests.neo4j.server import VERSIONS, Server, running

pytestmark = [
    pytest.mark.skipif(
        not os.environ.get("NEO4J_TEST_URIS") and not os.environ.get("CI"), reason="NEO4J_TEST_URIS names no server."
    ),
    pytest.mark.timeout(600),
]


@pytest.fixture(scope="module", params=VERSIONS)
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A server of this module's own, which its tests stop and break."""
    with running(request.param, heap="700m") as (started,):
        yield started


@pytest.fixture
def store(server: Server) -> Iterator[NeoStore]:
    """The world in an otherwise empty database."""
    emptied(server.uri)
    opened = open_store(server.uri, create=True)
    assert isinstance(opened, NeoStore)
    write_world(opened)
    yield opened
    opened.close()


def cypher(server: Server, *statements: str) -> None:
    """What an administrator does on the server."""
    with neo4j.GraphDatabase.driver(f"bolt://127.0.0.1:{server.port}", auth=("neo4j", server.password)) as driver:
        for statement in statements:
            driver.execute_query(statement)  # type: ignore[arg-type]


def refused(attempt: object) -> StoreError:
    """The error of a call, with a remedy and without a secret."""
    with pytest.raises(StoreError) as caught:
        attempt()  # type: ignore[operator]
    assert caught.value.remedy
    return caught.value


class TestOpening:
    def test_a_wrong_password(self, server: Server) -> None:
        error = refused(lambda: open_store(f"bolt://stranger:hunter2@127.0.0.1:{server.port}"))
        assert "does not accept this user and password" in str(error)
        assert "hunter2" not in f"{error} {error.remedy}" and "stranger" not in f"{error} {error.remedy}"

    def test_a_database_that_there_is_not(self, server: Server) -> None:
        error = refused(lambda: open_store(f"{server.uri}/nowhere"))
        assert "no database nowhere" in str(error)
        assert server.password not in f"{error} {error.remedy}"

    def test_a_database_by_its_name(self, server: Server, store: NeoStore) -> None:
        named = open_store(f"{server.uri}/neo4j")
        assert named.describe(OPEN) == store.describe(OPEN)
        named.close()

    def test_nobody_there(self) -> None:
        assert "cannot be reached" in str(refused(lambda: open_store("bolt://neo4j:hunter2@127.0.0.1:1")))


def test_stopped_in_mid_query_and_started_again(server: Server, store: NeoStore) -> None:
    before = store.describe(READER), store.hubs(READER, 3)
    begun = threading.Event()

    def endless() -> None:
        begun.set()
        store.server.rows("UNWIND range(1, 10000000000) AS i WITH i WHERE i < 0 RETURN count(i)")

    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(endless)
        begun.wait()
        server.kill()
        with pytest.raises(StoreError) as caught:
            asked.result()
    assert caught.value.remedy
    assert "cannot be reached" in str(refused(lambda: store.hubs(READER, 3)))
    assert refused(lambda: write(store, edge("new", "jane", "LIKES", "bob")))
    server.start()
    server.wait_ready()
    assert (store.describe(READER), store.hubs(READER, 3)) == before
    write(store, edge("new", "a", "LIKES", "b"))
    assert [e.id for e in store.edges(["new"], READER)] == ["new"]


def test_a_connection_killed(server: Server, store: NeoStore) -> None:
    before = store.hubs(READER, 3)
    cypher(
        server,
        "CALL dbms.listConnections() YIELD connectionId, userAgent WHERE userAgent = 'hopscope' "
        "CALL dbms.killConnection(connectionId) YIELD message RETURN count(message)",
    )
    assert store.hubs(READER, 3) == before


def test_a_query_that_takes_too_long(store: NeoStore) -> None:
    endless = "UNWIND range(1, 10000000000) AS i WITH i WHERE i < 0 RETURN count(i)"
    assert "took too long" in str(refused(lambda: store.server.rows(endless, timeout=1.0)))
    assert store.hubs(READER, 1)


def test_a_reading_query_cannot_write(server: Server, store: NeoStore) -> None:
    refused(lambda: store.server.rows("CREATE (n:Entity {id: 'planted'})"))
    assert store.entities(["planted"], OPEN) == ()


def test_a_database_that_can_only_be_read(server: Server, store: NeoStore) -> None:
    before = store.describe(READER)
    configuration = server.folder / "conf" / "neo4j.conf"
    text = configuration.read_text(encoding="utf-8")
    server.stop()
    configuration.write_text(f"{text}\nserver.databases.default_to_read_only=true\n", encoding="utf-8")
    try:
        server.start()
        server.wait_ready()
        assert store.describe(READER) == before
        assert "can only be read" in str(refused(lambda: write(store, edge("new", "jane", "LIKES", "bob"))))
        assert store.describe(READER) == before
    finally:
        server.stop()
        configuration.write_text(text, encoding="utf-8")
        server.start()
        server.wait_ready()


def test_a_user_who_may_not() -> None:
    """Community has no roles: the error has the code that the Enterprise edition sends."""

    class Refusal(neo4j.exceptions.Forbidden):
        code = "Neo.ClientError.Security.Forbidden"

    said = server_error(Address.parse("neo4j://host"), Refusal("secret text"))
    assert "may not do this" in str(said) and "secret" not in f"{said} {said.remedy}"


class TestIndexes:
    @pytest.fixture
    def many(self, server: Server) -> Iterator[NeoStore]:
        """Enough names that indexes are asked."""
        emptied(server.uri)
        opened = open_store(server.uri, create=True)
        assert isinstance(opened, NeoStore)
        random = np.random.default_rng(5)
        entities = [
            Entity(id=f"n{i}", type="T", name=f"Thing number {i}", embedding=vec(*random.standard_normal(4)))
            for i in range(1_200)
        ]
        edges = [edge(f"e{i}", f"n{i}", "R", "n0", src=f"Thing number {i}", dst="Thing number 0") for i in range(1_200)]
        write(opened, *edges, entities=entities)
        opened.optimize()
        yield opened
        opened.close()

    def said(self, store: NeoStore) -> tuple[object, ...]:
        warnings = store.describe(READER).warnings
        names = ["Thing number 7", "number 77", "Thinb numver 8"]
        return (
            [store.match_names(names, READER, 3), store.find_mentions(["thing number 9"], READER, spelled=True)],
            [m.entity_id for m in store.nearest_entities([vec(1, 0, 0, 0)], READER, 3)],
            warnings,
        )

    def test_dropped_and_made_again(self, server: Server, many: NeoStore) -> None:
        found, near, warnings = self.said(many)
        assert (len(near), warnings) == (3, ())
        # In mid-run: what was known of the indexes is no longer true.
        cypher(server, "DROP INDEX entity_name", "DROP INDEX entity_embedding")
        assert many.match_names(["Thing number 7"], READER, 3)
        assert many.nearest_entities([vec(1, 0, 0, 0)], READER, 3)
        again, nearest, warnings = self.said(many)
        assert (again, len(nearest), len(warnings)) == (found, 3, 2)
        assert all("index" in warning for warning in warnings)
        cypher(
            server,
            "CREATE VECTOR INDEX entity_embedding FOR (n:EntityName) ON (n.embedding) OPTIONS "
            "{indexConfig: {`vector.dimensions`: 3, `vector.similarity_function`: 'cosine'}}",
            "CREATE FULLTEXT INDEX entity_name FOR (n:EntityName) ON EACH [n.words] "
            "OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}}",
        )
        # Populating or of another dimension: read one by one until it can be used.
        assert self.said(many)[:2] == (found, nearest)
        cypher(server, "CALL db.awaitIndexes(60)")
        again, _, warnings = self.said(many)
        assert (again, warnings) == (found, ("The vector index on names is missing or not online: vectors are compared "
                                             "one by one.",))  # fmt: skip
        write(many, edge("more", "n1", "S", "n2", embedding=vec(1, 0, 0, 0)))
        fresh = open_store(server.uri)
        write(fresh, edge("more", "n1", "S", "n2", embedding=vec(1, 0, 0, 0)))
        fresh.optimize()
        assert isinstance(fresh, NeoStore)
        assert self.said(fresh)[2] == ()
        fresh.close()

    def test_a_missing_index_is_told_in_a_run(self, server: Server, many: NeoStore) -> None:
        cypher(server, "DROP INDEX entity_name")
        result = KnowledgeGraphRetriever(many).retrieve("What is Thing number 7?")
        assert any("full-text index" in warning for warning in result.trace.warnings)
        assert [seed.entity_id for seed in result.trace.seeds][:1] == ["n7"]
        fresh = open_store(server.uri)
        write(fresh, edge("more", "n1", "S", "n2"))
        fresh.close()


def test_an_interrupted_write_ends_in_the_same_graph_when_it_is_run_again(server: Server, store: NeoStore) -> None:
    emptied(server.uri)
    entities = [Entity(id=f"n{i}", type="T", name=f"N{i}") for i in range(60)]
    edges = [edge(f"e{i:02}", f"n{i}", "R", f"n{(i * 7) % 60}") for i in range(60)]
    fresh = open_store(server.uri, create=True)
    fresh.upsert(entities, edges[:20])
    with pytest.raises(ZeroDivisionError):
        broken_off(fresh, lambda: fresh.upsert([], edges[20:40]))
    fresh.upsert(entities, edges)
    assert [e.id for e in fresh.scan(OPEN, None).edges] == [e.id for e in edges]
    assert fresh.describe(OPEN).entities == 60
    fresh.close()


def test_labels_types_and_properties_by_the_hundred(server: Server) -> None:
    """Odd ones: backticks, spaces, quotes, backslashes, another script; written by others, and read as they are."""
    emptied(server.uri)
    odd = [
        "a `tick`",
        "two words",
        "it's",
        'a "quote"',
        "back\\slash",
        "\\u0060",
        "ключ",
        "🚀",
        "{curly}",
        "$param",
        "//x",
    ]
    names = [f"{odd[i % len(odd)]} {i}" for i in range(300)]
    with neo4j.GraphDatabase.driver(f"bolt://127.0.0.1:{server.port}", auth=("neo4j", server.password)) as driver:
        driver.execute_query(
            "UNWIND range(0, size($names) - 1) AS i WITH i, $names[i] AS odd "
            "CREATE (a:$(odd) {name: 'Node ' + i})-[r:$(odd)]->(b:$(odd) {name: 'Far ' + i})",
            names=names,
        )
        for name in names[:: len(names) // 30]:
            driver.execute_query("MATCH ()-[r:$($name)]->() SET r += $held", name=name, held={name: name})
    foreign = open_store(server.uri)
    seen = foreign.describe(OPEN)
    assert (seen.edges, len(seen.relations), len(seen.entity_types)) == (300, 300, 300)
    result = KnowledgeGraphRetriever(foreign).retrieve("What is Node 0?")
    assert [fact.relation for fact in result.facts] == [names[0]]
    assert result.facts[0].metadata[names[0]] == names[0]
    for property in seen.properties:
        assert foreign.values(property.name, OPEN)
    foreign.close()


@pytest.mark.parametrize(
    ("url", "uri", "database"),
    [
        ("neo4j+s://abc123.databases.neo4j.io", "neo4j+s://abc123.databases.neo4j.io", None),
        ("bolt+ssc://u:p%40ss@host:7687/movies", "bolt+ssc://host:7687", "movies"),
        ("neo4j://[::1]:7687", "neo4j://[::1]:7687", None),
        ("bolt://host?database=films", "bolt://host", "films"),
    ],
)
def test_addresses(url: str, uri: str, database: str | None) -> None:
    parsed = Address.parse(url)
    assert (parsed.uri, parsed.database) == (uri, database)
    assert "p@ss" not in repr(parsed) and "p@ss" not in parsed.shown


def test_access_is_the_same_behind_a_locked_filter(store: NeoStore) -> None:
    nobody = AccessFilter.of(locked={"field": "allowed_principals", "operator": "contains_any", "value": []})
    assert store.describe(nobody).edges == 0
    assert isinstance(store.scan(READER, None).edges[0], Edge)
