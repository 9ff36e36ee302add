"""Ask: a question, and how the retriever walked the graph to answer it."""

from typing import Any

import streamlit as st

from kgcore import KgError
from kgcore.config import load_config
from ui import components, identity, resources, state, states, toolbar
from ui.answers import add_seed, answer, last_answer
from ui.chips import chips_row
from ui.errors import show_error

VIEW = "ask"


def ask() -> None:
    config = load_config()
    graph = resources.open_graph(config)
    examples = resources.examples() if graph.demo else []
    state.open_with(examples[0] if examples else None)

    question = toolbar.question_row(examples, demo=graph.demo)
    under_question = st.container()
    locked = identity.locked_filter(demo=graph.demo)
    retriever = resources.retriever_for(graph, locked, config)
    visible = graph.store.describe(retriever.filter)
    request, fault = toolbar.controls_row(question, visible, chat=config.has_chat)
    under_controls = st.container()
    chips = st.container()
    under_chips = st.container()
    body = st.container()
    state.put_seeds_in_link()

    if not question:
        with body:
            states.empty(visible, graph.store, retriever.filter)
        return
    answered, fault = (last_answer(), fault) if fault else answer(request, retriever, graph.url)
    if fault:
        with {"question": under_question, "filter": under_controls, "seeds": under_chips}[fault.control]:
            show_error(fault.error)
    with chips:
        chips_row(answered, request, stale=fault is not None, store=graph.store, filter=retriever.filter)
    if answered is None:
        return
    with body:
        left, right = st.columns([58, 42], gap="small")
        with left:
            components.graph(answered, view=VIEW, on_action=act)
        with right:
            states.nothing_found(answered, graph.store, retriever.filter)
            components.evidence(answered, view=VIEW, on_action=act)


def act(action: dict[str, Any]) -> None:
    """What a person did in a component that needs a new run; anything else is ignored."""
    match action:
        case {"kind": "beam", "beam": int(beam)}:
            state.set_beam(beam)
        case {"kind": "seed", "id": str(entity_id)}:
            add_seed(entity_id)


try:
    ask()
except KgError as error:
    show_error(error)
