"""The kinds of store that pass the contract. A kind joins with one more entry in `KINDS`.

A test takes `store`, an empty one, or `world`, the graph of `graphs.py`, which it only reads. At most one store
of a factory lives at a time: `make` closes, and for a server empties, the one before. So a module uses either
`store` or `world`, never both.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kgcore.store import GraphStore, open_store
from tests.contract.graphs import write_world
from tests.neo4j.addresses import addresses, emptied


class StoreFactory:
    """Makes empty stores of one kind. `make(**options)` passes `open_store`'s options on."""

    def __init__(self, kind: str, opener: Callable[..., GraphStore]) -> None:
        self.kind = kind
        self._open = opener
        self._last: GraphStore | None = None

    def make(self, **options: object) -> GraphStore:
        """An empty store; the one made before is closed."""
        self.close()
        self._last = self._open(**options)
        return self._last

    def close(self) -> None:
        """Closes the store that lives."""
        if self._last is not None:
            self._last.close()
            self._last = None


def _duckdb_memory(_: Path) -> Callable[..., GraphStore]:
    return lambda **options: open_store("duckdb:///:memory:", create=True, **options)


def _duckdb_file(folder: Path) -> Callable[..., GraphStore]:
    numbers = itertools.count()
    return lambda **options: open_store(f"duckdb:///{folder}/{next(numbers)}.duckdb", create=True, **options)


def _neo4j(address: str) -> Callable[[Path], Callable[..., GraphStore]]:
    def opener(_: Path) -> Callable[..., GraphStore]:
        def make(**options: object) -> GraphStore:
            emptied(address)
            return open_store(address, create=True, **options)

        return make

    return opener


KINDS: dict[str, Callable[[Path], Callable[..., GraphStore]]] = {
    "duckdb-memory": _duckdb_memory,
    "duckdb-file": _duckdb_file,
    **{f"neo4j-{number}": _neo4j(address) for number, address in enumerate(addresses(), 1)},
}


@pytest.fixture(scope="session", params=sorted(KINDS))
def factory(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreFactory]:
    """Makes stores of each kind in turn."""
    made = StoreFactory(request.param, KINDS[request.param](tmp_path_factory.mktemp("stores")))
    yield made
    made.close()


@pytest.fixture
def store(factory: StoreFactory) -> GraphStore:
    """An empty store."""
    return factory.make()


@pytest.fixture(scope="module")
def world(factory: StoreFactory) -> GraphStore:
    """The world of `graphs.py`, to be read only."""
    made = factory.make()
    write_world(made)
    return made
