"""`GraphWriter`: what a change changes, and that nothing else does."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kgcore.errors import StoreError
from kgcore.store import GraphStore
from kgcore.types import Chunk, Edge, Entity, PropertyValue
from tests.contract.graphs import (
    BOARD,
    EMBEDDER,
    OPEN,
    PUBLIC,
    READER,
    SECRET,
    WORLD_CHUNKS,
    WORLD_EDGES,
    WORLD_ENTITIES,
    edge,
    everything,
    exact,
    hidden,
    only,
    vec,
    write,
    write_world,
)


def version(store: GraphStore) -> str:
    return store.describe(OPEN).data_version


class TestUpsert:
    def test_the_same_again_changes_nothing_that_is_read(self, store: GraphStore) -> None:
        write_world(store)
        before = [everything(store, f) for f in (READER, OPEN)]
        write_world(store)
        assert [everything(store, f) for f in (READER, OPEN)] == before

    def test_the_order_of_writing_changes_nothing_that_is_read(self, store: GraphStore) -> None:
        write_world(store)
        before = everything(store, READER)
        store.delete_documents(["d1", "d2", "d3", "d9"])
        for e in reversed(WORLD_EDGES):
            ends = [x for x in WORLD_ENTITIES if x.id in (e.source_id, e.target_id)]
            store.upsert(ends[::-1], [e], embedder=EMBEDDER)
        store.chunks.upsert(WORLD_CHUNKS[::-1], embedder=EMBEDDER)
        assert everything(store, READER) == before

    def test_an_edge_is_replaced_whole(self, store: GraphStore) -> None:
        write(store, edge("e", "a", "OLD", "b", description="old", key="k", embedding=vec(1, 0), doc="d1"))
        write(store, edge("e", "c", "NEW", "b", dst="Bee", doc="d2", properties={**PUBLIC, "n": 1}))
        (read,) = store.edges(["e"], READER)
        assert (read.source_id, read.relation, read.key, read.description) == ("c", "NEW", None, None)
        assert (read.dst_name, read.source_doc_id, dict(read.properties)) == ("Bee", "d2", {"n": 1})
        assert store.entities(["a"], READER) == ()
        assert [(end.id, end.name, end.degree) for end in store.entities(["b", "c"], READER)] == [
            ("b", "Bee", 1), ("c", "c", 1),
        ]  # fmt: skip
        assert [v.score for v in store.expand(["c"], (), READER, vec(1, 0), 9).edges] == [None]
        assert store.describe(READER).edges == 1
        assert store.match_names(["a", "b"], READER, 5) == ()

    def test_the_last_of_one_id_in_a_batch_wins(self, store: GraphStore) -> None:
        write(store, edge("e", "a", "FIRST", "b"), edge("e", "a", "LAST", "b"))
        assert [e.relation for e in store.edges(["e"], READER)] == ["LAST"]
        assert store.describe(READER).edges == 1

    def test_several_records_of_one_id_are_several_names(self, store: GraphStore) -> None:
        records = [Entity(id="x", type="T", name=n, embedding=v) for n, v in (("One", vec(1, 0)), ("Two", vec(0, 1)))]
        write(store, edge("1", "x", "R", "y", src="One"), edge("2", "x", "S", "y", src="Two"), entities=records)
        assert [m.entity_id for m in store.match_names(["one", "two"], READER, 5)] == ["x", "x"]
        assert [m.name for m in store.nearest_entities([vec(1, 0), vec(0, 1)], READER, 1)] == ["One", "Two"]
        assert store.describe(READER).entities == 2

    def test_a_vector_reaches_every_spelling_that_folds_to_its_name(self, store: GraphStore) -> None:
        record = Entity(id="x", type="T", name="Acme_Capital", embedding=vec(1, 0))
        write(store, edge("1", "x", "R", "y", src="ACME capital"), entities=[record])
        assert [(m.name, m.score) for m in store.nearest_entities([vec(1, 0)], READER, 1)] == [("ACME capital", 1)]

    def test_an_entity_without_edges_is_not_seen_until_it_has_one(self, store: GraphStore) -> None:
        store.upsert([Entity(id=i, type="T", name=i, embedding=vec(1, 0)) for i in "ab"], [], embedder=EMBEDDER)
        assert store.entities(["a"], OPEN) == () == store.match_names(["a"], OPEN, 5)
        assert store.describe(OPEN).entities == 0
        store.upsert([], [edge("e", "a", "R", "b")])
        assert [end.id for end in store.entities(["a", "b"], READER)] == ["a", "b"]
        assert [m.entity_id for m in store.nearest_entities([vec(1, 0)], READER, 5)] == ["a", "b"]

    def test_a_type_can_be_corrected(self, store: GraphStore) -> None:
        write(store, edge("e", "a", "R", "b"))
        store.upsert([Entity(id="a", type="Person", name="a")], [])
        assert store.describe(READER).entity_types == {"Person": 1, "Thing": 1}

    def test_a_self_loop_gives_both_its_names(self, store: GraphStore) -> None:
        write(store, edge("e", "a", "ALSO_KNOWN_AS", "a", src="Alex Kim", dst="Sasha Kim"),
              entities=[Entity(id="a", type="T", name="Alex Kim")])  # fmt: skip
        for name in ("Alex Kim", "Sasha Kim"):
            assert [m.entity_id for m in store.match_names([name], READER, 5)] == ["a"]
        assert {e.name for e in store.scan(READER, None).entities} == {"Alex Kim", "Sasha Kim"}
        assert [end.degree for end in store.entities(["a"], READER)] == [1]

    def test_an_edge_to_nobody_is_refused_whole(self, store: GraphStore) -> None:
        write(store, edge("e", "a", "R", "b"))
        before = (everything(store, READER), version(store))
        with pytest.raises(StoreError, match="nobody") as caught:
            store.upsert([Entity(id="c", type="T", name="c")], [edge("f", "a", "R", "c"), edge("g", "a", "R", "nobody")])
        assert caught.value.remedy
        assert (everything(store, READER), version(store)) == before

    def test_nothing_written_is_no_error(self, store: GraphStore) -> None:
        store.upsert([], [])
        store.chunks.upsert([])
        store.delete_documents([])
        store.set_access([], PUBLIC)
        store.optimize()
        assert store.describe(OPEN).edges == 0

    def test_names_without_a_letter_break_nothing(self, store: GraphStore) -> None:
        write(store, edge("e", "blank", "R", "b", src="\u200b"), edge("f", "marks", "R", "b", src="!!"))
        assert [m.entity_id for m in store.match_names(["!!"], READER, 5)] == ["marks"]
        for spelled in (False, True):
            found = store.find_mentions(["", "\u200b", "!!", "b"], READER, spelled=spelled)
            assert [(m.query, m.entity_id) for m in found if m.query >= 2] == [(2, "marks"), (3, "b")]
        assert [end.id for end in store.hubs(READER, 3)] == ["b", "blank", "marks"]


VALUES: dict[str, PropertyValue] = {
    "integer": 2024, "float_of_an_integer": 2024.0, "largest": 2**63 - 1, "smallest": -(2**63), "odd": 2**53 + 1,
    "third": 0.1 + 0.2, "huge": 1e300, "tiny": 5e-324, "yes": True, "no": False, "zero": 0, "empty": "",
    "text": 'O\'Hara "said" \\ ; DROP TABLE edge; -- $f0 ?', "lines": "a\nb\tc", "decomposed": "e\u0301", "composed": "é",
    "script": "日本語 العربية 🚀", "numeric_text": "2024", "none_text": "null", "list": ("a", "b"), "no_items": (),
    "numbers": (1, 2, 3), "floats": (1.0, 5.5), "truths": (True, False), "order": "first", "select": 1, "Year": 1,
    "year": 2, "_": 3, "percent%": 1, "with space": 1, "ключ": "значение", 'quo"te': 1, "dollar$.a[0]": 1, "dot.ted": 1,
}  # fmt: skip


class TestProperties:
    def test_every_value_comes_back_with_its_kind(self, store: GraphStore) -> None:
        write(store, edge("e", "a", "R", "b", properties=VALUES))
        assert exact(store.edges(["e"], OPEN)[0].properties) == exact(VALUES)
        assert exact(store.scan(OPEN, None).edges[0].properties) == exact(VALUES)

    def test_every_name_is_described_with_its_kind(self, store: GraphStore) -> None:
        write(store, edge("e", "a", "R", "b", properties=VALUES))
        kinds = {p.name: p.kinds for p in store.describe(OPEN).properties}
        for name, value in VALUES.items():
            kind = {bool: "boolean", int: "number", float: "number", str: "string", tuple: "list"}[type(value)]
            assert kinds[name] == (kind,), name

    def test_a_property_called_like_an_edges_own_field_is_described_once(self, store: GraphStore) -> None:
        mine = {**PUBLIC, "key": 1, "description": "of the document", "src_name": True, "source_doc_id": "other"}
        write(store, edge("e", "a", "R", "b", properties=mine), edge("f", "a", "S", "b", description="mine"))
        names = [p.name for p in store.describe(READER).properties]
        assert sorted(names) == sorted(set(names))
        assert [e.id for e in store.edges(["e", "f"], READER.narrowed(only("description", "==", "mine")))] == ["f"]

    @pytest.mark.parametrize(
        "value",
        [float("nan"), float("inf"), 2**63, -(2**63) - 1, "\ud800", "zero\0byte", {"a": 1}, b"bytes", (1, (2, 3)), (None,)],
        ids=repr,
    )
    def test_a_value_that_cannot_be_kept_is_refused_whole(self, store: GraphStore, value: object) -> None:
        write(store, edge("e", "a", "R", "b"))
        before = version(store)
        with pytest.raises(StoreError, match="price") as caught:
            write(store, edge("f", "a", "R", "b", properties={"price": value}))  # type: ignore[dict-item]
        assert caught.value.remedy
        with pytest.raises(StoreError, match="price"):
            store.chunks.upsert([Chunk(id="c", content="", document_id="d", metadata={"price": value})])  # type: ignore[dict-item]
        with pytest.raises(StoreError, match="price"):
            store.set_access(["d1"], {"price": value})  # type: ignore[dict-item]
        assert (version(store), store.edges(["f"], OPEN)) == (before, ())

    @pytest.mark.parametrize("field", ["id", "src_name", "relation", "description", "source_doc_id"])
    def test_text_that_is_no_text_is_refused_whole(self, store: GraphStore, field: str) -> None:
        write(store, edge("e", "a", "R", "b"))
        values = {**edge("f", "a", "R", "b").__dict__, field: "half \ud83d"}
        with pytest.raises(StoreError):
            store.upsert([], [Edge(**values)])
        assert store.describe(OPEN).edges == 1


class TestVectors:
    def test_another_embedder_is_refused(self, store: GraphStore) -> None:
        write(store, edge("e", "a", "R", "b", embedding=vec(1, 0)), embedder="first")
        before = (everything_2d(store), version(store))
        with pytest.raises(StoreError, match="first.*second") as caught:
            write(store, edge("f", "a", "R", "b", embedding=vec(0, 1)), embedder="second")
        assert "first" in caught.value.remedy
        with pytest.raises(StoreError, match="first.*second"):
            store.chunks.upsert([chunk("c", vec(0, 1))], embedder="second")
        assert (everything_2d(store), version(store)) == before
        assert store.describe(OPEN).embedder == "first"

    @pytest.mark.parametrize("numbers", [(1, 0, 0), (1,)], ids=["longer", "shorter"])
    def test_another_dimension_is_refused(self, store: GraphStore, numbers: tuple[float, ...]) -> None:
        write(store, edge("e", "a", "R", "b", embedding=vec(1, 0)))
        before = (everything_2d(store), version(store))
        for attempt in (
            lambda: write(store, edge("f", "a", "R", "b", embedding=vec(*numbers))),
            lambda: write(store, edge("f", "a", "R", "b"), entities=[Entity(id="a", type="T", name="a", embedding=vec(*numbers))]),
            lambda: store.chunks.upsert([chunk("c", vec(*numbers))], embedder=EMBEDDER),
        ):
            with pytest.raises(StoreError, match="2"):
                attempt()
        assert (everything_2d(store), version(store)) == before

    def test_two_dimensions_in_a_first_batch_leave_the_store_without(self, store: GraphStore) -> None:
        with pytest.raises(StoreError):
            write(store, edge("e", "a", "R", "b", embedding=vec(1, 0)), edge("f", "a", "R", "b", embedding=vec(1, 0, 0)))
        assert (store.describe(OPEN).embedder, store.describe(OPEN).dimension) == (None, None)
        write(store, edge("e", "a", "R", "b", embedding=vec(1, 0, 0)))
        assert (store.describe(OPEN).embedder, store.describe(OPEN).dimension) == (EMBEDDER, 3)

    def test_a_store_begins_without_and_takes_the_first_that_comes(self, store: GraphStore) -> None:
        write(store, edge("e", "a", "R", "b"))
        assert (store.describe(OPEN).embedder, store.describe(OPEN).dimension) == (None, None)
        assert store.nearest_entities([vec(1, 0)], OPEN, 3) == () == store.chunks.nearest(vec(1, 0), OPEN, 3)
        store.chunks.upsert([chunk("c", vec(1, 0))], embedder=EMBEDDER)
        assert (store.describe(OPEN).embedder, store.describe(OPEN).dimension) == (EMBEDDER, 2)
        write(store, edge("f", "a", "R", "b", embedding=vec(0, 1)))
        assert [v.score for v in store.expand(["a"], (), OPEN, vec(0, 1), 9).edges] == [None, pytest.approx(1)]
        with pytest.raises(StoreError):
            write(store, edge("g", "a", "R", "b", embedding=vec(1, 0, 0)))

    def test_edges_without_vectors_need_no_embedder(self, store: GraphStore) -> None:
        write(store, edge("e", "a", "R", "b", embedding=vec(1, 0)), embedder="first")
        write(store, edge("f", "a", "R", "b"), embedder=None)
        assert store.describe(OPEN).edges == 2

    def test_a_vector_is_kept_as_a_direction(self, store: GraphStore) -> None:
        write(store, edge("e", "a", "R", "b", embedding=vec(3, 4) * 7), edge("z", "a", "S", "b", embedding=vec(1, 0) * 0))
        scores = {v.edge.id: v.score for v in store.expand(["a"], (), OPEN, vec(1, 0), 9).edges}
        assert scores == {"e": pytest.approx(0.6), "z": None}


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
        with pytest.raises(ZeroDivisionError), store.transaction():
            self.change(store)
            raise ZeroDivisionError
        assert ([everything(store, f) for f in (READER, OPEN)], version(store)) == before

    def test_a_refused_write_takes_the_earlier_ones_back(self, store: GraphStore) -> None:
        write_world(store)
        before = ([everything(store, f) for f in (READER, OPEN)], version(store))
        with pytest.raises(StoreError), store.transaction():
            self.change(store)
            store.upsert([], [edge("bad", "jane", "R", "nobody")])
        assert ([everything(store, f) for f in (READER, OPEN)], version(store)) == before

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
        with pytest.raises(ZeroDivisionError), store.transaction():
            with store.transaction():
                write(store, edge("e", "a", "R", "b"))
            raise ZeroDivisionError
        assert store.describe(OPEN).edges == 0

    def test_a_store_works_on_after_a_rollback(self, store: GraphStore) -> None:
        with pytest.raises(ZeroDivisionError), store.transaction():
            write(store, edge("e", "a", "R", "b", embedding=vec(1, 0)), embedder="first")
            raise ZeroDivisionError
        assert store.describe(OPEN).embedder is None
        write(store, edge("e", "a", "R", "b", embedding=vec(1, 0, 0)), embedder="second")
        assert (store.describe(OPEN).embedder, store.describe(OPEN).edges) == ("second", 1)

    def test_vectors_may_come_after_edges_without(self, store: GraphStore) -> None:
        with store.transaction():
            write(store, edge("e", "a", "R", "b"))
            store.chunks.upsert([chunk("c", None)])
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
            lambda: store.chunks.upsert([chunk("c", None)]),
            lambda: store.set_access(["d1"], {"n": 1}),
            lambda: store.chunks.delete_documents(["c"]),
            lambda: store.delete_documents(["d1"]),
        ]
        for change in changes:
            change()
            assert version(store) == version(store)
            seen.append(version(store))
        assert len(set(seen)) == len(seen)


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
        before = [everything(store, f) for f in (READER, OPEN)]
        for ids in ([], ["nothing"], ["doc-a"], ["D1"], ["d"], [""], ["jane", "e01", "%"]):
            store.delete_documents(ids)
        assert [everything(store, f) for f in (READER, OPEN)] == before

    def test_entities_left_without_edges_go_and_others_stay(self, store: GraphStore) -> None:
        write(store, edge("1", "a", "R", "b", doc="d1"), edge("2", "b", "R", "c", doc="d2"), edge("3", "a", "R", "b", doc=None))
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
        write(store, edge("1", "a", "R", "b", doc="d1", properties=VALUES), edge("2", "a", "R", "b", doc="d2", properties=VALUES))
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


def chunk(id: str, embedding: object) -> Chunk:
    return Chunk(id=id, content=f"Text of {id}.", document_id="doc", metadata=PUBLIC, embedding=embedding)  # type: ignore[arg-type]


def everything_2d(store: GraphStore) -> object:
    """What a small graph with vectors of two numbers says."""
    return exact((
        store.scan(OPEN, None), store.expand(["a"], (), OPEN, vec(1, 0), 9), store.nearest_entities([vec(1, 0)], OPEN, 9),
        store.chunks.nearest(vec(1, 0), OPEN, 9),
    ))  # fmt: skip
