"""Why something is not in a result, against brute force on random graphs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from kgcore.retrieve.again import Target
from kgcore.retrieve.why import WhyNot
from kgcore.store import GraphStore
from kgcore.types import Edge, Retrieval, Trace
from tests.data.build import offline, retriever
from tests.property.conftest import stored
from tests.property.strategies import LOCK, NODES, QUESTIONS, RELATIONS, Graph, graphs

KEPT = ("kept", "reranked_out", "top_k_cut")
BRUTE = 40
"""More than the facts of any of these graphs."""

some_settings = st.fixed_dictionaries(
    {"max_hops": st.integers(1, 4), "beam_width": st.integers(1, 3), "top_k": st.sampled_from([1, 4, 50])},
    optional={
        "hub_limit": st.sampled_from([1, 2, 500]),
        "aliases": st.booleans(),
        "relations": st.just(list(RELATIONS[:2])),
        "filters": st.sampled_from(
            [
                {"field": "year", "operator": ">=", "value": 2024},
                {"field": "source_doc_id", "operator": "==", "value": "d1"},
            ]
        ),
        "entity_ids": st.lists(st.sampled_from(NODES), min_size=1, max_size=2, unique=True),
    },
)


def touches(trace: Trace, target: str, fates: tuple[str, ...]) -> bool:
    return any(
        c.fate in fates and target in (c.fact.source_id, c.fact.target_id) for hop in trace.hops for c in hop.candidates
    )


def ask(store: GraphStore, question: str, given: dict[str, Any]) -> Retrieval:
    return retriever(store, filters=LOCK).retrieve(question, **given)


def distance(edges: tuple[Edge, ...], seeds: set[str], target: str) -> int | None:
    """Hops from the nearest seed, whatever the direction."""
    reached, number = set(seeds), 0
    while target not in reached:
        more = {i for e in edges if {e.source_id, e.target_id} & reached for i in (e.source_id, e.target_id)} - reached
        if not more:
            return None
        reached, number = reached | more, number + 1
    return number


@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(graphs(), st.sampled_from(QUESTIONS), some_settings, st.sampled_from(NODES))
def test_it_is_what_brute_force_says(graph: Graph, question: str, given: dict[str, Any], target: str) -> None:
    assume(set(given.get("entity_ids", ())) <= set(graph.nodes))
    assume(not {"entity_ids", "filters"} <= given.keys())
    with stored(*graph.edges, entities=graph.entities, embedder=offline()) as store:
        result = ask(store, question, given)
        why = retriever(store, filters=LOCK).why_not(result, target)
        kept = [
            w for w in range(1, BRUTE) if touches(ask(store, question, {**given, "beam_width": w}).trace, target, KEPT)
        ]
    check(why, result, target, kept, graph)


def check(why: WhyNot, result: Retrieval, target: str, kept: list[int], graph: Graph) -> None:
    trace = result.trace
    seeds = {seed.entity_id for seed in trace.seeds}
    away = distance(graph.visible, seeds, target)
    assert (why.reason == "unknown") == (target not in graph.nodes)
    assert (why.reason == "in_result") == any(target in (f.source_id, f.target_id) for f in result.facts)
    if why.reason == "seed":
        assert target in seeds
    elif why.reason in ("top_k", "reranker"):
        assert touches(trace, target, ("top_k_cut",)) and not touches(trace, target, ("kept",))
    elif why.reason == "beam":
        assert why.beam_width == (kept[0] if kept else None)
        assert why.beam_width != trace.settings.beam_width
    elif why.reason == "no_path":
        assert not kept and (away is None or away > trace.settings.max_hops)
        if trace.settings.filters is None:
            assert len(why.path) == (away or 0)
    elif why.reason == "filter":
        assert trace.settings.filters is not None and why.condition == trace.settings.filters
    elif why.reason == "relations":
        assert trace.settings.relations and not kept
    elif why.reason == "hub":
        assert trace.settings.hub_limit < 500 and not kept
    if kept and why.reason not in ("unknown", "in_result", "seed", "top_k"):
        assert why.reason == "beam"


@settings(max_examples=10, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(graphs(), st.sampled_from(QUESTIONS), some_settings, st.sampled_from(NODES))
def test_what_is_hidden_changes_nothing(graph: Graph, question: str, given: dict[str, Any], target: str) -> None:
    assume("entity_ids" not in given)
    told = []
    entities, edges = graph.without_hidden
    for written, named in ((graph.edges, graph.entities), (edges, entities)):
        with stored(*written, entities=named, embedder=offline()) as store:
            result = ask(store, question, given)
            asking = retriever(store, filters=LOCK)
            found = [asking.why_not(result, target), asking.why_not(result, "nobody")]
            facts = [c.fact for hop in result.trace.hops for c in hop.candidates if c.fate == "beam_cut"][:2]
            found += [asking.why_not(result, fact.source_id, fact_id=fact.id) for fact in facts]
            told.append([replace(why, path=tuple(replace(e, embedding=None) for e in why.path)) for why in found])
    assert told[0] == told[1]
    assert told[0][1] == WhyNot(reason="unknown")


@settings(max_examples=10, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(graphs(), st.sampled_from(QUESTIONS), st.integers(1, 3))
def test_a_fact_that_the_beam_cut_enters_at_the_width_said(graph: Graph, question: str, hops: int) -> None:
    given = {"max_hops": hops, "beam_width": 1}
    with stored(*graph.edges, entities=graph.entities, embedder=offline()) as store:
        result = ask(store, question, given)
        cut = [c for hop in result.trace.hops for c in hop.candidates if c.fate == "beam_cut"]
        assume(cut)
        fact = cut[-1].fact
        target = Target(entity_id=fact.source_id, fact_id=fact.id)
        why = retriever(store, filters=LOCK).why_not(result, fact.source_id, fact_id=fact.id)
        kept = [
            w
            for w in range(1, BRUTE)
            if target.kept_in(ask(store, question, {**given, "beam_width": w, "top_k": 50}).trace)
        ]
    if why.reason != "in_result" and why.reason != "top_k":
        assert (why.reason, why.beam_width) == ("beam", kept[0])
        assert why.candidate is not None and why.candidate.fact.id == fact.id
