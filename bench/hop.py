"""One hop from a hub, in the store and in numpy: `python -m bench.hop [--edges N] [--hub N] [--file PATH]`.

The same work in both, with another question every round, so that neither remembers the answer: under a locked
filter, the visible edges at the node, their cosine with the question, the best 1,000 facts, their far ends' visible
degrees, and all of it as the same Python objects. numpy holds the whole graph in memory (edge arrays, an index of
half-edges by node, a mask of allowed documents); the store reads one file.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from bench.graph import Arrays, edge, load, make, principals
from kgcore import AccessFilter, Edge
from kgcore.names import fact_id
from kgcore.types import End, Expansion, Vector, VisibleEdge

LIMIT = 1_000
PRINCIPAL = "group:public"
LOCKED = {"field": "allowed_principals", "operator": "contains_any", "value": [PRINCIPAL]}


class NumpyGraph:
    """The graph in memory, and one hop over it."""

    def __init__(self, arrays: Arrays) -> None:
        edges = len(arrays.source)
        self.arrays = arrays
        near = np.concatenate([arrays.source, arrays.target])
        order = np.argsort(near, kind="stable")
        self.edge = (order % edges).astype(np.int32)
        self.start = np.searchsorted(near[order], np.arange(arrays.nodes + 1))
        documents = [principals(i) for i in range(int(arrays.document.max()) + 1)]
        self.allowed = {
            None: np.ones(len(documents), bool),
            PRINCIPAL: np.array([PRINCIPAL in p for p in documents]),
        }

    def expand(self, nodes: list[int], principal: str | None, vector: Vector) -> Expansion:
        a, allowed = self.arrays, self.allowed[principal]
        edges = np.unique(np.concatenate([self.edge[self.start[n] : self.start[n + 1]] for n in nodes]))
        edges = edges[allowed[a.document[edges]]]
        scores = a.vectors[edges] @ vector
        best = np.argpartition(-scores, LIMIT)[:LIMIT] if len(scores) > LIMIT else np.arange(len(scores))
        visible = [
            VisibleEdge(edge=(shown := edge(a, int(edges[i]))), fact_id=_fact(shown), score=float(scores[i]))
            for i in best
        ]
        ends = {}
        for node in {int(n) for i in best for n in (a.source[edges[i]], a.target[edges[i]])}:
            at = self.edge[self.start[node] : self.start[node + 1]]
            degree = int(allowed[a.document[at]].sum())
            ends[f"n{node}"] = End(id=f"n{node}", name=f"Thing number {node}", type="Thing", degree=degree)
        visible.sort(key=lambda v: (v.fact_id, v.edge.id))
        return Expansion(edges=tuple(visible), ends=ends, found=len(edges))


def main(
    edges: Annotated[int, typer.Option(help="Edges of the graph.")] = 500_000,
    hub: Annotated[int, typer.Option(help="Edges at the hub.")] = 50_000,
    file: Annotated[Path | None, typer.Option(help="Keep the graph here and use it again.")] = None,
    rounds: Annotated[int, typer.Option(help="Timed rounds a case.")] = 25,
) -> None:
    """Prints a hop's milliseconds in the store and in numpy, and their ratio."""
    with tempfile.TemporaryDirectory() as folder:
        arrays = make(edges, hub)
        path = file or Path(folder) / "bench.duckdb"
        began = time.perf_counter()
        store = load(path, arrays)
        print(f"{edges:,} edges x 384, hub of {hub:,}: {path.stat().st_size / 1e9:.2f} GB, ", end="")
        print(f"ready in {time.perf_counter() - began:.0f} s")
        memory = NumpyGraph(arrays)
        small = [int(n) for n in np.random.default_rng(3).integers(1, arrays.nodes, 20)]
        print(f"{'case':<34}{'store p50':>10}{'min':>8}{'numpy p50':>11}{'min':>8}{'ratio p50':>11}")
        for name, nodes in (("hub", [0]), ("one small node", small[:1]), ("twenty small nodes", small)):
            for principal in (None, PRINCIPAL):
                filter = AccessFilter.of(LOCKED if principal else None)
                ids = [f"n{n}" for n in nodes]
                a, b = _times(
                    lambda q, ids=ids, filter=filter: store.expand(ids, [], filter, q, LIMIT),
                    lambda q, nodes=nodes, p=principal: memory.expand(nodes, p, q),
                    arrays.vectors[:: len(arrays.vectors) // rounds][:rounds],
                )
                label = f"{name}{', locked filter' if principal else ''}"
                ratio = statistics.median(a) / statistics.median(b)
                print(f"{label:<34}{statistics.median(a):>10.1f}{min(a):>8.1f}", end="")
                print(f"{statistics.median(b):>11.1f}{min(b):>8.1f}{ratio:>11.2f}")
        store.close()


def _times(
    ours: Callable[[Vector], Expansion], theirs: Callable[[Vector], Expansion], questions: Sequence[Vector]
) -> tuple[list[float], list[float]]:
    """Milliseconds of both, taken in turn so that the machine's moods meet both; the answers must be the same."""
    times: tuple[list[float], list[float]] = ([], [])
    for question in questions:
        answers = []
        for call, taken in zip((ours, theirs), times, strict=True):
            began = time.perf_counter()
            answers.append(call(question))
            taken.append((time.perf_counter() - began) * 1000)
        _same(*answers)
    return times


def _same(ours: Expansion, theirs: Expansion) -> None:
    """The same facts, but for those that tie at the cut."""
    assert ours.found == theirs.found
    cut = min((v.score or 0.0 for v in theirs.edges), default=0.0) + 1e-5
    clear = [[v.edge for v in hop.edges if (v.score or 0.0) > cut] for hop in (ours, theirs)]
    assert clear[0] == clear[1]
    assert all(ours.ends[id_] == end for id_, end in theirs.ends.items() if id_ in ours.ends)


def _fact(shown: Edge) -> str:
    return fact_id(shown.source_id, shown.relation, shown.key, shown.target_id, shown.dst_name)


if __name__ == "__main__":
    typer.run(main)
