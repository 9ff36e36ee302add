"""The third row: what the walk starts from, what narrows it, and what came of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kgcore.filters import AccessFilter
from kgcore.names import fold
from kgcore.store import GraphStore
from kgcore.types import End, Seed, Trace
from kgcore.viz import count, cut, plain
from ui import runs, share, state
from ui.filtering import conditions
from ui.picture import Picture
from ui.runs import Run, SavedRun
from ui.text import escaped

FOUND = 8


def chips_row(
    run: Run | None,
    drawn: Picture | None,
    request: state.Request,
    *,
    stale: bool,
    store: GraphStore,
    filter: AccessFilter,
) -> DeltaGenerator:
    """Seeds to remove and add, conditions to remove, the size of the answer, and what it changed; gives the place for
    asking why something is missing."""
    with _row():
        trace = run.retrieval.trace if run else None
        with _chosen():
            _seeds(trace)
            _conditions(request)
        with st.popover("Add", key="seed_popover", help="Start the walk from another entity too"):
            _search(tuple(seed.entity_id for seed in trace.seeds) if trace else (), store, filter)
        why = st.container(width="content")
        if run and drawn:
            _size(run, stale=stale)
            _change(drawn)
    return why


def saved_row(saved: SavedRun) -> None:
    """In place of the chips: whose run this is, and the ways on from it."""
    with _row():
        with _chosen():
            st.text(f"A saved run, as it was: {plain(saved.name, 60)}", width="content")
        again = partial(share.ask_saved_again, saved.retrieval)
        st.button("Ask it here", key="saved_again", on_click=again, help="With its question and settings.")
        st.button("Close", key="saved_close", on_click=share.close_saved)


def _row() -> DeltaGenerator:
    return st.container(key="chips", horizontal=True, gap="small", vertical_alignment="center", wrap=False)


def _chosen() -> DeltaGenerator:
    return st.container(key="chosen", horizontal=True, gap="xsmall", vertical_alignment="center", wrap=False)


def _seeds(trace: Trace | None) -> None:
    st.text("Seeds", width="content")
    seeds = trace.seeds if trace else ()
    ids = tuple(seed.entity_id for seed in seeds)
    for at, seed in enumerate(seeds):
        st.button(
            f"◆ {escaped(cut(plain(seed.name), 24))} · {escaped(cut(plain(seed.type)))} · {seed.degree:,} ✕",
            key=f"seed_{at}",
            help=f"{escaped(seed.name)} ({escaped(seed.entity_id)}): {count(seed.degree, 'edge')}. "
            "Click to start without it.",
            disabled=len(ids) == 1,
            on_click=state.set_seeds,
            args=(ids[:at] + ids[at + 1 :],),
        )
    if trace:
        _homonyms(trace, ids)
    if state.chosen_seeds():
        st.button("↺", key="seeds_auto", help="Seeds from the question", on_click=state.set_seeds, args=(None,))


def _homonyms(trace: Trace, ids: tuple[str, ...]) -> None:
    """Seeds that share a name: one of them can be picked, told apart by the best of what was found at each."""
    named: dict[str, list[Seed]] = defaultdict(list)
    for seed in trace.seeds:
        named[fold(seed.name)].append(seed)
    for name, seeds in named.items():
        if len(seeds) == 1:
            continue
        shown = escaped(cut(plain(seeds[0].name), 24))
        with st.popover(f"Which {shown}?", key=f"which_{name}"):
            for seed in seeds:
                others = {other.entity_id for other in seeds if other is not seed}
                st.button(
                    f"{shown} · {escaped(cut(plain(seed.type)))} · {escaped(cut(_known_for(seed, trace), 60))}",
                    key=f"only_{seed.entity_id}",
                    on_click=state.set_seeds,
                    args=(tuple(one for one in ids if one not in others),),
                    width="stretch",
                )


def _known_for(seed: Seed, trace: Trace) -> str:
    """The best fact at a seed, else its id."""
    at_seed = [c for hop in trace.hops[:1] for c in hop.candidates if c.parent_id == seed.entity_id and c.rank]
    if not at_seed:
        return plain(seed.entity_id)
    best = min(at_seed, key=lambda c: (c.rank, c.fact.id)).fact
    return plain(best.text)


def _search(ids: tuple[str, ...], store: GraphStore, filter: AccessFilter) -> None:
    typed = st.text_input("Find an entity", key="seed_search", type="search", live=True, width=320)
    if not typed or not typed.strip():
        return
    found = [end for end in store.search(typed.strip(), filter, FOUND) if end.id not in ids]
    if not found:
        st.caption("No entity has a name that begins so.")
    for at, (end, label) in enumerate(zip(found, labels(found), strict=True)):
        st.button(label, key=f"found_{at}", width="stretch", on_click=_add, args=(ids, end))


def labels(ends: Sequence[End]) -> list[str]:
    """Entities for labels, no two alike: where name, type and degree are the same, the id follows."""
    plain_labels = [described(end) for end in ends]
    return [
        f"{label} · {escaped(cut(plain(end.id), 40))}" if plain_labels.count(label) > 1 else label
        for end, label in zip(ends, plain_labels, strict=True)
    ]


def described(end: End) -> str:
    """An entity for a label: name, type, how connected it is."""
    return f"{escaped(cut(plain(end.name), 40))} · {escaped(cut(plain(end.type)))} · {count(end.degree, 'edge')}"


def _add(ids: tuple[str, ...], end: End) -> None:
    """Without a question the entity is asked about."""
    if not st.session_state["q"].strip():
        st.session_state["q"] = plain(end.name)
    state.set_seeds((*ids, end.id))
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


def _size(run: Run, *, stale: bool) -> None:
    retrieval = run.retrieval
    parts = [count(len(retrieval.facts), "fact"), count(len(retrieval.source_documents), "source")]
    size = " · ".join([*parts, f"{sum(retrieval.timings.values()):.0f} ms"])
    st.text(f"Kept from {run.at}: {size}" if stale else size, width="content")


def _change(drawn: Picture) -> None:
    """What changed since the run before, or the pinned one; and the way back."""
    memory = runs.runs()
    if drawn.diff:
        change = (f"Since {memory.pinned.at}: " if memory.pinned else "") + drawn.diff.summary
        short = cut(change, 56)
        st.text(short, width="content", help=escaped(change) if short != change else None)
        if memory.past:
            st.button("Undo", key="undo", on_click=runs.undo, help="Back to the run before, with its settings")
    if memory.pinned:
        st.button("Unpin", key="unpin", on_click=runs.unpin, help="Compare with the run before again")
    else:
        st.button("Pin", key="pin", on_click=runs.pin, help="Compare what follows with this run")
