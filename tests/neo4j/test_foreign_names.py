"""Names, dates, places and access in graphs that others built: the same with every index and with none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kgcore import open_store
from kgcore.filters import AccessFilter
from kgcore.store import GraphStore
from tests.contract.graphs import OPEN, exact, only, write_world
from tests.neo4j.addresses import addresses
from tests.neo4j.families import GRAPHITI, LANGCHAIN, PLAIN, REFERENCE, build, cleared, session

LOCK = only("allowed_principals", "contains_any", ["all"])
READER = AccessFilter.of(locked=LOCK)
SERVERS = [pytest.param(address, id=f"neo4j-{number}") for number, address in enumerate(addresses(), 1)]
NAMES = (
    "AND", "Rock AND Roll", "AC/DC", 'The "Quoted" One', "Who?", "a*b", "back\\slash", "???",
    "C++", "O'Hara", "R&D (Berlin)", "ns:Label", "[brackets]", "{curly}", "fuzzy~2^3", "-minus",
    "snake_case_name", "The Who", "Not In It", "U.S. Steel", "東京タワー", "서울 타워",
    "กรุงเทพ", "Мария Иванова", "محمد علي", "नेहा शर्मा", "Müller GmbH", "Hauptstraße",
    "E\u0301clair", "ＡＢＣ Works", "İzmir", "🚀 Rocket", "Foo\u200bBar", "x" * 300,
)  # fmt: skip
ASKED = (
    *NAMES,
    "muller gmbh", "rock", "roll rock", "ac dc", "quoted", "snake case name", "case", "steel",
    "hara", "HAUPTSTRASSE", "abc works", "éclair", "the", "タワー", "Марил Иванова",
    "Rokc AND Roll", "izmir", "foobar", "berlin", "names in it",
)  # fmt: skip
ANALYZERS = (None, "standard-no-stop-words", "english", "whitespace", "keyword", "cjk")


@pytest.fixture(scope="module", params=SERVERS)
def server(request: pytest.FixtureRequest) -> Iterator[str]:
    """A server's address; what these tests leave there, the schema too, is removed."""
    yield request.param
    cleared(request.param)


@pytest.fixture(scope="module", params=ANALYZERS, ids=str)
def named(server: str, request: pytest.FixtureRequest) -> Iterator[GraphStore]:
    """People of many names, with a full-text index of some kind on them, or none."""
    cleared(server)
    with session(server) as opened:
        opened.run(
            "CREATE (hub:Person {name: 'Everybody'}) "
            "WITH hub UNWIND range(0, size($names) - 1) AS i CREATE (:Person {name: $names[i]})-[:IN {n: i}]->(hub)",
            names=list(NAMES),
        ).consume()
    if request.param:
        build(
            server,
            "CREATE FULLTEXT INDEX people FOR (n:Person) ON EACH [n.name] "
            f"OPTIONS {{indexConfig: {{`fulltext.analyzer`: '{request.param}'}}}}",
        )
    store = open_store(server)
    yield store
    store.close()


@pytest.fixture(scope="module")
def copied(named: GraphStore) -> Iterator[GraphStore]:
    """The same in a file, which has no such index."""
    page = named.scan(OPEN, None)
    store = open_store("duckdb:///:memory:", create=True)
    store.upsert(page.entities, page.edges)
    yield store
    store.close()


def test_every_name_is_found_whatever_index_there_is(named: GraphStore, copied: GraphStore) -> None:
    for name in ASKED:
        for one, other in (
            (named.match_names([name], OPEN, 5), copied.match_names([name], OPEN, 5)),
            (named.find_mentions([name], OPEN), copied.find_mentions([name], OPEN)),
            (named.find_mentions([name], OPEN, spelled=True), copied.find_mentions([name], OPEN, spelled=True)),
            (named.search(name, OPEN, 50), copied.search(name, OPEN, 50)),
            (named.search(name[:3], OPEN, 50), copied.search(name[:3], OPEN, 50)),
        ):
            assert (name, exact(one)) == (name, exact(other))
    assert {match.name for match in named.match_names(NAMES, OPEN, 5)} == set(NAMES)


@pytest.fixture(scope="module")
def plain(server: str) -> Iterator[GraphStore]:
    """The graph of named nodes, with dates and places."""
    cleared(server)
    build(server, *PLAIN.cypher)
    store = open_store(server)
    yield store
    store.close()


SHOWN = {
    "since": {"2019-03-01", "2024-03-01"},
    "hours": {"P1DT2H30M"},
    "place": {"point({x: 1.5, y: -2.0, crs: 'cartesian'})", "point({x: 10.7, y: 59.9, z: 3.0, crs: 'wgs-84-3d'})"},
    "until": {"2024-01-01T00:00:00Z"},
    "days": {"2024-01-01", "2023-01-01"},
}


@pytest.mark.parametrize("field", SHOWN)
def test_dates_durations_and_places_are_texts(plain: GraphStore, field: str) -> None:
    assert {value.value for value in plain.values(field, READER)} == SHOWN[field]
    held = [edge.properties[field] for edge in plain.scan(READER, None).edges if field in edge.properties]
    assert {item for value in held for item in (value if isinstance(value, tuple) else (value,))} == SHOWN[field]
    kinds = next(p.kinds for p in plain.describe(READER).properties if p.name == field)
    assert kinds == (("list",) if field == "days" else ("string",))


@pytest.mark.parametrize(
    ("field", "operator", "value", "found"),
    [
        ("since", ">=", "2024-01-01", 1),
        ("since", ">=", "2019-03-01", 2),
        ("since", "<", "2024-01-01", 1),
        ("since", "==", "2019-03-01", 1),
        ("since", "!=", "2019-03-01", 1),
        ("since", "in", ["2019-03-01", "2024-03-01", 3], 2),
        ("since", ">", 2019, 0),
        ("since", "contains_any", ["2019-03-01"], 0),
        ("until", ">=", "2024-01-01", 1),
        ("until", "<", "2024-01-01", 0),
        ("until", "<=", "2024-01-01T00:00:00Z", 1),
        ("met", ">=", "2024-01-01", 0),
        ("met", "<", "2024-01-01", 1),
        ("clock", ">", "09:00", 1),
        ("start", ">=", "2024-05-01", 1),
        ("start", "<", "10:00", 1),
        ("hours", "==", "P1DT2H30M", 1),
        ("days", "contains_any", ["2023-01-01", "x"], 1),
        ("days", "contains_any", ["2022-01-01"], 0),
        ("days", "==", "2023-01-01", 0),
        ("place", "==", "point({x: 1.5, y: -2.0, crs: 'cartesian'})", 1),
    ],
)
def test_dates_compare_with_iso_texts(plain: GraphStore, field: str, operator: str, value: Any, found: int) -> None:
    assert plain.describe(READER.narrowed(only(field, operator, value))).edges == found


def test_an_entity_is_found_by_the_names_that_its_edges_give(server: str) -> None:
    """A writer that merges spellings keeps one of them on the node, and each on the edges that say it."""
    cleared(server)
    build(server, *REFERENCE.cypher, *REFERENCE.indexes)
    with session(server) as opened:
        opened.run("MATCH (n {name: 'Acme'}) SET n.name = 'Acme Incorporated'").consume()
    store = open_store(server)
    try:
        for name in ("A. Lee", "Ann Lee", "Acme"):
            assert [match.name for match in store.match_names([name], READER, 5)] == [name]
            assert [match.name for match in store.find_mentions([name], READER)] == [name]
            assert len(store.search(name, READER)) == 1
        assert store.match_names(["Acme Incorporated"], READER, 5) == ()
    finally:
        store.close()


def test_a_passage_is_the_edges_own(server: str) -> None:
    cleared(server)
    build(server, *GRAPHITI.cypher)
    store = open_store(server)
    try:
        assert {edge.id: edge.source_doc_id for edge in store.edges(["r1", "r2"], READER)} == {"r1": "e1", "r2": "e2"}
    finally:
        store.close()


def test_access_that_is_taken_away_holds_for_the_next_question(server: str) -> None:
    """Nobody tells us when others change their graph, and its counts may stay."""
    cleared(server)
    build(server, *LANGCHAIN.cypher)
    store = open_store(server)
    try:
        assert store.describe(READER).entities == 3
        assert len(store.search("helios", READER)) == 1
        with session(server) as opened:
            opened.run("MATCH ()-[r:USES]->() SET r.allowed_principals = ['board']").consume()
        assert store.describe(READER).entities == 2
        assert store.search("helios", READER) == ()
        assert store.match_names(["Helios"], READER, 5) == ()
    finally:
        store.close()


def test_an_index_that_the_graph_before_left_is_no_hindrance(server: str) -> None:
    """A database that held the reference writer's graph, now ours: its indexes have our names on other labels."""
    cleared(server)
    build(server, *REFERENCE.indexes)
    store = open_store(server, create=True)
    try:
        write_world(store)
        store.optimize()
        state = store.refresh()  # type: ignore[attr-defined]
        assert state.text_index("EntityName", "words") is not None
        assert state.vector_index("EntityName", "embedding") is not None
    finally:
        store.close()
