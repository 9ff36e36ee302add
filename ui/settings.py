"""What the Settings page shows of the graph and the models, and its self-check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from kgcore import KgError
from kgcore.config import Config
from kgcore.doctor import Check, examine
from kgcore.filters import AccessFilter
from kgcore.models.offline import DIMENSION, NAME
from kgcore.store import is_server
from kgcore.viz import count
from ui import resources
from ui.errors import show_error
from ui.graphs import Chosen
from ui.resources import Graph
from ui.text import escaped

LONGEST = 1_000
SIGNS = {"pass": "✓ pass", "warn": "! warning", "fail": "✗ fail", "skip": "– skipped"}
_CHECKS = "settings_checks"


def what_is_open(graph: Graph | None, locked: Mapping[str, Any] | None) -> None:
    """The address of the graph, what it is, and how much of it can be seen."""
    if graph is None:
        return
    kind = "the demo" if graph.demo else "a Neo4j database" if is_server(graph.url) else "a DuckDB file"
    st.write(f"{escaped(graph.url, LONGEST)}, {kind}.")
    try:
        visible = graph.store.describe(AccessFilter.of(locked, access_fields=graph.store.access_fields))
    except KgError as error:
        show_error(error)
        return
    entities = count(visible.entities, "entity", "entities")
    st.write(f"{entities}, {count(visible.edges, 'edge')}, {count(visible.documents, 'document')}.")
    for warning in visible.warnings:
        st.caption(escaped(warning, LONGEST))


def models(config: Config) -> None:
    """The models in use, and where the chat model is asked. A key is only said to be set."""
    st.subheader("Models")
    st.write(f"Embedder and reranker: {escaped(NAME)}, {DIMENSION} numbers, offline.")
    url, _, _ = config.chat_url.strip().rpartition("@")[2].partition("?")
    if not url and not config.chat_model.strip():
        st.write(escaped("Chat model: none. Set HOPSCOPE_CHAT_URL and HOPSCOPE_CHAT_MODEL; HOPSCOPE_CHAT_KEY if any."))
        return
    held = "a key is set" if config.chat_key.get_secret_value() else "no key is set"
    name = escaped(config.chat_model.strip() or "not named")
    st.write(f"Chat model: {name}, at {escaped(url or 'no address', LONGEST)}, {held}.")


def self_check(choice: Chosen, graph: Graph | None, config: Config, locked: Mapping[str, Any] | None) -> None:
    """A button that runs the self-check, and what it found of this graph."""
    st.subheader("Self-check")
    if st.button("Run", key="settings_run", disabled=choice.wants_login):
        url = choice.url or (graph.url if graph else "")
        with st.spinner("Looking", show_time=True):
            options = resources.options_at(url, config, choice.login)
            found = examine(config, url, options=options, locked=locked, embedder=resources.embedder())
            st.session_state[_CHECKS] = choice.shown, tuple(found)
    shown, checks = st.session_state.get(_CHECKS, ("", ()))
    if not checks or shown != choice.shown:
        st.caption("Looks at the address, the login, the indexes, a question and the models.")
        return
    with st.container(key="checks", gap="xsmall"):
        for check in checks:
            _row(check)


def _row(check: Check) -> None:
    sign, text = st.columns([1, 6], gap="small")
    sign.write(SIGNS[check.state])
    said = f"**{escaped(check.name)}** {escaped(check.said, LONGEST)}"
    text.write(f"{said}  \n→ {escaped(check.remedy, LONGEST)}" if check.remedy else said)
