"""The walk: what each hop finds, keeps and cuts, and the account it gives of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kgcore.models.offline import OfflineEmbedder
from kgcore.names import fact_id
from kgcore.retrieve import read_run, run_json
from kgcore.retrieve.render import match_text
from kgcore.store import GraphStore
from kgcore.types import HAS_ATTRIBUTE, Edge, Entity, Retrieval
from kgcore.viz import graph_payload
from tests.contract.graphs import edge, fact_of, hidden, only, vec, write
from tests.data.build import JANE, candidates, coverage_of, offline, retriever, texts

Build = Callable[..., GraphStore]
ALL = only("allowed_principals", "contains_any", ["all"])
ASK = "Which way does the river run?"
CHAIN = tuple(edge(f"e{i}", f"n{i}", "FLOWS_TO", f"n{i + 1}") for i in range(6))


def ask(store: GraphStore, *seeds: str, question: str = ASK, locked: Any = None, **options: Any) -> Retrieval:
    return retriever(store, filters=locked).retrieve(question, entity_ids=list(seeds), **options)


def kept(result: Retrieval, hop: int) -> list[str]:
    return [c.fact.id for c in candidates(result, "kept", "top_k_cut", hop=hop)]


class Spy:
    """A store that notes every hop asked of it."""

    def __init__(self, store: GraphStore) -> None:
        self._store = store
        self.hops: list[tuple[tuple[str, ...], tuple[str, ...]]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def expand(self, frontier: Sequence[str], exclude: Sequence[str], *rest: Any, **more: Any) -> Any:
        self.hops.append((tuple(frontier), tuple(exclude)))
        return self._store.expand(frontier, exclude, *rest, **more)


class TestHops:
    @pytest.mark.parametrize("hops", [1, 2, 3, 4])
    def test_go_as_far_as_asked(self, build: Build, hops: int) -> None:
        result = ask(build(*CHAIN), "n0", max_hops=hops)
        assert {f.id for f in result.facts} == {fact_of(e) for e in CHAIN[:hops]}
        assert [h.number for h in result.trace.hops] == list(range(1, hops + 1))
        for number, c in enumerate(candidates(result), 1):
            assert (c.hop, c.fact.hop, c.fact.metadata["hop"], c.rank, c.fate) == (number, number, number, 1, "kept")
            assert (c.parent_id, c.entity_id) == (f"n{number - 1}", f"n{number}")
            assert c.chain == tuple(fact_of(e) for e in CHAIN[:number])
            assert c.degree == 2 and not c.bridge

    def test_go_against_the_arrow_too(self, build: Build) -> None:
        result = ask(build(*CHAIN), "n6", max_hops=4)
        assert [(c.parent_id, c.entity_id) for c in candidates(result)] == [
            ("n6", "n5"), ("n5", "n4"), ("n4", "n3"), ("n3", "n2"),
        ]  # fmt: skip
        assert candidates(result)[0].fact.text == "n5 -[FLOWS_TO]-> n6"

    def test_end_where_there_is_nothing_more(self, build: Build) -> None:
        result = ask(build(*CHAIN[:1]), "n0", max_hops=4)
        assert len(result.facts) == 1
        assert [h.kept for h in result.trace.hops] in ([1], [1, 0])

    def test_ask_the_store_once_each_and_never_again_for_a_node(self, build: Build) -> None:
        ring = [edge(f"r{i}{j}", f"n{i}", "JOINS", f"n{j}") for i in range(5) for j in range(5) if i < j]
        spy = Spy(build(*ring))
        result = ask(spy, "n0", "n1", max_hops=4, beam_width=2)
        asked = [node for frontier, _ in spy.hops for node in frontier]
        assert len(spy.hops) == len(result.trace.hops)
        assert len(asked) == len(set(asked))
        done: list[str] = []
        for (_, excluded), hop in zip(spy.hops, result.trace.hops, strict=True):
            assert sorted(excluded) == sorted(done)
            done += kept(result, hop.number)
        assert len(done) == len(set(done))

    def test_no_seed_is_no_hop(self, build: Build) -> None:
        result = retriever(build(*CHAIN)).retrieve(ASK, entities=["Atlantis"])
        assert result.trace.hops == () and result.facts == () and result.content == "No matching facts found."


class TestBeam:
    @pytest.mark.parametrize(
        ("top_k", "hops", "width"), [(50, 1, 50), (50, 2, 25), (50, 4, 12), (7, 2, 3), (2, 4, 1), (1, 4, 1)]
    )
    def test_is_the_share_of_top_k_unless_given(self, build: Build, top_k: int, hops: int, width: int) -> None:
        settings = ask(build(*CHAIN), "n0", top_k=top_k, max_hops=hops).trace.settings
        assert (settings.beam_width, settings.beam_auto) == (width, True)
        settings = ask(build(*CHAIN), "n0", top_k=top_k, max_hops=hops, beam_width=9).trace.settings
        assert (settings.beam_width, settings.beam_auto) == (9, False)

    def test_keeps_the_best_and_accounts_for_the_rest(self, build: Build) -> None:
        trees = ["oak", "ash", "birch", "walnut", "pine", "fir", "elm", "willow", "beech"]
        leaves = [edge(f"e{i}", "hub", "OWNS", tree, dst=f"A {tree}") for i, tree in enumerate(trees)]
        result = ask(build(*leaves), "hub", beam_width=4, question="Who owns the walnut?")
        [hop] = result.trace.hops
        assert (hop.considered, hop.left_out, hop.kept, len(hop.candidates)) == (9, 0, 4, 9)
        assert [c.fate for c in hop.candidates] == ["kept"] * 4 + ["beam_cut"] * 5
        assert [c.rank for c in hop.candidates] == list(range(1, 10))
        order = [(-c.score, c.fact.id) for c in hop.candidates]
        assert order == sorted(order)
        assert hop.cutoff == hop.candidates[3].score
        assert hop.candidates[0].entity_id == "walnut"

    def test_breaks_ties_by_fact_id(self, build: Build) -> None:
        twins = [edge(f"e{i}", "hub", "OWNS", f"twin-{i}", dst="Twin") for i in range(12)]
        for order in (twins, twins[::-1]):
            result = ask(build(*order), "hub", beam_width=5)
            assert len({c.score for c in candidates(result)}) == 1
            assert [c.fact.id for c in candidates(result)] == sorted(fact_of(e) for e in twins)
            assert kept(result, 1) == sorted(fact_of(e) for e in twins)[:5]

    def test_rank_is_the_smallest_width_that_keeps_a_fact(self, build: Build) -> None:
        names = ["Otter", "River Otter", "Sea", "River", "Way", "Run", "Otter"]
        first = [edge(f"a{i}", "root", "SEES", f"m{i}", dst=name) for i, name in enumerate(names)]
        then = [edge(f"b{i}", f"m{i}", "LEADS_TO", f"z{i % 4}", src=name) for i, name in enumerate(names)]
        store = build(*first, *then, edge("p", "m0", "MEETS", "m1", src="Otter", dst="River Otter"))
        whole = ask(store, "root", max_hops=1, beam_width=100)
        for c in candidates(whole, hop=1):
            assert c.fact.id in kept(ask(store, "root", beam_width=c.rank), 1)
            if c.rank > 1:
                assert c.fact.id not in kept(ask(store, "root", beam_width=c.rank - 1), 1)
        narrow = ask(store, "root", max_hops=2, beam_width=3)
        assert [c.rank for c in candidates(narrow, hop=1)] == [c.rank for c in candidates(whole, hop=1)]
        second = [c for c in candidates(narrow, hop=2) if c.rank]
        assert sorted(c.rank for c in second) == list(range(1, len(second) + 1))

    def test_counts_facts_not_edges(self, build: Build) -> None:
        said = [edge(f"e{i}-{d}", "hub", "OWNS", f"leaf{i}", doc=f"d{d}") for i in range(3) for d in range(4)]
        result = ask(build(*said), "hub", beam_width=2)
        assert result.trace.hops[0].considered == 3
        assert [len(c.fact.edge_ids) for c in candidates(result)] == [4, 4, 4]


class TestPaths:
    DIAMOND = (
        edge("e1", "root", "SEES", "left", src="Root", dst="Plain"),
        edge("e2", "root", "SEES", "right", src="Root", dst="River"),
        edge("e3", "left", "LEADS_TO", "end", src="Plain", dst="End"),
        edge("e4", "right", "LEADS_TO", "end", src="River", dst="End"),
        edge("e5", "end", "OPENS", "beyond", src="End", dst="Beyond"),
    )

    def test_a_far_end_is_entered_once_by_the_best(self, build: Build) -> None:
        result = ask(build(*self.DIAMOND), "root", max_hops=3)
        by_left, by_right = (next(c for c in candidates(result, hop=2) if c.parent_id == p) for p in ("left", "right"))
        assert by_left.fate == by_right.fate == "kept"
        assert by_right.score > by_left.score
        [last] = candidates(result, hop=3)
        assert (last.parent_id, last.entity_id) == ("end", "beyond")
        assert last.chain == (*by_right.chain, last.fact.id)

    def test_score_covers_the_whole_path(self, build: Build) -> None:
        result = ask(build(*self.DIAMOND), "root", max_hops=3)
        coverage, by_id = coverage_of(ASK), {fact_of(e): match_text(e) for e in self.DIAMOND}
        for c in candidates(result):
            covered = coverage.of([by_id[fact] for fact in c.chain])
            assert c.score == float(coverage.score(covered.max(axis=0)))
            assert c.score == c.fact.score == c.fact.metadata["score"]

    def test_a_fact_between_visited_nodes_is_a_bridge(self, build: Build) -> None:
        store = build(
            edge("e1", "root", "SEES", "a"),
            edge("e2", "root", "SEES", "b"),
            edge("e3", "a", "MEETS", "b"),
            edge("e4", "b", "LEADS_TO", "c"),
        )
        result = ask(store, "root", max_hops=2)
        assert not any(c.bridge for c in candidates(result, hop=1))
        bridges = [c for c in candidates(result, hop=2) if c.bridge]
        assert {c.fact.id for c in bridges} == {fact_of(edge("e3", "a", "MEETS", "b"))}
        assert sorted((c.fate, c.rank == 0) for c in bridges) == [("duplicate", True), ("kept", False)]
        assert {(c.parent_id, c.entity_id) for c in bridges} == {("a", "b"), ("b", "a")}

    def test_the_worse_way_to_a_fact_is_a_duplicate(self, build: Build) -> None:
        store = build(edge("e1", "a", "MEETS", "b"), edge("e2", "a", "SEES", "x"))
        result = ask(store, "a", "b", beam_width=1)
        [hop] = result.trace.hops
        assert hop.considered == 2
        both = [c for c in hop.candidates if c.fact.relation == "MEETS"]
        assert [c.parent_id for c in both] == ["a", "b"]
        assert both[0].score == both[1].score and all(c.bridge for c in both)
        assert both[1].fate == "duplicate" and both[1].rank == 0
        assert sorted(c.rank for c in hop.candidates if c.fate != "duplicate") == [1, 2]

    def test_a_self_loop_is_a_fact_that_leads_nowhere(self, build: Build) -> None:
        result = ask(build(edge("e1", "a", "OWNS", "a"), edge("e2", "a", "SEES", "b")), "a", max_hops=2)
        [loop] = [c for c in candidates(result) if c.parent_id == c.entity_id]
        assert loop.fate == "kept" and loop.bridge and loop.fact.text == "a -[OWNS]-> a"
        assert loop.degree == 2

    def test_parallel_facts_reach_a_node_together(self, build: Build) -> None:
        store = build(edge("e1", "a", "OWNS", "b"), edge("e2", "a", "SEES", "b"), edge("e3", "b", "SEES", "c"))
        result = ask(store, "a", max_hops=2)
        assert [c.fate for c in candidates(result)] == ["kept"] * 3
        assert candidates(result, hop=2)[0].chain[0] == candidates(result, hop=1)[0].fact.id

    def test_a_cut_fact_may_come_again_from_elsewhere(self, build: Build) -> None:
        store = build(
            edge("e1", "a", "SEES", "b", dst="River"),
            edge("e2", "a", "SEES", "c", dst="Zzz"),
            edge("e3", "b", "LEADS_TO", "c", src="River", dst="Zzz"),
        )
        result = ask(store, "a", beam_width=1, max_hops=3)
        again = [c for c in candidates(result) if c.fact.id == fact_of(edge("e2", "a", "SEES", "c"))]
        assert [(c.hop, c.fate) for c in again] == [(1, "beam_cut"), (3, "kept")]
        assert again[1].parent_id == "c" and again[1].bridge


class TestHubs:
    @staticmethod
    def star(spokes: int, *more: Edge) -> tuple[Edge, ...]:
        return (
            edge("s", "seed", "SEES", "hub"),
            *(edge(f"e{i}", "hub", "OWNS", f"n{i}") for i in range(spokes)),
            *more,
        )

    def test_are_not_expanded_after_hop_1(self, build: Build) -> None:
        result = ask(build(*self.star(5)), "seed", max_hops=3, hub_limit=5)
        assert texts(result) == ["seed -[SEES]-> hub"]
        [hub] = candidates(result, "hub")
        assert (hub.hop, hub.entity_id, hub.degree, hub.rank) == (2, "hub", 6, 0)
        assert hub.fact == result.facts[0] and hub.chain == (hub.fact.id,)
        assert result.trace.hops[1].considered == 0 and result.trace.hops[1].kept == 0

    def test_with_exactly_the_limit_are_expanded(self, build: Build) -> None:
        result = ask(build(*self.star(5)), "seed", max_hops=2, hub_limit=6)
        assert len(result.facts) == 6 and candidates(result, "hub") == []

    def test_are_expanded_at_hop_1(self, build: Build) -> None:
        result = ask(build(*self.star(9)), "hub", max_hops=2, hub_limit=3)
        assert len(result.facts) == 10 and candidates(result, "hub") == []

    def test_stand_beside_the_nodes_that_are_expanded(self, build: Build) -> None:
        store = build(*self.star(5, edge("t", "seed", "SEES", "quiet"), edge("u", "quiet", "SEES", "end")))
        result = ask(store, "seed", max_hops=2, hub_limit=4)
        assert {c.fact.text for c in candidates(result, "kept", hop=2)} == {"quiet -[SEES]-> end"}
        assert [c.entity_id for c in candidates(result, "hub", hop=2)] == ["hub"]

    def test_are_counted_by_visible_edges_only(self, build: Build) -> None:
        store = build(*self.star(3), *(hidden(f"h{i}", "hub", "OWNS", f"spy{i}") for i in range(9)))
        result = ask(store, "seed", max_hops=2, hub_limit=4, locked=ALL)
        assert len(result.facts) == 4 and candidates(result, hop=1)[0].degree == 4
        assert len(ask(store, "seed", max_hops=2, hub_limit=4).facts) == 1


class TestShortlist:
    def test_cuts_a_great_node_and_counts_what_it_left_out(self, build: Build) -> None:
        leaves = [edge(f"e{i}", "hub", "OWNS", f"leaf{i}", dst=f"Plot {i}") for i in range(1_300)]
        twice = [edge(f"f{i}", "hub", "OWNS", f"leaf{i}", dst=f"Plot {i}", doc="d2") for i in range(100)]
        unseen = [hidden(f"h{i}", "hub", "OWNS", f"spy{i}") for i in range(50)]
        store = build(*leaves, *twice, *unseen)
        search = retriever(store, filters=ALL, hub_limit=10_000)
        [hop] = search.retrieve(ASK, entity_ids=["hub"], beam_width=30).trace.hops
        assert (hop.considered, hop.left_out, hop.kept) == (1_300, 300, 30)
        assert [c.fate for c in hop.candidates] == ["kept"] * 30 + ["beam_cut"] * 200
        assert [c.rank for c in hop.candidates] == list(range(1, 231))
        [wide] = search.retrieve(ASK, entity_ids=["hub"], beam_width=1_000, top_k=1_000).trace.hops
        assert (wide.considered, wide.left_out, wide.kept, len(wide.candidates)) == (1_300, 100, 1_000, 1_200)

    def test_without_vectors_holds_what_shares_words_with_the_question(self, build: Build) -> None:
        leaves = [edge(f"e{i}", "hub", "OWNS", f"leaf{i}", dst=f"Plot {i}") for i in range(1_200)]
        last = max(range(1_200), key=lambda i: fact_of(leaves[i]))
        leaves[last] = edge(f"e{last}", "hub", "OWNS", f"leaf{last}", dst="Quagmire")
        result = ask(build(*leaves), "hub", beam_width=1, question="Who owns the quagmire?")
        assert texts(result) == ["hub -[OWNS]-> Quagmire"]

    def test_with_vectors_holds_the_nearest(self, build: Build) -> None:
        question = offline().encode("Who owns the quagmire?").vector
        away = np.roll(question, 7)
        away = away - question * float(away @ question)
        leaves = [edge(f"e{i}", "hub", "OWNS", f"leaf{i}", dst="Plot", embedding=away) for i in range(1_200)]
        last = max(range(1_200), key=lambda i: fact_of(leaves[i]))
        leaves[last] = edge(f"e{last}", "hub", "OWNS", f"leaf{last}", dst="Bog", embedding=question)
        store = build()
        write(store, *leaves, embedder=OfflineEmbedder.name)
        result = ask(store, "hub", beam_width=1_000, top_k=1_000, question="Who owns the quagmire?")
        assert result.trace.hops[0].left_out == 0
        result = ask(store, "hub", beam_width=5, question="Who owns the quagmire?")
        assert result.trace.hops[0].left_out == 200
        assert "hub -[OWNS]-> Bog" in [c.fact.text for c in candidates(result)]


class TestRelations:
    def test_limit_every_hop(self, build: Build) -> None:
        store = build(
            edge("e1", "a", "OWNS", "b"),
            edge("e2", "a", "SEES", "c"),
            edge("e3", "b", "SEES", "d"),
            edge("e4", "b", HAS_ATTRIBUTE, "v", key="colour", dst="red"),
        )
        assert {f.relation for f in ask(store, "a", max_hops=2).facts} == {"OWNS", "SEES", "colour"}
        assert texts(ask(store, "a", max_hops=2, relations=["OWNS"])) == ["a -[OWNS]-> b"]
        both = ask(store, "a", max_hops=2, relations=["OWNS", "colour"])
        assert {f.relation for f in both.facts} == {"OWNS", "colour"}
        assert both.trace.settings.relations == ("OWNS", "colour")
        assert ask(store, "a", relations=["NONE"]).facts == ()
        [hop] = ask(store, "a", relations=["SEES"]).trace.hops
        assert (hop.considered, hop.left_out) == (1, 0)


def jane() -> tuple[Edge, ...]:
    """The textbook walk: person, firm, system; with tempting facts beside it."""
    return (
        edge("w", "jane", "WORKS_AT", "acme", src="Jane Doe", dst="Acme Capital", description="Jane's employer."),
        edge("l", "jane", "LIVES_IN", "york", src="Jane Doe", dst="York"),
        edge("m", "jane", "MARRIED_TO", "bob", src="Jane Doe", dst="Bob Roe"),
        edge("k", "jane", "KNOWS", "kim", src="Jane Doe", dst="Alex Kim"),
        edge("u", "acme", "USES", "helios", src="Acme Capital", dst="Helios"),
        edge("b", "acme", "BASED_IN", "london", src="Acme Capital", dst="London"),
        edge("o", "acme", "OWNS", "tiny", src="Acme Capital", dst="Tiny Fund"),
    )


class TestScoring:
    def test_coverage_walks_from_person_to_firm_to_system(self, build: Build) -> None:
        types = {"jane": "Person", "acme": "Organization", "helios": "System"}
        named = {"jane": "Jane Doe", "acme": "Acme Capital", "helios": "Helios"}
        given = [Entity(id=i, type=t, name=named[i]) for i, t in types.items()]
        search = retriever(build(*jane(), entities=given), max_hops=2, beam_width=1)
        result = search.retrieve(JANE)
        assert [s.entity_id for s in result.trace.seeds] == ["jane"]
        assert [c.fact.text for c in candidates(result, "kept")] == [
            "Jane Doe -[WORKS_AT]-> Acme Capital: Jane's employer.",
            "Acme Capital -[USES]-> Helios",
        ]
        assert {(f.source_type, f.target_type) for f in result.facts} == {
            ("Person", "Organization"), ("Organization", "System"),
        }  # fmt: skip

    def test_edge_is_the_cosine_of_question_and_fact(self, build: Build) -> None:
        store = build(*jane(), embedder=offline())
        result = ask(store, "jane", question=JANE, scoring="edge", max_hops=2)
        question = offline().encode(JANE).vector
        by_id = {fact_of(e): e for e in jane()}
        for c in candidates(result):
            cosine = float(question @ offline().embed([match_text(by_id[c.fact.id])])[0])
            assert c.score == pytest.approx(cosine, abs=2e-6)
        for hop in result.trace.hops:
            order = [(-c.score, c.fact.id) for c in hop.candidates if c.rank]
            assert order == sorted(order)
        coverage = ask(store, "jane", question=JANE, max_hops=2)
        assert [c.fact.id for c in candidates(coverage)] != [c.fact.id for c in candidates(result)]
        assert result.trace.warnings == coverage.trace.warnings == ()

    def test_edge_takes_the_best_edge_of_a_fact(self, build: Build) -> None:
        question = offline().encode(JANE).vector
        other = np.roll(question, 1)
        store = build()
        write(
            store,
            edge("e1", "a", "R", "b", doc="d1", embedding=other),
            edge("e2", "a", "R", "b", doc="d2", embedding=question),
            embedder=OfflineEmbedder.name,
        )
        [fact] = ask(store, "a", question=JANE, scoring="edge").facts
        assert fact.score == pytest.approx(1, abs=1e-6) and fact.edge_ids == ("e1", "e2")

    def test_edge_without_vectors_is_coverage_and_says_so(self, build: Build) -> None:
        store = build(*jane())
        result = ask(store, "jane", question=JANE, scoring="edge", max_hops=2, beam_width=2)
        plain = ask(store, "jane", question=JANE, max_hops=2, beam_width=2)
        assert [w for w in result.trace.warnings if "coverage" in w]
        assert len(set(result.trace.warnings)) == len(result.trace.warnings) == 1
        assert [(c.fact.text, c.score, c.fate) for c in candidates(result)] == [
            (c.fact.text, c.score, c.fate) for c in candidates(plain)
        ]

    def test_a_fact_without_a_vector_comes_last_by_edge(self, build: Build) -> None:
        store = build()
        bare = edge("e1", "a", "R", "b", dst="System")
        vector = offline().embed(["x"])[0]
        others = [edge(f"e2{n:02}", "a", "R", f"c{n:02}", embedding=vector) for n in range(19)]
        write(store, bare, *others, embedder=OfflineEmbedder.name)
        found = texts(ask(store, "a", question=JANE, scoring="edge"))
        assert len(found) == 20 and found[-1] == "a -[R]-> System"
        write(store, edge("e3", "a", "R", "bare"), embedder=OfflineEmbedder.name)  # more than one in twenty
        assert texts(ask(store, "a", question=JANE, scoring="edge"))[0] == "a -[R]-> System"

    @pytest.mark.parametrize("name", ["toy", OfflineEmbedder.name])
    def test_vectors_of_another_embedder_are_said_once_and_not_used(self, build: Build, name: str) -> None:
        store = build()
        write(store, *(replace(e, embedding=vec(1, 0, 0, i)) for i, e in enumerate(jane())), embedder=name)
        result = ask(store, "jane", question=JANE, max_hops=2, beam_width=2)
        plain = ask(build(*jane()), "jane", question=JANE, max_hops=2, beam_width=2)
        [warning] = result.trace.warnings
        assert name in warning and "4 numbers" in warning and "384" in warning
        assert result.facts == plain.facts and result.trace.hops == plain.trace.hops
        by_edge = ask(store, "jane", question=JANE, max_hops=2, beam_width=2, scoring="edge")
        assert by_edge.facts == plain.facts
        assert len(by_edge.trace.warnings) == 2

    def test_a_graph_with_vectors_is_read_without_an_embedder(self, build: Build) -> None:
        store = build(*jane(), embedder=offline())
        result = retriever(store, embedder=None, max_hops=2, beam_width=1).retrieve(JANE)
        assert "Acme Capital -[USES]-> Helios" in texts(result)
        [warning] = result.trace.warnings
        assert "embedder" in warning

    def test_an_embedder_that_fails_is_a_warning(self, build: Build) -> None:
        class Broken:
            name = "remote"
            dimension = 4

            def embed(self, texts: Sequence[str]) -> Any:
                raise RuntimeError("secret-key is wrong")

        store = build()
        write(store, edge("e1", "jane", "R", "b", src="Jane Doe", embedding=vec(1, 0, 0, 0)), embedder="remote")
        result = retriever(store, embedder=Broken(), scoring="edge").retrieve(JANE)
        assert texts(result) == ["Jane Doe -[R]-> b"]
        assert any("remote failed" in w for w in result.trace.warnings)
        assert "secret-key" not in str(result.trace.warnings)


class TestExplained:
    def test_each_hop_says_which_words_it_explains(self, build: Build) -> None:
        result = ask(build(*jane()), "jane", question=JANE, max_hops=2, beam_width=1)
        word = {w.text: (i, w.hop) for i, w in enumerate(result.trace.words)}
        assert word["Jane"][1] == word["Doe"][1] == 0
        first, second = result.trace.hops
        assert word["employer"][0] in [x.word for x in first.explains]
        assert word["use"][0] in [x.word for x in second.explains]
        assert word["use"][1] == 2
        for hop in result.trace.hops:
            assert [x.gain for x in hop.explains] == sorted((x.gain for x in hop.explains), reverse=True)

    def test_gain_is_what_a_fact_adds_to_its_path(self, build: Build) -> None:
        result = ask(build(*jane()), "jane", question=JANE, max_hops=2)
        parents = {c.fact.id: c for c in candidates(result, hop=1)}
        for c in candidates(result, hop=2):
            if not c.bridge:
                assert c.gain == pytest.approx(c.score - parents[c.chain[0]].score, abs=2e-6)
                assert sum(x.gain for x in c.explains) <= c.gain + 1e-5

    def test_a_fact_that_adds_nothing_explains_nothing(self, build: Build) -> None:
        store = build(edge("e1", "a", "SEES", "b"), edge("e2", "b", "SEES", "a2", dst="a"))
        [last] = candidates(ask(store, "a", max_hops=2), hop=2)
        assert last.gain < 0.01 and last.explains == () and last.fate == "kept"


class TestAttributes:
    VALUES = (
        edge("e1", "helios", HAS_ATTRIBUTE, "d1/status", key="status", dst="Active", doc="d1"),
        edge("e2", "helios", HAS_ATTRIBUTE, "d2/status", key="status", dst="active", doc="d2"),
        edge("e3", "helios", HAS_ATTRIBUTE, "d3/status", key="status", dst="retired", doc="d3"),
        edge("e4", "helios", HAS_ATTRIBUTE, "d1/owner", key="owner", dst="Active", doc="d1"),
    )

    def test_merge_by_key_and_folded_value(self, build: Build) -> None:
        result = ask(build(*self.VALUES), "helios")
        assert sorted(f.source_doc_ids for f in result.facts) == [("d1",), ("d1", "d2"), ("d3",)]
        assert {c.rank for c in candidates(result)} == {1, 2, 3}
        [merged] = [f for f in result.facts if len(f.edge_ids) == 2]
        assert merged.attribute and merged.relation == "status"
        assert merged.id == fact_id("helios", HAS_ATTRIBUTE, "status", "", "ACTIVE")

    def test_are_one_fact_from_a_value_too(self, build: Build) -> None:
        [fact] = ask(build(*self.VALUES), "d1/status").facts
        assert fact.edge_ids == ("e1", "e2")
        assert fact.source_doc_ids == ("d1", "d2")

    @pytest.mark.parametrize("seed", ["d1/status", "d2/status"])
    def test_have_the_ends_that_were_walked(self, build: Build, seed: str) -> None:
        """Whichever document's edge gives the words: what is drawn is a node that the walk reached."""
        result = ask(build(*self.VALUES), seed)
        [fact] = result.facts
        assert (fact.source_id, fact.target_id) == ("helios", seed)
        assert {edge["to"] for edge in graph_payload(result)[0]["edges"]} == {seed}
        assert read_run(run_json(result)) == result
