"""What LightRAG and nano-graphrag keep: a folder with a GraphML file, and the chunks beside it.

graph_chunk_entity_relation.graphml  node: entity_id, entity_type, description, source_id
                                     edge: description, keywords, weight, source_id
kv_store_text_chunks.json            {chunk id: {"content", "full_doc_id", "chunk_order_index", "file_path"?}}

`source_id` names chunks, joined with <SEP>, and so are the descriptions that the tool has not summed up. Names and
types of nano-graphrag and of early LightRAG stand in quotes of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgcore.errors import IngestError
from kgcore.ingest.importers.cells import properties_of, text_of, unquoted
from kgcore.ingest.importers.graph_xml import Record, graphml_records
from kgcore.ingest.importers.grounded import Grounded, OwnLayout, refuse_mapping
from kgcore.ingest.importers.json_file import decoded_head, read_json
from kgcore.ingest.source import DEFAULT_TYPE, GraphParts, Notes
from kgcore.types import Chunk, Entity

GRAPH = "graph_chunk_entity_relation.graphml"
CHUNKS = "kv_store_text_chunks.json"
SEPARATOR = "<SEP>"
_NODE_OWN = frozenset({"entity_id", "entity_type", "description", "source_id"})
_NODE_PLUMBING = frozenset({"created_at", "truncate", "clusters", "file_path"})
_EDGE_OWN = frozenset({"description", "source_id"})
_NO_FILE = "unknown_source"
_REMEDY = f"Name the working folder of LightRAG or nano-graphrag, which holds {GRAPH}."


@dataclass(frozen=True, kw_only=True)
class LightRag(OwnLayout):
    """A working folder, or its GraphML file, with the chunks beside it if they are there."""

    graph: Path
    family: str = "LightRAG"

    def parts(self, notes: Notes) -> Iterator[GraphParts]:
        """Each document with its chunks. Raises IngestError that names the file and the line."""
        reader = _Reader(Grounded(self.path, notes))
        chunks = self.graph.parent / CHUNKS
        if chunks.is_file():
            reader.add_chunks(chunks)
        else:
            notes.add(f"files not there: {CHUNKS}")
        edges = []
        for record in graphml_records(self.graph):
            if record.kind == "node":
                reader.add_node(record)
            else:
                edges.append(record)
        for edge in edges:
            reader.add_edge(edge)
        yield from reader.graph.parts(numbered=True)


def recognises(path: Path) -> bool:
    """Whether this is such a folder, or GraphML whose keys are these tools' own."""
    if path.is_file():
        head = decoded_head(path)
        return "<graphml" in head and all(f'attr.name="{name}"' in head for name in ("entity_type", "source_id"))
    return (path / GRAPH).is_file()


def open_lightrag(path: Path, mapping: Mapping[str, str] | None = None) -> LightRag:
    """The folder or file as a source. Raises IngestError if it is not there, or for a mapping."""
    refuse_mapping(path, mapping)
    graph = path / GRAPH if path.is_dir() else path
    if not graph.is_file():
        raise IngestError(f"{path} has no {GRAPH}.", remedy=_REMEDY)
    return LightRag(path=path, graph=graph)


class _Reader:
    def __init__(self, graph: Grounded) -> None:
        self.graph = graph
        self.seen: set[str] = set()
        self.nodes: dict[str, tuple[Entity, str]] = {}

    def add_chunks(self, path: Path) -> None:
        found = read_json(path)
        if not isinstance(found, dict):
            raise IngestError(f"{path.name} is not an object of chunks by id.", remedy=_REMEDY)
        for id_, chunk in found.items():
            self._add_chunk(id_, chunk)

    def _add_chunk(self, id_: str, chunk: Any) -> None:
        content = text_of(chunk.get("content")) if isinstance(chunk, dict) else None
        known = text_of(id_)
        if content is None or known is None:
            self.graph.notes.add("chunks without text left out")
            return
        title = text_of(chunk.get("file_path"))
        document = text_of(chunk.get("full_doc_id")) or self.graph.document
        metadata = {"title": title} if title and title != _NO_FILE else {}
        self.graph.add_chunk(Chunk(id=known, document_id=document, content=content, metadata=metadata))

    def add_node(self, node: Record) -> None:
        given = text_of(node.data.get("entity_id")) or node.ids[0]
        name = _name(given)
        if name is None:
            self.graph.notes.add("nodes without a name left out")
            return
        if name != given:
            self.graph.notes.add("names taken without the quotes around them")
        entity = self.graph.entity(unquoted(text_of(node.data.get("entity_type"))), name)
        if entity.id in self.seen:
            self.graph.notes.add(
                "nodes of one type and name but for letters' case and white space, taken as one entity"
            )
        self.seen.add(entity.id)
        self.nodes[node.ids[0]] = (entity, name)
        if not node.data.keys().isdisjoint(_NODE_PLUMBING):
            self.graph.notes.add("nodes whose clusters, files or times of writing are not kept")
        dropped = _NODE_OWN | _NODE_PLUMBING
        others = {key: value for key, value in node.data.items() if key not in dropped}
        self.graph.describe((entity, name), {"description": _description(node), **others}, _chunks(node))

    def add_edge(self, edge: Record) -> None:
        source, target = map(self._end, edge.ids)
        if source is None or target is None:
            self.graph.notes.add("edges left out whose source or target has no name")
            return
        # An edge of many chunks names the files of all of them; a chunk's own stands in its metadata.
        dropped = _EDGE_OWN | {"file_path"} if self.graph.chunks else _EDGE_OWN
        others = {key: value for key, value in edge.data.items() if key not in dropped}
        self.graph.relate(
            source,
            None,
            target,
            _chunks(edge),
            description=_description(edge),
            properties=properties_of(others, self.graph.notes),
        )

    def _end(self, id_: str) -> tuple[Entity, str] | None:
        name = _name(id_)
        if id_ not in self.nodes and name is not None:
            self.graph.notes.add(f"names that only edges give, taken as entities of the type {DEFAULT_TYPE}")
            self.nodes[id_] = (self.graph.entity(DEFAULT_TYPE, name), name)
        return self.nodes.get(id_)


def _name(given: str) -> str | None:
    return unquoted(text_of(given))


def _chunks(record: Record) -> list[str]:
    return [id_ for id_ in map(text_of, str(record.data.get("source_id", "")).split(SEPARATOR)) if id_ is not None]


def _description(record: Record) -> str | None:
    parts = map(unquoted, map(text_of, str(record.data.get("description", "")).split(SEPARATOR)))
    return "\n".join(dict.fromkeys(part for part in parts if part is not None)) or None
