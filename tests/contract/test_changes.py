"""`GraphWriter`: transactions, deleting, access and order: what they change, and that nothing else does."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from kgcore.errors import StoreError
from kgcore.store import GraphStore
from kgcore.types import Chunk, Edge, Entity
from tests.contract.graphs import (
    BOARD,
    EMBEDDER,
    OPEN,
    PUBLIC,
    READER,
    SECRET,
    VALUES,
    WORLD_CHUNKS,
    WORLD_EDGES,
    WORLD_ENTITIES,
    chunk,
    edge,
    everything,
    exact,
    hidden,
    vec,
    version,
    write,
    write_world,
)


def broken_off(store: GraphStore, *changes: Callable[[], object]) -> None:
    """A transaction that an error ends after its changes."""
    with store.transaction():
        for change in changes:
            change()
        raise ZeroDivisionError


class TestTransaction:
    def change(self, store: GraphStore) -> None:
        """Every kind of change at once."""
        write(store, edge("new", "jane", "LIKES", "fresh", embedding=vec(0, 0, 1, 0)),
              entities=[x for x in WORLD_ENTITIES if x.id == "jane"])  # fmt: skip
        store.delete_documents(["d1"])
        store.set_access(["d2"], SECRET)
        store.chunks.upsert([chunk("c", vec(0, 0, 0, 1))], embedder=EMBEDDER)
        store.chunks.delete_documents(["d3"])

    def test_an_error_takes_all_of_it_back(self, store: GraphStore) -> None:
        write_world(store)
        before = ([everything(store, f) for f in (READER, OPEN)], version(store))
        with pytest.raises(ZeroDivisionError):
            broken_off(store, lambda: self.change(store))
        assert ([everything(store, f) for f in (READER, OPEN)], version(store)) == before

    def test_a_refused_write_takes_the_earlier_ones_back(self, store: GraphStore) -> None:
        write_world(store)
        before = (everything(store, OPEN), version(store))
        refused = edge("bad", "jane", "R", "nobody")
        with pytest.raises(StoreError):
            broken_off(store, lambda: self.change(store), lambda: store.upsert([], [refused]))
        assert (everything(store, OPEN), version(store)) == before

    def test_it_is_the_same_as_its_calls(self, store: GraphStore) -> None:
        write_world(store)
        with store.transaction():
            self.change(store)
        inside = [everything(store, f) for f in (READER, OPEN)]
        store.delete_documents(["d1", "d2", "d3", "d9"])
        store.chunks.delete_documents(["c"])
        write_world(store)
        self.change(store)
        assert [everything(store, f) for f in (READER, OPEN)] == inside

    def test_an_inner_one_joins_the_outer(self, store: GraphStore) -> None:
        def inner() -> None:
            with store.transaction():
                write(store, edge("e", "a", "R", "b"))

        with pytest.raises(ZeroDivisionError):
            broken_off(store, inner)
        assert store.describe(OPEN).edges == 0

    def test_a_store_works_on_after_a_rollback(self, store: GraphStore) -> None:
        with pytest.raises(ZeroDivisionError):
            broken_off(store, lambda: write(store, edge("e", "a", "R", "b", embedding=vec(1, 0)), embedder="first"))
        assert store.describe(OPEN).embedder is None
        write(store, edge("e", "a", "R", "b", embedding=vec(1, 0, 0)), embedder="second")
        assert (store.describe(OPEN).embedder, store.describe(OPEN).edges) == ("second", 1)

    def test_vectors_may_come_after_edges_without(self, store: GraphStore) -> None:
        with store.transaction():
            write(store, edge("e", "a", "R", "b"))
            store.chunks.upsert([chunk("c")])
            write(store, edge("f", "a", "S", "b", embedding=vec(1, 0)))
            store.chunks.upsert([chunk("d", vec(1, 0))], embedder=EMBEDDER)
        assert {v.edge.id: v.score for v in store.expand(["a"], (), OPEN, vec(1, 0), 9).edges} == {
            "e": None, "f": pytest.approx(1),
        }  # fmt: skip
        assert [d.id for d in store.chunks.nearest(vec(1, 0), OPEN, 9)] == ["d"]

    def test_each_change_is_a_new_version_and_a_reading_is_none(self, store: GraphStore) -> None:
        seen = [version(store)]
        changes: list[Callable[[], object]] = [
            lambda: write(store, edge("e", "a", "R", "b")),
            lambda: store.chunks.upsert([chunk("c")]),
            lambda: store.set_access(["d1"], {"n": 1}),
            lambda: store.chunks.delete_documents(["c"]),
            lambda: store.delete_documents(["d1"]),
        ]
        for change in changes:
            change()
            assert version(store) == version(store)
            seen.append(version(store))
        assert len(set(seen)) == len(seen)


class TestDeleteEdges:
    def test_it_is_as_if_they_had_never_been_written(self, store: GraphStore) -> None:
        gone = [WORLD_EDGES[0].id, *[e.id for e in WORLD_EDGES if e.source_doc_id == "d2"][:2]]
        kept = [e for e in WORLD_EDGES if e.id not in gone]
        ends = {end for e in kept for end in (e.source_id, e.target_id)}
        store.upsert([x for x in WORLD_ENTITIES if x.id in ends], kept, embedder=EMBEDDER)
        without = [everything(store, f) for f in (READER, OPEN)]
        write_world(store)
        store.chunks.delete_documents([c.id for c in WORLD_CHUNKS])
        assert [everything(store, f) for f in (READER, OPEN)] != without
        store.delete_edges([*gone, gone[0], "nothing"])
        assert [everything(store, f) for f in (READER, OPEN)] == without

    def test_the_last_one_takes_its_entities_along(self, store: GraphStore) -> None:
        write(store, edge("e", "a", "R", "b"), edge("f", "b", "R", "c"))
        store.delete_edges(["e"])
        assert [e.id for e in store.entities(["a", "b", "c"], OPEN)] == ["b", "c"]
        store.delete_edges(["f"])
        assert store.describe(OPEN).entities == 0


class TestDeleteDocuments:
    def test_it_is_as_if_they_had_never_been_written(self, store: GraphStore) -> None:
        kept = [e for e in WORLD_EDGES if e.source_doc_id not in ("d2", "d9")]
        ends = {end for e in kept for end in (e.source_id, e.target_id)}
        store.upsert([x for x in WORLD_ENTITIES if x.id in ends], kept, embedder=EMBEDDER)
        store.chunks.upsert(WORLD_CHUNKS, embedder=EMBEDDER)
        without = [everything(store, f) for f in (READER, OPEN)]
        write_world(store)
        store.delete_documents(["d2", "d9", "nothing", "d2"])
        assert [everything(store, f) for f in (READER, OPEN)] == without

    def test_only_its_own(self, store: GraphStore) -> None:
        write_world(store)
        before = everything(store, OPEN)
        for ids in ([], ["nothing"], ["D1"], ["d"], [""], ["jane", "e01", "%"]):
            store.delete_documents(ids)
        assert everything(store, OPEN) == before

    def test_a_document_stands_for_its_passages(self, store: GraphStore) -> None:
        write(store, edge("1", "a", "R", "b", doc="d#1"), edge("2", "b", "R", "c", doc="d#2"), edge("3", "a", "R", "c"))
        store.chunks.upsert([Chunk(id=f"d#{i}", content="", document_id="d", metadata=PUBLIC) for i in (1, 2)])
        store.set_access(["d"], {"allowed_principals": ("board",)})
        assert [e.id for e in store.edges(["1", "2", "3"], READER)] == ["3"]
        store.delete_documents(["d"])
        assert [e.id for e in store.edges(["1", "2", "3"], OPEN)] == ["3"]

    def test_entities_left_without_edges_go_and_others_stay(self, store: GraphStore) -> None:
        write(
            store,
            edge("1", "a", "R", "b", doc="d1"),
            edge("2", "b", "R", "c", doc="d2"),
            edge("3", "a", "R", "b", doc=None),
        )
        store.delete_documents(["d2"])
        assert [end.id for end in store.entities(["a", "b", "c"], OPEN)] == ["a", "b"]
        with pytest.raises(StoreError):
            store.upsert([], [edge("4", "a", "R", "c")])

    def test_entities_of_an_import_under_way_keep_their_names_and_vectors(self, store: GraphStore) -> None:
        write(store, edge("old", "x", "R", "y", doc="old"))
        store.upsert([Entity(id=i, type="T", name=i, embedding=vec(1, 0)) for i in "ab"], [], embedder=EMBEDDER)
        store.delete_documents(["old"])
        store.upsert([], [edge("e", "a", "R", "b")])
        assert [m.entity_id for m in store.nearest_entities([vec(1, 0)], READER, 5)] == ["a", "b"]

    def test_a_document_can_come_back(self, store: GraphStore) -> None:
        write_world(store)
        before = everything(store, READER)
        store.delete_documents(["d1"])
        assert everything(store, READER) != before
        write_world(store)
        assert everything(store, READER) == before


class TestSetAccess:
    def test_it_shows_and_hides(self, store: GraphStore) -> None:
        write(store, edge("1", "a", "R", "b", doc="d1"), hidden("2", "b", "R", "c", doc="d2"))
        store.set_access(["d1"], SECRET)
        assert [e.id for e in store.edges(["1", "2"], READER)] == []
        store.set_access(["d2", "nothing"], PUBLIC)
        assert [e.id for e in store.edges(["1", "2"], READER)] == ["2"]
        assert [end.id for end in store.hubs(READER, 9)] == ["b", "c"]
        assert [v.edge.id for v in store.expand(["b"], (), READER, None, 9).edges] == ["2"]
        assert store.describe(READER).edges == 1

    def test_it_is_as_if_they_had_been_written_so(self, store: GraphStore) -> None:
        write_world(store)
        store.set_access(["d3"], {**SECRET, "ratio": 7, "new": ("x",)})
        changed = [everything(store, f) for f in (READER, OPEN)]
        (e11,) = (e for e in WORLD_EDGES if e.id == "e11")
        properties = {**e11.properties, **SECRET, "ratio": 7, "new": ("x",)}
        store.upsert([], [Edge(**{**e11.__dict__, "properties": properties})], embedder=EMBEDDER)
        assert [everything(store, f) for f in (READER, OPEN)] == changed

    def test_only_its_own_documents_and_properties(self, store: GraphStore) -> None:
        write(
            store,
            edge("1", "a", "R", "b", doc="d1", properties=VALUES),
            edge("2", "a", "R", "b", doc="d2", properties=VALUES),
        )
        store.set_access(["d1"], {"integer": 1})
        one, two = store.edges(["1", "2"], OPEN)
        assert exact(one.properties) == exact({**VALUES, "integer": 1})
        assert exact(two.properties) == exact(VALUES)

    def test_the_documents_chunks_follow(self, store: GraphStore) -> None:
        store.chunks.upsert([chunk("d1", vec(1, 0)), chunk("d2", vec(1, 0))], embedder=EMBEDDER)
        write(store, edge("1", "a", "R", "b", doc="d1"))
        store.set_access(["d1"], SECRET)
        assert [d.id for d in store.chunks.nearest(vec(1, 0), READER, 9)] == ["d2"]
        assert [d.id for d in store.chunks.nearest(vec(1, 0), BOARD, 9)] == ["d1", "d2"]

    def test_a_list_is_replaced_not_joined(self, store: GraphStore) -> None:
        write(store, edge("1", "a", "R", "b", properties={"allowed_principals": ("all", "board", "staff")}))
        store.set_access(["d1"], {"allowed_principals": ("staff",)})
        assert store.edges(["1"], BOARD) == ()
        store.set_access(["d1"], {"allowed_principals": ()})
        assert store.edges(["1"], OPEN)[0].properties == {}
        assert store.edges(["1"], BOARD) == ()


def test_optimize_changes_nothing_that_is_read(store: GraphStore) -> None:
    write_world(store)
    before = everything(store, READER)
    store.optimize()
    assert everything(store, READER) == before
    store.optimize()
    write_world(store)
    assert everything(store, READER) == before
    store.delete_documents(["d1"])
    assert store.describe(READER).edges == 6


def test_reading_while_another_writes(store: GraphStore) -> None:
    write(store, *(edge(f"k{i}", "a", "R", f"b{i}", doc="kept") for i in range(3)))
    seen: set[str] = set()

    def read(done: threading.Event) -> None:
        while not done.is_set():
            seen.update(v.edge.id for v in store.expand(["a"], (), READER, None, 50).edges)
            seen.update(e.id for way in store.paths("a", "x", READER, 2) for e in way)
            seen.update(e.id for e in store.scan(READER, None).edges)
            assert store.entities(["a"], READER)[0].degree in (3, 4)
            assert [m.entity_id for m in store.match_names(["a", "x"], READER, 5)] in (["a"], ["a", "x"])

    done = threading.Event()
    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(read, done) for _ in range(3)]
        for _ in range(8):
            write(store, edge("public", "a", "P", "x", doc="d1"))
            store.delete_documents(["d1"])
            write(store, hidden("secret", "a", "S", "x"))
            store.delete_documents(["d9"])
        done.set()
        for reader in readers:
            reader.result()
    assert {"k0", "k1", "k2"} <= seen <= {"k0", "k1", "k2", "public"}


def test_a_closed_store_says_so(store: GraphStore) -> None:
    write_world(store)
    store.close()
    reads: list[Callable[[], object]] = [
        lambda: store.describe(OPEN),
        lambda: store.match_names(["a"], OPEN, 1),
        lambda: store.expand(["a"], (), OPEN, None, 1),
        lambda: store.scan(OPEN, None),
        lambda: store.chunks.get_documents_by_id(["a"]),
        lambda: store.upsert([], []),
        lambda: store.transaction().__enter__(),
        store.optimize,
    ]
    for read in reads:
        with pytest.raises(StoreError) as caught:
            read()
        assert caught.value.remedy
    store.close()
