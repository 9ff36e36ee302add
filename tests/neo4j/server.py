"""Real Neo4j servers on 127.0.0.1, from Maven's JARs, for tests and benches.

    with running("5.26.12") as [server]:
        GraphDatabase.driver(f"bolt://127.0.0.1:{server.port}", auth=("neo4j", server.password))

    python -m tests.neo4j.server                      # both versions, until SIGINT or SIGTERM; prints NEO4J_TEST_URIS
    python -m tests.neo4j.server run -- COMMAND...    # both versions while COMMAND runs; exits with its code

Needs what `runtime` finds or fetches. No server outlives the process that started it.
"""

from __future__ import annotations

import os
import random
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from neo4j import GraphDatabase, Query
from neo4j.exceptions import AuthError, DriverError, Neo4jError

from tests.neo4j.runtime import RELEASES, Release, ServerError, find_java, jars, tail

VERSIONS = tuple(RELEASES)
FIRST_PASSWORD = "neo4j"
READY_SECONDS, STOP_SECONDS, POLL_SECONDS = 180.0, 60.0, 0.1
OPENED = tuple(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in ("java.nio", "java.io", "sun.nio.ch"))
USAGE = "Usage: python -m tests.neo4j.server [run -- COMMAND...]"


class Server:
    """One Neo4j Community server in a folder of its own. `start` works again after `stop` and `kill`, on the same data.

    `folder` is its home, with `server.log`; `port` is Bolt's, on 127.0.0.1; `password` is that of the user `neo4j`.
    """

    def __init__(
        self, *, version: str, folder: Path, port: int, password: str, heap: str = "1g", pagecache: str = "128m"
    ) -> None:
        """Writes the configuration. Raises ServerError if the version's Java or JARs are missing."""
        release = RELEASES[version]
        java, lib = find_java(release.java), jars(version)
        self.version, self.folder, self.port, self.password = version, folder, port, password
        self._command = [
            *(f"{java}/bin/java", f"-Xmx{heap}", "-XX:+UseSerialGC", *OPENED, *release.options, "-cp", f"{lib}/*"),
            *(release.main, f"--home-dir={folder}", f"--config-dir={folder}/conf", "--console-mode"),
        ]
        self._process: subprocess.Popen[bytes] | None = None
        self._keeper: subprocess.Popen[bytes] | None = None
        (folder / "conf").mkdir(parents=True, exist_ok=True)
        (folder / "conf" / "neo4j.conf").write_text(_configuration(release, port, pagecache), encoding="utf-8")

    @classmethod
    def fresh(cls, version: str, *, heap: str = "1g", pagecache: str = "128m") -> Server:
        """A new server, not started: a temporary folder, a free port, a password that nobody knows."""
        folder = Path(tempfile.mkdtemp(prefix=f"hopscope-neo4j-{version}-"))
        try:
            port, password = _free_port(), secrets.token_hex(8)
            return cls(version=version, folder=folder, port=port, password=password, heap=heap, pagecache=pagecache)
        except BaseException:
            shutil.rmtree(folder)
            raise

    @property
    def uri(self) -> str:
        """Its address with user and password, as NEO4J_TEST_URIS has it."""
        return f"bolt://neo4j:{self.password}@127.0.0.1:{self.port}"

    @property
    def running(self) -> bool:
        """Whether its process is there, ready or not."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Starts the process and does not wait: `wait_ready` does. Raises ServerError if it is running already."""
        if self.running:
            raise ServerError(f"Neo4j {self.version} is running already, on port {self.port}.")
        self.kill()
        # The keeper's group holds the server. When the pipe closes, by `kill` or because this process died in whatever
        # way, the keeper kills its group.
        self._keeper = subprocess.Popen(["sh", "-c", "read -r _; kill -KILL 0"], stdin=subprocess.PIPE, process_group=0)
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                process_group=self._keeper.pid,
            )

    def wait_ready(self, seconds: float = READY_SECONDS) -> None:
        """Returns when a login with `password` works and the database answers; the first login sets the password.

        Raises ServerError if the process ends, refuses the password, or is not ready in time.
        """
        deadline = time.monotonic() + seconds
        while True:
            running = self.running
            try:
                return self._log_in()
            except AuthError as error:
                raise self._failed("refuses its password", error) from error
            except (DriverError, Neo4jError) as error:
                if not running:
                    raise self._failed("is not running", error) from error
                if time.monotonic() > deadline:
                    raise self._failed(f"was not ready after {seconds:.0f} seconds", error) from error
            time.sleep(POLL_SECONDS)

    def stop(self) -> None:
        """Has the server close its databases and end. Raises ServerError if it had to be killed."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired as error:
                raise self._failed("did not stop", error) from error
            finally:
                self.kill()

    def kill(self) -> None:
        """Ends the server at once, as a crash would."""
        if self._keeper is not None:
            self._keeper.communicate()
            self._keeper = None
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def remove(self) -> None:
        """Kills the server and deletes its folder."""
        self.kill()
        shutil.rmtree(self.folder)

    @property
    def _log(self) -> Path:
        return self.folder / "server.log"

    def _log_in(self) -> None:
        try:
            self._query(self.password, "neo4j", "RETURN 1")
        except AuthError:
            change = "ALTER CURRENT USER SET PASSWORD FROM $old TO $new"
            self._query(FIRST_PASSWORD, "system", change, old=FIRST_PASSWORD, new=self.password)
            self._query(self.password, "neo4j", "RETURN 1")

    def _query(self, password: str, database: str, text: str, **parameters: str) -> None:
        address = f"bolt://127.0.0.1:{self.port}"
        with (
            GraphDatabase.driver(address, auth=("neo4j", password), connection_timeout=5.0) as driver,
            driver.session(database=database) as session,
        ):
            session.run(Query(text, timeout=10.0), parameters).consume()

    def _failed(self, what: str, error: Exception) -> ServerError:
        written = self._log.read_text(encoding="utf-8", errors="replace") if self._log.exists() else ""
        return ServerError(f"Neo4j {self.version} on port {self.port} {what}: {error}\n{tail(written)}")


@contextmanager
def running(*versions: str, heap: str = "1g", pagecache: str = "128m") -> Iterator[list[Server]]:
    """Fresh servers of these versions (all by default), started together, ready. They go with their data."""
    with ExitStack() as stack:
        servers = []
        for version in versions or VERSIONS:
            servers.append(Server.fresh(version, heap=heap, pagecache=pagecache))
            stack.callback(servers[-1].remove)
        for server in servers:
            server.start()
        for server in servers:
            server.wait_ready()
        yield servers


def main(arguments: Sequence[str]) -> int:
    """The command line; returns the exit code."""
    command = list(arguments[2:])
    if arguments and (list(arguments[:2]) != ["run", "--"] or not command):
        print(USAGE, file=sys.stderr)
        return 2
    if command and not shutil.which(command[0]):
        print(f"{command[0]}: no such command", file=sys.stderr)
        return 127
    _leave_on_signals()
    try:
        with running() as servers:
            uris = ",".join(server.uri for server in servers)
            if command:
                return _run(command, uris)
            print(f"export NEO4J_TEST_URIS={uris}", flush=True)
            while all(server.running for server in servers):
                time.sleep(POLL_SECONDS)
            raise ServerError("A server ended by itself.")
    except ServerError as error:
        print(error, file=sys.stderr)
        return 1


def _configuration(release: Release, port: int, pagecache: str) -> str:
    """conf/neo4j.conf: Bolt alone, on the loopback; small on disk; quick to stop (the quiet periods are 10 seconds)."""
    lines = (
        f"server.bolt.listen_address=127.0.0.1:{port}",
        f"server.bolt.advertised_address=127.0.0.1:{port}",
        "server.http.enabled=false",
        "server.https.enabled=false",
        "dbms.usage_report.enabled=false",
        f"server.memory.pagecache.size={pagecache}",
        "db.tx_log.preallocate=false",
        "db.tx_log.rotation.size=16m",
        "db.tx_log.rotation.retention_policy=1 files",
        "db.shutdown_transaction_end_timeout=1s",
        *release.settings,
    )
    return "\n".join(lines) + "\n"


def _free_port() -> int:
    """A port that nobody listens on, below those that systems give to outgoing connections.

    One of those could be taken while the server is down, even by the client that is trying to reach it.
    """
    for port in random.sample(range(20_000, 32_000), k=100):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise ServerError("No free port found on 127.0.0.1.")


def _run(command: Sequence[str], uris: str) -> int:
    """Runs the command in a process group of its own, which ends with us."""
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, env={**os.environ, "NEO4J_TEST_URIS": uris}, process_group=0
    )
    try:
        code = process.wait()
    except BaseException:
        os.killpg(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(STOP_SECONDS)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    return code if code >= 0 else 128 - code


def _leave_on_signals() -> None:
    """The first signal ends the program by an exception, so that everything is cleaned up; more do not disturb that."""
    caught = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        caught.append(signal.SIGHUP)

    def leave(number: int, frame: object) -> None:
        for each in caught:
            signal.signal(each, signal.SIG_IGN)
        raise SystemExit(128 + number)

    for each in caught:
        signal.signal(each, leave)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
