"""What Build writes into, and the vectors that what is written still lacks."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from kgcore.filters import WHOLE
from kgcore.ingest import embed_missing
from kgcore.ingest.side import is_foreign
from kgcore.viz import count
from ui import graphs, resources, working
from ui.text import escaped
from ui.visit import Visit
from ui.working import Stopped, Work

TAB = "build"
_PAGE = 100  # a step is seen, and can be stopped, every few seconds


def target_row(here: Visit) -> None:
    """For administrators the graph that is open, the way to another and to a new one, and what is being written."""
    if not here.asker.administrator:
        return
    with st.container(key="build_target", horizontal=True, gap="small", vertical_alignment="center"):
        with st.popover(escaped(graphs.label_of(here.graph.url, demo=here.graph.demo), 60)), st.container(width=480):
            graphs.switcher(here.config, administrator=True)
            graphs.maker()
        if is_writable(here):
            _vectors(here)
    working.show(here.graph)


def is_writable(here: Visit) -> bool:
    """Whether the asker may write into the graph, and it can be written into."""
    return here.asker.administrator and not here.graph.demo and not is_foreign(here.graph.store)


def begin_with(here: Visit) -> None:
    """Why this graph cannot be written into, and a field for a new one."""
    what = "The demo" if here.graph.demo else "A graph that others built"
    st.subheader("Make a graph to build in")
    st.text(f"{what} is only read. Name a file for a new graph; it is made if it is not there.")
    graphs.maker(key="_here")


def takes_vectors(here: Visit) -> bool:
    """Whether the graph has no other model's vectors."""
    return here.visible.embedder in (None, "", resources.embedder().name)


def then_vectors(here: Visit, write: Callable[[Work], str]) -> Callable[[Work], str]:
    """A work that writes, and then computes the vectors that are missing; the graph can be asked meanwhile."""
    embed = _embedding(here)

    def work(now: Work) -> str:
        said = write(now)
        now.what, now.note = "Vectors", f" · {said}"
        try:
            now.step(0, of="")
            return f"{said} {embed(now)}"
        except Stopped:
            return f"{said} Stopped before all vectors were there."

    return work


def _embedding(here: Visit) -> Callable[[Work], str]:
    store, embedder = here.graph.store.whole(), resources.embedder()

    def work(now: Work) -> str:
        made = embed_missing(store, embedder, progress=now.step, page=_PAGE)
        return f"{count(made, 'vector')} computed."

    return work


def _vectors(here: Visit) -> None:
    held = here.graph.store.describe(WHOLE)
    lacking = held.bare if held.embedder else held.edges
    if not lacking or working.is_on(here.graph):
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.text(f"{lacking:,} of {held.edges:,} edges have no vector: facts are scored by the words of the question.")
        if st.button("Compute vectors", key="build_vectors"):
            working.begin(here.graph, "Vectors", _embedding(here))
            st.rerun()
