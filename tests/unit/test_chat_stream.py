"""OpenAIChat.stream by the real SDK against a scripted server."""

from __future__ import annotations

import itertools
import socket
import threading
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgcore.errors import ModelError
from kgcore.models.chat import OpenAIChat
from kgcore.models.protocol import ChatModel
from kgcore.models.thoughts import CLOSE, OPEN, ThoughtFilter, drop_thoughts
from tests.chat_server import PARIS_WITH_THOUGHTS, ChatServer, chunk, event

KEY = "sk-secret-0123456789"
AT_ONCE = {"retry-after-ms": "1"}


@pytest.fixture
def chat(server: ChatServer) -> OpenAIChat:
    return OpenAIChat(base_url=server.url, model="tiny", api_key=KEY, timeout=10.0)


def streamed(server: ChatServer, chat: OpenAIChat, *pieces: str, **more: Any) -> list[str]:
    """The pieces that come of the pieces sent."""
    server.stream(pieces, **more)
    return list(chat.stream("s", "u"))


def failure(call: Callable[[], Any]) -> ModelError:
    """The ModelError of a call, after the checks that every one must pass."""
    with pytest.raises(ModelError) as raised:
        call()
    error = raised.value
    assert error.remedy.endswith(".") and str(error).strip()
    assert KEY not in error.remedy + "".join(traceback.format_exception(error))
    return error


class TestPieces:
    def test_come_as_the_server_writes_them(self, server: ChatServer, chat: OpenAIChat) -> None:
        read = threading.Event()

        def pieces() -> Iterator[str]:
            yield "Acme uses"
            assert read.wait(10)
            yield " Helios."

        model: ChatModel = chat
        server.stream(pieces())
        answer = model.stream("Be short.", "Which system?")
        assert server.requests == []
        assert next(answer) == "Acme uses"
        read.set()
        assert list(answer) == [" Helios."]
        [request] = server.requests
        assert request.headers["authorization"] == f"Bearer {KEY}"
        assert request.body == {
            "model": "tiny",
            "messages": [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Which system?"}],
            "temperature": 0.0,
            "max_tokens": 4096,
            "stream": True,
        }

    def test_have_no_white_space_around_the_whole(self, server: ChatServer, chat: OpenAIChat) -> None:
        assert streamed(server, chat, " \n", " Acme ", "\n", "uses", " ", "Helios. ", "\n") == [
            "Acme", " \nuses", " Helios.",
        ]  # fmt: skip

    def test_hold_whole_characters_only(self, server: ChatServer, chat: OpenAIChat) -> None:
        server.reply(event(chunk({"content": "\ud83d 🔭"}, "stop")), content_type="text/event-stream")
        assert list(chat.stream("s", "u")) == ["? 🔭"]

    def test_of_separate_reasoning_and_empty_chunks_are_none(self, server: ChatServer, chat: OpenAIChat) -> None:
        empty = {**chunk({}), "choices": []}
        parts = [chunk({"role": "assistant"}), empty, chunk({"reasoning_content": "Hm."}), chunk({"content": "Paris"})]
        body = ": ping\n\n" + "".join(map(event, [*parts, chunk({"content": None}, "stop"), empty, "[DONE]"]))
        server.reply(body, content_type="text/event-stream")
        assert list(chat.stream("s", "u")) == ["Paris"]

    def test_closed_early_close_the_connection_at_once(self, server: ChatServer, chat: OpenAIChat) -> None:
        server.stream(itertools.repeat("and so on, "))
        answer = chat.stream("s", "u")
        assert next(answer) == "and so on,"
        assert not server.gone.is_set()
        answer.close()
        assert server.gone.wait(10)

    def test_end_with_the_reason_to_end(self, server: ChatServer, chat: OpenAIChat) -> None:
        body = event(chunk({"content": "Paris"}, "stop")) + event({"error": "too late"})
        server.reply(body, content_type="text/event-stream")
        assert list(chat.stream("s", "u")) == ["Paris"]

    def test_of_many_streams_do_not_mix(self, server: ChatServer, chat: OpenAIChat) -> None:
        for word in ("one", "two"):
            server.stream([f"{word} ", "more"])
        first, second = chat.stream("s", "u"), chat.stream("s", "u")
        assert [next(first), next(second), *first, *second] == ["one", "two", " more", " more"]


class TestThoughts:
    @pytest.mark.parametrize(
        "text",
        [*PARIS_WITH_THOUGHTS, "<think>the <think> tag</think> Paris", "</think>Paris"],
    )
    def test_are_dropped_in_one_piece_or_in_single_characters(
        self, server: ChatServer, chat: OpenAIChat, text: str
    ) -> None:
        assert streamed(server, chat, text) == ["Paris"]
        chat._thinks_unopened = "</think>" in text and not text.startswith("<think>")
        assert "".join(streamed(server, chat, *text)) == "Paris"

    def test_that_nothing_opened_are_learnt_from_the_first(self, server: ChatServer, chat: OpenAIChat) -> None:
        pieces = ["Hm, ", "France?", "\n</th", "ink>\n", "Par", "is"]
        first = "".join(streamed(server, chat, *pieces))
        assert first == "Hm, France?</think>Paris" and drop_thoughts(first) == "Paris"
        assert streamed(server, chat, *pieces) == ["Par", "is"]
        assert "".join(streamed(server, chat, "No ", "thought.")) == "No thought."
        assert streamed(server, chat, "No ", "thought.") == ["No", " thought."]

    def test_that_nothing_opened_are_learnt_from_a_whole_answer(self, server: ChatServer, chat: OpenAIChat) -> None:
        server.say("Hm.</think>Yes")
        chat.complete("s", "u")
        assert streamed(server, chat, "Hm.", "</think>", "Paris") == ["Paris"]

    def test_the_word_think_later_in_a_text_stays(self, server: ChatServer, chat: OpenAIChat) -> None:
        text = "The tag <think> opens a block, a < b."
        assert "".join(streamed(server, chat, *text)) == text

    @pytest.mark.parametrize(
        "pieces", [["<think>Hm, let me"], ["<thi", "nk>", "Hm"], [" ", "<think>", "Hm", "</think"]]
    )
    def test_that_do_not_end_are_an_answer_cut_off(
        self, server: ChatServer, chat: OpenAIChat, pieces: list[str]
    ) -> None:
        assert "was cut off" in str(failure(lambda: streamed(server, chat, *pieces)))

    def test_of_a_hostile_answer_are_dropped_in_linear_time(self) -> None:
        text = "<think>" * 200_000
        assert drop_thoughts(text) == text
        assert drop_thoughts(f"{text}</think>{text}Paris") == text + "Paris"


TOKENS = [OPEN, CLOSE, " ", "\n", "Paris", "a < b", "</", "é"]


@given(st.lists(st.sampled_from(TOKENS), max_size=9), st.booleans(), st.data())
def test_what_is_shown_is_the_answer_however_it_is_cut(tokens: list[str], unopened: bool, data: st.DataObject) -> None:
    text = "".join(tokens)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)))))
    pieces = [text[a:b] for a, b in itertools.pairwise([0, *cuts, len(text)])]
    thoughts = ThoughtFilter(unopened=unopened)
    shown = "".join(map(thoughts.feed, pieces))
    rest = thoughts.rest()
    answer = drop_thoughts(text)
    assert (rest is None) == (answer.startswith(OPEN) and not drop_thoughts(shown))
    if rest is not None:
        assert drop_thoughts(shown + rest) == answer
        assert CLOSE in shown or shown + rest == answer


class TestEnd:
    @pytest.mark.parametrize("pieces", [["Half of"], [], ["<think>Hm"]])
    def test_too_early_is_an_answer_cut_off(self, server: ChatServer, chat: OpenAIChat, pieces: list[str]) -> None:
        error = failure(lambda: streamed(server, chat, *pieces, finish_reason="length"))
        assert "was cut off" in str(error)

    @pytest.mark.parametrize("pieces", [[], [""], [" ", "\n"], ["<think>Hm.</think>\n"], ["Hm.</think>"]])
    def test_without_a_text_is_an_empty_answer(self, server: ChatServer, chat: OpenAIChat, pieces: list[str]) -> None:
        assert "is empty" in str(failure(lambda: streamed(server, chat, *pieces)))

    def test_of_a_refusal(self, server: ChatServer, chat: OpenAIChat) -> None:
        server.stream([{"refusal": "I can't "}, {"refusal": "help."}])
        assert "is a refusal" in str(failure(lambda: list(chat.stream("s", "u"))))
        error = failure(lambda: streamed(server, chat, "Half of", finish_reason="content_filter"))
        assert "is a refusal" in str(error)

    @pytest.mark.parametrize("pieces", [["Half ", "of"], ["<think>Hm"], []])
    def test_of_the_connection_in_the_middle(self, server: ChatServer, chat: OpenAIChat, pieces: list[str]) -> None:
        body = "".join(event(chunk({"content": piece})) for piece in ["", *pieces])
        server.reply(body, content_type="text/event-stream")
        server.reply(body, content_type="text/event-stream", headers={"Content-Length": "5000"})
        server.reply(body[:-9], content_type="text/event-stream", headers={"Content-Length": "5000"})
        for _ in range(3):
            error = failure(lambda: list(chat.stream("s", "u")))
            assert "broke off in the middle" in str(error) and "log" in error.remedy

    def test_comes_after_the_pieces_that_were_written(self, server: ChatServer, chat: OpenAIChat) -> None:
        server.stream(["Half ", "of"], finish_reason=None)
        answer = chat.stream("s", "u")
        assert [next(answer), next(answer)] == ["Half", " of"]
        failure(lambda: next(answer))
        assert list(answer) == []

    def test_of_the_time_is_that_of_a_piece(self, server: ChatServer) -> None:
        chat = OpenAIChat(base_url=server.url, model="tiny", api_key=KEY, timeout=0.5)
        closed = threading.Event()

        def pieces() -> Iterator[str]:
            yield "Paris"
            closed.wait(10)

        server.stream(pieces())
        answer = chat.stream("s", "u")
        assert next(answer) == "Paris"
        assert "did not answer within 0.5 seconds" in str(failure(lambda: next(answer)))
        server.reply(piece.encode() for piece in pieces())
        assert "did not answer within 0.5 seconds" in str(failure(lambda: list(chat.stream("s", "u"))))
        closed.set()


class TestServerThat:
    @pytest.mark.parametrize("content_type", ["application/json", "text/plain", "text/html"])
    def test_ignores_the_option_answers_in_one_piece(
        self, server: ChatServer, chat: OpenAIChat, content_type: str
    ) -> None:
        choice = {"message": {"content": "<think>Hm.</think> Paris "}, "finish_reason": "stop"}
        server.reply({"choices": [choice]}, content_type=content_type)
        assert list(chat.stream("s", "u")) == ["Paris"]
        server.say("Half", finish_reason="length")
        assert "was cut off" in str(failure(lambda: list(chat.stream("s", "u"))))
        server.reply('{"choices"', headers={"Content-Length": "5000"})
        assert "broke off" in str(failure(lambda: list(chat.stream("s", "u"))))

    def test_rejects_an_option_is_asked_without_it(self, server: ChatServer, chat: OpenAIChat) -> None:
        server.fail(400, "'max_tokens' is not supported. Use 'max_completion_tokens' instead.", param="max_tokens")
        server.fail(422, "no temperature here")
        assert streamed(server, chat, "Par", "is") == ["Par", "is"]
        assert streamed(server, chat, "Rome") == ["Rome"]
        server.say("Oslo")
        assert chat.complete("s", "u") == "Oslo"
        sent = [{k for k in request.body if k not in ("model", "messages")} for request in server.requests]
        assert sent == [
            {"temperature", "max_tokens", "stream"},
            {"temperature", "max_completion_tokens", "stream"},
            {"max_completion_tokens", "stream"},
            {"max_completion_tokens", "stream"},
            {"max_completion_tokens"},
        ]

    def test_does_not_stream_is_asked_for_the_whole(self, server: ChatServer, chat: OpenAIChat) -> None:
        server.fail(400, "Your organization must be verified to stream this model.", param="stream")
        server.say("Paris")
        server.say("Rome")
        assert [*chat.stream("s", "u"), *chat.stream("s", "u")] == ["Paris", "Rome"]
        assert ["stream" in request.body for request in server.requests] == [True, False, False]

    def test_rejects_everything_is_an_error(self, server: ChatServer, chat: OpenAIChat) -> None:
        for _ in range(5):
            server.fail(400, "No temperature, max_tokens, max_completion_tokens or stream.")
        assert "HTTP 400" in str(failure(lambda: list(chat.stream("s", "u"))))
        assert set(server.requests[-1].body) == {"model", "messages"}

    @pytest.mark.parametrize(
        ("status", "words"),
        [(401, "refuses the key"), (404, "does not find the model"), (413, "HTTP 413"), (400, "HTTP 400")],
    )
    def test_refuses_is_an_error_without_the_key(
        self, server: ChatServer, chat: OpenAIChat, status: int, words: str
    ) -> None:
        server.fail(status, f"Not with the key {KEY}.")
        assert words in str(failure(lambda: list(chat.stream("s", "u"))))

    def test_fails_at_first_is_asked_again(self, server: ChatServer, chat: OpenAIChat) -> None:
        server.fail(503, "Starting.", headers=AT_ONCE)
        assert streamed(server, chat, "Paris") == ["Paris"]

    def test_says_half_a_character_is_quoted_without_it(self, server: ChatServer, chat: OpenAIChat) -> None:
        server.fail(400, "Too long \ud83d.")
        assert str(failure(lambda: list(chat.stream("s", "u")))).endswith("It says: Too long ?.")

    def test_breaks_off_within_an_error(self, server: ChatServer, chat: OpenAIChat) -> None:
        server.reply('{"error', status=400, headers={"Content-Length": "5000"})
        failure(lambda: list(chat.stream("s", "u")))

    @pytest.mark.parametrize("error", [{"message": f"out of memory, {KEY}"}, f"out of memory, {KEY}"])
    def test_fails_in_the_middle_says_why(self, server: ChatServer, chat: OpenAIChat, error: Any) -> None:
        server.reply(event(chunk({"content": "Par"})) + event({"error": error}), content_type="text/event-stream")
        answer = chat.stream("s", "u")
        assert next(answer) == "Par"
        assert "broke off in the middle of its answer. It says: out of memory, ***" in str(
            failure(lambda: next(answer))
        )

    @pytest.mark.parametrize(
        "body",
        [
            "",
            event("not JSON"),
            event("[" * 100_000),
            event([]),
            event("null"),
            event({}),
            event({"choices": None}),
            event({"choices": [None]}),
            event({"choices": [{"delta": None}]}),
            event({"choices": [{"message": {"content": "Paris"}}]}),
            event(chunk({"content": [{"type": "text"}]})),
            event({"choices": []}) + event("[DONE]"),
            "<html>Welcome</html>",
        ],
    )
    def test_speaks_something_else_is_an_error(self, server: ChatServer, chat: OpenAIChat, body: str) -> None:
        server.reply(body, content_type="text/event-stream")
        assert "does not speak OpenAI's chat format" in str(failure(lambda: list(chat.stream("s", "u"))))
        server.reply(body, content_type="text/html")
        assert "does not speak OpenAI's chat format" in str(failure(lambda: list(chat.stream("s", "u"))))

    def test_writes_bytes_that_are_no_text(self, server: ChatServer, chat: OpenAIChat) -> None:
        server.reply(iter([b"data: \xff\n\n"]), content_type="text/event-stream")
        assert "does not speak" in str(failure(lambda: list(chat.stream("s", "u"))))

    def test_cannot_be_reached(self) -> None:
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            chat = OpenAIChat(base_url=f"http://127.0.0.1:{closed.getsockname()[1]}/v1", model="tiny", api_key=KEY)
            assert "No chat server can be reached" in str(failure(lambda: list(chat.stream("s", "u"))))
