"""A retrieval as JSON for the page's components: the beam frontier as a graph, the evidence beside it."""

from kgcore.viz.diff import Diff, diff
from kgcore.viz.evidence import evidence_payload
from kgcore.viz.graph import graph_payload, network
from kgcore.viz.labels import count, cut, plain
from kgcore.viz.layout import Layout

__all__ = ["Diff", "Layout", "count", "cut", "diff", "evidence_payload", "graph_payload", "network", "plain"]
