"""Another page and back: whatever Ask held is still there."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import OpenPage
from tests.e2e.test_ask import answered, frontier, positions, selected_facts


def test_another_page_and_back_loses_nothing(open_page: OpenPage, demo_url: str) -> None:
    page = answered(open_page(demo_url))
    page.locator(".st-key-hops").get_by_text("3", exact=True).click()
    expect(page.locator(".steps button")).to_have_count(5)
    page.get_by_role("button", name=re.compile("payroll data")).click()
    expect(page.locator(".steps")).to_contain_text("Seeds 4")
    page.locator(".facts > ol > li .row").nth(2).click()
    page.keyboard.press("[")
    page.get_by_role("tab", name="Sources").click()
    expect(page).to_have_url(re.compile("tab=sources"))
    before = positions(page)
    selected, url = selected_facts(page), page.url
    seen = "const at = f.network.getViewPosition(); return [f.network.getScale(), at.x, at.y]"
    view = frontier(page, seen)
    page.get_by_role("link", name="Tune").click()
    expect(page.get_by_text("A and B", exact=True)).to_be_visible(timeout=60_000)
    expect(page).not_to_have_url(re.compile("tab=|step="))
    page.get_by_role("link", name="Ask", exact=True).click()
    expect(page.locator(".sources")).to_be_visible()
    expect(page.locator(".steps [aria-pressed=true]")).to_contain_text("Hop 3")
    expect(page.locator(".steps")).to_contain_text("Seeds 4")
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    assert positions(page) == before
    assert selected_facts(page) == selected
    assert frontier(page, seen) == pytest.approx(view)  # the network reckons it anew from the canvas
    expect(page).to_have_url(re.compile("tab=sources"))
    assert set(page.url.partition("?")[2].split("&")) == set(url.partition("?")[2].split("&"))
