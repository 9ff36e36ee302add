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
from kgcore.viz import explored_payload, laid_out
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


def walked(store: GraphStore, *steps: Step) -> dict[str, tuple[int, int]]:
    """Where everything stands after these steps, laid out step by step as they are taken."""
    layout = None
    for at in range(1, len(steps) + 1):
        explored = explore(store, READER, steps[:at])
        layout = laid_out(explored, layout)
    return places(explored_payload(explored, TYPES, layout))


class TestPlaces:
    def test_nothing_moves_as_one_explores(self, store: GraphStore) -> None:
        before = dict[str, tuple[int, int]]()
        for steps in ([OPEN], [OPEN, GROW], [OPEN, GROW, FURTHER], [OPEN, GROW, FURTHER, GROW]):
            now = walked(store, *steps)
            assert before.items() <= now.items() and len(now) > len(before)
            before = now

    def test_what_was_collapsed_or_hidden_comes_back_where_it_was(self, store: GraphStore) -> None:
        first = walked(store, OPEN, GROW)
        collapse, hide = Step(kind="collapse", entity_id="hub"), Step(kind="hide", entity_id="p03")
        for away in (collapse, hide):
            assert walked(store, OPEN, GROW, away).items() < first.items()
        assert walked(store, OPEN, GROW, collapse, GROW) == walked(store, OPEN, GROW, hide, Step(kind="show")) == first

    def test_a_place_once_given_is_not_given_to_another(self, store: GraphStore) -> None:
        first = walked(store, OPEN, GROW)
        collapse = Step(kind="collapse", entity_id="hub")
        later = walked(store, OPEN, GROW, collapse, Step(kind="open", entity_id="q00"))
        assert later["q00"] not in first.values()

    def test_tidying_places_what_is_there_anew(self, store: GraphStore) -> None:
        tidy = Step(kind="tidy")
        steps = OPEN, GROW, FURTHER
        at_once = places(explored_payload(explore(store, READER, steps), TYPES))
        assert walked(store, *steps) != at_once == walked(store, *steps, tidy)
        assert walked(store, *steps, tidy, GROW).items() > at_once.items()

    def test_no_two_boxes_touch(self, store: GraphStore) -> None:
        payload = explored_payload(explore(store, READER, [OPEN, GROW, GROW, FURTHER]), TYPES)
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
        payload = explored_payload(explore(store, READER, [OPEN, GROW, pinned]), TYPES)
        node = next(node for node in payload["nodes"] if node["id"] == "p03")
        assert (node["mark"], node["hop"], node["aside"], node["pinned"]) == ("P", 0, "+12", True)
        assert node["title"] == "p03\nPerson · 1 of 13 edges drawn · pinned"
        assert {edge["hop"] for edge in payload["edges"]} == {COLOURS + 1}

    def test_facts_between_the_same_two_are_bent_apart(self, store: GraphStore) -> None:
        payload = explored_payload(explore(store, READER, [OPEN, GROW, FURTHER]), TYPES)
        pair = [edge for edge in payload["edges"] if edge["to"] == "q00"]
        assert {edge["label"] for edge in pair} == {"KNOWS", "LIKES"} and len({edge["curve"] for edge in pair}) == 2
        assert json.loads(json.dumps(payload)) == payload


class TestLegend:
    def test_it_counts_what_is_in_the_picture(self, store: GraphStore) -> None:
        payload = explored_payload(explore(store, READER, [OPEN, GROW, GROW]), TYPES)
        assert [(one["name"], one["count"], one["on"]) for one in payload["types"]] == [
            ("Person", 30, True), ("Place", 1, True), ("Thing", 1, True),
        ]  # fmt: skip
        assert [(one["name"], one["count"]) for one in payload["relations"]] == [("HAS", 30), ("size", 1)]

    def test_what_is_off_is_in_the_legend_alone(self, store: GraphStore) -> None:
        explored = explore(store, READER, [OPEN, GROW, GROW, FURTHER])
        payload = explored_payload(explored, TYPES, off_types=["Person"], off_relations=["size"])
        assert set(places(payload)) == {"hub", "hub/size", *(f"q{i:02}" for i in range(6))} and payload["edges"] == []
        assert [(one["name"], one["count"], one["on"]) for one in payload["types"][:1]] == [("Person", 30, False)]
        assert [one["name"] for one in payload["relations"] if not one["on"]] == ["size"]

    def test_attributes_go_by_their_relation_too(self, store: GraphStore) -> None:
        payload = explored_payload(explore(store, READER, [OPEN, GROW, GROW]), TYPES, off_relations=[HAS_ATTRIBUTE])
        assert "size" not in {edge["label"] for edge in payload["edges"]} and len(payload["edges"]) == 30
        assert [one["name"] for one in payload["relations"] if not one["on"]] == ["size"]
