"""What a Neo4j server runs on: JARs from Maven, kept in `.neo4j/`, and a Java that is installed.

    python -m tests.neo4j.runtime     # fetches what is missing, for each version; says what it cannot find

Needs nothing but Python, so that it can run before anything is installed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

JARS = Path(__file__).parents[2] / ".neo4j"
JVMS = ("/usr/lib/jvm/*", "/Library/Java/JavaVirtualMachines/*/Contents/Home")
FETCH_SECONDS, TAIL_LINES = 900.0, 30


class ServerError(RuntimeError):
    """A server cannot be made, started or stopped; the message says why and ends with what the program wrote."""


@dataclass(frozen=True, kw_only=True)
class Release:
    """One version: the oldest Java it runs on, its main class, and what of the options and settings is its own."""

    version: str
    java: int
    main: str
    options: tuple[str, ...] = ()
    settings: tuple[str, ...]


RELEASES = {
    release.version: release
    for release in (
        Release(
            version="5.26.12",
            java=17,
            main="org.neo4j.server.CommunityEntryPoint",
            settings=("internal.dbms.bolt.netty_server_shutdown_quiet_period=0",),
        ),
        Release(
            version="2026.08.1",
            java=25,
            main="org.neo4j.server.Neo4jCommunity",
            options=("--add-modules=jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED"),
            settings=(
                "internal.dbms.bolt.netty_server_shutdown_quiet_period_duration=0s",
                "dbms.fleet_manager.enabled=false",
                "server.fleet_discovery.enabled=false",  # it broadcasts on the network
            ),
        ),
    )
}


def jars(version: str) -> Path:
    """The folder of this version's JARs, fetched by Maven if it is not there. It is there whole or not at all.

    Raises ServerError if Maven is missing or fails.
    """
    lib = JARS / version / "lib"
    if lib.is_dir():
        return lib
    maven = shutil.which("mvn")
    if not maven:
        raise ServerError(f"Neo4j {version} is fetched with Maven: install it (Debian: apt-get install maven).")
    lib.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=lib.parent) as folder:
        print(f"Fetching Neo4j {version} ...", file=sys.stderr, flush=True)
        _copy_dependencies(maven, version, Path(folder, "lib"))
        try:
            Path(folder, "lib").rename(lib)
        except OSError:
            if not lib.is_dir():  # else another process was first
                raise
    return lib


def find_java(least: int) -> Path:
    """The home of a Java of this major version: JAVA_<least>_HOME, or the oldest one found that is new enough.

    Raises ServerError if there is none.
    """
    name = f"JAVA_{least}_HOME"
    given = os.environ.get(name)
    if given:
        if _java_version(Path(given)) < least:
            raise ServerError(f"{name} is {given}, which is not the home of a Java {least}.")
        return Path(given)
    on_path = shutil.which("java")
    homes = [
        *(home for pattern in JVMS for home in Path("/").glob(pattern.removeprefix("/"))),
        *([Path(os.environ["JAVA_HOME"])] if os.environ.get("JAVA_HOME") else []),
        *([Path(on_path).resolve().parents[1]] if on_path else []),
    ]
    found = sorted((version, home) for home in homes if (version := _java_version(home)) >= least)
    if not found:
        raise ServerError(f"No Java {least} or newer was found: install one, or set {name} to its home.")
    return found[0][1]


def tail(text: str) -> str:
    """The last lines of what a program wrote."""
    return "\n".join(text.splitlines()[-TAIL_LINES:])


def _copy_dependencies(maven: str, version: str, folder: Path) -> None:
    pom = Path(__file__).with_name("pom.xml")
    done = subprocess.run(
        [
            *(maven, "-q", "-B", "-f", str(pom), f"-Dneo4j.version={version}", "dependency:copy-dependencies"),
            *("-DincludeScope=runtime", f"-DoutputDirectory={folder}"),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=FETCH_SECONDS,
        check=False,
    )
    if done.returncode:
        raise ServerError(f"Maven could not fetch Neo4j {version}:\n{tail(done.stdout)}")


def _java_version(home: Path) -> int:
    """The major version that a Java home's `release` file tells; 0 if there is no Java."""
    release = home / "release"
    if not (release.is_file() and (home / "bin" / "java").is_file()):
        return 0
    told = re.search(r'^JAVA_VERSION="(\d+)', release.read_text(encoding="utf-8"), re.MULTILINE)
    return int(told[1]) if told else 0


def main() -> int:
    """Fetches and checks; returns the exit code."""
    try:
        for release in RELEASES.values():
            print(f"Neo4j {release.version}: {find_java(release.java)}, {jars(release.version)}")
    except ServerError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
