"""`GraphWriter`: what a change changes, and that nothing else does."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from kgcore.errors import StoreError
from kgcore.store import GraphStore
from kgcore.types import Chunk, Edge, Entity
from tests.contract.graphs import (
    EMBEDDER,
    OPEN,
    PUBLIC,
    READER,
    VALUES,
    WORLD_CHUNKS,
    WORLD_EDGES,
    WORLD_ENTITIES,
    chunk,
    edge,
    everything,
    exact,
    hidden,
    only,
    vec,
    version,
    write,
    write_world,
)


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
            store.upsert(
                [Entity(id="c", type="T", name="c")], [edge("f", "a", "R", "c"), edge("g", "a", "R", "nobody")]
            )
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

    def test_a_value_that_cannot_be_kept_is_refused_whole(self, store: GraphStore) -> None:
        write(store, edge("e", "a", "R", "b"))
        before = version(store)
        taken = []
        for value in UNKEEPABLE:
            properties = {"price": value}
            passage = Chunk(id="c", content="", document_id="d", metadata=properties)  # type: ignore[arg-type]
            for attempt in (
                partial(write, store, edge("f", "a", "R", "b", properties=properties)),  # type: ignore[arg-type]
                partial(store.chunks.upsert, [passage]),
                partial(store.set_access, ["d1"], properties),  # type: ignore[arg-type]
            ):
                refused = refusal(attempt)
                if refused is None or "price" not in str(refused) or not refused.remedy:
                    taken.append((value, attempt.func))
        assert taken == []
        assert (version(store), store.edges(["f"], OPEN)) == (before, ())

    def test_text_that_is_no_text_is_refused_whole(self, store: GraphStore) -> None:
        write(store, edge("e", "a", "R", "b"))
        whole = edge("f", "a", "R", "b").__dict__
        edges = [
            Edge(**{**whole, field: "half \ud83d"}) for field in ("id", "relation", "description", "source_doc_id")
        ]
        attempts = [partial(store.upsert, [], [e]) for e in edges]
        attempts.append(partial(write, store, edge("f", "a", "R", "b", src="half \ud83d")))
        attempts.append(partial(store.chunks.upsert, [chunk("half \ud83d")]))
        assert [attempt.args for attempt in attempts if refusal(attempt) is None] == []
        assert store.describe(OPEN).edges == 1


def refusal(attempt: Callable[[], object]) -> StoreError | None:
    """The error of an attempt, None where it did not fail."""
    try:
        attempt()
    except StoreError as error:
        return error
    return None


UNKEEPABLE: list[object] = [
    float("nan"), float("inf"), 2**63, -(2**63) - 1, "\ud800", "zero\0byte", {"a": 1}, b"bytes", (1, (2, 3)), (None,),
]  # fmt: skip


class TestVectors:
    def test_another_embedder_is_refused(self, store: GraphStore) -> None:
        write(store, edge("e", "a", "R", "b", embedding=vec(1, 0)), embedder="first")
        before = (everything_2d(store), version(store))
        with pytest.raises(StoreError, match=r"first.*second") as caught:
            write(store, edge("f", "a", "R", "b", embedding=vec(0, 1)), embedder="second")
        assert "first" in caught.value.remedy
        with pytest.raises(StoreError, match=r"first.*second"):
            store.chunks.upsert([chunk("c", vec(0, 1))], embedder="second")
        assert (everything_2d(store), version(store)) == before
        assert store.describe(OPEN).embedder == "first"

    @pytest.mark.parametrize("numbers", [(1, 0, 0), (1,)], ids=["longer", "shorter"])
    def test_another_dimension_is_refused(self, store: GraphStore, numbers: tuple[float, ...]) -> None:
        write(store, edge("e", "a", "R", "b", embedding=vec(1, 0)))
        before = (everything_2d(store), version(store))
        for attempt in (
            lambda: write(store, edge("f", "a", "R", "b", embedding=vec(*numbers))),
            lambda: write(
                store, edge("f", "a", "R", "b"), entities=[Entity(id="a", type="T", name="a", embedding=vec(*numbers))]
            ),
            lambda: store.chunks.upsert([chunk("c", vec(*numbers))], embedder=EMBEDDER),
        ):
            with pytest.raises(StoreError, match="2"):
                attempt()
        assert (everything_2d(store), version(store)) == before

    def test_two_dimensions_in_a_first_batch_leave_the_store_without(self, store: GraphStore) -> None:
        with pytest.raises(StoreError):
            write(
                store, edge("e", "a", "R", "b", embedding=vec(1, 0)), edge("f", "a", "R", "b", embedding=vec(1, 0, 0))
            )
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

    def test_many_names_as_near_as_each_other(self, store: GraphStore) -> None:
        ids = [f"n{i:03}" for i in range(300)]
        entities = [Entity(id=i, type="T", name=i, embedding=vec(1, 0)) for i in ids]
        edges = [(edge if int(i[1:]) % 2 else hidden)(f"e{i}", i, "R", "hub") for i in reversed(ids)]
        write(store, *edges, entities=entities)
        assert [m.entity_id for m in store.nearest_entities([vec(1, 0)], READER, 3)] == ["n001", "n003", "n005"]
        assert len(store.nearest_entities([vec(1, 0)], READER, 999)) == 150
        assert store.nearest_entities([vec(1, 0)], READER, 0) == ()

    def test_a_vector_is_kept_as_a_direction(self, store: GraphStore) -> None:
        write(
            store, edge("e", "a", "R", "b", embedding=vec(3, 4) * 7), edge("z", "a", "S", "b", embedding=vec(1, 0) * 0)
        )
        scores = {v.edge.id: v.score for v in store.expand(["a"], (), OPEN, vec(1, 0), 9).edges}
        assert scores == {"e": pytest.approx(0.6), "z": None}


def everything_2d(store: GraphStore) -> object:
    """What a small graph with vectors of two numbers says."""
    return exact((
        store.scan(OPEN, None), store.expand(["a"], (), OPEN, vec(1, 0), 9),
        store.nearest_entities([vec(1, 0)], OPEN, 9),
        store.chunks.nearest(vec(1, 0), OPEN, 9),
    ))  # fmt: skip
