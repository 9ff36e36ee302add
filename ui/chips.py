"""The third row: what the walk starts from, what narrows it, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from kgcore.filters import AccessFilter
from kgcore.store import GraphStore
from kgcore.types import End, Seed
from kgcore.viz import cut, plain
from ui import state
from ui.answers import Answer
from ui.filtering import conditions
from ui.text import escaped

FOUND = 8


def chips_row(
    answer: Answer | None, request: state.Request, *, stale: bool, store: GraphStore, filter: AccessFilter
) -> None:
    """Seeds to remove and add, conditions to remove, and the size of the answer."""
    with st.container(key="chips", horizontal=True, gap="small", vertical_alignment="center", wrap=False):
        with st.container(key="chosen", horizontal=True, gap="xsmall", vertical_alignment="center", wrap=False):
            if answer:
                _seeds(answer.retrieval.trace.seeds, store, filter)
            _conditions(request)
        if answer:
            _outcome(answer, stale=stale)


def _seeds(seeds: tuple[Seed, ...], store: GraphStore, filter: AccessFilter) -> None:
    st.text("Seeds", width="content")
    ids = tuple(seed.entity_id for seed in seeds)
    for at, seed in enumerate(seeds):
        st.button(
            f"◆ {escaped(cut(plain(seed.name), 24))} · {escaped(cut(plain(seed.type)))} ✕",
            key=f"seed_{at}",
            help=f"{escaped(seed.name)} ({escaped(seed.entity_id)}): {seed.degree:,} edges. Click to start without it.",
            disabled=len(ids) == 1,
            on_click=state.set_seeds,
            args=(ids[:at] + ids[at + 1 :],),
        )
    if state.chosen_seeds():
        st.button("↺", key="seeds_auto", help="Seeds from the question", on_click=state.set_seeds, args=(None,))
    with st.popover("Add", key="seed_popover"):
        _search(ids, store, filter)


def _search(ids: tuple[str, ...], store: GraphStore, filter: AccessFilter) -> None:
    typed = st.text_input("Find an entity", key="seed_search", type="search", live=True, width=320)
    if not typed or not typed.strip():
        return
    found = [end for end in store.search(typed.strip(), filter, FOUND) if end.id not in ids]
    if not found:
        st.caption("No entity has a name that begins so.")
    for at, (end, label) in enumerate(zip(found, labels(found), strict=True)):
        st.button(label, key=f"found_{at}", width="stretch", on_click=_add, args=((*ids, end.id),))


def labels(ends: Sequence[End]) -> list[str]:
    """Entities for labels, no two alike: where name, type and degree are the same, the id follows."""
    plain_labels = [described(end) for end in ends]
    return [
        f"{label} · {escaped(cut(plain(end.id), 40))}" if plain_labels.count(label) > 1 else label
        for end, label in zip(ends, plain_labels, strict=True)
    ]


def described(end: End) -> str:
    """An entity for a label: name, type, how connected it is."""
    edges = f"{end.degree:,} edge" + ("" if end.degree == 1 else "s")
    return f"{escaped(cut(plain(end.name), 40))} · {escaped(cut(plain(end.type)))} · {edges}"


def _add(ids: tuple[str, ...]) -> None:
    state.set_seeds(ids)
    st.session_state["seed_search"] = ""


def _conditions(request: state.Request) -> None:
    for at, (label, without) in enumerate(conditions(dict(request.filters) if request.filters else None)):
        st.button(
            f"{escaped(cut(plain(label), 40))} ✕",
            key=f"condition_{at}",
            help="Remove this condition",
            on_click=state.set_filter,
            args=(without,),
        )


def _outcome(answer: Answer, *, stale: bool) -> None:
    retrieval = answer.retrieval
    if warnings := retrieval.trace.warnings:
        more = f" +{len(warnings) - 1}" if len(warnings) > 1 else ""
        st.badge(
            escaped(cut(plain(warnings[0]), 40)) + more,
            color="orange",
            help="  \n".join(map(escaped, warnings)),
        )
    facts, sources = len(retrieval.facts), len(retrieval.source_documents)
    size = f"{facts} facts · {sources} sources · {sum(retrieval.timings.values()):.0f} ms"
    st.text(f"Kept from {answer.at}: {size}" if stale else size, width="content")
