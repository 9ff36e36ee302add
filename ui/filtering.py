"""The asker's filter as JSON text, as lines, and as chips."""

from __future__ import annotations

import json
from typing import Any

from kgcore import FilterError
from kgcore.filters import conditions_of, parse_filter
from kgcore.filters.grammar import MAX_CONDITIONS, MAX_DEPTH

MAX_NESTING = 4 * MAX_DEPTH
EXAMPLE = '{"field": "year", "operator": ">=", "value": 2024}'


def read_json(text: str) -> Any:
    """What a text in JSON holds, whether it is a filter or not. Raises FilterError when it is not JSON, or too deep."""
    try:
        read = json.loads(text)
    except (ValueError, RecursionError) as error:
        where = f" at line {error.lineno}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        raise FilterError(f"The filter is not JSON{where}.", remedy=f"Write it as {EXAMPLE}.", path="") from error
    if _nests(read):
        raise FilterError(
            "The filter is nested too deep.", remedy=f"Keep its groups within {MAX_DEPTH} of another.", path=""
        )
    return read


def read_filter(text: str) -> dict[str, Any] | None:
    """The filter that a text spells, None for an empty one. Raises FilterError before anything runs."""
    if not text.strip():
        return None
    read = read_json(text)
    parse_filter(read)
    return dict(read)


def conditions(caller: dict[str, Any] | None) -> list[tuple[str, str]]:
    """The conditions that all must hold, each as a label and as the filter's text without it."""
    return [
        (label(part), json.dumps(without, ensure_ascii=False) if without else "")
        for part, without in conditions_of(caller)
    ]


def label(condition: dict[str, Any]) -> str:
    """A condition as a person reads it: `year >= 2024`, `any of 3 conditions`."""
    if "conditions" in condition:
        kind = "any" if condition["operator"] == "OR" else "all"
        return f"{kind} of {len(condition['conditions'])} conditions"
    value = condition["value"]
    shown = ", ".join(map(_shown, value)) if isinstance(value, list) else _shown(value)
    return f"{condition['field']} {condition['operator']} {shown}"


def outline(held: Any) -> list[str]:
    """What a text in JSON holds, a line a condition, groups indented; whether the grammar allows it or not."""
    lines: list[str] = []
    waiting: list[tuple[Any, int]] = [(held, 0)]
    while waiting and len(lines) < 2 * MAX_CONDITIONS:
        part, level = waiting.pop()
        inner = part.get("conditions") if isinstance(part, dict) and "field" not in part else None
        if isinstance(inner, list) and level < MAX_DEPTH:
            line = {"AND": "all of", "OR": "any of"}.get(str(part.get("operator")), f"{part.get('operator')} of")
            waiting += [(condition, level + 1) for condition in reversed(inner)]
        elif isinstance(part, dict) and part.keys() == {"field", "operator", "value"}:
            line = label(part)
        else:
            line = _shown(part)
        lines.append("  " * level + line)
    return [*lines, "…"] if waiting else lines


def _nests(value: Any) -> bool:
    """Whether brackets stand deeper in each other than any filter has them."""
    inner = [value]
    for _ in range(MAX_NESTING):
        inner = [
            part
            for one in inner
            if isinstance(one, list | dict)
            for part in (one.values() if isinstance(one, dict) else one)
        ]
    return bool(inner)


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
