"""Options and settings of the whole suite."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadScopeScheduling

# The suite neither reads nor touches the user's caches: an app may hold the demo's file there.
os.environ.setdefault("HOPSCOPE_CACHE_DIR", str(Path(__file__).parents[1] / ".cache" / "tests"))
if worker := os.environ.get("PYTEST_XDIST_WORKER"):  # a file of DuckDB is held by one process
    os.environ["HOPSCOPE_CACHE_DIR"] = str(Path(os.environ["HOPSCOPE_CACHE_DIR"]) / worker)

ALONE = ("e2e", "neo4j/test_faults.py", "neo4j/test_side.py", "unit/test_neo4j_server.py")
"""Tests that stop servers, or need the machine for a browser: one at a time, the others beside each other."""

SHARED = re.compile(r"neo4j-\d+|duckdb-\w+")
"""The stores that tests name in their ids: those of one store follow each other, those of two run beside each other."""

settings.register_profile(
    "fixed", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("fixed")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-goldens", action="store_true", help="rewrite the golden files instead of comparing")
    parser.addoption(
        "--differential-cases", type=int, default=12, help="random graphs that two stores are compared by, a server"
    )


def pytest_itemcollected(item: pytest.Item) -> None:
    place = item.path.relative_to(Path(__file__).parent).as_posix()
    if place.startswith(ALONE):
        item.add_marker("alone")


class ByStore(LoadScopeScheduling):  # type: ignore[misc]
    """Gives one process all the tests of a store, and one those of the question sets, which are read once."""

    def _split_scope(self, nodeid: str) -> str:
        place, _, case = nodeid.partition("[")
        if store := SHARED.search(case):
            return store.group()
        return "evals" if place.startswith("tests/evals/") else nodeid


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByStore:
    return ByStore(config, log)


@pytest.fixture
def update_goldens(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are written rather than compared."""
    return bool(request.config.getoption("--update-goldens"))
