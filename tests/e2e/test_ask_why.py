"""Why a passage is among the sources, and what an alias brings to the walk, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.data.parish import PARISH, QUESTION, parish_file
from tests.e2e.conftest import OpenPage, running
from tests.e2e.test_ask import answered, count_messages, frontier, sent

NUMBER = r"[\d.]+"


@pytest.fixture(scope="module")
def parish_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app on a graph with an alias and without vectors, asked its question."""
    folder = tmp_path_factory.mktemp("parish")
    with running(folder, store=parish_file(folder)) as url:
        yield f"{url}/?q={quote_plus(QUESTION)}"


def sources(page: Page) -> Locator:
    page.get_by_role("tab", name="Sources").click()
    return page.locator(".sources .row")


def terms(box: Locator) -> dict[str, str]:
    """A definition list as it is read."""
    names = box.locator("dt").all_inner_texts()
    return dict(zip(names, box.locator("dd").all_inner_texts(), strict=True))


def reads(told: dict[str, str]) -> None:
    """Each signal with what it adds, and together they are the score."""
    assert list(told) == ["Path", "Nearness", "PageRank", "Newly explains", "Score"]
    adds = [re.search(r"adds ([+−])([\d.]+)$", told[term]) for term in ("Path", "Nearness", "PageRank")]
    parts = [float(found[2]) * (-1 if found[1] == "−" else 1) for found in adds if found]
    score = re.match(rf"(-?{NUMBER}), rank (\d+) of (\d+) weighed$", told["Score"])
    assert score and len(parts) == 3
    assert sum(parts) == pytest.approx(float(score[1]), abs=0.02)


class TestWhyThisPassage:
    def test_each_source_has_its_rank_and_a_line_in_words(self, open_page: OpenPage, demo_url: str) -> None:
        rows = sources(answered(open_page(demo_url)))
        ranks = [int(rank) for rank in rows.locator(".rank").all_inner_texts()]
        assert ranks == sorted(ranks) and ranks[0] == 1 and len(ranks) == rows.count()
        lines = rows.locator(".why-line").all_inner_texts()
        assert len(lines) == len(ranks) and all(lines)
        assert lines[0].startswith("for its ") and "explains" in lines[0]

    def test_the_pane_tells_each_signal_and_selects_the_fact(self, open_page: OpenPage, demo_url: str) -> None:
        page = answered(open_page(demo_url))
        row = sources(page).first
        row.click()
        count_messages(page)
        why = page.locator(".source .why")
        expect(why.locator("summary")).to_contain_text("Why this passage")
        reads(terms(why))
        title = page.locator(".source .title").inner_text()
        spelled = why.locator("button.fact").inner_text()
        why.locator("button.fact").click()
        expect(page.locator(".source .title")).to_have_text(title)
        fact = frontier(page, "return f.view.state.fact")
        label = frontier(page, "return f.data.edges.find((edge) => edge.id === argument).title", fact)
        assert label.split("\n")[0] == spelled
        assert sent(page) == []

    def test_on_the_facts_it_is_folded_until_opened(self, open_page: OpenPage, demo_url: str) -> None:
        page = answered(open_page(demo_url))
        values = page.locator(".source .why dl")
        expect(page.locator(".source .why summary")).to_be_visible()
        expect(values).to_be_hidden()
        page.locator(".source .why summary").click()
        expect(values).to_be_visible()
        page.locator(".facts > ol > li .row").nth(1).click()
        expect(page.locator(".source .why dl")).to_be_visible()

    def test_the_document_tells_it_too(self, open_page: OpenPage, demo_url: str) -> None:
        page = answered(open_page(demo_url))
        sources(page).nth(1).click()
        in_pane = terms(page.locator(".source .why"))
        page.get_by_role("button", name="Open document").click()
        dialog = page.locator("dialog")
        expect(dialog.locator(".why")).to_contain_text("Why this passage")
        assert terms(dialog.locator(".why")) == in_pane
        dialog.locator("button.fact").click()
        expect(dialog).to_have_count(0)
        assert frontier(page, "return f.view.state.fact")

    def test_one_without_a_fact_opens_and_says_how_it_was_found(self, open_page: OpenPage, demo_url: str) -> None:
        page = answered(open_page(demo_url))
        row = sources(page).filter(has_text="0 facts").first
        title = row.locator("b").inner_text()
        row.click()
        expect(page.locator(".source .title")).to_have_text(title)
        expect(page.locator(".source mark")).to_have_count(0)
        found = re.compile(r"no fact of this run, found by .*(nearness|PageRank)")
        expect(page.locator(".source .why summary")).to_contain_text(found)
        page.get_by_role("button", name="Open document").click()
        expect(page.locator("dialog .why")).to_contain_text(found)

    def test_one_that_was_not_picked_says_so(self, open_page: OpenPage, demo_url: str) -> None:
        page = answered(open_page(demo_url))
        row = sources(page).filter(has_text="not among the ten picked").first
        row.click()
        assert "not among the ten picked" in terms(page.locator(".source .why"))["Newly explains"]

    def test_the_trace_lists_the_picked(self, open_page: OpenPage, demo_url: str) -> None:
        page = answered(open_page(demo_url))
        titles = sources(page).locator("b").all_inner_texts()
        page.get_by_role("tab", name="Trace").click()
        trace = page.locator(".trace")
        expect(trace).to_contain_text(re.compile(r"\d+ passages weighed, 10 picked"))
        rows = trace.locator("table").nth(2).locator("tbody tr")
        expect(rows).to_have_count(10)
        assert rows.locator("td:nth-child(6)").all_inner_texts() == titles[:10]
        rows.nth(1).click()
        expect(page.locator(".source .title")).to_have_text(titles[1])

    def test_without_vectors_path_and_page_rank_tell(self, open_page: OpenPage, parish_url: str) -> None:
        page = answered(open_page(parish_url))
        sources(page).first.click()
        told = terms(page.locator(".why dl"))
        assert re.fullmatch(r"it has no vector\s*adds \+0\.00", told["Nearness"])
        reads(told)


class TestAlias:
    ALIAS = "return f.data.edges.find((edge) => edge.alias)"

    def test_it_hangs_on_what_it_may_be(self, open_page: OpenPage, parish_url: str) -> None:
        page = answered(open_page(parish_url))
        link = frontier(page, self.ALIAS)
        names = frontier(page, "return argument.map((id) => f.index.nodes.get(id).name)", [link["from"], link["to"]])
        assert names == [PARISH, "Saint Helena"]
        line = frontier(page, "return f.edges.get(argument)", link["id"])
        assert line["dashes"] and not line["arrows"]["to"]["enabled"]
        expect(page.locator(".alias-key")).to_be_visible()
        middle = frontier(
            page,
            """const [a, b] = argument.map((id) => f.network.getPosition(id));
            return f.network.canvasToDOM({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 })""",
            [link["from"], link["to"]],
        )
        page.locator(".canvas").hover(position=middle)
        expect(page.locator(".vis-tooltip")).to_contain_text(f"may be {PARISH}: its name is part of that name")
        page.locator(".canvas").click(position=middle)
        expect(page.locator(".picked")).to_contain_text(f"Saint Helena · Thing · 1 edge · may be {PARISH}")

    def test_it_comes_with_the_hop_that_starts_from_it(self, open_page: OpenPage, parish_url: str) -> None:
        page = answered(open_page(parish_url))
        alias = frontier(page, self.ALIAS)["to"]
        shown = "return f.shown.has(argument)"
        assert frontier(page, shown, alias)
        for label, there in (("Hop 2", True), ("Hop 1", False)):
            page.keyboard.press("[")
            expect(page.locator(".steps [aria-pressed=true]")).to_contain_text(label)
            assert frontier(page, shown, alias) == there

    def test_a_chain_goes_through_it(self, open_page: OpenPage, parish_url: str) -> None:
        page = answered(open_page(parish_url))
        row = page.locator(".facts > ol > li").filter(has_text="part_of")
        row.locator(".row").click()
        chain = row.locator(".chain")
        expect(chain).to_have_text(
            re.compile(
                rf"^Napoleon ▸ LIVED_IN {NUMBER}( \+\w+)+ ▸ {PARISH} ≈ Saint Helena ▸ PART_OF {NUMBER}( \+\w+)+$"
            )
        )
        thick = frontier(page, "return f.edges.get().filter((edge) => edge.width === 4).map((edge) => edge.id)")
        assert frontier(page, self.ALIAS)["id"] in thick and len(thick) == 3

    def test_the_trace_names_it(self, open_page: OpenPage, parish_url: str) -> None:
        page = answered(open_page(parish_url))
        page.get_by_role("tab", name="Trace").click()
        lines = page.locator(".trace .aliases")
        expect(lines).to_have_count(1)
        expect(lines).to_have_text(f"2 also started from Saint Helena (may be {PARISH})")

    def test_a_walk_without_is_in_the_link(self, open_page: OpenPage, parish_url: str) -> None:
        page = answered(open_page(parish_url))
        assert "aliases" not in page.url
        page.get_by_role("button", name="More").click()
        page.get_by_text("Go on from a name's larger part").click()
        expect(page.locator(".st-key-chips")).to_contain_text("Aliases on→off: −1")
        expect(page).to_have_url(re.compile("aliases=false"))
        again = answered(open_page(page.url))
        expect(again.locator(".facts > ol > li")).to_have_count(1)
        expect(again.locator(".alias-key")).to_be_hidden()
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Undo").click()
        expect(page.locator(".facts > ol > li")).to_have_count(2)
        expect(page).not_to_have_url(re.compile("aliases"))
