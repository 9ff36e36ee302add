"""Documents: what a graph is made from, and for administrators who may see each, and the way to take one out."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from kgcore import KgError
from kgcore.filters import WHOLE
from kgcore.ingest import delete_documents, set_principals
from kgcore.ingest.documents import PRINCIPALS, metadata_of, principals_of
from kgcore.types import DocumentInfo, PropertyValue
from kgcore.viz import count, plain
from ui import working
from ui.errors import show_error
from ui.resources import digest
from ui.text import escaped
from ui.visit import Visit

FIND, LIST, NAMES, SURE = "documents_find", "documents_list", "documents_names", "documents_sure"
_SHOWN, _FEW = 1_000, 12
_DATES = ("date", "created_at", "created", "published", "updated_at", "year")
"""Names under which documents say when they are from; the first that is there is shown."""


def show_documents(here: Visit, *, writable: bool) -> None:
    """The documents that the asker may see, with what is done to the chosen ones."""
    # Who writes looks after all of them; everybody else sees what their locked filter lets through.
    store = here.graph.store
    documents = store.whole().documents(WHOLE) if writable else store.documents(here.retriever.filter)
    if not documents:
        st.caption("No document yet.")
        return
    asked = st.text_input("Find", key=FIND, bind="query-params", placeholder="A title or an id").strip().casefold()
    found = [d for d in documents if asked in d.title.casefold() or asked in d.id.casefold()]
    shown = found[:_SHOWN]
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.caption(f"{count(len(found), 'document')}{f', the first {_SHOWN:,}' if len(found) > _SHOWN else ''}")
        with st.container(key="documents_table"):
            chosen = _table(shown, principals=writable)
    with right:
        if writable and chosen:
            _look_after(here, [shown[row] for row in chosen if row < len(shown)])
        elif chosen:
            _describe(here, shown[chosen[0]])
        elif writable:
            st.caption("Choose documents to see who may see them, to change it, or to delete them.")


def _table(documents: list[DocumentInfo], *, principals: bool) -> list[int]:
    told = {"May be seen by": [_text(d.metadata.get(PRINCIPALS, "")) for d in documents]} if principals else {}
    dates = [_date(d) for d in documents]
    state = st.dataframe(
        {
            "Title": [plain(d.title, 200) for d in documents],
            **({"Date": dates} if any(dates) else {}),
            "Facts": [d.facts for d in documents],
            "Edges": [d.edges for d in documents],
            "Passages": [d.chunks for d in documents],
            **told,
            "Id": [plain(d.id, 200) for d in documents],
        },
        hide_index=True,
        height="content" if len(documents) < _FEW else 440,
        key=f"{LIST}_{digest([d.id for d in documents])}",  # what is chosen is a row, so another list has another key
        on_select="rerun",
        selection_mode="multi-row",
    )
    rows: list[int] = state["selection"]["rows"]
    return rows


def _date(document: DocumentInfo) -> str:
    return next((_text(document.metadata[name]) for name in _DATES if name in document.metadata), "")


def _text(value: PropertyValue) -> str:
    return plain(", ".join(map(str, value)) if isinstance(value, tuple) else str(value), 200)


def _describe(here: Visit, document: DocumentInfo) -> None:
    st.markdown(f"**{escaped(document.title)}**")
    st.caption(f"{count(document.facts, 'fact')}, {count(document.chunks, 'passage')}")


def _look_after(here: Visit, documents: list[DocumentInfo]) -> None:
    store = here.graph.store.whole()
    if len(documents) == 1:
        with st.container(gap="xsmall"):
            _describe(here, documents[0])
            for name, value in sorted(metadata_of(store, documents[0].id).items()):
                if name != "title" and name not in here.config.access_fields:
                    st.caption(escaped(f"{name}: {_text(value)}"))
            known = principals_of(store, documents[0].id)
            told = ", ".join(f"{each.value} ({count(each.count, 'edge')})" for each in known)
            st.caption(escaped(f"May be seen by: {told}" if told else "No edge says who may see it.", 1_000))
    else:
        facts = sum(document.facts for document in documents)
        st.markdown(f"**{len(documents):,} documents**, {count(facts, 'fact')}")
    ids = [document.id for document in documents]
    if working.is_on(here.graph):
        st.caption("Something is being written: wait for it.")
        return
    with st.form("documents_who", border=False, clear_on_submit=True):
        names = st.text_input(
            "Who may see them", key=NAMES, placeholder="group:finance, group:public", autocomplete="off"
        )
        if st.form_submit_button("Change"):
            given = [name for name in names.split(",") if name.strip()]
            _do(lambda: set_principals(store, ids, given))
    sure = st.checkbox(f"Delete {'it' if len(ids) == 1 else 'them'} for good", key=f"{SURE}_{digest(ids)}")
    if st.button("Delete", key="documents_delete", disabled=not sure):
        _do(lambda: delete_documents(store, ids))


def _do(change: Callable[[], None]) -> None:
    """Changes the graph and shows it anew, or says why it cannot be."""
    try:
        change()
    except KgError as error:
        show_error(error)
        return
    st.rerun()
