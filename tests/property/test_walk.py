"""The walk against a reference of a few lines, and what holds for every walk."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kgcore import ConfigError
from kgcore.types import Edge, Retrieval
from tests.data.build import candidates, coverage_of, retriever
from tests.property.conftest import stored
from tests.property.reference import fact_of, narrowed, walk
from tests.property.strategies import LOCK, QUESTIONS, RELATIONS, Graph, filters, graphs

MANY = settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
WIDE = {"beam_width": 1_000, "top_k": 1_000, "hub_limit": 1_000_000}


def some_nodes(data: st.DataObject, graph: Graph) -> list[str]:
    """Seeds that a reader sees, or none where there are only hidden edges and values."""
    return data.draw(st.lists(st.sampled_from(graph.nodes), min_size=1, max_size=3, unique=True)) if graph.nodes else []


@MANY
@given(graphs(), st.sampled_from(QUESTIONS), st.data())
def test_is_what_the_reference_says(graph: Graph, question: str, data: st.DataObject) -> None:
    seeds = some_nodes(data, graph)
    options = {
        "max_hops": data.draw(st.sampled_from([3, 2, 4, 1])),
        "top_k": data.draw(st.sampled_from([50, 3, 1])),
        "hub_limit": data.draw(st.sampled_from([3, 1, 500])),
        "relations": data.draw(st.sampled_from([(), (), RELATIONS[:2], ("status", "knows")])),
    }
    beam = data.draw(st.sampled_from([2, 50, 4, 1]))
    filter = data.draw(st.none() | st.none() | filters)
    edges = narrowed(graph.visible, filter)
    seeds = [s for s in seeds if any(s in (e.source_id, e.target_id) for e in edges)]
    expected = walk(edges, seeds, coverage_of(question), beam=beam, **options)
    if not seeds:
        return
    with stored(*graph.edges, entities=graph.entities) as store:
        search = retriever(store, filters=LOCK)
        result = search.retrieve(question, entity_ids=seeds, beam_width=beam, filters=filter, **options)
    for hop, steps, considered in zip(result.trace.hops, expected.hops, expected.considered, strict=True):
        assert [
            (c.fact.id, c.parent_id, c.entity_id, c.chain, c.fate, c.rank, c.bridge, c.degree, c.hop, c.fact.edge_ids)
            for c in hop.candidates
        ] == [(s.fact, s.parent, s.far, s.chain, s.fate, s.rank, s.bridge, s.degree, s.hop, s.edges) for s in steps]
        assert [c.score for c in hop.candidates] == pytest.approx([s.score for s in steps], abs=2e-6)
        kept = [s for s in steps if s.fate in ("kept", "top_k_cut")]
        assert (hop.considered, hop.left_out, hop.kept) == (considered, 0, len(kept))
        assert hop.cutoff == pytest.approx(kept[-1].score if kept else 0.0, abs=2e-6)
    assert [f.id for f in result.facts] == expected.facts == list(result.trace.result)


@MANY
@given(graphs(), st.sampled_from(QUESTIONS), filters, st.integers(1, 4), st.data())
def test_narrowing_never_adds_a_fact_and_holds_for_each(
    graph: Graph, question: str, filter: dict[str, Any], hops: int, data: st.DataObject
) -> None:
    seeds = some_nodes(data, graph)
    if not seeds:
        return
    through = {e.id for e in narrowed(graph.visible, filter)}
    with stored(*graph.edges, entities=graph.entities) as store:
        search = retriever(store, filters=LOCK, max_hops=hops, **WIDE)
        whole = search.retrieve(question, entity_ids=seeds)
        try:
            less = search.retrieve(question, entity_ids=seeds, filters=filter)
        except ConfigError:
            ends = {i for e in graph.edges if e.id in through for i in (e.source_id, e.target_id)}
            assert not set(seeds) <= ends
            return
    assert {f.id for f in less.facts} <= {f.id for f in whole.facts}
    assert {f.id for f in whole.facts} <= {fact_of(e) for e in graph.visible}
    for c in candidates(less):
        assert set(c.fact.edge_ids) <= through
    for f in less.facts:
        assert set(f.edge_ids) <= {i for other in whole.facts if other.id == f.id for i in other.edge_ids}


def leads(result: Retrieval, edges: tuple[Edge, ...]) -> None:
    """Each fact of the result is reached from a seed by the facts of its chain, all of them in the result."""
    ids = {f.id for f in result.facts}
    ends = {fact_of(e): set[str]() for e in edges}
    for e in edges:
        ends[fact_of(e)] |= {e.source_id, e.target_id}
    seeds = {s.entity_id for s in result.trace.seeds}
    by_id = {c.fact.id: c for c in candidates(result, "kept")}
    assert set(by_id) == ids and len(ids) == len(result.facts)
    for c in by_id.values():
        assert set(c.chain) <= ids and c.chain[-1] == c.fact.id and len(c.chain) == c.hop
        assert ends[c.chain[0]] & seeds
        for one, other in pairwise(c.chain):
            assert ends[one] & ends[other]


@MANY
@given(graphs(), st.sampled_from(QUESTIONS), st.integers(1, 4), st.integers(1, 6), st.integers(1, 5))
def test_no_fact_comes_without_its_chain(graph: Graph, question: str, hops: int, top_k: int, beam: int) -> None:
    with stored(*graph.edges, entities=graph.entities) as store:
        search = retriever(store, filters=LOCK, hub_limit=4)
        for seeds in ({"entity_ids": list(graph.nodes[:1])}, {"entities": ["Ann Lee", "Acme"]}, {}):
            result = search.retrieve(question, max_hops=hops, top_k=top_k, beam_width=beam, **seeds)
            assert len(result.facts) <= top_k
            leads(result, graph.visible)
