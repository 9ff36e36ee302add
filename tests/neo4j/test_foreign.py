"""Graphs that others built: opened by the mapping that their schema proposes, read like our own, never written to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import pytest

from kgcore import KnowledgeGraphRetriever, Retrieval, StoreError, open_store
from kgcore.filters import AccessFilter
from kgcore.ingest.copy import copy_graph
from kgcore.store import GraphStore
from kgcore.types import Chunk, Edge, Entity
from tests.contract.graphs import OPEN, Probe, everything, exact, only, vec
from tests.data.build import offline
from tests.neo4j.addresses import addresses
from tests.neo4j.families import FAMILIES, NAMELESS, QUESTION, Family, build, cleared, session, snapshot

LOCK = only("allowed_principals", "contains_any", ["all"])
READER = AccessFilter.of(locked=LOCK)
SERVERS = [pytest.param(address, id=f"neo4j-{number}") for number, address in enumerate(addresses(), 1)]


@pytest.fixture(scope="module", params=SERVERS)
def server(request: pytest.FixtureRequest) -> Iterator[str]:
    """A server's address; what these tests leave there, the schema too, is removed."""
    yield request.param
    cleared(request.param)


@pytest.fixture(scope="module", params=FAMILIES, ids=lambda family: family.name)
def family(request: pytest.FixtureRequest) -> Family:
    chosen: Family = request.param
    return chosen


@pytest.fixture(scope="module")
def graph(server: str, family: Family) -> Iterator[GraphStore]:
    """A family's graph, opened; to be read only."""
    cleared(server)
    build(server, *family.cypher, *family.indexes)
    store = open_store(server)
    yield store
    store.close()


def ask(store: GraphStore, question: str = QUESTION, **options: Any) -> Retrieval:
    search = KnowledgeGraphRetriever(store, embedder=offline(), filters=LOCK, document_retriever=store.chunks)
    return search.retrieve(question, **{"max_hops": 2, **options})


def scanned(store: GraphStore, filter: AccessFilter, limit: int) -> tuple[list[Edge], list[Entity]]:
    """A whole scan in parts."""
    edges, entities, after = list[Edge](), list[Entity](), None
    while True:
        page = store.scan(filter, after, limit)
        edges, entities, after = [*edges, *page.edges], [*entities, *page.entities], page.after
        if after is None:
            return edges, entities


def probe_of(store: GraphStore, filter: AccessFilter, family: Family) -> Probe:
    """All that a filter shows, and what another may."""
    edges, entities = scanned(store, filter, 100)
    return Probe(
        ids=tuple(sorted({entity.id for entity in entities})),
        edge_ids=tuple(edge.id for edge in edges),
        names=(*sorted({entity.name for entity in entities}), family.hidden, "Akme", "Lee"),
        vectors=(vec(1, 0, 0, 0), vec(0, 1, 1, 0)) if family.dimension else (),
        prefixes=("a", "he", "code", "東"),
        words=("acme", "uses", "bluebird"),
    )


def read(store: GraphStore, filter: AccessFilter, probe: Probe) -> dict[str, Any]:
    """`everything`, also of a graph without vectors."""
    plain = probe if probe.vectors else Probe(**{**probe.__dict__, "vectors": (vec(1, 0, 0, 0), vec(0, 1, 0, 0))})
    return everything(store, filter, plain)


class TestAFamily:
    def test_opens_by_the_mapping_that_is_proposed(self, graph: GraphStore, family: Family) -> None:
        mapping = graph.layout.mapping  # type: ignore[attr-defined]
        assert {name: getattr(mapping, name) for name in family.mapping} == family.mapping
        assert not graph.layout.own  # type: ignore[attr-defined]

    def test_answers_a_question(self, graph: GraphStore, family: Family) -> None:
        result = ask(graph)
        assert {seed.name for seed in result.trace.seeds} == {"Ann Lee"}
        assert family.facts <= {fact.text for fact in result.facts}
        fact = next(fact for fact in result.facts if fact.text == max(family.facts))
        assert (fact.source, fact.target) == ("Ann Lee", "Acme")
        assert (fact.source_type, fact.target_type) == ("Person", family.types["Acme"])
        ends = {end.name: end.type for end in graph.hubs(READER, 100)}
        assert {name: ends.get(name) for name in family.types} == family.types

    def test_shows_the_passages_behind_the_facts(self, graph: GraphStore, family: Family) -> None:
        result = ask(graph)
        assert {document.content for document in result.source_documents} == family.passages
        if family.passages:
            fact = next(fact for fact in result.facts if "Helios" in fact.text)
            documents = {document.id: document.content for document in result.source_documents}
            assert [documents[id_] for id_ in fact.source_doc_ids] == ["Acme uses Helios."]
            chunks = graph.chunks.scan(OPEN, None).chunks
            assert {chunk.content for chunk in chunks} >= family.passages
            assert [d.id for d in graph.chunks.get_documents_by_id([c.id for c in chunks])] == [c.id for c in chunks]

    def test_vectors_of_another_model_are_a_warning_and_no_more(self, graph: GraphStore, family: Family) -> None:
        described = graph.describe(READER)
        assert described.dimension == family.dimension
        result = ask(graph, scoring="edge")
        told = [warning for warning in result.trace.warnings if "384" in warning and "4 numbers" in warning]
        assert len(told) == (family.dimension is not None)
        assert any("coverage scoring is used" in warning for warning in result.trace.warnings)
        assert result.facts == ask(graph).facts

    def test_its_verbs_agree(self, graph: GraphStore, family: Family) -> None:
        for filter in (READER, OPEN):
            described = graph.describe(filter)
            edges, entities = scanned(graph, filter, 2)
            ids = [edge.id for edge in edges]
            assert ids == sorted(set(ids)) and len(ids) == described.edges
            assert [exact(edge) for edge in graph.edges(ids, filter)] == [
                exact(Edge(**{**edge.__dict__, "embedding": None})) for edge in edges
            ]
            assert exact(scanned(graph, filter, 1_000)[0]) == exact(edges)
            ends = {id_ for edge in edges for id_ in (edge.source_id, edge.target_id)}
            assert len(ends) == described.entities and {entity.id for entity in entities} == ends
            degrees = Counter(id_ for edge in edges for id_ in {edge.source_id, edge.target_id})
            hubs = graph.hubs(filter, 100)
            assert {end.id: end.degree for end in hubs} == degrees and hubs == graph.entities(
                [end.id for end in hubs], filter
            )
            assert Counter(end.type for end in hubs) == described.entity_types
            assert Counter(edge.relation for edge in edges) == described.relations
            documents = Counter(edge.source_doc_id for edge in edges if edge.source_doc_id)
            assert {document.id: document.edges for document in graph.documents(filter)} == documents
            assert described.documents == len(documents)
            for end in hubs:
                related = graph.relations(end.id, filter)
                assert sum(one.count for one in related if one.outgoing) == sum(e.source_id == end.id for e in edges)
                assert sum(one.count for one in related) == end.degree
                assert end in graph.search(end.name, filter, 100)
                assert end.id in {match.entity_id for match in graph.match_names([end.name], filter, 100)}
                assert end.id in {match.entity_id for match in graph.find_mentions([end.name], filter)}
            whole = graph.expand(sorted(ends), (), filter, None, 1_000)
            assert {visible.edge.id for visible in whole.edges} == set(ids)
            assert {end.id: end for end in hubs} == dict(whole.ends)

    def test_paths_lead_from_one_end_to_the_other(self, graph: GraphStore, family: Family) -> None:
        ids = {end.name: end.id for end in graph.hubs(READER, 100)}
        found = graph.paths(ids["Ann Lee"], ids["Helios"], READER, 3)
        edges = {edge.id for edge in scanned(graph, READER, 100)[0]}
        assert found and {len(path) for path in found} == {2}
        for path in found:
            assert {edge.id for edge in path} <= edges
            for one, other in pairwise(path):
                assert {one.source_id, one.target_id} & {other.source_id, other.target_id} == {ids["Acme"]}

    def test_every_value_that_is_listed_finds_its_edges(self, graph: GraphStore, family: Family) -> None:
        described = graph.describe(READER)
        for field in described.properties:
            values = graph.values(field.name, READER)
            assert values
            for value in values:
                found = 0
                for operator, given in (("==", value.value), ("contains_any", [value.value])):
                    narrowed = READER.narrowed(only(field.name, operator, given))
                    found += graph.describe(narrowed).edges
                assert (field.name, value.value, found) == (field.name, value.value, value.count)

    def test_principals_are_counted_by_what_they_see(self, graph: GraphStore, family: Family) -> None:
        found = graph.principals("allowed_principals")
        assert {one.value for one in found} == {"all", "board"}
        for one in found:
            seen = AccessFilter.of(only("allowed_principals", "contains_any", [one.value]))
            assert graph.describe(seen).edges == one.count

    def test_access_metadata_come_out_nowhere(self, graph: GraphStore, family: Family) -> None:
        told = repr([read(graph, READER, probe_of(graph, READER, family)), ask(graph)])
        for word in ("allowed_principals", "'board'", "'all'", family.hidden):
            assert word not in told
        assert family.hidden in repr(read(graph, OPEN, probe_of(graph, OPEN, family)))

    def test_nothing_is_written(self, server: str, graph: GraphStore, family: Family) -> None:
        before = snapshot(server)
        ask(graph, scoring="edge")
        read(graph, OPEN, probe_of(graph, OPEN, family))
        graph.optimize()
        entity = Entity(id="new", type="Person", name="New")
        edge = Edge(id="new", source_id="new", target_id="new", relation="IS", src_name="New", dst_name="New")
        chunk = Chunk(id="new", content="New", document_id="new")
        writes: list[Callable[[], object]] = [
            lambda: graph.upsert([entity], [edge]),
            lambda: graph.delete_documents(["d1", "k1"]),
            lambda: graph.set_access(["d1", "k1"], {"allowed_principals": ("board",)}),
            lambda: graph.chunks.upsert([chunk]),
            lambda: graph.chunks.delete_documents(["d1", "k1"]),
            lambda: graph.transaction().__enter__(),
        ]
        for write in writes:
            with pytest.raises(StoreError, match="others built") as told:
                write()
            assert told.value.remedy
        assert snapshot(server) == before

    def test_a_copy_in_a_file_gives_the_same_answer(self, server: str, graph: GraphStore, family: Family) -> None:
        source, target = open_store(server, access_fields=()), open_store("duckdb:///:memory:", create=True)
        try:
            copied = copy_graph(source, target, page=2)
            assert copied.edges == graph.describe(OPEN).edges
            for options in ({}, {"entities": ["Acme"]}, {"beam_width": 1, "max_hops": 3}):
                one, other = ask(graph, **options), ask(target, **options)
                assert [exact(fact) for fact in one.facts] == [exact(fact) for fact in other.facts]
                assert exact(one.trace.hops) == exact(other.trace.hops)
                assert one.trace.seeds == other.trace.seeds
                assert [d.content for d in one.source_documents] == [d.content for d in other.source_documents]
        finally:
            source.close()
            target.close()


def test_hidden_edges_change_nothing(server: str, family: Family) -> None:
    cleared(server)
    build(server, *family.cypher, *family.indexes)
    answers, edges = [], []
    for _ in range(2):
        store = open_store(server)
        try:
            probe = probe_of(store, READER, family)
            answers.append({**read(store, READER, probe), "run": exact([ask(store).facts, ask(store).trace])})
            edges.append(store.describe(OPEN).edges)
        finally:
            store.close()
        with session(server) as opened:
            opened.run("MATCH ()-[r]->() WHERE 'board' IN r.allowed_principals DELETE r").consume()
    assert answers[0] == answers[1]
    assert edges[0] == edges[1] + 1


def test_a_graph_without_names_is_refused(server: str) -> None:
    cleared(server)
    build(server, *NAMELESS)
    with pytest.raises(StoreError, match="no node with a name") as told:
        open_store(server)
    assert told.value.remedy
