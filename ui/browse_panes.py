"""Beside the card: the path between two entities, the hubs, the schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from kgcore.browse import PATH_HOPS, PATHS, Step, chain
from kgcore.types import Fact
from kgcore.viz import count, cut, plain
from ui import browse, browse_do
from ui.browse import Browsing
from ui.browse_card import UNNAMED
from ui.chips import described, labels
from ui.text import escaped
from ui.visit import Visit

FOUND = 6
HUBS = 25
MOST_NAMES = 200


def show_path(now: Browsing, here: Visit) -> None:
    """Two entities, and the shortest paths between them."""
    for which, label in (("from", "From"), ("to", "To")):
        with st.container(key=f"path_end_{which}", gap="xsmall"):  # so that what is typed below stays where it is
            _end(which, label, now, here)
    if len(now.ends) < 2:
        st.caption(f"Choose two entities: the shortest paths of up to {PATH_HOPS} hops between them are drawn.")
        return
    one, other = now.ends["from"], now.ends["to"]
    if one == other:
        st.caption("Both ends are the same entity: choose another for one of them.")
        return
    ways = browse.ways_between(now, here)
    if not ways:
        st.write(f"No path of up to {PATH_HOPS} hops between them.")
        return
    hops = count(len(ways[0]), "hop")
    if len(ways) > PATHS:
        st.caption(f"The first {PATHS} paths of {hops}, of more that are as short:")
    else:
        st.caption(f"{count(len(ways), 'path')} of {hops}, the shortest there {'is' if len(ways) == 1 else 'are'}:")
    if Step(kind="path", entity_id=one, other_id=other) not in now.steps:
        st.button("Draw", key="path_draw", on_click=browse_do.draw_path)
    for way in ways[:PATHS]:
        st.markdown(_written(way, one))


def _end(which: str, label: str, now: Browsing, here: Visit) -> None:
    """One end: chosen, with the way back, or to be searched."""
    store, filter = here.graph.store, here.retriever.filter
    if which in now.ends:
        known = store.entities([now.ends[which]], filter)
        named = described(known[0]) if known else "not in the graph as you see it"
        st.button(
            f"{label} {named} ✕",
            key=f"path_{which}_chosen",
            on_click=browse_do.set_end,
            args=(which, None),
            width="stretch",
        )
        return
    typed = st.text_input(label, key=f"path_{which}", type="search", live=True, placeholder="A name")
    if not typed or not typed.strip():
        return
    found = store.search(typed.strip(), filter, FOUND)
    if not found:
        st.caption("No entity has a name that begins so.")
    for at, (end, text) in enumerate(zip(found, labels(found), strict=True)):
        key = f"path_{which}_{at}"
        st.button(text, key=key, width="stretch", on_click=browse_do.set_end, args=(which, end.id))


def _written(way: Sequence[Fact], start: str) -> str:
    """`Jane Doe —WORKS_AT→ Acme Capital ←USES— Helios`."""
    parts: list[str] = []
    for at, fact in zip(chain(way, start), way, strict=False):
        out = fact.source_id == at
        near, far = (fact.source, fact.target) if out else (fact.target, fact.source)
        said = escaped(cut(plain(fact.relation), 40))
        if not parts:
            parts.append(f"**{escaped(cut(plain(near), 60)) or UNNAMED}**")
        parts.append(f"{f'—{said}→' if out else f'←{said}—'} **{escaped(cut(plain(far), 60)) or UNNAMED}**")
    return " ".join(parts)


def show_hubs(here: Visit) -> None:
    """The best connected entities; each opens."""
    for at, end in enumerate(here.graph.store.hubs(here.retriever.filter, HUBS)):
        st.button(
            described(end),
            key=f"browse_hub_{at}",
            type="tertiary",
            on_click=browse_do.open_entity,
            args=(end.id, end.type),
        )


def show_schema(now: Browsing, here: Visit) -> None:
    """Types and relations with their counts; one that is not chosen is left out of the picture."""
    visible = here.visible
    st.caption("Click one to leave it out of the picture, and again to draw it.")
    _names("Entity types", visible.entity_types, now.off_types, browse_do.toggle_type)
    _names("Relations, by edges", visible.relations, now.off_relations, browse_do.toggle_relation)


def _names(label: str, counts: Mapping[str, int], off: Sequence[str], toggle: Callable[[str], None]) -> None:
    ordered = sorted(counts, key=lambda name: (-counts[name], name))
    names = ordered[:MOST_NAMES]
    st.markdown(f"**{label}**: {len(counts):,}")
    with st.container(horizontal=True, gap="xsmall", key=f"schema_{label.split()[0].lower()}"):
        for at, name in enumerate(names):
            text = f"{escaped(cut(plain(name), 40)) or UNNAMED} {counts[name]:,}"
            left_out = name in off
            st.button(
                f"~~{text}~~" if left_out else text,
                key=f"schema_{label}_{at}",
                on_click=toggle,
                args=(name,),
            )
    if len(ordered) > len(names):
        st.caption(f"The {len(ordered) - len(names):,} least common are not listed.")
