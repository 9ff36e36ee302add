"""What a person does on the Ask page, in a real browser."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.e2e.conftest import OpenPage

QUESTION = "What system does Jane Doe's employer use?"


def frontier(page: Page, script: str, argument: Any = None) -> Any:
    """Runs `script` with `f` as the drawn frontier: its network, its data, the view."""
    return page.locator(".canvas").evaluate(
        f"(element, argument) => {{ const f = element.frontier; {script} }}", argument
    )


def answered(page: Page) -> Page:
    expect(page.locator(".facts li").first).to_be_visible(timeout=60_000)
    expect(page.locator(".canvas canvas")).to_be_visible()
    return page


def positions(page: Page) -> dict[str, dict[str, float]]:
    return frontier(page, "return f.network.getPositions()")  # type: ignore[no-any-return]


def selected_facts(page: Page) -> list[str]:
    """The facts drawn thick: the chain of what is selected."""
    return frontier(page, "return f.edges.get().filter((edge) => edge.width === 4).map((edge) => edge.id)")  # type: ignore[no-any-return]


def click_node(page: Page, node: str) -> None:
    at = frontier(page, "return f.network.canvasToDOM(f.network.getPosition(argument))", node)
    page.locator(".canvas").click(position=at)


def node_named(page: Page, name: str) -> str:
    return frontier(page, "return f.data.nodes.find((node) => node.name === argument).id", name)  # type: ignore[no-any-return]


def count_messages(page: Page) -> None:
    """Notes the size of everything that the page sends from now on; a rerun begins with a message."""
    page.evaluate(
        """() => {
            const send = WebSocket.prototype.send;
            window.sent = [];
            WebSocket.prototype.send = function (data) {
                window.sent.push(data.byteLength ?? data.length);
                return send.call(this, data);
            };
        }"""
    )


def sent(page: Page) -> list[int]:
    return page.evaluate("window.sent")  # type: ignore[no-any-return]


def test_opens_answered_with_the_beam_drawn(open_page: OpenPage, demo_url: str) -> None:
    page = answered(open_page(demo_url))
    expect(page.locator(".facts li").first).to_contain_text("Helios")
    expect(page.locator(".echo")).to_have_text(re.compile("What system.*employer"))
    painted = frontier(
        page,
        """const canvas = f.canvas.querySelector("canvas");
        const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        return new Set(new Uint32Array(pixels.buffer)).size""",
    )
    assert painted > 20
    assert selected_facts(page)


def test_a_fact_lights_its_chain_and_its_sentence_without_a_rerun(open_page: OpenPage, demo_url: str) -> None:
    page = answered(open_page(demo_url))
    count_messages(page)
    row = page.locator(".facts > ol > li").nth(2)
    row.locator(".row").click()
    fact = row.get_attribute("data-fact")
    assert fact in selected_facts(page)
    labelled = """const edges = Object.values(f.network.body.edges);
        return edges.filter((edge) => edge.labelModule.elementOptions.label?.trim()).map((edge) => edge.id)"""
    assert frontier(page, labelled) == selected_facts(page)
    expect(row.locator(".chain")).to_be_visible()
    expect(page.locator(".facts .chain")).to_have_count(1)
    expect(page.locator(".source mark")).to_be_visible()
    assert sent(page) == []


def test_a_node_filters_the_facts_and_esc_clears(open_page: OpenPage, demo_url: str) -> None:
    page = answered(open_page(demo_url))
    count_messages(page)
    before = page.locator(".facts > ol > li").count()
    helios = node_named(page, "Helios")
    for _ in range(2):  # a second click on the same node works
        click_node(page, helios)
        expect(page.locator(".filtered")).to_contain_text("Facts of Helios")
        expect(page.locator(".picked")).to_contain_text("Helios · System")
        rows = page.locator(".facts > ol > li")
        assert 0 < rows.count() < before
        for row in rows.all():
            expect(row).to_contain_text("Helios")
        page.keyboard.press("Escape")
        expect(page.locator(".facts > ol > li")).to_have_count(before)
        assert selected_facts(page) == []
    assert sent(page) == []


def test_an_edge_selects_its_fact(open_page: OpenPage, demo_url: str) -> None:
    page = answered(open_page(demo_url))
    page.keyboard.press("Escape")
    edge = page.locator(".facts > ol > li").first.get_attribute("data-fact")
    middle = frontier(
        page,
        """const edge = f.data.edges.find((edge) => edge.id === argument);
        const [a, b] = [edge.from, edge.to].map((node) => f.network.getPosition(node));
        return f.network.canvasToDOM({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 })""",
        edge,
    )
    page.locator(".canvas").click(position=middle)
    expect(page.locator(".facts .row[aria-pressed=true]")).to_have_count(1)
    assert edge in selected_facts(page)


def test_steps_show_the_beam_as_it_stood_without_a_rerun(open_page: OpenPage, demo_url: str) -> None:
    page = answered(open_page(demo_url))
    count_messages(page)
    before = positions(page)
    pressed = page.locator(".steps [aria-pressed=true]")
    for label in ("Hop 2", "Hop 1", "Seeds"):
        page.keyboard.press("[")
        expect(pressed).to_contain_text(label)
    shown = "return [...f.shown].every((id) => f.data.nodes.find((node) => node.id === id).hop === 0)"
    assert frontier(page, shown)
    expect(page.locator(".facts")).to_contain_text("The walk has not begun.")
    page.keyboard.press("]")
    expect(pressed).to_contain_text("Hop 1")
    expect(page.locator(".caption")).to_contain_text("Hop 1 kept 4 of")
    expect(page.locator(".facts .mark-2")).to_have_count(0)
    after = positions(page)
    assert after == {node: before[node] for node in after}
    assert sent(page) == []


def test_arrows_walk_the_facts_and_slash_goes_to_the_question(open_page: OpenPage, demo_url: str) -> None:
    page = answered(open_page(demo_url))
    page.keyboard.press("ArrowDown")
    expect(page.locator(".facts > ol > li").nth(1).locator(".row")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("/")
    expect(page.get_by_label("Question")).to_be_focused()
    page.keyboard.press("]")
    expect(page.locator(".steps [aria-pressed=true]")).to_contain_text("Result")


def test_a_change_of_hops_moves_no_surviving_node(open_page: OpenPage, demo_url: str) -> None:
    page = answered(open_page(demo_url))
    before = positions(page)
    page.locator(".st-key-hops").get_by_text("3", exact=True).click()
    expect(page.locator(".steps button")).to_have_count(5)
    after = positions(page)
    survivors = before.keys() & after.keys()
    assert len(survivors) > 4
    assert {node: after[node] for node in survivors} == {node: before[node] for node in survivors}


def test_a_near_miss_enters_at_the_beam_it_names(open_page: OpenPage, demo_url: str) -> None:
    page = answered(open_page(demo_url))
    page.locator(".near-misses summary").click()
    near = page.locator(".near").first
    fact = near.get_attribute("data-fact")
    near.locator(".missed button").click()
    expect(page.locator(f'.facts > ol > li[data-fact="{fact}"]')).to_be_visible()
    expect(page.get_by_label("Beam")).to_have_value("5")


def test_near_misses_are_drawn_when_asked_for(open_page: OpenPage, demo_url: str) -> None:
    page = answered(open_page(demo_url))
    drawn = "return f.edges.get().filter((edge) => !edge.hidden && edge.dashes).length"
    assert frontier(page, drawn) == 0
    page.get_by_role("button", name="near miss", exact=True).click()
    page.locator(".near-misses summary").click()
    assert frontier(page, drawn) == page.locator(".near").count() > 0


def test_a_picked_node_becomes_a_seed(open_page: OpenPage, demo_url: str) -> None:
    page = answered(open_page(demo_url))
    click_node(page, node_named(page, "Aurora Fund"))
    page.get_by_role("button", name="Add as seed").click()
    expect(page.locator(".st-key-chosen")).to_contain_text("Aurora Fund")
    expect(page.locator(".steps")).to_contain_text("Seeds 6")


def test_sources_and_trace(open_page: OpenPage, demo_url: str) -> None:
    page = answered(open_page(demo_url))
    page.get_by_role("tab", name="Sources").click()
    page.locator(".sources .row").nth(1).click()
    title = page.locator(".sources .row").nth(1).locator("b").inner_text()
    expect(page.locator(".source .title")).to_have_text(title)
    page.get_by_role("tab", name="Trace").click()
    candidates = page.locator(".trace table").last.locator("tbody tr")
    every = candidates.count()
    page.get_by_label("Fate").select_option("kept")
    assert 0 < candidates.count() < every


def test_an_example_brings_its_settings(open_page: OpenPage, demo_url: str) -> None:
    page = answered(open_page(demo_url))
    page.get_by_role("button", name="Examples").click()
    page.get_by_role("menuitem").nth(1).click()
    expect(page.get_by_label("Question")).not_to_have_value(QUESTION)
    question = page.get_by_label("Question").input_value()
    expect(page.locator(".echo")).to_contain_text(question.split()[-1].rstrip("?"))
    expect(page).to_have_url(re.compile(re.escape(quote_plus(question))))


def test_the_link_opens_the_same_answer(open_page: OpenPage, demo_url: str) -> None:
    page = answered(open_page(demo_url))
    page.locator(".st-key-hops").get_by_text("1", exact=True).click()
    expect(page.locator(".steps button")).to_have_count(3)
    expect(page.locator(".facts .mark-2")).to_have_count(0)
    listed = page.locator(".facts > ol").inner_text()
    assert "finance" not in page.url
    again = answered(open_page(page.url))
    expect(again.locator(".steps button")).to_have_count(3)
    assert again.locator(".facts > ol").inner_text() == listed


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("screen", [ViewportSize(width=1280, height=720), ViewportSize(width=1280, height=600)])
def test_nothing_overflows(open_page: OpenPage, demo_url: str, screen: ViewportSize, scheme: str) -> None:
    page = answered(open_page(demo_url, screen=screen, scheme=scheme))
    expect(page.locator(".graph.dark")).to_have_count(int(scheme == "dark"))
    main = page.locator("[data-testid=stMain]")
    assert main.evaluate("e => [e.scrollHeight - e.clientHeight, e.scrollWidth - e.clientWidth]") == [0, 0]
    for panel in (".graph", ".evidence"):
        box = page.locator(panel).bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= screen["height"]
        assert box["height"] > 340
    stage = page.locator(".stage").bounding_box()
    assert stage is not None and stage["height"] > 200


def test_a_seed_is_added_by_a_live_search(open_page: OpenPage, demo_url: str) -> None:
    page = answered(open_page(demo_url))
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_label("Find an entity").press_sequentially("helio")
    page.get_by_role("button", name=re.compile("^Helios · System")).click()
    expect(page.locator(".steps")).to_contain_text("Seeds 6")
    expect(page).to_have_url(re.compile("seeds=helios"))


def test_another_person_sees_nothing_of_before(open_page: OpenPage, demo_url: str) -> None:
    page = answered(open_page(demo_url))
    page.get_by_role("button", name="Examples").click()
    page.get_by_role("menuitem", name="The secret target").click()
    facts = page.locator(".facts")
    expect(facts).to_contain_text("Ingrid Solheim")
    expect(page.locator(".steps")).to_contain_text("Hop 3")
    as_finance = set(frontier(page, "return f.data.nodes.map((node) => node.id)"))
    before = frontier(page, "return f.view.run.subject")
    page.get_by_label("View as").click()
    page.get_by_role("option", name="public").click()
    canvas = page.locator(".canvas").element_handle()
    page.wait_for_function("([e, before]) => e.frontier.view.run.subject !== before", arg=[canvas, before])
    as_public = set(frontier(page, "return f.data.nodes.map((node) => node.id)"))
    assert as_finance - as_public
    assert "public" not in page.url
