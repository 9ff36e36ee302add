"""What a graph that others built looks like, and the mapping that it is proposed to be read by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from kgcore.errors import StoreError
from kgcore.filters.cypher import quoted
from kgcore.store.mapping import Mapping
from kgcore.store.neo4j_server import NeoServer

SAMPLE = 50
"""Records of each label and type that are looked at."""
FIRST = 5_000
"""Nodes and relationships of any kind that are looked at before."""
MAX_KINDS = 400
"""Labels and types that are looked at."""
MAX_LABELS = 40
NAMES = ("name", "title", "label", "fullName", "full_name", "displayName", "display_name", "username")
DESCRIPTIONS = ("description", "fact", "summary", "text", "evidence")
DOCUMENTS = ("source_doc_id", "document_id", "doc_id")
TEXTS = ("text", "content", "page_content")
_UNION = 40


@dataclass
class _Kind:
    """A label or a type of relationship: its properties with their kinds, and the labels beside it or at its ends."""

    properties: dict[str, set[str]] = field(default_factory=dict)
    labels: set[str] = field(default_factory=set)
    ends: set[tuple[str, str]] = field(default_factory=set)

    def has(self, *names: str) -> bool:
        return all(name in self.properties for name in names)

    def texts(self, names: Iterable[str]) -> list[str]:
        """Of the names, the properties that hold text."""
        return [name for name in names if "string" in self.properties.get(name, ())]

    def lists(self, names: Iterable[str]) -> str:
        """The first of the names that holds lists, "" for none."""
        return next((name for name in names if "list" in self.properties.get(name, ())), "")


@dataclass(frozen=True, kw_only=True)
class Schema:
    """What a graph holds, from samples: its labels and its types of relationships."""

    labels: dict[str, _Kind]
    types: dict[str, _Kind]

    def joining(self, one: str, labels: Iterable[str]) -> str:
        """The first type of relationship between a label and one of others, in either direction."""
        others = set(labels)
        for name in sorted(self.types):
            for a, b in self.types[name].ends:
                if (a == one and b in others) or (b == one and a in others):
                    return name
        return ""


def read_schema(server: NeoServer) -> Schema:
    """Samples a graph. Raises StoreError."""
    labels = [str(row[0]) for row in server.rows("CALL db.labels() YIELD label RETURN label ORDER BY label")]
    types = [
        str(row[0])
        for row in server.rows("CALL db.relationshipTypes() YIELD relationshipType AS t RETURN t ORDER BY t")
    ]
    return Schema(
        labels=_kinds(server, labels, "(n{label})", "WITH n, [] AS b", "labels(n) AS one, b AS two", "labels(n)"),
        types=_kinds(
            server,
            types,
            "(a)-[n{label}]->(b)",
            "WITH a, n, b",
            "labels(a) AS one, labels(b) AS two",
            "[type(n)]",
        ),
    )


def propose(server: NeoServer, schema: Schema) -> Mapping:
    """The mapping that a graph is most likely to be read rightly by.

    Knows the layouts of the reference writer, LLM Graph Builder, neo4j-graphrag, LangChain's transformer and
    Graphiti; any other graph is read by whatever nodes have a name. Raises StoreError when no node has one.
    """
    labels, types = schema.labels, schema.types
    if "Entity" in labels and any(kind.has("src_name", "dst_name") for kind in types.values()):
        return _reference(schema)
    if "Entity" in labels and any(kind.has("fact", "name") for kind in types.values()):
        return _facts_on_edges(schema)
    if "__Entity__" in labels:
        return _marked(server, schema)
    return _plain(server, schema)


def _reference(schema: Schema) -> Mapping:
    held = _together(schema.types.values())
    entity = schema.labels["Entity"]
    values = ("AttributeValue",) if "AttributeValue" in schema.labels else ()
    return Mapping(
        labels=("Entity", *values),
        id="id",
        names=("name", *(["value"] if values else [])),
        plumbing=("Entity",),
        edge_id="id" if held.texts(["id"]) else "",
        source_name="src_name",
        target_name="dst_name",
        description=_first(held.texts(["description"])),
        key=_first(held.texts(["key"])),
        document=_first(held.texts(DOCUMENTS)),
        entity_vector=entity.lists(["embedding"]),
        edge_vector=held.lists(["embedding"]),
        **_passages(schema, ("Entity",)),
    )


def _facts_on_edges(schema: Schema) -> Mapping:
    held = _together(kind for kind in schema.types.values() if kind.has("fact", "name"))
    entity = schema.labels["Entity"]
    facts = {name for name, kind in schema.types.items() if kind.has("fact", "name")}
    return Mapping(
        labels=("Entity",),
        id=_first(entity.texts(["uuid", "id"])),
        names=("name",),
        plumbing=("Entity",),
        ignored=tuple(sorted(set(schema.types) - facts)),
        edge_id=_first(held.texts(["uuid"])),
        relation="name",
        description="fact",
        document=held.lists(["episodes"]),
        entity_vector=entity.lists(["name_embedding"]),
        edge_vector=held.lists(["fact_embedding"]),
        **_passages(schema, ("Entity",)),
    )


def _marked(server: NeoServer, schema: Schema) -> Mapping:
    entity = schema.labels["__Entity__"]
    names = entity.texts(NAMES[:2]) or entity.texts(["id"]) or ["name"]
    held = _together(kind for kind in schema.types.values() if ("__Entity__", "__Entity__") in kind.ends)
    return Mapping(
        labels=("__Entity__",),
        id=_unique(server, "__Entity__", entity.texts(["id"])),
        names=tuple(names),
        plumbing=("__Entity__", "__KGBuilder__"),
        description=_first(held.texts(DESCRIPTIONS)),
        document=_first(held.texts(DOCUMENTS)),
        entity_vector=entity.lists(["embedding"]),
        edge_vector=held.lists(["embedding"]),
        **_passages(schema, ("__Entity__",)),
    )


def _plain(server: NeoServer, schema: Schema) -> Mapping:
    named = Counter(name for kind in schema.labels.values() for name in kind.texts(NAMES))
    names = tuple(name for name in NAMES if name in named)
    labels = sorted(label for label, kind in schema.labels.items() if kind.texts(names))
    if not labels:
        raise StoreError(
            f"{server.address.shown} has no node with a name: none of {', '.join(NAMES)} is a text of one.",
            remedy="Say on the Settings page, or in a mapping file, which labels and properties name things.",
        )
    held = _together(schema.types.values())
    ids = [_unique(server, label, schema.labels[label].texts(["id", "uuid"])) for label in labels]
    same = ids[0] if len(set(ids)) == 1 and len(labels) == 1 else ""
    return Mapping(
        labels=tuple(labels) if len(labels) <= MAX_LABELS else (),
        id=same,
        names=names,
        description=_first(held.texts(DESCRIPTIONS)),
        document=_first(held.texts(DOCUMENTS)),
        **_passages(schema, labels),
    )


def _passages(schema: Schema, entities: Sequence[str]) -> dict[str, Any]:
    """Where passages are: nodes with a text that a relationship joins with entities, or that are called chunks."""
    found = {label: texts[0] for label, kind in schema.labels.items() if (texts := kind.texts(TEXTS))}
    links = {label: schema.joining(label, entities) for label in found if label not in entities}
    linked = [label for label in sorted(links) if links[label]] or [label for label in ("Chunk",) if label in links]
    if not linked:
        return {}
    label = min(linked, key=lambda label: (label != "Chunk", label))
    kind = schema.labels[label]
    return {
        "chunk_label": label,
        "chunk_id": _first(kind.texts(["id", "uuid"])),
        "chunk_text": found[label],
        "chunk_document": _first(kind.texts(["document_id", "fileName", "file_name", "path", "source"])),
        "chunk_vector": kind.lists(["embedding"]),
        "chunk_link": links[label],
    }


def _unique(server: NeoServer, label: str, names: Sequence[str]) -> str:
    """The first of the properties that tells the nodes of a label apart, "" for none."""
    for name in names:
        held = f"n.{quoted(name)}"
        total, known, distinct = server.rows(
            f"MATCH (n:{quoted(label)}) WITH n, CASE WHEN {held} IS :: STRING NOT NULL THEN {held} END AS id "
            "RETURN count(n), count(id), count(DISTINCT id)"
        )[0]
        if total == known == distinct:
            return name
    return ""


def _kinds(
    server: NeoServer, names: Sequence[str], pattern: str, carried: str, ends: str, own: str
) -> dict[str, _Kind]:
    """Every name's kind: from the first records of any, and for a name that has none among them, from its own first."""
    kinds = {name: _Kind() for name in names[:MAX_KINDS]}
    asked = (
        f"MATCH {pattern.format(label='')} {carried} LIMIT {FIRST} "
        f"RETURN DISTINCT {own} AS own, {ends}, {_KEYS} AS held"
    )
    seen = set[str]()
    for own_names, one, two, held in server.rows(asked):
        for name in own_names:
            if name in kinds:
                _add(kinds[name], one, two, held)
                seen.add(name)
    left = [name for name in kinds if name not in seen]
    for start in range(0, len(left), _UNION):
        parts = [
            f"MATCH {pattern.format(label=':' + quoted(name))} {carried} LIMIT {SAMPLE} "
            f"RETURN {start + i} AS at, {ends}, {_KEYS} AS held"
            for i, name in enumerate(left[start : start + _UNION])
        ]
        for at, one, two, held in server.rows(" UNION ALL ".join(parts)):
            _add(kinds[left[at]], one, two, held)
    return kinds


def _add(kind: _Kind, one: Sequence[str], two: Sequence[str], held: Iterable[Sequence[str]]) -> None:
    kind.labels |= set(one)
    kind.ends |= {(a, b) for a in one for b in two}
    for name, told in held:
        kind.properties.setdefault(name, set()).add(told)


def _together(kinds: Iterable[_Kind]) -> _Kind:
    whole = _Kind()
    for kind in kinds:
        for name, told in kind.properties.items():
            whole.properties.setdefault(name, set()).update(told)
    return whole


def _first(names: Sequence[str]) -> str:
    return names[0] if names else ""


_KEYS = (
    "[k IN keys(n) | [k, CASE WHEN n[k] IS :: STRING NOT NULL THEN 'string' "
    "WHEN n[k] IS :: LIST<ANY> NOT NULL THEN 'list' ELSE 'other' END]]"
)
