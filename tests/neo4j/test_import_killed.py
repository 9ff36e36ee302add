"""`python -m kgcore import` into a server, killed between two batches: the same command ends in the same graph."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from kgcore.store import open_store
from tests.neo4j.addresses import emptied
from tests.neo4j.server import Server, running
from tests.unit.test_import_killed import csv_of, finished, folder_of, held, start

pytestmark = [
    pytest.mark.skipif(
        not os.environ.get("NEO4J_TEST_URIS") and not os.environ.get("CI"), reason="NEO4J_TEST_URIS names no server."
    ),
    pytest.mark.timeout(900),
]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server of this module's own."""
    with running("2026.08.1", heap="1g") as (started,):
        yield started


def graph(server: Server) -> dict[str, Any]:
    with closing(open_store(server.uri, access_fields=())) as store:
        return held(store)


def counted(server: Server) -> int:
    from neo4j import GraphDatabase

    with GraphDatabase.driver(f"bolt://127.0.0.1:{server.port}", auth=("neo4j", server.password)) as driver:
        return int(driver.execute_query("MATCH ()-[r]->() RETURN count(r)").records[0][0])


@pytest.mark.parametrize("kind", ["table", "folder"])
def test_the_same_command_goes_on(server: Server, tmp_path: Path, kind: str) -> None:
    source = csv_of(tmp_path, 42_000) if kind == "table" else folder_of(tmp_path, 300, 40)
    emptied(server.uri)
    finished(start(source, server.uri, "--no-vectors"))
    whole = graph(server)
    emptied(server.uri)
    for some in (1, len(whole["edges"]) // 2):
        process = start(source, server.uri, "--no-vectors")
        while process.poll() is None and counted(server) < some:
            time.sleep(0.1)
        process.kill()
        process.communicate()
        assert some <= counted(server) < len(whole["edges"])
    finished(start(source, server.uri, "--no-vectors"))
    assert graph(server) == whole
