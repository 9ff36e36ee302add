"""A page with nothing but the graph panel, served as the app serves it, to show runs that are made up."""

from __future__ import annotations

import functools
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from kgcore.types import Retrieval, Trace
from kgcore.viz import Layout, diff, graph_payload

STATIC = Path(__file__).parents[2] / "static"
_PAGE = """<!doctype html><meta charset="utf-8"><title>Graph</title>
<style>
body { margin: 0; --st-background-color: rgb(255, 255, 255); --st-secondary-background-color: #f3f5f7;
  --st-text-color: #111827; --st-border-color: #cfd5dc; --st-primary-color: #0072b2; --st-font: sans-serif; }
@media (prefers-color-scheme: dark) { body { --st-background-color: rgb(18, 22, 28);
  --st-secondary-background-color: #1e242d; --st-text-color: #eef1f5; --st-border-color: #3a4350; } }
#host { width: 716px; }
</style><button id="before">before</button><div id="host"></div>
<script type="module">
import graph from "./graph.js";
const root = document.getElementById("host").attachShadow({ mode: "open" });
const style = document.createElement("style");
style.textContent = await (await fetch("component.css")).text();
const parentElement = document.createElement("div");
root.append(style, parentElement);
window.actions = [];
window.show = (data) => graph({ data, parentElement, setTriggerValue: (name, value) => window.actions.push(value) });
window.ready = true;
</script>"""


class _Handler(SimpleHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path != "/":
            return super().do_GET()
        body = _PAGE.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        return None

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving() -> Iterator[str]:
    """The address of a page that `Panel` can be opened on."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Handler, directory=str(STATIC)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()


def data_of(graph: dict[str, Any], run: Retrieval, *, live: bool = True) -> dict[str, Any]:
    """What the component is given for a run."""
    shared = {
        "id": hashlib.sha256(json.dumps([graph, live]).encode()).hexdigest(),
        "subject": "s",
        "facts": [edge["id"] for edge in graph["edges"] if not edge["alias"]],
        "nodes": [node["id"] for node in graph["nodes"]],
        "top": run.trace.result[0] if run.trace.result else None,
        "lastStep": len(run.trace.hops) + 1,
        "live": live,
    }
    return {"view": "v", "run": shared, "graph": graph}


@dataclass
class Panel:
    """A page with nothing but the graph panel."""

    page: Page
    layout: Layout | None = None

    def show(self, run: Retrieval, *, tidy: bool = False, live: bool = True, before: Trace | None = None) -> None:
        known = None if tidy else self.layout
        change = diff(before, run.trace) if before else None
        graph, self.layout = graph_payload(run, known, diff=change)
        self.page.evaluate("data => window.show(data)", data_of(graph, run, live=live))
        self.drawn()

    def drawn(self) -> None:
        """Two frames later."""
        self.page.evaluate("() => new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))")

    def ask(self, script: str, argument: Any = None) -> Any:
        """Runs `script` with `f` as the drawn frontier."""
        return self.page.locator(".canvas").evaluate(
            f"(canvas, argument) => {{ const f = canvas.frontier; {script} }}", argument
        )

    def on_screen(self) -> dict[str, list[float]]:
        script = "return Object.fromEntries([...f.shown].map((id) => {"
        script += "const p = f.network.canvasToDOM(f.network.getPosition(id)); return [id, [p.x, p.y]] }))"
        return self.ask(script)  # type: ignore[no-any-return]

    def click(self, node: str) -> None:
        x, y = self.on_screen()[node]
        self.page.locator(".canvas").click(position={"x": x, "y": y})

    @property
    def picked(self) -> str | None:
        return self.ask("return f.view.state.node")  # type: ignore[no-any-return]

    @property
    def actions(self) -> list[dict[str, Any]]:
        return self.page.evaluate("window.actions")  # type: ignore[no-any-return]
