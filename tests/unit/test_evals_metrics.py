"""Figures by hand: ranks of gold in a result, shares, means and their intervals."""

from __future__ import annotations

from typing import Any

import pytest

from kgcore.evals import FIGURES, Gold
from kgcore.evals.metrics import answer_key, difference, figures, mean_of, ranks_of
from kgcore.retrieve import KnowledgeGraphRetriever
from kgcore.types import HAS_ATTRIBUTE, Chunk, Document, Edge, Fact, Retrieval, Trace
from tests.data.build import graph, offline


def fact(source: str, relation: str, target: str, description: str | None = None) -> Fact:
    return Fact(
        id=f"{source}{relation}{target}",
        source_id=f"id of {source}",
        target_id=f"id of {target}",
        source=source,
        target=target,
        relation=relation,
        text=f"{source} -[{relation}]-> {target}",
        hop=1,
        score=0.5,
        edge_ids=(),
        source_doc_ids=(),
        description=description,
    )


def result(facts: list[Fact], passages: list[Document] | None = None) -> Retrieval:
    trace: Any = Trace(question="?", settings=None, words=(), seeds=(), hops=(), result=())  # type: ignore[arg-type]
    return Retrieval(
        content="", facts=tuple(facts), documents=(), source_documents=tuple(passages or ()), context="", trace=trace
    )


FACTS = [
    fact("Acme Capital", "USES", "Helios"),
    fact("Jane Doe", "WORKS_AT", "Acme Capital"),
    fact("Helios", "made by", "The Mill, Inc.", "since May 1999"),
]
PASSAGES = [
    Document(id="p1#1", content="", metadata={"document_id": "p1", "title": "Acme"}),
    Document(id="p1#2", content="", metadata={"document_id": "p1", "title": "Acme"}),
    Document(id="p2", content="", metadata={"document_id": "p2", "title": "Straße"}),
    Document(id="p3", content="", metadata={"document_id": "p3"}),
]


def ranks(**gold: Any) -> dict[str, tuple[int | None, ...]]:
    return ranks_of(Gold(id="q", question="?", **gold), result(FACTS, PASSAGES))


class TestRanks:
    def test_of_documents_by_id_by_document_and_by_title(self) -> None:
        wanted = ("p1#2", "p1", "acme", "STRASSE", "p3", "p4")
        assert ranks(documents=wanted)["documents"] == (2, 1, 1, 3, 4, None)

    def test_of_facts_by_id_and_by_name(self) -> None:
        wanted = (
            ("jane doe", "works at", "ACME Capital"),
            ("id of Acme Capital", "USES", "id of Helios"),
            ("Helios", "USES", "Acme Capital"),
            ("Acme Capital", "OWNS", "Helios"),
        )
        assert ranks(facts=wanted)["facts"] == (2, 1, None, None)

    def test_of_entities_at_either_end(self) -> None:
        assert ranks(entities=("helios", "Jane Doe", "id of Jane Doe", "Jane"))["entities"] == (1, 2, 2, None)

    @pytest.mark.parametrize(
        ("answers", "end", "text"),
        [
            (("helios",), 1, 1),
            (("Nobody", "Jane Doe"), 2, 2),
            (("Mill Inc",), 3, 3),
            (("Capital",), None, 1),
            (("1999",), None, 3),
            (("May 1999",), None, 3),
            (("elio",), None, None),
        ],
    )
    def test_of_answers_as_an_end_and_in_the_text(
        self, answers: tuple[str, ...], end: int | None, text: int | None
    ) -> None:
        found = ranks(answers=answers)
        assert (found["ends"], found["texts"]) == ((end,), (text,))

    def test_of_an_attribute_by_its_key(self) -> None:
        edge = Edge(
            id="e", source_id="ann", target_id="v", relation=HAS_ATTRIBUTE, key="age", src_name="Ann", dst_name="7"
        )
        store = graph(edge)
        found = KnowledgeGraphRetriever(store, embedder=offline()).retrieve("How old is Ann?", entity_ids=["ann"])
        store.close()
        gold = Gold(id="q", question="?", facts=(("ann", "age", "7"),), answers=("7",))
        assert ranks_of(gold, found) == {
            "documents": (), "facts": (1,), "entities": (), "ends": (1,), "texts": (1,)
        }  # fmt: skip

    def test_of_a_stores_passages(self) -> None:
        edge = Edge(id="e", source_id="a", target_id="b", relation="R", src_name="A", dst_name="B", source_doc_id="d#1")
        chunk = Chunk(id="d#1", document_id="d", content="A is of B.", metadata={"title": "On A"})
        store = graph(edge, chunks=[chunk])
        found = KnowledgeGraphRetriever(store, embedder=offline(), document_retriever=store.chunks).retrieve(
            "What of A?", entity_ids=["a"]
        )
        store.close()
        assert ranks_of(Gold(id="q", question="?", documents=("d#1", "d", "On A")), found)["documents"] == (1, 1, 1)


class TestFigures:
    def test_of_passages(self) -> None:
        found = figures({"documents": (1, 5, 9, None)})
        assert found == {
            "passage_recall@2": 0.25, "passage_recall@5": 0.5, "passage_recall@8": 0.5, "passage_recall@10": 0.75,
            "all_gold@2": 0.0, "all_gold@5": 0.0, "all_gold@8": 0.0, "all_gold@10": 0.0,
        }  # fmt: skip
        assert [figures({"documents": (2, 8)})[f"all_gold@{k}"] for k in (2, 5, 8, 10)] == [0.0, 0.0, 1.0, 1.0]

    def test_of_facts(self) -> None:
        assert figures({"facts": (4, None, 20)}) == {
            "fact_recall@5": 1 / 3, "fact_recall@10": 1 / 3, "fact_recall@20": 2 / 3, "fact_recall@50": 2 / 3,
            "fact_mrr": 0.25,
        }  # fmt: skip
        assert figures({"facts": (None,)})["fact_mrr"] == 0.0

    def test_of_entities_and_answers(self) -> None:
        found = figures({"entities": (1, 6), "ends": (11,), "texts": (None,)})
        assert [found[f"entity_recall@{k}"] for k in (5, 10)] == [0.5, 1.0]
        assert [found[f"answer_in_facts@{k}"] for k in (10, 20)] == [0.0, 1.0]
        assert found["answer_in_text@50"] == 0.0

    def test_are_in_one_order_and_without_gold_none(self) -> None:
        every = figures({"documents": (1,), "facts": (1,), "entities": (1,), "ends": (1,), "texts": (1,)})
        assert tuple(every) == FIGURES and set(every.values()) == {1.0}
        assert figures({"documents": (), "facts": ()}) == {}


class TestMeans:
    def test_of_equal_values_are_sure(self) -> None:
        found = mean_of([0.5] * 4)
        assert (found.mean, found.low, found.high, found.questions) == (0.5, 0.5, 0.5, 4)

    def test_interval_of_a_share_is_near_the_binomials(self) -> None:
        """Half of 100: 1.96 x sqrt(0.25 / 100) = 0.098 to either side."""
        found = mean_of([0.0, 1.0] * 50)
        assert found.mean == 0.5
        assert found.low == pytest.approx(0.402, abs=0.015) and found.high == pytest.approx(0.598, abs=0.015)

    def test_are_the_same_each_time_and_in_blocks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        values = [i % 7 / 7 for i in range(40)]
        once = mean_of(values)
        assert mean_of(values) == once
        monkeypatch.setattr("kgcore.evals.metrics._BLOCK", 300)
        blocks = mean_of(values)
        assert (blocks.mean, blocks.questions) == (once.mean, once.questions)
        assert blocks.low == pytest.approx(once.low, abs=0.02) and blocks.high == pytest.approx(once.high, abs=0.02)

    def test_a_difference_is_paired(self) -> None:
        """Each question gains 0.1 but one that loses 0.1: the questions' own spread does not widen the interval."""
        before = [i / 20 for i in range(20)]
        after = [value + 0.1 for value in before[:19]] + [before[19] - 0.1]
        found = difference(before, after)
        assert (found.mean, found.better, found.worse, found.questions) == (0.09, 19, 1, 20)
        assert 0.06 <= found.low <= found.mean <= found.high == 0.1
        assert difference(before, before).high == 0.0


@pytest.mark.parametrize(
    ("text", "key"),
    [("The Mill, Inc.", "mill inc"), ("Ça_va", "ça va"), ("A", "a"), ("The The", "the the"), ("$", "$"), ("'71", "71")],
)
def test_an_answer_is_compared_by_its_words(text: str, key: str) -> None:
    assert answer_key(text) == key
