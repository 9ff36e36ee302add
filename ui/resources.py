"""What is opened once and shared: the stores, the models, a retriever for each locked filter."""

from __future__ import annotations

import hashlib
import json
import threading
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kgcore import KgError, KnowledgeGraphRetriever, open_store, read_ontology
from kgcore.config import Config, store_options
from kgcore.ingest.demo import DEMO, demo_examples, ensure_demo
from kgcore.models.offline import MaxSimReranker, OfflineEmbedder
from kgcore.models.protocol import ChatModel
from kgcore.store import GraphStore, is_server

if TYPE_CHECKING:
    from kgcore.cypher import CypherExecutor


@dataclass(frozen=True, kw_only=True)
class Login:
    """Who logs in to a server. It lives in a session, and nothing shows it."""

    user: str = field(repr=False)
    password: str = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class Graph:
    """The graph that the app has open, and whether it is the demo.

    `url` is without a login. `opened` names this opening of its store: under another mapping it is another.
    """

    url: str
    store: GraphStore
    demo: bool
    opened: str


def open_graph(url: str, config: Config, login: Login | None = None) -> Graph:
    """The graph at an address, or for "" the demo, built first where it must be. Raises KgError."""
    slot = st.empty()  # always, so that what stands below it keeps its place
    address = url or _demo_url(slot)
    opened, store = open_store_at(address, config, login)
    return Graph(url=without_login(address), store=store, demo=not url, opened=opened)


def open_store_at(url: str, config: Config, login: Login | None = None) -> tuple[str, GraphStore]:
    """The store at an address, opened once for all who log in alike, and the name of this opening.

    It is opened anew, and the one before closed, when the address has another mapping. Raises KgError.
    """
    options = options_at(url, config, login)
    mapping: Path = options["mapping_file"]
    place = {**options, "access_fields": sorted(config.access_fields), "mapping_file": str(mapping)}
    return _store(digest([url, place])).open(url, options, mapping.read_bytes() if mapping.is_file() else b"")


def options_at(url: str, config: Config, login: Login | None) -> dict[str, Any]:
    """What `open_store` takes beside an address: the settings' own, with the login of this session if it has one."""
    options = store_options(config, url)
    return options | {"user": login.user, "password": login.password} if login else options


def without_login(url: str) -> str:
    """An address that may be shown and remembered."""
    if is_server(url):
        from kgcore.store.neo4j_server import Address

        try:
            return Address.parse(url).shown
        except KgError:
            pass  # It is said when it is opened.
    scheme, separator, rest = url.partition("://")
    return url if scheme == "duckdb" else f"{scheme}{separator}{rest.rpartition('@')[2]}"


def retriever_for(graph: Graph, locked: Mapping[str, Any] | None, config: Config) -> KnowledgeGraphRetriever:
    """A retriever that sees only what the locked filter lets through, with the chat model if there is one."""
    chat = config.chat_url, config.chat_model, digest(config.chat_key.get_secret_value()), config.chat_timeout
    return _retriever(graph.opened, json.dumps(locked, sort_keys=True), chat, graph, config)


def cypher_for(graph: Graph, locked: Mapping[str, Any] | None) -> CypherExecutor:
    """Cypher over what this locked filter lets through."""
    return _cypher(graph.opened, json.dumps(locked, sort_keys=True), graph)


@st.cache_resource(show_spinner=False)
def embedder() -> OfflineEmbedder:
    """The offline embedder."""
    return OfflineEmbedder()


@st.cache_resource(show_spinner=False)
def reranker() -> MaxSimReranker:
    """The offline reranker, on the embedder's own model."""
    return MaxSimReranker(embedder())


@st.cache_data(show_spinner=False)
def examples() -> list[dict[str, Any]]:
    """The demo's questions that have settings of their own."""
    return demo_examples()


class _Store:
    """A store that is open, or not yet, or not while it cannot be."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._mapping = b""
        self._name = ""
        self._held: GraphStore | None = None

    def open(self, url: str, options: Mapping[str, Any], mapping: bytes) -> tuple[str, GraphStore]:
        with self._lock:
            if self._held is None or mapping != self._mapping:
                store = open_store(url, **options)
                self.close()
                self._held, self._mapping, self._name = store, mapping, uuid.uuid4().hex
            return self._name, self._held

    def close(self) -> None:
        if self._held is not None:
            self._held.close()
            self._held = None


@st.cache_resource(show_spinner=False, on_release=_Store.close)
def _store(key: str) -> _Store:
    return _Store()


def _chat(config: Config) -> ChatModel | None:
    if not config.has_chat:
        return None
    from kgcore.models.chat import OpenAIChat  # takes half a second to import, which the first page need not wait for

    return OpenAIChat.from_config(config)


@st.cache_resource(show_spinner=False, max_entries=64)
def _retriever(
    opened: str, locked: str, chat: tuple[str, str, str, float], _graph: Graph, _config: Config
) -> KnowledgeGraphRetriever:
    return KnowledgeGraphRetriever(
        store=_graph.store,
        embedder=embedder(),
        llm=_chat(_config),
        ontology=read_ontology(DEMO / "ontology.json") if _graph.demo else None,
        filters=json.loads(locked),
        document_retriever=_graph.store.chunks,
    )


@st.cache_resource(show_spinner=False, max_entries=4, on_release=lambda cypher: cypher.close())
def _cypher(opened: str, locked: str, _graph: Graph) -> CypherExecutor:
    from kgcore.cypher import CypherExecutor  # brings the driver of Neo4j, which the first page need not wait for

    return CypherExecutor(store=_graph.store, filters=json.loads(locked))


@dataclass
class _Demo:
    """One build a process: whoever comes while it is built waits for it."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    url: str = ""


@st.cache_resource(show_spinner=False)
def _demo() -> _Demo:
    return _Demo()


def _demo_url(slot: DeltaGenerator) -> str:
    demo = _demo()
    with demo.lock:
        if not demo.url:

            def show(done: int, total: int | None, what: str) -> None:
                slot.progress(min(1.0, done / total) if total else 0.0, text=f"Building the demo graph: {what}")

            demo.url = ensure_demo(progress=show, embedder=embedder())
            slot.empty()
    return demo.url


def digest(value: Any) -> str:
    """A short name for a value of JSON types, for keys and links."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]
