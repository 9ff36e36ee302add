"""The bench on a small graph: what it measures, and that it compares."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kgcore import ConfigError, open_store
from kgcore.evals.speed import LOCKED, NumpyGraph, check_same, measure, report
from kgcore.evals.synthetic import Arrays, fill, make, name_of, questions
from kgcore.filters import AccessFilter
from kgcore.store import GraphStore

SMALL = make(1_500, 300, 40)


@pytest.fixture(scope="module")
def store() -> Iterator[GraphStore]:
    made = open_store("duckdb:///:memory:", create=True)
    fill(made, SMALL)
    yield made
    made.close()


class TestGraph:
    def test_one_seed_gives_one_graph(self) -> None:
        again = make(1_500, 300, 40)
        assert all(np.array_equal(getattr(SMALL, n), getattr(again, n)) for n in ("source", "target", "document"))
        assert np.array_equal(SMALL.vectors, again.vectors) and questions(SMALL, 9) == questions(again, 9)

    def test_a_hub_no_loops_and_a_name_each(self) -> None:
        at_hub = (SMALL.source == 0) | (SMALL.target == 0)
        assert at_hub.sum() == 300 and not (SMALL.source == SMALL.target).any()
        assert len({name_of(i) for i in range(SMALL.nodes)}) == SMALL.nodes

    def test_written_whole_with_passages_that_tell_the_facts(self, store: GraphStore) -> None:
        seen = store.describe(AccessFilter.of())
        assert (seen.edges, seen.dimension) == (1_500, 384)
        assert store.describe(AccessFilter.of(LOCKED)).edges < 1_500
        (passage,) = store.chunks.get_documents_by_id(["doc1"])
        assert passage.content.count(".") == 12 and "allowed_principals" not in passage.metadata


class TestComparison:
    def test_numpy_says_the_same(self, store: GraphStore) -> None:
        memory, filter = NumpyGraph(SMALL), AccessFilter.of(LOCKED)
        for nodes in ([0], [5], [7, 8, 9]):
            found = store.expand([f"n{n}" for n in nodes], [], filter, SMALL.vectors[3], 1_000)
            assert found.found > 0
            check_same(found, memory.expand(nodes, SMALL.vectors[3]))

    @pytest.mark.parametrize("changed", ["document", "source"])
    def test_another_graph_is_noticed(self, store: GraphStore, changed: str) -> None:
        other: Arrays = replace(SMALL, **{changed: np.roll(getattr(SMALL, changed), 1)})
        found = store.expand(["n0"], [], AccessFilter.of(LOCKED), SMALL.vectors[3], 1_000)
        with pytest.raises(ConfigError, match="answer differently"):
            check_same(found, NumpyGraph(other).expand([0], SMALL.vectors[3]))


class TestMeasure:
    def test_every_case_and_a_table(self, tmp_path: Path) -> None:
        first = measure(tmp_path, edges=1_500, hub=300, passages=40, rounds=2)
        (file,) = tmp_path.iterdir()
        written = file.stat().st_mtime_ns
        second = measure(tmp_path, edges=1_500, hub=300, passages=40, rounds=2)
        assert file.stat().st_mtime_ns == written, "the graph was written again"
        assert first.size == second.size > 0 and first.memory > 10_000_000
        assert [timing.case for timing in first.timings] == [
            "describe, once", "seeds: a misspelled name", "seeds: nearest entities", "nearest passages",
            "retrieve, 3 hops, beam 15", "the same, asked again", "hop: hub", "hop: one small node",
            "hop: twenty small nodes",
        ]  # fmt: skip
        assert all(timing.p95 >= timing.p50 > 0 for timing in first.timings if timing.case != "describe, once")
        lines = report([first, second]).splitlines()
        assert lines[0] == "| p50 (p95) in ms | 1,500 edges | 1,500 edges |" and len(lines) == 15
        assert lines[8].endswith("x numpy |") and lines[-1].startswith(
            "From 1,500 to 1,500 edges, times as long: hop: hub"
        )

    def test_from_the_command_line(self, tmp_path: Path) -> None:
        command = ["bench", "--edges", "1500", "--passages", "40", "--rounds", "2", "--folder", str(tmp_path / "new")]
        done = subprocess.run([sys.executable, "-m", "kgcore", *command], capture_output=True, text=True, check=True)
        assert done.stdout.startswith("| p50 (p95) in ms | 1,500 edges |")
        assert [file.name for file in (tmp_path / "new").iterdir()] == ["bench-1500-150-40.duckdb"]

    @pytest.mark.parametrize(
        "numbers", [{"edges": 99, "hub": 0}, {"hub": 751}, {"hub": -1}, {"passages": 0}, {"rounds": 1}]
    )
    def test_no_such_graph(self, tmp_path: Path, numbers: dict[str, int]) -> None:
        with pytest.raises(ConfigError, match="no such graph"):
            measure(tmp_path, **{"edges": 1_500, "hub": 300, "passages": 40, "rounds": 2, **numbers})
