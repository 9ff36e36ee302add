"""A seeded synthetic graph of any size: uniform edges and one hub, a passage a document, everything with vectors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from kgcore.models.offline import OfflineEmbedder
from kgcore.store.protocol import GraphStore
from kgcore.types import Chunk, Edge, Entity

DIMENSION = 384
FIRST = "Amber Basalt Cobalt Delta Ember Fjord Granite Harbor Indigo Juniper Kestrel Lumen Meridian Nimbus Onyx".split()
SECOND = (
    "Bank Bridge Council Desk Fund Group Institute Ledger Market Office Platform Registry Systems Trust Works".split()
)
RELATIONS = ("USES", "OWNS", "WORKS_AT", "SUPPLIES", "REPORTS_TO", "LOCATED_IN", "FUNDS", "AUDITS")
QUESTIONS = (
    "Which platform uses the ledger that {name} owns?",
    "Who audits the bank that supplies {name}?",
    "Where is the group located that {name} funds?",
    "What does the office that {name} reports to own?",
)
PUBLIC, STAFF = "group:public", "group:staff"
SAID = 12
"""Facts that a passage tells."""
BATCH = 20_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Arrays:
    """The same graph as arrays. Node 0 is the hub; vectors are unit, shape (edges, 384)."""

    source: npt.NDArray[np.int32]
    target: npt.NDArray[np.int32]
    document: npt.NDArray[np.int32]
    vectors: npt.NDArray[np.float32]
    nodes: int
    documents: int


def make(edges: int, hub: int, documents: int, seed: int = 7) -> Arrays:
    """`edges` edges over edges / 5 nodes, `hub` of them at node 0, half in each direction; no loops."""
    rng = np.random.default_rng(seed)
    nodes = max(edges // 5, hub // 2 + 2)
    source = rng.integers(1, nodes, edges).astype(np.int32)
    target = rng.integers(1, nodes, edges).astype(np.int32)
    target = np.where(source == target, source % (nodes - 1) + 1, target).astype(np.int32)
    at_hub = rng.permutation(edges)[:hub]
    out, into = at_hub[: hub // 2], at_hub[hub // 2 :]
    source[out], target[out] = 0, rng.permutation(nodes - 1)[: len(out)] + 1
    target[into], source[into] = 0, rng.permutation(nodes - 1)[: len(into)] + 1
    return Arrays(
        source=source,
        target=target,
        document=rng.integers(0, documents, edges).astype(np.int32),
        vectors=_directions(rng, edges),
        nodes=nodes,
        documents=documents,
    )


def principals(document: int) -> tuple[str, ...]:
    """Who may see a document: two thirds of them everybody."""
    return (STAFF,) if document % 3 == 0 else (STAFF, PUBLIC)


def name_of(node: int) -> str:
    """`Cobalt Desk 12`: no two nodes have one name."""
    return f"{FIRST[node * 7 % len(FIRST)]} {SECOND[node // len(FIRST) % len(SECOND)]} {node}"


def questions(arrays: Arrays, count: int, seed: int = 3) -> list[tuple[str, str]]:
    """Questions that each name one node that is no hub, beside that name."""
    names = [name_of(int(node)) for node in np.random.default_rng(seed).integers(1, arrays.nodes, count)]
    return [(QUESTIONS[i % len(QUESTIONS)].format(name=name), name) for i, name in enumerate(names)]


def edge(arrays: Arrays, i: int) -> Edge:
    """An edge as a reader sees it: without its vector, and without who may see it."""
    source, target, document = int(arrays.source[i]), int(arrays.target[i]), int(arrays.document[i])
    return Edge(
        id=f"e{i}",
        source_id=f"n{source}",
        target_id=f"n{target}",
        relation=RELATIONS[i % len(RELATIONS)],
        src_name=name_of(source),
        dst_name=name_of(target),
        source_doc_id=f"doc{document}",
        properties={"year": 2000 + document % 27},
    )


def fill(store: GraphStore, arrays: Arrays, together: int = BATCH) -> None:
    """Writes the graph into a store, vectors as if of the offline embedder; `together` edges a transaction."""
    embedder = OfflineEmbedder().name
    for entities in _entities(arrays):
        store.upsert(entities, [], embedder=embedder)
    for first in range(0, len(arrays.source), together):
        last = min(first + together, len(arrays.source))
        with store.transaction():
            for start in range(first, last, BATCH):
                edges = [_written(arrays, i) for i in range(start, min(start + BATCH, last))]
                store.upsert([], edges, embedder=embedder)
    store.chunks.upsert(list(_chunks(arrays)), embedder=embedder)


def _entities(arrays: Arrays) -> Iterator[list[Entity]]:
    rng = np.random.default_rng(1)
    for start in range(0, arrays.nodes, BATCH):
        numbers = range(start, min(start + BATCH, arrays.nodes))
        vectors = _directions(rng, len(numbers))
        yield [
            Entity(id=f"n{i}", type="Thing", name=name_of(i), embedding=vector)
            for i, vector in zip(numbers, vectors, strict=True)
        ]


def _chunks(arrays: Arrays) -> Iterator[Chunk]:
    said: dict[int, list[int]] = {}
    for i, document in enumerate(arrays.document.tolist()):
        facts = said.setdefault(document, [])
        if len(facts) < SAID:
            facts.append(i)
    vectors = _directions(np.random.default_rng(2), arrays.documents)
    for document, vector in enumerate(vectors):
        yield Chunk(
            id=f"doc{document}",
            document_id=f"doc{document}",
            content=" ".join(_sentence(edge(arrays, i)) for i in said.get(document, ())),
            metadata={"year": 2000 + document % 27, "allowed_principals": principals(document)},
            embedding=vector,
        )


def _sentence(shown: Edge) -> str:
    return f"{shown.src_name} {shown.relation.lower().replace('_', ' ')} {shown.dst_name}."


def _written(arrays: Arrays, i: int) -> Edge:
    shown = edge(arrays, i)
    allowed = principals(int(arrays.document[i]))
    return replace(shown, properties={**shown.properties, "allowed_principals": allowed}, embedding=arrays.vectors[i])


def _directions(rng: np.random.Generator, count: int) -> npt.NDArray[np.float32]:
    vectors = rng.standard_normal((count, DIMENSION), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors
