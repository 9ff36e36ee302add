"""Triples: a line each, as cells between delimiters, JSON objects or JSON lists of three.

A mapping names the column of each role, and says how the file is read:

source, target        the names; needed, or their ids
relation              RELATED where there is none
source_type, target_type, source_id, target_id, description, key, document (the edge's source_doc_id), id
names                 "folded": an entity is told by its type and its name, folded; "exact": a name is its own id
header, delimiter     "yes" or "no"; "tab", "comma", "semicolon" or "|"; for files of cells

All other columns become properties of the edge. Columns without a name are called 1, 2, 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from kgcore.errors import IngestError
from kgcore.ingest.importers.cells import properties_of, text_of
from kgcore.ingest.importers.grounded import RELATED
from kgcore.ingest.importers.properties import property_names
from kgcore.ingest.importers.tables import DELIMITERS, MAX_COLUMNS, Row, Table, is_named, look, number_of
from kgcore.ingest.importers.triple_roles import ENDS, HEADER, ROLES, has_ends, proposed_roles
from kgcore.ingest.source import DEFAULT_TYPE, PART, VALUE_TYPE, GraphParts, Notes
from kgcore.names import edge_id, entity_id
from kgcore.types import HAS_ATTRIBUTE, Edge, Entity, PropertyValue

OPTIONS = {"names": ("folded", "exact"), "header": ("yes", "no"), "delimiter": tuple(DELIMITERS)}
"""What a mapping may say beside the roles, and the values of each; the first is taken, or what the file shows."""
_KNOWN = 5 * PART
_TABLES = (".csv", ".tsv", ".tab", ".psv", ".jsonl", ".ndjson")
_METAQA = frozenset(
    "directed_by written_by starred_actors release_year in_language has_genre has_tags has_imdb_rating"
    " has_imdb_votes".split()
)
"""The relations of MetaQA's kb.txt, where the genre Drama and the tag drama are two."""


@dataclass(frozen=True, kw_only=True)
class Triples:
    """A file of triples: a document of edges, or as many as its document column names."""

    table: Table
    mapping: Mapping[str, str]
    family: str = "Triples"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns; of JSON objects those of the first lines."""
        return self.table.columns

    @property
    def roles(self) -> Mapping[str, tuple[str, ...]]:
        """Each role may be any column; the options that this file has."""
        options = {name: values for name, values in OPTIONS.items() if name in self.mapping}
        return {**dict.fromkeys(ROLES, self.columns), **options}

    def parts(self, notes: Notes) -> Iterator[GraphParts]:
        """Parts of PART edges, whole only at the end: rows of a document may stand anywhere in the file."""
        reading = _Reading(self, notes)
        edges: list[Edge] = []
        entities: dict[str, Entity] = {}
        for row in self.table.rows(notes):
            read = reading.read(row)
            if read is None:
                continue
            if len(edges) == PART:
                yield GraphParts(entities=tuple(entities.values()), edges=tuple(edges), whole=False)
                edges, entities = [], {}
            edge, source, target = read
            entities.setdefault(source.id, source)
            entities.setdefault(target.id, target)
            edges.append(edge)
        if not edges:
            raise IngestError(
                f"{self.table.path.name} holds no triple.",
                remedy="Name the columns of source, relation and target, or a file with a triple a line.",
            )
        yield GraphParts(entities=tuple(entities.values()), edges=tuple(edges))


class _Reading:
    """One pass over the rows: the edge and the entities of each."""

    def __init__(self, source: Triples, notes: Notes) -> None:
        table = source.table
        self.notes = notes
        self.document = table.path.name
        self.is_cells = table.form == "cells"
        self.exact = source.mapping["names"] == "exact"
        self.columns = [(place, source.mapping[role]) for place, role in enumerate(ROLES) if role in source.mapping]
        self.taken = {column for _, column in self.columns}
        if table.counting is not None and table.counting not in self.taken:
            self.taken.add(table.counting)
            notes.add("columns without a name that count the rows left out")
        self.numeric = table.numeric
        self.names = property_names(column for column in table.columns if column not in self.taken)
        renamed = sum(name != column and not column.isdigit() for column, name in self.names.items())
        if renamed:
            notes.add("columns kept under a name of letters, digits and _", renamed)
        self.known: dict[tuple[str | None, str | None, str], Entity] = {}
        # Types can differ where they are no part of the id.
        typed = "source_type" in source.mapping or "target_type" in source.mapping
        given = self.exact or "source_id" in source.mapping or "target_id" in source.mapping
        self.types: dict[str, str] | None = {} if typed and given else None
        self.said: dict[str, int] = {}

    def read(self, row: Row) -> tuple[Edge, Entity, Entity] | None:
        """None for a row that is left out, which is noted."""
        (
            source_name, relation, target_name, source_type, target_type, source_id, target_id, description, document,
            key, id_,
        ) = self._cells(row)  # fmt: skip
        source_name, target_name = source_name or source_id, target_name or target_id
        if source_name is None or target_name is None:
            self.notes.add("rows without a source or a target left out")
            return None
        if relation is None:
            relation = RELATED
            self.notes.add(f"rows without a relation, called {RELATED}")
        document = document or self.document
        source = self._entity(source_id, source_type, source_name)
        if relation != HAS_ATTRIBUTE:
            target = self._entity(target_id, target_type, target_name)
        elif key is not None:
            value_id = entity_id(VALUE_TYPE, target_name, f"{source.id}:{key}:{document}")
            target = Entity(id=value_id, type=VALUE_TYPE, name=target_name)
        else:
            self.notes.add(f"rows of {HAS_ATTRIBUTE} without a key left out")
            return None
        edge = self._distinct(
            id_,
            Edge(
                id=id_ or edge_id(source.id, relation, key, target.id, document),
                source_id=source.id,
                target_id=target.id,
                relation=relation,
                src_name=source_name,
                dst_name=target_name,
                key=key,
                description=description,
                source_doc_id=document,
                properties=self._properties(row),
            ),
        )
        return None if edge is None else (edge, source, target)

    def _cells(self, row: Row) -> list[str | None]:
        """The cell of each of ROLES."""
        cells: list[str | None] = [None] * len(ROLES)
        for place, column in self.columns:
            cells[place] = row.get(column) or None if self.is_cells else self._text(column, row.get(column))
        return cells

    def _text(self, column: str, value: object) -> str | None:
        if isinstance(value, list | dict):
            self.notes.add(f"values of {column} that are nested, taken as empty")
        return text_of(value)

    def _entity(self, given: str | None, type_: str | None, name: str) -> Entity:
        entity = self.known.get((given, type_, name))
        if entity is None:
            if len(self.known) > _KNOWN:
                self.known.clear()
            id_ = given or (name if self.exact else entity_id(type_ or DEFAULT_TYPE, name))
            entity = Entity(id=id_, type=self._type(id_, type_ or DEFAULT_TYPE), name=name)
            self.known[given, type_, name] = entity
        return entity

    def _type(self, id_: str, type_: str) -> str:
        if self.types is None:
            return type_
        first = self.types.setdefault(id_, type_)
        if first != type_:
            self.notes.add("names or types of an entity whose id has another type before, which is kept")
        return first

    def _properties(self, row: Row) -> dict[str, PropertyValue]:
        if self.is_cells:
            kept = self.names.items()
            return {name: self._typed(column, cell) for column, name in kept if (cell := row.get(column))}
        cells: dict[str, object] = {}
        for column, value in row.items():
            if column in self.taken:
                continue
            if column not in self.names:  # a JSON object with a key that the first ones lack
                if len(self.names) >= MAX_COLUMNS:
                    self.notes.add(f"values left out of more than {MAX_COLUMNS:,} columns")
                    continue
                self.names = property_names([column], self.names)
                if self.names[column] != column:
                    self.notes.add("columns kept under a name of letters, digits and _")
            cells[self.names[column]] = value
        return properties_of(cells, self.notes)

    def _typed(self, column: str, cell: str) -> str | int | float:
        if column not in self.numeric:
            return cell
        number = number_of(cell)
        if number is None:
            self.notes.add(f"cells of {column} that are no number, kept as text")
            return cell
        return number

    def _distinct(self, given: str | None, edge: Edge) -> Edge | None:
        """The edge, with another id if one of the same id says something else; None if it says the same."""
        told = repr((edge.description, sorted(edge.properties.items()))) if edge.properties else edge.description
        said = hash((edge.source_id, edge.relation, edge.key, edge.target_id, edge.source_doc_id, told))
        held = self.said.get(edge.id)
        if held is not None and held != said:
            key = f"{edge.key or ''}:{told}"
            edge = replace(edge, id=edge_id(edge.source_id, edge.relation, key, edge.target_id, edge.source_doc_id))
            held = self.said.get(edge.id)
            if given is not None and held is None:
                self.notes.add("rows whose id is another row's, given one of their own")
        if held is not None:
            self.notes.add("rows that say the same as one before left out")
            return None
        self.said[edge.id] = said
        return edge


def recognises(path: Path) -> bool:
    """Whether this is a table of three columns or more, or rows whose names say source and target."""
    if not path.is_file():
        return False
    if path.suffix.lower() in _TABLES:
        return True  # whose fault opening it tells
    try:
        table = look(path, HEADER)
    except IngestError:
        return False
    if table.form == "objects" or len(table.columns) < 3:
        return is_named(table, HEADER) and has_ends(proposed_roles(table))
    return table.share >= 0.9


def open_triples(path: Path, mapping: Mapping[str, str] | None = None) -> Triples:
    """The file as a source. Roles that are given replace all that are proposed; options stand beside them.

    Raises IngestError for a file that holds no columns, and for a mapping that names what is not there.
    """
    given = dict(mapping or {})
    options = {name: given.pop(name) for name in OPTIONS if name in given}
    for name, value in options.items():
        if value not in OPTIONS[name]:
            raise IngestError(
                f"{path.name}: {name!r} is {value!r}.", remedy=f"Give {name!r} as {' or '.join(OPTIONS[name])}."
            )
    header = {"yes": True, "no": False}.get(options.get("header", ""))
    table = look(path, HEADER, delimiter=DELIMITERS.get(options.get("delimiter", "")), header=header)
    roles = {role: column for role, column in given.items() if column} if given else proposed_roles(table)
    _check(path, table, roles)
    settings = {"names": options.get("names") or ("exact" if _is_metaqa(table, roles) else "folded")}
    if table.form == "cells":
        settings["header"] = "yes" if table.header else "no"
        settings["delimiter"] = next(name for name, sign in DELIMITERS.items() if sign == table.delimiter)
    return Triples(table=table, mapping={**roles, **settings})


def _is_metaqa(table: Table, roles: Mapping[str, str]) -> bool:
    if table.delimiter != "|" or table.header or len(table.columns) != 3 or "relation" not in roles:
        return False
    return {row.get(roles["relation"]) for row in table.sample} <= _METAQA


def _check(path: Path, table: Table, roles: Mapping[str, str]) -> None:
    columns = ", ".join(table.columns)
    for role, column in roles.items():
        if role not in ROLES:
            raise IngestError(f"{path.name}: there is no role {role!r}.", remedy=f"Roles are {', '.join(ROLES)}.")
        if column not in table.columns:
            raise IngestError(f"{path.name}: there is no column {column!r}.", remedy=f"Columns are {columns}.")
    for name, id_, _ in ENDS:
        if name not in roles and id_ not in roles:
            raise IngestError(
                f"{path.name}: no column is the {name}.", remedy=f"Map {name!r} to one of the columns: {columns}."
            )
