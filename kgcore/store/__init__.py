"""Stores: protocols, their implementations, and `open_store`."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import unquote

from kgcore.errors import ConfigError
from kgcore.filters import DEFAULT_ACCESS_FIELDS
from kgcore.store.protocol import ChunkStore, DocumentRetriever, GraphStore

__all__ = ["ChunkStore", "DocumentRetriever", "GraphStore", "open_store"]


def open_store(url: str, *, create: bool = False, access_fields: Iterable[str] = DEFAULT_ACCESS_FIELDS) -> GraphStore:
    """Opens a graph by its address: `duckdb:///file`, `duckdb:////absolute/file` or `duckdb:///:memory:`.

    `create` makes a missing file; `access_fields` are stripped from everything the store returns, and a
    filter's own are too. Raises ConfigError for an address of another form, StoreError for a file that is
    missing, foreign, damaged, or held by another process.
    """
    scheme, separator, rest = url.partition("://")
    path = unquote(rest[1:])
    if scheme != "duckdb" or not separator or not rest.startswith("/") or not path or "\0" in path:
        raise ConfigError(
            f"{url.rpartition('@')[2]!r} is not the address of a store.",
            remedy="Give duckdb:///FILE, with a fourth slash for an absolute path.",
        )
    from kgcore.store.duckdb import DuckStore

    return DuckStore(path, create=create, access_fields=frozenset(access_fields))
