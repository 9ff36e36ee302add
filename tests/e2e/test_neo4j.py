"""The app on a real Neo4j server: the demo's answers, and a server that goes away and comes back."""

from __future__ import annotations

import os
from collections.abc import Iterator
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import expect

from kgcore import open_store, write_graph
from kgcore.ingest.demo import DEMO, demo_questions
from kgcore.ingest.importers.folder import read_folder
from kgcore.models.offline import OfflineEmbedder
from tests.e2e.conftest import OpenPage, download, running
from tests.e2e.test_ask import answered
from tests.neo4j.server import VERSIONS, Server
from tests.neo4j.server import running as running_neo4j

pytestmark = [
    pytest.mark.skipif(
        not os.environ.get("NEO4J_TEST_URIS") and not os.environ.get("CI"), reason="NEO4J_TEST_URIS names no server."
    ),
    pytest.mark.timeout(600),
]
LOCKED = {
    "HOPSCOPE_LOCKED_FILTER": '{"field": "allowed_principals", "operator": "contains_any", "value": ["group:finance"]}'
}
"""What the demo's first group sees, for both alike."""


@pytest.fixture(scope="module", params=VERSIONS)
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A server with the demo graph."""
    with running_neo4j(request.param, heap="700m") as (started,):
        store = open_store(started.uri, create=True)
        parts = read_folder(DEMO)
        write_graph(store, parts.entities, parts.edges, parts.chunks, embedder=OfflineEmbedder())
        store.close()
        yield started


@pytest.fixture(scope="module")
def neo4j_url(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app on that server."""
    with running(tmp_path_factory.mktemp("neo4j"), store=server.uri, environment=LOCKED) as url:
        yield url


@pytest.fixture(scope="module")
def embedded_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app on the demo's own file."""
    with running(tmp_path_factory.mktemp("embedded"), store="", environment=LOCKED) as url:
        yield url


@pytest.mark.parametrize("question", [q for q in demo_questions() if q.get("example")][:3], ids=lambda q: q["id"])
def test_it_gives_the_demos_answers(
    open_page: OpenPage, embedded_url: str, neo4j_url: str, question: dict[str, str]
) -> None:
    link = f"/?q={quote_plus(question['question'])}&hops=3&beam=6"
    embedded, served = (download(answered(open_page(url + link)), "Facts as CSV") for url in (embedded_url, neo4j_url))
    assert embedded.count(b"\n") > 5
    assert served == embedded


def test_a_server_that_goes_away_and_comes_back(open_page: OpenPage, server: Server, neo4j_url: str) -> None:
    page = answered(open_page(f"{neo4j_url}/?q=What+system+does+Jane+Doe%27s+employer+use%3F&hops=2"))
    facts = page.locator(".facts li").all_inner_texts()
    server.kill()
    ask = page.get_by_label("Question")
    ask.fill("Who audits the Aurora Fund?")
    ask.press("Enter")
    alert = page.get_by_role("alert").filter(has_text="cannot be reached")
    expect(alert.first).to_be_visible(timeout=60_000)
    assert server.password not in page.content()
    assert "Traceback" not in page.content()
    server.start()
    server.wait_ready()
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".facts li").first).to_be_visible(timeout=60_000)
    expect(ask).to_have_value("Who audits the Aurora Fund?")
    expect(alert).to_have_count(0)
    ask.fill("What system does Jane Doe's employer use?")
    ask.press("Enter")
    expect(page.locator(".facts")).to_contain_text("Jane Doe", timeout=60_000)
    expect(page.locator(".facts li").first).to_have_text(facts[0], use_inner_text=True, timeout=60_000)
    assert page.locator(".facts li").all_inner_texts() == facts
