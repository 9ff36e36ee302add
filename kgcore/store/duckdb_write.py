"""Writing a DuckDB graph: staged as Arrow tables, joined into place by SQL, one transaction a call."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import attrgetter
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from kgcore.errors import StoreError
from kgcore.names import fact_id, fold, tokens
from kgcore.store.duckdb_file import DuckFile, read_error
from kgcore.store.values import checked, spellings, unit
from kgcore.types import Edge, Entity, PropertyValue, Vector


class DuckWriter:
    """`GraphWriter` over one file."""

    file: DuckFile
    part = None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        try:
            with self.file.transaction():
                yield
        except duckdb.Error as error:
            raise read_error(self.file.path, error) from error

    def upsert(self, entities: Sequence[Entity], edges: Sequence[Edge], *, embedder: str | None = None) -> None:
        known = {entity.id: entity for entity in entities}
        unique = {edge.id: edge for edge in edges}
        names = spellings(entities, list(unique.values()))
        given = [x.embedding for x in entities] + [x.embedding for x in edges]
        vector = next((v for v in given if v is not None), None)

        def change(cursor: duckdb.DuckDBPyConnection) -> None:
            if vector is not None:
                self.file.use_embedder(cursor, embedder, len(vector))
            size = self.file.dimension
            with staged(
                cursor,
                staged_entity=_entity_table(known),
                staged_name=_name_table(names, size),
                staged_edge=_edge_table(list(unique.values())),
                staged_vector=_vector_table([e.embedding for e in unique.values()], list(unique), size),
            ):
                missing = cursor.execute(_MISSING_ENDS).fetchall()
                if missing:
                    raise StoreError(
                        f"Edge {missing[0][0]} joins an entity that is not in the graph: {missing[0][1]}.",
                        remedy="Write the entities together with their edges.",
                    )
                for statement in _UPSERT.split(";\n"):
                    cursor.execute(statement)

        self.file.write(change)

    def delete_documents(self, ids: Sequence[str]) -> None:
        self._delete(f"source_doc_id IN ({_SOURCES})", ids)

    def delete_edges(self, ids: Sequence[str]) -> None:
        self._delete("id IN (SELECT unnest($ids::VARCHAR[]))", ids)

    def _delete(self, where: str, ids: Sequence[str]) -> None:
        def change(cursor: duckdb.DuckDBPyConnection) -> None:
            cursor.execute(
                f"CREATE OR REPLACE TEMP TABLE gone AS SELECT ord, source, target FROM edge WHERE {where}",
                {"ids": list(ids)},
            )
            cursor.execute("DELETE FROM adjacency WHERE edge IN (SELECT ord FROM gone)")
            cursor.execute("DELETE FROM edge WHERE ord IN (SELECT ord FROM gone)")
            cursor.execute(
                "DELETE FROM entity WHERE ord IN (SELECT source FROM gone UNION SELECT target FROM gone) "
                "AND ord NOT IN (SELECT node FROM adjacency)"
            )
            _prune(cursor, "SELECT source FROM gone UNION SELECT target FROM gone")
            cursor.execute("DROP TABLE gone")

        self.file.write(change)

    def set_access(self, document_ids: Sequence[str], metadata: Mapping[str, PropertyValue]) -> None:
        ids, patch = list(document_ids), json_text(metadata)

        def change(cursor: duckdb.DuckDBPyConnection) -> None:
            cursor.execute(
                "CREATE OR REPLACE TEMP TABLE changed AS SELECT e.ord, "
                "CAST(json_merge_patch(p.properties, $patch::JSON) AS VARCHAR) AS properties FROM edge e "
                "JOIN property_set p ON p.ord = e.property_set "
                f"WHERE e.source_doc_id IN ({_SOURCES})",
                {"ids": ids, "patch": patch},
            )
            for statement in _new_property_sets("changed").split(";\n"):
                cursor.execute(statement)
            for table, column in (("edge", "ord"), ("adjacency", "edge")):
                cursor.execute(
                    f"UPDATE {table} SET property_set = p.ord FROM changed c JOIN property_set p "
                    f"ON CAST(p.properties AS VARCHAR) = c.properties WHERE {table}.{column} = c.ord"
                )
            cursor.execute(
                "UPDATE chunk SET metadata = json_merge_patch(metadata, $patch::JSON) "
                "WHERE list_contains($ids::VARCHAR[], id) OR list_contains($ids::VARCHAR[], document_id)",
                {"ids": ids, "patch": patch},
            )
            _prune(cursor, "SELECT NULL")
            cursor.execute("DROP TABLE changed")

        self.file.write(change)

    def optimize(self) -> None:
        if self.file.meta("sorted") == str(self.file.version):
            return  # else also what was written before a process was killed

        def change(cursor: duckdb.DuckDBPyConnection) -> None:
            # An edge stands with the others of its busier end, so that a hub's are read together.
            cursor.execute(
                """CREATE OR REPLACE TEMP TABLE place AS
                WITH degree AS (SELECT node, count(*) AS n FROM adjacency GROUP BY node)
                SELECT e.ord, CASE WHEN s.n >= t.n THEN e.source ELSE e.target END AS hub FROM edge e
                JOIN degree s ON s.node = e.source JOIN degree t ON t.node = e.target"""
            )
            for table, order in _ORDER.items():
                columns = [row[0] for row in cursor.execute(f"DESCRIBE {table}").fetchall()]
                definition = ", ".join(
                    f"{name} {type_}" for name, type_, *_ in cursor.execute(f"DESCRIBE {table}").fetchall()
                )
                cursor.execute(f"CREATE TABLE sorted ({definition})")
                cursor.execute(f"INSERT INTO sorted SELECT {', '.join(columns)} FROM {table} ORDER BY {order}")
                cursor.execute(f"DROP TABLE {table}")
                cursor.execute(f"ALTER TABLE sorted RENAME TO {table}")
            cursor.execute("DROP TABLE place")
            self.file.set_meta(cursor, "sorted", str(self.file.version + 1))

        self.file.write(change)
        self.file.checkpoint()


def json_text(properties: Mapping[str, PropertyValue]) -> str:
    """Properties as JSON with sorted keys; None values are dropped. Raises StoreError for what cannot be kept."""
    return _JSON.encode(checked(properties)) if properties else "{}"


@contextmanager
def staged(cursor: duckdb.DuckDBPyConnection, **tables: pa.Table) -> Iterator[None]:
    """Gives statements these tables by their names, and frees them at the end."""
    given = {name: _Staged(table) for name, table in tables.items()}
    try:
        for name, holder in given.items():
            cursor.register(name, holder)
        yield
        for name in given:  # after an error the rollback does it
            cursor.unregister(name)
    finally:
        for holder in given.values():
            holder.table = None


class _Staged:
    """Lends a table: DuckDB keeps what is registered until the transaction ends."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


_JSON = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def text_column(values: Sequence[str | None]) -> pa.Array:
    """Texts as an Arrow column. Raises StoreError for half a character."""
    try:
        return pa.array(values, pa.string())
    except UnicodeEncodeError as error:
        raise StoreError(
            "A text holds half a character, which cannot be stored.", remedy="Repair the text's encoding at its source."
        ) from error


def vector_column(vectors: Sequence[Vector | None], size: int | None) -> pa.Array:
    """Unit vectors as one Arrow column of fixed-size lists; without a dimension a column of nulls."""
    dimension = size or 1
    data = np.zeros((len(vectors), dimension), np.float32)
    missing = np.ones(len(vectors), bool)
    for i, vector in enumerate(vectors):
        if vector is None:
            continue
        direction = unit(vector, dimension)
        if direction is not None:
            data[i] = direction
            missing[i] = False
    values = pa.array(data.ravel(), pa.float32())
    return pa.FixedSizeListArray.from_arrays(values, dimension, mask=pa.array(missing))


def _entity_table(entities: Mapping[str, Entity]) -> pa.Table:
    return pa.table(
        {
            "id": text_column(list(entities)),
            "type": text_column([e.type for e in entities.values()]),
            "position": pa.array(range(len(entities)), pa.int32()),
        }
    )


def _name_table(names: Mapping[tuple[str, str], Vector | None], size: int | None) -> pa.Table:
    folded = [fold(name) for _, name in names]
    words = [tokens(name) for _, name in names]
    return pa.table(
        {
            "id": text_column([id_ for id_, _ in names]),
            "name": text_column([name for _, name in names]),
            "folded": text_column(folded),
            "words": text_column([" ".join(own) or sign for own, sign in zip(words, folded, strict=True)]),
            "tokens": pa.array([sorted(set(own)) for own in words], pa.list_(pa.string())),
            "embedding": vector_column(list(names.values()), size),
            "position": pa.array(range(len(names)), pa.int32()),
        }
    )


def _edge_table(edges: Sequence[Edge]) -> pa.Table:
    facts = [fact_id(e.source_id, e.relation, e.key, e.target_id, e.dst_name) for e in edges]
    return pa.table(
        {
            **{name: text_column([*map(attrgetter(name), edges)]) for name in _EDGE_TEXTS},
            "fact": text_column(facts),
            "properties": text_column([json_text(e.properties) for e in edges]),
            "position": pa.array(range(len(edges)), pa.int32()),
        }
    )


def _vector_table(vectors: Sequence[Vector | None], ids: Sequence[str], size: int | None) -> pa.Table:
    return pa.table({"id": text_column(ids), "embedding": vector_column(vectors, size)})


def _prune(cursor: duckdb.DuckDBPyConnection, nodes: str) -> None:
    """Drops these entities' names that no edge gives any more, and property sets that no edge has."""
    cursor.execute(f"DELETE FROM name WHERE node IN ({nodes}) AND ord NOT IN (SELECT name FROM adjacency)")
    cursor.execute("DELETE FROM token WHERE name NOT IN (SELECT ord FROM name)")
    cursor.execute("DELETE FROM property_set WHERE ord NOT IN (SELECT property_set FROM edge)")


_EDGE_TEXTS = (
    "id",
    "source_id",
    "target_id",
    "relation",
    "key",
    "description",
    "src_name",
    "dst_name",
    "source_doc_id",
)

# A document named by its id stands for its passages too.
_SOURCES = "SELECT unnest($ids::VARCHAR[]) UNION SELECT id FROM chunk WHERE list_contains($ids::VARCHAR[], document_id)"

_ORDER = {
    "adjacency": "node, far, edge",
    "edge": "(SELECT hub FROM place WHERE place.ord = edge.ord), ord",
    "token": "token, name",
    "entity": "id",
}

_MISSING_ENDS = """
SELECT s.id, end_id FROM (SELECT id, unnest([source_id, target_id]) AS end_id FROM staged_edge) s
WHERE end_id NOT IN (SELECT id FROM entity) AND end_id NOT IN (SELECT id FROM staged_entity) ORDER BY 1, 2 LIMIT 1
"""

# A number never comes to mean another row, since a reader may have looked it up before a write. Rows that were just
# inserted have higher ones: a temporary table of them would stay in memory until the transaction ends.
_LAST = "(SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'last_ord')"


def _taken(table: str) -> str:
    """Remembers the numbers that rows just got."""
    return (
        f"UPDATE meta SET value = CAST((SELECT max(ord) FROM {table}) AS VARCHAR) "
        f"WHERE key = 'last_ord' AND (SELECT max(ord) FROM {table}) > CAST(value AS INTEGER)"
    )


def _new_property_sets(staged: str) -> str:
    return f"""
INSERT INTO property_set
SELECT {_LAST} + row_number() OVER (ORDER BY properties), properties
FROM (SELECT DISTINCT properties FROM {staged}
      WHERE properties NOT IN (SELECT CAST(properties AS VARCHAR) FROM property_set));
{_taken("property_set")}"""


_UPSERT = f"""
UPDATE entity SET type = s.type FROM staged_entity s WHERE entity.id = s.id AND entity.type <> s.type;
INSERT INTO entity
SELECT {_LAST} + row_number() OVER (ORDER BY position), id, type
FROM staged_entity WHERE id NOT IN (SELECT id FROM entity);
{_taken("entity")};
UPDATE name SET embedding = s.embedding FROM staged_name s
WHERE name.id = s.id AND name.name = s.name AND s.embedding IS NOT NULL;
INSERT INTO name
SELECT {_LAST} + row_number() OVER (ORDER BY s.position), e.ord, s.id, s.name, s.folded, s.words, s.embedding
FROM staged_name s JOIN entity e ON e.id = s.id
WHERE NOT EXISTS (SELECT 1 FROM name n WHERE n.id = s.id AND n.name = s.name);
INSERT INTO token
SELECT unnest(s.tokens), n.ord FROM name n JOIN staged_name s ON s.id = n.id AND s.name = n.name WHERE n.ord > {_LAST};
{_taken("name")};
{_new_property_sets("staged_edge")};
CREATE OR REPLACE TEMP TABLE replaced AS SELECT ord FROM edge WHERE id IN (SELECT id FROM staged_edge);
DELETE FROM adjacency WHERE edge IN (SELECT ord FROM replaced);
DELETE FROM edge WHERE ord IN (SELECT ord FROM replaced);
INSERT INTO edge
SELECT {_LAST} + row_number() OVER (ORDER BY x.position),
       x.id, CAST(x.fact AS UUID), s.ord, t.ord, x.relation, x.key, x.description,
       x.src_name, x.dst_name, x.source_doc_id, p.ord
FROM staged_edge x JOIN entity s ON s.id = x.source_id JOIN entity t ON t.id = x.target_id
JOIN property_set p ON CAST(p.properties AS VARCHAR) = x.properties;
INSERT INTO adjacency
WITH fresh AS (SELECT * FROM edge WHERE ord > {_LAST})
SELECT h.node, h.far, h.ord, h.fact, n.ord, h.property_set, h.again, v.embedding FROM (
    SELECT *, source AS node, target AS far, src_name AS name, false AS again FROM fresh
    UNION ALL SELECT *, target, source, dst_name, target = source FROM fresh
    WHERE target <> source OR dst_name <> src_name
) h JOIN name n ON n.node = h.node AND n.name = h.name JOIN staged_vector v ON v.id = h.id;
{_taken("edge")};
DROP TABLE replaced"""
