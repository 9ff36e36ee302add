"""Ask: a question, and how the retriever walked the graph to answer it."""

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kgcore import KgError, KnowledgeGraphRetriever
from ui import components, frame, resources, runs, share, state, states, toolbar
from ui.answers import answer, show_answer, write_answer
from ui.chips import chips_row, saved_row
from ui.errors import show_error, try_again
from ui.more import history
from ui.picture import Picture, arrange, picture
from ui.runs import Run, SavedRun
from ui.visit import visit
from ui.why import why_popover

VIEW = "ask"


def ask() -> None:
    here = visit()
    if here is None:
        return
    graph, retriever = here.graph, here.retriever
    examples = resources.examples() if graph.demo else []
    left = runs.runs().shown
    state.open_with(examples[0] if examples else None, left.request if left else None)

    question, share_slot = toolbar.question_row(examples, here.asker, demo=graph.demo)
    under_question = st.container(key="under_question")
    request, fault, history_slot = toolbar.controls_row(
        question, here.visible, retriever, here.config, administrator=here.asker.administrator
    )
    under_controls, chips, under_chips, body = (st.container() for _ in range(4))
    state.put_in_link()

    memory = runs.runs()
    saved = memory.saved_over(request)
    if question and not fault and not saved:
        with under_question:
            fault = answer(request, retriever)
    if fault:
        with {"question": under_question, "filter": under_controls, "seeds": under_chips}[fault.control]:
            show_error(fault.error)
    run = memory.shown if question else None
    with share_slot:
        share.share_popover(saved or run, request, demo=here.graph.demo)
    with history_slot:
        history()
    if saved:
        show_saved(saved, chips, body)
        return
    drawn = picture(run.retrieval, base=memory.base, live=True) if run else None
    with chips:
        why_slot = chips_row(run, drawn, request, stale=fault is not None, store=graph.store, filter=retriever.filter)
    with body:
        if run and drawn:
            show(run, drawn, retriever)
        elif not question:
            states.empty(here.visible, graph.store, retriever.filter)
    with why_slot:  # last: it may walk for long
        why_popover(run, retriever)


def show(run: Run, drawn: Picture, retriever: KnowledgeGraphRetriever) -> None:
    """The answer stands above the facts, and is written when they and the graph are drawn."""
    with draw(drawn):
        states.nothing_found(run.retrieval, retriever.store, retriever.filter)
        write_answer(run, retriever)


def show_saved(saved: SavedRun, chips: DeltaGenerator, body: DeltaGenerator) -> None:
    with chips:
        saved_row(saved)
    with body, draw(picture(saved.retrieval, base=None, live=False)):
        show_answer(saved.retrieval)


def draw(drawn: Picture) -> DeltaGenerator:
    """The graph beside the evidence; gives the place above the evidence."""
    left, right = st.columns([58, 42], gap="small")
    with left:
        components.graph(drawn, view=VIEW, on_action=act)
    with right:
        above = st.container()
        components.evidence(drawn, view=VIEW, on_action=act)
    return above


def act(action: dict[str, Any]) -> None:
    """What a person did in a component that needs a new run; anything else is ignored."""
    match action:
        case {"kind": "beam", "beam": int(beam)}:
            state.set_beam(beam)
        case {"kind": "seed", "id": str(entity_id)}:
            runs.add_seed(entity_id)
        case _:
            arrange(action)


frame.need()
try:
    ask()
except KgError as error:
    show_error(error)
    try_again()
