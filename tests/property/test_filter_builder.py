"""A filter through the builder's rows and back is the filter; an edit changes what it names and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kgcore.filters.grammar import COMPARISONS, LIST_COMPARISONS, parse_filter
from ui.filter_tree import (
    Row,
    Tree,
    drafts_of,
    in_filter,
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
from ui.filtering import conditions, outline, read_filter, read_json

TEXTS = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=6)
SCALARS = (
    st.sampled_from([2024, "2024", 2024.0, True, 1, "1", 1.0, "true", "", 2**63 - 1, -(2**63), 2**53 + 1, -0.0, 5e-324])
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
)
NAMES = st.sampled_from(["year", "kind", "src_name", "_", "Year", "allowed_principals", "a" * 300])


@st.composite
def rows(draw: st.DrawFn) -> dict[str, Any]:
    operator = draw(st.sampled_from(COMPARISONS))
    value = draw(st.lists(SCALARS, max_size=4) if operator in LIST_COMPARISONS else SCALARS)
    return {"field": draw(NAMES), "operator": operator, "value": value}


FILTERS = st.recursive(
    rows(),
    lambda inner: st.fixed_dictionaries(
        {"operator": st.sampled_from(["AND", "OR"]), "conditions": st.lists(inner, min_size=1, max_size=4)}
    ),
    max_leaves=12,
)
JSON = st.recursive(
    st.none() | SCALARS | st.floats() | st.just("\ud800"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["field", "operator", "value", "conditions", "x"]), inner, max_size=4)
        | st.fixed_dictionaries({"operator": inner, "conditions": st.lists(inner, max_size=3)})
    ),
    max_leaves=12,
)
"""Anything that a text in JSON can hold."""


def exactly(held: Any) -> str:
    """The same for the same JSON only: kinds told apart, keys in any order."""
    return json.dumps(held, sort_keys=True)


def leaves(held: Any, place: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Every condition with where it stands."""
    if "conditions" in held:
        yield place, held["operator"]
        for at, inner in enumerate(held["conditions"]):
            yield from leaves(inner, (*place, at))
    else:
        yield place, held


def a_row(data: st.DataObject, tree: Tree) -> Row:
    return data.draw(st.sampled_from(rows_of(tree.root)))


@given(FILTERS)
def test_every_filter_comes_back_as_it_was(held: dict[str, Any]) -> None:
    parse_filter(held)
    text = text_of(tree_of(held))
    assert exactly(read_filter(text)) == exactly(held)
    assert text_of(tree_of(read_json(text))) == text


@given(JSON)
def test_what_is_no_filter_comes_back_too(held: Any) -> None:
    assert exactly(read_json(text_of(tree_of(held)))) == exactly(held)
    assert outline(held)
    assert too_large(held) in (True, False)


@given(FILTERS, st.data())
def test_drafts_are_not_in_the_filter(held: dict[str, Any], data: st.DataObject) -> None:
    tree = tree_of(held)
    for _ in range(data.draw(st.integers(1, 3))):
        groups = [tree.root.id, *(part.id for part in parts_of(tree) if not isinstance(part, Row))]
        add = data.draw(st.sampled_from([with_row, with_group]))
        tree = add(tree, data.draw(st.sampled_from(groups)))
    assert exactly(json.loads(text_of(tree))) == exactly(held)
    drafts = drafts_of(tree)
    assert drafts
    assert not any(map(in_filter, drafts))
    again = with_parts(tree_of(held, tree.next_id), drafts)
    assert exactly(json.loads(text_of(again))) == exactly(held)
    assert list(map(shape, drafts_of(again))) == list(map(shape, drafts))
    ids = [part.id for part in parts_of(again)]
    assert len(ids) == len(set(ids))


@given(FILTERS, SCALARS, st.data())
def test_a_value_changes_in_its_row_alone(held: dict[str, Any], value: Any, data: st.DataObject) -> None:
    tree = tree_of(held)
    row = a_row(data, tree)
    given_ = [value] if row.held["operator"] in LIST_COMPARISONS else value
    one_differs(held, json.loads(text_of(with_value(tree, row.id, given_))), row, {**row.held, "value": given_})


@given(FILTERS, st.sampled_from(COMPARISONS), st.data())
def test_an_operator_changes_in_its_row_alone(held: dict[str, Any], operator: str, data: st.DataObject) -> None:
    tree = tree_of(held)
    row = a_row(data, tree)
    after = with_operator(tree, row.id, operator)
    value = row.held["value"]
    if operator in LIST_COMPARISONS:
        value = value if isinstance(value, list) else [value]
    elif isinstance(value, list):
        if not value:
            assert [one.id for one in rows_of(after.root) if one.draft] == [row.id]
            return
        value = value[0]
    wanted = {"field": row.held["field"], "operator": operator, "value": value}
    parse_filter(wanted)
    one_differs(held, json.loads(text_of(after)), row, wanted)


@given(FILTERS, st.data())
def test_another_field_makes_a_draft_of_its_row_alone(held: dict[str, Any], data: st.DataObject) -> None:
    tree = tree_of(held)
    row = a_row(data, tree)
    after = with_field(tree, row.id, "another", ("==", "in"))
    assert [one.id for one in rows_of(after.root) if one.draft] == [row.id]
    assert [one for one in rows_of(after.root) if one.id != row.id] == [r for r in rows_of(tree.root) if r.id != row.id]
    operator = "in" if row.held["operator"] == "in" else "=="
    wanted = {"field": "another", "operator": operator, "value": [1] if operator == "in" else 1}
    done = with_value(after, row.id, wanted["value"])
    one_differs(held, json.loads(text_of(done)), row, wanted)


@given(FILTERS, st.data())
def test_a_row_goes_alone(held: dict[str, Any], data: st.DataObject) -> None:
    tree = tree_of(held)
    row = a_row(data, tree)
    after = without(tree, row.id)
    assert [one.id for one in rows_of(after.root)] == [one.id for one in rows_of(tree.root) if one.id != row.id]
    text = text_of(after)
    kept = [exactly(one.held) for one in rows_of(tree.root) if one.id != row.id]
    told = [exactly(leaf) for _, leaf in leaves(json.loads(text)) if isinstance(leaf, dict)] if text else []
    assert told == kept
    read_filter(text)


@given(FILTERS, st.data())
def test_a_group_is_joined_alone(held: dict[str, Any], data: st.DataObject) -> None:
    tree = tree_of(held)
    groups = [part for part in parts_of(tree) if not isinstance(part, Row)]
    if tree.implied:
        assert text_of(joined(tree, tree.root.id, "OR")) == text_of(tree)
        return
    group = data.draw(st.sampled_from(groups))
    other = "OR" if group.held["operator"] == "AND" else "AND"
    before, after = dict(leaves(held)), dict(leaves(json.loads(text_of(joined(tree, group.id, other)))))
    changed = [place for place in before if exactly(before[place]) != exactly(after[place])]
    assert before.keys() == after.keys()
    assert [after[place] for place in changed] == [other]


@given(FILTERS, st.data())
def test_an_error_is_found_at_its_row(held: dict[str, Any], data: st.DataObject) -> None:
    """Wherever it stands, and whatever drafts stand before it."""
    tree = tree_of(held)
    row = a_row(data, tree)
    path = path_of(tree, row)
    for group in [tree.root.id, *(part.id for part in parts_of(tree) if not isinstance(part, Row))]:
        tree = with_row(tree, group)
    for end in ("", ".value", ".operator", ".x.y"):
        assert part_at(tree, (path + end).removeprefix(".")) == row.id


@given(FILTERS)
def test_every_condition_is_a_line_and_a_chip_takes_one_away(held: dict[str, Any]) -> None:
    assert len(outline(held)) == len(list(leaves(held)))
    for _, without_it in conditions(held):
        read_filter(without_it)


def shape(part: Any) -> Any:
    """A part without its ids."""
    return part.held if isinstance(part, Row) else (part.held, [shape(inner) for inner in part.parts])


def parts_of(tree: Tree) -> list[Any]:
    """Every row and group but the root of no group."""
    found: list[Any] = []
    waiting: list[Any] = list(tree.root.parts) if tree.implied else [tree.root]
    while waiting:
        part = waiting.pop()
        found.append(part)
        waiting += () if isinstance(part, Row) else part.parts
    return found


def path_of(tree: Tree, row: Row) -> str:
    """Where FilterError says that a row stands."""
    waiting: list[tuple[Any, str]] = [(tree.root.parts[0] if tree.implied else tree.root, "")]
    while waiting:
        part, path = waiting.pop()
        if part.id == row.id:
            return path
        if not isinstance(part, Row):
            waiting += [(inner, f"{path}.conditions[{at}]".removeprefix(".")) for at, inner in enumerate(part.parts)]
    raise AssertionError(row)


def one_differs(before: Any, after: Any, row: Row, wanted: Any) -> None:
    """The same filter, but for one condition that equalled `row` and is now as wanted."""
    old, new = dict(leaves(before)), dict(leaves(after))
    assert old.keys() == new.keys()
    changed = [place for place in old if exactly(old[place]) != exactly(new[place])]
    assert len(changed) <= 1
    assert [exactly(old[place]) for place in changed] in ([], [exactly(row.held)])
    assert [exactly(new[place]) for place in changed] in ([], [exactly(wanted)])
    assert changed or exactly(wanted) == exactly(row.held)
