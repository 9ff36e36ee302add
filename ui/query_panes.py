"""The editor, what can be asked about, and the answer as a table and a graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from kgcore.cypher import CypherAnswer, CypherSchema, words
from kgcore.cypher.picture import MOST, pictured
from kgcore.cypher.table import answer_csv, table
from kgcore.viz import count, explored_payload, plain
from ui import components, query
from ui.errors import show_error
from ui.filter_builder import filter_popover
from ui.identity import who
from ui.resources import digest
from ui.runs import runs
from ui.text import escaped
from ui.visit import Visit

BROWSE = "pages/browse.py"
_LISTED = 60
_PRESSED = "query_pressed"
_PLACEHOLDER = "MATCH (n) RETURN n LIMIT 25"


def tools_row(here: Visit) -> Mapping[str, Any] | None:
    """Filter, history, and who asks; gives the asker's filter. Raises FilterError."""
    with st.container(key="query_tools", horizontal=True, gap="small", vertical_alignment="center"):
        caller, fault = filter_popover(here.visible, here.graph.store, here.retriever.filter)
        with st.popover("Parameters", key="query_parameters_popover"):
            st.text_area(
                "Parameters as JSON", key=query.PARAMETERS, persist_state="session", placeholder='{"name": "Helios"}'
            )
        history = st.container(width="content")
        if query.can_be_unscoped(here):
            st.toggle(
                "Whole server, no filter",
                key=query.UNSCOPED,
                help="Asks the Neo4j server itself. For administrators: nothing is hidden.",
            )
        who(here.asker, demo=here.graph.demo)
    if fault:
        raise fault.error
    query.open_linked()
    if st.session_state.pop(_PRESSED, False):
        query.run(caller, unscoped=bool(st.session_state.get(query.UNSCOPED)))
    with history:
        _history()
    return caller


def editor() -> None:
    """The query; Ctrl+Enter runs it as `Run` does."""
    with st.form("query_form", border=False):
        st.text_area(
            "Query",
            key=query.TEXT,
            persist_state="session",
            height=112,
            placeholder=_PLACEHOLDER,
            label_visibility="collapsed",
        )
        st.form_submit_button("Run", type="primary", help="Ctrl+Enter", on_click=_press)
    query.put_in_link()


def show_schema(schema: CypherSchema, examples: tuple[str, ...]) -> None:
    """What there is to ask about. A click begins a query."""
    with st.container(key="query_schema", gap="xsmall"):
        if not schema.patterns:
            st.caption("There is nothing to ask about: no edge can be seen.")
            return
        st.caption("Examples")
        for at, example in enumerate(examples):
            st.button(_said(example), key=f"query_example_{at}", type="tertiary", on_click=_write, args=(example,))
        st.caption(f"Labels · {len(schema.labels):,}")
        with st.container(horizontal=True, gap="xsmall"):
            for at, (name, held) in enumerate(list(schema.labels.items())[:_LISTED]):
                text = f"MATCH (n:{words.quoted(name)}) RETURN n LIMIT 25"
                label = f"{escaped(name, 60)} {held:,}"
                st.button(label, key=f"query_label_{at}", on_click=_write, args=(text,))
        st.caption(f"Patterns · {len(schema.patterns):,}")
        for at, one in enumerate(schema.patterns[:_LISTED]):
            label = " → ".join(escaped(name, 60) for name in (one.source, one.relation, one.target))
            st.button(
                f"{label} · {one.count:,}",
                key=f"query_pattern_{at}",
                type="tertiary",
                on_click=_write,
                args=(words.match_of(one),),
            )
        if len(schema.patterns) > _LISTED:
            st.caption(f"and {len(schema.patterns) - _LISTED:,} more")
        st.caption("Properties of relationships")
        st.text(", ".join(plain(name) for name in sorted({n for held in schema.properties.values() for n in held})))
        st.caption("Every node is an Entity with id and name; an attribute is a HAS_ATTRIBUTE with a key.")


def show_answer(here: Visit) -> None:
    """Rows, how long they took, and what is in them drawn."""
    now = query.asked()
    if now.error:
        show_error(now.error)
        return
    if now.answer is None:
        return
    answer = now.answer
    with st.container(key="query_said", horizontal=True, gap="small", vertical_alignment="center"):
        more = ", and more that are not read: add a LIMIT or a condition" if answer.truncated else ""
        past = ", asked of the whole server" if now.query and now.query.unscoped else ""
        st.text(f"{count(len(answer.rows), 'row')} · {answer.milliseconds:,.1f} ms{past}{more}")
        if answer.rows:
            st.download_button(
                "CSV", answer_csv(answer).encode(), file_name="rows.csv", mime="text/csv", on_click="ignore"
            )
    if answer.rows:
        _table_and_graph(here, now, answer)


def _table_and_graph(here: Visit, now: query.Asked, answer: CypherAnswer) -> None:
    picture = pictured(answer, here.graph.store, here.retriever.filter)
    if not picture.nodes:
        _table(answer)
        return
    graph_tab, table_tab = st.tabs(["Graph", "Table"], key="query_tab", on_change="rerun")
    with table_tab:
        _table(answer)
    if not graph_tab.open:
        return
    with graph_tab:
        payload = explored_payload(
            picture, here.visible.entity_types, off_types=now.off_types, off_relations=now.off_relations
        )
        subject = digest(["query", runs().scope, answer.query, len(answer.rows)])
        drawn = {"view": "query", "subject": subject, "selected": now.selected, "growth": 0, "fixed": True}
        components.explored({**drawn, "graph": payload}, on_action=query.act)
        if len(picture.nodes) >= MOST or len(picture.lines) >= MOST:
            st.caption(f"The first {len(picture.nodes):,} entities and {len(picture.lines):,} facts are drawn.")
        if now.selected in picture.drawn:
            st.page_link(BROWSE, label="Open in Browse", query_params={"open": str(now.selected)})


def _table(answer: CypherAnswer) -> None:
    st.dataframe(table(answer), height=360, key="query_table")


def _history() -> None:
    held = query.asked().history
    if not held:
        return
    with st.popover("History", key="query_history_popover"), st.container(height=300, border=False, gap="xsmall"):
        for at in range(len(held) - 1, -1, -1):
            st.button(_said(held[at].text), key=f"query_past_{at}", type="tertiary", on_click=query.go_back, args=(at,))


def _said(text: str) -> str:
    return escaped(" ".join(text.split()), 90)


def _press() -> None:
    st.session_state[_PRESSED] = True


def _write(text: str) -> None:
    st.session_state[query.TEXT] = text
