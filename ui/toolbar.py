"""The two rows of controls above the graph."""

from __future__ import annotations

from typing import Any

import streamlit as st

from kgcore import FilterError
from kgcore.types import Description, SeedMode
from ui import identity, state
from ui.answers import Fault, forget
from ui.errors import show_error
from ui.filtering import EXAMPLE, conditions, read_filter
from ui.text import escaped

RELATIONS_OFFERED = 500
NEEDS_CHAT = "Needs a chat model: set HOPSCOPE\\_CHAT\\_URL and HOPSCOPE\\_CHAT\\_MODEL."
SEED_MODES: dict[SeedMode, str] = {
    "auto": "Auto",
    "mentions": "Names in the question",
    "query": "Meaning of the question",
    "llm": "Chat model",
}


def question_row(examples: list[dict[str, Any]], *, demo: bool) -> str:
    """The question, the examples, and on the demo whose eyes to look through."""
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
        if demo:
            identity.view_as(forget)
    return (question or "").strip()


def controls_row(question: str, visible: Description, *, chat: bool) -> tuple[state.Request, Fault | None]:
    """Hops, beam, top k, scoring, filter and the rest. A filter that cannot be read is a fault."""
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
        caller, fault = _filter(visible)
        more = _more(visible, chat=chat)
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
    return request, fault


def _new_question() -> None:
    state.set_seeds(None)


def _use_example(examples: list[dict[str, Any]]) -> None:
    chosen = st.session_state["example"]
    if chosen is not None:
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


def _filter(visible: Description) -> tuple[dict[str, Any] | None, Fault | None]:
    text = st.session_state["filter"] if "filter" in st.session_state else st.query_params.get("filter", "")
    caller, error = _read(text)
    with st.popover(_filter_label(caller, error), key="filter_popover"), st.container(width=420):
        st.text_area("Filter as JSON", key="filter", bind="query-params", height=130, placeholder=EXAMPLE)
        if error:
            show_error(error)
        st.caption("Operators: `==` `!=` `>` `>=` `<` `<=` `in` `not in` `contains_any`, joined by `AND` or `OR`.")
        fields = ", ".join(f"{property.name} ({'/'.join(property.kinds)})" for property in visible.properties)
        st.caption(f"Fields: {escaped(fields, 1_000)}" if fields else "No edge here has a property.")
    return caller, Fault(error=error, control="filter") if error else None


def _read(text: str) -> tuple[dict[str, Any] | None, FilterError | None]:
    try:
        return read_filter(text), None
    except FilterError as error:
        return None, error


def _filter_label(caller: dict[str, Any] | None, error: FilterError | None) -> str:
    active = len(conditions(caller))
    return "Filter ⚠" if error else f"Filter {active}" if active else "Filter"


def _more(visible: Description, *, chat: bool) -> dict[str, Any]:
    """Settings that are seldom changed, by their names in a request."""
    with st.popover("More", key="more_popover"), st.container(width=320):
        modes = [mode for mode in SEED_MODES if chat or mode != "llm"]
        seed_mode = st.selectbox(
            "Seeds from", modes, format_func=SEED_MODES.__getitem__, key="seed_mode", bind="query-params"
        )
        offered = sorted(visible.relations, key=lambda name: (-visible.relations[name], name))[:RELATIONS_OFFERED]
        relations = st.multiselect(
            "Relations to walk", offered, key="relations", bind="query-params", placeholder="All"
        )
        hub_limit = st.number_input(
            "Hub limit",
            1,
            1_000_000,
            state.HUB_LIMIT,
            key="hub_limit",
            bind="query-params",
            help="After hop 1, entities with more edges than this are not walked through.",
        )
        reranked = st.toggle("Rerank before the cut", key="rerank", bind="query-params")
        summarize = st.toggle("Summarize", key="summarize", bind="query-params", disabled=not chat)
        if not chat:
            st.caption(NEEDS_CHAT)
    return {
        "seed_mode": seed_mode,
        "relations": tuple(relations),
        "hub_limit": hub_limit or state.HUB_LIMIT,
        "reranked": reranked,
        "summarize": summarize and chat,
    }
