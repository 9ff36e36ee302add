"""Names that are markup, scripts, Markdown or tricks of writing are text everywhere, and run nothing."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from kgcore import Chunk, Edge, Entity, open_store, write_graph
from tests.e2e.conftest import OpenPage, download, open_saved, running

HOSTILE = {
    "image": '<img src=x onerror="window.ran=1">',
    "script": "</script><script>window.ran=1</script>",
    "markdown": ":red[x] $x$ [a](https://example.invalid) **b** :tada: :material/home:",
    "link": "https://example.invalid/a www.example.invalid a@example.invalid",
    "direction": "\u202egnirts\u202c\u200b",
    "long": "long " * 400,
    "emoji": "👩‍🔬 🇪🇺",
    "quotes": "\"'`&lt;b&gt;\\",
    "formula": '=HYPERLINK("https://example.invalid","a")',
    "plus": "+1+cmd|' /C calc'!A0",
    "hidden formula": "\u200b\t@SUM(1)",
}
START = "Zanzibar"


@pytest.fixture(scope="module")
def hostile_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A star of hostile names around one that can be asked for, with hostile types, relations and texts."""
    folder = tmp_path_factory.mktemp("hostile")
    address = f"duckdb:///{folder / 'hostile.duckdb'}"
    store = open_store(address, create=True)
    entities = [Entity(id=id, type=HOSTILE["image"], name=name) for id, name in HOSTILE.items()]
    edges = [
        Edge(
            id=f"edge-{id}",
            source_id="start",
            target_id=id,
            relation=HOSTILE["script"] if id == "image" else f"REL {name[:40]}",
            src_name=START,
            dst_name=name,
            description=name,
            source_doc_id=f"document-{id}",
            properties={"title": name, "note": name},
        )
        for id, name in HOSTILE.items()
    ]
    chunks = [
        Chunk(id=f"document-{id}", document_id=id, content=f"{START} knows {name}.", metadata={"title": name})
        for id, name in HOSTILE.items()
    ]
    write_graph(store, [Entity(id="start", type="Place", name=START), *entities], edges, chunks)
    store.close()
    with running(folder, store=address) as url:
        yield url


def nothing_ran(page: Page) -> None:
    assert page.evaluate("window.ran") is None
    assert page.locator("img[src=x], a[href*=invalid], script:not([src]):has-text('ran')").count() == 0


def test_facts_sources_trace_and_tooltips_are_text(open_page: OpenPage, hostile_url: str) -> None:
    page = open_page(f"{hostile_url}/?q={START}&hops=1")
    rows = page.locator(".facts > ol > li .row")
    expect(rows).to_have_count(len(HOSTILE), timeout=60_000)
    expect(page.locator(".facts")).to_contain_text(HOSTILE["image"])
    expect(page.locator(".facts")).to_contain_text(HOSTILE["script"])
    for row in rows.all():
        row.click()
        nothing_ran(page)
    page.get_by_role("tab", name="Sources").click()
    expect(page.locator(".sources")).to_contain_text(HOSTILE["markdown"])
    page.get_by_role("tab", name="Trace").click()
    expect(page.locator(".trace")).to_contain_text(HOSTILE["quotes"])
    image = page.locator(".canvas").evaluate(
        "c => c.frontier.network.canvasToDOM(c.frontier.network.getPosition('image'))"
    )
    page.locator(".canvas").hover(position=image)
    expect(page.locator(".vis-tooltip")).to_contain_text(HOSTILE["image"])
    page.locator(".canvas").click(position=image)
    expect(page.locator(".picked")).to_contain_text(HOSTILE["image"])
    nothing_ran(page)


def test_labels_of_controls_are_text(open_page: OpenPage, hostile_url: str) -> None:
    page = open_page(f"{hostile_url}/?q=x&seeds=image&seeds=script&seeds=markdown&seeds=link&seeds=quotes&hops=1")
    chips = page.locator(".st-key-chosen")
    expect(chips).to_contain_text("<img src=x onerror=", timeout=60_000)
    expect(chips).to_contain_text(":\u2060red[x] $x$ [a](")
    shown = chips.inner_text().replace("\u2060", "")
    assert "https://example.invalid" in shown
    page.get_by_role("button", name="More").click()
    expect(page.get_by_label("Relations to walk")).to_be_visible()
    page.get_by_label("Relations to walk").click()
    expect(page.get_by_role("option").filter(has_text="window.ran")).to_have_count(2)
    nothing_ran(page)
    assert page.locator(".katex, .stMarkdown span[style*=color]").count() == 0


def test_a_hostile_question_filter_and_link_are_text(open_page: OpenPage, hostile_url: str) -> None:
    page = open_page(
        f"{hostile_url}/?q=%3Cimg%20src%3Dx%20onerror%3Dwindow.ran%3D1%3E%20{START}&filter=%3Cimg%20src%3Dx%3E"
    )
    expect(page.get_by_role("alert").first).to_contain_text("not JSON", timeout=60_000)
    nothing_ran(page)


def test_a_downloaded_table_holds_no_formula(open_page: OpenPage, hostile_url: str) -> None:
    page = open_page(f"{hostile_url}/?q={START}&hops=1")
    expect(page.locator(".facts > ol > li")).to_have_count(len(HOSTILE), timeout=60_000)
    rows = list(csv.reader(download(page, "Facts as CSV").decode("utf-8-sig").splitlines()))
    assert len(rows) == len(HOSTILE) + 1
    cells = [cell for row in rows[1:] for cell in row if cell]
    assert HOSTILE["image"] in cells
    assert any("HYPERLINK" in cell for cell in cells)
    assert [cell for cell in cells if cell.lstrip()[:1] in "=+@-" and not cell.replace(".", "").isdigit()] == []


def test_a_hostile_link_is_shown_as_text(open_page: OpenPage, hostile_url: str) -> None:
    question = f"<img src=x onerror=window.ran=1> [a](javascript:alert(1)) {START}"
    page = open_page(f"{hostile_url}/?q={quote(question)}&hops=1")
    expect(page.locator(".facts > ol > li").first).to_be_visible(timeout=60_000)
    page.get_by_role("button", name="Share").click()
    expect(page.locator("[data-testid=stCode]").first).to_contain_text("onerror")
    page.get_by_text("Copy as Python").click()
    expect(page.locator("[data-testid=stCode]").last).to_contain_text("<img src=x onerror=window.ran=1> [a]")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="More").click()
    page.get_by_label("Runs of this session").click()
    expect(page.get_by_role("option").first).to_contain_text("<img src=x")
    nothing_ran(page)


def test_what_changed_and_a_document_are_text(open_page: OpenPage, hostile_url: str) -> None:
    page = open_page(f"{hostile_url}/?q={START}&hops=1&k=50")
    expect(page.locator(".facts > ol > li")).to_have_count(len(HOSTILE), timeout=60_000)
    page.get_by_label("Top k").fill("2")
    page.get_by_label("Top k").press("Enter")
    page.locator(".left-facts summary").click()
    expect(page.locator(".left-facts li")).to_have_count(len(HOSTILE) - 2)
    page.locator(".left-facts .row").first.click()
    page.locator(".facts > ol > li .row").first.click()
    page.get_by_role("button", name="Open document").click()
    expect(page.get_by_role("dialog", name="Document")).to_be_visible()
    nothing_ran(page)


def test_a_saved_run_of_hostile_names_is_text(open_page: OpenPage, hostile_url: str) -> None:
    page = open_page(f"{hostile_url}/?q={START}&hops=1")
    expect(page.locator(".facts > ol > li")).to_have_count(len(HOSTILE), timeout=60_000)
    open_saved(page, "<b>x</b>.json", download(page, "Run as JSON"))
    expect(page.locator(".st-key-chips")).to_contain_text("A saved run, as it was: <b>x</b>.json")
    expect(page.locator(".facts > ol > li")).to_have_count(len(HOSTILE))
    nothing_ran(page)
