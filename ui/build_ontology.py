"""The ontology that documents are read by: written, opened or proposed, with what of the graph it would drop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from kgcore import KgError
from kgcore.filters import WHOLE
from kgcore.ingest.ontology import Dropped, dropped_by, ontology_fault, parse_ontology, write_ontology
from kgcore.ingest.proposed import ontology_of, propose_ontology
from kgcore.types import Ontology
from kgcore.viz import count, plain
from ui import working
from ui.build_ontology_tables import HEIGHT, edited
from ui.errors import show_error
from ui.resources import digest
from ui.text import escaped
from ui.visit import Visit

TEXT, SHAPE, WRITTEN = "ontology_text", "ontology_shape", "ontology_written"
_SHAPES = ("Tables", "JSON")
_NONE_YET = "Write one, or have one proposed from this graph or, by the chat model, from the documents."
_NEXT, _OPENED, _FILE = "ontology_next", "ontology_opened", "ontology_file"
_NAMED = 10
_EMPTY = """{
 "entity_types": [{"name": "Person", "description": "A human being."}, {"name": "Organization"}],
 "relation_types": [{"name": "WORKS_AT", "source": ["Person"], "target": ["Organization"]}]
}"""


def ontology_editor(here: Visit, samples: Sequence[str]) -> Ontology | None:
    """The ontology as it is written now, or None, after saying what is wrong with it."""
    if _NEXT in st.session_state:
        st.session_state[WRITTEN] = st.session_state.pop(_NEXT)
        st.session_state.pop(TEXT, None)
    model = here.retriever.llm
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        of_graph = st.button("From this graph", key="ontology_graph", disabled=not here.visible.edges)
        of_samples = st.button("From the documents", key="ontology_model", disabled=model is None or not samples)
        with st.popover("Open a file"):
            file = st.file_uploader("An ontology as JSON", type="json", key=_FILE)
        save = st.container(width="content")
        shape = st.segmented_control(
            "Shape",
            _SHAPES,
            default=_SHAPES[0],
            key=SHAPE,
            required=True,
            label_visibility="collapsed",
            persist_state="session",
        )
    try:
        if of_graph and (found := ontology_of(here.graph.store.whole(), WHOLE)):
            _take(found)
        if of_samples and model:
            with st.spinner("Asking the chat model", show_time=True):
                proposed = propose_ontology(model, samples)
            _take(proposed)
        if file is not None and st.session_state.get(_OPENED) != file.file_id:
            opened = parse_ontology(file.getvalue(), file.name)
            st.session_state[_OPENED] = file.file_id
            _take(opened)
    except KgError as error:
        show_error(error)
    ontology = _as_json() if shape == "JSON" else _as_tables()
    written = st.session_state[WRITTEN]
    save.download_button(
        "Save", written, "ontology.json", "application/json", key="ontology_save", disabled=not written
    )
    if ontology is None:
        return None
    if fault := ontology_fault(ontology):
        st.error(escaped(f"The ontology cannot be used: {fault}."))
        return None
    if here.visible.edges:
        _preview(here, ontology)
    return ontology


def _as_json() -> Ontology | None:
    """As it is written; None, after saying why, while it is none."""
    st.session_state.setdefault(TEXT, st.session_state.get(WRITTEN, ""))
    text = st.text_area("Ontology as JSON", key=TEXT, height=HEIGHT, placeholder=_EMPTY)
    st.session_state[WRITTEN] = text
    if not text.strip():
        st.caption(_NONE_YET)
        return None
    return _parsed(text)


def _as_tables() -> Ontology | None:
    """As its tables say; None, after saying why, while they are empty or the JSON is none."""
    st.session_state.pop(TEXT, None)
    text = st.session_state.setdefault(WRITTEN, "")
    held = _parsed(text) if text.strip() else Ontology(entity_types=())
    if held is None:
        return None
    ontology = edited(held)
    empty = ontology == Ontology(entity_types=())
    st.session_state[WRITTEN] = "" if empty else write_ontology(ontology)
    if empty:
        st.caption(_NONE_YET)
        return None
    return ontology


def _parsed(text: str) -> Ontology | None:
    try:
        return parse_ontology(text, checked=False)
    except KgError as error:
        show_error(error)
        return None


def _take(ontology: Ontology) -> None:
    st.session_state[_NEXT] = write_ontology(ontology)
    st.rerun()


def _preview(here: Visit, ontology: Ontology) -> None:
    store = here.graph.store.whole()
    subject = digest([write_ontology(ontology), here.graph.opened, here.visible.data_version])
    dropped = working.waited(
        "ontology", subject, "Holding the graph against it", lambda _: dropped_by(ontology, store, WHOLE)
    )
    if dropped is None:
        return
    if not dropped.edges and not dropped.entities:
        st.caption("All of this graph keeps to it.")
        return
    st.caption(escaped(_told(dropped), 1_000))


def _told(dropped: Dropped) -> str:
    triples = {f"{one.source} {one.relation} {one.target}": number for one, number in dropped.triples.items()}
    parts = {"entity types": dropped.entities, "relations": dropped.relations, "triples": triples}
    named = "; ".join(f"{what} {_listed(counts)}" for what, counts in parts.items() if counts)
    stranded = f" {count(dropped.stranded, 'entity', 'entities')} would be left alone." if dropped.stranded else ""
    return f"Of this graph it would drop {count(dropped.edges, 'edge')}: {named}.{stranded}"


def _listed(counts: Mapping[str, int]) -> str:
    shown = [f"{plain(name, 60)} ({number:,})" for name, number in list(counts.items())[:_NAMED]]
    return ", ".join(shown) + (f" and {len(counts) - _NAMED:,} more" if len(counts) > _NAMED else "")
