"""Answers a request, and keeps the last answer for when the next one cannot be given."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import streamlit as st

from kgcore import ConfigError, FilterError, KgError, KnowledgeGraphRetriever
from kgcore.types import Retrieval
from kgcore.viz import Positions, evidence_payload, graph_payload
from ui import resources, state
from ui.state import Request

Control = Literal["question", "filter", "seeds"]
_KEY = "answer"


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A retrieval and what the components draw of it. `subject` is the graph, the asker and the question."""

    request: Request
    retrieval: Retrieval
    subject: str
    run: dict[str, Any]
    graph: dict[str, Any]
    evidence: dict[str, Any]
    positions: Positions
    at: str


@dataclass(frozen=True, kw_only=True)
class Fault:
    """An error, and the control that it stands under."""

    error: KgError
    control: Control


def answer(request: Request, retriever: KnowledgeGraphRetriever, graph_url: str) -> tuple[Answer | None, Fault | None]:
    """The answer to a request; with a fault, the last one that could be given."""
    last = last_answer()
    subject = _digest([graph_url, retriever.filter.key, request.question])
    if last and last.request == request and last.subject == subject:
        return last, None
    try:
        retrieval = _retrieve(request, retriever)
    except KgError as error:
        return last, Fault(error=error, control=_control_at_fault(error))
    known = last.positions if last and last.subject == subject else {}
    new = _drawn(request, retrieval, subject, known)
    st.session_state[_KEY] = new
    return new, None


def last_answer() -> Answer | None:
    """The last answer that could be given."""
    return st.session_state.get(_KEY)


def add_seed(entity_id: str) -> None:
    """Starts the next walk from this entity too."""
    last = last_answer()
    seeds = tuple(seed.entity_id for seed in last.retrieval.trace.seeds) if last else ()
    if entity_id not in seeds:
        state.set_seeds((*seeds, entity_id))


def forget() -> None:
    """Drops what was answered: another person must not see it."""
    st.session_state.pop(_KEY, None)
    state.set_seeds(None)


def _retrieve(request: Request, retriever: KnowledgeGraphRetriever) -> Retrieval:
    return retriever.retrieve(
        request.question,
        max_hops=request.max_hops,
        top_k=request.top_k,
        entity_ids=list(request.entity_ids) if request.entity_ids is not None else None,
        filters=request.filters,
        beam_width=request.beam_width,
        seed_mode=request.seed_mode,
        relations=list(request.relations) or None,
        scoring=request.scoring,
        summarize=request.summarize,
        hub_limit=request.hub_limit,
        document_reranker=resources.reranker() if request.reranked else None,
    )


def _control_at_fault(error: KgError) -> Control:
    if isinstance(error, FilterError):
        return "filter"
    return "seeds" if isinstance(error, ConfigError) and error.field == "entity_ids" else "question"


def _drawn(request: Request, retrieval: Retrieval, subject: str, known: Positions) -> Answer:
    graph, positions = graph_payload(retrieval, known)
    evidence = evidence_payload(retrieval)
    facts = [edge["id"] for edge in graph["edges"]]
    run = {
        "id": _digest([subject, graph, evidence]),
        "subject": subject,
        "facts": facts,
        "nodes": [node["id"] for node in graph["nodes"]],
        "top": retrieval.trace.result[0] if retrieval.trace.result else None,
        "lastStep": evidence["lastStep"],
    }
    return Answer(
        request=request,
        retrieval=retrieval,
        subject=subject,
        run=run,
        graph=graph,
        evidence=evidence,
        positions=positions,
        at=datetime.now().strftime("%H:%M:%S"),
    )


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]
