"""The index that Microsoft GraphRAG writes: a folder of parquet files, as every version names them.

entities.parquet       id, title, type, description, text_unit_ids
relationships.parquet  source, target, description, weight, text_unit_ids       (both ends are titles)
text_units.parquet     id, text, document_id                                    (optional)
documents.parquet      id, title, metadata                                      (optional)

Before 1.0 the files are called create_final_*.parquet, the title is `name`, and a text unit has `document_ids`, a list.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from kgcore.errors import IngestError
from kgcore.ingest.importers.cells import properties_of, text_of, unquoted
from kgcore.ingest.importers.grounded import Grounded, OwnLayout, refuse_mapping
from kgcore.ingest.importers.parquet import parquet_columns, parquet_rows
from kgcore.ingest.source import DEFAULT_TYPE, GraphParts, Notes
from kgcore.types import Chunk, Entity, PropertyValue

_PREFIXES = ("", "create_final_")
# Numbering, layout, and counts over the whole graph, which would tell a reader of what is hidden from him.
_PLUMBING = frozenset(
    "human_readable_id degree combined_degree source_degree target_degree rank frequency x y size level community"
    " n_tokens entity_ids relationship_ids covariate_ids __index_level_0__".split()
)
_TEXTS = frozenset({"text", "raw_content", "text_unit_ids"})
_DOCUMENT_OWN = _TEXTS | {"id", "title", "metadata", "raw_data"}
_END_OWN = frozenset({"id", "title", "name", "type", "description", "text_unit_ids"})
_RELATION_OWN = frozenset({"id", "source", "target", "description", "text_unit_ids"})
_REMEDY = "Name the folder that GraphRAG wrote its parquet files to, usually called output."


@dataclass(frozen=True, kw_only=True)
class GraphRag(OwnLayout):
    """An index folder; `folder` holds the files, whose names begin with `prefix`."""

    folder: Path
    prefix: str
    family: str = "Microsoft GraphRAG"

    def parts(self, notes: Notes) -> Iterator[GraphParts]:
        """Each document with its text units. Raises IngestError that names the file and the row."""
        reader = _Reader(self, Grounded(self.path, notes))
        reader.add_text_units(reader.documents())
        reader.add_entities()
        reader.add_relationships()
        others = [name for name in ("covariates", "communities", "community_reports") if self.file(name).is_file()]
        if others:
            notes.add(f"files not read: {', '.join(others)}", len(others))
        yield from reader.graph.parts(numbered=True)

    def file(self, name: str) -> Path:
        """The file of this name in this version."""
        return self.folder / f"{self.prefix}{name}.parquet"


def recognises(path: Path) -> bool:
    """Whether a folder, or the `output` folder in it, holds the two files that make a graph."""
    return _layout(path) is not None


def open_graphrag(path: Path, mapping: Mapping[str, str] | None = None) -> GraphRag:
    """The folder as a source. Raises IngestError if its files are missing, or for a mapping."""
    refuse_mapping(path, mapping)
    found = _layout(path)
    if found is None:
        raise IngestError(f"{path} has no entities.parquet and relationships.parquet.", remedy=_REMEDY)
    return GraphRag(path=path, folder=found[0], prefix=found[1])


def _layout(path: Path) -> tuple[Path, str] | None:
    for folder in (path, path / "output"):
        for prefix in _PREFIXES:
            if all((folder / f"{prefix}{name}.parquet").is_file() for name in ("entities", "relationships")):
                return folder, prefix
    return None


class _Reader:
    def __init__(self, source: GraphRag, graph: Grounded) -> None:
        self.source = source
        self.graph = graph
        self.named: dict[str, Entity] = {}

    def documents(self) -> dict[str, dict[str, PropertyValue]]:
        """The metadata of each document, its title among it."""
        found = {}
        for where, row in self._rows("documents", ("id",), without=_TEXTS):
            id_ = text_of(row["id"])
            if id_ is None:
                raise _fault(where, "a document has no id")
            own = {name: value for name, value in row.items() if name not in _DOCUMENT_OWN}
            metadata = properties_of(
                {**_nested(row.get("raw_data")), **_nested(row.get("metadata")), **own}, self.notes
            )
            title = text_of(row.get("title"))
            found[id_] = {**metadata, **({"title": title} if title else {})}
        return found

    def add_text_units(self, documents: Mapping[str, Mapping[str, PropertyValue]]) -> None:
        for where, row in self._rows("text_units", ("id", "text")):
            id_, content = text_of(row["id"]), text_of(row["text"])
            if id_ is None:
                raise _fault(where, "a text unit has no id")
            if id_ in self.graph.chunks:
                raise _fault(where, f"there is a text unit {id_!r} already")
            if content is None:
                self.notes.add("text units without text left out")
                continue
            named = [*_texts([row.get("document_id")]), *_texts(row.get("document_ids"))] or [self.graph.document]
            if len(set(named)) > 1:
                self.notes.add("text units of several documents, kept with the first")
            self.graph.add_chunk(
                Chunk(id=id_, document_id=named[0], content=content, metadata=documents.get(named[0], {}))
            )

    def add_entities(self) -> None:
        columns = parquet_columns(self.source.file("entities"))
        title = "title" if "title" in columns else "name"
        for _, row in self._rows("entities", (title,)):
            name = unquoted(text_of(row[title]))
            if name is None:
                self.notes.add("entities without a title left out")
                continue
            entity = self.graph.entity(unquoted(text_of(row.get("type"))), name, text_of(row.get("id")))
            if self.named.setdefault(name, entity).id != entity.id:
                self.notes.add("entities whose title another has; relationships go to the first")
            others = properties_of({k: v for k, v in row.items() if k not in _END_OWN}, self.notes)
            cells = {"description": row.get("description"), **others}
            self.graph.describe((entity, name), cells, _texts(row.get("text_unit_ids")))

    def add_relationships(self) -> None:
        ids = {entity.id: entity for entity in self.named.values()}
        for _, row in self._rows("relationships", ("source", "target")):
            source, target = (self._end(unquoted(text_of(row[end])), ids) for end in ("source", "target"))
            if source is None or target is None:
                self.notes.add("relationships without a source or a target left out")
                continue
            others = {name: value for name, value in row.items() if name not in _RELATION_OWN}
            self.graph.relate(
                (source, source.name),
                None,
                (target, target.name),
                _texts(row.get("text_unit_ids")),
                description=text_of(row.get("description")),
                properties=properties_of(others, self.notes),
            )

    def _end(self, name: str | None, ids: Mapping[str, Entity]) -> Entity | None:
        """By title; hand-made files give ids instead."""
        if name is None:
            return None
        known = self.named.get(name) or ids.get(name)
        if known is None:
            self.notes.add(f"names that only relationships give, taken as entities of the type {DEFAULT_TYPE}")
            known = self.named[name] = self.graph.entity(DEFAULT_TYPE, name)
        return known

    @property
    def notes(self) -> Notes:
        return self.graph.notes

    def _rows(
        self, name: str, needed: tuple[str, ...], without: frozenset[str] = frozenset()
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """The rows and where they stand, without what is of no use here; none if an optional file is not there."""
        path = self.source.file(name)
        if not path.is_file():
            self.notes.add(f"files not there: {path.name}")
            return
        columns = parquet_columns(path)
        for column in needed:
            if column not in columns:
                raise IngestError(f"{path.name} has no column {column!r}.", remedy=_REMEDY)
        dropped = {column for column, type_ in columns.items() if column in _PLUMBING or _is_vector(type_)}
        if dropped:
            self.notes.add("columns of numbering, counts, layout and vectors not read", len(dropped))
        read = [column for column in columns if column not in dropped and column not in without]
        for number, row in enumerate(parquet_rows(path, read), 1):
            yield f"{path.name}, row {number}", row


def _is_vector(type_: pa.DataType) -> bool:
    lists = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(is_list(type_) for is_list in lists) and bool(pa.types.is_floating(type_.value_type))


def _texts(cell: object) -> list[str]:
    """A list of ids; the oldest versions joined them with commas."""
    items = cell if isinstance(cell, list) else cell.split(",") if isinstance(cell, str) else []
    return [text for text in map(text_of, items) if text is not None]


def _nested(cell: object) -> dict[str, object]:
    """Metadata in a struct or in JSON, without what is the document's text."""
    if isinstance(cell, str):
        try:
            cell = json.loads(cell)
        except (ValueError, RecursionError):
            return {}
    if not isinstance(cell, dict):
        return {}
    return {name: value for name, value in cell.items() if name not in _DOCUMENT_OWN}


def _fault(where: str, reason: str) -> IngestError:
    return IngestError(f"{where}: {reason}.", remedy="Write it again with GraphRAG, or correct the row.")
