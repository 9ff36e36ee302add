"""Who sees what, signed in at a scripted provider: nothing that is hidden from a person ever reaches the browser."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, WebSocket, WebSocketRoute, expect
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

from kgcore import Edge, Entity, open_store, write_graph
from tests.e2e.conftest import OpenPage, download, open_saved, running
from tests.oidc import Fault, Provider

SECRET = "0123456789abcdef" * 4
COOKIE = "_streamlit_user"
LOCK = {
    "field": "allowed_principals",
    "operator": "contains_any",
    "value": [{"claim": "groups", "prefix": "group:"}],
}
BOARD = {"sub": "b", "name": "Person of the board", "groups": ["staff", "board"]}
STAFF = {"sub": "s", "name": "Person of the staff", "groups": ["staff"]}
NOBODY = {"sub": "n", "email": "nobody@example.com"}
QUESTION = f"?q={quote('What does Adelaide run?')}"
SIGN_IN, DENIED, ENDED = (
    "Sign in to see this graph",
    "Nothing in this graph is shared with you.",
    "Your last sign-in has ended.",
)


@dataclass(frozen=True, kw_only=True)
class App:
    """The app under sign-in, and its provider."""

    url: str
    provider: Provider
    log: Path

    def cookie(self, *, secret: str = SECRET, **claims: Any) -> dict[str, Any]:
        """A sign-in as Streamlit keeps it in the browser."""
        kept = {"origin": self.url, "is_logged_in": True, "provider": "default", "iss": "i", "nonce": "n", **claims}
        value = create_signed_value(secret, COOKIE, json.dumps(kept)).decode()
        return {"name": COOKIE, "value": value, "url": self.url}


@dataclass(kw_only=True)
class Tab:
    """A page, and all that its server sent to it."""

    page: Page
    received: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("websocket", self._listen)

    def go(self, url: str) -> Tab:
        self.page.goto(url)
        return self

    def says(self, text: str | re.Pattern[str]) -> Tab:
        expect(self.page.get_by_text(text)).to_be_visible()
        return self

    def sign_in(self, provider: Provider, person: dict[str, Any], fault: Fault = "") -> Tab:
        self.says(SIGN_IN)
        provider.sign_in(fault, **person)
        with self.page.expect_navigation(url=lambda url: "/auth/" not in url):
            self.page.get_by_role("button", name="Sign in").click()
        return self

    def sign_out(self) -> Tab:
        if self.page.locator(".st-key-who").count():
            self.page.locator(".st-key-who button").click()
        with self.page.expect_navigation(url=lambda url: "/auth/" not in url):
            self.page.get_by_role("button", name="Sign out").click()
        return self.says(SIGN_IN)

    def sees(self, *names: str) -> Tab:
        """The far ends of the facts that answer `QUESTION`."""
        rows = self.page.locator(".facts > ol > li")
        expect(rows).to_have_count(len(names), timeout=60_000)
        for name in names:
            expect(rows.filter(has_text=name)).to_have_count(1)
        return self

    def knows(self, text: str) -> bool:
        """Whether the server ever sent this text."""
        return any(text.encode() in frame for frame in self.received)

    def _listen(self, socket: WebSocket) -> None:
        socket.on("framereceived", lambda sent: self.received.append(sent.encode() if isinstance(sent, str) else sent))


Open = Callable[..., Tab]


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """Adelaide runs Boreas, as the staff knows, and Cinder, as the board knows."""
    folder = tmp_path_factory.mktemp("identity")
    store = open_store(f"duckdb:///{folder / 'graph.duckdb'}", create=True)
    names = ("Adelaide", "Boreas", "Cinder")
    write_graph(
        store,
        [Entity(id=name.lower(), type="Thing", name=name) for name in names],
        [
            Edge(
                id=f"edge-{name.lower()}",
                source_id="adelaide",
                target_id=name.lower(),
                relation="RUNS",
                src_name="Adelaide",
                dst_name=name,
                properties={"allowed_principals": groups},
            )
            for name, groups in {"Boreas": ("group:staff", "group:board"), "Cinder": ("group:board",)}.items()
        ],
    )
    store.close()
    secrets = folder / "secrets.toml"
    with Provider() as provider:
        lines = {"redirect_uri": "http://127.0.0.1:{port}/oauth2callback", "cookie_secret": SECRET, **provider.settings}
        secrets.write_text("[auth]\n" + "".join(f'{name} = "{value}"\n' for name, value in lines.items()), "utf-8")
        environment = {"STREAMLIT_SECRETS_FILES": str(secrets), "HOPSCOPE_LOCKED_FILTER": json.dumps(LOCK)}
        with running(folder, store=f"duckdb:///{folder / 'graph.duckdb'}", environment=environment) as url:
            yield App(url=url, provider=provider, log=folder / "server.log")


@pytest.fixture
def visit(open_page: OpenPage, app: App) -> Open:
    """A browser of somebody's own, at the app."""

    def visit(path: str = "", *, cookies: list[Any] | None = None) -> Tab:
        tab = Tab(page=open_page(f"{app.url}/_stcore/health"))
        if cookies:
            tab.page.context.add_cookies(cookies)
        return tab.go(f"{app.url}/{path}")

    return visit


def test_without_sign_in_nothing_is_sent(visit: Open) -> None:
    tab = visit(QUESTION).says(SIGN_IN).says("Then open your link again.")
    assert tab.page.locator(".facts, .canvas, input").count() == 0
    assert not any(map(tab.knows, ("Boreas", "Adelaide", "RUNS")))


def test_each_person_sees_what_is_theirs(visit: Open, app: App) -> None:
    board = visit().sign_in(app.provider, BOARD).says("3 entities, 2 edges, 0 documents.")
    expect(board.page.locator(".st-key-who button")).to_have_text(re.compile("Person of the board"))
    board.go(app.url + "/" + QUESTION).sees("Boreas", "Cinder")
    staff = visit().sign_in(app.provider, STAFF).says("2 entities, 1 edge, 0 documents.")
    staff.go(app.url + "/" + QUESTION).sees("Boreas")
    assert board.knows("Cinder") and not staff.knows("Cinder")
    for tab in (board, staff):
        assert not any(map(tab.knows, ("group:staff", "group:board", "allowed_principals")))
        assert "group" not in tab.page.url


def test_after_a_sign_out_the_next_person_sees_their_own(visit: Open, app: App) -> None:
    tab = visit().sign_in(app.provider, BOARD).go(app.url + "/" + QUESTION).sees("Boreas", "Cinder")
    left = len(app.provider.ended)
    tab.sign_out()
    assert len(app.provider.ended) == left + 1
    assert COOKIE not in [cookie["name"] for cookie in tab.page.context.cookies()]
    tab.received.clear()
    tab.sign_in(app.provider, STAFF).go(app.url + "/" + QUESTION).sees("Boreas")
    assert not tab.knows("Cinder")


def test_who_may_see_nothing_is_told_so_and_can_leave(visit: Open, app: App) -> None:
    tab = visit().sign_in(app.provider, NOBODY).says(DENIED)
    tab.go(app.url + "/" + QUESTION).says(DENIED)
    assert not any(map(tab.knows, ("Boreas", "Cinder", "Adelaide", "RUNS")))
    tab.sign_out()


def test_a_sign_in_that_fails_leaves_the_person_outside(visit: Open, app: App) -> None:
    tab = visit()
    for fault in get_args(Fault):
        if fault:
            tab.sign_in(app.provider, BOARD, fault).says(SIGN_IN)
    assert not tab.knows("Adelaide")
    tab.sign_in(app.provider, BOARD).says("3 entities, 2 edges, 0 documents.")


def test_a_cookie_is_believed_while_it_is_whole_and_fresh(visit: Open, app: App) -> None:
    whole = app.cookie(**BOARD, exp=time.time() + 600)
    visit(QUESTION, cookies=[whole]).sees("Boreas", "Cinder")
    tampered = {**whole, "value": whole["value"][:10] + "AAAA" + whole["value"][14:]}
    forged = app.cookie(**BOARD, exp=time.time() + 600, secret="f" * 64)
    foreign = app.cookie(**BOARD, exp=time.time() + 600, origin="http://other.example.com")
    expired = app.cookie(**BOARD, exp=time.time() - 1)
    for cookie in (tampered, forged, foreign, expired):
        tab = visit(QUESTION, cookies=[cookie]).says(SIGN_IN)
        assert not tab.knows("Boreas")
    tab.says(ENDED)


def test_a_tab_that_was_left_open_shows_nothing_after_a_sign_out(visit: Open, app: App) -> None:
    tab = visit().sign_in(app.provider, BOARD).go(app.url + "/" + QUESTION).sees("Boreas", "Cinder")
    left_open = Tab(page=tab.page.context.new_page()).go(app.url + "/" + QUESTION).sees("Boreas", "Cinder")
    kept = tab.page.context.cookies()
    tab.sign_out()
    left_open.received.clear()
    left_open.page.locator(".st-key-hops").get_by_text("1", exact=True).click()
    left_open.says(SIGN_IN).says(ENDED)
    expect(left_open.page.locator(".facts, .canvas, .st-key-q")).to_have_count(0)
    assert not any(map(left_open.knows, ("Boreas", "Cinder", "Adelaide")))
    replayed = visit(QUESTION, cookies=kept).says(ENDED)
    assert not replayed.knows("Boreas")


def test_a_tab_that_was_left_open_reconnects_as_nobody_after_a_sign_out(visit: Open, app: App) -> None:
    tab = visit().sign_in(app.provider, BOARD)
    sockets: list[WebSocketRoute] = []
    page = tab.page.context.new_page()
    page.route_web_socket(re.compile("_stcore/stream"), lambda ws: (sockets.append(ws), ws.connect_to_server()))
    left_open = Tab(page=page).go(app.url + "/" + QUESTION).sees("Boreas", "Cinder")
    tab.sign_out()
    with page.expect_websocket():
        sockets[0].close()
    page.locator(".st-key-hops").get_by_text("1", exact=True).click()
    left_open.says(SIGN_IN)
    expect(page.locator(".facts, .canvas, .st-key-q")).to_have_count(0)
    expect(page.get_by_text(ENDED)).to_have_count(0)  # it is nobody's session now, not the one that was ended


def test_another_persons_link_and_warm_caches_open_as_its_reader(visit: Open, app: App) -> None:
    board = visit().sign_in(app.provider, BOARD).go(f"{app.url}/{QUESTION}&seeds=cinder&hops=1").sees("Cinder")
    staff = visit().sign_in(app.provider, STAFF).go(board.page.url)
    expect(staff.page.locator(".stAlert")).to_be_visible()
    assert not staff.knows("Cinder")
    missing = visit().sign_in(app.provider, STAFF).go(board.page.url.replace("cinder", "nothing"))
    expect(missing.page.locator(".stAlert")).to_be_visible()
    said = [tab.page.locator(".stAlert").inner_text() for tab in (staff, missing)]
    assert said[0].replace("cinder", "nothing") == said[1]


def test_a_crafted_link_shows_no_more(visit: Open, app: App) -> None:
    tab = visit().sign_in(app.provider, STAFF)
    tab.received.clear()
    for crafted in ("view_as=board", "asker=board&locked=null&groups=board&who=board&policy=false"):
        tab.go(f"{app.url}/{QUESTION}&{crafted}").sees("Boreas")
    for filter in ({**LOCK, "value": ["group:board"]}, {"field": "dst_name", "operator": "==", "value": "Cinder"}):
        tab.go(f"{app.url}/{QUESTION}&filter={quote(json.dumps(filter))}").says("No facts from these seeds.")
    assert not tab.knows("edge-cinder")


def test_an_uploaded_run_shows_its_own_contents_and_nothing_by_its_ids(visit: Open, app: App) -> None:
    board = visit().sign_in(app.provider, BOARD).go(app.url + "/" + QUESTION).sees("Boreas", "Cinder")
    file = download(board.page, "Run as JSON").decode().replace("Cinder", "Dross")
    assert "edge-cinder" in file and "group:" not in file
    staff = visit().sign_in(app.provider, STAFF).go(app.url + "/" + QUESTION).sees("Boreas")
    staff.page.get_by_role("button", name="Share").click()
    open_saved(staff.page, "run.json", file.encode())
    staff.says(re.compile("A saved run, as it was")).sees("Boreas", "Dross")
    staff.page.keyboard.press("Escape")
    staff.page.locator(".facts .row").filter(has_text="Dross").click()
    staff.page.get_by_role("button", name="Ask it here").click()
    staff.sees("Boreas")
    assert not staff.knows("Cinder")


def test_the_log_names_no_claim_and_no_principal(visit: Open, app: App) -> None:
    visit().sign_in(app.provider, BOARD).go(app.url + "/" + QUESTION).sees("Boreas", "Cinder").sign_out()
    log = app.log.read_text("utf-8")
    assert log
    for word in ("group:", "allowed_principals", BOARD["name"], "staff", SECRET):
        assert word not in log
