"""A graph and its passages in one Neo4j database, ours or one that others built."""

from __future__ import annotations

from pathlib import Path

from kgcore.filters import DEFAULT_ACCESS_FIELDS
from kgcore.store.mapping import OWN, Mapping, read_mapping
from kgcore.store.neo4j_chunks import NeoChunks
from kgcore.store.neo4j_rows import META
from kgcore.store.neo4j_schema import propose, read_schema
from kgcore.store.neo4j_server import Address, NeoServer
from kgcore.store.neo4j_write import NeoWriter
from kgcore.store.side import read_side


class NeoStore(NeoWriter):
    """`GraphStore` over one database. A graph that others built is read through `mapping`, and never written to."""

    def __init__(
        self, server: NeoServer, mapping: Mapping = OWN, access_fields: frozenset[str] = DEFAULT_ACCESS_FIELDS
    ) -> None:
        super().__init__(server, mapping, access_fields)
        self.chunks = NeoChunks(self)

    def whole(self) -> NeoStore:
        made = NeoStore(self.server, self.layout.mapping, frozenset())
        made.side = self.side
        return made

    def close(self) -> None:
        """Gives the connections back."""
        self.server.close()


def open_neo4j(
    url: str,
    *,
    user: str = "",
    password: str = "",
    mapping: Mapping | None = None,
    mapping_file: Path | None = None,
    access_fields: frozenset[str] = DEFAULT_ACCESS_FIELDS,
) -> NeoStore:
    """Opens the graph of a database: ours, or another by `mapping`, else by the file's, else by the proposed one.

    Raises ConfigError for an address or a mapping that cannot be used, StoreError for a server that cannot be
    reached, refuses, or holds nothing that could be read as a graph of named things.
    """
    server = NeoServer(Address.parse(url, user=user, password=password))
    try:
        server.connect()
        saved = mapping or (read_mapping(mapping_file) if mapping_file else None)
        store = NeoStore(server, saved or _own_or_proposed(server), access_fields)
        if mapping_file is not None and not store.layout.own:
            store.side = read_side(side_folder(mapping_file))
        return store
    except BaseException:
        server.close()
        raise


def side_folder(mapping_file: Path) -> Path:
    """Where the vectors of a foreign graph are kept: beside its mapping."""
    return mapping_file.with_suffix(".vectors")


def _own_or_proposed(server: NeoServer) -> Mapping:
    ours, nodes = server.rows(
        f"CALL () {{ MATCH (m:{META}) RETURN count(m) AS ours }} CALL () {{ MATCH (n) RETURN count(n) AS nodes }} "
        "RETURN ours, nodes"
    )[0]
    if ours or not nodes:
        return OWN
    return propose(server, read_schema(server))
