"""A real Microsoft GraphRAG index in each store: whole, grounded, asked, and again without a change."""

from __future__ import annotations

import pytest

from kgcore import KnowledgeGraphRetriever
from kgcore.filters import WHOLE
from kgcore.ingest.reading import read_path
from kgcore.ingest.source import DEFAULT_TYPE, VALUE_TYPE
from kgcore.store import GraphStore
from kgcore.types import HAS_ATTRIBUTE
from tests.contract.conftest import StoreFactory
from tests.contract.graphs import version
from tests.data.build import MUSIQUE, offline

INDEX = MUSIQUE.parent / "msgraphrag"

pytestmark = pytest.mark.skipif(not INDEX.is_dir(), reason="the index is not on this machine")


@pytest.fixture(scope="module")
def index(factory: StoreFactory) -> GraphStore:
    """The index, without vectors; its tests only read, or write what is there already."""
    made = factory.make(access_fields=())
    written = read_path(INDEX, ()).write(made).plan
    assert (written.chunks.new, written.edges.changed, written.edges.gone) == (42, 0, 0)
    return made


def test_it_is_whole_and_each_relationship_is_grounded(index: GraphStore) -> None:
    page, chunks = index.scan(WHOLE, None, 10_000), index.chunks.scan(WHOLE, None, 1_000).chunks
    described = {edge.source_id for edge in page.edges if edge.relation == HAS_ATTRIBUTE}
    typed = {entity.id for entity in page.entities if entity.type not in (VALUE_TYPE, DEFAULT_TYPE)}
    assert len(described) == 529 and typed == described
    related = [edge for edge in page.edges if edge.relation != HAS_ATTRIBUTE]
    assert len({(edge.source_id, edge.target_id) for edge in related}) == 978
    assert len(chunks) == 42 and {edge.source_doc_id for edge in page.edges} <= {chunk.id for chunk in chunks}
    assert all(edge.source_doc_id for edge in related)


@pytest.mark.parametrize(
    ("question", "answer"),
    [("Who was Scrooge's business partner?", "MARLEY"), ("Who is the ill son of Bob Cratchit?", "TINY TIM")],
)
def test_a_question_about_it_answers(index: GraphStore, question: str, answer: str) -> None:
    asks = KnowledgeGraphRetriever(index, embedder=offline(), document_retriever=index.chunks)
    found = asks.retrieve(question, max_hops=1)
    assert any(answer in fact.target or answer in fact.source for fact in found.facts[:5])
    assert found.documents and found.source_documents
    grounds = {id_ for fact in found.facts for id_ in fact.source_doc_ids}
    assert {document.id for document in found.source_documents} <= grounds


def test_written_again_nothing_changes(index: GraphStore) -> None:
    before = version(index), index.scan(WHOLE, None, 10_000), index.hubs(WHOLE, 2_000)
    again = read_path(INDEX, ()).write(index).plan
    assert again.is_nothing and (again.chunks.same, again.documents.same) == (42, 1)
    assert (version(index), index.scan(WHOLE, None, 10_000), index.hubs(WHOLE, 2_000)) == before
