"""What the tests of importers read: a source's parts and notes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from kgcore.ingest.source import GraphParts, Notes, Source
from kgcore.types import Edge

Read = tuple[list[GraphParts], dict[str, int]]


def reader(opened: Callable[[Path], Source]) -> Callable[[Path], Read]:
    """Reads a path to the end: its parts, and what was noted of them."""

    def read(path: Path) -> Read:
        notes = Notes()
        return list(opened(path).parts(notes)), notes.counts

    return read


def edges(parts: list[GraphParts]) -> list[Edge]:
    """The edges of all parts, in their order."""
    return [edge for part in parts for edge in part.edges]
