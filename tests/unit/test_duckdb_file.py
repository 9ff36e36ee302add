"""Opening DuckDB files: what is refused, with which words, and that refusing changes nothing."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from kgcore.errors import ConfigError, StoreError
from kgcore.filters import AccessFilter
from kgcore.store import GraphStore, duckdb_rows, open_store
from kgcore.store.duckdb_file import SCHEMA
from kgcore.types import Entity
from tests.contract.graphs import (
    BOARD,
    EMBEDDER,
    OPEN,
    PUBLIC,
    READER,
    WORLD_CHUNKS,
    edge,
    everything,
    hidden,
    only,
    vec,
    write,
    write_world,
)


def address(path: Path) -> str:
    return f"duckdb:///{path}"


@pytest.fixture(scope="module")
def world_bytes(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A file that holds the world."""
    path = tmp_path_factory.mktemp("world") / "graph.duckdb"
    store = open_store(address(path), create=True)
    write_world(store)
    store.close()
    return path.read_bytes()


@pytest.fixture
def graph(tmp_path: Path, world_bytes: bytes) -> Path:
    """A closed file that holds the world."""
    path = tmp_path / "graph.duckdb"
    path.write_bytes(world_bytes)
    return path


def refusal(path: Path, **options: bool) -> StoreError:
    """How a file is refused. The folder's files are as before, to the byte."""
    before = {p: p.read_bytes() for p in path.parent.iterdir() if p.is_file()}
    with pytest.raises(StoreError) as caught:
        open_store(address(path), **options)
    assert {p: p.read_bytes() for p in path.parent.iterdir() if p.is_file()} == before
    assert path.name in str(caught.value)
    assert caught.value.remedy.endswith(".")
    return caught.value


class TestReopening:
    def test_it_reads_as_before(self, tmp_path: Path) -> None:
        path = tmp_path / "graph.duckdb"
        store = open_store(address(path), create=True)
        write_world(store)
        before = everything(store, READER)
        store.optimize()
        version = store.describe(READER).data_version
        store.close()
        for create in (False, True):
            store = open_store(address(path), create=create)
            assert everything(store, READER) == before
            assert store.describe(READER).data_version == version
            store.close()

    def test_a_new_file_is_empty_and_stays_without_vectors(self, tmp_path: Path) -> None:
        path = tmp_path / "new.duckdb"
        open_store(address(path), create=True).close()
        store = open_store(address(path))
        assert (store.describe(OPEN).edges, store.describe(OPEN).embedder, store.describe(OPEN).dimension) == (
            0,
            None,
            None,
        )
        store.close()

    def test_the_embedder_is_remembered(self, graph: Path) -> None:
        store = open_store(address(graph))
        with pytest.raises(StoreError, match="toy"):
            write(store, edge("x", "a", "R", "b", embedding=vec(1, 0, 0, 0)), embedder="other")
        with pytest.raises(StoreError, match="4"):
            write(store, edge("x", "a", "R", "b", embedding=vec(1, 0)), embedder=EMBEDDER)
        store.close()

    def test_reading_leaves_the_bytes_alone(self, graph: Path) -> None:
        before = graph.read_bytes()
        store = open_store(address(graph))
        everything(store, READER)
        store.close()
        assert graph.read_bytes() == before
        assert [p.name for p in graph.parent.iterdir()] == [graph.name]

    def test_names_with_spaces_and_other_scripts(self, tmp_path: Path) -> None:
        open_store(f"duckdb:///{tmp_path}/my%20gr%C3%A4ph%25.duckdb", create=True).close()
        assert (tmp_path / "my gräph%.duckdb").is_file()

    def test_what_a_crash_left_in_the_log_is_read(self, tmp_path: Path) -> None:
        path = tmp_path / "crashed.duckdb"
        code = (
            "import os, sys; from kgcore.store import open_store; from tests.contract.graphs import write_world; "
            "store = open_store(sys.argv[1], create=True); write_world(store); os._exit(1)"
        )
        run = subprocess.run([sys.executable, "-c", code, address(path)], timeout=60, check=False)
        assert run.returncode == 1
        store = open_store(address(path))
        assert store.describe(READER).edges == 11
        assert len(store.chunks.get_documents_by_id([c.id for c in WORLD_CHUNKS])) == len(WORLD_CHUNKS)
        store.close()


class TestMissing:
    def test_a_missing_file_is_not_made(self, tmp_path: Path) -> None:
        error = refusal(tmp_path / "none.duckdb")
        assert "import" in error.remedy

    def test_a_missing_folder(self, tmp_path: Path) -> None:
        for create in (False, True):
            with pytest.raises(StoreError) as caught:
                open_store(address(tmp_path / "no folder" / "g.duckdb"), create=create)
            assert caught.value.remedy
        assert list(tmp_path.iterdir()) == []

    def test_a_folder(self, tmp_path: Path) -> None:
        folder = tmp_path / "folder.duckdb"
        folder.mkdir()
        for create in (False, True):
            refusal(folder, create=create)


def _random(path: Path, _: Path) -> None:
    path.write_bytes(random.Random(7).randbytes(20_000))


def _text(path: Path, _: Path) -> None:
    path.write_text("not a database\n" * 200)


def _short(path: Path, _: Path) -> None:
    path.write_bytes(b"x")


def _header_only(path: Path, graph: Path) -> None:
    path.write_bytes(graph.read_bytes()[:4096])


def _half(path: Path, graph: Path) -> None:
    path.write_bytes(graph.read_bytes()[: graph.stat().st_size // 2])


def _scrambled(path: Path, graph: Path) -> None:
    whole = graph.read_bytes()
    path.write_bytes(whole[:12_288] + random.Random(7).randbytes(len(whole) - 12_288))


def _empty(path: Path, _: Path) -> None:
    path.write_bytes(b"")


CORRUPT = [_random, _text, _short, _header_only, _half, _scrambled, _empty]


class TestCorrupt:
    @pytest.mark.parametrize("spoil", CORRUPT, ids=lambda f: f.__name__.strip("_"))
    @pytest.mark.parametrize("name", ["file.duckdb", "blocks.duckdb"])
    def test_it_is_refused(self, graph: Path, tmp_path: Path, spoil: Callable[[Path, Path], None], name: str) -> None:
        path = tmp_path / "spoilt" / name
        path.parent.mkdir()
        spoil(path, graph)
        error = refusal(path)
        assert "process" not in str(error)
        assert re.search("import|restore", error.remedy)

    @pytest.mark.parametrize("spoil", CORRUPT[:-1], ids=lambda f: f.__name__.strip("_"))
    def test_create_does_not_overwrite_it(
        self, graph: Path, tmp_path: Path, spoil: Callable[[Path, Path], None]
    ) -> None:
        path = tmp_path / "spoilt" / "file.duckdb"
        path.parent.mkdir()
        spoil(path, graph)
        refusal(path, create=True)

    @pytest.mark.parametrize("part", range(5))
    def test_a_damaged_part_is_an_error_or_does_not_matter(self, graph: Path, part: int) -> None:
        store = open_store(address(graph))
        whole = everything(store, READER)
        store.close()
        damaged = bytearray(graph.read_bytes())
        start = len(damaged) * part // 5
        damaged[start : start + 256] = random.Random(part).randbytes(256)
        graph.write_bytes(damaged)
        failed: StoreError | None = None
        read = None
        try:
            store = open_store(address(graph))
            read = everything(store, READER)
            store.close()
        except StoreError as error:
            failed = error
        assert read == whole or (failed and failed.remedy and "process" not in str(failed))


SYSTEM_FILE = "/etc/hostname"
FOREIGN: dict[str, tuple[bool, str]] = {
    "other tables": (False, "CREATE TABLE customer (id INTEGER); INSERT INTO customer VALUES (1)"),
    "no tables": (False, "CREATE TABLE t (i INTEGER); DROP TABLE t"),
    "one more table": (True, "CREATE TABLE extra (i INTEGER)"),
    "one table less": (True, "DROP TABLE token"),
    "a view over read_text": (True, f"CREATE VIEW leak AS SELECT content FROM read_text('{SYSTEM_FILE}')"),
    "a view for a table": (
        True,
        f"DROP TABLE token; CREATE VIEW token AS SELECT content AS token, 0 AS name FROM read_text('{SYSTEM_FILE}')",
    ),
    "a macro": (True, "CREATE MACRO fold(x) AS upper(x)"),
    "a macro named like a function": (True, "CREATE MACRO json_extract(a, b) AS NULL"),
    "a table macro": (True, f"CREATE MACRO leak() AS TABLE SELECT * FROM read_text('{SYSTEM_FILE}')"),
    "a column more": (True, "ALTER TABLE edge ADD COLUMN extra VARCHAR"),
    "a column less": (True, "ALTER TABLE edge DROP COLUMN description"),
    "a column renamed": (True, "ALTER TABLE edge RENAME COLUMN description TO about"),
    "a column of another type": (True, "ALTER TABLE edge ALTER relation TYPE BLOB"),
    "a default": (True, "ALTER TABLE edge ALTER relation SET DEFAULT 'x'"),
    "a generated column": (
        True, "DROP TABLE token; CREATE TABLE token (token VARCHAR, name INTEGER, u VARCHAR AS (upper(token)))",
    ),
    "a constraint": (True, "DROP TABLE token; CREATE TABLE token (token VARCHAR CHECK (token <> 'x'), name INTEGER)"),
    "an index": (True, "CREATE INDEX i ON token (token)"),
    "a sequence": (True, "CREATE SEQUENCE s"),
    "a type": (True, "CREATE TYPE mood AS ENUM ('a', 'b')"),
    "a schema": (True, "CREATE SCHEMA other"),
    "a table in another schema": (True, "CREATE SCHEMA other; CREATE TABLE other.t (i INTEGER)"),
    "a later version": (True, "UPDATE meta SET value = '999' WHERE key = 'schema'"),
    "no version": (True, "DELETE FROM meta"),
    "a dimension that is none": (True, "UPDATE meta SET value = 'x' WHERE key = 'dimension'"),
    "a data version that is none": (True, "UPDATE meta SET value = 'x' WHERE key = 'data_version'"),
}  # fmt: skip


class TestForeign:
    @pytest.mark.parametrize("case", FOREIGN)
    def test_it_is_refused(self, graph: Path, case: str) -> None:
        ours, sql = FOREIGN[case]
        path = graph if ours else graph.with_name("foreign.duckdb")
        with duckdb.connect(str(path)) as connection:
            connection.execute(sql)
        error = refusal(path)
        assert re.search("import|version", error.remedy, re.IGNORECASE)

    @pytest.mark.parametrize("case", ["other tables", "one table less", "a view for a table", "a later version"])
    def test_create_does_not_mend_it(self, graph: Path, case: str) -> None:
        with duckdb.connect(str(graph)) as connection:
            connection.execute(FOREIGN[case][1])
        refusal(graph, create=True)

    def test_a_file_of_another_database(self, tmp_path: Path) -> None:
        import sqlite3

        path = tmp_path / "lite.db"
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE t (i INTEGER)")
        connection.close()
        refusal(path)

    def test_our_own_file_cannot_read_others(self, graph: Path) -> None:
        store = open_store(address(graph))
        for sql in (f"SELECT * FROM read_text('{SYSTEM_FILE}')", "SET enable_external_access = true", "INSTALL httpfs",
                    f"ATTACH '{graph.with_name('other.duckdb')}'", "COPY meta TO 'out.csv'"):  # fmt: skip
            with pytest.raises(StoreError):
                store.file.rows(sql)  # type: ignore[attr-defined]
        store.close()

    def test_the_schema_here_is_the_stores(self, graph: Path) -> None:
        with duckdb.connect(str(graph), read_only=True) as connection:
            tables = connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
        assert sorted(row[0] for row in tables) == sorted(SCHEMA)


READS: dict[str, Callable[[GraphStore], object]] = {
    "expand": lambda store: store.expand(["a"], (), READER, vec(1, 0), 9),
    "expand-cut": lambda store: store.expand(["a"], (), READER, None, 1),
    "paths": lambda store: store.paths("a", "c", READER, 2),
    "scan": lambda store: store.scan(READER, None),
    "entities": lambda store: store.entities(["a", "b", "c"], READER),
    "names": lambda store: store.match_names(["b", "Sea", "HIDDEN"], READER, 5),
    "nearest": lambda store: store.nearest_entities([vec(1, 0)], READER, 9),
    "search": lambda store: store.search("s", READER),
    "hubs": lambda store: store.hubs(READER, 9),
}


@pytest.mark.parametrize("read", READS)
def test_a_write_between_two_queries_of_a_read_shows_nothing_hidden(read: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers of rows are used again: what a reader looked up under a filter must not come to mean another row."""
    store = open_store("duckdb:///:memory:", create=True)
    file = store.file  # type: ignore[attr-defined]
    rows = file.rows
    write(store, edge("kept", "a", "R", "b", doc="kept", properties={**PUBLIC, "n": 1}, embedding=vec(1, 0)))
    sea = Entity(id="c", type="T", name="Sea", embedding=vec(1, 0))
    for turn in range(8):
        write(store, edge("public", "a", "P", "c", dst="Sea", doc="d1", embedding=vec(1, 0)), entities=[sea])
        calls = 0

        def interrupted(sql: str, params: object = None, turn: int = turn) -> object:
            nonlocal calls
            calls += 1
            if calls == turn + 1:
                store.delete_documents(["d1"])
                write(store, hidden("secret", "a", "HIDDEN", "c", dst="HIDDEN", src="HIDDEN", embedding=vec(1, 0)))
            return rows(sql, params)

        monkeypatch.setattr(file, "rows", interrupted)
        told = repr(READS[read](store))
        monkeypatch.setattr(file, "rows", rows)
        assert "HIDDEN" not in told
        if calls <= turn:
            break
        store.delete_documents(["d9"])
    assert turn > 0
    store.close()


HOLDER = (
    "import sys; from kgcore.store import open_store; store = open_store(sys.argv[1]); print('held', flush=True); "
    "sys.stdin.read()"
)


class TestSecondProcess:
    @pytest.mark.parametrize("name", ["graph.duckdb", "held in x (PID 1).duckdb"])
    def test_it_is_told_who_holds_the_file(self, graph: Path, name: str) -> None:
        path = graph.rename(graph.with_name(name))
        command = [sys.executable, "-c", HOLDER, address(path)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
            assert holder.stdout is not None and holder.stdout.readline() == "held\n"
            error = refusal(path)
            assert str(holder.pid) in str(error)
            assert "python" in str(error)
            assert re.search("stop", error.remedy, re.IGNORECASE)
            holder.communicate("")
        store = open_store(address(path))
        assert store.describe(READER).edges == 11
        store.close()

    def test_a_closed_store_gives_the_file_back(self, graph: Path) -> None:
        open_store(address(graph)).close()
        run = subprocess.run(
            [sys.executable, "-c", HOLDER, address(graph)], stdin=subprocess.DEVNULL, timeout=60, check=False
        )
        assert run.returncode == 0

    def test_a_refused_file_is_given_back(self, graph: Path) -> None:
        with duckdb.connect(str(graph)) as connection:
            connection.execute("CREATE TABLE extra (i INTEGER)")
        refusal(graph)
        code = "import sys, duckdb; duckdb.connect(sys.argv[1]).close()"
        assert subprocess.run([sys.executable, "-c", code, str(graph)], timeout=60, check=False).returncode == 0


class TestAddresses:
    @pytest.mark.parametrize(
        "url",
        [
            "", "duckdb", "duckdb:", "duckdb://", "duckdb:///", "duckdb:/graph.duckdb", "duckdb:graph.duckdb",
            "duckdb://graph.duckdb", "duckdb://host/graph.duckdb", "graph.duckdb", "/graph.duckdb", "sqlite:///graph.db",
            "http://localhost/graph", "file:///graph.duckdb", "postgres://ann:hunter2@localhost/graph", " duckdb:///g",
            "://", ":memory:", "duckdb+x:///g", "duckdb:///a%00b", "mysql://ann:hun@ter2@localhost/graph",
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("create", [False, True])
    def test_it_is_refused(self, url: str, create: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        with pytest.raises(ConfigError) as caught:
            open_store(url, create=create)
        assert "duckdb:///" in caught.value.remedy
        for secret in ("ann", "hunter2", "hun", "ter2"):
            assert secret not in str(caught.value)
        assert list(tmp_path.iterdir()) == []

    def test_a_relative_file_is_under_the_working_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        open_store("duckdb:///graph.duckdb", create=True).close()
        assert [p.name for p in tmp_path.iterdir()] == ["graph.duckdb"]

    def test_memory_needs_create_and_is_nobody_elses(self) -> None:
        one, two = (open_store("duckdb:///:memory:", create=True) for _ in range(2))
        write(one, edge("e", "a", "R", "b"))
        assert (one.describe(OPEN).edges, two.describe(OPEN).edges) == (1, 0)
        one.close()
        two.close()

    def test_access_fields_are_the_openers(self) -> None:
        store = open_store("duckdb:///:memory:", create=True, access_fields=["clearance"])
        assert "clearance" in store.access_fields
        assert store.describe(AccessFilter.of()).edges == 0
        store.close()


@pytest.mark.parametrize(
    "limits", [("MAX_WHOLE",), ("MAX_WHOLE", "MAX_NAMES"), ("MAX_WHOLE", "MAX_NAMES", "MAX_TABLE")]
)
def test_a_large_graph_answers_as_a_small_one(limits: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read whole, held as a table, or asked of the file makes no difference."""
    store = open_store("duckdb:///:memory:", create=True)
    write_world(store)
    filters = (
        OPEN,
        READER,
        BOARD,
        READER.narrowed(only("year", "<", 2024)),
        READER.narrowed(only("key", "==", "size")),
    )
    small = [everything(store, filter) for filter in filters]
    store.close()
    for name in limits:
        monkeypatch.setattr(duckdb_rows, name, 0)
    store = open_store("duckdb:///:memory:", create=True)
    write_world(store)
    assert [everything(store, filter) for filter in filters] == small
    store.close()
