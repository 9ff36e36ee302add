"""Who is asking, and so which filter is locked. It is never in the link."""

from __future__ import annotations

import hashlib
import ipaddress
import json
import math
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import streamlit as st
from streamlit.config import is_manually_set
from streamlit.errors import StreamlitAPIException, StreamlitSecretNotFoundError

from kgcore import ConfigError, KgError
from kgcore.config import Config, load_config
from kgcore.viz import cut, plain
from ui import runs
from ui.errors import show_error
from ui.text import escaped

DEMO_GROUPS = ("finance", "public")
NAME_WIDTH = 24
_VIEW_AS = "view_as"
_ASKER = "asker"
_DEFAULT = "default"
_PROVIDER_KEYS = ("client_id", "client_secret", "server_metadata_url")
_SHORTEST_SECRET = 32
_COOKIE_SECONDS = 31 * 24 * 60 * 60
"""For so long Streamlit accepts the cookie of a sign-in."""
_HOW = "docs/access.md says how."


@dataclass(frozen=True, kw_only=True)
class Asker:
    """Who asks. `policy`: the deployment locks by a filter or by sign-in, so there is nothing to choose.

    `locked` is what all reading is locked to, None for nothing; `name` is for showing, "" without sign-in; `key`
    differs for another person and for another locked filter.
    """

    locked: dict[str, Any] | None = field(repr=False)
    policy: bool
    administrator: bool
    name: str = field(repr=False)
    key: str


def may_run() -> bool:
    """Whether the app may show anything at all: without sign-in only to this machine. Says so where it may not."""
    try:
        _refuse_other_machines(_providers())
    except KgError as error:
        show_error(error)
        return False
    return True


def administrates() -> bool:
    """Whether an administrator asks, as `gate` would say, with nothing shown and no error raised."""
    try:
        person = _user()
        if _providers() is None:
            return True
        return person is not None and not _is_over(person) and _is_administrator(person, load_config())
    except KgError:
        return False


def gate(config: Config) -> Asker | None:
    """Who asks; or None, after saying why nothing is shown: the page then stops before it opens a store.

    A widget's callback runs before this, also in a tab whose sign-in has ended: let it change session state alone.
    Raises ConfigError for a locked filter or a sign-in that cannot be kept.
    """
    template, providers = config.locked_filter, _providers()
    _refuse_other_machines(providers)  # here too: Streamlit runs a page without app.py when it is asked for first
    _refuse_a_filter_that_is_not_read(config)
    if providers is None:
        if template and template.claims:
            raise ConfigError(
                "The locked filter needs a person's claims, and no sign-in is configured.",
                remedy=f"Configure sign-in, or write a filter without claims: {_HOW}",
            )
        claims, administrator, name = {}, True, ""
    else:
        person = _user()
        if person is None or _is_over(person):
            _clear_if_another("")
            _ask_to_sign_in(providers, again=person is not None)
            return None
        claims, administrator, name = person, _is_administrator(person, config), _name(person)
    locked = template.fill(claims) if template else None
    if template and locked is None:
        _clear_if_another("")
        _deny()
        return None
    policy = template is not None or providers is not None
    key = _digest([claims.get("iss"), claims.get("sub"), locked])
    _clear_if_another(key)
    return Asker(locked=locked, policy=policy, administrator=administrator, name=name, key=key)


def locked_filter(asker: Asker, *, demo: bool) -> dict[str, Any] | None:
    """What reading is locked to: the asker's own; on a demo that nothing locks, what the chosen group may see."""
    if asker.policy or not demo:
        return asker.locked
    chosen = st.session_state.get(_VIEW_AS)
    group = chosen if chosen in DEMO_GROUPS else DEMO_GROUPS[0]
    return {"field": "allowed_principals", "operator": "contains_any", "value": [f"group:{group}"]}


def who(asker: Asker, *, demo: bool) -> None:
    """In the question row: who is signed in, and `Sign out`; on a demo that nothing locks, a group to ask as."""
    if asker.name:
        with st.popover(escaped(cut(plain(asker.name), NAME_WIDTH)), key="who"):
            st.caption(escaped(asker.name))
            _sign_out_button()
    elif demo and not asker.policy:
        st.selectbox(
            "View as",
            DEMO_GROUPS,
            format_func=lambda group: f"View as: {group}",
            key=_VIEW_AS,
            persist_state="session",
            label_visibility="collapsed",
            width=170,
        )


class EndedSignIns:
    """Sign-ins that were ended in this process, each until its token would have expired anyway.

    Streamlit reads who is signed in once for each tab: a tab that is open goes on with it after a sign-out in another.
    When there are more than `limit`, the one that expires first is dropped.
    """

    def __init__(self, limit: int = 100_000) -> None:
        self._limit = limit
        self._until: dict[str, float] = {}
        self._lock = threading.Lock()

    def add(self, sign_in: str, *, until: float) -> None:
        """Ends a sign-in, to be remembered until this time (seconds since 1970)."""
        with self._lock:
            now = _now()
            self._until = {**{key: end for key, end in self._until.items() if end > now}, sign_in: until}
            while len(self._until) > self._limit:
                del self._until[min(self._until, key=lambda key: (self._until[key], key))]

    def __contains__(self, sign_in: str) -> bool:
        return sign_in in self._until

    def __len__(self) -> int:
        return len(self._until)


_ended = EndedSignIns()  # not in Streamlit's cache, which anybody's "Clear cache" would empty


def _user() -> dict[str, Any] | None:
    """The claims of the person who is signed in, which Streamlit took from a cookie of its own signing."""
    claims = dict(st.user.to_dict())
    claims.pop("tokens", None)
    return claims if claims.get("is_logged_in") is True else None


def _now() -> float:
    return time.time()


def _providers() -> tuple[str, ...] | None:
    """The names of the sign-in's providers; None where no sign-in is configured. Raises ConfigError."""
    auth = _secrets("auth")
    if auth is None:
        return None
    sections = {_DEFAULT: auth, **{name: part for name, part in auth.items() if isinstance(part, Mapping)}}
    providers = tuple(name for name, part in sections.items() if any(key in part for key in _PROVIDER_KEYS))
    if not providers:
        raise ConfigError("The secrets hold [auth], but no provider in it.", remedy=_HOW)
    if len(str(auth.get("cookie_secret", ""))) < _SHORTEST_SECRET:
        raise ConfigError(
            f"The cookie_secret of [auth] is missing, or shorter than {_SHORTEST_SECRET} characters.",
            remedy='Make one with: python -c "import secrets; print(secrets.token_hex())".',
        )
    return providers


def _secrets(table: str) -> Mapping[str, Any] | None:
    """A table of Streamlit's secrets; None without it. Raises ConfigError where secrets are there but unreadable."""
    try:
        found = st.secrets.get(table)
    except StreamlitSecretNotFoundError as error:
        if error.error_id == "no-secrets-found" and not is_manually_set("secrets.files"):
            return None
        raise ConfigError("The secrets cannot be read.", remedy="Correct the files that Streamlit is given.") from None
    if found is not None and not isinstance(found, Mapping):
        raise ConfigError(f"In the secrets, {table} is not a table.", remedy=f"Write [{table}] above its settings.")
    return found


def _refuse_other_machines(providers: tuple[str, ...] | None) -> None:
    if providers is None and not _is_loopback(st.get_option("server.address")):
        raise ConfigError(
            "Without sign-in this app listens on this machine alone.",
            remedy=f"Set server.address to 127.0.0.1, or configure sign-in: {_HOW}",
        )


def _refuse_a_filter_that_is_not_read(config: Config) -> None:
    if config.locked_filter is None and "locked_filter" in (_secrets("hopscope") or {}):
        raise ConfigError(
            "A secrets file that only Streamlit reads holds a locked filter.",
            remedy="Set HOPSCOPE_LOCKED_FILTER, or write it to .streamlit/secrets.toml where the app is started.",
        )


def _is_loopback(address: str | None) -> bool:
    try:
        return address == "localhost" or ipaddress.ip_address(address or "").is_loopback
    except ValueError:
        return False


def _is_over(claims: Mapping[str, Any]) -> bool:
    """Whether a sign-in has expired or was ended. Streamlit checks neither."""
    return not _expiry(claims) > _now() or _digest(claims) in _ended


def _expiry(claims: Mapping[str, Any]) -> float:
    """When the token expires, in seconds since 1970: never where it does not say, at once where it says nonsense."""
    expiry = claims.get("exp", math.inf)
    return expiry if isinstance(expiry, int | float) else 0


def _is_administrator(claims: Mapping[str, Any], config: Config) -> bool:
    if config.admin_claim is None:
        return False
    claim, held = config.admin_claim
    value = claims.get(claim)
    return value == held or (isinstance(value, list | tuple) and held in value)


def _name(claims: Mapping[str, Any]) -> str:
    given = (claims.get(claim) for claim in ("name", "email", "preferred_username"))
    return next((name for name in given if isinstance(name, str) and plain(name)), "Signed in")


def _clear_if_another(key: str) -> None:
    """Nothing that a session holds outlives a change of who asks."""
    if st.session_state.get(_ASKER, key) != key:
        runs.forget()
        st.session_state.clear()
    st.session_state[_ASKER] = key


def _ask_to_sign_in(providers: tuple[str, ...], *, again: bool) -> None:
    st.subheader("Sign in to see this graph")
    if again:
        st.write("Your last sign-in has ended.")
    if st.query_params:
        st.write("Then open your link again.")
    for name in providers:
        label = "Sign in" if name == _DEFAULT else f"Sign in with {escaped(name)}"
        if st.button(label, key=f"sign_in_{name}", type="primary"):
            try:
                st.login(name)  # which imports Authlib
            except StreamlitAPIException as error:
                show_error(ConfigError(f"Sign-in is not configured: {error}", remedy=_HOW))


def _deny() -> None:
    st.subheader("Nothing in this graph is shared with you.")
    st.write("Ask whoever runs this app for access, then sign out and in again.")
    _sign_out_button()


def _sign_out_button() -> None:
    st.button("Sign out", key="sign_out", on_click=_sign_out)


def _sign_out() -> None:
    claims = _user()
    if claims is not None:
        _ended.add(_digest(claims), until=min(_expiry(claims), _now() + _COOKIE_SECONDS))
    st.logout()


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()
