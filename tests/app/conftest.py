"""The app on the demo graph, whose file is built once for these tests and shared with nobody."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from kgcore import Edge, Entity, open_store, write_graph
from kgcore.config import cache_dir

ROOT = Path(__file__).parents[2]
Open = Callable[..., AppTest]


@pytest.fixture(scope="session", autouse=True)
def _own_demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOPSCOPE_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        patch.delenv("HOPSCOPE_STORE", raising=False)
        patch.chdir(ROOT)
        cache_dir.cache_clear()
        yield
    cache_dir.cache_clear()
    st.cache_resource.clear()


@pytest.fixture
def own_graph(tmp_path: Path) -> str:
    """The address of a graph of one edge without vectors: Adelaide knows Bob."""
    address = f"duckdb:///{tmp_path / 'own.duckdb'}"
    store = open_store(address, create=True)
    entities = [Entity(id="a", type="T", name="Adelaide"), Entity(id="b", type="T", name="Bob")]
    edge = Edge(id="e", source_id="a", target_id="b", relation="KNOWS", src_name="Adelaide", dst_name="Bob")
    write_graph(store, entities, [edge])
    store.close()
    return address


@pytest.fixture
def opened() -> Open:
    """Opens the app with these query parameters and runs it once."""

    def open_app(**query: str | list[str]) -> AppTest:
        at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
        for name, value in query.items():
            at.query_params[name] = value
        return at.run()

    return open_app
