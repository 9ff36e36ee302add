"""The demo graph: `demo/` in one DuckDB file, built once for these files and this embedder."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from kgcore.config import cache_dir
from kgcore.ingest.embed import embed_missing
from kgcore.ingest.importers import open_source
from kgcore.ingest.plan import write_source
from kgcore.ingest.source import Notes
from kgcore.ingest.write import Progress
from kgcore.models.offline import NAME, OfflineEmbedder
from kgcore.store import open_store
from kgcore.store.duckdb_file import SCHEMA

DEMO = Path(__file__).parents[2] / "demo"


def ensure_demo(progress: Progress | None = None, *, embedder: OfflineEmbedder | None = None) -> str:
    """The demo store's address; the file is built when it is missing or `demo/` or the embedder has changed.

    `progress(done, total, what)` is called while building. Raises IngestError, StoreError or ModelError.
    """
    path = cache_dir() / f"demo-{_fingerprint()}.duckdb"
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        _build(path, progress, embedder or OfflineEmbedder())
    return f"duckdb:///{path}"


def demo_questions() -> list[dict[str, Any]]:
    """The demo's questions with their gold facts, in the file's order."""
    with (DEMO / "questions.jsonl").open(encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def demo_examples() -> list[dict[str, Any]]:
    """The questions to open with, each with a label and settings."""
    return [question for question in demo_questions() if question.get("example")]


def _build(path: Path, progress: Progress | None, embedder: OfflineEmbedder) -> None:
    # Built beside and moved into place: a start that is killed leaves no half graph.
    unfinished = path.with_suffix(f".{os.getpid()}.tmp")
    unfinished.unlink(missing_ok=True)
    store = open_store(f"duckdb:///{unfinished}", create=True, access_fields=())
    try:
        write_source(store, open_source(DEMO).parts(Notes()))
        embed_missing(store, embedder, progress=progress, page=100)
    finally:
        store.close()
    for old in path.parent.glob("demo-*.duckdb"):
        old.unlink(missing_ok=True)
    unfinished.replace(path)


def _fingerprint() -> str:
    digest = hashlib.sha256(f"{NAME} {SCHEMA}".encode())
    for file in sorted(DEMO.glob("*.json*")):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]
