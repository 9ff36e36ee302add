"""Two principals on random graphs: the deciding edge is hidden, and to show it brings the fact nearer."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from kgcore.retrieve import Views, compare_views
from kgcore.types import Edge
from tests.contract.graphs import only
from tests.data.build import retriever
from tests.property.conftest import stored
from tests.property.reference import fact_of
from tests.property.strategies import QUESTIONS, Graph, graphs

MANY = settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
WIDE = {"beam_width": 1_000, "top_k": 1_000, "hub_limit": 1_000_000, "max_hops": 3}
A, B = "all", "board"


def sees(principal: str, edge: Edge) -> bool:
    """By the rules, not by a store."""
    held = edge.properties.get("allowed_principals")
    return isinstance(held, tuple) and principal in held


def drawn_seed(graph: Graph, data: st.DataObject) -> str:
    """An entity that both see."""
    both = [node for node in graph.nodes if any(sees(B, e) and node in (e.source_id, e.target_id) for e in graph.edges)]
    assume(both)
    return data.draw(st.sampled_from(both))


def compared(graph: Graph, edges: tuple[Edge, ...], question: str, seeds: list[str], **settings: int) -> Views:
    with stored(*edges, entities=graph.entities) as store:
        sides = [retriever(store, filters=only("allowed_principals", "contains_any", [name])) for name in (A, B)]
        return compare_views(question, *sides, entity_ids=seeds, aliases=False, **{**WIDE, **settings})


@MANY
@given(graphs(), st.sampled_from(QUESTIONS), st.data())
def test_the_edge_decides(graph: Graph, question: str, data: st.DataObject) -> None:
    """With room for everything, a fact is one side's alone only by what the other does not see on each way to it."""
    seeds = [drawn_seed(graph, data)]
    views = compared(graph, graph.edges, question, seeds)
    by_id = {e.id: e for e in graph.edges}
    for rows, own, other in ((views.only_a, A, B), (views.only_b, B, A)):
        for row in rows:
            assert row.edge is not None and row.why == ""
            decider = fact_of(by_id[row.edge.id])
            asserting = [e for e in graph.edges if fact_of(e) == decider]
            assert sees(own, by_id[row.edge.id]) and not any(sees(other, e) for e in asserting)
            assert row.edge.id == min(e.id for e in asserting if sees(own, e))
            assert 1 <= row.step <= row.steps == row.fact.hop
    assert len({s.fact.id for s in views.both}) == len(views.both)


@settings(MANY, max_examples=8)
@given(graphs(), st.sampled_from(QUESTIONS), st.data())
def test_shown_to_the_other_one_after_another_they_give_it_the_fact(
    graph: Graph, question: str, data: st.DataObject
) -> None:
    seeds = [drawn_seed(graph, data)]
    edges = graph.edges
    views = compared(graph, edges, question, seeds)
    assume(views.only_a)
    wanted = data.draw(st.sampled_from(views.only_a)).fact.id
    for _ in range(WIDE["max_hops"]):
        row = next((row for row in views.only_a if row.fact.id == wanted), None)
        if row is None:
            break
        assert row.edge is not None
        shown = {"allowed_principals": (A, B)}
        edges = tuple(
            replace(e, properties={**e.properties, **shown}) if e.id == row.edge.id else e for e in edges
        )  # fmt: skip
        views = compared(graph, edges, question, seeds)
    assert wanted in {shared.fact.id for shared in views.both}


NARROW = {"beam_width": 3, "top_k": 3, "hub_limit": 4, "max_hops": 3}


@MANY
@given(graphs(), st.sampled_from(QUESTIONS), st.data())
def test_where_the_others_walk_left_it(graph: Graph, question: str, data: st.DataObject) -> None:
    """A fact that the other's walk cut itself is told so, by no edge; nothing it went on from is named as the cause."""
    seeds = [drawn_seed(graph, data)]
    views = compared(graph, graph.edges, question, seeds, **NARROW)
    for rows, other in ((views.only_a, views.b), (views.only_b, views.a)):
        cut = {c.fact.id: c for hop in (other.trace.hops if other else ()) for c in hop.candidates if c.fate != "hub"}
        for row in rows:
            if row.fact.id in cut:
                assert row.edge is None
                assert re.match(r"ranks it \d|keeps it in its beam", row.why)
            elif row.why and "on the way" in row.why:
                assert re.match(r"ranks .*, on the way, \d", row.why)
