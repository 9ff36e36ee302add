"""Browse: from entity to entity, without a question."""

from functools import partial

import streamlit as st

from kgcore import KgError
from ui import browse, components, frame
from ui.browse_card import show_card
from ui.browse_panes import show_hubs, show_path, show_schema
from ui.browse_row import empty, search_row, steps_row
from ui.errors import show_error, try_again
from ui.visit import visit


def explore() -> None:
    here = visit()
    if here is None:
        return
    now = browse.enter()
    search_row(here)
    vector = browse.question_vector(here)
    explored, refused = browse.picture(now, here, vector)
    browse.put_in_link(now)
    if refused:
        show_error(refused)
    steps_row(now, explored, by_question=vector is not None)
    left, right = st.columns([58, 42], gap="small")
    with left:
        if explored.nodes:
            components.explored(browse.payload(now, here, explored), on_action=browse.act)
        else:
            empty(here)
    with right:
        tabs = st.tabs(browse.TABS, key=browse.TAB, on_change="rerun", bind="query-params")
        shown = (
            partial(show_card, now, here, explored, vector),
            partial(show_path, now, here),
            partial(show_hubs, here),
            partial(show_schema, now, here),
        )
        for tab, show in zip(tabs, shown, strict=True):
            if tab.open:
                with tab, st.container(key="browse_pane", gap="xsmall"):
                    show()


frame.need()
try:
    explore()
except KgError as error:
    show_error(error)
    try_again()
