"""Finding seeds in a Neo4j graph: by name, by mention, by vector. Only names that a visible edge gives count.

Indexes give candidates only. A candidate is checked and scored here, in an order that no index decides, so that
what the filter hides changes neither what is found nor where it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from rapidfuzz.distance import DamerauLevenshtein

from kgcore.errors import StoreError
from kgcore.filters import AccessFilter
from kgcore.filters.cypher import quoted
from kgcore.names import fold, spelling_distance, tokens, words_of
from kgcore.store.neo4j_rows import NeoRows, State, standing
from kgcore.store.values import check_dimension, likeness
from kgcore.types import Match, Vector

Named = tuple[str, str]
"""An entity's id and one of its names."""
Hit = tuple[float, str, str]
"""A score, an entity's id and the name that has it."""

MAX_HITS = 20_000
"""Names that an index is asked for at most for one name."""
MAX_MENTION = 200
"""Letters of a name's words that its index holds."""
MAX_TOKENS = 32
MAX_WHOLE = 200_000
"""Names of a foreign graph, or edges that give them, that are read whole."""
EXACT = 1_000
"""A graph of so many names has its vectors compared one by one: an approximate index may leave some out."""
FETCHED = 200
"""Names that a vector index is asked for at least: it finds by leaps, and asked for 32 it left out one of the five best
for 17 of 100 questions, for 100 for one, for 200 for none (16,246 names)."""


class NeoNames(NeoRows):
    """The seeding part of `GraphReader` over one database."""

    _table: tuple[str, list[Named]] | None = None

    def find_mentions(self, spans: Sequence[str], filter: AccessFilter, *, spelled: bool = False) -> tuple[Match, ...]:
        asked = [words_of(span) for span in spans]
        unique = sorted({words for words in asked if words})
        found = self._spelled_like(unique) if spelled else self._worded(unique)
        by_words: dict[str, list[Named]] = {}
        for id_, name in found:
            by_words.setdefault(words_of(name), []).append((id_, name))
        matches: list[Match] = []
        for query, words in enumerate(asked):
            hits: list[Hit] = []
            for named, listed in by_words.items() if words else ():
                letters = 0 if named == words else _letters(words, named) if spelled else None
                if letters is not None:
                    hits += [(1 - letters / len(words), id_, name) for id_, name in listed]
            matches += self._best(query, hits, filter, None)
        return tuple(matches)

    def match_names(self, names: Sequence[str], filter: AccessFilter, limit: int) -> tuple[Match, ...]:
        same = self._worded(sorted({words_of(name) for name in names}))
        matches: list[Match] = []
        for query, name in enumerate(names):
            folded = fold(name)
            hits: list[Hit] = [(1.0, id_, named) for id_, named in same if fold(named) == folded]
            found = self._best(query, hits, filter, limit)
            for spelled in (False, True):
                found = found or self._best(query, self._with_tokens(name, spelled=spelled), filter, limit)
            matches += found
        return tuple(matches)

    def nearest_entities(self, vectors: Sequence[Vector], filter: AccessFilter, k: int) -> tuple[Match, ...]:
        found: list[Match] = []
        state = self.state
        if state.dimension is None or k <= 0 or not (self.side or self.layout.mapping.entity_vector):
            return ()
        for query, vector in enumerate(vectors):
            check_dimension(vector, state.dimension)
            found += self._nearest(query, vector, filter, k)
        return tuple(found)

    def missing(self, state: State) -> list[str]:
        said = []
        label, layout = self._names_label, self.layout
        if state.names > EXACT and not self._reads_whole(state) and self._text_index(state) is None:
            said.append("The full-text index on names is missing or not online: names are read one by one.")
        vectors = layout.mapping.entity_vector if state.dimension and self.side is None else ""
        if state.names > EXACT and vectors and state.vector_index(label, vectors) is None:
            said.append("The vector index on names is missing or not online: vectors are compared one by one.")
        return said

    @property
    def _names_label(self) -> str:
        return "EntityName" if self.layout.own else next(iter(self.layout.mapping.labels), "")

    def _reads_whole(self, state: State) -> bool:
        """Whether every name of a foreign graph is read: its index may leave out words, signs, and what edges say.

        An index is asked when there are too many.
        """
        return not self.layout.own and max(state.names, self._naming_edges(state)) <= MAX_WHOLE

    def _naming_edges(self, state: State) -> int:
        return state.edges if self.layout.mapping.source_name else 0

    def _text_index(self, state: State) -> str | None:
        """The name of the full-text index that holds every entity's name, if there is one."""
        layout = self.layout
        if layout.own:
            index = state.text_index("EntityName", "words")
            return index.name if index else None
        if len(layout.mapping.names) != 1 or self._reads_whole(state):
            return None
        for label in layout.mapping.labels:
            index = state.text_index(label, layout.mapping.names[0])
            if index and set(layout.mapping.labels) <= set(index.labels):
                return index.name
        return None

    def _nearest(self, query: int, vector: Vector, filter: AccessFilter, k: int) -> list[Match]:
        """Fetches on until k visible entities are found or no name is left."""
        size = max(32, 4 * k)
        exactly = vector.astype(np.float64)
        while True:
            if self.side is not None:
                hits = self.side.nearest(vector, size)
                limit = min(score for score, _, _ in hits) if len(hits) < len(self.side.names) else None
            else:
                rows, limit = self._near(vector, size)
                # Scored again here: a server's last digits are its own.
                hits = [
                    (round(float(np.asarray(held) @ exactly), 6), id_, name) for id_, name, held, _ in standing(rows)
                ]
            found = self._best(query, hits, filter, k)
            if limit is None or (len(found) == k and found[-1].score > limit):
                return found
            size *= 8

    def _near(self, vector: Vector, size: int) -> tuple[list[list[Any]], float | None]:
        """(id, name, vector, cosine) of the names nearest to a vector, and what no other's cosine is above, if any."""
        state, layout = self.state, self.layout
        label = layout.names_label
        held = f"n.{quoted(layout.mapping.entity_vector)}"
        index = state.vector_index(self._names_label, layout.mapping.entity_vector)
        asked = max(FETCHED, size)
        params: dict[str, object] = {
            "vector": vector.tolist(), "size": size, "asked": asked, "dimension": state.dimension,
        }  # fmt: skip
        if index is None or state.names <= EXACT or asked >= state.names:
            found = f"MATCH (n{label}) WHERE size({held}) = $dimension "
        elif self.searches:
            found = (
                f"CYPHER 25 MATCH (n{label}) SEARCH n IN (VECTOR INDEX {quoted(index.name)} FOR $vector LIMIT $asked) "
            )
        else:
            params["index"] = index.name
            found = "CALL db.index.vector.queryNodes($index, $asked, $vector) YIELD node AS n "
        query = (
            f"{found} WITH n, vector.similarity.cosine({held}, $vector) AS score ORDER BY score DESC LIMIT $size "
            f"RETURN {layout.id('n')}, {layout.name('n')}, {held}, 2 * score - 1"
        )
        try:
            rows = self.server.rows(query, params)
        except StoreError:
            # Dropped, or being built, since it was looked for.
            if not self.has_changed(index):
                raise
            return self._near(vector, size)
        return rows, float(rows[-1][3]) + 1e-5 if len(rows) == size else None

    @property
    def searches(self) -> bool:
        """Whether the server has the SEARCH clause, which replaces the procedures."""
        if self._searches is None:
            version = self.server.components()[0].split(".")
            self._searches = version[0].isdigit() and int(version[0]) >= 2026
        return self._searches

    _searches: bool | None = None

    def _worded(self, words: Sequence[str]) -> list[Named]:
        """Every name that may have exactly one of these words."""
        if not words:
            return []
        if self.layout.own:
            mentions = sorted({text[:MAX_MENTION] for text in words})
            return self._named("n.mention IN $mentions", {"mentions": mentions})
        wanted = set(words)
        return self.candidates([_phrase(text) for text in words if text], lambda name: words_of(name) in wanted)

    def _spelled_like(self, words: Sequence[str]) -> list[Named]:
        """Every name whose words may differ in a few letters from these, their first letter the same."""
        if not words:
            return []
        if not self.layout.own:
            slack = [_nearly(tokens(text)) for text in words if tokens(text)]
            return self.candidates(
                slack, lambda name: any(_letters(text, words_of(name)) is not None for text in words)
            )
        asked = [
            [text[0], max(1, len(text) - spelling_distance(text)), len(text) + spelling_distance(text)]
            for text in words
        ]
        found = self.server.rows(
            "UNWIND $asked AS asked MATCH (n:EntityName) WHERE n.mention STARTS WITH asked[0] "
            "AND ((size(n.mention) >= asked[1] AND size(n.mention) <= asked[2]) OR size(n.mention) = $longest) "
            "RETURN DISTINCT n.id, n.name",
            {"asked": asked, "longest": MAX_MENTION},
        )
        return standing(found)

    def _with_tokens(self, name: str, *, spelled: bool) -> list[Hit]:
        """Every name that holds all tokens of one, each equal or, if `spelled`, nearly so, by likeness."""
        asked = list(dict.fromkeys(tokens(name)))
        if not asked:
            return []
        query = _nearly(asked) if spelled else _all_of(asked)
        rows = self.candidates([query], lambda held: _holds(asked, held, spelled=spelled))
        return [(likeness(name, held), id_, held) for id_, held in rows]

    def candidates(self, queries: Sequence[str], fits: Callable[[str], bool]) -> list[Named]:
        """Names that pass, from the full-text index, or from all names where it is missing."""
        index = self._text_index(self.state)
        if index is not None:
            try:
                return [named for named in self.text_hits(index, queries) if fits(named[1])]
            except StoreError:
                # Dropped or being built since it was looked for.
                if not self.has_changed(self.state.indexes.get(index)):
                    raise
        return [named for named in self.all_names() if fits(named[1])]

    def text_hits(self, index: str, queries: Sequence[str]) -> list[Named]:
        """The names that a full-text index finds for any of these queries, each once."""
        layout = self.layout
        found = self.server.rows(
            "UNWIND $queries AS query CALL db.index.fulltext.queryNodes($index, query, {limit: $limit}) "
            f"YIELD node AS n RETURN DISTINCT {layout.id('n')}, {layout.name('n')}",
            {"queries": list(queries), "index": index, "limit": MAX_HITS},
        )
        return standing(found)

    def all_names(self) -> list[Named]:
        """Every name, visible or not, read once a version: only for use under a filter."""
        version = self.state.version
        if self._table is None or self._table[0] != version:
            by_edges = self._reads_whole(self.state) and self._naming_edges(self.state) > 0
            named = self._named_by_edges() if by_edges else self._named("true", {})
            self._table = (version, named)
        return self._table[1]

    def _named_by_edges(self) -> list[Named]:
        layout = self.layout
        rows = self.server.rows(
            f"MATCH (a{layout.label})-[r]->(b{layout.label}) UNWIND [[{layout.id('a')}, "
            f"{layout.end_name(source=True)}], [{layout.id('b')}, {layout.end_name(source=False)}]] AS named "
            "RETURN DISTINCT named[0], named[1]"
        )
        return standing(rows)

    def _named(self, where: str, params: dict[str, object]) -> list[Named]:
        layout = self.layout
        entity = layout.is_entity("n")
        rows = self.server.rows(
            f"MATCH (n{layout.names_label}) WHERE {where}{' AND ' + entity if entity else ''} "
            f"RETURN {layout.id('n')}, {layout.name('n')}",
            params,
        )
        return standing(rows)

    def _best(self, query: int, hits: Iterable[Hit], filter: AccessFilter, limit: int | None) -> list[Match]:
        """The best visible entities, each once by its best name (then the first), by (score descending, id).

        Looked at in that order and in parts, so that no more is asked of the server than is needed.
        """
        ordered = sorted(set(hits), key=lambda hit: (-hit[0], hit[1], hit[2]))
        taken: dict[str, Match] = {}
        start, size = 0, 32
        while start < len(ordered) and (limit is None or len(taken) < limit):
            part = ordered[start : start + size]
            shown = self.shown((id_ for _, id_, _ in part), filter)
            for score, id_, name in part:
                seen = shown.get(id_)
                if seen is None or id_ in taken or name not in seen.names:
                    continue
                if limit is None or len(taken) < limit:
                    end = seen.end
                    taken[id_] = Match(query=query, entity_id=id_, name=name, type=end.type, score=round(score, 6))
            start, size = start + size, size * 4
        return list(taken.values())


def _letters(words: str, named: str) -> int | None:
    """In how many letters two texts with the same first one differ, None for more than may be."""
    slack = spelling_distance(words)
    if words[:1] != named[:1] or abs(len(words) - len(named)) > slack:
        return None
    distance = DamerauLevenshtein.distance(words, named, score_cutoff=slack)
    return distance if distance <= slack else None


def _holds(asked: Sequence[str], name: str, *, spelled: bool) -> bool:
    held = tokens(name)
    if not spelled:
        return set(asked) <= set(held)
    return all(any(token == word or _letters(word, token) is not None for token in held) for word in asked)


def _all_of(words: Sequence[str]) -> str:
    """A full-text query for what holds all of these tokens."""
    return " ".join(f'+"{escaped(word)}"' for word in words[:MAX_TOKENS])


def _nearly(words: Sequence[str]) -> str:
    """A full-text query for what holds a token near to each of these: the same first letter, a similar length."""
    parts = []
    for word in words[:MAX_TOKENS]:
        slack = spelling_distance(word)
        low, high = max(0, len(word) - 1 - slack), len(word) - 1 + slack
        parts.append(f"+/{word[0]}.{{{low},{high}}}/" if slack else f'+"{escaped(word)}"')
    return " ".join(parts)


def _phrase(text: str) -> str:
    return f'"{escaped(text)}"'


def escaped(text: str) -> str:
    """Text within the quotes of a full-text query."""
    return text.replace("\\", "\\\\").replace('"', '\\"')
