"""Other names of what the walk has reached: an entity called by the larger part of another's name.

"Saint Helena Parish" may be "Saint Helena": its words stand in a row in the longer name, are at least half of its
letters, and neither name has a number that the other has not. Both are of one type; two of one name stay two. Only
visible names are compared, with no vector and nothing of the whole graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import regex

from kgcore.filters import AccessFilter
from kgcore.names import FUNCTION_WORDS, fold, tokens
from kgcore.store.protocol import GraphReader
from kgcore.types import Alias

PART = 0.5
MAX_WORDS = 12
"""Words of a name that is looked into; longer ones are sentences."""
_NUMBER = regex.compile(r"[ivx]+|.*\p{N}.*")

Reached = tuple[str, str, str]
"""The id, the name and the type of an entity."""


def find_aliases(
    reader: GraphReader, reached: Sequence[Reached], filter: AccessFilter, visited: Iterable[str], limit: int
) -> tuple[Alias, ...]:
    """The aliases of entities in their order, then by (share descending, id); each once, none of those `visited`, nor
    any with more than `limit` visible edges. Raises StoreError."""
    spans: dict[str, list[tuple[float, int]]] = {}
    for position, (_, name, _) in enumerate(reached):
        for span, share in _parts(name).items():
            spans.setdefault(span, []).append((share, position))
    if not spans:
        return ()
    asked = list(spans)
    seen = set(visited)
    ways: dict[str, tuple[int, float, str]] = {}
    for match in reader.find_mentions(asked, filter):
        for share, position in spans[asked[match.query]]:
            _, name, type_ = reached[position]
            if match.entity_id not in seen and match.type == type_ and fold(match.name) != fold(name):
                way = (position, -share, match.name)
                ways[match.entity_id] = min(way, ways.get(match.entity_id, way))
    ends = {end.id: end for end in reader.entities(sorted(ways), filter)} if ways else {}
    return tuple(
        Alias(
            entity_id=id_,
            name=name,
            type=ends[id_].type,
            degree=ends[id_].degree,
            share=round(-share, 6),
            of_id=reached[position][0],
            of_name=reached[position][1],
        )
        for id_, (position, share, name) in sorted(ways.items(), key=lambda way: (way[1][:2], way[0]))
        if id_ in ends and ends[id_].degree <= limit
    )


def _parts(name: str) -> dict[str, float]:
    """The runs of words that may be the name alone, each with its share of the letters."""
    words = tokens(name)
    if len(words) > MAX_WORDS:
        return {}
    whole = " ".join(words)
    numbers = _numbers(words)
    found = {}
    for start in range(len(words)):
        for end in range(start + 1, len(words) + 1):
            span = " ".join(words[start:end])
            if len(span) >= PART * len(whole) and _tells(words[start:end]) and _numbers(words[start:end]) == numbers:
                found[span] = len(span) / len(whole)
    return found


def _numbers(words: Sequence[str]) -> set[str]:
    return {word for word in words if _NUMBER.fullmatch(word)}


def _tells(words: Sequence[str]) -> bool:
    return (len(words) > 1 or len(words[0]) > 3) and any(word not in FUNCTION_WORDS for word in words)
