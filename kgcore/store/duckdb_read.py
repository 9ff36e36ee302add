"""Reading a DuckDB graph for retrieval: what there is, and one hop. Everything under an access filter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from uuid import UUID

from kgcore.filters import DEFAULT_ACCESS_FIELDS, AccessFilter
from kgcore.filters.grammar import EDGE_FIELDS
from kgcore.names import is_unicode
from kgcore.store.duckdb_file import DuckFile
from kgcore.store.duckdb_names import DuckNames
from kgcore.store.duckdb_rows import EDGE_COLUMNS
from kgcore.types import HAS_ATTRIBUTE, Description, Edge, End, Expansion, Property, Vector, VisibleEdge

HUB = 1_000
"""A node with more visible edges is read by itself."""


class DuckReader(DuckNames):
    """`GraphReader` over one file."""

    def __init__(self, file: DuckFile, access_fields: frozenset[str] = DEFAULT_ACCESS_FIELDS) -> None:
        super().__init__(file, access_fields)
        self._descriptions: dict[tuple[int, str], Description] = {}

    def describe(self, filter: AccessFilter) -> Description:
        key = (self.file.version, filter.key)
        found = self._descriptions.get(key)
        if found is None:
            found = self._describe(filter, str(key[0]))
            if len(self._descriptions) >= 64:
                self._descriptions.clear()
            self._descriptions[key] = found
        return found

    def entities(self, ids: Sequence[str], filter: AccessFilter) -> tuple[End, ...]:
        ends = {end.id: end for end in self.ends(self.ords(ids).values(), filter).values()}
        return tuple(ends[i] for i in dict.fromkeys(ids) if i in ends)

    def edges(self, ids: Sequence[str], filter: AccessFilter) -> tuple[Edge, ...]:
        where, params = self.visible(filter, "e")
        rows = self.file.rows(
            f"SELECT {EDGE_COLUMNS} FROM edge e WHERE e.id IN (SELECT unnest($ids::VARCHAR[])) AND {where}",
            {"ids": [id_ for id_ in ids if is_unicode(id_)], **params},
        )
        found = {edge.id: edge for edge in self.edges_of(rows, filter).values()}
        return tuple(found[i] for i in dict.fromkeys(ids) if i in found)

    def expand(
        self,
        frontier: Sequence[str],
        exclude: Sequence[str],
        filter: AccessFilter,
        query_vector: Vector | None,
        limit: int,
        *,
        words: Sequence[str] = (),
        relations: Sequence[str] = (),
    ) -> Expansion:
        nodes = sorted(self.ords(frontier).values())
        if not nodes:
            return Expansion(edges=(), ends={}, found=0)
        scored = query_vector is not None and self.file.dimension is not None
        where, params = self.visible(filter, "a")
        if exclude:
            where += " AND NOT list_contains($exclude::UUID[], a.fact)"
            params["exclude"] = sorted(_fact_ids(exclude))
        if relations:
            where += (
                " AND a.edge IN (SELECT ord FROM edge WHERE list_contains($relations::VARCHAR[], relation)"
                " OR list_contains($relations::VARCHAR[], key))"
            )
            params["relations"] = sorted(relations)
        if scored:
            assert query_vector is not None
            self.file.check_vector(query_vector)
            params["vector"] = query_vector.tolist()
        degrees = {node: end.degree for node, end in self.ends(nodes, filter).items()}
        half = self._half(degrees, params, scored=scored, where=where)
        if sum(degrees.values()) <= limit:
            halves = self.file.rows(half, params)
            found = len({fact for _, _, fact in halves})
        else:
            join = "JOIN edge e ON e.ord = half.edge" if words and not scored else ""
            if join:
                params["words"] = sorted(set(words))
            shortlist = _SHORTLIST.format(half=half, rank=_rank(scored=scored, words=bool(words)), join=join)
            halves = self.file.rows(shortlist, params | {"limit": limit})
            found = halves[0][2] if halves else 0
        scores = {row[0]: row[1] for row in halves}
        rows = self.edge_rows(scores)
        attributes = {row[11] for row in rows if row[4] == HAS_ATTRIBUTE and row[3] in degrees}
        if attributes:
            others = self._attribute_edges(attributes, filter, query_vector if scored else None)
            scores |= others
            rows = self.edge_rows(scores)
        edges = self.edges_of(rows, filter)
        ends = self.ends({node for row in rows for node in row[2:4]}, filter)
        return Expansion(
            edges=tuple(
                VisibleEdge(edge=edges[row[0]], fact_id=row[11], score=scores[row[0]])
                for row in rows
                if row[0] in edges and row[2] in ends and row[3] in ends
            ),
            ends={end.id: end for end in ends.values()},
            found=found,
        )

    def _attribute_edges(
        self, facts: Iterable[str], filter: AccessFilter, vector: Vector | None
    ) -> dict[int, float | None]:
        """All visible edges of attributes that were reached from one of their value nodes, with their scores."""
        where, params = self.visible(filter, "a")
        score = "NULL::FLOAT"
        if vector is not None:
            score = f"array_inner_product(a.embedding, $vector::{self._vector_type})"
            params["vector"] = vector.tolist()
        rows = self.file.rows(
            f"SELECT a.edge, {score} FROM adjacency a WHERE a.fact IN (SELECT unnest($facts::UUID[])) AND {where}",
            {"facts": sorted(facts), **params},
        )
        return {row[0]: row[1] for row in rows}

    def _half(self, degrees: Mapping[int, int], params: dict[str, object], *, scored: bool, where: str) -> str:
        """The half-edges at some nodes. Each hub is a part of its own: a constant finds its rows, where a join
        with a list would carry every vector along."""
        hubs = [node for node, degree in degrees.items() if degree > HUB]
        params["nodes"] = [node for node in degrees if node not in hubs]
        params |= {f"hub{i}": node for i, node in enumerate(hubs)}
        conditions = [f"node = $hub{i}" for i in range(len(hubs))]
        if params["nodes"] or not hubs:
            conditions.append("node IN (SELECT unnest($nodes::INTEGER[]))")
        else:
            del params["nodes"]
        score = f"array_inner_product(embedding, $vector::{self._vector_type})" if scored else "NULL::FLOAT"
        # The score comes before the filter, whose join would carry the vectors along too.
        parts = [f"SELECT edge, fact, property_set, {score} AS score FROM adjacency WHERE {c}" for c in conditions]
        return f"SELECT a.edge, a.score, a.fact FROM ({' UNION ALL '.join(parts)}) a WHERE {where}"

    def _describe(self, filter: AccessFilter, version: str) -> Description:
        where, params = self.visible(filter, "e")
        hidden = self.access_fields | filter.access_fields
        edges, documents, *own = self.file.rows(
            f"SELECT count(*), count(DISTINCT source_doc_id), {', '.join(f'count({f})' for f in EDGE_FIELDS)} "
            f"FROM edge e WHERE {where}",
            params,
        )[0]
        relations = self.file.rows(
            f"SELECT relation, count(*) FROM edge e WHERE {where} GROUP BY relation ORDER BY relation", params
        )
        half, half_params = self.visible(filter, "a")
        types = self.file.rows(
            f"""SELECT type, count(*) FROM entity WHERE ord IN (SELECT a.node FROM adjacency a WHERE {half})
                GROUP BY type ORDER BY type""",
            half_params,
        )
        properties = self.file.rows(
            f"""
            WITH used AS (SELECT e.property_set AS ord, count(*) AS n FROM edge e WHERE {where} GROUP BY 1)
            SELECT j.key, list_distinct(list(j.type)), CAST(sum(n) AS BIGINT)
            FROM used JOIN property_set p USING (ord), json_each(p.properties) j
            WHERE j.key NOT IN (SELECT unnest($hidden::VARCHAR[])) GROUP BY j.key ORDER BY j.key
            """,
            {"hidden": sorted({*hidden, *EDGE_FIELDS}), **params},
        )
        listed = [Property(name=name, kinds=_kinds(kinds), count=count) for name, kinds, count in properties]
        listed += [
            Property(name=name, kinds=("string",), count=count)
            for name, count in zip(EDGE_FIELDS, own, strict=True)
            if count and name not in hidden
        ]
        return Description(
            entities=sum(count for _, count in types),
            edges=edges,
            documents=documents,
            entity_types=dict(types),
            relations=dict(relations),
            properties=tuple(listed),
            embedder=self.file.meta("embedder"),
            dimension=self.file.dimension,
            data_version=version,
            bare=self._bare(filter) if self.file.dimension else 0,
        )

    def _bare(self, filter: AccessFilter) -> int:
        where, params = self.visible(filter, "a")
        count: int = self.file.rows(
            f"SELECT count(DISTINCT a.edge) FROM adjacency a WHERE a.embedding IS NULL AND {where}", params
        )[0][0]
        return count


_SHORTLIST = """
WITH half AS MATERIALIZED ({half}),
     best AS MATERIALIZED (SELECT half.fact, {rank} AS rank FROM half {join} GROUP BY half.fact),
     kept AS (SELECT fact FROM best ORDER BY rank DESC NULLS LAST, fact LIMIT $limit)
SELECT edge, score, (SELECT count(*) FROM best) FROM half SEMI JOIN kept USING (fact)
"""


def _rank(*, scored: bool, words: bool) -> str:
    if scored:
        return "round(max(half.score), 6)"
    if not words:
        return "0"
    text = "lower(concat_ws(' ', e.src_name, e.relation, e.key, e.dst_name, e.description))"
    return f"max(len(list_filter($words::VARCHAR[], lambda w: contains({text}, w))))"


def _fact_ids(ids: Iterable[str]) -> set[str]:
    """Those that can be a fact's id."""
    found = set()
    for id_ in ids:
        with suppress(ValueError):
            found.add(str(UUID(id_)))
    return found


def _kinds(json_types: Sequence[str]) -> tuple[str, ...]:
    names = {"UBIGINT": "number", "BIGINT": "number", "DOUBLE": "number", "VARCHAR": "string", "BOOLEAN": "boolean"}
    return tuple(sorted({names.get(kind, "list") for kind in json_types}))
