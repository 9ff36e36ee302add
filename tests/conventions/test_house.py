"""The rules of the house, as far as the source itself can be asked."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import subprocess
import sys
import typing
from collections.abc import Iterator
from pathlib import Path

import pytest

import kgcore.errors
import kgcore.types
from kgcore.errors import FilterError, KgError

ROOT = Path(__file__).parents[2]
OURS = ("app", "pages", "ui", "kgcore")
MODULES = sorted(
    path for part in OURS for path in [ROOT / f"{part}.py", *(ROOT / part).rglob("*.py")] if path.is_file()
)
NAMES = {path: ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in MODULES}
MAX_LINES = 350

MAY_NOT_IMPORT = {
    "kgcore": ("streamlit", "ui", "pages", "app"),
    "ui": ("pages", "app"),
    "pages": ("pages", "app"),
    "kgcore.types": (
        "kgcore.errors",
        "kgcore.names",
        "kgcore.text",
        "kgcore.filters",
        "kgcore.store",
        "kgcore.models",
        "kgcore.retrieve",
        "kgcore.ingest",
        "kgcore.viz",
    ),
    "kgcore.errors": ("kgcore",),
    "kgcore.names": (
        "kgcore.store",
        "kgcore.filters",
        "kgcore.models",
        "kgcore.retrieve",
        "kgcore.ingest",
        "kgcore.viz",
    ),
    "kgcore.filters": ("kgcore.store", "kgcore.models", "kgcore.retrieve", "kgcore.ingest", "kgcore.viz"),
    "kgcore.store": ("kgcore.retrieve", "kgcore.models", "kgcore.ingest", "kgcore.agent", "kgcore.evals", "kgcore.viz"),
    "kgcore.browse": ("kgcore.viz", "kgcore.ingest", "kgcore.evals"),
    "kgcore.models": ("kgcore.retrieve", "kgcore.store", "kgcore.ingest", "kgcore.agent", "kgcore.evals", "kgcore.viz"),
}
"""A part, and what nothing in it may import: pages -> ui -> kgcore; pipeline -> steps -> store, models -> types."""


def within(name: str, part: str) -> bool:
    return name == part or name.startswith(part + ".")


def imported(path: Path) -> Iterator[str]:
    """Every module that a file imports, wherever in it, and every name it takes from one."""
    package = NAMES[path] if path.stem == "__init__" else NAMES[path].rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join([*parents, *([node.module] if node.module else [])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", MODULES, ids=NAMES.get)
class TestModule:
    def test_it_imports_one_way(self, path: Path) -> None:
        refused = [f for part, listed in MAY_NOT_IMPORT.items() if within(NAMES[path], part) for f in listed]
        assert [name for name in imported(path) if any(within(name, f) for f in refused)] == []

    def test_it_is_short(self, path: Path) -> None:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_LINES

    def test_what_is_public_says_what_it_is(self, path: Path) -> None:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if within(NAMES[path], "kgcore"):
            assert list(undocumented(tree)) == []

    def test_it_has_a_docstring(self, path: Path) -> None:
        text = path.read_text(encoding="utf-8")
        assert not text.strip() or ast.get_docstring(ast.parse(text))


def undocumented(tree: ast.Module) -> Iterator[str]:
    """Public functions and classes without a docstring, and a protocol's methods; its properties need none."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            if not ast.get_docstring(node):
                yield node.name
            if isinstance(node, ast.ClassDef) and any("Protocol" in ast.unparse(base) for base in node.bases):
                for method in node.body:
                    if (
                        isinstance(method, ast.FunctionDef) and not method.name.startswith("_")
                        and method.name != "close" and not ast.get_docstring(method)
                        and not any(ast.unparse(d) == "property" for d in method.decorator_list)
                    ):  # fmt: skip
                        yield f"{node.name}.{method.name}"


PACKAGES = [path for path in MODULES if path.stem == "__init__" and path.read_text(encoding="utf-8").strip()]


@pytest.mark.parametrize("path", PACKAGES, ids=NAMES.get)
def test_a_package_lists_what_it_shows(path: Path) -> None:
    """`__all__` is sorted (constants, classes, functions) and equal to what the package defines or takes from ours."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    shown: set[str] = set()
    listed: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module and within(node.module, "kgcore"):
            shown |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            shown.add(node.name)
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            listed = ast.literal_eval(node.value)
    used_inside = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} - set(listed)
    assert listed == sorted(listed, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    assert set(listed) == {name for name in shown if not name.startswith("_")} - used_inside


TYPES = [
    value
    for value in vars(kgcore.types).values()
    if inspect.isclass(value) and within(value.__module__, kgcore.types.__name__)
]


class TestTypes:
    def test_there_are_some(self) -> None:
        assert len(TYPES) > 15

    @pytest.mark.parametrize("type_", TYPES, ids=lambda t: t.__name__)
    def test_a_type_is_frozen_and_keyword_only(self, type_: type) -> None:
        assert dataclasses.is_dataclass(type_)
        params = type_.__dataclass_params__  # type: ignore[attr-defined]
        assert params.frozen
        assert all(f.kw_only for f in dataclasses.fields(type_))

    @pytest.mark.parametrize("type_", TYPES, ids=lambda t: t.__name__)
    def test_a_type_holds_nothing_that_can_be_changed(self, type_: type) -> None:
        for name, hint in typing.get_type_hints(type_).items():
            assert not {list, dict, set, bytearray} & set(parts(hint)), name


def parts(hint: object) -> Iterator[object]:
    """A type hint's origins and arguments, all the way down."""
    yield typing.get_origin(hint) or hint
    for argument in typing.get_args(hint):
        yield from parts(argument)


def subclasses(root: type) -> list[type]:
    return [root, *(below for child in root.__subclasses__() for below in subclasses(child))]


class TestErrors:
    def test_all_are_in_one_tree_of_one_module(self) -> None:
        defined = {v for v in vars(kgcore.errors).values() if inspect.isclass(v) and issubclass(v, Exception)}
        assert defined == set(subclasses(KgError))
        assert all(error.__name__ in (kgcore.errors.__doc__ or "") for error in defined)

    @pytest.mark.parametrize("error", subclasses(KgError), ids=lambda e: e.__name__)
    def test_each_needs_a_remedy(self, error: type[KgError]) -> None:
        path = {"path": ""} if issubclass(error, FilterError) else {}
        with pytest.raises(TypeError, match="remedy"):
            error("It failed.", **path)  # type: ignore[call-arg]
        made = error("It failed.", remedy="Mend it.", **path)
        assert (str(made), made.remedy) == ("It failed.", "Mend it.")


TEXTS = sorted(
    path
    for path in ROOT.rglob("*")
    if path.suffix in {".py", ".js", ".mjs", ".css", ".html", ".toml", ".md", ".sql", ".cfg"}
    and path.is_file()
    and not any(p.startswith(".") or p in {"vis-network", "__pycache__", "build", "node_modules", "lib"}
                for p in path.relative_to(ROOT).parts)
)  # fmt: skip
UNWANTED = {
    "an open end": ("TO" + "DO", "FIX" + "ME"),
    "markup from text": ("unsafe_allow_" + "html=True", "unsafe_allow_" + "html = True", "components.v1." + "html"),
    "a path of one machine": ("/wo" + "rk/", "/ro" + "ot/"),
}


@pytest.mark.parametrize("what", UNWANTED)
def test_nowhere_is(what: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}: {word}"
        for path in TEXTS for text in [path.read_text(encoding="utf-8", errors="replace")]
        for word in UNWANTED[what] if word in text
    ]  # fmt: skip
    assert found == []


def test_kgcore_loads_without_streamlit() -> None:
    """As a script sees it: a fresh interpreter that imports the library has not imported streamlit."""
    code = "import sys, kgcore, kgcore.viz, kgcore.store.duckdb; sys.exit('streamlit' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, timeout=60, check=False).returncode == 0
