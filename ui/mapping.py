"""How a Neo4j graph that others built is read: the mapping as a form, tried out before it is saved."""

from __future__ import annotations

from collections.abc import Mapping as AnyMapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from kgcore import ConfigError, KgError
from kgcore.config import Config
from kgcore.doctor import Sample, sample
from kgcore.models.offline import NAME
from kgcore.store import is_server
from kgcore.store.mapping import OWN, Mapping, read_mapping, save_mapping
from kgcore.viz import count, plain
from ui import resources
from ui.errors import show_error
from ui.graphs import Chosen
from ui.resources import Graph
from ui.text import escaped

FACTS = 3
Offered = AnyMapping[str, tuple[str, ...]]
"""Names of the graph by their kind: `label`, `node` and `edge` for properties, `type`; and `model`."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """An entry of a mapping as a field: its label, what is offered, whether it takes several, and a word of help."""

    name: str
    label: str
    kind: str
    many: bool = False
    help: str | None = None


GROUPS: dict[str, tuple[Entry, ...]] = {
    "Entities": (
        Entry(name="labels", label="Labels", kind="label", many=True, help="None: every node that has a name."),
        Entry(name="names", label="Name", kind="node", many=True, help="The first of these that a node has."),
        Entry(name="id", label="Id", kind="node", help="None: the server's own element id."),
        Entry(name="type", label="Type", kind="node", help="None: the first label that says more."),
        Entry(name="plumbing", label="Labels that are no type", kind="label", many=True),
        Entry(name="entity_vector", label="Vector of the name", kind="node"),
    ),
    "Facts": (
        Entry(name="relation", label="Relation", kind="edge", help="None: the type of the relationship."),
        Entry(name="description", label="Description", kind="edge"),
        Entry(name="key", label="Key of an attribute", kind="edge"),
        Entry(name="source_name", label="Name of the source", kind="edge", help="None: the node's own."),
        Entry(name="target_name", label="Name of the target", kind="edge", help="None: the node's own."),
        Entry(name="document", label="Source document's id", kind="edge"),
        Entry(name="edge_id", label="Id of the fact", kind="edge"),
        Entry(name="edge_vector", label="Vector of the fact", kind="edge"),
        Entry(name="ignored", label="Types that are no facts", kind="type", many=True),
    ),
    "Passages": (
        Entry(name="chunk_label", label="Label", kind="label"),
        Entry(name="chunk_text", label="Text", kind="node"),
        Entry(name="chunk_id", label="Id of the passage", kind="node"),
        Entry(name="chunk_document", label="Document's id or title", kind="node"),
        Entry(name="chunk_vector", label="Vector of the passage", kind="node"),
        Entry(name="chunk_link", label="Type that joins it and entities", kind="type"),
    ),
    "Access and vectors": (
        Entry(name="access", label="Properties of access", kind="edge", many=True, help="They are never shown."),
        Entry(name="embedder", label="Embedder of the vectors", kind="model"),
    ),
}
ENTRIES = tuple(entry for group in GROUPS.values() for entry in group)


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What was read of a graph: the names to offer, and the proposed mapping, None where nothing has a name."""

    offered: Offered
    proposal: Mapping | None


@dataclass(frozen=True, kw_only=True)
class Tried:
    """A mapping, and what it reads or why it cannot be read by."""

    mapping: Mapping
    found: Sample | KgError


def mapping_form(choice: Chosen, graph: Graph | None, config: Config, locked: AnyMapping[str, Any] | None) -> None:
    """The mapping of the graph that is chosen, if it is one that others built; nothing for any other."""
    if not is_server(choice.url) or choice.wants_login or (graph is not None and _is_own(graph)):
        return
    form = _Form(choice, config, locked)
    st.subheader("Mapping")
    st.caption("How this graph is read. It is kept in a file on this machine, and never written into the graph.")
    try:
        form.draw()
    except KgError as error:
        show_error(error)


class _Form:
    """The form of one graph. What is entered is kept in the session, by the graph's name."""

    def __init__(self, choice: Chosen, config: Config, locked: AnyMapping[str, Any] | None) -> None:
        self.url, self.config, self.locked = choice.url, config, locked
        self.options = resources.options_at(choice.url, config, choice.login)
        self.file: Path = self.options["mapping_file"]
        self.key = f"mapping_{resources.digest(choice.shown)}"

    def draw(self) -> None:
        proposed = st.session_state.pop(f"{self.key}_proposed", False)
        seen = self._seen(anew=proposed)
        self._begin(seen, proposed=proposed)
        with st.form(self.key):
            for column, (title, entries) in zip(st.columns(len(GROUPS)), GROUPS.items(), strict=True):
                with column:
                    st.markdown(f"**{title}**")
                    for entry in entries:
                        self._field(entry, seen.offered)
            with st.container(horizontal=True):
                tried = st.form_submit_button("Try", key="mapping_try")
                saved = st.form_submit_button("Save", key="mapping_save", type="primary")
                st.form_submit_button(
                    "Use the proposal", key="mapping_propose", on_click=self._propose, disabled=seen.proposal is None
                )
        result = self._try(anew=proposed or tried or saved)
        if isinstance(result.found, KgError):
            show_error(result.found)
            return
        if saved:
            save_mapping(self.file, result.mapping)
            st.session_state[f"{self.key}_saved"] = True
            st.rerun()
        if st.session_state.pop(f"{self.key}_saved", False):
            st.success("Saved. The graph is read by it from now on.")
        _show(result.found)

    def _seen(self, *, anew: bool) -> Seen:
        key = f"{self.key}_seen"
        if anew or key not in st.session_state:
            st.session_state[key] = self._look()
        seen: Seen = st.session_state[key]
        return seen

    def _look(self) -> Seen:
        from kgcore.store.neo4j_schema import propose, read_schema

        store = self._open(Mapping())
        try:
            schema = read_schema(store.server)
            nodes = {name for kind in schema.labels.values() for name in kind.properties}
            edges = {name for kind in schema.types.values() for name in kind.properties}
            offered = {
                "label": tuple(sorted(schema.labels)),
                "node": tuple(sorted(nodes)),
                "edge": tuple(sorted(edges)),
                "type": tuple(sorted(schema.types)),
                "model": (NAME,),
            }
            try:
                return Seen(offered=offered, proposal=propose(store.server, schema))
            except KgError:
                return Seen(offered=offered, proposal=None)  # that nothing has a name is said above
        finally:
            store.close()

    def _begin(self, seen: Seen, *, proposed: bool) -> None:
        """At first the saved mapping is entered, or else the proposed one."""
        if f"{self.key}_begun" in st.session_state and not proposed:
            return
        st.session_state[f"{self.key}_begun"] = True
        try:
            saved = None if proposed else read_mapping(self.file)
        except ConfigError:
            saved = None  # that it cannot be used is said above
        self._enter(saved or seen.proposal or Mapping(names=()))

    def _propose(self) -> None:
        """Nothing is read yet: a callback runs before it is known who asks."""
        st.session_state[f"{self.key}_proposed"] = True

    def _enter(self, mapping: Mapping) -> None:
        for name, value in asdict(mapping).items():
            st.session_state[f"{self.key}_{name}"] = list(value) if isinstance(value, tuple) else value or None

    def _field(self, entry: Entry, offered: Offered) -> None:
        key = f"{self.key}_{entry.name}"
        held = st.session_state.get(key)
        entered = held if isinstance(held, list) else [held] if held else []
        options = list(dict.fromkeys([*offered[entry.kind], *entered]))
        if entry.many:
            st.multiselect(
                entry.label,
                options,
                key=key,
                format_func=plain,
                accept_new_options=True,
                help=entry.help,
                placeholder="None",
                persist_state="session",
            )
        else:
            st.selectbox(
                entry.label,
                options,
                index=None,
                key=key,
                format_func=plain,
                accept_new_options=True,
                help=entry.help,
                placeholder="None",
                persist_state="session",
            )

    def _entered(self) -> Mapping:
        """What is entered. Raises ConfigError for what no graph could be read by."""
        given: dict[str, Any] = {}
        for entry in ENTRIES:
            value = st.session_state.get(f"{self.key}_{entry.name}")
            given[entry.name] = tuple(value or ()) if entry.many else value or ""
        mapping = Mapping(**given)
        if not mapping.names:
            raise ConfigError("The mapping names no property with a name.", remedy="Choose or enter one under Name.")
        if mapping == OWN:
            raise ConfigError(
                "This is the layout that Hopscope writes, and this graph is not in it.", remedy="Change an entry."
            )
        return mapping

    def _try(self, *, anew: bool) -> Tried:
        """What the mapping that is entered reads; looked at again when it is asked for."""
        key = f"{self.key}_tried"
        if anew or key not in st.session_state:
            st.session_state[key] = self._read()
        tried: Tried = st.session_state[key]
        return tried

    def _read(self) -> Tried:
        mapping = Mapping()
        try:
            mapping = self._entered()
            store = self._open(mapping)
            try:
                found = sample(store, self.locked, facts=FACTS, embedder=resources.embedder())
            finally:
                store.close()
            return Tried(mapping=mapping, found=found)
        except KgError as error:
            return Tried(mapping=mapping, found=error)

    def _open(self, mapping: Mapping) -> Any:
        from kgcore.store.neo4j import open_neo4j

        login = {name: self.options[name] for name in ("user", "password") if name in self.options}
        return open_neo4j(self.url, mapping=mapping, access_fields=self.config.access_fields, **login)


def _is_own(graph: Graph) -> bool:
    from kgcore.store.neo4j import NeoStore

    return isinstance(graph.store, NeoStore) and graph.store.layout.own


def _show(found: Sample) -> None:
    st.write(f"It reads {count(found.entities, 'entity', 'entities')} and {count(found.edges, 'edge')}.")
    for fact in found.facts:
        st.write(f"- {escaped(fact)}")
