"""Values between Neo4j and us: lists of several kinds, dates, times, durations and points."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from neo4j.spatial import Point
from neo4j.time import Date, DateTime, Duration, Time

from kgcore.filters.cypher import MIXED
from kgcore.store.values import checked
from kgcore.types import PropertyValue, Scalar

RESERVED = frozenset(
    {"id", "fact_id", "src_name", "dst_name", "key", "description", "source_doc_id", "embedding", "content"}
    | {"document_id"}
)
"""What our own records are made of: a property of one of these names is kept with a prefix."""
_PREFIX = "meta."
MAX_NUMBERS = 64
"""A longer list of numbers in a foreign graph is a vector, not something to show."""
_CRS = {7203: "cartesian", 9157: "cartesian-3d", 4326: "wgs-84", 4979: "wgs-84-3d"}


def stored_name(name: str) -> str:
    """The name that a property is kept under."""
    return _PREFIX + name if name in RESERVED or name.startswith(_PREFIX) else name


STORED = {name: stored_name(name) for name in RESERVED}


def to_store(properties: Mapping[str, PropertyValue]) -> dict[str, Any]:
    """Properties as our own records keep them. Raises StoreError for what cannot be kept."""
    return {stored_name(name): _to_store(value) for name, value in checked(properties).items()}


def from_store(held: Mapping[str, Any], hidden: frozenset[str]) -> dict[str, PropertyValue]:
    """The properties of one of our own records by name, without the `hidden`."""
    named = {
        name.removeprefix(_PREFIX): value for name, value in held.items() if value is not None and name not in RESERVED
    }
    return {name: from_neo4j(named[name]) for name in sorted(named) if name not in hidden}


def from_foreign(held: Mapping[str, Any], hidden: frozenset[str]) -> dict[str, PropertyValue]:
    """The properties of a foreign record by name, without the `hidden` and vectors; what is no value is its text."""
    kept = [name for name in sorted(held) if name not in hidden and not _is_vector(held[name])]
    return {name: from_neo4j(held[name]) for name in kept if held[name] is not None}


def from_neo4j(value: Any) -> PropertyValue:
    """A value that a property holds."""
    if isinstance(value, list):
        if any(isinstance(item, str) and item.startswith(MIXED) for item in value):
            return tuple(json.loads(item[1:]) for item in value)
        return tuple(scalar(item) for item in value)
    return scalar(value)


def scalar(value: Any) -> Scalar:
    """A single value; dates, times, durations and points as Cypher's `toString` writes them."""
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Date):
        return value.iso_format()
    if isinstance(value, DateTime | Time):
        return _moment(value)
    if isinstance(value, Duration):
        return value.iso_format()
    if isinstance(value, Point):
        axes = ", ".join(f"{axis}: {number}" for axis, number in zip("xyz", value, strict=False))
        return f"point({{{axes}, crs: '{_CRS.get(value.srid or 0, str(value.srid))}'}})"
    if isinstance(value, bytes | bytearray):
        return value.hex()
    return str(value)


def _moment(value: DateTime | Time) -> str:
    text = re.sub(r"\.(\d*?)0+(?=\D|$)", lambda m: f".{m[1]}" if m[1] else "", value.iso_format())
    text = text.replace("+00:00", "Z")
    zone = getattr(value.tzinfo, "zone", None) or getattr(value.tzinfo, "key", None)
    return f"{text}[{zone}]" if zone and zone != "UTC" else text


def _to_store(value: Any) -> Any:
    if isinstance(value, list):
        kinds = {type(item) for item in value}
        if len(kinds) > 1 or any(isinstance(item, str) and item.startswith(MIXED) for item in value):
            return [MIXED + json.dumps(item, ensure_ascii=False) for item in value]
    return value


def _is_vector(value: Any) -> bool:
    if isinstance(value, list):
        return len(value) > MAX_NUMBERS and isinstance(value[0], float | int)
    return type(value).__module__.startswith("neo4j.vector")
