"""A run: its result, and the trace of how it came about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from kgcore.types.graph import PropertyValue
from kgcore.types.reading import Document

Scoring = Literal["coverage", "edge"]
SeedMode = Literal["auto", "mentions", "query", "llm"]
FoundBy = Literal["id", "name", "mention", "vector"]
Fate = Literal["kept", "beam_cut", "hub", "duplicate", "llm_cut", "reranked_out", "top_k_cut"]

KEPT_BY_BEAM: tuple[Fate, ...] = ("kept", "reranked_out", "top_k_cut")
"""The fates of what a beam kept, whatever became of it after the last hop."""

NO_NEW_WORDS = 0.01
"""A fact that adds less than this to its path's score explains nothing new."""


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
    too many edges to be expanded; it stands in the hop that would have expanded it). After a chat model's
    filter those that passed come first, and no width keeps the others. `gain` is what the fact adds to its
    path's score. `degree` is the far end's visible degree.
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
class Alias:
    """An entity that a hop starts from since it may be `of_id`, which the walk reached: its name is part of that one's.

    `share` is how much of the longer name's letters it has, 0.5..1. `degree` counts visible edges.
    """

    entity_id: str
    name: str
    type: str
    degree: int
    share: float
    of_id: str
    of_name: str


@dataclass(frozen=True, kw_only=True)
class Hop:
    """One round of the beam. `considered` counts visible facts found; `left_out` those beyond the shortlist.

    `cutoff` is the score of the last kept fact. `candidates` holds every kept one and the best 200 cut.
    `explains` says which words the hop's kept facts newly explain. `aliases` are those that it started from too.
    """

    number: int
    considered: int
    left_out: int
    kept: int
    cutoff: float
    explains: tuple[Explained, ...]
    candidates: tuple[Candidate, ...]
    aliases: tuple[Alias, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a run was asked for, every value resolved. `filters` is the caller's own; locked ones are not here.

    `entity_types` are those that a model was to find in the question; empty for all that it may. With `aliases` the
    walk goes on from entities whose name is part of a reached one's too. With `llm_filter` a chat model reads the best
    candidates of each hop, and none that it does not let pass is kept (`llm_cut`).
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
    aliases: bool = True
    llm_filter: bool = False
    reranker: str | None = None


@dataclass(frozen=True, kw_only=True)
class Passage:
    """A source passage that was weighed, and why it stands where it does: `score = by_path + by_near + by_page_rank`.

    `path` is the best score of a kept path through it, which leads to `fact_id`, else of its best single fact; `near`
    its cosine with the question; `page_rank` its share of a walk over what was looked at. Those `picked` were taken one
    after another by the score and by `gain`, the part of the question that they cover beyond those before; `explains`
    names it in words. `rank` counts from 1.
    """

    id: str
    score: float
    path: float
    fact_id: str | None
    near: float | None
    page_rank: float
    by_path: float
    by_near: float
    by_page_rank: float
    rank: int = 0
    picked: bool = False
    gain: float = 0.0
    explains: tuple[Explained, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Trace:
    """Everything tried, kept and cut; enough to draw, to explain and to replay without the store.

    `result` is the ids of the facts that survived the top_k cut, in order; `passages` are the source passages weighed.
    """

    question: str
    settings: Settings
    words: tuple[Word, ...]
    seeds: tuple[Seed, ...]
    hops: tuple[Hop, ...]
    result: tuple[str, ...]
    passages: tuple[Passage, ...] = ()
    warnings: tuple[str, ...] = ()


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
