"""How a hop's candidates are scored: `coverage` (the default) and `edge` (the reference).

Coverage (steps 1, 2 and 5 of the recipe): for each wordpiece of the question, the highest cosine of its vector in the
question's context with the vector of any wordpiece of the fact, each embedded alone; a path covers the elementwise
maximum of its facts; its score is the weighted mean, w_t = ln(1 + max(id_t - 1995, 0) / 50) (the vocabulary is
ordered by frequency; 1996 is "the"), normalised. A word the vocabulary does not know weighs as a rare one, and is
covered by its surface: 1 where it stands in the fact's text, else the share of its character bigrams that do.
Nothing but the candidates is looked at, so a hidden edge cannot change a score.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kgcore.models.offline import Encoded, OfflineEmbedder
from kgcore.names import fold
from kgcore.types import NO_NEW_WORDS, Explained, Word

Array = npt.NDArray[np.float64]
DECIMALS = 6
"""Scores are rounded so; what is equal then is a tie, broken by id."""
MAX_WORDS = 4
EXPLAINED = 0.4
"""A word counts as explained from this coverage on: the same word gives about 0.85, an unrelated one 0.1 to 0.3."""
_THE, _UNKNOWN, _SPECIAL = 1996, 100, 104
_SCALE = 50


@dataclass(frozen=True, kw_only=True)
class _Unit:
    """A part of the question with one coverage: a wordpiece, or a word that the vocabulary does not know."""

    word: int
    weight: float
    piece: int | None
    surface: str = ""


class Coverage:
    """One question's words and how texts cover them. Arrays have shape (texts, units), values 0..1, float64."""

    def __init__(self, embedder: OfflineEmbedder, encoded: Encoded, question: str) -> None:
        self._embedder = embedder
        self._encoded = encoded
        self.words, self._units = _units(encoded, question)
        self.weights = np.array([unit.weight for unit in self._units], np.float64)
        self._by_word = np.zeros((len(self._units), len(self.words)))
        self._by_word[range(len(self._units)), [unit.word for unit in self._units]] = 1
        self._memo: dict[str, Array] = {}
        self.ms = 0.0
        """Milliseconds spent so far on covering texts, each once."""

    def ms_of(self, texts: int) -> float:
        """What so many texts take, by those so far."""
        return texts * self.ms / len(self._memo) if self._memo else 0.0

    def of(self, texts: Sequence[str]) -> Array:
        """What each text covers."""
        missing = list(dict.fromkeys(text for text in texts if text not in self._memo))
        if missing:
            began = time.perf_counter()
            self._memo.update(zip(missing, self._cover(missing), strict=True))
            self.ms += (time.perf_counter() - began) * 1000
        return np.array([self._memo[text] for text in texts]).reshape(len(texts), len(self._units))

    def nothing(self) -> Array:
        """The coverage of an empty path, shape (units,)."""
        return np.zeros(len(self._units))

    def score(self, covered: Array) -> Array:
        """w . coverage along the last axis, rounded."""
        return np.round(covered @ self.weights, DECIMALS)

    def explained(self, before: Array, after: Array) -> list[tuple[Explained, ...]]:
        """For each row, the words that `after` covers better than `before`, most gained first, at most four.

        A word that is still poorly covered (below `EXPLAINED`) is not named. Empty below `NO_NEW_WORDS` in all.
        """
        gains = np.round((np.maximum(after - before, 0) * self.weights) @ self._by_word, DECIMALS)
        named = (gains >= NO_NEW_WORDS) & (self.word_coverage(after) >= EXPLAINED)
        named[gains.sum(axis=1) < NO_NEW_WORDS] = False
        return [_named(row, names) for row, names in zip(gains.tolist(), named.tolist(), strict=True)]

    def word_coverage(self, covered: Array) -> Array:
        """The weighted mean coverage of each word: shape (..., units) to (..., words)."""
        weight = self.weights @ self._by_word
        total = (covered * self.weights) @ self._by_word
        return np.divide(total, weight, out=np.zeros_like(total), where=weight > 0)

    def _cover(self, texts: Sequence[str]) -> Array:
        covered = np.zeros((len(texts), len(self._units)))
        pieces = [ids[ids >= _SPECIAL] for ids in self._embedder.pieces(texts)]
        known = [i for i, ids in enumerate(pieces) if len(ids)]
        columns = [i for i, unit in enumerate(self._units) if unit.piece is not None]
        if known and columns:
            flat = np.concatenate([pieces[i] for i in known])
            unique, where = np.unique(flat, return_inverse=True)
            asked = self._encoded.vectors[[unit.piece for unit in self._units if unit.piece is not None]]
            # Products in float64 do not depend, after rounding, on how many texts are compared at once.
            cosines = self._embedder.table.rows(unique).astype(np.float64) @ asked.astype(np.float64).T
            starts = np.cumsum([0] + [len(pieces[i]) for i in known[:-1]])
            best = np.maximum.reduceat(cosines[where], starts, axis=0)
            covered[np.ix_(known, columns)] = np.round(np.clip(best, 0, 1), 9)
        for column, unit in enumerate(self._units):
            if unit.surface:
                covered[:, column] = [_surface(unit.surface, fold(text)) for text in texts]
        return covered


def _named(gains: Sequence[float], named: Sequence[bool]) -> tuple[Explained, ...]:
    best = sorted((-gain, word) for word, gain in enumerate(gains) if named[word])[:MAX_WORDS]
    return tuple(Explained(word=word, gain=-loss) for loss, word in best)


def _units(encoded: Encoded, question: str) -> tuple[tuple[Word, ...], tuple[_Unit, ...]]:
    """The question's words, and the units that carry their weight (which sum to 1 unless there are none)."""
    groups: dict[int, list[int]] = {}
    for piece, word in enumerate(encoded.words):
        groups.setdefault(word, []).append(piece)
    spans: list[tuple[str, int, int]] = []
    raw: list[_Unit] = []
    for listed in groups.values():
        start, end = encoded.offsets[listed[0]][0], encoded.offsets[listed[-1]][1]
        text = question[start:end]
        if not any(character.isalnum() for character in text):
            continue
        position = len(spans)
        spans.append((text, start, end))
        if _is_unknown(encoded, listed, text):
            raw.append(_Unit(word=position, weight=_weight(30_522), piece=None, surface=fold(text)))
        else:
            raw += [_Unit(word=position, weight=_weight(int(encoded.ids[i])), piece=i) for i in listed]
    total = sum(unit.weight for unit in raw)
    units = tuple(
        _Unit(word=u.word, weight=u.weight / total if total else 1 / len(raw), piece=u.piece, surface=u.surface)
        for u in raw
    )
    shares = [sum(u.weight for u in units if u.word == i) for i in range(len(spans))]
    words = tuple(
        Word(text=text, start=start, end=end, weight=round(share, DECIMALS))
        for (text, start, end), share in zip(spans, shares, strict=True)
    )
    return words, units


def _is_unknown(encoded: Encoded, pieces: Sequence[int], text: str) -> bool:
    ids = [int(encoded.ids[i]) for i in pieces]
    return _UNKNOWN in ids or (ids[0] < _THE and not text[0].isascii())


def _weight(piece_id: int) -> float:
    return math.log(1 + max(piece_id - (_THE - 1), 0) / _SCALE)


def _surface(word: str, text: str) -> float:
    if word in text:
        return 1.0
    bigrams = [word[i : i + 2] for i in range(len(word) - 1)]
    return sum(bigram in text for bigram in bigrams) / len(bigrams) if bigrams else 0.0
