"""The graph panel by itself, with runs made up for it, and its layouts on the demo."""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import ViewportSize, expect

from bench.walks import walk
from kgcore.types import Retrieval
from tests.e2e.conftest import OpenPage
from tests.e2e.graph_panel import Panel, serving

BACKGROUND = {"light": (255, 255, 255), "dark": (18, 22, 28)}


@pytest.fixture(scope="module")
def panel_url() -> Iterator[str]:
    with serving() as url:
        yield url


@pytest.fixture
def panel(open_page: OpenPage, panel_url: str, request: pytest.FixtureRequest) -> Panel:
    page = open_page(panel_url, scheme=getattr(request, "param", "light"))
    page.wait_for_function("window.ready")
    return Panel(page)


in_both_schemes = pytest.mark.parametrize("panel", ["light", "dark"], indirect=True)
LARGE = ((300, 700, 997), 3_003)


def named(run: Retrieval, names: dict[str, str]) -> Retrieval:
    """The run with other names, by entity id."""
    hops = []
    for hop in run.trace.hops:
        changed = [dataclasses.replace(c, entity_name=names.get(c.entity_id, c.entity_name)) for c in hop.candidates]
        hops.append(dataclasses.replace(hop, candidates=tuple(changed)))
    return dataclasses.replace(run, trace=dataclasses.replace(run.trace, hops=tuple(hops)))


def shorter(run: Retrieval) -> Retrieval:
    """Without its last hop."""
    hops = run.trace.hops[:-1]
    here = {c.fact.id for hop in hops for c in hop.candidates}
    result = tuple(fact_id for fact_id in run.trace.result if fact_id in here)
    return dataclasses.replace(run, trace=dataclasses.replace(run.trace, hops=hops, result=result))


def pixels(panel: Panel, picture: str) -> dict[str, Any]:
    """Of a picture of the graph: its first pixel and how many colours it has."""
    script = (
        """const blob = await f.png(); const bitmap = await createImageBitmap(blob);
        const canvas = new OffscreenCanvas(bitmap.width, bitmap.height); const context = canvas.getContext("2d");
        context.drawImage(bitmap, 0, 0); const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height);
        """
        + picture
    )
    return panel.page.locator(".canvas").evaluate(  # type: ignore[no-any-return]
        f"async (canvas_) => {{ const f = canvas_.frontier; {script} }}"
    )


class TestLarge:
    def test_thousands_are_drawn_and_a_step_or_a_selection_hands_the_network_nothing(self, panel: Panel) -> None:
        reached, bridges = LARGE
        panel.show(walk(reached, bridges=bridges))
        assert panel.ask("return [f.shown.size, f.lines.length, f.nodes.length]") == [2_000, 5_000, 2_000]
        panel.ask("f.handed = 0; f.nodes.on('*', () => f.handed++)")
        panel.ask("f.edges.on('*', (_, { items }) => (f.most = Math.max(f.most ?? 0, items.length)))")
        panel.page.keyboard.press("[")
        assert panel.ask("return f.lines.length") == 5_000
        panel.page.keyboard.press("[")
        assert 0 < panel.ask("return f.lines.length") < 5_000
        panel.page.keyboard.press("]")
        panel.page.keyboard.press("]")
        panel.ask("f.view.selectFact(f.view.run.facts.at(-1))")
        panel.ask("f.view.selectNode('e1-0')")
        panel.ask("f.view.clear()")
        assert panel.ask("return f.handed") == 0
        assert panel.ask("return f.most") <= 4

    def test_its_lines_and_boxes_can_be_picked(self, panel: Panel) -> None:
        reached, bridges = LARGE
        panel.show(walk(reached, bridges=bridges))
        panel.ask("f.centre('e1-0')")
        panel.drawn()
        panel.click("e1-0")
        assert panel.picked == "e1-0"
        line = panel.ask(
            """const free = f.lines.map((line) => {
                const middle = { x: (line.from.x + line.to.x) / 2, y: (line.from.y + line.to.y) / 2 };
                return { id: line.edge.id, dom: f.network.canvasToDOM(middle) };
            });
            const { clientWidth: w, clientHeight: h } = f.canvas;
            return free.find(({ id, dom: { x, y } }) => x > 20 && y > 20 && x < w - 20 && y < h - 60 &&
                f.at({ x, y }).edge === id)"""
        )
        panel.page.locator(".canvas").click(position=line["dom"])
        assert panel.ask("return f.view.state.fact") == line["id"]

    def test_what_is_left_out_is_said(self, panel: Panel) -> None:
        panel.show(walk((1_000, 1_500)))
        note = panel.page.locator(".left-out")
        expect(note).to_contain_text("facts are not drawn")
        expect(note).to_contain_text("The list has them all.")
        panel.show(walk((4, 6)))
        expect(note).to_be_hidden()


class TestStaying:
    def test_a_change_moves_nobody_on_the_screen_once_the_person_has_zoomed(self, panel: Panel) -> None:
        panel.show(walk((4, 6)))
        panel.page.locator(".canvas").hover()
        panel.page.mouse.wheel(0, -240)
        panel.drawn()
        before = panel.on_screen()
        panel.show(walk((16, 60), near=3))
        after = panel.on_screen()
        assert len(after) > len(before) == 13
        assert {id: after[id] for id in before} == before

    def test_nor_before_that_as_long_as_all_is_in_sight(self, panel: Panel) -> None:
        panel.show(walk((4, 6)))
        before = panel.on_screen()
        panel.show(walk((5, 7)))
        after = panel.on_screen()
        assert {id: after[id] for id in before} == before

    def test_what_is_new_and_outside_is_brought_into_sight(self, panel: Panel) -> None:
        panel.show(walk((4, 6)))
        panel.show(walk((20, 60)))
        assert not panel.ask("return f.isOutside()")

    def test_tidy_shows_the_whole_again(self, panel: Panel) -> None:
        panel.show(walk((4, 6)))
        panel.show(walk((30, 90)))
        panel.page.locator(".canvas").hover()
        panel.page.mouse.wheel(0, -600)
        panel.drawn()
        assert panel.ask("return f.isOutside()")
        places = panel.ask("return f.network.getPosition('e2-0')")
        panel.show(walk((30, 90)), tidy=True)
        assert panel.ask("return f.network.getPosition('e2-0')") != places
        assert not panel.ask("return f.isOutside()")


class TestDiff:
    def test_what_left_is_dotted_and_only_at_the_result(self, panel: Panel) -> None:
        run = walk((4, 5))
        panel.show(run)
        expect(panel.page.locator(".changed-key")).to_be_hidden()
        panel.show(shorter(run), before=run.trace)
        expect(panel.page.locator(".changed-key")).to_be_visible()
        looks = "return [...f.scene.edges.values()].map((look) => look.dashes).filter(Boolean)"
        nodes = "return [...f.scene.nodes.values()].map((look) => look.dashes).filter(Boolean)"
        assert panel.ask(looks) == ["left"] * 5
        assert panel.ask(nodes) == ["left"] * 5
        panel.page.keyboard.press("[")
        assert panel.ask(looks) == panel.ask(nodes) == []

    def test_a_fact_that_left_can_be_picked_and_says_so(self, panel: Panel) -> None:
        run = walk((4, 5))
        panel.show(run)
        panel.show(shorter(run), before=run.trace)
        panel.click("e2-0")
        assert panel.picked == "e2-0"
        expect(panel.page.locator(".vis-tooltip")).to_contain_text("no longer in the result")

    @in_both_schemes
    def test_what_is_new_has_a_halo(self, panel: Panel) -> None:
        run = walk((4, 5))
        halo = """const { x, y } = f.boxes.get("e2-2");
            const { from, to } = f.lines.find(({ edge, look }) => edge.id.includes("e2-2") && !look.onChain);
            const points = [{ x, y: y - 14 }, { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 }];
            const halo = f.colours.halo.match(/\\w\\w/g).map((part) => parseInt(part, 16));
            const isHalo = (at) => [0, 1, 2].every((part) => Math.abs(data[at + part] - halo[part]) < 3);
            return points.map((point) => f.network.canvasToDOM(point)).map(({ x, y }) => {
                const near = [-4, -3, -2, 0, 2, 3, 4].map((aside) => Math.round(x) + aside);
                return near.some((x) => isHalo(4 * (Math.round(y) * bitmap.width + x)));
            })"""
        panel.show(run)
        assert pixels(panel, halo) == [False, False]
        panel.show(run, before=shorter(run).trace)
        assert pixels(panel, halo) == [True, True]


class TestFind:
    def test_it_goes_through_the_drawn_names_whatever_their_case_and_accents(self, panel: Panel) -> None:
        names = {"e1-0": "Société Générale", "e1-2": "SOCIETE anonyme", "e2-1": "Société", "n1-0": "Société near"}
        panel.show(named(walk((4, 6), near=2), names))
        find, count = panel.page.get_by_label("Find in the graph"), panel.page.locator(".count")
        find.fill("sociéTE")
        expect(count).to_have_text("3")
        for key, at, node in (("Enter", 1, "e1-0"), ("Enter", 2, "e1-2"), ("Shift+Enter", 1, "e1-0")):
            find.press(key)
            expect(count).to_have_text(f"{at}/3")
            assert panel.picked == node
            x, y = panel.on_screen()[node]
            size = panel.page.locator(".canvas").bounding_box()
            assert size and (round(x), round(y)) == (round(size["width"] / 2), round(size["height"] / 2))
        find.press("Shift+Enter")
        expect(count).to_have_text("3/3")
        find.press("Escape")
        expect(find).to_have_value("")
        expect(count).to_have_text("")
        assert panel.actions == []

    def test_it_finds_nothing_that_is_not_drawn(self, panel: Panel) -> None:
        panel.show(named(walk((4, 6), near=2), {"n1-0": "Nearly"}))
        find, count = panel.page.get_by_label("Find in the graph"), panel.page.locator(".count")
        find.fill("nearly")
        expect(count).to_have_text("0")
        find.press("Enter")
        assert panel.picked is None
        panel.page.get_by_role("button", name="near miss", exact=True).click()
        expect(count).to_have_text("1")

    def test_what_is_typed_there_is_no_key_of_the_page(self, panel: Panel) -> None:
        panel.show(walk((4, 6)))
        panel.page.evaluate("() => document.addEventListener('keydown', () => window.actions.push('key'))")
        panel.page.get_by_label("Find in the graph").press_sequentially("rc[/")
        assert panel.actions == []


class TestKeyboard:
    def test_arrows_in_the_graph_go_from_entity_to_entity(self, panel: Panel) -> None:
        panel.show(walk((5, 8)))
        panel.page.locator("#before").focus()
        for _ in range(20):
            panel.page.keyboard.press("Tab")
            if panel.page.locator(".canvas").evaluate("e => e.matches(':focus')"):
                break
        panel.page.keyboard.press("ArrowRight")
        assert panel.picked == "e0-0"
        seen = []
        for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "ArrowDown"):
            panel.page.keyboard.press(key)
            seen.append(panel.ask("return f.index.nodes.get(f.view.state.node).hop"))
        assert seen == [1, 2, 1, 1]
        scale = panel.ask("return f.network.getScale()")
        panel.page.keyboard.press("+")
        assert panel.ask("return f.network.getScale()") > scale
        panel.page.keyboard.press("0")
        assert not panel.ask("return f.isOutside()")

    def test_the_menu_is_walked_with_arrows(self, panel: Panel) -> None:
        panel.show(walk((4, 6)))
        button = panel.page.get_by_role("button", name="Layout")
        button.press("ArrowDown")
        expect(panel.page.get_by_role("menuitemradio", name="Columns", checked=True)).to_be_focused()
        panel.page.keyboard.press("ArrowDown")
        expect(panel.page.get_by_role("menuitemradio", name="Force")).to_be_focused()
        panel.page.keyboard.press("End")
        expect(panel.page.get_by_role("menuitem", name="Tidy")).to_be_focused()
        panel.page.keyboard.press("ArrowDown")
        expect(panel.page.get_by_role("menuitemradio", name="Columns")).to_be_focused()
        panel.page.keyboard.press("Escape")
        expect(button).to_be_focused()
        expect(panel.page.get_by_role("menu")).to_be_hidden()
        assert panel.actions == []
        button.press("Enter")
        panel.page.keyboard.press("ArrowDown")
        panel.page.keyboard.press("Enter")
        button.press("Enter")
        panel.page.keyboard.press("End")
        panel.page.keyboard.press("Enter")
        assert panel.actions == [{"kind": "layout", "layout": "force"}, {"kind": "tidy"}]

    def test_every_control_is_come_to_by_tab_and_has_a_name(self, panel: Panel) -> None:
        run = walk((4, 6), near=2)
        panel.show(run, before=shorter(run).trace)
        panel.click("e1-0")
        panel.page.locator("#before").focus()
        names = []
        focused = "() => { const e = document.getElementById('host').shadowRoot.activeElement;"
        focused += "return e && [e.getAttribute('aria-label') ?? e.textContent, getComputedStyle(e).outlineStyle] }"
        for _ in range(30):
            panel.page.keyboard.press("Tab")
            if (at := panel.page.evaluate(focused)) is None:
                break
            names.append(at)
        assert all(outline != "none" for _, outline in names)
        assert [name for name, _ in names][-9:] == [
            "Add as seed",
            "Browse",
            "near miss",
            "Find in the graph",
            "Show the whole graph",
            "Expand",
            "PNG",
            "Layout",
            "Keys",
        ]


class TestExpand:
    def test_it_covers_the_window_until_esc_or_the_button(self, panel: Panel) -> None:
        panel.show(walk((4, 6)))
        box = panel.page.locator(".graph")
        narrow = box.bounding_box()
        expand = panel.page.get_by_role("button", name="Expand")
        expand.click()
        assert box.bounding_box() == {"x": 0, "y": 0, "width": 1280, "height": 720}
        expect(expand).to_have_attribute("aria-pressed", "true")
        panel.click("e1-0")
        panel.page.keyboard.press("Escape")
        assert box.bounding_box() == narrow
        assert panel.picked == "e1-0"
        expand.click()
        expand.click()
        assert box.bounding_box() == narrow

    def test_tab_stays_in_it(self, panel: Panel) -> None:
        panel.show(walk((4, 6)))
        panel.page.get_by_role("button", name="Expand").click()
        keys = panel.page.get_by_role("button", name="Keys")
        keys.focus()
        panel.page.keyboard.press("Tab")
        expect(panel.page.locator(".steps button").first).to_be_focused()
        panel.page.keyboard.press("Shift+Tab")
        expect(keys).to_be_focused()


class TestPanel:
    def test_a_saved_run_cannot_be_walked_on_from(self, panel: Panel) -> None:
        panel.show(walk((4, 6)))
        panel.click("e1-0")
        add = panel.page.get_by_role("button", name="Add as seed")
        add.click()
        assert panel.actions == [{"kind": "seed", "id": "e1-0"}]
        panel.show(walk((4, 6)), live=False)
        panel.click("e1-0")
        expect(panel.page.locator(".picked")).to_contain_text("edges")
        expect(add).to_have_count(0)

    def test_a_hub_carries_its_degree(self, panel: Panel) -> None:
        run = walk((4, 6))
        first = run.trace.hops[0].candidates[0]
        hub = dataclasses.replace(first, fate="hub", rank=0, hop=2)
        second = run.trace.hops[1]
        second = dataclasses.replace(second, candidates=(*second.candidates, hub))
        trace = dataclasses.replace(run.trace, hops=(run.trace.hops[0], second))
        panel.show(dataclasses.replace(run, trace=trace))
        assert panel.ask("return f.boxes.get(argument).aside", first.entity_id) == str(first.degree)
        expect(panel.page.locator(".hub-key")).to_be_visible()
        panel.show(run)
        expect(panel.page.locator(".hub-key")).to_be_hidden()

    def test_the_legend_is_one_row_at_its_fullest(self, panel: Panel) -> None:
        panel.page.set_viewport_size(ViewportSize(width=700, height=600))
        panel.page.add_style_tag(content="#host { width: 700px !important; }")
        run = walk((3, 4, 5, 6), near=2)
        hub = dataclasses.replace(run.trace.hops[0].candidates[0], fate="hub", rank=0, hop=2)
        hops = list(run.trace.hops)
        hops[1] = dataclasses.replace(hops[1], candidates=(*hops[1].candidates, hub))
        run = dataclasses.replace(run, trace=dataclasses.replace(run.trace, hops=tuple(hops)))
        panel.show(run, before=shorter(run).trace)
        panel.page.get_by_label("Find in the graph").fill("a")
        panel.page.keyboard.press("Enter")
        for key in (".hub-key", ".changed-key", ".near-toggle", "[data-hop='4']"):
            expect(panel.page.locator(key)).to_be_visible()
        legend = panel.page.locator(".legend")
        assert legend.evaluate("e => [e.scrollWidth - e.clientWidth, e.clientHeight < 40]") == [0, True]

    @in_both_schemes
    def test_a_picture_has_the_background_of_the_page(self, panel: Panel, request: pytest.FixtureRequest) -> None:
        panel.show(walk((4, 6)))
        drawn = pixels(panel, "return { first: [...data.slice(0, 4)], size: [bitmap.width, bitmap.height] }")
        scheme = "dark" if "dark" in request.node.name else "light"
        assert drawn["first"] == [*BACKGROUND[scheme], 255]
        with panel.page.expect_download() as download:
            panel.page.get_by_role("button", name="PNG").click()
        saved = base64.b64encode(download.value.path().read_bytes()).decode()
        assert download.value.suggested_filename.endswith(".png")
        assert saved.startswith("iVBORw0KGgo")

    def test_labels_on_hover_and_tooltips_follow_the_pointer(self, panel: Panel) -> None:
        panel.show(walk((4, 6)))
        edge = panel.ask("return f.data.edges.find((edge) => edge.curve === 0 && edge.id !== f.view.state.fact).id")
        middle = panel.ask(
            """const { from, to } = f.lines.find((line) => line.edge.id === argument);
            return f.network.canvasToDOM({ x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 })""",
            edge,
        )
        panel.page.locator(".canvas").hover(position=middle)
        tooltip = panel.page.locator(".vis-tooltip")
        expect(tooltip).to_be_visible()
        hovered = panel.ask("return f.hovered.edge")
        expect(tooltip).to_contain_text(panel.ask("return f.index.edges.get(argument).label", hovered))
        assert panel.ask("return f.edges.get(argument).label", hovered).strip()
        panel.page.mouse.move(5, 5)
        expect(tooltip).to_be_hidden()
        assert not panel.ask("return f.edges.get(argument).label", hovered).strip()


def test_the_layouts_on_the_demo(open_page: OpenPage, demo_url: str) -> None:
    page = open_page(demo_url)
    expect(page.locator(".facts li").first).to_be_visible(timeout=60_000)
    panel = Panel(page)
    places = "return f.network.getPositions()"
    columns = panel.ask(places)
    layout = page.get_by_role("button", name="Layout")

    def choose(role: Any, name: str, kind: str) -> None:
        before = panel.ask("return f.view.run.id")
        layout.click()
        page.get_by_role(role, name=name).click()
        handle = page.locator(".canvas").element_handle()
        page.wait_for_function("([e, id]) => e.frontier.view.run.id !== id", arg=[handle, before])
        assert panel.ask("return f.data.layout") == kind

    choose("menuitemradio", "Force", "force")
    force = panel.ask(places)
    assert force.keys() == columns.keys()
    assert force != columns
    page.locator(".st-key-hops").get_by_text("3", exact=True).click()
    expect(page.locator(".steps button")).to_have_count(5)
    after = panel.ask(places)
    assert {id: after[id] for id in force} == force
    choose("menuitemradio", "Columns", "columns")
    assert {id: panel.ask(places)[id] for id in columns} == columns
