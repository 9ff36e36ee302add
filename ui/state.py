"""What a person asks for: held by the widgets and the link, read as one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from kgcore.types import Scoring, SeedMode

MAX_HOPS, TOP_K, HUB_LIMIT = 2, 20, 500
SCORINGS: tuple[Scoring, ...] = ("coverage", "edge")
_SEEDS = "seeds"


@dataclass(frozen=True, kw_only=True)
class Request:
    """A question and its settings. `beam_width` None is Auto, `entity_ids` None seeds by the question."""

    question: str
    max_hops: int
    beam_width: int | None
    top_k: int
    scoring: Scoring
    seed_mode: SeedMode
    relations: tuple[str, ...]
    hub_limit: int
    reranked: bool
    summarize: bool
    entity_ids: tuple[str, ...] | None
    filters: Mapping[str, Any] | None


def open_with(example: Mapping[str, Any] | None) -> None:
    """On the first run of a session: a link without a state opens on this example, answered."""
    if "opened" in st.session_state:
        return
    st.session_state["opened"] = True
    st.session_state[_SEEDS] = tuple(st.query_params.get_all(_SEEDS)) or None
    if "beam" in st.query_params and "auto" not in st.query_params:
        st.session_state["auto"] = False
    if example and not st.query_params:
        use_example(example)
        _open_link()


def _open_link() -> None:
    """What is set before a widget is first drawn does not reach the link by itself."""
    usual = {"q": "", "hops": MAX_HOPS, "k": TOP_K, "scoring": SCORINGS[0], "auto": True}
    for name in ("q", "hops", "beam", "auto", "k", "scoring"):
        if name in st.session_state and st.session_state[name] != usual.get(name):
            st.query_params[name] = str(st.session_state[name]).lower() if name == "auto" else st.session_state[name]


def use_example(example: Mapping[str, Any]) -> None:
    """Asks an example's question with its settings, and nothing else of what was set."""
    settings = example.get("settings", {})
    beam = settings.get("beam_width")
    st.session_state.update(
        q=example["question"],
        hops=settings.get("max_hops", MAX_HOPS),
        k=settings.get("top_k", TOP_K),
        scoring=settings.get("scoring", SCORINGS[0]),
        auto=beam is None,
        filter="",
    )
    if beam is not None:
        st.session_state["beam"] = beam
    set_seeds(None)


def ask(question: str) -> None:
    """Another question under the same settings; its seeds are found anew."""
    st.session_state["q"] = question
    set_seeds(None)


def set_beam(beam: int) -> None:
    """A beam width chosen by hand."""
    st.session_state.update(beam=beam, auto=False)


def auto_beam(max_hops: int, top_k: int) -> int:
    """The width that Auto stands for."""
    return max(1, top_k // max_hops)


def set_filter(text: str) -> None:
    """The asker's filter, as the text of the JSON field."""
    st.session_state["filter"] = text


def chosen_seeds() -> tuple[str, ...] | None:
    """The entity ids that the asker chose to start from; None for those that the question gives."""
    return st.session_state.get(_SEEDS)


def set_seeds(entity_ids: tuple[str, ...] | None) -> None:
    """Chooses the seeds, or leaves them to the question."""
    st.session_state[_SEEDS] = entity_ids or None


def put_seeds_in_link() -> None:
    """No widget holds the seeds, so their part of the link is written here."""
    seeds = list(chosen_seeds() or ())
    if st.query_params.get_all(_SEEDS) != seeds:
        if seeds:
            st.query_params[_SEEDS] = seeds
        else:
            st.query_params.pop(_SEEDS, None)
