"""How much of a walk is drawn, and a sentence for what is left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from kgcore.types import Candidate, Seed, Trace
from kgcore.viz.aliases import Link, links_of
from kgcore.viz.diff import Diff
from kgcore.viz.frontier import Frontier, frontier
from kgcore.viz.labels import count

MAX_NODES = 2_000
MAX_EDGES = 5_000


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """The part of a walk that fits into a picture, in its order; `left` is of the run before.

    `links` are the aliases from which it goes on, by entity id. `left_out` says what does not fit and why, "" when all
    of it is there.
    """

    seeds: tuple[Seed, ...]
    kept: tuple[Candidate, ...]
    near: tuple[Candidate, ...]
    left: tuple[Candidate, ...]
    links: Mapping[str, Link]
    left_out: str


def drawn(trace: Trace, found: Frontier, diff: Diff | None = None) -> Drawn:
    """The result with its chains by rank, then what else the beams kept by score, then what left, then near misses.

    It ends at the first fact with which there would be more than `MAX_NODES` entities or `MAX_EDGES` facts. Of
    those that left the result, by `diff`, one that this walk holds is drawn as what it is here.
    """
    here = {candidate.fact.id for candidate in (*found.kept, *found.near)}
    gone = tuple(candidate for candidate in (diff.left if diff else ()) if candidate.fact.id not in here)
    seeds = trace.seeds[:MAX_NODES]
    fits = _what_fits({seed.entity_id for seed in seeds}, _in_order(trace, found, gone))
    kept, near, gone = (
        tuple(candidate for candidate in group if candidate.fact.id in fits) for group in (found.kept, found.near, gone)
    )
    facts = len(found.kept) + len(found.near)
    missing = facts - len(kept) - len(near)
    nodes = {seed.entity_id for seed in seeds} | {end for c in (*kept, *near, *gone) for end in _ends(c)}
    before = frontier(diff.before).aliases if diff else {}
    return Drawn(
        seeds=seeds,
        kept=kept,
        near=near,
        left=gone,
        links=links_of(gone, before, nodes, left=True) | links_of((*kept, *near), found.aliases, nodes, left=False),
        left_out=_sentence(missing, facts) if missing else "",
    )


def _in_order(trace: Trace, found: Frontier, gone: Iterable[Candidate]) -> Iterator[list[Candidate]]:
    """Each fact with the chain that leads to it, the most telling first."""
    kept = {candidate.fact.id: candidate for candidate in found.kept}
    others = sorted(found.kept, key=lambda c: (-c.score, c.hop, c.fact.id))
    in_result = (kept[fact_id] for fact_id in trace.result if fact_id in kept)
    for candidate in (*in_result, *others):
        yield [kept[fact_id] for fact_id in candidate.chain if fact_id in kept]
    for candidate in (*gone, *found.near):
        yield [*(kept[fact_id] for fact_id in candidate.chain if fact_id in kept), candidate]


def _what_fits(nodes: set[str], in_order: Iterable[list[Candidate]]) -> set[str]:
    facts: set[str] = set()
    for chain in in_order:
        more = {candidate.fact.id for candidate in chain} - facts
        ends = {end for candidate in chain for end in _ends(candidate)} - nodes
        if len(facts) + len(more) > MAX_EDGES or len(nodes) + len(ends) > MAX_NODES:
            break
        facts |= more
        nodes |= ends
    return facts


def _ends(candidate: Candidate) -> tuple[str, str]:
    return candidate.parent_id, candidate.entity_id


def _sentence(missing: int, facts: int) -> str:
    return (
        f"{missing:,} of {count(facts, 'fact')} are not drawn, the lowest in rank: a picture of more than "
        f"{MAX_NODES:,} entities or {MAX_EDGES:,} facts is too slow to move in. The list has them all."
    )
