"""What a store answers under a filter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kgcore.types.graph import Edge, PropertyValue, Scalar


@dataclass(frozen=True, kw_only=True)
class Document:
    """A text with its metadata: a fact as text, or a source passage."""

    id: str
    content: str
    metadata: Mapping[str, PropertyValue] = field(default_factory=dict)
    score: float | None = None


@dataclass(frozen=True, kw_only=True)
class Match:
    """A visible entity that a store found for a name (`query`) or a vector. `score` in 0..1, 1 is exact.

    `query` is the position of the name or vector asked for; `name` is as a visible edge gives it.
    """

    query: int
    entity_id: str
    name: str
    type: str
    score: float


@dataclass(frozen=True, kw_only=True)
class VisibleEdge:
    """An edge behind a filter, its fact's id, and its vector's cosine with the question (None without)."""

    edge: Edge
    fact_id: str
    score: float | None


@dataclass(frozen=True, kw_only=True)
class End:
    """An entity as visible edges show it."""

    id: str
    name: str
    type: str
    degree: int


@dataclass(frozen=True, kw_only=True)
class Expansion:
    """One hop: the shortlist's edges ordered by (fact id, edge id), their ends, and how many facts there were."""

    edges: tuple[VisibleEdge, ...]
    ends: Mapping[str, End]
    found: int


@dataclass(frozen=True, kw_only=True)
class Property:
    """A property of visible edges: its kinds (`number`, `string`, `boolean`, `list`) and how many have it."""

    name: str
    kinds: tuple[str, ...]
    count: int


@dataclass(frozen=True, kw_only=True)
class Description:
    """A graph as a filter shows it, counts of visible things; `embedder` is None without vectors.
    `bare` counts the visible edges that have no vector though the graph has some.
    `warnings` say what the store does without, such as an index."""

    entities: int
    edges: int
    documents: int
    entity_types: Mapping[str, int]
    relations: Mapping[str, int]
    properties: tuple[Property, ...]
    embedder: str | None
    dimension: int | None
    data_version: str
    bare: int = 0
    warnings: tuple[str, ...] = ()

    @property
    def has_vectors(self) -> bool:
        """Whether vectors are to be used: at most one visible edge in twenty is without.

        So a graph is not scored by the first few that are computed, nor loses all by what was added last.
        """
        return self.embedder is not None and self.bare * 20 <= self.edges


@dataclass(frozen=True, kw_only=True)
class DocumentInfo:
    """A source document as it can be seen: how many edges and facts it asserts, its passages, its title or its id.

    `metadata` are those of its first edge by id, without a title, else those of its first passage.
    """

    id: str
    title: str
    edges: int = 0
    facts: int = 0
    chunks: int = 0
    metadata: Mapping[str, PropertyValue] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class RelationCount:
    """A relation or attribute key at an entity, in one direction, and how many of its visible edges have it."""

    relation: str
    outgoing: bool
    count: int


@dataclass(frozen=True, kw_only=True)
class FieldValue:
    """A value of a filter's field, and how many visible edges have it."""

    value: Scalar
    count: int
