"""A run walked again under other settings, to see what it would keep."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kgcore.errors import ModelError
from kgcore.filters import AccessFilter
from kgcore.retrieve.asking import Asking
from kgcore.retrieve.llm_filter import READ
from kgcore.types import KEPT_BY_BEAM, Candidate, Settings, Trace

WIDEST = 800
"""The widest beam that is tried: the widest whose shortlist is that of every narrower one."""
WIDTHS = (*range(1, 17), 24, 32, 48, 64, 96, 128, 200, 400, WIDEST)
"""The widths that are tried one after another."""
_HALVINGS = 7
"""How often, at most, the gap between a width that does not keep something and one that does is halved."""
_FINE = 200
"""Widths up to which it is halved: wider walks cost more than a nearer number is worth."""

Tick = Callable[[], None]


@dataclass(frozen=True, kw_only=True)
class Target:
    """An entity, or one fact of it. `facts` are those that an attribute's value node asserts with other documents'."""

    entity_id: str
    fact_id: str | None = None
    facts: frozenset[str] = frozenset()

    def is_in(self, candidate: Candidate) -> bool:
        """Whether a candidate is the fact, or one of the entity's."""
        fact = candidate.fact
        if self.fact_id is not None:
            return fact.id == self.fact_id
        return fact.id in self.facts or self.entity_id in (fact.source_id, fact.target_id)

    def kept_in(self, trace: Trace) -> Candidate | None:
        """The best candidate of it that a beam kept."""
        return self._best(trace, KEPT_BY_BEAM)

    def best_in(self, trace: Trace) -> Candidate | None:
        """What the trace says of it: of those kept the best, else of those cut by the beam, else by a model."""
        ways = (("kept",), KEPT_BY_BEAM, ("beam_cut",), ("llm_cut",))
        return next((found for fates in ways if (found := self._best(trace, fates))), None)

    def _best(self, trace: Trace, fates: Sequence[str]) -> Candidate | None:
        found = [c for hop in trace.hops for c in hop.candidates if c.fate in fates and self.is_in(c)]
        return min(found, key=lambda c: (c.hop, c.rank, c.fact.id), default=None)


@dataclass(frozen=True, kw_only=True)
class Walked:
    """A walk until it kept the target, else whole."""

    trace: Trace
    kept: Candidate | None

    @property
    def cut_nothing(self) -> bool:
        """Whether a wider beam is the same."""
        return all(hop.kept == hop.considered - hop.left_out for hop in self.trace.hops)

    def way(self) -> tuple[Candidate, ...]:
        """The kept candidates on the way to the target, it last."""
        kept = {c.fact.id: c for hop in self.trace.hops for c in hop.candidates if c.fate in KEPT_BY_BEAM}
        return tuple(kept[fact_id] for fact_id in self.kept.chain) if self.kept else ()


@dataclass(frozen=True, kw_only=True)
class Width:
    """A width that keeps the target, None if none was found, and all that were tried, rising.

    `smallest` says that no narrower one keeps it. A beam that is wider brings rivals too, so a width says nothing of
    those between, but for the hop from the seeds.
    """

    width: int | None
    kept: Candidate | None
    tried: tuple[int, ...]
    smallest: bool


class Unread(Exception):
    """A hop was reached whose candidates no chat model was given in the run."""


@dataclass(frozen=True, kw_only=True)
class Remembered:
    """What a chat model let pass in a run: it is not asked again."""

    trace: Trace

    def passed(self, facts: Mapping[str, str], hop: int) -> set[str]:
        """As in the run. Raises Unread where the hop was given others, ModelError where the model failed."""
        candidates = self.trace.hops[hop - 1].candidates if hop <= len(self.trace.hops) else ()
        read = {c.fact.id: c.fate for c in candidates if 0 < c.rank <= READ}
        if read.keys() != facts.keys():
            raise Unread
        if all(c.fate != "llm_cut" for c in candidates):
            raise ModelError("It failed, or let all of them pass: the beam's order stands.", remedy="")
        return {fact_id for fact_id, fate in read.items() if fate != "llm_cut"}


@dataclass(frozen=True, kw_only=True)
class Again:
    """The run of these settings. `tick` is called before each hop; what it raises ends the walk."""

    asking: Asking
    settings: Settings
    target: Target
    tick: Tick

    def walk(self, filter: AccessFilter, **changed: Any) -> Walked:
        """With these settings changed. Raises StoreError, and Unread with a chat model's filter."""
        settings = replace(self.settings, **changed)
        try:
            for hops in range(1, settings.max_hops + 1):
                self.tick()
                trace = self.asking.run(replace(settings, max_hops=hops), filter, None, passages=False).trace
                kept = self.target.kept_in(trace)
                if kept is not None or len(trace.hops) < hops:
                    break
        finally:
            self.asking.forget()
        return Walked(trace=trace, kept=kept)

    def widest(self, filter: AccessFilter, **changed: Any) -> Walked:
        """The widest walk, without a chat model's filter, with these settings changed."""
        return self.walk(filter, **{"beam_width": WIDEST, "llm_filter": False, **changed})

    def width(self, filter: AccessFilter, widest: Walked | None = None) -> Width:
        """The smallest width that keeps the target, or one near it. `widest` is that walk, if it was walked. Raises
        StoreError."""
        tried: list[int] = []
        one_hop = self.settings.max_hops == 1
        low, found = 0, None
        for width in (WIDEST,) if one_hop else WIDTHS:
            walked = self._walk_at(filter, width, tried, widest if width == WIDEST else None)
            if walked is not None and walked.kept is not None:
                found = _enters_at(width, walked.kept)
                break
            if walked is not None and walked.cut_nothing:
                break
            low = width
        for _ in range(0 if one_hop else _HALVINGS):
            if found is None or found[0] > _FINE or found[0] - low <= 1:
                break
            middle = (low + found[0]) // 2
            walked = self._walk_at(filter, middle, tried)
            if walked is not None and walked.kept is not None:
                found = _enters_at(middle, walked.kept)
            else:
                low = middle
        if found is None:
            return Width(width=None, kept=None, tried=tuple(sorted(tried)), smallest=False)
        smallest = one_hop or {*range(1, found[0])} <= {*tried}
        return Width(width=found[0], kept=found[1], tried=tuple(sorted(tried)), smallest=smallest)

    def _walk_at(
        self, filter: AccessFilter, width: int, tried: list[int], known: Walked | None = None
    ) -> Walked | None:
        """The walk of a width; None where only a chat model could tell."""
        try:
            walked = known or self.walk(filter, beam_width=width)
        except Unread:
            return None
        tried.append(width)
        return walked


def _enters_at(width: int, kept: Candidate) -> tuple[int, Candidate]:
    """The width from which on a candidate is kept: what the hop from the seeds ranks is the same for all."""
    return (kept.rank if kept.hop == 1 else width), kept
