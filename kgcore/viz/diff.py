"""What another run changed: the settings that differ, the facts that entered the result and those that left."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kgcore.types import Candidate, Settings, Trace
from kgcore.viz.labels import cut, plain

_LABELS = {
    "max_hops": "Hops",
    "top_k": "Top k",
    "scoring": "Scoring",
    "seed_mode": "Seeds from",
    "hub_limit": "Hub limit",
    "aliases": "Aliases",
    "llm_filter": "LLM filter",
    "reranker": "Reranker",
}


@dataclass(frozen=True, kw_only=True)
class Diff:
    """`changes` names each setting that differs, `Hops 2→3`; `entered` and `left` are of the results' facts.

    `left` holds the candidates of the run `before`, in its order. `sides` names the two runs, the run `before` last,
    where neither came after the other.
    """

    before: Trace
    changes: tuple[str, ...]
    entered: frozenset[str]
    left: tuple[Candidate, ...]
    sides: tuple[str, str] | None = None

    @property
    def told_entered(self) -> str:
        """What a picture says of a fact or an entity that entered."""
        return f"only {self.sides[0]} finds it" if self.sides else "new in the result"

    @property
    def told_left(self) -> str:
        """What it says of a fact that left."""
        return f"only {self.sides[1]} finds it" if self.sides else "left the result"

    @property
    def summary(self) -> str:
        """`Hops 2→3, beam auto 10→6: +4 −2`."""
        counts = [f"+{len(self.entered)}"] * bool(self.entered) + [f"−{len(self.left)}"] * bool(self.left)
        what = ", ".join([*self.changes[:1], *(change[0].lower() + change[1:] for change in self.changes[1:])])
        return f"{what or 'Same settings'}: {' '.join(counts) or 'same facts'}"


def diff(before: Trace, after: Trace, sides: tuple[str, str] | None = None) -> Diff:
    """From one run to another, or of two `sides`. Facts are compared by identity, never by text."""
    old, new = set(before.result), set(after.result)
    by_id = {c.fact.id: c for hop in before.hops for c in hop.candidates if c.fate == "kept"}
    return Diff(
        before=before,
        changes=tuple(_changes(before, after)),
        entered=frozenset(new - old),
        left=tuple(by_id[fact_id] for fact_id in before.result if fact_id not in new),
        sides=sides,
    )


def _changes(before: Trace, after: Trace) -> Iterable[str]:
    a, b = before.settings, after.settings
    if before.question != after.question:
        yield f"Question “{cut(plain(before.question), 30)}”→“{cut(plain(after.question), 30)}”"
    if a.max_hops != b.max_hops:
        yield f"Hops {a.max_hops}→{b.max_hops}"
    if (a.beam_width, a.beam_auto) != (b.beam_width, b.beam_auto):
        yield f"Beam {_beam(a, b)}"
    for name in ("top_k", "scoring", "seed_mode", "hub_limit", "aliases", "llm_filter", "reranker"):
        old, new = getattr(a, name), getattr(b, name)
        if old != new:
            yield f"{_LABELS[name]} {_shown(old)}→{_shown(new)}"
    if {s.entity_id for s in before.seeds} != {s.entity_id for s in after.seeds}:
        yield f"Seeds {_counts(len(before.seeds), len(after.seeds))}"
    if a.relations != b.relations:
        yield f"Relations {_counts(len(a.relations) or 'all', len(b.relations) or 'all')}"
    if a.filters != b.filters:
        yield "Filter added" if not a.filters else "Filter changed" if b.filters else "Filter removed"


def _beam(a: Settings, b: Settings) -> str:
    if a.beam_auto and b.beam_auto:
        return f"auto {a.beam_width}→{b.beam_width}"
    return "→".join(f"auto {one.beam_width}" if one.beam_auto else str(one.beam_width) for one in (a, b))


def _counts(old: object, new: object) -> str:
    return "changed" if old == new else f"{old}→{new}"


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return "none" if value is None else plain(str(value))
