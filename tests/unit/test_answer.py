"""An answer in pieces from a result, through the real SDK; and the types that a model is asked for."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator

import pytest

from kgcore import ConfigError, KnowledgeGraphRetriever, ModelError, Ontology, answered, read_run, run_json
from kgcore.models.chat import OpenAIChat
from kgcore.store import GraphStore
from kgcore.types import Entity, EntityType, RelationType
from tests.chat_server import ChatServer
from tests.contract.graphs import PUBLIC, edge, hidden, only
from tests.data.build import JANE, graph, offline, retriever


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        yield running


@pytest.fixture
def store() -> Iterator[GraphStore]:
    store = graph(
        edge("e1", "jane", "WORKS_AT", "acme", src="Jane Doe", dst="Acme"),
        edge("e2", "acme", "USES", "helios", src="Acme", dst="Helios"),
        embedder=offline(),
    )
    yield store
    store.close()


def asking(store: GraphStore, server: ChatServer, ontology: Ontology | None = None) -> KnowledgeGraphRetriever:
    return retriever(store, llm=OpenAIChat(base_url=server.url, model="m"), ontology=ontology, max_hops=2)


def test_an_answer_comes_in_pieces_and_is_put_into_the_result(store: GraphStore, server: ChatServer) -> None:
    search = asking(store, server)
    result = search.retrieve(JANE, seed_mode="mentions")
    server.stream(["<th", "ink>hm</think>It is ", "Helios."])
    pieces = list(search.answer(result))
    assert "".join(pieces) == "It is Helios."
    assert len(pieces) > 1
    with_answer = answered(result, "".join(pieces))
    assert (with_answer.content, with_answer.context) == ("It is Helios.", result.content)
    assert with_answer.facts == result.facts
    asked = server.requests[0].body["messages"][1]["content"]
    assert JANE in asked
    assert "Acme -[USES]-> Helios" in asked


def test_it_is_the_answer_that_retrieve_gives(store: GraphStore, server: ChatServer) -> None:
    search = asking(store, server)
    server.say("It is Helios.")
    whole = search.retrieve(JANE, seed_mode="mentions", summarize=True)
    assert whole == answered(search.retrieve(JANE, seed_mode="mentions"), "It is Helios.")


def test_nothing_is_asked_about_no_facts(store: GraphStore, server: ChatServer) -> None:
    search = asking(store, server)
    empty = search.retrieve("Who?", entity_ids=["jane"], relations=["NOTHING"])
    assert list(search.answer(empty)) == []
    assert answered(empty, "  ") == empty


def test_a_server_that_fails_is_a_model_error(store: GraphStore, server: ChatServer) -> None:
    search = asking(store, server)
    server.reply({"error": {"message": "no"}}, status=404)
    with pytest.raises(ModelError):
        list(search.answer(search.retrieve(JANE, seed_mode="mentions")))


def test_without_a_model_it_says_what_it_needs(store: GraphStore) -> None:
    search = retriever(store)
    with pytest.raises(ConfigError, match="chat model"):
        search.answer(search.retrieve(JANE))


def test_a_model_is_asked_for_the_types_of_the_call(store: GraphStore, server: ChatServer) -> None:
    ontology = Ontology(entity_types=(EntityType(name="Person", description="A human."), EntityType(name="System")))
    search = asking(store, server, ontology)
    server.say('{"names": ["Helios"]}')
    result = search.retrieve(JANE, seed_mode="llm", entity_types=["System", "Nonsense"])
    assert result.trace.settings.entity_types == ("System", "Nonsense")
    assert any("1 of 2 entity types are not known" in warning for warning in result.trace.warnings)
    prompt = server.requests[0].body["messages"][0]["content"]
    assert "System" in prompt
    assert "Person" not in prompt
    server.say('{"names": ["Helios"]}')
    search.retrieve(JANE, seed_mode="llm")
    assert "A human." in server.requests[1].body["messages"][0]["content"]


class TestAnswered:
    def test_is_summarized_and_without_thoughts_or_half_characters(self, store: GraphStore) -> None:
        result = retriever(store, max_hops=2).retrieve(JANE)
        with_answer = answered(result, "Hm.</think>\nHelios \ud83d ")
        assert with_answer.content == "Helios ?" and with_answer.context == "\n".join(f.text for f in result.facts)
        assert with_answer.trace.settings.summarize and not result.trace.settings.summarize
        assert read_run(run_json(with_answer)) == with_answer
        assert answered(with_answer, "Acme.").context == with_answer.context
        assert answered(result, "<think>Hm.</think> ") is result

    def test_is_made_from_what_it_was_made_from_before(self, store: GraphStore, server: ChatServer) -> None:
        search = asking(store, server)
        result = search.retrieve(JANE, seed_mode="mentions")
        for run in (result, answered(result, "It is Atlas.")):
            server.stream(["Helios"])
            assert list(search.answer(run)) == ["Helios"]
        first, second = (request.body["messages"] for request in server.requests)
        assert first == second
        assert first[1]["content"].count("Acme -[USES]-> Helios") == 1

    def test_closed_early_ends_the_writing(self, store: GraphStore, server: ChatServer) -> None:
        search = asking(store, server)
        server.stream(itertools.repeat("and so on "))
        with contextlib.closing(search.answer(search.retrieve(JANE, seed_mode="mentions"))) as pieces:
            next(pieces)
        assert server.gone.wait(10)


LOCK = only("allowed_principals", "contains_any", ["all"])
TYPES = {"a": "Gardener", "b": "Orchard", "spy": "Agency"}


class TestTypes:
    @pytest.fixture
    def orchard(self) -> Iterator[GraphStore]:
        store = graph(
            edge("e1", "a", "TENDS", "b", properties={**PUBLIC, "year": 2020}),
            hidden("h1", "spy", "WATCHES", "a", src="Undercover"),
            entities=[Entity(id=id_, type=type_, name=id_) for id_, type_ in TYPES.items()],
        )
        yield store
        store.close()

    @pytest.mark.parametrize("asked", [["Agency"], ["Nonsense"], ["agency"]])
    def test_a_hidden_one_is_as_one_that_there_is_not(
        self, orchard: GraphStore, server: ChatServer, asked: list[str]
    ) -> None:
        search = retriever(orchard, llm=OpenAIChat(base_url=server.url, model="m"), filters=LOCK)
        server.say('{"names": []}')
        result = search.retrieve("Who tends b?", entity_types=asked)
        assert result.trace.warnings[0] == (
            "1 of 1 entity types are not known and ignored. Known: Gardener, Orchard."
        )  # fmt: skip
        assert "types count: Gardener, Orchard." in server.requests[0].body["messages"][0]["content"]

    def test_one_that_the_callers_filter_leaves_out_is_known(self, orchard: GraphStore, server: ChatServer) -> None:
        search = retriever(orchard, llm=OpenAIChat(base_url=server.url, model="m"), filters=LOCK)
        server.say('{"names": []}')
        result = search.retrieve("Who?", entity_types=["Orchard"], filters=only("year", ">", 2020))
        assert not any("types" in warning for warning in result.trace.warnings)
        assert "types count: Orchard." in server.requests[0].body["messages"][0]["content"]

    def test_are_explained_with_how_they_are_related_each_in_a_line(
        self, store: GraphStore, server: ChatServer
    ) -> None:
        ontology = Ontology(
            entity_types=(
                EntityType(name="Person", description="A human\nbeing: {types}."),
                EntityType(name="Two\nlines"),
                EntityType(name="City", description="A place."),
            ),
            relation_types=(
                RelationType(name="KNOWS", source=("Person",), target=("Person", "City")),
                RelationType(name="OWNS", description="Has\nbought."),
                RelationType(name="NEAR", source=("City",), target=("City",)),
            ),
        )
        search = asking(store, server, ontology)
        server.say('{"names": ["Acme"]}')
        search.retrieve(JANE, entity_types=["Person", "Two\nlines"])
        first, *lines = server.requests[0].body["messages"][0]["content"].partition("\n\n")[0].splitlines()
        assert first.endswith("types count: Person, Two lines.")
        assert lines == [
            "What the types mean:",
            "- Person: A human being: {types}.",
            "How entities are related:",
            "- Person -[KNOWS]-> Person/City",
            "- any -[OWNS]-> any: Has bought.",
        ]

    def test_many_are_not_all_named(self, server: ChatServer, store: GraphStore) -> None:
        ontology = Ontology(entity_types=tuple(EntityType(name=f"Type{i}") for i in range(40)))
        server.say('{"names": ["Acme"]}')
        result = asking(store, server, ontology).retrieve(JANE, entity_types=["Nonsense", "Type3"])
        [warning] = result.trace.warnings
        assert warning.endswith("Type29, ….")

    def test_are_of_no_account_where_no_model_is_asked(self, store: GraphStore) -> None:
        result = retriever(store).retrieve(JANE, entity_types=["Nonsense"])
        assert result.trace.warnings == () and result.facts

    def test_are_an_argument_of_run(self, store: GraphStore) -> None:
        plain = retriever(store).run({"query": JANE, "entity_types": ["Person"]})
        assert plain["trace"]["settings"]["entity_types"] == ["Person"]
        for wrong in (5, [1], [""], ["a"] * 51):
            with pytest.raises(ConfigError, match="entity_types"):
                retriever(store).run({"query": JANE, "entity_types": wrong})


def test_names_that_a_model_finds_are_whole_characters(store: GraphStore, server: ChatServer) -> None:
    server.say('{"names": ["Helios\\ud83d", "Acme"]}')
    result = asking(store, server).retrieve(JANE)
    assert {seed.text for seed in result.trace.seeds} >= {"Acme"}
    assert read_run(run_json(result)) == result
