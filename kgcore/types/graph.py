"""A graph: what it holds, and what it may hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Scalar = str | int | float | bool
PropertyValue = Scalar | tuple[Scalar, ...]
Vector = npt.NDArray[np.float32]
"""One unit vector, shape (dimension,), float32."""

HAS_ATTRIBUTE = "HAS_ATTRIBUTE"


@dataclass(frozen=True, kw_only=True)
class Entity:
    """A node. `embedding` is of the normalized name; several records of one id give it several names."""

    id: str
    type: str
    name: str
    embedding: Vector | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, kw_only=True)
class Edge:
    """One assertion by one document. `properties` is that document's flattened metadata."""

    id: str
    source_id: str
    target_id: str
    relation: str
    src_name: str
    dst_name: str
    key: str | None = None
    description: str | None = None
    source_doc_id: str | None = None
    properties: Mapping[str, PropertyValue] = field(default_factory=dict)
    embedding: Vector | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """A passage. `id` is what an edge's `source_doc_id` points to; `document_id` groups chunks."""

    id: str
    content: str
    document_id: str
    metadata: Mapping[str, PropertyValue] = field(default_factory=dict)
    embedding: Vector | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, kw_only=True)
class EntityType:
    """A type of entity that an ontology names."""

    name: str
    description: str = ""


@dataclass(frozen=True, kw_only=True)
class RelationType:
    """A type of relation, and the entity types it may join (empty: any)."""

    name: str
    description: str = ""
    source: tuple[str, ...] = ()
    target: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Triple:
    """A relation between two types of entities."""

    source: str
    relation: str
    target: str


@dataclass(frozen=True, kw_only=True)
class Ontology:
    """What a graph may hold: with `relation_types` no other relations, with `triples` no other pairs of types."""

    entity_types: tuple[EntityType, ...]
    relation_types: tuple[RelationType, ...] = ()
    triples: tuple[Triple, ...] = ()
