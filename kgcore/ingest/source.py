"""What an importer gives: a graph in parts, with what a reader should see before it is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from kgcore.errors import IngestError
from kgcore.types import Chunk, Edge, Entity, PropertyValue

PART = 20_000
"""Edges that a part holds at most, so that a large file is never in memory whole."""
DEFAULT_TYPE = "Entity"
VALUE_TYPE = "AttributeValue"


@dataclass(frozen=True, kw_only=True)
class GraphParts:
    """A part of a graph before it is written: whole documents, or with `whole` false a piece of one.

    The pieces of a document follow each other, its last has `whole` true. An edge's ends are in its own part.
    """

    entities: tuple[Entity, ...]
    edges: tuple[Edge, ...]
    chunks: tuple[Chunk, ...] = ()
    whole: bool = True


class Source(Protocol):
    """A file or a folder that a graph is read from."""

    @property
    def family(self) -> str:
        """What it is called: "Microsoft GraphRAG", "Triples"."""
        ...

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that a mapping may name; empty where the family's own layout decides."""
        ...

    @property
    def mapping(self) -> Mapping[str, str]:
        """Each role (source, relation, target, description, ...) and the column that plays it, as proposed or given."""
        ...

    @property
    def roles(self) -> Mapping[str, tuple[str, ...]]:
        """What a mapping may say: each role, and the columns or the options that it may be."""
        ...

    def parts(self, notes: Notes) -> Iterator[GraphParts]:
        """The graph, in the file's order, the same each time. Raises IngestError that names the file and the line."""
        ...


@dataclass
class Notes:
    """What a reading left out or changed, counted by reason, for the reader to see."""

    counts: dict[str, int] = field(default_factory=dict)

    def add(self, reason: str, count: int = 1) -> None:
        """`reason` is what the number counts, such as "rows with an empty cell left out"."""
        self.counts[reason] = self.counts.get(reason, 0) + count


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Says of a path whose reading the system refuses, or breaks off, which it is and why. Raises IngestError."""
    try:
        yield
    except OSError as error:
        where = Path(error.filename).name if isinstance(error.filename, str) else path.name
        raise IngestError(
            f"{where[:500]} cannot be read: {error.strerror or error}.", remedy="See that it is there and may be read."
        ) from error


def by_document(graph: GraphParts) -> Iterator[GraphParts]:
    """The documents of a graph that is in memory, each a part, in the order of their first chunk, then edge."""
    document_of = {chunk.id: chunk.document_id for chunk in graph.chunks}
    chunks: dict[str | None, list[Chunk]] = {}
    edges: dict[str | None, list[Edge]] = {}
    for chunk in graph.chunks:
        chunks.setdefault(chunk.document_id, []).append(chunk)
    for edge in graph.edges:
        edges.setdefault(document_of.get(edge.source_doc_id or "", edge.source_doc_id), []).append(edge)
    known = {entity.id: entity for entity in graph.entities}
    for document in dict.fromkeys([*chunks, *edges]):
        own = edges.get(document, [])
        ends = dict.fromkeys(end for edge in own for end in (edge.source_id, edge.target_id))
        yield GraphParts(
            entities=tuple(known[end] for end in ends), edges=tuple(own), chunks=tuple(chunks.get(document, ()))
        )


def naming_nobody(parts: Iterable[GraphParts], fields: Iterable[str], notes: Notes) -> Iterator[GraphParts]:
    """The parts as they are; notes how many edges have none of the access fields."""
    named = frozenset(fields)
    for part in parts:
        count = sum(named.isdisjoint(edge.properties) for edge in part.edges)
        if count and named:
            notes.add("edges that name nobody, which no locked filter lets through", count)
        yield part


def stamped(parts: Iterable[GraphParts], metadata: Mapping[str, PropertyValue]) -> Iterator[GraphParts]:
    """The parts with more metadata on every edge and chunk, such as who may see them; it wins over a file's own."""
    for part in parts:
        yield replace(
            part,
            edges=tuple(replace(edge, properties={**edge.properties, **metadata}) for edge in part.edges),
            chunks=tuple(replace(chunk, metadata={**chunk.metadata, **metadata}) for chunk in part.chunks),
        )
