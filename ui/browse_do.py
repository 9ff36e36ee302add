"""What a person does on Browse: in the graph, on the card, in the panes. The page that follows shows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from kgcore.browse import GROWTH, Step
from kgcore.names import is_unicode
from kgcore.types import HAS_ATTRIBUTE
from ui.browse import SEARCH, acting

ENTITY, PATH, HUBS, SCHEMA = TABS = ("Entity", "Path", "Hubs", "Schema")
TAB = "browse_tab"


def act(action: dict[str, Any]) -> None:
    """What a person did in the component; anything else is ignored."""
    match action:
        case {"kind": "pick", "id": None}:
            acting().selected = None
        case {"kind": str(kind), "id": str(id_)} if kind in _OF_ENTITIES and id_ in acting().picture.explored.drawn:
            _OF_ENTITIES[kind](id_)
        case {"kind": "type", "id": str(name)} if is_unicode(name):
            toggle_type(name)
        case {"kind": "relation", "id": str(name)} if is_unicode(name):
            toggle_relation(name)
        case {"kind": "tidy"}:
            tidy()


def open_linked() -> None:
    """Opens the entity that the link asks to open, once."""
    if "open" in st.query_params:
        wanted = st.query_params["open"]
        del st.query_params["open"]
        open_entity(wanted)


def open_entity(entity_id: str, entity_type: str | None = None) -> None:
    """Draws an entity, if it is not there to stay already, though its type was left out; and selects it."""
    now = acting()
    there = now.picture.explored.drawn.get(entity_id)
    if there is None or not there.root:
        _add(Step(kind="open", entity_id=entity_id))
    now.off_types = tuple(name for name in now.off_types if name != entity_type)
    select(entity_id)
    st.session_state[SEARCH] = ""


def select(entity_id: str) -> None:
    """Selects an entity, drawn or not: its card is shown."""
    now = acting()
    if now.selected != entity_id:
        now.selected, now.facts = entity_id, GROWTH
    st.session_state[TAB] = ENTITY


def take(kind: Any, entity_id: str, relation: str = "") -> None:
    """A step at a drawn entity; what grows is selected, what is hidden no longer is."""
    _add(Step(kind=kind, entity_id=entity_id, relation=relation))
    acting().selected = None if kind == "hide" else entity_id


def pin(entity_id: str) -> None:
    """Pins an entity, or takes the pin out."""
    there = acting().picture.explored.drawn.get(entity_id)
    _add(Step(kind="unpin" if there is not None and there.pinned else "pin", entity_id=entity_id))


def show_hidden() -> None:
    """Everything that was hidden is seen again."""
    _add(Step(kind="show"))


def tidy() -> None:
    """Lays the picture out anew."""
    _add(Step(kind="tidy"))


def go_back(steps: tuple[Step, ...]) -> None:
    """To the picture that fewer steps lead to."""
    acting().steps = steps


def clear() -> None:
    """Begins anew."""
    now = acting()
    now.steps, now.selected, now.ends = (), None, {}
    now.off_types, now.off_relations = (), ()


def toggle_type(name: str) -> None:
    """Leaves a type's entities out, or draws them again."""
    now = acting()
    now.off_types = _toggled(now.off_types, name)


def toggle_relation(name: str) -> None:
    """Leaves a relation's facts out, or draws them again: an attribute's, though all attributes were left out."""
    now = acting()
    over = any(fact.attribute and fact.relation == name for fact in now.picture.explored.facts)
    off = {name, *([HAS_ATTRIBUTE] if over else [])} & {*now.off_relations}
    now.off_relations = tuple(one for one in now.off_relations if one not in off)
    if not off:
        now.off_relations = (*now.off_relations, name)


def set_end(which: str, entity_id: str | None) -> None:
    """Chooses an end of the path, or none; with both the path is drawn."""
    now = acting()
    now.ends = {name: id_ for name, id_ in now.ends.items() if name != which}
    st.session_state[f"path_{which}"] = ""
    if entity_id is None:
        return
    now.ends[which] = entity_id
    if len(now.ends) == 2:
        draw_path()


def draw_path() -> None:
    """Draws the shortest paths between the two ends."""
    now = acting()
    step = Step(kind="path", entity_id=now.ends["from"], other_id=now.ends["to"])
    if step not in now.steps:
        _add(step)


def more_facts() -> None:
    """Lists more facts on the card."""
    acting().facts += GROWTH


_OF_ENTITIES: dict[str, Callable[[str], None]] = {
    "pick": select,
    "grow": lambda id_: take("grow", id_),
    "hide": lambda id_: take("hide", id_),
    "pin": pin,
}


def _add(step: Step) -> None:
    """One step more, if it is not just the last one again where that does nothing."""
    now = acting()
    if step.kind == "grow" or now.steps[-1:] != (step,):
        now.steps = (*now.steps, step)


def _toggled(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    return tuple(one for one in names if one != name) if name in names else (*names, name)
