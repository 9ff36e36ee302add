"""Browse: from entity to entity, without a question."""

from functools import partial

import streamlit as st

from kgcore import ConfigError, KgError
from ui import browse, browse_do, components, frame
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
    browse_do.open_linked()
    search_row(here)
    vector, unranked = browse.question_vector(here)
    refused = browse.picture(now, here, vector)
    browse.put_in_link(now)
    if refused:
        show_error(refused)
        if not isinstance(refused, ConfigError):
            try_again()
    steps_row(now, by_question=vector is not None, unranked=unranked)
    left, right = st.columns([58, 42], gap="small")
    with left:
        if now.picture.explored.nodes:
            components.explored(browse.payload(now, here), on_action=browse_do.act)
        elif not refused:
            empty(here)
    with right:
        tabs = st.tabs(browse_do.TABS, key=browse_do.TAB, on_change="rerun", bind="query-params")
        shown = (
            partial(show_card, now, here, vector),
            partial(show_path, now, here),
            partial(show_hubs, here),
            partial(show_schema, now, here),
        )
        for tab, show in zip(tabs, shown, strict=True):
            if tab.open:
                with tab, st.container(key="browse_pane", gap="xsmall"):
                    try:
                        show()
                    except KgError as error:
                        show_error(error)


frame.need()
try:
    explore()
except KgError as error:
    show_error(error)
    try_again()
