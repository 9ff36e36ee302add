"""All about one entity: its facts, the passages behind them, its relations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kgcore.browse.near import GROWTH, facts_at
from kgcore.filters import AccessFilter
from kgcore.store.protocol import GraphStore
from kgcore.types import Document, End, Fact, RelationCount, Vector

MAX_PASSAGES = 25


@dataclass(frozen=True, kw_only=True)
class Card:
    """`facts` are the first of `found`; `passages` those that they come from, in the order of the facts, at most 25.

    `relations` count edges, which are at least as many as facts. `titles` are the passages', their ids where they have
    none, by id.
    """

    entity: End
    facts: tuple[Fact, ...]
    found: int
    passages: tuple[Document, ...]
    titles: Mapping[str, str]
    relations: tuple[RelationCount, ...]


def read_card(
    store: GraphStore, entity_id: str, filter: AccessFilter, *, vector: Vector | None = None, limit: int = GROWTH
) -> Card | None:
    """The card of a visible entity with at most `limit` facts, ranked as growing ranks them; None of any other."""
    ends = store.entities([entity_id], filter)
    if not ends:
        return None
    near = facts_at(store, entity_id, filter, vector=vector, limit=limit)
    ids = dict.fromkeys(id_ for fact in near.facts for id_ in fact.source_doc_ids)
    passages = store.chunks.get_documents_by_id(list(ids)[:MAX_PASSAGES])
    seen = tuple(_without(passage, filter.access_fields) for passage in passages)
    return Card(
        entity=ends[0],
        facts=near.facts,
        found=near.found,
        passages=seen,
        titles={passage.id: str(passage.metadata.get("title") or passage.id) for passage in seen},
        relations=store.relations(entity_id, filter),
    )


def _without(passage: Document, fields: frozenset[str]) -> Document:
    metadata = {name: value for name, value in passage.metadata.items() if name not in fields}
    return Document(id=passage.id, content=passage.content, metadata=metadata)
