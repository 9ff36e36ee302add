"""The Query page by its controls: running, errors, the schema, history, who asks, and what the link holds."""

from __future__ import annotations

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from kgcore.cypher import CypherAnswer, Node, Relationship, Way
from kgcore.cypher.table import answer_csv, cell, table
from tests.app.conftest import ROOT, Open
from tests.app.test_ask import drawn

USES = "MATCH (a:Organization)-[r:USES]->(b:System) RETURN a, r, b ORDER BY r.id"


def page(opened: Open, **query: str) -> AppTest:
    """The page, come to by a link."""
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    at.query_params["q"] = ""
    at = at.run().switch_page(str(ROOT / "pages" / "query.py"))
    at.query_params.clear()
    for name, value in query.items():
        at.query_params[name] = value
    return at.run()


def ask(at: AppTest, text: str, parameters: str = "") -> AppTest:
    at.text_area(key="query_text").set_value(text)
    at.text_area(key="query_parameters").set_value(parameters)
    next(button for button in at.button if button.label == "Run").click()
    at = at.run()
    assert not at.exception
    return at


def said(at: AppTest) -> str:
    assert not at.exception
    return "\n".join(str(one.value) for kind in (at.text, at.caption, at.error) for one in kind)


def shown(at: AppTest) -> dict[str, Any]:
    found: dict[str, Any] = drawn(at, "browse", view="query")
    return found


def test_a_query_gives_its_rows_and_its_picture(opened: Open) -> None:
    at = ask(page(opened), USES)
    assert "rows · " in said(at)
    graph = shown(at)["graph"]
    assert {node["type"] for node in graph["nodes"]} == {"Organization", "System"}
    assert {edge["label"] for edge in graph["edges"]} == {"USES"}
    assert shown(at)["fixed"] is True
    assert at.query_params["cypher"] in (USES, [USES])


def test_values_alone_are_a_table(opened: Open) -> None:
    at = ask(page(opened), "MATCH (n:Person {name: $name}) RETURN n.name AS name, 1 AS n", '{"name": "Jane Doe"}')
    assert not at.get("bidi_component") or all(e.key != "query_browse" for e in at.get("bidi_component"))
    assert at.dataframe[0].value.to_dict("records") == [{"name": "Jane Doe", "n": 1}]


@pytest.mark.parametrize(
    ("text", "parameters", "told"),
    [
        ("MATCH (n RETURN n", "", "syntax error"),
        ("", "", "There is no query"),
        ("MATCH (n) DETACH DELETE n", "", "changes the graph"),
        ("LOAD CSV FROM 'file:///etc/hostname' AS l RETURN l", "", "LOAD cannot be used"),
        ("RETURN $x", "[1]", "not a JSON object"),
        ("RETURN $x", "{", "not a JSON object"),
    ],
)
def test_an_error_is_said_and_nothing_is_lost(opened: Open, text: str, parameters: str, told: str) -> None:
    at = ask(page(opened), text, parameters)
    assert told in said(at).replace("\\", "")
    assert at.text_area(key="query_text").value == text
    assert "2 rows" in said(ask(at, "UNWIND [1, 2] AS x RETURN x"))


def test_an_example_is_put_into_the_editor_and_runs(opened: Open) -> None:
    at = page(opened)
    at.button(key="query_example_1").click()
    at = at.run()
    assert at.text_area(key="query_text").value.startswith("MATCH (a:")
    assert "25 rows" in said(ask(at, at.text_area(key="query_text").value))


def test_the_schema_is_what_is_visible(opened: Open) -> None:
    at = page(opened)
    labels = [button.label for button in at.button if button.key and button.key.startswith("query_label_")]
    assert any(label.startswith("System ") for label in labels)
    assert "allowed_principals" not in said(at)


def test_a_query_of_before_comes_back(opened: Open) -> None:
    at = ask(ask(page(opened), "RETURN 1 AS one"), "RETURN 2 AS two")
    past = [button for button in at.button if button.key and button.key.startswith("query_past_")]
    assert [button.label.replace("\\", "") for button in past] == ["RETURN 2 AS two", "RETURN 1 AS one"]
    past[1].click()
    at = at.run()
    assert at.text_area(key="query_text").value == "RETURN 1 AS one"


def test_a_link_puts_the_query_there_and_does_not_run_it(opened: Open) -> None:
    at = page(opened, cypher=USES)
    assert at.text_area(key="query_text").value == USES
    assert "rows" not in said(at)


def test_another_person_finds_nothing_of_before(opened: Open) -> None:
    at = ask(page(opened), "MATCH ()-[r]->() RETURN count(r) AS n")
    counted = at.dataframe[0].value.to_dict("records")[0]["n"]
    at.selectbox(key="view_as").set_value("public")
    at = at.run()
    assert "rows" not in said(at)
    assert not [button for button in at.button if button.key and button.key.startswith("query_past_")]
    assert ask(at, "MATCH ()-[r]->() RETURN count(r) AS n").dataframe[0].value.to_dict("records")[0]["n"] != counted


def test_a_filter_narrows(opened: Open) -> None:
    filter = json.dumps({"field": "year", "operator": "==", "value": 2024})
    at = page(opened)
    at.text_area(key="filter").set_value(filter)
    at = ask(at, "MATCH ()-[r]->() RETURN DISTINCT r.year AS year")
    assert at.dataframe[0].value.to_dict("records") == [{"year": 2024}]


def test_cells_are_in_words_and_no_formulas() -> None:
    ann, acme = Node(id="a", type="Person", name="Ann"), Node(id="c", type="", name="Acme")
    works = Relationship(
        id="e", source_id="a", target_id="c", relation="WORKS_AT", properties={"src_name": "Ann", "dst_name": "Acme"}
    )
    way = Way(nodes=(acme, ann), relationships=(works,))
    rows = ((ann, works, way, (1, "x", None), {"k": True}, "=1+1"), (None, None, None, (), {}, 3))
    answer = CypherAnswer(query="", columns=("a", "r", "p", "l", "m", "x"), rows=rows, truncated=False)
    assert [cell(value) for value in rows[0]] == [
        "Ann (Person)",
        "Ann -[WORKS_AT]-> Acme",
        "Acme <-[WORKS_AT]- Ann (Person)",
        "[1, x, null]",
        "{k: true}",
        "=1+1",
    ]
    assert [row["x"] for row in table(answer)] == ["=1+1", "3"]
    assert answer_csv(answer).splitlines()[1].endswith(",'=1+1")
