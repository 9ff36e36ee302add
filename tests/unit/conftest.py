"""Stores that close themselves, the demo graph, and models that no test may reach by accident."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from kgcore.config import cache_dir
from kgcore.ingest.demo import ensure_demo
from kgcore.models.chat import OpenAIChat
from kgcore.store import GraphStore, open_store
from tests.chat_server import ChatServer
from tests.data.build import graph, offline


@pytest.fixture(scope="module")
def _built() -> Iterator[dict[str, GraphStore]]:
    made: dict[str, GraphStore] = {}
    yield made
    for store in made.values():
        store.close()


@pytest.fixture
def build(_built: dict[str, GraphStore]) -> Callable[..., GraphStore]:
    """`tests.data.build.graph`, made once a module for the same edges; an empty one, to be filled, each time."""

    def build_(*edges: object, **options: object) -> GraphStore:
        key = repr((edges, options)) if edges else f"empty {len(_built)}"
        if key not in _built:
            _built[key] = graph(*edges, **options)
        return _built[key]

    return build_


@pytest.fixture(scope="session")
def demo_address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The demo graph in a file of this run."""
    offline()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOPSCOPE_CACHE_DIR", str(tmp_path_factory.mktemp("demo")))
        cache_dir.cache_clear()
        address = ensure_demo(embedder=offline())
    cache_dir.cache_clear()
    return address


@pytest.fixture(scope="module")
def demo(demo_address: str) -> Iterator[GraphStore]:
    """The demo graph, open while this module's tests run."""
    store = open_store(demo_address)
    yield store
    store.close()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    """A scripted model server."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with ChatServer() as running:
        yield running


@pytest.fixture
def chat(server: ChatServer) -> OpenAIChat:
    """The real client of that server."""
    return OpenAIChat(base_url=server.url, model="tiny", timeout=10.0)
