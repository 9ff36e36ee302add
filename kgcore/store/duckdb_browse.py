"""Reading a DuckDB graph for pages and copies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from kgcore.filters import DEFAULT_ACCESS_FIELDS, AccessFilter, access_field
from kgcore.filters.sql import EDGE_COLUMNS as FIELD_COLUMNS
from kgcore.filters.sql import compile_chunk_filter
from kgcore.names import fold, is_unicode
from kgcore.store.duckdb_file import DuckFile
from kgcore.store.duckdb_read import DuckReader
from kgcore.store.duckdb_rows import EDGE_COLUMNS, keep_rows, properties_of
from kgcore.store.protocol import Page
from kgcore.store.values import documents_of
from kgcore.store.ways import first_ways, onward
from kgcore.types import HAS_ATTRIBUTE, DocumentInfo, Edge, End, Entity, FieldValue, RelationCount, Scalar, Vector

MAX_LISTS = 256


class DuckBrowser(DuckReader):
    """`GraphBrowser`, on top of `GraphReader`, over one file."""

    def __init__(self, file: DuckFile, access_fields: frozenset[str] = DEFAULT_ACCESS_FIELDS) -> None:
        super().__init__(file, access_fields)
        self._values: dict[tuple[int, str, str, int], tuple[FieldValue, ...]] = {}

    def search(self, prefix: str, filter: AccessFilter, limit: int = 20) -> tuple[End, ...]:
        text = fold(prefix)
        if not text:
            return ()
        where, params = self.visible(filter, "a")
        rows = self.file.rows(
            f"""
            WITH hit AS (
                SELECT ord, node, starts_with(folded, $text) AS whole FROM name
                WHERE starts_with(folded, $text) OR contains(folded, ' ' || $text)
                   OR ord IN (SELECT name FROM token WHERE starts_with(token, $text))
            ), shown AS (
                SELECT a.node, a.name, count(*) FILTER (WHERE NOT a.again) AS n FROM adjacency a
                WHERE a.node IN (SELECT node FROM hit) AND {where} GROUP BY a.node, a.name
            ), ranked AS (
                SELECT hit.node, bool_or(hit.whole) AS whole,
                       (SELECT sum(n) FROM shown s WHERE s.node = hit.node) AS degree
                FROM hit JOIN shown ON shown.node = hit.node AND shown.name = hit.ord GROUP BY hit.node
            )
            SELECT node FROM ranked JOIN entity e ON e.ord = node ORDER BY whole DESC, degree DESC, e.id LIMIT $limit
            """,
            {"text": text, "limit": limit, **params},
        )
        return self._listed((row[0] for row in rows), filter)

    def hubs(self, filter: AccessFilter, k: int) -> tuple[End, ...]:
        where, params = self.visible(filter, "a")
        rows = self.file.rows(
            f"""
            WITH counted AS (
                SELECT a.node, count(*) AS degree FROM adjacency a WHERE NOT a.again AND {where} GROUP BY a.node
            )
            SELECT node FROM counted JOIN entity e ON e.ord = node ORDER BY degree DESC, e.id LIMIT $k
            """,
            {"k": k, **params},
        )
        return self._listed((row[0] for row in rows), filter)

    def relations(self, id: str, filter: AccessFilter) -> tuple[RelationCount, ...]:
        ords = self.ords([id])
        if not ords:
            return ()
        where, params = self.visible(filter, "a")
        rows = self.file.rows(
            f"""
            SELECT CASE WHEN half.relation = $attribute AND half.key <> '' THEN half.key ELSE half.relation END AS said,
                   half.source = $node AS outgoing, count(*) AS n
            FROM adjacency a JOIN edge half ON half.ord = a.edge
            WHERE a.node = $node AND NOT a.again AND {where} GROUP BY ALL ORDER BY n DESC, said, outgoing DESC
            """,
            {"node": ords[id], "attribute": HAS_ATTRIBUTE, **params},
        )
        return tuple(RelationCount(relation=said, outgoing=out, count=n) for said, out, n in rows)

    def paths(
        self, a: str, b: str, filter: AccessFilter, max_hops: int, limit: int = 20
    ) -> tuple[tuple[Edge, ...], ...]:
        ords = self.ords([a, b])
        if a == b or len(ords) < 2:
            return ()
        start, goal = ords[a], ords[b]
        before: dict[int, list[tuple[int, int]]] = {}  # node -> (node before, edge), on shortest ways only
        seen, front = {start}, [start]
        for _ in range(max_hops):
            reached: dict[int, list[tuple[int, int]]] = {}
            for node, far, edge in self._half_edges(front, filter):
                if far not in seen:
                    reached.setdefault(far, []).append((node, edge))
            before |= reached
            seen |= reached.keys()
            if goal in reached or not reached:
                break
            front = sorted(reached)
        ways = first_ways(self._by_fact(onward(before, goal)), start, goal, limit)
        edges = self._edges({edge for way in ways for edge in way}, filter)
        return tuple(tuple(edges[edge] for edge in way) for way in ways if all(edge in edges for edge in way))

    def documents(self, filter: AccessFilter) -> tuple[DocumentInfo, ...]:
        where, params = self.visible(filter, "e")
        told = self.file.rows(
            f"""
            SELECT coalesce(c.document_id, e.source_doc_id), min(p.properties->>'$.title'), count(*),
                   count(DISTINCT e.fact), CAST(arg_min(p.properties, e.id) AS VARCHAR)
            FROM edge e JOIN property_set p ON p.ord = e.property_set LEFT JOIN chunk c ON c.id = e.source_doc_id
            WHERE e.source_doc_id IS NOT NULL AND {where} GROUP BY 1
            """,
            params,
        )
        passing, chunk_params = compile_chunk_filter(filter.node)
        held = self.file.rows(
            "SELECT c.document_id, min(c.metadata->>'$.title'), count(*), "
            "CAST(arg_min(c.metadata, c.id) AS VARCHAR) FROM chunk c "
            f"WHERE {passing or 'true'} GROUP BY 1",
            chunk_params,
        )
        hidden = self.access_fields | filter.access_fields
        return documents_of(told, held, lambda text: properties_of(text, hidden), hidden)

    def values(self, field: str, filter: AccessFilter, limit: int = 100) -> tuple[FieldValue, ...]:
        if field in self.access_fields | filter.access_fields or not is_unicode(field):
            return ()
        return self._known_values(field, filter, limit)

    def principals(self, field: str, limit: int = 1_000) -> tuple[FieldValue, ...]:
        return self._known_values(access_field(field, self.access_fields), AccessFilter(), limit)

    def scan(self, filter: AccessFilter, after: str | None, limit: int = 5_000, *, vectors: bool = True) -> Page:
        where, params = self.visible(filter, "e")
        rows = self.file.rows(
            f"""
            WITH part AS (SELECT e.* FROM edge e WHERE ($after IS NULL OR e.id > $after) AND {where}
                          ORDER BY e.id LIMIT $limit)
            SELECT {EDGE_COLUMNS}, {"a.embedding" if vectors else "NULL"} FROM part e
            JOIN adjacency a ON a.edge = e.ord AND a.node = e.source AND NOT a.again ORDER BY e.id
            """,
            {"after": after, "limit": limit, **params},
        )
        found = self.edges_of(rows, filter)
        edges = [_with_vector(found[row[0]], row[12]) for row in rows if row[0] in found]
        shown = {(row[2], row[5]) for row in rows} | {(row[3], row[6]) for row in rows}
        known = self.entity_rows(node for node, _ in shown)
        held = self._vectors_of({node for node, _ in shown}) if vectors else {}
        entities = [
            Entity(id=known[node][0], type=known[node][1], name=name, embedding=held.get((node, name)))
            for node, name in shown
            if node in known
        ]
        entities.sort(key=lambda entity: (entity.id, entity.name))
        return Page(edges=tuple(edges), entities=tuple(entities), after=edges[-1].id if len(edges) == limit else None)

    def _known_values(self, field: str, filter: AccessFilter, limit: int) -> tuple[FieldValue, ...]:
        key = (self.file.version, filter.key, field, limit)
        found = self._values.get(key)
        if found is None:
            found = self._count_values(field, filter, limit)
            keep_rows(self._values, {key: found}, MAX_LISTS)
        return found

    def _count_values(self, field: str, filter: AccessFilter, limit: int) -> tuple[FieldValue, ...]:
        where, params = self.visible(filter, "e")
        params["limit"] = limit
        if column := FIELD_COLUMNS.get(field):
            sql = _COLUMN_VALUES.format(column=column, where=where)
        else:
            sql = _PROPERTY_VALUES.format(where=where)
            params["pointer"] = "/" + field.replace("~", "~0").replace("/", "~1")
        return tuple(FieldValue(value=_scalar(*row[:4]), count=row[4]) for row in self.file.rows(sql, params))

    def _listed(self, nodes: Iterable[int], filter: AccessFilter) -> tuple[End, ...]:
        listed = list(nodes)
        ends = self.ends(listed, filter)
        return tuple(ends[node] for node in listed if node in ends)

    def _half_edges(self, nodes: list[int], filter: AccessFilter) -> list[tuple[int, int, int]]:
        where, params = self.visible(filter, "a")
        rows = self.file.rows(
            f"SELECT a.node, a.far, a.edge FROM adjacency a WHERE a.node IN (SELECT unnest($nodes::INTEGER[])) "
            f"AND {where} ORDER BY a.node, a.far, a.edge",
            {"nodes": nodes, **params},
        )
        return [(row[0], row[1], row[2]) for row in rows]

    def _by_fact(self, after: Mapping[int, Sequence[tuple[int, int]]]) -> dict[int, list[tuple[int, int]]]:
        """Of the edges that assert one fact the first, in the order of their ids."""
        rows = self.file.rows(
            "SELECT e.ord, e.id, CAST(e.fact AS VARCHAR) FROM edge e WHERE e.ord IN (SELECT unnest($ords::INTEGER[]))",
            {"ords": sorted({edge for halves in after.values() for _, edge in halves})},
        )
        known = {row[0]: (row[1], row[2]) for row in rows}
        first: dict[int, list[tuple[int, int]]] = {}
        for node, halves in after.items():
            there = sorted((known[edge][0], far, edge) for far, edge in halves if edge in known)
            told: dict[tuple[int, str], tuple[int, int]] = {}
            for _, far, edge in there:
                told.setdefault((far, known[edge][1]), (far, edge))
            first[node] = list(told.values())
        return first

    def _edges(self, ords: set[int], filter: AccessFilter) -> dict[int, Edge]:
        rows = self.file.rows(
            f"SELECT {EDGE_COLUMNS} FROM edge e WHERE e.ord IN (SELECT unnest($ords::INTEGER[]))",
            {"ords": sorted(ords)},
        )
        return self.edges_of(rows, filter)

    def _vectors_of(self, nodes: set[int]) -> dict[tuple[int, str], Vector]:
        rows = self.file.rows(
            "SELECT node, name, embedding FROM name WHERE embedding IS NOT NULL "
            "AND node IN (SELECT unnest($nodes::INTEGER[]))",
            {"nodes": sorted(nodes)},
        )
        return {(row[0], row[1]): np.asarray(row[2], np.float32) for row in rows}


def _with_vector(edge: Edge, values: tuple[float, ...] | None) -> Edge:
    if values is None:
        return edge
    return Edge(**{**edge.__dict__, "embedding": np.asarray(values, np.float32)})


def _scalar(kind: str, whole: int | None, real: float | None, text: str | None) -> Scalar:
    if kind == "boolean":
        return text == "true"
    number = real if whole is None else whole
    return text or "" if number is None else number


_COLUMN_VALUES = """
SELECT 'string', NULL, NULL, {column}, count(*) AS n FROM edge e WHERE {column} IS NOT NULL AND {where}
GROUP BY {column} ORDER BY n DESC, {column} LIMIT $limit
"""

# A document's metadata are read once; a float that is a whole number is the integer that it equals.
_PROPERTY_VALUES = """
WITH used AS (SELECT e.property_set AS ord, count(*) AS n FROM edge e WHERE {where} GROUP BY 1),
     held AS (SELECT ord, n, json_extract(p.properties, $pointer) AS held FROM used JOIN property_set p USING (ord)),
     item AS (
         SELECT ord, n,
                unnest(CASE json_type(held) WHEN 'ARRAY' THEN json_extract(held, '$[*]') ELSE [held] END) AS item
         FROM held WHERE held IS NOT NULL
     ),
     typed AS (
         SELECT ord, n, item, json_type(item) AS type, TRY_CAST(item AS DOUBLE) AS real FROM item
     ),
     told AS (
         SELECT DISTINCT ord, n,
                CASE type WHEN 'VARCHAR' THEN 'string' WHEN 'BOOLEAN' THEN 'boolean' ELSE 'number' END AS kind,
                CASE WHEN type IN ('BIGINT', 'UBIGINT') THEN TRY_CAST(item AS BIGINT)
                     WHEN type = 'DOUBLE' AND real = floor(real) THEN TRY_CAST(real AS BIGINT) END AS whole,
                CASE WHEN type IN ('BIGINT', 'UBIGINT', 'DOUBLE') THEN real END AS real,
                CASE WHEN type IN ('VARCHAR', 'BOOLEAN') THEN json_extract_string(item, '$') END AS text
         FROM typed WHERE type IN ('BIGINT', 'UBIGINT', 'DOUBLE', 'VARCHAR', 'BOOLEAN')
     )
SELECT kind, whole, real, text, CAST(sum(n) AS BIGINT) AS n FROM told GROUP BY ALL
ORDER BY n DESC, kind, real, whole NULLS LAST, text LIMIT $limit
"""
