"""The reranker and the cut: which kept facts become the result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from kgcore.errors import ModelError
from kgcore.models.offline import MaxSimReranker
from kgcore.retrieve.rank import rank
from kgcore.store import GraphStore
from kgcore.types import Candidate, Fact, Fate, Hop, Retrieval
from tests.contract.graphs import edge
from tests.data.build import JANE, candidates, offline, retriever, texts

Build = Callable[..., GraphStore]


def candidate(name: str, score: float, *chain: str, hop: int = 0, fate: Fate = "kept") -> Candidate:
    """A fact called so, reached through the facts of `chain`."""
    number = hop or len(chain) + 1
    fact = Fact(
        id=name, source_id="s", target_id="t", source="s", target="t", relation="r", text=f"text of {name}",
        hop=number, score=score, edge_ids=(name,), source_doc_ids=(),
    )  # fmt: skip
    return Candidate(
        hop=number, fact=fact, parent_id="s", parent_name="s", entity_id="t", entity_name="t",
        chain=(*chain, name), score=score, rank=1, fate=fate,
    )  # fmt: skip


def hops(*found: Candidate) -> tuple[Hop, ...]:
    return tuple(
        Hop(number=n, considered=9, left_out=0, kept=9, cutoff=0.0, explains=(), candidates=tuple(
            c for c in found if c.hop == n
        ))
        for n in sorted({c.hop for c in found})
    )  # fmt: skip


def cut(top_k: int, *found: Candidate) -> list[str]:
    return [fact.id for fact in rank("q", hops(*found), top_k, None, []).facts]


class Scores:
    """A reranker that gives each text its score, and notes what it saw."""

    name = "scores"

    def __init__(self, **scores: float) -> None:
        self.scores = scores
        self.seen: list[tuple[str, list[str]]] = []

    def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        self.seen.append((question, list(texts)))
        return [self.scores.get(text.removeprefix("text of "), 0.0) for text in texts]


class Broken:
    """A reranker that answers wrongly, or fails."""

    name = "broken"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def rerank(self, question: str, texts: Sequence[str]) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class TestCut:
    def test_is_by_score_over_all_hops(self) -> None:
        found = [candidate("a", 0.3), candidate("b", 0.9), candidate("c", 0.6, "a"), candidate("d", 0.2, "b")]
        assert cut(9, *found) == ["b", "c", "a", "d"]
        assert cut(1, *found) == ["b"]
        assert cut(3, *found) == ["b", "c", "a"]

    def test_takes_a_fact_with_its_chain_or_not_at_all(self) -> None:
        found = [candidate("a", 0.1), candidate("b", 0.2, "a"), candidate("c", 0.9, "a", "b"), candidate("d", 0.5)]
        assert cut(4, *found) == ["c", "b", "a", "d"]
        assert cut(3, *found) == ["c", "b", "a"]
        assert cut(2, *found) == ["d", "a"]
        assert cut(1, *found) == ["d"]

    def test_counts_a_shared_chain_once(self) -> None:
        found = [candidate("a", 0.1), candidate("b", 0.9, "a"), candidate("c", 0.8, "a"), candidate("d", 0.7)]
        assert cut(3, *found) == ["b", "a", "c"]

    def test_breaks_ties_by_id(self) -> None:
        assert cut(2, candidate("c", 0.5), candidate("a", 0.5), candidate("b", 0.5)) == ["a", "b"]

    def test_says_what_it_cut(self) -> None:
        found = [candidate("a", 0.9), candidate("b", 0.5), candidate("c", 0.1, fate="beam_cut"),
                 candidate("d", 0.9, fate="hub"), candidate("a", 0.2, fate="duplicate")]  # fmt: skip
        ranked = rank("q", hops(*found), 1, None, [])
        assert [c.fate for h in ranked.hops for c in h.candidates] == [
            "kept", "top_k_cut", "beam_cut", "hub", "duplicate",
        ]  # fmt: skip
        assert all(c.rerank_score is None for h in ranked.hops for c in h.candidates)

    def test_of_nothing_is_nothing(self) -> None:
        assert rank("q", (), 5, Scores(), []).facts == ()


class TestReranker:
    FOUND = (candidate("a", 0.9), candidate("b", 0.5, "a"), candidate("c", 0.4), candidate("x", 0.9, fate="beam_cut"))

    def test_sees_all_that_the_beams_kept_before_the_cut(self) -> None:
        reranker, warnings = Scores(c=3, b=2, a=1), []
        ranked = rank("q", hops(*self.FOUND), 1, reranker, warnings)
        assert [f.id for f in ranked.facts] == ["c"] and warnings == []
        assert reranker.seen == [("q", ["text of a", "text of c", "text of b"])]

    def test_orders_the_result_and_keeps_chains(self) -> None:
        ranked = rank("q", hops(*self.FOUND), 2, Scores(c=1, b=2, a=-5), [])
        assert [f.id for f in ranked.facts] == ["b", "a"]
        fates = {c.fact.id: (c.fate, c.rerank_score) for h in ranked.hops for c in h.candidates}
        assert fates == {
            "a": ("kept", -5.0), "b": ("kept", 2.0), "c": ("reranked_out", 1.0), "x": ("beam_cut", None),
        }  # fmt: skip

    def test_leaves_scores_as_they_were(self) -> None:
        ranked = rank("q", hops(*self.FOUND), 9, Scores(c=1), [])
        assert [(f.id, f.score) for f in ranked.facts] == [("c", 0.4), ("a", 0.9), ("b", 0.5)]

    @pytest.mark.parametrize(
        "answer",
        [
            RuntimeError("key=secret"),
            ModelError("The service is away.", remedy="Wait."),
            [1.0],
            [],
            None,
            ["x", "y", "z"],
            [1.0, float("nan"), 2.0],
            [1.0, float("inf"), 2.0],
        ],
        ids=repr,
    )
    def test_that_fails_leaves_the_beams_order_and_a_warning(self, answer: Any) -> None:
        warnings: list[str] = []
        ranked = rank("q", hops(*self.FOUND), 2, Broken(answer), warnings)
        plain = rank("q", hops(*self.FOUND), 2, None, [])
        assert ranked == plain
        [warning] = warnings
        assert "reranker" in warning and "secret" not in warning
        assert ("service is away" in warning) == isinstance(answer, ModelError)


FOREST = (
    *(edge(f"a{i}", "root", "SEES", f"m{i}", dst=n) for i, n in enumerate(["Employer", "System", "Oak", "Use", "Doe"])),
    *(edge(f"b{i}", f"m{i % 5}", "LEADS_TO", f"z{i}", dst=n) for i, n in enumerate(["Jane", "Uses", "Oak", "Ash"] * 3)),
    *(edge(f"c{i}", f"z{i}", "LEADS_TO", f"y{i}", dst=n) for i, n in enumerate(["Employers", "Elm", "Systems"] * 4)),
)  # fmt: skip


def chains_hold(result: Retrieval) -> bool:
    """Whether each fact of the result has the chain that leads to it, from a seed on."""
    ids = {fact.id for fact in result.facts}
    chosen = candidates(result, "kept")
    return {c.fact.id for c in chosen} == ids and all(set(c.chain) <= ids for c in chosen)


class TestWhole:
    def test_every_top_k_keeps_whole_chains(self, build: Build) -> None:
        search = retriever(build(*FOREST), max_hops=3, beam_width=8)
        full = search.retrieve(JANE, entity_ids=["root"], top_k=1_000)
        kept = len(full.facts)
        assert kept > 15
        for top_k in range(1, kept + 2):
            result = search.retrieve(JANE, entity_ids=["root"], top_k=top_k)
            assert len(result.facts) <= top_k and chains_hold(result)
            assert len(result.facts) == min(top_k, kept)
            assert result.trace.result == tuple(f.id for f in result.facts)
            fates = {c.fate for c in candidates(result)}
            assert ("top_k_cut" in fates) == (top_k < kept)

    def test_the_cut_never_changes_the_walk(self, build: Build) -> None:
        search = retriever(build(*FOREST), max_hops=3, beam_width=8)
        few, many = (search.retrieve(JANE, entity_ids=["root"], top_k=k) for k in (2, 1_000))
        assert [(c.fact.id, c.rank, c.score, c.chain) for c in candidates(few)] == [
            (c.fact.id, c.rank, c.score, c.chain) for c in candidates(many)
        ]

    def test_a_reranker_reorders_the_facts(self, build: Build) -> None:
        store = build(*FOREST)
        reranker = MaxSimReranker(offline())
        search = retriever(store, max_hops=2, beam_width=8, document_reranker=reranker)
        result = search.retrieve(JANE, entity_ids=["root"], top_k=5)
        assert result.trace.settings.reranker == "maxsim-minilm" and chains_hold(result)
        scored = candidates(result, "kept", "reranked_out")
        assert all(c.rerank_score is not None for c in scored) and len(scored) == 13
        best = max(scored, key=lambda c: c.rerank_score or 0)
        assert result.facts[0].id == best.fact.id
        expected = reranker.rerank(JANE, [c.fact.text for c in scored])
        assert [c.rerank_score for c in scored] == expected

    def test_a_reranker_of_one_call_replaces_the_retrievers(self, build: Build) -> None:
        search = retriever(build(*FOREST), document_reranker=Broken(RuntimeError()))
        assert search.retrieve(JANE, entity_ids=["root"]).trace.warnings
        result = search.retrieve(JANE, entity_ids=["root"], document_reranker=Scores())
        assert result.trace.warnings == () and result.trace.settings.reranker == "scores"

    def test_facts_stand_in_the_order_of_their_scores(self, build: Build) -> None:
        result = retriever(build(*FOREST)).retrieve(JANE, entity_ids=["root"])
        assert [f.score for f in result.facts] == sorted((f.score for f in result.facts), reverse=True)
        assert texts(result)[0] == result.documents[0].content
