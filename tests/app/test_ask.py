"""The Ask page by its controls: what is asked, what is drawn, what is said when it cannot be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.conftest import Open
from tests.data import parish
from tests.data.parish import parish_file

QUESTION = "What system does Jane Doe's employer use?"


def drawn(at: AppTest, name: str, view: str = "ask") -> dict[str, Any]:
    """What the page handed to one of its components."""
    assert not at.exception
    found = [element for element in at.get("bidi_component") if element.key == f"{view}_{name}"]
    assert len(found) == 1, f"{len(found)} components named {name}"
    data: dict[str, Any] = json.loads(found[0].proto.json)
    return data


def facts(at: AppTest) -> list[tuple[str, str, str]]:
    listed = drawn(at, "evidence")["evidence"]["facts"]
    return [(one["source"], one["relation"], one["target"]) for one in listed if one["rank"]]


def button(at: AppTest, label: str) -> Any:
    return next(button for button in at.button if label in button.label)


def fill(at: AppTest, text: str) -> AppTest:
    at.text_area(key="filter").set_value(text)
    return at.run()


def size(at: AppTest) -> str:
    return next(text.value for text in at.text if " facts · " in text.value)


def test_opens_on_the_first_example_answered(opened: Open) -> None:
    at = opened()
    assert at.text_input(key="q").value == QUESTION
    assert (at.segmented_control(key="hops").value, at.number_input(key="beam").value) == (2, 4)
    assert ("Acme Capital", "USES", "Helios") in facts(at)
    assert not at.error


def test_the_graph_and_the_evidence_are_of_one_run(opened: Open) -> None:
    at = opened()
    graph, evidence = drawn(at, "graph"), drawn(at, "evidence")
    assert graph["run"] == evidence["run"]
    assert {edge["id"] for edge in graph["graph"]["edges"]} == set(graph["run"]["facts"])
    assert {fact["id"] for fact in evidence["evidence"]["facts"]} <= set(graph["run"]["facts"])
    assert graph["run"]["top"] == evidence["evidence"]["facts"][0]["id"]


def test_fewer_hops_walk_less_and_move_nothing(opened: Open) -> None:
    at = opened()
    before = {node["id"]: (node["x"], node["y"]) for node in drawn(at, "graph")["graph"]["nodes"]}
    at.segmented_control(key="hops").set_value(1)
    at.run()
    after = {node["id"]: (node["x"], node["y"]) for node in drawn(at, "graph")["graph"]["nodes"]}
    assert [step["label"].split()[0] for step in drawn(at, "graph")["graph"]["steps"]] == [
        "Seeds",
        "Hop",
        "Result",
    ]
    assert ("Acme Capital", "USES", "Helios") not in facts(at)
    survivors = before.keys() & after.keys()
    assert survivors
    assert {id: before[id] for id in survivors} == {id: after[id] for id in survivors}


def test_the_beam_is_auto_until_it_is_set(opened: Open) -> None:
    at = opened(q=QUESTION)
    assert at.toggle(key="auto").value is True
    assert at.number_input(key="beam").value == 10
    at.number_input(key="k").set_value(30)
    assert at.run().number_input(key="beam").value == 15
    at.number_input(key="beam").set_value(1)
    at.run()
    assert at.toggle(key="auto").value is False
    hops = drawn(at, "evidence")["evidence"]["trace"]["hops"]
    assert [hop["kept"] for hop in hops] == [1, 1]


def test_a_beam_in_the_link_is_not_auto(opened: Open) -> None:
    at = opened(q=QUESTION, beam="1")
    assert at.toggle(key="auto").value is False
    assert [hop["kept"] for hop in drawn(at, "evidence")["evidence"]["trace"]["hops"]] == [1, 1]


def test_top_k_cuts_the_result(opened: Open) -> None:
    at = opened(q=QUESTION, k="1")
    assert len(facts(at)) == 1
    assert at.number_input(key="beam").value == 1


def test_scoring_changes_the_order(opened: Open) -> None:
    at = opened()
    by_coverage = facts(at)
    at.segmented_control(key="scoring").set_value("edge")
    assert facts(at.run()) != by_coverage


def test_a_link_does_not_open_on_the_example(opened: Open) -> None:
    at = opened(q="Who supplies Helios?")
    assert at.text_input(key="q").value == "Who supplies Helios?"
    assert at.toggle(key="auto").value is True


def test_a_filter_narrows_and_is_a_chip(opened: Open) -> None:
    at = opened()
    before = facts(at)
    at = fill(at, '{"field": "year", "operator": ">=", "value": 2025}')
    assert facts(at)
    assert facts(at) != before
    assert button(at, "year").label == r"year \>\= 2025 ✕"
    button(at, "year").click()
    at.run()
    assert at.text_area(key="filter").value == ""
    assert facts(at) == before


def test_one_of_two_conditions_is_removed(opened: Open) -> None:
    both = {
        "operator": "AND",
        "conditions": [
            {"field": "year", "operator": ">=", "value": 2020},
            {"field": "kind", "operator": "==", "value": "register"},
        ],
    }
    at = fill(opened(), json.dumps(both))
    button(at, "year").click()
    at.run()
    assert json.loads(at.text_area(key="filter").value) == both["conditions"][1]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("3", "condition"),
        ("[]", "condition"),
        ('{"field": "year", "operator": "~", "value": 1}', "operator"),
        (
            '{"operator": "AND", "conditions": [{"field": "a", "operator": "==", "value": null}]}',
            r"conditions\[0\]",
        ),
        ('{"field": "year\'; DROP", "operator": "==", "value": 1}', "field"),
    ],
)
def test_a_bad_filter_is_told_and_the_last_run_kept(opened: Open, text: str, says: str) -> None:
    at = opened()
    before = facts(at)
    at = fill(at, text)
    assert says in at.error[0].value
    assert facts(at) == before
    assert size(at).startswith("Kept from ")
    assert facts(fill(at, "")) == before
    assert not at.error


def test_a_filter_that_leaves_nothing_offers_to_clear_it(opened: Open) -> None:
    at = fill(opened(), '{"field": "year", "operator": ">", "value": 3000}')
    assert "No facts from these seeds." in [text.value for text in at.markdown]
    button(at, "Clear filter").click()
    assert facts(at.run())


def test_an_unknown_field_is_a_warning(opened: Open) -> None:
    at = fill(opened(), '{"field": "nowhere", "operator": "==", "value": 1}')
    assert not at.error
    warnings = drawn(at, "evidence")["evidence"]["trace"]["warnings"]
    assert any("nowhere" in warning for warning in warnings)


def test_an_empty_question_shows_where_to_begin(opened: Open) -> None:
    at = opened(hops="3")
    assert not at.exception
    assert at.subheader[0].value == "Ask a question or add a seed"
    button(at, "Acme Capital").click()
    at.run()
    assert at.text_input(key="q").value == "Acme Capital"
    assert facts(at)


def test_a_question_that_is_too_long_keeps_the_last_run(opened: Open) -> None:
    at = opened()
    before = facts(at)
    at.text_input(key="q").set_value("why " * 2_500)
    at.run()
    assert len(at.error) == 1
    assert facts(at) == before
    at.text_input(key="q").set_value(QUESTION)
    assert not at.run().error


@pytest.mark.parametrize(
    "question", ["???", "   .   ", "漢字", 'AND OR NOT - / "', "\u202e\u200b", "a\x00b", "%s {0} $x$"]
)
def test_odd_questions_leave_the_page_alive(opened: Open, question: str) -> None:
    at = opened(q=question)
    assert not at.exception
    at.text_input(key="q").set_value(QUESTION)
    assert facts(at.run())


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("hops", "9"),
        ("hops", "x"),
        ("beam", "0"),
        ("beam", "1e9"),
        ("k", "-1"),
        ("k", "NaN"),
        ("scoring", "none"),
        ("auto", "maybe"),
        ("aliases", "maybe"),
    ],
)
def test_a_bad_value_in_the_link_is_dropped(opened: Open, name: str, bad: str) -> None:
    at = opened(q=QUESTION, **{name: bad})
    assert not at.error
    assert at.segmented_control(key="hops").value == 2
    assert at.number_input(key="k").value == 20
    assert at.segmented_control(key="scoring").value == "coverage"
    assert facts(at)


def test_seeds_are_removed_added_and_in_the_link(opened: Open) -> None:
    at = opened()
    first = button(at, "Jane Doe")
    others = [seed["name"] for seed in drawn(at, "evidence")["evidence"]["trace"]["seeds"]][1:]
    first.click()
    at.run()
    seeds = drawn(at, "evidence")["evidence"]["trace"]["seeds"]
    assert [seed["name"] for seed in seeds] == others
    assert len(at.query_params["seeds"]) == len(others)
    at.text_input(key="seed_search").set_value("Jane")
    at.run()
    button(at, "Jane Doe").click()
    at.run()
    assert "Jane Doe" in [seed["name"] for seed in drawn(at, "evidence")["evidence"]["trace"]["seeds"]]
    button(at, "↺").click()
    at.run()
    assert "seeds" not in at.query_params


def test_an_unknown_seed_in_the_link_is_told(opened: Open) -> None:
    at = opened(q=QUESTION, seeds=["nobody-at-all"])
    assert not at.exception
    assert len(at.error) == 1


def test_a_new_question_finds_its_own_seeds(opened: Open) -> None:
    at = opened(q=QUESTION, seeds=["helios"])
    assert [seed["foundBy"] for seed in drawn(at, "evidence")["evidence"]["trace"]["seeds"]] == ["id"]
    at.text_input(key="q").set_value("Who supplies Helios?")
    at.run()
    assert "id" not in [seed["foundBy"] for seed in drawn(at, "evidence")["evidence"]["trace"]["seeds"]]


def test_relations_limit_the_walk(opened: Open) -> None:
    at = opened()
    at.multiselect(key="relations").set_value(["WORKS_AT"])
    assert {relation for _, relation, _ in facts(at.run())} == {"WORKS_AT"}


def test_a_walk_goes_on_from_an_alias_unless_told_not_to(
    opened: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOPSCOPE_STORE", parish_file(tmp_path))
    at = opened(q=parish.QUESTION, k="9")
    assert at.checkbox(key="aliases").value is True
    assert "aliases" not in at.query_params
    assert ("Saint Helena", "PART_OF", "The Crown") in facts(at)
    at.checkbox(key="aliases").uncheck()
    at.run()
    assert facts(at) == [("Napoleon", "LIVED_IN", "Saint Helena Parish")]
    assert "Aliases on→off: −1" in [text.value for text in at.text]
    at.checkbox(key="aliases").check()
    at.run()
    for value in (False, True):
        at.button(key="undo").click()
        at.run()
        assert (at.checkbox(key="aliases").value, len(facts(at))) == (value, 1 + value)


def test_a_link_without_aliases_opens_so(opened: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOPSCOPE_STORE", parish_file(tmp_path))
    at = opened(q=parish.QUESTION, k="9", aliases="false")
    assert at.checkbox(key="aliases").value is False
    assert facts(at) == [("Napoleon", "LIVED_IN", "Saint Helena Parish")]
    assert at.query_params["aliases"] == "false"


def test_the_sources_say_why_they_are_there(opened: Open) -> None:
    sources = drawn(opened(), "evidence")["evidence"]["sources"]
    ranks = [source["why"]["rank"] for source in sources]
    assert ranks == sorted(ranks) and ranks[0] == 1
    assert any(not source["facts"] for source in sources)
    assert any(source["why"]["words"] for source in sources)


def test_the_reranker_acts_before_the_cut(opened: Open) -> None:
    at = opened()
    at.toggle(key="rerank").set_value(True)
    at.run()
    rows = drawn(at, "evidence")["evidence"]["trace"]["candidates"]
    assert any(row["rerank"] is not None for row in rows)


def test_what_needs_a_chat_model_is_disabled_and_says_so(opened: Open) -> None:
    at = opened()
    assert at.toggle(key="summarize").disabled
    assert any("HOPSCOPE" in caption.value for caption in at.caption)
    assert "Chat model" not in at.selectbox(key="seed_mode").options


def test_public_sees_less_and_nothing_of_before(opened: Open) -> None:
    at = opened()
    as_finance = drawn(at, "evidence")["run"]["subject"]
    at.selectbox(key="view_as").set_value("public")
    at.run()
    assert drawn(at, "evidence")["run"]["subject"] != as_finance
    assert "view_as" not in at.query_params
    assert "group:" not in json.dumps([drawn(at, "graph"), drawn(at, "evidence")])


def test_a_component_can_set_the_beam_and_add_a_seed(opened: Open) -> None:
    at = fire(opened(), "evidence", {"kind": "beam", "beam": 6})
    assert (at.number_input(key="beam").value, at.toggle(key="auto").value) == (6, False)
    node = next(node for node in drawn(at, "graph")["graph"]["nodes"] if node["hop"] == 1)
    at = fire(at, "graph", {"kind": "seed", "id": node["id"]})
    assert node["name"] in [seed["name"] for seed in drawn(at, "evidence")["evidence"]["trace"]["seeds"]]


@pytest.mark.parametrize("action", [None, 3, "beam", [], {}, {"kind": "beam", "beam": "6"}, {"kind": "seed"}])
def test_a_malformed_action_changes_nothing(opened: Open, action: Any) -> None:
    at = opened()
    before = facts(at)
    assert facts(fire(at, "evidence", action)) == before


@pytest.mark.parametrize("beam", [0, -5, 10**9])
def test_a_beam_out_of_bounds_is_kept_within(opened: Open, beam: int) -> None:
    at = fire(opened(), "evidence", {"kind": "beam", "beam": beam})
    assert 1 <= at.number_input(key="beam").value <= 1_000
    assert facts(at)


def fire(at: AppTest, name: str, action: Any) -> AppTest:
    """What a component's trigger sends; AppTest has no way of its own to press something inside one."""
    from streamlit.components.v2.bidi_component.main import _make_trigger_id

    element = next(element for element in at.get("bidi_component") if element.key == f"ask_{name}")
    states = at._tree.get_widget_states()
    widget = states.widgets.add()
    widget.id = _make_trigger_id(element.proto.id, "events")
    widget.json_trigger_value = json.dumps([{"event": "action", "value": action}])
    return at._run(states)


def test_two_people_of_one_name_are_told_apart(opened: Open) -> None:
    at = opened()
    at.text_input(key="seed_search").set_value("Alex Kim")
    at.run()
    found = [button.label for button in at.button if (button.key or "").startswith("found_")]
    people = [label for label in found if label.startswith("Alex Kim · Person")]
    assert len(people) == len(set(people)) == 2
