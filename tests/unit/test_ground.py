"""The source passages: what is weighed, how, and in which order they stand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import islice
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kgcore import read_run, run_json
from kgcore.filters import AccessFilter
from kgcore.retrieve.expand import Looked, Walk, walk
from kgcore.retrieve.ground import ground
from kgcore.store import GraphStore
from kgcore.types import Chunk, Document, Passage, Retrieval, Seed
from tests.contract.graphs import PUBLIC, edge, only
from tests.data.build import JANE, coverage_of, offline, retriever

Build = Callable[..., GraphStore]
EDGES = (
    edge("e1", "jane", "WORKS_AT", "acme", src="Jane Doe", dst="Acme", doc="d1"),
    edge("e2", "acme", "USES", "helios", src="Acme", dst="Helios", doc="d2"),
    edge("e3", "acme", "USES", "helios", src="Acme", dst="Helios", doc="d3"),
    edge("e4", "jane", "LIKES", "tea", src="Jane Doe", dst="Tea", doc="d4"),
    edge("e5", "helios", "MADE_BY", "helios", src="Helios", dst="Helios", doc=None),
)
TEXTS = {
    "d1": "Jane Doe is an engineer at Acme.",
    "d2": "Acme uses the system Helios.",
    "d3": "Helios runs in Boston.",
    "d4": "Jane likes tea.",
    "d5": "The employer of Jane Doe uses a system.",
    "d6": "Rain in Spain.",
}


def chunks(**texts: str) -> list[Chunk]:
    return [Chunk(id=id_, document_id=f"doc-{id_}", content=text, metadata=PUBLIC) for id_, text in texts.items()]


@pytest.fixture
def store(build: Build) -> GraphStore:
    return build(*EDGES, chunks=chunks(**TEXTS), embedder=offline())


def asked(store: GraphStore, question: str = JANE, **options: object) -> Retrieval:
    options = {"max_hops": 2, "beam_width": 4, "top_k": 8, **options}
    return retriever(store, document_retriever=store.chunks).retrieve(question, **options)


class Foreign:
    """A document store of somebody else's, with this metadata on every passage."""

    def __init__(self, metadata: Any, content: str = "Jane Doe.", score: Any = None) -> None:
        self.fields = {"metadata": metadata, "content": content, "score": score}

    def get_documents_by_id(self, ids: Sequence[str]) -> list[Any]:
        return [SimpleNamespace(id=id_, **self.fields) for id_ in ids]


class TestForeign:
    LOCKED = only("clearance", "contains_any", ["red"])

    def found(self, build: Build, source: Foreign) -> Retrieval:
        locked = {"clearance": ("red",), "allowed_principals": ("all",)}
        store = build(edge("e1", "jane", "WORKS_AT", "acme", src="Jane Doe", dst="Acme", properties=locked))
        result = retriever(store, filters=self.LOCKED, document_retriever=source).retrieve(JANE)
        assert len(result.source_documents) == 1
        return result

    def test_access_metadata_are_stripped_whoever_fetches(self, build: Build) -> None:
        held = {"clearance": ["red"], "allowed_principals": ["group:x"], "nested": {"clearance": ["red"]}, "year": 1}
        result = self.found(build, Foreign(held))
        assert dict(result.source_documents[0].metadata) == {"year": 1}

    def test_a_store_knows_nothing_of_the_locked_filter(self, build: Build) -> None:
        metadata = {"clearance": ("red",), "allowed_principals": ("all",), "title": "T"}
        chunk = Chunk(id="d1", document_id="d", content="Jane works at Acme.", metadata=metadata)
        joined = edge("e1", "jane", "WORKS_AT", "acme", src="Jane Doe", dst="Acme", properties=metadata)
        store = build(joined, chunks=[chunk])
        result = retriever(store, filters=self.LOCKED, document_retriever=store.chunks).retrieve(JANE)
        assert dict(result.source_documents[0].metadata) == {"title": "T", "document_id": "d"}
        assert "clearance" not in run_json(result) and '"red"' not in run_json(result)

    @pytest.mark.parametrize(
        ("given", "kept"),
        [
            (None, {}),
            ({"a": None, "b": float("nan"), "c": float("-inf"), "d": {"e": 1}, "f": np.zeros(3)}, {}),
            ({"a": ["x", None, 2, {"y": 1}, ["z"], float("nan")]}, {"a": ("x", 2)}),
            ({"a": [], "b": {"y", "x"}}, {"a": (), "b": ("x", "y")}),
            ({"a": date(2024, 1, 2), "b": datetime(2024, 1, 2, 3, tzinfo=UTC)},
             {"a": "2024-01-02", "b": "2024-01-02T03:00:00+00:00"}),
            ({"a": np.float32(0.5), "b": np.int64(7), "c": np.bool_(True)}, {"a": 0.5, "b": 7, "c": True}),
            ({"a": "half \ud800", "\udfff": 1, 3: "x"}, {"a": "half ?", "?": 1, "3": "x"}),
            ({"a": Decimal("1.50"), "b": True, "c": 2**70, "d": 5e-05, "e": 1e16, "f": 2.0},
             {"a": "1.50", "b": True, "c": 2**70, "d": 5e-05, "e": 1e16, "f": 2.0}),
        ],
    )  # fmt: skip
    def test_what_it_holds_is_saved_and_opened_as_it_is(self, build: Build, given: Any, kept: dict[str, Any]) -> None:
        result = self.found(build, Foreign(given, content="Jane \ud83d Doe.", score=np.float32("nan")))
        (document,) = result.source_documents
        assert dict(document.metadata) == kept
        assert [type(value) for value in document.metadata.values()] == [type(value) for value in kept.values()]
        assert (document.content, document.score) == ("Jane ? Doe.", None)
        text = run_json(result)
        assert read_run(text) == result and run_json(read_run(text)) == text


class TestPool:
    def test_passages_of_what_was_looked_at_and_those_nearest(self, store: GraphStore) -> None:
        passages = asked(store).trace.passages
        assert {p.id for p in passages} == set(TEXTS)
        assert {p.id for p in passages if p.fact_id is None} == {"d5", "d6"}
        assert [p.rank for p in passages] == [1, 2, 3, 4, 5, 6]

    def test_a_caller_who_narrows_reaches_passages_through_facts_alone(self, store: GraphStore) -> None:
        passages = asked(store, filters=only("source_doc_id", "!=", "d4")).trace.passages
        assert {p.id for p in passages} == {"d1", "d2", "d3"}
        assert all(p.near is not None for p in passages)

    def test_without_vectors_by_path_and_page_rank(self, build: Build) -> None:
        result = asked(build(*EDGES, chunks=chunks(**TEXTS)))
        assert {p.id for p in result.trace.passages} == {"d1", "d2", "d3", "d4"}
        assert all(p.near is None and p.by_near == 0 for p in result.trace.passages)

    def test_a_document_store_that_compares_nothing(self, store: GraphStore) -> None:
        class Plain:
            def get_documents_by_id(self, ids: Sequence[str]) -> tuple[Document, ...]:
                return store.chunks.get_documents_by_id(ids)

        result = retriever(store, document_retriever=Plain()).retrieve(JANE, max_hops=2)
        assert {p.id for p in result.trace.passages} == {"d1", "d2", "d3", "d4"}

    def test_no_passage_is_weighed_that_is_not_there(self, build: Build) -> None:
        result = asked(build(*EDGES, chunks=chunks(d1="Jane Doe."), embedder=offline()))
        assert [p.id for p in result.trace.passages] == ["d1"]
        assert "3 of 4 source passages are missing from the document store." in result.trace.warnings

    def test_facts_without_any_passage(self, build: Build) -> None:
        alone = build(edge("e1", "jane", "LIKES", "tea", src="Jane Doe", dst="Tea", doc=None))
        assert asked(alone).trace.passages == ()


class TestScore:
    def test_it_is_the_sum_of_its_signals(self, store: GraphStore) -> None:
        for p in asked(store).trace.passages:
            assert p.score == pytest.approx(p.by_path + p.by_near + p.by_page_rank, abs=3e-6)

    def test_each_signal_is_a_z_score(self, store: GraphStore) -> None:
        passages = asked(store).trace.passages
        for values, parts, weight in (
            ([p.path for p in passages], [p.by_path for p in passages], 1.0),
            ([p.near for p in passages], [p.by_near for p in passages], 0.5),
            ([np.log(p.page_rank + 1e-9) for p in passages], [p.by_page_rank for p in passages], 1.0),
        ):
            z = (np.array(values) - np.mean(values)) / np.std(values)
            assert parts == pytest.approx((weight * z).tolist(), abs=1e-4)

    def test_near_is_the_cosine_with_the_question(self, store: GraphStore) -> None:
        vector = offline().embed([JANE])[0]
        held = {d.id: d.score for d in store.chunks.nearest(vector, AccessFilter.of(), 9)}
        assert {p.id: p.near for p in asked(store).trace.passages} == held

    def test_path_is_the_best_score_of_a_way_through_the_passage(self, store: GraphStore) -> None:
        result = asked(store)
        kept = [c for hop in result.trace.hops for c in hop.candidates if c.fate == "kept"]
        documents = {c.fact.id: c.fact.source_doc_ids for c in kept}
        for p in result.trace.passages:
            through = [c.score for c in kept if any(p.id in documents[passed] for passed in c.chain)]
            if through:
                assert p.path == max(through) and p.fact_id in documents

    def test_page_rank_is_what_the_walk_comes_to(self, build: Build) -> None:
        """The reference solves for it: half a step along an edge, half a new beginning (20 rounds come within 1e-6)."""
        store = build(*EDGES, chunks=chunks(**TEXTS), embedder=offline())
        coverage, vector = coverage_of(JANE), offline().embed([JANE])[0]
        seeds = (Seed(entity_id="jane", name="Jane Doe", type="Thing", found_by="name", score=1.0),)
        settings = asked(store).trace.settings
        *_, walked = islice(walk(store, seeds, AccessFilter.of(), settings, coverage, vector), settings.max_hops)
        result = asked(store)
        found = ground(result.facts, walked, seeds, coverage, vector, store.chunks, AccessFilter.of(), []).passages
        near = {p.id: p.near or 0.0 for p in found}
        assert {p.id: p.page_rank for p in found} == pytest.approx(reference_rank(walked, near, {"jane"}), abs=3e-6)


def reference_rank(walked: Walk, near: dict[str, float], named: set[str]) -> dict[str, float]:
    """Each passage's share, written out node by node."""
    facts = list(walked.looked.values())
    nodes = sorted({end for f in facts for end in (f.source_id, f.target_id)})
    every = [*nodes, *(f"passage {id_}" for id_ in sorted(near))]
    at = {name: i for i, name in enumerate(every)}
    weight = np.zeros((len(every), len(every)))
    speaks: dict[str, set[str]] = {node: set() for node in nodes}
    for f in facts:
        for id_ in f.passages:
            speaks[f.source_id].add(id_)
            speaks[f.target_id].add(id_)
        if f.source_id != f.target_id:
            weight[at[f.source_id], at[f.target_id]] += max(len(f.passages), 1)
            weight[at[f.target_id], at[f.source_id]] += max(len(f.passages), 1)
    for node, passages in speaks.items():
        for id_ in passages:
            weight[at[node], at[f"passage {id_}"]] = weight[at[f"passage {id_}"], at[node]] = 1
    begin = restarts(facts, near, named, nodes, speaks)
    step = weight / np.maximum(weight.sum(axis=1, keepdims=True), 1)
    b = np.array([begin[name] for name in every])
    rank = np.linalg.solve(np.eye(len(every)) - 0.5 * step.T, 0.5 * b / b.sum())
    return {id_: float(rank[at[f"passage {id_}"]]) for id_ in near}


def restarts(
    facts: Sequence[Looked],
    near: dict[str, float],
    named: set[str],
    nodes: Sequence[str],
    speaks: dict[str, set[str]],
) -> dict[str, float]:
    cosines = [f.cosine or 0.0 for f in facts]
    low, high = min(cosines), max(cosines)
    best = sorted(facts, key=lambda f: -(f.cosine or 0.0))[:5]
    begin = {}
    for node in nodes:
        weights = [((f.cosine or 0.0) - low) / (high - low) for f in best if node in (f.source_id, f.target_id)]
        total = (float(np.mean(weights)) if weights else 0.0) + (0.5 if node in named else 0.0)
        begin[node] = total / max(len(speaks[node]), 1)
    nearest, farthest = max(near.values()), min(near.values())
    return begin | {f"passage {i}": 0.1 * (v - farthest) / (nearest - farthest) for i, v in near.items()}


class TestPicking:
    def test_ten_of_the_best_thirty_each_by_its_score_and_what_it_adds(self, build: Build) -> None:
        many = {f"m{i:02}": f"{'Jane Doe' if i % 3 else 'The system'} number {i} of Acme." for i in range(40)}
        store = build(*EDGES, chunks=chunks(**TEXTS, **many), embedder=offline())
        passages = asked(store).trace.passages
        picked = [p for p in passages if p.picked]
        assert 30 <= len(passages) <= 34 and len(picked) == 10 and passages[:10] == tuple(picked)
        rest = [(-p.score, p.id) for p in passages if not p.picked]
        assert rest == sorted(rest)
        assert [p.id for p in picked] == reference_picks(passages, {**TEXTS, **many})

    def test_the_first_is_the_best_and_says_what_it_explains(self, store: GraphStore) -> None:
        trace = asked(store).trace
        first = trace.passages[0]
        assert first.score == max(p.score for p in trace.passages) and first.gain == 0
        assert {trace.words[e.word].text for e in first.explains}
        assert sum(p.gain for p in trace.passages) <= 1

    def test_one_text_twice_adds_nothing(self, build: Build) -> None:
        store = build(*EDGES, chunks=chunks(**TEXTS, d7=TEXTS["d2"]), embedder=offline())
        found = {p.id: p for p in asked(store).trace.passages}
        second = max((found["d2"], found["d7"]), key=lambda p: p.rank)
        assert second.gain == 0 and second.explains == ()

    def test_the_title_counts(self, build: Build) -> None:
        """What a passage is about often stands in its title alone."""
        plain = build(*EDGES, chunks=chunks(**TEXTS), embedder=offline())
        titled = [replace(c, metadata={**PUBLIC, "title": "Employer"}) if c.id == "d6" else c for c in chunks(**TEXTS)]
        found = [
            next(p for p in asked(store, "Who is the employer?", entity_ids=["jane"]).trace.passages if p.id == "d6")
            for store in (plain, build(*EDGES, chunks=titled, embedder=offline()))
        ]
        assert found[1].near > found[0].near  # type: ignore[operator]


def reference_picks(passages: Sequence[Passage], texts: dict[str, str]) -> list[str]:
    coverage = coverage_of(JANE)
    left = sorted(passages, key=lambda p: (-p.score, p.id))[:30]
    rows = {p.id: coverage.of([texts[p.id]])[0] for p in left}
    known, picks = coverage.nothing(), []
    while left and len(picks) < 10:
        adds = {p.id: float(np.maximum(rows[p.id] - known, 0) @ coverage.weights) if picks else 0.0 for p in left}
        left.sort(key=lambda p: (-round(p.score + 10 * round(adds[p.id], 6), 6), -p.score, p.id))
        picks.append(left.pop(0).id)
        known = np.maximum(known, rows[picks[-1]])
    return picks


class TestOrder:
    def test_the_sources_are_the_picked_then_the_rest_behind_the_facts(self, build: Build) -> None:
        many = {f"m{i:02}": f"The system that Jane Doe's employer uses, {i}." for i in range(12)}
        store = build(*EDGES, chunks=chunks(**TEXTS, **many), embedder=offline())
        result = asked(store)
        ranked = [p.id for p in result.trace.passages]
        asserting = {id_ for fact in result.facts for id_ in fact.source_doc_ids}
        picked = {p.id for p in result.trace.passages if p.picked}
        assert asserting - picked, "the graph no longer shows what this test is about"
        assert [d.id for d in result.source_documents] == [i for i in ranked if i in picked | asserting]

    def test_a_fact_less_result_has_no_sources(self, store: GraphStore) -> None:
        assert asked(store, filters=only("source_doc_id", "==", "nowhere")).source_documents == ()

    def test_the_same_call_gives_the_same(self, store: GraphStore) -> None:
        assert asked(store) == asked(store)
