"""What the filter compilers write: condition and parameters, compared to the letter with files.

`make goldens` rewrites the files; a change to one is read like a change to code.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kgcore.filters import AccessFilter
from kgcore.filters.sql import compile_chunk_filter, compile_edge_filter
from tests.contract.graphs import only

GOLDENS = Path(__file__).parent / "goldens"


def _all(*conditions: dict[str, Any]) -> dict[str, Any]:
    return {"operator": "AND", "conditions": list(conditions)}


def _any(*conditions: dict[str, Any]) -> dict[str, Any]:
    return {"operator": "OR", "conditions": list(conditions)}


PRINCIPALS = only("allowed_principals", "contains_any", ["user:ann", "group:all"])
FILTERS = {
    "everything": AccessFilter.of(),
    "principals": AccessFilter.of(locked=PRINCIPALS),
    "equal-number": AccessFilter.of(caller=only("year", "==", 2024)),
    "equal-large-integer": AccessFilter.of(caller=only("big", "==", 2**53 + 1)),
    "unequal-truth": AccessFilter.of(caller=only("flag", "!=", True)),
    "above-a-fraction": AccessFilter.of(caller=only("year", ">", 2023.5)),
    "at-most-the-largest-integer": AccessFilter.of(caller=only("big", "<=", 2**63 - 1)),
    "text-order": AccessFilter.of(caller=only("date", ">=", "2024-01-01")),
    "in-mixed-kinds": AccessFilter.of(caller=only("year", "in", [2023, 2024.5, "2024", True])),
    "not-in-nothing": AccessFilter.of(caller=only("year", "not in", [])),
    "own-fields": AccessFilter.of(caller=_all(only("source_doc_id", "in", ["d1", "d2"]), only("key", "!=", "status"))),
    "own-field-or-property": AccessFilter.of(
        locked=PRINCIPALS, caller=_any(only("dst_name", "==", "O'Hara"), only("lang", "==", "en"))
    ),
    "locked-and-narrowed": AccessFilter.of(
        locked=PRINCIPALS,
        caller=_any(
            _all(only("year", ">=", 2024), only("lang", "in", ["en", "de"])), only("allowed_principals", "!=", "x")
        ),
    ),
}


def duckdb(filter: AccessFilter) -> str:
    """A filter's two conditions on edges and its one on chunks, each with its parameters."""
    edges = compile_edge_filter(filter.node)
    chunks, chunk_params = compile_chunk_filter(filter.node)
    return "\n".join([
        "-- property_set", edges.properties, "-- edge", edges.edge, *_listed(edges.params),
        "-- chunk", chunks, *_listed(chunk_params), "",
    ])  # fmt: skip


def _listed(params: Any) -> list[str]:
    return [f"-- ${name} = {json.dumps(value, ensure_ascii=False)}" for name, value in params.items()]


COMPILERS = {"duckdb": duckdb}


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_golden(compiler: str, name: str, update_goldens: bool) -> None:
    golden = GOLDENS / compiler / f"{name}.sql"
    written = COMPILERS[compiler](FILTERS[name])
    if update_goldens:
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(written, encoding="utf-8")
    assert golden.read_text(encoding="utf-8") == written


@pytest.mark.parametrize("compiler", COMPILERS)
def test_every_golden_has_its_filter(compiler: str) -> None:
    assert sorted(path.stem for path in (GOLDENS / compiler).iterdir()) == sorted(FILTERS)


@pytest.mark.parametrize("name", FILTERS)
def test_values_are_bound_never_written(name: str) -> None:
    edges = compile_edge_filter(FILTERS[name].node)
    chunks, params = compile_chunk_filter(FILTERS[name].node)
    for sql in (edges.properties, edges.edge, chunks):
        for value in ("user:ann", "group:all", "O'Hara", "2024", "status", "9007199254740993"):
            assert value not in sql
    assert all(f"${name}::" in edges.properties + edges.edge for name in edges.params)
    assert all(f"${name}::" in chunks for name in params)
