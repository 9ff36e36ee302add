"""The servers that the Neo4j tests run on: what they need, how they end, and that none is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from neo4j import GraphDatabase

from tests.neo4j import runtime
from tests.neo4j.runtime import ServerError, find_java, jars
from tests.neo4j.server import VERSIONS, Server, running

ROOT = Path(__file__).parents[2]


def script(path: Path, *lines: str) -> Path:
    """An executable shell script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)
    return path


def java(home: Path, version: str, *lines: str) -> Path:
    """A Java home of that version, whose `java` is a script."""
    script(home / "bin" / "java", *lines)
    (home / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return home


@pytest.fixture(autouse=True)
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """A machine with no Java, no Maven and no JARs, unless the test wants the real one."""
    if "real" in request.fixturenames:
        return
    for name in ("JAVA_HOME", "JAVA_17_HOME", "JAVA_25_HOME"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "bin").mkdir()
    for tool in ("sh", "cat", "mkdir", "sleep"):
        (tmp_path / "bin" / tool).symlink_to(f"/bin/{tool}")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(runtime, "JVMS", (f"{tmp_path}/jvm/*",))
    monkeypatch.setattr(runtime, "JARS", tmp_path / "jars")


class TestJava:
    def test_the_oldest_that_will_do_is_taken(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        homes = {version: java(tmp_path / "jvm" / version, f"{version}.0.1") for version in ("25", "21", "17", "11")}
        (tmp_path / "jvm" / "empty").mkdir()
        monkeypatch.setattr(runtime, "JVMS", (*map(str, homes.values()), f"{tmp_path}/jvm/empty"))
        assert (find_java(17), find_java(18), find_java(25)) == (homes["17"], homes["21"], homes["25"])

    def test_the_environment_comes_first(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        java(tmp_path / "jvm" / "25", "25")
        monkeypatch.setenv("JAVA_25_HOME", str(java(tmp_path / "mine", "26")))
        assert find_java(25) == tmp_path / "mine"

    def test_one_that_is_too_old_is_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        java(tmp_path / "jvm" / "25", "25")
        monkeypatch.setenv("JAVA_25_HOME", str(java(tmp_path / "mine", "17")))
        with pytest.raises(ServerError, match="JAVA_25_HOME"):
            find_java(25)

    def test_the_one_on_the_path_is_found_through_its_link(self, tmp_path: Path) -> None:
        home = java(tmp_path / "elsewhere", "17.0.1")
        (tmp_path / "bin" / "java").symlink_to(home / "bin" / "java")
        assert find_java(17) == home

    def test_none_says_what_to_set(self, tmp_path: Path) -> None:
        java(tmp_path / "jvm" / "17", "17")
        with pytest.raises(ServerError, match=r"No Java 25.*JAVA_25_HOME"):
            find_java(25)


class TestJars:
    WRITES = 'for a; do case "$a" in -DoutputDirectory=*) mkdir "${a#*=}"; echo x > "${a#*=}/a.jar";; esac; done'

    def test_they_are_fetched_once(self, tmp_path: Path) -> None:
        script(tmp_path / "bin" / "mvn", self.WRITES)
        lib = jars("5.26.12")
        (tmp_path / "bin" / "mvn").unlink()
        assert jars("5.26.12") == lib
        assert [path.relative_to(tmp_path) for path in (tmp_path / "jars").rglob("*")] == [
            Path("jars/5.26.12"), Path("jars/5.26.12/lib"), Path("jars/5.26.12/lib/a.jar"),
        ]  # fmt: skip

    def test_what_failed_halfway_leaves_nothing(self, tmp_path: Path) -> None:
        script(tmp_path / "bin" / "mvn", self.WRITES, "echo The archive is away.", "exit 1")
        with pytest.raises(ServerError, match=r"5\.26\.12(.|\n)*The archive is away"):
            jars("5.26.12")
        assert list((tmp_path / "jars").rglob("*.jar")) == []
        with pytest.raises(ServerError):
            jars("5.26.12")

    def test_without_maven_it_says_so(self) -> None:
        with pytest.raises(ServerError, match="Maven"):
            jars("5.26.12")


def pretended(tmp_path: Path, *lines: str) -> Server:
    """A server of which Java is a script."""
    java(tmp_path / "jvm" / "17", "17", *lines)
    (tmp_path / "jars" / "5.26.12" / "lib").mkdir(parents=True)
    return Server(version="5.26.12", folder=tmp_path / "home", port=1, password="12345678")


class TestServer:
    def test_one_that_ends_shows_what_it_wrote(self, tmp_path: Path) -> None:
        server = pretended(tmp_path, "echo Address already in use.", "exit 1")
        server.start()
        with pytest.raises(ServerError, match=r"not running(.|\n)*Address already in use\."):
            server.wait_ready()
        server.kill()

    def test_one_that_never_answers_is_given_up(self, tmp_path: Path) -> None:
        server = pretended(tmp_path, "echo Still waiting.", "exec sleep 600")
        server.start()
        with pytest.raises(ServerError, match="not ready after 0 seconds"):
            server.wait_ready(seconds=0)
        assert server.running
        with pytest.raises(ServerError, match="running already"):
            server.start()
        server.kill()
        assert not server.running

    def test_it_ends_with_whoever_started_it(self, tmp_path: Path) -> None:
        """Neither the process nor a child of it outlives a parent that was killed: they hold the pipe open."""
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        script(tmp_path / "java", f"exec 9>{pipe}", "echo up >&9", "sleep 600 &", "exec sleep 600")
        code = f"""if True:
            import signal
            from pathlib import Path
            from tests.neo4j import server
            server.find_java = server.jars = lambda _: Path({str(tmp_path)!r})
            started = server.Server(version="5.26.12", folder=Path({str(tmp_path)!r}), port=1, password="12345678")
            started.start()
            signal.pause()"""
        (tmp_path / "bin" / "java").symlink_to(tmp_path / "java")
        with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT) as parent, pipe.open() as reading:
            assert reading.readline() == "up\n"
            parent.kill()
            assert reading.read() == ""


class TestCommand:
    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """The command as it is, but with no version to start."""
        code = "import sys; from tests.neo4j import server as s; s.VERSIONS = (); sys.exit(s.main(sys.argv[1:]))"
        return subprocess.run(
            [sys.executable, "-c", code, *arguments],
            cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip

    def test_its_code_is_the_commands(self) -> None:
        done = self.run("run", "--", "sh", "-c", 'echo "<$NEO4J_TEST_URIS>"; exit 7')
        assert (done.returncode, done.stdout) == (7, "<>\n")

    def test_a_signals_number_is_added_to_128(self) -> None:
        assert self.run("run", "--", "sh", "-c", "kill -9 $$").returncode == 128 + 9

    @pytest.mark.parametrize(
        ("arguments", "code", "said"),
        [
            (["run"], 2, "Usage"),
            (["ru"], 2, "Usage"),
            (["run", "--"], 2, "Usage"),
            (["run", "--", "nosuch"], 127, "no such"),
        ],
    )
    def test_what_cannot_be_run_starts_nothing(self, arguments: list[str], code: int, said: str) -> None:
        done = self.run(*arguments)
        assert done.returncode == code and said in done.stderr

    def test_a_signal_ends_the_command_and_all_that_it_started(self, tmp_path: Path) -> None:
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        code = "import sys; from tests.neo4j import server as s; s.VERSIONS = (); sys.exit(s.main(sys.argv[1:]))"
        command = f"exec 9>{pipe}; trap '' TERM; sleep 600 & trap - TERM; echo up >&9; sleep 600"
        with subprocess.Popen([sys.executable, "-c", code, "run", "--", "sh", "-c", command], cwd=ROOT) as process:
            with pipe.open() as reading:
                assert reading.readline() == "up\n"
                process.terminate()
                assert process.wait(60) == 128 + signal.SIGTERM
                assert reading.read() == ""


@pytest.fixture
def real() -> None:
    """For tests that start servers of their own: where the tests have servers, the means are there."""
    if not (os.environ.get("NEO4J_TEST_URIS") or os.environ.get("CI")):
        pytest.skip("NEO4J_TEST_URIS is not set")


@pytest.mark.usefixtures("real")
def test_real_ones_come_back_with_their_data() -> None:
    def ask(server: Server, query: str) -> list[object]:
        with GraphDatabase.driver(f"bolt://127.0.0.1:{server.port}", auth=("neo4j", server.password)) as driver:
            return [record.value() for record in driver.execute_query(query, database_="neo4j").records]

    with running() as servers:
        version = "CALL dbms.components() YIELD name, versions WHERE name = 'Neo4j Kernel' RETURN versions[0]"
        assert [ask(server, version) for server in servers] == [[each] for each in VERSIONS]
        for server, end in zip(servers, (Server.stop, Server.kill), strict=True):
            ask(server, "CREATE (:A {n: 1})")
            end(server)
            assert not server.running
            server.start()
        for server in servers:
            server.wait_ready()
        assert [ask(server, "MATCH (a:A) RETURN a.n") for server in servers] == [[1], [1]]
    assert not any(server.folder.exists() for server in servers)
