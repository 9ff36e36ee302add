"""Answers that were paid for, in one file: what a model said is asked for once, whatever breaks off in between."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kgcore.config import cache_dir
from kgcore.errors import ConfigError
from kgcore.ingest.prompt import Prompt

MAX_BYTES = 2_000_000_000
_BUSY = 60.0
"""Seconds that another process may hold the file."""
_ASKED = 500
_TABLE = "CREATE TABLE IF NOT EXISTS answer (key TEXT PRIMARY KEY, written REAL NOT NULL, value TEXT NOT NULL)"
_INDEX = "CREATE INDEX IF NOT EXISTS answer_written ON answer (written)"


def answers_file() -> Path:
    """Where answers are kept, under the cache folder of the settings."""
    return cache_dir() / "answers.sqlite"


def answer_key(model: str, prompt: Prompt) -> str:
    """Equal for equal questions: the model's name and all that it is asked, the ontology and the passage among it."""
    asked = json.dumps([model, prompt.system, prompt.user, prompt.schema], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(asked.encode()).hexdigest()


class AnswerCache:
    """Answers by key in an SQLite file; threads and processes may share it.

    An answer is kept once `put` returns, even if the process is killed right after. A file larger than `max_bytes`
    loses its oldest answers. Methods raise ConfigError for a file that cannot be read or written.
    """

    def __init__(self, path: Path | None = None, *, max_bytes: int = MAX_BYTES) -> None:
        self.path = path or answers_file()
        self.max_bytes = max_bytes
        self._lock = threading.Lock()
        self._file: sqlite3.Connection | None = None

    def get(self, key: str) -> dict[str, Any] | None:
        """The answer, None if there is none."""
        with self._open() as file:
            row = file.execute("SELECT value FROM answer WHERE key = ?", [key]).fetchone()
        try:
            answer = json.loads(row[0]) if row else None
        except (ValueError, RecursionError):
            return None
        return answer if isinstance(answer, dict) else None

    def known(self, keys: Collection[str]) -> set[str]:
        """Those of the keys that have an answer."""
        listed, found = sorted({*keys}), set()
        with self._open() as file:
            for start in range(0, len(listed), _ASKED):
                asked = listed[start : start + _ASKED]
                marks = ",".join("?" * len(asked))
                found |= {row[0] for row in file.execute(f"SELECT key FROM answer WHERE key IN ({marks})", asked)}
        return found

    def put(self, key: str, answer: dict[str, Any]) -> None:
        """Keeps an answer; one that is there is replaced."""
        value = json.dumps(answer, ensure_ascii=True)
        with self._open() as file:
            file.execute("INSERT OR REPLACE INTO answer VALUES (?, ?, ?)", [key, time.time(), value])
            if self._size(file) > self.max_bytes:
                # A quarter, so that this is rare; the file does not shrink, its free pages are used again.
                file.execute(
                    "DELETE FROM answer WHERE key IN (SELECT key FROM answer WHERE key != ? ORDER BY written, key "
                    "LIMIT (SELECT count(*) / 4 + 1 FROM answer))",
                    [key],
                )

    def clear(self) -> None:
        """Forgets every answer, and gives their room back."""
        with self._open() as file:
            file.execute("DELETE FROM answer")
            file.execute("VACUUM")

    def size(self) -> int:
        """Bytes that answers take."""
        with self._open() as file:
            return self._size(file)

    def close(self) -> None:
        """Closes the file; a later call opens it again."""
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None

    def __enter__(self) -> AnswerCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                if self._file is None:
                    self._file = self._connect()
                yield self._file
            except (OSError, sqlite3.Error) as error:
                raise ConfigError(
                    f"The answers that were paid for cannot be kept in {self.path}: {error}.",
                    remedy="Make room there, remove the file if it is broken, or set HOPSCOPE_CACHE_DIR to a folder "
                    "that can be written.",
                    field="cache_dir",
                ) from error

    def _connect(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # What documents say is for their owner alone.
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        file = sqlite3.connect(self.path, timeout=_BUSY, isolation_level=None, check_same_thread=False)
        try:
            _write_ahead(file)
            file.execute("PRAGMA synchronous = NORMAL")
            file.execute(_TABLE)
            file.execute(_INDEX)
        except sqlite3.Error:
            file.close()
            raise
        return file

    def _size(self, file: sqlite3.Connection) -> int:
        pages, free, size = (
            file.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
        )
        return int((pages - free) * size)


def _write_ahead(file: sqlite3.Connection) -> None:
    """Turns the log on in which a write survives its process. SQLite does not wait for others that do so just now."""
    for pause in (*[0.05] * 100, None):
        try:
            file.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if pause is None or error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            time.sleep(pause)
