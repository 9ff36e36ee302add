"""The Ask page over several runs in a real browser: the link of a view, saved runs, slow calls."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.chat_server import ChatServer
from tests.e2e.conftest import OpenPage, download, open_saved, running
from tests.e2e.test_ask import QUESTION, answered, count_messages, selected_facts, sent

MODEL = "HOPSCOPE_CHAT_URL", "HOPSCOPE_CHAT_MODEL"


@pytest.fixture(scope="module")
def model() -> Iterator[ChatServer]:
    with ChatServer() as server:
        yield server


@pytest.fixture(scope="module")
def chat_url(model: ChatServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app on the demo graph with a chat model that a scripted server plays."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, MODEL[0], model.url)
        patch.setitem(os.environ, MODEL[1], "scripted")
        with running(tmp_path_factory.mktemp("chat"), store="") as url:
            yield url


def pressed_step(page: Page) -> str:
    return page.locator(".steps [aria-pressed=true]").inner_text()


def test_the_link_keeps_step_selection_and_tab_without_a_rerun(open_page: OpenPage, demo_url: str) -> None:
    page = answered(open_page(demo_url))
    count_messages(page)
    page.locator(".facts > ol > li .row").nth(2).click()
    fact = page.locator(".facts > ol > li").nth(2).get_attribute("data-fact")
    page.keyboard.press("[")
    page.get_by_role("button", name="near miss", exact=True).click()
    page.get_by_role("tab", name="Trace").click()
    expect(page).to_have_url(re.compile(f"fact={fact}.*near=true.*tab=trace|step=2.*fact={fact}"))
    assert sent(page) == []
    again = answered_trace(open_page(page.url))
    assert pressed_step(again).startswith("Hop 2")
    assert fact in selected_facts(again)
    expect(again.get_by_role("button", name="near miss", exact=True)).to_have_attribute("aria-pressed", "true")


def answered_trace(page: Page) -> Page:
    expect(page.locator(".trace")).to_be_visible(timeout=60_000)
    return page


def test_what_the_link_names_and_the_run_has_not_is_left_out(open_page: OpenPage, demo_url: str) -> None:
    page = answered(
        open_page(f"{demo_url}/?fact=nobody&node=nothing&step=9&tab=%3Cb%3E&near=maybe&hops=1&q={QUESTION}")
    )
    assert pressed_step(page).startswith("Result")
    top = page.locator(".facts > ol > li").first.get_attribute("data-fact")
    assert top in selected_facts(page)
    expect(page).not_to_have_url(re.compile("nobody|nothing|maybe"))


def test_a_change_of_settings_keeps_the_selection_in_the_link(open_page: OpenPage, demo_url: str) -> None:
    page = answered(open_page(demo_url))
    row = page.locator(".facts > ol > li").filter(has_text="MANAGES").first
    row.locator(".row").click()
    fact = row.get_attribute("data-fact")
    page.locator(".st-key-hops").get_by_text("3", exact=True).click()
    expect(page.locator(".steps button")).to_have_count(5)
    expect(page).to_have_url(re.compile(rf"hops=3.*fact={fact}|fact={fact}.*hops=3"))
    assert fact in selected_facts(page)


def test_a_saved_run_can_be_looked_at_but_not_walked_on_from(open_page: OpenPage, demo_url: str) -> None:
    page = answered(open_page(demo_url))
    open_saved(page, "r.json", download(page, "Run as JSON"))
    expect(page.locator(".st-key-chips")).to_contain_text("A saved run, as it was: r.json")
    page.keyboard.press("Escape")
    page.locator(".near-misses summary").click()
    expect(page.locator(".missed").first).to_contain_text("enters at beam")
    expect(page.locator(".missed button")).to_have_count(0)
    page.keyboard.press("[")
    assert pressed_step(page).startswith("Hop 2")
    page.get_by_role("button", name="Close").click()
    expect(page.locator(".st-key-chips")).to_contain_text("Jane Doe · Person")


def test_an_answer_is_written_while_the_graph_is_there_and_can_be_stopped(
    open_page: OpenPage, chat_url: str, model: ChatServer
) -> None:
    goes_on = threading.Event()

    def pieces() -> Iterator[str]:
        yield "It is Helios"
        while not goes_on.wait(0.05):
            yield "."

    model.gone.clear()
    model.stream(pieces(), finish_reason=None)
    page = answered(open_page(f"{chat_url}/?q={QUESTION}&seed_mode=Names+in+the+question&summarize=true"))
    expect(page.locator(".st-key-answer")).to_contain_text("It is Helios")
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    expect(page.locator(".st-key-answer")).to_contain_text("It is Helios")
    assert model.gone.wait(10)
    goes_on.set()
    page.locator(".facts > ol > li .row").nth(1).click()
    expect(page.locator(".source mark")).to_be_visible()


def test_slow_seeds_can_be_stopped_and_the_last_run_stays(
    open_page: OpenPage, chat_url: str, model: ChatServer
) -> None:
    page = answered(open_page(f"{chat_url}/?q={QUESTION}&seed_mode=Names+in+the+question"))
    shown = page.locator(".facts > ol").inner_text()
    model.say('{"names": ["Helios"]}', delay=8)
    page.get_by_role("button", name="More").click()
    page.get_by_label("Seeds from").click()
    page.get_by_role("option", name="Chat model").click()
    expect(page.locator(".st-key-waiting_run")).to_contain_text("Walking the graph")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("alert").first).to_contain_text("Stopped.")
    assert page.locator(".facts > ol").inner_text() == shown
    model.say('{"names": ["Helios"]}')
    page.get_by_role("button", name="Ask again").click()
    expect(page.locator(".st-key-chosen")).to_contain_text(re.compile("helios", re.IGNORECASE))
