"""Rows of a DuckDB graph by their number, and what a filter lets through: remembered for one version of the data.

A small query costs DuckDB a millisecond or two whatever it reads, so a hop asks for numbers and looks up texts here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgcore.filters import DEFAULT_ACCESS_FIELDS, AccessFilter
from kgcore.filters.sql import compile_edge_filter
from kgcore.names import is_unicode
from kgcore.store.duckdb_file import DuckFile
from kgcore.types import Edge, End, PropertyValue

K = TypeVar("K")
V = TypeVar("V")
MAX_KEPT = 300_000
MAX_WHOLE = 20_000
"""Edges, or property sets, that are read at once as Python objects."""
MAX_NAMES = 200_000
"""Entities, or names, that are read at once: some 50 MB."""
MAX_TABLE = 1_000_000
"""Edges that are held as an Arrow table once one is asked for: some 150 MB."""
MAX_EDGES = 50_000
MAX_SETS = 20_000

EDGE_COLUMNS = (
    "e.ord, e.id, e.source, e.target, e.relation, e.src_name, e.dst_name, e.key, e.description, e.source_doc_id, "
    "e.property_set, CAST(e.fact AS VARCHAR)"
)


@dataclass(frozen=True, kw_only=True)
class Shown:
    """An entity as visible edges show it, and the numbers of the names that they give it."""

    end: End
    names: frozenset[int]


_UNKNOWN = Shown(end=End(id="", name="", type="", degree=0), names=frozenset())


@dataclass
class _Kept:
    """The caches of one version. A reader holds on to one, so another version never mixes in."""

    version: int
    entities: dict[int, tuple[str, str]] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    mentions: dict[str, list[tuple[int, int]]] | None = None
    properties: dict[int, str] = field(default_factory=dict)
    ords: dict[str, int] = field(default_factory=dict)
    shown: dict[tuple[str, int], Shown | None] = field(default_factory=dict)
    edges: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    edge_count: int = 0
    edge_table: pa.Table | None = None
    halves: dict[str, npt.NDArray[Any]] | None = None
    sets: dict[str, list[int] | None] = field(default_factory=dict)


class DuckRows:
    """What reading methods share. Its caches hold rows whether visible or not: they are reached only by numbers
    that came through a filter."""

    def __init__(self, file: DuckFile, access_fields: frozenset[str] = DEFAULT_ACCESS_FIELDS) -> None:
        self.file = file
        self.access_fields = access_fields
        self._current = _Kept(version=-1)

    def visible(self, filter: AccessFilter, alias: str) -> tuple[str, dict[str, object]]:
        """The condition under which rows of `edge e` or `adjacency a` are visible, and its parameters."""
        compiled = compile_edge_filter(filter.node)
        params = {name: value for name, value in compiled.params.items() if f"${name}:" in compiled.edge}
        parts = []
        if compiled.properties:
            allowed = self._allowed(filter)
            if allowed is None:
                parts.append(f"{alias}.property_set IN (SELECT p.ord FROM property_set p WHERE {compiled.properties})")
                params = dict(compiled.params)
            else:
                parts.append(f"{alias}.property_set IN (SELECT unnest($allowed::INTEGER[]))")
                params["allowed"] = allowed
        if compiled.edge:
            column = "e.ord" if alias == "e" else "a.edge"
            own = "SELECT e.ord FROM edge e JOIN property_set p ON p.ord = e.property_set"
            parts.append(f"{column} IN ({own} WHERE {compiled.edge})")
        return " AND ".join(parts) or "true", params

    def ords(self, ids: Iterable[str]) -> dict[str, int]:
        """The file's own numbers of entities, visible or not: only for use under a filter."""
        sql = "SELECT id, ord FROM entity WHERE id IN (SELECT unnest($keys::VARCHAR[]))"
        return self._look_up(self._kept.ords, (i for i in ids if is_unicode(i)), sql, lambda row: row[1])

    def entity_rows(self, ords: Iterable[int]) -> dict[int, tuple[str, str]]:
        """(id, type) by number."""
        sql = "SELECT ord, id, type FROM entity WHERE ord IN (SELECT unnest($keys::INTEGER[]))"
        return self._look_up(self._kept.entities, ords, sql, lambda row: (row[1], row[2]))

    def name_rows(self, ords: Iterable[int]) -> dict[int, str]:
        """Spellings by number."""
        sql = "SELECT ord, name FROM name WHERE ord IN (SELECT unnest($keys::INTEGER[]))"
        return self._look_up(self._kept.names, ords, sql, lambda row: row[1])

    def mention_rows(self, words: Sequence[str]) -> list[tuple[int, int, str, int]]:
        """(number, node, words, 0) of every name that has exactly one of these words."""
        mentions = self._kept.mentions
        if mentions is not None:
            return [(name, node, asked, 0) for asked in words for name, node in mentions.get(asked, ())]
        sql = "SELECT ord, node, words, 0 FROM name WHERE words IN (SELECT unnest($words::VARCHAR[]))"
        return [(row[0], row[1], row[2], row[3]) for row in self.file.rows(sql, {"words": list(words)})]

    def edges_of(self, rows: Iterable[tuple[Any, ...]], filter: AccessFilter) -> dict[int, Edge]:
        """Edges by number from rows of EDGE_COLUMNS, in their order, their access metadata stripped.

        One whose ends a write has meanwhile removed is left out.
        """
        listed = list(rows)
        sql = "SELECT ord, CAST(properties AS VARCHAR) FROM property_set WHERE ord IN (SELECT unnest($keys::INTEGER[]))"
        properties = self._look_up(self._kept.properties, (row[10] for row in listed), sql, lambda row: str(row[1]))
        entities = self.entity_rows(ord_ for row in listed for ord_ in row[2:4])
        hidden = self.access_fields | filter.access_fields
        return {
            row[0]: Edge(
                id=row[1],
                source_id=entities[row[2]][0],
                target_id=entities[row[3]][0],
                relation=row[4],
                src_name=row[5],
                dst_name=row[6],
                key=row[7],
                description=row[8],
                source_doc_id=row[9],
                properties=properties_of(properties[row[10]], hidden),
            )
            for row in listed
            if row[2] in entities and row[3] in entities and row[10] in properties
        }

    def edge_rows(self, ords: Iterable[int]) -> list[tuple[Any, ...]]:
        """Rows of EDGE_COLUMNS by number, ordered by (fact id, edge id)."""
        kept = self._kept
        rows = self._look_up(kept.edges, ords, lambda keys: self._read_edges(kept, keys), lambda row: row, MAX_EDGES)
        return sorted(rows.values(), key=lambda row: (row[11], row[1]))

    def _read_edges(self, kept: _Kept, ords: Sequence[int]) -> Iterable[tuple[Any, ...]]:
        """Scattered rows of a file take it tens of milliseconds, those of a table in memory less than one."""
        if kept.edge_count > MAX_TABLE:
            sql = f"SELECT {EDGE_COLUMNS} FROM edge e WHERE e.ord IN (SELECT unnest($keys::INTEGER[]))"
            return self.file.rows(sql, {"keys": list(ords)})
        table = kept.edge_table
        if table is None:
            table = self.file.table(f"SELECT {EDGE_COLUMNS} FROM edge e ORDER BY e.ord").combine_chunks()
            kept.edge_table = table
        numbers = np.from_dlpack(table.column(0).combine_chunks()) if len(table) else np.zeros(0, np.int32)
        asked = np.array(ords, np.int32)
        at = np.searchsorted(numbers, asked)
        there = at < len(numbers)
        there[there] = numbers[at[there]] == asked[there]
        taken = table.take(pa.array(at[there]))
        return zip(*(column.to_pylist() for column in taken.columns), strict=True)

    def ends(self, nodes: Iterable[int], filter: AccessFilter) -> dict[int, End]:
        """Visible entities by number: the name that most visible edges give (then the first), type, degree."""
        return {node: shown.end for node, shown in self.shown(nodes, filter).items()}

    def shown(self, nodes: Iterable[int], filter: AccessFilter) -> dict[int, Shown]:
        """The same with the numbers of their visible names."""
        kept = self._kept.shown
        wanted = {node: kept.get((filter.key, node), _UNKNOWN) for node in nodes}
        known = {node: shown for node, shown in wanted.items() if shown is not _UNKNOWN}
        missing = [node for node in wanted if node not in known]
        if missing:
            fresh = self._show(missing, filter)
            keep_rows(kept, {(filter.key, node): fresh.get(node) for node in missing})
            known |= fresh
        return {node: shown for node, shown in known.items() if shown is not None}

    def _show(self, nodes: Sequence[int], filter: AccessFilter) -> dict[int, Shown]:
        rows = self._given(nodes, filter)
        entities = self.entity_rows(row[0] for row in rows)
        names = self.name_rows(row[1] for row in rows)
        given: dict[int, list[tuple[int, str, int, int]]] = {}
        for node, name, count, again in rows:
            if node in entities and name in names:
                given.setdefault(node, []).append((-count, names[name], name, again))
        return {
            node: Shown(
                end=End(
                    id=entities[node][0],
                    name=min(listed)[1],
                    type=entities[node][1],
                    degree=sum(-count - again for count, _, _, again in listed),
                ),
                names=frozenset(name for _, _, name, _ in listed),
            )
            for node, listed in given.items()
        }

    def _given(self, nodes: Sequence[int], filter: AccessFilter) -> list[tuple[int, int, int, int]]:
        """(node, name, edges, loops met again) for each name that visible edges give a node."""
        kept, compiled = self._kept, compile_edge_filter(filter.node)
        allowed = self._allowed(filter) if compiled.properties else []
        if kept.edge_count > MAX_TABLE or compiled.edge or allowed is None:
            where, params = self.visible(filter, "a")
            return self.file.rows(
                f"SELECT a.node, a.name, count(*), count(*) FILTER (a.again) FROM adjacency a "
                f"WHERE a.node IN (SELECT unnest($nodes::INTEGER[])) AND {where} GROUP BY a.node, a.name",
                {"nodes": list(nodes), **params},
            )
        if kept.halves is None:
            kept.halves = self.file.columns(
                "SELECT node, name, property_set, CAST(again AS UTINYINT) AS again FROM adjacency ORDER BY node"
            )
        halves = kept.halves
        begin, end = (np.searchsorted(halves["node"], np.array(nodes, np.int32), side) for side in ("left", "right"))
        rows = np.concatenate([np.arange(first, last) for first, last in zip(begin, end, strict=True)])
        if compiled.properties:
            rows = rows[np.isin(halves["property_set"][rows], np.array(allowed, np.int32))]
        pairs = halves["node"][rows].astype(np.int64) << 32 | halves["name"][rows].astype(np.int64)
        unique, inverse, counts = np.unique(pairs, return_inverse=True, return_counts=True)
        again = np.bincount(inverse, halves["again"][rows], len(unique)).astype(np.int64)
        nodes_, names = unique >> 32, unique & 0xFFFFFFFF
        return list(zip(nodes_.tolist(), names.tolist(), counts.tolist(), again.tolist(), strict=True))

    def _allowed(self, filter: AccessFilter) -> list[int] | None:
        """The property sets that pass; None when they are too many to hand over."""
        kept = self._kept.sets
        try:
            return kept[filter.key]
        except KeyError:
            compiled = compile_edge_filter(filter.node)
            params = {name: value for name, value in compiled.params.items() if f"${name}:" in compiled.properties}
            sql = f"SELECT p.ord FROM property_set p WHERE {compiled.properties} ORDER BY p.ord LIMIT {MAX_SETS + 1}"
            found = [row[0] for row in self.file.rows(sql, params)]
            allowed = found if len(found) <= MAX_SETS else None
            keep_rows(kept, {filter.key: allowed}, 64)
            return allowed

    def _look_up(
        self,
        kept: dict[K, V],
        keys: Iterable[K],
        read: str | Callable[[list[K]], Iterable[tuple[Any, ...]]],
        value: Callable[[tuple[Any, ...]], V],
        limit: int = MAX_KEPT,
    ) -> dict[K, V]:
        """The rows of these keys, from the cache or read at once, by a query of `$keys` or otherwise; never read from
        the cache twice."""
        wanted = dict.fromkeys(keys)
        found = {key: row for key in wanted if (row := kept.get(key)) is not None}
        missing = [key for key in wanted if key not in found]
        if missing:
            rows = self.file.rows(read, {"keys": missing}) if isinstance(read, str) else read(missing)
            fresh = {row[0]: value(row) for row in rows}
            keep_rows(kept, fresh, limit)
            found |= fresh
        return found

    @property
    def _kept(self) -> _Kept:
        if self._current.version != self.file.version:
            self._current = self._begin(self.file.version)
        return self._current

    def _begin(self, version: int) -> _Kept:
        """Caches for a version; what a graph has not too many of is read whole, at once."""
        entities, names, sets, edges = self.file.rows(
            "SELECT (SELECT count(*) FROM entity), (SELECT count(*) FROM name), (SELECT count(*) FROM property_set), "
            "(SELECT count(*) FROM edge)"
        )[0]
        kept = _Kept(version=version, edge_count=edges)
        if max(entities, names) <= MAX_NAMES:
            kept.entities = {row[0]: (row[1], row[2]) for row in self.file.rows("SELECT ord, id, type FROM entity")}
            kept.ords = {id_: ord_ for ord_, (id_, _) in kept.entities.items()}
            kept.mentions = {}
            for ord_, node, name, words in self.file.rows("SELECT ord, node, name, words FROM name ORDER BY ord"):
                kept.names[ord_] = name
                kept.mentions.setdefault(words, []).append((ord_, node))
        if max(sets, edges) <= MAX_WHOLE:
            kept.edges = {row[0]: row for row in self.file.rows(f"SELECT {EDGE_COLUMNS} FROM edge e")}
            kept.properties = dict(self.file.rows("SELECT ord, CAST(properties AS VARCHAR) FROM property_set"))
        return kept


def properties_of(text: str, access_fields: frozenset[str]) -> Mapping[str, PropertyValue]:
    """Properties from their JSON, lists as tuples, without the access fields. Not to be changed: it is shared."""
    return _properties(text, access_fields)


@lru_cache(maxsize=4096)
def _properties(text: str, access_fields: frozenset[str]) -> Mapping[str, PropertyValue]:
    return {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in json.loads(text).items()
        if name not in access_fields
    }


def keep_rows(kept: dict[K, V], items: Mapping[K, V], limit: int = MAX_KEPT) -> None:
    """Adds to a cache, emptied first when it would grow beyond its limit."""
    if len(kept) + len(items) > limit:
        kept.clear()
    kept.update(items)
