"""The deployment's locked filter, whose values may be claims of the person who asks.

In a value, `{"claim": "groups"}` stands for what the person's sign-in says of them, and
`{"claim": "groups", "prefix": "group:"}` for the same with a text before it. Claims are bound values, never parsed.
A claim that is missing, empty or of another kind than its place needs denies everything, wherever it stands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from kgcore.errors import ConfigError, FilterError
from kgcore.filters.grammar import LIST_COMPARISONS, MAX_DEPTH, comparisons, parse_filter
from kgcore.types import Scalar

SETTING = "HOPSCOPE_LOCKED_FILTER"
_PLACE = re.compile(r"(?:conditions\[\d+\]\.?)*(?:(?:conditions|field|operator|value)(?:\[\d+\])?$)?")
_Reference = Mapping[str, Any]


class _Denied(Exception):
    """A claim that cannot be bound."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a claim stands: the field that is compared with it, the text put before it, and whether it may be many."""

    claim: str
    field: str
    prefix: str
    many: bool


@dataclass(frozen=True, kw_only=True)
class Template:
    """A locked filter with places for claims: `claims` it needs, `fields` it compares. Without claims it is fixed."""

    claims: frozenset[str]
    fields: frozenset[str]
    text: str = field(repr=False)
    """The filter as JSON: whom it names is nobody's to read."""

    @property
    def places(self) -> tuple[Place, ...]:
        """Where its claims stand, in the filter's order."""
        return tuple(_places(json.loads(self.text)))

    @classmethod
    def parse(cls, setting: object) -> Template:
        """From JSON text, or the table that it spells. Raises ConfigError that says where, and quotes no value."""
        given = _read(setting) if isinstance(setting, str) else setting
        needed: set[str] = set()

        def sample(reference: _Reference) -> Scalar:
            needed.add(reference["claim"])
            return "sample"

        try:
            tree = parse_filter(_filled(given, sample))
        except FilterError as error:
            raise _error(error.path, error.remedy) from None
        fields = frozenset(comparison.field for comparison in comparisons(tree))
        return cls(claims=frozenset(needed), fields=fields, text=json.dumps(_filled(given, dict)))

    def fill(self, claims: Mapping[str, Any]) -> dict[str, Any] | None:
        """The filter for the person with these claims; None denies everything."""
        try:
            filled: dict[str, Any] = _filled(json.loads(self.text), lambda reference: _bound(reference, claims))
            parse_filter(filled)
        except (_Denied, FilterError):
            return None
        return filled


def _places(node: Mapping[str, Any]) -> Iterator[Place]:
    for condition in node.get("conditions", ()):
        yield from _places(condition)
    value = node.get("value")
    takes_list = isinstance(value, list) or node.get("operator") in LIST_COMPARISONS
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, Mapping):
            yield Place(claim=item["claim"], field=node["field"], prefix=item.get("prefix", ""), many=takes_list)


def _filled(node: Any, bind: Callable[[_Reference], Any], path: str = "", depth: int = 1) -> Any:
    """The same filter with what `bind` gives in the places of its claims. What is no filter stays for the grammar."""
    if not isinstance(node, Mapping) or depth > MAX_DEPTH:
        return node
    filled = dict(node)
    if "field" in node:
        if "value" in node:
            takes_list = node.get("operator") in LIST_COMPARISONS
            filled["value"] = _value(node["value"], bind, f"{path}value", takes_list=takes_list)
    elif isinstance(node.get("conditions"), list | tuple):
        filled["conditions"] = [
            _filled(condition, bind, f"{path}conditions[{at}].", depth + 1)
            for at, condition in enumerate(node["conditions"])
        ]
    return filled


def _value(value: Any, bind: Callable[[_Reference], Any], path: str, *, takes_list: bool) -> Any:
    if isinstance(value, Mapping):
        bound = bind(_reference(value, path))
        return bound if isinstance(bound, list) or not takes_list else [bound]
    if not isinstance(value, list | tuple):
        return value
    items: list[Any] = []
    for at, item in enumerate(value):
        bound = bind(_reference(item, f"{path}[{at}]")) if isinstance(item, Mapping) else item
        items.extend(bound if isinstance(item, Mapping) and isinstance(bound, list) else [bound])
    return items


def _reference(value: Mapping[str, Any], path: str) -> _Reference:
    claim, prefix = value.get("claim"), value.get("prefix", "")
    if not isinstance(claim, str) or not claim or not isinstance(prefix, str) or value.keys() - {"claim", "prefix"}:
        raise _error(path, 'Write {"claim": NAME}, or {"claim": NAME, "prefix": TEXT}.')
    return value


def _bound(reference: _Reference, claims: Mapping[str, Any]) -> Scalar | list[Scalar]:
    value, prefix = claims.get(reference["claim"]), reference.get("prefix")
    if not isinstance(value, list | tuple):
        return _item(value, prefix)
    if not value:
        raise _Denied
    return [_item(item, prefix) for item in value]


def _item(value: object, prefix: str | None) -> Scalar:
    if isinstance(value, str) and value.strip():
        return value if prefix is None else prefix + value
    if prefix is None and isinstance(value, bool | int | float):
        return value
    raise _Denied


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ConfigError(
            f"{SETTING} is not JSON.", remedy='Write it as {"field": ..., "operator": ..., "value": ...}.'
        ) from None


def _error(path: str, remedy: str) -> ConfigError:
    """`path` without what is no part of a filter, which may be a value that went astray."""
    place = _PLACE.findall(path)[0].rstrip(".")
    return ConfigError(f"{SETTING} cannot be used{f' at {place}' if place else ''}.", remedy=remedy)
