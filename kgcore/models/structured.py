"""JSON in a model's answer: found among prose, and held against its schema."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "number": (int, float),
    "integer": int,
    "boolean": bool,
    "null": type(None),
}
_FENCED = re.compile(r"```\w*\s(.*?)```", re.DOTALL)
_OPENING = re.compile(r"[{\[]")
# A string, to its end or to the text's, or a bracket. Possessive: linear in the text, whatever it holds.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"?|[{}\[\]]', re.DOTALL)


def find_object(text: str) -> dict[str, Any] | None:
    """The first JSON object in a fenced block, else in the text; never a piece of a larger or broken one."""
    for source in (*_FENCED.findall(text), text):
        end = 0
        while opening := _OPENING.search(source, end):
            end = _find_end(source, opening.start())
            try:
                value = json.loads(source[opening.start() : end])
            except (ValueError, RecursionError):
                continue
            if isinstance(value, dict):
                return value
    return None


def _find_end(text: str, start: int) -> int:
    """Where the bracket that opens at start is closed; the text's end if it is not."""
    depth = 0
    for token in _TOKEN.finditer(text, start):
        depth += (token[0] in "{[") - (token[0] in "}]")
        if depth == 0:
            return token.end()
    return len(text)


def find_fault(answer: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """What is wrong with an answer, to follow "The answer"; empty if nothing is."""
    properties: Mapping[str, Any] = schema.get("properties", {})
    missing = [key for key in schema.get("required", ()) if key not in answer]
    echoed = any(key in answer and key not in properties for key in ("$schema", "properties"))
    if echoed and (missing or not schema.get("required")):
        return "is the schema itself, not filled in"
    if missing:
        return f"lacks {', '.join(missing)}"
    for key, value in answer.items():
        kinds = properties.get(key, {}).get("type", [])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        if kinds and not any(_is(value, kind) for kind in kinds):
            return f"has a {key} that is not of type {' or '.join(kinds)}"
    return ""


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _TYPES.get(kind, object))
