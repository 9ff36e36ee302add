"""Cells of other tools' files as the texts and the properties that a graph holds."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from kgcore.ingest.source import Notes
from kgcore.text import whole_characters
from kgcore.types import PropertyValue, Scalar

_INT64 = range(-(2**63), 2**63)


def text_of(cell: object) -> str | None:
    """A cell as trimmed text, a number without loss; None where it is empty, not a number, or nested."""
    value = _scalar(cell)
    if isinstance(value, bool):
        return str(value).lower()
    return None if value is None else str(value).strip() or None


def unquoted(text: str | None) -> str | None:
    """The text without a pair of quotes around all of it, which some tools leave in names and types."""
    if text is not None and len(text) > 1 and text[0] == text[-1] == '"' and '"' not in text[1:-1]:
        return text[1:-1].strip() or None
    return text


def properties_of(cells: Mapping[str, object], notes: Notes) -> dict[str, PropertyValue]:
    """What of these cells properties can hold, under names that a filter can use. Empty cells are nothing."""
    found: dict[str, PropertyValue] = {}
    for name, cell in cells.items():
        value = _value(cell)
        if value is None:
            if isinstance(cell, dict | list | bytes) and cell:
                notes.add("values left out that are nested or vectors")
            continue
        plain = _field(name)
        if plain != name:
            notes.add("values kept under a name of letters, digits and _")
        while plain in found or (plain != name and plain in cells):
            plain += "_"
        found[plain] = value
    return found


def _field(name: str) -> str:
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name.strip())
    return plain if plain and not plain[0].isdigit() else f"_{plain}"


def _value(cell: object) -> PropertyValue | None:
    if not isinstance(cell, list):
        return _scalar(cell)
    given = [item for item in cell if item is not None]
    items = tuple(item for item in map(_scalar, given) if item is not None)
    if not items or len(items) < len(given) or any(isinstance(item, float) for item in items):
        return None  # nested, or a vector
    return items


def _scalar(cell: object) -> Scalar | None:
    if isinstance(cell, str):
        return whole_characters(cell) or None
    if isinstance(cell, float):
        return cell if math.isfinite(cell) else None
    if isinstance(cell, bool):
        return cell
    if isinstance(cell, int):
        return cell if cell in _INT64 else str(cell)
    return None
