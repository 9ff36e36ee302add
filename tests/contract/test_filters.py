"""Every filter case through a store: its visible edges, and its chunks by vector. Read only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kgcore.filters import DEFAULT_ACCESS_FIELDS as ACCESS_FIELDS
from kgcore.filters import AccessFilter
from kgcore.store import GraphStore
from kgcore.types import Chunk
from tests.contract.conftest import StoreFactory
from tests.contract.graphs import EMBEDDER, edge, only, vec, write

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "filters.json").read_text(encoding="utf-8"))
IDS = [e["id"] for e in VECTORS["edges"]]


@pytest.fixture(scope="module")
def filtered(factory: StoreFactory) -> GraphStore:
    """A star of the cases' edges, each with a chunk of the same metadata."""
    store = factory.make()
    properties = {
        e["id"]: {n: tuple(v) if isinstance(v, list) else v for n, v in e["properties"].items()}
        for e in VECTORS["edges"]
    }
    write(store, *(edge(id_, "hub", "R", f"to-{id_}", properties=p, doc=f"doc-{id_}") for id_, p in properties.items()))
    chunks = [Chunk(id=i, content=i, document_id=i, metadata=p, embedding=vec(1, 0)) for i, p in properties.items()]
    store.chunks.upsert(chunks, embedder=EMBEDDER)
    return store


def test_the_cases_are_all_there() -> None:
    assert (len(VECTORS["edges"]), len(VECTORS["cases"]), len(VECTORS["invalid"])) == (18, 127, 39)


@pytest.mark.parametrize("case", VECTORS["cases"], ids=lambda case: json.dumps(case["filter"], ensure_ascii=True)[:120])
class TestCases:
    def test_edges(self, filtered: GraphStore, case: dict[str, Any]) -> None:
        filter = AccessFilter.of(locked=case["filter"])
        assert [e.id for e in filtered.scan(filter, None).edges] == case["ids"]
        hop = filtered.expand(["hub"], (), filter, None, 100)
        assert sorted(v.edge.id for v in hop.edges) == case["ids"]
        assert sum(end.degree for end in hop.ends.values() if end.id == "hub") == len(case["ids"])

    def test_chunks(self, filtered: GraphStore, case: dict[str, Any]) -> None:
        found = filtered.chunks.nearest(vec(1, 0), AccessFilter.of(locked=case["filter"]), 100)
        assert [d.id for d in found] == case["ids"]


@pytest.mark.parametrize("field", sorted({n for e in VECTORS["edges"] for n in e["properties"]} - ACCESS_FIELDS))
def test_a_value_counts_the_edges_that_a_filter_finds_by_it(filtered: GraphStore, field: str) -> None:
    told = filtered.values(field, AccessFilter.of(), 1_000)
    assert told or not any(e["properties"].get(field) for e in VECTORS["edges"])
    for found in told:
        by_it = [only(field, "==", found.value), only(field, "contains_any", [found.value])]
        either = AccessFilter.of(caller={"operator": "OR", "conditions": by_it})
        assert len(filtered.scan(either, None).edges) == found.count


COLUMNS = [
    (only("source_doc_id", "==", "doc-e01"), ["e01"]),
    (only("source_doc_id", "in", ["doc-e01", "doc-e03", 5, True]), ["e01", "e03"]),
    (only("source_doc_id", "not in", IDS), IDS),
    (only("source_doc_id", "not in", [f"doc-{i}" for i in IDS[1:]]), ["e01"]),
    (only("source_doc_id", "!=", "doc-e01"), IDS[1:]),
    (only("source_doc_id", "!=", 5), IDS),
    (only("source_doc_id", "==", 5), []),
    (only("source_doc_id", ">=", "doc-e17"), ["e17", "e18"]),
    (only("source_doc_id", "<", 5), []),
    (only("source_doc_id", "contains_any", ["doc-e01"]), []),
    (only("source_doc_id", "in", []), []),
    (only("dst_name", "==", "to-e02"), ["e02"]),
    (only("src_name", "==", "hub"), IDS),
    (only("src_name", "==", "Hub"), []),
    (only("key", "!=", "x"), []),
    (only("description", "not in", []), []),
    (only("description", "!=", 5), []),
    (only("key", "not in", [True, 1]), []),
    (only("relation", "==", "R"), []),
    (only("id", "==", "e01"), []),
]


@pytest.mark.parametrize(("filter", "ids"), COLUMNS, ids=lambda value: json.dumps(value)[:90])
def test_an_edges_own_fields(filtered: GraphStore, filter: dict[str, Any], ids: list[str]) -> None:
    for chosen in (AccessFilter.of(locked=filter), AccessFilter.of(caller=filter)):
        assert [e.id for e in filtered.scan(chosen, None).edges] == ids


def test_own_fields_and_properties_mix(filtered: GraphStore) -> None:
    year = only("year", "==", 2024)
    one = only("source_doc_id", "==", "doc-e01")
    for operator, ids in (("AND", ["e01"]), ("OR", ["e01", "e03", "e10"])):
        for conditions in ([year, one], [one, year]):
            filter = AccessFilter.of(caller={"operator": operator, "conditions": conditions})
            assert [e.id for e in filtered.scan(filter, None).edges] == ids
    both = AccessFilter.of(locked=year, caller=one)
    assert [e.id for e in filtered.scan(both, None).edges] == ["e01"]


def test_the_largest_filters_run(filtered: GraphStore) -> None:
    deep: dict[str, Any] = only("year", "==", 2024)
    for level in range(15):
        deep = {"operator": ("AND", "OR")[level % 2], "conditions": [deep]}
    wide = {"operator": "OR", "conditions": [only("year", "==", 1900 + i) for i in range(255)]}
    long = only("year", "in", list(range(2024, 12_024)))
    found = [[e.id for e in filtered.scan(AccessFilter.of(locked=f), None).edges] for f in (deep, wide, long)]
    assert found == [["e01", "e03", "e10"], ["e01", "e02", "e03", "e10", "e17"], ["e01", "e03", "e10", "e17"]]
