"""Passages in the same DuckDB file."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb
import numpy as np
import pyarrow as pa

from kgcore.filters import DEFAULT_ACCESS_FIELDS, AccessFilter
from kgcore.filters.sql import compile_chunk_filter
from kgcore.names import is_unicode
from kgcore.store.duckdb_file import DuckFile
from kgcore.store.duckdb_rows import properties_of
from kgcore.store.duckdb_write import json_text, text_column, vector_column
from kgcore.store.protocol import ChunkPage
from kgcore.types import Chunk, Document, Vector


class DuckChunks:
    """`ChunkStore` over one file."""

    def __init__(self, file: DuckFile, access_fields: frozenset[str] = DEFAULT_ACCESS_FIELDS) -> None:
        self.file = file
        self.access_fields = access_fields

    def get_documents_by_id(self, ids: Sequence[str]) -> tuple[Document, ...]:
        rows = self.file.rows(
            "SELECT id, document_id, content, metadata FROM chunk WHERE id IN (SELECT unnest($ids::VARCHAR[]))",
            {"ids": [id_ for id_ in ids if is_unicode(id_)]},
        )
        found = {row[0]: self._document(row, self.access_fields) for row in rows}
        return tuple(found[i] for i in dict.fromkeys(ids) if i in found)

    def nearest(self, vector: Vector, filter: AccessFilter, k: int) -> tuple[Document, ...]:
        if self.file.dimension is None:
            return ()
        self.file.check_vector(vector)
        where, params = compile_chunk_filter(filter.node)
        rows = self.file.rows(
            f"""
            SELECT c.id, c.document_id, c.content, c.metadata,
                   round(array_inner_product(c.embedding, $vector::FLOAT[{self.file.dimension}]), 6) AS score
            FROM chunk c WHERE c.embedding IS NOT NULL AND {where or "true"} ORDER BY score DESC, c.id LIMIT $k
            """,
            {"vector": vector.tolist(), "k": k, **params},
        )
        hidden = self.access_fields | filter.access_fields
        return tuple(self._document(row, hidden, row[4]) for row in rows)

    def scan(self, filter: AccessFilter, after: str | None, limit: int = 5_000) -> ChunkPage:
        where, params = compile_chunk_filter(filter.node)
        rows = self.file.rows(
            f"""
            SELECT c.id, c.document_id, c.content, CAST(c.metadata AS VARCHAR), c.embedding FROM chunk c
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

    def upsert(self, chunks: Sequence[Chunk], *, embedder: str | None = None) -> None:
        unique = {chunk.id: chunk for chunk in chunks}
        listed = list(unique.values())
        vector = next((c.embedding for c in listed if c.embedding is not None), None)
        metadata = [json_text(c.metadata) for c in listed]

        def change(cursor: duckdb.DuckDBPyConnection) -> None:
            if vector is not None:
                self.file.use_embedder(cursor, embedder, len(vector))
            staged = pa.table(
                {
                    "id": text_column(list(unique)),
                    "document_id": text_column([c.document_id for c in listed]),
                    "content": text_column([c.content for c in listed]),
                    "metadata": text_column(metadata),
                    "embedding": vector_column([c.embedding for c in listed], self.file.dimension),
                }
            )
            cursor.register("staged_chunk", staged)
            cursor.execute("DELETE FROM chunk WHERE id IN (SELECT id FROM staged_chunk)")
            cursor.execute("INSERT INTO chunk SELECT * FROM staged_chunk")
            cursor.unregister("staged_chunk")

        self.file.write(change)

    def delete_documents(self, ids: Sequence[str]) -> None:
        self.file.write(
            lambda cursor: cursor.execute(
                "DELETE FROM chunk WHERE list_contains($ids::VARCHAR[], id) "
                "OR list_contains($ids::VARCHAR[], document_id)",
                {"ids": list(ids)},
            )
        )

    @staticmethod
    def _document(row: Sequence[object], access_fields: frozenset[str], score: float | None = None) -> Document:
        metadata = dict(properties_of(str(row[3]), access_fields))
        return Document(
            id=str(row[0]), content=str(row[2]), metadata={**metadata, "document_id": str(row[1])}, score=score
        )
