"""Where in a passage a fact is said."""

from __future__ import annotations

import re
from itertools import pairwise

from kgcore.viz.labels import utf16_length

_BOUNDARY = re.compile(r"(?<=[.!?\u061f])[\"'\u201d\u2019)\]]*\s+|(?<=[\u3002\uff01\uff1f])|\n+")
_WORD = re.compile(r"\w+")


def said_at(content: str, source: str, target: str, text: str) -> tuple[int, int] | None:
    """The sentence that holds both names, else the one that shares most words with the fact.

    Offsets are in UTF-16 units, as the browser counts. None when no sentence shares a word.
    """
    words = set(_WORD.findall(text.casefold()))
    names = [name.casefold() for name in (source, target) if name]
    best: tuple[tuple[int, float], int, int] | None = None
    for start, end in _sentences(content):
        sentence = content[start:end].casefold()
        held = sum(name in sentence for name in names)
        shared = len(words & set(_WORD.findall(sentence))) / max(1, len(words))
        if (held or shared) and (best is None or (held, shared) > best[0]):
            best = ((held, shared), start, end)
    if best is None:
        return None
    _, start, end = best
    before = utf16_length(content[:start])
    return before, before + utf16_length(content[start:end])


def _sentences(content: str) -> list[tuple[int, int]]:
    cuts = [0, *(match.end() for match in _BOUNDARY.finditer(content)), len(content)]
    spans = []
    for start, end in pairwise(cuts):
        stripped = content[start:end].strip()
        if stripped:
            first = content.index(stripped, start)
            spans.append((first, first + len(stripped)))
    return spans
