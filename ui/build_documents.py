"""Documents: what a graph is made from, and for administrators who may see each, and the way to take one out."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from kgcore import KgError
from kgcore.ingest import delete_documents, set_principals
from kgcore.ingest.documents import metadata_of, principals_of
from kgcore.types import DocumentInfo
from kgcore.viz import count, plain
from ui import working
from ui.errors import show_error
from ui.text import escaped
from ui.visit import Visit

FIND, LIST, NAMES, SURE = "documents_find", "documents_list", "documents_names", "documents_sure"
_SHOWN, _FEW = 1_000, 12


def show_documents(here: Visit, *, writable: bool) -> None:
    """The documents that the asker may see, with what is done to the chosen ones."""
    documents = here.graph.store.documents(here.retriever.filter)
    if not documents:
        st.caption("No document yet.")
        return
    asked = st.text_input("Find", key=FIND, bind="query-params", placeholder="A title or an id").strip().casefold()
    found = [d for d in documents if asked in d.title.casefold() or asked in d.id.casefold()]
    shown = found[:_SHOWN]
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.caption(f"{count(len(found), 'document')}{f', the first {_SHOWN:,}' if len(found) > _SHOWN else ''}")
        chosen = _table(shown)
    with right:
        if writable and chosen:
            _look_after(here, [shown[row] for row in chosen if row < len(shown)])
        elif chosen:
            _describe(here, shown[chosen[0]])
        else:
            st.caption("Choose documents to see who may see them, to change it, or to delete them." if writable else "")


def _table(documents: list[DocumentInfo]) -> list[int]:
    state = st.dataframe(
        {
            "Title": [plain(d.title, 200) for d in documents],
            "Facts": [d.facts for d in documents],
            "Edges": [d.edges for d in documents],
            "Passages": [d.chunks for d in documents],
            "Id": [plain(d.id, 200) for d in documents],
        },
        hide_index=True,
        height="content" if len(documents) < _FEW else 440,
        key=LIST,
        on_select="rerun",
        selection_mode="multi-row",
    )
    rows: list[int] = state["selection"]["rows"]
    return rows


def _describe(here: Visit, document: DocumentInfo) -> None:
    st.markdown(f"**{escaped(document.title)}**")
    st.caption(f"{count(document.facts, 'fact')}, {count(document.chunks, 'passage')}")


def _look_after(here: Visit, documents: list[DocumentInfo]) -> None:
    store = here.graph.store.whole()
    if len(documents) == 1:
        _describe(here, documents[0])
        for name, value in sorted(metadata_of(store, documents[0].id).items()):
            if name not in here.config.access_fields:
                st.caption(escaped(f"{name}: {', '.join(map(str, value)) if isinstance(value, tuple) else value}"))
        known = principals_of(store, documents[0].id)
        told = ", ".join(f"{each.value} on {each.count:,} of {documents[0].edges:,} edges" for each in known)
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
    sure = st.checkbox(f"Delete {'it' if len(ids) == 1 else 'them'} for good", key=SURE)
    if st.button("Delete", key="documents_delete", disabled=not sure):
        _do(lambda: delete_documents(store, ids))


def _do(change: Callable[[], None]) -> None:
    """Changes the graph and shows it anew, or says why it cannot be."""
    try:
        change()
    except KgError as error:
        show_error(error)
        return
    del st.session_state[SURE]
    del st.session_state[LIST]
    st.rerun()
