"""Where the walk starts: the five ways in their order, and what never seeds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kgcore import ConfigError, Ontology
from kgcore.errors import ModelError
from kgcore.models.chat import OpenAIChat
from kgcore.store import GraphStore
from kgcore.types import Entity, EntityType, Retrieval, Seed
from tests.chat_server import ChatServer
from tests.contract.graphs import edge, hidden, only, write
from tests.data.build import graph, offline, retriever, texts

ALL = only("allowed_principals", "contains_any", ["all"])
NAMES = {
    "acme": "Acme",
    "acme-capital": "Acme Capital",
    "acme-partners": "Acme Capital Partners",
    "ibm": "IBM",
    "bob": "Bob",
    "city": "City",
    "first": "First State",
    "globex": "Globex",
    "kim-1": "Alex Kim",
    "kim-2": "Alex Kim",
    "mueller": "Jürgen Müller",
    "wang": "王晓梅",
    "whale": "蓝鲸证券",
    "layla": "ليلى حداد",
    "anna": "Анна Волкова",
    "priya": "प्रिया शर्मा",
    "tanaka": "田中太郎",
    "rnd": "Research AND Development",
    "not": "NOT-for-Profit Mandates",
    "fx": "FX/Rates Desk",
    "engine": "Trade-Matching Engine",
    "harbor": 'Project "Blue Harbor"',
    "sean": "Sean O'Hara",
    "sons": "O'Hara & Sons",
    "minus": "-Minus*",
}


@pytest.fixture(scope="module")
def named() -> Iterator[GraphStore]:
    """Entities with names of every kind, each joined to one that no question names."""
    store = graph(*(edge(f"e-{id_}", id_, "IN", "root", src=name, dst="Rootstock") for id_, name in NAMES.items()))
    yield store
    store.close()


@pytest.fixture(scope="module")
def trade() -> Iterator[GraphStore]:
    """A graph with vectors."""
    store = graph(
        edge("e1", "cars", "SELLS", "sedan", src="Car Manufacturer", dst="Sedan"),
        edge("e2", "bakery", "SELLS", "bread", src="Village Bakery", dst="Rye Bread"),
        edge("e3", "clinic", "TREATS", "flu", src="Children's Hospital", dst="Influenza"),
        edge("e4", "bank", "LENDS_TO", "bakery", src="Savings Bank", dst="Village Bakery"),
        entities=[
            Entity(id="cars", type="Company", name="Car Manufacturer"),
            Entity(id="bakery", type="Company", name="Village Bakery"),
        ],
        embedder=offline(),
    )
    yield store
    store.close()


def seeds(store: GraphStore, question: str = "Nothing in particular?", **options: Any) -> tuple[Seed, ...]:
    return retriever(store).retrieve(question, **options).trace.seeds


def ids(found: tuple[Seed, ...], *ways: str) -> list[str]:
    return [seed.entity_id for seed in found if not ways or seed.found_by in ways]


def warned(result: Retrieval, *parts: str) -> list[str]:
    return [w for w in result.trace.warnings if all(part in w for part in parts)]


class TestIds:
    def test_are_exact_and_keep_the_order_asked_for(self, named: GraphStore) -> None:
        found = seeds(named, entity_ids=["kim-2", "acme", "kim-2"])
        assert ids(found) == ["kim-2", "acme"]
        assert found[0] == Seed(
            entity_id="kim-2", name="Alex Kim", type="Thing", found_by="id", score=1.0, text="kim-2", degree=1
        )

    def test_come_before_every_other_way(self, trade: GraphStore) -> None:
        found = seeds(trade, "Village Bakery", entity_ids=["flu"], entities=["Savings Bank"], seed_mode="query")
        assert ids(found) == ["flu"]

    @pytest.mark.parametrize("wanted", ["nobody", "Acme", "ACME", "", " "])
    def test_that_are_not_there_are_an_error(self, named: GraphStore, wanted: str) -> None:
        with pytest.raises(ConfigError) as raised:
            seeds(named, entity_ids=["acme", wanted])
        assert raised.value.remedy
        assert not wanted.strip() or repr(wanted) in str(raised.value)

    def test_that_are_hidden_answer_as_those_that_are_not_there(self, build: Callable[..., GraphStore]) -> None:
        store = build(edge("e1", "a", "R", "b"), hidden("h1", "spy", "R", "a"))
        messages = []
        for wanted in ("spy", "nul"):
            with pytest.raises(ConfigError) as raised:
                retriever(store, filters=ALL).retrieve("Who?", entity_ids=[wanted])
            messages.append((str(raised.value).replace(wanted, "ID"), raised.value.remedy))
        assert messages[0] == messages[1]
        assert ids(retriever(store).retrieve("Who?", entity_ids=["spy"]).trace.seeds) == ["spy"]

    def test_that_the_callers_filter_hides_are_not_there(self, build: Callable[..., GraphStore]) -> None:
        store = build(edge("e1", "a", "R", "b", properties={"year": 2020}))
        with pytest.raises(ConfigError, match="'a'"):
            seeds(store, entity_ids=["a"], filters=only("year", ">", 2020))


class TestNames:
    def test_equal_ones_score_1_and_are_alone(self, named: GraphStore) -> None:
        [found] = seeds(named, entities=["acme capital"])
        assert (found.entity_id, found.found_by, found.score) == ("acme-capital", "name", 1.0)
        assert (found.name, found.text, found.degree) == ("Acme Capital", "acme capital", 1)

    @pytest.mark.parametrize(
        ("asked", "entity"),
        [
            ("Globx", "globex"),
            ("Jurgen Muller", "mueller"),
            ("Capital Partners", "acme-partners"),
            ("Волкова Анна", "anna"),
            ("Волкова", "anna"),
            ("王晓梅", "wang"),
            ("ليلى حداد", "layla"),
            ("प्रिया शर्मा", "priya"),
            ("research and development", "rnd"),
            ("Research AND Development", "rnd"),
            ("FX/Rates", "fx"),
            ("trade matching engine", "engine"),
            ('"Blue Harbor"', "harbor"),
            ("O’Hara Sean", "sean"),
            ("NOT-for-Profit", "not"),
            ("-Minus*", "minus"),
        ],
    )
    def test_are_fuzzy_in_any_script_and_signs_are_text(self, named: GraphStore, asked: str, entity: str) -> None:
        assert ids(seeds(named, entities=[asked])) == [entity]

    def test_all_words_of_a_name_count_and_any_of_the_names(self, named: GraphStore) -> None:
        assert ids(seeds(named, entities=["Acme Globex"])) == []
        assert ids(seeds(named, entities=["Globex", "Alex Kim"])) == ["globex", "kim-1", "kim-2"]

    @pytest.mark.parametrize("asked", ['"', "*", "AND", "OR NOT", "a:b", "~2", "(", "\\", "'; DROP TABLE edge; --"])
    def test_query_syntax_finds_nothing_and_breaks_nothing(self, named: GraphStore, asked: str) -> None:
        result = retriever(named).retrieve("Who?", entities=[asked])
        assert set(ids(result.trace.seeds)) <= {"rnd"}
        assert ids(seeds(named, entities=["Globex"])) == ["globex"]

    def test_that_match_nothing_seed_the_nearest_by_vector(self, trade: GraphStore) -> None:
        found = seeds(trade, entities=["automaker", "Savings Bank"])
        assert ids(found, "name") == ["bank"]
        nearest = [seed for seed in found if seed.found_by == "vector"]
        assert nearest[0].entity_id == "cars"
        assert {seed.text for seed in nearest} == {"automaker"}
        assert [s.score for s in nearest] == sorted((s.score for s in nearest), reverse=True)
        assert nearest[0].score < 1

    def test_that_match_nothing_are_said_where_there_are_no_vectors(self, named: GraphStore) -> None:
        result = retriever(named).retrieve("Who?", entities=["automaker"])
        assert result.trace.seeds == () and result.facts == ()
        assert warned(result, "'automaker'")
        assert result.content == "No matching facts found."

    def test_come_before_the_question(self, trade: GraphStore) -> None:
        for mode in ("auto", "mentions", "query"):
            assert ids(seeds(trade, "Village Bakery", entities=["Influenza"], seed_mode=mode)) == ["flu"]

    def test_do_not_depend_on_how_many_vectors_may_seed(self, trade: GraphStore) -> None:
        result = retriever(trade, vector_top_k=0).retrieve("Who?", entities=["Savings Bank"])
        assert ids(result.trace.seeds) == ["bank"]


class TestQuery:
    def test_seeds_the_nearest_to_the_question(self, trade: GraphStore) -> None:
        search = retriever(trade, seed_by_query=True, vector_top_k=3)
        found = search.retrieve("Where can I buy a loaf from Savings Bank?").trace.seeds
        assert len(found) == 3 and {seed.found_by for seed in found} == {"vector"}
        assert [s.score for s in found] == sorted((s.score for s in found), reverse=True)
        assert {seed.text for seed in found} == {""}
        assert search.retrieve("Who?", seed_mode="mentions").trace.settings.seed_mode == "mentions"

    def test_without_vectors_falls_back_to_mentions_and_says_so(self, named: GraphStore) -> None:
        result = retriever(named, seed_by_query=True).retrieve("Where is Globex?")
        assert ids(result.trace.seeds) == ["globex"]
        assert warned(result, "vectors")


ONTOLOGY = Ontology(entity_types=(EntityType(name="Shopkeeper"), EntityType(name="Vehicle")))


class TestModel:
    def test_reads_the_names_in_the_question(self, trade: GraphStore, server: ChatServer, chat: OpenAIChat) -> None:
        server.say(json.dumps({"names": ["Savings Bank", "automaker"]}))
        found = retriever(trade, llm=chat, ontology=ONTOLOGY).retrieve("Does Village Bakery bank?").trace.seeds
        assert ids(found, "name") == ["bank"]
        assert ids(found, "vector")[0] == "cars"
        assert "mention" not in {seed.found_by for seed in found}

    def test_is_limited_to_the_ontologys_types(self, trade: GraphStore, server: ChatServer, chat: OpenAIChat) -> None:
        server.say(json.dumps({"names": ["Savings Bank"]}))
        retriever(trade, llm=chat, ontology=ONTOLOGY).retrieve("Who lends?")
        asked = json.dumps(server.requests[0].body)
        assert "Shopkeeper, Vehicle" in asked and "Who lends?" in asked
        assert "Company" not in asked

    def test_without_an_ontology_is_told_visible_types_only(
        self, build: Callable[..., GraphStore], server: ChatServer, chat: OpenAIChat
    ) -> None:
        types = {"a": "Gardener", "b": "Orchard", "spy": "Agency"}
        store = build(
            edge("e1", "a", "TENDS", "b"),
            hidden("h1", "spy", "WATCHES", "a", src="Undercover"),
            entities=[Entity(id=id_, type=type_, name=id_) for id_, type_ in types.items()],
        )
        server.say(json.dumps({"names": ["Undercover"]}))
        result = retriever(store, llm=chat, filters=ALL).retrieve("Who tends Orchard?")
        asked = json.dumps(server.requests[0].body)
        assert "Gardener, Orchard" in asked
        for secret in ("Agency", "WATCHES", "board", "allowed_principals"):
            assert secret not in asked
        assert warned(result, "'Undercover'")
        assert "spy" not in ids(result.trace.seeds)

    @pytest.mark.parametrize(
        "answer", ["I cannot help with that.", '{"names": "Savings Bank"}', '{"other": []}', "[]", "", '{"names": [1']
    )
    def test_that_answers_nonsense_falls_through_to_mentions(
        self, trade: GraphStore, server: ChatServer, chat: OpenAIChat, answer: str
    ) -> None:
        server.say(answer)
        result = retriever(trade, llm=chat, ontology=ONTOLOGY).retrieve("Who lends to Village Bakery?")
        assert ids(result.trace.seeds, "mention") == ["bakery"]
        assert warned(result, "LLM", "mentions")

    def test_that_fails_falls_through_to_mentions(
        self, trade: GraphStore, server: ChatServer, chat: OpenAIChat
    ) -> None:
        server.fail(401, "no such key")
        result = retriever(trade, llm=chat).retrieve("Who lends to Village Bakery?", seed_mode="llm")
        assert ids(result.trace.seeds, "mention") == ["bakery"]
        assert warned(result, "LLM unavailable", "mentions")
        assert [seed for seed in result.trace.seeds if seed.found_by == "vector"]

    @pytest.mark.parametrize("names", [[], ["", " "], [1, None]])
    def test_that_names_nothing_falls_through_and_says_so(
        self, trade: GraphStore, server: ChatServer, chat: OpenAIChat, names: list[Any]
    ) -> None:
        server.say(json.dumps({"names": names}))
        result = retriever(trade, llm=chat).retrieve("Who lends to Village Bakery?")
        assert ids(result.trace.seeds, "mention") == ["bakery"]
        assert warned(result, "LLM")

    def test_whose_names_are_nowhere_falls_through(
        self, named: GraphStore, server: ChatServer, chat: OpenAIChat
    ) -> None:
        server.say(json.dumps({"names": ["Wonderland Ltd"]}))
        result = retriever(named, llm=chat).retrieve("Where is Globex?")
        assert ids(result.trace.seeds) == ["globex"]
        assert warned(result, "'Wonderland Ltd'")

    @pytest.mark.parametrize(
        "options",
        [{"seed_mode": "mentions"}, {"seed_mode": "query"}, {"entities": ["Sedan"]}, {"entity_ids": ["sedan"]}],
        ids=str,
    )
    def test_is_not_asked_where_another_way_was_chosen(
        self, trade: GraphStore, server: ChatServer, chat: OpenAIChat, options: dict[str, Any]
    ) -> None:
        retriever(trade, llm=chat).retrieve("Who sells a Sedan?", **options)
        assert server.requests == []

    def test_that_is_missing_is_an_error_where_it_was_asked_for(self, trade: GraphStore) -> None:
        with pytest.raises(ConfigError) as raised:
            retriever(trade).retrieve("Who?", seed_mode="llm")
        assert "HOPSCOPE_CHAT_URL" in raised.value.remedy

    def test_any_chat_model_will_do(self, named: GraphStore) -> None:
        class Broken:
            name = "broken"

            def complete(self, system: str, user: str) -> str:
                raise ModelError("Off.", remedy="Switch it on.")

            def complete_json(self, system: str, user: str, schema: object) -> dict[str, Any]:
                raise ModelError("Off.", remedy="Switch it on.")

        result = retriever(named, llm=Broken()).retrieve("Where is Globex?")
        assert ids(result.trace.seeds) == ["globex"]
        assert warned(result, "Off.")


MENTIONS = [
    ("Is Acme rich?", ["acme"]),
    ("Is Acme Capital rich?", ["acme-capital"]),
    ("Is ACME   capital partners' office open?", ["acme-partners"]),
    ("Is Acme Capital owned by Acme?", ["acme-capital", "acme"]),
    ("What did IBM buy?", ["ibm"]),
    ("what did ibm buy?", []),
    ("Who is Bob?", ["bob"]),
    ("who is bob?", []),
    ("Bob who?", []),
    ("In which city does it rain?", []),
    ("In which City was the First State?", ["first"]),
    ("Which team is Alex Kim in?", ["kim-1", "kim-2"]),
    ("Where does Jürgen Müller work?", ["mueller"]),
    ("Where does Jurgen Muller work?", ["mueller"]),
    ("Who owns Globxe?", ["globex"]),
    ("who owns globxe?", []),
    ("who owns globex?", ["globex"]),
    ("Who owns Plobex?", []),
    ("王晓梅工作的公司使用什么系统?", ["wang"]),
    ("请问蓝鲸证券的王晓梅在吗", ["whale", "wang"]),
    ("أين تعمل ليلى حداد؟", ["layla"]),
    ("В каком городе работает Анна Волкова?", ["anna"]),
    ("प्रिया शर्मा कहाँ काम करती हैं?", ["priya"]),
    ("田中太郎さんはどこで働いていますか。", ["tanaka"]),
    ("Which project does Research AND Development work on?", ["rnd"]),
    ("which project does research and development work on?", ["rnd"]),
    ("Who leads NOT-for-Profit Mandates?", ["not"]),
    ("Where does the FX/Rates Desk sit?", ["fx"]),
    ("On what does the Trade-Matching Engine depend?", ["engine"]),
    ("On what does the trade matching engine depend?", ["engine"]),
    ('Who leads Project "Blue Harbor"?', ["harbor"]),
    ("Who leads Project “Blue Harbor”?", ["harbor"]),
    ("Who leads project blue harbor?", ["harbor"]),
    ("Who employs Sean O'Hara?", ["sean"]),
    ("Who employs Sean O’Hara?", ["sean"]),
    ("Where is O'Hara & Sons?", ["sons"]),
    ("???", []),
    ("the of and", []),
]


class TestMentions:
    @pytest.mark.parametrize(("question", "expected"), MENTIONS, ids=[ascii(q) for q, _ in MENTIONS])
    def test_case(self, named: GraphStore, question: str, expected: list[str]) -> None:
        found = seeds(named, question)
        assert ids(found) == expected
        assert {seed.found_by for seed in found} <= {"mention"}
        for seed in found:
            assert seed.text in question
            assert 0 < seed.score <= 1

    def test_exact_names_score_1_and_misspelt_ones_less(self, named: GraphStore) -> None:
        exact, misspelt = seeds(named, "Where is Globex?"), seeds(named, "Where is Globxe?")
        assert exact[0].score == 1.0 and exact[0].text == "Globex"
        assert misspelt[0].score < 1.0 and misspelt[0].text == "Globxe" and misspelt[0].name == "Globex"

    def test_the_nearest_by_vector_follow_and_no_entity_comes_twice(self, trade: GraphStore) -> None:
        found = retriever(trade, vector_top_k=4).retrieve("Who lends to Village Bakery?").trace.seeds
        assert found[0].entity_id == "bakery" and found[0].found_by == "mention"
        assert {seed.found_by for seed in found[1:]} == {"vector"}
        assert len(set(ids(found))) == len(found)
        assert ids(retriever(trade, vector_top_k=0).retrieve("Who lends to Village Bakery?").trace.seeds) == ["bakery"]

    def test_a_name_of_more_than_eight_words_or_a_thousand_words_is_no_trouble(self, named: GraphStore) -> None:
        question = ("Globex " * 250).strip()
        assert ids(seeds(named, question)) == ["globex"]


class TestHidden:
    def test_entities_never_seed_and_are_dropped_before_the_cut(self, build: Callable[..., GraphStore]) -> None:
        crowd = [hidden(f"h{i}", f"spy{i}", "KNOWS", "x", src="Car Maker", dst="X") for i in range(8)]
        store = build(
            edge("e1", "cars", "SELLS", "sedan", src="Car Manufacturer", dst="Sedan"),
            edge("e2", "trucks", "SELLS", "lorry", src="Truck Manufacturer", dst="Lorry"),
            *crowd,
            embedder=offline(),
        )
        search = retriever(store, filters=ALL, vector_top_k=2)
        for options in ({"entities": ["Car Maker"]}, {"seed_mode": "query"}, {}):
            found = search.retrieve("Where is Car Maker?", **options).trace.seeds
            assert len(found) == 2 and "cars" in ids(found)
        everybody = retriever(store, vector_top_k=2).retrieve("Where is Car Maker?", entities=["Car Maker"])
        assert ids(everybody.trace.seeds) == [f"spy{i}" for i in range(5)]

    def test_names_that_only_hidden_edges_give_match_nothing(self, build: Callable[..., GraphStore]) -> None:
        store = build(
            edge("e1", "a", "R", "b", src="Alpha One", dst="Beta"),
            hidden("h1", "a", "R", "c", src="Codename Bluebird", dst="Gamma"),
            embedder=offline(),
        )
        search = retriever(store, filters=ALL, vector_top_k=1)
        for question in ("Who is Codename Bluebird?", "Who is Codename Bluebirt?"):
            assert "mention" not in {s.found_by for s in search.retrieve(question).trace.seeds}
        named = search.retrieve("Who?", entities=["Codename Bluebird"]).trace.seeds
        assert {s.found_by for s in named} == {"vector"}
        [seed] = search.retrieve("Who?", entity_ids=["a"]).trace.seeds
        assert (seed.name, seed.degree) == ("Alpha One", 1)

    def test_a_seed_has_its_visible_degree(self, build: Callable[..., GraphStore]) -> None:
        store = build(
            *(edge(f"e{i}", "a", "R", f"b{i}") for i in range(3)),
            *(hidden(f"h{i}", "a", "R", f"c{i}") for i in range(4)),
        )
        assert retriever(store, filters=ALL).retrieve("Who?", entities=["a"]).trace.seeds[0].degree == 3
        assert retriever(store).retrieve("Who?", entities=["a"]).trace.seeds[0].degree == 7


def test_another_embedders_vectors_seed_nothing(build: Callable[..., GraphStore]) -> None:
    store = build()
    write(store, edge("e1", "a", "R", "b", src="Alpha Centauri"), embedder="toy")
    result = retriever(store).retrieve("Where is Alpha Centauri?", seed_mode="query")
    assert ids(result.trace.seeds) == ["a"] and texts(result) == ["Alpha Centauri -[R]-> b"]
