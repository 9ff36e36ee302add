"""The rows of the filter's builder: how a tree is drawn, and what a change of a widget makes of it.

A widget shows what the tree holds at every run. Streamlit knows an option by its label alone, so labels are made
unlike each other, and each callback is given the values that its labels stood for when they were shown. Where they
come to stand for others, with another field, the widget is another too: a slow browser may still send the old.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from kgcore import FilterError
from kgcore.types import FieldValue, Scalar
from ui import filter_tree as trees
from ui.errors import show_error
from ui.filter_tree import Group, Row, Tree
from ui.filter_values import (
    Field,
    label_of,
    operators_for,
    read_value,
    scalar_kinds,
    shown,
    takes_list,
    value_labels,
    with_held,
)
from ui.text import escaped

MAX_LISTED = 100
FIELD_WIDTH, OPERATOR_WIDTH, INDENT = 150, 124, 12
Labels = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Scene:
    """What rows are drawn with: the fields and where their values come from, the row's numbers by id, the error
    with the part that it is at, and the way to change the tree."""

    fields: Mapping[str, Field]
    values: Callable[[str], Sequence[FieldValue]]
    numbers: Mapping[int, int]
    error: FilterError | None
    faulty: int | None
    change: Callable[[Callable[[Tree], Tree]], None]


def draw_tree(tree: Tree, scene: Scene) -> None:
    """The whole tree, to be edited."""
    with st.container(gap="xsmall"):
        _draw_group(tree.root, scene, level=1)


def _draw_group(group: Group, scene: Scene, *, level: int) -> None:
    # Each part has a place of its own: an element that moves to another is made anew, and loses the focus.
    head, parts, foot = st.container(gap="xsmall"), st.container(gap="xsmall"), st.container(horizontal=True)
    with head:
        if level > 1 or len(group.parts) > 1:
            _draw_head(group, scene, level=level)
        elif not group.parts:
            st.caption("No conditions: everything that you may see is walked.")
        if scene.error and scene.faulty == group.id:
            show_error(scene.error)
    with parts:
        for part in group.parts:
            border = not isinstance(part, Row)
            with st.container(border=border, gap="xsmall", key=f"filter_part_{part.id}"):
                if isinstance(part, Row):
                    _draw_row(part, scene, level=level)
                else:
                    _draw_group(part, scene, level=level + 1)
    with foot:
        _draw_add("condition", trees.with_row, group, scene)
        if level < trees.MAX_LEVELS:
            _draw_add("group", trees.with_group, group, scene)


def _draw_head(group: Group, scene: Scene, *, level: int) -> None:
    with st.container(horizontal=True, gap="small", vertical_alignment="center", wrap=False):
        operator = group.held.get("operator")
        labels = with_held({"AND": "AND", "OR": "OR"}, operator, shown(operator) if operator else "missing")
        key = f"filter_join_{group.id}"

        def choose() -> None:
            if (chosen := st.session_state[key]) in labels:
                scene.change(lambda tree: trees.joined(tree, group.id, labels[chosen]))

        _show(key, label_of(operator, labels))
        st.segmented_control(
            "Joined by",
            list(labels),
            format_func=escaped,
            key=key,
            required=True,
            label_visibility="collapsed",
            width="content",
            on_change=choose,
        )
        st.caption({"AND": "all of these", "OR": "any of these"}.get(str(operator), ""), width="stretch")
        if level > 1:
            _draw_remove(group.id, "Remove this group", scene)


def _draw_row(row: Row, scene: Scene, *, level: int) -> None:
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center", wrap=False):
        if isinstance(row.held, dict):
            known = scene.fields.get(name) if isinstance(name := row.held.get("field"), str) else None
            found = scene.values(known.name) if known else ()
            kinds = scalar_kinds(known.kinds if known else (), found)
            _draw_field(row, scene, width=FIELD_WIDTH - INDENT * (level - 1))
            _draw_operator(row, known, scene)
            _draw_value(row, known, found, kinds, scene)
        else:
            kinds = ()
            st.text(shown(row.held), width="stretch")
        _draw_remove(row.id, "Remove this condition", scene)
    _draw_faults(row, kinds, scene)


def _draw_field(row: Row, scene: Scene, *, width: int) -> None:
    labels: Labels = {field.label: name for name, field in scene.fields.items()}
    if "field" in row.held:
        labels = with_held(labels, row.held["field"], f"{shown(row.held['field'])} · unknown")

    def choose(name: Any) -> None:
        known = scene.fields.get(name) if isinstance(name, str) else None
        fitting = operators_for(known.kinds if known else ())
        scene.change(lambda tree: trees.with_field(tree, row.id, name, fitting))

    _draw_part("field", row, labels, choose, scene, placeholder="Field", width=width)


def _draw_operator(row: Row, known: Field | None, scene: Scene) -> None:
    labels: Labels = {operator: operator for operator in operators_for(known.kinds if known else ())}
    if "operator" in row.held:
        labels = with_held(labels, row.held["operator"], shown(row.held["operator"]))

    def choose(operator: Any) -> None:
        scene.change(lambda tree: trees.with_operator(tree, row.id, operator))

    _draw_part("operator", row, labels, choose, scene, placeholder="", width=OPERATOR_WIDTH, disabled=not row.held)


def _draw_part(part: str, row: Row, labels: Labels, choose: Callable[[Any], None], scene: Scene, **look: Any) -> None:
    """A row's field or operator, to be chosen from labels."""
    key = f"filter_{part}_{row.id}"

    def chosen() -> None:
        if (label := st.session_state[key]) in labels:
            choose(labels[label])

    _show(key, label_of(row.held[part], labels) if part in row.held else None)
    st.selectbox(
        f"{part.capitalize()} of condition {scene.numbers[row.id]}",
        list(labels),
        key=key,
        label_visibility="collapsed",
        on_change=chosen,
        **look,
    )


def _draw_value(row: Row, known: Field | None, found: Sequence[FieldValue], kinds: Sequence[str], scene: Scene) -> None:
    label = f"Value of condition {scene.numbers[row.id]}"
    value = row.held.get("value")
    listed = takes_list(row.held.get("operator"))
    items = value if listed and isinstance(value, list) else [value] if "value" in row.held else []
    if len(items) > MAX_LISTED:
        st.text(f"{len(items):,} values: edit them as JSON", width="stretch")
        return
    both = [True, False] if known and "boolean" in known.kinds else []
    labels = value_labels(found, [*items, *both], kinds)
    if listed:
        _draw_list(row, label, items, labels, kinds, scene)
    else:
        _draw_scalar(row, label, labels, kinds, scene)


def _draw_scalar(row: Row, label: str, labels: Labels, kinds: Sequence[str], scene: Scene) -> None:
    key = f"filter_value_{row.id}_{row.turn}"

    def choose() -> None:
        text = st.session_state[key]
        value, refused = _values_of([] if text is None else [text], labels, kinds)
        scene.change(lambda tree: trees.with_value(tree, row.id, value[0] if value else None, refused))

    held = label_of(row.held["value"], labels) if "value" in row.held else None
    _show(key, row.refused[0] if row.refused else held)
    st.selectbox(
        label,
        [*labels, *row.refused],
        index=None,
        key=key,
        placeholder="Choose or type",
        label_visibility="collapsed",
        accept_new_options=True,
        disabled=not row.held,
        on_change=choose,
    )


def _draw_list(row: Row, label: str, items: Sequence[Any], labels: Labels, kinds: Sequence[str], scene: Scene) -> None:
    key = f"filter_values_{row.id}_{row.turn}"
    told = list(dict.fromkeys(str(label_of(item, labels)) for item in items))

    def choose() -> None:
        chosen = st.session_state[key]
        kept = [item for item in items if label_of(item, labels) in chosen]
        added, refused = _values_of([text for text in chosen if text not in told], labels, kinds)
        scene.change(lambda tree: trees.with_value(tree, row.id, [*kept, *added], refused))

    _show(key, [*told, *row.refused])
    st.multiselect(
        label,
        [*labels, *row.refused],
        key=key,
        placeholder="Choose or type",
        label_visibility="collapsed",
        accept_new_options=True,
        select_all=False,
        wrap=False,
        on_change=choose,
    )


def _draw_faults(row: Row, kinds: Sequence[str], scene: Scene) -> None:
    if scene.error and scene.faulty == row.id:
        show_error(scene.error)
    for text in row.refused:
        try:
            read_value(text, kinds)
        except FilterError as error:
            show_error(error)
    if row.refused:
        st.caption("Draft: not filtering yet.")
    elif row.draft:
        st.caption("Draft: choose a value, or type one and press Enter." if row.held else "Draft: choose a field.")


def _draw_add(what: str, add: Callable[[Tree, int], Tree], group: Group, scene: Scene) -> None:
    full = len(scene.numbers) >= trees.MAX_ROWS
    st.button(
        f"Add {what}",
        key=f"filter_add_{what}_{group.id}",
        type="tertiary",
        icon=":material/add:",
        disabled=full,
        help=f"At most {trees.MAX_ROWS} conditions: more as JSON." if full else None,
        on_click=lambda: scene.change(lambda tree: add(tree, group.id)),
    )


def _draw_remove(part: int, help: str, scene: Scene) -> None:
    st.button(
        "✕",
        key=f"filter_remove_{part}",
        help=help,
        on_click=lambda: scene.change(lambda tree: trees.without(tree, part)),
    )


def _show(key: str, wanted: Any) -> None:
    """Has a widget show what the tree holds."""
    if key not in st.session_state or st.session_state[key] != wanted:
        st.session_state[key] = wanted


def _values_of(texts: Sequence[str], labels: Labels, kinds: Sequence[str]) -> tuple[list[Scalar], list[str]]:
    """What chosen labels and typed texts stand for, and the texts that cannot be a value."""
    values, refused = [], []
    for text in texts:
        try:
            values.append(labels[text] if text in labels else read_value(text, kinds))
        except FilterError:
            refused.append(text)
    return values, refused
