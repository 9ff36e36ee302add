"""Somebody misses an entity on Ask, reads why it is not there, and brings it in."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.e2e.conftest import OpenPage


def test_what_is_missing_is_explained_and_brought_in(open_page: OpenPage, demo_url: str) -> None:
    page = open_page(f"{demo_url}/?q=What+system+does+Jane+Doe's+employer+use?&beam=1&auto=false")
    expect(page.get_by_text("Hop 2 1/").first).to_be_visible(timeout=60_000)
    page.get_by_role("button", name="Why not?").click()
    page.get_by_placeholder("An entity's name").fill("Brindle")
    page.get_by_role("button", name=re.compile("Brindlecomb Systems")).click()
    expect(page.get_by_text("Cut at hop 2")).to_be_visible(timeout=20_000)
    expect(page.get_by_text("The smallest beam that keeps it is")).to_be_visible()
    page.get_by_role("button", name=re.compile(r"^Beam \d+$")).click()
    expect(page.get_by_text("It is in the result")).to_be_visible(timeout=20_000)
    expect(page).to_have_url(re.compile("why="))
    page.reload()
    expect(page.get_by_text("It is in the result")).to_be_visible(timeout=30_000)


def test_the_fact_is_in_the_link_until_another_looks(open_page: OpenPage, demo_url: str) -> None:
    page = open_page(f"{demo_url}/?q=What+system+does+Jane+Doe's+employer+use?&beam=1&auto=false&why=acme-capital")
    expect(page.get_by_text("50 of 90 facts")).to_be_visible(timeout=60_000)
    which = page.get_by_label("Which fact")
    which.click()
    page.get_by_role("option", name="Acme Capital COMPLIES_WITH DORA").click()
    expect(page.get_by_text("Cut at hop 2")).to_be_visible(timeout=20_000)
    expect(page).to_have_url(re.compile("why_fact="))
    page.reload()
    expect(page.get_by_text("Cut at hop 2")).to_be_visible(timeout=30_000)
    expect(which).to_have_value("Acme Capital COMPLIES_WITH DORA")
    page.keyboard.press("Escape")
    expect(page.get_by_text("Cut at hop 2")).to_be_hidden()
    page.get_by_label("View as").click()
    page.get_by_role("option", name="public").click()
    expect(page).not_to_have_url(re.compile("why"))
    page.get_by_role("button", name="Why not?").click()
    expect(page.get_by_text("Pick an entity, or one fact of it")).to_be_visible(timeout=20_000)
    expect(which).to_have_count(0)
