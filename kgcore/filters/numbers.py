"""Numbers in filters, compared exactly: a bound is moved to the kind that a store holds, never rounded by it."""

from __future__ import annotations

import math

from kgcore.filters.grammar import Comparison
from kgcore.types import Scalar

_INT64 = (-(2**63), 2**63 - 1)


def items_of(node: Comparison) -> tuple[Scalar, ...]:
    """The values that a comparison names."""
    return node.value if isinstance(node.value, tuple) else (node.value,)


def bound_of(node: Comparison) -> Scalar:
    """The one value of an ordering."""
    assert not isinstance(node.value, tuple)
    return node.value


def as_integer(number: Scalar) -> int | None:
    """The 64-bit integer equal to this number, if there is one."""
    if isinstance(number, float) and not number.is_integer():
        return None
    integer = int(number)
    return integer if _INT64[0] <= integer <= _INT64[1] else None


def as_float(number: Scalar) -> float | None:
    """The float equal to this number, if there is one."""
    floating = float(number)
    return floating if floating == number else None


def integer_bound(operator: str, bound: int | float) -> tuple[str, int] | bool:
    """The bound for integers, or a constant where it lies outside 64 bits."""
    moved = bound if isinstance(bound, int) else math.ceil(bound) if operator in ("<", ">=") else math.floor(bound)
    if moved > _INT64[1]:
        return operator in ("<", "<=")
    if moved < _INT64[0]:
        return operator in (">", ">=")
    return operator, moved


def float_bound(operator: str, bound: int | float) -> tuple[str, float]:
    """The bound for floats. An integer between two floats is replaced by the nearer, kept in or out."""
    floating = float(bound)
    if floating == bound:
        return operator, floating
    above = floating > bound
    return {
        "<": "<" if above else "<=",
        "<=": "<" if above else "<=",
        ">": ">=" if above else ">",
        ">=": ">=" if above else ">",
    }[operator], floating
