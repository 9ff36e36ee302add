"""Why not X: an entity or a fact that somebody misses in the result, and what would bring it in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from kgcore import KgError, KnowledgeGraphRetriever
from kgcore.retrieve import WhyNot
from kgcore.retrieve.render import relation_of
from kgcore.retrieve.why import FAR, WIDEST
from kgcore.types import Edge, End, Trace
from kgcore.viz import count, cut, plain
from ui import runs, state
from ui.chips import labels
from ui.errors import show_error
from ui.filtering import label
from ui.jobs import Job, wait_for
from ui.runs import Run
from ui.text import escaped

FOUND, FACTS = 8, 50
_ENTITY, _FACT, _SEARCH, _POPOVER = "why", "why_fact", "why_search", "why_popover"


def why_popover(run: Run | None, retriever: KnowledgeGraphRetriever) -> None:
    """The question, and when it is open its answer. What was asked about is in the link."""
    if "why_begun" not in st.session_state:
        st.session_state.update(why_begun=True, **{_ENTITY: st.query_params.get(_ENTITY)})
        st.session_state[_POPOVER] = bool(st.session_state[_ENTITY])
    popover = st.popover("Why not?", key=_POPOVER, on_change="rerun", help="What is missing in the result, and why")
    if run is not None and popover.open:
        with popover, st.container(width=420):
            _ask(run, retriever)
    entity = st.session_state.get(_ENTITY)
    state.keep_in_link(_ENTITY, [entity] if entity else [])


def _ask(run: Run, retriever: KnowledgeGraphRetriever) -> None:
    typed = st.text_input("What is missing?", key=_SEARCH, type="search", live=True, placeholder="An entity's name")
    filter = retriever.filter
    if typed and typed.strip():
        found = retriever.store.search(typed.strip(), filter, FOUND)
        if not found:
            st.write("No entity of the graph, as you see it, has a name that begins so.")
        for at, (end, text) in enumerate(zip(found, labels(found), strict=True)):
            st.button(text, key=f"why_{at}", width="stretch", on_click=_choose, args=(end,))
        return
    if not (entity_id := st.session_state.get(_ENTITY)):
        st.caption("Pick an entity, or one fact of it: you read at which step it was left out, and what brings it in.")
        return
    ends = retriever.store.entities([entity_id], filter)
    name = escaped(cut(plain(ends[0].name), 60)) if ends else "This entity"
    st.markdown(f"**{name}**" if ends else name)
    fact_id = _fact(ends[0], retriever) if ends else None
    try:
        why = _answered(run, retriever, entity_id, fact_id)
    except KgError as error:
        runs.runs().jobs.pop("why", None)
        show_error(error)
        return
    if why is not None:
        _show(why, run)


def _fact(end: End, retriever: KnowledgeGraphRetriever) -> str | None:
    """One fact of the entity, or None for any."""
    expansion = retriever.store.expand([end.id], (), retriever.filter, None, FACTS)
    texts = {found.fact_id: _line(found.edge) for found in expansion.edges}
    return st.selectbox(
        "Which fact",
        sorted(texts, key=lambda id_: (texts[id_], id_)),
        index=None,
        format_func=texts.__getitem__,
        # Another key for another entity's: a browser holds on to the label that it has.
        key=f"{_FACT}_{end.id}",
        placeholder=f"Any of its {count(expansion.found, 'fact')}",
    )


def _answered(run: Run, retriever: KnowledgeGraphRetriever, entity_id: str, fact_id: str | None) -> WhyNot | None:
    """The reason; a slow search for it can be stopped."""
    jobs, subject = runs.runs().jobs, (run.request, entity_id, fact_id)
    held = jobs.get("why")
    if held is None or held[0] != subject:
        held = jobs["why"] = (
            subject,
            Job(lambda _: retriever.why_not(run.retrieval, entity_id, fact_id=fact_id)),
        )
    job: Job[WhyNot] = held[1]
    if job.stopped:
        st.write("Stopped.")
        return None
    wait_for(job, "why", "Walking again", on_stop=job.stop)
    return job.result()


def _show(why: WhyNot, run: Run) -> None:
    trace = run.retrieval.trace
    for line in _said(why, trace):
        st.write(escaped(line, 1_000))
    if why.path:
        st.markdown("  \n".join(escaped(_line(edge), 200) for edge in why.path))
    hops = len(why.path)
    if why.beam_width is not None:
        st.button(f"Beam {why.beam_width}", key="why_beam", on_click=state.set_beam, args=(why.beam_width,))
    elif why.reason == "filter":
        st.button("Clear filter", key="why_filter", on_click=state.set_filter, args=("",))
    elif why.reason == "no_path" and trace.settings.max_hops < hops <= 4:
        st.button(f"Max hops {hops}", key="why_hops", on_click=_set_hops, args=(hops,))


def _said(why: WhyNot, trace: Trace) -> Sequence[str]:
    """What a reason comes to in words."""
    settings, candidate = trace.settings, why.candidate
    at = f"hop {candidate.hop}" if candidate else "a hop"
    score = f"{candidate.score:.3f}" if candidate else ""
    said: dict[str, Any] = {
        "unknown": ["It is not in the graph as you see it."],
        "in_result": [f"It is in the result: {plain(candidate.fact.text)}, kept at {at}."] if candidate else [],
        "seed": ["It is a seed: the walk starts there. None of its facts is in the result."],
        "no_path": [
            f"No path of up to {count(settings.max_hops, 'hop')} leads to it from a seed.",
            f"The shortest has {len(why.path)}:" if why.path else f"Nor is there one of up to {FAR}.",
        ],
        "shortlist": ["It was left out by the shortlist: a hop weighs only the facts nearest to the question."],
        "llm_filter": [f"The chat model did not let it pass at {at}."],
        "filter": [
            f"Your own filter drops it: {plain(label(dict(why.condition)))}."
            if why.condition
            else "Your own filter drops it, by more than one condition."
        ],
        "hub": [
            f"It lies behind an entity with more than {settings.hub_limit:,} edges, which the walk does not go through."
            + (f" One such: {plain(candidate.entity_name)}." if candidate else "")
        ],
        "relations": ["It lies behind relations that are not among those you chose to walk."],
        "reranker": [f"The beam kept it at {at} with {score}; the reranker left it out of the {settings.top_k} best."],
        "top_k": [f"The beam kept it at {at} with {score}; it is not among the {settings.top_k} best facts."],
    }
    return _by_beam(why, trace) if why.reason == "beam" else said[why.reason]


def _by_beam(why: WhyNot, trace: Trace) -> list[str]:
    lines = []
    if (candidate := why.candidate) is not None:
        hop = trace.hops[candidate.hop - 1]
        lines.append(f"Cut at hop {hop.number}: {plain(candidate.fact.text)}")
        lines.append(
            f"Rank {candidate.rank} of {hop.considered:,} with {candidate.score:.3f}; "
            f"the beam of {trace.settings.beam_width} ended at {hop.cutoff:.3f}."
        )
    if why.beam_width is None:
        return [*lines, f"No beam of up to {WIDEST} brings it in."]
    return [*lines, f"The smallest beam that keeps it is {why.beam_width}."]


def _line(edge: Edge) -> str:
    return f"{cut(plain(edge.src_name), 40)} {cut(plain(relation_of(edge)), 30)} {cut(plain(edge.dst_name), 40)}"


def _choose(end: End) -> None:
    st.session_state.update({_ENTITY: end.id, _SEARCH: ""})


def _set_hops(hops: int) -> None:
    st.session_state["hops"] = hops
