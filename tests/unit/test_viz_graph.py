"""The graph's payload: what is drawn of a large walk, what a change marks, labels, and both layouts."""

from __future__ import annotations

import dataclasses
import math

import pytest

from bench.walks import walk
from kgcore.types import Candidate, Retrieval, Trace
from kgcore.viz import diff, graph_payload
from kgcore.viz.frontier import frontier
from kgcore.viz.labels import node_labels
from kgcore.viz.limits import MAX_EDGES, MAX_NODES, drawn


def with_result(run: Retrieval, ids: list[str]) -> Retrieval:
    return dataclasses.replace(run, trace=dataclasses.replace(run.trace, result=tuple(ids)))


def without_hop(run: Retrieval, number: int) -> Retrieval:
    """The same walk as if it had stopped before this hop."""
    hops = run.trace.hops[: number - 1]
    here = {candidate.fact.id for hop in hops for candidate in hop.candidates}
    result = tuple(fact_id for fact_id in run.trace.result if fact_id in here)
    return dataclasses.replace(run, trace=dataclasses.replace(run.trace, hops=hops, result=result))


def candidates(trace: Trace) -> dict[str, Candidate]:
    return {candidate.fact.id: candidate for hop in trace.hops for candidate in hop.candidates}


class TestLimits:
    def test_all_of_a_smaller_walk_is_drawn(self) -> None:
        payload, _ = graph_payload(walk((20, 60), bridges=30, near=3))
        assert (len(payload["nodes"]), len(payload["edges"])) == (3 + 80 + 6, 80 + 30 + 6)
        assert payload["leftOut"] == ""

    def test_at_the_limits_nothing_is_left_out(self) -> None:
        payload, _ = graph_payload(walk((900, MAX_NODES - 903), bridges=MAX_EDGES - MAX_NODES + 3))
        assert (len(payload["nodes"]), len(payload["edges"])) == (MAX_NODES, MAX_EDGES)
        assert payload["leftOut"] == ""

    @pytest.mark.parametrize(
        ("reached", "bridges"), [((1_200, 1_500), 0), ((500, 400), 4_500), ((1_000, 1_200), 3_500)]
    )
    def test_beyond_them_the_page_says_what_is_left_out_and_why(self, reached: tuple[int, int], bridges: int) -> None:
        run = walk(reached, bridges=bridges, near=3, top_k=100)
        payload, layout = graph_payload(run)
        facts = len(candidates(run.trace))
        assert len(payload["nodes"]) <= MAX_NODES
        assert len(payload["edges"]) <= MAX_EDGES
        assert len(payload["nodes"]) > MAX_NODES - 4 or len(payload["edges"]) > MAX_EDGES - 4
        missing = facts - len(payload["edges"])
        assert payload["leftOut"].startswith(f"{missing:,} of {facts:,} facts are not drawn")
        assert "2,000 entities or 5,000 facts" in payload["leftOut"]
        assert layout.places.keys() == {node["id"] for node in payload["nodes"]}

    def test_the_result_is_drawn_with_its_chains_before_what_scored_better(self) -> None:
        run = walk((1_500, 1_500), near=3)
        last = list(candidates(run.trace).values())[-4]
        assert last.fate == "kept" and len(last.chain) == 2
        run = with_result(run, list(last.chain))
        shown = drawn(run.trace, frontier(run.trace))
        assert set(last.chain) <= {candidate.fact.id for candidate in shown.kept}
        assert shown.near == ()

    def test_every_edge_has_its_ends(self) -> None:
        payload, _ = graph_payload(walk((1_400, 1_400), bridges=300, near=3))
        nodes = {node["id"] for node in payload["nodes"]}
        assert {end for edge in payload["edges"] for end in (edge["from"], edge["to"])} <= nodes


class TestDiff:
    def marked(self, before: Retrieval, after: Retrieval) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
        """Ids of nodes and of edges by mark."""
        payload, _ = graph_payload(after, diff=diff(before.trace, after.trace))
        return (
            {mark: {node["id"] for node in payload["nodes"] if node[mark]} for mark in ("entered", "left")},
            {mark: {edge["id"] for edge in payload["edges"] if edge[mark]} for mark in ("entered", "left", "gone")},
        )

    def test_without_one_nothing_is_marked(self) -> None:
        payload, _ = graph_payload(walk((4, 4)))
        marks = ("entered", "left")
        assert not any(item[mark] for item in payload["nodes"] + payload["edges"] for mark in marks)

    def test_what_a_further_hop_adds_is_new(self) -> None:
        run = walk((4, 5))
        nodes, edges = self.marked(without_hop(run, 2), run)
        assert nodes == {"entered": {f"e2-{index}" for index in range(5)}, "left": set()}
        second = {candidate.fact.id for candidate in run.trace.hops[1].candidates}
        assert edges == {"entered": second, "left": set(), "gone": set()}

    def test_what_a_hop_less_takes_is_still_drawn(self) -> None:
        run = walk((4, 5))
        nodes, edges = self.marked(run, without_hop(run, 2))
        second = {candidate.fact.id for candidate in run.trace.hops[1].candidates}
        assert nodes == {"entered": set(), "left": {f"e2-{index}" for index in range(5)}}
        assert edges == {"entered": set(), "left": second, "gone": second}

    def test_what_top_k_cut_left_but_is_not_gone(self) -> None:
        run = walk((4, 5))
        fewer = with_result(run, list(run.trace.result[:3]))
        nodes, edges = self.marked(run, fewer)
        assert nodes == {"entered": set(), "left": set()}
        assert edges == {"entered": set(), "left": set(run.trace.result[3:]), "gone": set()}
        _, back = self.marked(fewer, run)
        assert back["entered"] == set(run.trace.result[3:])

    def test_an_entity_that_was_reached_before_is_not_new(self) -> None:
        run = walk((4, 5), bridges=4)
        first = [fact_id for fact_id in run.trace.result if "e2-" not in fact_id]
        nodes, edges = self.marked(with_result(run, first), run)
        assert edges["entered"] and nodes["entered"] == set()

    def test_a_fact_that_left_says_so(self) -> None:
        run = walk((4, 5))
        shorter = without_hop(run, 2)
        payload, _ = graph_payload(shorter, diff=diff(run.trace, shorter.trace))
        titles = {edge["id"]: edge["title"] for edge in payload["edges"]}
        for candidate in run.trace.hops[1].candidates:
            assert "left the result" in titles[candidate.fact.id]
        assert "no longer in the result" in next(n["title"] for n in payload["nodes"] if n["id"] == "e2-0")

    def test_what_left_keeps_its_place(self) -> None:
        run = walk((4, 5))
        _, layout = graph_payload(run)
        shorter = without_hop(run, 2)
        payload, after = graph_payload(shorter, layout, diff=diff(run.trace, shorter.trace))
        assert after == layout
        assert {node["id"]: (node["x"], node["y"]) for node in payload["nodes"]} == layout.places


class TestLayouts:
    def test_the_payload_says_which_it_is(self) -> None:
        run = walk((4, 5))
        assert graph_payload(run)[0]["layout"] == "columns"
        payload, layout = graph_payload(run, layout="force")
        assert payload["layout"] == layout.kind == "force"

    def test_a_layout_of_the_other_kind_is_not_used(self) -> None:
        run = walk((4, 5))
        forced = graph_payload(run, layout="force")
        assert graph_payload(run, graph_payload(run)[1], layout="force") == forced
        assert graph_payload(run, forced[1]) == graph_payload(run)

    @pytest.mark.parametrize("kind", ["columns", "force"])
    def test_a_wider_beam_moves_nobody_and_a_narrower_one_brings_nobody_back_elsewhere(self, kind: str) -> None:
        narrow, wide = walk((4, 6), near=3), walk((9, 40), bridges=8, near=3)
        _, first = graph_payload(narrow, layout=kind)  # type: ignore[arg-type]
        _, second = graph_payload(wide, first, layout=kind)  # type: ignore[arg-type]
        _, third = graph_payload(narrow, second, layout=kind)  # type: ignore[arg-type]
        assert {id: second.places[id] for id in first.places} == first.places
        assert third == second

    def test_near_misses_do_not_change_where_the_others_stand(self) -> None:
        _, without = graph_payload(walk((4, 6)))
        _, with_near = graph_payload(walk((4, 6), near=3))
        assert {id: with_near.places[id] for id in without.places} == without.places

    def test_straight_lines_do_not_bend_where_springs_pull(self) -> None:
        run = walk((6, 40), bridges=20)
        curves = {
            kind: [edge["curve"] for edge in graph_payload(run, layout=kind)[0]["edges"]]  # type: ignore[arg-type]
            for kind in ("columns", "force")
        }
        pairs = len({frozenset((c.parent_id, c.entity_id)) for c in candidates(run.trace).values()})
        assert sum(map(math.isclose, curves["force"], [0.0] * len(curves["force"]))) == pairs


class TestLabels:
    def test_a_homonym_has_its_type_and_a_double_one_its_id(self) -> None:
        labels = node_labels(
            {"person:alex-kim-1": "Alex Kim", "person:alex-kim-2": "Alex Kim", "t": "alex kim", "o": "Other"},
            {"person:alex-kim-1": "Person", "person:alex-kim-2": "Person", "t": "Team", "o": "Team"},
        )
        assert labels == {
            "person:alex-kim-1": "Alex Kim · …lex-kim-1",
            "person:alex-kim-2": "Alex Kim · …lex-kim-2",
            "t": "alex kim · Team",
            "o": "Other",
        }

    def test_homonyms_without_a_type_have_their_ids(self) -> None:
        assert node_labels({"a1": "X", "a2": "x"}, {}) == {"a1": "X · a1", "a2": "x · a2"}

    def test_a_label_is_never_empty(self) -> None:
        assert node_labels({"a": "", "b": "\u200b"}, {}) == {"a": "(unnamed) · a", "b": "(unnamed) · b"}
        assert node_labels({"a": ""}, {}) == {"a": "(unnamed)"}
