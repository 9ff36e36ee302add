"""The Build page in a real browser: whole ways from files to a graph that answers, and documents taken out of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from kgcore import open_store
from tests.app.test_build_extract import MORE, NOTES, ONTOLOGY, answers
from tests.chat_server import ChatServer
from tests.e2e.conftest import ROOT, OpenPage, running
from tests.e2e.test_hostile import HOSTILE, nothing_ran

REAL = ROOT.parent / "shared" / "data" / "msgraphrag"
SCREENS = [(scheme, height) for scheme in ("light", "dark") for height in (720, 600)]


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        running.answer(answers)
        yield running


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, server: ChatServer) -> Iterator[str]:
    """The app on the demo, with a chat model."""
    folder = tmp_path_factory.mktemp("build")
    model = {"HOPSCOPE_CHAT_URL": server.url, "HOPSCOPE_CHAT_MODEL": "m", "HOPSCOPE_CHAT_PRICES": "1,2"}
    with running(folder, store="", environment=model) as url:
        yield url


def making(page: Page, file: Path) -> Page:
    """From the demo to a new graph."""
    expect(page.get_by_text("Make a graph to build in")).to_be_visible(timeout=90_000)
    page.get_by_label("Make a new graph").last.fill(str(file))
    page.keyboard.press("Enter")
    expect(page.get_by_text("Files of a graph")).to_be_visible(timeout=60_000)
    return page


def place(page: Page, path: Path) -> None:
    page.get_by_role("tabpanel").get_by_label("Or a file or folder on this machine").fill(str(path))
    page.keyboard.press("Enter")


def upload(page: Page, file: Path, text: str) -> None:
    file.write_text(text)
    page.locator("[data-testid=stFileUploader] input").first.set_input_files(file)


def tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name).click()


def rows(page: Page) -> Locator:
    """The table of documents."""
    return page.locator(".st-key-documents_table").get_by_test_id("stDataFrame")


def choose(page: Page, row: int) -> None:
    """The box before a document."""
    rows(page).click(position={"x": 17, "y": 34 + 33 * row + 16})


def texts(folder: Path) -> Path:
    (folder / "docs").mkdir()
    (folder / "docs" / "notes.txt").write_text(NOTES)
    (folder / "docs" / "more.md").write_text(MORE)
    return folder / "docs"


def fits(page: Page) -> None:
    """Nothing stands out at the side."""
    assert page.locator("[data-testid=stMain]").evaluate("e => e.scrollWidth - e.clientWidth") == 0


@pytest.mark.skipif(not REAL.is_dir(), reason="the index is not on this machine")
def test_a_real_index_is_imported_gets_vectors_and_answers(open_page: OpenPage, url: str, tmp_path: Path) -> None:
    page = making(open_page(f"{url}/build"), tmp_path / "carol.duckdb")
    place(page, REAL)
    expect(page.get_by_text("msgraphrag: Microsoft GraphRAG")).to_be_visible()
    expect(page.get_by_text("Say who may see it")).to_be_visible()
    page.get_by_text("Everybody (group:public)").click()
    page.get_by_text("Then compute vectors").click()
    page.get_by_role("button", name="Write").click()
    expect(page.get_by_text("Written. Edges: 1,880 new")).to_be_visible(timeout=60_000)
    expect(page.get_by_text("there is nothing to write")).to_be_visible(timeout=60_000)
    expect(page.get_by_role("button", name="Write")).to_have_count(0)

    page.get_by_role("button", name="Compute vectors").click()
    expect(page.get_by_text(re.compile(r"^Vectors: [1-9][\d,]* of 1,880 facts · \d+ s$"))).to_be_visible(
        timeout=180_000
    )
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Stopped: what was written stays")).to_be_visible(timeout=60_000)
    expect(page.get_by_text(re.compile(r"^1,[1-9]\d\d of 1,880 edges have no vector"))).to_be_visible()
    page.get_by_role("button", name="Dismiss").click()
    expect(page.get_by_text("Stopped: what was written stays")).to_have_count(0)

    page.get_by_role("link", name="Ask", exact=True).click()
    page.get_by_role("searchbox", name="Question").fill("Who is Ebenezer Scrooge's clerk?")
    page.keyboard.press("Enter")
    expect(page.locator(".facts")).to_contain_text("CRATCHIT", timeout=60_000)
    expect(page.locator(".facts")).to_contain_text("SCROOGE")


def test_documents_are_extracted_by_keyboard(open_page: OpenPage, url: str, server: ChatServer, tmp_path: Path) -> None:
    page = making(open_page(f"{url}/build"), tmp_path / "lark.duckdb")
    page.get_by_role("tab", name="Import").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Each fact that the model gives is held against its passage")).to_be_visible()
    place(page, texts(tmp_path))
    expect(page.get_by_text("2 documents, 2 passages")).to_be_visible()
    page.get_by_test_id("stButtonGroup").get_by_text("JSON", exact=True).click()
    ontology = page.get_by_label("Ontology as JSON")
    ontology.fill("{")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text("JSON")
    ontology.fill(json.dumps(ONTOLOGY))
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert")).to_have_count(0)
    page.get_by_role("radio", name="As the files say").focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("radio", name="Everybody (group:public)")).to_be_checked()
    before = len(server.requests)  # Ask has had its own before
    page.get_by_role("button", name="Read", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("3 facts supported, 1 set aside, 0 passages failed")).to_be_visible(timeout=60_000)
    expect(page.get_by_text("2 passages read.")).to_be_visible()

    expect(page.get_by_text("Names that are taken for one: 1")).to_be_visible()
    merges = page.get_by_test_id("stExpander").filter(has_text="Names that are taken").get_by_test_id("stDataFrame")
    merges.click(position={"x": 300, "y": 50})
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Space")
    expect(page.get_by_text("Names that are taken for one: 0")).to_be_visible()
    page.get_by_text("Set aside: 1").click()
    aside = page.get_by_test_id("stExpander").filter(has_text="Set aside")
    expect(aside.locator("td", has_text="Moon")).to_have_count(1)

    page.get_by_role("button", name="Write").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Written. Edges: 3 new")).to_be_visible(timeout=60_000)
    expect(page.get_by_text("there is nothing to write")).to_be_visible(timeout=60_000)
    assert len(server.requests) - before == 2

    page.get_by_role("link", name="Ask", exact=True).click()
    page.get_by_role("searchbox", name="Question").fill("Who owns Lark Shipping?")
    page.keyboard.press("Enter")
    expect(page.locator(".facts")).to_contain_text("Ida Lark", timeout=60_000)
    page.get_by_role("link", name="Build", exact=True).click()
    expect(page.get_by_role("tab", name="Documents")).to_be_visible()


def test_documents_are_given_to_others_and_deleted(open_page: OpenPage, url: str, tmp_path: Path) -> None:
    page = making(open_page(f"{url}/build"), tmp_path / "names.duckdb")
    upload(
        page,
        tmp_path / "names.csv",
        "source,relation,target,document\nAda,KNOWS,Bob,first\nBob,KNOWS,Cy,second\nCy,KNOWS,Ada,third\n",
    )
    page.get_by_text("These principals alone").click()
    page.get_by_label("Principals, separated by commas").fill("group:staff")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Write").click()
    expect(page.get_by_text("Written. Edges: 3 new")).to_be_visible(timeout=60_000)
    tab(page, "Documents")
    expect(page.get_by_text("3 documents")).to_be_visible()
    choose(page, 0)
    expect(page.get_by_text(re.compile("^May be seen by: group:.?staff"))).to_be_visible()
    choose(page, 1)
    expect(page.get_by_text("2 documents, 2 facts")).to_be_visible()
    names = page.get_by_label("Who may see them")
    names.fill("group:board")
    page.keyboard.press("Enter")
    expect(names).to_have_value("")
    expect(rows(page).locator("td", has_text="group:board")).to_have_count(2)
    choose(page, 1)
    expect(page.get_by_text(re.compile("^May be seen by: group:.?board"))).to_be_visible()
    assert "group" not in page.url.split("?")[1] and "build=Documents" in page.url

    expect(page.get_by_role("button", name="Delete")).to_be_disabled()
    page.get_by_role("checkbox", name="Delete it for good").focus()
    page.keyboard.press("Space")
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("2 documents")).to_be_visible()
    expect(page.get_by_role("checkbox", name="Delete it for good")).to_have_count(0)
    page.get_by_label("Find").fill("third")
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 document", exact=True)).to_be_visible()
    page.reload()
    expect(page.get_by_text("1 document", exact=True)).to_be_visible(timeout=60_000)
    expect(page.get_by_label("Find")).to_have_value("third")


def test_names_of_files_and_graphs_are_text(open_page: OpenPage, url: str, tmp_path: Path) -> None:
    page = making(open_page(f"{url}/build"), tmp_path / "<img src=x onerror=ran()> **b**.duckdb")
    file = tmp_path / "<img src=x onerror=window.ran=1>.jsonl"
    lines = [
        json.dumps({"source": name, "relation": name[:80], "target": "Zanzibar", "document": name[:200]})
        for name in HOSTILE.values()
    ]
    upload(page, file, "\n".join(lines))
    page.get_by_text("Everybody (group:public)").click()
    expect(page.get_by_role("button", name="Write")).to_be_visible(timeout=60_000)
    expect(page.get_by_text("<img src=x onerror=window.ran=1>.jsonl: Triples")).to_be_visible()
    nothing_ran(page)
    page.get_by_role("button", name="Write").click()
    expect(page.get_by_text(re.compile(r"^Written\. Edges: \d+ new"))).to_be_visible(timeout=60_000)
    tab(page, "Documents")
    for row in range(3):
        choose(page, row)
        expect(page.get_by_role("button", name="Delete")).to_be_visible()
        nothing_ran(page)
    expect(page.get_by_role("button", name="<img src=x onerror=ran()> **b**.duckdb")).to_be_visible()


@pytest.mark.parametrize(("scheme", "height"), SCREENS)
def test_what_is_pressed_next_is_on_the_screen(
    open_page: OpenPage, url: str, tmp_path: Path, scheme: str, height: int
) -> None:
    screen = {"width": 1280, "height": height}
    page = making(open_page(f"{url}/build", scheme=scheme, screen=screen), tmp_path / "one.duckdb")
    file = tmp_path / "t.csv"
    file.write_text("source,relation,target\n" + "".join(f"Ada {n},KNOWS,Bob {n}\n" for n in range(30)))
    place(page, file)
    page.get_by_text("Everybody (group:public)").click()
    expect(page.get_by_role("button", name="Write")).to_be_in_viewport(ratio=1)
    fits(page)
    page.get_by_role("button", name="Write").click()
    expect(page.get_by_text("there is nothing to write")).to_be_visible(timeout=60_000)
    tab(page, "Documents")
    choose(page, 0)
    expect(page.get_by_role("button", name="Delete")).to_be_in_viewport(ratio=1)
    fits(page)
    tab(page, "Extract")
    place(page, texts(tmp_path))
    page.get_by_test_id("stButtonGroup").get_by_text("JSON", exact=True).click()
    page.get_by_label("Ontology as JSON").fill(json.dumps(ONTOLOGY))
    page.keyboard.press("Control+Enter")
    page.get_by_text("Everybody (group:public)").click()
    expect(page.get_by_role("button", name="Read", exact=True)).to_be_in_viewport(ratio=1)
    fits(page)


def test_an_upload_is_kept_while_another_tab_is_open(open_page: OpenPage, url: str, tmp_path: Path) -> None:
    page = making(open_page(f"{url}/build"), tmp_path / "kept.duckdb")
    upload(page, tmp_path / "kept.csv", "source,relation,target\nAnn,KNOWS,Bo\n")
    page.get_by_text("Everybody (group:public)").click()
    expect(page.get_by_role("button", name="Write")).to_be_visible(timeout=60_000)
    tab(page, "Documents")
    expect(page.get_by_text("No document yet.")).to_be_visible(timeout=60_000)
    expect(page.get_by_test_id("stFileUploader")).to_have_count(0)  # until then it has its file still
    tab(page, "Import")
    expect(page.get_by_text("Uploaded: kept.csv")).to_be_visible(timeout=60_000)
    expect(page.get_by_role("button", name="Write")).to_be_visible(timeout=60_000)
    fits(page)
    page.get_by_role("button", name="Remove").click()
    expect(page.get_by_text("Uploaded: kept.csv")).to_have_count(0, timeout=60_000)
    expect(page.get_by_role("button", name="Write")).to_have_count(0)


def test_what_is_written_is_there_when_the_browser_is_gone(open_page: OpenPage, tmp_path: Path) -> None:
    with running(tmp_path, store="") as url:
        page = making(open_page(f"{url}/build"), tmp_path / "much.duckdb")
        upload(
            page,
            tmp_path / "much.csv",
            "source,relation,target\n" + "".join(f"A{n},KNOWS,B{n}\n" for n in range(30_000)),
        )
        page.get_by_text("Everybody (group:public)").click()
        page.get_by_text("Then compute vectors").click()
        page.get_by_role("button", name="Write").click()
        expect(page.get_by_text(re.compile("^Writing|^Written"))).to_be_visible(timeout=60_000)
        link = page.url
        page.context.close()
        again = open_page(link)
        expect(again.get_by_text("Written. Edges: 30,000 new")).to_be_visible(timeout=120_000)
    store = open_store(f"duckdb:///{tmp_path / 'much.duckdb'}", access_fields=())
    try:
        from kgcore.filters import WHOLE

        assert store.describe(WHOLE).edges == 30_000
    finally:
        store.close()
