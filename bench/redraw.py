"""How long a change on the Ask page takes from the click to the drawn graph: `python -m bench.redraw [--nodes 300]`.

The app runs as a person starts it, and Chromium shows it. A change of hops, beam or filter is timed in the
browser, from the press to the frame in which the new run is drawn; nodes in both runs are compared by their places.
"""

from __future__ import annotations

import random
import statistics
import tempfile
from pathlib import Path

import typer
from playwright.sync_api import Page

from kgcore import Edge, Entity, open_store, write_graph
from tests.e2e.conftest import SCREEN, chromium, running

QUESTION = "What does Root know?"
_DRAWN = """async (canvas, before) => {
    while (canvas.frontier.view.run.id === before) await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    return performance.now() - window.pressed;
}"""
_LISTEN = """() => {
    for (const kind of ["pointerdown", "keydown"])
        document.addEventListener(kind, () => (window.pressed = performance.now()), true);
}"""
_PLACES = """(canvas) => {
    const { network, shown } = canvas.frontier;
    const places = {};
    for (const id of shown) places[id] = network.getPosition(id);
    return places;
}"""


def build(path: Path, nodes: int) -> str:
    """A root, a first ring of a fifth of the nodes, a second of the rest, and as many edges again between them."""
    rng = random.Random(7)
    names = ["Root", *(f"Node {i}" for i in range(1, nodes))]
    ring = nodes // 5
    pairs = [(0, i) for i in range(1, ring)] + [(rng.randrange(1, ring), i) for i in range(ring, nodes)]
    pairs += [(rng.randrange(1, ring), rng.randrange(ring, nodes)) for _ in range(nodes)]
    edges = [
        Edge(
            id=f"e{at}",
            source_id=str(a),
            target_id=str(b),
            relation="KNOWS",
            src_name=names[a],
            dst_name=names[b],
            source_doc_id=f"d{at % 50}",
            properties={"year": 2000 + at % 25},
        )
        for at, (a, b) in enumerate(dict.fromkeys(pairs))
    ]
    url = f"duckdb:///{path}"
    store = open_store(url, create=True)
    write_graph(store, [Entity(id=str(at), type="Thing", name=name) for at, name in enumerate(names)], edges)
    store.close()
    return url


def changes(page: Page) -> list[tuple[str, float, int, int]]:
    """Each change with its milliseconds, how many nodes stayed, and how many of those moved."""
    hops, beam = page.locator(".st-key-hops"), page.get_by_label("Beam")
    rows = []
    for what, press in [
        ("hops 2 to 1", lambda: hops.get_by_text("1", exact=True).click()),
        ("hops 1 to 2", lambda: hops.get_by_text("2", exact=True).click()),
        ("beam to 200", lambda: (beam.fill("200"), beam.press("Enter"))),
        ("beam to 1000", lambda: (beam.fill("1000"), beam.press("Enter"))),
    ]:
        canvas = page.locator(".canvas")
        before, places = canvas.evaluate("canvas => canvas.frontier.view.run.id"), canvas.evaluate(_PLACES)
        press()
        took = canvas.evaluate(_DRAWN, before)
        after = canvas.evaluate(_PLACES)
        stayed = places.keys() & after.keys()
        rows.append((what, took, len(stayed), sum(places[node] != after[node] for node in stayed)))
        page.wait_for_timeout(500)
    return rows


def main(nodes: int = 300, rounds: int = 3) -> None:
    """Prints the median of each change."""
    with tempfile.TemporaryDirectory() as folder:
        store = build(Path(folder) / "graph.duckdb", nodes)
        with running(Path(folder), store=store) as url, chromium() as browser:
            page = browser.new_page(viewport=SCREEN)
            page.goto(f"{url}/?q={QUESTION}&k=1000&beam=1000&hops=2&hub_limit=100000")
            page.locator(".canvas canvas").wait_for(timeout=60_000)
            page.wait_for_timeout(2_000)
            page.evaluate(_LISTEN)
            print(
                page.locator(".steps").inner_text().replace("\n", " · "),
                len(page.locator(".canvas").evaluate(_PLACES)),
                "nodes drawn",
            )
            seen = [changes(page) for _ in range(rounds)]
    for row in zip(*seen, strict=True):
        took = statistics.median(one[1] for one in row)
        print(f"{row[0][0]:14} {took:6.0f} ms   {row[0][2]} stayed, {max(one[3] for one in row)} moved")


if __name__ == "__main__":
    typer.run(main)
