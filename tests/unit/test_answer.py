"""An answer in pieces from a result, through the real SDK; and the types that a model is asked for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kgcore import ConfigError, KnowledgeGraphRetriever, ModelError, Ontology, answered
from kgcore.models.chat import OpenAIChat
from kgcore.store import GraphStore
from kgcore.types import EntityType
from tests.chat_server import ChatServer
from tests.contract.graphs import edge
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
