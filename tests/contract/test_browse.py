"""`GraphBrowser`: hubs, paths, documents, scan. (Search is with the names, paths case by case with the hops.)"""

from __future__ import annotations

import pytest

from kgcore.store import GraphStore
from kgcore.types import DocumentInfo, Edge, End, Entity
from tests.contract.graphs import (
    BOARD,
    NOBODY,
    OPEN,
    PUBLIC,
    READER,
    SECRET,
    WORLD_EDGES,
    edge,
    exact,
    hidden,
    only,
    vec,
    write,
    write_world,
)
from tests.contract.test_hops import DIAMOND


class TestHubs:
    def test_by_degree_then_id(self, store: GraphStore) -> None:
        write_world(store)
        assert store.hubs(READER, 4) == (
            End(id="acme", name="Acme Capital", type="Company", degree=5),
            End(id="helios", name="Helios", type="System", degree=5),
            End(id="jane", name="Jane Doe", type="Person", degree=3),
            End(id="globex", name="Globex", type="Company", degree=2),
        )
        assert [end.id for end in store.hubs(READER, 1)] == ["acme"]
        assert [(end.id, end.degree) for end in store.hubs(BOARD, 3)] == [("acme", 5), ("helios", 5), ("jane", 5)]
        assert len(store.hubs(READER, 100)) == 10
        assert store.hubs(NOBODY, 5) == ()

    def test_an_empty_store_has_none(self, store: GraphStore) -> None:
        assert store.hubs(OPEN, 5) == ()


class TestPaths:
    def test_a_filter_decides_what_is_shortest(self, store: GraphStore) -> None:
        write(store, *DIAMOND)
        assert [[e.id for e in way] for way in store.paths("A", "D", BOARD, 3)] == [["h1"]]
        narrowed = READER.narrowed(only("source_doc_id", "==", "d2"))
        assert store.paths("A", "D", narrowed, 3) == ()

    def test_edges_come_without_access_fields(self, store: GraphStore) -> None:
        write(store, edge("e", "a", "R", "b", properties={**PUBLIC, "year": 1}))
        assert store.paths("a", "b", READER, 1) == (
            (Edge(id="e", source_id="a", target_id="b", relation="R", src_name="a", dst_name="b", source_doc_id="d1",
                  properties={"year": 1}),),
        )  # fmt: skip

    def test_twenty_at_most_the_first_by_edge_ids(self, store: GraphStore) -> None:
        middle = [f"m{i:02}" for i in range(30)]
        write(store, *(e for i, m in enumerate(middle) for e in (
            edge(f"x{29 - i:02}", "a", "R", m), edge(f"y{i:02}", m, "R", "b"),
        )))  # fmt: skip
        ways = [[e.id for e in way] for way in store.paths("a", "b", READER, 4)]
        assert ways == [[f"x{i:02}", f"y{29 - i:02}"] for i in range(20)]


class TestDocuments:
    def test_by_id_with_title_and_count(self, store: GraphStore) -> None:
        write_world(store)
        assert store.documents(READER) == (
            DocumentInfo(id="d1", title="Report One", edges=5),
            DocumentInfo(id="d2", title="d2", edges=5),
            DocumentInfo(id="d3", title="d3", edges=1),
        )
        assert store.documents(BOARD)[3:] == (DocumentInfo(id="d9", title="Minutes", edges=2),)
        assert store.documents(READER.narrowed(only("relation_of_none", "==", 1))) == ()
        assert store.documents(NOBODY) == ()

    def test_a_title_that_only_hidden_edges_give_is_not_told(self, store: GraphStore) -> None:
        write(
            store, edge("e", "a", "R", "b"), hidden("h", "a", "S", "b", doc="d1", properties={**SECRET, "title": "A"})
        )
        assert store.documents(READER) == (DocumentInfo(id="d1", title="d1", edges=1),)


def scanned(store: GraphStore, limit: int) -> list[list[str]]:
    """The pages of a scan as edge ids."""
    pages, after = [], None
    while len(pages) < 50:
        page = store.scan(READER, after, limit)
        pages.append([e.id for e in page.edges])
        after = page.after
        if after is None:
            break
    return pages


class TestScan:
    def test_in_parts_by_id(self, store: GraphStore) -> None:
        write_world(store)
        ids = [f"e{i:02}" for i in range(1, 12)]
        assert scanned(store, 100) == [ids]
        assert scanned(store, 4) == [ids[:4], ids[4:8], ids[8:]]
        for limit in (1, 3, 11):
            assert [id_ for page in scanned(store, limit) for id_ in page] == ids

    def test_edges_come_with_their_vectors(self, store: GraphStore) -> None:
        write_world(store)
        vectors = {e.id: e.embedding for e in store.scan(READER, None).edges}
        for written in WORLD_EDGES[:11]:
            if written.embedding is None:
                assert vectors[written.id] is None
            else:
                assert vectors[written.id] == pytest.approx(written.embedding, abs=1e-6)

    def test_entities_come_once_a_visible_name_by_id_and_name(self, store: GraphStore) -> None:
        write_world(store)
        entities = store.scan(READER, None).entities
        assert [(e.id, e.name) for e in entities] == [
            ("acme", "Acme Capital"), ("bob", "Bob Roe"), ("d1/region", "EU"), ("d1/status", "Active"),
            ("d2/status", "active"), ("globex", "Globex"), ("helios", "Helios"), ("jane", "Jane Doe"),
            ("jane", "Jane M. Doe"), ("kim-1", "Alex Kim"), ("kim-2", "Alex Kim"),
        ]  # fmt: skip
        jane, alias = entities[7:9]
        assert jane.embedding == pytest.approx(vec(1, 0, 0, 0), abs=1e-6)
        assert alias.embedding == pytest.approx(vec(0.8, 0, 0.6, 0), abs=1e-6)
        assert (jane.type, entities[1].embedding) == ("Person", None)

    def test_a_part_brings_the_ends_of_its_own_edges(self, store: GraphStore) -> None:
        write_world(store)
        page = store.scan(READER, "e10", 5)
        assert ([e.id for e in page.edges], page.after) == (["e11"], None)
        assert [e.id for e in page.entities] == ["globex", "helios"]

    def test_nothing_to_scan(self, store: GraphStore) -> None:
        assert (store.scan(OPEN, None).edges, store.scan(OPEN, None).after) == ((), None)
        write_world(store)
        page = store.scan(NOBODY, None)
        assert (page.edges, page.entities, page.after) == ((), (), None)
        assert store.scan(READER, "zzz").edges == ()

    def test_a_copy_reads_as_the_original_does(self, store: GraphStore) -> None:
        write_world(store)
        first = store.scan(READER, None)
        again = [e for page in (store.scan(READER, None, 5), store.scan(READER, "e05", 6)) for e in page.edges]
        assert exact(again) == exact(first.edges)
        assert {type(e) for e in first.entities} == {Entity}
