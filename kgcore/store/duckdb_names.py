"""Finding seeds in a DuckDB graph: by name, by mention, by vector. Only names that a visible edge gives count."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from kgcore.filters import DEFAULT_ACCESS_FIELDS, AccessFilter
from kgcore.names import fold, spelling_distance, tokens, words_of
from kgcore.store.duckdb_file import DuckFile
from kgcore.store.duckdb_rows import DuckRows
from kgcore.store.values import closest, likeness
from kgcore.types import Match, Vector

Hit = tuple[int, int, int, float]
"""A query, the number of a name, that of its entity, and a score."""


class DuckNames(DuckRows):
    """The seeding part of `GraphReader` over one file."""

    def __init__(self, file: DuckFile, access_fields: frozenset[str] = DEFAULT_ACCESS_FIELDS) -> None:
        super().__init__(file, access_fields)
        self._vectors: (
            tuple[int, tuple[npt.NDArray[np.float32], npt.NDArray[np.int32], npt.NDArray[np.int32]]] | None
        ) = None

    def find_mentions(self, spans: Sequence[str], filter: AccessFilter, *, spelled: bool = False) -> tuple[Match, ...]:
        asked = [words_of(span) for span in spans]
        unique = sorted({words for words in asked if words})
        if spelled:
            distances = [spelling_distance(words) for words in unique]
            rows = self.file.rows(_SPELLED_MENTIONS, {"words": unique, "distance": distances})
        else:
            rows = self.mention_rows(unique)
        hits = [
            (query, name, node, 1 - letters / len(words))
            for query, words in enumerate(asked)
            for name, node, named, letters in rows
            if named == words
        ]
        return _best(self._matches(hits, filter), None)

    def match_names(self, names: Sequence[str], filter: AccessFilter, limit: int) -> tuple[Match, ...]:
        folded = [fold(name) for name in names]
        rows = self.file.rows(_SAME_NAMES, {"folded": sorted(set(folded))})
        hits = [
            (query, name, node, 1.0) for query, text in enumerate(folded) for name, node, named in rows if named == text
        ]
        found = self._matches(hits, filter)
        for spelled in (False, True):
            left = {i: tokens(name) for i, name in enumerate(names) if i not in {match.query for match in found}}
            matches = self._matches(self._token_hits(left, spelled=spelled), filter)
            found += [replace(m, score=likeness(names[m.query], m.name)) for m in matches]
        return _best(found, limit)

    def nearest_entities(self, vectors: Sequence[Vector], filter: AccessFilter, k: int) -> tuple[Match, ...]:
        found: list[Match] = []
        for query, vector in enumerate(vectors if self.file.dimension and k > 0 else ()):
            found += _best(self._nearest(query, vector, filter, k), k)
        return tuple(found)

    def _nearest(self, query: int, vector: Vector, filter: AccessFilter, k: int) -> list[Match]:
        """Fetches on until k visible entities are found or no name is left."""
        self.file.check_vector(vector)
        matrix, ords, nodes = self._name_vectors()
        size = max(32, 4 * k)
        while True:
            near, scores, limit = closest(matrix, vector, size)
            hits = [(query, int(ords[i]), int(nodes[i]), score) for i, score in zip(near, scores, strict=True)]
            best = _best(self._matches(hits, filter), k)
            if size >= len(matrix) or (len(best) == k and best[-1].score > limit):
                return list(best)
            size *= 8

    def _name_vectors(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """All name vectors with their name and entity numbers, read once a version (1.5 kB a name)."""
        version = self.file.version
        if self._vectors is None or self._vectors[0] != version:
            columns = self.file.columns(
                "SELECT embedding, ord, node FROM name WHERE embedding IS NOT NULL ORDER BY ord"
            )
            matrix = columns["embedding"].reshape(-1, self.file.dimension or 1)
            self._vectors = (version, (matrix, columns["ord"], columns["node"]))
        return self._vectors[1]

    def _token_hits(self, wanted: Mapping[int, list[str]], *, spelled: bool) -> list[Hit]:
        """Every name that holds all tokens of a query, each equal or, if `spelled`, nearly so."""
        words = sorted({token for listed in wanted.values() for token in listed})
        if not words:
            return []
        variants = self._spellings(words) if spelled else [(word, word) for word in words]
        asked = [(i, word, len(set(listed))) for i, listed in wanted.items() for word in dict.fromkeys(listed)]
        rows = self.file.rows(
            """
            WITH asked AS (SELECT unnest($query::INTEGER[]) AS query, unnest($word::VARCHAR[]) AS word,
                                  unnest($size::INTEGER[]) AS size),
                 variant AS (SELECT unnest($from::VARCHAR[]) AS word, unnest($to::VARCHAR[]) AS token),
                 hit AS (SELECT asked.query, asked.size, token.name FROM asked JOIN variant USING (word)
                         JOIN token USING (token) GROUP BY asked.query, asked.size, token.name
                         HAVING count(DISTINCT asked.word) = asked.size)
            SELECT hit.query, n.ord, n.node FROM hit JOIN name n ON n.ord = hit.name
            """,
            {
                "query": [a[0] for a in asked],
                "word": [a[1] for a in asked],
                "size": [a[2] for a in asked],
                "from": [v[0] for v in variants],
                "to": [v[1] for v in variants],
            },
        )
        return [(query, name, node, 0.0) for query, name, node in rows]

    def _spellings(self, words: Sequence[str]) -> list[tuple[str, str]]:
        rows = self.file.rows(
            """
            WITH asked AS (SELECT unnest($word::VARCHAR[]) AS word, unnest($distance::INTEGER[]) AS distance),
                 known AS (SELECT DISTINCT token FROM token
                           WHERE token[1] IN (SELECT word[1] FROM asked))
            SELECT asked.word, known.token FROM asked JOIN known ON known.token[1] = asked.word[1]
            WHERE known.token = asked.word OR (abs(length(known.token) - length(asked.word)) <= asked.distance
                  AND damerau_levenshtein(known.token, asked.word) <= asked.distance)
            """,
            {"word": list(words), "distance": [spelling_distance(word) for word in words]},
        )
        return [(row[0], row[1]) for row in rows]

    def _matches(self, hits: Sequence[Hit], filter: AccessFilter) -> list[Match]:
        """Of the hits, those whose name a visible edge gives."""
        shown = self.shown((node for _, _, node, _ in hits), filter)
        visible = [hit for hit in hits if hit[2] in shown and hit[1] in shown[hit[2]].names]
        names = self.name_rows(name for _, name, _, _ in visible)
        return [
            Match(
                query=query,
                entity_id=shown[node].end.id,
                name=names[name],
                type=shown[node].end.type,
                score=round(score, 6),
            )
            for query, name, node, score in visible
            if name in names
        ]

    @property
    def _vector_type(self) -> str:
        return f"FLOAT[{self.file.dimension}]"


_SAME_NAMES = """
SELECT ord, node, folded FROM name WHERE folded IN (SELECT unnest($folded::VARCHAR[]))
"""
_SPELLED_MENTIONS = """
WITH asked AS (SELECT unnest($words::VARCHAR[]) AS words, unnest($distance::INTEGER[]) AS distance)
SELECT n.ord, n.node, asked.words, damerau_levenshtein(n.words, asked.words) AS letters
FROM name n JOIN asked ON n.words[1] = asked.words[1]
WHERE abs(length(n.words) - length(asked.words)) <= asked.distance
  AND damerau_levenshtein(n.words, asked.words) <= asked.distance
"""


def _best(matches: Iterable[Match], limit: int | None) -> tuple[Match, ...]:
    """Each entity once a query, by its best name (then the first), in order, at most `limit` a query."""
    ordered = sorted(matches, key=lambda m: (m.query, -m.score, m.entity_id, m.name))
    taken: dict[int, dict[str, Match]] = {}
    for match in ordered:
        listed = taken.setdefault(match.query, {})
        if match.entity_id not in listed and (limit is None or len(listed) < limit):
            listed[match.entity_id] = match
    return tuple(match for listed in taken.values() for match in listed.values())
