"""Vectors computed after the writing: none is used before nearly all are there, and nothing else changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from kgcore.errors import ConfigError, StoreError
from kgcore.filters import WHOLE
from kgcore.ingest import embed_missing, write_graph
from kgcore.retrieve import KnowledgeGraphRetriever
from kgcore.store import GraphStore
from tests.contract.conftest import StoreFactory
from tests.contract.graphs import READER, chunk, edge, hidden, things, vec

EDGES = (
    edge("e1", "a", "R", "b", doc="one#1"),
    edge("e2", "b", "R", "c", doc="one#2", description="said"),
    edge("e3", "b", "R", "c", doc="two#1", src="Bee"),
    hidden("h1", "c", "S", "d", doc="two#1"),
)
CHUNKS = (chunk("one#1"), chunk("one#2"), chunk("two#1"))


class Counting:
    """An embedder of two numbers that remembers what it was given."""

    name = "counting"
    dimension = 2

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        self.texts += texts
        turned = [len(text) % 7 / 7 for text in texts]
        return np.array([[np.cos(turn), np.sin(turn)] for turn in turned], np.float32).reshape(-1, 2)


@pytest.fixture
def store(factory: StoreFactory) -> GraphStore:
    """A store that shows access metadata, with the graph and no vector."""
    made = factory.make(access_fields=())
    write_graph(made, things(EDGES), EDGES, CHUNKS)
    return made


def everything(store: GraphStore) -> tuple[object, ...]:
    page, chunks = store.scan(WHOLE, None), store.chunks.scan(WHOLE, None).chunks
    return page.edges, page.entities, chunks, store.hubs(WHOLE, 99)


def vectors(store: GraphStore) -> list[list[float]]:
    page, chunks = store.scan(WHOLE, None), store.chunks.scan(WHOLE, None).chunks
    return [[] if x.embedding is None else x.embedding.tolist() for x in (*page.edges, *page.entities, *chunks)]


def test_everything_gets_the_vector_it_would_have_been_written_with(store: GraphStore, factory: StoreFactory) -> None:
    before = everything(store)
    said: list[tuple[int, int | None, str]] = []
    embedder = Counting()
    made = embed_missing(store, embedder, progress=lambda *step: said.append(step), page=2)
    assert made == len(vectors(store)) == len(embedder.texts)
    assert everything(store) == before
    assert (store.describe(WHOLE).embedder, store.describe(WHOLE).bare) == ("counting", 0)
    assert said[0] == (2, None, "passages") and said[-1] == (4, 4, "facts")
    after = vectors(store)
    at_once = factory.make(access_fields=())
    write_graph(at_once, things(EDGES), EDGES, CHUNKS, embedder=Counting())
    assert after == vectors(at_once)


def test_again_it_makes_none_and_stopped_it_goes_on(store: GraphStore) -> None:
    first, second = Counting(), Counting()
    stops = iter([False, False, True])
    some = embed_missing(store, first, page=2, stopped=lambda: next(stops))
    assert 0 < some < len(vectors(store))
    assert some + embed_missing(store, second, page=2) == len(vectors(store))
    assert all(vectors(store))
    assert embed_missing(store, Counting(), page=2) == 0


def test_no_vector_is_used_until_nearly_all_are_there(store: GraphStore) -> None:
    embedder = Counting()
    stops = iter([False, False, True])
    embed_missing(store, embedder, page=2, stopped=lambda: next(stops))
    described = store.describe(WHOLE)
    assert (described.bare, described.has_vectors) == (2, False)
    ask = KnowledgeGraphRetriever(store=store, embedder=embedder)
    assert any(
        "2 of 4 edges have no vector yet" in warning for warning in ask.retrieve("a", entity_ids=["a"]).trace.warnings
    )
    embed_missing(store, embedder)
    assert store.describe(WHOLE).has_vectors
    assert not any("vector" in warning for warning in ask.retrieve("a", entity_ids=["a"]).trace.warnings)


def test_only_visible_edges_without_a_vector_count(store: GraphStore) -> None:
    embed_missing(store, Counting())
    store.upsert([], [replace(EDGES[3], description="anew")])
    assert store.describe(WHOLE).bare == 1
    assert store.describe(READER).bare == 0


def test_what_changed_or_went_meanwhile_is_left_to_the_next_call(store: GraphStore) -> None:
    class Meddling(Counting):
        def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
            if "said" in " ".join(texts):
                store.delete_edges(["e1", "h1"])
                store.upsert([], [replace(EDGES[1], description="otherwise")])
                store.chunks.upsert([replace(CHUNKS[0], content="otherwise", embedding=None)])
            return super().embed(texts)

    embed_missing(store, Meddling())
    held = {edge.id: edge for edge in store.scan(WHOLE, None).edges}
    assert sorted(held) == ["e2", "e3"]
    assert (held["e2"].description, held["e2"].embedding) == ("otherwise", None)
    assert held["e3"].embedding is not None
    assert {end.id for end in store.hubs(WHOLE, 99)} == {"b", "c"}
    assert embed_missing(store, Counting()) == 2
    assert all(vectors(store))


def test_a_store_that_leaves_out_access_metadata_or_has_other_vectors_is_refused(factory: StoreFactory) -> None:
    with pytest.raises(ConfigError, match="leaves out access metadata"):
        embed_missing(factory.make(), Counting())
    other = factory.make(access_fields=())
    write_graph(other, things(EDGES), EDGES)
    other.upsert([], [replace(EDGES[0], embedding=vec(1, 0))], embedder="another")
    with pytest.raises(StoreError):
        embed_missing(other, Counting())
