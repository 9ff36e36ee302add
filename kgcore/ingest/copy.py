"""One store into another: a page at a time, to be gone on with after a stop, and counted at the end."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal
from urllib.parse import unquote

from pydantic import TypeAdapter, ValidationError

from kgcore.config import cache_dir
from kgcore.errors import ConfigError, StoreError
from kgcore.filters import WHOLE
from kgcore.ingest.write import Progress
from kgcore.store.protocol import ChunkStore, GraphStore
from kgcore.types import Chunk, Description, Edge

PAGE = 2_000


@dataclass(frozen=True, kw_only=True)
class Copied:
    """What a copy read from its source and found again in its target."""

    entities: int
    edges: int
    chunks: int


def copy_graph(
    source: GraphStore,
    target: GraphStore,
    *,
    progress: Progress | None = None,
    checkpoint: Path | None = None,
    page: int = PAGE,
) -> Copied:
    """Writes all that `source` holds into `target` under the same ids; what is there already stays.

    `page` edges or passages are read and written at a time, and no more are held. `checkpoint` is a file that
    says how far the copy has come: after an error or a stop the same call goes on from there, unless the source
    has changed or the target no longer holds what was written; it is removed at the end. `progress(done, total,
    what)` is called after each page. Raises ConfigError for a source that strips access metadata, for a source
    that is the target and for a checkpoint that cannot be written; StoreError when a store cannot be read or
    written, has vectors of another embedder, or when the counts of the two differ at the end.
    """
    if source is target:
        raise ConfigError("A store cannot be copied into itself.", remedy="Name another target.", field="target")
    if source.access_fields:
        raise ConfigError(
            "The source hides its access metadata, so a copy would lose who may see what.",
            remedy="Open it with access_fields=(); a graph that others built by a mapping without access properties.",
            field="source",
        )
    if page < 1:
        raise ConfigError("A page holds at least one edge.", remedy="Set page to 1 or more.", field="page")
    copying = _Copying(source, target, progress, checkpoint, page)
    found = copying.found()
    position = copying.run(found or copying.begun())
    fault = copying.fault(position)
    if fault is not None and found is not None:
        # What was left by an earlier run is not what is there now.
        position = copying.run(copying.begun())
        fault = copying.fault(position)
    copying.forget()
    if fault is not None:
        raise fault
    return Copied(entities=copying.held.entities, edges=position.edges, chunks=position.chunks)


def checkpoint_of(source: str, target: str) -> Path:
    """The command line's checkpoint for a copy between two addresses, whatever their credentials."""
    digest = hashlib.sha256(json.dumps([_place(source), _place(target)]).encode()).hexdigest()
    return cache_dir() / "copies" / f"{digest[:16]}.json"


def is_same_store(a: str, b: str) -> bool:
    """Whether two addresses lead to one store, whatever their credentials."""
    return _place(a) == _place(b)


@dataclass(frozen=True, kw_only=True)
class _Position:
    """How far a copy has come. `source` is the digest of what is copied, `empty` whether the target was at first."""

    source: str
    empty: bool
    phase: Literal["edges", "passages", "counting"] = "edges"
    after: str | None = None
    edges: int = 0
    chunks: int = 0
    last_edge: str | None = None
    last_chunk: str | None = None


_POSITION = TypeAdapter(_Position)


class _Copying:
    """One call's stores and options. `held` describes the source as it was when the copy began."""

    def __init__(
        self, source: GraphStore, target: GraphStore, progress: Progress | None, checkpoint: Path | None, page: int
    ) -> None:
        self.source, self.target, self.progress = source, target, progress
        self.checkpoint, self.page = checkpoint, page
        self.held = source.describe(WHOLE)

    def begun(self) -> _Position:
        """The start, kept before anything is written."""
        self.held = self.source.describe(WHOLE)
        nothing = not self.target.describe(WHOLE).edges and not self.target.chunks.scan(WHOLE, None, 1).chunks
        position = _Position(source=_digest(self.held), empty=nothing)
        self._keep(position)
        return position

    def found(self) -> _Position | None:
        """Where an earlier run stopped, if it copied what the source holds now and the target still has it."""
        if self.checkpoint is None:
            return None
        try:
            position = _POSITION.validate_json(self.checkpoint.read_bytes())
        except (OSError, ValidationError):
            return None
        edge, chunk = position.last_edge, position.last_chunk
        if (
            position.source != _digest(self.held)
            or (edge is not None and not self.target.edges([edge], WHOLE))
            or (chunk is not None and not self.target.chunks.get_documents_by_id([chunk]))
        ):
            return None
        return position

    def run(self, position: _Position) -> _Position:
        """Copies from a position to the end."""
        self._report(position)
        while position.phase != "counting":
            position = self._edges(position) if position.phase == "edges" else self._chunks(position)
            self._keep(position)
            self._report(position)
        self.target.optimize()
        return position

    def fault(self, position: _Position) -> StoreError | None:
        """What is wrong with a finished copy."""
        if _digest(self.source.describe(WHOLE)) != position.source:
            return StoreError(
                "The source was changed while it was copied.", remedy="Copy again while nothing writes to it."
            )
        now = self.target.describe(WHOLE)
        for what, copied, there in (
            ("edges", position.edges, now.edges),
            ("entities", self.held.entities, now.entities),
            ("documents", self.held.documents, now.documents),
            ("passages", position.chunks, _count(self.target.chunks, self.page)),
        ):
            if there < copied or (position.empty and there != copied):
                return StoreError(
                    f"The target holds {there:,} {what} where {copied:,} were copied.",
                    remedy="Copy again into an empty store, while nothing else writes to it.",
                )
        return None

    def forget(self) -> None:
        """Removes the checkpoint."""
        if self.checkpoint is not None:
            with suppress(OSError):
                self.checkpoint.unlink()

    def _edges(self, position: _Position) -> _Position:
        page = self.source.scan(WHOLE, position.after, self.page)
        if page.edges:
            self.target.upsert(page.entities, page.edges, embedder=self.held.embedder)
        return replace(
            position,
            phase="edges" if page.after is not None else "passages",
            after=page.after,
            edges=position.edges + _new(page.edges, position.last_edge),
            last_edge=page.edges[-1].id if page.edges else position.last_edge,
        )

    def _chunks(self, position: _Position) -> _Position:
        page = self.source.chunks.scan(WHOLE, position.after, self.page)
        if page.chunks:
            self.target.chunks.upsert(page.chunks, embedder=self.held.embedder)
        return replace(
            position,
            phase="passages" if page.after is not None else "counting",
            after=page.after,
            chunks=position.chunks + _new(page.chunks, position.last_chunk),
            last_chunk=page.chunks[-1].id if page.chunks else position.last_chunk,
        )

    def _keep(self, position: _Position) -> None:
        if self.checkpoint is None:
            return
        unfinished = self.checkpoint.with_suffix(f".{os.getpid()}.tmp")
        try:
            self.checkpoint.parent.mkdir(parents=True, exist_ok=True)
            unfinished.write_text(json.dumps(asdict(position)), encoding="utf-8")
            unfinished.replace(self.checkpoint)
        except OSError as error:
            raise ConfigError(
                f"How far the copy has come cannot be written to {self.checkpoint}.",
                remedy="Make its folder writable, or set HOPSCOPE_CACHE_DIR to another.",
                field="checkpoint",
            ) from error

    def _report(self, position: _Position) -> None:
        if self.progress is None:
            return
        done = position.edges + position.chunks
        # How many passages there are is not known before they are read; the edges name most of them.
        total = max(self.held.edges, position.edges) + max(self.held.documents, position.chunks)
        self.progress(done, done if position.phase == "counting" else total, position.phase)


def _new(items: Sequence[Edge] | Sequence[Chunk], last: str | None) -> int:
    """How many ids a page adds: a scan is by id, so one seen before stands in this page or at the end of the last."""
    return len({item.id for item in items} - {last})


def _count(chunks: ChunkStore, page: int) -> int:
    count, after = 0, None
    while True:
        part = chunks.scan(WHOLE, after, page)
        count, after = count + len(part.chunks), part.after
        if after is None:
            return count


def _digest(held: Description) -> str:
    """What tells one state of a source from another, also where another file has come to the same address."""
    told = [
        held.data_version, held.entities, held.edges, held.documents, held.embedder, held.dimension,
        sorted(held.entity_types.items()), sorted(held.relations.items()),
        [(p.name, p.kinds, p.count) for p in held.properties],
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def _place(address: str) -> str:
    """What an address leads to: a file by its real path, a database by its host and name."""
    scheme, _, rest = address.partition("://")
    if scheme != "duckdb":
        host, _, database = rest.rpartition("@")[2].partition("/")
        return f"{host.lower()}/{database}"
    path = unquote(rest[1:])
    with suppress(ValueError):
        path = os.path.realpath(path)
    return f"duckdb {path}"
