"""A hop's candidates: each fact that it found by the best path to it, in order, and what the beam did with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kgcore.retrieve.render import match_text, merge_edges
from kgcore.retrieve.score import DECIMALS, Array, Coverage
from kgcore.types import Candidate, Edge, Expansion, Fate, Vector, VisibleEdge


@dataclass(frozen=True, kw_only=True, eq=False)
class Node:
    """A frontier entity, the best path that reached it, and what that path covers."""

    id: str
    name: str
    type: str
    chain: tuple[str, ...]
    covered: Array
    degree: int = 0
    reached_by: Candidate | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Option:
    """A fact of this hop before the beam: from `parent` to `far`."""

    fact_id: str
    parent: Node
    far: str
    covered: Array
    score: float


@dataclass(frozen=True, kw_only=True)
class Looked:
    """A fact that a hop looked at, whatever became of it: its ends, its passages, the words that it covers alone as a
    score, and the cosine of its best edge with the question, None without vectors."""

    source_id: str
    target_id: str
    passages: tuple[str, ...]
    score: float
    cosine: float | None


@dataclass(kw_only=True)
class Facts:
    """The facts of one hop: the best edge of each by what it covers alone, that coverage, and its edge at the frontier
    (another only for an attribute, whose documents have a value node each)."""

    edges: dict[str, list[VisibleEdge]] = field(default_factory=dict)
    best: dict[str, Edge] = field(default_factory=dict)
    at: dict[str, Edge] = field(default_factory=dict)
    covered: dict[str, Array] = field(default_factory=dict)
    alone: dict[str, float] = field(default_factory=dict)
    cosine: dict[str, float] = field(default_factory=dict)


def facts_of(expansion: Expansion, nodes: Mapping[str, Node], coverage: Coverage, vector: Vector | None) -> Facts:
    """The facts of what a hop found, each with the best of its edges."""
    texts = [match_text(found.edge) for found in expansion.edges]
    covered = coverage.of(texts)
    alone = coverage.score(covered).tolist()
    facts = Facts()
    chosen: dict[str, int] = {}
    for i, found in enumerate(expansion.edges):
        facts.edges.setdefault(found.fact_id, []).append(found)
        if found.fact_id not in chosen or alone[i] > alone[chosen[found.fact_id]]:
            chosen[found.fact_id] = i
        if found.score is not None and vector is not None:
            score = round(float(found.score), DECIMALS)
            facts.cosine[found.fact_id] = max(score, facts.cosine.get(found.fact_id, -1.0))
    for fact, i in chosen.items():
        best = expansion.edges[i].edge
        facts.best[fact] = best
        facts.covered[fact] = covered[i]
        facts.alone[fact] = alone[i]
        edges = [best, *(found.edge for found in facts.edges[fact])]
        facts.at[fact] = next((e for e in edges if e.source_id in nodes or e.target_id in nodes), best)
    return facts


def looked_at(facts: Facts) -> dict[str, Looked]:
    """What the hop keeps in mind of each fact, whatever becomes of it."""
    return {
        fact: Looked(
            source_id=at.source_id,
            target_id=at.target_id,
            passages=tuple(dict.fromkeys(e.edge.source_doc_id for e in facts.edges[fact] if e.edge.source_doc_id)),
            score=facts.alone[fact],
            cosine=facts.cosine.get(fact),
        )
        for fact, at in facts.at.items()
    }


def options_of(
    facts: Facts, nodes: Mapping[str, Node], coverage: Coverage, scoring: str
) -> tuple[list[Option], list[Option]]:
    """Each fact by its best path, in order; and the worse paths to the same facts."""
    pairs = [
        (fact, parent, far)
        for fact, edge in facts.at.items()
        for parent, far in dict.fromkeys(((edge.source_id, edge.target_id), (edge.target_id, edge.source_id)))
        if parent in nodes
    ]
    if not pairs:
        return [], []
    covered = np.maximum(
        np.array([facts.covered[fact] for fact, _, _ in pairs]),
        np.array([nodes[parent].covered for _, parent, _ in pairs]),
    )
    if scoring == "edge":
        scores = [facts.cosine.get(fact, -1.0) for fact, _, _ in pairs]
    else:
        scores = coverage.score(covered).tolist()
    options = [
        Option(fact_id=fact, parent=nodes[parent], far=far, covered=row, score=score)
        for (fact, parent, far), row, score in zip(pairs, covered, scores, strict=True)
    ]
    options.sort(key=by_score)
    best: dict[str, Option] = {}
    for option in options:
        best.setdefault(option.fact_id, option)
    first = list(best.values())
    taken = {id(option) for option in first}
    return first, [option for option in options if id(option) not in taken]


def by_score(option: Option) -> tuple[float, str, str]:
    """The order of options: best first, ties by fact id, then parent."""
    return (-option.score, option.fact_id, option.parent.id)


def candidates_of(
    fates: Sequence[tuple[Option, Fate]],
    facts: Facts,
    expansion: Expansion,
    coverage: Coverage,
    roots: Mapping[str, Array],
    ranks: Mapping[str, int],
    visited: set[str],
    number: int,
) -> list[Candidate]:
    """These options as candidates of the hop, with their fates."""
    if not fates:
        return []
    after = np.array([option.covered for option, _ in fates])
    before = np.array(
        [np.maximum(option.parent.covered, roots.get(option.parent.id, coverage.nothing())) for option, _ in fates]
    )
    gains = np.round(np.maximum(after - before, 0) @ coverage.weights, DECIMALS)
    explained = coverage.explained(before, after)
    result = []
    for (option, fate), gain, words in zip(fates, gains.tolist(), explained, strict=True):
        at = facts.at[option.fact_id]
        far_name = at.dst_name if option.far == at.target_id else at.src_name
        found = [visible.edge for visible in facts.edges[option.fact_id]]
        # The best edge's words, at the ends that were walked: an attribute's value has a node a document.
        best = facts.best[option.fact_id]
        if (best.source_id, best.target_id) != (at.source_id, at.target_id):
            best = replace(best, source_id=at.source_id, target_id=at.target_id)
        result.append(
            Candidate(
                hop=number,
                fact=merge_edges(option.fact_id, found, best, expansion.ends, number, option.score),
                parent_id=option.parent.id,
                parent_name=option.parent.name,
                entity_id=option.far,
                entity_name=far_name,
                chain=(*option.parent.chain, option.fact_id),
                score=option.score,
                rank=0 if fate == "duplicate" else ranks[option.fact_id],
                fate=fate,
                gain=gain,
                explains=words,
                degree=expansion.ends[option.far].degree,
                bridge=option.far in visited,
            )
        )
    return result


def hub_candidate(node: Node, number: int) -> Candidate:
    """The record of a node that was reached but not expanded."""
    assert node.reached_by is not None
    return replace(node.reached_by, hop=number, fate="hub", rank=0, gain=0.0, explains=(), bridge=False)
