"""One DuckDB file: its schema, opening it safely, a cursor a call, one writer at a time."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgcore.errors import StoreError
from kgcore.store.values import check_dimension, check_embedder

T = TypeVar("T")
SCHEMA_VERSION = "1"
_VECTOR = "FLOAT[1]"

# `name` keeps each spelling of an entity with the vector of that spelling, so that a name which only hidden
# edges give is never searched. `property_set` keeps a document's metadata once: a filter reads it once a
# document instead of once an edge. `adjacency` holds each edge at both ends, sorted by the near end; a loop
# stands once, and `again` if it gives its one entity two names.
SCHEMA = {
    "meta": "key VARCHAR, value VARCHAR",
    "entity": "ord INTEGER, id VARCHAR, type VARCHAR",
    "name": f"ord INTEGER, node INTEGER, id VARCHAR, name VARCHAR, folded VARCHAR, words VARCHAR, embedding {_VECTOR}",
    "token": "token VARCHAR, name INTEGER",
    "property_set": "ord INTEGER, properties JSON",
    "edge": "ord INTEGER, id VARCHAR, fact UUID, source INTEGER, target INTEGER, relation VARCHAR, key VARCHAR, "
    "description VARCHAR, src_name VARCHAR, dst_name VARCHAR, source_doc_id VARCHAR, property_set INTEGER",
    "adjacency": "node INTEGER, far INTEGER, edge INTEGER, fact UUID, name INTEGER, property_set INTEGER, "
    f"again BOOLEAN, embedding {_VECTOR}",
    "chunk": f"id VARCHAR, document_id VARCHAR, content VARCHAR, metadata JSON, embedding {_VECTOR}",
}
VECTOR_TABLES = ("name", "adjacency", "chunk")


class DuckFile:
    """A connection to one file of our schema. Thread-safe: reads take a cursor each, writes a lock."""

    def __init__(self, path: str, *, create: bool) -> None:
        self.path = path
        self.dimension: int | None = None
        self.version = 0
        self._lock = threading.RLock()
        self._transaction: duckdb.DuckDBPyConnection | None = None
        if path != ":memory:" and not create and not os.path.isfile(path):
            raise StoreError(
                f"There is no graph file {path}.",
                remedy="Make one with `python -m kgcore import FOLDER --store duckdb:///FILE`, or correct the address.",
            )
        if create and path != ":memory:" and not (os.path.exists(path) and os.path.getsize(path)):
            _make(path)
        self._connection = _connect(path)
        try:
            self._check_or_create(create)
        except BaseException:
            self._connection.close()
            raise
        self._read_meta()

    def close(self) -> None:
        self._connection.close()

    def rows(self, sql: str, params: Mapping[str, object] | None = None) -> list[tuple[Any, ...]]:
        """All rows of a query. Raises StoreError."""
        try:
            with self._connection.cursor() as cursor:
                return cursor.execute(sql, dict(params or {})).fetchall()
        except duckdb.Error as error:
            raise read_error(self.path, error) from error

    def table(self, sql: str) -> pa.Table:
        """A whole result as an Arrow table. Raises StoreError."""
        try:
            with self._connection.cursor() as cursor:
                return cursor.sql(sql).to_arrow_table()
        except duckdb.Error as error:
            raise read_error(self.path, error) from error

    def columns(self, sql: str) -> dict[str, npt.NDArray[Any]]:
        """A whole result without nulls as arrays; fixed-size lists flattened. Raises StoreError."""
        table = self.table(sql)
        flat = [c.combine_chunks() for c in table.columns]
        # Through DLPack: pyarrow's own to_numpy would import pandas, a quarter of a second.
        return {
            name: np.from_dlpack(c.flatten() if pa.types.is_fixed_size_list(c.type) else c)
            for name, c in zip(table.column_names, flat, strict=True)
        }

    def check_vector(self, vector: npt.NDArray[Any]) -> None:
        """Raises StoreError for a vector of another dimension than the file's."""
        check_dimension(vector, self.dimension)

    @contextmanager
    def transaction(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """The one writing cursor, in a transaction that an inner call joins; rolled back on any error."""
        with self._lock:
            if self._transaction is not None:
                yield self._transaction
                return
            with self._connection.cursor() as cursor:
                cursor.execute("BEGIN")
                self._transaction = cursor
                try:
                    yield cursor
                    self._bump(cursor)
                    cursor.execute("COMMIT")
                except BaseException:
                    cursor.execute("ROLLBACK")
                    raise
                finally:
                    self._transaction = None
                    self._read_meta()

    def write(self, change: Callable[[duckdb.DuckDBPyConnection], T]) -> T:
        """Runs a change in a transaction, again if another connection's commit conflicted. Raises StoreError."""
        for attempt in range(3):
            try:
                with self.transaction() as cursor:
                    return change(cursor)
            except duckdb.TransactionException as error:
                if attempt == 2 or self._transaction is not None:
                    raise read_error(self.path, error) from error
            except duckdb.Error as error:
                raise read_error(self.path, error) from error
        raise AssertionError("unreachable")

    def checkpoint(self) -> None:
        """Writes what is committed into the file itself; not inside a transaction."""
        with self._lock, self._connection.cursor() as cursor:
            if self._transaction is None:
                cursor.execute("CHECKPOINT")

    def meta(self, key: str) -> str | None:
        """A value of the file's own record."""
        found = self.rows("SELECT value FROM meta WHERE key = $key", {"key": key})
        return str(found[0][0]) if found else None

    @staticmethod
    def set_meta(cursor: duckdb.DuckDBPyConnection, key: str, value: str) -> None:
        cursor.execute("DELETE FROM meta WHERE key = $key", {"key": key})
        cursor.execute("INSERT INTO meta VALUES ($key, $value)", {"key": key, "value": value})

    def use_embedder(self, cursor: duckdb.DuckDBPyConnection, embedder: str | None, dimension: int) -> None:
        """Makes the vector columns of a first write; later ones must be of the same model and dimension."""
        if self.dimension is None:
            for table in VECTOR_TABLES:
                cursor.execute(f"ALTER TABLE {table} ALTER embedding TYPE FLOAT[{dimension}] USING NULL")
            self.set_meta(cursor, "dimension", str(dimension))
            self.set_meta(cursor, "embedder", embedder or "")
            self.dimension = dimension
            return
        own = cursor.execute("SELECT value FROM meta WHERE key = 'embedder'").fetchall()[0][0]
        check_embedder(self.path, own, self.dimension, embedder, dimension)

    def _read_meta(self) -> None:
        """What readers need at every call; only this process can change it, so it is kept."""
        try:
            self.dimension = int(self.meta("dimension") or 0) or None
            self.version = int(self.meta("data_version") or 0)
            int(self.meta("last_ord") or "missing")
        except ValueError as error:
            raise StoreError(
                f"{self.path} holds a record of itself that cannot be right.", remedy="Import the graph again."
            ) from error

    def _bump(self, cursor: duckdb.DuckDBPyConnection) -> None:
        found = cursor.execute("SELECT value FROM meta WHERE key = 'data_version'").fetchall()
        self.set_meta(cursor, "data_version", str(int(found[0][0]) + 1))

    def _check_or_create(self, create: bool) -> None:
        # The transaction's own bookkeeping needs the schema, so the first statements run outside of it.
        with self._connection.cursor() as cursor:
            found = _objects(cursor)
            if not found and create:
                cursor.execute("BEGIN")
                for table, columns in SCHEMA.items():
                    cursor.execute(f"CREATE TABLE {table} ({columns})")
                self.set_meta(cursor, "schema", SCHEMA_VERSION)
                self.set_meta(cursor, "data_version", "0")
                self.set_meta(cursor, "last_ord", "0")
                cursor.execute("COMMIT")
                return
            if found != _expected():
                raise StoreError(
                    f"{self.path} is a DuckDB file, but not a Hopscope graph: it holds other tables, views or columns.",
                    remedy="Open a file that `python -m kgcore import` made; export foreign tables as triples first.",
                )
        version = self.meta("schema")
        if version != SCHEMA_VERSION:
            raise StoreError(
                f"{self.path} has schema version {version}, this program reads {SCHEMA_VERSION}.",
                remedy="Import the graph again, or use the version of the program that wrote it.",
            )


def _make(path: str) -> None:
    """A new file, under another name until it is whole: killed meanwhile, it leaves none that cannot be opened."""
    try:
        made = Path(path).with_name(f".{Path(path).name}.new")
        made.unlink(missing_ok=True)
        _connect(str(made), path).close()
        made.replace(path)
    except (OSError, ValueError) as error:
        raise _unopened(path) from error


def _connect(file: str, shown: str = "") -> duckdb.DuckDBPyConnection:
    path = shown or file
    try:
        return duckdb.connect(
            file,
            config={
                "enable_external_access": "false",
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "lock_configuration": "true",
            },
        )
    except duckdb.Error as error:
        text = str(error).replace(file, "")
        if "Could not set lock on file" in text:
            holder = re.search(r"lock is held in (.+?) \(PID (\d+)\)", text)
            who = f"{Path(holder[1]).name}, process {holder[2]}" if holder else "another process"
            raise StoreError(
                f"{path} is open in {who}; one process at a time can hold a DuckDB file.",
                remedy="Stop that process, or work on a copy of the file.",
            ) from error
        raise _unopened(path) from error
    except UnicodeDecodeError as error:
        raise _unopened(path) from error


def _unopened(path: str) -> StoreError:
    return StoreError(
        f"{path[:500]} cannot be opened as a DuckDB file.",
        remedy="Check that the path is right and the file whole; restore it from a backup or import it again.",
    )


def _objects(cursor: duckdb.DuckDBPyConnection) -> list[tuple[Any, ...]]:
    """Everything a file defines, comparable with our own schema whatever the vectors' dimension."""
    found = cursor.execute(
        """
        SELECT 'table', schema_name, table_name, regexp_replace(sql, 'FLOAT\\[\\d+\\]', 'FLOAT[1]', 'g')
        FROM duckdb_tables() WHERE NOT internal
        UNION ALL SELECT 'view', schema_name, view_name, '' FROM duckdb_views() WHERE NOT internal
        UNION ALL SELECT 'macro', schema_name, function_name, '' FROM duckdb_functions() WHERE NOT internal
        UNION ALL SELECT 'index', schema_name, index_name, '' FROM duckdb_indexes()
        UNION ALL SELECT 'sequence', schema_name, sequence_name, '' FROM duckdb_sequences()
        UNION ALL SELECT 'type', schema_name, type_name, '' FROM duckdb_types() WHERE NOT internal
        UNION ALL SELECT 'schema', schema_name, '', '' FROM duckdb_schemas()
        WHERE NOT internal AND schema_name <> 'main'
        ORDER BY ALL
        """
    )
    return found.fetchall()


_EXPECTED: list[tuple[Any, ...]] = []


def _expected() -> list[tuple[Any, ...]]:
    if not _EXPECTED:
        with duckdb.connect(":memory:") as connection:
            for table, columns in SCHEMA.items():
                connection.execute(f"CREATE TABLE {table} ({columns})")
            _EXPECTED.extend(_objects(connection))
    return _EXPECTED


def read_error(path: str, error: duckdb.Error) -> StoreError:
    """What a reader is told when DuckDB fails: never the query or its values."""
    if isinstance(error, duckdb.OutOfMemoryException):
        return StoreError(
            f"{path} needs more memory than there is.", remedy="Narrow the filter, or use a machine with more memory."
        )
    if isinstance(error, duckdb.ConnectionException):
        return StoreError(f"{path} was closed.", remedy="Open it again.")
    kind = type(error).__name__.removesuffix("Exception").removesuffix("Error")
    return StoreError(
        f"{path} could not be read or written ({kind}).",
        remedy="Check the disk; restore the file from a backup or import it again.",
    )
