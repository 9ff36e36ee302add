"""What is seldom changed: where seeds come from, relations, hubs, models, which graph; and the session's runs."""

from __future__ import annotations

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kgcore.config import Config
from kgcore.types import Description, Ontology, SeedMode
from kgcore.viz import cut, plain
from ui import graphs, state
from ui.runs import Run, go_back_to, runs

RELATIONS_OFFERED = 500
NEEDS_CHAT = "Needs a chat model: set HOPSCOPE\\_CHAT\\_URL and HOPSCOPE\\_CHAT\\_MODEL."
SEED_MODES: dict[SeedMode, str] = {
    "auto": "Auto",
    "mentions": "Names in the question",
    "query": "Meaning of the question",
    "llm": "Chat model",
}


def more_popover(
    visible: Description, config: Config, ontology: Ontology | None, *, administrator: bool
) -> tuple[dict[str, Any], DeltaGenerator]:
    """The settings, by their names in a request, and the place for the history, which is known later."""
    with st.popover("More", key="more_popover"), st.container(width=640):
        left, right = st.columns(2)
        with left:
            chosen = {**_seeds(visible, ontology, chat=config.has_chat), **_walk(visible)}
        with right:
            chosen |= _models(chat=config.has_chat)
            history = st.container()
            graphs.switcher(config, administrator=administrator)
    return chosen, history


def history() -> None:
    """The runs of this session, the newest first; choosing one brings it back with its settings."""
    held = list(reversed(runs().history))
    st.selectbox(
        "Runs of this session",
        range(len(held)),
        index=None,
        format_func=lambda at: _described(held[at]),
        key="history",
        placeholder=f"{len(held)} to go back to" if held else "None yet",
        disabled=not held,
        on_change=_go_back,
        args=(held,),
    )


def _seeds(visible: Description, ontology: Ontology | None, *, chat: bool) -> dict[str, Any]:
    modes = [mode for mode in SEED_MODES if chat or mode != "llm"]
    _keep_to("seed_mode", modes)
    mode = st.selectbox("Seeds from", modes, format_func=SEED_MODES.__getitem__, key="seed_mode", bind="query-params")
    types: list[str] = []
    if chat and mode in ("auto", "llm"):
        offered = [one.name for one in ontology.entity_types] if ontology else _most(visible.entity_types)
        _keep_to("types", offered)
        types = st.multiselect(
            "Types that the chat model looks for",
            offered,
            format_func=plain,
            key="types",
            bind="query-params",
            placeholder="All",
        )
    return {"seed_mode": mode, "entity_types": tuple(types)}


def _walk(visible: Description) -> dict[str, Any]:
    offered = _most(visible.relations)
    _keep_to("relations", offered)
    relations = st.multiselect(
        "Relations to walk", offered, format_func=plain, key="relations", bind="query-params", placeholder="All"
    )
    hub_limit = st.number_input(
        "Hub limit",
        1,
        state.MOST_HUB_LIMIT,
        state.HUB_LIMIT,
        key="hub_limit",
        bind="query-params",
        help="After hop 1, entities with more edges than this are not walked through.",
    )
    aliases = st.checkbox(
        "Go on from a name's larger part",
        True,
        key="aliases",
        bind="query-params",
        help="Saint Helena Parish may be Saint Helena: a hop that starts from one starts from the other too.",
    )
    return {"relations": tuple(relations), "hub_limit": hub_limit or state.HUB_LIMIT, "aliases": aliases}


def _models(*, chat: bool) -> dict[str, Any]:
    with st.container(horizontal=True, gap="medium"):
        reranked = st.toggle("Rerank", key="rerank", bind="query-params", help="By MaxSim, before the cut to top k.")
        summarize = st.toggle("Summarize", key="summarize", bind="query-params", disabled=not chat)
        llm_filter = st.toggle(
            "LLM filter",
            key="llm_filter",
            bind="query-params",
            disabled=not chat,
            help="The chat model reads the best 30 candidates of each hop: only what it lets pass is kept.",
        )
    if not chat:
        st.caption(NEEDS_CHAT)
    return {"reranked": reranked, "summarize": summarize and chat, "llm_filter": llm_filter and chat}


def _go_back(held: list[Run]) -> None:
    at = st.session_state["history"]
    if at is not None:
        go_back_to(held[at])
    st.session_state["history"] = None


def _described(run: Run) -> str:
    settings = run.retrieval.trace.settings
    size = f"{settings.max_hops} hops · beam {settings.beam_width} · {len(run.retrieval.facts)} facts"
    return f"{run.at} · {size} · {cut(plain(run.request.question), 60)}"


def _most(counts: Any) -> list[str]:
    return sorted(counts, key=lambda name: (-counts[name], name))[:RELATIONS_OFFERED]


def _keep_to(key: str, offered: list[Any]) -> None:
    """A choice that is not offered any more, as after another graph was opened, is dropped."""
    chosen = st.session_state.get(key)
    if isinstance(chosen, list):
        st.session_state[key] = [one for one in chosen if one in offered]
    elif chosen is not None and chosen not in offered:
        st.session_state[key] = offered[0]
