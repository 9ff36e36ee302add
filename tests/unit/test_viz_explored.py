"""What the component of Browse draws: places that hold, colours and letters of types, a legend that leaves out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import pytest

from kgcore import Entity
from kgcore.browse import Step, explore
from kgcore.store import GraphStore
from kgcore.types import HAS_ATTRIBUTE
from kgcore.viz import explored_payload
from kgcore.viz.explored import COLOURS, type_looks
from kgcore.viz.force import CELL_HEIGHT, CELL_WIDTH
from tests.contract.graphs import READER, edge
from tests.data.build import graph

EDGES = (
    *(edge(f"e{i:02}", "hub", "HAS", f"p{i:02}") for i in range(30)),
    *(edge(f"k{i:02}", "p03", "KNOWS", f"q{i:02}") for i in range(6)),
    edge("a", "hub", HAS_ATTRIBUTE, "hub/size", key="size", dst="big"),
    edge("b", "p03", "LIKES", "q00", doc="d2"),
    *(edge(f"n{i:02}", "p03", "NEAR", f"p{i:02}") for i in range(4, 9)),
)
TYPES = {"Person": 40, "Place": 3, "Thing": 1}
OPEN, GROW, FURTHER = (
    Step(kind="open", entity_id="hub"), Step(kind="grow", entity_id="hub"), Step(kind="grow", entity_id="p03"),
)  # fmt: skip


@pytest.fixture(scope="module")
def store() -> Iterator[GraphStore]:
    people = [Entity(id=f"p{i:02}", type="Person", name=f"p{i:02}") for i in range(30)]
    made = graph(*EDGES, entities=[Entity(id="hub", type="Place", name="hub"), *people])
    yield made
    made.close()


def places(payload: dict[str, Any]) -> dict[str, tuple[int, int]]:
    return {node["id"]: (node["x"], node["y"]) for node in payload["nodes"]}


class TestPlaces:
    def test_nothing_moves_as_one_explores(self, store: GraphStore) -> None:
        layout, before = None, dict[str, tuple[int, int]]()
        for steps in ([OPEN], [OPEN, GROW], [OPEN, GROW, FURTHER], [OPEN, GROW, FURTHER, GROW]):
            payload, layout = explored_payload(explore(store, READER, steps), TYPES, layout)
            now = places(payload)
            assert before.items() <= now.items() and len(now) > len(before)
            before = now

    def test_a_link_places_everything_as_it_was_placed(self, store: GraphStore) -> None:
        steps, layout = [OPEN, GROW, FURTHER, GROW], None
        for at in range(1, 5):
            payload, layout = explored_payload(explore(store, READER, steps[:at]), TYPES, layout)
        fresh, _ = explored_payload(explore(store, READER, steps), TYPES)
        assert fresh == payload

    def test_what_was_collapsed_or_hidden_comes_back_where_it_was(self, store: GraphStore) -> None:
        first, layout = explored_payload(explore(store, READER, [OPEN, GROW]), TYPES)
        collapse, hide = Step(kind="collapse", entity_id="hub"), Step(kind="hide", entity_id="p03")
        for steps in ([OPEN, GROW, collapse], [OPEN, GROW, hide]):
            less, layout = explored_payload(explore(store, READER, steps), TYPES, layout)
            assert places(less).items() < places(first).items()
        again, _ = explored_payload(explore(store, READER, [OPEN, GROW, collapse, GROW]), TYPES, layout)
        assert places(again) == places(first)

    def test_no_two_boxes_touch(self, store: GraphStore) -> None:
        payload, _ = explored_payload(explore(store, READER, [OPEN, GROW, GROW, FURTHER]), TYPES)
        for one, other in combinations(places(payload).values(), 2):
            assert abs(one[0] - other[0]) >= CELL_WIDTH or abs(one[1] - other[1]) >= CELL_HEIGHT


class TestLooks:
    def test_the_most_common_types_have_colours_and_letters(self) -> None:
        looks = type_looks({"Person": 9, "Place": 7, "Project": 7, "pp": 1, "": 1, "42": 1, "王": 1})
        assert looks == {
            "Person": (0, "P"), "Place": (1, "L"), "Project": (2, "R"), "": (3, "•"), "42": (4, "4"), "pp": (5, "•"),
            "王": (6, "王"),
        }  # fmt: skip

    def test_the_rest_share_a_colour(self) -> None:
        looks = type_looks({f"{letter}x": 1 for letter in "abcdefghijkl"})
        assert [colour for colour, _ in looks.values()] == [0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 8]
        assert len(set(looks.values())) == 12

    def test_a_node_says_what_of_it_is_drawn(self, store: GraphStore) -> None:
        pinned = Step(kind="pin", entity_id="p03")
        payload, _ = explored_payload(explore(store, READER, [OPEN, GROW, pinned]), TYPES)
        node = next(node for node in payload["nodes"] if node["id"] == "p03")
        assert (node["mark"], node["hop"], node["aside"], node["pinned"]) == ("P", 0, "+12", True)
        assert node["title"] == "p03\nPerson · 1 of 13 edges drawn · pinned"
        assert {edge["hop"] for edge in payload["edges"]} == {COLOURS + 1}

    def test_facts_between_the_same_two_are_bent_apart(self, store: GraphStore) -> None:
        payload, _ = explored_payload(explore(store, READER, [OPEN, GROW, FURTHER]), TYPES)
        pair = [edge for edge in payload["edges"] if edge["to"] == "q00"]
        assert {edge["label"] for edge in pair} == {"KNOWS", "LIKES"} and len({edge["curve"] for edge in pair}) == 2
        assert json.loads(json.dumps(payload)) == payload


class TestLegend:
    def test_it_counts_what_is_in_the_picture(self, store: GraphStore) -> None:
        payload, _ = explored_payload(explore(store, READER, [OPEN, GROW, GROW]), TYPES)
        assert [(one["name"], one["count"], one["on"]) for one in payload["types"]] == [
            ("Person", 30, True), ("Place", 1, True), ("Thing", 1, True),
        ]  # fmt: skip
        assert [(one["name"], one["count"]) for one in payload["relations"]] == [("HAS", 30), ("size", 1)]

    def test_what_is_off_is_in_the_legend_alone(self, store: GraphStore) -> None:
        explored = explore(store, READER, [OPEN, GROW, GROW, FURTHER])
        payload, _ = explored_payload(explored, TYPES, off_types=["Person"], off_relations=["size"])
        assert set(places(payload)) == {"hub", "hub/size", *(f"q{i:02}" for i in range(6))} and payload["edges"] == []
        assert [(one["name"], one["count"], one["on"]) for one in payload["types"][:1]] == [("Person", 30, False)]
        assert [one["name"] for one in payload["relations"] if not one["on"]] == ["size"]

    def test_attributes_go_by_their_relation_too(self, store: GraphStore) -> None:
        payload, _ = explored_payload(explore(store, READER, [OPEN, GROW, GROW]), TYPES, off_relations=[HAS_ATTRIBUTE])
        assert "size" not in {edge["label"] for edge in payload["edges"]} and len(payload["edges"]) == 30
        assert [one["name"] for one in payload["relations"] if not one["on"]] == ["size"]
