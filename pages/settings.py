"""Settings: the graph that is open, whether all that it needs works, the models, and how a foreign graph is read."""

import streamlit as st

from kgcore import KgError
from kgcore.config import load_config
from ui import frame, graphs, identity
from ui.errors import show_error
from ui.mapping import mapping_form
from ui.settings import models, self_check, what_is_open


def settings() -> None:
    config = load_config()
    asker = identity.gate(config)
    if asker is None:
        return
    if not asker.administrator:
        st.write("Settings are for administrators.")
        return
    choice = graphs.chosen(config, administrator=True)
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader("Graph")
        graph = graphs.opened(choice, config)
        locked = identity.locked_filter(asker, demo=graph is not None and graph.demo)
        what_is_open(graph, locked)
        graphs.switcher(config, None if graph else choice, administrator=True)
        models(config)
    with right:
        self_check(choice, graph, config, locked)
    mapping_form(choice, graph, config, locked)


frame.need()
try:
    settings()
except KgError as error:
    show_error(error)
