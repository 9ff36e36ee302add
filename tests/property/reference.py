"""The walk in plain Python over a list of visible edges: what the retriever must agree with.

Only the coverage of a text is taken from the product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kgcore.names import fact_id
from kgcore.retrieve.score import Coverage
from kgcore.types import HAS_ATTRIBUTE, Edge
from tests.unit.test_filters import holds


def narrowed(edges: Sequence[Edge], filter: dict[str, Any] | None) -> tuple[Edge, ...]:
    """The edges that a caller's filter lets through; conditions on access fields match nothing."""
    return tuple(e for e in edges if filter is None or holds(filter, record(e)))


def record(edge: Edge) -> dict[str, Any]:
    """What a caller's filter can ask about."""
    own = {name: getattr(edge, name) for name in ("key", "description", "source_doc_id", "src_name", "dst_name")}
    shown = {name: value for name, value in edge.properties.items() if name != "allowed_principals"}
    return {name: value for name, value in {**shown, **own}.items() if value is not None}


def fact_of(edge: Edge) -> str:
    """The fact that an edge asserts."""
    return fact_id(edge.source_id, edge.relation, edge.key, edge.target_id, edge.dst_name)


def text_of(edge: Edge) -> str:
    """What is scored."""
    relation = edge.key if edge.relation == HAS_ATTRIBUTE else edge.relation
    text = f"{edge.src_name} {relation} {edge.dst_name}".replace("_", " ")
    return text + (f": {edge.description}" if edge.description else "")


@dataclass
class Step:
    """One way to one fact in one hop."""

    fact: str
    parent: str
    far: str
    chain: tuple[str, ...]
    covered: Any
    score: float
    fate: str = ""
    rank: int = 0
    bridge: bool = False
    degree: int = 0
    hop: int = 0
    edges: tuple[str, ...] = ()


@dataclass
class Walked:
    """Every hop's steps in the trace's order, how many facts each considered, and the result's facts."""

    hops: list[list[Step]] = field(default_factory=list)
    considered: list[int] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)


def walk(
    edges: Sequence[Edge],
    seeds: Sequence[str],
    coverage: Coverage,
    *,
    max_hops: int,
    beam: int,
    top_k: int,
    hub_limit: int,
    relations: Sequence[str] = (),
) -> Walked:
    """Hop by hop, every rule of the design once."""
    degree = {n: sum(n in (e.source_id, e.target_id) for e in edges) for e in edges for n in (e.source_id, e.target_id)}
    allowed = [e for e in edges if not relations or e.relation in relations or e.key in relations]
    visited, kept, frontier = set(seeds), set[str](), {s: ((), coverage.nothing(), None) for s in seeds}
    result = Walked()
    for number in range(1, max_hops + 1):
        if not frontier:
            break
        hubs = [n for n in frontier if number > 1 and degree[n] > hub_limit]
        around: dict[str, list[Edge]] = {}
        for e in sorted(allowed, key=lambda e: e.id):
            near = [n for n in (e.source_id, e.target_id) if n in frontier and n not in hubs]
            if near and fact_of(e) not in kept:
                around.setdefault(fact_of(e), []).append(e)
        steps: list[Step] = []
        for fact, said in around.items():
            alone = [float(coverage.score(coverage.of([text_of(e)])[0])) for e in said]
            best = said[alone.index(max(alone))]
            for parent, far in {(best.source_id, best.target_id), (best.target_id, best.source_id)}:
                if parent in frontier and parent not in hubs:
                    chain, covered, _ = frontier[parent]
                    covered = np.maximum(covered, coverage.of([text_of(best)])[0])
                    score = float(coverage.score(covered))
                    steps.append(
                        Step(fact, parent, far, (*chain, fact), covered, score, edges=tuple(e.id for e in said))
                    )
        steps.sort(key=lambda s: (-s.score, s.fact, s.parent))
        order: list[str] = []
        for step in steps:
            step.hop, step.bridge, step.degree = number, step.far in visited, degree[step.far]
            if step.fact in order:
                step.fate = "duplicate"
            else:
                order.append(step.fact)
                step.rank, step.fate = len(order), "kept" if len(order) <= beam else "beam_cut"
        kept_steps = [s for s in steps if s.fate == "kept"]
        hub_steps = [
            Step(**{**vars(frontier[n][2]), "hop": number, "fate": "hub", "rank": 0, "bridge": False}) for n in hubs
        ]
        result.hops.append([*kept_steps, *(s for s in steps if s.fate != "kept"), *hub_steps])
        result.considered.append(len(around))
        kept |= {s.fact for s in kept_steps}
        frontier = {}
        for step in kept_steps:
            if step.far not in visited and step.far not in frontier:
                frontier[step.far] = (step.chain, step.covered, step)
        visited |= set(frontier)
    _cut(result, top_k)
    return result


def _cut(walked: Walked, top_k: int) -> None:
    """By score over all hops, each fact with its chain; what does not fit is passed over."""
    kept = [s for hop in walked.hops for s in hop if s.fate == "kept"]
    for step in sorted(kept, key=lambda s: (-s.score, s.fact)):
        missing = [fact for fact in reversed(step.chain) if fact not in walked.facts]
        if len(walked.facts) + len(missing) <= top_k:
            walked.facts += missing
    for step in kept:
        if step.fact not in walked.facts:
            step.fate = "top_k_cut"
