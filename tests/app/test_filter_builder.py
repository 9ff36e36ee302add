"""The filter's popover by its widgets: rows that become JSON, JSON that becomes rows, and errors at their condition.

Most of it is drawn alone, on a small graph with a property of every kind; the last part is the Ask page.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from kgcore import Edge, Entity, open_store
from kgcore.filters import AccessFilter
from kgcore.store import GraphStore
from tests.app.conftest import Open
from tests.app.test_ask import button, drawn, facts
from ui.filter_tree import MAX_ROWS

HOSTILE = [
    "<img src=x onerror=1>", ":red[x] **b** $x$ [a](b) :tada:", "\u202egnirts\u202c", "\u200b", "", "a\nb",
    "long " * 400 + "1", "long " * 400 + "2", "2024 · 3",
]  # fmt: skip
YEAR = {"field": "year", "operator": ">=", "value": 2024}
KIND = {"field": "kind", "operator": "in", "value": ["note", "memo"]}
FLAG = {"field": "flag", "operator": "==", "value": True}
DRAFT = "Draft: choose a value, or type one and press Enter."


def all_of(*held: Any) -> dict[str, Any]:
    return {"operator": "AND", "conditions": list(held)}


def any_of(*held: Any) -> dict[str, Any]:
    return {"operator": "OR", "conditions": list(held)}


@pytest.fixture(scope="module")
def store() -> Iterator[GraphStore]:
    """Nine edges that everybody sees, and one that the board does."""
    made = open_store("duckdb:///:memory:", create=True)
    seen = [
        {
            "allowed_principals": ("all",), "year": 2024 + at % 3, "kind": ("memo", "note")[at % 2], "flag": at > 5,
            "tags": ("red", "blue")[: at % 3], "mixed": (2024, "2024", True)[at % 3], "big": 2**53 + at, "note": note,
        }
        for at, note in enumerate(HOSTILE)
    ]  # fmt: skip
    hidden = {"allowed_principals": ("board",), "kind": "secret-kind", "codename": "Bluebird", "tags": ("secret-tag",)}
    edges = [
        Edge(id=f"e{at}", source_id="a", target_id="b", relation="R", src_name="Ann", dst_name="Bob",
             source_doc_id=f"d{at}", properties=properties)
        for at, properties in enumerate([*seen, hidden])
    ]  # fmt: skip
    made.upsert([Entity(id="a", type="T", name="Ann"), Entity(id="b", type="T", name="Bob")], edges)
    yield made
    made.close()


def seen_by(*principals: str) -> AccessFilter:
    return AccessFilter.of(locked={"field": "allowed_principals", "operator": "contains_any", "value": [*principals]})


def script(store, filter):  # its source is run elsewhere, where no name of this file is known
    """A page of nothing but the popover."""
    import streamlit as st

    from ui.filter_builder import filter_popover, forget_drafts

    if st.session_state.pop("forget", False):
        forget_drafts()
    st.session_state["told"] = filter_popover(store.describe(filter), store, filter)


class Popover:
    """The popover, drawn alone; a person's hand."""

    def __init__(self, store: GraphStore, text: str = "", filter: AccessFilter | None = None) -> None:
        self.at = AppTest.from_function(script, default_timeout=60)
        self.at.kwargs = {"store": store, "filter": filter or seen_by("all")}
        if text:
            self.at.query_params["filter"] = text
        self.run()

    def run(self) -> Popover:
        self.at.run()
        assert not self.at.exception
        return self

    @property
    def told(self) -> dict[str, Any] | None:
        """The filter that the page is given."""
        caller: dict[str, Any] | None = self.at.session_state["told"][0]
        return caller

    @property
    def fault(self) -> Any:
        return self.at.session_state["told"][1]

    @property
    def text(self) -> str:
        return str(self.at.text_area(key="filter").value)

    @property
    def errors(self) -> list[str]:
        return [error.value.replace("\\", "").replace("\u2060", "") for error in self.at.error]

    @property
    def captions(self) -> list[str]:
        return [caption.value for caption in self.at.caption]

    def widget(self, label: str) -> Any:
        boxes = [*self.at.selectbox, *self.at.multiselect]
        found = [box for box in boxes if box.label == label]
        assert len(found) == 1, [box.label for box in boxes]
        return found[0]

    def rows(self) -> list[tuple[Any, Any, Any]]:
        """Each row's field, operator and value, by their labels."""
        count = sum(box.label.startswith("Field of") for box in self.at.selectbox)
        names = ("Field", "Operator", "Value")
        return [tuple(self.widget(f"{name} of condition {row}").value for name in names) for row in range(1, count + 1)]  # type: ignore[misc]

    def choose(self, label: str, begins: str) -> Popover:
        """The option that begins so."""
        box = self.widget(label)
        found = [option for option in box.options if option.startswith(begins)]
        assert len(found) == 1, box.options
        if isinstance(box.value, list):
            box.set_value([*box.value, found[0]])
        else:
            box.set_value(found[0])
        return self.run()

    def type(self, label: str, text: str) -> Popover:
        """A value that is no option."""
        box = self.widget(label)
        if isinstance(box.value, list):
            box.set_value([*box.value, text])
        else:
            box.options.append(text)  # AppTest itself has no way to type one
            box.set_value(text)
        return self.run()

    def press(self, label: str, place: int = 0) -> Popover:
        [one for one in self.at.button if one.label == label][place].click()
        return self.run()

    def write(self, text: str) -> Popover:
        self.at.text_area(key="filter").set_value(text)
        return self.run()

    def add(self, field: str, operator: str, value: str) -> Popover:
        """A condition at the end of the outermost group, which has the last button."""
        self.press("Add condition", -1)
        row = len(self.rows())
        self.choose(f"Field of condition {row}", f"{field} ·")
        self.widget(f"Operator of condition {row}").set_value(operator)
        self.run()
        return self.choose(f"Value of condition {row}", value)


class TestPopover:
    @pytest.mark.parametrize(
        ("text", "label"),
        [
            ("", "Filter"), (json.dumps(YEAR), "Filter 1"), (json.dumps(all_of(YEAR, any_of(FLAG, KIND))), "Filter 2"),
            (json.dumps(any_of(FLAG, KIND)), "Filter 1"), ("{", "Filter ⚠"), (json.dumps(all_of()), "Filter ⚠"),
        ],
    )  # fmt: skip
    def test_its_label_counts_conditions(self, store: GraphStore, text: str, label: str) -> None:
        assert [block.proto.popover.label for block in Popover(store, text).at.get("popover")] == [label]

    def test_the_text_is_there_whichever_way_is_shown(self, store: GraphStore) -> None:
        popover = Popover(store, json.dumps(YEAR))
        assert (popover.text, len(popover.rows())) == (json.dumps(YEAR), 1)
        popover.at.session_state["filter_way"] = "JSON"
        assert (popover.run().text, popover.rows()) == (json.dumps(YEAR), [])
        assert any("year (number)" in one.replace("\\", "") for one in popover.captions)
        popover.write(json.dumps(FLAG))
        popover.at.session_state["filter_way"] = "Builder"
        assert popover.run().rows() == [("flag · boolean · 9", "==", "true · 3")]


class TestBuilding:
    def test_it_opens_with_nothing_but_a_way_to_add(self, store: GraphStore) -> None:
        popover = Popover(store)
        assert (popover.told, popover.fault, popover.text, popover.rows()) == (None, None, "", [])
        assert [one.label for one in popover.at.button] == ["Add condition", "Add group"]

    def test_a_condition_takes_shape(self, store: GraphStore) -> None:
        popover = Popover(store).press("Add condition")
        assert popover.rows() == [(None, None, None)]
        assert (popover.text, popover.captions) == ("", ["Draft: choose a field."])
        popover.choose("Field of condition 1", "year")
        assert popover.rows() == [("year · number · 9", "==", None)]
        assert (popover.text, popover.captions) == ("", [DRAFT])
        popover.choose("Value of condition 1", "2025")
        assert json.loads(popover.text) == popover.told == {"field": "year", "operator": "==", "value": 2025}
        assert popover.captions == []
        popover.widget("Operator of condition 1").set_value(">=")
        assert popover.run().told == {"field": "year", "operator": ">=", "value": 2025}

    def test_two_conditions_are_joined(self, store: GraphStore) -> None:
        popover = (
            Popover(store).add("year", ">=", "2025").add("kind", "in", "memo").choose("Value of condition 2", "note")
        )
        year, kind = {**YEAR, "value": 2025}, {**KIND, "value": ["memo", "note"]}
        assert popover.told == all_of(year, kind)
        popover.at.segmented_control[0].set_value("OR")
        assert popover.run().told == any_of(year, kind)

    def test_a_list_answers_contains_any(self, store: GraphStore) -> None:
        popover = Popover(store).press("Add condition").choose("Field of condition 1", "tags")
        assert popover.widget("Operator of condition 1").options == ["contains_any"]
        assert popover.widget("Value of condition 1").options == ["red · 6", "blue · 3"]
        popover.choose("Value of condition 1", "blue").type("Value of condition 1", "green")
        assert popover.told == {"field": "tags", "operator": "contains_any", "value": ["blue", "green"]}

    def test_truths(self, store: GraphStore) -> None:
        popover = Popover(store).press("Add condition").choose("Field of condition 1", "flag")
        assert popover.widget("Operator of condition 1").options == ["==", "!=", "in", "not in"]
        assert popover.choose("Value of condition 1", "true").told == FLAG

    def test_a_group(self, store: GraphStore) -> None:
        popover = Popover(store).add("year", ">=", "2025").press("Add group")
        assert popover.told == {**YEAR, "value": 2025}
        popover.choose("Field of condition 2", "flag").choose("Value of condition 2", "true")
        popover.press("Add condition", 0)
        popover.choose("Field of condition 3", "kind").choose("Value of condition 3", "memo")
        memo = {"field": "kind", "operator": "==", "value": "memo"}
        assert popover.told == all_of({**YEAR, "value": 2025}, any_of(FLAG, memo))
        assert [one.value for one in popover.at.segmented_control] == ["AND", "OR"]
        assert popover.press("✕", 1).told == {**YEAR, "value": 2025}

    def test_removing(self, store: GraphStore) -> None:
        popover = Popover(store, json.dumps(all_of(YEAR, FLAG))).press("✕", 0)
        assert popover.told == all_of(FLAG)
        assert (popover.press("✕").told, popover.text, popover.rows()) == (None, "", [])

    def test_own_fields_have_names_and_values(self, store: GraphStore) -> None:
        popover = Popover(store).press("Add condition").choose("Field of condition 1", "source name")
        assert popover.choose("Value of condition 1", "Ann").told == {
            "field": "src_name",
            "operator": "==",
            "value": "Ann",
        }

    def test_another_field_asks_for_another_value(self, store: GraphStore) -> None:
        popover = Popover(store, json.dumps(all_of(YEAR, FLAG))).choose("Field of condition 1", "kind")
        assert popover.rows()[0] == ("kind · string · 9", ">=", None)
        assert popover.told == all_of(FLAG)
        assert popover.choose("Value of condition 1", "memo").told == all_of(
            {**YEAR, "field": "kind", "value": "memo"}, FLAG
        )

    def test_no_more_than_can_be_shown(self, store: GraphStore) -> None:
        popover = Popover(store, json.dumps(all_of(*[YEAR] * (MAX_ROWS - 1)))).press("Add condition")
        assert len(popover.rows()) == MAX_ROWS
        assert all(one.disabled for one in popover.at.button if one.label.startswith("Add"))
        nested = all_of(any_of(all_of(any_of(YEAR))))
        adds = [one.label for one in Popover(store, json.dumps(nested)).at.button if one.label.startswith("Add")]
        assert adds.count("Add condition") == 4
        assert adds.count("Add group") == 3


class TestTyping:
    @pytest.mark.parametrize(
        ("field", "text", "value"),
        [
            ("year", "1999", 1999),
            ("year", "1999.5", 1999.5),
            ("big", str(2**63 - 1), 2**63 - 1),
            ("big", str(2**53 + 1), 2**53 + 1),
            ("kind", "1999", "1999"),
            ("mixed", "1999", 1999),
            ("mixed", '"1999"', "1999"),
            ("mixed", "false", False),
        ],
    )
    def test_text_is_read_by_the_fields_kind(self, store: GraphStore, field: str, text: str, value: Any) -> None:
        popover = Popover(store).press("Add condition").choose("Field of condition 1", f"{field} ·")
        popover.type("Value of condition 1", text)
        assert popover.told is not None
        assert (type(popover.told["value"]), popover.told["value"]) == (type(value), value)

    def test_what_is_typed_as_an_option_is_that_option(self, store: GraphStore) -> None:
        popover = Popover(store).press("Add condition").choose("Field of condition 1", "year")
        assert popover.type("Value of condition 1", "2025").rows() == [("year · number · 9", "==", "2025 · 3")]

    def test_a_number_field_refuses_text_at_its_row(self, store: GraphStore) -> None:
        popover = Popover(store, json.dumps(all_of(YEAR, FLAG))).type("Value of condition 1", "soon")
        assert popover.errors == ["“soon” is not a number. Type one, or choose from the list."]
        assert "Draft: not filtering yet." in popover.captions
        assert popover.rows()[0] == ("year · number · 9", ">=", "soon")
        assert (popover.told, popover.fault) == (all_of(FLAG), None)
        popover.run()
        assert popover.errors
        popover.type("Value of condition 1", "2030")
        assert (popover.errors, popover.told) == ([], all_of({**YEAR, "value": 2030}, FLAG))

    def test_a_list_keeps_what_was_right(self, store: GraphStore) -> None:
        popover = Popover(store, json.dumps({"field": "year", "operator": "in", "value": [2024]}))
        popover.type("Value of condition 1", "soon")
        assert (popover.told, popover.text) == (None, "")
        assert popover.rows()[0][2] == ["2024 · 3", "soon"]
        popover.widget("Value of condition 1").set_value(["2024 · 3"])
        assert popover.run().told == {"field": "year", "operator": "in", "value": [2024]}

    def test_a_number_beyond_64_bits_is_refused(self, store: GraphStore) -> None:
        popover = Popover(store).press("Add condition").choose("Field of condition 1", "big")
        popover.type("Value of condition 1", str(2**63))
        assert "larger than 64 bits" in popover.errors[0]
        assert popover.told is None

    def test_a_value_that_is_cleared_leaves_a_draft(self, store: GraphStore) -> None:
        popover = Popover(store, json.dumps(YEAR))
        popover.widget("Value of condition 1").set_value(None)
        assert (popover.run().told, popover.captions, len(popover.rows())) == (None, [DRAFT], 1)


MIXED = all_of(
    {"field": "mixed", "operator": "==", "value": "2024"},
    {"field": "mixed", "operator": "in", "value": [2024, "2024", True, 1.5, 2.0, 2**63 - 1, "true", "2024"]},
    any_of(all_of({"field": "nowhere", "operator": "contains_any", "value": ["x", 1, "1"]}), {**YEAR, "value": 2024.0}),
    {"field": "tags", "operator": "==", "value": -0.0},
    {"field": "kind", "operator": "in", "value": []},
)


class TestWhatTheJsonHolds:
    def test_it_is_shown(self, store: GraphStore) -> None:
        popover = Popover(store, json.dumps(MIXED))
        assert popover.rows() == [
            ("mixed · boolean/number/string · 9", "==", '"2024" · 3'),
            ("mixed · boolean/number/string · 9", "in",
             ["2024 · 3", '"2024" · 3', "true · 3", "1.5", "2.0", str(2**63 - 1), '"true"']),
            ("nowhere · unknown", "contains_any", ["x", "1", '"1"']),
            ("year · number · 9", ">=", "2024.0"),
            ("tags · list · 9", "==", "-0.0 (number)"),
            ("kind · string · 9", "in", []),
        ]  # fmt: skip
        assert popover.text == json.dumps(MIXED)

    def test_an_edit_of_one_row_changes_that_row_alone(self, store: GraphStore) -> None:
        popover = Popover(store, json.dumps(MIXED)).choose("Value of condition 4", "2026")
        wanted = json.loads(json.dumps(MIXED))
        wanted["conditions"][2]["conditions"][1]["value"] = 2026
        assert json.dumps(json.loads(popover.text), sort_keys=True) == json.dumps(wanted, sort_keys=True)

    def test_a_list_keeps_its_order_its_kinds_and_its_repeats(self, store: GraphStore) -> None:
        popover = Popover(store, json.dumps(MIXED)).type("Value of condition 2", "7")
        assert popover.told is not None
        values = popover.told["conditions"][1]["value"]
        assert json.dumps(values) == json.dumps([*MIXED["conditions"][1]["value"], 7])
        box = popover.widget("Value of condition 2")
        box.set_value([label for label in box.value if label != '"2024" · 3'])
        values = popover.run().told["conditions"][1]["value"]
        assert json.dumps(values) == json.dumps([2024, True, 1.5, 2.0, 2**63 - 1, "true", 7])

    def test_a_draft_leaves_the_text_as_it_was_written(self, store: GraphStore) -> None:
        text = json.dumps(MIXED, indent=3)
        assert Popover(store, text).press("Add condition", -1).press("Add group").text == text

    def test_an_operator_that_does_not_fit_can_be_kept_or_changed(self, store: GraphStore) -> None:
        popover = Popover(store, json.dumps({"field": "year", "operator": "contains_any", "value": [2024]}))
        box = popover.widget("Operator of condition 1")
        assert (box.value, box.options[-1]) == ("contains_any", "contains_any")
        box.set_value("==")
        assert popover.run().told == {"field": "year", "operator": "==", "value": 2024}

    def test_long_lists_are_counted_and_stay(self, store: GraphStore) -> None:
        long = {"field": "year", "operator": "in", "value": list(range(5_000))}
        popover = Popover(store, json.dumps(all_of(long, FLAG)))
        assert "5,000 values: edit them as JSON" in [text.value for text in popover.at.text]
        box = next(box for box in popover.at.selectbox if box.label == "Value of condition 2")
        box.set_value(next(option for option in box.options if option.startswith("false")))
        assert popover.run().told == all_of(long, {**FLAG, "value": False})

    @pytest.mark.parametrize(
        "held",
        [
            all_of(*[YEAR] * (MAX_ROWS + 1)),
            all_of(any_of(all_of(any_of(all_of(YEAR))))),
            all_of(*[{"field": "<b>x</b>", "operator": "~", "value": "$x$\u202e"}] * 300),
        ],
    )
    def test_what_is_too_large_is_text(self, store: GraphStore, held: dict[str, Any]) -> None:
        text = json.dumps(held)
        popover = Popover(store, text)
        assert popover.rows() == []
        assert "edit it as JSON" in popover.at.markdown[0].value
        assert len(popover.at.code[0].value.splitlines()) > 5
        assert "\u202e" not in popover.at.code[0].value
        popover.press("Edit as JSON")
        assert (popover.text, popover.at.session_state["filter_way"]) == (text, "JSON")


class TestErrors:
    @pytest.mark.parametrize(
        ("held", "says", "row"),
        [
            ({"field": "year", "operator": "==", "value": None}, "A value is a number", 1),
            (all_of(YEAR, {**KIND, "value": "memo"}, FLAG), "takes a list", 2),
            (all_of(YEAR, any_of(FLAG, {**KIND, "operator": "~"})), "is not an operator", 3),
            (all_of(YEAR, {"field": "no name", "operator": "==", "value": 1}), "is not a field name", 2),
            (all_of(YEAR, {**FLAG, "note": 1}), "does not belong here", 2),
            (all_of(YEAR, {"operator": "==", "value": 1}), "The field is missing", 2),
        ],
    )
    def test_they_stand_at_the_condition(self, store: GraphStore, held: Any, says: str, row: int) -> None:
        popover = Popover(store, json.dumps(held))
        assert popover.fault.control == "filter"
        assert len(popover.errors) == 1
        assert says in popover.errors[0]
        assert popover.fault.error.remedy in popover.errors[0]
        assert under(popover, popover.at.error[0]) == row
        assert popover.text == json.dumps(held)
        popover.press("✕", [one.key for one in popover.at.button if one.label == "✕"].index(remove_key(popover, row)))
        assert popover.fault is None

    @pytest.mark.parametrize("held", [all_of(YEAR, any_of()), {"operator": "XOR", "conditions": [YEAR, FLAG]}])
    def test_a_groups_own(self, store: GraphStore, held: Any) -> None:
        popover = Popover(store, json.dumps(held))
        assert popover.fault.error.remedy in popover.errors[0]
        assert popover.text == json.dumps(held)

    def test_what_does_not_join_can_be_replaced(self, store: GraphStore) -> None:
        popover = Popover(store, json.dumps({"operator": "**x**", "conditions": [YEAR, FLAG]}))
        assert popover.at.segmented_control[0].value == "**x**"
        popover.at.segmented_control[0].set_value("OR")
        assert popover.run().told == any_of(YEAR, FLAG)

    @pytest.mark.parametrize("held", ["3", "[]", "null", '"<b>"', "true", '{"a": "\\ud800"}', "NaN"])
    def test_what_is_no_condition_is_shown_and_can_go(self, store: GraphStore, held: str) -> None:
        popover = Popover(store, held)
        assert len(popover.errors) == 1
        assert popover.text == held
        assert popover.press("✕").text == ""

    @pytest.mark.parametrize("text", ["{", "year >= 2024", "[" * 100_000, "[" * 500 + "]" * 500])
    def test_what_is_not_json_is_kept(self, store: GraphStore, text: str) -> None:
        popover = Popover(store, text)
        assert len(popover.errors) == 1
        assert [one.label for one in popover.at.button] == ["Edit as JSON"]
        popover.press("Edit as JSON")
        assert (popover.text, len(popover.errors)) == (text, 1)
        assert popover.write(json.dumps(YEAR)).told == YEAR

    def test_under_the_text_with_the_path(self, store: GraphStore) -> None:
        popover = Popover(store, json.dumps(all_of(YEAR, {**FLAG, "value": None})))
        popover.at.session_state["filter_way"] = "JSON"
        assert "conditions[1].value" in popover.run().errors[0]

    def test_half_a_character_is_carried_along(self, store: GraphStore) -> None:
        popover = Popover(store, '{"operator": "AND", "conditions": [{"field": "kind", "operator": "==", "value": '
                          '"\\ud800"}, {"field": "year", "operator": "==", "value": 2024}]}')  # fmt: skip
        popover.choose("Value of condition 2", "2026")
        assert json.loads(popover.text)["conditions"][0]["value"] == "\ud800"


class TestDrafts:
    def test_they_outlive_a_run_and_another_text(self, store: GraphStore) -> None:
        popover = Popover(store, json.dumps(YEAR)).press("Add condition").choose("Field of condition 2", "kind")
        assert len(popover.run().rows()) == 2
        popover.write(json.dumps(FLAG))
        assert popover.rows() == [("flag · boolean · 9", "==", "true · 3"), ("kind · string · 9", "==", None)]
        popover.write("{").write(json.dumps(all_of(*[YEAR] * 50))).write("")
        assert popover.rows() == [("kind · string · 9", "==", None)]
        assert popover.choose("Value of condition 1", "memo").told == {
            "field": "kind",
            "operator": "==",
            "value": "memo",
        }

    def test_another_asker_finds_none(self, store: GraphStore) -> None:
        popover = Popover(store, json.dumps(KIND), seen_by("all", "board"))
        popover.press("Add condition").choose("Field of condition 2", "codename")
        assert "codename" in everything(popover)
        popover.at.kwargs["filter"] = seen_by("all")
        popover.run()
        assert popover.rows() == [("kind · string · 9", "in", ["note · 4", "memo · 5"])]
        assert not any(word in everything(popover) for word in ("codename", "secret"))

    def test_they_can_be_forgotten(self, store: GraphStore) -> None:
        popover = Popover(store, json.dumps(YEAR)).press("Add condition")
        popover.at.session_state["forget"] = True
        assert popover.run().rows() == [("year · number · 9", ">=", "2024 · 3")]


class TestHaste:
    """A browser that asks again before it has the answer still sends the text that a row has replaced."""

    def test_a_second_change_keeps_the_first(self, store: GraphStore) -> None:
        popover = Popover(store, json.dumps(all_of(YEAR, FLAG))).choose("Value of condition 1", "2026")
        popover.at.text_area(key="filter").set_value(json.dumps(all_of(YEAR, FLAG)))
        popover.choose("Value of condition 2", "false")
        assert popover.told == all_of({**YEAR, "value": 2026}, {**FLAG, "value": False})
        popover.at.text_area(key="filter").set_value(json.dumps(all_of(YEAR, FLAG)))
        assert popover.run().told == all_of({**YEAR, "value": 2026}, {**FLAG, "value": False})

    def test_once_it_has_it_an_old_text_is_a_new_one(self, store: GraphStore) -> None:
        before = json.dumps(all_of(YEAR, FLAG))
        popover = Popover(store, before).choose("Value of condition 1", "2026").run()
        assert popover.write(before).told == all_of(YEAR, FLAG)

    def test_another_text_goes_before_a_row(self, store: GraphStore) -> None:
        popover = Popover(store, json.dumps(all_of(YEAR, FLAG)))
        popover.at.text_area(key="filter").set_value(json.dumps(KIND))
        assert popover.choose("Value of condition 1", "2026").told == KIND

    def test_where_labels_come_to_stand_for_other_values_the_widget_is_another(self, store: GraphStore) -> None:
        """What is still sent for the old one then reaches nothing."""
        popover = Popover(store, json.dumps(all_of(YEAR, KIND))).press("Add condition")
        before = keys(popover)
        assert keys(popover.choose("Field of condition 1", "kind")) - before == {"filter_value_1_1"}
        before = keys(popover)
        assert keys(popover.choose("Field of condition 2", "tags")) - before == {"filter_values_2_1"}
        before = keys(popover)
        popover.at.kwargs["filter"] = seen_by("all", "board")
        assert not keys(popover.run()) & before

    def test_a_label_that_is_none_changes_nothing(self, store: GraphStore) -> None:
        popover = Popover(store, json.dumps(all_of(YEAR, KIND)))
        for label in ("Field of condition 1", "Operator of condition 1"):
            box = popover.widget(label)
            box.options.append("year · number · 8")
            box.set_value("year · number · 8")
            assert popover.run().told == all_of(YEAR, KIND)


def keys(popover: Popover) -> set[str]:
    """Of the widgets in rows."""
    return {box.key for box in [*popover.at.selectbox, *popover.at.multiselect]}


class TestAccess:
    def test_only_what_the_asker_sees_is_offered(self, store: GraphStore) -> None:
        held = all_of({**KIND, "value": ["memo"]}, {"field": "tags", "operator": "contains_any", "value": ["red"]})
        told = everything(Popover(store, json.dumps(held)))
        assert not any(word in told for word in ("secret", "codename", "Bluebird", "allowed_principals", "board"))
        told = everything(Popover(store, json.dumps(held), seen_by("all", "board")))
        assert all(word in told for word in ("secret-kind", "secret-tag", "codename"))
        assert "allowed_principals" not in told

    def test_an_access_field_is_as_one_that_nothing_has(self, store: GraphStore) -> None:
        rows = []
        for field in ("allowed_principals", "nowhere_at_all_18c"):
            popover = Popover(store, json.dumps({"field": field, "operator": "contains_any", "value": ["all"]}))
            box = popover.widget("Value of condition 1")
            rows.append((popover.rows()[0][0].replace(field, ""), *popover.rows()[0][1:], box.options))
        assert rows[0] == rows[1]

    def test_the_asker_does_not_count_with_the_filter(self, store: GraphStore) -> None:
        """What is offered is all that the asker may see, not what the filter leaves."""
        popover = Popover(store, json.dumps(all_of({**YEAR, "value": 3000}, KIND)))
        assert "2025 · 3" in popover.widget("Value of condition 1").options


class TestHostile:
    @pytest.mark.parametrize("note", HOSTILE)
    def test_a_value_is_chosen_by_its_label(self, store: GraphStore, note: str) -> None:
        popover = Popover(store).press("Add condition").choose("Field of condition 1", "note")
        box = popover.widget("Value of condition 1")
        assert len(set(box.options)) == len(box.options) == len(HOSTILE)
        label = box.options[[value.value for value in store.values("note", seen_by("all"))].index(note)]
        assert not set(label) & set("\n\u202e\u200b")
        box.set_value(label)
        assert popover.run().told == {"field": "note", "operator": "==", "value": note}
        assert popover.rows()[0][2] == label
        assert popover.text == json.dumps(popover.told, ensure_ascii=False)

    def test_in_a_list(self, store: GraphStore) -> None:
        held = {"field": "note", "operator": "in", "value": HOSTILE[::-1]}
        popover = Popover(store, json.dumps(held))
        box = popover.widget("Value of condition 1")
        assert len(box.value) == len(HOSTILE)
        box.set_value(box.value[1:])
        assert popover.run().told == {**held, "value": HOSTILE[::-1][1:]}

    @pytest.mark.parametrize(
        "name", ["<b>x</b>", "**x** $y$ :red[z]", "\u202ex", "x" * 2_000, "", 3, None, [1], {"a": 1}]
    )
    def test_a_field_of_the_json_is_text(self, store: GraphStore, name: Any) -> None:
        held = all_of(YEAR, {"field": name, "operator": name, "value": name})
        popover = Popover(store, json.dumps(held))
        assert popover.rows()[1][0].endswith("· unknown")
        assert len(popover.rows()[1][0]) < 110
        assert "\u202e" not in popover.rows()[1][0]
        assert popover.choose("Field of condition 2", "flag").told == all_of(YEAR)


def everything(popover: Popover) -> str:
    """All that the page was sent, and what the session holds of widgets."""
    sent = [str(element.proto) for element in popover.at if hasattr(element, "proto")]
    boxes = [box.options for box in [*popover.at.selectbox, *popover.at.multiselect]]
    return "\n".join([*sent, repr(boxes)])


def under(popover: Popover, error: Any) -> int:
    """The number of the row that an error stands right below, by the order of what is drawn."""
    row = 0
    for element in popover.at:
        if getattr(element, "type", "") == "selectbox" and element.label.startswith("Field of condition"):
            row = int(element.label.split()[-1])
        if element is error:
            return row
    raise AssertionError("not drawn")


def remove_key(popover: Popover, row: int) -> str:
    key: str = popover.widget(f"Field of condition {row}").key
    return key.replace("field", "remove")


# -- the Ask page


def build(at: AppTest, change: Callable[[AppTest], Any]) -> AppTest:
    change(at)
    return at.run()


def test_the_facts_follow_the_rows(opened: Open) -> None:
    at = opened()
    before = facts(at)
    at = build(at, lambda at: button(at, "Add condition").click())
    assert facts(at) == before
    field = next(box for box in at.selectbox if box.label == "Field of condition 1")
    at = build(at, lambda at: field.set_value(next(o for o in field.options if o.startswith("year ·"))))
    assert facts(at) == before
    value = next(box for box in at.selectbox if box.label == "Value of condition 1")
    at = build(at, lambda at: value.set_value(next(o for o in value.options if o.startswith("2025 ·"))))
    assert json.loads(at.text_area(key="filter").value) == {"field": "year", "operator": "==", "value": 2025}
    assert facts(at)
    assert facts(at) != before
    button(at, "year").click()
    assert facts(at.run()) == before


def test_another_group_sees_no_drafts(opened: Open) -> None:
    at = build(opened(), lambda at: button(at, "Add condition").click())
    assert any(box.label == "Field of condition 1" for box in at.selectbox)
    at.selectbox(key="view_as").set_value("public")
    at.run()
    assert drawn(at, "evidence")
    assert not any(box.label == "Field of condition 1" for box in at.selectbox)
