"""`ChunkStore`: passages."""

from __future__ import annotations

import pytest

from kgcore.errors import StoreError
from kgcore.filters import AccessFilter
from kgcore.store import DocumentRetriever, GraphStore
from kgcore.store.protocol import Similar
from kgcore.types import Chunk, Document, PropertyValue
from tests.contract.conftest import StoreFactory
from tests.contract.graphs import (
    BOARD,
    EMBEDDER,
    NOBODY,
    OPEN,
    PUBLIC,
    READER,
    SECRET,
    VALUES,
    WORLD_CHUNKS,
    edge,
    exact,
    only,
    vec,
    write,
    write_world,
)


def chunk(id: str, *numbers: float, document: str = "doc", **metadata: PropertyValue) -> Chunk:
    embedding = vec(*numbers) if numbers else None
    return Chunk(
        id=id, content=f"Text of {id}.", document_id=document, metadata={**PUBLIC, **metadata}, embedding=embedding
    )


class TestById:
    def test_in_the_order_asked_for_each_once_without_the_unknown(self, store: GraphStore) -> None:
        write_world(store)
        found = store.chunks.get_documents_by_id(["d3", "nothing", "d1", "d3", "d4", "", "doc-a"])
        assert [d.id for d in found] == ["d3", "d1", "d4"]
        assert store.chunks.get_documents_by_id([]) == ()
        assert isinstance(store.chunks, DocumentRetriever)

    def test_a_document_has_text_metadata_and_no_access(self, store: GraphStore) -> None:
        write_world(store)
        (found,) = store.chunks.get_documents_by_id(["d3"])
        assert found == Document(
            id="d3", content="Text of d3.",
            metadata={"year": "2024", "tags": ("a", "b"), "ratio": 0.25, "document_id": "doc-b"},
        )  # fmt: skip

    def test_text_and_values_come_back_as_they_were(self, store: GraphStore) -> None:
        content = "Zeile\r\n\t\"quoted\" 'single' \\ 日本語 العربية 🚀 <b>& ' ; --\n\n"
        store.chunks.upsert([Chunk(id="c", content=content, document_id="d", metadata={"n": 1, "f": 1.0, "b": True})])
        (found,) = store.chunks.get_documents_by_id(["c"])
        assert found.content == content
        assert exact(found.metadata) == exact({"n": 1, "f": 1.0, "b": True, "document_id": "d"})


class TestNearest:
    def test_best_first_ties_by_id(self, store: GraphStore) -> None:
        write_world(store)
        found = store.chunks.nearest(vec(1, 0, 0, 0), READER, 9)
        assert [(d.id, d.score) for d in found] == [
            ("d1", pytest.approx(1)), ("d2", pytest.approx(0.8)), ("d3", pytest.approx(0.8)),
        ]  # fmt: skip
        assert found[2].metadata == {"year": "2024", "tags": ("a", "b"), "ratio": 0.25, "document_id": "doc-b"}
        assert [d.id for d in store.chunks.nearest(vec(1, 0, 0, 0), READER, 2)] == ["d1", "d2"]

    def test_a_filter_reads_a_chunks_own_metadata(self, store: GraphStore) -> None:
        write_world(store)
        vector = vec(1, 0, 0, 0)
        assert [d.id for d in store.chunks.nearest(vector, BOARD, 2)] == ["d1", "d9"]
        assert store.chunks.nearest(vector, NOBODY, 9) == ()
        assert [d.id for d in store.chunks.nearest(vector, READER.narrowed(only("year", "<", 2024)), 9)] == ["d2"]
        assert [d.id for d in store.chunks.nearest(vector, READER.narrowed(only("source_doc_id", "==", "d3")), 9)] == [
            "d3"
        ]
        assert (
            store.chunks.nearest(vector, READER.narrowed(only("allowed_principals", "contains_any", ["all"])), 9) == ()
        )

    def test_chunks_without_a_vector_are_not_near_anything(self, store: GraphStore) -> None:
        store.chunks.upsert([chunk("a"), chunk("b", -1, 0), chunk("c")], embedder=EMBEDDER)
        assert [(d.id, d.score) for d in store.chunks.nearest(vec(1, 0), READER, 9)] == [("b", pytest.approx(-1))]

    def test_a_store_without_vectors_answers_nothing(self, store: GraphStore) -> None:
        store.chunks.upsert([chunk("a")])
        assert store.chunks.nearest(vec(1, 0), READER, 9) == ()


class TestSimilar:
    def test_the_nearest_under_the_filter_then_those_asked_for_whatever_it_says(self, store: GraphStore) -> None:
        write_world(store)
        vector = vec(1, 0, 0, 0)
        found = store.chunks.similar(vector, READER, 2, ["d3", "d9", "d1", "d3", "d4", "nothing", ""])
        assert list(found.items()) == [
            ("d1", pytest.approx(1)), ("d2", pytest.approx(0.8)), ("d3", pytest.approx(0.8)), ("d9", pytest.approx(1)),
        ]  # fmt: skip
        assert isinstance(store.chunks, Similar)

    def test_none_of_the_nearest(self, store: GraphStore) -> None:
        write_world(store)
        assert store.chunks.similar(vec(0, 1, 0, 0), READER, 0, ["d3"]) == {"d3": pytest.approx(0.6)}
        assert store.chunks.similar(vec(1, 0, 0, 0), READER, 0) == {}
        assert store.chunks.similar(vec(1, 0, 0, 0), NOBODY, 9) == {}

    def test_the_same_cosines_as_nearest_in_its_order(self, store: GraphStore) -> None:
        write_world(store)
        for vector in (vec(1, 0, 0, 0), vec(0, 1, 0, 0), vec(1, 1, 1, 1), vec(-1, 0, 0.5, 0)):
            nearest = store.chunks.nearest(vector, BOARD, 9)
            assert list(store.chunks.similar(vector, BOARD, 9).items()) == [(d.id, d.score) for d in nearest]
            assert store.chunks.similar(vector, NOBODY, 0, [d.id for d in nearest]) == {d.id: d.score for d in nearest}

    def test_it_follows_changes(self, store: GraphStore) -> None:
        write_world(store)
        vector = vec(1, 0, 0, 0)
        assert "d1" in store.chunks.similar(vector, READER, 9)
        store.chunks.delete_documents(["d1"])
        store.chunks.upsert([chunk("new", 1, 0, 0, 0)], embedder=EMBEDDER)
        assert list(store.chunks.similar(vector, READER, 2, ["d1"])) == ["new", "d2"]

    def test_without_vectors_nothing_is_similar(self, store: GraphStore) -> None:
        store.chunks.upsert([chunk("a")])
        assert store.chunks.similar(vec(1, 0), READER, 9, ["a"]) == {}

    def test_a_vector_of_another_dimension(self, store: GraphStore) -> None:
        write_world(store)
        for k, ids in ((2, []), (0, ["d1"])):
            with pytest.raises(StoreError, match="2 numbers, the graph's have 4"):
                store.chunks.similar(vec(1, 0), READER, k, ids)


class TestIdsOf:
    def test_the_ids_of_each_document_by_id(self, store: GraphStore) -> None:
        store.chunks.upsert([chunk(id_) for id_ in ("b", "a", "c")])
        store.chunks.upsert([Chunk(id="z", content="Text.", document_id="other", metadata=SECRET)])
        asked = ["other", "nothing", "doc", "doc", "a"]
        assert store.chunks.ids_of(asked, OPEN) == {"doc": ("a", "b", "c"), "other": ("z",)}
        assert list(store.chunks.ids_of(asked, OPEN)) == ["doc", "other"]
        assert store.chunks.ids_of(asked, READER) == {"doc": ("a", "b", "c")}
        assert store.chunks.ids_of(["half \ud800"], OPEN) == {}
        assert store.chunks.ids_of([], OPEN) == {}


BARE = AccessFilter.of(access_fields=frozenset())
"""Everything, and access metadata where the store shows it."""


def scanned(store: GraphStore, filter: AccessFilter, limit: int) -> list[list[str]]:
    """The pages of a scan as ids; each but the last is full."""
    pages: list[list[str]] = []
    after = None
    while len(pages) < 50:
        page = store.chunks.scan(filter, after, limit)
        pages.append([c.id for c in page.chunks])
        after = page.after
        if after is None:
            break
        assert len(page.chunks) == limit
    return pages


class TestScan:
    def test_in_parts_by_id(self, store: GraphStore) -> None:
        ids = [f"c{i:02}" for i in range(1, 12)]
        store.chunks.upsert([chunk(id_) for id_ in ids[::-1]])
        assert scanned(store, READER, 100) == [ids]
        assert scanned(store, READER, 4) == [ids[:4], ids[4:8], ids[8:]]
        for limit in (1, 3, 11):
            assert [id_ for page in scanned(store, READER, limit) for id_ in page] == ids

    def test_a_part_begins_after_an_id_that_may_be_gone(self, store: GraphStore) -> None:
        write_world(store)
        assert [c.id for c in store.chunks.scan(READER, "d2", 9).chunks] == ["d3", "d4"]
        assert [c.id for c in store.chunks.scan(READER, "d2-gone", 1).chunks] == ["d3"]
        assert store.chunks.scan(READER, "d4", 9).chunks == ()

    def test_nothing_to_scan(self, store: GraphStore) -> None:
        assert (store.chunks.scan(OPEN, None).chunks, store.chunks.scan(OPEN, None).after) == ((), None)
        write_world(store)
        page = store.chunks.scan(NOBODY, None)
        assert (page.chunks, page.after) == ((), None)

    def test_a_filter_reads_a_chunks_own_metadata(self, store: GraphStore) -> None:
        write_world(store)
        assert scanned(store, READER, 9) == [["d1", "d2", "d3", "d4"]]
        assert scanned(store, BOARD, 9) == scanned(store, OPEN, 9) == [["d1", "d2", "d3", "d4", "d9"]]
        assert scanned(store, READER.narrowed(only("year", "<", 2024)), 9) == [["d2"]]
        assert scanned(store, READER.narrowed(only("source_doc_id", "in", ["d3", "d9"])), 9) == [["d3"]]
        assert scanned(store, READER.narrowed(only("allowed_principals", "contains_any", ["all"])), 9) == [[]]

    def test_a_hidden_chunk_leaves_no_gap(self, store: GraphStore) -> None:
        store.chunks.upsert([chunk("a"), chunk("b", allowed_principals=("board",)), chunk("c"), chunk("d"), chunk("e")])
        assert scanned(store, READER, 2) == [["a", "c"], ["d", "e"], []]
        assert scanned(store, BOARD, 2) == [["a", "b"], ["c", "d"], ["e"]]

    def test_chunks_come_with_their_vectors_without_access(self, store: GraphStore) -> None:
        write_world(store)
        written = [c for c in WORLD_CHUNKS if c.id != "d9"]
        read = store.chunks.scan(READER, None).chunks
        assert [(c.id, c.document_id, c.content) for c in read] == [(c.id, c.document_id, c.content) for c in written]
        assert [dict(c.metadata) for c in read] == [
            {name: value for name, value in c.metadata.items() if name != "allowed_principals"} for c in written
        ]
        for found, given in zip(read, written, strict=True):
            if given.embedding is None:
                assert found.embedding is None
            else:
                assert found.embedding == pytest.approx(given.embedding, abs=1e-6)
                assert found.embedding is not None and str(found.embedding.dtype) == "float32"
        assert store.chunks.scan(BARE, None).chunks[0].metadata == read[0].metadata

    def test_a_store_that_hides_nothing_gives_a_chunk_as_it_was_written(self, factory: StoreFactory) -> None:
        store = factory.make(access_fields=())
        content = "Zeile\r\n\t\"quoted\" 'single' \\ 日本語 العربية 🚀 <b>& ' ; --\n\n"
        given = [
            Chunk(id="a", content=content, document_id="", metadata={**VALUES, **SECRET}),
            Chunk(id="b", content="", document_id="doc", metadata={}),
            Chunk(id="c", content="own", document_id="doc", metadata={"document_id": "its own", "id": 1, "score": 2.0}),
        ]
        store.chunks.upsert(given)
        assert exact(store.chunks.scan(BARE, None).chunks) == exact(given)
        assert exact(store.chunks.scan(READER, None).chunks) == []
        assert "allowed_principals" not in repr(store.chunks.scan(OPEN, None))

    def test_it_follows_changes(self, store: GraphStore) -> None:
        store.chunks.upsert([chunk("a", 1, 0), chunk("b", 1, 0, document="other")], embedder=EMBEDDER)
        store.chunks.upsert([Chunk(id="a", content="New.", document_id="doc", metadata=PUBLIC)])
        store.chunks.delete_documents(["other"])
        (left,) = store.chunks.scan(READER, None).chunks
        assert (left.id, left.content, left.embedding) == ("a", "New.", None)
        store.set_access(["a"], SECRET)
        assert scanned(store, READER, 9) == [[]]


class TestWriting:
    def test_a_chunk_is_replaced_whole(self, store: GraphStore) -> None:
        store.chunks.upsert([chunk("a", 1, 0, year=1), chunk("b", 1, 0)], embedder=EMBEDDER)
        store.chunks.upsert([Chunk(id="a", content="New.", document_id="other", metadata=PUBLIC)])
        assert store.chunks.get_documents_by_id(["a"]) == (
            Document(id="a", content="New.", metadata={"document_id": "other"}),
        )
        assert [d.id for d in store.chunks.nearest(vec(1, 0), READER, 9)] == ["b"]

    def test_the_last_of_one_id_in_a_batch_wins(self, store: GraphStore) -> None:
        store.chunks.upsert([chunk("a", document="first"), chunk("a", document="last")])
        assert [d.metadata for d in store.chunks.get_documents_by_id(["a"])] == [{"document_id": "last"}]

    def test_the_same_again_changes_nothing(self, store: GraphStore) -> None:
        chunks = [chunk("a", 3, 4), chunk("b", 1, 0), chunk("c")]
        store.chunks.upsert(chunks, embedder=EMBEDDER)
        before = exact(store.chunks.nearest(vec(1, 0), READER, 9))
        store.chunks.upsert(chunks[::-1], embedder=EMBEDDER)
        assert exact(store.chunks.nearest(vec(1, 0), READER, 9)) == before

    @pytest.mark.parametrize(
        ("ids", "left"),
        [
            (["a"], ["b", "c"]),
            (["doc-1"], ["c"]),
            (["doc-1", "c", "c"], []),
            ([], ["a", "b", "c"]),
            (["nothing", "", "A", "doc"], ["a", "b", "c"]),
        ],
        ids=["by-its-own-id", "by-its-documents", "by-both", "none", "unknown"],
    )
    def test_deleting(self, store: GraphStore, ids: list[str], left: list[str]) -> None:
        store.chunks.upsert([chunk(i, document=d) for i, d in (("a", "doc-1"), ("b", "doc-1"), ("c", "doc-2"))])
        store.chunks.delete_documents(ids)
        assert [d.id for d in store.chunks.get_documents_by_id(["a", "b", "c"])] == left

    def test_edges_and_chunks_are_deleted_apart(self, store: GraphStore) -> None:
        write(store, edge("e", "a", "R", "b", doc="d1"))
        store.chunks.upsert([chunk("d1")])
        store.chunks.delete_documents(["d1"])
        assert [e.id for e in store.edges(["e"], READER)] == ["e"]
        store.chunks.upsert([chunk("d1")])
        store.delete_documents(["d1"])
        assert [d.id for d in store.chunks.get_documents_by_id(["d1"])] == ["d1"]


class TestAccessFields:
    def test_a_stores_own_are_stripped_whatever_the_filter_says(self, factory: StoreFactory) -> None:
        store = factory.make(access_fields=["clearance", "tenant"])
        assert store.access_fields >= {"clearance", "tenant"}
        mine = {**SECRET, "clearance": 3, "tenant": "x", "year": 1}
        store.chunks.upsert(
            [Chunk(id="c", content="", document_id="d", metadata=mine, embedding=vec(1, 0))], embedder="e"
        )
        write(store, edge("e", "a", "R", "b", properties=mine, embedding=vec(1, 0)), embedder="e")
        locked = AccessFilter.of(locked=only("allowed_principals", "contains_any", ["board"]))
        read = [
            store.chunks.get_documents_by_id(["c"]), store.chunks.nearest(vec(1, 0), locked, 1),
            store.chunks.scan(locked, None).chunks,
            store.edges(["e"], locked),
            store.expand(["a"], (), locked, None, 1), store.scan(locked, None), store.paths("a", "b", locked, 1),
            store.describe(locked).properties,
        ]  # fmt: skip
        for answer in read:
            assert answer
            assert "clearance" not in repr(answer)
            assert "tenant" not in repr(answer)
        assert "year" in repr(read[0]) and "year" in repr(store.edges(["e"], OPEN))
