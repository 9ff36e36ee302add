"""A retrieval as JSON for the page's components: the beam frontier as a graph, the evidence beside it."""

from kgcore.viz.diff import Diff, diff
from kgcore.viz.evidence import evidence_payload
from kgcore.viz.explored import explored_payload, laid_out
from kgcore.viz.graph import graph_payload, network
from kgcore.viz.html import html_of
from kgcore.viz.labels import count, cut, plain
from kgcore.viz.layout import Layout
from kgcore.viz.shared import run_payload

__all__ = [
    "Diff",
    "Layout",
    "count",
    "cut",
    "diff",
    "evidence_payload",
    "explored_payload",
    "graph_payload",
    "html_of",
    "laid_out",
    "network",
    "plain",
    "run_payload",
]
