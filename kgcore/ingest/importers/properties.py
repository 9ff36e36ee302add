"""Names of columns and attributes as names of properties, which a filter can say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_NONE: Mapping[str, str] = {}


def property_names(names: Iterable[str], known: Mapping[str, str] = _NONE) -> dict[str, str]:
    """A distinct property name for each name: letters, digits and `_`, no digit first. `known` keep theirs.

    A name that is one already stays as it is; what has no such letter is column_N.
    """
    made = dict(known)
    wanted = [name for name in dict.fromkeys(names) if name not in made]
    taken = {*made.values(), *(name for name in wanted if _plain(name) == name)}
    for name in wanted:
        plain = _plain(name) or f"column_{len(made) + 1}"
        while plain in taken and plain != name:
            plain += "_"
        taken.add(plain)
        made[name] = plain
    return made


def _plain(name: str) -> str:
    plain = re.sub(r"[^A-Za-z0-9_]+", "_", name)
    if plain != name:
        plain = plain.strip("_")
    if not plain.strip("_"):
        return ""
    if plain.isdigit():
        return f"column_{plain}"
    return f"_{plain}" if plain[0].isdigit() else plain
