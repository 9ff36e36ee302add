"""What of a trace is drawn: the facts that the beams kept, and the best of those that they cut."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kgcore.types import KEPT_BY_BEAM, NO_NEW_WORDS, Alias, Candidate, Explained, Trace

NEAR_MISSES_A_HOP = 3


@dataclass(frozen=True, kw_only=True)
class Frontier:
    """`kept` in the order of the walk, `near` after it; a fact is in one of them once.

    `rank` gives a fact's place in the result, from 1. `hubs` are entities too connected to be walked through.
    `aliases` are those that a hop started from, by entity id.
    """

    kept: tuple[Candidate, ...]
    near: tuple[Candidate, ...]
    rank: Mapping[str, int]
    hubs: frozenset[str]
    aliases: Mapping[str, Alias]


def frontier(trace: Trace) -> Frontier:
    """The part of a trace that a person looks at."""
    candidates = [candidate for hop in trace.hops for candidate in hop.candidates]
    kept: dict[str, Candidate] = {}
    for candidate in candidates:
        if candidate.fate in KEPT_BY_BEAM:
            kept.setdefault(candidate.fact.id, candidate)
    near: dict[str, Candidate] = {}
    for hop in trace.hops:
        cut = (c for c in hop.candidates if c.fate == "beam_cut" and c.fact.id not in kept)
        for candidate in sorted(cut, key=lambda c: (c.rank, c.fact.id))[:NEAR_MISSES_A_HOP]:
            near.setdefault(candidate.fact.id, candidate)
    return Frontier(
        kept=tuple(kept.values()),
        near=tuple(near.values()),
        rank={fact_id: rank for rank, fact_id in enumerate(trace.result, start=1)},
        hubs=frozenset(c.entity_id for c in candidates if c.fate == "hub"),
        aliases={alias.entity_id: alias for hop in trace.hops for alias in hop.aliases},
    )


def new_words(candidate: Candidate, trace: Trace) -> list[str]:
    """The question's words that a candidate newly explains, the most telling first."""
    return words_of(candidate.explains, trace)


def telling_words(candidate: Candidate, trace: Trace) -> list[str]:
    """The same, none of a fact that adds next to nothing."""
    return new_words(candidate, trace) if candidate.gain >= NO_NEW_WORDS else []


def words_of(explained: Iterable[Explained], trace: Trace) -> list[str]:
    """The question's words that are explained, the most telling first."""
    by_gain = sorted(explained, key=lambda one: (-one.gain, one.word))
    return [trace.words[one.word].text for one in by_gain]
