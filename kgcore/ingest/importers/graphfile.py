"""Graph files that any tool may have written: GraphML, GEXF, GML, and JSON of nodes and links.

A mapping names the attribute of each role; without it, the first of the names below that the file has:

name         of a node; a node without one is called by its id
type         of a node, else Entity
relation     of an edge, else RELATED
description  of an edge

All other attributes of a node become its attributes here, those of an edge its properties. The file is the document.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kgcore.errors import IngestError
from kgcore.ingest.importers.cells import properties_of, text_of
from kgcore.ingest.importers.graph_markup import Item, markup_items
from kgcore.ingest.importers.graph_plain import gml_items, json_items
from kgcore.ingest.importers.grounded import RELATED, Grounded
from kgcore.ingest.importers.json_file import check_size, decoded_head
from kgcore.ingest.source import DEFAULT_TYPE, VALUE_TYPE, GraphParts, Notes, stamped
from kgcore.names import entity_id, fold
from kgcore.types import Entity, PropertyValue

ROLES: Mapping[str, tuple[str, ...]] = {
    "name": ("name", "label", "title", "shared name", "shared_name", "entity_id"),
    "type": ("type", "entity_type", "labels", "labelv", "category", "kind"),
    "relation": ("relation", "relationship", "predicate", "label", "labele", "interaction", "kind", "type"),
    "description": ("description", "desc"),
}
"""Each role, and the names of attributes that it is proposed for, the first that has a text."""
_NAMES = frozenset(name for names in ROLES.values() for name in names)
_OF_NODES = ("name", "type")
_MARKUP = re.compile(r"<([\w.-]+:)?(graphml|gexf)[\s>/]")
_GML = re.compile(r"[^{}<]*?\bgraph\s*\[")
_GML_PART = re.compile(r"\b(node|edge)\s*\[")
_JSON = re.compile(r'"(nodes|links|edges|elements)"\s*:\s*[\[{]')
# A letter, a number, one behind a word that says no more (n0::n1): tells nodes of one file apart, not those of others.
_ONE = r"(n|v|e|id|node|vertex|edge)?[ _:.-]?\d{1,20}"
_COUNTED = re.compile(rf"[a-z]|{_ONE}([:./_-]{{1,2}}{_ONE})*", re.IGNORECASE)
# Layout, and what a tool computed over the whole graph, which would tell a reader of what is hidden from him.
_LAYOUT = frozenset("x y z r g b size".split())
_COUNTS = frozenset(
    "suid degree indegree outdegree weighteddegree weightedindegree weightedoutdegree eccentricity"
    " closnesscentrality closenesscentrality harmonicclosnesscentrality betweenesscentrality betweennesscentrality"
    " eigencentrality authority hub pagerank pageranks modularityclass componentnumber strongcompnum clustering"
    " triangles".split()
)
_ANSWER = frozenset({"fact", "rank", "hop", "score", "seed"})
_HELD = frozenset({"key", "description", "source_doc_id", "src_name", "dst_name", "relation"})
_REMEDY = "Name a GraphML, GEXF or GML file, or JSON with nodes and links."


@dataclass(frozen=True, kw_only=True)
class GraphFile:
    """A file in memory. `mapping` has each role's attribute where the file has one for it."""

    path: Path
    columns: tuple[str, ...]
    mapping: Mapping[str, str]
    family: str = "Graph file"
    items: tuple[Item, ...] = field(repr=False, compare=False)
    found: Mapping[str, int] = field(repr=False, compare=False)

    @property
    def roles(self) -> Mapping[str, tuple[str, ...]]:
        """Each role may be any attribute."""
        return dict.fromkeys(ROLES, self.columns) if self.columns else {}

    def parts(self, notes: Notes) -> Iterator[GraphParts]:
        """The one document. Raises IngestError if it has neither an edge nor an attribute."""
        for reason, count in self.found.items():
            notes.add(reason, count)
        reader = _Reader(self, notes)
        reader.add_nodes()
        reader.add_edges()
        parts = list(reader.graph.parts(numbered=False))
        if not parts:
            raise IngestError(f"{self.path.name} holds no edge, and no attribute of a node.", remedy=_REMEDY)
        yield from stamped(parts, reader.about) if reader.about else parts


def recognises(path: Path) -> bool:
    """Whether a file begins like one of these. LightRAG's GraphML does, too."""
    return path.is_file() and _items_of(path) is not None


def open_graphfile(path: Path, mapping: Mapping[str, str] | None = None) -> GraphFile:
    """The file as a source. Raises IngestError that names the file and what is wrong in it, or in the mapping."""
    check_size(path)
    read = _items_of(path)
    if read is None:
        empty = path.stat().st_size == 0
        raise IngestError(f"{path.name} is {'empty' if empty else 'no graph file'}.", remedy=_REMEDY)
    notes = Notes()
    items = tuple(read(path, notes))
    columns = tuple(dict.fromkeys(name for item in items if item.ids for name in item.data))
    proposed = _proposed(items)
    _check(path, columns, mapping or {})
    return GraphFile(
        path=path, columns=columns, mapping={**proposed, **(mapping or {})}, items=items, found=notes.counts
    )


def _items_of(path: Path) -> Callable[[Path, Notes], Iterator[Item]] | None:
    head = decoded_head(path).lstrip("\ufeff \t\r\n")
    if head.startswith("<"):
        return markup_items if _MARKUP.search(head) else None
    if head.startswith(("{", "[")):
        return json_items if _JSON.search(head) else None
    gml = _GML.match(head)
    return gml_items if gml is not None and _GML_PART.search(head, gml.end()) else None


def _proposed(items: Sequence[Item]) -> dict[str, str]:
    """A role's attribute is one with a text: a truth or a number is no name, no type and no relation."""
    telling: dict[int, dict[str, str]] = {1: {}, 2: {}}
    for item in items:
        if item.ids:
            telling[len(item.ids)].update(
                (name.lower(), name)
                for name, value in item.data.items()
                if name.lower() in _NAMES and isinstance(value, str | list) and value and not _is_number(value)
            )
    roles = {}
    for role, names in ROLES.items():
        had = telling[1 if role in _OF_NODES else 2]
        found = next((had[name] for name in names if name in had), None)
        if found is not None:
            roles[role] = found
    return roles


def _check(path: Path, columns: Sequence[str], mapping: Mapping[str, str]) -> None:
    for role, column in mapping.items():
        if role not in ROLES:
            raise IngestError(f"{path.name}: there is no role {role!r}.", remedy=f"Roles are {', '.join(ROLES)}.")
        if column and column not in columns:
            raise IngestError(
                f"{path.name}: there is no attribute {column!r}.", remedy=f"Attributes are {', '.join(columns[:50])}."
            )


class _Reader:
    def __init__(self, source: GraphFile, notes: Notes) -> None:
        self.source = source
        self.notes = notes
        self.graph = Grounded(source.path, notes)
        self.is_answer = {"fact", "hop", "rank"} <= set(source.columns)
        self.plumbing = _COUNTS | (_LAYOUT if {"x", "y"} <= set(source.columns) else frozenset())
        self.ends: dict[str, tuple[Entity, str]] = {}
        self.values: dict[str, str] = {}
        about: dict[str, object] = {}
        for item in source.items:
            if not item.ids:
                about |= item.data
        title = next((text for name in ("title", "name", "label") if (text := text_of(about.pop(name, None)))), None)
        told = {"title": title, "graph_description": about.pop("description", None)}
        self.about = self._properties({**about, **told})

    def add_nodes(self) -> None:
        """Nodes of one type and name stay apart: they are told by the file's name and their ids."""
        nodes: dict[str, dict[str, object]] = {}
        for item in self.source.items:
            if len(item.ids) == 1:
                if item.ids[0] in nodes:
                    self.notes.add("nodes whose id another has, taken as one")
                nodes[item.ids[0]] = {**item.data, **nodes.get(item.ids[0], {})}
        told = {id_: self._told(id_, data) for id_, data in nodes.items()}
        alike = Counter((type_, fold(name)) for name, type_, _ in told.values())
        for id_, (name, type_, own) in told.items():
            if own is None and alike[type_, fold(name)] > 1:
                self.notes.add("nodes whose type and name another has, kept apart")
                own = self._here(type_, name, id_)
            if type_ == VALUE_TYPE:
                self.values[id_] = name
            else:
                self.ends[id_] = (self.graph.entity(type_, name, own), name)
        for id_, end in self.ends.items():
            self._describe(end, nodes[id_])

    def add_edges(self) -> None:
        for item in self.source.items:
            if len(item.ids) != 2:
                continue
            data = dict(item.data)
            if _COUNTED.fullmatch(text_of(data.get("id")) or ""):
                del data["id"]
            relation = text_of(self._taken("relation", data))
            source = self._end(item.ids[0])
            if item.ids[1] in self.values:
                self.graph.describe(source, {relation or RELATED: self.values[item.ids[1]]}, ())
                continue
            target = self._end(item.ids[1])
            if relation is None:
                self.notes.add(f"edges without a relation, called {RELATED}")
            description = text_of(self._taken("description", data))
            properties = self._properties(self._kept(data))
            hidden = properties.keys() & self.about.keys()
            if hidden:
                self.notes.add("values of edges left out for the graph's of the same name", len(hidden))
            if item.direction == "undirected":
                self.notes.add("edges without a direction, kept from their first end to their second")
            turns = [(source, target), (target, source)] if item.direction == "mutual" else [(source, target)]
            for begin, end in turns:
                self.graph.relate(begin, relation, end, (), description=description, properties=properties)

    def _told(self, id_: str, data: dict[str, object]) -> tuple[str, str, str | None]:
        """A node's name, type, and its id where it tells the node from those of other files."""
        own = text_of(data.get("id")) or id_
        name = text_of(self._taken("name", data)) or id_
        kind = text_of(self._taken("type", data)) or DEFAULT_TYPE
        if kind.startswith(":") and kind.strip(": "):
            kind, *further = kind.strip(": ").split(":")  # Neo4j's labels
            if further:
                data["labels"] = further
        is_name = fold(own) == fold(name)
        if self.is_answer or is_name or not _COUNTED.fullmatch(own):
            data.pop("id", None)
        if self.is_answer or not (is_name or _COUNTED.fullmatch(own)):
            return name, kind, own
        return name, kind, self._here(kind, name, id_) if name == id_ and _COUNTED.fullmatch(id_) else None

    def _here(self, type_: str, name: str, id_: str) -> str:
        """The id of what only this file's ids tell."""
        return entity_id(type_, name, f"{self.graph.document}:{id_}")

    def _taken(self, role: str, data: dict[str, object]) -> object:
        """The value of a role, no longer among the attributes. A node may have another of the role's names."""
        mapping = self.source.mapping
        if mapping.get(role) == "":
            return None
        names = {name.lower(): name for name in data if name != mapping.get("type")} if role == "name" else {}
        for name in (mapping.get(role), *(names.get(name) for name in ROLES[role])):
            value = data.get(name) if name is not None else None
            if name is not None and isinstance(value, list) and text_of(value[0] if value else None) is not None:
                data[name] = value[1:]
                return value[0]
            if name is not None and text_of(value) is not None:
                return data.pop(name)
        return None

    def _describe(self, end: tuple[Entity, str], data: Mapping[str, object]) -> None:
        for key, value in self._kept(data).items():
            values = value if isinstance(value, list) else [value]
            if any(isinstance(item, dict | list) for item in values) or _is_vector(value):
                self.notes.add("values left out that are nested or vectors")
                continue
            for item in values:
                if text_of(item) != end[1]:
                    self.graph.describe(end, {key.strip(): item}, ())

    def _kept(self, data: Mapping[str, object]) -> dict[str, object]:
        kept = {}
        for name, value in data.items():
            if not name.strip():
                self.notes.add("values left out whose attribute has no name")
            elif self.is_answer and name in _ANSWER:
                self.notes.add("ranks, scores and seeds of an answer left out")
            elif re.sub(r"[\s_-]", "", name).lower() in self.plumbing and _is_number(value):
                self.notes.add("places, colours, sizes and counts over the whole graph left out")
            elif isinstance(value, float) and not math.isfinite(value):
                self.notes.add("numbers left out that are not finite")
            else:
                kept[name] = value
        return kept

    def _properties(self, data: Mapping[str, object]) -> dict[str, PropertyValue]:
        """Under names that an edge has no other value of."""
        free = {f"{name}_" if name in _HELD else name: value for name, value in data.items()}
        return properties_of(free, self.notes)

    def _end(self, id_: str) -> tuple[Entity, str]:
        if id_ not in self.ends:
            name, type_ = self.values.get(id_, id_), VALUE_TYPE if id_ in self.values else DEFAULT_TYPE
            if id_ not in self.values:
                self.notes.add(f"names that only edges give, taken as entities of the type {DEFAULT_TYPE}")
            own = self._here(type_, name, id_) if _COUNTED.fullmatch(id_) else None
            self.ends[id_] = (self.graph.entity(type_, name, own), name)
        return self.ends[id_]


def _is_vector(value: object) -> bool:
    return isinstance(value, list) and len(value) > 1 and all(isinstance(item, float) for item in value)


def _is_number(value: object) -> bool:
    if isinstance(value, str):
        return bool(re.fullmatch(r"\s*[-+]?\d[\d.]*(e[-+]?\d+)?\s*", value, re.IGNORECASE))
    return isinstance(value, int | float)
