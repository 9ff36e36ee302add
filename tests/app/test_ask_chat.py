"""The Ask page with a chat model set, which a scripted server plays."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.conftest import Open
from tests.app.test_ask import QUESTION, drawn, facts
from tests.chat_server import ChatServer


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    with ChatServer() as running:
        monkeypatch.setenv("HOPSCOPE_CHAT_URL", running.url)
        monkeypatch.setenv("HOPSCOPE_CHAT_MODEL", "scripted")
        yield running


def answer(at: AppTest) -> str | None:
    """The text of the block above the facts, as it was handed to Markdown."""
    shown = [text.value for text in at.markdown]
    return next((text for text in shown if "Helios" in text), None)


def ask(opened: Open) -> AppTest:
    at = opened(q=QUESTION, seed_mode="Names in the question", summarize="true")
    assert not at.exception
    return at


def test_the_answer_is_shown_above_its_facts_as_text(opened: Open, server: ChatServer) -> None:
    server.stream(["Helios, [that]", "(https://example.invalid) is.", "\n**Yes**"])
    at = ask(opened)
    assert not at.toggle(key="summarize").disabled
    shown = answer(at)
    assert shown is not None
    assert shown.startswith(r"Helios\, \[that\]\(")
    assert shown.endswith("  \n\\*\\*Yes\\*\\*")
    assert facts(at)


def test_an_answer_is_asked_for_once(opened: Open, server: ChatServer) -> None:
    server.stream(["Helios."])
    at = ask(opened)
    at.text_input(key="seed_search").set_value("Hel")
    at = at.run()
    assert answer(at) == r"Helios\."
    assert len(server.requests) == 1


def test_another_request_has_another_answer_and_undo_has_the_first(opened: Open, server: ChatServer) -> None:
    server.stream(["Helios first."])
    at = ask(opened)
    server.stream(["Helios second."])
    at.segmented_control(key="hops").set_value(1)
    assert answer(at.run()) == r"Helios second\."
    at.button(key="undo").click()
    assert answer(at.run()) == r"Helios first\."
    assert len(server.requests) == 2


def test_a_model_that_fails_is_a_warning_and_the_facts_stay(opened: Open, server: ChatServer) -> None:
    server.reply({"error": {"message": "no such model"}}, status=404)
    at = ask(opened)
    assert answer(at) is None
    evidence = drawn(at, "evidence")["evidence"]
    assert evidence["facts"]
    assert any("could not be written" in warning for warning in evidence["trace"]["warnings"])
    at.run()
    assert len(server.requests) == 1


def test_seeds_are_read_by_the_model_among_the_types_that_are_chosen(opened: Open, server: ChatServer) -> None:
    server.say('{"names": ["Helios"]}')
    at = opened(q=QUESTION, seed_mode="Chat model", types=["System", "Team"])
    seeds = drawn(at, "evidence")["evidence"]["trace"]["seeds"]
    assert [(seed["name"].casefold(), seed["foundBy"]) for seed in seeds] == [("helios", "name")]
    assert "of these types count: System, Team." in server.requests[0].body["messages"][0]["content"]


def test_a_model_that_finds_no_seeds_falls_back_and_says_so(opened: Open, server: ChatServer) -> None:
    server.reply({"error": {"message": "no such model"}}, status=404)
    at = opened(q=QUESTION, seed_mode="Chat model")
    evidence = drawn(at, "evidence")["evidence"]
    assert evidence["facts"]
    assert evidence["trace"]["warnings"][0].startswith("LLM unavailable: seeds from mentions.")


def test_without_a_model_a_link_cannot_ask_for_one(opened: Open) -> None:
    at = opened(q=QUESTION, seed_mode="Chat model", summarize="true")
    assert not at.error
    assert at.selectbox(key="seed_mode").value == "auto"
    assert drawn(at, "evidence")["evidence"]["facts"]


def test_the_model_can_read_each_hops_candidates(opened: Open, server: ChatServer) -> None:
    server.say('{"numbers": [1]}')
    at = opened(q=QUESTION, seed_mode="Names in the question", hops="1", llm_filter="true")
    assert at.toggle(key="llm_filter").value is True
    fates = {row["fate"] for row in drawn(at, "evidence")["evidence"]["trace"]["candidates"]}
    assert len(facts(at)) == 1 and "llm_cut" in fates


def test_without_a_model_a_link_cannot_ask_for_its_filter(opened: Open) -> None:
    at = opened(q=QUESTION, llm_filter="true")
    assert at.toggle(key="llm_filter").disabled and facts(at) and not at.error
