"""A source held against a store: what of it is new, changed or as it was, and what it no longer says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from kgcore.filters import WHOLE
from kgcore.ingest.source import GraphParts
from kgcore.store.protocol import GraphStore
from kgcore.types import Chunk, Document, Edge, Entity

_ASKED = 5_000
_Kind = Literal["new", "changed", "same"]


@dataclass(frozen=True, kw_only=True)
class Count:
    """How many records of a kind are new, replaced by others of their id, removed, or as they were."""

    new: int = 0
    changed: int = 0
    gone: int = 0
    same: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(
            new=self.new + other.new,
            changed=self.changed + other.changed,
            gone=self.gone + other.gone,
            same=self.same + other.same,
        )

    @property
    def is_nothing(self) -> bool:
        return not (self.new or self.changed or self.gone)


@dataclass(frozen=True, kw_only=True)
class Changes:
    """What is to be written of a part: what is new or changed, with the entities at its edges, and what goes."""

    entities: tuple[Entity, ...] = ()
    edges: tuple[Edge, ...] = ()
    chunks: tuple[Chunk, ...] = ()
    gone_edges: tuple[str, ...] = ()
    gone_chunks: tuple[str, ...] = ()

    @property
    def is_nothing(self) -> bool:
        return not (self.entities or self.edges or self.chunks or self.gone_edges or self.gone_chunks)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a source changes in a store, counted, with the first edges and entities that are new, changed or gone."""

    documents: Count = field(default_factory=Count)
    entities: Count = field(default_factory=Count)
    edges: Count = field(default_factory=Count)
    chunks: Count = field(default_factory=Count)
    examples: tuple[tuple[str, Edge], ...] = ()
    entity_examples: tuple[tuple[str, Entity], ...] = ()

    @property
    def is_nothing(self) -> bool:
        """Whether the store holds all of it as it is."""
        return self.edges.is_nothing and self.chunks.is_nothing and self.entities.is_nothing


class Comparison:
    """Holds each part of a source against the store, counts, and keeps the first `examples` edges and entities."""

    def __init__(self, store: GraphStore, examples: int) -> None:
        self.store = store
        self.plan = Plan()
        self.compared = 0
        self._room = examples
        self._counted: set[str] = set()
        self._lost: Counter[str] = Counter()  # edges that an entity loses
        self._joined: set[str] = set()  # entities that edges join which are written
        # A first import has nothing to be held against; a server would look through all that is written so far.
        self._is_empty = not (store.scan(WHOLE, None, 1).edges or store.chunks.scan(WHOLE, None, 1).chunks)
        self._begin()

    def _begin(self) -> None:
        """Before a document: nothing of it has been seen."""
        self._edges: set[str] = set()
        self._held: set[str] = set()  # edges that were there; a server has the new ones too before the document's end
        self._new_chunks: set[str] = set()
        self._document_of: dict[str, str] = {}
        self._touched: set[str] = set()

    def planned(self) -> Plan:
        """The plan, with the entities that would be left without an edge."""
        ends = self.store.entities(sorted(self._lost.keys() - self._joined), WHOLE)
        gone = [end for end in ends if end.degree <= self._lost[end.id]]
        shown = [("gone", Entity(id=end.id, type=end.type, name=end.name)) for end in gone]
        room = self._room - len(self.plan.entity_examples)
        self._add(entities=Count(gone=len(gone)))
        return replace(self.plan, entity_examples=(*self.plan.entity_examples, *shown[: max(room, 0)]))

    def written(self) -> Plan:
        """What was done, with the entities that were left without an edge, and went."""
        self._add(entities=Count(gone=len(self._lost) - len(self.store.entities(sorted(self._lost), WHOLE))))
        return self.plan

    def changes(self, part: GraphParts) -> Changes:
        """What of a part is to be written; with the last part of a document also what goes."""
        chunks = self._differing_chunks(part)
        edges = self._differing_edges(part)
        entities = self._differing_entities(part, edges)
        gone_chunks, gone_edges = self._finish() if part.whole else ((), ())
        self.compared += len(part.edges)
        return Changes(entities=entities, edges=edges, chunks=chunks, gone_edges=gone_edges, gone_chunks=gone_chunks)

    def _differing_chunks(self, part: GraphParts) -> tuple[Chunk, ...]:
        asked = () if self._is_empty else [chunk.id for chunk in part.chunks]
        held = {found.id: found for found in self.store.chunks.get_documents_by_id(asked)}
        counts: Counter[str] = Counter()
        differing = []
        for chunk in part.chunks:
            self._document_of[chunk.id] = chunk.document_id
            found = held.get(chunk.id)
            kind = _kind(found, found is not None and _is_same_chunk(found, chunk))
            counts[kind] += 1
            if kind == "new":
                self._new_chunks.add(chunk.id)
            if kind != "same":
                self._touched.add(chunk.document_id)
                differing.append(chunk)
        self._add(chunks=Count(**counts))
        return tuple(differing)

    def _differing_edges(self, part: GraphParts) -> tuple[Edge, ...]:
        asked = () if self._is_empty else [edge.id for edge in part.edges]
        held = {edge.id: edge for edge in self.store.edges(asked, WHOLE)}
        self._held |= held.keys() - self._edges
        counts: Counter[str] = Counter()
        differing = []
        for edge in part.edges:
            if edge.id in self._edges:
                continue  # the same assertion twice
            self._edges.add(edge.id)
            if edge.source_doc_id is not None:
                self._document_of.setdefault(edge.source_doc_id, edge.source_doc_id)
            found = held.get(edge.id)
            kind = _kind(found, found == edge)
            counts[kind] += 1
            if kind != "same":
                self._touch(edge)
                self._show(kind, edge)
                self._joined |= {edge.source_id, edge.target_id}
                differing.append(edge)
            if found is not None and kind != "same":
                self._lost.update({found.source_id, found.target_id})
        self._add(edges=Count(**counts))
        return tuple(differing)

    def _differing_entities(self, part: GraphParts, edges: Sequence[Edge]) -> tuple[Entity, ...]:
        """Those that are new or have another type, and those at edges that are written, whose names they give."""
        asked = () if self._is_empty else [entity.id for entity in part.entities]
        held = {end.id: end for end in self.store.entities(asked, WHOLE)}
        ends = {end for edge in edges for end in (edge.source_id, edge.target_id)}
        counts: Counter[str] = Counter()
        differing = []
        for entity in part.entities:
            found = held.get(entity.id)
            kind = _kind(found, found is not None and found.type == entity.type)
            if kind != "same" or entity.id in ends:
                differing.append(entity)
            if entity.id not in self._counted:
                self._counted.add(entity.id)
                counts[kind] += 1
                if kind != "same" and len(self.plan.entity_examples) < self._room:
                    self.plan = replace(self.plan, entity_examples=(*self.plan.entity_examples, (kind, entity)))
        self._add(entities=Count(**counts))
        return tuple(differing)

    def _finish(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The chunks and the edges that the store has of these documents and their source no longer gives."""
        documents = sorted({*self._document_of.values()})
        if self._is_empty:
            self._is_empty = False
            self._add(documents=Count(new=len(documents)))
            self._begin()
            return (), ()
        stored = self.store.chunks.ids_of(documents, WHOLE)
        gone_chunks = tuple(id_ for ids in stored.values() for id_ in ids if id_ not in self._document_of)
        self._touched |= {document for document, ids in stored.items() if not self._document_of.keys() >= {*ids}}
        for document, ids in stored.items():
            self._document_of |= dict.fromkeys(ids, document)
        known = {document for document, ids in stored.items() if any(id_ not in self._new_chunks for id_ in ids)}
        gone = []
        for edge in self._stored_edges(sorted({*documents, *self._document_of})):
            if edge.id in self._held or edge.id not in self._edges:
                known.add(self._document_of[edge.source_doc_id or ""])
            if edge.id not in self._edges:
                gone.append(edge)
                self._touch(edge)
                self._show("gone", edge)
                self._lost.update({edge.source_id, edge.target_id})
        new, changed = len({*documents} - known), len(known & self._touched)
        self._add(
            documents=Count(new=new, changed=changed, same=len(known) - changed),
            chunks=Count(gone=len(gone_chunks)),
            edges=Count(gone=len(gone)),
        )
        self._begin()
        return gone_chunks, tuple(edge.id for edge in gone)

    def _stored_edges(self, sources: Sequence[str]) -> Iterator[Edge]:
        for start in range(0, len(sources), _ASKED):
            asked = {"field": "source_doc_id", "operator": "in", "value": list(sources[start : start + _ASKED])}
            of_these = WHOLE.narrowed(asked)
            after: str | None = None
            while True:
                page = self.store.scan(of_these, after)
                yield from page.edges
                after = page.after
                if after is None:
                    break

    def _touch(self, edge: Edge) -> None:
        if edge.source_doc_id is not None:
            self._touched.add(self._document_of[edge.source_doc_id])

    def _show(self, what: str, edge: Edge) -> None:
        if len(self.plan.examples) < self._room:
            self.plan = replace(self.plan, examples=(*self.plan.examples, (what, edge)))

    def _add(self, **counts: Count) -> None:
        self.plan = replace(self.plan, **{name: getattr(self.plan, name) + count for name, count in counts.items()})


def _kind(found: object, is_same: bool) -> _Kind:
    return "new" if found is None else "same" if is_same else "changed"


def _is_same_chunk(found: Document, chunk: Chunk) -> bool:
    return found.content == chunk.content and found.metadata == {**chunk.metadata, "document_id": chunk.document_id}
