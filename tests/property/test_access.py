"""A hidden edge or passage changes nothing that a reader gets: no fact, no passage, no trace, no count, no error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kgcore import KgError, run_json
from kgcore.filters import AccessFilter
from kgcore.store import GraphStore
from kgcore.types import Chunk, Edge
from tests.contract.graphs import edge, exact, hidden, only
from tests.data.build import candidates, offline, retriever
from tests.property.conftest import stored
from tests.property.strategies import LOCK, NAMES, NODES, OTHERS, QUESTIONS, Graph, filters, graphs

ONCE = settings(max_examples=16, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def answers(store: GraphStore, calls: list[dict[str, Any]], lock: dict[str, Any] | None) -> Iterator[Any]:
    """All that a reader can get: runs or errors, and what the pages show beside them."""
    search = retriever(store, filters=lock, document_retriever=store.chunks, vector_top_k=2, hub_limit=3)
    for call in calls:
        try:
            yield run_json(search.retrieve(**call))
        except KgError as error:
            yield type(error).__name__, str(error), error.remedy
    filter = AccessFilter.of(lock)
    yield exact(store.describe(filter))
    yield [exact(store.search(prefix, filter)) for prefix in ("ann", "code", "b", "王", "acme")]
    yield exact(store.hubs(filter, 4)), exact(store.documents(filter))


def calls_for(question: str, filter: dict[str, Any]) -> list[dict[str, Any]]:
    """One question asked in every way, over ids and names that may be hidden."""
    return [
        {"question": question, "max_hops": 3, "beam_width": 3, "top_k": 4},
        {"question": question, "max_hops": 2, "filters": filter},
        {"question": question, "max_hops": 2, "beam_width": 2, "scoring": "edge", "seed_mode": "query"},
        {"question": question, "entities": [*dict.fromkeys((*NAMES, *OTHERS)), "Scrambled 1"], "top_k": 3},
        *({"question": question, "entity_ids": [node], "max_hops": 2, "beam_width": 2} for node in NODES[:2]),
    ]


@ONCE
@given(graphs(), st.sampled_from(QUESTIONS), filters)
def test_without_its_hidden_edges_names_and_passages_a_graph_answers_the_same(
    graph: Graph, question: str, filter: dict[str, Any]
) -> None:
    entities, edges = graph.without_hidden
    calls = calls_for(question, filter)
    with stored(*graph.edges, entities=graph.entities, chunks=graph.chunks, embedder=offline()) as store:
        whole = list(answers(store, calls, LOCK))
    with stored(*edges, entities=entities, chunks=graph.visible_chunks, embedder=offline()) as store:
        rest = list(answers(store, calls, LOCK))
    for one, other in zip(whole, rest, strict=True):
        assert one == other


PLAIN = (
    edge("e1", "n0", "WORKS_AT", "n2", src="Ann Lee", dst="Acme"),
    edge("e2", "n2", "USES", "n3", src="Acme", dst="Helios", properties={"allowed_principals": ("all",), "year": 2024}),
)
HIDDEN: tuple[Edge, ...] = (
    hidden("h1", "n0", "USES", "n3", src="Codename Bluebird", dst="Helios", description="the employer uses a system"),
    hidden(
        "h2", "n4", "knows", "n0", src="Anna", dst="Ann Leigh", properties={"allowed_principals": ("board",), "plan": 1}
    ),
)
CHUNKS = (
    Chunk(id="d1", document_id="a", content="Ann Lee is with Acme.", metadata={"allowed_principals": ("all",)}),
    Chunk(id="d7", document_id="b", content="Her employer uses a system.", metadata={"allowed_principals": ("board",)}),
)


def test_the_property_would_notice() -> None:
    """Without the lock hidden edges show in every kind of answer, so that the property above compares something."""
    calls = calls_for(QUESTIONS[0], only("plan", "==", 1))
    with stored(*PLAIN, *HIDDEN, embedder=offline()) as store:
        locked, unlocked = list(answers(store, calls, LOCK)), list(answers(store, calls, None))
    with stored(*PLAIN, embedder=offline()) as store:
        rest = list(answers(store, calls, None))
    assert [a == b for a, b in zip(unlocked, rest, strict=True)].count(True) <= 1
    assert any("plan" in str(answer) and "No edge has" in str(answer) for answer in locked)


def test_the_property_would_notice_a_passage() -> None:
    """A passage that no edge names shows itself and moves the others' scores, unless it is hidden."""
    calls = calls_for(QUESTIONS[0], only("year", "==", 2024))[:1]
    with stored(*PLAIN, chunks=CHUNKS, embedder=offline()) as store:
        (locked, *_), (unlocked, *_) = (list(answers(store, calls, lock)) for lock in (LOCK, None))
    assert '"d7"' in unlocked and '"d7"' not in locked


@ONCE
@given(graphs(), st.sampled_from(QUESTIONS), st.none() | st.none() | filters)
def test_the_locked_filter_holds_at_every_hop_for_every_candidate(
    graph: Graph, question: str, filter: dict[str, Any] | None
) -> None:
    seen = {e.id: e for e in graph.visible}
    names = set(Graph(edges=graph.visible).names)
    with stored(*graph.edges, entities=graph.entities) as store:
        search = retriever(store, filters=LOCK, max_hops=4, beam_width=3, top_k=3, hub_limit=4)
        runs = [search.retrieve(question, entities=[name], filters=filter) for name in NAMES[1:4]]
    for result in runs:
        assert {(seed.entity_id, seed.name) for seed in result.trace.seeds} <= names
        for c in candidates(result):
            assert set(c.fact.edge_ids) <= set(seen)
            assert set(c.fact.source_doc_ids) <= {seen[i].source_doc_id for i in c.fact.edge_ids}
            assert {(c.fact.source_id, c.fact.source), (c.fact.target_id, c.fact.target)} <= names
            assert (c.parent_id, c.parent_name) in names and (c.entity_id, c.entity_name) in names
            assert "allowed_principals" not in c.fact.metadata
        assert filter is not None or "allowed_principals" not in run_json(result)
