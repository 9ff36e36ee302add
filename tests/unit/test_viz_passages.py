"""Why a source stands where it does, in the evidence: signals, what they add, what it newly explains."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from kgcore.types import Explained, Passage, Retrieval
from kgcore.viz import evidence_payload
from tests.unit.test_viz import retrieval

USES = "acme-capital|USES|helios"


def passage(id: str, rank: int, **more: Any) -> Passage:
    known = {
        "path": 0.515,
        "fact_id": USES,
        "near": 0.62,
        "page_rank": 0.04,
        "by_path": 2.5,
        "by_near": 0.5,
        "by_page_rank": -0.75,
        "picked": True,
        **more,
    }
    return Passage(id=id, rank=rank, score=known["by_path"] + known["by_near"] + known["by_page_rank"], **known)


def weighed(*passages: Passage, documents: tuple[str, ...] = ("register",)) -> Retrieval:
    """The made-up walk with these passages weighed and these documents."""
    run = retrieval()
    held = tuple(dataclasses.replace(run.source_documents[0], id=id) for id in documents)
    trace = dataclasses.replace(run.trace, passages=passages)
    return dataclasses.replace(run, trace=trace, source_documents=held)


def why(run: Retrieval, id: str = "register") -> dict[str, Any]:
    (found,) = [one["why"] for one in evidence_payload(run)["sources"] if one["id"] == id]
    assert isinstance(found, dict)
    return found


def test_a_source_has_each_signal_with_what_it_adds() -> None:
    told = why(weighed(passage("register", 1)))
    assert told["path"] == {"value": 0.515, "adds": 2.5}
    assert told["near"] == {"value": 0.62, "adds": 0.5}
    assert told["pageRank"] == {"value": 0.04, "adds": -0.75}
    assert (told["rank"], told["picked"], told["score"]) == (1, True, 2.25)
    assert sum(told[signal]["adds"] for signal in ("path", "near", "pageRank")) == told["score"]


def test_it_names_the_words_that_it_newly_explains_the_most_telling_first() -> None:
    explains = (Explained(word=0, gain=0.05), Explained(word=4, gain=0.2))
    told = why(weighed(passage("register", 1, gain=0.125, explains=explains)))
    assert (told["gain"], told["words"]) == (0.125, ["employer", "system"])


@pytest.mark.parametrize(
    ("fact_id", "fact", "selectable"),
    [
        (USES, "Acme Capital —USES→ Helios", USES),
        ("jane-doe|KNOWS|bob", "Jane Doe —KNOWS→ Bob", "jane-doe|KNOWS|bob"),
        ("cut-beyond-the-trace", "", None),
        (None, None, None),
    ],
)
def test_the_fact_that_its_path_leads_to(fact_id: str | None, fact: str | None, selectable: str | None) -> None:
    told = why(weighed(passage("register", 1, fact_id=fact_id)))
    assert (told["fact"], told["factId"]) == (fact, selectable)


def test_a_fact_that_the_list_does_not_show_cannot_be_selected() -> None:
    run = weighed(passage("register", 1, fact_id="jane-doe|KNOWS|bob"))
    kept, knows = run.trace.hops[0].candidates[:2], run.trace.hops[0].candidates[2]
    better = [
        dataclasses.replace(knows, fact=dataclasses.replace(knows.fact, id=f"x{rank}"), rank=rank) for rank in (3, 4, 5)
    ]
    hop = dataclasses.replace(run.trace.hops[0], candidates=(*kept, *better, dataclasses.replace(knows, rank=9)))
    trace = dataclasses.replace(run.trace, hops=(hop, run.trace.hops[1]))
    told = why(dataclasses.replace(run, trace=trace))
    assert (told["fact"], told["factId"]) == ("Jane Doe —KNOWS→ Bob", None)


def test_sources_keep_the_order_of_the_documents() -> None:
    run = weighed(passage("b", 1), passage("a", 2, picked=False), documents=("a", "b"))
    sources = evidence_payload(run)["sources"]
    assert [(source["id"], source["why"]["rank"]) for source in sources] == [("a", 2), ("b", 1)]


def test_a_source_without_a_fact_of_the_run_has_its_reasons() -> None:
    run = weighed(passage("register", 1), passage("other", 2, fact_id=None), documents=("register", "other"))
    source = evidence_payload(run)["sources"][1]
    assert (source["facts"], source["why"]["fact"]) == ([], None)


def test_one_without_a_vector_among_others_says_so() -> None:
    told = why(weighed(passage("other", 1), passage("register", 2, near=None)))
    assert told["near"] == {"value": None, "adds": 0.5}


def test_the_trace_counts_what_was_weighed_and_picked() -> None:
    run = weighed(passage("a", 1), passage("b", 2), passage("c", 3, picked=False))
    assert evidence_payload(run)["trace"]["passages"] == {"weighed": 3, "picked": 2}


def test_without_passages_nothing_is_told() -> None:
    payload = evidence_payload(weighed())
    assert [source["why"] for source in payload["sources"]] == [None]
    assert payload["trace"]["passages"] == {"weighed": 0, "picked": 0}


def test_without_vectors_the_other_signals_are_told() -> None:
    payload = evidence_payload(weighed(passage("register", 1, near=None), passage("b", 2, near=None)))
    (source,) = payload["sources"]
    assert source["why"]["near"]["value"] is None and source["why"]["path"]["value"] == 0.515
    assert payload["trace"]["passages"] == {"weighed": 2, "picked": 2}


def test_a_document_that_was_not_weighed_has_none() -> None:
    run = weighed(passage("register", 1), documents=("register", "other"))
    assert [source["why"] is None for source in evidence_payload(run)["sources"]] == [False, True]


def test_hostile_names_are_one_line_of_text() -> None:
    run = weighed(passage("register", 1))
    used = run.trace.hops[1].candidates[0]
    bad = dataclasses.replace(used, fact=dataclasses.replace(used.fact, source="<b>\n\u202ex"))
    hop = dataclasses.replace(run.trace.hops[1], candidates=(bad, *run.trace.hops[1].candidates[1:]))
    trace = dataclasses.replace(run.trace, hops=(run.trace.hops[0], hop))
    assert why(dataclasses.replace(run, trace=trace))["fact"] == "<b> x —USES→ Helios"
