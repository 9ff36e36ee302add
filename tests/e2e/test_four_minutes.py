"""The four-minute demo in a real browser, on a laptop's screen and on a projector's; and that all can use it."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, ViewportSize

from tests.e2e.conftest import OpenPage
from tests.e2e.four_minutes import STEPS, lets_a_near_miss_in, loses_a_hop, opens_answered, overflow, shares_it


def serious(page: Page) -> list[str]:
    """What axe finds that keeps somebody from using the page."""
    found = Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {node['html'][:160]} {node['failureSummary'][:200]}"
        for one in found
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


@pytest.mark.parametrize("screen", [ViewportSize(width=1280, height=720), ViewportSize(width=1280, height=600)])
def test_the_demo_goes_through(open_page: OpenPage, demo_url: str, screen: ViewportSize) -> None:
    page = open_page(demo_url, screen=screen)
    for name, step in STEPS:
        step(page)
        assert overflow(page) == [0, 0], name


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(open_page: OpenPage, demo_url: str, scheme: str) -> None:
    page = open_page(demo_url, scheme=scheme)
    for name, step in STEPS:
        step(page)
        if step in (opens_answered, loses_a_hop, lets_a_near_miss_in, shares_it):
            assert serious(page) == [], name


@pytest.mark.parametrize("tab", ["Sources", "Trace"])
def test_axe_finds_nothing_serious_in_the_other_tabs(open_page: OpenPage, demo_url: str, tab: str) -> None:
    page = open_page(demo_url)
    opens_answered(page)
    page.get_by_role("tab", name=tab).click()
    assert serious(page) == []


@pytest.mark.parametrize("menu", ["Filter", "More", "Add", "Examples"])
def test_axe_finds_nothing_serious_in_the_menus(open_page: OpenPage, demo_url: str, menu: str) -> None:
    page = open_page(demo_url)
    opens_answered(page)
    page.get_by_role("button", name=menu, exact=True).click()
    assert serious(page) == []
