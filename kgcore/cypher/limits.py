"""What a query may take, and how its arguments are checked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from kgcore.errors import ConfigError

MAX_EDGES = 200_000
"""Edges of a projection."""
MAX_ROWS = 10_000
MAX_BYTES = 4_000_000
"""Of the rows of one answer, as JSON."""
MAX_SECONDS = 30.0
MAX_PARAMETERS = 1_000_000
"""Characters of a query's parameters as JSON."""


def checked(parameters: Mapping[str, Any], rows: int, timeout: float) -> dict[str, Any]:
    """The parameters as JSON values. Raises ConfigError, for the bounds too."""
    if isinstance(rows, bool) or not isinstance(rows, int) or not 1 <= rows <= MAX_ROWS:
        raise ConfigError("`rows` is out of its bounds.", remedy=f"Give 1 to {MAX_ROWS:,}.", field="rows")
    if not 0 < timeout <= MAX_SECONDS:
        raise ConfigError("`timeout` is out of its bounds.", remedy=f"Give up to {MAX_SECONDS:g} s.", field="timeout")
    try:
        if not isinstance(parameters, Mapping):
            raise TypeError
        text = json.dumps(dict(parameters), allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise ConfigError(
            "Parameters are JSON values by name.",
            remedy='Give an object such as {"name": "Helios"}.',
            field="parameters",
        ) from None
    if len(text) > MAX_PARAMETERS:
        raise ConfigError("The parameters are too long.", remedy="Give fewer values.", field="parameters")
    asked: dict[str, Any] = json.loads(text)
    return asked
