"""The row of Tune: what is asked, the settings to sweep, and the figure that is shown."""

from __future__ import annotations

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kgcore import KgError
from kgcore.config import Config
from kgcore.evals import Gold
from kgcore.types import SeedMode
from ui import tuning
from ui.errors import show_error
from ui.identity import Asker, who
from ui.more import SEED_MODES
from ui.state import SCORINGS, Request
from ui.text import escaped
from ui.tuning import Questions, Setting, Sweep

ONE, DEMO, FILE = "one", "demo", "file"
OVER = {ONE: "One question", DEMO: "The demo's questions", FILE: "A gold file"}
BEAMS, HOPS = "2, 4, 6, 10, 20", (1, 2, 3, 4)
RERANK = {False: "As the beam ranks", True: "Reranked"}
_BIGGEST = 20  # MB
_FILE = "tune_file"
_FOLLOWED = "tune_followed"


def questions_row(request: Request | None, asker: Asker, *, demo: bool) -> Questions | None:
    """What is asked: one question, Ask's unless another is written, or a set with gold."""
    known = tuning.demo_golds() if demo else ()
    ways = [ONE, *[DEMO] * demo, FILE]
    with st.container(key="tune_questions", horizontal=True, gap="small", vertical_alignment="center", wrap=False):
        over = st.selectbox(
            "Over",
            ways,
            format_func=OVER.__getitem__,
            key="over",
            bind="query-params",
            persist_state="session",
            label_visibility="collapsed",
            width=220,
        )
        place = st.container()
        who(asker, demo=demo)
    with place:
        if over == DEMO:
            st.text(f"{len(known)} questions with the facts that answer them")
            return Questions(name="The demo's questions", golds=known, base=tuning.base_of(request))
        if over == FILE:
            return _file(request)
        return _one(request, known)


def follow(request: Request | None) -> None:
    """Where Ask was asked otherwise since, its question and settings are those to begin with again."""
    if request is None:
        return
    asked = {
        "tuned": request.question,
        "top_ks": str(request.top_k),
        "scorings": [request.scoring],
        "modes": [request.seed_mode],
        "reranks": [request.reranked],
    }
    before = st.session_state.get(_FOLLOWED)
    st.session_state[_FOLLOWED] = asked
    if before is not None and before != asked:
        st.session_state.update(asked)


def axes_row(
    config: Config, questions: Questions | None, request: Request | None
) -> tuple[tuple[Setting, ...] | None, DeltaGenerator]:
    """The settings to sweep, and the place for the figure; None, with the error under the row, where they cannot be."""
    with st.container(key="tune_axes", horizontal=True, gap="small", vertical_alignment="center", wrap=False):
        beams = st.text_input(
            "Beam widths", BEAMS, key="beams", bind="query-params", persist_state="session", width=260
        )
        hops = st.pills(
            "Hops",
            HOPS,
            default=HOPS,
            selection_mode="multi",
            key="depths",
            bind="query-params",
            persist_state="session",
        )
        top_ks, scorings, modes, rerank = _more(config, request)
        place = st.container(width=300)
    if questions is None:
        return None, place
    try:
        axes: dict[str, Any] = {
            "beam_width": tuning.numbers(beams or "", "Beam widths"),
            "max_hops": sorted(hops),
            "top_k": tuning.numbers(top_ks or "", "Top k"),
            "scoring": scorings,
            "seed_mode": modes,
            "rerank": rerank,
        }
        return tuning.settings_of(axes, len(questions.golds)), place
    except KgError as error:
        show_error(error)
        return None, place


def figure_of(swept: Sweep) -> str:
    """The figure to show, of those that some question has gold for."""
    names = swept.figures()
    if st.session_state.get("figure") not in names:
        st.session_state["figure"] = names[tuning.usual_figure(names)]
    return st.selectbox("Figure", names, format_func=named, key="figure", bind="query-params", persist_state="session")


def named(figure: str) -> str:
    """A figure's name for people."""
    return figure.replace("_", " ")


def _one(request: Request | None, known: tuple[Gold, ...]) -> Questions | None:
    asked = st.text_input(
        "Question",
        request.question if request else known[0].question if known else "",
        key="tuned",
        bind="query-params",
        persist_state="session",
        placeholder="Ask a question of the graph",
        label_visibility="collapsed",
    )
    question = (asked or "").strip()
    return tuning.one_question(request, question, known) if question else None


def _file(request: Request | None) -> Questions | None:
    """An uploaded file is kept, as what it says, for as long as the session lasts."""
    given = st.file_uploader(
        "Questions with gold: JSONL, or the layout of MuSiQue, HotpotQA, 2WikiMultiHop or MetaQA",
        key="tune_upload",
        max_upload_size=_BIGGEST,
    )
    if given is not None:
        try:
            st.session_state[_FILE] = given.name, tuning.uploaded_golds(given.name, given.getvalue())
        except KgError as error:
            show_error(error)
            return None
    name, golds = st.session_state.get(_FILE, ("", ()))
    if not golds:
        return None
    st.caption(f"{escaped(name)}: {len(golds):,} questions")
    return Questions(name=name, golds=golds, base=tuning.base_of(request))


def _more(config: Config, request: Request | None) -> tuple[str | None, list[str], list[str], list[bool]]:
    """What is seldom swept: each is one value unless more are chosen."""
    modes: list[SeedMode] = [mode for mode in SEED_MODES if mode != "llm" or config.has_chat]
    with st.popover("More"), st.container(width=420):
        top_ks = st.text_input(
            "Top k", str(request.top_k if request else 20), key="top_ks", bind="query-params", persist_state="session"
        )
        scorings = st.pills(
            "Scoring",
            SCORINGS,
            default=[request.scoring if request else SCORINGS[0]],
            selection_mode="multi",
            key="scorings",
            bind="query-params",
            persist_state="session",
        )
        seeds = st.pills(
            "Seeds from",
            modes,
            default=[request.seed_mode if request and request.seed_mode in modes else modes[0]],
            selection_mode="multi",
            format_func=SEED_MODES.__getitem__,
            key="modes",
            bind="query-params",
            persist_state="session",
        )
        rerank = st.pills(
            "Order of the facts",
            list(RERANK),
            default=[bool(request and request.reranked)],
            selection_mode="multi",
            format_func=RERANK.__getitem__,
            key="reranks",
            bind="query-params",
            persist_state="session",
        )
    return (
        top_ks,
        [scoring for scoring in SCORINGS if scoring in scorings],
        [mode for mode in modes if mode in seeds],
        [way for way in RERANK if way in rerank],
    )
