"""The locked filter and the caller's, AND-ed: what every reading method of a store takes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from kgcore.errors import ConfigError
from kgcore.filters.grammar import And, Comparison, Node, comparisons, filter_dict, parse_filter, without_fields

DEFAULT_ACCESS_FIELDS = frozenset({"allowed_principals"})


@dataclass(frozen=True, kw_only=True)
class AccessFilter:
    """`locked` belongs to the deployment, `caller` to the asker: it can only narrow.

    `access_fields`, those of the locked filter always among them, are never shown, and a caller's condition on one
    answers as an unknown field would.
    """

    locked: Node | None = None
    caller: Node | None = None
    access_fields: frozenset[str] = DEFAULT_ACCESS_FIELDS

    @classmethod
    def of(
        cls,
        locked: Mapping[str, Any] | None = None,
        caller: Mapping[str, Any] | None = None,
        access_fields: frozenset[str] = DEFAULT_ACCESS_FIELDS,
    ) -> AccessFilter:
        """From filters as dicts. Raises FilterError."""
        tree = parse_filter(locked) if locked is not None else None
        return cls(locked=tree, access_fields=access_fields).narrowed(caller)

    def __post_init__(self) -> None:
        fields = {c.field for c in comparisons(self.locked)} if self.locked is not None else set()
        object.__setattr__(self, "access_fields", frozenset(self.access_fields | fields))

    def narrowed(self, caller: Mapping[str, Any] | None) -> AccessFilter:
        """The same locked filter with this caller's filter. Raises FilterError."""
        tree = parse_filter(caller) if caller is not None else None
        return AccessFilter(locked=self.locked, caller=tree, access_fields=self.access_fields)

    @cached_property
    def node(self) -> Node | None:
        """The one tree that a store compiles; None lets everything through."""
        caller = without_fields(self.caller, self.access_fields) if self.caller is not None else None
        parts = tuple(n for n in (self.locked, caller) if n is not None)
        return And(conditions=parts) if len(parts) > 1 else parts[0] if parts else None

    @cached_property
    def key(self) -> str:
        """A hash for caches: equal for filters that let the same edges through in the same form."""
        shown = filter_dict(self.node) if self.node is not None else None
        text = json.dumps([shown, sorted(self.access_fields)], sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def locked_only(self) -> AccessFilter:
        """The same without the caller's part: what its holder may see at all."""
        return AccessFilter(locked=self.locked, access_fields=self.access_fields)

    def caller_fields(self) -> tuple[str, ...]:
        """The fields that the caller's filter names, each once, in order."""
        found: list[Comparison] = list(comparisons(self.caller)) if self.caller is not None else []
        return tuple(dict.fromkeys(c.field for c in found))


WHOLE = AccessFilter.of(access_fields=frozenset())
"""Everything, access metadata too: for what copies, writes or compares a graph, and keeps who may see what."""


def access_field(field: str, access_fields: frozenset[str]) -> str:
    """The field itself, if it is one of these. Raises ConfigError."""
    if field in access_fields:
        return field
    listed = ", ".join(sorted(access_fields)) or "none"
    raise ConfigError(f"{field!r} is not an access field.", remedy=f"Name one of them: {listed}.")
