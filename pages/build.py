"""Build: graphs and documents into the graph that is open, what that changes first, and who may see which document."""

from functools import partial

import streamlit as st

from kgcore import KgError
from ui import build, frame
from ui.build_documents import show_documents
from ui.build_extract import show_extract
from ui.build_import import show_import
from ui.errors import show_error, try_again
from ui.visit import visit


def construct() -> None:
    here = visit()
    if here is None:
        return
    build.target_row(here)
    writable = build.is_writable(here)
    importing = partial(show_import, here) if writable else partial(build.begin_with, here)
    extracting = partial(show_extract, here) if writable else partial(build.begin_with, here)
    shown = {"Import": importing, "Extract": extracting} if here.asker.administrator else {}
    shown["Documents"] = partial(show_documents, here, writable=writable)
    for tab, show in zip(
        st.tabs(list(shown), key=build.TAB, on_change="rerun", bind="query-params"), shown.values(), strict=True
    ):
        if tab.open:
            with tab:
                show()


frame.need()
try:
    construct()
except KgError as error:
    show_error(error)
    try_again()
