"""Import: files of a graph, what of them is what, what they would change, and the writing."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from kgcore.ingest.importers import open_source
from kgcore.ingest.reading import read_path
from kgcore.ingest.source import Source
from kgcore.viz import plain
from ui import working
from ui.build_files import Files, files, who
from ui.build_plan import show_plan, summary
from ui.resources import digest
from ui.visit import Visit
from ui.working import Work


def show_import(here: Visit) -> None:
    """From files to a graph."""
    given = files("Files of a graph", "import")
    if given is None:
        st.caption(
            "A Microsoft GraphRAG or LightRAG folder, a HippoRAG result, GraphML, GEXF or GML, triples as CSV, TSV or "
            "JSONL, a folder of JSONL, or a saved run. You see what it changes before anything is written."
        )
        return
    mapping = _mapping(given)
    principals = who("import")
    if mapping is None:
        return
    if principals is None:
        st.caption("Say who may see it: everybody, the principals that you name, or those that the files name.")
        return
    if working.is_on(here.graph):
        return
    subject = digest([given.stamp, mapping, principals, here.graph.opened, here.visible.data_version])
    store, path, fields = here.graph.store.whole(), given.path, here.config.access_fields
    planned = working.waited(
        "import",
        subject,
        "Comparing",
        lambda job: read_path(path, fields, mapping, principals).plan(
            store, progress=lambda _: working.unless_stopped(job)
        ),
    )
    if planned is None:
        return

    def write(now: Work) -> str:
        reading = read_path(given.path, fields, mapping, principals)  # which holds the files until they are written
        return summary(reading.write(store, progress=now.step).plan)

    show_plan(here, planned.plan, planned.notes.counts, "import", write)


def _mapping(given: Files) -> dict[str, str] | None:
    """The column that plays each role, as proposed until another is chosen; None while the files are not looked at."""
    source = _looked_at("source", given, {})
    if source is None:
        return None
    st.text(f"{plain(given.path.name, 100)}: {source.family}")
    if not source.roles:
        return {}
    with st.container(key="import_roles", horizontal=True, gap="small"):
        options = _chosen(given, source, [role for role, may_be in source.roles.items() if may_be != source.columns])
        if options != {role: source.mapping[role] for role in options}:  # which other columns may follow from
            source = _looked_at("source_so", given, options)
            if source is None:
                return None
        columns = _chosen(given, source, [role for role in source.mapping if role not in options])
    with st.expander("More columns"), st.container(horizontal=True, gap="small"):
        more = _chosen(given, source, [role for role in source.roles if role not in source.mapping])
    return options | columns | more


def _looked_at(kind: str, given: Files, options: dict[str, str]) -> Source | None:
    return working.waited(
        kind, (given.stamp, options), "Looking at the files", lambda _: open_source(given.path, options or None)
    )


def _chosen(given: Files, source: Source, roles: Sequence[str]) -> dict[str, str]:
    name = digest([given.stamp, dict(source.mapping), list(source.columns)])
    chosen = {}
    for role in roles:
        choices, held = source.roles[role], source.mapping.get(role)
        chosen[role] = st.selectbox(
            role.replace("_", " ").capitalize(),
            choices if choices != source.columns else [None, *choices],
            index=choices.index(held) + (choices == source.columns) if held in choices else 0,
            format_func=lambda column: "–" if column is None else plain(column),
            key=f"import_role_{role}_{name}",
            width=170,
        )
    return {role: column or "" for role, column in chosen.items() if column is not None or role in source.mapping}
