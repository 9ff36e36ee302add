"""The walk: hop by hop with a beam, through visible edges only, keeping account of everything tried."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np

from kgcore.errors import ModelError
from kgcore.filters import AccessFilter
from kgcore.names import FUNCTION_WORDS, fold
from kgcore.retrieve.alias import find_aliases
from kgcore.retrieve.beam import (
    Facts,
    Looked,
    Node,
    Option,
    by_score,
    candidates_of,
    facts_of,
    hub_candidate,
    looked_at,
    options_of,
)
from kgcore.retrieve.llm_filter import READ, FactFilter
from kgcore.retrieve.render import match_text
from kgcore.retrieve.score import EXPLAINED, Array, Coverage
from kgcore.store.protocol import GraphReader
from kgcore.types import (
    Alias,
    Candidate,
    Expansion,
    Fate,
    Hop,
    Seed,
    Settings,
    Vector,
    Word,
)

SHORTLIST = 1_000
SHORTLIST_MARGIN = 200
CUT_SHOWN = 200


@dataclass(frozen=True, kw_only=True)
class Look:
    """What a hop found before the beam. It follows from what the hops before kept, whatever the beam's width.

    `passed` is how many of the first options may be kept: all, unless a chat model's filter let fewer pass. `ms` is how
    long it took beside covering texts.
    """

    aliases: tuple[Alias, ...]
    hubs: Sequence[Node]
    expansion: Expansion
    facts: Facts
    options: Sequence[Option]
    worse: Sequence[Option]
    passed: int
    warnings: tuple[str, ...]
    ms: float


Looks = dict[tuple[int, tuple[tuple[str, ...], ...]], Look]
"""By the shortlist's length and the facts that each hop before kept."""


@dataclass(frozen=True, kw_only=True)
class Walk:
    """What the hops kept and cut, the question's words with the hop that explained each, and every fact looked at.

    `texts` are those that it covered, `saved` the milliseconds of looks that another walk had looked before.
    """

    hops: tuple[Hop, ...]
    words: tuple[Word, ...]
    looked: Mapping[str, Looked]
    texts: frozenset[str]
    warnings: tuple[str, ...] = ()
    saved: float = 0.0


def walk(
    reader: GraphReader,
    seeds: Sequence[Seed],
    filter: AccessFilter,
    settings: Settings,
    coverage: Coverage,
    vector: Vector | None,
    looks: Looks | None = None,
    llm_filter: FactFilter | None = None,
) -> Iterator[Walk]:
    """The walk as it stands after each hop from the seeds, one store call each, for as long as there is something to
    walk on from; at least one, without hops where there is no seed. Raises StoreError.

    A fact is kept at most once, by its best path; a far end is entered once, by the best kept path that
    reaches it; seeds and visited nodes are not expanded again, nor after hop 1 nodes with more than
    `hub_limit` visible edges. With `settings.aliases` a hop starts from the aliases of what was reached too, each as if
    the path that reached the other had led there. Ties break by fact id.

    `llm_filter` reads the best of each hop, and only what it lets pass is kept; if it fails, the beam's order stands
    and a warning says so. `looks` remembers what hops looked at, between walks that differ in nothing but how many hops
    and how wide.
    """
    looks = {} if looks is None else looks
    limit = max(SHORTLIST, settings.beam_width + SHORTLIST_MARGIN)
    named = coverage.of([seed.name for seed in seeds])
    roots = {seed.entity_id: row for seed, row in zip(seeds, named, strict=True)}
    frontier = [
        Node(id=s.entity_id, name=s.name, type=s.type, chain=(), covered=coverage.nothing(), degree=s.degree)
        for s in seeds
    ]
    asked_for = [row for seed, row in zip(seeds, named, strict=True) if seed.found_by != "vector"]
    known = np.max([coverage.nothing(), *asked_for], axis=0)
    visited = {node.id for node in frontier}
    kept_ids: tuple[tuple[str, ...], ...] = ()
    reached = [coverage.word_coverage(known)]
    so_far = Walk(
        hops=(),
        words=_explained_words(coverage.words, reached),
        looked={},
        texts=frozenset(seed.name for seed in seeds),
    )
    if not frontier:
        yield so_far
    while frontier:
        number = len(so_far.hops) + 1
        known_look = (limit, kept_ids) in looks
        if not known_look:
            looks[limit, kept_ids] = _look(
                reader, frontier, kept_ids, filter, settings, coverage, vector, limit, visited, llm_filter
            )
        look = looks[limit, kept_ids]
        for alias in look.aliases:
            visited.add(alias.entity_id)
            roots.setdefault(alias.entity_id, roots.get(alias.of_id, coverage.nothing()))
        facts, expansion = look.facts, look.expansion
        kept = look.options[: min(settings.beam_width, look.passed)]
        lost: list[tuple[Option, Fate]] = [(o, "beam_cut") for o in look.options[len(kept) : look.passed]]
        lost += [(o, "llm_cut") for o in look.options[look.passed :]] + [(o, "duplicate") for o in look.worse]
        lost.sort(key=lambda pair: by_score(pair[0]))
        fates: list[tuple[Option, Fate]] = [(o, "kept") for o in kept]
        ranks = {option.fact_id: rank for rank, option in enumerate(look.options, 1)}
        candidates = candidates_of(fates + lost[:CUT_SHOWN], facts, expansion, coverage, roots, ranks, visited, number)
        before = known
        for option in kept:
            known = np.maximum(known, option.covered)
        hop = Hop(
            number=number,
            considered=expansion.found,
            left_out=expansion.found - len(facts.edges),
            kept=len(kept),
            cutoff=kept[-1].score if kept else 0.0,
            explains=coverage.explained(before[None], known[None])[0],
            candidates=(*candidates, *(hub_candidate(node, number) for node in look.hubs)),
            aliases=look.aliases,
        )
        reached.append(coverage.word_coverage(known))
        kept_ids = (*kept_ids, tuple(option.fact_id for option in kept))
        frontier = _enter(kept, candidates, expansion, visited)
        visited |= {node.id for node in frontier}
        so_far = Walk(
            hops=(*so_far.hops, hop),
            words=_explained_words(coverage.words, reached),
            looked={**so_far.looked, **looked_at(facts)},
            texts=so_far.texts.union(match_text(found.edge) for found in expansion.edges),
            warnings=(*so_far.warnings, *look.warnings),
            saved=so_far.saved + look.ms * known_look,
        )
        yield so_far


def _look(
    reader: GraphReader,
    frontier: Sequence[Node],
    kept_ids: Sequence[Sequence[str]],
    filter: AccessFilter,
    settings: Settings,
    coverage: Coverage,
    vector: Vector | None,
    limit: int,
    visited: Set[str],
    llm_filter: FactFilter | None,
) -> Look:
    began, covering = time.perf_counter(), coverage.ms
    aliases: tuple[Alias, ...] = ()
    if settings.aliases:
        reached = [(node.id, node.name, node.type) for node in frontier]
        aliases = find_aliases(reader, reached, filter, visited, settings.hub_limit)
    nodes = {node.id: node for node in frontier}
    for alias in aliases:
        of = nodes[alias.of_id]
        nodes[alias.entity_id] = replace(of, id=alias.entity_id, name=alias.name, degree=alias.degree)
    hubs = [n for n in nodes.values() if kept_ids and n.degree > settings.hub_limit]
    open_nodes = {id_: node for id_, node in nodes.items() if node not in hubs}
    expansion = reader.expand(
        sorted(open_nodes),
        [id_ for ids in kept_ids for id_ in ids],
        filter,
        vector,
        limit,
        words=_words(coverage),
        relations=settings.relations,
    )
    facts = facts_of(expansion, open_nodes, coverage, vector)
    options, worse = options_of(facts, open_nodes, coverage, settings.scoring)
    passed, warnings = len(options), tuple[str, ...]()
    if llm_filter is not None and options:
        try:
            options, passed = _pass(options, facts, llm_filter, len(kept_ids) + 1)
        except ModelError as error:
            warnings = (f"The chat model's filter failed at hop {len(kept_ids) + 1}: the beam's order stands. {error}",)
    ms = (time.perf_counter() - began) * 1000 - (coverage.ms - covering)
    return Look(
        aliases=aliases,
        hubs=hubs,
        expansion=expansion,
        facts=facts,
        options=options,
        worse=worse,
        passed=passed,
        warnings=warnings,
        ms=ms,
    )


def _pass(options: Sequence[Option], facts: Facts, llm_filter: FactFilter, hop: int) -> tuple[list[Option], int]:
    """The options, those first that the filter lets pass, and how many these are."""
    passed = llm_filter.passed({o.fact_id: match_text(facts.best[o.fact_id]) for o in options[:READ]}, hop)
    first = [option for option in options if option.fact_id in passed]
    return first + [option for option in options if option.fact_id not in passed], len(first)


def _words(coverage: Coverage) -> list[str]:
    return sorted({fold(word.text) for word in coverage.words if len(word.text) > 2})


def _enter(
    kept: Sequence[Option], candidates: Sequence[Candidate], expansion: Expansion, visited: set[str]
) -> list[Node]:
    """The far ends not seen before, each by the best kept path that reaches it."""
    entered: dict[str, Node] = {}
    for option, candidate in zip(kept, candidates, strict=False):
        if option.far in visited or option.far in entered:
            continue
        entered[option.far] = Node(
            id=option.far,
            name=candidate.entity_name,
            type=expansion.ends[option.far].type,
            chain=candidate.chain,
            covered=option.covered,
            degree=expansion.ends[option.far].degree,
            reached_by=candidate,
        )
    return list(entered.values())


def _explained_words(words: Sequence[Word], reached: Sequence[Array]) -> tuple[Word, ...]:
    result = []
    for i, word in enumerate(words):
        hop = next((number for number, covered in enumerate(reached) if covered[i] >= EXPLAINED), None)
        hop = None if fold(word.text) in FUNCTION_WORDS else hop
        result.append(replace(word, hop=hop))
    return tuple(result)
