"""The Browse page in a real browser: search, grow, hide, pin, the legend, a path, and the ways to Ask and back."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Locator, Page, expect

from kgcore import open_store
from kgcore.browse import Step, steps_text
from kgcore.browse.steps import is_too_long
from kgcore.evals.synthetic import fill, make
from tests.e2e.conftest import OpenPage, running
from tests.e2e.test_ask import QUESTION, answered
from tests.e2e.test_hostile import HOSTILE, hostile_url, nothing_ran

__all__ = ["hostile_url"]


def browsed(page: Page) -> Page:
    expect(page.locator(".browse .canvas canvas")).to_be_visible(timeout=60_000)
    return page


def boxes(page: Page) -> dict[str, list[int]]:
    """Where each drawn entity stands."""
    found: dict[str, list[int]] = page.locator(".browse .canvas").evaluate(
        "c => Object.fromEntries([...c.frontier.boxes].map(([id, box]) => [id, [box.x, box.y]]))"
    )
    return found


def settled(there: Locator) -> object:
    """Where it stands once fonts and panes have come, and it stays for a while."""
    box, before = there.bounding_box(), None
    while box != before:
        there.page.wait_for_timeout(500)
        box, before = there.bounding_box(), box
    return box


def count_is(page: Page, entities: int) -> None:
    expect(page.locator(".browse .canvas")).to_have_attribute("aria-label", re.compile(rf"^Graph of {entities} entit"))


def click(page: Page, entity_id: str) -> None:
    at: Any = page.locator(".browse .canvas").evaluate(
        "(c, id) => c.frontier.network.canvasToDOM(c.frontier.network.getPosition(id))", entity_id
    )
    page.locator(".browse .canvas").click(position=at)


def do(page: Page, label: str | re.Pattern[str]) -> None:
    page.locator(".st-key-browse_do").get_by_role("button", name=label).click()


def found(page: Page, text: str) -> None:
    page.get_by_role("searchbox", name="Search").press_sequentially(text)
    page.locator(".st-key-browse_found").get_by_role("button").first.click()


def test_from_a_search_to_a_picture_and_its_link(open_page: OpenPage, demo_url: str) -> None:
    page = open_page(f"{demo_url}/browse")
    expect(page.get_by_text("Search for an entity, or begin with a hub")).to_be_visible(timeout=60_000)
    below = settled(page.get_by_role("tab", name="Entity"))
    page.get_by_role("searchbox", name="Search").press_sequentially("heli")
    expect(page.locator(".st-key-browse_found")).to_contain_text("Helios · System · 16 edges")
    assert page.get_by_role("tab", name="Entity").bounding_box() == below, "what is found moves nothing"
    page.locator(".st-key-browse_found").get_by_role("button").first.click()
    count_is(browsed(page), 1)
    do(page, "+11 of 11")
    count_is(page, 12)
    before = boxes(page)
    click(page, "acme-capital")
    expect(page.locator(".st-key-browse_pane")).to_contain_text("Organization · 108 edges")
    click(page, "acme-capital")
    count_is(page, 35)
    assert {id_: at for id_, at in boxes(page).items() if id_ in before} == before
    do(page, "Pin")
    expect(page.locator(".st-key-browse_do")).to_contain_text("Unpin")
    click(page, "helios")
    do(page, "Hide")
    count_is(page, 34)
    page.locator(".types").get_by_role("button", name=re.compile("^Person")).click()
    expect(page.locator(".types").get_by_role("button", name=re.compile("^Person"))).to_have_attribute(
        "aria-pressed", "false"
    )
    expect(page).to_have_url(re.compile("steps=.*off=Person|off=Person.*steps="))
    drawn = boxes(page)
    assert not any(id_ in drawn for id_ in ("helios", "jane-doe"))
    other = browsed(open_page(page.url))
    count_is(other, len(drawn))
    assert boxes(other) == drawn


def test_back_and_a_link_lead_to_the_same_picture(open_page: OpenPage, demo_url: str) -> None:
    page = open_page(f"{demo_url}/browse")
    found(page, "heli")
    count_is(browsed(page), 1)
    do(page, "+11 of 11")
    count_is(page, 12)
    click(page, "acme-capital")
    expect(page.locator(".st-key-browse_pane")).to_contain_text("Organization · 108 edges")
    do(page, re.compile("^[+]25 of"))
    count_is(page, 35)
    page.get_by_role("button", name="Undo").click()
    count_is(page, 12)
    do(page, re.compile("^[+]25 of"))
    do(page, "Collapse")
    count_is(page, 12)
    page.locator(".browse").get_by_role("button", name="More").click()
    page.get_by_text("Tidy").click()
    expect(page).to_have_url(re.compile("tidy"))
    do(page, re.compile("^[+]25 of"))
    count_is(page, 35)
    stood = boxes(page)
    other = browsed(open_page(page.url))
    count_is(other, 35)
    assert boxes(other) == stood
    page.go_back()
    count_is(page, 12)
    page.go_forward()
    count_is(page, 35)
    assert boxes(page) == stood
    while "steps=" in page.url:
        page.go_back()
        page.wait_for_timeout(300)
    expect(page.get_by_text("Search for an entity, or begin with a hub")).to_be_visible()


def test_the_longest_link_opens(open_page: OpenPage, demo_url: str) -> None:
    steps = [Step(kind="open", entity_id="helios"), Step(kind="grow", entity_id="helios")]
    while not is_too_long(longer := [*steps, Step(kind="open", entity_id="é" * 100)]):
        steps = longer
    query = urlencode({"steps": steps_text(steps), "at": "helios"})
    page = browsed(open_page(f"{demo_url}/browse?{query}"))
    count_is(page, 12)
    page.reload()
    count_is(browsed(page), 12)


def test_it_grows_and_selects_by_keys(open_page: OpenPage, demo_url: str) -> None:
    page = browsed(open_page(f"{demo_url}/browse?open=helios"))
    page.locator(".browse .canvas").focus()
    page.keyboard.press("Enter")
    count_is(page, 12)
    page.keyboard.press("ArrowUp")
    expect(page.locator(".st-key-browse_pane")).to_contain_text("Acme Capital")
    page.keyboard.press("Delete")
    count_is(page, 11)
    expect(page.get_by_role("button", name="Show 1 hidden")).to_be_visible()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Search")).to_be_focused()
    page.get_by_role("button", name="Undo").click()
    count_is(page, 12)


def test_a_path_between_two_entities(open_page: OpenPage, demo_url: str) -> None:
    page = open_page(f"{demo_url}/browse?browse_tab=Path")
    expect(page.locator(".st-key-path_from input")).to_be_visible(timeout=60_000)
    for which, name in (("from", "Jane Doe"), ("to", "Helios")):
        page.locator(f".st-key-path_{which} input").press_sequentially(name)
        first = page.locator(f".st-key-path_{which}_0")
        expect(first).to_contain_text(name)
        first.get_by_role("button").click()
        expect(page.locator(f".st-key-path_{which}_chosen")).to_be_visible()
    expect(page.get_by_text("1 path of 2 hops")).to_be_visible(timeout=60_000)
    count_is(browsed(page), 3)
    page.get_by_role("tab", name="Hubs").click()
    page.locator(".st-key-browse_pane").get_by_role("button", name=re.compile("^Skerrow Cloud")).click()
    expect(page.get_by_role("tab", name="Entity")).to_have_attribute("aria-selected", "true")
    count_is(page, 4)


def test_from_ask_and_back_within_the_session(open_page: OpenPage, demo_url: str) -> None:
    page = open_page(demo_url)
    answered(page)
    at: Any = page.locator(".canvas").evaluate(
        "c => c.frontier.network.canvasToDOM(c.frontier.network.getPosition('helios'))"
    )
    page.locator(".canvas").click(position=at)
    page.locator(".picked").get_by_role("link", name="Browse").click()
    count_is(browsed(page), 1)
    expect(page.get_by_role("textbox", name="Closest to")).to_have_value(QUESTION)
    expect(page).to_have_url(re.compile("/browse\\?.*steps="))
    page.get_by_role("link", name="Ask from here").click()
    answered(page)
    expect(page.locator(".st-key-q input")).to_have_value("Helios")
    expect(page).to_have_url(re.compile("seeds=helios"))
    expect(page.locator(".st-key-chosen")).to_contain_text("◆ Helios")
    page.get_by_role("link", name="Browse", exact=True).first.click()
    count_is(browsed(page), 1)


def test_hostile_names_are_text(open_page: OpenPage, hostile_url: str) -> None:
    page = open_page(f"{hostile_url}/browse")
    found(page, "zanz")
    do(browsed(page), re.compile("^[+]11"))
    count_is(page, 12)
    pane = page.locator(".st-key-browse_pane:visible")
    expect(pane).to_contain_text("<img src=x onerror=")
    nothing_ran(page)
    for tab in ("Sources", "Relations", "Hubs", "Schema"):
        page.get_by_role("tab", name=tab).click()
        expect(pane).to_be_visible()
        nothing_ran(page)
    expect(page.locator(".types").first).to_contain_text(HOSTILE["image"])
    page.locator(".types").first.get_by_role("button").filter(has_text="<img").click()
    count_is(page, 1)
    page.locator(".types").first.get_by_role("button").filter(has_text="<img").click()
    count_is(page, 12)
    click(page, "markdown")
    expect(pane).to_contain_text(":\u2060red[x] $x$ [a](")
    nothing_ran(page)
    assert page.locator(".katex, .stMarkdown span[style*=color]").count() == 0


def test_a_hub_of_thousands_grows_step_by_step(open_page: OpenPage, tmp_path: Any) -> None:
    address = f"duckdb:///{tmp_path / 'hub.duckdb'}"
    store = open_store(address, create=True)
    fill(store, make(6_000, 3_000, 200))
    store.close()
    with running(tmp_path, store=address) as url:
        page = browsed(open_page(f"{url}/browse?open=n0"))
        expect(page.locator(".st-key-browse_do")).to_contain_text("+25 of 3,000", timeout=60_000)
        do(page, "+25 of 3,000")
        expect(page.locator(".st-key-browse_pane")).to_contain_text(
            "25 of 3,000 facts drawn; ranked by connections among 1,000."
        )
        expect(page.locator(".st-key-browse_do")).to_contain_text("+25 of 2,975")
