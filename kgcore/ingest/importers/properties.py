"""Columns and attributes of a file as properties: names that a filter can say, values that a store can hold."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

from kgcore.text import whole_characters
from kgcore.types import PropertyValue, Scalar

_INTEGERS = range(-(2**63), 2**63)


def property_names(names: Iterable[str]) -> dict[str, str]:
    """A distinct property name for each name: letters, digits and `_`, not a digit first."""
    made: dict[str, str] = {}
    for number, name in enumerate(names, 1):
        plain = re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_")
        if name.startswith("_") and plain:
            plain = f"_{plain}"
        if not plain:
            plain = f"column_{number}"
        elif plain[0].isdigit():
            plain = f"column_{plain}"
        while plain in made.values():
            plain += "_"
        made[name] = plain
    return made


def property_value(value: Any) -> PropertyValue | None:
    """A scalar or a flat list of them; None for what is empty, nested or not a finite number."""
    if isinstance(value, list | tuple):
        items = tuple(_scalar(item) for item in value)
        return None if None in items or not items else tuple(item for item in items if item is not None)
    return _scalar(value)


def _scalar(value: Any) -> Scalar | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value) if value in _INTEGERS else str(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, str):
        return whole_characters(value) or None
    return None


def as_text(value: Any) -> str:
    """A scalar as a trimmed text: numbers as they are written, true and false; empty for all else."""
    if isinstance(value, str):
        return whole_characters(value).strip()
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else ""
