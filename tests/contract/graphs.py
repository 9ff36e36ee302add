"""Small graphs for the contract, and one that has a little of everything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, is_dataclass, replace
from typing import Any

import numpy as np

from kgcore.filters import AccessFilter
from kgcore.names import fact_id
from kgcore.store import GraphStore
from kgcore.types import HAS_ATTRIBUTE, Chunk, Edge, Entity, PropertyValue, Vector

EMBEDDER = "toy"


def vec(*numbers: float) -> Vector:
    """A unit vector in this direction."""
    array = np.array(numbers, np.float32)
    return (array / np.linalg.norm(array)).astype(np.float32)


def principals(*names: str) -> AccessFilter:
    """What these principals see."""
    return AccessFilter.of(locked={"field": "allowed_principals", "operator": "contains_any", "value": list(names)})


def only(field: str, operator: str, value: object) -> dict[str, Any]:
    """One comparison, as a caller writes it."""
    return {"field": field, "operator": operator, "value": value}


OPEN = AccessFilter.of()
READER = principals("all")
BOARD = principals("all", "board")
NOBODY = principals("none")

PUBLIC: dict[str, PropertyValue] = {"allowed_principals": ("all",)}
SECRET: dict[str, PropertyValue] = {"allowed_principals": ("board",)}


def edge(
    id: str,
    source: str,
    relation: str,
    target: str,
    *,
    doc: str | None = "d1",
    src: str | None = None,
    dst: str | None = None,
    key: str | None = None,
    description: str | None = None,
    properties: dict[str, PropertyValue] | None = None,
    embedding: Vector | None = None,
) -> Edge:
    """An edge that everybody may see; entities are called by their id unless said otherwise."""
    return Edge(
        id=id, source_id=source, target_id=target, relation=relation, src_name=src or source, dst_name=dst or target,
        key=key, description=description, source_doc_id=doc,
        properties=PUBLIC if properties is None else properties, embedding=embedding,
    )  # fmt: skip


def hidden(id: str, source: str, relation: str, target: str, **more: Any) -> Edge:
    """An edge that only the board may see."""
    return edge(id, source, relation, target, **{"doc": "d9", "properties": SECRET, **more})


def write(store: GraphStore, *edges: Edge, entities: Sequence[Entity] = (), embedder: str | None = EMBEDDER) -> None:
    """Writes edges, and entities of type Thing for those ends that `entities` leaves out."""
    given = {entity.id for entity in entities}
    store.upsert([*entities, *(e for e in things(edges) if e.id not in given)], edges, embedder=embedder)


def things(edges: Sequence[Edge]) -> list[Entity]:
    """An entity of type Thing for each end."""
    ends = {end: name for e in edges for end, name in ((e.source_id, e.src_name), (e.target_id, e.dst_name))}
    return [Entity(id=id_, type="Thing", name=name) for id_, name in ends.items()]


def fact_of(e: Edge) -> str:
    """The id of the fact that an edge asserts."""
    return fact_id(e.source_id, e.relation, e.key, e.target_id, e.dst_name)


def chunk(id: str, embedding: Vector | None = None) -> Chunk:
    """A passage that everybody may read."""
    return Chunk(id=id, content=f"Text of {id}.", document_id="doc", metadata=PUBLIC, embedding=embedding)


def version(store: GraphStore) -> str:
    """The store's data version."""
    return store.describe(OPEN).data_version


VALUES: dict[str, PropertyValue] = {
    "integer": 2024, "float_of_an_integer": 2024.0, "largest": 2**63 - 1, "smallest": -(2**63), "odd": 2**53 + 1,
    "third": 0.1 + 0.2, "huge": 1e300, "tiny": 5e-324, "yes": True, "no": False, "zero": 0, "empty": "",
    "text": 'O\'Hara "said" \\ ; DROP TABLE edge; -- $f0 ?', "lines": "a\nb\tc", "decomposed": "e\u0301",
    "composed": "é", "script": "日本語 العربية 🚀", "numeric_text": "2024", "none_text": "null",
    "list": ("a", "b"), "no_items": (),
    "numbers": (1, 2, 3), "floats": (1.0, 5.5), "truths": (True, False), "order": "first", "select": 1, "Year": 1,
    "year": 2, "_": 3, "percent%": 1, "with space": 1, "ключ": "значение", 'quo"te': 1, "dollar$.a[0]": 1, "dot.ted": 1,
}  # fmt: skip
"""A property of every kind, each with a name or a value that something might stumble over."""


# -- the world

_DOCUMENTS: dict[str | None, dict[str, PropertyValue]] = {
    None: {},
    "d1": {**PUBLIC, "year": 2024, "lang": "en", "title": "Report One"},
    "d2": {**PUBLIC, "year": 2023, "flag": True},
    "d3": {**PUBLIC, "year": "2024", "tags": ("a", "b"), "ratio": 0.25},
    "d9": {**SECRET, "year": 2025, "codename": "Bluebird", "title": "Minutes"},
}


def _said(doc: str | None, id: str, source: str, relation: str, target: str, **more: Any) -> Edge:
    names = {"src": NAMES[source], "dst": NAMES[target]}
    return edge(id, source, relation, target, **{"doc": doc, "properties": _DOCUMENTS[doc], **names, **more})


NAMES = {
    "jane": "Jane Doe",
    "bob": "Bob Roe",
    "kim-1": "Alex Kim",
    "kim-2": "Alex Kim",
    "acme": "Acme Capital",
    "globex": "Globex",
    "helios": "Helios",
    "d1/status": "Active",
    "d2/status": "active",
    "d1/region": "EU",
    "ghost": "Jane Ghost",
    "loner": "Loner",
}
TYPES = {"acme": "Company", "globex": "Company", "helios": "System"}

WORLD_ENTITIES = (
    *(Entity(
        id=id_,
        type="Value" if "/" in id_ else TYPES.get(id_, "Person"),
        name=name,
        embedding={
            "jane": vec(1, 0, 0, 0), "acme": vec(0, 1, 0, 0), "globex": vec(0, 0.8, 0.6, 0), "helios": vec(0, 0, 1, 0),
            "kim-1": vec(0, 0, 0, 1), "kim-2": vec(0, 0, 0, 1), "ghost": vec(1, 0, 0, 0), "loner": vec(1, 0, 0, 0),
        }.get(id_),
    ) for id_, name in NAMES.items()),
    Entity(id="jane", type="Person", name="Jane M. Doe", embedding=vec(0.8, 0, 0.6, 0)),
    Entity(id="jane", type="Person", name="Jane Secret", embedding=vec(0, 1, 0, 0)),
)  # fmt: skip

VISIBLE_EDGES = (
    _said("d1", "e01", "jane", "WORKS_AT", "acme", description="since 2019", embedding=vec(1, 0, 0, 0)),
    _said("d2", "e02", "jane", "WORKS_AT", "acme", src="Jane M. Doe", embedding=vec(0, 1, 0, 0)),
    _said("d1", "e03", "acme", "USES", "helios", embedding=vec(0.6, 0.8, 0, 0)),
    _said("d2", "e04", "bob", "KNOWS", "jane"),
    _said("d2", "e05", "kim-1", "WORKS_AT", "acme", embedding=vec(0, 0, 1, 0)),
    _said("d2", "e06", "kim-2", "WORKS_AT", "globex", embedding=vec(0, 0, 1, 0)),
    _said("d1", "e07", "acme", "OWNS", "acme"),
    _said("d1", "e08", "helios", HAS_ATTRIBUTE, "d1/status", key="status"),
    _said("d2", "e09", "helios", HAS_ATTRIBUTE, "d2/status", key="status"),
    _said("d1", "e10", "helios", HAS_ATTRIBUTE, "d1/region", key="region"),
    _said("d3", "e11", "globex", "USES", "helios", embedding=vec(0, 0, 0, 1)),
)
UNSAID_EDGE = _said(None, "e12", "bob", "LIKES", "helios")
"""Without a document or a property: no locked filter lets it through."""
HIDDEN_EDGES = (
    _said("d9", "h01", "ghost", "KNOWS", "jane", dst="Jane Secret", embedding=vec(1, 0, 0, 0)),
    _said("d9", "h02", "jane", "WORKS_AT", "globex", src="Jane Secret", embedding=vec(1, 0, 0, 0)),
)
WORLD_EDGES = (*VISIBLE_EDGES, UNSAID_EDGE, *HIDDEN_EDGES)
WORLD_CHUNKS = (
    *(
        Chunk(id=id_, document_id=document, content=f"Text of {id_}.", metadata=_DOCUMENTS[id_], embedding=embedding)
        for id_, document, embedding in (
            ("d1", "doc-a", vec(1, 0, 0, 0)),
            ("d2", "doc-a", vec(0.8, 0.6, 0, 0)),
            ("d3", "doc-b", vec(0.8, 0.6, 0, 0)),
            ("d9", "doc-x", vec(1, 0, 0, 0)),
        )
    ),
    Chunk(id="d4", document_id="doc-b", content="Without a vector.", metadata=PUBLIC),
)


def write_world(store: GraphStore) -> None:
    """Fills an empty store."""
    store.upsert(WORLD_ENTITIES, WORLD_EDGES, embedder=EMBEDDER)
    store.chunks.upsert(WORLD_CHUNKS, embedder=EMBEDDER)


# -- all that can be read


@dataclass(frozen=True, kw_only=True)
class Probe:
    """What `everything` asks for: ids, names and vectors, visible or not."""

    ids: tuple[str, ...]
    edge_ids: tuple[str, ...]
    names: tuple[str, ...]
    vectors: tuple[Vector, ...] = (vec(1, 0, 0, 0), vec(0, 1, 0, 0), vec(1, 1, 1, 1))
    prefixes: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


WORLD_PROBE = Probe(
    ids=("jane", "helios", *(i for i in NAMES if i not in ("jane", "helios"))),
    edge_ids=tuple(e.id for e in WORLD_EDGES),
    names=(*dict.fromkeys(NAMES.values()), "Jane Secret", "Jane", "Jane M. Doe", "Acne", "Gobex", "Secret", "Bluebird"),
    prefixes=("jane", "sec", "a", "doe"),
    words=("jane", "acme"),
)


def everything(store: GraphStore, filter: AccessFilter, probe: Probe = WORLD_PROBE) -> dict[str, Any]:
    """What every reading verb says about the probe, in a form that compares to the bit; no data version."""
    first, ids = probe.ids[0], probe.ids
    read: dict[str, Any] = {
        "describe": replace(store.describe(filter), data_version=""),
        "match_names": store.match_names(probe.names, filter, 2),
        "find_mentions": [store.find_mentions(probe.names, filter, spelled=spelled) for spelled in (False, True)],
        "nearest_entities": [store.nearest_entities(probe.vectors, filter, k) for k in (1, 3)],
        "entities": store.entities(ids, filter),
        "edges": store.edges(probe.edge_ids, filter),
        "search": [store.search(text, filter, 3) for text in probe.prefixes],
        "hubs": store.hubs(filter, 4),
        "relations": [store.relations(id_, filter) for id_ in ids],
        "paths": [store.paths(first, other, filter, 3) for other in ids[1:4]],
        "documents": store.documents(filter),
        "values": {p.name: store.values(p.name, filter, 3) for p in store.describe(filter).properties},
        "scan": store.scan(filter, None),
        "chunks": [store.chunks.nearest(vector, filter, 3) for vector in probe.vectors],
        "expand by vector": store.expand(ids, (), filter, probe.vectors[0], 3),
        "expand by words": store.expand(ids, (), filter, None, 3, words=probe.words),
        "expand by id": store.expand(ids[:1], (), filter, None, 2),
        "expand whole": store.expand(ids[:2], (), filter, probe.vectors[1], 100),
    }
    return {verb: exact(answer) for verb, answer in read.items()}


def exact(value: Any) -> Any:
    """Nested plain values whose equality tells 1 from 1.0 and True, and sees vectors; mappings lose their order."""
    if is_dataclass(value) and not isinstance(value, type):
        return type(value).__name__, exact({name: getattr(value, name) for name in value.__dataclass_fields__})
    if isinstance(value, np.ndarray):
        return "vector", tuple(value.tolist())
    if isinstance(value, list | tuple):
        return [exact(item) for item in value]
    if hasattr(value, "items"):
        return sorted((name, exact(item)) for name, item in value.items())
    return repr(value)
