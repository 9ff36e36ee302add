"""The asker's filter as JSON text, and as chips."""

from __future__ import annotations

import json
from typing import Any

from kgcore import FilterError
from kgcore.filters import parse_filter

EXAMPLE = '{"field": "year", "operator": ">=", "value": 2024}'


def read_filter(text: str) -> dict[str, Any] | None:
    """The filter that a text spells, None for an empty one. Raises FilterError before anything runs."""
    if not text.strip():
        return None
    try:
        read = json.loads(text)
    except (ValueError, RecursionError) as error:
        where = f" at line {error.lineno}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        raise FilterError(f"The filter is not JSON{where}.", remedy=f"Write it as {EXAMPLE}.", path="") from error
    parse_filter(read)
    return dict(read)


def conditions(caller: dict[str, Any] | None) -> list[tuple[str, str]]:
    """The conditions that all must hold, each as a label and as the filter's text without it."""
    if caller is None:
        return []
    if caller.get("operator") != "AND":
        return [(label(caller), "")]
    parts = caller["conditions"]
    return [(label(part), _all_of(parts[:at] + parts[at + 1 :])) for at, part in enumerate(parts)]


def label(condition: dict[str, Any]) -> str:
    """A condition as a person reads it: `year >= 2024`, `any of 3 conditions`."""
    if "conditions" in condition:
        kind = "any" if condition["operator"] == "OR" else "all"
        return f"{kind} of {len(condition['conditions'])} conditions"
    value = condition["value"]
    shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return f"{condition['field']} {condition['operator']} {shown}"


def _all_of(parts: list[dict[str, Any]]) -> str:
    if not parts:
        return ""
    left = parts[0] if len(parts) == 1 else {"operator": "AND", "conditions": parts}
    return json.dumps(left, ensure_ascii=False)
