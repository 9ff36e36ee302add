"""A seeded synthetic graph: uniform edges and one hub, for a DuckDB file or a Neo4j server."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from kgcore import Edge, Entity, open_store
from kgcore.store import GraphStore

DIMENSION = 384
DOCUMENTS = 2_000
RELATIONS = ("USES", "OWNS", "WORKS_AT", "SUPPLIES", "REPORTS_TO", "LOCATED_IN", "FUNDS", "AUDITS")
BATCH = 20_000


@dataclass(frozen=True, kw_only=True)
class Arrays:
    """The same graph as arrays. Node 0 is the hub; vectors are unit, shape (edges, 384)."""

    source: npt.NDArray[np.int32]
    target: npt.NDArray[np.int32]
    document: npt.NDArray[np.int32]
    vectors: npt.NDArray[np.float32]
    nodes: int


def make(edges: int, hub: int, seed: int = 7) -> Arrays:
    """`edges` edges over edges / 5 nodes, `hub` of them at node 0, half in each direction."""
    rng = np.random.default_rng(seed)
    nodes = edges // 5
    source = rng.integers(1, nodes, edges).astype(np.int32)
    target = rng.integers(1, nodes, edges).astype(np.int32)
    target = np.where(source == target, source % (nodes - 1) + 1, target).astype(np.int32)  # no loops
    at_hub = rng.permutation(edges)[:hub]
    out, into = at_hub[: hub // 2], at_hub[hub // 2 :]
    source[out], target[out] = 0, rng.permutation(nodes - 1)[: len(out)] + 1
    target[into], source[into] = 0, rng.permutation(nodes - 1)[: len(into)] + 1
    vectors = rng.standard_normal((edges, DIMENSION), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return Arrays(
        source=source,
        target=target,
        document=rng.integers(0, DOCUMENTS, edges).astype(np.int32),
        vectors=vectors,
        nodes=nodes,
    )


def principals(document: int) -> tuple[str, ...]:
    """Who may see a document: two thirds of them everybody."""
    return ("group:staff",) if document % 3 == 0 else ("group:staff", "group:public")


def load(path: Path, arrays: Arrays) -> GraphStore:
    """The graph in a file; written once, opened afterwards."""
    if path.is_file():
        return open_store(f"duckdb:///{path}")
    store = open_store(f"duckdb:///{path}", create=True)
    with store.transaction():
        fill(store, arrays)
    store.optimize()
    return store


def fill(store: GraphStore, arrays: Arrays) -> None:
    """Writes the graph into a store, a batch at a time."""
    rng = np.random.default_rng(1)
    names = rng.standard_normal((arrays.nodes, DIMENSION), dtype=np.float32)
    entities = [
        Entity(id=f"n{i}", type="Thing", name=f"Thing number {i}", embedding=vector) for i, vector in enumerate(names)
    ]
    for start in range(0, len(entities), BATCH):
        store.upsert(entities[start : start + BATCH], [], embedder="bench")
    for start in range(0, len(arrays.source), BATCH):
        stop = min(start + BATCH, len(arrays.source))
        store.upsert([], [_written(arrays, i) for i in range(start, stop)], embedder="bench")


def edge(arrays: Arrays, i: int) -> Edge:
    """An edge as a reader sees it: without its vector, and without who may see it."""
    source, target, document = int(arrays.source[i]), int(arrays.target[i]), int(arrays.document[i])
    return Edge(
        id=f"e{i}",
        source_id=f"n{source}",
        target_id=f"n{target}",
        relation=RELATIONS[i % len(RELATIONS)],
        src_name=f"Thing number {source}",
        dst_name=f"Thing number {target}",
        source_doc_id=f"doc{document}",
        properties={"year": 2000 + document % 27},
    )


def _written(arrays: Arrays, i: int) -> Edge:
    shown = edge(arrays, i)
    allowed = principals(int(arrays.document[i]))
    return replace(shown, properties={**shown.properties, "allowed_principals": allowed}, embedding=arrays.vectors[i])
