"""`python -m kgcore import`, killed at any moment: a file holds whole documents, and the same command ends it."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from kgcore.filters import WHOLE
from kgcore.ingest.importers import open_source
from kgcore.ingest.plan import write_source
from kgcore.ingest.source import Notes
from kgcore.store import GraphStore, open_store
from tests.data.build import ROOT

pytestmark = pytest.mark.timeout(900)
KILLS = 3


def csv_of(folder: Path, count: int) -> Path:
    """Triples of twelve documents, which take turns in the file."""
    path = folder / "facts.csv"
    with path.open("w") as out:
        out.write("source,relation,target,document,year\n")
        for n in range(count):
            out.write(f"Ann {n % 7_001},KNOWS_{n % 5},Bo {n % 9_001},d{n % 12},{2000 + n % 12}\n")
    return path


def folder_of(folder: Path, documents: int, triples: int) -> Path:
    """Documents of two passages, each with this many triples; all know a few entities that others know."""
    path = folder / "texts"
    path.mkdir()
    with (path / "passages.jsonl").open("w") as passages, (path / "triples.jsonl").open("w") as facts:
        for document in range(documents):
            for part in "ab":
                own = f"{document}{part}"
                text = {"id": own, "document": f"d{document}", "text": f"Text {own}.", "year": document}
                passages.write(json.dumps(text) + "\n")
                for n in range(triples // 2):
                    triple = [f"Ann {document}", f"knows {n}", f"Bo {(document * 7 + n) % 997}"]
                    facts.write(json.dumps({"passage": own, "triple": triple}) + "\n")
    return path


def start(source: Path, address: str, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "kgcore", "import", str(source), "--store", address, *options],
        cwd=ROOT,
        env={**os.environ, "NO_COLOR": "1", "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def finished(process: subprocess.Popen[str]) -> None:
    _, said = process.communicate(timeout=600)
    assert process.returncode == 0, said


def begun(process: subprocess.Popen[str], file: Path) -> float:
    """When the file is there, which comes after what Python loads and after the first part has been read."""
    while process.poll() is None and not file.exists():
        time.sleep(0.005)
    return time.monotonic()


@contextmanager
def opened(file: Path) -> Iterator[GraphStore]:
    # A new one has no tables for an instant, so it is opened as the command does.
    with closing(open_store(f"duckdb:///{file}", create=True, access_fields=())) as store:
        yield store


def held(store: GraphStore) -> dict[str, Any]:
    """All that a store holds, each entity with its degree; no version, and no vectors, whose last digits may differ."""
    page, passages = store.scan(WHOLE, None, 100_000), store.chunks.scan(WHOLE, None, 100_000)
    return {
        "edges": page.edges,
        "entities": sorted(page.entities, key=lambda entity: (entity.id, entity.name)),
        "chunks": passages.chunks,
        "degrees": store.hubs(WHOLE, 100_000),
        "documents": store.documents(WHOLE),
        "description": replace(store.describe(WHOLE), data_version=""),
        "without vectors": [one.id for one in (*page.edges, *page.entities, *passages.chunks) if one.embedding is None],
    }


def check_whole(file: Path, whole: dict[str, Any]) -> int:
    """A broken off file has some of the documents, each as in the end; gives how many."""
    if not file.exists():
        return 0
    with opened(file) as store:
        described, documents = store.describe(WHOLE), store.documents(WHOLE)
        chunks = store.chunks.scan(WHOLE, None, 100_000).chunks
    ends = {document.id: document for document in whole["documents"]}
    assert [ends.get(document.id) for document in documents] == [*documents]
    assert described.edges == sum(document.edges for document in documents)
    assert len(chunks) == sum(document.chunks for document in documents)
    return len(documents)


def killed_and_resumed(source: Path, folder: Path, chance: random.Random, *options: str) -> None:
    """An undisturbed import beside one that is killed at random moments and begun again."""
    whole_file, file = folder / "whole.duckdb", folder / "killed.duckdb"
    process = start(source, f"duckdb:///{whole_file}", *options)
    began = begun(process, whole_file)
    finished(process)
    seconds = time.monotonic() - began
    with opened(whole_file) as store:
        whole = held(store)
    kills = 0
    for _ in range(KILLS):
        process = start(source, f"duckdb:///{file}", *options)
        begun(process, file)
        time.sleep(chance.uniform(0, 0.8 * seconds))
        kills += process.poll() is None
        process.kill()
        process.communicate()
        check_whole(file, whole)
    assert kills
    finished(start(source, f"duckdb:///{file}", *options))
    with opened(file) as store:
        assert held(store) == whole
    assert {path.name for path in folder.glob("killed*")} == {"killed.duckdb"}


def test_a_table_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    killed_and_resumed(csv_of(tmp_path, 60_000), tmp_path, random.Random(3), "--no-vectors")


def test_a_folder_has_whole_documents(tmp_path: Path) -> None:
    killed_and_resumed(folder_of(tmp_path, 600, 40), tmp_path, random.Random(5), "--no-vectors")


def test_vectors_go_on_where_they_were(tmp_path: Path) -> None:
    killed_and_resumed(folder_of(tmp_path, 10, 20), tmp_path, random.Random(7))


def test_a_file_killed_as_it_is_made_is_opened_again(tmp_path: Path) -> None:
    """No bytes yet, and no tables yet; or half of its headers, which have another name until they are whole."""
    source = folder_of(tmp_path, 2, 2)
    (tmp_path / "a.duckdb").touch()
    duckdb.connect(str(tmp_path / "b.duckdb")).close()
    (tmp_path / ".c.duckdb.new").write_bytes((tmp_path / "b.duckdb").read_bytes()[:5_000])
    for name in ("a", "b", "c"):
        finished(start(source, f"duckdb:///{tmp_path}/{name}.duckdb", "--no-vectors"))
        with opened(tmp_path / f"{name}.duckdb") as store:
            assert store.describe(WHOLE).edges == 4
    assert not [*tmp_path.glob(".*")]


def test_killed_before_the_file_is_sorted_the_next_run_sorts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = open_source(folder_of(tmp_path, 20, 20))
    with opened(tmp_path / "x.duckdb") as store:
        with monkeypatch.context() as patch:
            patch.setattr(type(store), "optimize", lambda self: None)
            write_source(store, source.parts(Notes()))
        rows = "SELECT node, far, edge FROM adjacency"
        unsorted = store.file.rows(rows)
        assert unsorted != sorted(unsorted)
        assert write_source(store, source.parts(Notes())).is_nothing
        assert store.file.rows(rows) == sorted(unsorted)
        version = store.describe(WHOLE).data_version
        assert write_source(store, source.parts(Notes())).is_nothing
        assert store.describe(WHOLE).data_version == version
