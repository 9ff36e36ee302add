"""What a person explores on Browse: kept for the session, restored from the link, drawn."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any

import streamlit as st

from kgcore import ConfigError, KgError, ModelError
from kgcore.browse import (
    GROWTH,
    PATHS,
    RANKED,
    Explored,
    Step,
    closeness,
    explore,
    paths_between,
    read_steps,
    steps_text,
)
from kgcore.types import Fact, Vector
from kgcore.viz import Layout, explored_payload, laid_out, plain
from ui import state
from ui.resources import digest
from ui.runs import runs
from ui.visit import Visit

SEARCH, ABOUT = "browse_search", "about"
_TAKEN = "about_taken"
"""The question of Ask that was last grown towards."""
_IN_LINK = ("steps", "at", "off", "without", "from", "to", "facts", ABOUT)
_KEPT = 64
"""Pictures that are kept, to go on from and to undo to."""
_LATE = 2.0
"""Seconds within which a browser gets a change of the link."""
_MOST = 200
"""Types, or relations, that a link may leave out."""

Ways = tuple[tuple[Fact, ...], ...]
Link = dict[str, list[str]]


@dataclass(frozen=True, kw_only=True)
class Picture:
    """What steps lead to, and where everything stands."""

    explored: Explored = field(default_factory=Explored)
    layout: Layout | None = None


@dataclass(kw_only=True)
class Browsing:
    """The steps so far, what is selected, what the legend leaves out, the ends of the path, the facts on the card.

    `picture` is the one that was shown last, `put` what the link then held, `overtaken` what it held before, as far as
    the browser has not shown that it got the change made `put_at`; `acted` says that a person did something since,
    `unread` that the link held steps that none can be read from.
    """

    steps: tuple[Step, ...] = ()
    selected: str | None = None
    off_types: tuple[str, ...] = ()
    off_relations: tuple[str, ...] = ()
    ends: dict[str, str] = field(default_factory=dict)
    facts: int = GROWTH
    picture: Picture = field(default_factory=Picture)
    pictures: dict[tuple[Any, ...], Picture] = field(default_factory=dict)
    ways: dict[tuple[str, str], Ways] = field(default_factory=dict)
    put: Link | None = None
    put_at: float = 0.0
    overtaken: list[Link] = field(default_factory=list)
    acted: bool = False
    unread: bool = False

    @property
    def seen(self) -> Explored:
        """What is drawn: the picture without what the legend leaves out."""
        return self.picture.explored.without(self.off_types, self.off_relations)


def browsing() -> Browsing:
    """This session's, for as long as the same person looks at the same graph; at first as the link has it."""
    memory = runs()
    if memory.browsing is None:
        memory.browsing = _linked()
    found: Browsing = memory.browsing
    return found


def acting() -> Browsing:
    """The same for what a person does: then the link is behind, and not gone back to."""
    now = browsing()
    now.acted = True
    return now


def enter() -> Browsing:
    """The same when the page is run, as the link has it where that is another than was put: by Back, for one."""
    now = browsing()
    link = _link()
    if link == now.put:
        now.overtaken.clear()
    followed = now.put is not None and link != now.put and not now.acted and not _is_late(now, link)
    if not link and SEARCH not in st.session_state:
        followed = False  # come from another page by the page's name, not back to the beginning
    if followed:
        now = runs().browsing = replace(_linked(), pictures=now.pictures, ways=now.ways, picture=now.picture)
    now.acted = False
    _grow_towards(followed=followed)
    return now


def put_in_link(now: Browsing) -> None:
    """All that the page shows."""
    before = _link()
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
    put = _link()
    if put != before:
        now.overtaken += [before, now.put or before]
        now.put_at = monotonic()
    now.put = put


def question_vector(here: Visit) -> tuple[Vector | None, str]:
    """What growing ranks by: the vector of the question in the row, None where connections rank; and why, if there is
    a question."""
    question = st.session_state[ABOUT].strip()
    try:
        vector = closeness(here.retriever.embedder, question, here.visible)
    except ModelError as error:
        return None, f"{error} {error.remedy}"
    if vector is not None or not question:
        return vector, ""
    return None, "The graph has no vectors of this embedder to compare the question with."


def picture(now: Browsing, here: Visit, vector: Vector | None) -> KgError | None:
    """Draws what the steps lead to, as far as that can be, and says what is in the way.

    Steps from the first on that goes beyond what a picture holds are dropped. Where a store fails they stay, for
    another try.
    """
    about = st.session_state[ABOUT].strip() if vector is not None else ""
    steps = now.steps
    known = next((at for at in range(len(steps), 0, -1) if (steps[:at], about) in now.pictures), 0)
    now.picture = now.pictures[steps[:known], about] if known else Picture()
    for at in range(known, len(steps)):
        before = now.picture
        try:
            explored = explore(
                here.graph.store, here.retriever.filter, steps[: at + 1], vector=vector, before=before.explored
            )
        except ConfigError as error:
            now.steps = steps[:at]
            return error
        except KgError as error:
            return error
        now.picture = Picture(explored=explored, layout=laid_out(explored, before.layout))
        now.pictures[steps[: at + 1], about] = now.picture
        for key in list(now.pictures)[:-_KEPT]:
            del now.pictures[key]
    return None


def payload(now: Browsing, here: Visit) -> dict[str, Any]:
    """What the component draws."""
    graph = explored_payload(
        now.picture.explored,
        here.visible.entity_types,
        now.picture.layout,
        off_types=now.off_types,
        off_relations=now.off_relations,
    )
    selected = now.selected if now.selected in now.seen.drawn else None
    return {"subject": digest(["browse", runs().scope[:2]]), "selected": selected, "growth": GROWTH, "graph": graph}


def ways_between(now: Browsing, here: Visit) -> Ways:
    """The shortest paths between the two ends, one more than are told if there are more; looked for once."""
    ends = now.ends["from"], now.ends["to"]
    if ends not in now.ways:
        now.ways = {ends: paths_between(here.graph.store, *ends, here.retriever.filter, limit=PATHS + 1)}
    return now.ways[ends]


def ask_from(entity_id: str, name: str) -> dict[str, str | list[str]]:
    """What a link to Ask holds to start there from an entity: without a question it is asked about by its name."""
    return {"q": plain(name), "seeds": [entity_id]}


def _grow_towards(*, followed: bool) -> None:
    """The question of the link; later that of Ask, whenever another was asked there."""
    shown = runs().shown
    asked = shown.request.question if shown else ""
    if followed:
        st.session_state[ABOUT] = st.query_params.get(ABOUT, "")
    elif ABOUT not in st.session_state:
        st.session_state[ABOUT] = st.query_params.get(ABOUT, asked)
    elif asked and asked != st.session_state.get(_TAKEN):
        st.session_state[ABOUT] = asked
    st.session_state[_TAKEN] = asked


def _is_late(now: Browsing, link: Link) -> bool:
    """Whether the browser may have sent this before it got what was put, and did not go back to it."""
    return link in now.overtaken and monotonic() - now.put_at < _LATE


def _link() -> Link:
    """What of Browse the link holds."""
    return {name: st.query_params.get_all(name) for name in _IN_LINK if name in st.query_params}


def _linked() -> Browsing:
    """As the link has it; what it holds is only ever looked up among what is visible."""
    query = st.query_params
    facts = query.get("facts", "")
    known = facts.isdecimal() and facts.isascii() and len(facts) < 5
    steps = read_steps(query.get("steps", ""))
    return Browsing(
        steps=steps,
        unread=bool(query.get("steps")) and not steps,
        selected=query.get("at") or None,
        off_types=tuple(query.get_all("off")[:_MOST]),
        off_relations=tuple(query.get_all("without")[:_MOST]),
        ends={name: query[name] for name in ("from", "to") if query.get(name)},
        facts=max(GROWTH, min(int(facts), RANKED)) if known else GROWTH,
    )
