"""Reading a Neo4j graph for retrieval: what there is, and one hop. Everything under an access filter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kgcore.filters import WHOLE, AccessFilter
from kgcore.filters.grammar import EDGE_FIELDS
from kgcore.names import is_unicode
from kgcore.store.mapping import Mapping as GraphMapping
from kgcore.store.neo4j_names import NeoNames
from kgcore.store.neo4j_rows import standing
from kgcore.store.neo4j_server import NeoServer
from kgcore.store.neo4j_values import RESERVED
from kgcore.store.values import check_dimension
from kgcore.types import HAS_ATTRIBUTE, Description, Edge, End, Expansion, Property, Vector, VisibleEdge

SLOW = 300.0
"""Seconds that a query over the whole graph may take; its answer is kept."""
MAX_FACTS = 200_000
MAX_FRESH = 50_000
"""Edges of a foreign graph that is described anew each time."""


class NeoReader(NeoNames):
    """`GraphReader` over one database."""

    def __init__(self, server: NeoServer, mapping: GraphMapping, access_fields: frozenset[str]) -> None:
        super().__init__(server, mapping, access_fields)
        self._descriptions: dict[tuple[str, str], Description] = {}
        self._told_apart: dict[str, str] = {}
        self._element_ids: tuple[str, Mapping[str, Sequence[str]]] | None = None

    def describe(self, filter: AccessFilter) -> Description:
        state = self.refresh()
        if not self.layout.own and state.edges <= MAX_FRESH:
            # What others change in place leaves no mark: a graph that is not large is looked at anew.
            self.look_anew()
        key = (state.version, filter.key)
        found = self._descriptions.get(key)
        if found is None:
            found = self._describe(filter)
            if len(self._descriptions) >= 64:
                self._descriptions.clear()
            self._descriptions[key] = found
        return replace(
            found,
            bare=found.bare if state.embedder is not None else 0,
            embedder=state.embedder,
            dimension=state.dimension,
            data_version=state.version,
            warnings=tuple(self.missing(state)),
        )

    def look_anew(self) -> None:
        """Forgets what was remembered of the graph at this version."""
        self._descriptions.clear()
        self.forget_shown()
        self._table = None

    def entities(self, ids: Sequence[str], filter: AccessFilter) -> tuple[End, ...]:
        shown = self.shown((i for i in ids if is_unicode(i)), filter)
        return tuple(shown[i].end for i in dict.fromkeys(ids) if i in shown)

    def edges(self, ids: Sequence[str], filter: AccessFilter) -> tuple[Edge, ...]:
        wanted = [id_ for id_ in dict.fromkeys(ids) if is_unicode(id_)]
        found = {edge.id: edge for edge, _ in self.edges_by_id(wanted, filter)} if wanted else {}
        return tuple(found[i] for i in wanted if i in found)

    def edges_by_id(
        self, ids: Sequence[str], filter: AccessFilter, *, vectors: bool = False
    ) -> list[tuple[Edge, Sequence[float] | None]]:
        """Visible edges of these ids in the order of their ids, with their vectors if asked for."""
        layout = self.layout
        elements = self._elements(ids)
        held = "elementId(r)" if elements is not None else f"r.{layout.mapping.edge_id}"
        where, params = layout.visible(filter, f"{held} IN $ids")
        vector = layout.vector() if vectors and layout.vector() else "null"
        rows = self.server.rows(
            f"MATCH (a{layout.label})-[r]->(b{layout.label}) WHERE {where} RETURN {layout.edge()}, {vector}",
            {**params, "ids": list(elements if elements is not None else ids)},
            timeout=SLOW,
        )
        rows = standing(rows, 0)
        edges = self.edges_of((row[0] for row in rows), filter)
        unique = {edge.id: (edge, row[1]) for edge, row in zip(edges, rows, strict=True)}
        return [unique[id_] for id_ in sorted(unique)]

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
        nodes = [id_ for id_ in dict.fromkeys(frontier) if is_unicode(id_)]
        if not nodes:
            return Expansion(edges=(), ends={}, found=0)
        state, layout = self.state, self.layout
        scored = (
            query_vector is not None and state.dimension is not None and bool(layout.vector()) and self.side is None
        )
        if query_vector is not None and state.dimension is not None:
            check_dimension(query_vector, state.dimension)
        others, params = self._narrowed(exclude, relations)
        if scored:
            assert query_vector is not None
            params |= {"vector": query_vector.tolist(), "dimension": state.dimension}
        elif words:
            params["words"] = sorted(set(words))
        where, bound = layout.visible(filter, *others)
        piece, ends_bound = self.given(filter)
        entity = layout.is_entity("n")
        row = self.server.rows(
            f"MATCH (n{layout.label})-[r]-(o{layout.label}) WHERE {layout.id('n')} IN $frontier"
            f"{' AND ' + entity if entity else ''} AND {where} "
            f"WITH {'DISTINCT ' if len(nodes) > 1 else ''}r "
            f"WITH r, {layout.fact()} AS fact, {self._score(scored=scored)} AS score "
            f"WITH fact, {self._rank(scored=scored, words=bool(words))} AS best, collect([r, score]) AS listed "
            "ORDER BY best DESC, fact WITH collect(listed) AS facts "
            "WITH size(facts) AS found, facts[..$limit] AS kept "
            f"CALL (kept) {{ UNWIND kept AS listed UNWIND listed AS pair WITH pair[0] AS r, pair[1] AS score "
            f"RETURN collect([{layout.fact()}, score, {layout.edge()}]) AS edges }} "
            "CALL (kept) { UNWIND kept AS listed UNWIND listed AS pair "
            "UNWIND [startNode(pair[0]), endNode(pair[0])] AS n WITH DISTINCT n "
            f"WHERE NOT {layout.id('n')} IN $known {piece} RETURN collect(given) AS ends }} "
            "RETURN found, edges, ends",
            {**bound, **ends_bound, **params, "frontier": nodes, "limit": limit, "known": self.known(nodes, filter)},
        )[0]
        found, rows, ends = row
        self.keep(ends, filter)
        seen = self._seen(rows, filter)
        values = {v.fact_id for v in seen if v.edge.relation == HAS_ATTRIBUTE and v.edge.target_id in nodes}
        if values:
            seen += self._attribute_edges(seen, values, filter, query_vector if scored else None)
        if self.side is not None and query_vector is not None:
            seen = [replace(visible, score=self.side.score(visible.edge.id, query_vector)) for visible in seen]
        edges = {visible.edge.id: visible for visible in seen}
        listed = sorted(edges.values(), key=lambda visible: (visible.fact_id, visible.edge.id))
        shown = self.shown((end for v in listed for end in (v.edge.source_id, v.edge.target_id)), filter)
        kept = tuple(v for v in listed if v.edge.source_id in shown and v.edge.target_id in shown)
        return Expansion(edges=kept, ends={id_: end.end for id_, end in shown.items()}, found=found)

    def _narrowed(self, exclude: Sequence[str], relations: Sequence[str]) -> tuple[list[str], dict[str, object]]:
        """The conditions on `r` that a hop adds to the filter."""
        layout = self.layout
        others, params = [], dict[str, object]()
        if exclude:
            known = exclude if layout.own else [self._told_apart[id_] for id_ in exclude if id_ in self._told_apart]
            others.append(f"NOT {layout.fact()} IN $exclude")
            params["exclude"] = sorted(known)
        if relations:
            key = f" OR {layout.text(layout.mapping.key)} IN $relations" if layout.mapping.key else ""
            others.append(f"({layout.relation()} IN $relations{key})")
            params["relations"] = sorted(relations)
        return others, params

    def _score(self, *, scored: bool) -> str:
        if not scored:
            return "null"
        vector = self.layout.vector()
        cosine = f"round(2 * vector.similarity.cosine({vector}, $vector) - 1, 6)"
        return cosine if self.layout.own else f"CASE WHEN size({vector}) = $dimension THEN {cosine} END"

    def _rank(self, *, scored: bool, words: bool) -> str:
        if scored:
            return "coalesce(max(score), -2)"
        if not words:
            return "0"
        layout, mapping = self.layout, self.layout.mapping
        parts = [
            layout.end_name(source=True),
            layout.relation(),
            layout.text(mapping.key),
            layout.end_name(source=False),
            layout.text(mapping.description),
        ]
        text = " + ' ' + ".join(f"coalesce({part}, '')" for part in parts if part != "null")
        return f"max(size([w IN $words WHERE toLower({text}) CONTAINS w]))"

    def _seen(self, rows: Iterable[Sequence[Any]], filter: AccessFilter) -> list[VisibleEdge]:
        listed = standing(rows, 2)
        edges = self.edges_of((row[2] for row in listed), filter)
        seen = []
        for edge, (apart, score, _) in zip(edges, listed, strict=True):
            fact = str(apart) if self.layout.own else self.fact_of(edge)
            if not self.layout.own:
                if len(self._told_apart) >= MAX_FACTS:
                    self._told_apart.clear()
                self._told_apart[fact] = str(apart)
            seen.append(VisibleEdge(edge=edge, fact_id=fact, score=score))
        return seen

    def _attribute_edges(
        self, seen: Sequence[VisibleEdge], facts: Iterable[str], filter: AccessFilter, vector: Vector | None
    ) -> list[VisibleEdge]:
        """All visible edges of attributes that were reached from one of their value nodes, with their scores."""
        layout = self.layout
        wanted = set(facts)
        apart = sorted(wanted if layout.own else {self._told_apart[fact] for fact in wanted})
        sources = sorted({v.edge.source_id for v in seen if v.fact_id in wanted})
        where, params = layout.visible(filter, f"{layout.fact()} IN $facts")
        if vector is not None:
            params |= {"vector": vector.tolist(), "dimension": self.state.dimension}
        rows = self.server.rows(
            f"MATCH (n{layout.label})-[r]->(o{layout.label}) WHERE {layout.id('n')} IN $sources AND {where} "
            f"RETURN {layout.fact()}, {self._score(scored=vector is not None)}, {layout.edge()}",
            {**params, "facts": apart, "sources": sources},
        )
        return self._seen(rows, filter)

    def _describe(self, filter: AccessFilter) -> Description:
        layout = self.layout
        where, params = layout.visible(filter)
        matched = f"MATCH (a{layout.label})-[r]->(b{layout.label}) WHERE {where}"
        fields = layout.fields()
        counted = ", ".join(f"count({fields[field]}) AS {field}" for field in EDGE_FIELDS)
        documents = f"count(DISTINCT {layout.source_document()})"
        # A graph that others built may have vectors on some edges by intent.
        bare = "count(CASE WHEN r.embedding IS NULL THEN 1 END)" if layout.own else "count(null)"
        edges, documented, without, *own_counts = self.server.rows(
            f"{matched} RETURN count(r) AS edges, {documents} AS documents, {bare} AS bare, {counted}",
            params,
            timeout=SLOW,
        )[0]
        relations = self.server.rows(f"{matched} RETURN {layout.relation()}, count(*)", params, timeout=SLOW)
        types = self.server.rows(
            f"{matched} UNWIND [a, b] AS n WITH DISTINCT n RETURN {layout.type('n')}, count(*)", params, timeout=SLOW
        )
        skipped = RESERVED if layout.own else self.mapped
        properties = self.server.rows(
            f"{matched} WITH [k IN keys(r) WHERE NOT k IN $skipped | [k, {_KIND}]] AS held WITH held, count(*) AS n "
            "UNWIND held AS pair RETURN pair[0], pair[1], sum(n)",
            {**params, "skipped": sorted(skipped)},
            timeout=SLOW,
        )
        hidden = self.access_fields | filter.access_fields
        listed = self._properties(properties, hidden)
        listed += [
            Property(name=name, kinds=("string",), count=count)
            for name, count in zip(EDGE_FIELDS, own_counts, strict=True)
            if count and name not in hidden
        ]
        return Description(
            entities=sum(count for _, count in types),
            edges=edges,
            documents=documented,
            entity_types=dict(sorted((str(name), count) for name, count in types)),
            relations=dict(sorted((str(name), count) for name, count in relations)),
            properties=tuple(listed),
            embedder=None,
            dimension=None,
            data_version="",
            bare=without,
        )

    def _properties(self, rows: Iterable[Sequence[Any]], hidden: frozenset[str]) -> list[Property]:
        kinds: dict[str, set[str]] = {}
        counts: dict[str, int] = {}
        for held, kind, count in rows:
            name = held.removeprefix("meta.") if self.layout.own else held
            if name in hidden or name in EDGE_FIELDS or not kind:
                continue
            kinds.setdefault(name, set()).add(kind)
            counts[name] = counts.get(name, 0) + count
        return [Property(name=name, kinds=tuple(sorted(kinds[name])), count=counts[name]) for name in sorted(kinds)]

    def _elements(self, ids: Sequence[str]) -> list[str] | None:
        """The server's own ids of these edges where the graph keeps no id of an edge; None where it does."""
        if self.layout.mapping.edge_id:
            return None
        known = self.element_ids()
        return [element for id_ in ids for element in known.get(id_, ())]

    def element_ids(self) -> Mapping[str, Sequence[str]]:
        """Every edge's id with the server's own, read once a version."""
        version = self.state.version
        if self._element_ids is None or self._element_ids[0] != version:
            layout = self.layout
            where, params = layout.visible(WHOLE)
            rows = self.server.rows(
                f"MATCH (a{layout.label})-[r]->(b{layout.label}) WHERE {where} RETURN {layout.edge()}, elementId(r)",
                params,
                timeout=SLOW,
            )
            rows = standing(rows, 0)
            found: dict[str, list[str]] = {}
            for edge, row in zip(self.edges_of((row[0] for row in rows), WHOLE), rows, strict=True):
                found.setdefault(edge.id, []).append(row[1])
            self._element_ids = (version, found)
        return self._element_ids[1]


_KIND = (
    "CASE WHEN r[k] IS :: BOOLEAN NOT NULL THEN 'boolean' WHEN r[k] IS :: STRING NOT NULL THEN 'string' "
    "WHEN r[k] IS :: INTEGER NOT NULL | FLOAT NOT NULL THEN 'number' WHEN r[k] IS :: LIST<ANY> NOT NULL THEN 'list' "
    "ELSE 'string' END"
)
