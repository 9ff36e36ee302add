"""A run as one HTML file, opened from the disk by a browser without a network."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, ViewportSize, expect

from kgcore import Chunk, Retrieval, answered, open_store, read_run, run_json
from kgcore.ingest.demo import ensure_demo
from kgcore.viz import html_of
from tests.contract.graphs import edge
from tests.data.build import JANE, graph, offline, retriever
from tests.e2e.conftest import SCREEN, OpenPage, download, open_saved
from tests.e2e.test_hostile import HOSTILE, START, nothing_ran

OpenFile = Callable[..., Page]
WATCH = "addEventListener('securitypolicyviolation', (e) => (window.violations ??= []).push(e.violatedDirective))"


@pytest.fixture
def open_file(browser: Browser, tmp_path: Path) -> Iterator[OpenFile]:
    """Opens a page from a file; at the end, nothing was asked for or forbidden, and nothing failed."""
    asked: list[str] = []
    failures: list[str] = []
    pages: list[Page] = []

    def open_file(html: str | bytes, *, scheme: str = "light", screen: ViewportSize = SCREEN, query: str = "") -> Page:
        file = tmp_path / "run.html"
        file.write_bytes(html if isinstance(html, bytes) else html.encode())
        context = browser.new_context(viewport=screen, color_scheme=scheme, offline=True)  # type: ignore[arg-type]
        page = context.new_page()
        pages.append(page)
        page.set_default_timeout(10_000)
        page.add_init_script(WATCH)
        page.on("request", lambda request: asked.append(request.url))
        page.on("websocket", lambda socket: asked.append(socket.url))
        page.on("console", lambda message: failures.append(message.text))
        page.on("pageerror", lambda error: failures.append(str(error)))
        page.on("dialog", lambda dialog: failures.append(f"dialog: {dialog.message}"))
        page.goto(file.as_uri() + query)
        expect(page.locator(".panel.graph .steps button").first).to_be_visible()
        return page

    yield open_file
    assert [page.evaluate("window.violations ?? []") for page in pages] == [[]] * len(pages)
    for page in pages:
        page.context.close()
    assert {url.partition("?")[0] for url in asked} == {(tmp_path / "run.html").as_uri()}
    assert failures == []


@pytest.fixture(scope="module")
def run() -> Retrieval:
    """The demo's first question, with near misses."""
    store = open_store(ensure_demo(embedder=offline()))
    search = retriever(store, document_retriever=store.chunks)
    found = search.retrieve(JANE, max_hops=2, beam_width=4, top_k=20)
    store.close()
    return found


@pytest.fixture(scope="module")
def hostile() -> Retrieval:
    """A star of hostile names, with hostile relations and texts."""
    store = graph(
        *(
            edge(f"edge-{id}", "start", f"REL {name[:60]}", id, src=START, dst=name, doc=id, description=name,
                 properties={"title": name, "note": name})
            for id, name in HOSTILE.items()
        ),
        chunks=[
            Chunk(id=id, document_id=id, content=f"{START} knows {name}.", metadata={"title": name, "note": name})
            for id, name in HOSTILE.items()
        ],
        embedder=offline(),
        type=HOSTILE["image"],
    )  # fmt: skip
    found = retriever(store, document_retriever=store.chunks).retrieve(f"{START} {HOSTILE['script']}")
    store.close()
    assert len(found.facts) == len(HOSTILE)
    return answered(found, "\n".join(HOSTILE.values()))


def facts(page: Page) -> Locator:
    return page.locator(".facts > ol > li")


def pressed_step(page: Page) -> str:
    return page.locator(".steps [aria-pressed=true]").inner_text()


def selected(page: Page) -> str:
    return page.locator(".facts li:has(.row[aria-pressed=true])").get_attribute("data-fact") or ""


def viewport(page: Page) -> list[float]:
    look = "c => [c.frontier.network.getScale(), ...Object.values(c.frontier.network.getViewPosition())]"
    return page.locator(".canvas").evaluate(look)  # type: ignore[no-any-return]


def place(page: Page, id: str) -> dict[str, float]:
    spot = "(c, id) => c.frontier.network.canvasToDOM(c.frontier.network.getPosition(id))"
    return page.locator(".canvas").evaluate(spot, id)  # type: ignore[no-any-return]


def test_it_shows_the_run_and_offers_nothing_that_needs_the_app(open_file: OpenFile, run: Retrieval) -> None:
    page = open_file(html_of(run))
    expect(page).to_have_title(f"{JANE} · Hopscope")
    expect(page.locator(".echo")).to_contain_text("employer")
    expect(facts(page)).to_have_count(len(run.facts))
    expect(page.locator(".source mark")).to_be_visible()
    assert selected(page) == run.trace.result[0]
    assert page.locator(".canvas").evaluate("c => c.frontier.shown.size") >= len(run.facts)
    labels = page.locator(".tools button").all_inner_texts()
    assert labels == ["⌂", "⤢", "PNG", "?"]
    page.get_by_role("button", name="Keys").click()
    expect(page.locator(".help")).not_to_contain_text("question")
    page.locator(".near-misses summary").click()
    expect(page.locator(".missed").first).to_contain_text("enters at beam")
    assert page.locator(".missed button, a").count() == 0
    page.locator(".canvas").click(position=place(page, run.facts[0].target_id))  # type: ignore[arg-type]
    expect(page.locator(".picked strong")).to_be_visible()
    assert page.locator(".picked button").count() == 0


def test_it_is_stepped_through_and_a_reload_is_where_it_was(open_file: OpenFile, run: Retrieval) -> None:
    page = open_file(html_of(run))
    assert pressed_step(page).startswith("Result")
    page.get_by_role("button", name="Seeds").click()
    expect(page.locator(".facts .empty")).to_contain_text("has not begun")
    page.keyboard.press("]")
    assert pressed_step(page).startswith("Hop 1")
    expect(facts(page)).to_have_count(run.trace.hops[0].kept)
    first = page.locator(".canvas").evaluate("c => c.frontier.shown.size")
    page.keyboard.press("]")
    assert pressed_step(page).startswith("Hop 2")
    assert page.locator(".canvas").evaluate("c => c.frontier.shown.size") > first
    page.keyboard.press("[")
    page.get_by_role("tab", name="Trace").click()
    expect(page).to_have_url(re.compile(r"run\.html\?step=1&tab=trace$"))
    page.reload()
    expect(page.locator(".trace")).to_contain_text("cut by the beam")
    assert pressed_step(page).startswith("Hop 1")


def test_a_fact_leads_to_its_chain_and_its_source(open_file: OpenFile, run: Retrieval) -> None:
    page = open_file(html_of(run))
    page.keyboard.press("ArrowDown")
    assert selected(page) == run.trace.result[1]
    other = next(fact for fact in run.facts[2:] if fact.hop == 2 and fact.source_doc_ids)
    page.locator(f"li[data-fact='{other.id}'] .row").click()
    expect(page.locator(".chain")).to_have_count(1)
    expect(page.locator(".chain")).to_contain_text("▸")
    chain = page.locator(".canvas").evaluate(
        "c => [...c.frontier.scene.edges].filter(([, look]) => look.onChain).length"
    )
    assert chain == 2
    expect(page.locator(".source mark")).to_contain_text(other.target)
    page.get_by_role("button", name="Open document").click()
    expect(page.get_by_role("dialog", name="Document")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Sources").click()
    expect(page.locator(".sources > li")).to_have_count(len(run.source_documents))
    assert page.locator(".bar").count() == 0
    page.get_by_role("tab", name="Facts").click()
    widths = page.locator(".fill").evaluate_all("bars => bars.map((bar) => bar.offsetWidth)")
    assert len({*widths}) > 2 and max(widths) > 50


def test_the_graph_is_moved_searched_and_saved(open_file: OpenFile, run: Retrieval) -> None:
    page = open_file(html_of(run))
    before = viewport(page)
    page.locator(".canvas").hover(position={"x": 40, "y": 40})
    page.mouse.wheel(0, -300)
    assert viewport(page)[0] > before[0]
    zoomed = viewport(page)
    page.mouse.down()
    page.mouse.move(400, 400, steps=4)
    page.mouse.up()
    assert viewport(page)[1:] != zoomed[1:]
    page.get_by_role("button", name="Show the whole graph").click()
    assert viewport(page) == pytest.approx(before)
    page.get_by_label("Find in the graph").fill("helios")
    page.get_by_label("Find in the graph").press("Enter")
    expect(page.locator(".picked")).to_contain_text("Helios")
    page.get_by_role("button", name="Expand").click()
    assert page.locator(".panel.graph").bounding_box() == {"x": 0, "y": 0, "width": 1280, "height": 720}
    page.locator("body").press("Escape")
    with page.expect_download() as downloading:
        page.get_by_role("button", name="PNG").click()
    assert Path(downloading.value.path()).read_bytes().startswith(b"\x89PNG")


def test_it_is_dark_where_its_reader_is(open_file: OpenFile, run: Retrieval) -> None:
    page = open_file(html_of(run), scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(14, 17, 23)"
    colours = "c => c.frontier.colours.background"
    assert page.locator(".canvas").evaluate(colours) == "#0e1117"
    expect(page.locator(".panel.dark")).to_have_count(2)
    page.emulate_media(color_scheme="light")
    expect(page.locator(".panel.dark")).to_have_count(0)
    assert page.locator(".canvas").evaluate(colours) == "#ffffff"
    assert selected(page) == run.trace.result[0]


@pytest.mark.parametrize("screen", [(1280, 720), (800, 600)])
def test_graph_and_evidence_stand_side_by_side(
    open_file: OpenFile, run: Retrieval, hostile: Retrieval, screen: tuple[int, int]
) -> None:
    width, height = screen
    for one in (run, hostile):
        page = open_file(html_of(one), screen={"width": width, "height": height})
        left, right = (page.locator(f".panel.{kind}").bounding_box() for kind in ("graph", "evidence"))
        assert left and right and left["x"] + left["width"] < right["x"]
        size = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
        assert size == [width, height]


def test_they_stand_under_each_other_on_a_phone(open_file: OpenFile, run: Retrieval) -> None:
    page = open_file(html_of(run), screen={"width": 420, "height": 800})
    above, below = (page.locator(f".panel.{kind}").bounding_box() for kind in ("graph", "evidence"))
    assert above and below and above["y"] + above["height"] <= below["y"] and below["height"] > 400
    page.keyboard.press("ArrowDown")
    expect(page.locator(".chain")).to_have_count(1)
    assert page.evaluate("scrollY") == 0
    assert page.evaluate("document.documentElement.scrollWidth") == 420


def test_names_run_nothing(open_file: OpenFile, hostile: Retrieval) -> None:
    page = open_file(html_of(hostile))
    assert page.evaluate("document.querySelector('.answer').textContent.includes('<img src=x')")
    for row in facts(page).locator(".row").all():
        row.click()
    expect(page.locator(".facts")).to_contain_text(HOSTILE["script"])
    page.get_by_role("button", name="Open document").click()
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Sources").click()
    expect(page.locator(".sources")).to_contain_text(HOSTILE["markdown"])
    page.get_by_role("tab", name="Trace").click()
    expect(page.locator(".trace")).to_contain_text(HOSTILE["quotes"])
    page.locator(".canvas").hover(position=place(page, "image"))  # type: ignore[arg-type]
    expect(page.locator(".vis-tooltip")).to_contain_text(HOSTILE["image"])
    nothing_ran(page)
    assert page.locator("script").count() == 3


@pytest.mark.parametrize(
    ("put", "directive"),
    [
        ("<script>window.ran = 1</script>", "script-src-elem"),
        ("<script src='https://example.invalid/a.js'></script>", "script-src-elem"),
        ("<img src='data:image/png,' onerror='window.ran = 1'>", "img-src"),
        ("<b onclick='window.ran = 1'>", "script-src-attr"),
        ("<link rel=stylesheet href='https://example.invalid/a.css'>", "style-src-elem"),
        ("<iframe src='https://example.invalid/'></iframe>", "frame-src"),
        ("<base href='https://example.invalid/'>", "base-uri"),
    ],
)
def test_its_policy_holds_what_a_hand_puts_into_it(
    browser: Browser, tmp_path: Path, run: Retrieval, put: str, directive: str
) -> None:
    file = tmp_path / "run.html"
    file.write_text(html_of(run).replace("<noscript>", f"{put}<noscript>"), encoding="utf-8")
    page = browser.new_page()
    asked: list[str] = []
    page.add_init_script(WATCH)
    page.route("https://example.invalid/**", lambda route: (asked.append(route.request.url), route.abort()))
    page.goto(file.as_uri())
    expect(facts(page)).to_have_count(len(run.facts))
    page.wait_for_function("window.violations")
    assert directive in page.evaluate("window.violations")
    assert page.evaluate("window.ran") is None
    assert asked == []
    page.close()


def test_a_page_that_a_browser_saved_again_is_the_same(
    open_file: OpenFile, browser: Browser, tmp_path: Path, run: Retrieval
) -> None:
    """As by *Save page as*: with what was drawn in it, whose styles the policy forbids until it is drawn anew."""
    first = open_file(html_of(run))
    expect(facts(first)).to_have_count(len(run.facts))
    counts = {name: first.locator(name).count() for name in (".panel", "canvas", ".facts > ol > li", ".steps button")}
    again = first.content()
    file = tmp_path / "again.html"
    file.write_text(again, encoding="utf-8")
    page = browser.new_page(viewport=SCREEN)
    page.add_init_script(WATCH)
    page.goto(file.as_uri())
    expect(page.locator(".panel.graph .steps button").first).to_be_visible()
    expect(facts(page)).to_have_count(len(run.facts))
    assert {name: page.locator(name).count() for name in counts} == counts
    assert set(page.evaluate("window.violations ?? []")) <= {"style-src-attr"}
    page.close()
    assert read_run(again) == run


def test_what_the_app_saves_is_the_picture_that_it_shows_and_opens_there_again(
    open_page: OpenPage, open_file: OpenFile, demo_url: str
) -> None:
    app = open_page(demo_url)
    expect(facts(app).first).to_be_visible(timeout=60_000)
    html = download(app, "Run as HTML")
    page = open_file(html)
    assert page.locator(".echo").inner_text() == app.locator(".echo").inner_text()
    assert facts(page).all_inner_texts() == facts(app).all_inner_texts()
    places = "c => Object.fromEntries([...c.frontier.boxes].map(([id, { x, y }]) => [id, [x, y]]))"
    assert page.locator(".canvas").evaluate(places) == app.locator(".canvas").evaluate(places)
    open_saved(app, "run.html", html)
    expect(app.locator(".st-key-chips")).to_contain_text("A saved run, as it was: run.html")
    assert download(app, "Run as JSON").decode() == run_json(read_run(html))
