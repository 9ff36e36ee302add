"""Who may ask, as whom, and what is said to who may not: every state of the gate."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit import config
from streamlit.testing.v1 import AppTest

from tests.app.conftest import ROOT, Open
from tests.app.test_ask import facts
from ui import identity
from ui.identity import Asker, EndedSignIns

PROVIDER = {"client_id": "c", "client_secret": "s", "server_metadata_url": "https://login.example.com/.well-known/x"}
AUTH = {"redirect_uri": "https://graph.example.com/oauth2callback", "cookie_secret": "x" * 64, **PROVIDER}
FIXED = {"field": "allowed_principals", "operator": "contains_any", "value": ["group:public"]}
LOCK = {**FIXED, "value": [{"claim": "groups", "prefix": "group:"}]}
SIGN_IN, DENIED, ENDED = (
    "Sign in to see this graph",
    "Nothing in this graph is shared with you.",
    "Your last sign-in has ended.",
)


def person(**claims: Any) -> dict[str, Any]:
    """What Streamlit has of somebody signed in, each time of another sign-in."""
    return {
        "is_logged_in": True,
        "iss": "https://login.example.com",
        "sub": "1",
        "nonce": str(time.perf_counter_ns()),
        "exp": time.time() + 600,
        "tokens": {},
        **claims,
    }


def script() -> None:
    """A page of nothing but the gate and who asks."""
    import streamlit as st

    from kgcore import KgError
    from kgcore.config import load_config
    from ui import identity
    from ui.errors import show_error

    try:
        asker = identity.gate(load_config())
    except KgError as error:
        show_error(error)
        st.stop()
    st.session_state["asker_seen"] = asker
    if asker:
        st.session_state["locked"] = identity.locked_filter(asker, demo=st.session_state.get("demo", False))
        identity.who(asker, demo=st.session_state.get("demo", False))


def page(user: dict[str, Any] | None = None, *, auth: dict[str, Any] | None = None, demo: bool = False) -> AppTest:
    at = AppTest.from_function(script)
    at.session_state["demo"] = demo
    if auth is not None:
        at.secrets = {"auth": auth}
    if user is not None:
        at.user = user
    return at.run()


def asker(at: AppTest) -> Asker:
    assert not at.exception and not at.error
    found = at.session_state["asker_seen"]
    assert isinstance(found, Asker)
    return found


def says(at: AppTest) -> list[str]:
    """What stands on a page that shows nothing of a graph."""
    assert not at.exception
    assert "asker_seen" not in at.session_state or at.session_state["asker_seen"] is None
    return [element.value for element in [*at.subheader, *at.markdown, *at.error]]


def popovers(at: AppTest) -> list[str]:
    return [element.proto.popover.label for element in at.get("popover")]


@pytest.fixture(autouse=True)
def lock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Sets the locked filter; at first there is none."""
    for name in ("HOPSCOPE_LOCKED_FILTER", "HOPSCOPE_ADMIN_CLAIM"):
        monkeypatch.delenv(name, raising=False)
    return lambda filter: monkeypatch.setenv("HOPSCOPE_LOCKED_FILTER", json.dumps(filter))


class TestWithoutSignIn:
    def test_the_local_person_sees_everything_and_is_the_administrator(self) -> None:
        at = page()
        assert (asker(at).locked, asker(at).policy, asker(at).administrator, asker(at).name) == (None, False, True, "")
        assert at.session_state["locked"] is None
        assert not at.selectbox and not popovers(at)

    def test_the_demo_is_seen_as_a_group(self) -> None:
        at = page(demo=True)
        assert at.session_state["locked"] == {**FIXED, "value": ["group:finance"]}
        at.selectbox(key="view_as").set_value("public")
        assert at.run().session_state["locked"] == FIXED

    def test_no_group_is_seen_as_that_is_not_offered(self) -> None:
        at = AppTest.from_function(script)
        at.session_state["demo"], at.session_state["view_as"] = True, "board"
        assert at.run().session_state["locked"] == {**FIXED, "value": ["group:finance"]}

    def test_a_fixed_filter_locks_the_demo_too(self, lock: Any) -> None:
        lock(FIXED)
        at = page(demo=True)
        assert asker(at).policy
        assert at.session_state["locked"] == asker(at).locked == FIXED
        assert not at.selectbox

    def test_a_filter_that_needs_claims_stops_the_page(self, lock: Any) -> None:
        lock(LOCK)
        assert len(says(page(person(groups=["board"])))) == 1
        assert "docs/access" in says(page())[0].replace("\\", "")

    def test_nobody_is_believed_to_be_signed_in(self) -> None:
        assert asker(page(person(name="Somebody"))).name == ""


class TestNotSignedIn:
    @pytest.mark.parametrize("user", [{}, {"email": "a@example.com"}, {"is_logged_in": False}, {"is_logged_in": "yes"}])
    def test_is_asked_to_sign_in(self, user: dict[str, Any]) -> None:
        at = page(user, auth=AUTH, demo=True)
        assert says(at) == [SIGN_IN]
        assert [button.label for button in at.button] == ["Sign in"]
        assert not at.selectbox

    def test_may_choose_among_providers(self) -> None:
        shared = {name: value for name, value in AUTH.items() if name not in PROVIDER}
        at = page(auth={**shared, "client_kwargs": {"prompt": "login"}, "okta": PROVIDER, "entra*": PROVIDER})
        assert [button.label for button in at.button] == ["Sign in with okta", "Sign in with entra\\*"]

    def test_no_store_is_opened(self, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOPSCOPE_STORE", "duckdb:////nowhere/missing.duckdb")
        assert opened().error
        at = AppTest.from_file(str(ROOT / "app.py"))
        at.secrets, at.query_params["q"] = {"auth": AUTH}, "Who is it?"
        at.run()
        assert [heading.value for heading in at.subheader] == [SIGN_IN]
        assert [text.value for text in at.markdown] == ["Then open your link again."]
        assert not at.error and not at.text_input

    def test_a_provider_that_is_half_configured_is_told(self) -> None:
        at = page(auth={**AUTH, "client_secret": ""})
        at.button(key="sign_in_default").click()
        assert "Sign\\-in is not configured" in at.run().error[0].value


class TestSignedIn:
    def test_sees_what_the_claims_say(self, lock: Any) -> None:
        lock(LOCK)
        at = page(person(groups=["staff", "board"], name="Some Body"), auth=AUTH, demo=True)
        assert at.session_state["locked"] == asker(at).locked == {**FIXED, "value": ["group:staff", "group:board"]}
        assert asker(at).policy and not at.selectbox

    def test_without_a_locked_filter_sees_everything(self) -> None:
        at = page(person(), auth=AUTH, demo=True)
        assert asker(at).locked is None and asker(at).policy
        assert at.session_state["locked"] is None and not at.selectbox

    def test_a_fixed_filter_is_for_everybody(self, lock: Any) -> None:
        lock(FIXED)
        assert asker(page(person(groups=["board"]), auth=AUTH)).locked == FIXED

    @pytest.mark.parametrize("claims", [{}, {"groups": []}, {"groups": ""}, {"groups": [1]}, {"groups": {"a": 1}}])
    def test_without_the_claims_is_denied(self, lock: Any, claims: dict[str, Any]) -> None:
        lock({"operator": "OR", "conditions": [FIXED, LOCK]})
        at = page(person(**claims), auth=AUTH, demo=True)
        assert says(at)[0] == DENIED and len(says(at)) == 2
        assert [button.label for button in at.button] == ["Sign out"]
        at.button(key="sign_out").click()
        assert says(at.run()) == [SIGN_IN]

    @pytest.mark.parametrize("claim", ["tokens", "is_logged_in_too"])
    def test_what_streamlit_adds_is_no_claim_to_bind(self, lock: Any, claim: str) -> None:
        lock({**LOCK, "value": {"claim": claim}})
        assert says(page(person(tokens=["board"]), auth=AUTH))[0] == DENIED

    @pytest.mark.parametrize(
        ("claims", "label"),
        [
            ({"name": "Some Body", "email": "a@example.com"}, "Some Body"),
            ({"email": "a@example.com"}, "a@\u2060example.com"),
            ({"name": " \u200b ", "preferred_username": "body"}, "body"),
            ({"name": ["a"]}, "Signed in"),
            ({}, "Signed in"),
            ({"name": "*b* " + "long " * 20}, "*b* long long long long…"),
        ],
    )
    def test_is_named(self, claims: dict[str, Any], label: str) -> None:
        at = page(person(**claims), auth=AUTH)
        assert [shown.replace("\\", "") for shown in popovers(at)] == [label]
        assert "*" not in popovers(at)[0].replace("\\*", "")

    @pytest.mark.parametrize(
        ("roles", "administrator"),
        [
            ("hopscope-admin", True),
            (["user", "hopscope-admin"], True),
            (["user"], False),
            ("hopscope-admin2", False),
            ("user hopscope-admin", False),
            ({"hopscope-admin": True}, False),
            ([["hopscope-admin"]], False),
            (True, False),
            (None, False),
        ],
    )
    def test_is_an_administrator_by_a_claim(
        self, monkeypatch: pytest.MonkeyPatch, roles: object, administrator: bool
    ) -> None:
        user = person(roles=roles)
        assert asker(page(user, auth=AUTH)).administrator is False
        monkeypatch.setenv("HOPSCOPE_ADMIN_CLAIM", "roles=hopscope-admin")
        assert asker(page(user, auth=AUTH)).administrator is administrator

    def test_two_people_and_two_filters_have_keys_of_their_own(self, lock: Any) -> None:
        lock(LOCK)
        people = [
            person(groups=["a"]),
            person(groups=["b"]),
            person(groups=["a"], sub="2"),
            person(groups=["a"], iss="x"),
        ]
        keys = [asker(page(user, auth=AUTH)).key for user in people]
        assert len(set(keys)) == 4
        assert asker(page(person(groups=["a"]), auth=AUTH)).key == keys[0]

    def test_nothing_of_it_is_printed(self, lock: Any) -> None:
        lock(LOCK)
        printed = repr(asker(page(person(groups=["board"], name="Some Body"), auth=AUTH)))
        assert "board" not in printed and "Some Body" not in printed


class TestTheEndOfASignIn:
    def test_a_sign_out_ends_it_in_every_tab(self) -> None:
        user = person()
        first, second, other = (page(dict(who), auth=AUTH) for who in (user, user, person()))
        first.button(key="sign_out").click()
        assert says(first.run()) == [SIGN_IN]
        second.session_state["answer"] = "what the first run showed"
        assert says(second.run()) == [SIGN_IN, ENDED]
        assert "answer" not in second.session_state
        assert asker(other.run())
        other.button(key="sign_out").click()
        other.run()
        assert says(page(dict(user), auth=AUTH)) == [SIGN_IN, ENDED]

    def test_it_ends_with_its_token(self, monkeypatch: pytest.MonkeyPatch) -> None:
        at = page(person(exp=time.time() + 600), auth=AUTH)
        assert asker(at)
        later = time.time() + 601
        monkeypatch.setattr(identity, "_now", lambda: later)
        assert says(at.run()) == [SIGN_IN, ENDED]

    @pytest.mark.parametrize("exp", ["never", None, True, float("nan"), 0, -1])
    def test_a_time_that_makes_no_sense_has_passed(self, exp: object) -> None:
        assert says(page(person(exp=exp), auth=AUTH)) == [SIGN_IN, ENDED]

    def test_a_token_that_names_no_time_lasts_as_long_as_its_cookie(self) -> None:
        user = person()
        del user["exp"]
        for at in (page(dict(user), auth=AUTH), page(person(), auth=AUTH)):
            assert asker(at)
            at.button(key="sign_out").click()
            at.run()
        assert says(page(dict(user), auth=AUTH)) == [SIGN_IN, ENDED]

    def test_another_person_in_the_same_session_finds_nothing_of_the_first(self) -> None:
        at = page(person(sub="1"), auth=AUTH)
        at.session_state["answer"] = "the first one's"
        at.user = person(sub="1")
        assert asker(at.run()) and "answer" in at.session_state
        at.user = person(sub="2")
        assert asker(at.run()) and "answer" not in at.session_state

    def test_another_filter_in_the_same_session_finds_nothing_of_the_first(self, lock: Any) -> None:
        at = page()
        at.session_state["answer"] = "everything"
        lock(FIXED)
        assert asker(at.run()) and "answer" not in at.session_state


class TestEndedSignIns:
    def test_each_is_kept_until_it_would_have_expired(self, monkeypatch: pytest.MonkeyPatch) -> None:
        now = [100.0]
        monkeypatch.setattr(identity, "_now", lambda: now[0])
        ended = EndedSignIns()
        ended.add("a", until=110)
        ended.add("b", until=120)
        assert "a" in ended and "b" in ended and "c" not in ended
        now[0] = 111
        ended.add("c", until=130)
        assert len(ended) == 2 and "a" not in ended and "b" in ended

    def test_there_are_never_too_many(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(identity, "_now", lambda: 0.0)
        ended = EndedSignIns(limit=2)
        for name, until in (("soon", 1), ("later", 3), ("then", 2)):
            ended.add(name, until=until)
        assert len(ended) == 2 and "soon" not in ended


class TestConfiguration:
    @pytest.mark.parametrize(
        "auth",
        [
            {},
            {"cookie_secret": "x" * 64},
            {"cookie_secret": "x" * 64, "okta": {}},
            {**AUTH, "cookie_secret": "x" * 31},
            {**AUTH, "cookie_secret": ""},
            {name: value for name, value in AUTH.items() if name != "cookie_secret"},
        ],
    )
    def test_a_sign_in_that_cannot_hold_lets_nobody_in(self, auth: dict[str, Any]) -> None:
        at = page(person(), auth=auth)
        assert len(says(at)) == 1 and len(at.error) == 1
        assert not at.button

    def test_a_sign_in_that_is_no_table_lets_nobody_in(self) -> None:
        at = AppTest.from_function(script)
        at.secrets = {"auth": "yes"}
        assert len(says(at.run())) == 1

    @pytest.mark.parametrize(
        ("text", "where"),
        [("[auth\n", config.ConfigOption.DEFAULT_DEFINITION), ("[auth\n", "a test"), (None, "a test")],
    )
    def test_secrets_that_cannot_be_read_let_nobody_in(self, tmp_path: Path, text: str | None, where: str) -> None:
        """Not those that were named and are not there, either."""
        secrets, given = tmp_path / "secrets.toml", st.get_option("secrets.files")
        if text:
            secrets.write_text(text)
        config.set_option("secrets.files", [str(secrets)], where)
        try:
            assert "secrets cannot be read" in says(page())[0]
        finally:
            config.set_option("secrets.files", given, config.ConfigOption.DEFAULT_DEFINITION)
        assert asker(page())

    def test_a_locked_filter_that_only_streamlit_reads_is_not_overlooked(self) -> None:
        at = AppTest.from_function(script)
        at.secrets = {"hopscope": {"locked_filter": json.dumps(FIXED)}}
        assert "locked filter" in says(at.run())[0]


class TestTheNetwork:
    @pytest.mark.parametrize("address", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
    def test_without_sign_in_the_app_runs_on_this_machine(
        self, opened: Open, monkeypatch: pytest.MonkeyPatch, address: str
    ) -> None:
        monkeypatch.setattr(st, "get_option", {"server.address": address}.get)
        assert identity.may_run()

    @pytest.mark.parametrize("address", [None, "", "0.0.0.0", "::", "10.0.0.1", "128.0.0.1", "graph.example.com"])
    def test_without_sign_in_it_shows_nothing_to_others(
        self, opened: Open, monkeypatch: pytest.MonkeyPatch, address: str | None
    ) -> None:
        monkeypatch.setattr(st, "get_option", {"server.address": address}.get)
        at = opened(q="What system does Jane Doe's employer use?")
        assert "127.0.0.1" in at.error[0].value.replace("\\", "").replace("\u2060", "")
        assert len(at.error) == 1 and not at.text_input and not at.get("bidi_component") and not at.selectbox

    def test_nor_does_a_page_that_is_run_by_itself(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(st, "get_option", {"server.address": "0.0.0.0"}.get)
        assert "this machine alone" in says(page(demo=True))[0]

    def test_with_sign_in_it_may_listen_to_others(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(st, "get_option", {"server.address": "0.0.0.0"}.get)
        at = AppTest.from_file(str(ROOT / "app.py"))
        at.secrets = {"auth": AUTH}
        assert [heading.value for heading in at.run().subheader] == [SIGN_IN]


def test_the_page_answers_each_person_from_what_is_theirs(opened: Open, lock: Any) -> None:
    lock(LOCK)
    question = "Who leads the target of Project Nightjar?"
    answers = {}
    for name, groups in {"finance": ["public", "finance"], "public": ["public"], "finance again": ["finance"]}.items():
        at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
        at.secrets, at.user, at.query_params["q"] = {"auth": AUTH}, person(sub=name, groups=groups), question
        at.run()
        assert "view_as" not in [select.key for select in at.selectbox]
        answers[name] = set(facts(at))
    assert answers["finance"] - answers["public"]
    assert answers["finance again"] == answers["finance"]
