"""The two rows of controls above the graph."""

from __future__ import annotations

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kgcore import KnowledgeGraphRetriever
from kgcore.config import Config
from kgcore.types import Description
from ui import identity, state
from ui.answers import Fault
from ui.filter_builder import filter_popover, forget_drafts
from ui.identity import Asker
from ui.more import more_popover
from ui.text import escaped


def question_row(examples: list[dict[str, Any]], asker: Asker, *, demo: bool) -> tuple[str, DeltaGenerator]:
    """The question, the examples, whose eyes to look through, and the place for what can be shared."""
    with st.container(key="question_row", horizontal=True, gap="small", wrap=False):
        question = st.text_input(
            "Question",
            key="q",
            type="search",
            bind="query-params",
            on_change=_new_question,
            placeholder="Ask a question of the graph",
            label_visibility="collapsed",
        )
        if examples:
            st.menu_button(
                "Examples",
                range(len(examples)),
                format_func=lambda at: escaped(examples[at]["label"]),
                key="example",
                on_click=lambda: _use_example(examples),
            )
        identity.who(asker, demo=demo)
        share = st.container(width="content")
    return (question or "").strip(), share


def controls_row(
    question: str, visible: Description, retriever: KnowledgeGraphRetriever, config: Config, *, administrator: bool
) -> tuple[state.Request, Fault | None, DeltaGenerator]:
    """Hops, beam, top k, scoring, filter and the rest, and the place for the history.

    A filter that cannot be read is a fault.
    """
    with st.container(key="controls", horizontal=True, gap="small", vertical_alignment="center", wrap=False):
        max_hops = st.segmented_control(
            "Max hops", (1, 2, 3, 4), default=state.MAX_HOPS, required=True, key="hops", bind="query-params"
        )
        beam_slot = st.container(
            horizontal=True, gap="xsmall", vertical_alignment="center", width="content", wrap=False
        )
        top_k = st.number_input("Top k", 1, 1_000, state.TOP_K, key="k", bind="query-params", width=185)
        top_k = top_k or state.TOP_K
        with beam_slot:
            beam_width = _beam(state.auto_beam(max_hops, top_k))
        scoring = st.segmented_control(
            "Scoring",
            state.SCORINGS,
            default=state.SCORINGS[0],
            required=True,
            key="scoring",
            bind="query-params",
            label_visibility="collapsed",
        )
        caller, fault = filter_popover(visible, retriever.store, retriever.filter)
        more, history_slot = more_popover(visible, config, retriever.ontology, administrator=administrator)
    request = state.Request(
        question=question,
        max_hops=max_hops,
        beam_width=beam_width,
        top_k=top_k,
        scoring=scoring,
        entity_ids=state.chosen_seeds(),
        filters=caller,
        **more,
    )
    return request, fault, history_slot


def _new_question() -> None:
    state.set_seeds(None)


def _use_example(examples: list[dict[str, Any]]) -> None:
    chosen = st.session_state["example"]
    if chosen is not None:
        forget_drafts()
        state.use_example(examples[chosen])


def _beam(automatic: int) -> int | None:
    """The width; under Auto the field shows what that comes to, and a change of it ends Auto."""
    number = st.container(width="content")
    auto = st.toggle("Auto", True, key="auto", bind="query-params")
    if auto:
        st.session_state["beam"] = automatic
    with number:
        beam = st.number_input(
            "Beam",
            1,
            1_000,
            automatic,
            key="beam",
            bind="query-params",
            on_change=lambda: st.session_state.update(auto=False),
            width=190,
        )
    return None if auto or beam is None else beam
