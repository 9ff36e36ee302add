"""The Tune page in a real browser: the heat map by mouse and keys, A and B, a gold set that is stopped."""

from __future__ import annotations

import json
import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.e2e.conftest import OpenPage, running
from tests.e2e.test_ask import QUESTION, answered

CELL = {"x": 100, "y": 36 * 2 + 18}
"""In the first column of the second width: beam 4, 1 hop."""


def tuned(page: Page) -> Page:
    """From Ask, once the sweep is drawn."""
    answered(page)
    page.get_by_role("link", name="Tune").click()
    return swept(page)


def swept(page: Page) -> Page:
    expect(page.get_by_text("A and B", exact=True)).to_be_visible(timeout=60_000)
    expect(page.get_by_test_id("stDataFrame")).to_be_visible()
    return page


def picked(page: Page) -> str:
    return page.locator(".st-key-tune_picked").inner_text()


def over(page: Page, what: str) -> None:
    page.get_by_role("combobox", name=re.compile("Over")).click()
    page.get_by_role("option", name=what).click()


def test_a_cell_is_picked_compared_and_opened_in_ask(open_page: OpenPage, demo_url: str) -> None:
    page = tuned(open_page(demo_url))
    expect(page.get_by_role("textbox", name="Question")).to_have_value(QUESTION)
    assert picked(page).startswith("Best: beam 2, hops 2")
    page.get_by_test_id("stDataFrame").click(position=CELL)
    expect(page.locator(".st-key-tune_picked")).to_contain_text("beam 4, hops 1")
    page.get_by_role("button", name="Set B").click()
    expect(page.get_by_text("B beam 4, hops 1")).to_be_visible()
    expect(page.locator(".st-key-tune_only_a")).to_contain_text("Acme Capital USES Helios")
    expect(page.locator(".st-key-tune_only_b")).to_contain_text("None.")
    expect(page.locator(".canvas canvas")).to_be_visible()
    page.get_by_role("link", name="Open in Ask").click()
    answered(page)
    expect(page).to_have_url(re.compile("hops=1.*beam=4.*auto=false"))
    expect(page.get_by_role("radio", name="1", exact=True)).to_be_checked()


def test_the_heat_map_is_walked_by_keys(open_page: OpenPage, demo_url: str) -> None:
    page = tuned(open_page(demo_url))
    page.get_by_test_id("stDataFrame").click(position=CELL)
    expect(page.locator(".st-key-tune_picked")).to_contain_text("beam 4, hops 1")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".st-key-tune_picked")).to_contain_text("beam 6, hops 2")


def test_a_gold_set_is_stopped_and_goes_on(open_page: OpenPage, demo_url: str, tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    lines = [json.dumps({"id": str(n), "question": f"{QUESTION} {n}", "entities": ["helios"]}) for n in range(40)]
    gold.write_text("\n".join(lines), encoding="utf-8")
    page = tuned(open_page(demo_url))
    over(page, "A gold file")
    page.locator("input[type=file]").set_input_files(gold)
    expect(page.get_by_text("0 of 40 questions asked, 20 settings each")).to_be_visible()
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text(re.compile(r"^([3-9]|1\d) of 40 questions$"))).to_be_visible(timeout=30_000)
    page.get_by_role("button", name="Stop", exact=True).click()
    swept(page)
    expect(page.get_by_text(re.compile(r"^[1-9]\d* of 40 questions asked"))).to_be_visible()
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_text("over 40 questions")).to_be_visible(timeout=60_000)
    expect(page.get_by_role("button", name="Go on")).to_have_count(0)
    expect(page.get_by_role("link", name="Open in Ask")).to_be_visible()
    page.get_by_text("All figures of 40 questions").click()
    expect(page.get_by_role("cell", name="entity recall@20", exact=True)).to_be_visible()


def test_it_can_be_the_first_page_that_a_server_is_asked_for(open_page: OpenPage, tmp_path: Path) -> None:
    with running(tmp_path, store="") as url:
        page = open_page(f"{url}/tune?beams=3%2C+5")
        swept(page)
        expect(page.get_by_role("link", name="Settings")).to_be_visible()
        expect(page.get_by_test_id("stSidebarNav")).to_have_count(0)
        expect(page.get_by_role("textbox", name="Beam widths")).to_have_value("3, 5")
        assert page.locator(".stMainBlockContainer").evaluate("e => e.clientWidth") > 1_000


def test_ask_is_as_it_was_left(open_page: OpenPage, demo_url: str) -> None:
    page = answered(open_page(f"{demo_url}?q=Who+supplies+Helios%3F&hops=3&k=9&scoring=edge"))
    before = page.url
    page.get_by_role("link", name="Tune").click()
    swept(page)
    page.get_by_role("link", name="Ask", exact=True).click()
    answered(page)
    expect(page.get_by_role("searchbox", name="Question")).to_have_value("Who supplies Helios?")
    expect(page).to_have_url(re.compile("q=Who.*hops=3.*k=9.*scoring=edge"))
    assert "hops=3" in before
