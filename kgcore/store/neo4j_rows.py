"""What reading a Neo4j graph shares: its state, entities as visible edges show them, and edges from rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kgcore.filters import DEFAULT_ACCESS_FIELDS, AccessFilter
from kgcore.names import edge_id, fact_id
from kgcore.store.mapping import Mapping as GraphMapping
from kgcore.store.neo4j_layout import Layout
from kgcore.store.neo4j_server import Index, NeoServer
from kgcore.store.neo4j_values import from_foreign, from_store
from kgcore.store.side import SideVectors
from kgcore.types import Edge, End, PropertyValue

MAX_KEPT = 200_000
MANY = 200
"""Visible edges of a node from which on they are not counted anew in every hop that reaches it."""
META = "`Hopscope`"
"""The label of the one node that keeps what our own graphs say of themselves."""


@dataclass(frozen=True, kw_only=True)
class Shown:
    """An entity as visible edges show it, and the names that they give it."""

    end: End
    names: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class State:
    """A graph at one version: its vectors' model and size, how many names and edges it has, and its indexes."""

    version: str
    embedder: str | None
    dimension: int | None
    names: int
    edges: int
    indexes: Mapping[str, Index]

    def vector_index(self, label: str, property: str) -> Index | None:
        """The vector index on a label's property that can be asked, of the graph's dimension."""
        return self._index("VECTOR", label, property, self.dimension)

    def text_index(self, label: str, property: str) -> Index | None:
        """The full-text index on a label's property that can be asked."""
        return self._index("FULLTEXT", label, property, None)

    def _index(self, kind: str, label: str, property: str, dimension: int | None) -> Index | None:
        for index in self.indexes.values():
            fits = index.kind == kind and index.on_nodes and label in index.labels and property in index.properties
            if fits and index.online and (dimension is None or index.dimension == dimension):
                return index
        return None


class NeoRows:
    """The parts that every reading verb needs, over one database."""

    def __init__(
        self,
        server: NeoServer,
        mapping: GraphMapping,
        access_fields: frozenset[str] = DEFAULT_ACCESS_FIELDS,
    ) -> None:
        self.server = server
        self.side: SideVectors | None = None
        self.access_fields = access_fields | frozenset(mapping.access)
        self.layout = Layout(mapping, self.access_fields)
        self._state: State | None = None
        self._shown: dict[tuple[str, str, str], Shown | None] = {}
        self._busy: dict[tuple[str, str], set[str]] = {}

    @property
    def state(self) -> State:
        """The graph's state when a run began, or since our last write."""
        return self._state or self.refresh()

    def refresh(self) -> State:
        """Looks at the graph again; another process may have written. Raises StoreError."""
        mapping, layout = self.layout.mapping, self.layout
        named = f"MATCH (n{layout.names_label})" if layout.names_label else "MATCH (n)"
        version, embedder, dimension, nodes, edges, names = self.server.rows(
            f"OPTIONAL MATCH (m:{META}) WITH m LIMIT 1 "
            "CALL () { MATCH (n) RETURN count(n) AS nodes } CALL () { MATCH ()-[r]->() RETURN count(r) AS edges } "
            f"CALL () {{ {named} RETURN count(n) AS names }} "
            "RETURN m.data_version, m.embedder, m.dimension, nodes, edges, names"
        )[0]
        text = f"{version or 0}.{nodes}.{edges}" + ("" if layout.own else f".{hash_of(mapping)}")
        before = self._state
        fresh = before is None or before.version != text or not self._complete(before)
        indexes = self.server.indexes() if fresh or before is None else before.indexes
        if not layout.own:
            dimension = self._foreign_dimension(indexes)
            embedder = (mapping.embedder or "a model that the mapping does not name") if dimension else None
            if self.side is not None:
                embedder, dimension = self.side.embedder, self.side.dimension
        state = State(version=text, embedder=embedder, dimension=dimension, names=names, edges=edges, indexes=indexes)
        if before is None or before.version != state.version:
            self.forget_shown()
        self._state = state
        return state

    def forget(self) -> None:
        """After a write of our own."""
        self._state = None

    def has_changed(self, index: Index | None) -> bool:
        """Whether an index that a query failed on is no longer what it was when it was looked for."""
        self.forget()
        return index is not None and self.refresh().indexes.get(index.name) != index

    def shown(self, ids: Iterable[str], filter: AccessFilter) -> dict[str, Shown]:
        """Visible entities by id: the name that most visible edges give (then the first), type, degree."""
        version = self.state.version
        wanted = dict.fromkeys(ids)
        missing = [id_ for id_ in wanted if (version, filter.key, id_) not in self._shown]
        fresh = self._show(missing, filter) if missing else {}
        self._remember({id_: fresh.get(id_) for id_ in missing}, filter, version)
        found = {id_: fresh.get(id_) or self._shown.get((version, filter.key, id_)) for id_ in wanted}
        return {id_: shown for id_, shown in found.items() if shown is not None}

    def known(self, ids: Iterable[str], filter: AccessFilter) -> list[str]:
        """Of the ids and of all nodes with many edges, those that `shown` remembers."""
        version = self.state.version
        wanted = {*ids, *self._busy.get((version, filter.key), ())}
        return sorted(id_ for id_ in wanted if self._shown.get((version, filter.key, id_)) is not None)

    def keep(self, rows: Iterable[Sequence[Any]], filter: AccessFilter) -> dict[str, Shown]:
        """Remembers and gives entities from rows of `given`."""
        found = {shown.end.id: shown for row in rows if (shown := _shown_of(row)) is not None}
        self._remember(found, filter, self.state.version)
        return found

    def _remember(self, found: Mapping[str, Shown | None], filter: AccessFilter, version: str) -> None:
        if len(self._shown) > MAX_KEPT:
            self.forget_shown()
        self._shown.update({(version, filter.key, id_): shown for id_, shown in found.items()})
        busy = {id_ for id_, shown in found.items() if shown is not None and shown.end.degree >= MANY}
        self._busy.setdefault((version, filter.key), set()).update(busy)

    def forget_shown(self) -> None:
        """Forgets what entities look like."""
        self._shown.clear()
        self._busy.clear()

    def given(self, filter: AccessFilter) -> tuple[str, dict[str, object]]:
        """The piece that turns a node `n` into `[id, type, [[name, other name, edges], ...]]` AS `given`."""
        layout = self.layout
        where, params = layout.visible(filter)
        source, target = layout.end_name(source=True), layout.end_name(source=False)
        piece = (
            f"CALL (n) {{ MATCH (n)-[r]-(o{layout.label}) WHERE {where} "
            f"WITH CASE WHEN startNode(r) = n THEN {source} ELSE {target} END AS one, "
            f"CASE WHEN o = n AND {source} <> {target} THEN {target} END AS two, count(*) AS c "
            f"RETURN collect([one, two, c]) AS listed }} "
            f"WITH *, [{layout.id('n')}, {layout.type('n')}, listed] AS given "
        )
        return piece, params

    def edges_of(self, rows: Iterable[Sequence[Any]], filter: AccessFilter) -> list[Edge]:
        """Edges from rows of `Layout.edge`, their access metadata stripped."""
        hidden = self.access_fields | filter.access_fields
        return [self._edge(row, hidden) for row in rows]

    def fact_of(self, edge: Edge) -> str:
        """The id of the fact that an edge asserts."""
        return fact_id(edge.source_id, edge.relation, edge.key, edge.target_id, edge.dst_name)

    def _edge(self, row: Sequence[Any], hidden: frozenset[str]) -> Edge:
        source, target, relation, source_name, target_name, held, document, *element = row
        mapping = self.layout.mapping
        own = self.layout.own
        properties: Mapping[str, PropertyValue] = (
            from_store(held, hidden) if own else from_foreign(held, hidden | self.mapped)
        )
        edge = Edge(
            id=str(held.get(mapping.edge_id) or "") if mapping.edge_id else "",
            source_id=str(source),
            target_id=str(target),
            relation=str(relation),
            src_name=str(source_name),
            dst_name=str(target_name),
            key=_text(held.get(mapping.key)) if mapping.key else None,
            description=_text(held.get(mapping.description)) if mapping.description else None,
            source_doc_id=_text(document),
            properties=properties,
        )
        return edge if edge.id else replace(edge, id=computed_id(edge, *element))

    @property
    def mapped(self) -> frozenset[str]:
        """Properties of relationships that are more than metadata."""
        m = self.layout.mapping
        named = (m.edge_id, m.relation, m.source_name, m.target_name, m.description, m.key, m.document, m.edge_vector)
        return frozenset(name for name in named if name)

    def _show(self, ids: Sequence[str], filter: AccessFilter) -> dict[str, Shown]:
        piece, params = self.given(filter)
        layout = self.layout
        entity = layout.is_entity("n")
        where = f"{layout.id('n')} IN $ids" + (f" AND {entity}" if entity else "")
        rows = self.server.rows(
            f"MATCH (n{layout.label}) WHERE {where} {piece} RETURN given", {**params, "ids": list(ids)}
        )
        found = (_shown_of(row[0]) for row in rows)
        return {shown.end.id: shown for shown in found if shown is not None}

    def _complete(self, state: State) -> bool:
        """Whether no index was found missing or at work, so that they need not be looked at again."""
        return all(index.online for index in state.indexes.values()) and not self.missing(state)

    def missing(self, state: State) -> list[str]:
        """What the graph would be read faster with, and has not: as warnings."""
        return []

    def _foreign_dimension(self, indexes: Mapping[str, Index]) -> int | None:
        mapping = self.layout.mapping
        for index in indexes.values():
            if index.kind == "VECTOR" and index.dimension and mapping.entity_vector in index.properties:
                return index.dimension
        if not mapping.edge_vector:
            return None
        rows = self.server.rows(
            f"MATCH (n{self.layout.label})-[r]->() WITH r LIMIT 1000 WHERE {self.layout.vector()} IS NOT NULL "
            f"RETURN size({self.layout.vector()}) LIMIT 1"
        )
        return int(rows[0][0]) if rows else None


def standing(rows: Iterable[Sequence[Any]], at: int | None = None) -> list[Any]:
    """Rows of what still stood when it was read; what another deletes meanwhile has no values left.

    `at` is the place of a `Layout.edge` in a row; without it the row has no value that may be missing.
    """
    return [row for row in rows if (None not in row if at is None else _stands(row[at]))]


def _stands(edge: Sequence[Any]) -> bool:
    """Whether an edge was whole: one of our own, which has no element id, always has properties."""
    return None not in edge[:5] and (len(edge) > 7 or bool(edge[5].get("id")))


def computed_id(edge: Edge, element: str) -> str:
    """The id of a foreign edge, from what it says and the server's own id of it, which tells equal ones apart."""
    return edge_id(
        edge.source_id, edge.relation, f"{edge.key or ''}\u0001{element}", edge.target_id, edge.source_doc_id
    )


def hash_of(mapping: GraphMapping) -> str:
    """A short name of a mapping, equal for equal ones."""
    return edge_id(repr(mapping), "", None, "", None)[:8]


def _shown_of(row: Sequence[Any]) -> Shown | None:
    id_, type_, listed = row
    if id_ is None or not listed:
        return None
    counts: dict[str, int] = {}
    for one, two, count in listed:
        for name in (one, two):
            if name is not None:
                counts[str(name)] = counts.get(str(name), 0) + count
    name = min(counts, key=lambda name: (-counts[name], name))
    degree = sum(count for _, _, count in listed)
    return Shown(end=End(id=str(id_), name=name, type=str(type_), degree=degree), names=frozenset(counts))


def _text(value: object) -> str | None:
    return None if value is None else str(value)
