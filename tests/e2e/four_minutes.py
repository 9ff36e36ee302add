"""The four-minute demo, step by step: what a person does, and what must then be on the screen."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

Step = tuple[str, Callable[[Page], None]]


def opens_answered(page: Page) -> None:
    expect(page.locator(".facts li").first).to_contain_text("Helios", timeout=60_000)
    expect(page.locator(".canvas canvas")).to_be_visible()
    expect(page.locator(".echo .word-2").first).to_contain_text("system")
    expect(page.locator(".steps [aria-pressed=true]")).to_contain_text("Result 8")


def is_stepped_through(page: Page) -> None:
    page.locator(".steps").get_by_role("button", name="Seeds").click()
    expect(page.locator(".facts")).to_contain_text("The walk has not begun.")
    for label in ("Hop 1", "Hop 2", "Result"):
        page.keyboard.press("]")
        expect(page.locator(".steps [aria-pressed=true]")).to_contain_text(label)


def lights_up_a_fact(page: Page) -> None:
    page.locator(".facts > ol > li .row").first.click()
    expect(page.locator(".facts .chain")).to_contain_text(re.compile("Jane Doe.*WORKS_AT.*USES"))
    expect(page.locator(".source mark")).to_contain_text("Helios")
    thick = "f => f.frontier.edges.get().filter((edge) => edge.width === 4).length"
    assert page.locator(".canvas").evaluate(thick) == 2


def loses_a_hop(page: Page) -> None:
    page.locator(".st-key-hops").get_by_text("1", exact=True).click()
    expect(page.locator(".echo .unexplained").first).to_contain_text("system")
    expect(page.locator(".st-key-chips")).to_contain_text("Hops 2→1: −4")
    page.locator(".left-facts summary").click()
    expect(page.locator(".left-facts")).to_contain_text("Helios")


def undoes_it(page: Page) -> None:
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".steps [aria-pressed=true]")).to_contain_text("Result 8")
    expect(page.locator(".echo .unexplained")).to_have_count(0)
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)


def narrows_the_beam(page: Page) -> None:
    page.get_by_label("Beam").fill("2")
    page.get_by_label("Beam").press("Enter")
    expect(page.locator(".st-key-chips")).to_contain_text("Beam 4→2")
    page.locator(".near-misses summary").click()
    expect(page.locator(".missed").first).to_contain_text("enters at beam 3")


def lets_a_near_miss_in(page: Page) -> None:
    near = page.locator(".near").first
    fact = near.get_attribute("data-fact")
    near.locator(".missed button").click()
    expect(page.locator(f'.facts > ol > li[data-fact="{fact}"]')).to_contain_text("NEW")
    expect(page.get_by_label("Beam")).to_have_value("3")


def scores_by_edge(page: Page) -> None:
    page.locator(".st-key-scoring").get_by_text("edge").click()
    expect(page.locator(".st-key-chips")).to_contain_text("Scoring coverage→edge")
    expect(page.locator(".left-facts summary")).to_be_visible()


def undoes_the_scoring(page: Page) -> None:
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".st-key-chips")).to_contain_text("Beam 2→3")


def looks_as_public(page: Page) -> None:
    page.get_by_role("button", name="Examples").click()
    page.get_by_role("menuitem", name="The secret target").click()
    expect(page.locator(".facts")).to_contain_text("Pellworm Bank")
    page.get_by_label("View as").click()
    page.get_by_role("option", name="public").click()
    expect(page.locator(".facts")).not_to_contain_text("Pellworm Bank")
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)
    assert "public" not in page.url


def shares_it(page: Page) -> None:
    page.get_by_role("button", name="Share").click()
    expect(page.get_by_text("This link opens the same view")).to_be_visible()
    with page.expect_download() as downloading:
        page.get_by_role("button", name="Facts as CSV").click()
    assert downloading.value.suggested_filename == "hopscope-facts.csv"


STEPS: tuple[Step, ...] = (
    ("1-opens-answered", opens_answered),
    ("2-steps", is_stepped_through),
    ("3-fact", lights_up_a_fact),
    ("4-one-hop", loses_a_hop),
    ("5-undo", undoes_it),
    ("6-beam-2", narrows_the_beam),
    ("7-near-miss-enters", lets_a_near_miss_in),
    ("8-edge-scoring", scores_by_edge),
    ("9-undo", undoes_the_scoring),
    ("10-public", looks_as_public),
    ("11-share", shares_it),
)


def overflow(page: Page) -> list[int]:
    """By how much the page is larger than its window, downwards and sideways."""
    main = page.locator("[data-testid=stMain]")
    found: list[int] = main.evaluate("e => [e.scrollHeight - e.clientHeight, e.scrollWidth - e.clientWidth]")
    return found
