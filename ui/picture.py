"""What the components draw of a run, made once for each run, base of comparison and layout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kgcore.types import Retrieval
from kgcore.viz import Diff, diff, evidence_payload, graph_payload, run_payload
from ui import state
from ui.resources import digest
from ui.runs import Run, Runs, runs


@dataclass(frozen=True, kw_only=True)
class Picture:
    """`run` is what both components share. `diff` is to the base of comparison, if there is one."""

    run: dict[str, Any]
    graph: dict[str, Any]
    evidence: dict[str, Any]
    diff: Diff | None


def picture(retrieval: Retrieval, *, base: Run | None, live: bool, sides: tuple[str, str] | None = None) -> Picture:
    """A run as it is drawn. One that is not `live`, a saved one, can be looked at but not walked on from.

    With `sides` it and its base are two of one kind, and called so.
    """
    memory = runs()
    asked = retrieval, base.retrieval if base else None, state.layout(), live, sides
    if memory.drawn is None or not _same(memory.drawn[0], asked):
        memory.drawn = asked, _draw(memory, *asked)
    drawn: Picture = memory.drawn[1]
    return drawn


def arrange(action: dict[str, Any]) -> None:
    """Another layout, or "Tidy": the graph laid out anew, as a fresh link would; anything else is ignored."""
    match action:
        case {"kind": "layout", "layout": str(name)}:
            state.set_layout(name)
        case {"kind": "tidy"}:
            memory = runs()
            memory.layouts.clear()
            memory.drawn = None


def _draw(
    memory: Runs,
    retrieval: Retrieval,
    base: Retrieval | None,
    layout: state.Layout,
    live: bool,
    sides: tuple[str, str] | None,
) -> Picture:
    trace = retrieval.trace
    subject = digest([memory.scope[:2], trace.question, live])
    change = diff(base.trace, trace, sides) if base is not None else None
    known = memory.layouts.get((subject, layout))
    graph, memory.layouts[subject, layout] = graph_payload(retrieval, known, diff=change, layout=layout)
    evidence = evidence_payload(retrieval, change)
    run = run_payload(trace, graph, evidence, subject=subject, live=live)
    return Picture(run=run, graph=graph, evidence=evidence, diff=change)


def _same(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    return all(a is b or (isinstance(a, str | bool | tuple) and a == b) for a, b in zip(one, other, strict=True))
