"""The Query page in a real browser: by keys alone, the picture, a hostile graph, a reload, Stop, on a small screen."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import OpenPage
from tests.e2e.test_hostile import HOSTILE, hostile_url, nothing_ran

__all__ = ["hostile_url"]

USES = "MATCH (a)-[r:USES]->(b) RETURN a, r, b"
ENDLESS = "UNWIND range(1, 1000000) AS x UNWIND range(1, 1000000) AS y RETURN count(x * y)"


def ready(page: Page) -> Page:
    expect(page.get_by_text(re.compile(r"^Patterns · "))).to_be_visible(timeout=60_000)
    return page


def run(page: Page, text: str) -> None:
    page.get_by_role("textbox", name="Query").fill(text)
    page.keyboard.press("Control+Enter")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_query_by_keys_its_picture_its_table_and_a_reload(open_page: OpenPage, demo_url: str, scheme: str) -> None:
    page = ready(open_page(f"{demo_url}/query", scheme=scheme))
    run(page, USES)
    expect(page.locator(".browse .canvas canvas")).to_be_visible()
    expect(page.get_by_text(re.compile(r"^\d+ rows · "))).to_be_visible()
    expect(page.locator(".browse").get_by_role("button", name="Person")).to_have_count(0)
    expect(page.locator(".browse").get_by_role("button", name=re.compile("System"))).to_be_visible()
    page.get_by_role("tab", name="Table").click()
    expect(page.get_by_test_id("stDataFrame")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    page.reload()
    ready(page)
    expect(page.get_by_role("textbox", name="Query")).to_have_value(USES)
    expect(page.get_by_text(re.compile(r"^\d+ rows · "))).to_have_count(0)


def test_an_example_an_error_and_what_is_stopped(open_page: OpenPage, demo_url: str) -> None:
    page = ready(open_page(f"{demo_url}/query"))
    page.locator(".st-key-query_example_2 button").click()
    expect(page.get_by_role("textbox", name="Query")).to_have_value(re.compile("ORDER BY edges DESC"))
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text(re.compile(r"^10 rows · "))).to_be_visible()
    run(page, "MATCH (n RETURN n")
    expect(page.get_by_role("alert")).to_contain_text("syntax error")
    run(page, ENDLESS)
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.get_by_role("button", name="Go on")).to_be_visible()
    run(page, "RETURN 1 AS one")
    expect(page.get_by_text(re.compile(r"^1 row · "))).to_be_visible(timeout=30_000)


def test_a_hostile_graph_is_text(open_page: OpenPage, hostile_url: str) -> None:
    page = ready(open_page(f"{hostile_url}/query"))
    run(page, "MATCH (a)-[r]->(b) RETURN a, r, b LIMIT 50")
    expect(page.locator(".browse .canvas canvas")).to_be_visible()
    page.get_by_role("tab", name="Table").click()
    expect(page.get_by_test_id("stDataFrame")).to_be_visible()
    nothing_ran(page)
    assert HOSTILE
