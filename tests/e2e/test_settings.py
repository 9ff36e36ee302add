"""A graph that others built, from the address to the answer, in a real browser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import neo4j
import pytest
from playwright.sync_api import Page, ViewportSize, expect

from kgcore.store.neo4j_server import Address
from tests.e2e.conftest import OpenPage, running
from tests.e2e.four_minutes import opens_answered, overflow
from tests.e2e.test_ask import answered
from tests.e2e.test_four_minutes import serious
from tests.neo4j.addresses import addresses, emptied

SERVERS = [pytest.param(address, id=f"neo4j-{number}") for number, address in enumerate(addresses(), 1)]
SLOW = 60_000
"""Milliseconds that a server may take over queries that it sees for the first time."""
GRAPH = (
    "CREATE (:Person {name: 'Jane Roe', alias: 'The Fox'})-[:WORKS_AT {doc_id: 'd'}]->"
    "(:Company {name: 'Acme <b>Capital</b>', alias: 'The Anvil'})-[:USES]->(:System {name: 'Helios', alias: 'Sun'})"
)


def to_page(page: Page, name: str) -> None:
    page.get_by_role("link", name=name).click()


def test_settings_are_read_and_checked(open_page: OpenPage, demo_url: str) -> None:
    page = open_page(demo_url)
    opens_answered(page)
    to_page(page, "Settings")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator(".st-key-checks")).to_contain_text("Chat model", timeout=SLOW)
    expect(page.get_by_text("✓ pass")).to_have_count(5)
    assert serious(page) == []
    to_page(page, "Ask")
    opens_answered(page)


@pytest.mark.parametrize("screen", [ViewportSize(width=1280, height=720), ViewportSize(width=1280, height=600)])
def test_the_bar_on_top_leaves_room(open_page: OpenPage, demo_url: str, screen: ViewportSize) -> None:
    page = open_page(demo_url, screen=screen)
    opens_answered(page)
    expect(page.get_by_role("link", name="Settings")).to_be_visible()
    assert overflow(page) == [0, 0]


@pytest.mark.parametrize("address", SERVERS)
class TestForeign:
    @pytest.fixture
    def folder(self, address: str, tmp_path: Path) -> Iterator[Path]:
        """The app's folder, while the server holds a graph that others built."""
        emptied(address)
        parsed = Address.parse(address)
        with neo4j.GraphDatabase.driver(parsed.uri, auth=(parsed.user, parsed.password)) as driver:
            driver.execute_query(GRAPH)
        yield tmp_path
        emptied(address)

    def test_is_opened_mapped_and_asked(self, open_page: OpenPage, address: str, folder: Path) -> None:
        parsed = Address.parse(address)
        environment = {"HOPSCOPE_MAPPINGS": str(folder / "mappings")}
        with running(folder, store="", environment=environment) as url:
            page = open_page(url)
            opens_answered(page)
            self.open_graph(page, parsed)
            self.ask(page, "What does Jane Roe's employer use?")
            expect(page.locator(".facts")).to_contain_text("Acme <b>Capital</b>", timeout=SLOW)
            expect(page.locator(".facts li").first).to_contain_text("Helios")
            assert parsed.password not in page.url

            to_page(page, "Settings")
            expect(page.get_by_text("It reads 3 entities and 2 edges.")).to_be_visible(timeout=SLOW)
            assert serious(page) == []
            self.add_name(page, "alias")
            page.get_by_role("button", name="Try", exact=True).click()
            expect(page.get_by_text("The Fox -[WORKS_AT]-> The Anvil")).to_be_visible(timeout=SLOW)
            page.get_by_role("button", name="Save", exact=True).click()
            expect(page.get_by_text("Saved.")).to_be_visible(timeout=SLOW)

            to_page(page, "Ask")
            self.ask(page, "What does The Fox's employer use?")
            expect(page.locator(".facts li").first).to_contain_text("Sun", timeout=SLOW)
            page.reload()  # another session, which has not logged in
            expect(page.get_by_text("wants a login")).to_be_visible(timeout=SLOW)
            assert parsed.password not in page.content()
            page.get_by_label("Password", exact=True).fill(parsed.password)
            page.get_by_role("button", name="Log in").click()
            expect(page.locator(".facts")).to_contain_text("The Anvil", timeout=SLOW)
        kept = "".join(file.read_text(errors="replace") for file in folder.rglob("*") if file.suffix != ".duckdb"
                       and file.is_file())  # fmt: skip
        assert parsed.uri in kept and parsed.password not in kept
        mapping = next((folder / "mappings").glob("*.json"))
        assert json.loads(mapping.read_text())["names"] == ["alias"]

    def open_graph(self, page: Page, parsed: Address) -> None:
        page.locator(".st-key-more_popover").get_by_role("button", name="More").click()
        page.get_by_label("Open another graph").fill(parsed.uri)
        page.get_by_label("Open another graph").press("Enter")
        page.get_by_label("Password", exact=True).fill("hunter2")
        page.get_by_role("button", name="Log in").click()
        expect(page.get_by_text("does not accept this user and password")).to_be_visible(timeout=SLOW)
        page.get_by_label("Password", exact=True).fill(parsed.password)
        page.get_by_role("button", name="Log in").click()
        expect(page).to_have_url(re.compile("graph="), timeout=SLOW)
        page.keyboard.press("Escape")

    def ask(self, page: Page, question: str) -> None:
        page.get_by_label("Question").fill(question)
        page.get_by_label("Question").press("Enter")
        answered(page)

    def add_name(self, page: Page, name: str) -> None:
        """In place of the one that is chosen."""
        field = page.locator("[data-testid=stMultiSelect]").filter(has_text="Name")
        field.get_by_role("combobox").click()
        page.keyboard.press("Backspace")
        page.keyboard.type(name)
        page.keyboard.press("Enter")
        page.keyboard.press("Escape")
