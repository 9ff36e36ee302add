"""How good answers are: gold sets, figures with their intervals, comparisons."""

from kgcore.evals.gold import Gold, read_gold
from kgcore.evals.metrics import FIGURES, Difference, Mean
from kgcore.evals.report import (
    Evaluation,
    Group,
    Summary,
    compare,
    report_json,
    report_markdown,
    report_text,
    summarize,
    within,
)
from kgcore.evals.run import Outcome, arguments_for, evaluate, run_key
from kgcore.evals.sweep import SWEPT, Point, best, front, grid, points, sweep, value_of

__all__ = [
    "FIGURES",
    "SWEPT",
    "Difference",
    "Evaluation",
    "Gold",
    "Group",
    "Mean",
    "Outcome",
    "Point",
    "Summary",
    "arguments_for",
    "best",
    "compare",
    "evaluate",
    "front",
    "grid",
    "points",
    "read_gold",
    "report_json",
    "report_markdown",
    "report_text",
    "run_key",
    "summarize",
    "sweep",
    "value_of",
    "within",
]
