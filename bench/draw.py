"""How fast the graph panel draws in Chromium: `python -m bench.draw`.

Milliseconds from the call to the end of the second frame after it; the best of five, since other work on the machine
only adds. A payload's time is Python's.
"""

from __future__ import annotations

import time
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.walks import walk
from kgcore.viz import graph_payload
from kgcore.viz.layout import Kind
from tests.e2e.conftest import SCREEN, chromium
from tests.e2e.graph_panel import Panel, data_of, serving

ROUNDS = 5
SIZES = {"300 / 600": ((40, 100, 160), 300), "2,000 / 5,000": ((300, 700, 997), 3_003)}
_TIMED = """async ([script, argument]) => {
    const f = document.querySelector("#host").shadowRoot.querySelector(".canvas")?.frontier;
    const begun = performance.now();
    new Function("f", "argument", script)(f, argument);
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))));
    return performance.now() - begun;
}"""
_FRAMES = """() => {
    window.frames = [];
    const note = (at) => { window.frames.push(at); requestAnimationFrame(note); };
    requestAnimationFrame(note);
}"""


def main() -> None:
    """Prints the figures."""
    table = Table("", *SIZES)
    with serving() as url, chromium() as browser:
        rows: dict[str, list[str]] = {}
        for reached, bridges in SIZES.values():
            page = browser.new_page(viewport=SCREEN)
            page.goto(url)
            page.wait_for_function("window.ready")
            for name, value in measured(Panel(page), reached, bridges).items():
                rows.setdefault(name, []).append(value)
            page.close()
    for name, values in rows.items():
        table.add_row(name, *values)
    Console().print(table)


def measured(panel: Panel, reached: tuple[int, ...], bridges: int) -> dict[str, str]:
    """What each thing takes, by name."""
    run, other = walk(reached, bridges=bridges), walk([count - 10 for count in reached], bridges=bridges)
    kinds: tuple[Kind, ...] = ("columns", "force")
    values = {f"payload, {kind}": _ms(_payload_time(run, kind) for _ in range(ROUNDS)) for kind in kinds}
    graph, layout = graph_payload(run)
    shown = [data_of(graph, run), data_of(graph_payload(other, layout)[0], other)]

    def timed(script: str, arguments: list[Any]) -> str:
        return _ms(panel.page.evaluate(_TIMED, [script, arguments[at % len(arguments)]]) for at in range(ROUNDS))

    values["first draw"] = _ms([panel.page.evaluate(_TIMED, ["window.show(argument)", shown[0]])])
    values["a changed run"] = timed("window.show(argument)", [shown[1], shown[0]])
    facts = [run.trace.result[-5], run.trace.result[0]]
    values["a fact is selected"] = timed("f.view.selectFact(argument)", list(facts))
    values["a node is picked"] = timed("f.view.selectNode(argument)", ["e1-0", "e2-9"])
    panel.ask("f.view.clear()")
    values["a step"] = timed("f.view.moveStep(argument)", [-1, -1, 1, 1])
    values["frames a second, panning"] = _panning(panel)
    return values


def _payload_time(run: Any, kind: Kind) -> float:
    begun = time.perf_counter()
    graph_payload(run, layout=kind)
    return 1000 * (time.perf_counter() - begun)


def _ms(times: Any) -> str:
    return f"{min(times):.0f} ms"


def _panning(panel: Panel) -> str:
    mouse = panel.page.mouse
    mouse.move(300, 300)
    mouse.down()
    panel.page.evaluate(_FRAMES)
    for at in range(60):
        mouse.move(300 + 3 * at, 300 + at)
    frames = panel.page.evaluate("window.frames")
    mouse.up()
    return f"{1000 * (len(frames) - 1) / (frames[-1] - frames[0]):.0f}"


if __name__ == "__main__":
    main()
