"""Exploring: a hidden edge changes nothing of it, and what is drawn is what a reader may see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kgcore.browse import Explored, Step, closeness, explore, paths_between, read_card, read_steps, steps_text
from kgcore.filters import AccessFilter
from kgcore.store import GraphStore
from kgcore.types import HAS_ATTRIBUTE
from kgcore.viz import explored_payload
from tests.contract.graphs import exact
from tests.data.build import offline
from tests.property.conftest import stored
from tests.property.strategies import LOCK, NODES, QUESTIONS, RELATIONS, Graph, graphs

READER = AccessFilter.of(LOCK)
SOME = settings(max_examples=16, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])

entities = st.sampled_from([*NODES, "nobody"])
steps = st.lists(
    st.builds(lambda kind, id_: Step(kind=kind, entity_id=id_), st.sampled_from(["open", "grow", "grow"]), entities)
    | st.builds(
        lambda kind, id_: Step(kind=kind, entity_id=id_),
        st.sampled_from(["hide", "collapse", "pin", "unpin"]),
        entities,
    )
    | st.builds(lambda id_, said: Step(kind="grow", entity_id=id_, relation=said), entities, st.sampled_from(RELATIONS))
    | st.sampled_from([Step(kind="show"), Step(kind="tidy")])
    | st.builds(lambda id_, other: Step(kind="path", entity_id=id_, other_id=other), entities, entities),
    max_size=10,
).map(lambda taken: [Step(kind="open", entity_id=NODES[0]), *taken])


def seen(store: GraphStore, taken: Sequence[Step], question: str, filter: AccessFilter) -> Iterator[Any]:
    """All that Browse shows: the picture after each step, the cards, the paths."""
    vector = closeness(offline(), question, store.describe(filter))
    before = Explored()
    for at in range(1, len(taken) + 1):
        before = explore(store, filter, taken[:at], vector=vector, before=before)
        yield exact(before)
    yield explored_payload(before, store.describe(filter).entity_types)
    for node in (*NODES, "nobody"):
        yield exact(read_card(store, node, filter, vector=vector))
        yield exact(read_card(store, node, filter, limit=2))
        yield exact(paths_between(store, NODES[0], node, filter))


@SOME
@given(graphs(), steps, st.sampled_from(["", *QUESTIONS]))
def test_without_its_hidden_edges_a_graph_is_explored_the_same(graph: Graph, taken: list[Step], question: str) -> None:
    made, edges = graph.without_hidden
    with stored(*graph.edges, entities=graph.entities, chunks=graph.chunks, embedder=offline()) as store:
        whole = list(seen(store, taken, question, READER))
    with stored(*edges, entities=made, chunks=graph.visible_chunks, embedder=offline()) as store:
        rest = list(seen(store, taken, question, READER))
    for one, other in zip(whole, rest, strict=True):
        assert one == other


@SOME
@given(graphs(), steps)
def test_what_is_drawn_is_visible_counted_and_joined(graph: Graph, taken: list[Step]) -> None:
    edges = {e.id: e for e in graph.visible}
    with stored(*graph.edges, entities=graph.entities) as store:
        explored = explore(store, READER, taken)
        missing = {id_ for step in taken for id_ in step.ids if not store.entities([id_], READER)}
    assert explored.missing == missing
    nodes = {node.end.id: node for node in explored.nodes}
    for line in explored.lines:
        assert set(line.fact.edge_ids) <= edges.keys() and line.by
        assert {line.fact.source_id, line.fact.target_id} <= nodes.keys()
    drawn = [edges[id_] for line in explored.lines for id_ in line.fact.edge_ids]
    for id_, node in nodes.items():
        assert node.end.degree == sum(id_ in (e.source_id, e.target_id) for e in edges.values())
        here = {e.id for e in drawn if id_ in (e.source_id, e.target_id) and e.relation != HAS_ATTRIBUTE}
        assert 0 <= node.left <= node.end.degree - len(here)
        assert node.parent_id is None or node.parent_id != id_


@given(steps)
def test_steps_come_back_from_a_link(taken: list[Step]) -> None:
    assert list(read_steps(steps_text(taken))) == taken
