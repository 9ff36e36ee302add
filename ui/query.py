"""What a person asks in Cypher: the text, what came of it, and what was asked before in this session."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st

from kgcore import ConfigError, KgError
from kgcore.cypher import CypherAnswer, CypherExecutor, CypherSchema, UnscopedCypher
from kgcore.store.neo4j import NeoStore
from ui import resources, state
from ui.identity import locked_filter
from ui.resources import digest
from ui.runs import runs
from ui.visit import Visit
from ui.working import waited

TEXT, PARAMETERS, UNSCOPED = "query_text", "query_parameters", "query_unscoped"
_LINK = "cypher"
_LONGEST_LINK = 4_000
_KEPT = 50
_SECONDS = 10.0


@dataclass(frozen=True, kw_only=True)
class Query:
    """A query as it was run."""

    text: str
    parameters: str = ""
    filter: Mapping[str, Any] | None = None
    unscoped: bool = False


@dataclass
class Asked:
    """What was run last with its answer or error, those before, and what is selected in the picture."""

    query: Query | None = None
    answer: CypherAnswer | None = None
    error: KgError | None = None
    history: list[Query] = field(default_factory=list)
    selected: str | None = None
    off_types: tuple[str, ...] = ()
    off_relations: tuple[str, ...] = ()


def asked() -> Asked:
    """This session's, for as long as the same person looks at the same graph and data."""
    memory = runs()
    if memory.asked is None:
        memory.asked = Asked()
    found: Asked = memory.asked
    return found


def open_linked() -> None:
    """The query that the link holds is put into the editor, and not run."""
    if TEXT not in st.session_state:
        st.session_state[TEXT] = st.query_params.get(_LINK, "")[:_LONGEST_LINK]


def put_in_link() -> None:
    """The query in the editor, where it is short enough for a link. Its parameters are in none."""
    text = st.session_state[TEXT]
    state.keep_in_link(_LINK, [text] if text and len(text) <= _LONGEST_LINK else [])


def executor(here: Visit) -> CypherExecutor:
    """One that sees what the asker may see."""
    return resources.cypher_for(here.graph, locked_filter(here.asker, demo=here.graph.demo))


def can_be_unscoped(here: Visit) -> bool:
    """Whether the asker may ask the server itself."""
    return here.asker.administrator and isinstance(here.graph.store, NeoStore)


def schema(here: Visit, caller: Mapping[str, Any] | None) -> CypherSchema | None:
    """What can be asked about; None while a person has stopped its reading. Raises KgError."""
    cypher = executor(here)
    subject = digest([here.graph.opened, here.retriever.filter.key, here.visible.data_version, caller])
    return waited("query_schema", subject, "Reading the graph", lambda _: cypher.schema(filters=caller))


def examples(here: Visit, caller: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Queries that give rows here. Raises KgError."""
    return executor(here).examples(filters=caller)


def run(caller: Mapping[str, Any] | None, *, unscoped: bool) -> None:
    """Has what stands in the editor be asked on this run of the page."""
    now = asked()
    now.query = Query(
        text=st.session_state[TEXT],
        parameters=st.session_state.get(PARAMETERS, ""),
        filter=caller,
        unscoped=unscoped,
    )
    now.answer = now.error = now.selected = None
    now.off_types = now.off_relations = ()
    same = replace(now.query)
    now.history = [*(query for query in now.history if query != same), same][-_KEPT:]


def go_back(at: int) -> None:
    """Puts a query of before into the editor."""
    held = asked().history[at]
    st.session_state[TEXT], st.session_state[PARAMETERS] = held.text, held.parameters


def answer(here: Visit) -> None:
    """Asks what was run, where that has no answer yet."""
    now = asked()
    query = now.query
    if query is None or now.answer is not None or now.error is not None:
        return
    try:
        asks = _asking(here, query)
        subject = digest([query.text, query.parameters, query.filter, query.unscoped, here.graph.opened])
        now.answer = waited("query", subject, "Asking", lambda _: asks())
    except KgError as error:
        now.error = error


def _asking(here: Visit, query: Query) -> Any:
    parameters = read_parameters(query.parameters)
    if query.unscoped and can_be_unscoped(here):
        store = here.graph.store
        assert isinstance(store, NeoStore)
        server = UnscopedCypher(store)
        return lambda: server.query(query.text, parameters, timeout=_SECONDS)
    cypher = executor(here)
    return lambda: cypher.query(query.text, parameters, filters=query.filter, timeout=_SECONDS)


def read_parameters(text: str) -> dict[str, Any]:
    """A query's parameters. Raises ConfigError."""
    if not text.strip():
        return {}
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ConfigError(
            "The parameters are not a JSON object.", remedy='Write them as {"name": "Helios"}.', field="parameters"
        )
    return found


def act(action: dict[str, Any]) -> None:
    """What a person did in the picture; anything else is ignored."""
    now = asked()
    match action:
        case {"kind": "pick", "id": str(id_) | (None as id_)}:
            now.selected = id_
        case {"kind": "type", "id": str(name)}:
            now.off_types = _toggled(now.off_types, name)
        case {"kind": "relation", "id": str(name)}:
            now.off_relations = _toggled(now.off_relations, name)


def _toggled(held: tuple[str, ...], name: str) -> tuple[str, ...]:
    return tuple(one for one in held if one != name) if name in held else (*held, name)
