"""One question as two principals: what is whose, the edge that decides, and the words where none does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from kgcore import FilterError, KnowledgeGraphRetriever
from kgcore.ingest.demo import demo_questions
from kgcore.retrieve import OneSided, Views, compare_views
from kgcore.store import GraphStore
from kgcore.types import HAS_ATTRIBUTE, Edge
from tests.contract.graphs import edge, only
from tests.data.build import retriever

Build = Callable[..., GraphStore]
A, B, BOTH = ("a",), ("b",), ("a", "b")


def seen_by(principals: tuple[str, ...], *args: Any, **more: Any) -> Edge:
    return edge(*args, **more, properties={"allowed_principals": principals})


def as_(store: GraphStore, principal: str, **options: Any) -> KnowledgeGraphRetriever:
    return retriever(store, filters=only("allowed_principals", "contains_any", [principal]), **options)


def compare(store: GraphStore, question: str = "Where does Ann go?", **settings: Any) -> Views:
    asked = {"entity_ids": ["ann"], "max_hops": 3, "beam_width": 100, "top_k": 100, **settings}
    return compare_views(question, as_(store, "a"), as_(store, "b"), **asked)


def told(rows: tuple[OneSided, ...]) -> dict[str, tuple[str | None, int, int]]:
    """Each fact's far end, with the edge that decides and its step on the way."""
    return {row.fact.target_id: (row.edge.id if row.edge else None, row.step, row.steps) for row in rows}


CHAIN = (
    seen_by(BOTH, "1", "ann", "KNOWS", "bob"),
    seen_by(A, "2", "bob", "KNOWS", "cid", doc="d2"),
    seen_by(BOTH, "3", "cid", "KNOWS", "dan"),
)


class TestTheDecidingEdge:
    def test_is_the_first_on_the_way_that_the_other_does_not_see(self, build: Build) -> None:
        views = compare(build(*CHAIN))
        assert [shared.fact.target_id for shared in views.both] == ["bob"]
        assert told(views.only_a) == {"cid": ("2", 2, 2), "dan": ("2", 2, 3)}
        assert views.only_b == () and all(row.why == "" for row in views.only_a)
        assert {row.edge.source_doc_id for row in views.only_a if row.edge} == {"d2"}

    def test_seen_by_the_other_too_it_decides_nothing(self, build: Build) -> None:
        opened = [replace(e, properties={"allowed_principals": BOTH}) for e in CHAIN]
        views = compare(build(*opened))
        assert views.only_a == views.only_b == () and len(views.both) == 3

    def test_without_it_the_facts_are_nobodys(self, build: Build) -> None:
        views = compare(build(CHAIN[0], CHAIN[2]))
        assert views.only_a == views.only_b == () and [s.fact.target_id for s in views.both] == ["bob"]

    def test_each_side_has_its_own(self, build: Build) -> None:
        views = compare(build(*CHAIN, seen_by(B, "4", "ann", "OWNS", "eve")))
        assert told(views.only_a) == {"cid": ("2", 2, 2), "dan": ("2", 2, 3)}
        assert told(views.only_b) == {"eve": ("4", 1, 1)}

    def test_of_several_it_is_the_one_with_the_lowest_id(self, build: Build) -> None:
        more = (seen_by(A, "9", "bob", "KNOWS", "cid", doc="d9"), seen_by(A, "0", "bob", "KNOWS", "cid", doc="d0"))
        views = compare(build(*CHAIN, *more))
        assert told(views.only_a)["cid"] == ("0", 2, 2)

    def test_is_none_of_a_fact_that_the_other_sees_by_another_document(self, build: Build) -> None:
        """None of A's edges is B's, and yet the fact is: what is hidden comes after it."""
        views = compare(build(*CHAIN, seen_by(B, "8", "bob", "KNOWS", "cid", doc="d8"),
                              seen_by(A, "5", "dan", "KNOWS", "eve")), max_hops=4)  # fmt: skip
        assert told(views.only_a) == {"eve": ("5", 4, 4)}

    def test_nor_where_the_others_walk_never_came(self, build: Build) -> None:
        """B sees the fact by its own document, but not through the hub that bob is to it."""
        crowd = [seen_by(B, f"n{i}", f"p{i}", "MEETS", "bob") for i in range(5)]
        status = {"key": "status", "dst": "Open"}
        store = build(
            seen_by(BOTH, "1", "ann", "KNOWS", "bob"),
            seen_by(A, "2", "bob", "KNOWS", "cid"),
            seen_by(B, "3", "bob", "KNOWS", "cid", doc="d3"),
            seen_by(A, "4", "bob", HAS_ATTRIBUTE, "x/open", **status),
            seen_by(B, "5", "bob", HAS_ATTRIBUTE, "y/open", doc="d3", **status),
            seen_by(A, "6", "bob", "KNOWS", "dan"),
            *crowd,
        )
        views = compare(store, hub_limit=4, max_hops=2)
        assert told(views.only_a) == {"cid": (None, 0, 0), "x/open": (None, 0, 0), "dan": ("6", 2, 2)}
        why = {row.why for row in views.only_a if not row.edge}
        assert why == {"sees 8 edges at bob, a hub that it does not walk through"}

    def test_an_attribute_is_seen_by_its_value_wherever_that_stands(self, build: Build) -> None:
        status = {"key": "status", "dst": "Open"}
        store = build(
            seen_by(BOTH, "0", "ann", "KNOWS", "bob"),
            seen_by(A, "1", "bob", HAS_ATTRIBUTE, "x/open", **status),
            seen_by(B, "2", "bob", HAS_ATTRIBUTE, "y/open", doc="d2", **status),
        )
        views = compare(store)
        (shared,) = [shared for shared in views.both if shared.fact.attribute]
        assert [e.id for e in shared.only_a] == ["1"] and [e.id for e in shared.only_b] == ["2"]

    def test_who_may_see_it_is_told_nowhere(self, build: Build) -> None:
        assert "allowed_principals" not in repr(compare(build(*CHAIN)))


class TestWhatBothFind:
    def test_says_by_which_documents_only_one_does(self, build: Build) -> None:
        views = compare(
            build(
                seen_by(BOTH, "1", "ann", "KNOWS", "bob"),
                seen_by(A, "2", "ann", "KNOWS", "bob", doc="d2"),
                seen_by(A, "3", "ann", "KNOWS", "bob", doc="d2"),
                seen_by(B, "4", "ann", "KNOWS", "bob", doc="d4"),
                seen_by(A, "7", "ann", "KNOWS", "bob"),
                seen_by(BOTH, "5", "ann", "KNOWS", "cid"),
                seen_by(A, "6", "ann", "KNOWS", "cid", doc=None),
            )
        )
        found = {s.fact.target_id: ([e.id for e in s.only_a], [e.id for e in s.only_b]) for s in views.both}
        assert found == {"bob": (["2"], ["4"]), "cid": (["6"], [])}


class TestWhereNoEdgeDecides:
    def test_the_beam_of_the_other_does(self, build: Build) -> None:
        near = [seen_by(B, f"n{i}", "ann", "GOES", f"place-{i}", dst=f"Where Ann goes {i}") for i in range(3)]
        views = compare(build(seen_by(BOTH, "1", "ann", "KNOWS", "bob"), *near), beam_width=3, max_hops=1)
        (row,) = views.only_a
        assert (row.edge, row.why) == (None, "ranks it 4 of 4 in hop 1, its beam keeps 3")
        assert told(views.only_b)["place-0"] == ("n0", 1, 1)

    def test_or_its_beam_on_the_way(self, build: Build) -> None:
        near = [seen_by(B, f"n{i}", "ann", "GOES", f"place-{i}", dst=f"Where Ann goes {i}") for i in range(3)]
        store = build(seen_by(BOTH, "1", "ann", "KNOWS", "bob"), seen_by(BOTH, "2", "bob", "KNOWS", "cid"), *near)
        why = {row.fact.target_id: row.why for row in compare(store, beam_width=3, max_hops=2).only_a}
        assert why["cid"] == "ranks ann KNOWS bob, on the way, 4 of 4 in hop 1, its beam keeps 3"

    def test_or_its_top_k(self, build: Build) -> None:
        near = [seen_by(B, f"n{i}", "ann", "GOES", f"place-{i}", dst=f"Where Ann goes {i}") for i in range(3)]
        views = compare(build(seen_by(BOTH, "1", "ann", "KNOWS", "bob"), *near), top_k=3, beam_width=9, max_hops=1)
        assert [row.why for row in views.only_a] == ["keeps it in its beam, but it is put out of the top 3"]

    def test_or_a_hub_of_its_own(self, build: Build) -> None:
        crowd = [seen_by(B, f"n{i}", f"p{i}", "MEETS", "bob") for i in range(5)]
        store = build(seen_by(BOTH, "1", "ann", "KNOWS", "bob"), seen_by(BOTH, "2", "bob", "KNOWS", "cid"), *crowd)
        views = compare(store, hub_limit=3, max_hops=2)
        assert [row.why for row in views.only_a] == ["sees 7 edges at bob, a hub that it does not walk through"]

    def test_or_where_it_starts(self, build: Build) -> None:
        store = build(
            seen_by(BOTH, "1", "ann", "KNOWS", "bob"),
            seen_by(A, "2", "moot", "KNOWS", "cid", src="Castle"),
            seen_by(B, "3", "dee", "KNOWS", "eve", src="Castle"),
            seen_by(BOTH, "4", "moot", "KNOWS", "fay", src="Other"),
        )
        views = compare(store, "Who is in the Castle?", entity_ids=None, entities=["Castle"])
        assert {row.fact.target_id: row.why for row in views.only_a if not row.edge} == {
            "fay": "starts from Castle, not from Other"
        }


class TestWhoCannotStart:
    def test_is_denied_everything(self, build: Build) -> None:
        views = compare_views("Who?", as_(build(*CHAIN), "a"), None, entity_ids=["ann"], max_hops=3)
        assert views.b is None and views.both == views.only_b == ()
        assert {(row.edge, row.why) for row in views.only_a} == {(None, "is denied everything")}
        assert compare_views("Who?", None, None) == Views(a=None, b=None, only_a=(), both=(), only_b=())

    def test_or_sees_none_of_the_seeds(self, build: Build) -> None:
        store = build(seen_by(A, "1", "ann", "KNOWS", "bob"), seen_by(B, "2", "cid", "KNOWS", "dan"))
        views = compare(store)
        assert views.b is None and told(views.only_a) == {"bob": ("1", 1, 1)}
        views = compare(store, entity_ids=["cid", "ann"])
        assert told(views.only_a) == {"bob": ("1", 1, 1)} and told(views.only_b) == {"dan": ("2", 1, 1)}

    def test_a_callers_filter_holds_for_both(self, build: Build) -> None:
        views = compare(build(*CHAIN), filters=only("source_doc_id", "==", "d1"))
        assert [shared.fact.target_id for shared in views.both] == ["bob"] and views.only_a == ()
        with pytest.raises(FilterError):
            compare(build(*CHAIN), filters={"field": 1})


class TestTheDemo:
    @pytest.mark.parametrize("question", demo_questions(), ids=lambda question: str(question["id"]))
    def test_every_row_holds(self, demo: GraphStore, question: dict[str, Any]) -> None:
        """What is hidden is hidden, what comes before it on the way is not, and nothing is told twice or lost."""
        sides = {group: as_(demo, f"group:{group}") for group in ("finance", "public")}
        views = compare_views(question["question"], *sides.values(), top_k=20, **question["settings"])
        assert views.a and views.b
        lists = [[row.fact.id for row in rows] for rows in (views.only_a, views.both, views.only_b)]
        assert sorted(lists[0] + lists[1]) == sorted(fact.id for fact in views.a.facts)
        assert sorted(lists[1] + lists[2]) == sorted(fact.id for fact in views.b.facts)
        for rows, own, other in (
            (views.only_a, sides["finance"], sides["public"]),
            (views.only_b, sides["public"], sides["finance"]),
        ):
            for row in rows:
                assert bool(row.edge) != bool(row.why)
                if row.edge:
                    assert demo.edges([row.edge.id], own.filter) == (row.edge,)
                    assert demo.edges([row.edge.id], other.filter) == ()

    def test_finance_finds_the_target_by_the_minutes_of_the_board(self, demo: GraphStore) -> None:
        asked = next(question for question in demo_questions() if question["id"] == "q16")
        sides = [as_(demo, f"group:{group}") for group in ("finance", "public")]
        views = compare_views(asked["question"], *sides, top_k=20, **asked["settings"])
        (row,) = [row for row in views.only_a if row.fact.text.startswith("Pellworm Bank -[BASED_IN]-> Hamburg")]
        assert row.edge is not None and (row.step, row.steps) == (2, 3)
        assert (row.edge.src_name, row.edge.relation) == ('Project "Blue Harbor"', "TARGETS")
        assert row.edge.properties["title"] == "Board minutes, September 2025"
