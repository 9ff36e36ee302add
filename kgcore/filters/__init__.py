"""Filters: one grammar, one tree, one compiler a store."""

from kgcore.filters.access import DEFAULT_ACCESS_FIELDS, WHOLE, AccessFilter, access_field
from kgcore.filters.grammar import (
    And,
    Comparison,
    Node,
    Nothing,
    Or,
    comparisons,
    conditions_of,
    filter_dict,
    parse_filter,
)
from kgcore.filters.template import Place, Template

__all__ = [
    "DEFAULT_ACCESS_FIELDS",
    "WHOLE",
    "AccessFilter",
    "And",
    "Comparison",
    "Node",
    "Nothing",
    "Or",
    "Place",
    "Template",
    "access_field",
    "comparisons",
    "conditions_of",
    "filter_dict",
    "parse_filter",
]
