"""Stores for one example each: hypothesis runs many within one test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kgcore.store import GraphStore
from tests.data.build import graph


@contextmanager
def stored(*edges: object, **options: object) -> Iterator[GraphStore]:
    """A graph in memory, closed after its block."""
    store = graph(*edges, **options)
    try:
        yield store
    finally:
        store.close()
