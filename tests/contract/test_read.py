"""`GraphReader` over the world: descriptions, entities, edges and vectors. Read only."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest

from kgcore.errors import StoreError
from kgcore.filters import AccessFilter
from kgcore.store import GraphStore
from kgcore.types import End, Match, Property
from tests.contract.graphs import (
    BOARD,
    NOBODY,
    OPEN,
    READER,
    VISIBLE_EDGES,
    WORLD_EDGES,
    everything,
    exact,
    only,
    vec,
)

JANE = End(id="jane", name="Jane Doe", type="Person", degree=3)
ACME = End(id="acme", name="Acme Capital", type="Company", degree=5)
HELIOS = End(id="helios", name="Helios", type="System", degree=5)


class TestDescribe:
    def test_it_counts_what_is_visible(self, world: GraphStore) -> None:
        seen = world.describe(READER)
        assert (seen.entities, seen.edges, seen.documents) == (10, 11, 3)
        assert seen.entity_types == {"Company": 2, "Person": 4, "System": 1, "Value": 3}
        assert seen.relations == {"HAS_ATTRIBUTE": 3, "KNOWS": 1, "OWNS": 1, "USES": 2, "WORKS_AT": 4}
        assert (seen.embedder, seen.dimension) == ("toy", 4)

    def test_properties_have_kinds_and_counts_and_no_access_field(self, world: GraphStore) -> None:
        assert {p.name: p for p in world.describe(READER).properties} == {
            name: Property(name=name, kinds=kinds, count=count)
            for name, kinds, count in (
                ("year", ("number", "string"), 11), ("lang", ("string",), 5), ("title", ("string",), 5),
                ("flag", ("boolean",), 5), ("ratio", ("number",), 1), ("tags", ("list",), 1), ("key", ("string",), 3),
                ("description", ("string",), 1), ("source_doc_id", ("string",), 11), ("src_name", ("string",), 11),
                ("dst_name", ("string",), 11),
            )
        }  # fmt: skip

    def test_other_eyes_see_other_counts(self, world: GraphStore) -> None:
        assert [world.describe(f).edges for f in (READER, BOARD, OPEN, NOBODY)] == [11, 13, 14, 0]
        assert world.describe(BOARD).entities == 11
        assert "codename" in {p.name for p in world.describe(BOARD).properties}
        assert world.describe(READER.narrowed(only("year", ">=", 2024))).edges == 5

    def test_nothing_visible_is_all_zero(self, world: GraphStore) -> None:
        seen = world.describe(NOBODY)
        assert (seen.entities, seen.edges, seen.documents, seen.properties) == (0, 0, 0, ())
        assert (dict(seen.entity_types), dict(seen.relations)) == ({}, {})

    def test_the_locked_filters_own_fields_are_not_described(self, world: GraphStore) -> None:
        by_language = AccessFilter.of(locked=only("lang", "==", "en"))
        assert {p.name for p in world.describe(by_language).properties}.isdisjoint({"lang", "allowed_principals"})


class TestEntities:
    def test_in_the_order_asked_for_each_once_without_the_unknown_and_the_unseen(self, world: GraphStore) -> None:
        asked = ["helios", "nobody", "jane", "ghost", "helios", "loner", "acme", ""]
        assert world.entities(asked, READER) == (HELIOS, JANE, ACME)

    def test_nothing_asked_nothing_told(self, world: GraphStore) -> None:
        assert world.entities([], READER) == ()
        assert world.entities(["jane"], NOBODY) == ()

    def test_a_caller_that_narrows_changes_names_and_degrees(self, world: GraphStore) -> None:
        narrowed = READER.narrowed(only("source_doc_id", "==", "d2"))
        found = world.entities(["jane", "acme", "helios"], narrowed)
        assert [(end.name, end.degree) for end in found[1:]] == [("Acme Capital", 2), ("Helios", 1)]
        assert found[0].degree == 2

    def test_two_of_one_name_stay_two(self, world: GraphStore) -> None:
        first, second = world.entities(["kim-1", "kim-2"], READER)
        assert (first.id, second.id) == ("kim-1", "kim-2")
        assert first.name == second.name == "Alex Kim"

    def test_a_self_loop_counts_once(self, world: GraphStore) -> None:
        (acme,) = world.entities(["acme"], READER.narrowed(only("source_doc_id", "==", "d1")))
        assert acme.degree == 3


class TestEdges:
    def test_in_the_order_asked_for_each_once_without_the_unknown_and_the_unseen(self, world: GraphStore) -> None:
        found = world.edges(["e03", "h01", "e01", "nope", "e12", "e03"], READER)
        assert [e.id for e in found] == ["e03", "e01"]

    def test_an_edge_comes_back_as_written_but_for_access_and_vectors(self, world: GraphStore) -> None:
        by_id = {e.id: e for e in world.edges([e.id for e in WORLD_EDGES], READER)}
        assert list(by_id) == [e.id for e in VISIBLE_EDGES]
        for written in VISIBLE_EDGES:
            kept = {n: v for n, v in written.properties.items() if n != "allowed_principals"}
            read = by_id[written.id]
            assert read.embedding is None
            assert exact(read.properties) == exact(kept)
            assert (read.source_id, read.target_id, read.relation) == (
                written.source_id, written.target_id, written.relation,
            )  # fmt: skip
            assert (read.src_name, read.dst_name, read.key, read.description, read.source_doc_id) == (
                written.src_name, written.dst_name, written.key, written.description, written.source_doc_id,
            )  # fmt: skip

    def test_nothing_asked_nothing_told(self, world: GraphStore) -> None:
        assert world.edges([], READER) == ()

    def test_an_edge_without_the_property_is_unknown_to_a_locked_filter(self, world: GraphStore) -> None:
        assert [e.id for e in world.edges(["e12"], OPEN)] == ["e12"]
        for operator, value in (("!=", "x"), ("not in", ["x"]), ("==", "x"), ("contains_any", ["x"])):
            assert world.edges(["e12"], AccessFilter.of(locked=only("allowed_principals", operator, value))) == ()


@dataclass(frozen=True, kw_only=True)
class Nearest:
    id: str
    vector: tuple[float, ...]
    k: int
    found: list[tuple[str, str, float]]


NEAREST = [
    Nearest(id="best-first", vector=(0, 1, 0, 0), k=2, found=[("acme", "Acme Capital", 1), ("globex", "Globex", 0.8)]),
    Nearest(id="ties-by-id", vector=(0, 0, 0, 1), k=2, found=[("kim-1", "Alex Kim", 1), ("kim-2", "Alex Kim", 1)]),
    Nearest(id="a-cut-tie", vector=(0, 0, 0, 1), k=1, found=[("kim-1", "Alex Kim", 1)]),
    Nearest(id="an-entity-once-by-its-best-name", vector=(0.8, 0, 0.6, 0), k=2,
            found=[("jane", "Jane M. Doe", 1), ("helios", "Helios", 0.6)]),
    Nearest(id="the-unseen-leave-no-gap", vector=(1, 0, 0, 0), k=1, found=[("jane", "Jane Doe", 1)]),
    Nearest(id="more-than-there-are", vector=(0, 0, 1, 0), k=50,
            found=[("helios", "Helios", 1), ("globex", "Globex", 0.6), ("jane", "Jane M. Doe", 0.6),
                   ("acme", "Acme Capital", 0), ("kim-1", "Alex Kim", 0), ("kim-2", "Alex Kim", 0)]),
]  # fmt: skip


class TestNearestEntities:
    @pytest.mark.parametrize("case", NEAREST, ids=lambda case: case.id)
    def test_case(self, world: GraphStore, case: Nearest) -> None:
        matches = world.nearest_entities([vec(*case.vector)], READER, case.k)
        assert [(m.entity_id, m.name) for m in matches] == [found[:2] for found in case.found]
        assert [m.score for m in matches] == pytest.approx([found[2] for found in case.found], abs=1e-5)
        assert {m.query for m in matches} == {0}

    def test_each_vector_has_its_own_answer_in_the_order_asked(self, world: GraphStore) -> None:
        matches = world.nearest_entities([vec(0, 0, 1, 0), vec(0, 1, 0, 0)], READER, 1)
        assert [(m.query, m.entity_id, m.type) for m in matches] == [(0, "helios", "System"), (1, "acme", "Company")]

    def test_the_vector_of_a_name_that_only_hidden_edges_give_counts_for_nothing(self, world: GraphStore) -> None:
        (reader,) = world.nearest_entities([vec(0, 1, 0, 0)], READER.narrowed(only("dst_name", "==", "Jane Doe")), 1)
        assert (reader.entity_id, reader.name, reader.score) == ("jane", "Jane Doe", 0)
        board = world.nearest_entities([vec(0, 1, 0, 0)], BOARD, 2)
        assert [(m.entity_id, m.name) for m in board] == [("acme", "Acme Capital"), ("jane", "Jane Secret")]

    def test_no_vectors_asked_or_nothing_visible(self, world: GraphStore) -> None:
        assert world.nearest_entities([], READER, 5) == ()
        assert world.nearest_entities([vec(1, 0, 0, 0)], NOBODY, 5) == ()

    def test_a_vector_of_another_dimension_is_an_error(self, world: GraphStore) -> None:
        with pytest.raises(StoreError):
            world.nearest_entities([vec(1, 0, 0)], READER, 1)
        with pytest.raises(StoreError):
            world.expand(["jane"], (), READER, vec(1, 0, 0), 10)
        with pytest.raises(StoreError):
            world.chunks.nearest(vec(1, 0, 0), READER, 1)


def test_many_threads_read_the_same(world: GraphStore) -> None:
    def read(_: int) -> object:
        return (
            world.match_names(["Jane", "Acne"], READER, 3),
            world.expand(["jane"], (), READER, vec(1, 0, 0, 0), 5),
            world.describe(READER),
        )

    alone = read(0)
    with ThreadPoolExecutor(8) as pool:
        assert all(answer == alone for answer in pool.map(read, range(40)))


def test_the_same_question_gives_the_same_bytes(world: GraphStore) -> None:
    assert everything(world, READER) == everything(world, READER)


def test_answers_are_of_the_types_that_every_part_speaks(world: GraphStore) -> None:
    (match,) = world.nearest_entities([vec(0, 1, 0, 0)], READER, 1)
    (end,) = world.entities(["jane"], READER)
    assert isinstance(match, Match) and type(match.score) is float
    assert isinstance(end, End) and type(end.degree) is int
    (scored,) = world.expand(["kim-1"], (), READER, vec(1, 0, 0, 0), 1).edges
    assert not isinstance(scored.score, np.generic) and type(scored.score) is float
