"""The facts at one entity, some at a time: the closest to a question first, or those to the best connected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kgcore.filters import AccessFilter
from kgcore.models.protocol import Embedder
from kgcore.retrieve.render import merge_edges
from kgcore.store.protocol import GraphReader
from kgcore.types import Description, End, Expansion, Fact, Vector, VisibleEdge

GROWTH = 25
"""Facts that one step adds."""
RANKED = 1_000
"""Facts among which the first are looked for: all that most entities have."""


@dataclass(frozen=True, kw_only=True)
class Near:
    """The first facts at an entity, their ends by id, and how many there are in all.

    A fact's `hop` is 0, its score the cosine of its best edge with the question, 0 without a question.
    """

    facts: tuple[Fact, ...]
    ends: Mapping[str, End]
    found: int


def facts_at(
    store: GraphReader,
    entity_id: str,
    filter: AccessFilter,
    *,
    exclude: Sequence[str] = (),
    vector: Vector | None = None,
    relations: Sequence[str] = (),
    limit: int = GROWTH,
) -> Near:
    """At most `limit` visible facts at an entity, but for those in `exclude`; none of one that is not visible.

    By the cosine of `vector` (with the store's shortlist of 1,000), else by how connected their far ends are (among the
    first 1,000 by id); then by id. `relations` limits them to these relations or attribute keys, as facts tell them.
    """
    expansion = store.expand([entity_id], exclude, filter, vector, RANKED, relations=relations)
    facts = [fact for fact in facts_of(expansion, entity_id) if not relations or fact.relation in relations]
    if vector is None:
        degrees = {id_: end.degree for id_, end in expansion.ends.items()}
        facts.sort(key=lambda fact: (-degrees[far_end(fact, entity_id)], far_end(fact, entity_id), fact.id))
    else:
        facts.sort(key=lambda fact: (-fact.score, fact.id))
    return Near(facts=tuple(facts[:limit]), ends=expansion.ends, found=expansion.found)


def facts_of(expansion: Expansion, *at: str) -> list[Fact]:
    """The facts of an expansion, each by its best edge at one of the entities `at`, in the order of their ids."""
    edges: dict[str, list[VisibleEdge]] = {}
    for visible in expansion.edges:
        edges.setdefault(visible.fact_id, []).append(visible)
    facts = []
    for fact_id, listed in edges.items():
        here = [one for one in listed if one.edge.source_id in at or one.edge.target_id in at]
        best = min(here, key=lambda one: (-(one.score or 0.0), one.edge.id))
        score = round(max((float(one.score) for one in listed if one.score is not None), default=0.0), 6)
        facts.append(merge_edges(fact_id, [one.edge for one in listed], best.edge, expansion.ends, 0, score))
    return facts


def far_end(fact: Fact, entity_id: str) -> str:
    """The other end of a fact at an entity; of a loop the same."""
    return fact.target_id if fact.source_id == entity_id else fact.source_id


def closeness(embedder: Embedder | None, question: str, visible: Description) -> Vector | None:
    """The question's vector where the graph has vectors of this embedder; None without, and without a question.

    Raises ModelError.
    """
    if not question or embedder is None or not visible.has_vectors:
        return None
    if (embedder.name, embedder.dimension) != (visible.embedder, visible.dimension):
        return None
    vector: Vector = embedder.embed([question])[0]
    return vector
