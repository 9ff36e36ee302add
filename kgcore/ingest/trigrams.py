"""How alike two names are by their trigrams, and every pair of many names that is alike enough, found fast."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import regex

from kgcore.errors import IngestError
from kgcore.names import fold

THRESHOLD = 0.6
"""The least similarity at which two names are alike."""
MAX_PAIRS = 1_000_000
"""Alike pairs that are held at once: some 250 MB."""
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+")
_WORDS = 8
_CELLS = 500_000
"""Pairs that are compared at once by their bitmaps."""
_HELD = 1_000_000
"""Pairs that may be alike and wait to be compared."""

Indices = npt.NDArray[np.int64]


def trigrams(folded: str) -> frozenset[str]:
    """The trigrams of a folded name as PostgreSQL's pg_trgm makes them: each word between two spaces and one.

    https://www.postgresql.org/docs/current/pgtrgm.html: "cat" gives "  c", " ca", "cat", "at "; other signs than
    letters and digits only part words. A run of Han or Kana is one word, so the order of its characters counts.
    """
    padded = [f"  {word} " for word in _WORD.findall(folded)]
    return frozenset(word[at : at + 3] for word in padded for at in range(len(word) - 2))


def similarity(a: str, b: str) -> float:
    """What pg_trgm's `similarity` gives for two names: shared trigrams by all trigrams of both, 0 to 1."""
    return jaccard(trigrams(fold(a)), trigrams(fold(b)))


def jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    """The size of what both hold by the size of what either holds; 0 for two empty sets."""
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared) if shared else 0.0


def alike(sets: Sequence[frozenset[str]], known: int = 0) -> Iterator[tuple[int, int, float]]:
    """Each pair of sets that is alike, as (i, j, score) with i < j, by (j, i); none within the first `known`.

    Set-similarity join by prefix filtering (Chaudhuri et al., 2006; Bayardo et al., 2007): sets with a Jaccard
    index of t share one of their |x| - ceil(t|x|) + 1 rarest members, so only these are indexed. Sets that share
    one are compared by bitmaps, which never tell alike sets apart, and what is left exactly. Raises IngestError
    for more than MAX_PAIRS.
    """
    counts = Counter(member for each in sets for member in each)
    rank = {member: at for at, member in enumerate(sorted(counts, key=lambda member: (counts[member], member)))}
    ranked = [sorted(rank[member] for member in each) for each in sets]
    holders: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for index, members in enumerate(ranked):
        for at, member in enumerate(members[: len(members) - _least_shared(len(members)) + 1]):
            holders[member].append((index, len(members) - at))
    found: dict[tuple[int, int], float] = {}
    for i, j in _candidates(ranked, holders, known):
        score = jaccard(sets[i], sets[j])
        if score >= THRESHOLD:
            found[j, i] = score
            if len(found) > MAX_PAIRS:
                raise IngestError(
                    f"More than {MAX_PAIRS:,} pairs of names of one type are alike.",
                    remedy="Give these entities more than one type, or make what they share no part of their names.",
                )
    for j, i in sorted(found):
        yield i, j, found[j, i]


def _least_shared(size: int) -> int:
    """How many members a set shares at least with one that is alike: size * 0.6, rounded up."""
    return (3 * size + 4) // 5


def _candidates(
    ranked: Sequence[Sequence[int]], holders: dict[int, list[tuple[int, int]]], known: int
) -> Iterator[tuple[int, int]]:
    """The pairs that share a rare member and whose bitmaps may be of alike sets; a pair may come again."""
    size = np.array([len(members) for members in ranked], dtype=np.int32)
    bits = _bitmaps(ranked)
    held: list[Indices] = []
    waiting = 0
    for holding in holders.values():
        if len(holding) == 1 or holding[-1][0] < known:
            continue
        every, left = np.array(holding, dtype=np.int64).T
        rows = max(1, _CELLS // len(every))
        for start in range(0, len(every), rows):
            some, later = every[start : start + rows, None], every[None, start:]
            both = size[some] + size[later]
            # Alike sets share 3/8 of their members together; this is the first they share, or an earlier one told.
            may = (some < later) & (later >= known)
            may &= 8 * np.minimum(left[start : start + rows, None], left[None, start:]) >= 3 * both
            # So they differ in at most a quarter, and their bitmaps in no more bits.
            differ = sum(np.bitwise_count(bits[some, at] ^ bits[later, at]).astype(np.uint16) for at in range(_WORDS))
            row, column = np.nonzero(may & (4 * differ <= both))
            held.append(later[0, column] * len(ranked) + some[row, 0])
            waiting += len(row)
            if waiting > _HELD:
                yield from _pairs(held, len(ranked))
                held, waiting = [], 0
    yield from _pairs(held, len(ranked))


def _pairs(held: Sequence[Indices], count: int) -> Iterator[tuple[int, int]]:
    """Each (i, j) of these j * count + i once."""
    if held:
        j, i = np.divmod(np.unique(np.concatenate(held)), count)
        yield from zip(i.tolist(), j.tolist(), strict=True)


def _bitmaps(ranked: Sequence[Sequence[int]]) -> npt.NDArray[np.uint64]:
    """One bit a member, shape (sets, _WORDS)."""
    maps = bytearray()
    for members in ranked:
        bits = 0
        for member in members:
            bits |= 1 << member % (64 * _WORDS)
        maps += bits.to_bytes(8 * _WORDS, "little")
    return np.frombuffer(bytes(maps), dtype=np.uint64).reshape(len(ranked), _WORDS)
