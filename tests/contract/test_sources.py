"""Planning and writing a source: whole documents, again without a change, and as if built from nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from kgcore.errors import IngestError
from kgcore.filters import WHOLE
from kgcore.ingest import plan, plan_source, write_source
from kgcore.ingest.compare import Count
from kgcore.ingest.source import GraphParts, by_document, stamped
from kgcore.store import GraphStore
from kgcore.types import Chunk, Edge, PropertyValue
from tests.contract.conftest import StoreFactory
from tests.contract.graphs import PUBLIC, SECRET, edge, things, version


@pytest.fixture
def store(factory: StoreFactory) -> GraphStore:
    """An empty store that shows access metadata."""
    return factory.make(access_fields=())


def chunk(id: str, text: str = "", metadata: dict[str, PropertyValue] | None = None) -> Chunk:
    """A passage of the document that its id begins with."""
    return Chunk(
        id=id, content=text or f"Text of {id}.", document_id=id.partition("#")[0],
        metadata=PUBLIC if metadata is None else metadata,
    )  # fmt: skip


def graph(*edges: Edge, chunks: tuple[Chunk, ...] = ()) -> GraphParts:
    """A graph with an entity of type Thing for each end."""
    return GraphParts(entities=tuple(things(edges)), edges=edges, chunks=chunks)


TWO = graph(
    edge("e1", "a", "R", "b", doc="one#1"),
    edge("e2", "b", "R", "c", doc="one#2", description="said"),
    edge("e3", "b", "R", "c", doc="two#1"),
    edge("e4", "c", "S", "d", doc="two#1", properties={**PUBLIC, "year": 2024, "tags": ("x", "y"), "ratio": 0.5}),
    edge("e5", "d", "S", "e", doc="file.csv"),
    chunks=(chunk("one#1"), chunk("one#2"), chunk("two#1", metadata={**SECRET, "title": "Two", "chunk": 1})),
)


def held(store: GraphStore) -> tuple[object, ...]:
    """All that a store holds but its version."""
    page, passages = store.scan(WHOLE, None), store.chunks.scan(WHOLE, None)
    return (
        page.edges, sorted(page.entities, key=lambda e: (e.id, e.name)), passages.chunks,
        replace(store.describe(WHOLE), data_version=""), store.hubs(WHOLE, 99),
    )  # fmt: skip


def written(store: GraphStore, given: GraphParts) -> plan.Plan:
    return write_source(store, by_document(given))


def test_a_plan_counts_and_writes_nothing(store: GraphStore) -> None:
    before = version(store)
    found = plan_source(store, by_document(TWO), examples=2)
    assert (found.documents, found.entities) == (Count(new=3), Count(new=5))
    assert (found.edges, found.chunks) == (Count(new=5), Count(new=3))
    assert found.examples == (("new", TWO.edges[0]), ("new", TWO.edges[1]))
    assert not found.is_nothing
    assert version(store) == before


def test_writing_does_what_the_plan_says_and_again_nothing(store: GraphStore) -> None:
    planned = plan_source(store, by_document(TWO), examples=0)
    assert written(store, TWO) == planned
    assert (store.describe(WHOLE).edges, len(store.chunks.scan(WHOLE, None).chunks)) == (5, 3)
    before = version(store)
    again = written(store, TWO)
    assert again.is_nothing
    assert (again.documents, again.edges) == (Count(same=3), Count(same=5))
    assert (again.entities, again.chunks) == (Count(same=5), Count(same=3))
    assert version(store) == before


LATER = graph(
    edge("e1", "a", "R", "b", doc="one#1"),
    edge("e2", "b", "R", "c", doc="one#1", description="said otherwise"),
    edge("e6", "a", "T", "f", doc="one#1"),
    chunks=(chunk("one#1", "Another text."),),
)


def test_a_document_given_again_is_replaced_and_the_others_stay(store: GraphStore) -> None:
    written(store, graph(*TWO.edges, edge("e7", "c", "R", "gone", doc="one#2"), chunks=TWO.chunks))
    found = plan_source(store, by_document(LATER))
    assert found.documents == Count(changed=1)
    assert found.edges == Count(new=1, changed=1, gone=1, same=1)
    assert found.chunks == Count(changed=1, gone=1)
    assert [(what, e.id) for what, e in found.examples] == [("changed", "e2"), ("new", "e6"), ("gone", "e7")]
    assert found.entities == Count(new=1, gone=1, same=3)
    assert [(what, e.id) for what, e in found.entity_examples] == [("new", "f"), ("gone", "gone")]
    assert written(store, LATER) == replace(found, examples=(), entity_examples=())
    replaced = held(store)
    assert not store.entities(["gone"], WHOLE)
    written(store, TWO)
    store.delete_documents(["one", "two", "file.csv"])
    store.chunks.delete_documents(["one", "two"])
    assert store.describe(WHOLE).entities == 0
    others = graph(*TWO.edges[2:], *LATER.edges, chunks=(TWO.chunks[2], *LATER.chunks))
    written(store, others)
    assert held(store) == replaced


@pytest.mark.parametrize(
    "changed",
    [
        edge("e1", "a", "R", "b", doc="one#1", properties=SECRET),
        edge("e1", "a", "R", "b", doc="one#1", src="A"),
        edge("e1", "a", "R", "b", doc="one#1", properties={**PUBLIC, "year": 1}),
        edge("e1", "a", "Q", "b", doc="one#1"),
    ],
)
def test_whatever_differs_is_a_change(store: GraphStore, changed: Edge) -> None:
    written(store, TWO)
    found = written(store, graph(changed, TWO.edges[1], chunks=TWO.chunks[:2]))
    assert (found.documents, found.edges) == (Count(changed=1), Count(changed=1, same=1))
    assert store.edges(["e1"], WHOLE) == (changed,)


def test_another_type_is_a_change(store: GraphStore) -> None:
    written(store, TWO)
    other = replace(TWO, entities=tuple(replace(e, type="Person") if e.id == "a" else e for e in TWO.entities))
    assert written(store, other).entities == Count(changed=1, same=4)
    assert store.entities(["a"], WHOLE)[0].type == "Person"


def pieces(count: int, size: int) -> Iterator[GraphParts]:
    """One document in pieces."""
    for number in range(count):
        edges = [edge(f"p{number}-{i}", f"n{i}", "R", f"m{number}", doc="big.csv") for i in range(size)]
        yield replace(graph(*edges), whole=number == count - 1)


def test_a_document_in_pieces_is_one(store: GraphStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "GROUP", 4)
    found = write_source(store, pieces(3, 5))
    assert (found.documents, found.edges, found.entities) == (Count(new=1), Count(new=15), Count(new=8))
    assert write_source(store, pieces(3, 5)).is_nothing
    assert write_source(store, pieces(2, 5)).edges == Count(gone=5, same=10)
    assert store.describe(WHOLE).edges == 10


def broken(parts: Iterator[GraphParts], count: int) -> Iterator[GraphParts]:
    """The first parts, then an error."""
    for _ in range(count):
        yield next(parts)
    raise IngestError("line 7: not a triple.", remedy="Correct it.")


@pytest.mark.parametrize("count", [1, 2])
def test_broken_off_it_holds_whole_documents_and_goes_on(
    store: GraphStore, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.setattr(plan, "GROUP", 1)
    with pytest.raises(IngestError):
        write_source(store, broken(by_document(TWO), count))
    assert [d.id for d in store.documents(WHOLE)] == ["one", "two"][:count]
    written(store, TWO)
    after = held(store)
    store.delete_documents(["one", "two", "file.csv"])
    store.chunks.delete_documents(["one", "two"])
    written(store, TWO)
    assert held(store) == after


def test_half_a_document_is_never_in_a_file(store: GraphStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "GROUP", 1)
    with pytest.raises(IngestError):
        write_source(store, broken(pieces(3, 5), 2))
    assert store.describe(WHOLE).edges == (0 if store.part is None else 10)
    write_source(store, pieces(3, 5))
    assert store.describe(WHOLE).edges == 15


def test_metadata_is_on_every_edge_and_chunk(store: GraphStore) -> None:
    write_source(store, stamped(by_document(TWO), SECRET))
    assert {e.properties["allowed_principals"] for e in store.scan(WHOLE, None).edges} == {("board",)}
    assert {c.metadata["allowed_principals"] for c in store.chunks.scan(WHOLE, None).chunks} == {("board",)}
