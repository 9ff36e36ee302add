"""What every part speaks: frozen, keyword-only, tuples for lists. Imports nothing of ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Scalar = str | int | float | bool
PropertyValue = Scalar | tuple[Scalar, ...]
Vector = npt.NDArray[np.float32]
"""One unit vector, shape (dimension,), float32."""

Scoring = Literal["coverage", "edge"]
SeedMode = Literal["auto", "mentions", "query", "llm"]
FoundBy = Literal["id", "name", "mention", "vector"]
Fate = Literal["kept", "beam_cut", "hub", "duplicate", "reranked_out", "top_k_cut"]

HAS_ATTRIBUTE = "HAS_ATTRIBUTE"
NO_NEW_WORDS = 0.01
"""A fact that adds less than this to its path's score explains nothing new."""


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
class Fact:
    """What a reader sees: the visible edges of one (source, relation or key, target), merged.

    `id` is derived from that identity, never from rendered text. `score` is the path's score for the
    question. `metadata` always holds source_id, target_id, source, target, relation, edge_ids,
    source_doc_ids, hop and score; the edges' own metadata stand beside them, lists where they differ.
    """

    id: str
    source_id: str
    target_id: str
    source: str
    target: str
    relation: str
    text: str
    hop: int
    score: float
    edge_ids: tuple[str, ...]
    source_doc_ids: tuple[str, ...]
    source_type: str = ""
    target_type: str = ""
    attribute: bool = False
    description: str | None = None
    metadata: Mapping[str, PropertyValue] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Seed:
    """An entity that the walk starts from. `score` is in 0..1, 1 for an exact id or name.

    `text` is what was matched: the id, the name asked for, the words of the question; "" for a vector.
    """

    entity_id: str
    name: str
    type: str
    found_by: FoundBy
    score: float
    text: str = ""
    degree: int = 0


@dataclass(frozen=True, kw_only=True)
class Word:
    """A word of the question: `start` and `end` are character offsets, `weight` its share (they sum to 1).

    `hop` is the hop whose kept facts explained it, 0 a seed's name, None when nothing did (and for function words).
    """

    text: str
    start: int
    end: int
    weight: float
    hop: int | None = None


@dataclass(frozen=True, kw_only=True)
class Explained:
    """A word of the question (its index in `Trace.words`) and what a fact adds to the score through it."""

    word: int
    gain: float


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A fact that a hop considered, from `parent_id` to the far end `entity_id`, and what became of it.

    `chain` is the path of fact ids from a seed, this one last. `rank` counts from 1 among the hop's
    distinct facts: it is also the smallest beam width that keeps it, earlier hops as they were. It is 0
    for a duplicate (a worse path to a fact of this hop) and for a hub (a kept fact whose far end has
    too many edges to be expanded; it stands in the hop that would have expanded it). `gain` is what the
    fact adds to its path's score. `degree` is the far end's visible degree.
    """

    hop: int
    fact: Fact
    parent_id: str
    parent_name: str
    entity_id: str
    entity_name: str
    chain: tuple[str, ...]
    score: float
    rank: int
    fate: Fate
    gain: float = 0.0
    explains: tuple[Explained, ...] = ()
    degree: int = 0
    bridge: bool = False
    rerank_score: float | None = None


@dataclass(frozen=True, kw_only=True)
class Hop:
    """One round of the beam. `considered` counts visible facts found; `left_out` those beyond the shortlist.

    `cutoff` is the score of the last kept fact. `candidates` holds every kept one and the best 200 cut.
    `explains` says which words the hop's kept facts newly explain.
    """

    number: int
    considered: int
    left_out: int
    kept: int
    cutoff: float
    explains: tuple[Explained, ...]
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a run was asked for, every value resolved. `filters` is the caller's own; locked ones are not here.

    `entity_types` are those that a model was to find in the question; empty for all that it may.
    """

    max_hops: int
    beam_width: int
    top_k: int
    scoring: Scoring
    seed_mode: SeedMode
    hub_limit: int
    vector_top_k: int
    summarize: bool
    entities: tuple[str, ...] = ()
    entity_ids: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    entity_types: tuple[str, ...] = ()
    filters: Mapping[str, Any] | None = None
    beam_auto: bool = False
    reranker: str | None = None


@dataclass(frozen=True, kw_only=True)
class Trace:
    """Everything tried, kept and cut; enough to draw, to explain and to replay without the store.

    `result` is the ids of the facts that survived the top_k cut, in order.
    """

    question: str
    settings: Settings
    words: tuple[Word, ...]
    seeds: tuple[Seed, ...]
    hops: tuple[Hop, ...]
    result: tuple[str, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Document:
    """A text with its metadata: a fact as text, or a source passage."""

    id: str
    content: str
    metadata: Mapping[str, PropertyValue] = field(default_factory=dict)
    score: float | None = None


@dataclass(frozen=True, kw_only=True)
class Retrieval:
    """The result. `content` is the answer if summarized, else the source text if grounded, else the facts.

    `context` is the retrieved text that an answer was made from, "" without one. `documents` are the facts
    as documents, in order. `timings` are milliseconds a stage; they stand outside equality and exports.
    """

    content: str
    facts: tuple[Fact, ...]
    documents: tuple[Document, ...]
    source_documents: tuple[Document, ...]
    context: str
    trace: Trace
    timings: Mapping[str, float] = field(default_factory=dict, compare=False)


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
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class DocumentInfo:
    """A source document as visible edges show it: how many edges it asserts, and its title if it has one."""

    id: str
    title: str
    edges: int


@dataclass(frozen=True, kw_only=True)
class FieldValue:
    """A value of a filter's field, and how many visible edges have it."""

    value: Scalar
    count: int


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
class Ontology:
    """What a graph may hold."""

    entity_types: tuple[EntityType, ...]
    relation_types: tuple[RelationType, ...] = ()
