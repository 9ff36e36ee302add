"""Import: files of a graph, what of them is what, what they would change, and the writing."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from kgcore.ingest.importers import open_source
from kgcore.ingest.reading import read_path
from kgcore.viz import plain
from ui import working
from ui.build_files import files, who
from ui.build_plan import show_plan, summary
from ui.jobs import job_of, wait_for
from ui.resources import digest
from ui.visit import Visit
from ui.working import Work

_STOPPED = "import_stopped"


def show_import(here: Visit) -> None:
    """From files to a graph."""
    path = files("Files of a graph", "import")
    if path is None:
        st.caption(
            "A Microsoft GraphRAG or LightRAG folder, a HippoRAG result, GraphML, GEXF or GML, triples as CSV, TSV or "
            "JSONL, a folder of JSONL, or a saved run. You see what it changes before anything is written."
        )
        return
    mapping = _mapping(path)
    principals = who("import")
    if principals is None:
        st.caption("Say who may see it: everybody, the principals that you name, or those that the files name.")
        return
    if working.is_on(here.graph):
        return
    subject = digest([str(path), mapping, principals, here.graph.opened, here.visible.data_version])
    if st.session_state.get(_STOPPED) == subject:
        if st.button("Preview", key="import_again"):
            del st.session_state[_STOPPED]
            st.rerun()
        return
    store = here.graph.store.whole()
    job = job_of(
        "import",
        subject,
        lambda job: read_path(path, here.config.access_fields, mapping, principals).plan(
            store, progress=lambda _: working.unless_stopped(job)
        ),
    )

    def stop() -> None:
        job.stop()
        st.session_state[_STOPPED] = subject

    wait_for(job, "import", "Comparing", on_stop=stop)
    planned = job.result()

    def write(now: Work) -> str:
        reading = read_path(path, here.config.access_fields, mapping, principals)
        return summary(reading.write(store, progress=now.step).plan)

    show_plan(here, planned.plan, planned.notes.counts, "import", write)


def _mapping(path: Path) -> dict[str, str]:
    """The column that plays each role, as proposed until another is chosen."""
    source = open_source(path)
    st.text(f"{plain(path.name, 100)}: {source.family}")
    if not source.roles:
        return {}
    name = digest([str(path), dict(source.mapping), list(source.columns)])
    chosen = {}
    with st.container(key="import_roles", horizontal=True, gap="small"):
        for role, choices in source.roles.items():
            held = source.mapping.get(role)
            chosen[role] = st.selectbox(
                role.replace("_", " ").capitalize(),
                [None, *choices],
                index=choices.index(held) + 1 if held in choices else 0,
                format_func=lambda column: "–" if column is None else plain(column),
                key=f"import_role_{role}_{name}",
                width=170,
            )
    return {role: column for role, column in chosen.items() if column is not None}
