"""The card of the selected entity: its facts, the passages behind them, its relations, and what can be done with it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import streamlit as st

from kgcore.browse import GROWTH, RANKED, Card, Node, edges_at, read_card
from kgcore.types import Fact, RelationCount, Vector
from kgcore.viz import count, cut, plain
from ui import browse, browse_do
from ui.browse import Browsing
from ui.text import escaped
from ui.visit import Visit

ASK = "pages/ask.py"
UNNAMED = "(unnamed)"
MOST_RELATIONS = 50


def show_card(now: Browsing, here: Visit, vector: Vector | None) -> None:
    """The selected entity, or what to do for one."""
    if now.selected is None:
        st.caption("Click an entity in the graph, or search for one.")
        return
    card = read_card(here.graph.store, now.selected, here.retriever.filter, vector=vector, limit=now.facts)
    if card is None:
        st.caption("There is no such entity in the graph as you see it.")
        return
    node = now.picture.explored.drawn.get(card.entity.id)
    held = _at(card, (line.fact for line in now.picture.explored.lines))
    drawn = len({fact.id for fact in _at(card, now.seen.facts)})
    about = [escaped(card.entity.type), count(card.entity.degree, "edge")]
    st.markdown(f"**{_name(card.entity.name)}**  \n{' · '.join(part for part in about if part)}")
    _buttons(card, node, left=card.found - len({fact.id for fact in held}), seen=card.entity.id in now.seen.drawn)
    ranked = "by closeness to the question" if vector is not None else "by connections"
    among = f" among {RANKED:,}" if vector is None and card.found > RANKED else ""
    st.caption(f"{drawn:,} of {count(card.found, 'fact')} drawn; ranked {ranked}{among}.")
    facts, passages, relations = st.tabs(["Facts", "Sources", "Relations"], key="browse_card_tab")
    with facts:
        _facts(card)
    with passages:
        _passages(card)
    with relations:
        _relations(card, held, drawn=node is not None)


def _at(card: Card, facts: Iterable[Fact]) -> list[Fact]:
    return [fact for fact in facts if card.entity.id in (fact.source_id, fact.target_id)]


def _buttons(card: Card, node: Node | None, *, left: int, seen: bool) -> None:
    """`left` facts are not in the picture. One that is out of sight can only be drawn."""
    id_ = card.entity.id
    with st.container(key="browse_do", horizontal=True, gap="xsmall", vertical_alignment="center"):
        if node is None or not seen:
            st.button("Draw", key="browse_draw", on_click=browse_do.open_entity, args=(id_, card.entity.type))
        else:
            if left > 0:
                label = f"+{min(GROWTH, left)} of {left:,}"
                st.button(label, key="browse_grow", on_click=browse_do.take, args=("grow", id_))
            if node.grown:
                st.button(
                    "Collapse",
                    key="browse_collapse",
                    on_click=browse_do.take,
                    args=("collapse", id_),
                    help="Take away what its growing brought",
                )
            st.button("Hide", key="browse_hide", on_click=browse_do.take, args=("hide", id_))
            pinned = "It stays, whatever is collapsed"
            st.button(
                "Unpin" if node.pinned else "Pin", key="browse_pin", on_click=browse_do.pin, args=(id_,), help=pinned
            )
        st.page_link(ASK, label="Ask from here", query_params=browse.ask_from(id_, card.entity.name))


def _facts(card: Card) -> None:
    """A line a fact; its other end is read about by a click."""
    for at, fact in enumerate(card.facts):
        out = fact.source_id == card.entity.id
        far_id, far = (fact.target_id, fact.target) if out else (fact.source_id, fact.source)
        st.button(
            f"{escaped(cut(plain(fact.relation), 40))} {'→' if out else '←'} **{_name(cut(plain(far), 60))}**",
            key=f"browse_fact_{at}",
            type="tertiary",
            help=_told(fact),
            on_click=browse_do.select,
            args=(far_id,),
        )
    more = min(GROWTH, card.found - len(card.facts), RANKED - len(card.facts))
    if more > 0:
        st.button(f"List {more} more", key="browse_more", on_click=browse_do.more_facts)
    elif card.found > len(card.facts):
        st.caption(f"The other {card.found - len(card.facts):,} are not listed; Relations draws them.")


def _told(fact: Fact) -> str:
    documents = count(len(fact.source_doc_ids), "document")
    return f"{escaped(fact.text)} · {documents}" if fact.source_doc_ids else escaped(fact.text)


def _passages(card: Card) -> None:
    if not card.passages:
        st.caption("No passages stand behind these facts.")
    for at, passage in enumerate(card.passages):
        with st.expander(_name(cut(plain(card.titles[passage.id]), 60)), key=f"browse_passage_{at}"):
            st.text(passage.content)


def _relations(card: Card, held: list[Fact], *, drawn: bool) -> None:
    """Each relation with its counts out and in; a click draws more of its facts, but for those `held` already."""
    related: dict[str, list[RelationCount]] = defaultdict(list)
    for one in card.relations:
        related[one.relation].append(one)
    for at, (relation, counted) in enumerate(list(related.items())[:MOST_RELATIONS]):
        known = edges_at((fact for fact in held if fact.relation == relation), card.entity)
        counts = " · ".join(f"{'→' if one.outgoing else '←'} {one.count:,}" for one in counted)
        st.button(
            f"{escaped(cut(plain(relation), 40)) or UNNAMED} {counts}",
            key=f"browse_relation_{at}",
            type="tertiary",
            disabled=not drawn or known >= sum(one.count for one in counted),
            help=f"Draw {GROWTH} more of these",
            on_click=browse_do.take,
            args=("grow", card.entity.id, relation),
        )
    if len(related) > MOST_RELATIONS:
        st.caption(f"The {len(related) - MOST_RELATIONS:,} least common are not listed.")


def _name(text: str) -> str:
    return escaped(text) or UNNAMED
