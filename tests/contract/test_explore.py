"""Exploring reads alike from every store: growing, a card, a path."""

from __future__ import annotations

from kgcore.browse import Step, chain, explore, paths_between, read_card
from kgcore.store import GraphStore
from tests.contract.graphs import BOARD, READER, vec


def test_growing(world: GraphStore) -> None:
    steps = [
        Step(kind="open", entity_id="jane"),
        Step(kind="grow", entity_id="jane"),
        Step(kind="grow", entity_id="acme"),
    ]
    grown = explore(world, READER, steps)
    assert [(node.end.id, node.end.name, node.left, node.end.degree) for node in grown.nodes] == [
        ("jane", "Jane Doe", 0, 3), ("acme", "Acme Capital", 0, 5), ("bob", "Bob Roe", 0, 1),
        ("helios", "Helios", 4, 5), ("kim-1", "Alex Kim", 0, 1),
    ]  # fmt: skip
    assert {fact.text for fact in grown.facts} == {
        "Jane Doe -[WORKS_AT]-> Acme Capital: since 2019", "Bob Roe -[KNOWS]-> Jane Doe",
        "Acme Capital -[USES]-> Helios", "Alex Kim -[WORKS_AT]-> Acme Capital", "Acme Capital -[OWNS]-> Acme Capital",
    }  # fmt: skip
    assert {node.end.id for node in explore(world, BOARD, steps[:2]).nodes} == {
        "jane",
        "acme",
        "bob",
        "globex",
        "ghost",
    }


def test_growing_towards_a_question(world: GraphStore) -> None:
    steps = [Step(kind="open", entity_id="acme"), Step(kind="grow", entity_id="acme")]
    for vector, first in ((vec(0, 0, 1, 0), "kim-1"), (vec(1, 0, 0, 0), "jane")):
        assert explore(world, READER, steps, vector=vector).nodes[1].end.id == first


def test_a_card(world: GraphStore) -> None:
    card = read_card(world, "jane", READER)
    assert card is not None
    assert [(fact.relation, fact.edge_ids) for fact in card.facts] == [
        ("WORKS_AT", ("e01", "e02")),
        ("KNOWS", ("e04",)),
    ]
    assert [(passage.id, passage.content) for passage in card.passages] == [
        ("d1", "Text of d1."), ("d2", "Text of d2."),
    ]  # fmt: skip
    assert card.titles == {"d1": "Report One", "d2": "d2"}
    assert [read_card(world, unseen, READER) for unseen in ("ghost", "nobody")] == [None, None]


def test_a_path(world: GraphStore) -> None:
    (way,) = paths_between(world, "bob", "helios", READER)
    assert chain(way, "bob") == ("bob", "jane", "acme", "helios")
    assert way[1].edge_ids == ("e01", "e02")
