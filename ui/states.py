"""What the page says when there is nothing to draw."""

from __future__ import annotations

import streamlit as st

from kgcore.filters import AccessFilter
from kgcore.store import GraphStore
from kgcore.types import Description, End, Retrieval
from kgcore.viz import count, cut, plain
from ui import state
from ui.chips import described
from ui.text import escaped

PILLS = 5


def empty(visible: Description, store: GraphStore, filter: AccessFilter) -> None:
    """Before a question: how much there is, and where one could begin."""
    st.subheader("Ask a question or add a seed")
    entities = count(visible.entities, "entity", "entities")
    st.write(f"{entities}, {count(visible.edges, 'edge')}, {count(visible.documents, 'document')}.")
    hubs = store.hubs(filter, PILLS)
    if hubs:
        st.caption("Or ask about one of the best connected:")
        _ask_about(hubs)


def nothing_found(retrieval: Retrieval, store: GraphStore, filter: AccessFilter) -> None:
    """Nothing when there are facts; else the same words whether facts are hidden or do not exist."""
    trace = retrieval.trace
    if retrieval.facts:
        return
    if trace.settings.filters:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.write("No facts from these seeds.")
            st.button("Clear filter", on_click=state.set_filter, args=("",))
    elif trace.seeds:
        st.write("No facts from these seeds.")
    else:
        _no_seeds(trace.question, store, filter)


def _no_seeds(question: str, store: GraphStore, filter: AccessFilter) -> None:
    st.write(f"No entity matches **{escaped(cut(plain(question), 80))}**.")
    words = sorted({word for word in question.split() if len(word) > 2}, key=lambda word: (-len(word), word))
    nearest = {end.id: end for word in words[:PILLS] for end in store.search(word[:4], filter, PILLS)}
    if ends := tuple(nearest.values())[:PILLS] or store.hubs(filter, PILLS):
        st.caption("Nearest:")
        _ask_about(ends)


def _ask_about(ends: tuple[End, ...]) -> None:
    with st.container(horizontal=True, gap="xsmall"):
        for at, end in enumerate(ends):
            st.button(described(end), key=f"about_{at}", on_click=state.ask, args=(plain(end.name),))
