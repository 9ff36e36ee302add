"""Cells of other tools' files as the texts and the properties that a graph holds."""

from __future__ import annotations

from collections.abc import Mapping

from kgcore.ingest.importers.properties import as_text, property_names, property_value
from kgcore.ingest.source import Notes
from kgcore.types import PropertyValue


def text_of(cell: object) -> str | None:
    """A cell as trimmed text, a number without loss; None where it is empty, not a number, or nested."""
    return as_text(property_value(cell)) or None


def unquoted(text: str | None) -> str | None:
    """The text without a pair of quotes around all of it, which some tools leave in names and types."""
    if text is not None and len(text) > 1 and text[0] == text[-1] == '"' and '"' not in text[1:-1]:
        return text[1:-1].strip() or None
    return text


def properties_of(cells: Mapping[str, object], notes: Notes) -> dict[str, PropertyValue]:
    """What of these cells properties can hold, under names that a filter can use. Empty cells are nothing."""
    found: dict[str, PropertyValue] = {}
    for name, plain in property_names(cells).items():
        cell = cells[name]
        value = property_value(cell)
        if isinstance(cell, dict | bytes) or (isinstance(cell, list) and cell and (value is None or _is_vector(value))):
            notes.add("values left out that are nested or vectors")
        elif value is not None:
            found[plain] = value
            if plain != name:
                notes.add("values kept under a name of letters, digits and _")
    return found


def _is_vector(value: PropertyValue) -> bool:
    return isinstance(value, tuple) and any(isinstance(item, float) for item in value)
