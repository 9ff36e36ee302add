"""One hop and shortest paths, case by case, over two small graphs. Read only."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from kgcore.store import GraphStore
from kgcore.types import HAS_ATTRIBUTE, Edge, End
from tests.contract.conftest import StoreFactory
from tests.contract.graphs import READER, edge, fact_of, hidden, write

GRAPH = (
    edge("a-b", "a", "KNOWS", "b"),
    edge("b-a", "b", "KNOWS", "a"),
    edge("b-c", "b", "LIKES", "c", doc="d2"),
    edge("c-d", "c", "KNOWS", "d"),
    edge("a-a", "a", "IS", "a"),
    edge("a-color", "a", HAS_ATTRIBUTE, "a/color", key="color", dst="red"),
    edge("a-size", "a", HAS_ATTRIBUTE, "a/size", key="size", dst="big"),
    hidden("h", "a", "HIDES", "x"),
)
BY_ID = {e.id: e for e in GRAPH}


def by_fact(*edges: Edge) -> list[str]:
    """Edge ids in the order of `Expansion.edges`."""
    return [e.id for e in sorted(edges, key=lambda e: (fact_of(e), e.id))]


DIAMOND = (
    edge("1", "A", "R", "B"),
    edge("2", "C", "R", "A"),
    edge("3", "B", "R", "D"),
    edge("4", "C", "R", "D"),
    edge("5", "B", "R", "C"),
    edge("6", "D", "R", "E"),
    edge("7", "D", "S", "E"),
    edge("8", "A", "R", "A"),
    edge("9", "E", "R", "F", doc="d2"),
    hidden("h1", "A", "R", "D"),
    hidden("h2", "A", "R", "Z"),
)


@pytest.fixture(scope="module")
def hops(factory: StoreFactory) -> GraphStore:
    """A store with both graphs."""
    store = factory.make()
    write(store, *GRAPH, *DIAMOND)
    return store


@dataclass(frozen=True, kw_only=True)
class Hop:
    id: str
    frontier: tuple[str, ...]
    found: tuple[str, ...]
    exclude: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    ends: dict[str, int] = field(default_factory=dict)


HOPS = [
    Hop(id="out-and-in", frontier=("b",), found=("a-b", "b-a", "b-c"), ends={"a": 5, "b": 3, "c": 2}),
    Hop(id="an-edge-between-two-of-the-frontier-once", frontier=("a", "b"), relations=("KNOWS",), found=("a-b", "b-a"),
        ends={"a": 5, "b": 3}),
    Hop(id="duplicates-and-the-unknown-in-the-frontier", frontier=("c", "nobody", "c", "x"), found=("b-c", "c-d"),
        ends={"b": 3, "c": 2, "d": 1}),
    Hop(id="a-self-loop", frontier=("a",), relations=("IS",), found=("a-a",), ends={"a": 5}),
    Hop(id="facts-excluded", frontier=("b",), exclude=("a-b", "c-d"), found=("b-a", "b-c"),
        ends={"a": 5, "b": 3, "c": 2}),
    Hop(id="all-excluded", frontier=("d",), exclude=("c-d",), found=()),
    Hop(id="a-relation", frontier=("b",), relations=("LIKES",), found=("b-c",), ends={"b": 3, "c": 2}),
    Hop(id="several-relations", frontier=("a", "b"), relations=("LIKES", "IS", "NONE"), found=("a-a", "b-c"),
        ends={"a": 5, "b": 3, "c": 2}),
    Hop(id="an-attribute-by-its-key", frontier=("a",), relations=("color",), found=("a-color",),
        ends={"a": 5, "a/color": 1}),
    Hop(id="every-attribute-by-its-relation", frontier=("a",), relations=(HAS_ATTRIBUTE,), found=("a-color", "a-size"),
        ends={"a": 5, "a/color": 1, "a/size": 1}),
    Hop(id="a-relation-of-no-edge", frontier=("a",), relations=("knows",), found=()),
    Hop(id="no-frontier", frontier=(), found=()),
    Hop(id="an-unknown-frontier", frontier=("nobody",), found=()),
    Hop(id="an-unseen-frontier", frontier=("x",), found=()),
]  # fmt: skip


@pytest.mark.parametrize("case", HOPS, ids=lambda case: case.id)
def test_one_hop(hops: GraphStore, case: Hop) -> None:
    exclude = [fact_of(BY_ID[e]) for e in case.exclude]
    hop = hops.expand(case.frontier, exclude, READER, None, 100, relations=case.relations)
    assert [v.edge.id for v in hop.edges] == by_fact(*(BY_ID[e] for e in case.found))
    assert [v.fact_id for v in hop.edges] == [fact_of(BY_ID[v.edge.id]) for v in hop.edges]
    assert dict(hop.ends) == {
        id_: End(id=id_, name={"a/color": "red", "a/size": "big"}.get(id_, id_), type="Thing", degree=degree)
        for id_, degree in case.ends.items()
    }
    assert hop.found == len({v.fact_id for v in hop.edges})
    assert all(v.score is None and v.edge.embedding is None for v in hop.edges)


@dataclass(frozen=True, kw_only=True)
class Way:
    id: str
    ends: tuple[str, str]
    max_hops: int
    found: list[list[str]]


WAYS = [
    Way(id="one-hop", ends=("A", "B"), max_hops=3, found=[["1"]]),
    Way(id="against-the-arrow", ends=("A", "C"), max_hops=3, found=[["2"]]),
    Way(id="every-shortest-by-edge-ids", ends=("A", "D"), max_hops=3, found=[["1", "3"], ["2", "4"]]),
    Way(id="from-the-other-end", ends=("D", "A"), max_hops=3, found=[["3", "1"], ["4", "2"]]),
    Way(id="parallel-edges-are-ways-of-their-own", ends=("A", "E"), max_hops=3,
        found=[["1", "3", "6"], ["1", "3", "7"], ["2", "4", "6"], ["2", "4", "7"]]),
    Way(id="just-far-enough", ends=("A", "F"), max_hops=4, found=[
        ["1", "3", "6", "9"], ["1", "3", "7", "9"], ["2", "4", "6", "9"], ["2", "4", "7", "9"]]),
    Way(id="too-far", ends=("A", "F"), max_hops=3, found=[]),
    Way(id="no-hops", ends=("A", "B"), max_hops=0, found=[]),
    Way(id="to-itself", ends=("A", "A"), max_hops=3, found=[]),
    Way(id="to-nobody", ends=("A", "nobody"), max_hops=3, found=[]),
    Way(id="from-nobody", ends=("nobody", "A"), max_hops=3, found=[]),
    Way(id="to-the-unseen", ends=("A", "Z"), max_hops=3, found=[]),
]  # fmt: skip


@pytest.mark.parametrize("case", WAYS, ids=lambda case: case.id)
def test_paths(hops: GraphStore, case: Way) -> None:
    found = hops.paths(*case.ends, READER, case.max_hops)
    assert [[e.id for e in way] for way in found] == case.found
