"""Aliases in the payloads: where they stand, what ties them to what was reached, and how a chain goes through them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from kgcore.store import GraphStore
from kgcore.types import Alias, Candidate, Retrieval
from kgcore.viz import diff, evidence_payload, graph_payload, network
from kgcore.viz.layout import COLUMN_GAP, ROW_GAP
from tests.data.build import retriever
from tests.data.parish import EDGES, PARISH, QUESTION
from tests.unit.test_viz import candidate, fact, retrieval

Build = Callable[..., GraphStore]
LINK = "may be island"


@pytest.fixture
def search(build: Build) -> Callable[..., Retrieval]:
    """Asks the parish where Napoleon lived, from him unless said otherwise."""

    def ask(**options: Any) -> Retrieval:
        store = build(*EDGES)
        asked: dict[str, Any] = {"entity_ids": ["napoleon"], "max_hops": 3, "top_k": 9, **options}
        return retriever(store).retrieve(QUESTION, **asked)

    return ask


def drawn(run: Retrieval, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Nodes and edges by id."""
    payload, _ = graph_payload(run, **options)
    return {node["id"]: node for node in payload["nodes"]}, {edge["id"]: edge for edge in payload["edges"]}


def with_alias(
    *candidates: Candidate, hop: int = 2, alias: str = "risk-team-group", of: str = "risk-team"
) -> Retrieval:
    """The made-up walk whose hop also starts from an alias, with these candidates more."""
    base = retrieval()
    added = Alias(
        entity_id=alias, name="Risk Team Group", type="Team", degree=3, share=0.6, of_id=of, of_name="Risk Team"
    )
    hops = list(base.trace.hops)
    old = hops[hop - 1]
    hops[hop - 1] = dataclasses.replace(old, aliases=(added,), candidates=(*old.candidates, *candidates))
    return dataclasses.replace(base, trace=dataclasses.replace(base.trace, hops=tuple(hops)))


class TestNode:
    def test_it_stands_under_what_it_may_be_in_its_column(self, search: Callable[..., Retrieval]) -> None:
        nodes, _ = drawn(search())
        island, parish = nodes["island"], nodes["parish"]
        assert island["x"] == parish["x"] == COLUMN_GAP
        assert island["y"] == parish["y"] + ROW_GAP
        assert nodes["crown"]["x"] == 2 * COLUMN_GAP

    def test_it_says_what_it_may_be(self, search: Callable[..., Retrieval]) -> None:
        nodes, _ = drawn(search())
        assert nodes["island"]["alias"] == PARISH
        assert nodes["island"]["title"].split("\n") == [
            "Saint Helena",
            "Thing · 1 edge",
            "may be Saint Helena Parish: its name is part of that name",
        ]
        assert {id for id, node in nodes.items() if node["alias"]} == {"island"}

    def test_of_a_seed_it_stands_among_the_seeds(self, search: Callable[..., Retrieval]) -> None:
        nodes, edges = drawn(search(entity_ids=["parish"]))
        assert (nodes["island"]["hop"], nodes["island"]["x"], edges[LINK]["hop"]) == (0, 0, 1)

    def test_it_is_placed_by_springs_too(self, search: Callable[..., Retrieval]) -> None:
        nodes, edges = drawn(search(), layout="force")
        assert len({(node["x"], node["y"]) for node in nodes.values()}) == len(nodes) == 5
        assert edges[LINK]["curve"] == 0

    def test_one_from_which_nothing_starts_is_not_drawn(self) -> None:
        nodes, edges = drawn(with_alias())
        assert nodes.keys() == drawn(retrieval())[0].keys()
        assert not any(edge["alias"] for edge in edges.values())

    def test_one_that_a_fact_reaches_first_still_stands_in_its_column(self) -> None:
        member = retrieval().trace.hops[0].candidates[1]
        reaches = candidate(fact("acme-capital", "OWNS", "risk-team-group", 2, 0.6), "acme-capital", [], 1)
        starts = candidate(fact("risk-team-group", "RUNS", "desk", 2, 0.5), "risk-team-group", [member.fact], 2)
        nodes, _ = drawn(with_alias(reaches, starts))
        assert nodes["risk-team-group"]["x"] == nodes["risk-team"]["x"] == COLUMN_GAP

    def test_a_new_one_does_not_move_what_stands(self, search: Callable[..., Retrieval]) -> None:
        _, before = graph_payload(search(aliases=False))
        _, after = graph_payload(search(), before)
        assert {id: after.places[id] for id in before.places} == before.places
        assert after.places["island"] in {(COLUMN_GAP, before.places["parish"][1] + by) for by in (-ROW_GAP, ROW_GAP)}


class TestLink:
    def test_it_ties_what_was_reached_to_the_alias(self, search: Callable[..., Retrieval]) -> None:
        _, edges = drawn(search())
        link = edges[LINK]
        assert (link["from"], link["to"], link["hop"], link["label"]) == ("parish", "island", 2, "may be")
        assert link["inResult"] and not (link["near"] or link["left"] or link["gone"] or link["entered"])
        assert link["title"].split("\n")[0] == "Saint Helena Parish ≈ Saint Helena"
        assert [id for id, edge in edges.items() if edge["alias"]] == [LINK]

    def test_a_chain_goes_through_it(self, search: Callable[..., Retrieval]) -> None:
        run = search()
        _, edges = drawn(run)
        lived, part, seated = (c.fact.id for hop in run.trace.hops for c in hop.candidates if c.fate == "kept")
        assert edges[lived]["chain"] == [lived]
        assert edges[part]["chain"] == [lived, LINK, part]
        assert edges[seated]["chain"] == [lived, LINK, part, seated]

    def test_of_near_misses_it_is_one(self) -> None:
        member = retrieval().trace.hops[0].candidates[1]
        cut = candidate(
            fact("risk-team-group", "RUNS", "desk", 2, 0.1), "risk-team-group", [member.fact], 3, "beam_cut"
        )
        nodes, edges = drawn(with_alias(cut))
        link = edges["may be risk-team-group"]
        assert link["near"] and nodes["risk-team-group"]["near"] and not link["inResult"]

    def test_of_a_fact_cut_from_the_result_it_is_not_in_it(self) -> None:
        member = retrieval().trace.hops[0].candidates[1]
        cut = candidate(
            fact("risk-team-group", "RUNS", "desk", 2, 0.4), "risk-team-group", [member.fact], 3, "top_k_cut"
        )
        link = drawn(with_alias(cut))[1]["may be risk-team-group"]
        assert not link["near"] and not link["inResult"]

    def test_without_what_it_may_be_it_is_not_drawn(self) -> None:
        starts = candidate(fact("risk-team-group", "RUNS", "desk", 2, 0.5), "risk-team-group", [], 2)
        nodes, edges = drawn(with_alias(starts, of="nowhere"))
        assert not any(edge["alias"] for edge in edges.values())
        assert {"risk-team-group", "desk"} <= nodes.keys()

    def test_the_network_has_it(self, search: Callable[..., Retrieval]) -> None:
        assert len(network(search()).edges) == 4


class TestDiff:
    def test_what_an_alias_brought_enters_with_it(self, search: Callable[..., Retrieval]) -> None:
        on, off = search(), search(aliases=False)
        nodes, edges = drawn(on, diff=diff(off.trace, on.trace))
        assert {id for id, node in nodes.items() if node["entered"]} == {"island", "crown", "london"}
        assert edges[LINK]["entered"]

    def test_what_it_had_brought_leaves_with_it(self, search: Callable[..., Retrieval]) -> None:
        on, off = search(), search(aliases=False)
        change = diff(on.trace, off.trace)
        assert change.summary.startswith("Aliases on→off: −2")
        nodes, edges = drawn(off, diff=change)
        assert {id for id, node in nodes.items() if node["left"]} == {"island", "crown", "london"}
        link = edges[LINK]
        assert link["left"] and link["gone"] and not link["inResult"] and not link["entered"]
        assert nodes["island"]["alias"] == PARISH


class TestEvidence:
    def test_a_fact_says_which_name_it_starts_from_a_part_of(self, search: Callable[..., Retrieval]) -> None:
        told = {one["relation"]: (one["start"], one["aliasOf"]) for one in evidence_payload(search())["facts"]}
        assert told == {
            "LIVED_IN": ("Napoleon", ""),
            "PART_OF": ("Saint Helena", PARISH),
            "SEATED_IN": ("The Crown", ""),
        }

    def test_the_trace_lists_them_by_hop(self, search: Callable[..., Retrieval]) -> None:
        hops = evidence_payload(search())["trace"]["hops"]
        assert [hop["aliases"] for hop in hops] == [[], [{"name": "Saint Helena", "of": PARISH}], []]

    def test_of_many_it_counts_the_rest(self) -> None:
        run = with_alias()
        (alias,) = run.trace.hops[1].aliases
        hop = dataclasses.replace(run.trace.hops[1], aliases=(dataclasses.replace(alias, name="\u202e"), *[alias] * 24))
        trace = dataclasses.replace(run.trace, hops=(run.trace.hops[0], hop))
        told = evidence_payload(dataclasses.replace(run, trace=trace))["trace"]["hops"][1]
        assert (len(told["aliases"]), told["moreAliases"]) == (20, 5)
        assert told["aliases"][0] == {"name": "(unnamed)", "of": "Risk Team"}
