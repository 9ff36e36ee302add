"""Who sees how much: the principals that a graph's edges name, and what each of them sees of it.

For administrators: no part of a retrieval, a tool or another page reads this.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kgcore.errors import ConfigError
from kgcore.filters import AccessFilter, Place, Template
from kgcore.store.protocol import GraphStore
from kgcore.types import Scalar

PRINCIPALS = 1_000
"""Principals of a field that are listed."""


@dataclass(frozen=True, kw_only=True)
class Principal:
    """A value that edges hold in a field of the locked filter, and how many do.

    `claims` are those of a person who is this and nothing else; None where no claim gives the value, or where a person
    needs other claims beside.
    """

    field: str
    value: Scalar
    named: int
    claims: Mapping[str, Any] | None


@dataclass(frozen=True, kw_only=True)
class Seen:
    """How much of a graph somebody sees."""

    edges: int
    entities: int


def open_template(store: GraphStore) -> Template:
    """The locked filter to look through where none is configured: any of a person's principals is among an edge's.

    It reads `allowed_principals`, or of the store's access fields the first that an edge has. Raises ConfigError for a
    store without any, StoreError.
    """
    fields = sorted(store.access_fields, key=lambda field: (field != "allowed_principals", field))
    if not fields:
        raise ConfigError("No property of an edge is an access field.", remedy="Name one in HOPSCOPE_ACCESS_FIELDS.")
    field = next((field for field in fields if store.principals(field, 1)), fields[0])
    return Template.parse({"field": field, "operator": "contains_any", "value": {"claim": "principals"}})


def principals(store: GraphStore, template: Template, limit: int = PRINCIPALS) -> tuple[Principal, ...]:
    """The principals of each field that a claim is compared with, at most `limit` a field, the most named first."""
    fields = dict.fromkeys(place.field for place in template.places)
    return tuple(
        Principal(field=field, value=one.value, named=one.count, claims=_claims_of(one.value, field, template))
        for field in fields
        for one in store.principals(field, limit)
    )


def claim_values(claim: str, template: Template, known: tuple[Principal, ...]) -> tuple[Scalar, ...]:
    """What a claim may be for its holder to see anything through it, the most named first, each once."""
    found: dict[tuple[type, Scalar], Scalar] = {}
    for place in template.places:
        if place.claim == claim:
            values = (_value_at(place, one.value) for one in known if one.field == place.field)
            found |= {(type(value), value): value for value in values if value is not None}
    return tuple(found.values())


def is_many(claim: str, template: Template) -> bool:
    """Whether a claim may be several values wherever it stands."""
    return all(place.many for place in template.places if place.claim == claim)


def seen(store: GraphStore, locked: Mapping[str, Any] | None) -> Seen:
    """What a locked filter lets through; None, what a template gives who is denied, lets through nothing."""
    if locked is None:
        return Seen(edges=0, entities=0)
    described = store.describe(AccessFilter.of(locked, access_fields=store.access_fields))
    return Seen(edges=described.edges, entities=described.entities)


def _claims_of(value: Scalar, field: str, template: Template) -> dict[str, Any] | None:
    places = [place for place in template.places if place.field == field]
    if len(template.claims) > 1:
        return None
    for place in places:
        held = _value_at(place, value)
        if held is not None:
            claims = {place.claim: [held] if is_many(place.claim, template) else held}
            if template.fill(claims) is not None:
                return claims
    return None


def _value_at(place: Place, value: Scalar) -> Scalar | None:
    """The claim that stands for this value of its place's field."""
    if not place.prefix:
        return value
    return (
        value.removeprefix(place.prefix) or None if isinstance(value, str) and value.startswith(place.prefix) else None
    )
