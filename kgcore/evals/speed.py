"""How fast a DuckDB file answers: seeds, a hop beside the same in numpy, whole retrieves, passages, memory, size.

A seeded synthetic graph (`synthetic.py`) is written once. A fresh process asks it, so that its memory is that of
asking; then a hop is timed in turn with numpy, which holds the whole graph in memory (edge arrays, half-edges by node,
a mask of allowed documents) and must give the same facts, far ends and degrees as the same objects.
"""

from __future__ import annotations

import multiprocessing
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from kgcore.errors import ConfigError
from kgcore.evals.synthetic import PUBLIC, Arrays, edge, fill, make, name_of, principals, questions
from kgcore.filters import AccessFilter
from kgcore.models.offline import OfflineEmbedder
from kgcore.names import fact_id
from kgcore.retrieve import KnowledgeGraphRetriever
from kgcore.store import open_store
from kgcore.types import End, Expansion, Vector, VisibleEdge

SHORTLIST = 1_000
LOCKED = {"field": "allowed_principals", "operator": "contains_any", "value": [PUBLIC]}
HOPS, WIDTH, TOP_K = 3, 15, 45
TOGETHER = 500_000
"""Edges written in one transaction: more of them, with their vectors, would fill the memory."""


@dataclass(frozen=True, kw_only=True)
class Timing:
    """Milliseconds of one case: the median and the 95th percentile of all rounds; the median of numpy's, if any."""

    case: str
    p50: float
    p95: float
    numpy: float | None = None

    @property
    def ratio(self) -> float | None:
        """The store's median over numpy's."""
        return None if self.numpy is None else self.p50 / self.numpy


@dataclass(frozen=True, kw_only=True)
class Speed:
    """What was measured on a graph of one size. `memory` is the peak of the process that asked; both in bytes."""

    edges: int
    hub: int
    passages: int
    size: int
    memory: int
    timings: tuple[Timing, ...]


def measure(folder: Path, *, edges: int, hub: int, passages: int, rounds: int) -> Speed:
    """Measures on the graph of this size in `folder`, which is written there unless it is there.

    Raises ConfigError for numbers that make no graph.
    """
    if edges < 100 or not 0 <= hub <= edges // 2 or passages < 1 or rounds < 2:
        raise ConfigError(
            "There is no such graph to measure on.",
            remedy="Give at least 100 edges, a hub of at most half of them, a passage and two rounds.",
        )
    arrays = make(edges, hub, passages)
    path = folder / f"bench-{edges}-{hub}-{passages}.duckdb"
    _write(path, arrays)
    asked = questions(arrays, rounds)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as other:
        whole, memory = other.submit(_ask, path, asked).result()
    timings = (*whole, *_hops(path, arrays, rounds))
    return Speed(edges=edges, hub=hub, passages=passages, size=path.stat().st_size, memory=memory, timings=timings)


def report(speeds: Sequence[Speed]) -> str:
    """The measurements as Markdown tables: milliseconds by case and size, then how a hop grows from first to last."""
    heads = [f"{speed.edges:,} edges" for speed in speeds]
    lines = [f"| p50 (p95) in ms | {' | '.join(heads)} |", f"|---|{'---|' * len(heads)}"]
    for row in zip(*(speed.timings for speed in speeds), strict=True):
        lines.append(f"| {row[0].case} | {' | '.join(_cell(timing) for timing in row)} |")
    lines.append(f"| file | {' | '.join(f'{speed.size / 1e9:.2f} GB' for speed in speeds)} |")
    lines.append(f"| memory of the process that asks | {' | '.join(f'{s.memory / 1e9:.2f} GB' for s in speeds)} |")
    if len(speeds) > 1:
        first, last = speeds[0], speeds[-1]
        growth = [f"{a.case} {b.p50 / a.p50:.1f}" for a, b in zip(first.timings, last.timings, strict=True) if a.numpy]
        lines += ["", f"From {first.edges:,} to {last.edges:,} edges, times as long: {', '.join(growth)}."]
    return "\n".join(lines)


def _cell(timing: Timing) -> str:
    shown = f"{timing.p50:.1f} ({timing.p95:.1f})"
    return shown if timing.ratio is None else f"{shown}, {timing.ratio:.1f} x numpy"


def _write(path: Path, arrays: Arrays) -> None:
    if path.is_file():
        return
    unfinished = path.with_suffix(".part")
    unfinished.unlink(missing_ok=True)
    with closing(open_store(f"duckdb:///{unfinished}", create=True)) as store:
        fill(store, arrays, TOGETHER)
        store.optimize()
    unfinished.rename(path)


def _ask(path: Path, asked: Sequence[tuple[str, str]]) -> tuple[list[Timing], int]:
    """Whole retrieves and their parts, under a locked filter; and the most memory that it took, in bytes."""
    embedder = OfflineEmbedder()
    filter = AccessFilter.of(LOCKED)
    texts = [question for question, _ in asked]
    misspelled = [name[1:] for _, name in asked]
    vectors = list(embedder.embed(texts))
    with closing(open_store(f"duckdb:///{path}")) as store:
        began = time.perf_counter()
        store.describe(filter)
        described = (time.perf_counter() - began) * 1000
        retriever = KnowledgeGraphRetriever(store, embedder=embedder, document_retriever=store.chunks, filters=LOCKED)
        retrieve = partial(retriever.retrieve, max_hops=HOPS, beam_width=WIDTH, top_k=TOP_K)
        store.chunks.nearest(vectors[0], filter, 10)  # these read all vectors, once
        store.nearest_entities(vectors[:1], filter, 5)
        timings = [
            Timing(case="describe, once", p50=described, p95=described),
            _timed("seeds: a misspelled name", [partial(store.match_names, [name], filter, 5) for name in misspelled]),
            _timed("seeds: nearest entities", [partial(store.nearest_entities, [v], filter, 5) for v in vectors]),
            _timed("nearest passages", [partial(store.chunks.nearest, v, filter, 100) for v in vectors]),
            _timed(f"retrieve, {HOPS} hops, beam {WIDTH}", [partial(retrieve, text) for text in texts]),
            _timed("the same, asked again", [partial(retrieve, text) for text in texts]),
        ]
    return timings, _peak()


def _peak() -> int:
    """The most memory that this process has held, in bytes."""
    status = Path("/proc/self/status")
    if status.is_file():  # Linux counts what a parent held in a child's maximum, but not here
        held = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(held.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _timed(case: str, calls: Sequence[Callable[[], object]]) -> Timing:
    taken = []
    for call in calls:
        began = time.perf_counter()
        call()
        taken.append((time.perf_counter() - began) * 1000)
    return _timing(case, taken)


def _timing(case: str, taken: Sequence[float], numpy: float | None = None) -> Timing:
    return Timing(case=case, p50=statistics.median(taken), p95=statistics.quantiles(taken, n=20)[-1], numpy=numpy)


def _hops(path: Path, arrays: Arrays, rounds: int) -> Iterator[Timing]:
    """A hop from the hub and from small nodes, with another question every round, in the store and in numpy."""
    memory = NumpyGraph(arrays)
    small = [int(n) for n in np.random.default_rng(3).integers(1, arrays.nodes, 20)]
    filter = AccessFilter.of(LOCKED)
    with closing(open_store(f"duckdb:///{path}")) as store:
        for case, nodes in (("hop: hub", [0]), ("hop: one small node", small[:1]), ("hop: twenty small nodes", small)):
            ids = sorted(f"n{n}" for n in set(nodes))
            ours, theirs = [], []
            for vector in arrays.vectors[:: max(len(arrays.vectors) // rounds, 1)][:rounds]:
                began = time.perf_counter()
                found = store.expand(ids, [], filter, vector, SHORTLIST)
                between = time.perf_counter()
                expected = memory.expand(nodes, vector)
                theirs.append((time.perf_counter() - between) * 1000)
                ours.append((between - began) * 1000)
                check_same(found, expected)
            yield _timing(case, ours, statistics.median(theirs))


class NumpyGraph:
    """The graph in memory, and one hop over it."""

    def __init__(self, arrays: Arrays) -> None:
        edges = len(arrays.source)
        self.arrays = arrays
        near = np.concatenate([arrays.source, arrays.target])
        order = np.argsort(near, kind="stable")
        self.edge = (order % edges).astype(np.int32)
        self.start = np.searchsorted(near[order], np.arange(arrays.nodes + 1))
        self.allowed = np.array([PUBLIC in principals(document) for document in range(arrays.documents)])

    def expand(self, nodes: Sequence[int], vector: Vector) -> Expansion:
        """What `GraphReader.expand` gives for these nodes under `LOCKED`: the best 1,000 facts, their ends' degrees."""
        a, allowed = self.arrays, self.allowed
        edges = np.unique(np.concatenate([self.edge[self.start[n] : self.start[n + 1]] for n in nodes]))
        edges = edges[allowed[a.document[edges]]]
        scores = a.vectors[edges] @ vector
        best = np.argpartition(-scores, SHORTLIST)[:SHORTLIST] if len(scores) > SHORTLIST else np.arange(len(scores))
        shown = [edge(a, int(edges[i])) for i in best]
        visible = [
            VisibleEdge(
                edge=e,
                fact_id=fact_id(e.source_id, e.relation, e.key, e.target_id, e.dst_name),
                score=float(scores[i]),
            )
            for e, i in zip(shown, best, strict=True)
        ]
        ends = {}
        for node in {int(n) for i in best for n in (a.source[edges[i]], a.target[edges[i]])}:
            at = self.edge[self.start[node] : self.start[node + 1]]
            degree = int(allowed[a.document[at]].sum())
            ends[f"n{node}"] = End(id=f"n{node}", name=name_of(node), type="Thing", degree=degree)
        visible.sort(key=lambda v: (v.fact_id, v.edge.id))
        return Expansion(edges=tuple(visible), ends=ends, found=len(edges))


def check_same(ours: Expansion, theirs: Expansion) -> None:
    """Both give the same facts and ends, but for facts that tie at the cut. Raises ConfigError otherwise."""
    cut = min((v.score or 0.0 for v in theirs.edges), default=0.0) + 1e-5
    clear = [[v.edge for v in hop.edges if (v.score or 0.0) > cut] for hop in (ours, theirs)]
    ends = all(ours.ends[id_] == end for id_, end in theirs.ends.items() if id_ in ours.ends)
    if ours.found != theirs.found or clear[0] != clear[1] or not ends:
        raise ConfigError("The store and numpy answer differently.", remedy="Delete the bench's file and run it again.")
