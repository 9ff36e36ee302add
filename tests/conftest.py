"""Options and settings of the whole suite."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# The suite neither reads nor touches the user's caches: an app may hold the demo's file there.
os.environ.setdefault("HOPSCOPE_CACHE_DIR", str(Path(__file__).parents[1] / ".cache" / "tests"))

settings.register_profile(
    "fixed", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("fixed")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-goldens", action="store_true", help="rewrite the golden files instead of comparing")
    parser.addoption(
        "--differential-cases", type=int, default=12, help="random graphs that two stores are compared by, a server"
    )


@pytest.fixture
def update_goldens(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are written rather than compared."""
    return bool(request.config.getoption("--update-goldens"))
