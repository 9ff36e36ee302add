"""The one way into a store: embeds what has no vector yet, then upserts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from kgcore.models.protocol import Embedder
from kgcore.names import fold
from kgcore.retrieve.render import match_text, passage_text
from kgcore.store.protocol import GraphStore
from kgcore.types import Chunk, Edge, Entity

Progress = Callable[[int, int | None, str], None]
BATCH = 2_000


def write_graph(
    store: GraphStore,
    entities: Sequence[Entity],
    edges: Sequence[Edge],
    chunks: Sequence[Chunk] = (),
    *,
    embedder: Embedder | None = None,
    progress: Progress | None = None,
) -> None:
    """Writes entities, edges and passages, with vectors if there is an embedder.

    In one transaction, or in parts of what the store takes in one (`GraphWriter.part`): broken off in between, the
    same call made again ends in the same graph. Every spelling of a name that an edge gives gets its own vector.
    `progress(done, total, what)` is called as texts are embedded. Raises StoreError; then the part is not written.
    """
    upsert_embedded(store, entities, edges, chunks, embedder, progress)
    store.optimize()


def upsert_embedded(
    store: GraphStore,
    entities: Sequence[Entity],
    edges: Sequence[Edge],
    chunks: Sequence[Chunk],
    embedder: Embedder | None,
    progress: Progress | None = None,
) -> None:
    """The same, without the order that reading is fast in: for one of several parts."""
    named = _with_spellings(entities, edges)
    if embedder is not None:
        report = _Reporter(progress, len(named) + len(edges) + len(chunks))
        named = _embedded(named, lambda e: fold(e.name), embedder, report, "names")
        edges = _embedded(edges, match_text, embedder, report, "facts")
        chunks = _embedded(chunks, _chunk_text, embedder, report, "passages")
    name = embedder.name if embedder is not None else None
    if store.part is None or max(len(named), len(edges), len(chunks)) <= store.part:
        with store.transaction():
            store.upsert(named, edges, embedder=name)
            if chunks:
                store.chunks.upsert(chunks, embedder=name)
    else:
        for start in range(0, len(named), store.part):
            store.upsert(named[start : start + store.part], [], embedder=name)
        for start in range(0, len(edges), store.part):
            store.upsert([], edges[start : start + store.part], embedder=name)
        for start in range(0, len(chunks), store.part):
            store.chunks.upsert(chunks[start : start + store.part], embedder=name)


class _Reporter:
    def __init__(self, progress: Progress | None, total: int) -> None:
        self.progress, self.total, self.done = progress, total, 0

    def add(self, count: int, what: str) -> None:
        self.done += count
        if self.progress is not None:
            self.progress(self.done, self.total, what)


def _with_spellings(entities: Sequence[Entity], edges: Sequence[Edge]) -> list[Entity]:
    """The entities, and a record more for each other spelling that an edge gives."""
    records = {(e.id, fold(e.name)): e for e in entities}
    types = {e.id: e.type for e in entities}
    seen = {(e.id, e.name) for e in entities}
    for edge in edges:
        for end in ((edge.source_id, edge.src_name), (edge.target_id, edge.dst_name)):
            if end in seen:
                continue
            seen.add(end)
            id_, name = end
            if id_ in types and (id_, fold(name)) not in records:
                records[id_, fold(name)] = Entity(id=id_, type=types[id_], name=name)
    return list(records.values())


def _embedded(
    items: Sequence[Any], text: Callable[[Any], str], embedder: Embedder, report: _Reporter, what: str
) -> list[Any]:
    result = list(items)
    bare = [i for i, item in enumerate(items) if item.embedding is None]
    for start in range(0, len(bare), BATCH):
        part = bare[start : start + BATCH]
        vectors = embedder.embed([text(items[i]) for i in part])
        for i, vector in zip(part, vectors, strict=True):
            result[i] = replace(items[i], embedding=vector)
        report.add(len(part), what)
    report.add(len(items) - len(bare), what)
    return result


def _chunk_text(chunk: Chunk) -> str:
    return passage_text(chunk.metadata.get("title"), chunk.content)
