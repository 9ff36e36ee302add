"""Coverage: which of the question's words a text covers, and what that is worth."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from kgcore.retrieve.score import EXPLAINED
from kgcore.store import GraphStore
from kgcore.types import NO_NEW_WORDS, Entity
from tests.contract.graphs import edge
from tests.data.build import JANE, candidates, coverage_of, graph, offline, retriever

NO_WORDS = ["???", "...!?", "— ‐ “”", "🚀🚀", "()", "'"]
UNKNOWN_WORDS = ["王晓梅", "鲸讯系统?", "ليلى حداد", "Волкова", "प्रिया शर्मा", "ひらがな", "한국어", "ϟϡ"]


class TestWeights:
    def test_grow_with_the_rarity_of_a_wordpiece_and_sum_to_1(self) -> None:
        question = "the employer uses quagmires"
        coverage = coverage_of(question)
        encoded = offline().encode(question)
        raw = np.array([math.log(1 + max(int(i) - 1995, 0) / 50) for i in encoded.ids])
        assert coverage.weights == pytest.approx(raw / raw.sum(), abs=1e-12)
        assert sum(word.weight for word in coverage.words) == pytest.approx(1, abs=1e-5)
        by_text = {word.text: word.weight for word in coverage.words}
        assert by_text["the"] < by_text["employer"] < by_text["quagmires"]

    def test_a_words_weight_is_that_of_its_pieces(self) -> None:
        question = "unquagmired lake"
        encoded, coverage = offline().encode(question), coverage_of(question)
        pieces = encoded.words.count(0)
        assert pieces > 1
        assert coverage.words[0].weight == pytest.approx(float(coverage.weights[:pieces].sum()), abs=1e-6)

    @pytest.mark.parametrize("question", [JANE, "王晓梅工作的公司?", "Где работает Анна?", "a b c", "É 7-up, «x»"])
    def test_words_know_where_they_stand(self, question: str) -> None:
        words = coverage_of(question).words
        assert all(question[w.start : w.end] == w.text for w in words)
        assert all(a.end <= b.start for a, b in pairwise(words))
        assert all(any(c.isalnum() for c in w.text) for w in words)

    @pytest.mark.parametrize("question", ["a", "a i 7 0", "x?"])
    def test_words_that_all_weigh_nothing_share_alike(self, question: str) -> None:
        coverage = coverage_of(question)
        assert coverage.weights.sum() == pytest.approx(1)
        assert len(set(coverage.weights)) == 1

    @pytest.mark.parametrize("question", NO_WORDS)
    def test_no_words_is_no_division_by_zero(self, question: str) -> None:
        coverage = coverage_of(question)
        assert coverage.words == ()
        covered = coverage.of(["Jane Doe works at Acme", "", "???"])
        assert coverage.score(covered).tolist() == [0, 0, 0]
        assert coverage.explained(covered, covered) == [(), (), ()]
        assert coverage.score(coverage.nothing()) == 0

    @pytest.mark.parametrize("question", UNKNOWN_WORDS)
    def test_words_that_the_vocabulary_does_not_know_are_covered_by_surface(self, question: str) -> None:
        coverage = coverage_of(question)
        assert coverage.weights.sum() == pytest.approx(1)
        same, other = coverage.score(coverage.of([f"x {question.strip('?')} y", "Jane Doe works at Acme"]))
        assert same == pytest.approx(1, abs=0.02)
        assert 0 <= other < 0.3

    def test_a_part_of_an_unknown_word_covers_a_part(self) -> None:
        coverage = coverage_of("Волкова")
        whole, part, none = coverage.score(coverage.of(["ВОЛКОВА", "Волконский", "Петров"])).tolist()
        assert whole == 1 and 0 < part < 1 and none < part

    def test_known_and_unknown_words_stand_together(self) -> None:
        coverage = coverage_of("What system does 王晓梅 use?")
        texts = ["王晓梅 works", "system use", "王晓梅 use system"]
        one, two, both = coverage.score(coverage.of(texts)).tolist()
        assert both > max(one, two)
        weights = {w.text: w.weight for w in coverage.words}
        assert weights.keys() >= {"What", "system", "use"}
        assert all(weights[c] > weights["system"] for c in "王晓梅")


class TestCoverage:
    def test_the_same_words_cover_well_and_others_do_not(self) -> None:
        coverage = coverage_of("employer system")
        covered = coverage.word_coverage(coverage.of(["employer system", "banana", ""]))
        assert (covered[0] > 0.6).all() and (covered[1] < 0.5).all() and (covered[2] == 0).all()
        assert (covered >= 0).all() and (covered <= 1).all()

    def test_is_the_highest_cosine_of_each_question_piece(self) -> None:
        coverage, text = coverage_of("employer uses"), "worker helps"
        encoded = offline().encode("employer uses")
        table = offline().table.rows(offline().pieces([text])[0]).astype(np.float64)
        expected = np.clip((encoded.vectors.astype(np.float64) @ table.T).max(axis=1), 0, 1)
        assert coverage.of([text])[0] == pytest.approx(expected, abs=1e-6)

    def test_does_not_depend_on_what_else_is_asked(self) -> None:
        texts = ["Jane Doe works at Acme", "x", "王晓梅", "", "Acme uses Helios: the main system"]
        together = coverage_of(JANE).of(texts * 3)
        for i, text in enumerate(texts):
            assert (coverage_of(JANE).of([text])[0] == together[i]).all()
            assert (together[i] == together[i + 5]).all()

    def test_underscores_are_spaces(self) -> None:
        a, b = coverage_of(JANE).of(["Jane WORKS_AT Acme", "Jane WORKS AT Acme"])
        assert (a == b).all()

    def test_no_text_gives_no_rows(self) -> None:
        coverage = coverage_of(JANE)
        assert coverage.of([]).shape == (0, len(coverage.weights))

    def test_adding_words_never_lowers_a_path(self) -> None:
        coverage = coverage_of(JANE)
        first, second = coverage.of(["Jane works at Acme", "Acme uses Helios"])
        path = np.maximum(first, second)
        assert coverage.score(path) >= max(coverage.score(first), coverage.score(second))


class TestExplained:
    def test_names_the_words_newly_covered_most_first(self) -> None:
        coverage = coverage_of(JANE)
        before = coverage.of(["Jane Doe"])
        [found] = coverage.explained(before, np.maximum(before, coverage.of(["employer use system"])))
        named = [coverage.words[x.word].text for x in found]
        assert set(named) >= {"employer", "system", "use"} and not {"Jane", "Doe"} & set(named)
        assert [x.gain for x in found] == sorted((x.gain for x in found), reverse=True)
        assert len(found) <= 4 and all(x.gain > 0 for x in found)

    def test_is_empty_where_nothing_is_new(self) -> None:
        coverage = coverage_of(JANE)
        covered = coverage.of(["Jane Doe employer use system"])
        assert coverage.explained(covered, covered) == [()]
        assert coverage.explained(covered, coverage.of(["Jane"])) == [()]

    def test_a_word_that_stays_poorly_covered_is_not_named(self) -> None:
        coverage = coverage_of(JANE)
        before = coverage.of(["Jane Doe"])
        after = np.maximum(before, coverage.of(["the office building"]))
        gain = float(((after - before) * coverage.weights).sum())
        assert gain >= NO_NEW_WORDS
        assert coverage.word_coverage(after)[0, [1, 6, 7]].max() < EXPLAINED
        assert coverage.explained(before, after) == [()]


@pytest.fixture(scope="module")
def store() -> GraphStore:
    return graph(
        edge("e1", "jane", "WORKS_AT", "acme", src="Jane Doe", dst="Acme"),
        edge("e2", "wang", "WORKS_AT", "acme", src="王晓梅", dst="Acme"),
        edge("e3", "acme", "使用", "helios", src="Acme", dst="鲸讯"),
        entities=[Entity(id="acme", type="Company", name="Acme")],
    )


@pytest.mark.parametrize("question", [*NO_WORDS, *UNKNOWN_WORDS, "a", "7"])
def test_any_question_runs(store: GraphStore, question: str) -> None:
    result = retriever(store, max_hops=2).retrieve(question, entity_ids=["jane"])
    assert len(result.facts) == 3
    assert all(0 <= f.score <= 1 for f in result.facts)
    assert all(math.isfinite(c.gain) for c in candidates(result))


def test_a_chinese_question_walks_by_surface(store: GraphStore) -> None:
    result = retriever(store, max_hops=2, beam_width=1).retrieve("王晓梅的公司使用什么")
    assert [s.entity_id for s in result.trace.seeds] == ["wang"]
    assert {f.id for f in result.facts} == {c.fact.id for c in candidates(result, "kept")}
    assert "Acme -[使用]-> 鲸讯" in [f.text for f in result.facts]
