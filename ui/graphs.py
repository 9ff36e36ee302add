"""Which graph is open: the configured one, and for an administrator also the demo and those opened here before."""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

import streamlit as st

from kgcore import KgError
from kgcore.config import Config, cache_dir
from kgcore.store import is_server, open_store
from kgcore.viz import plain
from ui import resources, state
from ui.errors import show_error, try_again
from ui.resources import Graph, Login, without_login
from ui.text import escaped

REMEMBERED = 8
DEMO = "demo"
_KEY, _NEW, _WANTED, _REFUSED = "graph", "graph_address", "graph_wanted", "graph_refused"
_MADE, _CREATE = "graph_made", "graph_create"
_ASKED, _LOGINS, _USER, _PASSWORD = "graph_asked", "graph_logins", "graph_user", "graph_password"


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """The graph that is chosen: its address, "" for the demo, and this session's login to it, if it has one.

    `usual` is the configured one. `wants_login` when nothing says who logs in to its server.
    """

    url: str = field(repr=False)
    login: Login | None
    usual: bool
    wants_login: bool

    @property
    def shown(self) -> str:
        """The address without a login; "" for the demo."""
        return without_login(self.url)


def chosen(config: Config, *, administrator: bool) -> Chosen:
    """The graph that is chosen, in the link or here; opens nothing but what was just asked for."""
    if administrator:
        _open_wanted(config)
    known = _known(config, administrator=administrator)
    usual = _name(config.store)
    wanted = st.session_state.get(_KEY) or st.query_params.get(_KEY)
    name = wanted if wanted in known else usual
    st.session_state[_KEY] = name
    state.keep_in_link(_KEY, [name] if name != usual else [])
    login = _logins().get(name)
    wants = name != usual and is_server(known[name]) and login is None
    return Chosen(url=known[name], login=login, usual=name == usual, wants_login=wants)


def open_chosen(config: Config, *, administrator: bool) -> Graph | None:
    """The graph that is chosen. One that cannot be opened is said, with the way to another and back."""
    choice = chosen(config, administrator=administrator)
    graph = opened(choice, config)
    if graph is None:
        switcher(config, choice, administrator=administrator)
    return graph


def opened(choice: Chosen, config: Config) -> Graph | None:
    """Opens the graph that is chosen, or says why it cannot be."""
    if choice.wants_login:
        st.write(f"{escaped(choice.shown)} wants a login.")
        return None
    try:
        return resources.open_graph(choice.url, config, choice.login)
    except KgError as error:
        show_error(error)
        if is_server(choice.url):
            try_again()
    return None


def switcher(config: Config, failed: Chosen | None = None, *, administrator: bool) -> None:
    """The known graphs, and a field to open another file or server. `failed` is the chosen one if it does not open."""
    if not administrator:
        return
    known = _known(config, administrator=True)
    labels = _labels(known)
    st.selectbox("Graph", list(known), format_func=labels.__getitem__, key=_KEY, persist_state="session")
    if failed and not failed.usual:
        st.button("Open the usual graph", key="graph_usual", on_click=_choose, args=(_name(config.store),))
    st.text_input(
        "Open another graph", key=_NEW, placeholder="duckdb:///file.duckdb or neo4j://host/database", on_change=_want
    )
    again = failed.shown if failed and not failed.usual and is_server(failed.url) else ""
    if refused := st.session_state.get(_REFUSED):
        show_error(refused)
    if asked := st.session_state.get(_ASKED) or again:
        _login_form(asked)


def maker(key: str = "") -> None:
    """A field for a file to make a new graph in; `key` tells two on one page apart."""
    st.text_input(
        "Make a new graph", key=_MADE + key, placeholder="graph.duckdb", on_change=_make, args=(_MADE + key,), width=480
    )
    if key and (refused := st.session_state.get(_REFUSED)):
        show_error(refused)


def label_of(url: str, *, demo: bool) -> str:
    """What a graph is called here."""
    name = DEMO if demo else _name(url)
    return _labels({name: url})[name]


def _make(key: str) -> None:
    st.session_state[_WANTED] = st.session_state[key].strip(), None
    st.session_state[_CREATE] = True
    st.session_state[key] = ""


def _login_form(address: str) -> None:
    with st.form("graph_login", border=False):
        st.caption(f"Log in to {escaped(address)}")
        st.text_input("User", key=_USER, placeholder="neo4j", autocomplete="off")
        st.text_input("Password", key=_PASSWORD, type="password", autocomplete="off")
        st.form_submit_button("Log in", on_click=_log_in, args=(address,))


def _log_in(address: str) -> None:
    login = Login(user=st.session_state[_USER].strip() or "neo4j", password=st.session_state[_PASSWORD])
    st.session_state[_WANTED] = address, login
    st.session_state[_PASSWORD] = ""


def _choose(name: str) -> None:
    st.session_state[_KEY] = name


def _want() -> None:
    """Nothing is opened yet: a callback runs before it is known who asks."""
    st.session_state[_WANTED] = st.session_state[_NEW].strip(), None


def _open_wanted(config: Config) -> None:
    if _WANTED not in st.session_state:
        return
    address, login = st.session_state.pop(_WANTED)
    create = st.session_state.pop(_CREATE, False)
    st.session_state.pop(_REFUSED, None)
    st.session_state.pop(_ASKED, None)
    if not address:
        return
    given = address if "://" in address else f"duckdb:///{os.path.expanduser(address)}"
    url, login = without_login(given), login or _login_in(given)
    name = _name(url)
    known = _known(config, administrator=True)
    st.session_state[_NEW] = url  # what was typed may hold a login
    if is_server(url) and not login and name not in _logins() and name != _name(config.store):
        st.session_state[_ASKED] = url
        return
    try:
        if create and not is_server(url):
            open_store(url, create=True).close()
        resources.open_store_at(known.get(name, url), config, login or _logins().get(name))
    except KgError as error:
        st.session_state[_REFUSED] = error
        if is_server(url):
            st.session_state[_ASKED] = url
        return
    if login:
        st.session_state[_LOGINS] = {**_logins(), name: login}
    _remember(url)
    st.session_state.update({_KEY: name, _NEW: ""})


def _login_in(url: str) -> Login | None:
    """The login that an address holds."""
    try:
        parts = urlsplit(url) if is_server(url) else None
    except ValueError:
        return None
    if parts is None or not (parts.username or parts.password):
        return None
    return Login(user=unquote(parts.username or "neo4j"), password=unquote(parts.password or ""))


def _logins() -> dict[str, Login]:
    """This session's, by the names of their graphs."""
    found: dict[str, Login] = st.session_state.get(_LOGINS, {})
    return found


def _known(config: Config, *, administrator: bool) -> dict[str, str]:
    """Addresses by the names that stand for them in a link: a name gives no address away."""
    urls = [config.store, "", *_remembered()] if administrator else [config.store]
    known: dict[str, str] = {}
    for url in urls:
        known.setdefault(_name(url), url)  # the configured one as it is configured, with its login
    return known


def _name(url: str) -> str:
    return resources.digest(without_login(url)) if url else DEMO


def _labels(known: dict[str, str]) -> dict[str, str]:
    """A file by its name, a server by its host and database; in full where that is another's too."""
    full = {name: without_login(url) for name, url in known.items()}
    paths = {name: url.partition("://")[2] for name, url in full.items()}
    short = {name: path if is_server(full[name]) else Path(path).name for name, path in paths.items()}
    same = Counter(short.values())
    long = {name: full[name] if is_server(full[name]) else str(Path(paths[name])) for name in known}
    return {
        name: "Demo" if name == DEMO else plain(short[name] if same[short[name]] == 1 else long[name]) for name in known
    }


def _remembered() -> list[str]:
    try:
        read = json.loads((cache_dir() / "graphs.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    listed = read if isinstance(read, list) else []
    return [without_login(url) for url in listed if isinstance(url, str)][:REMEMBERED]


def _remember(url: str) -> None:
    cache_dir().mkdir(parents=True, exist_ok=True)
    urls = [url, *(one for one in _remembered() if one != url)][:REMEMBERED]
    (cache_dir() / "graphs.json").write_text(json.dumps(urls), encoding="utf-8")
