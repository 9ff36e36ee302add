"""A folder of JSONL: documents or passages, the triples they assert, and optionally entities.

documents.jsonl  {"id", "title"?, "text", ...metadata}          text is split into chunks at blank lines: id#1, id#2
passages.jsonl   {"id", "title"?, "text", "document"?, ...}     each is one chunk
triples.jsonl    {"passage", "triple": [source, relation, target]} or
                 {"passage", "source", "relation", "target", "description"?, "id"?,
                  "source_name"?, "target_name"?, "source_type"?, "target_type"?}
                 {"passage", "source", "relation": "HAS_ATTRIBUTE", "key", "value"}
entities.jsonl   {"id", "type"?, "name"}                        then source and target may be these ids
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgcore.errors import IngestError
from kgcore.ingest.importers.grounded import OwnLayout, refuse_mapping
from kgcore.ingest.lines import Line, read_lines
from kgcore.ingest.source import DEFAULT_TYPE, VALUE_TYPE, GraphParts, Notes, by_document
from kgcore.names import edge_id, entity_id
from kgcore.types import HAS_ATTRIBUTE, Chunk, Edge, Entity, PropertyValue

_OWN = ("id", "text", "document")
_PLACE = ("chunk", "chunks")  # where a chunk stands in its document; not the document's own metadata


@dataclass(frozen=True, kw_only=True)
class Folder(OwnLayout):
    """A folder of these files."""

    family: str = "JSONL folder"

    def parts(self, notes: Notes) -> Iterator[GraphParts]:
        """Each document. Raises IngestError that names the file and the line at fault."""
        graph = read_folder(self.path)
        bare = len(
            {entity.id for entity in graph.entities} - {end for e in graph.edges for end in (e.source_id, e.target_id)}
        )
        if bare:
            notes.add("entities left out that no triple reaches", bare)
        yield from by_document(graph)


def recognises(path: Path) -> bool:
    """Whether a folder holds triples and what they are grounded in."""
    return (path / "triples.jsonl").is_file() and any(
        (path / f"{name}.jsonl").is_file() for name in ("documents", "passages")
    )


def open_folder(path: Path, mapping: Mapping[str, str] | None = None) -> Folder:
    """The folder as a source. Raises IngestError for a mapping."""
    refuse_mapping(path, mapping)
    return Folder(path=path)


def read_folder(folder: str | Path) -> GraphParts:
    """The graph of a folder. Raises IngestError that names the file and the line at fault."""
    path = Path(folder)
    chunks = {chunk.id: chunk for chunk in _chunks(path)}
    if not chunks or not (path / "triples.jsonl").is_file():
        raise IngestError(
            f"{path} holds no graph: it needs triples.jsonl and documents.jsonl or passages.jsonl with content.",
            remedy="Name a folder with these files.",
        )
    reader = _Triples(chunks)
    for line in read_lines(path / "entities.jsonl"):
        reader.add_entity(line)
    for line in read_lines(path / "triples.jsonl"):
        reader.add_triple(line)
    return GraphParts(
        entities=tuple(reader.entities.values()), edges=tuple(reader.edges.values()), chunks=tuple(chunks.values())
    )


class _Triples:
    """Collects entities and edges; an entity given by name alone gets an id from its type and name."""

    def __init__(self, chunks: Mapping[str, Chunk]) -> None:
        self.chunks = chunks
        self.entities: dict[str, Entity] = {}
        self.edges: dict[str, Edge] = {}

    def add_entity(self, line: Line) -> None:
        id_ = line.text("id")
        self.entities[id_] = Entity(id=id_, type=line.optional("type") or DEFAULT_TYPE, name=line.text("name"))

    def add_triple(self, line: Line) -> None:
        passage = line.text("passage")
        chunk = self.chunks.get(passage)
        if chunk is None:
            raise line.error(f"there is no passage {passage!r}", "Add it to passages.jsonl, or correct its id")
        triple = line.value.get("triple")
        if triple is not None:
            line = Line(where=line.where, value={**line.value, **self._parts(line, triple)})
        relation = line.text("relation")
        source, source_name = self._end(line, "source")
        key = line.optional("key")
        if relation == HAS_ATTRIBUTE:
            target, target_name = self._value(line, source, passage)
        else:
            target, target_name = self._end(line, "target")
        id_ = line.optional("id") or edge_id(source, relation, key, target, passage)
        self.edges[id_] = Edge(
            id=id_,
            source_id=source,
            target_id=target,
            relation=relation,
            src_name=source_name,
            dst_name=target_name,
            key=key,
            description=line.optional("description"),
            source_doc_id=passage,
            properties={name: value for name, value in chunk.metadata.items() if name not in _PLACE},
        )

    def _parts(self, line: Line, triple: object) -> dict[str, Any]:
        if not isinstance(triple, list) or len(triple) != 3:
            raise line.error("a triple has three parts", "Give [source, relation, target]")
        return dict(zip(("source", "relation", "target"), triple, strict=True))

    def _end(self, line: Line, end: str) -> tuple[str, str]:
        given = line.text(end)
        known = self.entities.get(given)
        if known is None:
            type_ = line.optional(f"{end}_type") or DEFAULT_TYPE
            id_ = entity_id(type_, given)
            known = self.entities.setdefault(id_, Entity(id=id_, type=type_, name=given))
            return id_, line.optional(f"{end}_name") or given
        return known.id, line.optional(f"{end}_name") or known.name

    def _value(self, line: Line, source: str, passage: str) -> tuple[str, str]:
        value = line.optional("value") or line.text("target")
        id_ = entity_id(VALUE_TYPE, value, f"{source}:{line.text('key')}:{passage}")
        self.entities[id_] = Entity(id=id_, type=VALUE_TYPE, name=value)
        return id_, value


def _chunks(folder: Path) -> Iterator[Chunk]:
    for line in read_lines(folder / "documents.jsonl"):
        id_, text = line.text("id"), line.text("text")
        parts = [part.strip() for part in text.replace("\r\n", "\n").split("\n\n") if part.strip()]
        for number, part in enumerate(parts, 1):
            metadata = {**_metadata(line), "chunk": number, "chunks": len(parts)}
            yield Chunk(id=f"{id_}#{number}", document_id=id_, content=part, metadata=metadata)
    for line in read_lines(folder / "passages.jsonl"):
        id_ = line.text("id")
        document = line.optional("document") or id_
        yield Chunk(id=id_, document_id=document, content=line.text("text"), metadata=_metadata(line))


def _metadata(line: Line) -> dict[str, PropertyValue]:
    found: dict[str, PropertyValue] = {}
    for name, value in line.value.items():
        if name in _OWN or value is None:
            continue
        if isinstance(value, list) and all(isinstance(item, str | int | float) for item in value):
            found[name] = tuple(value)
        elif isinstance(value, str | int | float):
            found[name] = value
        else:
            raise line.error(f"{name!r} is nested", "Give metadata as numbers, texts, true or false, or flat lists")
    return found
