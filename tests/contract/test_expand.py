"""`expand`: its access, its facts, its shortlist. (Hops case by case are in `test_hops`.)"""

from __future__ import annotations

from typing import Any

import pytest

from kgcore.names import fact_id
from kgcore.store import GraphStore
from kgcore.types import HAS_ATTRIBUTE
from tests.contract.graphs import NOBODY, OPEN, PUBLIC, READER, edge, fact_of, hidden, only, vec, write
from tests.contract.test_hops import GRAPH, by_fact

QUESTION = vec(1, 0, 0, 0)


def found_ids(store: GraphStore, *frontier: str, **options: Any) -> list[str]:
    """The edge ids of an expansion without bounds."""
    return [v.edge.id for v in store.expand(frontier, (), READER, None, 100, **options).edges]


class TestAccess:
    def test_a_hop_is_under_its_filter(self, store: GraphStore) -> None:
        write(store, *GRAPH)
        assert "h" not in found_ids(store, "a")
        assert "h" in [v.edge.id for v in store.expand(["a"], (), OPEN, None, 100).edges]
        assert store.expand(["a", "b"], (), NOBODY, None, 100) == store.expand([], (), READER, None, 100)

    def test_a_caller_narrows_edges_and_degrees(self, store: GraphStore) -> None:
        write(store, *GRAPH)
        hop = store.expand(["b"], (), READER.narrowed(only("source_doc_id", "==", "d2")), None, 100)
        assert [v.edge.id for v in hop.edges] == ["b-c"]
        assert {end.id: end.degree for end in hop.ends.values()} == {"b": 1, "c": 1}

    def test_a_hidden_edge_of_a_visible_fact_stays_hidden(self, store: GraphStore) -> None:
        write(
            store,
            edge("seen", "a", "KNOWS", "b", embedding=vec(0, 1, 0, 0)),
            hidden("unseen", "a", "KNOWS", "b", src="Alias", embedding=QUESTION, properties={"secret": 1}),
        )
        hop = store.expand(["a"], (), READER, QUESTION, 100)
        assert [(v.edge.id, v.score) for v in hop.edges] == [("seen", pytest.approx(0))]
        assert (hop.ends["a"].name, hop.ends["a"].degree, hop.found) == ("a", 1, 1)

    def test_an_end_is_called_what_its_visible_edges_call_it(self, store: GraphStore) -> None:
        write(
            store,
            edge("e1", "a", "R1", "b", src="Ann"),
            edge("e2", "a", "R2", "b", src="Anna"),
            edge("e3", "a", "R3", "b", src="Anna"),
            hidden("h1", "a", "R4", "b", src="Ann"),
            hidden("h2", "a", "R5", "b", src="Ann"),
            edge("f1", "c", "R1", "b", src="Zoe"),
            edge("f2", "c", "R2", "b", src="Chloe"),
        )
        ends = store.expand(["b"], (), READER, None, 100).ends
        assert (ends["a"].name, ends["c"].name) == ("Anna", "Chloe")
        narrowed = store.expand(["b"], (), READER.narrowed(only("src_name", "==", "Ann")), None, 100).ends
        assert narrowed["a"].name == "Ann"


class TestFacts:
    def test_parallel_edges_of_several_documents_are_one_fact(self, store: GraphStore) -> None:
        parallel = [
            edge(f"p{i}", "a", "KNOWS", "b", doc=f"d{i}", dst=name, description=f"said {i}")
            for i, name in enumerate(("Bob", "bob", "Robert"))
        ]
        write(store, *parallel, edge("other", "a", "LIKES", "b"))
        hop = store.expand(["a"], (), READER, None, 1)
        assert hop.found == 2
        kept = [v.edge.id for v in store.expand(["a"], [fact_of(edge("x", "a", "LIKES", "b"))], READER, None, 1).edges]
        assert kept == ["p0", "p1", "p2"]
        assert len({v.fact_id for v in store.expand(["b"], (), READER, None, 9).edges}) == 2
        assert hop.ends["b"].degree == 4

    def test_attribute_values_are_one_fact_across_documents_by_folded_value(self, store: GraphStore) -> None:
        values = [
            edge(f"v{i}", "a", HAS_ATTRIBUTE, f"d{i}/status", key="status", dst=text, doc=f"d{i}")
            for i, text in enumerate(("Active", "active", "ACTIVE_", "retired"))
        ]
        write(store, *values)
        hop = store.expand(["a"], (), READER, None, 100)
        assert hop.found == 2
        one = fact_id("a", HAS_ATTRIBUTE, "status", "whatever", "active")
        assert [v.edge.id for v in hop.edges if v.fact_id == one] == ["v0", "v1", "v2"]
        assert {end.id for end in hop.ends.values()} == {"a", *(f"d{i}/status" for i in range(4))}
        rest = store.expand(["a"], [one], READER, None, 100)
        assert [v.edge.id for v in rest.edges] == ["v3"]

    def test_a_fact_keeps_its_direction(self, store: GraphStore) -> None:
        write(store, edge("ab", "a", "KNOWS", "b"), edge("ba", "b", "KNOWS", "a"))
        assert len({v.fact_id for v in store.expand(["a"], (), READER, None, 100).edges}) == 2

    @pytest.mark.parametrize("unknown", [fact_id("no", "SUCH", None, "fact", ""), "not-a-fact", ""])
    def test_an_unknown_fact_in_exclude_changes_nothing(self, store: GraphStore, unknown: str) -> None:
        write(store, *GRAPH)
        whole = store.expand(["a"], (), READER, None, 100)
        assert store.expand(["a"], [unknown], READER, None, 100) == whole


class TestShortlist:
    def test_by_vector_the_best_facts_stay(self, store: GraphStore) -> None:
        edges = [edge(f"e{i}", "a", f"R{i}", f"t{i}", embedding=vec(i, 5 - i, 0, 0)) for i in range(6)]
        write(store, *edges)
        hop = store.expand(["a"], (), READER, QUESTION, 2)
        assert [v.edge.id for v in hop.edges] == by_fact(edges[4], edges[5])
        assert {v.edge.id: v.score for v in hop.edges} == {"e5": pytest.approx(1), "e4": pytest.approx(0.9701425)}
        assert (hop.found, set(hop.ends)) == (6, {"a", "t4", "t5"})

    def test_a_facts_best_edge_decides_and_all_its_edges_stay(self, store: GraphStore) -> None:
        strong = [
            edge("s1", "a", "STRONG", "b", doc="d1", embedding=vec(0, 1, 0, 0)),
            edge("s2", "a", "STRONG", "b", doc="d2", embedding=QUESTION),
            edge("s3", "a", "STRONG", "b", doc="d3"),
        ]
        write(store, *strong, edge("w", "a", "WEAK", "b", embedding=vec(1, 1, 0, 0)))
        hop = store.expand(["a"], (), READER, QUESTION, 1)
        assert [(v.edge.id, v.score) for v in hop.edges] == [
            ("s1", pytest.approx(0)), ("s2", pytest.approx(1)), ("s3", None),
        ]  # fmt: skip

    def test_by_vector_ties_go_by_fact_id(self, store: GraphStore) -> None:
        edges = [edge(f"e{i}", "a", f"R{i}", "b", embedding=vec(1, 1 + i * 1e-8, 0, 0)) for i in range(8)]
        write(store, *edges)
        first = by_fact(*edges)[:3]
        assert [v.edge.id for v in store.expand(["a"], (), READER, QUESTION, 3).edges] == first

    def test_edges_without_a_vector_come_after_all_with_one(self, store: GraphStore) -> None:
        edges = [edge(f"n{i}", "a", f"N{i}", "b") for i in range(3)]
        opposite = edge("o", "a", "OPPOSITE", "b", embedding=vec(-1, 0, 0, 0))
        write(store, *edges, opposite)
        assert [v.edge.id for v in store.expand(["a"], (), READER, QUESTION, 1).edges] == ["o"]
        both = store.expand(["a"], (), READER, QUESTION, 2).edges
        assert sorted(v.edge.id for v in both) == sorted(["o", by_fact(*edges)[0]])

    def test_without_vectors_shared_words_decide(self, store: GraphStore) -> None:
        edges = [
            edge("two", "a", "WORKS_AT", "b", dst="Acme Capital"),
            edge("one", "a", "KNOWS", "c", dst="Capital City"),
            edge("none", "a", "LIKES", "d", dst="Nobody"),
            edge("key", "a", HAS_ATTRIBUTE, "v", key="acme", dst="capital works"),
            edge("told", "a", "SAYS", "e", dst="Nobody", description="The ACME works of the Capital"),
        ]
        write(store, *edges)

        def kept(limit: int) -> list[str]:
            hop = store.expand(["a"], (), READER, None, limit, words=["acme", "capital", "works"])
            assert hop.found == 5
            return sorted(v.edge.id for v in hop.edges)

        assert kept(3) == ["key", "told", "two"]
        assert kept(4) == ["key", "one", "told", "two"]

    def test_words_are_text_not_patterns(self, store: GraphStore) -> None:
        edges = [edge("plain", "a", "R1", "b", dst="anything"), edge("percent", "a", "R2", "c", dst="100%_'x")]
        write(store, *edges)
        hop = store.expand(["a"], (), READER, None, 1, words=["%_'"])
        assert [v.edge.id for v in hop.edges] == ["percent"]

    def test_without_vectors_ties_go_by_fact_id(self, store: GraphStore) -> None:
        edges = [edge(f"e{i}", "a", f"R{i}", "b") for i in range(8)]
        write(store, *edges)
        first = by_fact(*edges)[:3]
        assert found_ids(store, "a") == by_fact(*edges)
        for words in ((), ("nothing",), ("b",)):
            hop = store.expand(["a"], (), READER, None, 3, words=words)
            assert ([v.edge.id for v in hop.edges], hop.found) == (first, 8)

    def test_a_graph_without_vectors_answers_a_vector_by_words(self, store: GraphStore) -> None:
        write(store, edge("x", "a", "R1", "b", dst="other"), edge("y", "a", "R2", "c", dst="wanted"))
        hop = store.expand(["a"], (), READER, QUESTION, 1, words=["wanted"])
        assert [(v.edge.id, v.score) for v in hop.edges] == [("y", None)]
        assert store.nearest_entities([QUESTION], READER, 3) == ()

    def test_relations_are_chosen_before_the_cut(self, store: GraphStore) -> None:
        many = [edge(f"m{i}", "a", "MANY", f"b{i}", embedding=QUESTION) for i in range(5)]
        write(store, *many, edge("few", "a", "FEW", "c", embedding=vec(0, 1, 0, 0)))
        hop = store.expand(["a"], (), READER, QUESTION, 2, relations=["FEW"])
        assert ([v.edge.id for v in hop.edges], hop.found) == (["few"], 1)

    def test_the_excluded_and_the_unseen_take_no_place_in_it(self, store: GraphStore) -> None:
        best = [edge(f"b{i}", "a", f"B{i}", "b", embedding=QUESTION) for i in range(3)]
        unseen = [hidden(f"h{i}", "a", f"H{i}", "b", embedding=QUESTION) for i in range(3)]
        write(store, *best, *unseen, edge("last", "a", "LAST", "b", embedding=vec(0, 1, 0, 0)))
        hop = store.expand(["a"], [fact_of(e) for e in best], READER, QUESTION, 1)
        assert ([v.edge.id for v in hop.edges], hop.found) == (["last"], 1)


def test_a_hub_is_cut_and_counted(store: GraphStore) -> None:
    write(store, *(edge(f"e{i:04}", "hub", "R", f"t{i}", properties={**PUBLIC, "n": i % 7}) for i in range(1500)))
    hop = store.expand(["hub"], (), READER, None, 1000)
    assert (len(hop.edges), hop.found, hop.ends["hub"].degree) == (1000, 1500, 1500)
    some = store.expand(["hub"], (), READER.narrowed(only("n", "in", [0, 1])), None, 1000)
    assert (len(some.edges), some.found) == (430, 430)


def test_two_hubs_are_cut_together(store: GraphStore) -> None:
    spokes = [
        edge(f"{hub}{i:04}", hub, "R", f"t{i}", embedding=vec(1, i + 1))
        for hub in ("left", "right") for i in range(1100)
    ]  # fmt: skip
    between = edge("between", "left", "JOINS", "right", embedding=vec(1, 0))
    write(store, *spokes, between, edge("small", "t0", "R", "left", embedding=vec(-1, 0)))
    hop = store.expand(["left", "right", "t0"], [fact_of(spokes[0])], READER, vec(1, 0), 4)
    assert sorted(v.edge.id for v in hop.edges) == ["between", "left0001", "right0000", "right0001"]
    assert (hop.found, hop.ends["left"].degree, hop.ends["right"].degree) == (2201, 1102, 1101)
    whole = store.expand(["left", "right", "t0"], (), READER, vec(1, 0), 9999)
    assert (len(whole.edges), whole.found) == (2202, 2202)
