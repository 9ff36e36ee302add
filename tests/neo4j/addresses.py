"""The Neo4j servers that the tests may use: empty databases, whose contents are the tests' own."""

from __future__ import annotations

import os

import neo4j

from kgcore.store.neo4j_server import Address


def addresses() -> list[str]:
    """The servers of `NEO4J_TEST_URIS`. With `CI` set there must be some."""
    found = [uri.strip() for uri in os.environ.get("NEO4J_TEST_URIS", "").split(",") if uri.strip()]
    if not found and os.environ.get("CI"):
        raise RuntimeError("NEO4J_TEST_URIS names no server: run the tests by `make test-neo4j`, or .ci/run.")
    return found


def emptied(address: str) -> None:
    """Removes everything from a database but its indexes: making them anew would cost every query its plan."""
    parsed = Address.parse(address)
    with neo4j.GraphDatabase.driver(parsed.uri, auth=(parsed.user, parsed.password)) as driver:
        with driver.session() as session:
            session.run("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 10000 ROWS").consume()
