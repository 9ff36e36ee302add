"""The filter tree as DuckDB SQL over a JSON column of properties and a few text columns.

Every value is bound. Numbers compare exactly: a 64-bit integer against a stored float (or the reverse) is
decided by moving the bound to the stored kind here, never by rounding in the database.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kgcore.filters.grammar import And, Comparison, Node, Nothing, Or, comparisons, kind
from kgcore.filters.numbers import as_float, as_integer, bound_of, float_bound, integer_bound, items_of
from kgcore.types import Scalar

EDGE_COLUMNS: Mapping[str, str] = {
    "key": "e.key",
    "description": "e.description",
    "source_doc_id": "e.source_doc_id",
    "src_name": "e.src_name",
    "dst_name": "e.dst_name",
}
CHUNK_COLUMNS: Mapping[str, str] = {"source_doc_id": "c.id"}

_INTEGER = "('UBIGINT', 'BIGINT')"
_SCALAR = "('UBIGINT', 'BIGINT', 'DOUBLE', 'VARCHAR', 'BOOLEAN')"


@dataclass(frozen=True, kw_only=True)
class SqlFilter:
    """A filter split for a store that keeps metadata once a document.

    `properties` is a condition on `property_set p` alone, `edge` one on `edge e` joined with it; either may be "".
    `params` binds both.
    """

    properties: str = ""
    edge: str = ""
    params: Mapping[str, object] = field(default_factory=dict)


def compile_edge_filter(node: Node | None) -> SqlFilter:
    """A filter on edges. The conjuncts that read no edge column need only a document's metadata."""
    if node is None:
        return SqlFilter()
    compiler = _Compiler("p.properties", EDGE_COLUMNS)
    parts = node.conditions if isinstance(node, And) else (node,)
    own = [part for part in parts if any(c.field in EDGE_COLUMNS for c in comparisons(part))]
    shared = [part for part in parts if part not in own]
    return SqlFilter(
        properties=" AND ".join(compiler.visit(part) for part in shared),
        edge=" AND ".join(compiler.visit(part) for part in own),
        params=compiler.params,
    )


def compile_chunk_filter(node: Node | None) -> tuple[str, Mapping[str, object]]:
    """A filter on `chunk c`: its condition ("" for none) and parameters."""
    if node is None:
        return "", {}
    compiler = _Compiler("c.metadata", CHUNK_COLUMNS)
    return compiler.visit(node), compiler.params


class _Compiler:
    """One visitor a node; `params` numbers every bound value once, `f0`, `f1`, ..."""

    def __init__(self, properties: str, columns: Mapping[str, str]) -> None:
        self.properties = properties
        self.columns = columns
        self.params: dict[str, object] = {}

    def visit(self, node: Node) -> str:
        match node:
            case And(conditions=conditions):
                return "(" + " AND ".join(self.visit(c) for c in conditions) + ")"
            case Or(conditions=conditions):
                return "(" + " OR ".join(self.visit(c) for c in conditions) + ")"
            case Nothing():
                return "false"
            case Comparison():
                return self.visit_comparison(node)

    def visit_comparison(self, node: Comparison) -> str:
        column = self.columns.get(node.field)
        if column is not None:
            return self.visit_column(column, node)
        value = f"""json_extract({self.properties}, '$."{node.field}"')"""
        match node.operator:
            case "==" | "in":
                return f"coalesce({self.any_of(value, items_of(node))}, false)"
            case "!=" | "not in":
                known = f"json_type({value}) IN {_SCALAR}"
                return f"coalesce({known} AND NOT {self.any_of(value, items_of(node))}, false)"
            case "contains_any":
                items = f"json_extract({value}, '$[*]')"
                found = f"len(list_filter({items}, lambda x: coalesce({self.any_of('x', items_of(node))}, false))) > 0"
                return f"coalesce(json_type({value}) = 'ARRAY' AND {found}, false)"
            case _:
                return f"coalesce({self.ordered(value, node.operator, bound_of(node))}, false)"

    def visit_column(self, column: str, node: Comparison) -> str:
        texts = [item for item in items_of(node) if isinstance(item, str)]
        match node.operator:
            case "==" | "in":
                return f"coalesce(list_contains({self.bind(texts, 'VARCHAR[]')}, {column}), false)"
            case "!=" | "not in":
                return f"({column} IS NOT NULL AND NOT list_contains({self.bind(texts, 'VARCHAR[]')}, {column}))"
            case "contains_any":
                return "false"
            case operator:
                if not texts:
                    return "false"
                return f"coalesce({column} {operator} {self.bind(texts[0], 'VARCHAR')}, false)"

    def any_of(self, value: str, items: tuple[Scalar, ...]) -> str:
        """True where the JSON `value` is a scalar equal to one of `items`, kinds kept apart."""
        integers = [int(i) for i in items if kind(i) == "number" and as_integer(i) is not None]
        floats = [float(i) for i in items if kind(i) == "number" and as_float(i) is not None]
        texts = [i for i in items if isinstance(i, str)]
        booleans = [i for i in items if isinstance(i, bool)]
        parts = []
        if integers:
            cast = f"TRY_CAST({value} AS BIGINT)"
            parts.append(
                f"(json_type({value}) IN {_INTEGER} AND list_contains({self.bind(integers, 'BIGINT[]')}, {cast}))"
            )
        if floats:
            cast = f"TRY_CAST({value} AS DOUBLE)"
            parts.append(f"(json_type({value}) = 'DOUBLE' AND list_contains({self.bind(floats, 'DOUBLE[]')}, {cast}))")
        if texts:
            cast = f"json_extract_string({value}, '$')"
            parts.append(f"(json_type({value}) = 'VARCHAR' AND list_contains({self.bind(texts, 'VARCHAR[]')}, {cast}))")
        if booleans:
            cast = f"TRY_CAST({value} AS BOOLEAN)"
            parts.append(
                f"(json_type({value}) = 'BOOLEAN' AND list_contains({self.bind(booleans, 'BOOLEAN[]')}, {cast}))"
            )
        return "(" + " OR ".join(parts) + ")" if parts else "false"

    def ordered(self, value: str, operator: str, bound: Scalar) -> str:
        """`value operator bound` for <, <=, > and >=, within the bound's kind."""
        if isinstance(bound, bool):
            cast = f"TRY_CAST({value} AS BOOLEAN)"
            return f"(json_type({value}) = 'BOOLEAN' AND {cast} {operator} {self.bind(bound, 'BOOLEAN')})"
        if isinstance(bound, str):
            cast = f"json_extract_string({value}, '$')"
            return f"(json_type({value}) = 'VARCHAR' AND {cast} {operator} {self.bind(bound, 'VARCHAR')})"
        integer = self._moved(f"TRY_CAST({value} AS BIGINT)", integer_bound(operator, bound), "BIGINT")
        floating = self._moved(f"TRY_CAST({value} AS DOUBLE)", float_bound(operator, bound), "DOUBLE")
        return (
            f"CASE WHEN json_type({value}) IN {_INTEGER} THEN {integer} "
            f"WHEN json_type({value}) = 'DOUBLE' THEN {floating} ELSE false END"
        )

    def bind(self, value: object, type_: str) -> str:
        name = f"f{len(self.params)}"
        self.params[name] = value
        return f"${name}::{type_}"

    def _moved(self, cast: str, bound: tuple[str, int | float] | bool, type_: str) -> str:
        if isinstance(bound, bool):
            return "true" if bound else "false"
        return f"{cast} {bound[0]} {self.bind(bound[1], type_)}"
