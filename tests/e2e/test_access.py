"""The Access page in a real browser: the demo as a person shows it, its link, and for whom it does not exist."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from kgcore import Edge, Entity, open_store, write_graph
from tests.e2e.conftest import OpenPage, running
from tests.e2e.test_ask import answered, frontier, positions
from tests.e2e.test_identity import LOCK, QUESTION, SECRET, App, Tab
from tests.oidc import Provider

MINUTES = "In which city is the target of the project that Ingrid Solheim leads based?"
LINK = "access?asked_q=In+which+city+is+the+target+of+the+project+that+Ingrid+Solheim+leads+based%3F&asked_hops=3&asked_beam=5&asked_auto=false"  # noqa: E501
ADMIN = {"sub": "r", "name": "Person in charge", "groups": ["staff"], "roles": ["hopscope-admin"]}
STAFF = {"sub": "s", "name": "Person of the staff", "groups": ["staff"], "roles": ["user"]}


def compared(page: Page) -> Page:
    expect(page.get_by_role("heading", name="Who sees how much")).to_be_visible(timeout=60_000)
    return page


def rows(page: Page, name: str) -> list[str]:
    return page.locator(f".st-key-access_{name} li").all_inner_texts()


def title(page: Page, name: str, text: str) -> None:
    expect(page.locator(f".st-key-access_{name} strong").locator("..")).to_have_text(text)


def choose(page: Page, name: str, principal: str) -> None:
    """Another one in place of those that are chosen, by keys."""
    field = page.locator(".st-key-access_sides .stMultiSelect").nth("AB".index(name))
    field.get_by_label("Clear all").click()
    field.locator("input").press_sequentially(principal)
    field.locator("input").press("Enter")
    page.keyboard.press("Escape")


def test_the_demo_is_shown_as_two_groups(open_page: OpenPage, demo_url: str) -> None:
    page = answered(open_page(demo_url))
    page.get_by_role("link", name="Access", exact=True).click()
    compared(page)
    title(page, "both", "Both 8")
    expect(page.locator(".st-key-access_both")).to_contain_text("A also by Audit memo: monitoring of the Aurora Fund")
    page.get_by_role("button", name="Examples").click()
    page.get_by_role("menuitem").nth(4).click()
    title(page, "only_a", "Only A 3")
    expect(page.locator(".st-key-access_only_a")).to_contain_text("by this edge, in Audit memo")
    question = page.get_by_role("searchbox", name="Question")
    question.fill(MINUTES)
    question.press("Enter")
    expect(page).to_have_url(re.compile("asked_q=In\\+which\\+city"))
    expect(page.get_by_role("region", name="Graph").last).to_contain_text("Ingrid Solheim", timeout=20_000)
    choose(page, "B", "group:audit")
    expect(page.locator(".st-key-access_only_a")).to_contain_text("by this edge")
    title(page, "both", "Both 0")
    assert "group" not in page.url and "audit" not in page.url
    page.get_by_role("link", name="Open in Ask").click()
    answered(page)
    expect(page.get_by_role("searchbox", name="Question")).to_have_value(MINUTES)


def test_a_link_opens_the_same_question_as_those_who_are_usual(open_page: OpenPage, demo_url: str) -> None:
    page = compared(open_page(f"{demo_url}/{LINK}"))
    expect(page.get_by_text("3 hops, beam 5, top k 20, coverage")).to_be_visible()
    title(page, "only_a", "Only A 8")
    before, places = [rows(page, name) for name in ("only_a", "both", "only_b")], positions(page)
    assert any("step 2 of 3" in row for row in before[0]) and any("its beam keeps 5" in row for row in before[2])
    choose(page, "A", "group:public")
    title(page, "only_a", "Only A 0")
    page.reload()
    compared(page)
    title(page, "only_a", "Only A 8")
    assert [rows(page, name) for name in ("only_a", "both", "only_b")] == before
    assert positions(page) == places


def test_everything_is_in_sight(open_page: OpenPage, demo_url: str) -> None:
    """The graph and the three lists end with the window; both legends are told apart."""
    page = compared(open_page(f"{demo_url}/{LINK}"))
    title(page, "only_a", "Only A 8")
    expect(page.locator(".canvas canvas")).to_be_visible()
    for name in ("only_a", "both", "only_b"):
        box = page.locator(f".st-key-access_{name} strong").bounding_box()
        assert box is not None and box["y"] + box["height"] < 720
    lists, graph = (page.locator(css).bounding_box() for css in (".st-key-access_lists", ".panel.graph"))
    assert lists and graph and abs(lists["y"] + lists["height"] - graph["y"] - graph["height"]) < 12
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    expect(page.locator(".legend").get_by_text("only A")).to_be_visible()
    expect(page.locator(".legend").get_by_text("only B")).to_be_visible()
    lines = frontier(page, "return f.network.body.data.edges.get().map((line) => JSON.stringify(line.dashes))")
    assert set(lines) == {"[10,4]", "false"}


def test_it_can_be_the_first_page_that_a_server_is_asked_for(open_page: OpenPage, tmp_path: Path) -> None:
    with running(tmp_path, store="") as url:
        page = compared(open_page(f"{url}/access"))
        expect(page.get_by_role("searchbox", name="Question")).to_have_value(MINUTES)
        expect(page.get_by_role("link", name="Access", exact=True)).to_be_visible()


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """Adelaide runs Boreas, as the staff knows, and Cinder, as the board knows; nobody has asked for a page yet."""
    folder = tmp_path_factory.mktemp("access")
    store = open_store(f"duckdb:///{folder / 'graph.duckdb'}", create=True)
    write_graph(
        store,
        [Entity(id=name.lower(), type="Thing", name=name) for name in ("Adelaide", "Boreas", "Cinder")],
        [
            Edge(
                id=name, source_id="adelaide", target_id=name.lower(), relation="RUNS", src_name="Adelaide",
                dst_name=name, source_doc_id=f"of {name}", properties={"allowed_principals": groups},
            )
            for name, groups in {"Boreas": ("group:staff", "group:board"), "Cinder": ("group:board",)}.items()
        ],
    )  # fmt: skip
    store.close()
    secrets = folder / "secrets.toml"
    with Provider() as provider:
        lines = {"redirect_uri": "http://127.0.0.1:{port}/oauth2callback", "cookie_secret": SECRET, **provider.settings}
        secrets.write_text("[auth]\n" + "".join(f'{name} = "{value}"\n' for name, value in lines.items()), "utf-8")
        environment = {
            "STREAMLIT_SECRETS_FILES": str(secrets),
            "HOPSCOPE_LOCKED_FILTER": json.dumps(LOCK),
            "HOPSCOPE_ADMIN_CLAIM": "roles=hopscope-admin",
        }
        with running(folder, store=f"duckdb:///{folder / 'graph.duckdb'}", environment=environment) as url:
            yield App(url=url, provider=provider, log=folder / "server.log")


def visit(open_page: OpenPage, app: App, path: str, **claims: object) -> Tab:
    tab = Tab(page=open_page(f"{app.url}/_stcore/health"))
    if claims:
        tab.page.context.add_cookies([app.cookie(**claims)])
    return tab.go(f"{app.url}/{path}")


class TestUnderALockedFilter:
    def test_of_others_no_one_finds_it(self, open_page: OpenPage, app: App) -> None:
        """First of all pages that the server is asked for, and once it is up."""
        for _ in range(2):
            tab = visit(open_page, app, f"access{QUESTION.replace('q', 'asked_q', 1)}", **STAFF)
            expect(tab.page.get_by_role("dialog")).to_contain_text("Page not found", timeout=60_000)
            tab.page.keyboard.press("Escape")
            expect(tab.page.get_by_role("link", name="Tune")).to_be_visible()
            expect(tab.page.get_by_role("link", name="Access")).to_have_count(0)
            assert not tab.knows("Who sees how much") and not tab.knows("Cinder") and not tab.knows("group:board")

    def test_nor_who_is_not_signed_in(self, open_page: OpenPage, app: App) -> None:
        tab = visit(open_page, app, "access").says("Sign in to see this graph")
        assert not tab.knows("Who sees how much") and not tab.knows("Adelaide")

    def test_an_administrator_compares_two(self, open_page: OpenPage, app: App) -> None:
        tab = visit(open_page, app, f"access{QUESTION.replace('q', 'asked_q', 1)}", **ADMIN)
        page = compared(tab.page)
        expect(page.get_by_text("A Denied: sees nothing.")).to_be_visible()
        for name, group in (("A", "board"), ("B", "staff")):
            field = page.locator(".st-key-access_sides .stMultiSelect").nth("AB".index(name)).locator("input")
            field.press_sequentially(group)
            field.press("Enter")
            page.keyboard.press("Escape")
            expect(page.get_by_text(f"{name} Denied: sees nothing.")).to_have_count(0)
        title(page, "only_a", "Only A 1")
        expect(page.locator(".st-key-access_only_a")).to_contain_text("Adelaide RUNS Cinder")
        expect(page.locator(".st-key-access_only_a")).to_contain_text("by this edge, in of Cinder")
        title(page, "both", "Both 1")
        assert "board" not in page.url and "staff" not in page.url
        assert "group:" not in app.log.read_text() and "board" not in app.log.read_text()
