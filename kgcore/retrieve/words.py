"""Passages by their words: BM25 over those that a filter lets through, so that what is hidden weighs nothing."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass

import bm25s
import numpy as np
import numpy.typing as npt

from kgcore.filters import AccessFilter
from kgcore.names import tokens
from kgcore.store.protocol import ChunkStore

KEPT = 4
"""Filters whose passages are kept ready."""


@dataclass(frozen=True, kw_only=True, eq=False)
class WordIndex:
    """The ids of the passages, by id, and their BM25 (k1 1.5, b 0.75, as bm25s has it)."""

    ids: tuple[str, ...]
    bm25: bm25s.BM25 | None

    def scores(self, question: str) -> npt.NDArray[np.float32]:
        """The score of each passage, shape (len(ids),); zeros where no word of the question stands in any."""
        asked = tokens(question)
        if self.bm25 is None or not asked:
            return np.zeros(len(self.ids), np.float32)
        return np.asarray(self.bm25.get_scores(asked), np.float32)


class WordIndexes:
    """Those of one store, made when they are first asked for, and again when the passages have changed. Thread-safe."""

    def __init__(self, store: ChunkStore) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str], WordIndex] = OrderedDict()

    def of(self, filter: AccessFilter) -> WordIndex:
        """The index of what a filter lets through. Raises StoreError."""
        key = filter.key, self._store.state().version
        with self._lock:
            if key not in self._kept:
                self._kept[key] = _made(self._store, filter)
                while len(self._kept) > KEPT:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(key)
            return self._kept[key]


def _made(store: ChunkStore, filter: AccessFilter) -> WordIndex:
    ids, words = list[str](), list[list[str]]()
    after: str | None = None
    while True:
        page = store.scan(filter, after, vectors=False)
        for chunk in page.chunks:
            ids.append(chunk.id)
            words.append(tokens(f"{chunk.metadata.get('title', '')} {chunk.content}"))
        after = page.after
        if after is None:
            break
    bm25 = None
    if any(words):
        bm25 = bm25s.BM25()
        bm25.index(words, show_progress=False)
    return WordIndex(ids=tuple(ids), bm25=bm25)
