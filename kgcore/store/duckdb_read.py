"""Reading a DuckDB graph for retrieval: what there is, and one hop. Everything under an access filter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kgcore.filters import AccessFilter
from kgcore.filters.grammar import EDGE_FIELDS
from kgcore.store.duckdb_file import DuckFile
from kgcore.store.duckdb_names import DuckNames
from kgcore.store.duckdb_rows import EDGE_COLUMNS
from kgcore.types import Description, Edge, End, Expansion, Property, Vector, VisibleEdge

SMALL = 4_000
"""Half-edges that are cheaper to fetch than to rank in the database."""


class DuckReader(DuckNames):
    """`GraphReader` over one file."""

    def __init__(self, file: DuckFile) -> None:
        super().__init__(file)
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
            {"ids": list(ids), **params},
        )
        found = {edge.id: edge for edge in self.edges_of(rows, filter)}
        return tuple(found[i] for i in dict.fromkeys(ids) if i in found)

    def ends(self, nodes: Iterable[int], filter: AccessFilter) -> dict[int, End]:
        """Visible entities by number: the name that most visible edges give (then the first), type, degree."""
        where, params = self.visible(filter, "a")
        rows = self.file.rows(
            f"SELECT a.node, a.name, count(*) FROM adjacency a "
            f"WHERE a.node IN (SELECT unnest($nodes::INTEGER[])) AND {where} GROUP BY a.node, a.name",
            {"nodes": list(nodes), **params},
        )
        entities = self.entity_rows(row[0] for row in rows)
        names = self.name_rows(row[1] for row in rows)
        given: dict[int, list[tuple[int, str]]] = {}
        for node, name, count in rows:
            given.setdefault(node, []).append((-count, names[name]))
        return {
            node: End(
                id=entities[node][0], name=min(listed)[1], type=entities[node][1], degree=-sum(n for n, _ in listed)
            )
            for node, listed in given.items()
        }

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
        params["nodes"] = nodes
        if exclude:
            where += " AND NOT list_contains($exclude::UUID[], a.fact)"
            params["exclude"] = sorted(exclude)
        if relations:
            where += (
                " AND a.edge IN (SELECT ord FROM edge WHERE list_contains($relations::VARCHAR[], relation)"
                " OR list_contains($relations::VARCHAR[], key))"
            )
            params["relations"] = sorted(relations)
        if scored:
            assert query_vector is not None
            params["vector"] = query_vector.tolist()
        half = (_HALF_SCORED.format(type=self._vector_type) if scored else _HALF) + where
        halves = self.file.rows(f"{half} LIMIT {SMALL + 1}", params)
        found = len({row[1] for row in halves})
        if len(halves) > SMALL or found > limit:
            join = "JOIN edge e ON e.ord = half.edge" if words and not scored else ""
            shortlist = _SHORTLIST.format(half=half, rank=_rank(scored=scored, words=bool(words)), join=join)
            if words and not scored:
                params["words"] = sorted(set(words))
            halves = self.file.rows(shortlist, params | {"limit": limit})
            found = halves[0][3]
        scores = {row[0]: row[2] for row in halves}
        rows = self.file.rows(
            f"SELECT {EDGE_COLUMNS} FROM edge e WHERE e.ord IN (SELECT unnest($ords::INTEGER[])) ORDER BY e.fact, e.id",
            {"ords": list(scores)},
        )
        edges = self.edges_of(rows, filter)
        ends = self.ends({node for row in rows for node in row[2:4]}, filter)
        return Expansion(
            edges=tuple(
                VisibleEdge(edge=edge, fact_id=str(row[11]), score=scores[row[0]])
                for edge, row in zip(edges, rows, strict=True)
            ),
            ends={end.id: end for end in ends.values()},
            found=found,
        )

    def _describe(self, filter: AccessFilter, version: str) -> Description:
        where, params = self.visible(filter, "e")
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
            WITH used AS (SELECT e.property_set AS ord, count(*) AS n FROM edge e WHERE {where} GROUP BY 1),
                 field AS (SELECT n, p.properties, unnest(json_keys(p.properties)) AS name
                           FROM used JOIN property_set p USING (ord))
            SELECT name, list_distinct(list(json_type(properties, '$."' || name || '"'))), CAST(sum(n) AS BIGINT)
            FROM field WHERE name NOT IN (SELECT unnest($hidden::VARCHAR[])) GROUP BY name ORDER BY name
            """,
            {"hidden": sorted(filter.access_fields), **params},
        )
        listed = [Property(name=name, kinds=_kinds(kinds), count=count) for name, kinds, count in properties]
        listed += [
            Property(name=name, kinds=("string",), count=count)
            for name, count in zip(EDGE_FIELDS, own, strict=True)
            if count and name not in filter.access_fields
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
        )


# The inner product comes before the filter: a join that carries the vectors along costs twice as much.
_HALF_SCORED = (
    "SELECT a.edge, a.fact, a.score FROM (SELECT edge, fact, property_set, "
    "array_inner_product(embedding, $vector::{type}) AS score FROM adjacency WHERE node IN (SELECT unnest($nodes::INTEGER[]))) a WHERE "
)
_HALF = (
    "SELECT a.edge, a.fact, NULL::FLOAT AS score FROM adjacency a "
    "WHERE a.node IN (SELECT unnest($nodes::INTEGER[])) AND "
)
_SHORTLIST = """
WITH half AS MATERIALIZED ({half}),
     best AS MATERIALIZED (SELECT half.fact, {rank} AS rank FROM half {join} GROUP BY half.fact),
     kept AS (SELECT fact FROM best ORDER BY rank DESC NULLS LAST, fact LIMIT $limit)
SELECT edge, fact, score, (SELECT count(*) FROM best) FROM half SEMI JOIN kept USING (fact)
"""


def _rank(*, scored: bool, words: bool) -> str:
    if scored:
        return "round(max(half.score), 6)"
    if not words:
        return "0"
    text = "lower(concat_ws(' ', e.src_name, e.relation, e.key, e.dst_name, e.description))"
    return f"max(len(list_filter($words::VARCHAR[], lambda w: contains({text}, w))))"


def _kinds(json_types: Sequence[str]) -> tuple[str, ...]:
    names = {"UBIGINT": "number", "BIGINT": "number", "DOUBLE": "number", "VARCHAR": "string", "BOOLEAN": "boolean"}
    return tuple(sorted({names.get(kind, "list") for kind in json_types}))
