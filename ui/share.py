"""What can be taken along of a run: its link, its facts, the run itself; and a saved run opened again."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlencode

import streamlit as st

from kgcore import KgError
from kgcore.retrieve import facts_csv, facts_graphml, read_run, run_json, run_script
from kgcore.retrieve.export import MAX_PAGE
from kgcore.types import Retrieval
from kgcore.viz import html_of
from ui import state
from ui.errors import show_error
from ui.runs import Refused, Run, SavedRun, runs
from ui.state import Request
from ui.text import escaped


def share_popover(run: Run | SavedRun | None, request: Request, *, demo: bool) -> None:
    """The menu of what can be saved, sent or opened."""
    popover = st.popover("Share", key="share_popover", on_change="rerun")
    with popover, st.container(width=360):
        st.caption("This link opens the same view, under its reader's own eyes.")
        st.code(_link(run), language=None, wrap_lines=True)
        if run is not None and popover.open:
            with st.container(horizontal=True, gap="small"):
                _download("Facts as CSV", facts_csv, "utf-8-sig", run.retrieval, "hopscope-facts.csv", "text/csv")
                no_page = _download("Run as HTML", _page, "utf-8", run.retrieval, "hopscope-run.html", "text/html")
                no_json = _download(
                    "Run as JSON", run_json, "utf-8", run.retrieval, "hopscope-run.json", "application/json"
                )
                _download("GraphML", facts_graphml, "utf-8", run.retrieval, "hopscope.graphml", "application/xml")
            if fault := no_page or no_json:
                st.caption(escaped(f"{fault} {fault.remedy}"))
            with st.expander("Copy as Python"):
                st.code(run_script(run.retrieval, demo=demo), language="python", wrap_lines=True, height=240)
        st.file_uploader(
            "Open a saved run",
            type=["json", "html", "htm"],
            key="saved",
            on_change=_open,
            args=(request,),
            max_upload_size=MAX_PAGE // 1_000_000,
        )
        if refused := runs().refused_over(request):
            show_error(refused)
        st.caption("The graph as a picture: PNG, below the graph.")


def close_saved() -> None:
    """Back to what was shown before a saved run was opened."""
    runs().saved = None


def ask_saved_again(retrieval: Retrieval) -> None:
    """Asks a saved run's question here, with its settings."""
    runs().saved = None
    state.restore(state.request_again(retrieval.trace))


def _link(run: Run | SavedRun | None) -> str:
    """Of a saved run, the link that asks the same here."""
    base = (st.context.url or "").partition("?")[0].rstrip("/") + "/"
    asked = state.request_again(run.retrieval.trace) if isinstance(run, SavedRun) else None
    query = urlencode(state.link_here(asked), doseq=True)
    return f"{base}?{query}" if query else base


def _download(
    label: str, write: Callable[[Retrieval], str], encoding: str, retrieval: Retrieval, name: str, mime: str
) -> KgError | None:
    """Made when the menu is opened: what is made at the click is lost when the page runs again meanwhile.

    Gives the error of a run that cannot be saved so; its button cannot be pressed.
    """
    fault = None
    content = b""
    try:
        content = write(retrieval).encode(encoding)
    except KgError as error:
        fault = error
    st.download_button(
        label, content, file_name=name, mime=mime, on_click="ignore", key=name, disabled=fault is not None
    )
    return fault


def _page(retrieval: Retrieval) -> str:
    """Made once for each run and layout: the menu is drawn anew whenever the page runs while it is open."""
    memory, layout = runs(), state.layout()
    if memory.page is None or memory.page[0] is not retrieval or memory.page[1] != layout:
        memory.page = retrieval, layout, html_of(retrieval, layout=layout)
    page: str = memory.page[2]
    return page


def _open(request: Request) -> None:
    file = st.session_state["saved"]
    runs().refused = None
    if file is None:
        close_saved()
        return
    try:
        runs().saved = SavedRun(name=file.name, retrieval=read_run(file.getvalue()), over=request)
    except KgError as error:
        runs().refused = Refused(error=error, over=request)
