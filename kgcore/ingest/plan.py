"""What writing a source would change, and the writing: whole documents, and nothing that is there already."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace

from kgcore.ingest.compare import Changes, Comparison, Plan
from kgcore.ingest.source import GraphParts
from kgcore.ingest.write import upsert_embedded
from kgcore.models.protocol import Embedder
from kgcore.store.protocol import GraphStore

EXAMPLES = 1_000
"""Edges, and entities, that a plan shows."""
GROUP = 5_000
"""Edges of small documents that are compared and written together."""


def plan_source(
    store: GraphStore,
    parts: Iterable[GraphParts],
    *,
    examples: int = EXAMPLES,
    progress: Callable[[int], None] | None = None,
) -> Plan:
    """What `write_source` would do, without doing it. `store` must be opened with access_fields=().

    `progress(edges)` is called with the number of edges that have been compared. Raises IngestError, StoreError.
    """
    compared = Comparison(store, examples)
    for document in _documents(parts):
        for part in document:
            compared.changes(part)
            if progress is not None:
                progress(compared.compared)
    return compared.planned()


def write_source(
    store: GraphStore,
    parts: Iterable[GraphParts],
    *,
    embedder: Embedder | None = None,
    progress: Callable[[int], None] | None = None,
) -> Plan:
    """Writes what is new or changed and removes what a document no longer asserts; gives what it did.

    A file takes whole documents in one transaction: broken off at any moment it holds no half one, and the same call
    ends in the same graph. A server takes a large document in parts. `store` must be opened with access_fields=().
    `progress(edges)` is called with the number of edges that are written or were there. Raises IngestError,
    StoreError, ModelError.
    """
    compared = Comparison(store, 0)
    for document in _documents(parts):
        with ExitStack() as transactions:
            for part in document:
                changes = compared.changes(part)
                if not changes.is_nothing:
                    if store.part is None:  # the first begins it, the others join
                        transactions.enter_context(store.transaction())
                    _write(store, changes, embedder)
                if progress is not None:
                    progress(compared.compared)
    store.optimize()
    return compared.written()


def _write(store: GraphStore, changes: Changes, embedder: Embedder | None) -> None:
    with store.transaction():
        if changes.gone_edges:
            store.delete_edges(changes.gone_edges)
        if changes.gone_chunks:
            store.chunks.delete_documents(changes.gone_chunks)
        upsert_embedded(store, changes.entities, changes.edges, changes.chunks, embedder)


def _documents(parts: Iterable[GraphParts]) -> Iterator[Iterator[GraphParts]]:
    """The parts of one document, or of several small ones, at a time."""
    merged = _merged(parts)
    for first in merged:
        yield _to_the_end(first, merged)


def _to_the_end(part: GraphParts, rest: Iterator[GraphParts]) -> Iterator[GraphParts]:
    yield part
    while not part.whole:
        part = next(rest)
        yield part


def _merged(parts: Iterable[GraphParts]) -> Iterator[GraphParts]:
    """Parts of at least GROUP edges, but for the last."""
    held: list[GraphParts] = []
    size = 0
    for part in parts:
        held.append(part)
        size += len(part.edges) + len(part.chunks)
        if size >= GROUP:
            yield _joined(held)
            held, size = [], 0
    if held:
        yield replace(_joined(held), whole=True)


def _joined(parts: list[GraphParts]) -> GraphParts:
    if len(parts) == 1:
        return parts[0]
    return GraphParts(
        entities=tuple({entity.id: entity for part in parts for entity in part.entities}.values()),
        edges=tuple(edge for part in parts for edge in part.edges),
        chunks=tuple(chunk for part in parts for chunk in part.chunks),
        whole=parts[-1].whole,
    )
