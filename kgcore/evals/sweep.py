"""The same questions under many settings: what each setting comes to, and which are the best for their time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import median
from typing import Any

from kgcore.evals.gold import Gold
from kgcore.evals.metrics import FIGURES, figures
from kgcore.evals.run import Outcome, arguments_for, outcome_of
from kgcore.ingest.write import Progress
from kgcore.retrieve import KnowledgeGraphRetriever

EXPLAINED, FACTS = "explained", "facts"
SWEPT = (*FIGURES, EXPLAINED, FACTS)
"""What a sweep can show: the figures, and what needs no gold: the share of the question's words that the facts explain,
and the number of facts."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """What one of the settings comes to: a mean over `questions`, and the median of their milliseconds."""

    at: int
    value: float
    ms: float
    questions: int


def grid(axes: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Every combination of the values of these settings; the last setting changes fastest."""
    return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]


def sweep(
    retriever: KnowledgeGraphRetriever,
    golds: Sequence[Gold],
    settings: Sequence[Mapping[str, Any]],
    *,
    progress: Progress | None = None,
    tick: Callable[[], None] | None = None,
) -> Iterator[tuple[Outcome, ...]]:
    """For each question in order its outcome under each of the settings (`evaluate` gives those of one), with what
    settings share done once (`KnowledgeGraphRetriever.sweep`). Passages are looked for where there is gold for them.

    `progress(done, total, what)` is called after each question and `tick()` after each retrieval; what they raise stops
    the sweep. Raises ConfigError for a setting out of its bounds, StoreError.
    """
    for done, gold in enumerate(golds, 1):
        given = [arguments_for(gold, each) for each in settings]
        results = retriever.sweep(gold.question, given, passages=bool(gold.documents))
        row = []
        for result in results:
            row.append(outcome_of(gold, result, sum(result.timings.values())))
            if tick is not None:
                tick()
        yield tuple(row)
        if progress is not None:
            progress(done, len(golds), "asking")


def points(rows: Sequence[Sequence[Outcome]], name: str) -> list[Point]:
    """What each of the settings comes to by one of `SWEPT`, in their order; none without a question that has it."""
    found = []
    for at, outcomes in enumerate(zip(*rows, strict=True)):
        values = [value for value in (value_of(outcome, name) for outcome in outcomes) if value is not None]
        if values:
            mean, ms = sum(values) / len(values), median(outcome.ms for outcome in outcomes)
            found.append(Point(at=at, value=round(mean, 6), ms=round(ms, 3), questions=len(values)))
    return found


def value_of(outcome: Outcome, name: str) -> float | None:
    """One of `SWEPT` for one question; None without gold for it."""
    if name in (EXPLAINED, FACTS):
        return float(outcome.explained if name == EXPLAINED else outcome.facts)
    return figures(outcome.ranks).get(name)


def best(found: Sequence[Point]) -> Point | None:
    """The highest value; of equal ones the first."""
    return min(found, key=lambda point: (-point.value, point.at), default=None)


def front(found: Sequence[Point]) -> list[Point]:
    """The Pareto points, fastest first: for each there is no other that is at least as good and faster."""
    kept: list[Point] = []
    for point in sorted(found, key=lambda point: (point.ms, -point.value, point.at)):
        if not kept or point.value > kept[-1].value:
            kept.append(point)
    return kept
