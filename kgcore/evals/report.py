"""What a run over a gold set says: means, per number of hops and per type, a paired comparison; JSON and Markdown."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from kgcore.evals.metrics import FACTS_AT, FIGURES, Difference, Mean, difference, figures, mean_of
from kgcore.evals.run import Outcome

WARNINGS = 10
_OF_PASSAGES = ("passage_recall", "all_gold")
_SHOWN_AT = {"passage_recall": "passage_recall@5", "all_gold": "all_gold@8"}


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """A whole run: the name of its gold, what its graph holds, the settings, and what came of each question."""

    gold: str
    graph: Mapping[str, Any]
    settings: Mapping[str, Any]
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True, kw_only=True)
class Group:
    """Some questions, and the means of the figures (`metrics.FIGURES`) that they have gold for."""

    questions: int
    means: Mapping[str, Mean]


@dataclass(frozen=True, kw_only=True)
class Summary:
    """All questions of a run, those of each number of hops, and those of each type.

    `p50` and `p95` are milliseconds of a question. `warnings` are the ten most frequent, with how many questions each.
    """

    whole: Group
    hops: Mapping[int, Group]
    kinds: Mapping[str, Group]
    p50: float
    p95: float
    warnings: Mapping[str, int]


def summarize(evaluation: Evaluation) -> Summary:
    """The means of a run of at least one question. No depth is deeper than the first that holds its `top_k`."""
    outcomes, shown = evaluation.outcomes, within(evaluation.settings)
    hops = sorted({outcome.hops for outcome in outcomes if outcome.hops is not None})
    kinds = sorted({outcome.kind for outcome in outcomes if outcome.kind})
    p50, p95 = np.quantile([outcome.ms for outcome in outcomes], [0.5, 0.95]).tolist()
    warnings = Counter(warning for outcome in outcomes for warning in outcome.warnings)
    return Summary(
        whole=_group(outcomes, shown),
        hops={number: _group([o for o in outcomes if o.hops == number], shown) for number in hops},
        kinds={kind: _group([o for o in outcomes if o.kind == kind], shown) for kind in kinds},
        p50=round(p50, 1),
        p95=round(p95, 1),
        warnings=dict(warnings.most_common(WARNINGS)),
    )


def compare(before: Evaluation, after: Evaluation) -> dict[str, Difference]:
    """What each figure gained from one run to another over the same gold, question by question."""
    pairs = [(figures(a.ranks), figures(b.ranks)) for a, b in zip(before.outcomes, after.outcomes, strict=True)]
    shown = [name for name in within(before.settings) if name in within(after.settings)]
    found = {}
    for name in shown:
        both = [(a[name], b[name]) for a, b in pairs if name in a]
        if both:
            found[name] = difference([a for a, _ in both], [b for _, b in both])
    return found


def report_json(evaluation: Evaluation, against: Evaluation | None = None) -> str:
    """All figures and each question's ranks; with `against` the same of it, and what it gains. Shares in 0..1."""
    found = {"gold": evaluation.gold, "graph": evaluation.graph, **_as_dict(evaluation)}
    if against is not None:
        gained = compare(evaluation, against)
        found |= {"against": _as_dict(against), "gained": {name: asdict(gain) for name, gain in gained.items()}}
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def report_text(evaluation: Evaluation, against: Evaluation | None = None) -> str:
    """The figures of all questions, a line each, in per cent with their intervals."""
    head, *rows = _rows(evaluation, against)
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = [_title(evaluation, summarize(evaluation))]
    lines += [f"B: {_settings(against)}, {_speed(summarize(against))}"] if against is not None else []
    for first, *others in (head, *rows):
        cells = [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))]
        lines.append("  ".join(cells))
    return "\n".join(lines) + "\n"


def report_markdown(evaluation: Evaluation, against: Evaluation | None = None) -> str:
    """The same as a table, and one of each number of hops and each type, with one depth of a figure."""
    summary = summarize(evaluation)
    lines = [_title(evaluation, summary), ""]
    lines += [f"B: {_settings(against)}, {_speed(summarize(against))}", ""] if against is not None else []
    lines += _table(_rows(evaluation, against))
    groups = {f"{number} hop{'s' * (number > 1)}": group for number, group in summary.hops.items()}
    groups |= {_code(kind): group for kind, group in summary.kinds.items()}
    if groups:
        deepest = {name.partition("@")[0]: name for name in summary.whole.means}
        shown = [_SHOWN_AT.get(name, last) for name, last in deepest.items()]
        rows = [
            (name, str(group.questions), *(_with_interval(group.means.get(figure)) for figure in shown))
            for name, group in groups.items()
        ]
        lines += ["", *_table([("", "questions", *map(_label, shown)), *rows])]
    if summary.warnings:
        lines += ["", *(f"- {count} × {_code(warning)}" for warning, count in summary.warnings.items())]
    return "\n".join(lines) + "\n"


def within(settings: Mapping[str, Any]) -> list[str]:
    """The figures that a run of these settings can have: of facts none deeper than one that already holds `top_k`."""
    top_k = settings.get("top_k") or max(FACTS_AT)
    needless = tuple(f"@{k}" for k in FACTS_AT if any(top_k <= other < k for other in FACTS_AT))
    return [name for name in FIGURES if name.startswith(_OF_PASSAGES) or not name.endswith(needless)]


def _group(outcomes: Sequence[Outcome], shown: Iterable[str]) -> Group:
    found = [figures(outcome.ranks) for outcome in outcomes]
    values = {name: [row[name] for row in found if name in row] for name in shown}
    return Group(questions=len(found), means={name: mean_of(given) for name, given in values.items() if given})


def _as_dict(evaluation: Evaluation) -> dict[str, Any]:
    outcomes = [asdict(outcome) for outcome in evaluation.outcomes]
    return {"settings": evaluation.settings, **asdict(summarize(evaluation)), "questions": outcomes}


def _rows(evaluation: Evaluation, against: Evaluation | None) -> list[tuple[str, ...]]:
    """The heads of a table of the figures of all questions, and its rows."""
    means = summarize(evaluation).whole.means
    if against is None:
        rows = [
            (_label(name), _percent(mean.mean), _interval(mean), str(mean.questions)) for name, mean in means.items()
        ]
        return [("", "mean", "95 % interval", "questions"), *rows]
    others = summarize(against).whole.means
    gained = [
        (
            _label(name), _percent(means[name].mean), _percent(others[name].mean),
            _percent(gain.mean), _interval(gain), str(gain.better), str(gain.worse),
        )
        for name, gain in compare(evaluation, against).items()
    ]  # fmt: skip
    return [("", "A", "B", "B - A", "95 % interval", "better", "worse"), *gained]


def _title(evaluation: Evaluation, summary: Summary) -> str:
    count = f"{summary.whole.questions:,} question{'s' * (summary.whole.questions != 1)}"
    return f"{_code(evaluation.gold)}: {count}, {_settings(evaluation)}, {_speed(summary)}"


def _settings(evaluation: Evaluation) -> str:
    return ", ".join(f"{name}={value}" for name, value in evaluation.settings.items() if value is not None)


def _speed(summary: Summary) -> str:
    return f"{summary.p50:.0f} ms a question (p50)"


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    head, *others = [f"| {' | '.join(row)} |" for row in rows]
    return [head, f"|---|{'---:|' * (len(rows[0]) - 1)}", *others]


def _label(figure: str) -> str:
    return figure.replace("_", " ")


def _percent(share: float) -> str:
    return f"{round(100 * share, 1) + 0.0:.1f}"


def _interval(mean: Mean) -> str:
    return f"{_percent(mean.low)} to {_percent(mean.high)}"


def _with_interval(mean: Mean | None) -> str:
    return "" if mean is None else f"{_percent(mean.mean)} ({_interval(mean)})"


def _code(text: str) -> str:
    """A text of others as it is: no markup, one line, and no end of a table's cell."""
    seen = "".join(character if character.isprintable() else " " for character in text)
    return f"`{' '.join(seen.split()).replace('`', chr(39)).replace('|', chr(0xA6))}`"
