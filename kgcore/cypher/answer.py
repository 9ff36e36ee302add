"""What a Cypher query gives: values that no engine's driver or library has a hand in any more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, kw_only=True)
class Node:
    """An entity in a row, by its id in the graph."""

    id: str
    type: str
    name: str
    properties: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Relationship:
    """An edge in a row, by its id in the graph."""

    id: str
    source_id: str
    target_id: str
    relation: str
    properties: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Way:
    """A path: its nodes, and the relationships between each and the next."""

    nodes: tuple[Node, ...]
    relationships: tuple[Relationship, ...]


Scalar: TypeAlias = bool | int | float | str | None
Value: TypeAlias = "Scalar | Node | Relationship | Way | tuple[Value, ...] | Mapping[str, Value]"


@dataclass(frozen=True, kw_only=True)
class CypherAnswer:
    """Rows of a query, each with a value a column.

    `truncated` says that there were more than the limits of rows and bytes let through. `milliseconds` stands outside
    equality and exports.
    """

    query: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    truncated: bool
    warnings: tuple[str, ...] = ()
    milliseconds: float = field(default=0.0, compare=False)
