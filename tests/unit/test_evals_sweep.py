"""A sweep: the outcomes of many settings, with shared work done once, and which of them stand out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kgcore import ConfigError, KnowledgeGraphRetriever
from kgcore.evals import Point, best, evaluate, front, grid, points, sweep, value_of
from kgcore.store import GraphStore
from tests.data.build import retriever
from tests.unit.test_evals_run import CHUNKS, EDGES, GOLDS

AXES = {"max_hops": (1, 2, 3), "beam_width": (1, 4)}


@pytest.fixture
def asks(build: Callable[..., GraphStore]) -> KnowledgeGraphRetriever:
    """A retriever over three facts and their passages."""
    store = build(*EDGES, chunks=CHUNKS)
    return retriever(store, document_retriever=store.chunks)


def counted(asks: KnowledgeGraphRetriever, monkeypatch: pytest.MonkeyPatch, name: str) -> list[Any]:
    """The calls of a store's verb from now on."""
    calls: list[Any] = []
    verb = getattr(asks.store, name)
    monkeypatch.setattr(asks.store, name, lambda *a, **b: (calls.append(a), verb(*a, **b))[1])
    return calls


class TestGrid:
    def test_has_every_combination_in_order(self) -> None:
        found = [tuple(settings.values()) for settings in grid(AXES)]
        assert found == [(1, 1), (1, 4), (2, 1), (2, 4), (3, 1), (3, 4)]


class TestSweep:
    def test_gives_what_each_setting_gives_alone(self, asks: KnowledgeGraphRetriever) -> None:
        settings = grid(AXES)
        rows = list(sweep(asks, GOLDS, settings))
        assert [list(column) for column in zip(*rows, strict=True)] == [
            list(evaluate(asks, GOLDS, each)) for each in settings
        ]

    def test_looks_once_at_what_settings_share(
        self, asks: KnowledgeGraphRetriever, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        calls = counted(asks, monkeypatch, "expand")
        seeded = counted(asks, monkeypatch, "nearest_entities")
        list(sweep(asks, GOLDS[:1], grid({"max_hops": (1, 2, 3), "beam_width": (4, 5, 6)})))
        assert len(calls) == 3  # the widths keep the same: one call a hop
        assert len(seeded) <= 1

    def test_counts_shared_work_in_the_time_of_each(self, asks: KnowledgeGraphRetriever) -> None:
        ((one, two),) = sweep(asks, GOLDS[:1], [{"max_hops": 2, "beam_width": 4}] * 2)
        assert one.ms > 0 and two.ms > 0.2 * one.ms

    def test_tells_how_far_it_is_and_stops_by_what_that_raises(self, asks: KnowledgeGraphRetriever) -> None:
        told: list[tuple[int, int, str]] = []

        def tell(*so_far: Any) -> None:
            told.append(so_far)
            if len(told) == 2:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            list(sweep(asks, GOLDS, grid(AXES), progress=tell))
        assert told == [(1, 4, "asking"), (2, 4, "asking")]

    def test_is_stopped_within_a_question(self, asks: KnowledgeGraphRetriever, monkeypatch: pytest.MonkeyPatch) -> None:
        calls = counted(asks, monkeypatch, "expand")

        def tick() -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            list(sweep(asks, GOLDS, grid(AXES), tick=tick))
        assert len(calls) == 1

    def test_a_setting_out_of_bounds_is_an_error_before_anything_is_asked(
        self, asks: KnowledgeGraphRetriever, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        calls = counted(asks, monkeypatch, "expand")
        with pytest.raises(ConfigError, match="top_k"):
            list(sweep(asks, GOLDS, [{"max_hops": 2}, {"top_k": 0}]))
        assert not calls


class TestPoints:
    def test_are_means_over_the_questions_that_have_the_gold(self, asks: KnowledgeGraphRetriever) -> None:
        rows = list(sweep(asks, GOLDS, grid(AXES)))
        recall = points(rows, "fact_recall@20")
        assert [(point.value, point.questions) for point in recall] == [(0.5, 2)] * 2 + [(1.0, 2)] * 4
        assert points(rows, "entity_recall@5") == []
        assert [point.questions for point in points(rows, "facts")] == [4] * 6

    def test_what_needs_no_gold_is_had_by_every_question(self, asks: KnowledgeGraphRetriever) -> None:
        ((outcome,),) = sweep(asks, GOLDS[2:3], [{"max_hops": 2}])
        assert value_of(outcome, "facts") == outcome.facts == 3
        assert 0 < (value_of(outcome, "explained") or 0) <= 1
        assert value_of(outcome, "fact_recall@5") is None


def point(at: int, value: float, ms: float) -> Point:
    return Point(at=at, value=value, ms=ms, questions=1)


class TestBest:
    def test_is_the_highest_then_the_first(self) -> None:
        assert best([point(0, 0.5, 1), point(1, 0.9, 7), point(2, 0.9, 4)]) == point(1, 0.9, 7)
        assert best([]) is None


class TestFront:
    def test_is_what_nothing_beats_in_both(self) -> None:
        found = [point(0, 0.5, 1), point(1, 0.5, 2), point(2, 0.9, 4), point(3, 0.8, 5), point(4, 0.95, 9)]
        assert [p.at for p in front(found)] == [0, 2, 4]
        assert [p.at for p in front([point(0, 0.5, 1), point(1, 0.6, 1)])] == [1]
