"""Vectors for what a store holds without one: in the background of its use, and from where it stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from kgcore.errors import ConfigError
from kgcore.filters import WHOLE
from kgcore.ingest.write import Progress
from kgcore.models.protocol import Embedder
from kgcore.names import fold
from kgcore.retrieve.render import match_text, passage_text
from kgcore.store.protocol import GraphStore
from kgcore.types import Chunk, Edge, Entity, Vector

PAGE = 1_000


def embed_missing(
    store: GraphStore,
    embedder: Embedder,
    *,
    progress: Progress | None = None,
    stopped: Callable[[], bool] = lambda: False,
    page: int = PAGE,
) -> int:
    """Embeds every passage, name and fact that has no vector; gives the number of vectors made.

    Each page is written by itself: stopped or killed, the same call goes on, and the graph can be asked and written to
    all the while. What has been changed or deleted meanwhile is left to the next call. `progress(done, total, what)`
    is called after each page; passages are not counted before. Raises ConfigError for a store that is not opened with
    access_fields=(), StoreError (the graph's vectors are another model's) and ModelError.
    """
    if store.access_fields:
        raise ConfigError("The store leaves out access metadata.", remedy="Open it with access_fields=().")
    made = 0
    total = store.describe(WHOLE).edges
    for step in (_passages(store, embedder, page), _facts(store, embedder, page)):
        for done, count, what in step:
            made += count
            if progress is not None:
                progress(min(done, total) if what == "facts" else done, total if what == "facts" else None, what)
            if stopped():
                return made
    store.optimize()
    return made


def _passages(store: GraphStore, embedder: Embedder, page: int) -> Iterator[tuple[int, int, str]]:
    """What has been done so far, how many vectors the page took, and of what."""
    done, after = 0, None
    while True:
        part = store.chunks.scan(WHOLE, after, page)
        bare = [chunk for chunk in part.chunks if chunk.embedding is None]
        vectors = embedder.embed([passage_text(c.metadata.get("title"), c.content) for c in bare])
        with store.transaction():
            now = {chunk.id: chunk for chunk in _held(store, bare)}
            kept = [replace(c, embedding=v) for c, v in zip(bare, vectors, strict=True) if now.get(c.id) == c]
            if kept:
                store.chunks.upsert(kept, embedder=embedder.name)
        done, after = done + len(part.chunks), part.after
        yield done, len(kept), "passages"
        if after is None:
            return


def _held(store: GraphStore, chunks: list[Chunk]) -> Iterator[Chunk]:
    for found in store.chunks.get_documents_by_id([chunk.id for chunk in chunks]):
        metadata = dict(found.metadata)
        document = metadata.pop("document_id")
        yield Chunk(id=found.id, document_id=str(document), content=found.content, metadata=metadata)


def _facts(store: GraphStore, embedder: Embedder, page: int) -> Iterator[tuple[int, int, str]]:
    done, after = 0, None
    while True:
        part = store.scan(WHOLE, after, page)
        bare = [edge for edge in part.edges if edge.embedding is None]
        names = [entity for entity in part.entities if entity.embedding is None]
        facts = embedder.embed([match_text(edge) for edge in bare])
        named = embedder.embed([fold(entity.name) for entity in names])
        with store.transaction():
            now = (
                {edge.id: edge for edge in store.edges([edge.id for edge in part.edges], WHOLE)}
                if bare or names
                else {}
            )
            edges = [replace(e, embedding=v) for e, v in zip(bare, facts, strict=True) if now.get(e.id) == e]
            fresh = {(entity.id, entity.name): vector for entity, vector in zip(names, named, strict=True)}
            entities = _ends(store, now.values(), edges, fresh)
            if edges or entities:
                store.upsert(entities, edges, embedder=embedder.name)
        done, after = done + len(part.edges), part.after
        yield done, len(edges) + sum(entity.embedding is not None for entity in entities), "facts"
        if after is None:
            return


def _ends(
    store: GraphStore, standing: Iterable[Edge], edges: Sequence[Edge], vectors: Mapping[tuple[str, str], Vector]
) -> list[Entity]:
    """The ends of edges that are written, and those that standing edges name as it was embedded."""
    written = {end for edge in edges for end in _names_of(edge)}
    named = [end for edge in standing for end in _names_of(edge) if end in written or end in vectors]
    wanted = sorted(dict.fromkeys(named))
    types = {end.id: end.type for end in store.entities(sorted({id_ for id_, _ in wanted}), WHOLE)}
    return [
        Entity(id=id_, type=types[id_], name=name, embedding=vectors.get((id_, name)))
        for id_, name in wanted
        if id_ in types
    ]


def _names_of(edge: Edge) -> tuple[tuple[str, str], tuple[str, str]]:
    return (edge.source_id, edge.src_name), (edge.target_id, edge.dst_name)
