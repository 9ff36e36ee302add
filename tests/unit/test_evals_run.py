"""A gold set through a retriever: what comes of each question, stopping and going on, means and comparisons."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kgcore import ConfigError, KnowledgeGraphRetriever
from kgcore.evals import (
    Evaluation,
    Gold,
    Outcome,
    compare,
    evaluate,
    report_json,
    report_markdown,
    report_text,
    run_key,
    summarize,
)
from kgcore.store import GraphStore
from kgcore.types import Chunk, Edge
from tests.data.build import retriever

SETTINGS = {"max_hops": 2, "beam_width": 4, "top_k": 20}


def edge(source: str, relation: str, target: str) -> Edge:
    return Edge(
        id=f"{source}-{relation}-{target}", source_id=source, target_id=target, relation=relation,
        src_name=source.title(), dst_name=target.title(), source_doc_id=f"about {source}",
    )  # fmt: skip


EDGES = [edge("ann", "works at", "acme"), edge("acme", "uses", "helios"), edge("bo", "knows", "ann")]
CHUNKS = [Chunk(id=f"about {name}", document_id=name, content=f"About {name}.") for name in ("ann", "acme", "bo")]
GOLDS = (
    Gold(
        id="a", question="What does Ann's employer use?", facts=(("acme", "uses", "helios"),),
        documents=("about ann", "about acme"), answers=("Helios",), hops=2, kind="bridge",
    ),
    Gold(id="b", question="Whom does Bo know?", facts=(("bo", "knows", "ann"),), answers=("Ann",), hops=1),
    Gold(id="c", question="Who is at Acme?", answers=("Nobody",), hops=1, kind="odd | `one`"),
    Gold(id="d", question="Who knows whom?", answers=("Acme",), seeds=("Bo",), hops=2),
)  # fmt: skip


@pytest.fixture
def asks(build: Callable[..., GraphStore]) -> KnowledgeGraphRetriever:
    """A retriever over three facts and their passages."""
    store = build(*EDGES, chunks=CHUNKS)
    return retriever(store, document_retriever=store.chunks)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every question takes a second."""
    monkeypatch.setattr("kgcore.evals.run.perf_counter", itertools.count(0.0).__next__)


def ran(asks: KnowledgeGraphRetriever, settings: dict[str, Any] | None = None, **options: Any) -> tuple[Outcome, ...]:
    return tuple(evaluate(asks, GOLDS, settings or SETTINGS, **options))


class TestOutcomes:
    def test_hold_the_ranks_and_the_time(self, asks: KnowledgeGraphRetriever, clock: None) -> None:
        first, second, third, _ = ran(asks)
        assert (first.id, first.hops, first.kind, first.ms) == ("a", 2, "bridge", 1000.0)
        assert first.ranks["facts"] == (1,) and sorted(first.ranks["documents"]) == [1, 3]
        assert first.ranks["ends"] == (1,)
        assert (second.ranks["facts"], second.ranks["documents"]) == ((1,), ())
        assert third.ranks["ends"] == (None,)

    def test_start_from_the_golds_own_seeds_unless_told_otherwise(self, asks: KnowledgeGraphRetriever) -> None:
        assert ran(asks)[3].ranks["ends"] == (2,)
        assert ran(asks, {**SETTINGS, "seed_mode": "auto"})[3].ranks["ends"] == (2,)
        assert ran(asks, {**SETTINGS, "seed_mode": "mentions"})[3].ranks["ends"] == (None,)
        assert ran(asks, {**SETTINGS, "entities": ["Helios"]})[3].ranks["ends"] == (1,)

    def test_keep_the_warnings(self, asks: KnowledgeGraphRetriever) -> None:
        gold = replace(GOLDS[3], seeds=("Nowhere",))
        (found,) = evaluate(asks, [gold], SETTINGS)
        assert found.warnings == ("No entity matches 'Nowhere'.",)

    def test_are_told_as_they_come(self, asks: KnowledgeGraphRetriever) -> None:
        told: list[tuple[int, int, str]] = []
        ran(asks, progress=lambda *told_: told.append(told_))
        assert told == [(done, 4, "asking") for done in (1, 2, 3, 4)]

    def test_a_setting_out_of_bounds_is_an_error(self, asks: KnowledgeGraphRetriever) -> None:
        with pytest.raises(ConfigError, match="top_k"):
            ran(asks, {"top_k": 0})


def counted(asks: KnowledgeGraphRetriever, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The questions that are really asked from now on."""
    asked: list[str] = []
    retrieve = KnowledgeGraphRetriever.retrieve

    def counting(self: KnowledgeGraphRetriever, question: str, **options: Any) -> Any:
        asked.append(question)
        return retrieve(self, question, **options)

    monkeypatch.setattr(KnowledgeGraphRetriever, "retrieve", counting)
    return asked


class Stop(Exception):
    """What a progress callback raises to stop a run."""


def stop_at(count: int) -> Callable[[int, int, str], None]:
    def step(done: int, total: int, what: str) -> None:
        if done == count:
            raise Stop

    return step


@pytest.mark.usefixtures("clock")
class TestGoingOn:
    @pytest.mark.parametrize("count", [1, 2, 4])
    def test_a_stopped_run_ends_in_the_same_bytes(
        self, asks: KnowledgeGraphRetriever, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
    ) -> None:
        whole = ran(asks, file=tmp_path / "whole.jsonl")
        file = tmp_path / "runs" / "stopped.jsonl"
        with pytest.raises(Stop):
            ran(asks, file=file, progress=stop_at(count))
        asked = counted(asks, monkeypatch)
        assert ran(asks, file=file) == whole
        assert asked == [gold.question for gold in GOLDS[count:]]
        assert file.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()

    def test_reports_of_a_stopped_run_are_the_same_bytes(self, asks: KnowledgeGraphRetriever, tmp_path: Path) -> None:
        def report(outcomes: tuple[Outcome, ...]) -> str:
            return report_json(Evaluation(gold="g", graph={}, settings=SETTINGS, outcomes=outcomes))

        whole = report(ran(asks))
        with pytest.raises(Stop):
            ran(asks, file=tmp_path / "run.jsonl", progress=stop_at(3))
        assert report(ran(asks, file=tmp_path / "run.jsonl")) == whole

    @pytest.mark.parametrize("cut", [1, 20])
    def test_a_line_that_was_not_finished_is_asked_again(
        self, asks: KnowledgeGraphRetriever, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cut: int
    ) -> None:
        file = tmp_path / "run.jsonl"
        whole = ran(asks, file=file)
        content = file.read_bytes()
        file.write_bytes(content[:-cut])
        asked = counted(asks, monkeypatch)
        assert ran(asks, file=file) == whole and file.read_bytes() == content
        assert asked == [GOLDS[-1].question]

    def test_what_has_changed_is_run_anew(
        self, asks: KnowledgeGraphRetriever, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = tmp_path / "run.jsonl"
        ran(asks, file=file)
        asked = counted(asks, monkeypatch)
        assert ran(asks, {**SETTINGS, "beam_width": 1}, file=file)[0].ms == 1000.0
        assert len(asked) == 4 and len(file.read_text().splitlines()) == 5

    def test_a_file_that_is_no_run_is_left_alone(self, asks: KnowledgeGraphRetriever, tmp_path: Path) -> None:
        for text in ("my notes\n", "[1]\n", '{"id": "a"}'):
            (tmp_path / "notes").write_text(text)
            with pytest.raises(ConfigError, match="notes"):
                ran(asks, file=tmp_path / "notes")
            assert (tmp_path / "notes").read_text() == text


def test_the_key_of_a_run_changes_with_what_may_change_it(build: Callable[..., GraphStore]) -> None:
    store = build(*EDGES, chunks=CHUNKS)
    public = {"field": "allowed_principals", "operator": "contains_any", "value": ["public"]}
    asks = retriever(store)
    keys = [
        run_key(asks, GOLDS, SETTINGS),
        run_key(asks, GOLDS, {**SETTINGS, "top_k": 19}),
        run_key(asks, GOLDS[:-1], SETTINGS),
        run_key(asks, (replace(GOLDS[0], answers=("Ra",)), *GOLDS[1:]), SETTINGS),
        run_key(retriever(store, filters=public), GOLDS, SETTINGS),
        run_key(KnowledgeGraphRetriever(store), GOLDS, SETTINGS),
        run_key(retriever(build(*EDGES[:2])), GOLDS, SETTINGS),
    ]
    assert len(set(keys)) == len(keys)
    assert run_key(retriever(store), GOLDS, dict(reversed(SETTINGS.items()))) == keys[0]


def test_the_key_of_a_run_changes_with_the_data(build: Callable[..., GraphStore]) -> None:
    store = build()
    store.upsert([], [])
    before = run_key(retriever(store), GOLDS, SETTINGS)
    store.upsert([], [])
    assert run_key(retriever(store), GOLDS, SETTINGS) != before


def outcome(id_: str, rank: int | None, hops: int | None = None, kind: str = "", ms: float = 10.0) -> Outcome:
    ranks = {"facts": (rank,), "documents": (rank, 1)}
    return Outcome(
        id=id_, hops=hops, kind=kind, ranks=ranks, warnings=("Slow.",) * (ms > 10), facts=1, explained=0.5, ms=ms
    )


def evaluation(*outcomes: Outcome, **settings: Any) -> Evaluation:
    return Evaluation(gold="set.jsonl", graph={"edges": 3}, settings=settings, outcomes=outcomes)


BEFORE = evaluation(
    outcome("1", 1, 2, "x"),
    outcome("2", 4, 2, "y"),
    outcome("3", None, 3, "x"),
    outcome("4", 8, None, "", 30),
    top_k=10,
)
AFTER = evaluation(
    outcome("1", 1, 2, "x"), outcome("2", 2, 2, "y"), outcome("3", 9, 3, "x"), outcome("4", None), top_k=20
)


class TestReports:
    def test_a_summary_has_means_of_all_of_hops_and_of_types(self) -> None:
        found = summarize(BEFORE)
        assert found.whole.questions == 4
        assert {name: mean.mean for name, mean in found.whole.means.items()} == {
            "passage_recall@2": 0.625, "passage_recall@5": 0.75, "passage_recall@8": 0.875, "passage_recall@10": 0.875,
            "all_gold@2": 0.25, "all_gold@5": 0.5, "all_gold@8": 0.75, "all_gold@10": 0.75,
            "fact_recall@5": 0.5, "fact_recall@10": 0.75, "fact_mrr": 0.34375,
        }  # fmt: skip
        assert {n: (g.questions, g.means["fact_recall@5"].mean) for n, g in found.hops.items()} == {
            2: (2, 1),
            3: (1, 0),
        }
        assert {k: (g.questions, g.means["fact_recall@5"].mean) for k, g in found.kinds.items()} == {
            "x": (2, 0.5), "y": (1, 1.0)
        }  # fmt: skip
        assert (found.p50, found.p95, found.warnings) == (10.0, 27.0, {"Slow.": 1})

    @pytest.mark.parametrize(("top_k", "deepest"), [(3, 5), (5, 5), (6, 10), (45, 50), (1000, 50), (None, 50)])
    def test_no_depth_is_deeper_than_the_facts(self, top_k: int | None, deepest: int) -> None:
        found = summarize(evaluation(outcome("1", 1), top_k=top_k)).whole.means
        assert max(int(name.partition("@")[2]) for name in found if name.startswith("fact_recall")) == deepest
        assert "passage_recall@10" in found

    def test_a_comparison_is_by_question(self) -> None:
        found = compare(BEFORE, AFTER)
        recall = found["fact_recall@10"]
        assert (recall.mean, recall.better, recall.worse, recall.questions) == (0.0, 1, 1, 4)
        assert (recall.low, recall.high) == (-0.75, 0.75)
        assert found["fact_mrr"].mean == round((0 + 0.25 + 1 / 9 - 1 / 8) / 4, 6)
        assert "fact_recall@20" not in found

    def test_json_has_everything(self) -> None:
        found = json.loads(report_json(BEFORE, AFTER))
        assert (found["gold"], found["graph"], found["settings"]) == ("set.jsonl", {"edges": 3}, {"top_k": 10})
        assert found["whole"]["means"]["fact_recall@10"]["mean"] == 0.75
        assert found["hops"]["3"]["questions"] == 1 and found["kinds"]["y"]["questions"] == 1
        assert found["questions"][1]["ranks"] == {"facts": [4], "documents": [4, 1]}
        assert found["against"]["whole"]["means"]["fact_recall@10"]["mean"] == 0.75
        assert found["gained"]["fact_mrr"]["better"] == 2
        assert "against" not in json.loads(report_json(BEFORE))

    def test_text_is_a_line_a_figure(self) -> None:
        title, head, *lines = report_text(BEFORE).splitlines()
        assert title == "`set.jsonl`: 4 questions, top_k=10, 10 ms a question (p50)"
        assert head.split() == ["mean", "95", "%", "interval", "questions"]
        assert lines[1].split() == ["passage", "recall@5", "75.0", "50.0", "to", "100.0", "4"]
        assert len(lines) == 11 and len({len(line) for line in [head, *lines]}) == 1
        _, other, *lines = report_text(BEFORE, AFTER).splitlines()
        assert other == "B: top_k=20, 10 ms a question (p50)"
        assert lines[-1].split()[:5] == ["fact", "mrr", "34.4", "40.3", "5.9"] and lines[-1].split()[-2:] == ["2", "1"]

    def test_markdown_has_a_table_of_all_and_one_of_groups(self) -> None:
        lines = report_markdown(BEFORE).splitlines()
        assert "| passage recall@5 | 75.0 | 50.0 to 100.0 | 4 |" in lines
        assert "|  | questions | passage recall@5 | all gold@8 | fact recall@10 | fact mrr |" in lines
        assert "| 3 hops | 1 | 50.0 (50.0 to 50.0) | 0.0 (0.0 to 0.0) | 0.0 (0.0 to 0.0) | 0.0 (0.0 to 0.0) |" in lines
        assert lines[-1] == "- 1 × `Slow.`"
        rows = [line.count("|") for line in lines if line.startswith("|")]
        assert rows == [5] * 13 + [7] * 6

    def test_what_others_wrote_stays_text(self) -> None:
        kind = "a|b`<b>\n# c\u202e"
        text = report_markdown(replace(evaluation(outcome("1", 1, None, kind)), gold="<script>|"))
        assert "| `a¦b'<b> # c` | 1 |" in text and text.startswith("`<script>¦`: 1 question, ")


def test_a_run_can_be_read_as_it_comes(asks: KnowledgeGraphRetriever) -> None:
    coming: Iterator[Outcome] = evaluate(asks, GOLDS, SETTINGS)
    assert next(coming).id == "a"
