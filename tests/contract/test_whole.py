"""The same store with no access field left out."""

from __future__ import annotations

from dataclasses import replace

from kgcore.filters import WHOLE
from kgcore.store import GraphStore
from kgcore.types import Edge
from tests.contract.graphs import READER, SECRET, chunk, edge, write


def held(store: GraphStore, id: str) -> Edge:
    return next(each for each in store.scan(WHOLE, None).edges if each.id == id)


def test_it_shows_who_may_see_and_the_other_never_does(store: GraphStore) -> None:
    write(store, edge("e1", "a", "R", "b", doc="one#1"))
    store.chunks.upsert([chunk("one#1")])
    whole = store.whole()
    for _ in range(2):  # the second finds what the first has remembered
        assert held(whole, "e1").properties == {"allowed_principals": ("all",)}
        assert held(store, "e1").properties == {}
        assert [p.name for p in whole.describe(WHOLE).properties if p.name.startswith("allowed")]
        assert not [p.name for p in store.describe(WHOLE).properties if p.name.startswith("allowed")]
        assert [each.value for each in whole.values("allowed_principals", WHOLE)] == ["all"]
        assert store.values("allowed_principals", WHOLE) == ()
        assert whole.chunks.scan(WHOLE, None).chunks[0].metadata == {"allowed_principals": ("all",)}
        assert store.chunks.scan(WHOLE, None).chunks[0].metadata == {}


def test_what_one_writes_the_other_sees(store: GraphStore) -> None:
    write(store, edge("e1", "a", "R", "b"))
    whole = store.whole()
    assert (store.describe(READER).edges, whole.describe(READER).edges) == (1, 1)
    whole.upsert([], [replace(held(whole, "e1"), properties=SECRET)])
    assert (store.describe(READER).edges, whole.describe(READER).edges) == (0, 0)
    write(store, edge("e2", "a", "R", "c"))
    assert held(whole, "e2").dst_name == "c"
