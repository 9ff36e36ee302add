"""Answers a request beside the page, and says under which control an error belongs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

import streamlit as st

from kgcore import ConfigError, FilterError, KgError, KnowledgeGraphRetriever
from kgcore.models.protocol import Reranker
from kgcore.retrieve import answered
from kgcore.types import Retrieval
from ui import resources
from ui.jobs import Job, collect, job_of, wait_for
from ui.runs import Run, runs
from ui.state import Request
from ui.text import escaped

LONGEST_ANSWER = 20_000
Control = Literal["question", "filter", "seeds"]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """An error, and the control that it stands under."""

    error: KgError
    control: Control


def answer(request: Request, retriever: KnowledgeGraphRetriever) -> Fault | None:
    """Makes the run of a request the one that is shown; with a fault, the last one stays."""
    memory = runs()
    if memory.shown is not None and memory.shown.request == request:
        return None
    if memory.stopped == request:
        st.button("Ask again", key="ask_again", on_click=_ask_again)
        return Fault(error=KgError("Stopped.", remedy="Change a setting, or ask again."), control="question")
    memory.stopped = None
    run = memory.known(request)
    if run is None:
        reranker = resources.reranker() if request.reranked else None
        job = job_of("run", request, lambda _: _retrieve(request, retriever, reranker))
        try:
            wait_for(job, "run", "Walking the graph", on_stop=_stop)
            memory.jobs.pop("run", None)
            retrieval = job.result()
        except KgError as error:
            return Fault(error=error, control=_control_at_fault(error))
        run = Run(request=request, retrieval=retrieval, at=f"{datetime.now():%H:%M:%S}")
    memory.show(run)
    return None


def write_answer(run: Run, retriever: KnowledgeGraphRetriever) -> None:
    """The answer above the facts, as it is written and after. A model that fails is a warning of the run."""
    retrieval = run.retrieval
    if retrieval.trace.settings.summarize or not run.request.summarize or not retrieval.facts:
        show_answer(retrieval)
        return
    with st.container(key="answer"):
        place = st.empty()
        retrieval = _write(run, retriever, place)
        runs().replace(run, replace(run, retrieval=retrieval))
        place.markdown(_lines(retrieval.content))
    if not retrieval.context:
        st.rerun()  # for its warning


def show_answer(retrieval: Retrieval) -> None:
    """The answer of a run that has one."""
    if retrieval.context:
        with st.container(key="answer"):
            st.empty().markdown(_lines(retrieval.content))


def _write(run: Run, retriever: KnowledgeGraphRetriever, place: Any) -> Retrieval:
    retrieval = run.retrieval
    job: Job[str] = job_of("answer", run, lambda job: collect(job, retriever.answer(retrieval)))
    if not job.stopped:
        wait_for(job, "answer", "Writing the answer", on_stop=job.stop, show=lambda: place.markdown(_lines(job.text)))
    runs().jobs.pop("answer", None)
    try:
        text = job.text if job.stopped else job.result()
    except KgError as error:
        return _unwritten(retrieval, f"The answer could not be written: the facts stand alone. {error}")
    written = answered(retrieval, text)
    return written if written.context else _unwritten(retrieval, "The answer was stopped before it began.")


def _unwritten(retrieval: Retrieval, warning: str) -> Retrieval:
    trace = retrieval.trace
    settings = replace(trace.settings, summarize=True)
    return replace(retrieval, trace=replace(trace, settings=settings, warnings=(*trace.warnings, warning)))


def _stop() -> None:
    memory = runs()
    memory.stopped, job = memory.jobs.pop("run")
    job.stop()


def _ask_again() -> None:
    runs().stopped = None


def arguments(request: Request) -> dict[str, Any]:
    """What `retrieve` is given beside the question and the reranker."""
    return {
        "max_hops": request.max_hops,
        "top_k": request.top_k,
        "entity_ids": list(request.entity_ids) if request.entity_ids is not None else None,
        "filters": request.filters,
        "beam_width": request.beam_width,
        "seed_mode": request.seed_mode,
        "entity_types": list(request.entity_types) or None,
        "relations": list(request.relations) or None,
        "scoring": request.scoring,
        "hub_limit": request.hub_limit,
        "aliases": request.aliases,
        "llm_filter": request.llm_filter,
    }


def _retrieve(request: Request, retriever: KnowledgeGraphRetriever, reranker: Reranker | None) -> Retrieval:
    return retriever.retrieve(request.question, **arguments(request), document_reranker=reranker)


def _control_at_fault(error: KgError) -> Control:
    if isinstance(error, FilterError):
        return "filter"
    return "seeds" if isinstance(error, ConfigError) and error.field == "entity_ids" else "question"


def _lines(text: str) -> str:
    """A model's text as text, with its line breaks."""
    return "  \n".join(escaped(line, LONGEST_ANSWER) for line in text[:LONGEST_ANSWER].splitlines())
