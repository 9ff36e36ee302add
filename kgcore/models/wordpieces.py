"""A fixed table: every wordpiece of the embedder's vocabulary embedded alone (facts/retrieval.md, step 1).

Made as needed and kept in a file of the user's cache folder, since all of it takes some ten seconds. A row is
marked as present only after it is written, and every writer writes the same bytes, so processes can share it.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from kgcore.config import cache_dir

Matrix = npt.NDArray[np.float32]
Ids = npt.NDArray[np.int64]


class PieceTable:
    """Rows are unit vectors, shape (vocabulary, dimension), float32."""

    def __init__(self, model: str, dimension: int, size: int, embed: Callable[[Ids], Matrix]) -> None:
        self._embed = embed
        self._lock = threading.Lock()
        self._rows: Matrix = np.zeros((0, dimension), np.float32)
        self._present: npt.NDArray[np.uint8] = np.zeros(0, np.uint8)
        self._open(f"wordpieces-{model[:16]}-{size}", size, dimension)

    def rows(self, ids: Ids) -> Matrix:
        """The vectors of these wordpieces, shape (len(ids), dimension)."""
        missing = np.unique(ids[self._present[ids] == 0])
        if len(missing):
            with self._lock:
                self._rows[missing] = self._embed(missing)
                self._present[missing] = 1
        return self._rows[ids]

    def _open(self, name: str, size: int, dimension: int) -> None:
        rows = size * dimension * 4
        memory: npt.NDArray[np.uint8] = np.zeros(rows + size, np.uint8)
        with contextlib.suppress(OSError, ValueError):
            folder = cache_dir()
            folder.mkdir(parents=True, exist_ok=True)
            memory = _memmap(folder / f"{name}.table", rows + size)
        self._rows = memory[:rows].view(np.float32).reshape(size, dimension)
        self._present = memory[rows:]


def _memmap(path: Path, size: int) -> npt.NDArray[np.uint8]:
    """A file of this many bytes, begun anew (all zero) if it has another size."""
    with path.open("ab") as file:
        if file.tell() != size:
            file.truncate(0)
            file.truncate(size)
    return np.memmap(path, dtype=np.uint8, mode="r+")
