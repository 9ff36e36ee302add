"""Cypher on a Neo4j server itself, past every filter: for administrators alone."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

import neo4j
from neo4j import exceptions as faults
from neo4j.graph import Node as NeoNode
from neo4j.graph import Path as NeoPath
from neo4j.graph import Relationship as NeoRelationship

from kgcore.cypher.answer import CypherAnswer, Node, Relationship, Value, Way
from kgcore.cypher.guard import check
from kgcore.cypher.limits import MAX_BYTES, checked
from kgcore.errors import QueryError
from kgcore.store.mapping import Mapping as Layout
from kgcore.store.neo4j import NeoStore
from kgcore.store.neo4j_server import server_error
from kgcore.store.neo4j_values import MAX_NUMBERS, scalar

_FORBIDDEN = ("LoadCSV", "ProcedureCall", "Show", "Terminate", "AdministrationCommand")


class UnscopedCypher:
    """Reads a whole Neo4j database. Whoever is let near it may see everything in it.

    A query is explained first, and run only if its plan reads, and loads, calls and shows nothing.
    """

    def __init__(self, store: NeoStore) -> None:
        self.store = store

    def query(
        self, query: str, parameters: Mapping[str, Any] | None = None, *, rows: int = 1_000, timeout: float = 3.0
    ) -> CypherAnswer:
        """At most `rows` rows, within `timeout` seconds of the server's. Raises QueryError, ConfigError, StoreError."""
        asked = checked(parameters or {}, rows, timeout)
        check(query)
        try:
            return self._answer(query, asked, rows, timeout)
        except faults.AuthError as error:
            raise server_error(self.store.server.address, error) from error
        except faults.ClientError as error:
            raise _refused(error, timeout) from error

    def _answer(self, query: str, parameters: dict[str, Any], rows: int, timeout: float) -> CypherAnswer:
        started = time.perf_counter()
        with self.store.server.reading(faults.ClientError) as session:
            plan = session.run(neo4j.Query(f"EXPLAIN {query}", timeout=timeout), parameters).consume()
            _check_plan(plan)
            result = session.run(neo4j.Query(query, timeout=timeout), parameters)
            columns = tuple(result.keys())
            kept: list[tuple[Value, ...]] = []
            size, cut = 0, False
            for record in result:
                row = tuple(_value(held, self.store.layout.mapping) for held in record.values())
                size += len(json.dumps(row, default=_plain))
                if len(kept) == rows or size > MAX_BYTES:
                    cut = True
                    break
                kept.append(row)
            result.consume()
        took = round((time.perf_counter() - started) * 1000, 1)
        return CypherAnswer(query=query, columns=columns, rows=tuple(kept), truncated=cut, milliseconds=took)


def _check_plan(summary: neo4j.ResultSummary) -> None:
    operators = {name.partition("@")[0] for name in _operators(summary.plan or {})}
    if summary.query_type == "r" and not any(name.startswith(_FORBIDDEN) for name in operators):
        return
    raise QueryError(
        "This query does more than read the graph.", remedy="Ask with MATCH, WHERE, WITH, UNWIND and RETURN."
    )


def _operators(plan: Mapping[str, Any]) -> Iterator[str]:
    yield str(plan.get("operatorType", ""))
    for child in plan.get("children", ()):
        yield from _operators(child)


def _refused(error: faults.ClientError, timeout: float) -> QueryError:
    if "TransactionTimedOut" in (error.code or "") or "Terminated" in (error.code or ""):
        return QueryError(
            f"The query took longer than {timeout:g} seconds.",
            remedy="Match less: name labels and ids, bound path lengths, and add a LIMIT.",
        )
    return QueryError((error.message or "The server refused it.")[:1_000], remedy="Correct the query and run it again.")


def _value(held: Any, layout: Layout) -> Value:
    if isinstance(held, NeoNode):
        return _node(held, layout)
    if isinstance(held, NeoRelationship):
        return _relationship(held, layout)
    if isinstance(held, NeoPath):
        return Way(
            nodes=tuple(_node(node, layout) for node in held.nodes),
            relationships=tuple(_relationship(edge, layout) for edge in held.relationships),
        )
    if isinstance(held, list | tuple):
        return tuple(_value(item, layout) for item in held)
    if isinstance(held, dict):
        return {name: _value(item, layout) for name, item in held.items()}
    return None if held is None else scalar(held)


def _node(node: NeoNode, layout: Layout) -> Node:
    labels = [label for label in sorted(node.labels) if label not in layout.plumbing]
    kind = node.get(layout.type) if layout.type else None
    name = next((node[name] for name in layout.names if node.get(name) is not None), "")
    return Node(
        id=_id(node, layout),
        type=str(kind) if kind is not None else labels[0] if labels else "",
        name=str(name),
        properties=_properties(node, (layout.id, layout.type, *layout.names), layout),
    )


def _relationship(edge: NeoRelationship, layout: Layout) -> Relationship:
    ends = [_id(node, layout) if node is not None else "" for node in (edge.start_node, edge.end_node)]
    own = edge.get(layout.edge_id) if layout.edge_id else None
    return Relationship(
        id=str(own) if own is not None else edge.element_id,
        source_id=ends[0],
        target_id=ends[1],
        relation=edge.type,
        properties=_properties(edge, (layout.edge_id,), layout),
    )


def _id(node: NeoNode, layout: Layout) -> str:
    own = node.get(layout.id) if layout.id else None
    return str(own) if own is not None else node.element_id


def _properties(held: NeoNode | NeoRelationship, taken: tuple[str, ...], layout: Layout) -> dict[str, Value]:
    """Without what is said elsewhere, and without vectors."""
    return {
        name: _value(value, layout)
        for name, value in sorted(held.items())
        if name not in taken and not (isinstance(value, list) and len(value) > MAX_NUMBERS)
    }


def _plain(value: Any) -> Any:
    return {field.name: getattr(value, field.name) for field in fields(value)}
