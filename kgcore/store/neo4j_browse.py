"""Reading a Neo4j graph for pages and copies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kgcore.filters import AccessFilter, access_field
from kgcore.filters.cypher import CypherFilter, quoted, texts_of
from kgcore.filters.grammar import EDGE_FIELDS, kind
from kgcore.filters.numbers import as_integer
from kgcore.names import fold, is_unicode, tokens
from kgcore.store.mapping import Mapping as GraphMapping
from kgcore.store.neo4j_names import Named, escaped
from kgcore.store.neo4j_read import SLOW, NeoReader
from kgcore.store.neo4j_rows import standing
from kgcore.store.neo4j_server import NeoServer
from kgcore.store.neo4j_values import STORED, from_foreign, from_neo4j, from_store, stored_name
from kgcore.store.protocol import Page
from kgcore.store.values import documents_of
from kgcore.store.ways import first_ways, onward
from kgcore.types import (
    HAS_ATTRIBUTE,
    DocumentInfo,
    Edge,
    End,
    Entity,
    FieldValue,
    PropertyValue,
    RelationCount,
    Scalar,
    Vector,
)

MAX_LISTS = 256


class NeoBrowser(NeoReader):
    """`GraphBrowser`, on top of `GraphReader`, over one database."""

    def __init__(self, server: NeoServer, mapping: GraphMapping, access_fields: frozenset[str]) -> None:
        super().__init__(server, mapping, access_fields)
        self._values: dict[tuple[str, str, str, int], tuple[FieldValue, ...]] = {}

    def search(self, prefix: str, filter: AccessFilter, limit: int = 20) -> tuple[End, ...]:
        text = fold(prefix)
        if not text or not is_unicode(text):
            return ()
        found = self._begun(text)
        shown = self.shown((id_ for id_, _ in found), filter)
        whole: dict[str, bool] = {}
        for id_, name in found:
            if id_ in shown and name in shown[id_].names:
                whole[id_] = whole.get(id_, False) or fold(name).startswith(text)
        ends = [shown[id_].end for id_ in whole]
        ends.sort(key=lambda end: (not whole[end.id], -end.degree, end.id))
        return tuple(ends[:limit])

    def hubs(self, filter: AccessFilter, k: int) -> tuple[End, ...]:
        layout = self.layout
        where, params = layout.visible(filter)
        rows = self.server.rows(
            f"MATCH (n{layout.label})-[r]-(o{layout.label}) WHERE {where} WITH n, count(r) AS degree "
            f"RETURN {layout.id('n')} AS id ORDER BY degree DESC, id LIMIT $k",
            {**params, "k": max(k, 0)},
            timeout=SLOW,
        )
        return self.entities([row[0] for row in rows], filter)

    def relations(self, id: str, filter: AccessFilter) -> tuple[RelationCount, ...]:
        if not is_unicode(id):
            return ()
        layout = self.layout
        where, params = layout.visible(filter)
        entity = layout.is_entity("n")
        rows = self.server.rows(
            f"MATCH (n{layout.label})-[r]-(o{layout.label}) WHERE {layout.id('n')} = $id"
            f"{' AND ' + entity if entity else ''} AND {where} "
            f"RETURN {layout.relation()}, {layout.text(layout.mapping.key)}, startNode(r) = n, count(*)",
            {**params, "id": id},
        )
        counts: dict[tuple[str, bool], int] = {}
        for relation, key, outgoing, count in rows:
            said = str(key if relation == HAS_ATTRIBUTE and key else relation), bool(outgoing)
            counts[said] = counts.get(said, 0) + count
        found = sorted(counts.items(), key=lambda item: (-item[1], item[0][0], not item[0][1]))
        return tuple(RelationCount(relation=said, outgoing=out, count=n) for (said, out), n in found)

    def paths(
        self, a: str, b: str, filter: AccessFilter, max_hops: int, limit: int = 20
    ) -> tuple[tuple[Edge, ...], ...]:
        if a == b or not is_unicode(a + b):
            return ()
        before: dict[str, list[tuple[str, Edge]]] = {}  # node -> (node before, edge), on shortest ways only
        seen, front = {a}, [a]
        for _ in range(max_hops):
            reached: dict[str, list[tuple[str, Edge]]] = {}
            for node, far, edge in self._half_edges(front, filter):
                if far not in seen:
                    reached.setdefault(far, []).append((node, edge))
            before |= reached
            seen |= reached.keys()
            if b in reached or not reached:
                break
            front = sorted(reached)
        after = {node: self._by_fact(halves) for node, halves in onward(before, b).items()}
        return tuple(first_ways(after, a, b, limit))

    def documents(self, filter: AccessFilter) -> tuple[DocumentInfo, ...]:
        layout = self.layout
        if layout.source_document() == "null":
            return ()
        where, params = layout.visible(filter)
        # Of others' passages nothing says which document they are of.
        document, first = "WITH source AS id, title, n, facts, first", "elementId(r)"
        if layout.own:
            document = (
                "OPTIONAL MATCH (c:Chunk {id: source}) "
                "WITH coalesce(c.document_id, source) AS id, title, n, facts, first"
            )
            first = "r.id"
        told = self.server.rows(
            f"MATCH (a{layout.label})-[r]->(b{layout.label}) WHERE {where} "
            f"WITH {layout.source_document()} AS source, r, a, b WHERE source IS NOT NULL "
            f"WITH source, r, {layout.fact()} AS fact ORDER BY {first} "
            "WITH source, min(toStringOrNull(r.title)) AS title, count(*) AS n, "
            f"collect(DISTINCT fact) AS facts, head(collect(r)) AS first {document} ORDER BY first.id "
            "WITH id, min(title) AS title, sum(n) AS n, collect(facts) AS lists, head(collect(first)) AS first "
            "RETURN id, title, n, COUNT { UNWIND lists AS facts UNWIND facts AS fact RETURN DISTINCT fact }, "
            "properties(first)",
            params,
            timeout=SLOW,
        )
        hidden = self.access_fields | filter.access_fields

        def read(held: Mapping[str, Any]) -> Mapping[str, PropertyValue]:
            return from_store(held, hidden) if layout.own else from_foreign(held, hidden | self.mapped)

        return documents_of(told, self._chunk_documents(filter), read, hidden)

    def _chunk_documents(self, filter: AccessFilter) -> list[list[Any]]:
        """Each document of our own passages, its title and how many of them pass."""
        if not self.layout.own:
            return []
        compiler = CypherFilter("c", {"source_doc_id": "c.id"}, STORED)
        where = compiler.compile(filter.node)
        return self.server.rows(
            f"MATCH (c:Chunk) WHERE {where} WITH c ORDER BY c.id "
            "RETURN c.document_id, min(toStringOrNull(c.title)), count(*), head(collect(properties(c)))",
            compiler.params,
            timeout=SLOW,
        )

    def values(self, field: str, filter: AccessFilter, limit: int = 100) -> tuple[FieldValue, ...]:
        if field in self.access_fields | filter.access_fields or not is_unicode(field):
            return ()
        return self._known_values(field, filter, limit)

    def principals(self, field: str, limit: int = 1_000) -> tuple[FieldValue, ...]:
        return self._known_values(access_field(field, self.access_fields), AccessFilter(), limit)

    def scan(self, filter: AccessFilter, after: str | None, limit: int = 5_000, *, vectors: bool = True) -> Page:
        ids = self._next_ids(filter, after, limit)
        found = self.edges_by_id(ids, filter, vectors=vectors) if ids else []
        edges = [replace(edge, embedding=self._vector_of(edge, vector)) if vectors else edge for edge, vector in found]
        pairs = {(e.source_id, e.src_name) for e in edges} | {(e.target_id, e.dst_name) for e in edges}
        held = self._entities(sorted({id_ for id_, _ in pairs}))
        entities = tuple(
            Entity(
                id=id_,
                type=held[id_][0],
                name=name,
                embedding=self._name_vector(id_, name, held[id_][1]) if vectors else None,
            )
            for id_, name in sorted(pairs)
            if id_ in held
        )
        return Page(edges=tuple(edges), entities=entities, after=ids[-1] if len(ids) == limit else None)

    def _vector_of(self, edge: Edge, held: Sequence[float] | None) -> Vector | None:
        if self.side is not None:
            return self.side.of_edge(edge.id)
        return _vector(held) if held is not None and len(held) == self.state.dimension else None

    def _name_vector(self, id_: str, name: str, held: Mapping[str, Vector]) -> Vector | None:
        return self.side.of_name(id_, name) if self.side is not None else held.get(name)

    def _next_ids(self, filter: AccessFilter, after: str | None, limit: int) -> list[str]:
        """The ids of the next visible edges."""
        layout = self.layout
        if not layout.mapping.edge_id:
            return self._next_computed(filter, after, limit)
        where, params = layout.visible(filter, "($after IS NULL OR r.id > $after)" if layout.own else "true")
        held = f"toString(r.{quoted(layout.mapping.edge_id)})"
        rows = self.server.rows(
            f"MATCH (a{layout.label})-[r]->(b{layout.label}) WHERE {where} WITH {held} AS id "
            "WHERE $after IS NULL OR id > $after RETURN DISTINCT id ORDER BY id LIMIT $limit",
            {**params, "after": after, "limit": limit},
            timeout=SLOW,
        )
        return [row[0] for row in rows]

    def _next_computed(self, filter: AccessFilter, after: str | None, limit: int) -> list[str]:
        ids = [id_ for id_ in sorted(self.element_ids()) if after is None or id_ > after]
        found: list[str] = []
        for start in range(0, len(ids), limit):
            found += [edge.id for edge, _ in self.edges_by_id(ids[start : start + limit], filter)]
            if len(found) >= limit:
                break
        return found[:limit]

    def _begun(self, text: str) -> list[Named]:
        """Every name that begins with a text, or one of whose words does."""
        words = tokens(text)

        def fits(name: str) -> bool:
            folded = fold(name)
            starts = folded.startswith(text) or f" {text}" in folded
            return starts or any(token.startswith(text) for token in tokens(name))

        if not words:
            return [named for named in self.all_names() if fits(named[1])]
        query = " ".join([*(f'+"{escaped(word)}"' for word in words[:-1]), f"+{words[-1]}*"])
        return self.candidates([query], fits)

    def _half_edges(self, nodes: Sequence[str], filter: AccessFilter) -> list[tuple[str, str, Edge]]:
        layout = self.layout
        where, params = layout.visible(filter)
        entity = layout.is_entity("n")
        rows = self.server.rows(
            f"MATCH (n{layout.label})-[r]-(o{layout.label}) WHERE {layout.id('n')} IN $nodes "
            f"{'AND ' + entity if entity else ''} AND {where} "
            f"RETURN {layout.id('n')}, {layout.id('o')}, {layout.edge()}",
            {**params, "nodes": list(nodes)},
        )
        rows = standing(rows, 2)
        edges = self.edges_of((row[2] for row in rows), filter)
        halves = [(row[0], row[1], edge) for row, edge in zip(rows, edges, strict=True)]
        return sorted(halves, key=lambda half: (half[0], half[1], half[2].id))

    def _by_fact(self, halves: Iterable[tuple[str, Edge]]) -> list[tuple[str, Edge]]:
        """Of the edges that assert one fact the first, in the order of their ids."""
        told: dict[tuple[str, str], tuple[str, Edge]] = {}
        for far, edge in sorted(halves, key=lambda half: half[1].id):
            told.setdefault((far, self.fact_of(edge)), (far, edge))
        return list(told.values())

    def _entities(self, ids: Sequence[str]) -> dict[str, tuple[str, dict[str, Vector]]]:
        """The type and the names' vectors of entities: only for ids that a visible edge gave."""
        layout = self.layout
        vector = layout.mapping.entity_vector if self.state.dimension and self.side is None else ""
        held = f"n.{quoted(vector)}" if vector else "null"
        types = self.server.rows(
            f"MATCH (n{layout.label}) WHERE {layout.id('n')} IN $ids RETURN {layout.id('n')}, {layout.type('n')}",
            {**layout.params, "ids": list(ids)},
        )
        found: dict[str, tuple[str, dict[str, Vector]]] = {row[0]: (str(row[1]), {}) for row in types}
        rows = self.server.rows(
            f"MATCH (n{layout.names_label}) WHERE {layout.id('n')} IN $ids AND {held} IS NOT NULL "
            f"RETURN {layout.id('n')}, {layout.name('n')}, {held}",
            {"ids": list(ids)},
        )
        for id_, name, numbers in rows if vector else ():
            if id_ in found and len(numbers) == self.state.dimension:
                found[id_][1][name] = _vector(numbers)
        return found

    def _known_values(self, field: str, filter: AccessFilter, limit: int) -> tuple[FieldValue, ...]:
        key = (self.state.version, filter.key, field, limit)
        found = self._values.get(key)
        if found is None:
            found = self._count_values(field, filter)[: max(limit, 0)]
            if len(self._values) >= MAX_LISTS:
                self._values.clear()
            self._values[key] = found
        return found

    def _count_values(self, field: str, filter: AccessFilter) -> tuple[FieldValue, ...]:
        layout = self.layout
        where, params = layout.visible(filter)
        if field in EDGE_FIELDS:
            value = layout.fields()[field]
        else:
            held = "r[$field]"
            value = held if layout.own else f"({texts_of(held)})"
            params["field"] = stored_name(field) if layout.own else field
        if value == "null" or (not layout.own and field in self.mapped and field not in EDGE_FIELDS):
            return ()
        rows = self.server.rows(
            f"MATCH (a{layout.label})-[r]->(b{layout.label}) WHERE {where} WITH {value} AS held WHERE held IS NOT NULL "
            "RETURN held, valueType(held) AS kind, count(*)",
            params,
            timeout=SLOW,
        )
        counts: dict[tuple[str, Scalar], int] = {}
        for held, _, count in rows:
            for key in _items(held):
                counts[key] = counts.get(key, 0) + count
        found = [(count, told, value) for (told, value), count in counts.items()]
        found.sort(key=lambda item: (-item[0], item[1], item[2]))
        return tuple(FieldValue(value=value, count=count) for count, _, value in found)


def _items(held: Any) -> set[tuple[str, Scalar]]:
    """A value, or a list's items each once, with its kind; a float that is a whole number is the integer it equals."""
    value = from_neo4j(held)
    found = set()
    for item in value if isinstance(value, tuple) else (value,):
        whole = as_integer(item) if isinstance(item, float) else None
        found.add((kind(item), item if whole is None else whole))
    return found


def _vector(numbers: Iterable[float]) -> Vector:
    return np.asarray(list(numbers), np.float32)
