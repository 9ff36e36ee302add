"""What changed between two runs: settings named, facts compared by identity."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from kgcore.types import Retrieval, Trace
from kgcore.viz import diff, evidence_payload
from tests.unit.test_viz import retrieval

HELIOS = "acme-capital|USES|helios"
FILTER = {"field": "year", "operator": ">", "value": 1}


def changed(**settings: Any) -> Trace:
    trace = retrieval().trace
    return dataclasses.replace(trace, settings=dataclasses.replace(trace.settings, **settings))


def test_facts_enter_and_leave_by_identity() -> None:
    one, two = retrieval(second_hop=False).trace, retrieval().trace
    assert diff(one, two).entered == {HELIOS}
    assert diff(one, two).left == ()
    back = diff(two, one)
    assert back.entered == frozenset()
    assert [candidate.fact.id for candidate in back.left] == [HELIOS]


def test_a_run_against_itself_is_no_change() -> None:
    trace = retrieval().trace
    assert diff(trace, trace).summary == "Same settings: same facts"


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"max_hops": 3}, "Hops 2→3"),
        ({"beam_width": 6}, "Beam 2→6"),
        ({"beam_width": 10, "beam_auto": True}, "Beam 2→auto 10"),
        ({"beam_auto": True}, "Beam 2→auto 2"),
        ({"top_k": 5}, "Top k 3→5"),
        ({"scoring": "edge"}, "Scoring coverage→edge"),
        ({"seed_mode": "query"}, "Seeds from auto→query"),
        ({"hub_limit": 9}, "Hub limit 500→9"),
        ({"aliases": False}, "Aliases on→off"),
        ({"reranker": "maxsim"}, "Reranker none→maxsim"),
        ({"relations": ("USES",)}, "Relations all→1"),
        ({"filters": FILTER}, "Filter added"),
    ],
)
def test_each_changed_setting_is_named(settings: dict[str, Any], says: str) -> None:
    assert diff(retrieval().trace, changed(**settings)).changes == (says,)


def test_several_changes_read_as_one_line() -> None:
    one = dataclasses.replace(retrieval(second_hop=False).trace, settings=changed(max_hops=1).settings)
    two = changed(beam_auto=True, beam_width=10)
    assert diff(one, two).summary == "Hops 1→2, beam 2→auto 10: +1"
    assert diff(two, one).summary == "Hops 2→1, beam auto 10→2: −1"


def test_a_filter_is_added_changed_and_removed() -> None:
    none, one, two = changed(), changed(filters=FILTER), changed(filters={**FILTER, "value": 2})
    assert diff(one, two).changes == ("Filter changed",)
    assert diff(two, none).changes == ("Filter removed",)


def test_other_seeds_relations_and_questions_are_named() -> None:
    trace = retrieval().trace
    fewer = dataclasses.replace(trace, seeds=())
    assert diff(trace, fewer).changes == (f"Seeds {len(trace.seeds)}→0",)
    other = changed(relations=("A",)), changed(relations=("B",))
    assert diff(*other).changes == ("Relations changed",)
    asked = dataclasses.replace(trace, question="Who?\u202e")
    assert diff(trace, asked).changes[0].endswith("→“Who?”")


def test_the_evidence_marks_both() -> None:
    one, two = retrieval(second_hop=False), retrieval()
    forth = evidence_payload(two, diff(one.trace, two.trace))
    assert forth["entered"] == [HELIOS]
    assert forth["left"] == []
    (left,) = evidence_payload(one, diff(two.trace, one.trace))["left"]
    assert (left["id"], left["left"], left["hop"], left["cutoff"]) == (HELIOS, True, 2, 0.410)


def test_without_a_base_nothing_is_marked() -> None:
    payload = evidence_payload(retrieval())
    assert (payload["entered"], payload["left"]) == ([], [])


def test_a_source_shows_its_properties_as_text() -> None:
    run: Retrieval = retrieval()
    assert evidence_payload(run)["sources"][0]["properties"] == [["title", "IT register"], ["year", "2025"]]
