"""A filter as rows and groups: what is implied, what is a draft, what is too large, and where an error stands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kgcore import FilterError
from kgcore.filters import parse_filter
from ui.filter_tree import (
    MAX_LEVELS,
    MAX_ROWS,
    Group,
    Tree,
    drafts_of,
    empty_tree,
    joined,
    part_at,
    rows_of,
    text_of,
    too_large,
    tree_of,
    with_field,
    with_group,
    with_operator,
    with_parts,
    with_row,
    with_value,
    without,
)
from ui.filtering import MAX_NESTING, outline, read_json

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "filters.json").read_text(encoding="utf-8"))
YEAR = {"field": "year", "operator": ">=", "value": 2024}
KIND = {"field": "kind", "operator": "in", "value": ["memo", "note"]}
FLAG = {"field": "flag", "operator": "==", "value": True}


def all_of(*held: Any) -> dict[str, Any]:
    return {"operator": "AND", "conditions": list(held)}


def any_of(*held: Any) -> dict[str, Any]:
    return {"operator": "OR", "conditions": list(held)}


def told(tree: Tree) -> Any:
    text = text_of(tree)
    return json.loads(text) if text else None


def filled(tree: Tree, row: int, held: dict[str, Any]) -> Tree:
    tree = with_field(tree, row, held["field"], ("==",))
    return with_value(with_operator(tree, row, held["operator"]), row, held["value"])


def last_row(tree: Tree) -> int:
    return rows_of(tree.root)[-1].id


class TestGrowing:
    def test_from_nothing_to_one_condition_and_to_two(self) -> None:
        tree = with_row(empty_tree(), 0)
        assert (text_of(tree), len(rows_of(tree.root))) == ("", 1)
        tree = filled(tree, last_row(tree), YEAR)
        assert told(tree) == YEAR
        tree = with_row(tree, tree.root.id)
        assert told(tree) == YEAR
        tree = filled(tree, last_row(tree), KIND)
        assert told(tree) == all_of(YEAR, KIND)
        assert told(joined(tree, tree.root.id, "OR")) == any_of(YEAR, KIND)

    def test_a_group_of_drafts_is_a_draft(self) -> None:
        tree = with_group(tree_of(YEAR), 0)
        assert told(tree) == YEAR
        tree = filled(tree, last_row(tree), FLAG)
        assert told(tree) == all_of(YEAR, any_of(FLAG))

    def test_a_new_group_is_joined_by_what_its_parent_is_not(self) -> None:
        tree = with_group(tree_of(any_of(YEAR)), 0)
        tree = filled(tree, last_row(tree), FLAG)
        assert told(tree) == any_of(YEAR, all_of(FLAG))

    def test_ids_are_given_once(self) -> None:
        tree = with_row(with_group(with_row(tree_of(all_of(YEAR, KIND), 7), 7), 7), 7)
        ids = [*groups(tree), *(row.id for row in rows_of(tree.root))]
        assert sorted(ids) == [7, 8, 9, 10, 11, 12, 13]
        assert tree.next_id == 14

    def test_a_part_that_is_gone_changes_nothing(self) -> None:
        tree = tree_of(all_of(YEAR, KIND))
        for after in (
            without(tree, 99),
            with_value(tree, 99, 1),
            joined(tree, 99, "OR"),
            with_field(tree, 99, "x", ()),
        ):
            assert after == tree


class TestDrafts:
    def test_a_row_without_a_value_is_one(self) -> None:
        tree = with_value(tree_of(all_of(YEAR, FLAG)), 1, None)
        assert told(tree) == all_of(FLAG)
        assert [row.held for row in rows_of(tree.root)] == [{"field": "year", "operator": ">="}, FLAG]
        assert told(with_value(tree, 1, 5)) == all_of({**YEAR, "value": 5}, FLAG)

    def test_a_row_with_an_empty_list_is_one_unless_the_json_holds_it(self) -> None:
        empty = {**KIND, "value": []}
        assert told(tree_of(empty)) == empty
        assert told(with_value(tree_of(KIND), 1, [])) is None
        assert told(with_operator(tree_of(empty), 1, "not in")) == {**empty, "operator": "not in"}

    def test_what_was_refused_stands_in_the_row(self) -> None:
        tree = with_value(tree_of(KIND), 1, ["memo"], ["9" * 30])
        (row,) = rows_of(tree.root)
        assert (row.draft, row.refused, row.held["value"]) == (True, ("9" * 30,), ["memo"])
        assert rows_of(with_operator(tree, 1, "not in").root)[0].refused == row.refused
        assert told(with_operator(tree, 1, "==")) == {**KIND, "operator": "==", "value": "memo"}
        assert told(with_value(tree, 1, ["memo"])) == {**KIND, "value": ["memo"]}

    def test_they_are_kept_beside_another_text(self) -> None:
        before = with_group(with_row(tree_of(all_of(YEAR, any_of(FLAG))), 2), 0)
        drafts = drafts_of(before)
        assert [type(part).__name__ for part in drafts] == ["Row", "Group"]
        after = with_parts(tree_of(KIND, before.next_id), drafts)
        assert told(after) == KIND
        assert len(rows_of(after.root)) == 3


class TestRemoving:
    def test_the_last_condition(self) -> None:
        tree = without(tree_of(YEAR), 1)
        assert (text_of(tree), tree.root.parts) == ("", ())
        assert tree.next_id >= 2

    def test_the_last_of_a_group_takes_the_group_along(self) -> None:
        tree = tree_of(all_of(YEAR, any_of(all_of(FLAG))))
        assert told(without(tree, last_row(tree))) == all_of(YEAR)
        assert told(without(tree_of(any_of(all_of(FLAG))), 2)) is None

    def test_a_group(self) -> None:
        tree = tree_of(all_of(YEAR, any_of(FLAG, KIND)))
        assert told(without(tree, tree.root.parts[1].id)) == all_of(YEAR)
        assert told(without(tree, tree.root.id)) is None

    def test_a_group_that_the_json_holds_empty_stays_until_it_is_removed(self) -> None:
        held = all_of(YEAR, any_of())
        tree = tree_of(held)
        assert told(with_value(tree, 1, 1)) == all_of({**YEAR, "value": 1}, any_of())
        assert told(without(tree, tree.root.parts[1].id)) == all_of(YEAR)


class TestFieldsAndOperators:
    def test_the_same_field_again_changes_nothing(self) -> None:
        assert told(with_field(tree_of(YEAR), 1, "year", ("==",))) == YEAR

    def test_an_operator_that_fits_stays(self) -> None:
        (row,) = rows_of(with_field(tree_of(KIND), 1, "lang", ("==", "in")).root)
        assert row.held == {"field": "lang", "operator": "in"}
        (row,) = rows_of(with_field(tree_of(KIND), 1, "tags", ("contains_any",)).root)
        assert row.held == {"field": "tags", "operator": "contains_any"}

    def test_a_value_becomes_a_list_and_a_list_its_first(self) -> None:
        tree = with_operator(tree_of(FLAG), 1, "in")
        assert told(tree)["value"] == [True]
        assert told(with_operator(tree, 1, "!=")) == {**FLAG, "operator": "!="}
        assert told(with_operator(tree_of(KIND), 1, ">"))["value"] == "memo"

    def test_what_else_a_condition_holds_stays(self) -> None:
        odd = {**YEAR, "note": {"a": [1]}}
        assert told(with_value(tree_of(odd), 1, 1)) == {**odd, "value": 1}


class TestTooLarge:
    def test_by_conditions(self) -> None:
        assert not too_large(all_of(*[YEAR] * MAX_ROWS))
        assert too_large(all_of(*[YEAR] * (MAX_ROWS - 1), any_of(KIND, FLAG)))

    def test_by_levels(self) -> None:
        held: Any = YEAR
        for _ in range(MAX_LEVELS):
            held = all_of(held)
        assert not too_large(held)
        assert too_large(any_of(held))

    def test_lists_of_values_do_not_count(self) -> None:
        assert not too_large({**KIND, "value": list(range(10_000))})

    @pytest.mark.parametrize("open_", ["[", '{"operator": "AND", "conditions": [', '{"value": '])
    def test_what_is_too_deep_to_walk_is_not_read(self, open_: str) -> None:
        deep = open_ * (MAX_NESTING + 1)
        text = deep + "1" + "".join({"[": "]", "{": "}"}[sign] for sign in reversed(deep) if sign in "[{")
        with pytest.raises(FilterError, match="too deep"):
            read_json(text)


def test_an_outline_has_a_line_a_condition_and_an_end() -> None:
    held = all_of(YEAR, any_of(FLAG, {"operator": "XOR", "conditions": [KIND]}), 3, {"field": "x"})
    assert outline(held) == [
        "all of", "  year >= 2024", "  any of", "    flag == true", "    XOR of", "      kind in memo, note", "  3",
        '  {"field": "x"}',
    ]  # fmt: skip
    assert outline(all_of(*[YEAR] * 5_000))[-1] == "…"
    assert len(outline(all_of(*[YEAR] * 5_000))) < 1_000


def test_half_a_character_is_written_as_an_escape() -> None:
    text = text_of(tree_of({**YEAR, "value": "é\ud800"}))
    assert text.isascii()
    assert json.loads(text)["value"] == "é\ud800"
    assert "é" in text_of(tree_of({**YEAR, "value": "é"}))


PLACES = [
    ({"field": "a", "operator": "=="}, "value", {"field": "a", "operator": "=="}),
    (all_of(YEAR, {**YEAR, "value": None}), "conditions[1].value", {**YEAR, "value": None}),
    (all_of(YEAR, any_of(FLAG, 3)), "conditions[1].conditions[1]", 3),
    (all_of(YEAR, {"operator": "XOR", "conditions": [YEAR]}), "conditions[1].operator", "group"),
    (all_of(YEAR, any_of()), "conditions[1].conditions", "group"),
    ({**all_of(YEAR), "x": 1}, "x", "group"),
    (all_of(YEAR, {**YEAR, "conditions[0]": 1}), "conditions[1].conditions[0]", {**YEAR, "conditions[0]": 1}),
    (3, "", 3),
    (None, "", None),
]


@pytest.mark.parametrize(("held", "path", "part"), PLACES, ids=lambda value: str(value)[:60])
def test_an_error_stands_at_its_part(held: Any, path: str, part: Any) -> None:
    with pytest.raises(FilterError) as raised:
        parse_filter(held)
    assert raised.value.path == path
    tree = tree_of(held)
    at = part_at(tree, path)
    by_id: dict[int, Any] = {row.id: row.held for row in rows_of(tree.root)}
    assert by_id.get(at, "group") == part


INVALID = [case["filter"] for case in VECTORS["invalid"] if not too_large(case["filter"])]


@pytest.mark.parametrize("held", INVALID, ids=lambda held: json.dumps(held)[:90])
def test_every_invalid_filter_comes_back_and_its_error_has_a_place(held: Any) -> None:
    tree = tree_of(held)
    with pytest.raises(FilterError) as raised:
        parse_filter(held)
    assert part_at(tree, raised.value.path) in {*groups(tree), *(row.id for row in rows_of(tree.root))}
    assert json.dumps(told(tree), sort_keys=True) == json.dumps(held, sort_keys=True)


def groups(tree: Tree) -> set[int]:
    waiting, found = [tree.root], set()
    while waiting:
        group = waiting.pop()
        found.add(group.id)
        waiting += [part for part in group.parts if isinstance(part, Group)]
    return found
