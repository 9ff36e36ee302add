"""From what a model read in passages to a graph: entities by their resolution, an edge for each fact of a passage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from kgcore.filters import WHOLE
from kgcore.ingest.extract import Read
from kgcore.ingest.resolve import Names, Resolution
from kgcore.ingest.said import Mention, Said
from kgcore.ingest.source import VALUE_TYPE, GraphParts, by_document
from kgcore.names import edge_id, entity_id, fold
from kgcore.store.protocol import GraphStore
from kgcore.types import HAS_ATTRIBUTE, Chunk, Edge, End, Entity, Ontology

MOST_EXISTING = 200_000
"""Entities of the graph, the best connected, that names are held against."""
_PLACE = ("chunk", "chunks", "document_id")


def names_in(reads: Iterable[Read], existing: Iterable[End] = ()) -> Names:
    """The entities that facts name, beside those of a graph. Raises IngestError when too many names are alike."""
    counts: Counter[tuple[str, str]] = Counter()
    for read in reads:
        counts.update((mention.type, mention.name) for said in read.facts for mention in _ends(said))
    return Names(counts, existing)


def existing_in(store: GraphStore, ontology: Ontology) -> Sequence[End]:
    """The entities of a graph that are of an ontology's types."""
    types: Collection[str] = {each.name for each in ontology.entity_types}
    return [end for end in store.hubs(WHOLE, MOST_EXISTING) if end.type in types]


def assemble(reads: Sequence[Read], resolution: Resolution) -> Iterator[GraphParts]:
    """The documents of passages that were read, each with all its passages, in their order.

    An edge has the passage's own spelling of its ends, and its document's metadata.
    """
    entities: dict[str, Entity] = {}
    edges: dict[str, Edge] = {}
    for read in reads:
        for said in read.facts:
            edge, ends = _edge(said, read.chunk, resolution)
            entities |= {end.id: end for end in ends}
            edges.setdefault(edge.id, edge)
    chunks = tuple(read.chunk for read in reads)
    yield from by_document(GraphParts(entities=tuple(entities.values()), edges=tuple(edges.values()), chunks=chunks))


def _edge(said: Said, chunk: Chunk, resolution: Resolution) -> tuple[Edge, tuple[Entity, Entity]]:
    source = _entity(said.source, resolution)
    if said.target is not None:
        target, target_name = _entity(said.target, resolution), said.target.name
    else:
        target_name = said.value or ""
        id_ = entity_id(VALUE_TYPE, target_name, f"{source.id}:{said.key}:{chunk.document_id}")
        target = Entity(id=id_, type=VALUE_TYPE, name=target_name)
    relation = HAS_ATTRIBUTE if said.target is None else said.relation
    properties = {name: value for name, value in chunk.metadata.items() if name not in _PLACE}
    edge = Edge(
        id=edge_id(source.id, relation, said.key, target.id, chunk.id),
        source_id=source.id,
        target_id=target.id,
        relation=relation,
        src_name=said.source.name,
        dst_name=target_name,
        key=said.key,
        description=said.description or None,
        source_doc_id=chunk.id,
        properties=properties,
    )
    return edge, (source, target)


def _entity(mention: Mention, resolution: Resolution) -> Entity:
    ids: Mapping[tuple[str, str], tuple[str, str]] = resolution.ids
    id_, name = ids[mention.type, fold(mention.name)]
    return Entity(id=id_, type=mention.type, name=name)


def _ends(said: Said) -> tuple[Mention, ...]:
    return (said.source,) if said.target is None else (said.source, said.target)
