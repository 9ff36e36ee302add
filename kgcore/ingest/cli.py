"""What `python -m kgcore import` does, without its options: a path against a store's address."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import unquote

from kgcore.config import Config, store_options
from kgcore.errors import ConfigError
from kgcore.filters import WHOLE
from kgcore.ingest.compare import Count
from kgcore.ingest.reading import Imported, read_path
from kgcore.store import GraphStore, open_store
from kgcore.types import Edge
from kgcore.viz import plain

_SHOWN = 10
_LONGEST = 500
_COLLECTED = 100_000


def import_path(
    path: Path,
    address: str,
    config: Config,
    *,
    mapping: Sequence[str] = (),
    principals: Sequence[str] = (),
    dry_run: bool = False,
    progress: Callable[[int, int | None, str], None] | None = None,
) -> Imported:
    """Reads a file or a folder into the store at an address, which a dry run leaves as it is.

    `mapping` is `role=column` each; `principals` who may see all of it. `progress(done, None, "edges")` is called as
    edges are compared or written. Raises ConfigError, IngestError, StoreError.
    """
    reading = read_path(path, config.access_fields, _mapping(mapping), principals)

    def step(edges: int) -> None:
        if progress is not None:
            progress(edges, None, "edges")

    with _fewer_collections(), _no_empty_file(address), closing(_opened(address, config, create=not dry_run)) as store:
        return reading.plan(store, progress=step) if dry_run else reading.write(store, progress=step)


def told(path: Path, imported: Imported, *, dry_run: bool) -> Iterator[str]:
    """What was read, changed and noted, a line each."""
    source, plan = imported.source, imported.plan
    mapped = "".join(f", {role}={column}" for role, column in source.mapping.items() if column)
    yield plain(f"{path.resolve().name}: {source.family}{mapped}", _LONGEST)
    for name in ("documents", "entities", "edges", "chunks"):
        yield f"  {name}: {_counted(getattr(plan, name), dry_run=dry_run)}"
    for reason, count in imported.notes.counts.items():
        yield plain(f"  {reason}: {count:,}", _LONGEST)
    for what, edge in plan.examples[:_SHOWN]:
        yield f"  {what}: {plain(_line(edge), _LONGEST)}"


def _counted(count: Count, *, dry_run: bool) -> str:
    words = {"new": count.new, "changed": count.changed, "gone": count.gone, "same": count.same}
    said = [f"{number:,} {'to go' if dry_run and word == 'gone' else word}" for word, number in words.items() if number]
    return ", ".join(said) or "none"


def _line(edge: Edge) -> str:
    return f"{edge.src_name} -[{edge.key or edge.relation}]-> {edge.dst_name} ({edge.source_doc_id})"


@contextmanager
def _fewer_collections() -> Iterator[None]:
    """An import makes many records and no cycles of them: to look for some every 700 takes a quarter of its time."""
    first, *others = gc.get_threshold()
    gc.set_threshold(_COLLECTED, *others)
    try:
        yield
    finally:
        gc.set_threshold(first, *others)


@contextmanager
def _no_empty_file(address: str) -> Iterator[None]:
    """Takes away a file that was made for an import which failed before its first document."""
    file = _file_of(address)
    was_there = file is None or os.path.exists(file)
    try:
        yield
    except BaseException:
        if file is not None and not was_there and os.path.exists(file) and _is_empty(address):
            file.unlink()
        raise


def _is_empty(address: str) -> bool:
    with closing(open_store(address, access_fields=())) as store:
        return not store.documents(WHOLE)


def _file_of(address: str) -> Path | None:
    scheme, _, file = address.partition(":///")
    return Path(unquote(file)) if scheme == "duckdb" and file != ":memory:" else None


def _mapping(given: Sequence[str]) -> Mapping[str, str] | None:
    found = {}
    for one in given:
        role, separator, column = one.partition("=")
        if not separator or not role:
            raise ConfigError(f"{one!r} is no role and column.", remedy="Give --map as relation=verb.")
        found[role] = column
    return found or None


def _opened(address: str, config: Config, *, create: bool) -> GraphStore:
    """The store with its access metadata; for a dry run into a file that is not there an empty one."""
    file = _file_of(address)
    if file is not None and not create and not os.path.exists(file):
        return open_store("duckdb:///:memory:", create=True, access_fields=())
    return open_store(address, create=create, **{**store_options(config, address), "access_fields": ()})
