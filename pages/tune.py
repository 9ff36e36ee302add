"""Tune: one question or a gold set under many settings, what each comes to, and two of them side by side."""

import streamlit as st

from kgcore import KgError, KnowledgeGraphRetriever
from kgcore.evals import best, points
from ui import frame, tune_row, tuning
from ui.compare import Pair, side_by_side
from ui.errors import show_error, try_again
from ui.runs import runs
from ui.state import Request
from ui.tune_charts import against_time, heat_map, written
from ui.tune_sweep import picked_row, sweep_row
from ui.tuning import Sweep
from ui.visit import visit


def tune() -> None:
    here = visit()
    if here is None:
        return
    asked = runs().shown
    request = asked.request if asked else None
    tune_row.follow(request)
    questions = tune_row.questions_row(request, here.asker, demo=here.graph.demo)
    settings, figure_slot = tune_row.axes_row(here.config, questions, request)
    if questions is None:
        st.subheader("Ask a question, or give questions with gold")
        st.write("Each beam width is tried with each number of hops: you see what they find, and how long it takes.")
        return
    if settings is None:
        return
    swept = tuning.sweep_of(questions, settings)
    sweep_row(swept, here.retriever)
    if swept.rows:
        with figure_slot:
            figure = tune_row.figure_of(swept)
        show(swept, figure, request, here.retriever)


def show(swept: Sweep, figure: str, request: Request | None, retriever: KnowledgeGraphRetriever) -> None:
    found = points(swept.rows, figure)
    left, right = st.columns(2, gap="medium")
    with left, st.container(key="tune_heat"):
        cell = heat_map(swept, figure, {point.at: point for point in found})
    with right:
        against_time(swept, figure, found)
    top = best(found)
    assert top is not None
    shown = next((point for point in found if point.at == cell), top)
    with left:
        place = st.container()
    a = tuning.chosen(swept, "a", tuning.as_asked(swept, request))
    other = best([point for point in found if point.at != a]) or top
    pair = Pair(a=a, b=tuning.chosen(swept, "b", other.at))
    looked = side_by_side(swept, pair, figure, retriever)
    with place:
        picked_row(swept, shown.at, written(shown, figure), looked, request, best=shown is top)


frame.need()
try:
    tune()
except KgError as error:
    show_error(error)
    try_again()
