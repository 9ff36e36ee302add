"""The filter tree as a Cypher condition on one variable's properties.

Every value is bound; property names are quoted. Numbers compare exactly: Cypher would compare a 64-bit integer
with a float as two floats, so the bound is moved to each kind here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from kgcore.filters.grammar import And, Comparison, Node, Nothing, Or, kind
from kgcore.filters.numbers import as_float, as_integer, bound_of, float_bound, integer_bound, items_of
from kgcore.types import Scalar

MIXED = "\u0001"
"""Neo4j's lists are of one kind. A list of several is kept as texts: this mark, then the item as JSON."""

_SCALAR = "BOOLEAN NOT NULL | STRING NOT NULL | INTEGER NOT NULL | FLOAT NOT NULL"
_TEMPORAL = " | ".join(
    f"{name} NOT NULL"
    for name in ("DATE", "LOCAL DATETIME", "ZONED DATETIME", "LOCAL TIME", "ZONED TIME", "DURATION", "POINT")
)


def quoted(name: str) -> str:
    """A label, type or property name as an identifier that nothing can break out of.

    Cypher reads `\\u0060` as a backtick before it looks for the closing one, so a backslash is spelled out too.
    """
    return "`" + name.replace("\\", "\\u005C").replace("`", "``") + "`"


def texts_of(value: str) -> str:
    """The expression with dates, times and points as their texts."""
    return f"CASE WHEN {value} IS :: {_TEMPORAL} THEN toString({value}) ELSE {value} END"


class CypherFilter:
    """Compiles filters on one variable; `params` numbers every bound value once, `f0`, `f1`, ...

    `columns` gives the expression of a field that is not a property, "" for one that nothing has. `stored` gives
    the name that a property is kept under. With `foreign`, dates, times and points compare as their texts.
    """

    def __init__(
        self,
        variable: str,
        columns: Mapping[str, str],
        stored: Mapping[str, str],
        *,
        foreign: bool = False,
    ) -> None:
        self.variable, self.columns, self.stored, self.foreign = variable, columns, stored, foreign
        self.params: dict[str, object] = {}

    def compile(self, node: Node | None) -> str:
        """The condition, "true" for no filter."""
        return "true" if node is None else self._visit(node)

    def property(self, name: str) -> str:
        """The expression of a property's value."""
        return f"{self.variable}.{quoted(self.stored.get(name, name))}"

    def _visit(self, node: Node) -> str:
        match node:
            case Nothing():
                return "false"
            case And(conditions=conditions):
                return "(" + " AND ".join(self._visit(c) for c in conditions) + ")"
            case Or(conditions=conditions):
                return "(" + " OR ".join(self._visit(c) for c in conditions) + ")"
            case Comparison():
                return self._comparison(node)

    def _comparison(self, node: Comparison) -> str:
        value = self.columns.get(node.field, self.property(node.field))
        if not value:
            return "false"
        is_column = node.field in self.columns
        if node.operator == "contains_any":
            return "false" if is_column else self._contains_any(value, items_of(node))
        if self.foreign:
            value = f"({texts_of(value)})"
        match node.operator:
            case "==" | "in":
                return self._any_of(value, items_of(node))
            case "!=" | "not in":
                return f"(coalesce({value} IS :: {_SCALAR}, false) AND NOT {self._any_of(value, items_of(node))})"
            case operator:
                return self._ordered(value, operator, bound_of(node))

    def _contains_any(self, value: str, items: tuple[Scalar, ...]) -> str:
        item = f"({texts_of('x')})" if self.foreign else "x"
        found = f"any(x IN {value} WHERE {self._any_of(item, items, listed=True)})"
        return f"CASE WHEN {value} IS :: LIST<ANY> NOT NULL THEN {found} ELSE false END"

    def _any_of(self, value: str, items: tuple[Scalar, ...], *, listed: bool = False) -> str:
        """True where `value` is a scalar equal to one of `items`, kinds kept apart."""
        numbers = [i for i in items if kind(i) == "number"]
        integers = [whole for i in numbers if (whole := as_integer(i)) is not None]
        floats = [real for i in numbers if (real := as_float(i)) is not None]
        texts = [i for i in items if isinstance(i, str)]
        if listed:
            texts += [MIXED + json.dumps(i, ensure_ascii=False) for i in (*items, *integers, *floats)]
        booleans = [i for i in items if isinstance(i, bool)]
        parts = []
        if integers:
            parts.append(f"({value} IS :: INTEGER NOT NULL AND {value} IN {self._bind(integers)})")
        if floats:
            parts.append(f"({value} IS :: FLOAT NOT NULL AND {value} IN {self._bind(floats)})")
        parts += [f"{value} IN {self._bind(listed_)}" for listed_ in (texts, booleans) if listed_]
        return f"coalesce({' OR '.join(parts)}, false)" if parts else "false"

    def _ordered(self, value: str, operator: str, bound: Scalar) -> str:
        """`value operator bound` for <, <=, > and >=, within the bound's kind."""
        if isinstance(bound, bool | str):
            return f"coalesce({value} {operator} {self._bind(bound)}, false)"
        integer = self._moved(value, integer_bound(operator, bound))
        floating = self._moved(value, float_bound(operator, bound))
        return (
            f"CASE WHEN {value} IS :: INTEGER NOT NULL THEN {integer} "
            f"WHEN {value} IS :: FLOAT NOT NULL THEN {floating} ELSE false END"
        )

    def _moved(self, value: str, bound: tuple[str, int | float] | bool) -> str:
        if isinstance(bound, bool):
            return "true" if bound else "false"
        return f"{value} {bound[0]} {self._bind(bound[1])}"

    def _bind(self, value: object) -> str:
        name = f"f{len(self.params)}"
        self.params[name] = value
        return f"${name}"
