"""A fixed quarter of each question set: what the retriever finds there must not fall.

The whole sets are run by the commands of docs/evaluate.md; the floors here lie a little below what their quarters gave.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kgcore import KnowledgeGraphRetriever
from kgcore.evals import Evaluation, Gold, Mean, evaluate, read_gold, summarize
from kgcore.ingest.importers.folder import read_folder
from kgcore.ingest.importers.metaqa import read_metaqa
from kgcore.store import GraphStore
from tests.data.build import MUSIQUE, graph, offline

METAQA = MUSIQUE.parent / "metaqa"
QUARTER = slice(None, None, 4)
PASSAGES = slice(None, None, 20)

pytestmark = pytest.mark.skipif(not MUSIQUE.is_dir(), reason="the question sets are not on this machine")


def means(store: GraphStore, golds: tuple[Gold, ...], **settings: Any) -> dict[str, Mean]:
    asks = KnowledgeGraphRetriever(store, embedder=offline(), document_retriever=store.chunks)
    outcomes = tuple(evaluate(asks, golds, settings))
    return dict(summarize(Evaluation(gold="", graph={}, settings=settings, outcomes=outcomes)).whole.means)


@pytest.fixture(scope="module")
def films() -> Iterator[GraphStore]:
    """MetaQA's whole graph, without vectors."""
    parts = read_metaqa(METAQA / "kb.txt")
    store = graph(*parts.edges, entities=parts.entities)
    yield store
    store.close()


@pytest.mark.parametrize(("hops", "top_k", "floor"), [(1, 20, 0.98), (2, 20, 0.95), (3, 50, 0.88)])
def test_metaqa(films: GraphStore, hops: int, top_k: int, floor: float) -> None:
    """The answer is an end of one of the first facts, from the topic's name alone."""
    golds = read_gold(METAQA / f"dev_{hops}hop_500.jsonl")[QUARTER]
    found = means(films, golds, max_hops=hops, beam_width=50, top_k=top_k)
    assert len(golds) == 125 and found[f"answer_in_facts@{top_k}"].mean >= floor


def test_musique() -> None:
    """The gold passages are among the first, with vectors; the graph is their passages and every twentieth other."""
    golds = read_gold(MUSIQUE)[QUARTER]
    parts = read_folder(MUSIQUE)
    held = {id_ for gold in golds for id_ in gold.documents} | {chunk.id for chunk in parts.chunks[PASSAGES]}
    edges = [edge for edge in parts.edges if edge.source_doc_id in held]
    ends = {id_ for edge in edges for id_ in (edge.source_id, edge.target_id)}
    store = graph(
        *edges,
        entities=[entity for entity in parts.entities if entity.id in ends],
        chunks=[chunk for chunk in parts.chunks if chunk.id in held],
        embedder=offline(),
    )
    found = means(store, golds, max_hops=3, beam_width=15, top_k=45)
    store.close()
    assert found["passage_recall@5"].mean >= 0.9 and found["all_gold@8"].mean >= 0.84
