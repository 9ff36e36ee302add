"""How a Neo4j graph is read: which labels and properties are entities, names, facts, passages and access."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from kgcore.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Mapping:
    """A graph's layout; an empty text or tuple is something that it has not.

    `labels` are those of entities (none: every node with a name), `names` the properties that may hold a name, the
    first that does. `id` is the property with an entity's id, else the server's own element id. A type is
    the property `type`, else the first label that is not in `plumbing`. `relation`, `description`, `key` and
    `document` are properties of relationships (without `relation` its type is the relation), `ignored` the
    types of relationships that are no facts. `access` are properties that hold access metadata.
    `embedder` names the model of the vectors in `entity_vector` and `edge_vector`. A passage is a node of
    `chunk_label`; `chunk_link` is the type of relationship that joins it and the entities it speaks of.
    """

    labels: tuple[str, ...] = ()
    id: str = ""
    names: tuple[str, ...] = ("name",)
    type: str = ""
    plumbing: tuple[str, ...] = ()
    edge_id: str = ""
    relation: str = ""
    source_name: str = ""
    target_name: str = ""
    description: str = ""
    key: str = ""
    document: str = ""
    ignored: tuple[str, ...] = ()
    access: tuple[str, ...] = ()
    embedder: str = ""
    entity_vector: str = ""
    edge_vector: str = ""
    chunk_label: str = ""
    chunk_id: str = ""
    chunk_text: str = ""
    chunk_document: str = ""
    chunk_vector: str = ""
    chunk_link: str = ""


OWN = Mapping(
    labels=("Entity",),
    id="id",
    names=("name",),
    type="type",
    plumbing=("Entity", "EntityName"),
    edge_id="id",
    source_name="src_name",
    target_name="dst_name",
    description="description",
    key="key",
    document="source_doc_id",
    entity_vector="embedding",
    edge_vector="embedding",
    chunk_label="Chunk",
    chunk_id="id",
    chunk_text="content",
    chunk_document="document_id",
    chunk_vector="embedding",
)
"""The layout that Hopscope writes."""

_ADAPTER = TypeAdapter(Mapping)


def mapping_json(mapping: Mapping) -> str:
    """A mapping as the JSON that `read_mapping` reads."""
    return json.dumps(_ADAPTER.dump_python(mapping, mode="json"), indent=2, ensure_ascii=False) + "\n"


def parse_mapping(text: str | bytes) -> Mapping:
    """A mapping from JSON. Raises ConfigError that names the entry."""
    try:
        known = set(Mapping.__dataclass_fields__)
        given = json.loads(text)
        unknown = sorted(set(given) - known) if isinstance(given, dict) else []
        if unknown:
            raise ConfigError(
                f"A mapping has no entry {unknown[0]!r}.", remedy=f"Use {', '.join(sorted(known))}.", field=unknown[0]
            )
        mapping = _ADAPTER.validate_json(text)
        if mapping == OWN:
            raise ConfigError(
                "This mapping is Hopscope's own layout, which needs none.",
                remedy="Remove the file, or name the labels and properties of the graph.",
            )
        return mapping
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"]) or "the whole"
        raise ConfigError(
            f"The mapping cannot be used: {where} is of the wrong kind.",
            remedy="Correct it, or remove the file and take the proposal.",
            field=where,
        ) from error
    except ValueError as error:
        raise ConfigError(
            "The mapping is not JSON.", remedy="Correct it, or remove the file and take the proposal."
        ) from error


def read_mapping(path: Path) -> Mapping | None:
    """The mapping that was saved there, if one was. Raises ConfigError."""
    try:
        return parse_mapping(path.read_bytes()) if path.is_file() else None
    except OSError as error:
        raise ConfigError(f"{path.name} cannot be read.", remedy="Check the file's rights.") from error


def save_mapping(path: Path, mapping: Mapping) -> None:
    """Keeps a mapping in a file. Raises ConfigError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(mapping_json(mapping), encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path.name} cannot be written.", remedy="Check the folder's rights.") from error
