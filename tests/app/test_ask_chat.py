"""The Ask page with a chat model set, which a scripted server plays."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.app.conftest import Open
from tests.app.test_ask import QUESTION, drawn
from tests.chat_server import ChatServer


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    with ChatServer() as running:
        monkeypatch.setenv("HOPSCOPE_CHAT_URL", running.url)
        monkeypatch.setenv("HOPSCOPE_CHAT_MODEL", "scripted")
        yield running


def test_the_answer_is_shown_above_its_facts(opened: Open, server: ChatServer) -> None:
    server.say("Helios, [that](https://example.invalid) is.")
    at = opened(q=QUESTION, seed_mode="Names in the question", summarize="true")
    assert not at.toggle(key="summarize").disabled
    assert drawn(at, "evidence")["evidence"]["answer"] == "Helios, [that](https://example.invalid) is."


def test_a_model_that_fails_is_a_warning_and_the_facts_stay(opened: Open, server: ChatServer) -> None:
    server.reply({"error": {"message": "no such model"}}, status=404)
    at = opened(q=QUESTION, seed_mode="Names in the question", summarize="true")
    evidence = drawn(at, "evidence")["evidence"]
    assert evidence["answer"] == ""
    assert evidence["facts"]
    assert evidence["trace"]["warnings"]


def test_without_a_model_a_link_cannot_ask_for_one(opened: Open) -> None:
    at = opened(q=QUESTION, seed_mode="Chat model", summarize="true")
    assert not at.error
    assert at.selectbox(key="seed_mode").value == "auto"
    assert drawn(at, "evidence")["evidence"]["facts"]
