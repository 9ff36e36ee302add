"""A graph and its passages in one local DuckDB file."""

from __future__ import annotations

from kgcore.filters import DEFAULT_ACCESS_FIELDS
from kgcore.store.duckdb_browse import DuckBrowser
from kgcore.store.duckdb_chunks import DuckChunks
from kgcore.store.duckdb_file import DuckFile
from kgcore.store.duckdb_write import DuckWriter


class DuckStore(DuckBrowser, DuckWriter):
    """`GraphStore` over one file: its reading, browsing and writing halves, and its chunks."""

    def __init__(
        self, path: str | DuckFile, *, create: bool = False, access_fields: frozenset[str] = DEFAULT_ACCESS_FIELDS
    ) -> None:
        super().__init__(path if isinstance(path, DuckFile) else DuckFile(path, create=create), access_fields)
        self.chunks = DuckChunks(self.file, access_fields)

    def whole(self) -> DuckStore:
        return DuckStore(self.file, access_fields=frozenset())

    def close(self) -> None:
        """Gives the file back; another process may then open it."""
        self.file.close()
