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
)
from kgcore.evals.run import Outcome, evaluate, run_key

__all__ = [
    "FIGURES",
    "Difference",
    "Evaluation",
    "Gold",
    "Group",
    "Mean",
    "Outcome",
    "Summary",
    "compare",
    "evaluate",
    "read_gold",
    "report_json",
    "report_markdown",
    "report_text",
    "run_key",
    "summarize",
]
