"""What writing would change, before it is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from kgcore.ingest import Plan
from kgcore.ingest.compare import Count
from kgcore.viz import plain
from ui import build, working
from ui.text import escaped
from ui.visit import Visit
from ui.working import Work

_KINDS = {"documents": "Documents", "entities": "Entities", "edges": "Edges", "chunks": "Passages"}


def show_plan(here: Visit, plan: Plan, notes: Mapping[str, int], kind: str, write: Callable[[Work], str]) -> None:
    """Counts, notes and first edges of a plan, with the button that writes it."""
    counts = {label: getattr(plan, name) for name, label in _KINDS.items()}
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.dataframe(
            {
                "": list(counts),
                "New": [count.new for count in counts.values()],
                "Changed": [count.changed for count in counts.values()],
                "To go": [count.gone for count in counts.values()],
                "As they are": [count.same for count in counts.values()],
            },
            hide_index=True,
            height="content",
            key=f"{kind}_plan",
            column_config={
                name: st.column_config.NumberColumn(format="localized")
                for name in ("New", "Changed", "To go", "As they are")
            },
        )
    with right, st.container(gap="xsmall"):
        if plan.is_nothing:
            st.text("The graph holds all of it as it is: there is nothing to write.")
        else:
            with st.container(horizontal=True, gap="small", vertical_alignment="center"):
                pressed = st.button("Write", key=f"{kind}_write", type="primary")
                vectors = build.takes_vectors(here) and st.checkbox(
                    "Then compute vectors",
                    True,
                    key=f"{kind}_vectors",
                    help="The graph can be asked meanwhile: facts are scored by the words of the question.",
                )
            if pressed:
                working.begin(here.graph, "Writing", build.then_vectors(here, write) if vectors else write)
                st.rerun()
        show_notes(notes)
    if plan.entity_examples:
        with st.expander(_shown("Entities", len(plan.entity_examples), plan.entities)):
            named = [entity for _, entity in plan.entity_examples]
            st.dataframe(
                {
                    "": [what for what, _ in plan.entity_examples],
                    "Entity": [plain(entity.name, 200) for entity in named],
                    "Type": [plain(entity.type, 100) for entity in named],
                },
                hide_index=True,
                height=220,
                key=f"{kind}_entities",
            )
    if plan.examples:
        st.caption(_shown("Edges", len(plan.examples), plan.edges))
        edges = [edge for _, edge in plan.examples]
        st.dataframe(
            {
                "": [what for what, _ in plan.examples],
                "Source": [plain(edge.src_name, 200) for edge in edges],
                "Relation": [plain(edge.key or edge.relation, 200) for edge in edges],
                "Target": [plain(edge.dst_name, 200) for edge in edges],
                "From": [plain(edge.source_doc_id or "", 60) for edge in edges],
            },
            hide_index=True,
            height=220,
            key=f"{kind}_examples",
        )


def _shown(what: str, shown: int, count: Count) -> str:
    differing = count.new + count.changed + count.gone
    return f"{what}: {shown:,}" if shown == differing else f"{what}: the first {shown:,} of {differing:,}"


def show_notes(notes: Mapping[str, int]) -> None:
    """What a reading left out or changed."""
    for reason, count in notes.items():
        st.caption(escaped(f"{reason[:1].upper()}{reason[1:]}: {count:,}"))


def summary(plan: Plan) -> str:
    """What a writing came to."""
    edges, chunks = plan.edges, plan.chunks
    return (
        f"Written. Edges: {edges.new:,} new, {edges.changed:,} changed, {edges.gone:,} gone. "
        f"Passages: {chunks.new:,} new, {chunks.changed:,} changed, {chunks.gone:,} gone."
    )
