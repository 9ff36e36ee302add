"""Why not X: an entity or a fact that somebody misses in the result, and what would bring it in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from kgcore import KgError, KnowledgeGraphRetriever
from kgcore.names import FUNCTION_WORDS, tokens
from kgcore.retrieve import WhyNot
from kgcore.retrieve.llm_filter import READ
from kgcore.retrieve.render import relation_of
from kgcore.retrieve.why import FAR, edges_of
from kgcore.types import Candidate, Edge, End, Trace
from kgcore.viz import count, cut, plain
from ui import runs, state
from ui.chips import labels
from ui.errors import show_error
from ui.filtering import label
from ui.jobs import Job, job_of, wait_for
from ui.runs import Run
from ui.text import escaped

FOUND, FACTS = 8, 50
_ENTITY, _FACT, _SEARCH, _POPOVER, _PUT = "why", "why_fact", "why_search", "why_popover", "why_put"


class _Stopped(Exception):
    """Ends a walk that is not waited for any more."""


def why_popover(run: Run | None, retriever: KnowledgeGraphRetriever) -> None:
    """The question, and when it is open its answer. What was asked about is in the link."""
    _follow_link()
    popover = st.popover("Why not?", key=_POPOVER, on_change="rerun", help="What is missing in the result, and why")
    if popover.open:
        with popover, st.container(width=420):
            if run is None:
                st.caption(
                    "Ask a question first. Then pick an entity that you miss in the result, or one fact of it: you "
                    "read at which step of the walk it was left out, and what brings it in."
                )
            else:
                _ask(run, retriever)
    _put_in_link()


def _follow_link() -> None:
    """What the link asks about, when the page is come to by it and where it was changed since it was put."""
    linked = [st.query_params.get(_ENTITY), st.query_params.get(_FACT)]
    come_to = _POPOVER not in st.session_state
    if linked == st.session_state.get(_PUT, [None, None]) or (come_to and linked[0] is None):
        return
    st.session_state.update({_ENTITY: linked[0], _FACT: linked[1], _POPOVER: linked[0] is not None})


def _put_in_link() -> None:
    entity_id = st.session_state.get(_ENTITY)
    put = [entity_id, st.session_state.get(_FACT) if entity_id else None]
    st.session_state[_PUT] = put
    for name, value in zip((_ENTITY, _FACT), put, strict=True):
        state.keep_in_link(name, [value] if value else [])


def _ask(run: Run, retriever: KnowledgeGraphRetriever) -> None:
    typed = st.text_input("What is missing?", key=_SEARCH, type="search", live=True, placeholder="An entity's name")
    filter = retriever.filter
    if typed and typed.strip():
        found = retriever.store.search(typed.strip(), filter, FOUND)
        if not found:
            st.write("No entity of the graph, as you see it, has a name that begins so.")
        for at, (end, text) in enumerate(zip(found, labels(found), strict=True)):
            st.button(text, key=f"why_{at}", width="stretch", on_click=_choose, args=(end.id,))
        return
    if not (entity_id := st.session_state.get(_ENTITY)):
        st.caption("Pick an entity, or one fact of it: you read at which step it was left out, and what brings it in.")
        return
    ends = retriever.store.entities([entity_id], filter)
    if not ends:
        st.write("This entity is not in the graph as you see it.")
        return
    st.markdown(f"**{_name(ends[0].name)}**")
    fact_id = st.session_state.get(_FACT)
    if not _fact_is_shown(ends[0], fact_id, run, retriever):
        st.write("This fact is not in the graph as you see it.")
        st.button("Any of its facts", key="why_any", on_click=_choose, args=(entity_id,))
        return
    try:
        why = _answered(run, retriever, entity_id, st.session_state.get(_FACT))
    except KgError as error:
        runs.runs().jobs.pop(_ENTITY, None)
        show_error(error)
        return
    if why is not None:
        _show(why, run)


def _fact_is_shown(end: End, fact_id: str | None, run: Run, retriever: KnowledgeGraphRetriever) -> bool:
    """Lets one fact of the entity be picked, or none for any of them. False where the one asked about is not there."""
    asked = [word for word in tokens(run.retrieval.trace.question) if word not in FUNCTION_WORDS]
    found = retriever.store.expand([end.id], (), retriever.filter, None, FACTS, words=sorted(set(asked)))
    edges = {visible.fact_id: visible.edge for visible in found.edges}
    if fact_id and fact_id not in edges:
        linked = edges_of(retriever.store, retriever.filter, end.id, fact_id)
        edges |= {fact_id: linked[0]} if linked else {}
    texts = _told_apart(edges, end.id)
    # Another key for another entity's: a browser holds on to the label that it has.
    key = f"{_FACT}_{end.id}"
    st.session_state[key] = fact_id if fact_id in texts else None
    st.selectbox(
        "Which fact",
        sorted(texts, key=lambda id_: (texts[id_], id_)),
        index=None,
        format_func=texts.__getitem__,
        key=key,
        placeholder=f"Any of its {count(found.found, 'fact')}",
        on_change=_choose_fact,
        args=(key,),
    )
    if found.found > FACTS:
        st.caption(f"{FACTS} of {found.found:,} facts: those that share most words with the question.")
    return not fact_id or fact_id in texts


def _told_apart(edges: Mapping[str, Edge], entity_id: str) -> dict[str, str]:
    """Facts for labels, no two alike: where they read the same, the id of the far end follows, then their own."""
    lines = {fact_id: _line(edge) for fact_id, edge in edges.items()}
    alike = Counter(lines.values())
    for fact_id, edge in edges.items():
        if alike[_line(edge)] > 1:
            far = edge.target_id if edge.source_id == entity_id else edge.source_id
            lines[fact_id] += f" · {cut(plain(far), 40)}"
    alike = Counter(lines.values())
    return {fact_id: f"{line} · {fact_id}" if alike[line] > 1 else line for fact_id, line in lines.items()}


def _answered(run: Run, retriever: KnowledgeGraphRetriever, entity_id: str, fact_id: str | None) -> WhyNot | None:
    """The reason; None once the search for it was stopped. Raises KgError."""

    def search(job: Job[WhyNot]) -> WhyNot:
        def tick() -> None:
            if job.stopped:
                raise _Stopped

        return retriever.why_not(run.retrieval, entity_id, fact_id=fact_id, tick=tick)

    _put_in_link()  # the search may be long, and be left
    job = job_of(_ENTITY, (run.request, entity_id, fact_id), search)
    if job.stopped:
        st.write("Stopped.")
        st.button("Ask again", key="why_again", on_click=_ask_again)
        return None
    wait_for(job, _ENTITY, "Walking again", on_stop=job.stop)
    return job.result()


def _show(why: WhyNot, run: Run) -> None:
    trace = run.retrieval.trace
    for line in _said(why, trace):
        st.write(escaped(line, 1_000))
    if why.path:
        st.markdown("  \n".join(escaped(_line(edge), 200) for edge in why.path))
    for alias in why.aliases:
        st.write(f"{_name(alias.name)} may be {_name(alias.of_name)}: the walk goes on from both.")
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
        "filter": [
            f"Your own filter drops it: {plain(label(dict(why.condition)))}."
            if why.condition
            else "Your own filter drops it, by more than one condition."
        ],
        "hub": [
            f"It lies behind an entity with more than {settings.hub_limit:,} edges, which the walk does not go through"
            + (f": {plain(candidate.entity_name)}, with {candidate.degree:,}." if candidate else ".")
        ],
        "relations": ["It lies behind relations that are not among those you chose to walk."],
        "reranker": [f"The beam kept it at {at} with {score}; the reranker left it out of the {settings.top_k} best."],
        "top_k": [f"The beam kept it at {at} with {score}; it is not among the {settings.top_k} best facts."],
    }
    if why.reason == "beam":
        return _by_beam(why, trace)
    return _by_model(candidate) if why.reason == "llm_filter" else said[why.reason]


def _by_model(candidate: Candidate | None) -> list[str]:
    if candidate is None:
        return ["The chat model let nothing pass that leads to it."]
    fact = plain(candidate.fact.text)
    if candidate.rank <= READ:
        return [f"The chat model did not let it pass at hop {candidate.hop}: {fact}."]
    return [
        f"The chat model reads only the best {READ} candidates of a hop.",
        f"This was number {candidate.rank:,} at hop {candidate.hop}: {fact}.",
    ]


def _by_beam(why: WhyNot, trace: Trace) -> list[str]:
    lines = []
    if (candidate := why.candidate) is not None:
        hop = trace.hops[candidate.hop - 1]
        lines.append(f"Cut at hop {hop.number}: {plain(candidate.fact.text)}")
        lines.append(
            f"Rank {candidate.rank} of {hop.considered:,} with {candidate.score:.3f}; "
            f"the beam of {trace.settings.beam_width} ended at {hop.cutoff:.3f}."
        )
    return [*lines, _width_in_words(why, trace)]


def _width_in_words(why: WhyNot, trace: Trace) -> str:
    tried = count(len(why.tried), "width")
    if why.beam_width is None and trace.settings.llm_filter:
        return "Which beam keeps it only the chat model could tell: it would read other candidates."
    if why.beam_width is None:
        return f"No beam brings it in: {tried} tried, up to {max(why.tried)}."
    if why.smallest:
        return f"The smallest beam that keeps it is {why.beam_width}."
    below = max((width for width in why.tried if width < why.beam_width), default=None)
    not_below = f", one of {below} does not" if below else ""
    return f"A beam of {why.beam_width} keeps it{not_below}: {tried} tried."


def _name(text: str) -> str:
    return escaped(cut(plain(text), 60))


def _line(edge: Edge) -> str:
    return f"{cut(plain(edge.src_name), 40)} {cut(plain(relation_of(edge)), 30)} {cut(plain(edge.dst_name), 40)}"


def _choose(entity_id: str) -> None:
    st.session_state.update({_ENTITY: entity_id, _FACT: None, _SEARCH: ""})


def _choose_fact(key: str) -> None:
    st.session_state[_FACT] = st.session_state[key]


def _ask_again() -> None:
    runs.runs().jobs.pop(_ENTITY, None)


def _set_hops(hops: int) -> None:
    st.session_state["hops"] = hops
