"""Which graph is open: the configured one, and for an administrator also the demo and those opened here before."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import streamlit as st

from kgcore import KgError
from kgcore.config import Config, cache_dir
from kgcore.viz import plain
from ui import resources, state
from ui.errors import show_error
from ui.resources import Graph

REMEMBERED = 8
DEMO = "demo"
_KEY, _NEW, _WANTED, _REFUSED = "graph", "graph_address", "graph_wanted", "graph_refused"


def open_chosen(config: Config, *, administrator: bool) -> Graph | None:
    """The graph that is chosen, in the link or here. One that cannot be opened is said, with the way back."""
    if administrator:
        _open_wanted(config)
    known = _known(config, administrator=administrator)
    usual = _name(config.store)
    wanted = st.session_state.get(_KEY) or st.query_params.get(_KEY)
    name = wanted if wanted in known else usual
    st.session_state[_KEY] = name
    state.keep_in_link(_KEY, [name] if name != usual else [])
    try:
        return resources.open_graph(known[name], config)
    except KgError as error:
        show_error(error)
    if name != usual:
        st.button("Open the usual graph", key="graph_usual", on_click=_choose, args=(usual,))
    return None


def switcher(config: Config, *, administrator: bool) -> None:
    """The known graphs, and a field to open another file."""
    if not administrator:
        return
    known = _known(config, administrator=True)
    labels = _labels(known)
    st.selectbox("Graph", list(known), format_func=labels.__getitem__, key=_KEY, persist_state="session")
    st.text_input("Open another graph", key=_NEW, placeholder="duckdb:///file.duckdb", on_change=_want)
    if refused := st.session_state.get(_REFUSED):
        show_error(refused)


def _choose(name: str) -> None:
    st.session_state[_KEY] = name


def _want() -> None:
    """Nothing is opened yet: a callback runs before it is known who asks."""
    st.session_state[_WANTED] = st.session_state[_NEW].strip()
    st.session_state.pop(_REFUSED, None)


def _open_wanted(config: Config) -> None:
    address = st.session_state.pop(_WANTED, "")
    if not address:
        return
    url = address if "://" in address else f"duckdb:///{Path(address).expanduser()}"
    try:
        resources.open_store_at(url, config)
    except KgError as error:
        st.session_state[_REFUSED] = error
        return
    _remember(url)
    st.session_state.update({_KEY: _name(url), _NEW: ""})


def _known(config: Config, *, administrator: bool) -> dict[str, str]:
    """Addresses by the names that stand for them in a link: a name gives no address away."""
    urls = [config.store, "", *_remembered()] if administrator else [config.store]
    return {_name(url): url for url in urls}


def _name(url: str) -> str:
    return resources.digest(url) if url else DEMO


def _labels(known: dict[str, str]) -> dict[str, str]:
    files = {name: Path(url.partition("://")[2]) for name, url in known.items()}
    same = Counter(file.name for file in files.values())
    return {
        name: "Demo" if name == DEMO else plain(file.name if same[file.name] == 1 else str(file))
        for name, file in files.items()
    }


def _remembered() -> list[str]:
    try:
        read = json.loads((cache_dir() / "graphs.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return [url for url in read if isinstance(url, str)][:REMEMBERED] if isinstance(read, list) else []


def _remember(url: str) -> None:
    cache_dir().mkdir(parents=True, exist_ok=True)
    urls = [url, *(one for one in _remembered() if one != url)][:REMEMBERED]
    (cache_dir() / "graphs.json").write_text(json.dumps(urls), encoding="utf-8")
