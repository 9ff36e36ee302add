"""Exploring without a question: what steps lead to, what a card says, the paths between two entities."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kgcore import Chunk, ConfigError, Edge
from kgcore.browse import (
    LONGEST,
    MAX_NODES,
    MAX_STEPS,
    PATHS,
    Explored,
    Step,
    chain,
    closeness,
    edges_at,
    explore,
    facts_at,
    paths_between,
    read_card,
    read_steps,
    steps_text,
)
from kgcore.evals.synthetic import fill, make
from kgcore.filters import AccessFilter
from kgcore.store import GraphStore, open_store
from kgcore.types import HAS_ATTRIBUTE
from tests.contract.graphs import OPEN, READER, SECRET, edge, hidden, only
from tests.data.build import graph, offline

HUB = 30
STAR = tuple(edge(f"s{i:02}", "hub", "HAS" if i % 3 else "IS", f"p{i:02}", doc=f"d{i}") for i in range(HUB))
LINKS = (
    edge("l1", "p05", "KNOWS", "p07"), edge("l2", "p05", "KNOWS", "far"), edge("l3", "p05", "KNOWS", "out"),
    edge("l4", "p07", "LIKES", "far"), edge("l5", "p05", "KNOWS", "far", doc="d2"),
    edge("l6", "far", "LIKES", "out"),
)  # fmt: skip
SECRETS = (hidden("h1", "hub", "HIDES", "ghost"), hidden("h2", "p01", "KNOWS", "out"))


@pytest.fixture(scope="module")
def store() -> Iterator[GraphStore]:
    made = graph(*STAR, *LINKS, *SECRETS)
    yield made
    made.close()


def step(kind: str, entity_id: str = "", more: str = "") -> Step:
    name = "other_id" if kind == "path" else "relation"
    return Step(kind=kind, entity_id=entity_id, **{name: more})  # type: ignore[arg-type]


def after(store: GraphStore, *steps: tuple[str, ...], filter: AccessFilter = READER) -> Explored:
    return explore(store, filter, [step(*one) for one in steps])


def ids(explored: Explored) -> list[str]:
    return [node.end.id for node in explored.nodes if not node.hidden]


def said(explored: Explored) -> set[str]:
    return {fact.text for fact in explored.facts}


class TestGrowing:
    def test_an_opened_entity_stands_alone(self, store: GraphStore) -> None:
        opened = after(store, ("open", "hub"))
        assert [(node.end.name, node.end.degree, node.left) for node in opened.nodes] == [("hub", 30, 30)]
        assert opened.facts == ()

    def test_it_grows_by_the_best_connected_then_by_id(self, store: GraphStore) -> None:
        grown = after(store, ("open", "hub"), ("grow", "hub"))
        assert ids(grown) == ["hub", "p05", "p07", *(f"p{i:02}" for i in range(25) if i not in (5, 7))]
        assert (grown.drawn["hub"].left, grown.drawn["p05"].left, grown.drawn["p05"].end.degree) == (5, 4, 5)
        assert grown.drawn["p05"].parent_id == "hub" and grown.drawn["hub"].grown

    def test_it_grows_on_until_all_is_there(self, store: GraphStore) -> None:
        grown = after(store, ("open", "hub"), *[("grow", "hub")] * 2)
        assert len(grown.nodes) == HUB + 1 and grown.drawn["hub"].left == 0
        assert ids(after(store, ("open", "hub"), *[("grow", "hub")] * 3)) == ids(grown)

    def test_by_one_relation(self, store: GraphStore) -> None:
        grown = after(store, ("open", "hub"), ("grow", "hub", "IS"))
        assert {fact.relation for fact in grown.facts} == {"IS"} and len(grown.facts) == 10

    def test_by_closeness_to_a_question(self) -> None:
        store = graph(*STAR, edge("w", "hub", "FOUNDED_BY", "z", dst="Wilma"), embedder=offline())
        vector = closeness(offline(), "Who founded the hub?", store.describe(READER))
        assert vector is not None
        grown = explore(store, READER, [step("open", "hub"), step("grow", "hub")], vector=vector)
        assert ids(grown)[1] == "z"
        scores = [fact.score for fact in grown.facts]
        assert scores == sorted(scores, reverse=True) and scores[0] > scores[-1]
        assert closeness(offline(), "", store.describe(READER)) is None
        assert closeness(offline(), "Who?", graph(*STAR).describe(READER)) is None

    def test_a_fact_of_several_documents_is_one_line_of_several_edges(self, store: GraphStore) -> None:
        grown = after(store, ("open", "p05"), ("grow", "p05"))
        (fact,) = (fact for fact in grown.facts if fact.target_id == "far")
        assert fact.edge_ids == ("l2", "l5") and grown.drawn["far"].left == 2

    def test_a_loop_and_a_value_of_two_documents(self) -> None:
        store = graph(
            edge("o", "a", "OWNS", "a"),
            edge("v1", "a", HAS_ATTRIBUTE, "d1/x", key="status", dst="Active"),
            edge("v2", "a", HAS_ATTRIBUTE, "d2/x", key="status", dst="active", doc="d2"),
        )
        grown = after(store, ("open", "a"), ("grow", "a"))
        assert ids(grown) == ["a", "d1/x"] and grown.drawn["a"].left == 0
        other = after(store, ("open", "a"), ("grow", "a"), ("open", "d2/x"), ("grow", "d2/x"))
        assert ids(other) == ["a", "d1/x", "d2/x"]
        assert [fact.target_id for fact in other.facts if fact.attribute] == ["d1/x", "d2/x"]
        assert [node.left for node in other.nodes] == [0, 0, 0]

    def test_a_value_that_two_documents_tell_is_counted_once(self) -> None:
        store = graph(
            edge("v1", "a", HAS_ATTRIBUTE, "d1/x", key="status", dst="Active"),
            edge("v2", "a", HAS_ATTRIBUTE, "d2/x", key="status", dst="active", doc="d2"),
            edge("r", "a", "R", "b"),
        )
        told = after(store, ("open", "d1/x"), ("grow", "d1/x"), ("open", "d2/x"), ("grow", "d2/x"))
        a = told.drawn["a"]
        assert (a.end.degree, a.left, edges_at(told.facts, a.end)) == (3, 1, 2)
        assert len(told.facts) == 2 and len({fact.id for fact in told.facts}) == 1

    def test_a_key_is_a_relation_of_attributes_alone(self) -> None:
        store = graph(
            edge("1", "a", HAS_ATTRIBUTE, "d1/x", key="status", dst="Active"), edge("2", "a", "R", "b", key="status")
        )
        assert said(after(store, ("open", "a"), ("grow", "a", "status"))) == {"a -[status]-> Active"}


class TestTakingAway:
    def test_collapsing_takes_what_growing_brought(self, store: GraphStore) -> None:
        assert ids(after(store, ("open", "hub"), ("grow", "hub"), ("collapse", "hub"))) == ["hub"]

    def test_what_something_else_leads_to_stays(self, store: GraphStore) -> None:
        opened = ("open", "hub"), ("open", "p05"), ("grow", "hub"), ("grow", "p05")
        kept = after(store, *opened, ("pin", "p01"), ("collapse", "hub"))
        assert set(ids(kept)) == {"hub", "p05", "p07", "far", "out", "p01"}
        assert "hub -[HAS]-> p05" in said(kept), "p05's own growing holds it too"
        assert "hub -[HAS]-> p07" not in said(kept)

    def test_with_what_it_brought_goes_what_that_brought(self, store: GraphStore) -> None:
        kept = after(store, ("open", "p07"), ("grow", "p07"), ("grow", "p05"), ("collapse", "p07"))
        assert (ids(kept), kept.facts) == (["p07"], ())

    def test_hiding_takes_one_out_of_sight_for_as_long_as_it_is_hidden(self, store: GraphStore) -> None:
        steps = ("open", "p05"), ("grow", "p05"), ("hide", "far")
        out = after(store, *steps)
        assert "far" not in ids(out) and [node.end.id for node in out.hidden] == ["far"]
        assert not any("far" in (fact.source_id, fact.target_id) for fact in out.facts)
        assert out.drawn["p05"].left == 0, "growing brings nothing back"
        assert "far" not in ids(after(store, *steps, ("open", "out"), ("grow", "out")))
        assert "far" in ids(after(store, *steps, ("open", "far")))

    def test_what_was_hidden_is_shown_by_a_step_that_can_be_taken_back(self, store: GraphStore) -> None:
        steps = ("open", "p05"), ("grow", "p05"), ("hide", "far"), ("hide", "p07")
        shown = after(store, *steps, ("show",))
        assert shown.drawn.keys() == after(store, *steps[:2]).drawn.keys() and shown.hidden == ()
        assert {node.end.id for node in after(store, *steps).hidden} == {"far", "p07"}

    def test_an_unpinned_one_stays_until_it_is_collapsed_away(self, store: GraphStore) -> None:
        steps = ("open", "hub"), ("grow", "hub"), ("pin", "p05"), ("collapse", "hub"), ("grow", "p05"), ("unpin", "p05")
        unpinned = after(store, *steps)
        assert ids(unpinned) == ids(after(store, *steps[:-1])) and not unpinned.drawn["p05"].pinned
        assert ids(after(store, *steps, ("collapse", "hub"))) == ["hub"]

    def test_what_is_left_out_is_neither_drawn_nor_left_to_grow(self) -> None:
        store = graph(edge("1", "a", "R", "b"), edge("2", "a", "S", "c"),
                      edge("3", "a", HAS_ATTRIBUTE, "d1/x", key="k", dst="X"))  # fmt: skip
        grown = after(store, ("open", "a"), ("grow", "a"))
        assert {fact.relation for fact in grown.without([], ["S"]).facts} == {"R", "k"}
        for off in ("k", HAS_ATTRIBUTE):
            assert {fact.relation for fact in grown.without([], [off]).facts} == {"R", "S"}
        bare = grown.without(["Thing"], [])
        assert (bare.drawn, bare.facts) == ({}, ()) and grown.drawn["a"].left == 0

    def test_a_step_at_what_is_not_drawn_does_nothing(self, store: GraphStore) -> None:
        for kind in ("grow", "hide", "collapse", "pin", "unpin"):
            nothing = after(store, (kind, "hub"))
            assert (nothing.nodes, nothing.missing) == ((), frozenset())


class TestAccess:
    @pytest.mark.parametrize("id_", ["ghost", "nobody", "", "\ud800", "x' OR 1=1"])
    def test_hidden_and_nonexistent_read_alike(self, store: GraphStore, id_: str) -> None:
        explored = after(store, ("open", id_), ("grow", id_), ("open", "p05"), ("path", "hub", id_))
        assert ids(explored) == ["p05"] and explored.missing == {id_}
        assert read_card(store, id_, READER) is None
        assert paths_between(store, "hub", id_, READER) == ()

    def test_a_hidden_edge_is_no_fact_and_no_number(self, store: GraphStore) -> None:
        grown = after(store, ("open", "hub"), *[("grow", "hub")] * 2, ("open", "out"), ("grow", "out"))
        assert "ghost" not in ids(grown) and "HIDES" not in {fact.relation for fact in grown.facts}
        assert grown.drawn["out"].end.degree == 2
        board = after(store, ("open", "ghost"), ("grow", "ghost"), filter=OPEN)
        assert ids(board) == ["ghost", "hub"]


class TestBounds:
    def test_more_steps_are_refused(self, store: GraphStore) -> None:
        after(store, *[("open", "hub")] * MAX_STEPS)
        with pytest.raises(ConfigError, match=f"at most {MAX_STEPS} steps"):
            after(store, *[("open", "hub")] * (MAX_STEPS + 1))

    def test_steps_that_no_link_holds_are_refused(self, store: GraphStore) -> None:
        long = "é" * (LONGEST // 12)
        after(store, ("open", long), ("open", "hub"))
        with pytest.raises(ConfigError, match="its link, which holds at most"):
            after(store, ("open", long), ("open", long))

    def test_more_entities_are_refused(self, many: GraphStore) -> None:
        steps = [step("open", "n0"), *[step("grow", "n0")] * 28]
        full = explore(many, OPEN, steps)
        assert MAX_NODES - 60 < len(full.nodes) <= MAX_NODES
        with pytest.raises(ConfigError, match=f"at most {MAX_NODES} entities"):
            explore(many, OPEN, [*steps, *[step("grow", "n0")] * 5], before=full)

    def test_going_on_is_the_same_as_beginning_anew(self, many: GraphStore) -> None:
        steps = [step("open", "n0"), step("grow", "n0"), step("hide", "n0"), step("open", "n3"), step("grow", "n3")]
        before = Explored()
        for at in range(1, len(steps) + 1):
            before = explore(many, OPEN, steps[:at], before=before)
            assert before == explore(many, OPEN, steps[:at])
        other = [step("open", "n5"), *steps]
        assert explore(many, OPEN, other, before=before) == explore(many, OPEN, other)


@pytest.fixture(scope="module")
def many() -> Iterator[GraphStore]:
    """Three thousand edges, a third of them at one hub."""
    store = open_store("duckdb:///:memory:", create=True)
    fill(store, make(3_000, 1_000, 40))
    yield store
    store.close()


class TestPaths:
    def test_each_is_told_once_with_all_its_documents(self, store: GraphStore) -> None:
        ways = paths_between(store, "hub", "far", READER)
        assert [chain(way, "hub") for way in ways] == [("hub", "p05", "far"), ("hub", "p07", "far")]
        assert ways[0][1].edge_ids == ("l2", "l5")

    def test_the_documents_of_one_fact_do_not_crowd_others_out(self) -> None:
        store = graph(*(edge(f"e{i:02}", "a", "R", "m", doc=f"d{i}") for i in range(25)), edge("f", "m", "R", "z"),
                      edge("g1", "a", "R", "n"), edge("g2", "n", "R", "z"))  # fmt: skip
        ways = paths_between(store, "a", "z", READER)
        assert [chain(way, "a") for way in ways] == [("a", "m", "z"), ("a", "n", "z")]
        assert len(ways[0][0].edge_ids) == 25

    def test_the_first_of_many(self) -> None:
        store = graph(*(edge(f"{i:02}{end}", "a" if end == "x" else f"m{i:02}", "R", f"m{i:02}" if end == "x" else "z")
                        for i in range(30) for end in "xy"))  # fmt: skip
        assert [len(paths_between(store, "a", "z", READER, limit=limit)) for limit in (PATHS, 21, 99)] == [20, 21, 30]

    def test_a_fact_at_a_hub_has_all_its_edges(self, monkeypatch: pytest.MonkeyPatch) -> None:
        store = graph(*(edge(f"h{i:02}", "hub", "R", f"p{i:02}") for i in range(40)),
                      *(edge(f"y{i}", "hub", "R", "p03", doc=f"E{i}") for i in range(3)),
                      *(edge(f"w{i}", "p03", "S", f"q{i}") for i in range(50)), edge("z", "p03", "R", "z"),
                      hidden("no", "hub", "R", "p03", doc="E9"))  # fmt: skip
        for read in (5, 5_000):
            monkeypatch.setattr("kgcore.browse.path._READ", read)
            (way,) = paths_between(store, "hub", "z", READER)
            assert way[0].edge_ids == ("h03", "y0", "y1", "y2") and way[1].edge_ids == ("z",)
        drawn = after(store, ("path", "hub", "z")).drawn
        assert (drawn["hub"].left, drawn["p03"].left, drawn["z"].left) == (39, 50, 0)

    def test_a_value_that_two_documents_tell_has_both(self) -> None:
        store = graph(edge("v1", "a", HAS_ATTRIBUTE, "d1/x", key="k", dst="X"),
                      edge("v2", "a", HAS_ATTRIBUTE, "d2/x", key="k", dst="x", doc="d2"))  # fmt: skip
        ((fact,),) = paths_between(store, "a", "d1/x", READER)
        assert fact.edge_ids == ("v1", "v2") and fact.target_id == "d1/x"

    def test_they_are_drawn_and_stay(self, store: GraphStore) -> None:
        drawn = after(store, ("path", "hub", "far"))
        assert set(ids(drawn)) == {"hub", "p05", "p07", "far"} and len(drawn.facts) == 4
        assert drawn.drawn["far"].parent_id == "p05"
        assert set(ids(after(store, ("path", "hub", "far"), ("grow", "p05"), ("collapse", "p05")))) == set(ids(drawn))

    def test_none_draws_nothing(self, store: GraphStore) -> None:
        apart = graph(edge("1", "a", "R", "b"), edge("2", "c", "R", "d"))
        assert after(apart, ("path", "a", "c")).nodes == ()
        assert paths_between(store, "hub", "hub", READER) == ()


CHUNKS = tuple(
    Chunk(
        id=f"d{i}", content=f"Text {i}.", document_id="doc", metadata={"title": f"Report {i}", "tenant": "x", **SECRET}
    )
    for i in range(3)
)


class TestCard:
    def test_facts_passages_relations(self) -> None:
        store = graph(*STAR, *LINKS, *SECRETS, chunks=CHUNKS)
        card = read_card(store, "hub", READER)
        assert card is not None
        assert (card.entity.degree, card.found, len(card.facts)) == (30, 30, 25)
        assert [(one.relation, one.outgoing, one.count) for one in card.relations] == [
            ("HAS", True, 20), ("IS", True, 10),
        ]  # fmt: skip
        assert card.titles == {"d0": "Report 0", "d1": "Report 1", "d2": "Report 2"}
        assert [passage.content for passage in card.passages] == ["Text 0.", "Text 1.", "Text 2."]
        assert not any("allowed_principals" in passage.metadata for passage in card.passages)
        more = read_card(store, "hub", READER, limit=50)
        assert more is not None and more.facts[:25] == card.facts and len(more.facts) == 30

    def test_fields_of_the_locked_filter_are_not_told(self) -> None:
        store = graph(
            *(Edge(**{**e.__dict__, "properties": {"tenant": "x", "title": "T"}}) for e in STAR), chunks=CHUNKS
        )
        locked = AccessFilter.of(
            {"operator": "AND", "conditions": [only("tenant", "==", "x"), only("title", "==", "T")]}
        )
        card = read_card(store, "hub", locked)
        assert card is not None and len(card.passages) == 3
        assert all(not passage.metadata.keys() & {"tenant", "title"} for passage in card.passages)
        assert card.titles["d0"] == "d0"

    def test_growing_brings_what_the_card_lists(self, store: GraphStore) -> None:
        near = facts_at(store, "hub", READER)
        grown = after(store, ("open", "hub"), ("grow", "hub"))
        assert [fact.id for fact in near.facts] == [fact.id for fact in grown.facts]


class TestLink:
    def test_steps_come_back(self) -> None:
        steps = tuple(step(*one) for one in (
            ("open", "a"), ("grow", "a"), ("grow", "a", 'U"S\\'), ("hide", "b"), ("collapse", "é"), ("pin", ""),
            ("path", "a", "c"), ("show",), ("tidy",), ("unpin", "b"),
        ))  # fmt: skip
        assert read_steps(steps_text(steps)) == steps
        assert steps_text(steps[:2]) == '[["open","a"],["grow","a"]]' and steps_text(()) == ""

    @pytest.mark.parametrize("text", [
        "", "x", "[", "{}", "1", "[1]", '[["open"]]', '[["open",1]]', '[["open","a","b","c"]]', '[["path","a"]]',
        '[["fly","a"]]', '[[["open"],"a"]]', "[" * 10_000, '["open"]', "x" * 30_000, "null", '[["hide","a","b"]]',
        '[["open","\\ud800"]]', '[["grow","a","\\udfff"]]', '[["path","a","\\ud800"]]', '[["show","a"]]',
        '[["open"],["tidy",""]]',
    ])  # fmt: skip
    def test_what_is_no_step_is_left_out(self, text: str) -> None:
        assert read_steps(text) == ()
