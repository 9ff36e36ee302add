"""What two principals find for one question, drawn and listed; and how much each principal sees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kgcore import KnowledgeGraphRetriever
from kgcore.audit import PRINCIPALS, Principal, Seen, seen
from kgcore.filters import AccessFilter, Template
from kgcore.retrieve import OneSided, Shared, Views, compare_views
from kgcore.retrieve.render import relation_of
from kgcore.store import GraphStore
from kgcore.types import Edge, Fact, Retrieval
from kgcore.viz import count, cut, plain
from ui import components, resources
from ui.access_row import SIDES, settings_in_words, told
from ui.answers import arguments
from ui.compare import said
from ui.jobs import Job, job_of, wait_for
from ui.picture import arrange, picture
from ui.runs import Run, runs
from ui.state import Request, link_of, request_of
from ui.text import escaped
from ui.tune_sweep import ASK
from ui.visit import Visit

VIEW = "access"
SHOWN = 100
AUDITED = 50
NOBODY = "No principal"
_STOPPED = "access_stopped"
_NAME = 60

Pictured = tuple[Retrieval, Retrieval]
"""What is drawn of A and of B."""


def not_found() -> None:
    """All that is said to who may not see a page: that there is none."""
    st.subheader("Page not found")


def one_filter(here: Visit) -> None:
    """Of a deployment whose locked filter names no claim."""
    visible = here.visible
    st.subheader("Everybody reads under one filter")
    st.write(
        "The locked filter holds no claim, so there are no two principals to compare. Whoever asks sees "
        f"{count(visible.entities, 'entity', 'entities')}, {count(visible.edges, 'edge')} and "
        f"{count(visible.documents, 'document')}."
    )


def retriever_of(here: Visit, template: Template, claims: Mapping[str, Any]) -> KnowledgeGraphRetriever | None:
    """A retriever that sees as a person with these claims does; None for who is denied everything."""
    locked = template.fill(claims)
    return resources.retriever_for(here.graph, locked, here.config) if locked is not None else None


def remarks(here: Visit, place: DeltaGenerator, request: Request, *, denied: Sequence[str]) -> None:
    """Beside the principals the settings, and who of the two is denied; below them, whether anybody reads so at all."""
    with place:
        if request.question:
            st.page_link(ASK, label="Open in Ask", query_params=link_of(request))
            st.caption(escaped(settings_in_words(request)), width="content")
        else:
            st.caption("Ask a question to see what each finds, and by which edge they differ.", width="content")
    for side in denied:
        st.caption(f"**{side}** Denied: sees nothing.")
    if here.config.locked_filter is None and not here.graph.demo:
        st.caption(
            "No filter is locked here: everybody sees everything. Below is what each would see if the principals on "
            "the edges decided."
        )


def compared(
    request: Request, a: KnowledgeGraphRetriever | None, b: KnowledgeGraphRetriever | None
) -> tuple[Views, Pictured | None] | None:
    """What the two find, with what is drawn of each, if of any; None once it was stopped. Raises KgError."""
    memory = runs()
    subject = request, *(side.filter.key if side else None for side in (a, b))
    if memory.views is not None and memory.views[0] == subject:
        found: tuple[Views, Pictured | None] = memory.views[1:]
        return found
    if st.session_state.get(_STOPPED) == subject:
        st.button("Ask again", key="access_again", on_click=_stop, args=(None,))
        return None
    given = {**arguments(request), "document_reranker": resources.reranker() if request.reranked else None}
    job: Job[Views] = job_of(VIEW, subject, lambda _: compare_views(request.question, a, b, **given))
    wait_for(job, VIEW, "Walking the graph twice", on_stop=lambda: _stop(subject))
    memory.jobs.pop(VIEW, None)
    views = job.result()
    memory.views = subject, views, _pictured(views)
    return views, memory.views[2]


def show(views: Views, pictured: Pictured | None, *, denied: Sequence[str]) -> None:
    """One graph of what they find, beside what only A finds, what both do and what only B does."""
    for side, view in zip(SIDES, (views.a, views.b), strict=True):
        if view is None and side not in denied:
            st.caption(f"**{side}** Sees none of the entities to start from.")
    lists: Sequence[tuple[str, list[str]]] = (
        ("Only A", [_one_sided(row, "B") for row in views.only_a]),
        ("Both", [_shared(row) for row in views.both]),
        ("Only B", [_one_sided(row, "A") for row in views.only_b]),
    )
    left, right = st.columns([58, 42], gap="small")
    with right, st.container(key="access_lists", gap="xsmall"):
        for title, rows in lists:
            with st.container(key=f"access_{title.lower().replace(' ', '_')}", gap=None):
                lines = rows[:SHOWN] + [f"- and {len(rows) - SHOWN:,} more"] * (len(rows) > SHOWN)
                st.markdown("\n".join([f"**{title}** {len(rows)}", "", *(lines or ["None."])]))
    if pictured is None:
        return
    a, b = pictured
    before = Run(request=request_of(b.trace.question, b.trace.settings), retrieval=b, at="")
    with left:
        st.caption("A halo round what only A finds, dashes for what only B finds; what both find is plain.")
        components.graph(picture(a, base=before, live=False, sides=SIDES), view=VIEW, on_action=arrange)


def audit(here: Visit, template: Template, known: tuple[Principal, ...]) -> None:
    """A table of who sees how much, each principal taken alone."""
    st.subheader("Who sees how much")
    if not known:
        fields = ", ".join(f"`{field}`" for field in sorted({place.field for place in template.places}))
        st.write(f"No edge of this graph says who may see it, in {fields}: nobody would see anything of it.")
        return
    listed = sorted(known, key=lambda one: -one.named)[:AUDITED]
    filters = [template.fill(one.claims) if one.claims else None for one in listed]
    counts = _counted(here.graph.store, [locked for locked in filters if locked is not None])
    if counts is None:
        return
    several = len({one.field for one in known}) > 1
    rows = [
        _row(told(one.value), one.named, counts[_key(here.graph.store, locked)] if locked else None)
        | ({"Field": one.field} if several else {})
        for one, locked in zip(listed, filters, strict=True)
    ]
    with st.container(key="access_audit"):
        st.dataframe(
            [*rows, _row(NOBODY, None, seen(here.graph.store, template.fill({})))],
            column_order=[*["Field"] * several, "Principal", "Named by", "Sees edges", "Sees entities"],
            column_config={
                "Named by": st.column_config.NumberColumn(format="localized", help="Edges that name it"),
                "Sees edges": st.column_config.NumberColumn(
                    format="localized", help="Edges that a person sees who is this and nothing else"
                ),
                "Sees entities": st.column_config.NumberColumn(format="localized"),
            },
            hide_index=True,
            width="content",
            placeholder="",
        )
    st.caption(" ".join(_remarks(template, known, filters)))


def _remarks(template: Template, known: Sequence[Principal], filters: Sequence[object]) -> Iterable[str]:
    if len(known) > AUDITED:
        more = "at least " if max(Counter(one.field for one in known).values()) >= PRINCIPALS else ""
        yield f"The first {AUDITED} of {more}{len(known):,} principals, those that most edges name."
    if len(template.claims) > 1:
        yield f"Nobody sees anything by one principal alone: the locked filter needs {len(template.claims)} claims."
    elif None in filters:
        yield "Where nothing is said, no claim gives that principal."
    yield "Who lacks a claim is denied everything."


def _row(name: str, named: int | None, sees: Seen | None) -> dict[str, Any]:
    return {
        "Principal": name,
        "Named by": named,
        "Sees edges": sees.edges if sees else None,
        "Sees entities": sees.entities if sees else None,
    }


def _counted(store: GraphStore, filters: Sequence[Mapping[str, Any]]) -> Mapping[str, Seen] | None:
    """What each locked filter lets through, by its key; None once it was stopped."""
    memory = runs()
    wanted = {_key(store, locked): locked for locked in filters}
    missing = {key: locked for key, locked in wanted.items() if key not in memory.audited}
    if missing:
        if st.session_state.get(_STOPPED) == VIEW:
            st.button("Count", key="access_count", on_click=_stop, args=(None,))
            return None
        held = memory.jobs.get("audit")
        if held is None:
            held = memory.jobs["audit"] = (VIEW, Job(lambda job: _count(job, store, missing, memory.audited)))
        wait_for(held[1], "audit", "Counting", on_stop=lambda: _stop(VIEW))
        memory.jobs.pop("audit", None)
        held[1].result()
    return memory.audited


def _count(job: Job[None], store: GraphStore, filters: Mapping[str, Mapping[str, Any]], into: dict[str, Seen]) -> None:
    for key, locked in filters.items():
        if job.stopped:
            return
        into[key] = seen(store, locked)


def _key(store: GraphStore, locked: Mapping[str, Any]) -> str:
    return AccessFilter.of(locked, access_fields=store.access_fields).key


def _stop(subject: object) -> None:
    """Ends what is at work; with None, lets it begin again."""
    st.session_state[_STOPPED] = subject
    for kind in (VIEW, "audit"):
        held = runs().jobs.pop(kind, None)
        if held is not None:
            held[1].stop()


def _pictured(views: Views) -> Pictured | None:
    """The two to draw; who cannot start is drawn as a walk without anything."""
    one, other = views.a or views.b, views.b or views.a
    if one is None or other is None:
        return None
    return views.a or _nothing_of(other), views.b or _nothing_of(one)


def _nothing_of(retrieval: Retrieval) -> Retrieval:
    words = tuple(replace(word, hop=None) for word in retrieval.trace.words)
    trace = replace(retrieval.trace, words=words, seeds=(), hops=(), result=(), passages=())
    return replace(retrieval, facts=(), documents=(), source_documents=(), trace=trace)


def _one_sided(row: OneSided, other: str) -> str:
    if row.edge is None:
        decider = f"{other} {row.why}" if row.why else ""
    elif row.step == row.steps:
        decider = f"by this edge, in {_document(row.edge)}"
    else:
        decider = f"by {_edge(row.edge)}, in {_document(row.edge)}: step {row.step} of {row.steps}"
    return _listed(row.fact, decider)


def _shared(row: Shared) -> str:
    more = zip(SIDES, (row.only_a, row.only_b), strict=True)
    return _listed(row.fact, "; ".join(f"{side} also by {_documents(edges)}" for side, edges in more if edges))


def _listed(fact: Fact, below: str) -> str:
    """A line of a list, with a smaller one below."""
    return f"- {said(fact)}" + (f"  \n  :small[{escaped(below)}]" if below else "")


def _edge(edge: Edge) -> str:
    names = (edge.src_name, relation_of(edge), edge.dst_name)
    return " ".join(cut(plain(name), _NAME) for name in names)


def _documents(edges: Sequence[Edge]) -> str:
    return ", ".join(map(_document, edges))


def _document(edge: Edge) -> str:
    """The title of an edge's document, else its id."""
    title = edge.properties.get("title")
    named = title if isinstance(title, str) and plain(title) else edge.source_doc_id
    return cut(plain(named), _NAME) if named else "no document"
