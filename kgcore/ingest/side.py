"""Vectors for a graph that others built, computed once and kept beside it: nothing is written into the graph."""

from __future__ import annotations

from pathlib import Path

from kgcore.errors import ConfigError
from kgcore.filters import WHOLE
from kgcore.ingest.write import Progress
from kgcore.models.protocol import Embedder
from kgcore.names import fold
from kgcore.retrieve.render import match_text
from kgcore.store.neo4j import NeoStore
from kgcore.store.protocol import GraphStore
from kgcore.store.side import save_side
from kgcore.types import Vector


def is_foreign(store: GraphStore) -> bool:
    """Whether others built the graph, so that it is only read."""
    return isinstance(store, NeoStore) and not store.layout.own


def compute_side(
    store: GraphStore, folder: Path, embedder: Embedder, *, progress: Progress | None = None, page: int = 5_000
) -> int:
    """Embeds every fact and name of a foreign graph into a folder; gives the number of vectors.

    `progress(done, total, what)` is called after each page of edges. Raises ConfigError for a graph of our own, which
    has its vectors in itself, StoreError and ModelError.
    """
    if not is_foreign(store):
        raise ConfigError(
            "Only a Neo4j graph that others built keeps its vectors beside it.",
            remedy="Compute those of a graph of your own with `python -m kgcore vectors`.",
        )
    total = store.describe(WHOLE).edges
    edges: dict[str, Vector] = {}
    names: dict[tuple[str, str], Vector] = {}
    after: str | None = None
    while True:
        part = store.scan(WHOLE, after, page)
        texts = embedder.embed([match_text(edge) for edge in part.edges])
        edges |= {edge.id: vector for edge, vector in zip(part.edges, texts, strict=True)}
        fresh = [(e.id, e.name) for e in part.entities if (e.id, e.name) not in names]
        named = embedder.embed([fold(name) for _, name in fresh])
        names |= dict(zip(fresh, named, strict=True))
        if progress is not None:
            progress(len(edges), total, "facts")
        after = part.after
        if after is None:
            break
    if edges:
        save_side(folder, embedder.name, edges, names)
    return len(edges) + len(names)
