"""The Browse page where something is in the way, and what it keeps: the link, Back, Undo, what counts as drawn."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from kgcore import Edge, Entity, ModelError, StoreError, open_store, write_graph
from kgcore.store.duckdb import DuckStore
from kgcore.types import HAS_ATTRIBUTE
from tests.app.conftest import ROOT, Open
from tests.app.test_ask_runs import press
from tests.app.test_browse import (
    ACME,
    HELIOS,
    browse,
    fire,
    graph,
    labels,
    link,
    names,
    said,
    search,
    steps,
    tab,
)

LONG = "https://example.org/" + "x" * 1_500
NAMES = {"a": "Adelaide", "b": "Bob", "c": "Cy", "e": "Eve", "s/x": "Active", "t/x": "active", LONG: "Longid"}
EDGES = [
    ("1", "a", "KNOWS", "b"), ("2", "a", "KNOWS", "c"), ("3", "a", HAS_ATTRIBUTE, "s/x"),
    ("4", "a", HAS_ATTRIBUTE, "t/x"), ("5", "a", "OWNS", LONG), ("6", "b", "OWNS", "e"),
]  # fmt: skip
A_GROWN = json.dumps([["open", "a"], ["grow", "a"]])


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A graph without vectors: Adelaide with five facts of six edges; Bob is a fund."""
    address = f"duckdb:///{tmp_path / 'small.duckdb'}"
    store = open_store(address, create=True)
    entities = [Entity(id=id_, type="Fund" if id_ == "b" else "Person", name=name) for id_, name in NAMES.items()]
    edges = [
        Edge(
            id=id_, source_id=one, target_id=other, relation=relation, src_name=NAMES[one], dst_name=NAMES[other],
            key="status" if relation == HAS_ATTRIBUTE else None, source_doc_id=id_,
        )
        for id_, one, relation, other in EDGES
    ]  # fmt: skip
    write_graph(store, entities, edges)
    store.close()
    monkeypatch.setenv("HOPSCOPE_STORE", address)


def places(at: AppTest) -> dict[str, tuple[int, int]]:
    return {node["id"]: (node["x"], node["y"]) for node in graph(at)["nodes"]}


def query(at: AppTest) -> dict[str, Any]:
    return {name: at.query_params[name] for name in at.query_params}


def follow(at: AppTest, wanted: dict[str, Any]) -> AppTest:
    """The browser's Back, to a link of before, after a run that shows that it got the last one."""
    at = at.run()
    at.query_params.clear()
    for name, value in wanted.items():
        at.query_params[name] = value
    at = at.run()
    assert not at.exception
    return at


class TestInTheWay:
    @pytest.mark.parametrize("text", ['[["open","\\ud800"]]', '[["open","helios"],["grow","helios","\\udfff"]]'])
    def test_half_a_character_in_a_link(self, opened: Open, text: str) -> None:
        at = browse(opened, steps=text)
        assert not at.error and names(at) == ({"Helios"} if "helios" in text else set())

    @pytest.mark.parametrize("kind", ["type", "relation", "hide", "pick"])
    def test_half_a_character_from_the_graph(self, opened: Open, kind: str) -> None:
        at = browse(opened, steps=HELIOS)
        before = graph(at)
        assert graph(fire(at, {"kind": kind, "id": "\ud800"})) == before

    def test_a_store_that_fails_leaves_the_ways_back(self, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
        at = browse(opened, steps=HELIOS)
        before = graph(at)
        real = DuckStore.expand

        def fail(self: Any, frontier: Sequence[str], *more: Any, **others: Any) -> Any:
            if "acme-capital" in frontier:
                raise StoreError("The server took too long.", remedy="Try later.")
            return real(self, frontier, *more, **others)

        monkeypatch.setattr(DuckStore, "expand", fail)
        for step in ("grow", "pin", "grow"):
            at = fire(at, {"kind": step, "id": "acme-capital"})
        assert "The server took too long\\. Try later\\." in said(at)
        assert {"Try again", "Undo", "Clear"} <= set(labels(at))
        assert graph(at) == before and len(steps(at)) == 5
        at = press(at, "browse_undo")
        assert not [error for error in at.error if error.key] and steps(at) == json.loads(HELIOS)
        again = browse(opened, steps=json.dumps([*json.loads(HELIOS), ["grow", "acme-capital"], ["pin", "helios"]]))
        assert graph(again)["nodes"] == before["nodes"]
        monkeypatch.undo()
        assert len(names(press(again, "try_again"))) > 30
        assert names(press(again, "browse_clear")) == set()

    def test_what_is_refused_is_replayed_once(self, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
        exploring = sys.modules["kgcore.browse.explore"]
        taken: list[Any] = []
        take = exploring._World.take
        monkeypatch.setattr(exploring._World, "take", lambda self, step: (taken.append(step), take(self, step))[1])
        monkeypatch.setattr(exploring, "MAX_NODES", 60)
        at = browse(opened, steps=json.dumps([["open", "acme-capital"], *[["grow", "acme-capital"]] * 59]))
        assert "A picture holds at most 60 entities" in said(at) and len(steps(at)) == 3 and len(names(at)) == 51
        assert len(taken) == 4
        at = press(at, "browse_undo")
        assert len(names(at)) == 26 and len(taken) == 4

    def test_paths_are_looked_for_once(self, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[str] = []
        real = DuckStore.paths
        monkeypatch.setattr(DuckStore, "paths", lambda self, *more: (asked.append(more[0]), real(self, *more))[1])
        at = tab(browse(opened, **{"from": "jane-doe", "to": "helios"}), "Path")
        assert "1 path of 2 hops, the shortest there is:" in said(at.run().run()) and len(asked) == 1
        at = press(at, "path_draw")
        assert len(names(at)) == 3 and len(asked) == 2

    def test_an_embedder_that_fails_is_said(self, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: object) -> None:
            raise ModelError("The embedder is away.", remedy="Start it.")

        monkeypatch.setattr("ui.browse.closeness", fail)
        at = browse(opened, steps=HELIOS, about="Who uses it?")
        assert "The question ranks nothing\\. The embedder is away\\. Start it\\." in said(at)
        assert len(names(at)) == 12

    @pytest.mark.usefixtures("small")
    def test_a_graph_without_vectors_says_so(self, opened: Open) -> None:
        at = browse(opened, open="a")
        assert "The question ranks nothing" not in said(at)
        at.text_input(key="about").set_value("Who?")
        assert "The graph has no vectors of this embedder" in said(at.run())


class TestKept:
    def test_a_link_stands_as_the_session_did(self, opened: Open) -> None:
        at = browse(opened, steps=HELIOS)
        for action in (
            {"kind": "grow", "id": "acme-capital"}, {"kind": "grow", "id": "lodestar"},
            {"kind": "hide", "id": "helios"}, {"kind": "grow", "id": "acme-capital"},
        ):  # fmt: skip
            at = fire(at, action)
        at = press(at, "browse_undo")
        at = press(fire(at, {"kind": "pick", "id": "acme-capital"}), "browse_collapse")
        at = press(press(at, "browse_grow"), "browse_unhide")
        assert steps(at)[-3:] == [["collapse", "acme-capital"], ["grow", "acme-capital"], ["show"]]
        again = browse(opened, **query(at))
        assert places(again) == places(at) and len(places(at)) > 12
        at = fire(at, {"kind": "tidy", "id": ""})
        assert places(at) != places(again) and places(browse(opened, **query(at))) == places(at)
        assert places(press(at, "browse_undo")) == places(again)

    def test_back_follows_the_link(self, opened: Open) -> None:
        at = browse(opened)
        bare = query(at)
        at = press(at, "browse_begin_0")
        first = query(at)
        at = press(at, "browse_grow")
        second = query(at)
        assert len(names(at)) == 26
        at = follow(at, first)
        assert names(at) == {"Acme Capital"} and query(at) == first
        at = follow(at, second)
        assert len(names(at)) == 26
        at = follow(at, bare)
        assert names(at) == set() and "Search for an entity" in said(at)
        at = follow(at, {"open": "helios"})
        assert names(at) == {"Helios"} and steps(at) == [["open", "helios"]]

    def test_a_link_that_is_behind_is_not_followed(self, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
        at = browse(opened)
        bare = query(at)
        at = press(at, "browse_begin_0")
        monkeypatch.setattr("ui.browse._LATE", 0.0)
        for late in (bare, query(at)):
            at.query_params.clear()
            for name, value in late.items():
                at.query_params[name] = value
            at = press(at, "browse_grow")
            assert "Acme Capital" in names(at) and len(steps(at)) > 1
        assert len(names(at)) == 51
        monkeypatch.setattr("ui.browse._LATE", 60.0)
        for name in bare.keys() ^ query(at).keys():
            del at.query_params[name]
        at = search(at, "browse_search", "heli")
        assert len(names(at)) == 51 and "steps" in at.query_params
        monkeypatch.setattr("ui.browse._LATE", 0.0)
        assert names(follow(at, bare)) == set()

    def test_coming_by_the_pages_name_keeps_the_picture(self, opened: Open) -> None:
        at = browse(opened, steps=HELIOS)
        at = at.switch_page(str(ROOT / "pages" / "ask.py")).run()
        at.query_params.clear()
        at = at.switch_page(str(ROOT / "pages" / "browse.py")).run()
        assert len(names(at)) == 12 and steps(at) == json.loads(HELIOS)

    @pytest.mark.parametrize(("held", "read"), [("0", 25), ("3", 25), ("9999", 1_000), ("75", 75)])
    def test_how_many_facts_are_listed(self, opened: Open, held: str, read: int) -> None:
        at = browse(opened, steps=ACME, at="acme-capital", facts=held)
        listed = [b for b in at.button if b.key and b.key.startswith("browse_fact_")]
        assert len(listed) == min(read, 90) and link(at, "facts") == ([] if read == 25 else [str(read)])

    @pytest.mark.usefixtures("small")
    def test_an_id_of_any_length(self, opened: Open) -> None:
        at = search(browse(opened), "browse_search", "longid")
        at = press(at, "browse_found_0")
        assert names(at) == {"Longid"} and link(at, "at") == [LONG]
        again = browse(opened, **query(at))
        assert said(again) == said(at) and "**Longid**" in said(again)

    def test_steps_that_no_link_holds(self, opened: Open) -> None:
        at = browse(opened, steps=json.dumps([["open", "helios"], ["open", "x" * 20_000]]))
        assert len(steps(at)) == 2
        at.query_params["open"] = "y" * 20_000
        at = at.run()
        assert "its link, which holds at most 32,000 characters" in said(at).replace("\\", "") and len(steps(at)) == 2

    @pytest.mark.parametrize("text", ["x", json.dumps([["open", "x" * 40_000]])])
    def test_steps_that_cannot_be_read_are_said(self, opened: Open, text: str) -> None:
        at = browse(opened, steps=text)
        assert "The steps of the link cannot be read" in said(at)
        assert "cannot be read" not in said(press(at, "browse_begin_0"))

    def test_the_question_of_ask_is_grown_towards_when_it_changes(self, opened: Open) -> None:
        at = opened(q="Who manages Helios?").switch_page(str(ROOT / "pages" / "browse.py")).run()
        assert at.text_input(key="about").value == "Who manages Helios?"
        at.text_input(key="about").set_value("My own")
        at = at.run().switch_page(str(ROOT / "pages" / "ask.py")).run()
        at = at.switch_page(str(ROOT / "pages" / "browse.py")).run()
        assert at.text_input(key="about").value == "My own"
        at = at.switch_page(str(ROOT / "pages" / "ask.py")).run()
        at.text_input(key="q").set_value("Who works at Acme Capital?")
        at = at.run().switch_page(str(ROOT / "pages" / "browse.py")).run()
        assert at.text_input(key="about").value == "Who works at Acme Capital?"


@pytest.mark.usefixtures("small")
class TestDrawn:
    def test_is_counted_in_one_way(self, opened: Open) -> None:
        at = browse(opened, steps=A_GROWN, at="a")
        assert "5 entities, 4 facts" in said(at) and "4 of 4 facts drawn" in said(at)
        at = fire(at, {"kind": "type", "id": "Fund"})
        assert "4 entities, 3 facts" in said(at) and "3 of 4 facts drawn" in said(at)
        a = next(node for node in graph(at)["nodes"] if node["id"] == "a")
        assert (
            "4 of 5 edges drawn" in a["title"] and a["aside"] == "" and "browse_grow" not in {b.key for b in at.button}
        )
        at = fire(fire(at, {"kind": "relation", "id": "KNOWS"}), {"kind": "hide", "id": LONG})
        at = fire(at, {"kind": "pick", "id": "a"})
        assert "3 entities, 1 fact" in said(at) and "1 of 4 facts drawn" in said(at)

    def test_a_value_of_two_documents_is_one_fact(self, opened: Open) -> None:
        many = json.dumps([[kind, id_] for id_ in ("s/x", "t/x") for kind in ("open", "grow")])
        at = browse(opened, steps=many, at="a")
        assert "3 entities, 1 fact ·" in said(at) and "1 of 4 facts drawn" in said(at) and "+3 of 3" in labels(at)
        assert next(node for node in graph(at)["nodes"] if node["id"] == "a")["aside"] == "+3"

    def test_one_of_a_type_that_is_left_out_can_be_drawn(self, opened: Open) -> None:
        at = browse(opened, open="b", off="Fund")
        assert names(at) == set() and "0 entities, 0 facts" in said(at)
        assert "Draw" in labels(at) and not {"Hide", "Pin"} & set(labels(at))
        at = press(at, "browse_draw")
        assert names(at) == {"Bob"} and "off" not in at.query_params
        at = browse(opened, off="Fund")
        at = press(search(at, "browse_search", "bob"), "browse_found_0")
        assert names(at) == {"Bob"}

    def test_attributes_come_back_by_their_key(self, opened: Open) -> None:
        at = browse(opened, steps=A_GROWN, without=HAS_ATTRIBUTE)
        for on in (True, False, True):
            at = fire(at, {"kind": "relation", "id": "status"})
            assert next(one["on"] for one in graph(at)["relations"] if one["key"] == "status") == on
        assert "without" not in at.query_params

    def test_reading_takes_no_step(self, opened: Open) -> None:
        at = browse(opened, steps=A_GROWN, at="a")
        for who in ("Bob", "Eve", "Bob", "Adelaide"):
            at = press(at, next(b.key for b in at.button if b.label.endswith(f"**{who}**")))
            assert f"**{who}**" in said(at) and len(steps(at)) == 2
        assert graph(at)["nodes"] and "Eve" not in names(at)

    def test_opening_what_is_there_takes_no_step(self, opened: Open) -> None:
        at = browse(opened, open="a")
        for _ in range(3):
            at = tab(at, "Hubs")
            at = press(at, "browse_hub_0")
        assert steps(at) == [["open", "a"]] and "**Adelaide**" in said(at)

    def test_undo_takes_back_what_was_done_last(self, opened: Open) -> None:
        taken = [["open", "a"], ["grow", "a"], ["pin", "b"], ["collapse", "a"], ["grow", "b"]]
        at = browse(opened, steps=json.dumps(taken))
        assert names(at) == {"Adelaide", "Bob", "Eve"}
        at = press(fire(at, {"kind": "pick", "id": "b"}), "browse_pin")
        assert names(at) == {"Adelaide", "Bob", "Eve"} and "Pin" in labels(at)
        at = press(at, "browse_undo")
        assert names(at) == {"Adelaide", "Bob", "Eve"} and "Unpin" in labels(at)
        at = press(fire(at, {"kind": "hide", "id": "e"}), "browse_unhide")
        assert "Eve" in names(at)
        assert "Eve" not in names(press(at, "browse_undo"))


class TestControls:
    def test_no_more_is_promised_than_is_listed(self, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("ui.browse_card.RANKED", 40)
        monkeypatch.setattr("ui.browse.RANKED", 40)
        at = browse(opened, open="acme-capital")
        assert "ranked by connections among 40." in said(at) and "List 15 more" in labels(at)
        at = browse(opened, steps=ACME, at="acme-capital", facts="40")
        assert not any(label.startswith("List ") for label in labels(at))
        assert "The other 50 are not listed; Relations draws them." in said(at)

    def test_not_every_relation_is_listed(self, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("ui.browse_card.MOST_RELATIONS", 3)
        at = browse(opened, open="acme-capital")
        assert len([b for b in at.button if b.key and b.key.startswith("browse_relation_")]) == 3
        assert "least common are not listed." in said(at)

    def test_two_ends_that_are_one(self, opened: Open) -> None:
        at = tab(browse(opened, **{"from": "helios", "to": "helios"}), "Path")
        assert "Both ends are the same entity" in said(at)

    def test_the_first_of_more_paths(self, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("ui.browse.PATHS", 1)
        monkeypatch.setattr("ui.browse_panes.PATHS", 1)
        at = tab(browse(opened, **{"from": "helios", "to": "beacon-id"}), "Path")
        lines = [one.value for one in at.markdown if "→" in one.value or "←" in one.value]
        assert "The first 1 paths of" in said(at) and len(lines) == 1
