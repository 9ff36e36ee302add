"""`VectorStoreRetriever` over each store: by vector, by both, by words alone, under the locked filter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from kgcore import VectorStoreRetriever
from kgcore.errors import ConfigError, FilterError, ModelError
from kgcore.store import GraphStore
from kgcore.types import Chunk, PropertyValue
from tests.contract.graphs import EMBEDDER, PUBLIC, SECRET, only, vec

LOCK = only("allowed_principals", "contains_any", ["all"])


class Toy:
    """Two dimensions: how much a text is about systems, and how much about people."""

    name = EMBEDDER
    dimension = 2

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        return np.array([vec(1.0 + text.lower().count("system"), 1.0 + text.lower().count("people")) for text in texts])


class Broken(Toy):
    def embed(self, texts: Sequence[str]) -> np.ndarray:
        raise ModelError("It is away.", remedy="Start it.")


def chunk(id: str, content: str, x: float, y: float, **metadata: PropertyValue) -> Chunk:
    return Chunk(id=id, content=content, document_id=f"doc-{id}", metadata={**PUBLIC, **metadata}, embedding=vec(x, y))


CHUNKS = (
    chunk("a", "Helios is a system of record.", 4, 1, year=2024),
    chunk("b", "Boreas is a system for archives.", 3, 1, year=2023),
    chunk("c", "People meet in Oslo.", 1, 3, year=2024, title="Minutes"),
    chunk("d", "Nothing of note, about archives.", 1, 1),
    Chunk(id="e", content="Archives archives archives.", document_id="doc-e", metadata=dict(PUBLIC)),
)
HIDDEN = (
    chunk("s1", "Secret archives system of people.", 4, 1),
    chunk("s2", "Helios Helios Helios in secret.", 4, 1),
)


@pytest.fixture
def filled(store: GraphStore) -> GraphStore:
    hidden = [Chunk(**{**one.__dict__, "metadata": dict(SECRET)}) for one in HIDDEN]
    store.chunks.upsert([*CHUNKS, *hidden], embedder=EMBEDDER)
    return store


def search(store: GraphStore, **options: Any) -> VectorStoreRetriever:
    return VectorStoreRetriever(store.chunks, **{"embedder": Toy(), "filters": LOCK, **options})


def ids(found: Any) -> list[str]:
    return [document.id for document in found.documents]


def test_by_vector_the_nearest_that_pass(filled: GraphStore) -> None:
    found = search(filled).retrieve("Which system system system?", top_k=3)
    assert ids(found) == ["a", "b", "d"]
    assert found.documents[0].score == pytest.approx(1.0, abs=1e-6)
    assert found.warnings == ()
    assert dict(found.documents[0].metadata) == {"year": 2024, "document_id": "doc-a"}


def test_words_bring_what_a_vector_leaves_out(filled: GraphStore) -> None:
    question = "Which system keeps archives?"
    assert ids(search(filled).retrieve(question, top_k=2)) == ["b", "a"]
    both = search(filled, hybrid=True).retrieve(question, top_k=5)
    assert ids(both)[0] == "b"
    assert "e" in ids(both)  # it has no vector
    assert both == search(filled).retrieve(question, top_k=5, hybrid=True)


@pytest.mark.parametrize(
    ("embedder", "told"), [(None, "no vectors of this embedder"), (Broken(), "It is away. Start it.")]
)
def test_without_a_vector_by_words_alone(filled: GraphStore, embedder: Any, told: str) -> None:
    found = search(filled, embedder=embedder).retrieve("Helios archives", top_k=9)
    assert set(ids(found)) == {"a", "b", "d", "e"}
    assert told in found.warnings[0]
    assert ids(search(filled, embedder=None).retrieve("minutes")) == ["c"]  # a title counts
    assert ids(search(filled, embedder=None).retrieve("zebra ???")) == []


def test_a_store_without_passages(store: GraphStore) -> None:
    found = search(store, hybrid=True).retrieve("Helios")
    assert (ids(found), found.warnings) == ([], ("The passages have no vectors: they are found by their words alone.",))


@pytest.mark.parametrize("hybrid", [False, True])
def test_what_is_hidden_changes_nothing(filled: GraphStore, hybrid: bool) -> None:
    questions = ("Helios in secret", "system archives", "people")
    told = [search(filled, hybrid=hybrid, embedder=e).retrieve(q, top_k=9) for q in questions for e in (Toy(), None)]
    filled.chunks.delete_documents([one.id for one in HIDDEN])
    assert told == [
        search(filled, hybrid=hybrid, embedder=e).retrieve(q, top_k=9) for q in questions for e in (Toy(), None)
    ]
    assert all(id_ in "abcde" for found in told for id_ in ids(found))


def test_by_id_under_the_locked_filter(filled: GraphStore) -> None:
    found = search(filled).get_documents_by_id(["s1", "c", "nothing", "a", "c"])
    assert [one.id for one in found] == ["c", "a"]
    assert all("allowed_principals" not in one.metadata for one in found)
    locked = search(filled, filters=only("year", "==", 2024)).get_documents_by_id(["a", "b", "c"])
    assert [(one.id, "year" in one.metadata) for one in locked] == [("a", False), ("c", False)]


def test_a_caller_only_narrows(filled: GraphStore) -> None:
    retriever = search(filled, hybrid=True)
    assert set(ids(retriever.retrieve("system", filters=only("year", "==", 2024)))) == {"a", "c"}
    assert ids(retriever.retrieve("system", filters=only("allowed_principals", "contains_any", ["board"]))) == []
    everything = {"operator": "OR", "conditions": [only("year", ">", 0), only("allowed_principals", "!=", "x")]}
    assert set(ids(retriever.retrieve("secret system", filters=everything))) == {"a", "b", "c"}
    with pytest.raises(FilterError):
        retriever.retrieve("system", filters={"field": "x y", "operator": "==", "value": 1})


def test_words_are_read_again_when_passages_change(filled: GraphStore) -> None:
    retriever = search(filled, embedder=None)
    assert ids(retriever.retrieve("quokka")) == []
    filled.chunks.upsert([chunk("q", "A quokka.", 1, 1)], embedder=EMBEDDER)
    assert ids(retriever.retrieve("quokka")) == ["q"]


def test_as_a_dict(filled: GraphStore) -> None:
    found = search(filled).run({"query": "system system system", "top_k": 1})
    assert found["content"] == "Helios is a system of record."
    assert found["documents"][0]["metadata"] == {"year": 2024, "document_id": "doc-a"}
    with pytest.raises(ConfigError, match="no argument 'k'"):
        search(filled).run({"query": "x", "k": 1})


@pytest.mark.parametrize(
    ("question", "options", "field"),
    [("", {}, "question"), ("  ", {}, "question"), ("x" * 2_001, {}, "question"), ("x", {"top_k": 0}, "top_k")],
)
def test_what_cannot_be_asked(filled: GraphStore, question: str, options: dict[str, Any], field: str) -> None:
    with pytest.raises(ConfigError) as refused:
        search(filled).retrieve(question, **options)
    assert refused.value.field == field


def test_a_scan_without_vectors(filled: GraphStore) -> None:
    page = filled.chunks.scan(search(filled).filter, None, vectors=False)
    assert [one.id for one in page.chunks] == list("abcde")
    assert all(one.embedding is None for one in page.chunks)
    state = filled.chunks.state()
    assert (state.embedder, state.dimension) == (EMBEDDER, 2)
    filled.chunks.upsert([chunk("z", "More.", 1, 1)], embedder=EMBEDDER)
    assert filled.chunks.state().version != state.version
