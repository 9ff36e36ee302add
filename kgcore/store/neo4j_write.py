"""Writing a Neo4j graph in our own layout: batches of bound rows, one transaction a call, indexes made once.

Beside `(:Entity {id, name, type})-[:RELATION]->(:Entity)` each spelling of a name is an `EntityName` of its own, with
its words and its vector; the entity's node is the first. So a name that only hidden edges give is never searched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import neo4j

from kgcore.errors import StoreError
from kgcore.names import fact_id, is_unicode, words_of
from kgcore.store.neo4j_browse import NeoBrowser
from kgcore.store.neo4j_names import MAX_MENTION
from kgcore.store.neo4j_rows import META
from kgcore.store.neo4j_server import run
from kgcore.store.neo4j_values import to_store
from kgcore.store.values import check_embedder, spellings, unit
from kgcore.types import Edge, Entity, PropertyValue, Vector

BATCH = 2_000
"""Rows of one UNWIND."""
PART = 20_000
"""Records of one transaction of a large write: what a server holds in memory until it commits."""
WAIT = 500
"""Seconds that a load waits for its indexes; the server goes on building them afterwards."""
_LABELS = ("Entity", "EntityName", "Chunk", "Hopscope")
"""Labels of the layout, which no type of an entity may add to a node."""

SCHEMA = {
    "entity_id": "CREATE CONSTRAINT entity_id IF NOT EXISTS FOR (n:Entity) REQUIRE n.id IS UNIQUE",
    "chunk_id": "CREATE CONSTRAINT chunk_id IF NOT EXISTS FOR (n:Chunk) REQUIRE n.id IS UNIQUE",
    "hopscope_id": "CREATE CONSTRAINT hopscope_id IF NOT EXISTS FOR (n:Hopscope) REQUIRE n.id IS UNIQUE",
    "entity_name_id": "CREATE INDEX entity_name_id IF NOT EXISTS FOR (n:EntityName) ON (n.id)",
    "entity_mention": "CREATE INDEX entity_mention IF NOT EXISTS FOR (n:EntityName) ON (n.mention)",
    "chunk_document": "CREATE INDEX chunk_document IF NOT EXISTS FOR (n:Chunk) ON (n.document_id)",
    "entity_name": "CREATE FULLTEXT INDEX entity_name IF NOT EXISTS FOR (n:EntityName) ON EACH [n.words] "
    "OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}}",
}
VECTORS = {"entity_embedding": "EntityName", "chunk_embedding": "Chunk"}
_VECTOR_INDEX = (
    "CREATE VECTOR INDEX {name} IF NOT EXISTS FOR (n:{label}) ON (n.embedding) "
    "OPTIONS {{indexConfig: {{`vector.dimensions`: {dimension}, `vector.similarity_function`: 'cosine'}}}}"
)


class NeoWriter(NeoBrowser):
    """`GraphWriter` over one database."""

    part: int | None = PART
    _ready = False

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self.writing():
            yield

    @contextmanager
    def writing(self) -> Iterator[neo4j.Transaction]:
        """A transaction of ours, alone in the whole database; the schema is made before it."""
        if not self.layout.own:
            raise StoreError(
                f"{self.server.address.shown} holds a graph that others built: it is only read.",
                remedy="Write into an empty database or a file; `python -m kgcore copy` takes the graph along.",
            )
        if self.server.in_transaction:
            with self.server.transaction() as transaction:
                yield transaction
            return
        self._make_schema()
        try:
            with self.server.transaction() as transaction:
                # Held until the commit: another process that writes waits here.
                run(
                    transaction,
                    f"MERGE (m:{META} {{id: 0}}) SET m.data_version = coalesce(m.data_version, 0) + 1",
                )
                yield transaction
        finally:
            self.forget()

    def upsert(self, entities: Sequence[Entity], edges: Sequence[Edge], *, embedder: str | None = None) -> None:
        known = {entity.id: entity for entity in entities}
        unique = {edge.id: edge for edge in edges}
        rows = [_edge_row(edge) for edge in unique.values()]
        names = spellings(entities, list(unique.values()))
        for text in (*known, *(e.type for e in known.values()), *(name for _, name in names)):
            check_text(text)
        given = [x.embedding for x in entities] + [x.embedding for x in edges]

        def change(transaction: neo4j.Transaction) -> None:
            size = self.use_vectors(transaction, given, embedder)
            for row, edge in zip(rows, unique.values(), strict=True):
                row["properties"]["embedding"] = numbers(edge.embedding, size)
            _check_ends(transaction, known, list(unique.values()))
            held = [_name_row(id_, name, numbers(vector, size)) for (id_, name), vector in names.items()]
            _in_batches(transaction, _ENTITIES, [_entity_row(entity) for entity in known.values()])
            _in_batches(transaction, _NAMES, held)
            run(transaction, "MATCH ()-[r]->() WHERE r.id IN $ids DELETE r", {"ids": list(unique)})
            _in_batches(transaction, _EDGES, rows)

        self.change(change)

    def delete_documents(self, ids: Sequence[str]) -> None:
        self._delete(f"r.source_doc_id IN {_SOURCES}", ids)

    def delete_edges(self, ids: Sequence[str]) -> None:
        self._delete("r.id IN $ids", ids)

    def _delete(self, where: str, ids: Sequence[str]) -> None:
        def change(transaction: neo4j.Transaction) -> None:
            ends = run(
                transaction,
                f"MATCH (a)-[r]->(b) WHERE {where} DELETE r "
                "WITH a, b UNWIND [a.id, b.id] AS id RETURN collect(DISTINCT id)",
                {"ids": list(ids)},
            )[0][0]
            gone = run(
                transaction,
                "MATCH (n:Entity) WHERE n.id IN $ends AND NOT EXISTS { (n)--() } WITH n, n.id AS id DELETE n RETURN id",
                {"ends": ends},
            )
            run(transaction, "MATCH (n:EntityName) WHERE n.id IN $gone DELETE n", {"gone": [row[0] for row in gone]})
            run(transaction, _PRUNE, {"ends": ends})

        self.change(change)

    def set_access(self, document_ids: Sequence[str], metadata: Mapping[str, PropertyValue]) -> None:
        params = {"ids": list(document_ids), "properties": to_store(metadata)}

        def change(transaction: neo4j.Transaction) -> None:
            run(transaction, f"MATCH ()-[r]->() WHERE r.source_doc_id IN {_SOURCES} SET r += $properties", params)
            run(
                transaction,
                "MATCH (c:Chunk) WHERE c.id IN $ids OR c.document_id IN $ids SET c += $properties",
                params,
            )

        self.change(change)

    def optimize(self) -> None:
        """Makes the vector indexes, once the vectors are in, and waits until they can be asked, some minutes at most.

        An index that is there slows every write of a vector.
        """
        dimension = self.refresh().dimension
        if not self.layout.own or dimension is None:
            return
        self._index_vectors(dimension)
        try:
            self.server.alter(f"CALL db.awaitIndexes({WAIT})")
        except StoreError:
            if not any(index.state == "POPULATING" for index in self.server.indexes().values()):
                raise
        self.forget()

    def change(self, change: Any) -> None:
        """Runs a change in a transaction of its own, again when the server says so, or in the one around it."""
        if self.server.in_transaction:
            with self.writing() as transaction:
                change(transaction)
            return

        def whole() -> None:
            with self.writing() as transaction:
                change(transaction)

        self.server.again(whole)

    def use_vectors(
        self, transaction: neo4j.Transaction, vectors: Sequence[Vector | None], embedder: str | None
    ) -> int | None:
        """The graph's dimension: what the first vectors make it. Raises StoreError for those of another model."""
        own, dimension = run(transaction, f"MATCH (m:{META}) RETURN m.embedder, m.dimension")[0]
        first = next((vector for vector in vectors if vector is not None), None)
        if first is None:
            return None if dimension is None else int(dimension)
        if dimension is None:
            run(
                transaction,
                f"MATCH (m:{META}) SET m.embedder = $embedder, m.dimension = $dimension",
                {"embedder": embedder or "", "dimension": len(first)},
            )
            return len(first)
        check_embedder(self.server.address.shown, own, int(dimension), embedder, len(first))
        return int(dimension)

    def _make_schema(self) -> None:
        if self._ready:
            return
        held = self.server.indexes()
        names = held.get("entity_name")
        if names is not None and names.labels != ("EntityName",):
            # Left by a graph that stood here before: its name is ours.
            self.server.alter("DROP INDEX entity_name IF EXISTS")
            del held["entity_name"]
        for name, statement in SCHEMA.items():
            if name not in held:
                self.server.alter(statement)
        self.server.alter("CALL db.awaitIndexes(60)")
        self._ready = True

    def _index_vectors(self, dimension: int) -> None:
        """Makes the vector indexes that are missing; ones of another dimension are from a graph before."""
        held = self.server.indexes()
        for name, label in VECTORS.items():
            fits = name in held and held[name].dimension == dimension and held[name].labels == (label,)
            if name in held and not fits:
                self.server.alter(f"DROP INDEX {name} IF EXISTS")
            if not fits:
                self.server.alter(_VECTOR_INDEX.format(name=name, label=label, dimension=dimension))


def check_text(text: str) -> None:
    """Raises StoreError for half a character."""
    if not is_unicode(text):
        raise StoreError(
            "A text holds half a character, which cannot be stored.", remedy="Repair the text's encoding at its source."
        )


def numbers(vector: Vector | None, dimension: int | None) -> list[float] | None:
    """A unit vector as numbers, None without a direction. Raises StoreError for another dimension."""
    direction = None if vector is None else unit(vector, dimension)
    return None if direction is None else [float(number) for number in direction]


def _in_batches(transaction: neo4j.Transaction, query: str, rows: Sequence[dict[str, Any]]) -> None:
    for start in range(0, len(rows), BATCH):
        run(transaction, query, {"rows": rows[start : start + BATCH]})


def _check_ends(transaction: neo4j.Transaction, known: Mapping[str, Entity], edges: Sequence[Edge]) -> None:
    ends = {end for edge in edges for end in (edge.source_id, edge.target_id)} - set(known)
    rows = run(transaction, "MATCH (n:Entity) WHERE n.id IN $ids RETURN n.id", {"ids": sorted(ends)}) if ends else []
    missing = ends - {row[0] for row in rows}
    for edge in sorted(edges, key=lambda edge: edge.id) if missing else ():
        for end in sorted({edge.source_id, edge.target_id} & missing):
            raise StoreError(
                f"Edge {edge.id} joins an entity that is not in the graph: {end}.",
                remedy="Write the entities together with their edges.",
            )


def _entity_row(entity: Entity) -> dict[str, Any]:
    labels = [entity.type] if entity.type and entity.type not in _LABELS else []
    return {"id": entity.id, "name": entity.name, "type": entity.type, "labels": labels}


def _name_row(id_: str, name: str, vector: list[float] | None) -> dict[str, Any]:
    words = words_of(name)
    return {"id": id_, "name": name, "words": words, "mention": words[:MAX_MENTION], "embedding": vector}


def _edge_row(edge: Edge) -> dict[str, Any]:
    texts = (edge.id, edge.relation, edge.key, edge.description, edge.source_doc_id, edge.source_id, edge.target_id)
    for text in texts:
        check_text(text or "")
    if not edge.relation:
        raise StoreError(f"Edge {edge.id} has no relation.", remedy="Give it one.")
    return {
        "source": edge.source_id,
        "target": edge.target_id,
        "relation": edge.relation,
        "properties": {
            **to_store(edge.properties),
            "id": edge.id,
            "fact_id": fact_id(edge.source_id, edge.relation, edge.key, edge.target_id, edge.dst_name),
            "src_name": edge.src_name,
            "dst_name": edge.dst_name,
            "key": edge.key,
            "description": edge.description,
            "source_doc_id": edge.source_doc_id,
        },
    }


# A document named by its id stands for its passages too.
_SOURCES = "$ids + COLLECT { MATCH (c:Chunk) WHERE c.document_id IN $ids RETURN c.id }"

_ENTITIES = """
UNWIND $rows AS row MERGE (n:Entity {id: row.id})
ON CREATE SET n:EntityName, n.name = row.name
WITH n, row, [l IN labels(n) WHERE NOT l IN ['Entity', 'EntityName']] AS old
SET n.type = row.type REMOVE n:$(old) SET n:$(row.labels)
"""
_NAMES = """
UNWIND $rows AS row MERGE (n:EntityName {id: row.id, name: row.name})
SET n.words = row.words, n.mention = row.mention, n.embedding = coalesce(row.embedding, n.embedding)
"""
_EDGES = """
UNWIND $rows AS row MATCH (a:Entity {id: row.source}) MATCH (b:Entity {id: row.target})
CREATE (a)-[r:$(row.relation)]->(b) SET r = row.properties
"""
_PRUNE = """
MATCH (n:EntityName) WHERE n.id IN $ends AND NOT n:Entity AND NOT EXISTS {
    MATCH (e:Entity {id: n.id})-[r]-() WHERE (startNode(r) = e AND r.src_name = n.name)
                                          OR (endNode(r) = e AND r.dst_name = n.name)
} DELETE n
"""
