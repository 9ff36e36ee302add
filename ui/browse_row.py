"""The row of Browse: the search, what growing ranks by, the way back; and what is said before anything is drawn."""

from __future__ import annotations

import streamlit as st

from kgcore.filters import AccessFilter
from kgcore.store import GraphStore
from kgcore.types import End
from kgcore.viz import count
from ui import browse, browse_do
from ui.chips import described, labels
from ui.identity import who
from ui.text import escaped
from ui.visit import Visit

FOUND = 8
HUBS = 5


def search_row(here: Visit) -> None:
    """The search, whose results lie over the page, and the question that is grown towards."""
    with st.container(key="browse_row", horizontal=True, gap="small", vertical_alignment="center", wrap=False):
        with st.container(key="browse_find", width=340):
            typed = st.text_input(
                "Search",
                key=browse.SEARCH,
                type="search",
                live=True,
                placeholder="Search the graph by name",
                label_visibility="collapsed",
            )
            if typed and typed.strip():
                with st.container(key="browse_found", gap="xsmall"):
                    found = here.graph.store.search(typed.strip(), here.retriever.filter, FOUND)
                    _listed(found, "browse_found")
        st.text_input(
            "Closest to",
            key=browse.ABOUT,
            persist_state="session",
            placeholder="A question to grow towards; without one, the best connected come first",
            label_visibility="collapsed",
        )
        who(here.asker, demo=here.graph.demo)


def _listed(found: tuple[End, ...], key: str) -> None:
    if not found:
        st.caption("No entity has a name that begins so.")
    for at, (end, label) in enumerate(zip(found, labels(found), strict=True)):
        st.button(label, key=f"{key}_{at}", width="stretch", on_click=browse_do.open_entity, args=(end.id, end.type))


def steps_row(now: browse.Browsing, *, by_question: bool, unranked: str) -> None:
    """How much is drawn, and the ways back; why the question ranks nothing."""
    explored, seen = now.picture.explored, now.seen
    with st.container(key="browse_steps", horizontal=True, gap="small", vertical_alignment="center", wrap=False):
        if explored.nodes:
            drawn = count(len(seen.drawn), "entity", "entities")
            facts = count(len({fact.id for fact in seen.facts}), "fact")
            ranked = "closeness to the question" if by_question else "connections"
            st.text(f"{drawn}, {facts} · grows by {ranked}", width="content")
        if now.unread and not now.steps:
            st.text("The steps of the link cannot be read", width="content")
        if explored.missing:
            many = len(explored.missing)
            st.text(
                f"{count(many, 'entity', 'entities')} of the link {'is' if many == 1 else 'are'} "
                "not in the graph as you see it",
                width="content",
            )
        if explored.hidden:
            st.button(f"Show {len(explored.hidden)} hidden", key="browse_unhide", on_click=browse_do.show_hidden)
        if now.steps:
            # Where a step failed, what stands is what was before it.
            before = explored.steps if len(explored.steps) < len(now.steps) else now.steps[:-1]
            undone = "Take the last step back"
            st.button("Undo", key="browse_undo", on_click=browse_do.go_back, args=(before,), help=undone)
            st.button("Clear", key="browse_clear", on_click=browse_do.clear, help="Begin anew")
    if unranked:
        st.caption(escaped(f"The question ranks nothing. {unranked}"))


def empty(here: Visit) -> None:
    """Before anything is drawn: how much there is, and where one could begin."""
    st.subheader("Search for an entity, or begin with a hub")
    visible = here.visible
    st.write(
        f"{count(visible.entities, 'entity', 'entities')} of {count(len(visible.entity_types), 'type')}, "
        f"{count(visible.edges, 'edge')} of {count(len(visible.relations), 'relation')}, "
        f"{count(visible.documents, 'document')}."
    )
    _hub_buttons(here.graph.store, here.retriever.filter)
    st.caption(
        "Click an entity to read about it, and again to draw more of its facts. Path draws how two entities are joined."
    )


def _hub_buttons(store: GraphStore, filter: AccessFilter) -> None:
    with st.container(horizontal=True, gap="xsmall"):
        for at, end in enumerate(store.hubs(filter, HUBS)):
            st.button(described(end), key=f"browse_begin_{at}", on_click=browse_do.open_entity, args=(end.id, end.type))
