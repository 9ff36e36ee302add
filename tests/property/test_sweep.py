"""A sweep gives what each of its settings gives alone, whatever was asked before it in the same sweep."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kgcore.types import Chunk
from tests.data.build import offline, retriever
from tests.property.conftest import stored
from tests.property.strategies import LOCK, QUESTIONS, RELATIONS, Graph, filters, graphs

some_settings: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "max_hops": st.integers(1, 4),
        "beam_width": st.none() | st.sampled_from([1, 2, 3, 50, 900]),
        "top_k": st.sampled_from([1, 4, 50]),
    },
    optional={
        "scoring": st.sampled_from(["coverage", "edge"]),
        "seed_mode": st.sampled_from(["auto", "query", "mentions"]),
        "hub_limit": st.sampled_from([1, 500]),
        "aliases": st.booleans(),
        "relations": st.just(list(RELATIONS[:2])),
        "filters": filters,
        "entities": st.just(["Ann Lee", "Acme"]),
    },
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(graphs(), st.sampled_from(QUESTIONS), st.lists(some_settings, min_size=2, max_size=8))
def test_is_each_of_its_settings_alone(graph: Graph, question: str, swept: list[dict[str, Any]]) -> None:
    named = {edge.source_doc_id for edge in graph.edges if edge.source_doc_id}
    chunks = [Chunk(id=id_, document_id=id_, content=f"{id_} is about {question}") for id_ in sorted(named)]
    with (
        pytest.MonkeyPatch.context() as patch,
        stored(*graph.edges, entities=graph.entities, chunks=chunks, embedder=offline()) as store,
    ):
        patch.setattr("kgcore.retrieve.ground.WEIGHED", 1)  # so that not all passages are fetched
        search = retriever(store, filters=LOCK, document_retriever=store.chunks)
        alone = [search.retrieve(question, **one) for one in swept]
        assert list(search.sweep(question, swept)) == alone
