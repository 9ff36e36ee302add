"""Documents as an administrator handles them; deleting leaves what the survivors alone would be."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kgcore.errors import ConfigError
from kgcore.filters import WHOLE
from kgcore.ingest import delete_documents, plan_source, set_principals, write_source
from kgcore.ingest.documents import MOST, metadata_of, principals_of
from kgcore.ingest.source import GraphParts, by_document
from kgcore.names import entity_id
from kgcore.store import GraphStore
from kgcore.types import HAS_ATTRIBUTE, Chunk, Edge
from tests.contract.conftest import StoreFactory
from tests.contract.graphs import PUBLIC, READER, SECRET, edge, things
from tests.contract.test_sources import TWO, held


@pytest.fixture
def store(factory: StoreFactory) -> GraphStore:
    """An empty store that shows access metadata."""
    return factory.make(access_fields=())


def test_who_may_see_a_document_is_changed_in_one_step(store: GraphStore) -> None:
    write_source(store, by_document(TWO))
    assert [(p.value, p.count) for p in principals_of(store, "two")] == [("all", 2)]
    before = store.describe(READER).edges
    set_principals(store, ["two"], [" board ", "board", "finance"])
    assert [(p.value, p.count) for p in principals_of(store, "two")] == [("board", 2), ("finance", 2)]
    assert [(p.value, p.count) for p in principals_of(store, "one")] == [("all", 2)]
    assert store.describe(READER).edges == before - 2
    chunk = store.chunks.get_documents_by_id(["two#1"])[0]
    assert chunk.metadata["allowed_principals"] == ("board", "finance")
    assert metadata_of(store, "two")["allowed_principals"] == ("board", "finance")
    assert metadata_of(store, "nowhere") == {} and principals_of(store, "nowhere") == ()


def test_a_document_of_passages_alone_has_metadata(store: GraphStore) -> None:
    store.chunks.upsert([Chunk(id="x#1", document_id="x", content="Text.", metadata={**SECRET, "year": 2024})])
    assert metadata_of(store, "x") == {**SECRET, "year": 2024}


@pytest.mark.parametrize("names", [[], [""], ["a\nb"], ["x" * 201], [f"p{i}" for i in range(MOST + 1)]])
def test_what_is_no_principal_is_refused(store: GraphStore, names: list[str]) -> None:
    with pytest.raises(ConfigError, match="no names of principals"):
        set_principals(store, ["one"], names)


def test_deleting_every_document_leaves_an_empty_graph(store: GraphStore) -> None:
    write_source(store, by_document(TWO))
    delete_documents(store, [document.id for document in store.documents(WHOLE)])
    assert (store.documents(WHOLE), store.describe(WHOLE).entities, store.hubs(WHOLE, 9)) == ((), 0, ())
    assert store.chunks.scan(WHOLE, None).chunks == ()


def document(id_: str, triples: Sequence[tuple[str, str, str]]) -> GraphParts:
    """A document of two passages that share its triples; a relation `=` is an attribute."""
    edges, entities = [], {e.id: e for e in things([edge("", s, r, t) for s, r, t in triples if r != "="])}
    for number, (source, relation, target) in enumerate(triples):
        passage = f"{id_}#{number % 2 + 1}"
        name = f"{id_}:{source}{relation}{target}"
        if relation != "=":
            edges.append(edge(name, source, relation, target, doc=passage))
            continue
        value = entity_id("AttributeValue", target, f"{source}:size:{id_}")
        edges.append(
            Edge(id=name, source_id=source, target_id=value, relation=HAS_ATTRIBUTE, src_name=source, dst_name=target,
                 key="size", source_doc_id=passage, properties=PUBLIC)
        )  # fmt: skip
        entities |= {e.id: e for e in things(edges[-1:])}
    chunks = tuple(Chunk(id=f"{id_}#{n}", document_id=id_, content=f"{id_} {n}", metadata=PUBLIC) for n in (1, 2))
    unique = {each.id: each for each in edges}
    return GraphParts(entities=tuple(entities.values()), edges=tuple(unique.values()), chunks=chunks)


TRIPLES = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(["R", "S", "="]), st.sampled_from("abc")), max_size=5
)
STEPS = st.lists(st.tuples(st.sampled_from(["d1", "d2", "d3"]), st.none() | TRIPLES), max_size=8)


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=STEPS)
def test_any_order_of_writing_replacing_and_deleting_ends_as_the_survivors_alone(
    factory: StoreFactory, steps: list[tuple[str, list[tuple[str, str, str]] | None]]
) -> None:
    store = factory.make(access_fields=())
    alive: dict[str, GraphParts] = {}
    for id_, triples in steps:
        if triples is None:
            delete_documents(store, [id_])
            alive.pop(id_, None)
        else:
            alive[id_] = document(id_, triples)
            planned = plan_source(store, [alive[id_]], examples=0)
            assert write_source(store, [alive[id_]]) == planned
    found = held(store)
    fresh = factory.make(access_fields=())
    for graph in alive.values():
        write_source(fresh, [graph])
    assert found == held(fresh)
