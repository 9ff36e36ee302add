"""What is opened once and shared: the store, the models, a retriever for each locked filter."""

from __future__ import annotations

import hashlib
import json
import threading
from dataclasses import dataclass, field
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kgcore import KnowledgeGraphRetriever, open_store, read_ontology
from kgcore.config import Config
from kgcore.ingest.demo import DEMO, demo_examples, ensure_demo
from kgcore.models.offline import MaxSimReranker, OfflineEmbedder
from kgcore.models.protocol import ChatModel
from kgcore.store import GraphStore


@dataclass(frozen=True, kw_only=True)
class Graph:
    """The graph that the app has open, and whether it is the demo."""

    url: str
    store: GraphStore
    demo: bool


def open_graph(url: str, config: Config) -> Graph:
    """The graph at an address, or for "" the demo, built first where it must be. Raises KgError."""
    slot = st.empty()  # always, so that what stands below it keeps its place
    address = url or _demo_url(slot)
    return Graph(url=address, store=open_store_at(address, config), demo=not url)


def open_store_at(url: str, config: Config) -> GraphStore:
    """The store at an address, opened once for all. Raises KgError."""
    return _store(url, config.access_fields)


def retriever_for(graph: Graph, locked: dict[str, Any] | None, config: Config) -> KnowledgeGraphRetriever:
    """A retriever that sees only what the locked filter lets through, with the chat model if there is one."""
    chat = config.chat_url, config.chat_model, digest(config.chat_key.get_secret_value()), config.chat_timeout
    return _retriever(graph.url, json.dumps(locked, sort_keys=True), chat, graph, config)


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


@st.cache_resource(show_spinner=False)
def _store(url: str, access_fields: frozenset[str]) -> GraphStore:
    return open_store(url, access_fields=access_fields)


def _chat(config: Config) -> ChatModel | None:
    if not config.has_chat:
        return None
    from kgcore.models.chat import OpenAIChat  # takes half a second to import, which the first page need not wait for

    return OpenAIChat.from_config(config)


@st.cache_resource(show_spinner=False, max_entries=64)
def _retriever(
    url: str, locked: str, chat: tuple[str, str, str, float], _graph: Graph, _config: Config
) -> KnowledgeGraphRetriever:
    return KnowledgeGraphRetriever(
        store=_graph.store,
        embedder=embedder(),
        llm=_chat(_config),
        ontology=read_ontology(DEMO / "ontology.json") if _graph.demo else None,
        filters=json.loads(locked),
        document_retriever=_graph.store.chunks,
    )


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

            def show(done: int, total: int, what: str) -> None:
                slot.progress(min(1.0, done / max(1, total)), text=f"Building the demo graph: {what}")

            demo.url = ensure_demo(progress=show, embedder=embedder())
            slot.empty()
    return demo.url


def digest(value: Any) -> str:
    """A short name for a value of JSON types, for keys and links."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]
