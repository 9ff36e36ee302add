"""Collects a graph whose assertions name the passages that they were read from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from kgcore.errors import IngestError
from kgcore.ingest.importers.cells import text_of
from kgcore.ingest.source import DEFAULT_TYPE, VALUE_TYPE, GraphParts, Notes, by_document
from kgcore.names import edge_id, entity_id
from kgcore.types import HAS_ATTRIBUTE, Chunk, Edge, Entity, PropertyValue

RELATED = "RELATED"
"""The relation of what names none."""
_NO_METADATA: Mapping[str, PropertyValue] = {}


@dataclass(frozen=True, kw_only=True)
class OwnLayout:
    """A source whose own layout says what is what: there is nothing to map."""

    path: Path
    columns: tuple[str, ...] = ()
    mapping: Mapping[str, str] = field(default_factory=dict)
    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def refuse_mapping(path: Path, mapping: Mapping[str, str] | None) -> None:
    """Raises IngestError if there is a mapping, for a family whose own layout says what is what."""
    if mapping:
        raise IngestError(
            f"{path.name}: its columns are known, a mapping cannot name others.", remedy="Import it without a mapping."
        )


class Grounded:
    """Entities, edges and passages in the order they are added; what names no known passage is grounded in the file."""

    def __init__(self, path: Path, notes: Notes) -> None:
        self.document = path.resolve().name
        self.notes = notes
        self.chunks: dict[str, Chunk] = {}
        self._metadata: dict[str, Mapping[str, PropertyValue]] = {}
        self._entities: dict[str, Entity] = {}
        self._edges: dict[str, Edge] = {}
        self._missing: set[str] = set()

    def add_chunk(self, chunk: Chunk) -> None:
        """A passage; its metadata is its document's, and stands on every edge that it asserts."""
        self.chunks[chunk.id] = chunk
        self._metadata[chunk.id] = chunk.metadata

    def entity(self, type_: str | None, name: str, id_: str | None = None) -> Entity:
        """The entity of this id, else of this type and name. It is part of the graph once an edge reaches it."""
        type_ = type_ or DEFAULT_TYPE
        id_ = id_ or entity_id(type_, name)
        return self._entities.setdefault(id_, Entity(id=id_, type=type_, name=name))

    def relate(
        self,
        source: tuple[Entity, str],
        relation: str | None,
        target: tuple[Entity, str],
        passages: Iterable[str],
        *,
        description: str | None = None,
        properties: Mapping[str, PropertyValue] = _NO_METADATA,
    ) -> None:
        """An edge for each passage; both ends with their names as they are written here."""
        for passage in self._known(passages):
            metadata = self._metadata.get(passage, {})
            hidden = len(properties.keys() & metadata.keys())
            if hidden:
                self.notes.add("values of relations left out for their document's of the same name", hidden)
            self._add(
                Edge(
                    id="",
                    source_id=source[0].id,
                    target_id=target[0].id,
                    relation=relation or RELATED,
                    src_name=source[1],
                    dst_name=target[1],
                    description=description,
                    source_doc_id=passage,
                    properties={**properties, **metadata},
                )
            )

    def describe(self, end: tuple[Entity, str], cells: Mapping[str, object], passages: Sequence[str]) -> None:
        """An attribute for each cell that is a text or a number, of an entity with its name as it is written here."""
        for key, cell in cells.items():
            value = text_of(cell)
            if value is not None:
                self._describe(end, key, value, passages)

    def _describe(self, end: tuple[Entity, str], key: str, value: str, passages: Sequence[str]) -> None:
        """An attribute edge for each passage."""
        entity, name = end
        for passage in self._known(passages):
            document = self.chunks[passage].document_id if passage in self.chunks else passage
            held = self.entity(VALUE_TYPE, value, entity_id(VALUE_TYPE, value, f"{entity.id}:{key}:{document}"))
            self._add(
                Edge(
                    id="",
                    source_id=entity.id,
                    target_id=held.id,
                    relation=HAS_ATTRIBUTE,
                    src_name=name,
                    dst_name=value,
                    key=key,
                    source_doc_id=passage,
                    properties=dict(self._metadata.get(passage, {})),
                )
            )

    def parts(self, *, numbered: bool) -> Iterator[GraphParts]:
        """The documents; `numbered` says in each chunk's metadata which of its document's chunks it is."""
        reached = {end for edge in self._edges.values() for end in (edge.source_id, edge.target_id)}
        bare = len(self._entities.keys() - reached)
        if bare:
            self.notes.add("entities left out that no relation and no attribute reaches", bare)
        if self._missing:
            self.notes.add("passages named that are not there", len(self._missing))
        graph = GraphParts(
            entities=tuple(self._entities.values()),
            edges=tuple(self._edges.values()),
            chunks=tuple(self._numbered() if numbered else self.chunks.values()),
        )
        yield from by_document(graph)

    def _known(self, passages: Iterable[str]) -> list[str]:
        named = dict.fromkeys(passages)
        known = [passage for passage in named if passage in self.chunks]
        self._missing.update(passage for passage in named if passage not in self.chunks)
        if not known and self.chunks:
            self.notes.add("relations and attributes that no passage holds, kept with the file")
        return known or [self.document]

    def _add(self, edge: Edge) -> None:
        """An edge of the same ends, relation and passage that says something else is one more."""
        id_ = edge_id(edge.source_id, edge.relation, edge.key, edge.target_id, edge.source_doc_id)
        held = self._edges.get(id_)
        if held is not None and _said(held) != _said(edge):
            id_ = edge_id(edge.source_id, edge.relation, _said(edge), edge.target_id, edge.source_doc_id)
            held = self._edges.get(id_)
        if held is None:
            self._edges[id_] = replace(edge, id=id_)
        else:
            self.notes.add("assertions that a passage makes twice, kept once")

    def _numbered(self) -> Iterator[Chunk]:
        of: dict[str, list[str]] = {}
        for chunk in self.chunks.values():
            of.setdefault(chunk.document_id, []).append(chunk.id)
        place = {id_: (number, len(ids)) for ids in of.values() for number, id_ in enumerate(ids, 1)}
        for chunk in self.chunks.values():
            number, count = place[chunk.id]
            yield replace(chunk, metadata={**chunk.metadata, "chunk": number, "chunks": count})


def _said(edge: Edge) -> str:
    return json.dumps([edge.description, sorted(edge.properties.items())], default=list)
