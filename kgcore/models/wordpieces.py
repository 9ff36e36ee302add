"""A fixed table: every wordpiece of the embedder's vocabulary embedded alone (facts/retrieval.md, step 1).

Made as needed and kept in a file of the user's cache folder, since all of it takes some ten seconds. A row is
marked as present only after it is written, and every writer writes the same bytes, so processes can share it.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
        with contextlib.suppress(OSError, ValueError):
            folder = cache_dir()
            folder.mkdir(parents=True, exist_ok=True)
            rows = _memmap(folder / f"{name}.f32", size * dimension * 4, np.dtype(np.float32))
            self._present = _memmap(folder / f"{name}.present", size, np.dtype(np.uint8))
            self._rows = rows.reshape(size, dimension)
            return
        self._rows = np.zeros((size, dimension), np.float32)
        self._present = np.zeros(size, np.uint8)


def _memmap(path: Path, size: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    with path.open("ab") as file:
        if file.tell() != size:
            file.truncate(size)
    return np.memmap(path, dtype=dtype, mode="r+")
