"""What a filter hides changes nothing that is read, and access metadata come out nowhere."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kgcore.filters import AccessFilter
from kgcore.store import GraphStore
from kgcore.types import HAS_ATTRIBUTE, Chunk, Edge, Entity
from tests.contract.conftest import StoreFactory
from tests.contract.graphs import (
    BOARD,
    EMBEDDER,
    OPEN,
    READER,
    SECRET,
    VISIBLE_EDGES,
    WORLD_CHUNKS,
    WORLD_ENTITIES,
    WORLD_PROBE,
    Probe,
    edge,
    everything,
    exact,
    hidden,
    only,
    principals,
    vec,
    write,
    write_world,
)

NEAR = vec(1, 0, 0, 0)
PLOT = (
    hidden("p01", "jane", "WORKS_AT", "acme", src="Janet Doe", dst="Acme", description="plot", embedding=NEAR,
           doc="d1"),
    hidden("p02", "jane", "PLOTS_WITH", "spy", src="Jane Doe", dst="Bob Roe", embedding=NEAR),
    hidden("p03", "spy", "KNOWS", "helios", src="Acne Capital", dst="Helios"),
    hidden("p04", "kim-1", "IS", "kim-2", src="Alex Kim", dst="Alexander Kim"),
    hidden("p05", "helios", HAS_ATTRIBUTE, "d9/status", key="status", dst="Active"),
    hidden("p06", "helios", HAS_ATTRIBUTE, "d9/code", key="code", dst="red"),
    hidden("p07", "bob", "KNOWS", "globex", src="Bobby", dst="Globex", doc="d3",
           properties={**SECRET, "title": "A", "year": 1}),
    hidden("p08", "bob", "KNOWS", "bob", src="Bob Roe", dst="Bob Roe"),
    hidden("p09", "acme", "OWNS", "helios", properties={**SECRET, "plan": "x", "flag": "text", "ratio": True}),
    edge("p10", "jane", "LIKES", "bob", src="Gobex", dst="Secret", doc=None, properties={}, embedding=NEAR),
    edge("p11", "spy", "HEARS", "jane", src="Jane", dst="J", properties={"allowed_principals": "all"}),
    edge("p12", "spy", "SEES", "jane", src="Jane", dst="J", properties={"allowed_principals": ()}),
    *(hidden(f"q{i:02}", f"crowd-{i:02}", "CROWDS", "jane", src="Jane Doe", dst="Jane Doe", embedding=NEAR)
      for i in range(40)),
)  # fmt: skip
"""Edges that would change every answer, were they seen; by name, number, vector, document and property."""
PLOTTERS = tuple(Entity(id=i, type="Plotter", name=n, embedding=NEAR) for e in PLOT for i, n in (
    (e.source_id, e.src_name), (e.target_id, e.dst_name),
) if i not in {entity.id for entity in WORLD_ENTITIES}) + tuple(
    Entity(id=i, type=t, name=n, embedding=NEAR)
    for i, t, n in (("jane", "Person", "Janet Doe"), ("bob", "Person", "Bobby"), ("kim-2", "Person", "Alexander Kim"))
)  # fmt: skip
PLOT_CHUNKS = tuple(
    Chunk(id=f"s{i}", document_id="doc-a", content="Secret.", metadata=SECRET, embedding=NEAR) for i in range(20)
)
PLOT_PROBE = replace(
    WORLD_PROBE,
    ids=(*WORLD_PROBE.ids, "spy", "crowd-01", "d9/status"),
    edge_ids=(*WORLD_PROBE.edge_ids, *(e.id for e in PLOT)),
    names=(*WORLD_PROBE.names, "Janet", "Acne Capital", "Bobby", "Alexander Kim", "red", "Gobex", "J"),
)


def visible_world(store: GraphStore) -> None:
    """The world without what a reader does not see."""
    store.upsert(WORLD_ENTITIES, VISIBLE_EDGES, embedder=EMBEDDER)
    store.chunks.upsert([c for c in WORLD_CHUNKS if c.id != "d9"], embedder=EMBEDDER)


def plot(store: GraphStore) -> None:
    store.upsert(PLOTTERS, PLOT, embedder=EMBEDDER)
    store.chunks.upsert(PLOT_CHUNKS, embedder=EMBEDDER)


class TestHiddenEdges:
    def test_written_later_they_change_nothing(self, store: GraphStore) -> None:
        visible_world(store)
        before = everything(store, READER, PLOT_PROBE)
        plot(store)
        assert everything(store, READER, PLOT_PROBE) == before
        store.optimize()
        assert everything(store, READER, PLOT_PROBE) == before

    def test_written_first_they_change_nothing(self, factory: StoreFactory) -> None:
        store = factory.make()
        visible_world(store)
        before = everything(store, READER, PLOT_PROBE)
        store = factory.make()
        entities = {(e.id, e.name): e for e in (*PLOTTERS, *WORLD_ENTITIES)}
        store.upsert(list(entities.values()), PLOT, embedder=EMBEDDER)
        store.chunks.upsert(PLOT_CHUNKS, embedder=EMBEDDER)
        visible_world(store)
        assert everything(store, READER, PLOT_PROBE) == before

    def test_a_caller_that_narrows_is_told_no_more(self, store: GraphStore) -> None:
        visible_world(store)
        callers = [only("year", ">=", 2023), only("title", "!=", "B")]
        before = [everything(store, READER.narrowed(caller), PLOT_PROBE) for caller in callers]
        plot(store)
        assert [everything(store, READER.narrowed(caller), PLOT_PROBE) for caller in callers] == before

    def test_the_plot_would_change_every_answer(self, store: GraphStore) -> None:
        """The tests above are worth something: seen, these edges show in every verb."""
        visible_world(store)
        seen = principals("all", "board")
        before = everything(store, seen, PLOT_PROBE)
        plot(store)
        after = everything(store, seen, PLOT_PROBE)
        assert {verb for verb in before if before[verb] == after[verb]} == set()


_NAMES = st.sampled_from(["Ann", "Anna", "Ann Lee", "Bo", "Lee", "王", "AND"])
_IDS = st.sampled_from([f"n{i}" for i in range(5)])
_VECTORS = st.sampled_from([None, vec(1, 0), vec(0, 1), vec(1, 1), vec(-1, 0.5)])


@st.composite
def _edges(draw: st.DrawFn, prefix: str, properties: dict[str, object]) -> list[Edge]:
    made = []
    for number in range(draw(st.integers(0, 6))):
        relation, key = draw(st.sampled_from([("R", None), ("S", None), (HAS_ATTRIBUTE, "k")]))
        shown = {**properties, **draw(st.sampled_from([{}, {"year": 1}, {"year": 2.5, "title": "T"}]))}
        made.append(edge(
            f"{prefix}{number}", draw(_IDS), relation, draw(_IDS), src=draw(_NAMES), dst=draw(_NAMES), key=key,
            doc=draw(st.sampled_from(["d1", "d2", None])), properties=shown, embedding=draw(_VECTORS),
        ))  # fmt: skip
    return made


RANDOM_PROBE = Probe(
    ids=tuple(f"n{i}" for i in range(5)),
    edge_ids=tuple(f"{p}{i}" for p in "vh" for i in range(6)),
    names=("Ann", "Anna", "Ann Lee", "Lee", "王", "AND", "Anne"),
    vectors=(vec(1, 0), vec(1, 2)),
    prefixes=("an", "l", "王"),
    words=("ann", "lee"),
)


@settings(max_examples=3, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    seen=_edges("v", {"allowed_principals": ("all",)}),
    unseen=_edges("h", {"allowed_principals": ("board",)}),
    first=st.booleans(),
)
def test_random_hidden_edges_change_nothing(
    factory: StoreFactory, seen: list[Edge], unseen: list[Edge], first: bool
) -> None:
    store = factory.make()
    everyone = [Entity(id=f"n{i}", type="T", name="Ann", embedding=vec(i, 1)) for i in range(5)]
    write(store, entities=everyone)
    for part in (unseen, seen) if first else (seen, unseen):
        write(store, *part, entities=everyone)
    mixed = everything(store, READER, RANDOM_PROBE)
    store = factory.make()
    write(store, *seen, entities=everyone)
    assert everything(store, READER, RANDOM_PROBE) == mixed


FIELDS = frozenset({"allowed_principals", "year", "codename"})


class TestAccessFields:
    def test_they_come_out_nowhere(self, store: GraphStore) -> None:
        write_world(store)
        for filter in (READER, BOARD, OPEN):
            told = repr(everything(store, filter))
            assert "allowed_principals" not in told
            assert "'board'" not in told
            assert '"board"' not in told
        assert "allowed_principals" not in repr(store.chunks.get_documents_by_id([c.id for c in WORLD_CHUNKS]))

    def test_nor_do_the_locked_filters_own_fields(self, store: GraphStore) -> None:
        write_world(store)
        by_year = AccessFilter.of(locked={"operator": "OR", "conditions": [
            only("year", ">=", 2000), only("codename", "==", "Bluebird"),
        ]})  # fmt: skip
        told = exact([store.edges(WORLD_PROBE.edge_ids, by_year), store.scan(by_year, None), store.describe(by_year),
                      store.expand(["jane", "acme"], (), by_year, NEAR, 9), store.paths("bob", "acme", by_year, 3),
                      store.chunks.nearest(NEAR, by_year, 9)])  # fmt: skip
        for name in FIELDS:
            assert f"'{name}'" not in repr(told)
        assert "lang" in repr(told)

    def test_a_caller_cannot_ask_about_one(self, store: GraphStore) -> None:
        write_world(store)
        for caller in (
            only("allowed_principals", "contains_any", ["all"]),
            only("allowed_principals", "!=", "x"),
            only("allowed_principals", "not in", []),
            {"operator": "AND", "conditions": [only("lang", "==", "en"), only("allowed_principals", "!=", "x")]},
        ):
            assert store.scan(READER.narrowed(caller), None).edges == ()
            assert store.scan(OPEN.narrowed(caller), None).edges == ()
        either = {"operator": "OR", "conditions": [
            only("allowed_principals", "contains_any", ["board"]), only("lang", "==", "en"),
        ]}  # fmt: skip
        assert {e.source_doc_id for e in store.scan(BOARD.narrowed(either), None).edges} == {"d1"}

    def test_a_locked_filter_on_an_edges_own_field(self, store: GraphStore) -> None:
        write_world(store)
        only_d1 = AccessFilter.of(locked=only("source_doc_id", "==", "d1"))
        assert [e.id for e in store.scan(only_d1, None).edges] == ["e01", "e03", "e07", "e08", "e10"]
        assert store.scan(only_d1.narrowed(only("source_doc_id", "in", ["d1", "d2"])), None).edges == ()
        assert [end.degree for end in store.entities(["jane", "acme"], only_d1)] == [1, 3]
        assert store.documents(only_d1)[0].edges == 5


@pytest.mark.parametrize("pair", [(1, True), (False, 0.0)], ids=repr)
def test_filters_that_python_takes_for_equal_are_told_apart(store: GraphStore, pair: tuple[object, object]) -> None:
    write(
        store,
        edge("number", "a", "R", "b", properties={"level": pair[0]}),  # type: ignore[dict-item]
        edge("truth", "a", "S", "b", properties={"level": pair[1]}),
    )  # type: ignore[dict-item]
    store.chunks.upsert([
        Chunk(id=name, document_id="d", content="", metadata={"level": value}, embedding=NEAR)  # type: ignore[dict-item]
        for name, value in (("number", pair[0]), ("truth", pair[1]))
    ], embedder=EMBEDDER)  # fmt: skip
    for field in ("locked", "caller"):
        for value, name in zip(pair, ("number", "truth"), strict=True):
            filter = AccessFilter.of(**{field: only("level", "==", value)})
            assert [e.id for e in store.scan(filter, None).edges] == [name]
            assert [d.id for d in store.chunks.nearest(NEAR, filter, 9)] == [name]
            assert store.describe(filter).edges == 1
