"""A path on its way into a store: what it is, who may see it, what it changes, and the writing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from kgcore.ingest.compare import Plan
from kgcore.ingest.documents import PRINCIPALS, checked_principals
from kgcore.ingest.importers import open_source
from kgcore.ingest.plan import plan_source, write_source
from kgcore.ingest.source import GraphParts, Notes, Source, naming_nobody, readable, stamped
from kgcore.store.protocol import GraphStore


@dataclass(frozen=True, kw_only=True)
class Imported:
    """What an import did, or by its plan would do."""

    source: Source
    plan: Plan
    notes: Notes


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A source, and the parts of it that are read once."""

    source: Source
    notes: Notes
    parts: Iterator[GraphParts]

    def plan(self, store: GraphStore, *, progress: Callable[[int], None] | None = None) -> Imported:
        """What writing it would change. Raises IngestError, StoreError."""
        plan = plan_source(store, self.parts, progress=progress)
        return Imported(source=self.source, plan=plan, notes=self.notes)

    def write(self, store: GraphStore, *, progress: Callable[[int], None] | None = None) -> Imported:
        """Writes it. Raises IngestError, StoreError."""
        return Imported(source=self.source, plan=write_source(store, self.parts, progress=progress), notes=self.notes)


def read_path(
    path: Path,
    access_fields: Iterable[str],
    mapping: Mapping[str, str] | None = None,
    principals: Sequence[str] = (),
) -> Reading:
    """A file or a folder that is to be planned or written; `principals` are put on all of it in place of its own.

    Its first part is read here: what cannot be read is said before a store is opened. Raises ConfigError, IngestError.
    """
    source, notes = open_source(path, mapping or None), Notes()
    parts = _read(path, source, notes)
    if principals:
        parts = stamped(parts, {PRINCIPALS: checked_principals(principals)})
    parts = naming_nobody(parts, access_fields, notes)
    first = next(parts, None)
    return Reading(source=source, notes=notes, parts=chain(() if first is None else (first,), parts))


def _read(path: Path, source: Source, notes: Notes) -> Iterator[GraphParts]:
    with readable(path):
        yield from source.parts(notes)
