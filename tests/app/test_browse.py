"""The Browse page by its controls: searching, growing, hiding, the card, paths, the schema, and what the link holds."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.conftest import ROOT, Open
from tests.app.test_ask import QUESTION, drawn
from tests.app.test_ask_runs import press

ACME = json.dumps([["open", "acme-capital"], *[["grow", "acme-capital"]] * 4])
HELIOS = json.dumps([["open", "helios"], ["grow", "helios"]])


def browse(opened: Open, **query: Any) -> AppTest:
    """The page, come to by a link."""
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    at.query_params["q"] = ""
    at = at.run().switch_page(str(ROOT / "pages" / "browse.py"))
    at.query_params.clear()
    for name, value in query.items():
        at.query_params[name] = value
    at = at.run()
    assert not at.exception
    return at


def fire(at: AppTest, action: Any) -> AppTest:
    """What the component's trigger sends."""
    from streamlit.components.v2.bidi_component.main import _make_trigger_id

    element = next(element for element in at.get("bidi_component") if element.key == "browse_browse")
    states = at._tree.get_widget_states()
    widget = states.widgets.add()
    widget.id = _make_trigger_id(element.proto.id, "events")
    widget.json_trigger_value = json.dumps([{"event": "action", "value": action}])
    at = at._run(states)
    assert not at.exception
    return at


def graph(at: AppTest) -> dict[str, Any]:
    return drawn(at, "browse", view="browse")["graph"]  # type: ignore[no-any-return]


def names(at: AppTest) -> set[str]:
    return {node["name"] for node in graph(at)["nodes"]} if at.get("bidi_component") else set()


def said(at: AppTest) -> str:
    assert not at.exception
    return "\n".join(
        str(one.value) for kind in (at.subheader, at.markdown, at.text, at.caption, at.error) for one in kind
    )


def labels(at: AppTest) -> list[str]:
    return [button.label for button in at.button]


def tab(at: AppTest, name: str) -> AppTest:
    at.session_state["browse_tab"] = name
    return at.run()


def search(at: AppTest, key: str, text: str) -> AppTest:
    at.text_input(key=key).set_value(text)
    return at.run()


def link(at: AppTest, name: str) -> list[str]:
    """What the link holds under a name."""
    found = at.query_params.get(name, [])
    return [found] if isinstance(found, str) else list(found)


def steps(at: AppTest) -> list[list[str]]:
    return [step for text in link(at, "steps") for step in json.loads(text)]


class TestBeginning:
    def test_an_empty_page_teaches(self, opened: Open) -> None:
        at = browse(opened)
        assert "Search for an entity, or begin with a hub" in said(at)
        assert "244 entities of 14 types, 519 edges of 35 relations, 116 documents." in said(at)
        at = press(at, "browse_begin_0")
        assert names(at) == {"Acme Capital"} and "**Acme Capital**" in said(at)

    def test_search_opens_and_is_emptied(self, opened: Open) -> None:
        at = search(browse(opened), "browse_search", "heli")
        at = press(at, "browse_found_0")
        assert names(at) == {"Helios"} and at.text_input(key="browse_search").value == ""
        assert steps(at) == [["open", "helios"]] and link(at, "at") == ["helios"]

    def test_a_search_that_finds_nothing_says_so(self, opened: Open) -> None:
        assert "No entity has a name that begins so." in said(search(browse(opened), "browse_search", "zzzz"))

    def test_the_page_can_be_asked_to_open_one(self, opened: Open) -> None:
        at = browse(opened, open="helios")
        assert names(at) == {"Helios"} and "open" not in at.query_params
        at.query_params["open"] = "acme-capital"
        assert names(at.run()) == {"Helios", "Acme Capital"}

    def test_asks_question_is_grown_towards(self, opened: Open) -> None:
        at = opened().switch_page(str(ROOT / "pages" / "browse.py")).run()
        assert at.text_input(key="about").value == QUESTION
        at.query_params["open"] = "acme-capital"
        at = at.run()
        assert "ranked by closeness to the question" in said(at)
        assert at.button(key="browse_fact_0").label.endswith("**Jane Doe**")
        at.text_input(key="about").set_value("")
        at = at.run()
        assert "ranked by connections" in said(at) and "about" not in at.query_params


class TestExploring:
    def test_growing_in_steps_and_back(self, opened: Open) -> None:
        at = browse(opened, open="acme-capital")
        assert "0 of 90 facts drawn" in said(at) and "+25 of 90" in labels(at)
        at = press(at, "browse_grow")
        assert len(names(at)) == 26 and "25 of 90 facts drawn" in said(at) and "+25 of 65" in labels(at)
        at = press(at, "browse_collapse")
        assert names(at) == {"Acme Capital"}
        at = press(press(at, "browse_undo"), "browse_undo")
        assert names(at) == {"Acme Capital"} and steps(at) == [["open", "acme-capital"]]
        assert names(press(at, "browse_clear")) == set()

    def test_one_relation_grows(self, opened: Open) -> None:
        at = browse(opened, open="acme-capital")
        at = press(at, next(b.key for b in at.button if b.label == "WORKS\\_AT ← 28"))
        assert [one["name"] for one in graph(at)["relations"]] == ["WORKS_AT"]
        assert steps(at)[-1] == ["grow", "acme-capital", "WORKS_AT"]

    def test_what_a_person_does_in_the_graph(self, opened: Open) -> None:
        at = fire(browse(opened, steps=HELIOS), {"kind": "pick", "id": "acme-capital"})
        assert link(at, "at") == ["acme-capital"] and "**Acme Capital**" in said(at)
        at = fire(at, {"kind": "grow", "id": "acme-capital"})
        assert steps(at)[-1] == ["grow", "acme-capital"] and len(names(at)) > 30
        at = fire(at, {"kind": "pin", "id": "helios"})
        assert next(n for n in graph(at)["nodes"] if n["id"] == "helios")["pinned"]
        at = fire(at, {"kind": "pin", "id": "helios"})
        assert steps(at)[-2:] == [["pin", "helios"], ["unpin", "helios"]]
        assert not next(n for n in graph(at)["nodes"] if n["id"] == "helios")["pinned"]
        at = fire(at, {"kind": "hide", "id": "helios"})
        assert "Helios" not in names(at) and "Show 1 hidden" in labels(at) and "at" not in at.query_params
        assert "Helios" in names(press(at, "browse_unhide"))

    def test_the_legend_leaves_out_and_is_in_the_link(self, opened: Open) -> None:
        at = fire(browse(opened, steps=HELIOS), {"kind": "type", "id": "Fund"})
        assert "Cinder Growth Fund" not in names(at) and link(at, "off") == ["Fund"]
        at = fire(at, {"kind": "relation", "id": "USES"})
        assert "USES" not in {edge["label"] for edge in graph(at)["edges"]} and link(at, "without") == ["USES"]
        at = fire(fire(at, {"kind": "type", "id": "Fund"}), {"kind": "relation", "id": "USES"})
        assert "Cinder Growth Fund" in names(at) and "off" not in at.query_params

    @pytest.mark.parametrize("action", [
        None, 3, [], {}, {"kind": "grow"}, {"kind": "fly", "id": "x"}, {"kind": "grow", "id": 3},
        {"kind": "pick", "id": []},
        {"kind": "open", "id": "helios"}, {"kind": "grow", "id": "nobody"}, {"kind": "hide", "id": "x" * 5_000},
    ])  # fmt: skip
    def test_a_malformed_action_draws_nothing_else(self, opened: Open, action: Any) -> None:
        at = browse(opened, steps=HELIOS)
        before = graph(at)
        assert graph(fire(at, action)) == before

    def test_too_much_is_refused_and_what_was_stays(self, opened: Open) -> None:
        at = browse(opened, steps=json.dumps([["open", "helios"]] * 70))
        assert "at most 60 steps" in said(at) and len(steps(at)) == 60 and names(at) == {"Helios"}
        assert "at most" not in said(at.run())


class TestCard:
    def test_facts_sources_and_relations(self, opened: Open) -> None:
        at = browse(opened, open="acme-capital")
        assert "Organization · 108 edges" in said(at)
        assert "USES → **Helios**" in labels(at) and "WORKS\\_AT ← 28" in labels(at)
        assert any("Organisation chart" in one.label or "IT register" in one.label for one in at.expander)
        at = press(at, "browse_more")
        assert link(at, "facts") == ["50"] and any(b.key == "browse_fact_49" for b in at.button)
        at = press(at, "browse_fact_0")
        assert "**Helios**" in said(at) and names(at) == {"Acme Capital"} and "facts" not in at.query_params
        at = press(at, "browse_draw")
        assert "**Helios**" in said(at) and names(at) == {"Acme Capital", "Helios"}

    def test_ask_from_here(self, opened: Open) -> None:
        at = browse(opened, open="quillstone-software")
        (found,) = (one for one in at.get("page_link") if one.proto.label == "Ask from here")
        assert parse_qs(found.proto.query_string) == {"q": ["Quillstone Software"], "seeds": ["quillstone-software"]}


class TestPanes:
    def test_a_path_is_drawn_and_told(self, opened: Open) -> None:
        at = tab(browse(opened), "Path")
        at = press(search(at, "path_from", "Jane Doe"), "path_from_0")
        at = press(search(at, "path_to", "Helios"), "path_to_0")
        assert "1 path of 2 hops, the shortest there is:" in said(at)
        assert "**Jane Doe** —WORKS\\_AT→ **Acme Capital** —USES→ **Helios**" in said(at)
        assert names(at) == {"Jane Doe", "Acme Capital", "Helios"}
        assert (link(at, "from"), link(at, "to")) == (["jane-doe"], ["helios"])
        at = press(at, "path_from_chosen")
        assert "from" not in at.query_params and "Choose two entities" in said(at)

    @pytest.mark.parametrize("id_", ["nobody", "board-minutes", "\ud7ff"])
    def test_no_path_to_what_is_not_there(self, opened: Open, id_: str) -> None:
        at = tab(browse(opened, **{"from": "helios", "to": id_}), "Path")
        assert "No path of up to 4 hops between them." in said(at)
        assert "To not in the graph as you see it ✕" in labels(at)

    def test_a_hub_opens(self, opened: Open) -> None:
        at = tab(browse(opened), "Hubs")
        assert "Acme Capital · Organization · 108 edges" in labels(at)
        at = press(at, "browse_hub_1")
        assert names(at) == {"Helios"} and "**Helios**" in said(at)

    def test_the_schema_counts_and_leaves_out(self, opened: Open) -> None:
        at = tab(browse(opened, steps=HELIOS), "Schema")
        assert "**Entity types**: 14" in said(at) and {"Fund 11", "WORKS\\_AT 58"} <= set(labels(at))
        at = press(at, next(b.key for b in at.button if b.label == "Fund 11"))
        assert "Cinder Growth Fund" not in names(at) and "~~Fund 11~~" in labels(at)


class TestLink:
    def test_everything_comes_back(self, opened: Open) -> None:
        at = browse(opened, steps=HELIOS, off="Fund", without="USES", at="lodestar", about=QUESTION, facts="50")
        again = browse(opened, **{name: at.query_params[name] for name in at.query_params})
        assert graph(again) == graph(at) and said(again) == said(at)
        assert {name: link(at, name) for name in ("off", "without", "at", "about", "facts")} == {
            "off": ["Fund"], "without": ["USES"], "at": ["lodestar"], "about": [QUESTION], "facts": ["50"],
        }  # fmt: skip

    @pytest.mark.parametrize("query", [
        {"steps": "x"}, {"steps": "[" * 9_000}, {"at": "nobody"}, {"off": ["x"] * 900}, {"facts": "²"},
        {"facts": "99999"}, {"facts": "-1"}, {"from": "nobody"}, {"open": "nobody"}, {"browse_tab": "Nope"},
    ])  # fmt: skip
    def test_a_bad_one_leaves_the_page_alive(self, opened: Open, query: dict[str, Any]) -> None:
        assert "Search for an entity" in said(browse(opened, **query))

    def test_hidden_and_nonexistent_read_alike(self, opened: Open) -> None:
        whole = browse(opened, steps=ACME)
        finance = {node["id"] for node in graph(whole)["nodes"]}
        whole.selectbox(key="view_as").set_value("public")
        hidden = sorted(finance - {node["id"] for node in graph(whole.run())["nodes"]})
        assert hidden
        told = []
        for id_ in (hidden[0], "nobody"):
            at = browse(opened)
            at.selectbox(key="view_as").set_value("public")
            at.run()
            at.query_params["open"] = id_
            at = at.run()
            assert names(at) == set()
            assert "1 entity of the link is not in the graph as you see it" in said(at)
            assert "There is no such entity in the graph as you see it." in said(at)
            told.append((said(at), labels(at)))
        assert told[0] == told[1]

    def test_another_principal_sees_the_steps_as_they_may(self, opened: Open) -> None:
        at = browse(opened, steps=ACME)
        before = names(at)
        at.selectbox(key="view_as").set_value("public")
        after = names(at.run())
        assert after < before
        assert not at.query_params.get("allowed_principals")
