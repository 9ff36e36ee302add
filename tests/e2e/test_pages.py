"""Another page and back: whatever Ask held is still there. A second page stands in for those to come."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import ROOT, OpenPage, running
from tests.e2e.test_ask import answered, frontier, positions, selected_facts

APP = """
import streamlit as st
from pathlib import Path

st.set_page_config(layout="wide")
st.html(Path("static/page.css"))

def other():
    st.write("Somewhere else")

ask = st.Page({ask!r}, title="Ask", url_path="ask", default=True)
st.navigation([ask, st.Page(other, title="Other", url_path="other")], position="top").run()
"""


@pytest.fixture(scope="module")
def two_pages_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = tmp_path_factory.mktemp("home")
    (home / "app.py").write_text(APP.format(ask=str(ROOT / "pages" / "ask.py")), encoding="utf-8")
    for name in ("static", ".streamlit"):
        (home / name).symlink_to(ROOT / name)
    with running(Path(home), store="", environment={"PYTHONPATH": str(ROOT)}, home=home) as url:
        yield url


def test_another_page_and_back_loses_nothing(open_page: OpenPage, two_pages_url: str) -> None:
    page = answered(open_page(two_pages_url))
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
    page.get_by_role("link", name="Other").click()
    expect(page.get_by_text("Somewhere else")).to_be_visible()
    expect(page).not_to_have_url(re.compile("tab=|step="))
    page.get_by_role("link", name="Ask").click()
    expect(page.locator(".sources")).to_be_visible()
    expect(page.locator(".steps [aria-pressed=true]")).to_contain_text("Hop 3")
    expect(page.locator(".steps")).to_contain_text("Seeds 4")
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    assert positions(page) == before
    assert selected_facts(page) == selected
    assert frontier(page, seen) == pytest.approx(view)  # the network reckons it anew from the canvas
    expect(page).to_have_url(re.compile("tab=sources"))
    assert set(page.url.partition("?")[2].split("&")) == set(url.partition("?")[2].split("&"))
