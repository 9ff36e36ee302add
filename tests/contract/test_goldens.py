"""What the filter compilers write, and the queries of a hop: compared to the letter with files, parameters too.

`make goldens` rewrites the files; a change to one is read like a change to code.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kgcore.filters import AccessFilter
from kgcore.filters.cypher import CypherFilter
from kgcore.filters.sql import compile_chunk_filter, compile_edge_filter
from kgcore.store.mapping import OWN, Mapping
from kgcore.store.neo4j import NeoStore
from kgcore.store.neo4j_layout import Layout
from kgcore.store.neo4j_server import Index
from kgcore.store.neo4j_values import STORED
from tests.contract.graphs import only, vec

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


def _listed(params: Any, mark: str = "--") -> list[str]:
    return [f"{mark} ${name} = {json.dumps(value, ensure_ascii=False)}" for name, value in params.items()]


def neo4j(filter: AccessFilter) -> str:
    """A filter's condition on relationships of our own and of a foreign graph, and its one on chunks."""
    parts = []
    for name, mapping in (("own", OWN), ("foreign", FOREIGN)):
        where, params = Layout(mapping).visible(filter)
        parts += [f"// {name}", where, *_listed(params, "//")]
    chunk = CypherFilter("c", {"source_doc_id": "c.id"}, STORED)
    parts += ["// chunk", chunk.compile(filter.node), *_listed(chunk.params, "//"), ""]
    return "\n".join(parts)


FOREIGN = Mapping(
    labels=("Person", "Odd `label`"), names=("name", "title"), description="note", ignored=("SIMILAR",), type="kind"
)
COMPILERS = {"duckdb": (duckdb, "sql"), "neo4j": (neo4j, "cypher")}


class Recorder:
    """A server that keeps what it is asked, and answers with a graph of one name and no edge."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def rows(self, query: str, params: dict[str, Any] | None = None, **_: object) -> list[list[Any]]:
        self.asked += [query, *_listed(params or {}, "//"), ""]
        if query.startswith("OPTIONAL MATCH"):
            return [[1, "toy", 2, 3, 4, 5_000]]
        return [[0, [], []]] if "AS found" in query else []

    def indexes(self) -> dict[str, Index]:
        held = {"kind": "VECTOR", "state": "ONLINE", "on_nodes": True, "populated": 100.0}
        words = {**held, "kind": "FULLTEXT"}
        return {
            "entity_embedding": Index(
                name="entity_embedding", labels=("EntityName",), properties=("embedding",), dimension=2, **held
            ),
            "entity_name": Index(name="entity_name", labels=("EntityName",), properties=("words",), **words),
        }  # type: ignore[arg-type]

    def components(self) -> tuple[str, str]:
        return "5.26.12", "community"


LOCKED = AccessFilter.of(locked=PRINCIPALS)
QUERIES: dict[str, Callable[[NeoStore], object]] = {
    "expand": lambda s: s.expand(["a"], ["f"], LOCKED, vec(1, 0), 10, words=["x"], relations=["KNOWS"]),
    "expand-by-words": lambda s: s.expand(["a", "b"], [], LOCKED, None, 10, words=["x"]),
    "match-names": lambda s: s.match_names(['Acme "AND" Co.', "/re.*/"], LOCKED, 5),
    "find-mentions": lambda s: [s.find_mentions(["Acme Co"], LOCKED, spelled=spelled) for spelled in (False, True)],
    "nearest-entities": lambda s: s.nearest_entities([vec(1, 0)], LOCKED, 3),
    "scan": lambda s: s.scan(LOCKED, "e1", 10),
    "hubs": lambda s: s.hubs(LOCKED, 3),
    "relations": lambda s: s.relations("a", LOCKED),
    "principals": lambda s: s.principals("allowed_principals"),
}


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("mapping", ["own", "foreign"])
def test_golden_query(mapping: str, name: str, update_goldens: bool) -> None:
    server = Recorder()
    store = NeoStore(server, OWN if mapping == "own" else FOREIGN)  # type: ignore[arg-type]
    QUERIES[name](store)
    compare(GOLDENS / f"neo4j-{mapping}" / f"{name}.cypher", "\n".join(server.asked), update_goldens)


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_golden(compiler: str, name: str, update_goldens: bool) -> None:
    compile_, suffix = COMPILERS[compiler]
    compare(GOLDENS / compiler / f"{name}.{suffix}", compile_(FILTERS[name]), update_goldens)


def compare(golden: Path, written: str, update_goldens: bool) -> None:
    """Compares with a file, or writes it."""
    if update_goldens:
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(written, encoding="utf-8")
    assert golden.read_text(encoding="utf-8") == written


@pytest.mark.parametrize("compiler", COMPILERS)
def test_every_golden_has_its_filter(compiler: str) -> None:
    assert sorted(path.stem for path in (GOLDENS / compiler).iterdir()) == sorted(FILTERS)


@pytest.mark.parametrize("name", FILTERS)
def test_values_are_bound_never_written(name: str) -> None:
    for mapping in (OWN, FOREIGN):
        where, bound = Layout(mapping).visible(FILTERS[name])
        for value in ("user:ann", "group:all", "O'Hara", "2024", "status", "9007199254740993"):
            assert value not in where
        assert all(f"${parameter}" in where for parameter in bound if parameter.startswith("f"))
    edges = compile_edge_filter(FILTERS[name].node)
    chunks, params = compile_chunk_filter(FILTERS[name].node)
    for sql in (edges.properties, edges.edge, chunks):
        for value in ("user:ann", "group:all", "O'Hara", "2024", "status", "9007199254740993"):
            assert value not in sql
    assert all(f"${name}::" in edges.properties + edges.edge for name in edges.params)
    assert all(f"${name}::" in chunks for name in params)
