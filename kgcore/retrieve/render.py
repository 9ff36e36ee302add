"""Facts as text, and facts merged from the edges that assert them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kgcore.types import HAS_ATTRIBUTE, Document, Edge, End, Fact, Retrieval

NO_FACTS = "No matching facts found."


def relation_of(edge: Edge) -> str:
    """What a reader sees as the relation: an attribute's key, else the relation itself."""
    return edge.key if edge.relation == HAS_ATTRIBUTE and edge.key else edge.relation


def match_text(edge: Edge) -> str:
    """The text that an edge is embedded and scored by: `source relation target: description`, `_` as a space."""
    text = f"{edge.src_name} {relation_of(edge)} {edge.dst_name}".replace("_", " ")
    return f"{text}: {edge.description}" if edge.description else text


def passage_text(title: object, content: str) -> str:
    """The text that a passage is embedded and covered by: its title before it."""
    return f"{title}. {content}" if title else content


def merge_edges(
    fact_id: str, edges: Sequence[Edge], best: Edge, ends: Mapping[str, End], hop: int, score: float
) -> Fact:
    """One fact from the visible edges that assert it; names and description are the best edge's.

    `edges` are in the order of their ids; metadata that differ between them become lists in that order.
    """
    relation = relation_of(best)
    text = f"{best.src_name} -[{relation}]-> {best.dst_name}"
    documents = tuple(dict.fromkeys(e.source_doc_id for e in edges if e.source_doc_id))
    edge_ids = tuple(e.id for e in edges)
    return Fact(
        id=fact_id,
        source_id=best.source_id,
        target_id=best.target_id,
        source=best.src_name,
        target=best.dst_name,
        relation=relation,
        text=f"{text}: {best.description}" if best.description else text,
        hop=hop,
        score=score,
        edge_ids=edge_ids,
        source_doc_ids=documents,
        source_type=ends[best.source_id].type if best.source_id in ends else "",
        target_type=ends[best.target_id].type if best.target_id in ends else "",
        attribute=best.relation == HAS_ATTRIBUTE,
        description=best.description,
        metadata={
            **_merged([e.properties for e in edges]),
            "source_id": best.source_id,
            "target_id": best.target_id,
            "source": best.src_name,
            "target": best.dst_name,
            "relation": relation,
            "edge_ids": edge_ids,
            "source_doc_ids": documents,
            "hop": hop,
            "score": score,
        },
    )


def fact_documents(facts: Sequence[Fact]) -> tuple[Document, ...]:
    """Facts as documents, in order."""
    return tuple(Document(id=f.id, content=f.text, metadata=f.metadata, score=f.score) for f in facts)


def facts_text(facts: Sequence[Fact]) -> str:
    """One fact a line, or the sentence that says there are none."""
    return "\n".join(fact.text for fact in facts) or NO_FACTS


def _merged(properties: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    if len(properties) == 1:
        return dict(properties[0])
    merged: dict[str, Any] = {}
    for name in sorted({name for given in properties for name in given}):
        values = [given[name] for given in properties if name in given]
        items = [item for value in values for item in (value if isinstance(value, tuple) else (value,))]
        unique = tuple({(type(item), item): item for item in items}.values())
        merged[name] = unique if len(unique) > 1 or any(isinstance(v, tuple) for v in values) else unique[0]
    return merged


def source_titles(result: Retrieval) -> dict[str, str]:
    """The titles of a result's source passages by their ids; the id of one without."""
    return {d.id: str(d.metadata.get("title") or d.id) for d in result.source_documents}
