"""The walk: hop by hop with a beam, through visible edges only, keeping account of everything tried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kgcore.filters import AccessFilter
from kgcore.names import FUNCTION_WORDS, fold
from kgcore.retrieve.alias import find_aliases
from kgcore.retrieve.render import match_text, merge_edges
from kgcore.retrieve.score import DECIMALS, EXPLAINED, Array, Coverage
from kgcore.store.protocol import GraphReader
from kgcore.types import (
    Alias,
    Candidate,
    Edge,
    Expansion,
    Fate,
    Hop,
    Seed,
    Settings,
    Vector,
    VisibleEdge,
    Word,
)

SHORTLIST = 1_000
SHORTLIST_MARGIN = 200
CUT_SHOWN = 200


@dataclass(frozen=True, kw_only=True, eq=False)
class _Node:
    """A frontier entity, the best path that reached it, and what that path covers."""

    id: str
    name: str
    type: str
    chain: tuple[str, ...]
    covered: Array
    degree: int = 0
    reached_by: Candidate | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class _Option:
    """A fact of this hop before the beam: from `parent` to `far`."""

    fact_id: str
    parent: _Node
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


@dataclass(frozen=True, kw_only=True)
class Walk:
    """What the hops kept and cut, the question's words with the hop that explained each, and every fact looked at."""

    hops: tuple[Hop, ...]
    words: tuple[Word, ...]
    looked: Mapping[str, Looked]


@dataclass(kw_only=True)
class _Facts:
    """The facts of one hop: the best edge of each by what it covers alone, that coverage, and its edge at the frontier
    (another only for an attribute, whose documents have a value node each)."""

    edges: dict[str, list[VisibleEdge]] = field(default_factory=dict)
    best: dict[str, Edge] = field(default_factory=dict)
    at: dict[str, Edge] = field(default_factory=dict)
    covered: dict[str, Array] = field(default_factory=dict)
    alone: dict[str, float] = field(default_factory=dict)
    cosine: dict[str, float] = field(default_factory=dict)


def walk(
    reader: GraphReader,
    seeds: Sequence[Seed],
    filter: AccessFilter,
    settings: Settings,
    coverage: Coverage,
    vector: Vector | None,
) -> Walk:
    """Up to `settings.max_hops` hops from the seeds, one store call each. Raises StoreError.

    A fact is kept at most once, by its best path; a far end is entered once, by the best kept path that
    reaches it; seeds and visited nodes are not expanded again, nor after hop 1 nodes with more than
    `hub_limit` visible edges. With `settings.aliases` a hop starts from the aliases of what was reached too, each as if
    the path that reached the other had led there. Ties break by fact id.
    """
    named = coverage.of([seed.name for seed in seeds])
    frontier = [
        _Node(
            id=seed.entity_id,
            name=seed.name,
            type=seed.type,
            chain=(),
            covered=coverage.nothing(),
            degree=seed.degree,
        )
        for seed in seeds
    ]
    asked_for = [row for seed, row in zip(seeds, named, strict=True) if seed.found_by != "vector"]
    known = np.max([coverage.nothing(), *asked_for], axis=0)
    roots = {seed.entity_id: row for seed, row in zip(seeds, named, strict=True)}
    visited = {node.id for node in frontier}
    kept_ids: list[str] = []
    reached = [coverage.word_coverage(known)]
    looked: dict[str, Looked] = {}
    hops: list[Hop] = []
    for number in range(1, settings.max_hops + 1):
        if not frontier:
            break
        aliases = _aliases(reader, frontier, filter, settings, visited)
        for alias in aliases:
            node = next(node for node in frontier if node.id == alias.of_id)
            frontier.append(replace(node, id=alias.entity_id, name=alias.name, degree=alias.degree))
            visited.add(alias.entity_id)
            roots.setdefault(alias.entity_id, roots.get(alias.of_id, coverage.nothing()))
        hubs = [n for n in frontier if number > 1 and n.degree > settings.hub_limit]
        open_nodes = {n.id: n for n in frontier if number == 1 or n.degree <= settings.hub_limit}
        expansion = reader.expand(
            sorted(open_nodes),
            kept_ids,
            filter,
            vector,
            max(SHORTLIST, settings.beam_width + SHORTLIST_MARGIN),
            words=_words(coverage),
            relations=settings.relations,
        )
        facts = _facts(expansion, open_nodes, coverage, vector)
        looked |= _looked(facts)
        options, worse = _options(facts, open_nodes, coverage, settings.scoring)
        kept, cut = options[: settings.beam_width], options[settings.beam_width :]
        lost: list[tuple[_Option, Fate]] = [(o, "beam_cut") for o in cut] + [(o, "duplicate") for o in worse]
        lost.sort(key=lambda pair: _order(pair[0]))
        fates: list[tuple[_Option, Fate]] = [(o, "kept") for o in kept]
        ranks = {option.fact_id: rank for rank, option in enumerate(options, 1)}
        candidates = _candidates(fates + lost[:CUT_SHOWN], facts, expansion, coverage, roots, ranks, visited, number)
        before = known
        for option in kept:
            known = np.maximum(known, option.covered)
        hops.append(
            Hop(
                number=number,
                considered=expansion.found,
                left_out=expansion.found - len(facts.edges),
                kept=len(kept),
                cutoff=kept[-1].score if kept else 0.0,
                explains=coverage.explained(before[None], known[None])[0],
                candidates=(*candidates, *(_hub(node, number) for node in hubs)),
                aliases=aliases,
            )
        )
        reached.append(coverage.word_coverage(known))
        kept_ids += [option.fact_id for option in kept]
        frontier = _enter(kept, candidates, expansion, visited)
        visited |= {node.id for node in frontier}
    return Walk(hops=tuple(hops), words=_explained_words(coverage.words, reached), looked=looked)


def _aliases(
    reader: GraphReader, frontier: Sequence[_Node], filter: AccessFilter, settings: Settings, visited: set[str]
) -> tuple[Alias, ...]:
    if not settings.aliases:
        return ()
    reached = [(node.id, node.name, node.type) for node in frontier]
    return find_aliases(reader, reached, filter, visited, settings.hub_limit)


def _words(coverage: Coverage) -> list[str]:
    return sorted({fold(word.text) for word in coverage.words if len(word.text) > 2})


def _facts(expansion: Expansion, nodes: Mapping[str, _Node], coverage: Coverage, vector: Vector | None) -> _Facts:
    texts = [match_text(found.edge) for found in expansion.edges]
    covered = coverage.of(texts)
    alone = coverage.score(covered).tolist()
    facts = _Facts()
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


def _looked(facts: _Facts) -> dict[str, Looked]:
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


def _options(
    facts: _Facts, nodes: Mapping[str, _Node], coverage: Coverage, scoring: str
) -> tuple[list[_Option], list[_Option]]:
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
        _Option(fact_id=fact, parent=nodes[parent], far=far, covered=row, score=score)
        for (fact, parent, far), row, score in zip(pairs, covered, scores, strict=True)
    ]
    options.sort(key=_order)
    best: dict[str, _Option] = {}
    for option in options:
        best.setdefault(option.fact_id, option)
    first = list(best.values())
    taken = {id(option) for option in first}
    return first, [option for option in options if id(option) not in taken]


def _order(option: _Option) -> tuple[float, str, str]:
    return (-option.score, option.fact_id, option.parent.id)


def _candidates(
    fates: Sequence[tuple[_Option, Fate]],
    facts: _Facts,
    expansion: Expansion,
    coverage: Coverage,
    roots: Mapping[str, Array],
    ranks: Mapping[str, int],
    visited: set[str],
    number: int,
) -> list[Candidate]:
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


def _enter(
    kept: Sequence[_Option], candidates: Sequence[Candidate], expansion: Expansion, visited: set[str]
) -> list[_Node]:
    """The far ends not seen before, each by the best kept path that reaches it."""
    entered: dict[str, _Node] = {}
    for option, candidate in zip(kept, candidates, strict=False):
        if option.far in visited or option.far in entered:
            continue
        entered[option.far] = _Node(
            id=option.far,
            name=candidate.entity_name,
            type=expansion.ends[option.far].type,
            chain=candidate.chain,
            covered=option.covered,
            degree=expansion.ends[option.far].degree,
            reached_by=candidate,
        )
    return list(entered.values())


def _hub(node: _Node, number: int) -> Candidate:
    """The record of a node that was reached but not expanded."""
    assert node.reached_by is not None
    return replace(node.reached_by, hop=number, fate="hub", rank=0, gain=0.0, explains=(), bridge=False)


def _explained_words(words: Sequence[Word], reached: Sequence[Array]) -> tuple[Word, ...]:
    result = []
    for i, word in enumerate(words):
        hop = next((number for number, covered in enumerate(reached) if covered[i] >= EXPLAINED), None)
        hop = None if fold(word.text) in FUNCTION_WORDS else hop
        result.append(replace(word, hop=hop))
    return tuple(result)
