"""What a filter's row is chosen from: fields, the operators that fit them, values; and how typed text is read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kgcore import FilterError
from kgcore.filters import parse_filter
from kgcore.filters.grammar import COMPARISONS, EDGE_FIELDS, LIST_COMPARISONS, kind
from kgcore.types import Description, FieldValue, Scalar
from kgcore.viz import cut, plain

LONGEST_LABEL = 80
SCALARS = ("boolean", "number", "string")
OWN_FIELDS: Mapping[str, str] = {
    "key": "attribute",
    "description": "description",
    "source_doc_id": "source document",
    "src_name": "source name",
    "dst_name": "target name",
}
"""The edge's own fields as a person reads them; all of EDGE_FIELDS, in its order."""

_FITTING: Mapping[str, tuple[str, ...]] = {
    "boolean": ("==", "!=", "in", "not in"),
    "number": tuple(operator for operator in COMPARISONS if operator != "contains_any"),
    "string": tuple(operator for operator in COMPARISONS if operator != "contains_any"),
    "list": ("contains_any",),
}
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_LONGEST_NUMBER = 400
_WANTED = {"boolean": "true or false", "number": "a number", "string": "a text"}


@dataclass(frozen=True, kw_only=True)
class Field:
    """A field that can be filtered by: its kinds (none when no visible edge has it) and its label, plain text."""

    name: str
    kinds: tuple[str, ...]
    label: str


def fields_of(visible: Description, hidden: frozenset[str]) -> dict[str, Field]:
    """By name: the properties that a filter can name, then the edge's own fields; those in `hidden` are none."""
    counts = {property.name: property.count for property in visible.properties}
    named = [p for p in visible.properties if p.name not in EDGE_FIELDS and _can_be_named(p.name)]
    found = [
        Field(name=p.name, kinds=p.kinds, label=f"{plain(p.name, LONGEST_LABEL)} · {'/'.join(p.kinds)} · {p.count:,}")
        for p in named
    ]
    found += [
        Field(name=name, kinds=("string",), label=f"{label} · {counts.get(name, 0):,}")
        for name, label in OWN_FIELDS.items()
    ]
    shown = [field for field in found if field.name not in hidden]
    labels = distinct(field.label for field in shown)
    return {f.name: Field(name=f.name, kinds=f.kinds, label=label) for f, label in zip(shown, labels, strict=True)}


def operators_for(kinds: Sequence[str]) -> tuple[str, ...]:
    """The operators that fit one of these kinds; without kinds, all."""
    return tuple(o for o in COMPARISONS if not kinds or any(o in _FITTING[kind_] for kind_ in kinds))


def takes_list(operator: Any) -> bool:
    """Whether a condition of this operator has a list of values."""
    return operator in LIST_COMPARISONS


def scalar_kinds(kinds: Sequence[str], found: Sequence[FieldValue]) -> tuple[str, ...]:
    """The kinds that a value of a field can be of: its own, and for its lists those of their visible items."""
    known = {*kinds, *(kind(one.value) for one in found)} - {"list"}
    return tuple(sorted(known)) or SCALARS


def value_labels(found: Sequence[FieldValue], held: Sequence[Any], kinds: Sequence[str]) -> dict[str, Any]:
    """Values by their labels, no two of which are alike: those found with their counts, then others that are held.

    A label is what would be typed for its value where that is possible.
    """
    told = distinct(f"{shown(one.value, kinds)} · {one.count:,}" for one in found)
    labels: dict[str, Any] = {label: one.value for label, one in zip(told, found, strict=True)}
    for value in held:
        labels = with_held(labels, value, shown(value, kinds))
    return labels


def with_held(labels: Mapping[str, Any], value: Any, label: str) -> dict[str, Any]:
    """The same labels, and under this one, or one like it, a value that none of them stands for."""
    if label_of(value, labels) is not None:
        return dict(labels)
    return {**labels, distinct([*labels, label])[-1]: value}


def label_of(value: Any, labels: Mapping[str, Any]) -> str | None:
    """The label of a value, kinds told apart."""
    wanted = exact(value)
    return next((label for label, one in labels.items() if exact(one) == wanted), None)


def shown(value: Any, kinds: Sequence[str] = SCALARS) -> str:
    """A value as one line of plain text. A text that would be read as another kind is in quotes."""
    if not isinstance(value, str):
        text = plain(exact(value), LONGEST_LABEL)
        fits = isinstance(value, bool | int | float) and kind(value) in kinds
        return text if fits or not isinstance(value, bool | int | float) else f"{text} ({kind(value)})"
    text = plain(value, LONGEST_LABEL)
    if not text:
        return cut(json.dumps(value), LONGEST_LABEL)
    if "string" in kinds and len(kinds) == 1:
        return text
    return cut(json.dumps(text, ensure_ascii=False), LONGEST_LABEL) if _is_another(value, kinds) else text


def read_value(text: str, kinds: Sequence[str]) -> Scalar:
    """Typed text as a value of one of these kinds: a number, true or false, else the text.

    Where there are several kinds, a text in double quotes is a text. Raises FilterError for what is of no kind
    that the field has, or cannot be a value.
    """
    value = _read(text, kinds)
    if value is None:
        wanted = " or ".join(_WANTED[name] for name in SCALARS if name in kinds)
        raise FilterError(
            f"“{cut(plain(text), 40)}” is not {wanted}.", remedy="Type one, or choose from the list.", path="value"
        )
    parse_filter({"field": "value", "operator": "==", "value": value})
    return value


def exact(value: Any) -> str:
    """JSON that is the same for the same value of the same kind only."""
    return json.dumps(value)


def distinct(labels: Iterable[str]) -> list[str]:
    """The same labels, the second of its like and those after it numbered."""
    taken: set[str] = set()
    told = []
    for label in labels:
        one, number = label, 2
        while one in taken:
            one, number = f"{label} ({number})", number + 1
        taken.add(one)
        told.append(one)
    return told


def _can_be_named(name: str) -> bool:
    try:
        parse_filter({"field": name, "operator": "==", "value": ""})
    except FilterError:
        return False
    return True


def _is_another(text: str, kinds: Sequence[str]) -> bool:
    """Whether a text, typed as it is, would not be read as itself."""
    read = _read(text, kinds)
    return not isinstance(read, str) or read != text


def _read(text: str, kinds: Sequence[str]) -> Scalar | None:
    bare = text.strip()
    if "number" in kinds and len(bare) <= _LONGEST_NUMBER and _NUMBER.fullmatch(bare):
        return int(bare) if re.fullmatch(r"[+-]?[0-9]+", bare) else float(bare)
    if "boolean" in kinds and bare in ("true", "false"):
        return bare == "true"
    if "string" not in kinds:
        return None
    if len(kinds) > 1 and len(bare) > 1 and bare[0] == bare[-1] == '"':
        try:
            quoted = json.loads(bare)
        except ValueError:
            return text
        return str(quoted)
    return text
