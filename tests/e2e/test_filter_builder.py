"""The filter's popover as a person uses it: by mouse, by keyboard, in a small window, on hostile values."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, TimeoutError, ViewportSize, expect

from tests.e2e.conftest import OpenPage
from tests.e2e.test_ask import QUESTION, answered
from tests.e2e.test_hostile import HOSTILE, START, hostile_url, nothing_ran  # noqa: F401 (a fixture)

YEAR = {"field": "year", "operator": ">=", "value": 2025}
KIND = {"field": "kind", "operator": "in", "value": ["register", "org chart"]}
BOTH = {"operator": "AND", "conditions": [YEAR, KIND]}
DEEP = {
    "operator": "AND",
    "conditions": [
        YEAR,
        KIND,
        {"operator": "OR", "conditions": [YEAR, {"operator": "AND", "conditions": [
            {"field": "nowhere", "operator": "contains_any", "value": ["x" * 90, 1, "2"]},
            {"operator": "OR", "conditions": [YEAR, {**KIND, "value": None}]},
        ]}]},
    ],
}  # fmt: skip


def ready(page: Page) -> Page:
    """Answered, in a session that did not wait for the demo to be built."""
    answered(page)
    page.reload()
    return answered(page)


def told(page: Page, filter: Any) -> None:
    """The link holds this filter, to the letter."""
    wanted = json.dumps(filter, ensure_ascii=False)
    held = "() => new URL(location.href).searchParams.get('filter')"
    with suppress(TimeoutError):
        page.wait_for_function(f"wanted => ({held})() === wanted", arg=wanted)
    assert page.evaluate(held) == wanted


FACTS = "(root) => [...root.querySelectorAll('.facts > ol > li')].map((row) => row.dataset.fact)"


def facts(page: Page) -> list[str]:
    return page.locator(".evidence").evaluate(FACTS)  # type: ignore[no-any-return]


def other_facts(page: Page, before: list[str]) -> list[str]:
    """The facts, once they are no longer these."""
    page.wait_for_function(
        f"([root, before]) => ({FACTS})(root).join() !== before.join()",
        arg=[page.locator(".evidence").element_handle(), before],
    )
    return facts(page)


def settled(page: Page, label: str) -> Locator:
    """The widget of this label, once it is not drawn beside the one that it replaces."""
    expect(page.get_by_label(label, exact=True)).to_have_count(1)
    return page.get_by_label(label, exact=True)


def choose(page: Page, label: str, *options: str) -> None:
    settled(page, label).click()
    for option in options:
        page.get_by_role("option", name=re.compile(f"^{re.escape(option)}( ·|$)")).click()


def test_conditions_are_built_by_mouse(open_page: OpenPage, demo_url: str) -> None:
    page = ready(open_page(demo_url))
    before = facts(page)
    page.get_by_role("button", name="Filter").click()
    page.get_by_role("button", name="Add condition").click()
    choose(page, "Field of condition 1", "year")
    choose(page, "Operator of condition 1", ">=")
    choose(page, "Value of condition 1", "2025")
    told(page, YEAR)
    by_year = other_facts(page, before)
    page.get_by_role("button", name="Add condition").click()
    choose(page, "Field of condition 2", "kind")
    choose(page, "Operator of condition 2", "in")
    expect(page.get_by_test_id("stMultiSelect").get_by_label("Value of condition 2")).to_have_count(1)
    choose(page, "Value of condition 2", *KIND["value"])
    told(page, BOTH)
    page.keyboard.press("Escape")
    other_facts(page, by_year)
    expect(page.get_by_role("button", name="Filter 2")).to_be_visible()
    chips = page.locator(".st-key-chosen")
    expect(chips).to_contain_text("year ≥ 2025")
    expect(chips).to_contain_text("kind in register, org chart")
    page.get_by_text("OR", exact=True).click()
    told(page, {**BOTH, "operator": "OR"})
    page.get_by_role("tab", name="JSON").click()
    expect(page.get_by_label("Filter as JSON")).to_have_value(json.dumps({**BOTH, "operator": "OR"}))
    page.keyboard.press("Escape")
    again = answered(open_page(page.url))
    assert facts(again) == facts(page)


def test_conditions_are_built_by_keyboard(open_page: OpenPage, demo_url: str) -> None:
    page = ready(open_page(demo_url))
    before = facts(page)
    page.get_by_role("button", name="Filter").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("tab", name="Builder")).to_be_focused()
    page.keyboard.press("Tab")
    add_row(page, 1, "year", ">=")
    page.keyboard.type("2025")
    page.keyboard.press("Enter")
    told(page, YEAR)
    by_year = other_facts(page, before)
    press_until_focused(page, "Tab", "Add condition")
    add_row(page, 2, "kind", "in")
    for value in KIND["value"]:
        page.keyboard.type(value)
        expect(page.get_by_role("option").first).to_contain_text(value)
        page.keyboard.press("Enter")
        expect(page.get_by_label(f"Remove {value}").first).to_be_visible()
    told(page, BOTH)
    other_facts(page, by_year)
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(page.locator("[data-testid=stPopoverBody]")).to_have_count(0)
    expect(page.get_by_role("button", name="Filter 2")).to_be_focused()


def add_row(page: Page, number: int, field: str, operator: str) -> None:
    """From `Add condition` to the value of the new row, its field and operator chosen."""
    expect(page.get_by_role("button", name="Add condition")).to_be_focused()
    page.keyboard.press("Enter")
    box = settled(page, f"Field of condition {number}")
    press_until_focused(page, "Shift+Tab", f"Field of condition {number}")
    idle(page)
    page.keyboard.type(field)
    expect(page.get_by_role("option").first).to_contain_text(field)
    page.keyboard.press("Enter")
    expect(box).to_have_value(re.compile(f"^{field}"))
    idle(page)
    expect(settled(page, f"Operator of condition {number}")).to_be_enabled()
    press_until_focused(page, "Tab", f"Operator of condition {number}")
    page.keyboard.type(operator)
    expect(page.get_by_role("option").first).to_have_text(operator)
    page.keyboard.press("Enter")
    expect(page.get_by_label(f"Operator of condition {number}", exact=True)).to_have_value(operator)
    drawn = page.get_by_test_id("stMultiSelect" if operator == "in" else "stSelectbox")
    expect(drawn.get_by_label(f"Value of condition {number}", exact=True)).to_have_count(1)
    settled(page, f"Value of condition {number}")
    press_until_focused(page, "Tab", f"Value of condition {number}")


def idle(page: Page) -> None:
    """The page has drawn what the last change made of it."""
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")


def at_rest(page: Page) -> None:
    """The popover has found its place: its rows read one after another are of one picture."""
    idle(page)
    page.wait_for_function(
        """() => {
            const popover = document.querySelector("[data-testid=stPopoverBody]");
            const places = [popover, ...popover.querySelectorAll("input, textarea")].map((each) => {
                const box = each.getBoundingClientRect();
                return [box.x, box.y, box.width];
            });
            const now = JSON.stringify(places);
            const [before, since] = window.placesBefore ?? [null, 0];
            if (now !== before) window.placesBefore = [now, Date.now()];
            return now === before && Date.now() - since > 500;
        }"""
    )


def press_until_focused(page: Page, key: str, name: str) -> None:
    idle(page)
    for _ in range(12):
        page.keyboard.press(key)
        focused = page.evaluate("[document.activeElement.ariaLabel, document.activeElement.innerText].join(' ').trim()")
        if focused.startswith(name) or focused.endswith(name):
            return
    raise AssertionError(f"{name} is not reached")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("screen", [ViewportSize(width=1280, height=720), ViewportSize(width=1280, height=600)])
def test_a_row_is_a_line_and_nothing_overflows(
    open_page: OpenPage, demo_url: str, screen: ViewportSize, scheme: str
) -> None:
    page = open_page(f"{demo_url}/?q={quote(QUESTION)}&filter={quote(json.dumps(DEEP))}", screen=screen, scheme=scheme)
    page.get_by_role("button", name="Filter ⚠").click(timeout=60_000)
    expect(page.get_by_label("Value of condition 6")).to_be_visible()
    popover = page.locator("[data-testid=stPopoverBody]")
    at_rest(page)
    width, bottom = popover.evaluate("e => [e.scrollWidth - e.clientWidth, e.getBoundingClientRect().bottom]")
    assert width == 0
    assert bottom <= screen["height"]
    within = popover.bounding_box()
    for number in range(1, 7):
        boxes = [
            page.get_by_label(f"{part} of condition {number}", exact=True).bounding_box()
            for part in ("Field", "Operator", "Value")
        ]
        middles = [box["y"] + box["height"] / 2 for box in boxes if box]
        assert len(middles) == 3
        assert max(middles) - min(middles) < 2
        assert within
        assert all(box["x"] + box["width"] <= within["x"] + within["width"] for box in boxes if box)
    error = popover.get_by_role("alert")
    expect(error).to_have_count(1)
    assert error.bounding_box()["y"] > middles[0]  # type: ignore[index]
    main = page.locator("[data-testid=stMain]")
    assert main.evaluate("e => e.scrollWidth - e.clientWidth") == 0


def test_hostile_values_are_text_and_stand_for_themselves(open_page: OpenPage, hostile_url: str) -> None:  # noqa: F811
    page = open_page(f"{hostile_url}/?q={START}&hops=1")
    expect(page.locator(".facts > ol > li")).to_have_count(len(HOSTILE), timeout=60_000)
    page.get_by_role("button", name="Filter").click()
    page.get_by_role("button", name="Add condition").click()
    choose(page, "Field of condition 1", "note")
    value = page.get_by_label("Value of condition 1", exact=True).and_(page.locator(":enabled"))
    for name in ("image", "markdown", "long", "direction"):
        value.click()
        expect(page.get_by_role("option")).to_have_count(len(HOSTILE))
        seen = re.sub("[\u200b\u202c\u202e]", "", HOSTILE[name])[:12]
        page.get_by_role("option").filter(has_text=seen).click()
        told(page, {"field": "note", "operator": "==", "value": HOSTILE[name]})
        expect(page.locator(".facts > ol > li")).to_have_count(1)
        nothing_ran(page)
    assert page.locator(".katex").count() == 0
