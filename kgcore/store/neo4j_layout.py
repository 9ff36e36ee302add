"""A mapping as pieces of Cypher: where entities are, how they and their relationships are read.

A relationship is always called `r`, its ends `startNode(r)` and `endNode(r)`.
"""

from __future__ import annotations

from kgcore.filters import AccessFilter
from kgcore.filters.cypher import CypherFilter, quoted
from kgcore.store.mapping import OWN, Mapping
from kgcore.store.neo4j_values import STORED
from kgcore.types import HAS_ATTRIBUTE

SEPARATOR = "\u0001"
_LINKS = ("one_link", "other_link")


class Layout:
    """The pieces for one mapping. `own` is the layout that Hopscope writes."""

    def __init__(self, mapping: Mapping, access_fields: frozenset[str] = frozenset()) -> None:
        self.mapping = mapping
        self.access_fields = access_fields
        self.own = mapping == OWN
        self.label = ":" + "|".join(quoted(label) for label in mapping.labels) if mapping.labels else ""
        self.names_label = ":`EntityName`" if self.own else self.label
        """Of the nodes that carry names: our own have one for each spelling."""
        self.params = {"plumbing": list(mapping.plumbing), "ignored": list(mapping.ignored)}

    def id(self, node: str) -> str:
        """An entity's id."""
        return f"{node}.{quoted(self.mapping.id)}" if self.mapping.id else f"elementId({node})"

    def name(self, node: str) -> str:
        """A node's name, its id where it has none."""
        if self.own:
            return f"{node}.name"
        listed = [f"toStringOrNull({node}.{quoted(name)})" for name in self.mapping.names]
        return f"coalesce({', '.join([*listed, self.id(node)])})"

    def type(self, node: str) -> str:
        """An entity's type, "" without one."""
        held = [f"toStringOrNull({node}.{quoted(self.mapping.type)})"] if self.mapping.type else []
        labels = f"head([l IN labels({node}) WHERE NOT l IN $plumbing])"
        return f"coalesce({', '.join([*held, labels, 'head(labels(' + node + '))'])}, '')"

    def is_entity(self, node: str) -> str:
        """The condition, beside the label, for a node to be an entity; "" for none."""
        if self.mapping.labels:
            return ""
        return "(" + " OR ".join(f"{node}.{quoted(name)} IS NOT NULL" for name in self.mapping.names) + ")"

    def relation(self) -> str:
        """The relation of `r`."""
        if not self.mapping.relation:
            return "type(r)"
        return f"coalesce(toStringOrNull(r.{quoted(self.mapping.relation)}), type(r))"

    def end_name(self, *, source: bool) -> str:
        """The name that `r` gives to one of its ends."""
        held = self.mapping.source_name if source else self.mapping.target_name
        if self.own:
            return f"r.{held}"
        name = self.name("startNode(r)" if source else "endNode(r)")
        return f"coalesce(toStringOrNull(r.{quoted(held)}), {name})" if held else name

    def text(self, name: str) -> str:
        """A property of `r` as text, null without one."""
        if not name:
            return "null"
        return f"r.{quoted(name)}" if self.own else f"toStringOrNull(r.{quoted(name)})"

    def fact(self) -> str:
        """What tells facts apart: our own records hold the fact's id, foreign ones are told by what it is made of."""
        if self.own:
            return "r.fact_id"
        relation, mapping = self.relation(), self.mapping
        key = f"coalesce({self.text(mapping.key)}, '')"
        parts = (self.id("startNode(r)"), relation, key, self.id("endNode(r)"))
        if not mapping.key:
            return _joined(*parts)
        value = f"toLower(trim({self.end_name(source=False)}))"
        attribute = _joined(parts[0], f"'{HAS_ATTRIBUTE}'", key, value)
        return f"CASE WHEN {relation} = '{HAS_ATTRIBUTE}' THEN {attribute} ELSE {_joined(*parts)} END"

    def vector(self) -> str:
        """The vector of `r`, "" where relationships have none."""
        return f"r.{quoted(self.mapping.edge_vector)}" if self.mapping.edge_vector else ""

    def source_document(self) -> str:
        """The id of the passage that `r` comes from: its own, or the first that speaks of both its ends."""
        mapping = self.mapping
        if mapping.document:
            held = f"r.{quoted(mapping.document)}"
            listed = f"CASE WHEN {held} IS :: LIST<ANY> NOT NULL THEN toStringOrNull(head({held})) "
            return held if self.own else f"({listed}ELSE toStringOrNull({held}) END)"
        if not (mapping.chunk_link and mapping.chunk_label):
            return "null"
        link, chunk = quoted(mapping.chunk_link), quoted(mapping.chunk_label)
        id_ = self.chunk_id("passage")
        return (
            "head(COLLECT { WITH startNode(r) AS one_end, endNode(r) AS other_end "
            f"MATCH (one_end)-[one_link:{link}]-(passage:{chunk})-[other_link:{link}]-(other_end) {self._free_links()}"
            f"RETURN {id_} AS passage_id ORDER BY passage_id LIMIT 1 }})"
        )

    def _free_links(self) -> str:
        """Links that say who may see them are not followed: a filter reads facts, and a passage must not slip by it."""
        held = [f"{link}.{quoted(name)} IS NULL" for name in sorted(self.access_fields) for link in _LINKS]
        return f"WHERE {' AND '.join(held)} " if held else ""

    def chunk_id(self, node: str) -> str:
        """A passage's id."""
        return (
            f"toStringOrNull({node}.{quoted(self.mapping.chunk_id)})" if self.mapping.chunk_id else f"elementId({node})"
        )

    def edge(self) -> str:
        """All of `r` but its vector, as the list that `NeoRows.edges_of` reads."""
        vector = self.mapping.edge_vector
        held = f"r {{.*, {quoted(vector)}: null}}" if vector else "properties(r)"
        return (
            f"[{self.id('startNode(r)')}, {self.id('endNode(r)')}, {self.relation()}, {self.end_name(source=True)}, "
            f"{self.end_name(source=False)}, {held}, {self.source_document()}{'' if self.own else ', elementId(r)'}]"
        )

    def fields(self) -> dict[str, str]:
        """The expression of each of an edge's own fields, "null" for one that the graph has not."""
        return {
            "key": self.text(self.mapping.key),
            "description": self.text(self.mapping.description),
            "source_doc_id": self.source_document(),
            "src_name": self.end_name(source=True),
            "dst_name": self.end_name(source=False),
        }

    def visible(self, filter: AccessFilter, *others: str) -> tuple[str, dict[str, object]]:
        """The condition under which `r` is seen, `others` added, and its parameters.

        `r` stands between two nodes that the query has already found to have the label of entities.
        """
        mapping = self.mapping
        columns = {field: "" if text == "null" else text for field, text in self.fields().items()}
        compiler = CypherFilter("r", columns, STORED if self.own else {}, foreign=not self.own)
        parts = [compiler.compile(filter.node), *others]
        if mapping.ignored:
            parts.append("NOT type(r) IN $ignored")
        parts += [self.is_entity("startNode(r)"), self.is_entity("endNode(r)")]
        return " AND ".join(part for part in parts if part), {**compiler.params, **self.params}


def _joined(*parts: str) -> str:
    return "(" + f" + '{SEPARATOR}' + ".join(parts) + ")"
