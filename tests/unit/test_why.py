"""Why something is not in a result, on small graphs made so that one step alone leaves it out."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from kgcore.models.chat import OpenAIChat
from kgcore.retrieve import WhyNot
from kgcore.retrieve.asking import Asking
from kgcore.store import GraphStore
from kgcore.types import HAS_ATTRIBUTE, Retrieval
from tests.chat_server import ChatServer
from tests.contract.graphs import edge, fact_of
from tests.data.build import candidates, offline, retriever

Build = Callable[..., GraphStore]
RIVER = "Which way does the river run?"
RIVERS = [edge(f"r{i}", "n0", "FLOWS_TO", f"a{i}", dst=f"River {i}") for i in range(4)]
ON = [edge(f"o{i}", f"a{i}", "RUNS_TO", f"b{i}", src=f"River {i}", dst=f"Delta {i}") for i in range(4)]
MANY = [edge(f"m{i:02}", "n0", "FLOWS_TO", f"c{i:02}", dst=f"River {i}") for i in range(40)]
HUB = [edge(f"h{i:04}", "hub", "FLOWS_TO", f"s{i:04}", dst=f"River {i}") for i in range(1_100)]


def passing(server: ChatServer, *numbers: int) -> None:
    server.say(json.dumps({"numbers": numbers}))


def read_by(chat: OpenAIChat, store: GraphStore, **options: object) -> Retrieval:
    asking = retriever(store, llm=chat)
    return asking.retrieve(RIVER, **{"entity_ids": ["n0"], "llm_filter": True, "top_k": 50, **options})


class TestTheModelsNames:
    AUTO = "Which lighthouse is near the harbour of the automaker?"

    def test_seeds_nearest_to_a_name_that_a_model_gave_stay(
        self, build: Build, server: ChatServer, chat: OpenAIChat
    ) -> None:
        makes = [
            edge(f"x{i}", "cm", relation, end, src="Car Manufacturer", dst=end.title())
            for i, (relation, end) in enumerate([("MAKES", "cars"), ("BASED_IN", "detroit"), ("OWNS", "plant")])
        ]
        others = [edge(f"y{i}", f"z{i}", "NEAR", f"q{i}", src=f"Harbour {i}", dst=f"Lighthouse {i}") for i in range(8)]
        server.say(json.dumps({"names": ["automaker"]}))
        asking = retriever(build(*makes, *others, embedder=offline()), llm=chat, vector_top_k=1)
        result = asking.retrieve(self.AUTO, beam_width=1, top_k=5)
        assert [(seed.name, seed.found_by) for seed in result.trace.seeds] == [("Car Manufacturer", "vector")]
        for cut in candidates(result, "beam_cut"):
            why = asking.why_not(result, cut.entity_id)
            assert (why.reason, why.beam_width) == ("beam", cut.rank)
        assert len(server.requests) == 1


class TestTheModelsFilter:
    def test_what_passed_and_the_beam_cut_is_the_beams(
        self, build: Build, server: ChatServer, chat: OpenAIChat
    ) -> None:
        passing(server, 1, 2, 4)
        store = build(*RIVERS)
        result = read_by(chat, store, beam_width=1)
        cut = candidates(result, "beam_cut")[-1]
        why = retriever(store, llm=chat).why_not(result, cut.entity_id)
        assert (why.reason, why.candidate, why.beam_width, why.smallest) == ("beam", cut, 3, True)
        assert len(server.requests) == 1  # it is not asked again

    def test_what_did_not_pass_is_the_models_read_or_not(
        self, build: Build, server: ChatServer, chat: OpenAIChat
    ) -> None:
        passing(server, *range(1, 30))
        result = read_by(chat, build(*MANY), beam_width=50)
        asking = retriever(build(*MANY), llm=chat)
        cut = candidates(result, "llm_cut")
        whys = [asking.why_not(result, c.entity_id) for c in cut]
        assert {why.reason for why in whys} == {"llm_filter"} and [why.candidate for why in whys] == cut
        assert [c.rank for c in cut] == list(range(30, 41))

    def test_what_it_let_pass_is_walked_on_from_again(self, build: Build, server: ChatServer, chat: OpenAIChat) -> None:
        """Where one passed, hop 1 keeps that one whatever the width, and hop 2 is what the model was given."""
        passing(server, 1)
        passing(server, 1, 2, 3)
        store = build(*RIVERS, *(edge(f"p{i}", f"a{i % 4}", "RUNS_TO", f"b{i}", dst=f"Delta {i}") for i in range(16)))
        result = read_by(chat, store, beam_width=2, max_hops=2)
        cut = candidates(result, "beam_cut")[0]
        why = retriever(store, llm=chat).why_not(result, cut.entity_id)
        assert (why.reason, why.candidate, why.beam_width, why.smallest) == ("beam", cut, 3, True)
        assert len(server.requests) == 2

    def test_no_width_is_said_where_only_the_model_could_tell(
        self, build: Build, server: ChatServer, chat: OpenAIChat
    ) -> None:
        passing(server, 1, 3)
        passing(server, 1)
        store = build(*RIVERS, *ON)
        result = read_by(chat, store, beam_width=1, max_hops=2)
        cut = candidates(result, "beam_cut", hop=1)[0]
        behind = next(e.target_id for e in ON if e.source_id == cut.entity_id)
        asking = retriever(store, llm=chat)
        why = asking.why_not(result, behind)
        assert (why.reason, why.candidate, why.beam_width) == ("beam", cut, None)
        assert asking.why_not(result, cut.entity_id).beam_width == 2
        assert len(server.requests) == 2

    def test_a_model_that_failed_is_not_to_blame(self, build: Build, server: ChatServer, chat: OpenAIChat) -> None:
        server.say("I cannot.")
        result = read_by(chat, build(*MANY), beam_width=1)
        cut = candidates(result, "beam_cut")[-1]
        why = retriever(build(*MANY), llm=chat).why_not(result, cut.entity_id)
        assert cut.rank == 40 and (why.reason, why.beam_width) == ("beam", 40)


class TestAHub:
    def test_any_fact_of_it_is_known(self, build: Build) -> None:
        asking = retriever(build(*HUB))
        result = asking.retrieve("Which river?", entity_ids=["hub"], beam_width=40, top_k=40)
        told = {fact.id: asking.why_not(result, "hub", fact_id=fact.id).reason for fact in result.facts}
        assert set(told.values()) == {"in_result"}
        facts = {fact_of(e): e for e in HUB}
        last = max(facts)  # what is read first is by fact id
        assert asking.why_not(result, "hub", fact_id=last).reason != "unknown"
        assert asking.why_not(result, facts[last].target_id, fact_id=last).reason != "unknown"

    def test_a_fact_of_another_entity_is_not_one_of_it(self, build: Build) -> None:
        asking = retriever(build(*HUB, *RIVERS))
        result = asking.retrieve(RIVER, entity_ids=["n0"])
        assert asking.why_not(result, "hub", fact_id=result.facts[0].id) == WhyNot(reason="unknown")

    def test_past_the_best_200_cut_it_is_the_beam_still(self, build: Build) -> None:
        asking = retriever(build(*HUB))
        whole = asking.retrieve("Which river?", entity_ids=["hub"], beam_width=800, top_k=800)
        result = asking.retrieve("Which river?", entity_ids=["hub"], beam_width=10, top_k=20)
        deep = next(c for c in candidates(whole, "kept") if c.rank == 450)
        assert result.trace.hops[0].left_out and all(c.fact.id != deep.fact.id for c in candidates(result))
        why = asking.why_not(result, deep.entity_id)
        assert (why.reason, why.beam_width, why.smallest) == ("beam", 450, True)

    def test_beyond_the_shortlist_it_is_the_shortlist(self, build: Build) -> None:
        asking = retriever(build(*HUB))
        result = asking.retrieve("Which river?", entity_ids=["hub"], beam_width=800, top_k=800)
        seen = {c.entity_id for c in candidates(result)}
        missed = next(e.target_id for e in HUB if e.target_id not in seen)
        assert asking.why_not(result, missed).reason == "shortlist"

    def test_the_one_on_the_way_is_named(self, build: Build) -> None:
        ways = [
            edge("a", "s", "TO", "m", dst="Middle"),
            edge("b", "m", "TO", "h1", src="Middle", dst="Hub One"),
            edge("c", "m", "TO", "h2", src="Middle", dst="Hub Two"),
        ]
        first = [edge(f"p{i}", "h1", "X", f"p{i}", src="Hub One") for i in range(5)]
        second = [edge(f"q{i}", "h2", "X", f"q{i}", src="Hub Two") for i in range(5)]
        asking = retriever(build(*ways, *first, *second))
        result = asking.retrieve("What to?", entity_ids=["s"], max_hops=3, top_k=30, hub_limit=3)
        whys = [asking.why_not(result, name) for name in ("p1", "q1")]
        assert [why.reason for why in whys] == ["hub", "hub"]
        assert [why.candidate.entity_name for why in whys if why.candidate] == ["Hub One", "Hub Two"]


class TestWhatItIsCalled:
    def test_a_path_goes_on_from_an_alias(self, build: Build) -> None:
        lived = edge("l", "nap", "LIVED_IN", "par", src="Napoleon", dst="Saint Helena Parish")
        part = edge("p", "sh", "PART_OF", "brit", src="Saint Helena", dst="British Empire")
        ruled = edge("q", "brit", "RULED_BY", "vic", src="British Empire", dst="Queen Victoria")
        asking = retriever(build(lived, part, ruled))
        for aliases, ids in ((True, ["l", "p", "q"]), (False, [])):
            result = asking.retrieve("Where did Napoleon live?", entity_ids=["nap"], aliases=aliases)
            why = asking.why_not(result, "vic")
            assert (why.reason, [e.id for e in why.path]) == ("no_path", ids)
            assert [alias.name for alias in why.aliases] == ["Saint Helena"] * aliases
        longer = asking.retrieve("Where did Napoleon live?", entity_ids=["nap"], max_hops=3)
        assert asking.why_not(longer, "vic").reason == "in_result"  # as far as the path said

    def test_each_value_node_of_an_attribute_is_its_fact(self, build: Build) -> None:
        age = [
            edge(f"k{i}", "p", HAS_ATTRIBUTE, f"v{i}", src="Jane", dst="42", key="age", doc=f"d{i}") for i in range(2)
        ]
        asking = retriever(build(*age, edge("w", "p", "WORKS_AT", "acme", src="Jane", dst="Acme")))
        for question, beam, reason in (("What age is Jane?", 5, "in_result"), ("Where does Jane work?", 1, "beam")):
            result = asking.retrieve(question, entity_ids=["p"], beam_width=beam)
            whys = [asking.why_not(result, f"v{i}") for i in range(2)]
            assert [why.reason for why in whys] == [reason] * 2
            assert {why.candidate.fact.id for why in whys if why.candidate} == {fact_of(age[0])}


class TestWidths:
    def test_few_are_tried_and_it_is_said_which(self, build: Build) -> None:
        """The end of a chain, whose first fact is a hundred and first among rivers."""
        asked = {"question": "Which river?", "entity_ids": ["hub"], "top_k": 300}
        ranked = candidates(retriever(build(*HUB[:300])).retrieve(**asked, beam_width=300))
        first = next(c for c in ranked if c.rank == 101)
        on = edge("t", first.entity_id, "LEADS_TO", "end", src=first.entity_name)
        asking = retriever(build(*HUB[:300], on))
        why = asking.why_not(asking.retrieve(**asked, beam_width=3, max_hops=2), "end")
        assert why.reason == "beam" and why.candidate and why.candidate.fact.id == first.fact.id
        kept = [
            any(c.entity_id == "end" for c in candidates(asking.retrieve(**asked, beam_width=w, max_hops=2), "kept"))
            for w in (100, 101)
        ]
        assert kept == [False, True] and why.beam_width == 101 and not why.smallest
        assert 100 in why.tried and len(why.tried) < 32 and max(why.tried) == 128

    def test_what_a_walk_looked_at_is_not_held(self, build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
        held: list[int] = []
        forget = Asking.forget

        def forgotten(self: Asking) -> None:
            forget(self)
            held.append(sum(map(len, self._looks.values())) + len(self._walks))

        monkeypatch.setattr(Asking, "forget", forgotten)
        asking = retriever(build(*RIVERS, *ON))
        result = asking.retrieve(RIVER, entity_ids=["n0"], beam_width=1, max_hops=2)
        asking.why_not(result, candidates(result, "beam_cut")[0].entity_id)
        assert held and max(held) <= 1  # what the hop from the seeds looked at

    def test_it_ends_when_it_is_told_to(self, build: Build) -> None:
        class Enough(Exception):
            pass

        ticks: list[int] = []

        def tick() -> None:
            ticks.append(1)
            if len(ticks) == 3:
                raise Enough

        asking = retriever(build(*HUB[:50]))
        result = asking.retrieve("Which river?", entity_ids=["hub"], beam_width=1, max_hops=2)
        with pytest.raises(Enough):
            asking.why_not(result, candidates(result, "beam_cut")[-1].entity_id, tick=tick)
        assert len(ticks) == 3
