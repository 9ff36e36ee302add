"""What a person explores on Browse: kept for the session, restored from the link, changed by what they do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from kgcore import ConfigError, KgError
from kgcore.browse import GROWTH, Explored, Step, closeness, explore, read_steps, steps_text
from kgcore.types import Vector
from kgcore.viz import Layout, explored_payload, plain
from ui import state
from ui.resources import digest
from ui.runs import runs
from ui.visit import Visit

ENTITY, PATH, HUBS, SCHEMA = TABS = ("Entity", "Path", "Hubs", "Schema")
TAB, SEARCH, ABOUT = "browse_tab", "browse_search", "about"
_KEPT = 64
"""Pictures that are kept, to go on from and to undo to."""
_LONGEST = 1_000
"""Characters of an id or a name that a link may hold."""


@dataclass(kw_only=True)
class Browsing:
    """The steps so far, what is selected, what the legend leaves out, the ends of the path, the facts on the card."""

    steps: tuple[Step, ...] = ()
    selected: str | None = None
    off_types: tuple[str, ...] = ()
    off_relations: tuple[str, ...] = ()
    ends: dict[str, str] = field(default_factory=dict)
    facts: int = GROWTH
    layout: Layout | None = None
    pictures: dict[tuple[Any, ...], Explored] = field(default_factory=dict)


def browsing() -> Browsing:
    """This session's, for as long as the same person looks at the same graph; at first as the link has it."""
    memory = runs()
    if memory.browsing is None:
        memory.browsing = _linked()
    found: Browsing = memory.browsing
    return found


def enter() -> Browsing:
    """The same when the page is run: an entity that the link asks to open is opened."""
    now = browsing()
    if "open" in st.query_params:
        wanted = st.query_params["open"][:_LONGEST]
        del st.query_params["open"]
        open_entity(wanted)
    if ABOUT not in st.session_state:
        asked = runs().shown
        st.session_state[ABOUT] = st.query_params.get(ABOUT, asked.request.question if asked else "")[:_LONGEST]
    return now


def put_in_link(now: Browsing) -> None:
    """All that the page shows."""
    about = st.session_state[ABOUT].strip()
    text = steps_text(now.steps)
    for name, values in {
        "steps": [text] if text else [],
        "at": [now.selected] if now.selected else [],
        "off": list(now.off_types),
        "without": list(now.off_relations),
        "from": [now.ends["from"]] if "from" in now.ends else [],
        "to": [now.ends["to"]] if "to" in now.ends else [],
        "facts": [str(now.facts)] if now.facts != GROWTH else [],
        ABOUT: [about] if about else [],
    }.items():
        state.keep_in_link(name, values)


def question_vector(here: Visit) -> Vector | None:
    """What growing ranks by: the vector of the question in the row, None where connections rank."""
    return closeness(here.retriever.embedder, st.session_state[ABOUT].strip(), here.visible)


def picture(now: Browsing, here: Visit, vector: Vector | None) -> tuple[Explored, KgError | None]:
    """What the steps lead to. Steps that would go beyond what a picture holds are not taken, and why is said."""
    refused = None
    while True:
        try:
            return _explored(now, here, vector), refused
        except ConfigError as error:
            refused, now.steps = error, now.steps[:-1]


def payload(now: Browsing, here: Visit, explored: Explored) -> dict[str, Any]:
    """What the component draws."""
    graph, now.layout = explored_payload(
        explored,
        here.visible.entity_types,
        now.layout,
        off_types=now.off_types,
        off_relations=now.off_relations,
    )
    selected = now.selected if now.selected in {node["id"] for node in graph["nodes"]} else None
    return {"subject": digest(["browse", runs().scope[:2]]), "selected": selected, "growth": GROWTH, "graph": graph}


def act(action: dict[str, Any]) -> None:
    """What a person did in the component; anything else is ignored."""
    match action:
        case {"kind": str(kind), "id": None | str() as id_} if kind in _ACTIONS:
            if id_ is None:
                browsing().selected = None
            else:
                _ACTIONS[kind](id_[:_LONGEST])


def open_entity(entity_id: str) -> None:
    """Draws an entity and selects it."""
    now = browsing()
    step = Step(kind="open", entity_id=entity_id)
    if not now.steps or now.steps[-1] != step:
        now.steps = (*now.steps, step)
    select(entity_id)
    st.session_state[SEARCH] = ""


def select(entity_id: str) -> None:
    """Selects an entity: its card is shown."""
    now = browsing()
    if now.selected != entity_id:
        now.selected, now.facts = entity_id, GROWTH
    st.session_state[TAB] = ENTITY


def take(kind: Any, entity_id: str, relation: str = "") -> None:
    """A step at a drawn entity; what grows is selected, what is hidden no longer is."""
    now = browsing()
    now.steps = (*now.steps, Step(kind=kind, entity_id=entity_id, relation=relation))
    now.selected = None if kind == "hide" else entity_id


def pin(entity_id: str) -> None:
    """Pins an entity, or takes the pin out."""
    now, step = browsing(), Step(kind="pin", entity_id=entity_id)
    now.steps = tuple(one for one in now.steps if one != step) if step in now.steps else (*now.steps, step)


def show_hidden() -> None:
    """Everything that was hidden is seen again."""
    now = browsing()
    now.steps = tuple(step for step in now.steps if step.kind != "hide")


def undo() -> None:
    """Takes the last step back."""
    now = browsing()
    now.steps = now.steps[:-1]


def clear() -> None:
    """Begins anew."""
    now = browsing()
    now.steps, now.selected, now.layout, now.ends = (), None, None, {}
    now.off_types, now.off_relations = (), ()


def tidy() -> None:
    """Lays the picture out anew."""
    browsing().layout = None


def toggle_type(name: str) -> None:
    """Leaves a type's entities out, or draws them again."""
    now = browsing()
    now.off_types = _toggled(now.off_types, name)


def toggle_relation(name: str) -> None:
    """Leaves a relation's facts out, or draws them again."""
    now = browsing()
    now.off_relations = _toggled(now.off_relations, name)


def set_end(which: str, entity_id: str | None) -> None:
    """Chooses an end of the path, or none; with both the path is drawn."""
    now = browsing()
    now.ends = {name: id_ for name, id_ in now.ends.items() if name != which}
    st.session_state[f"path_{which}"] = ""
    if entity_id is None:
        return
    now.ends[which] = entity_id
    if len(now.ends) == 2:
        draw_path()


def draw_path() -> None:
    """Draws the shortest paths between the two ends."""
    now = browsing()
    now.steps = (*now.steps, Step(kind="path", entity_id=now.ends["from"], other_id=now.ends["to"]))


def more_facts() -> None:
    """Lists more facts on the card."""
    browsing().facts += GROWTH


def ask_from(entity_id: str, name: str) -> dict[str, str | list[str]]:
    """What a link to Ask holds to start there from an entity: without a question it is asked about by its name."""
    return {"q": plain(name), "seeds": [entity_id]}


_ACTIONS: dict[str, Callable[[str], None]] = {
    "pick": select,
    "grow": lambda id_: take("grow", id_),
    "hide": lambda id_: take("hide", id_),
    "pin": pin,
    "type": toggle_type,
    "relation": toggle_relation,
    "tidy": lambda _: tidy(),
}


def _explored(now: Browsing, here: Visit, vector: Vector | None) -> Explored:
    about = st.session_state[ABOUT].strip() if vector is not None else ""
    known = now.pictures.get((now.steps, about))
    if known is None:
        before = now.pictures.get((now.steps[:-1], about))
        known = explore(here.graph.store, here.retriever.filter, now.steps, vector=vector, before=before)
        now.pictures[now.steps, about] = known
        for key in list(now.pictures)[:-_KEPT]:
            del now.pictures[key]
    return known


def _toggled(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    return tuple(one for one in names if one != name) if name in names else (*names, name)


def _linked() -> Browsing:
    """As the link has it; what it holds is only ever looked up among what is visible."""
    query = st.query_params
    facts = query.get("facts", "")
    ends = {name: query[name][:_LONGEST] for name in ("from", "to") if query.get(name)}
    return Browsing(
        steps=read_steps(query.get("steps", "")),
        selected=query.get("at", "")[:_LONGEST] or None,
        off_types=tuple(name[:_LONGEST] for name in query.get_all("off")[:200]),
        off_relations=tuple(name[:_LONGEST] for name in query.get_all("without")[:200]),
        ends=ends,
        facts=min(int(facts), 1_000) if facts.isdecimal() and facts.isascii() and len(facts) < 5 else GROWTH,
    )
