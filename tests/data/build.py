"""Small graphs for tests of the retriever, and the real offline embedder, which remembers what it embedded."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from kgcore import Chunk, Edge, Entity, KnowledgeGraphRetriever, Retrieval, open_store, write_graph
from kgcore.models.offline import Encoded, OfflineEmbedder
from kgcore.models.protocol import Embedder
from kgcore.retrieve.score import Coverage
from kgcore.store import GraphStore
from kgcore.types import Candidate, Vector

ROOT = Path(__file__).parents[2]
MUSIQUE = ROOT.parent / "shared" / "data" / "musique100"
JANE = "What system does Jane Doe's employer use?"


class Remembering(OfflineEmbedder):
    """The same vectors; a text that comes again costs nothing."""

    def __init__(self) -> None:
        super().__init__()
        self._vectors: dict[str, Vector] = {}
        self._encoded: dict[str, Encoded] = {}

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        missing = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        self._vectors.update(zip(missing, super().embed(missing), strict=True))
        return np.array([self._vectors[text] for text in texts], np.float32).reshape(len(texts), self.dimension)

    def encode(self, text: str) -> Encoded:
        if text not in self._encoded:
            self._encoded[text] = super().encode(text)
        return self._encoded[text]


@lru_cache(maxsize=1)
def offline() -> Remembering:
    """The embedder of all tests of this process."""
    return Remembering()


def coverage_of(question: str) -> Coverage:
    """How a question's words are covered."""
    return Coverage(offline(), offline().encode(question), question)


def graph(
    *edges: Edge,
    entities: Sequence[Entity] = (),
    chunks: Sequence[Chunk] = (),
    embedder: Embedder | None = None,
    type: str = "Thing",
) -> GraphStore:
    """A graph in memory; ends that `entities` leaves out are made. With an embedder everything has a vector."""
    store = open_store("duckdb:///:memory:", create=True)
    given = {entity.id for entity in entities}
    names = {id_: name for e in edges for id_, name in ((e.source_id, e.src_name), (e.target_id, e.dst_name))}
    made = [Entity(id=id_, type=type, name=name) for id_, name in names.items() if id_ not in given]
    write_graph(store, [*entities, *made], edges, chunks, embedder=embedder)
    return store


def retriever(store: GraphStore, **options: Any) -> KnowledgeGraphRetriever:
    """A retriever with the offline embedder."""
    return KnowledgeGraphRetriever(store, **{"embedder": offline(), **options})


def candidates(result: Retrieval, *fates: str, hop: int | None = None) -> list[Candidate]:
    """The trace's candidates of these fates (all without any), in its order."""
    return [
        c for h in result.trace.hops if hop in (None, h.number) for c in h.candidates if not fates or c.fate in fates
    ]


def texts(result: Retrieval) -> list[str]:
    """The facts as a reader sees them."""
    return [fact.text for fact in result.facts]
