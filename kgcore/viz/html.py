"""A run as one HTML file that asks for nothing: to be looked at with no app, and to be opened again in one."""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import replace
from html import escape
from typing import Any

from kgcore.retrieve.export import MAX_PAGE, checked_size, inert, run_element
from kgcore.text import whole_characters
from kgcore.types import Retrieval
from kgcore.viz.bundle import STATIC, bundle
from kgcore.viz.evidence import evidence_payload
from kgcore.viz.graph import graph_payload
from kgcore.viz.labels import count, plain
from kgcore.viz.layout import Kind
from kgcore.viz.shared import run_payload

LONGEST_ANSWER = 20_000
# Nothing is loaded or sent, these two run and style, and no text can become markup.
_POLICY = (
    "default-src 'none'; script-src '{script}'; style-src '{style}'; base-uri 'none'; form-action 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<p class="about"><bdi>{about}</bdi><span>Saved by Hopscope, where <i>Share</i> opens it again</span></p>
<noscript><p>The graph is drawn by JavaScript, which is off here.</p></noscript>
<main><div id="graph"></div><div>{answer}<div id="evidence"></div></div></main>
{run}
<script type="application/json" id="hopscope-picture">{picture}</script>
<script type="module">{script}</script>
</body>
</html>
"""


def html_of(retrieval: Retrieval, *, layout: Kind = "columns") -> str:
    """The run as a page in UTF-8: graph, steps, facts, sources and trace, with `run_json` inside for `read_run`.

    The page makes no request, from a disk or a server; by its own policy it runs its one script and nothing else.
    It holds what `run_json` holds, and the same run gives the same page. Raises ConfigError for a run that is too large
    to be opened again.
    """
    run = run_element(retrieval)
    script, style = _code()
    policy = _POLICY.format(script=_hash(script), style=_hash(style))
    page = _PAGE.format(
        policy=policy,
        title=escape(f"{plain(retrieval.trace.question)} · Hopscope"),
        style=style,
        about=escape(" · ".join(_about(retrieval))),
        answer=_answer(retrieval),
        run=run,
        picture=inert(whole_characters(json.dumps(_picture(retrieval, layout), ensure_ascii=False))),
        script=script,
    )
    return checked_size(page, MAX_PAGE)


def _code() -> tuple[str, str]:
    """The page's script and style, as a browser hashes them: with ends of line of their own."""
    styles = "\n".join((STATIC / name).read_text(encoding="utf-8") for name in ("component.css", "html.css"))
    return f"\n{bundle('html.js')}\n", f"\n{styles}"


def _hash(text: str) -> str:
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _picture(retrieval: Retrieval, layout: Kind) -> dict[str, Any]:
    """What the components are given for a run that was opened from a file: a saved run has no timings."""
    saved = replace(retrieval, timings={})
    graph, _ = graph_payload(saved, layout=layout)
    evidence = evidence_payload(saved)
    run = run_payload(saved.trace, graph, evidence, subject="saved", live=False)
    return {"run": run, "graph": graph, "evidence": evidence}


def _about(retrieval: Retrieval) -> Iterator[str]:
    settings = retrieval.trace.settings
    yield f"Max hops {settings.max_hops}"
    yield f"beam {'auto ' * settings.beam_auto}{settings.beam_width}"
    yield f"top k {settings.top_k}"
    yield f"scoring {settings.scoring}"
    if settings.reranker:
        yield f"reranker {plain(settings.reranker)}"
    if settings.relations:
        yield f"only {plain(', '.join(settings.relations))}"
    if settings.filters is not None:
        yield f"filter {plain(json.dumps(settings.filters, ensure_ascii=False))}"
    yield count(len(retrieval.facts), "fact")
    yield count(len(retrieval.source_documents), "source")


def _answer(retrieval: Retrieval) -> str:
    """What a model wrote, above the evidence."""
    if not retrieval.context:
        return ""
    text = "\n".join(plain(line, LONGEST_ANSWER) for line in retrieval.content[:LONGEST_ANSWER].splitlines())
    return f'<p class="answer" dir="auto">{escape(text)}</p>'
