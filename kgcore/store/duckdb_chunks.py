"""Passages in the same DuckDB file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgcore.filters import DEFAULT_ACCESS_FIELDS, AccessFilter
from kgcore.filters.sql import compile_chunk_filter
from kgcore.names import is_unicode
from kgcore.store.duckdb_file import DuckFile
from kgcore.store.duckdb_rows import keep_rows, properties_of
from kgcore.store.duckdb_write import json_text, staged, text_column, vector_column
from kgcore.store.protocol import ChunkPage, ChunkState
from kgcore.store.values import closest, cosines, grouped
from kgcore.types import Chunk, Document, Vector

MAX_FILTERS = 16


@dataclass(frozen=True, kw_only=True, eq=False)
class _Vectors:
    """The chunks of one version that have a vector, and which of them pass a filter."""

    version: int
    ids: Sequence[str]
    rows: Mapping[str, int]
    matrix: npt.NDArray[np.float32]
    passing: dict[str, npt.NDArray[np.bool_]] = field(default_factory=dict)


class DuckChunks:
    """`ChunkStore` over one file."""

    def __init__(self, file: DuckFile, access_fields: frozenset[str] = DEFAULT_ACCESS_FIELDS) -> None:
        self.file = file
        self.access_fields = access_fields
        self._read: _Vectors | None = None

    def state(self) -> ChunkState:
        return ChunkState(
            embedder=self.file.meta("embedder"), dimension=self.file.dimension, version=str(self.file.version)
        )

    def get_documents_by_id(self, ids: Sequence[str]) -> tuple[Document, ...]:
        found = self._documents(ids, self.access_fields)
        return tuple(found[i] for i in dict.fromkeys(ids) if i in found)

    def nearest(self, vector: Vector, filter: AccessFilter, k: int) -> tuple[Document, ...]:
        scores = self.similar(vector, filter, k)
        found = self._documents(list(scores), self.access_fields | filter.access_fields)
        return tuple(replace(found[id_], score=score) for id_, score in scores.items() if id_ in found)

    def similar(self, vector: Vector, filter: AccessFilter, k: int, ids: Sequence[str] = ()) -> dict[str, float]:
        if self.file.dimension is None:
            return {}
        self.file.check_vector(vector)
        held = self._vectors()
        found = self._closest(held, vector, filter, k) if k > 0 else {}
        asked = [id_ for id_ in dict.fromkeys(ids) if id_ in held.rows and id_ not in found]
        return found | dict(zip(asked, cosines(held.matrix[[held.rows[id_] for id_ in asked]], vector), strict=True))

    def _closest(self, held: _Vectors, vector: Vector, filter: AccessFilter, k: int) -> dict[str, float]:
        """Fetches on until k chunks that pass are found or none is left."""
        passing = self._passing(held, filter)
        size = max(32, 2 * k)
        while True:
            near, scores, limit = closest(held.matrix, vector, size)
            ordered = sorted((-score, held.ids[row]) for row, score in zip(near, scores, strict=True) if passing[row])
            best = [(id_, -score) for score, id_ in ordered[:k]]
            if size >= len(held.ids) or (len(best) == k and best[-1][1] > limit):
                return dict(best)
            size *= 8

    def _passing(self, held: _Vectors, filter: AccessFilter) -> npt.NDArray[np.bool_]:
        """Which chunks pass a filter by their own metadata: asked once a version, since reading JSON is slow."""
        mask = held.passing.get(filter.key)
        if mask is None:
            where, params = compile_chunk_filter(filter.node)
            mask = np.full(len(held.ids), not where)
            for (id_,) in self.file.rows(f"SELECT c.id FROM chunk c WHERE {where}", params) if where else ():
                if id_ in held.rows:
                    mask[held.rows[id_]] = True
            keep_rows(held.passing, {filter.key: mask}, MAX_FILTERS)
        return mask

    def _vectors(self) -> _Vectors:
        """The vectors of all chunks that have one, read once a version (1.5 kB a chunk)."""
        version = self.file.version
        held = self._read
        if held is None or held.version != version:
            ids = [row[0] for row in self.file.rows("SELECT id FROM chunk WHERE embedding IS NOT NULL ORDER BY id")]
            columns = self.file.columns("SELECT embedding FROM chunk WHERE embedding IS NOT NULL ORDER BY id")
            matrix = columns["embedding"].reshape(-1, self.file.dimension or 1)
            held = _Vectors(version=version, ids=ids, rows={id_: i for i, id_ in enumerate(ids)}, matrix=matrix)
            self._read = held
        return held

    def _documents(self, ids: Sequence[str], hidden: frozenset[str]) -> dict[str, Document]:
        rows = self.file.rows(
            "SELECT id, document_id, content, metadata FROM chunk WHERE id IN (SELECT unnest($ids::VARCHAR[]))",
            {"ids": [id_ for id_ in ids if is_unicode(id_)]},
        )
        return {
            id_: Document(
                id=id_, content=content, metadata={**properties_of(str(metadata), hidden), "document_id": document}
            )
            for id_, document, content, metadata in rows
        }

    def scan(self, filter: AccessFilter, after: str | None, limit: int = 5_000, *, vectors: bool = True) -> ChunkPage:
        where, params = compile_chunk_filter(filter.node)
        rows = self.file.rows(
            f"""
            SELECT c.id, c.document_id, c.content, CAST(c.metadata AS VARCHAR), {"c.embedding" if vectors else "NULL"}
            FROM chunk c
            WHERE ($after IS NULL OR c.id > $after) AND {where or "true"} ORDER BY c.id LIMIT $limit
            """,
            {"after": after, "limit": limit, **params},
        )
        hidden = self.access_fields | filter.access_fields
        chunks = [
            Chunk(
                id=id_,
                document_id=document,
                content=content,
                metadata=properties_of(metadata, hidden),
                embedding=None if vector is None else np.asarray(vector, np.float32),
            )
            for id_, document, content, metadata, vector in rows
        ]
        return ChunkPage(chunks=tuple(chunks), after=chunks[-1].id if len(chunks) == limit else None)

    def ids_of(self, document_ids: Sequence[str], filter: AccessFilter) -> Mapping[str, tuple[str, ...]]:
        where, params = compile_chunk_filter(filter.node)
        rows = self.file.rows(
            "SELECT c.document_id, c.id FROM chunk c WHERE c.document_id IN (SELECT unnest($ids::VARCHAR[])) "
            f"AND {where or 'true'} ORDER BY 1, 2",
            {"ids": [id_ for id_ in document_ids if is_unicode(id_)], **params},
        )
        return grouped(rows)

    def upsert(self, chunks: Sequence[Chunk], *, embedder: str | None = None) -> None:
        unique = {chunk.id: chunk for chunk in chunks}
        listed = list(unique.values())
        vector = next((c.embedding for c in listed if c.embedding is not None), None)
        metadata = [json_text(c.metadata) for c in listed]

        def change(cursor: duckdb.DuckDBPyConnection) -> None:
            if vector is not None:
                self.file.use_embedder(cursor, embedder, len(vector))
            table = pa.table(
                {
                    "id": text_column(list(unique)),
                    "document_id": text_column([c.document_id for c in listed]),
                    "content": text_column([c.content for c in listed]),
                    "metadata": text_column(metadata),
                    "embedding": vector_column([c.embedding for c in listed], self.file.dimension),
                }
            )
            with staged(cursor, staged_chunk=table):
                cursor.execute("DELETE FROM chunk WHERE id IN (SELECT id FROM staged_chunk)")
                cursor.execute("INSERT INTO chunk SELECT * FROM staged_chunk")

        self.file.write(change)

    def delete_documents(self, ids: Sequence[str]) -> None:
        self.file.write(
            lambda cursor: cursor.execute(
                "DELETE FROM chunk WHERE list_contains($ids::VARCHAR[], id) "
                "OR list_contains($ids::VARCHAR[], document_id)",
                {"ids": list(ids)},
            )
        )
