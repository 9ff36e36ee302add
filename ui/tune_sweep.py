"""The sweep as it goes, and what can be done with one of its settings."""

from __future__ import annotations

import streamlit as st

from kgcore import KgError, KnowledgeGraphRetriever
from kgcore.types import Retrieval
from ui import tuning
from ui.errors import show_error
from ui.jobs import wait_for
from ui.state import Request, link_of
from ui.text import escaped
from ui.tuning import Sweep

ASK = "pages/ask.py"
_PRESSED = "tune_pressed"


def sweep_row(swept: Sweep, retriever: KnowledgeGraphRetriever) -> None:
    """One question is asked at once, a set at `Run`; until it has ended there is `Stop`, and what it gave stays."""
    all_ = len(swept.questions.golds)
    wanted = st.session_state.pop(_PRESSED, None) == swept.key
    if swept.job is None and not swept.whole and (wanted or (all_ == 1 and not swept.stopped)):
        tuning.begin(swept, retriever)
    place = st.container(key="tune_run")
    if swept.job is not None:
        with place:
            _wait(swept)
    asked = len(swept.rows)
    if not swept.whole:
        with place, st.container(horizontal=True, gap="small", vertical_alignment="center"):
            label = "Go on" if asked else "Run"
            st.button(label, key="tune_go", type="primary", on_click=_press, args=(swept.key,))
            st.text(f"{asked:,} of {all_:,} questions asked, {len(swept.settings):,} settings each")


def picked_row(swept: Sweep, at: int, says: str, looked: Retrieval, request: Request | None, *, best: bool) -> None:
    """What one of the settings comes to, with the ways to go on with it; `looked` is of the question that is shown."""
    setting = swept.settings[at]
    with st.container(key="tune_picked", gap="xsmall"):
        st.write(f"{'**Best:** ' if best else ''}{escaped(tuning.described(setting))}  \n{escaped(says)}")
        with st.container(horizontal=True, gap="small"):
            wanted = tuning.request_for(swept, setting, looked, request)
            st.page_link(ASK, label="Open in Ask", query_params=link_of(wanted))
            st.button("Set A", key="tune_set_a", on_click=tuning.choose, args=("a", setting))
            st.button("Set B", key="tune_set_b", on_click=tuning.choose, args=("b", setting))


def _wait(swept: Sweep) -> None:
    job, all_ = swept.job, len(swept.questions.golds)
    assert job is not None
    bar = st.empty()

    def show() -> None:
        bar.progress(len(swept.rows) / all_, text=f"{len(swept.rows):,} of {all_:,} questions")

    wait_for(job, "tune", "Asking", on_stop=lambda: tuning.stop(swept), show=show)
    bar.empty()
    try:
        tuning.raise_if_failed(swept)
    except KgError as error:
        swept.stopped = True
        show_error(error)


def _press(key: str) -> None:
    st.session_state[_PRESSED] = key
