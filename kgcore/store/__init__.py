"""Stores: protocols, their implementations, and `open_store`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote

from kgcore.errors import ConfigError
from kgcore.filters import DEFAULT_ACCESS_FIELDS
from kgcore.store.protocol import ChunkStore, DocumentRetriever, GraphStore

__all__ = ["ChunkStore", "DocumentRetriever", "GraphStore", "is_server", "open_store"]


def is_server(url: str) -> bool:
    """Whether an address is that of a Neo4j server."""
    return url.partition("://")[0].partition("+")[0] in ("neo4j", "bolt")


def open_store(
    url: str,
    *,
    create: bool = False,
    access_fields: Iterable[str] = DEFAULT_ACCESS_FIELDS,
    user: str = "",
    password: str = "",
    mapping_file: Path | None = None,
) -> GraphStore:
    """Opens a graph by its address.

    `duckdb:///file`, `duckdb:////absolute/file` or `duckdb:///:memory:` for a file, which `create` makes when it is
    missing; `neo4j://host:port/database` (`bolt`, and `+s` or `+ssc` for an encrypted connection) for a server, with
    the user and the password in it or beside it; a graph that others built is read by the mapping in
    `mapping_file`, else by the one that its schema proposes. `access_fields` are stripped from everything the store
    returns, and a filter's own are too. Raises ConfigError for an address of another form, StoreError for a file
    that is missing, foreign, damaged, or held by another process, and for a server that is away or refuses.
    """
    scheme, separator, rest = url.partition("://")
    fields = frozenset(access_fields)
    if separator and is_server(url):
        from kgcore.store.neo4j import open_neo4j

        return open_neo4j(url, user=user, password=password, mapping_file=mapping_file, access_fields=fields)
    path = unquote(rest[1:])
    if scheme != "duckdb" or not separator or not rest.startswith("/") or not path or "\0" in path:
        raise ConfigError(
            f"{url.rpartition('@')[2]!r} is not the address of a store.",
            remedy="Give duckdb:///FILE, with a fourth slash for an absolute path, or neo4j://HOST:PORT/DATABASE.",
        )
    from kgcore.store.duckdb import DuckStore

    return DuckStore(path, create=create, access_fields=fields)
