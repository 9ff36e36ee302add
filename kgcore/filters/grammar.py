"""The filter grammar, once: a dict is parsed to a small tree that each store's compiler visits.

Rules (design section 3): a missing property is unknown and excluded by every comparison; kinds (number,
string, boolean) never mix; a list answers only `contains_any`, a scalar never does.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kgcore.errors import FilterError
from kgcore.names import is_unicode
from kgcore.types import Scalar

COMPARISONS = ("==", "!=", ">", ">=", "<", "<=", "in", "not in", "contains_any")
LIST_COMPARISONS = ("in", "not in", "contains_any")
MAX_DEPTH, MAX_CONDITIONS, MAX_ITEMS = 16, 256, 10_000
EDGE_FIELDS = ("key", "description", "source_doc_id", "src_name", "dst_name")
"""Fields that are an edge's own, not its document's metadata."""

_FIELD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_INT_LIMIT = 2**63


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """`value` is a scalar, or a tuple of scalars for `in`, `not in` and `contains_any`."""

    field: str
    operator: str
    value: Scalar | tuple[Scalar, ...]


@dataclass(frozen=True, kw_only=True)
class And:
    """All of its conditions."""

    conditions: tuple[Node, ...]


@dataclass(frozen=True, kw_only=True)
class Or:
    """Any of its conditions."""

    conditions: tuple[Node, ...]


@dataclass(frozen=True, kw_only=True)
class Nothing:
    """Matches no edge: what a caller's condition on an access field is."""


Node = Comparison | And | Or | Nothing


def parse_filter(value: object) -> Node:
    """The tree of a filter given as a dict. Raises FilterError with the path of the first fault."""
    count = [0]
    return _parse(value, "", 1, count)


def filter_dict(node: Node) -> dict[str, Any]:
    """A filter tree as the dict that parses to it (canonical: keys in one order)."""
    match node:
        case Comparison(field=name, operator=operator, value=value):
            return {"field": name, "operator": operator, "value": list(value) if isinstance(value, tuple) else value}
        case And(conditions=conditions):
            return {"operator": "AND", "conditions": [filter_dict(c) for c in conditions]}
        case Or(conditions=conditions):
            return {"operator": "OR", "conditions": [filter_dict(c) for c in conditions]}
        case Nothing():
            return {"operator": "NOTHING"}


def comparisons(node: Node) -> Iterator[Comparison]:
    """Every comparison of a tree, left to right."""
    if isinstance(node, Comparison):
        yield node
    elif isinstance(node, And | Or):
        for condition in node.conditions:
            yield from comparisons(condition)


def conditions_of(filter: Mapping[str, Any] | None) -> list[tuple[dict[str, Any], dict[str, Any] | None]]:
    """The conditions of a valid filter that all must hold, each with the filter that is left without it."""
    if filter is None:
        return []
    if filter.get("operator") != "AND":
        return [(dict(filter), None)]
    parts = list(filter["conditions"])
    return [(part, _all_of(parts[:at] + parts[at + 1 :])) for at, part in enumerate(parts)]


def _all_of(parts: list[dict[str, Any]]) -> dict[str, Any] | None:
    if len(parts) < 2:
        return parts[0] if parts else None
    return {"operator": "AND", "conditions": parts}


def without_fields(node: Node, fields: frozenset[str]) -> Node:
    """The tree with every comparison on one of `fields` answering as a property that nothing has."""
    match node:
        case Comparison(field=name) if name in fields:
            return Nothing()
        case And(conditions=conditions):
            return And(conditions=tuple(without_fields(c, fields) for c in conditions))
        case Or(conditions=conditions):
            return Or(conditions=tuple(without_fields(c, fields) for c in conditions))
    return node


def kind(value: object) -> str:
    """`number`, `string`, `boolean` or `list`."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "list"


def _parse(value: object, path: str, depth: int, count: list[int]) -> Node:
    if not isinstance(value, Mapping):
        raise _error(path, f"A condition is an object, not {_name(value)}", 'write {"field", "operator", "value"}')
    if depth > MAX_DEPTH:
        raise _error(path, f"The filter is nested deeper than {MAX_DEPTH}", "flatten its AND and OR groups")
    if "field" in value:
        count[0] += 1
        if count[0] > MAX_CONDITIONS:
            raise _error(
                path, f"The filter has more than {MAX_CONDITIONS} conditions", "use `in` with a list of values"
            )
        return _parse_comparison(value, path)
    return _parse_group(value, path, depth, count)


def _parse_comparison(value: Mapping[str, object], path: str) -> Comparison:
    name = value["field"]
    if not isinstance(name, str) or not _FIELD.fullmatch(name):
        raise _error(_at(path, "field"), f"{_shown(name)} is not a field name", "use letters, digits and _ only")
    operator = value.get("operator")
    if not isinstance(operator, str) or operator not in COMPARISONS:
        fault = f"{_shown(operator)} is not an operator" if "operator" in value else "The operator is missing"
        raise _error(_at(path, "operator"), fault, f"use one of {', '.join(COMPARISONS)}")
    _no_extra(value, ("field", "operator", "value"), path)
    return Comparison(field=name, operator=operator, value=_parse_value(value, operator, _at(path, "value")))


def _parse_value(value: Mapping[str, object], operator: str, path: str) -> Scalar | tuple[Scalar, ...]:
    if "value" not in value:
        raise _error(path, "The value is missing", 'add "value"')
    given = value["value"]
    if operator not in LIST_COMPARISONS:
        return _scalar(given, path)
    if not isinstance(given, list | tuple):
        raise _error(path, f"`{operator}` takes a list, not {_name(given)}", "put the value in [ ]")
    if len(given) > MAX_ITEMS:
        raise _error(path, f"The list has more than {MAX_ITEMS:,} items", "split it")
    return tuple(_scalar(item, path) for item in given)


def _scalar(value: object, path: str) -> Scalar:
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        if not -_INT_LIMIT <= value < _INT_LIMIT:
            raise _error(path, f"{_shown(value)} is larger than 64 bits", "use a number up to 2^63-1")
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise _error(path, f"{value} is not a number that can be compared", "use a finite number")
        return value
    if isinstance(value, str):
        if "\0" in value or not is_unicode(value):
            raise _error(path, "The text holds a character that cannot be stored", "remove it")
        return value
    raise _error(path, f"A value is a number, a text or true/false, not {_name(value)}", "give one of these")


def _parse_group(value: Mapping[str, object], path: str, depth: int, count: list[int]) -> Node:
    operator = value.get("operator")
    if operator not in ("AND", "OR"):
        is_comparison = operator in COMPARISONS or ("value" in value and not {"operator", "conditions"} & value.keys())
        if not is_comparison:
            fault = f"{_shown(operator)} does not join conditions" if "operator" in value else "The operator is missing"
            raise _error(_at(path, "operator"), fault, "use AND or OR")
        raise _error(_at(path, "field"), "The field is missing", 'add "field"')
    _no_extra(value, ("operator", "conditions"), path)
    conditions = value.get("conditions")
    where = _at(path, "conditions")
    if not isinstance(conditions, list | tuple) or not conditions:
        raise _error(where, f"`{operator}` needs a list of conditions", "give at least one condition in [ ]")
    parsed = tuple(_parse(c, f"{where}[{i}]", depth + 1, count) for i, c in enumerate(conditions))
    return And(conditions=parsed) if operator == "AND" else Or(conditions=parsed)


def _no_extra(value: Mapping[str, object], allowed: tuple[str, ...], path: str) -> None:
    for name in value:
        if name not in allowed:
            raise _error(_at(path, str(name)), f"{_shown(name)} does not belong here", f"keep {', '.join(allowed)}")


def _error(path: str, message: str, remedy: str) -> FilterError:
    where = f" at {path}" if path else ""
    return FilterError(f"{message}{where}.", remedy=remedy[0].upper() + remedy[1:] + ".", path=path)


def _at(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _shown(value: object) -> str:
    if value is None:
        return "nothing"
    try:
        text = json.dumps(value, ensure_ascii=False, default=repr)
    except (TypeError, ValueError, RecursionError):
        return f"a value of type {type(value).__name__}"
    return text if len(text) <= 60 else text[:59] + "…"


def _name(value: object) -> str:
    return {"list": "a list", "dict": "an object", "str": "a text", "NoneType": "nothing"}.get(
        type(value).__name__, _shown(value)
    )
