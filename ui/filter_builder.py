"""The filter's popover: rows of field, operator and value, or the JSON that they are.

The JSON is what counts, and what the link holds. The rows are made of it whenever it is another than they wrote;
drafts, which it does not hold, are kept beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from kgcore import FilterError
from kgcore.filters import AccessFilter
from kgcore.store import GraphStore
from kgcore.types import Description
from kgcore.viz import plain
from ui import filter_tree as trees
from ui import state
from ui.answers import Fault
from ui.errors import show_error
from ui.filter_rows import Scene, draw_tree
from ui.filter_tree import Part, Tree
from ui.filter_values import fields_of
from ui.filtering import EXAMPLE, conditions, outline, read_filter, read_json
from ui.text import escaped

WIDTH = 520
# A popover's content stands at the page's end, where no Tab would lead from its button.
_ENTER = """
export default ({ parentElement }) => {
    const popover = parentElement.closest("[data-testid=stPopoverBody]");
    popover?.querySelector("[role=tab][aria-selected=true]")?.focus();
};
"""
BUILDER, JSON = "Builder", "JSON"
_KEY, _WAY = "filter_builder", "filter_way"


@dataclass(frozen=True, kw_only=True)
class _Held:
    """The tree of `text` for an asker and a version of the data; where rows cannot show it, of nothing but drafts.

    A browser that was quick to ask again may still send a text that a row has just replaced: those are `replaced`
    until it sends another. `fresh` is a change that it cannot know of yet.
    """

    asker: str
    version: str
    text: str
    tree: Tree
    as_rows: bool
    replaced: frozenset[str] = frozenset()
    fresh: bool = False


def filter_popover(
    visible: Description, store: GraphStore, filter: AccessFilter
) -> tuple[dict[str, Any] | None, Fault | None]:
    """The asker's filter, and what is wrong with it. The fields and values offered are those that `filter` shows."""
    text = st.session_state["filter"] if "filter" in st.session_state else st.query_params.get("filter", "")
    caller, error = _read(text)
    held = _held(text, filter.key, visible.data_version)
    with st.popover(_label(caller, error), key="filter_popover"), st.container(width=WIDTH, gap=None):
        builder, as_json = st.tabs([BUILDER, JSON], key=_WAY, on_change="rerun")
        with builder:
            if builder.open and held.as_rows:
                _draw_rows(held, error, visible, store, filter)
            elif builder.open:
                _draw_text(text, error)
        with as_json:
            st.text_area(
                "Filter as JSON",
                key="filter",
                bind="query-params",
                height=130,
                placeholder=EXAMPLE,
                on_change=_put_back,
            )
            if as_json.open:
                _explain(error, visible)
        _enter()(key="filter_enter", height=1)
    return caller, Fault(error=error, control="filter") if error else None


def forget_drafts() -> None:
    """Drops the rows that are not complete: another person must not see them."""
    held: _Held | None = st.session_state.get(_KEY)
    if held:
        st.session_state[_KEY] = _Held(
            asker="", version="", text="", tree=trees.empty_tree(held.tree.next_id), as_rows=False
        )


@cache
def _enter() -> ComponentRenderer:
    return st.components.v2.component("hopscope_enter", js=_ENTER, isolate_styles=False)


def _read(text: str) -> tuple[dict[str, Any] | None, FilterError | None]:
    try:
        return read_filter(text), None
    except FilterError as error:
        return None, error


def _label(caller: dict[str, Any] | None, error: FilterError | None) -> str:
    active = len(conditions(caller))
    return "Filter ⚠" if error else f"Filter {active}" if active else "Filter"


def _explain(error: FilterError | None, visible: Description) -> None:
    if error:
        show_error(error)
    st.caption("Operators: `==` `!=` `>` `>=` `<` `<=` `in` `not in` `contains_any`, joined by `AND` or `OR`.")
    fields = ", ".join(f"{property.name} ({'/'.join(property.kinds)})" for property in visible.properties)
    st.caption(f"Fields: {escaped(fields, 1_000)}" if fields else "No edge here has a property.")


def _draw_rows(
    held: _Held, error: FilterError | None, visible: Description, store: GraphStore, filter: AccessFilter
) -> None:
    scene = Scene(
        fields=fields_of(visible, store.access_fields | filter.access_fields),
        values=lambda field: store.values(field, filter),
        numbers={row.id: number for number, row in enumerate(trees.rows_of(held.tree.root), 1)},
        error=error,
        faulty=trees.part_at(held.tree, error.path) if error else None,
        change=_change,
    )
    draw_tree(held.tree, scene)


def _draw_text(text: str, error: FilterError | None) -> None:
    """What rows cannot show: its conditions as lines, or that it is no JSON."""
    if error:
        show_error(error)
    try:
        lines = outline(read_json(text))
    except FilterError:
        lines = []
    if lines:
        st.write(f"More than {trees.MAX_ROWS} conditions or {trees.MAX_LEVELS} levels: edit it as JSON.")
        indents = [len(line) - len(line.lstrip(" ")) for line in lines]
        shown = [" " * indent + plain(line, 200) for indent, line in zip(indents, lines, strict=True)]
        st.code("\n".join(shown), language=None, height=240)
    st.button("Edit as JSON", key="filter_edit_as_json", on_click=_edit_as_json)


def _edit_as_json() -> None:
    st.session_state[_WAY] = JSON


# -- what is held between runs


def _held(text: str, asker: str, version: str) -> _Held:
    """What is held of this text for this asker; for another text a new tree, with the drafts that there were."""
    held: _Held | None = st.session_state.get(_KEY)
    if held is None or (held.asker, held.version, held.text) != (asker, version, text):
        first_id = held.tree.next_id if held else 0
        drafts = trees.drafts_of(held.tree) if held and held.asker == asker else ()
        held = _made(text, first_id, drafts, asker=asker, version=version)
    else:
        held = replace(held, fresh=False, replaced=held.replaced if held.fresh else frozenset())
    st.session_state[_KEY] = held
    return held


def _made(text: str, first_id: int, drafts: tuple[Part, ...], *, asker: str, version: str) -> _Held:
    tree, as_rows = trees.empty_tree(first_id), True
    if text.strip():
        try:
            read = read_json(text)
            as_rows = not trees.too_large(read)
            tree = trees.tree_of(read, first_id) if as_rows else tree
        except FilterError:
            as_rows = False
    return _Held(asker=asker, version=version, text=text, tree=trees.with_parts(tree, drafts), as_rows=as_rows)


def _put_back() -> None:
    """Has the text be what is held, where it is one that a row has replaced."""
    held: _Held | None = st.session_state.get(_KEY)
    if held and st.session_state.get("filter", "") in held.replaced:
        state.set_filter(held.text)
        st.session_state[_KEY] = replace(held, fresh=True)


def _change(change: Callable[[Tree], Tree]) -> None:
    """Another tree, and its text where that says something else. Nothing when the text was changed meanwhile."""
    _put_back()
    held: _Held | None = st.session_state.get(_KEY)
    if held is None or not held.as_rows or held.text != st.session_state.get("filter", ""):
        return
    tree = change(held.tree)
    text = trees.text_of(tree)
    if text == trees.text_of(held.tree):
        st.session_state[_KEY] = replace(held, tree=tree)
        return
    state.set_filter(text)
    replaced = (held.replaced | {held.text}) - {text}
    st.session_state[_KEY] = replace(held, tree=tree, text=text, replaced=replaced, fresh=True)
