"""Passages in the same Neo4j database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import neo4j
import numpy as np

from kgcore.errors import StoreError
from kgcore.filters import AccessFilter
from kgcore.filters.cypher import CypherFilter, quoted
from kgcore.names import is_unicode
from kgcore.store.neo4j_names import EXACT
from kgcore.store.neo4j_server import run
from kgcore.store.neo4j_values import STORED, from_foreign, from_store, to_store
from kgcore.store.neo4j_write import BATCH, NeoWriter, check_text, numbers
from kgcore.store.protocol import ChunkPage, ChunkState
from kgcore.store.values import check_dimension, grouped
from kgcore.types import Chunk, Document, Vector


class NeoChunks:
    """`ChunkStore` over one database: the passages beside the graph of `store`."""

    def __init__(self, store: NeoWriter) -> None:
        self.store, self.server, self.layout = store, store.server, store.layout
        mapping = self.layout.mapping
        self.label = f":{quoted(mapping.chunk_label)}" if mapping.chunk_label else ""
        self.id = self.layout.chunk_id("c")
        self.text = f"coalesce(toStringOrNull(c.{quoted(mapping.chunk_text)}), '')" if mapping.chunk_text else "''"
        document = mapping.chunk_document
        self.document = f"toStringOrNull(c.{quoted(document)})" if document else self.id
        self.vector = f"c.{quoted(mapping.chunk_vector)}" if mapping.chunk_vector else ""
        held = f"c {{.*, {quoted(mapping.chunk_vector)}: null}}" if self.vector else "properties(c)"
        self._score = f"round(2 * vector.similarity.cosine({self.vector}, $vector) - 1, 6)"
        self._held_id = f"c.{quoted(mapping.chunk_id)}" if mapping.chunk_id else self.id  # as an index has it
        parts = {"id": self.id, "document": self.document, "text": self.text, "held": held}
        self.row = ", ".join(f"{part} AS {name}" for name, part in parts.items())
        self.listed = ", ".join(parts.values())

    def state(self) -> ChunkState:
        now = self.store.state
        return ChunkState(embedder=now.embedder, dimension=now.dimension, version=now.version)

    def get_documents_by_id(self, ids: Sequence[str]) -> tuple[Document, ...]:
        wanted = [id_ for id_ in dict.fromkeys(ids) if is_unicode(id_)]
        if not wanted or not self.label:
            return ()
        rows = self.server.rows(
            f"MATCH (c{self.label}) WHERE {self._held_id} IN $ids RETURN {self.row}", {"ids": wanted}
        )
        found = {row[0]: self._document(row, self.store.access_fields) for row in rows if row[0] is not None}
        return tuple(found[i] for i in wanted if i in found)

    def nearest(self, vector: Vector, filter: AccessFilter, k: int) -> tuple[Document, ...]:
        state = self.store.state
        if state.dimension is None or not self.label or not self.vector:
            return ()
        check_dimension(vector, state.dimension)
        hidden = self.store.access_fields | filter.access_fields
        size = max(32, 4 * k)
        while True:
            rows, exhausted = self._near(vector, filter, size)
            rows = [row for row in rows if row[0] is not None]
            rows.sort(key=lambda row: (-row[4], row[0]))
            limit = min((row[4] for row in rows), default=0.0) + 1e-5
            if exhausted or (len(rows) >= k and rows[k - 1][4] > limit):
                return tuple(self._document(row, hidden, row[4]) for row in rows[:k])
            size *= 8

    def similar(self, vector: Vector, filter: AccessFilter, k: int, ids: Sequence[str] = ()) -> dict[str, float]:
        found = {document.id: document.score or 0.0 for document in self.nearest(vector, filter, k)} if k > 0 else {}
        asked = [id_ for id_ in dict.fromkeys(ids) if is_unicode(id_) and id_ not in found]
        if not asked or self._dimension is None or not self.label or not self.vector:
            return found
        check_dimension(vector, self._dimension)
        rows = self.server.rows(
            f"MATCH (c{self.label}) WHERE {self._held_id} IN $ids AND size({self.vector}) = $dimension "
            f"RETURN {self.id}, {self._score}",
            {"ids": asked, "vector": vector.tolist(), "dimension": self._dimension},
        )
        scores = {row[0]: row[1] for row in rows}
        return found | {id_: scores[id_] for id_ in asked if id_ in scores}

    def scan(self, filter: AccessFilter, after: str | None, limit: int = 5_000, *, vectors: bool = True) -> ChunkPage:
        if not self.label:
            return ChunkPage(chunks=(), after=None)
        where, params = self._visible(filter)
        vector = self.vector if self.vector and vectors else "null"
        rows = self.server.rows(
            f"MATCH (c{self.label}) WHERE {where} WITH c, {self.id} AS id WHERE $after IS NULL OR id > $after "
            f"WITH c ORDER BY id LIMIT $limit RETURN {self.row}, {vector} AS vector",
            {**params, "after": after, "limit": limit},
        )
        hidden = self.store.access_fields | filter.access_fields
        chunks = tuple(
            Chunk(
                id=row[0],
                content=row[2],
                document_id=row[1],
                metadata=self._metadata(row[3], hidden),
                embedding=np.asarray(row[4], np.float32) if row[4] and len(row[4]) == self._dimension else None,
            )
            for row in rows
            if row[0] is not None
        )
        return ChunkPage(chunks=chunks, after=chunks[-1].id if chunks and len(rows) == limit else None)

    def ids_of(self, document_ids: Sequence[str], filter: AccessFilter) -> Mapping[str, tuple[str, ...]]:
        if not self.label:
            return {}
        where, params = self._visible(filter)
        document = "c.document_id" if self.layout.own else self.document  # ours has an index
        rows = self.server.rows(
            f"MATCH (c{self.label}) WHERE {document} IN $documents AND {where} "
            f"RETURN {document} AS document, {self.id} AS id ORDER BY document, id",
            {"documents": [id_ for id_ in document_ids if is_unicode(id_)], **params},
        )
        return grouped(rows)

    def upsert(self, chunks: Sequence[Chunk], *, embedder: str | None = None) -> None:
        unique = {chunk.id: chunk for chunk in chunks}
        for text in (part for c in unique.values() for part in (c.id, c.content, c.document_id)):
            check_text(text)
        rows: list[dict[str, Any]] = [
            {
                "id": c.id,
                "properties": {**to_store(c.metadata), "id": c.id, "content": c.content, "document_id": c.document_id},
            }
            for c in unique.values()
        ]

        def change(transaction: neo4j.Transaction) -> None:
            size = self.store.use_vectors(transaction, [c.embedding for c in unique.values()], embedder)
            for row, chunk in zip(rows, unique.values(), strict=True):
                row["properties"]["embedding"] = numbers(chunk.embedding, size)
            for start in range(0, len(rows), BATCH):
                run(
                    transaction,
                    "UNWIND $rows AS row MERGE (c:Chunk {id: row.id}) SET c = row.properties",
                    {"rows": rows[start : start + BATCH]},
                )

        self.store.change(change)

    def delete_documents(self, ids: Sequence[str]) -> None:
        def change(transaction: neo4j.Transaction) -> None:
            run(
                transaction,
                "MATCH (c:Chunk) WHERE c.id IN $ids OR c.document_id IN $ids DETACH DELETE c",
                {"ids": list(ids)},
            )

        self.store.change(change)

    @property
    def _dimension(self) -> int | None:
        return self.store.state.dimension

    def _near(self, vector: Vector, filter: AccessFilter, size: int) -> tuple[list[list[Any]], bool]:
        """Rows of the passages nearest to a vector that pass the filter, each with its cosine; whether it is all."""
        state, mapping = self.store.state, self.layout.mapping
        where, params = self._visible(filter)
        index = state.vector_index(mapping.chunk_label, mapping.chunk_vector)
        bound = {**params, "vector": vector.tolist(), "dimension": state.dimension, "size": size}
        count = self.server.rows(f"MATCH (c{self.label}) RETURN count(c)")[0][0]
        if index is None or count <= EXACT or size >= count:
            rows = self.server.rows(
                f"MATCH (c{self.label}) WHERE size({self.vector}) = $dimension AND {where} "
                f"RETURN {self.row}, {self._score} AS score",
                bound,
            )
            return rows, True
        if self.store.searches:
            found = (
                f"CYPHER 25 MATCH (c{self.label}) SEARCH c IN "
                f"(VECTOR INDEX {quoted(index.name)} FOR $vector LIMIT $size) "
            )
        else:
            bound["index"] = index.name
            found = "CALL db.index.vector.queryNodes($index, $size, $vector) YIELD node AS c "
        query = (
            f"{found} WITH collect(c) AS hits CALL (hits) {{ UNWIND hits AS c WITH c WHERE {where} "
            f"RETURN collect([{self.listed}, {self._score}]) AS kept }} RETURN size(hits), kept"
        )
        try:
            fetched, kept = self.server.rows(query, bound)[0]
        except StoreError:
            # Dropped, or being built, since it was looked for.
            if not self.store.has_changed(index):
                raise
            return self._near(vector, filter, size)
        return list(kept), fetched < size

    def _visible(self, filter: AccessFilter) -> tuple[str, dict[str, object]]:
        own = self.layout.own
        compiler = CypherFilter("c", {"source_doc_id": self.id}, STORED if own else {}, foreign=not own)
        return compiler.compile(filter.node), compiler.params

    def _metadata(self, held: dict[str, Any], hidden: frozenset[str]) -> dict[str, Any]:
        if self.layout.own:
            return from_store(held, hidden)
        mapping = self.layout.mapping
        return from_foreign(held, hidden | {mapping.chunk_id, mapping.chunk_text, mapping.chunk_document})

    def _document(self, row: Sequence[Any], hidden: frozenset[str], score: float | None = None) -> Document:
        metadata = self._metadata(row[3], hidden)
        return Document(id=row[0], content=row[2], metadata={**metadata, "document_id": row[1]}, score=score)
