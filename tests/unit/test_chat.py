"""OpenAIChat by the real SDK against a scripted server."""

from __future__ import annotations

import inspect
import json
import socket
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from types import MappingProxyType
from typing import Any

import httpx2
import openai
import pytest
from pydantic import SecretStr

from kgcore.config import Config
from kgcore.errors import ConfigError, ModelError
from kgcore.models.chat import OpenAIChat
from kgcore.models.protocol import ChatModel
from tests.chat_server import PARIS_WITH_THOUGHTS, ChatServer

KEY = "sk-secret-0123456789"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "names": {"type": "array", "items": {"type": "string"}},
        "count": {"type": ["integer", "null"]},
        "share": {"type": "number"},
        "sure": {"type": "boolean"},
        "note": {},
    },
    "required": ["names"],
}
ANSWER = {"names": ["Jane Doe"]}
SAID = json.dumps(ANSWER)
AT_ONCE = {"retry-after-ms": "1"}


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_CUSTOM_HEADERS", "OPENAI_ADMIN_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        yield running


@pytest.fixture
def chat(server: ChatServer) -> OpenAIChat:
    return OpenAIChat(base_url=server.url, model="tiny", api_key=KEY, timeout=5.0)


def failure(call: Callable[[], Any]) -> ModelError:
    """The ModelError of a call, after the checks that every one must pass."""
    with pytest.raises(ModelError) as raised:
        call()
    error = raised.value
    assert error.remedy.endswith(".")
    assert str(error).strip() and "{" not in str(error) + error.remedy
    assert KEY not in error.remedy + "".join(traceback.format_exception(error))
    return error


def formats(server: ChatServer) -> list[str | None]:
    """The response format of each request."""
    return [request.body.get("response_format", {}).get("type") for request in server.requests]


# What is sent, and a plain answer.


def test_complete_sends_prompts_key_and_settings(server: ChatServer, chat: OpenAIChat) -> None:
    model: ChatModel = chat
    server.say("  Paris.\n")
    assert model.complete("Be short.", "Capital of France?") == "Paris."
    assert model.name == "tiny"
    [request] = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "model": "tiny",
        "messages": [
            {"role": "system", "content": "Be short."},
            {"role": "user", "content": "Capital of France?"},
        ],
        "temperature": 0.0,
        "max_tokens": 4096,
    }


def test_settings_of_the_instance_are_sent(server: ChatServer) -> None:
    chat = OpenAIChat(base_url=server.url, model="tiny", api_key=SecretStr(KEY), temperature=0.5, max_tokens=7)
    server.say("Paris")
    chat.complete("s", "u")
    body = server.requests[0].body
    assert (body["temperature"], body["max_tokens"]) == (0.5, 7)
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_empty_key_sends_a_placeholder_and_never_the_environments(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server.say("Paris")
    OpenAIChat(base_url=server.url, model="tiny").complete("s", "u")
    assert server.requests[0].headers["authorization"] == "Bearer none"


def test_complete_json_sends_the_schema(server: ChatServer, chat: OpenAIChat) -> None:
    server.say(SAID)
    assert chat.complete_json("Extract.", "Jane Doe works.", MappingProxyType(SCHEMA)) == ANSWER
    [request] = server.requests
    assert request.body["response_format"]["type"] == "json_schema"
    assert request.body["response_format"]["json_schema"] == {"name": "answer", "schema": SCHEMA}
    system = request.body["messages"][0]["content"]
    assert system.startswith("Extract.\n") and system.endswith(json.dumps(SCHEMA))
    assert "one JSON object" in system


# Settings.


def test_from_config(server: ChatServer) -> None:
    config = Config(chat_url=server.url, chat_model="tiny", chat_key=SecretStr(KEY), chat_timeout=1)
    chat = OpenAIChat.from_config(config)
    assert chat is not None
    server.say("Paris")
    assert chat.complete("s", "u") == "Paris"
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    server.say("Paris", delay=30)
    assert "within 1 seconds" in str(failure(lambda: chat.complete("s", "u")))


@pytest.mark.parametrize(("url", "model"), [("", "tiny"), ("http://localhost/v1", ""), (" ", "tiny"), ("", "")])
def test_from_config_without_url_or_model_is_none(url: str, model: str) -> None:
    assert OpenAIChat.from_config(Config(chat_url=url, chat_model=model)) is None


@pytest.mark.parametrize(
    "url",
    [
        "ftp://hidden/v1",
        "file:///hidden",
        "hidden:11434/v1",
        "hidden",
        "http://",
        "http:///v1",
        "http://user:hidden@host/v1",
        "http://hidden@host/v1",
        "http://host/v1?api-key=hidden",
        "http://host/v1#hidden",
        "http://host:hidden/v1",
        "http://[hidden/v1",
        "http://hid den/v1",
        "http://host:0/hidden",
    ],
)
def test_from_config_refuses_a_url_without_printing_it(url: str) -> None:
    with pytest.raises(ConfigError) as raised:
        OpenAIChat.from_config(Config(chat_url=url, chat_model="tiny", chat_key=SecretStr(KEY)))
    shown = str(raised.value) + raised.value.remedy
    assert "HOPSCOPE_CHAT_URL" in shown
    assert "hidden" not in shown and KEY not in shown


@pytest.mark.parametrize("key", ["sk-hidden\nnext", "sk-hidden-ключ", "sk-hidden\x00"])
def test_key_that_no_header_can_hold_is_refused_without_printing_it(key: str) -> None:
    with pytest.raises(ConfigError) as raised:
        OpenAIChat(base_url="http://localhost/v1", model="tiny", api_key=key)
    assert "hidden" not in str(raised.value) + raised.value.remedy


def test_key_is_stripped_and_not_in_the_repr(server: ChatServer) -> None:
    chat = OpenAIChat(base_url=server.url, model="tiny", api_key=f" {KEY}\n")
    server.say("Paris")
    chat.complete("s", "u")
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in repr(chat) + repr(vars(chat))


# JSON in an answer.


@pytest.mark.parametrize(
    "text",
    [
        SAID,
        f"```json\n{SAID}\n```",
        f"```\n{SAID}```",
        f"Sure, here it is:\n\n```json\n{SAID}\n```\nAnything else?",
        f"Sure, here it is: {SAID} Anything else?",
        f'He said 5" {{like this}} in [note 1] and [2]: {SAID} {{"names": ["second"]}}',
        f'From {{"names": ["the input"]}} follows\n```json\n{SAID}\n```',
        f"```python\nprint({{1: 2}})\n```\n```json\n{SAID}\n```",
        f"```python\nprint({{1: 2}})\n```\n{SAID}",
        f'<think>{{"names": ["a thought"]}}</think>{SAID}',
    ],
)
def test_json_is_found_in_prose(server: ChatServer, chat: OpenAIChat, text: str) -> None:
    server.say(text)
    assert chat.complete_json("s", "u", SCHEMA) == ANSWER


def test_braces_quotes_and_fences_in_strings_are_text(server: ChatServer, chat: OpenAIChat) -> None:
    answer = {"names": ['}{][ "quoted" \\', "```json\n{}\n```"], "note": {"deep": [{}]}}
    server.say(f"Here: {json.dumps(answer)} }}")
    assert chat.complete_json("s", "u", SCHEMA) == answer


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("I cannot see any names.", "no complete JSON object"),
        ('{"names": ["Jane Doe", ', "no complete JSON object"),
        ('{"names": [], "note": {"names": ["inner"]}', "no complete JSON object"),
        ('```json\n{"names": [], "note": {"names": ["inner"]}\n```', "no complete JSON object"),
        (f"[{SAID}, {SAID}]", "no complete JSON object"),
        ("{'names': ['Jane Doe']}", "no complete JSON object"),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "no complete JSON object"),
        ("{}", "lacks names"),
        ('{"people": ["Jane Doe"]}', "lacks names"),
        (json.dumps(SCHEMA), "is the schema itself"),
        ('{"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A"}', "is the schema itself"),
        (json.dumps(SCHEMA["properties"]), "names that is not of type array"),
        ('{"names": "Jane Doe"}', "names that is not of type array"),
        ('{"names": [], "count": 1.5}', "count that is not of type integer or null"),
        ('{"names": [], "count": true}', "count that is not of type integer or null"),
        ('{"names": [], "share": "half"}', "share that is not of type number"),
        ('{"names": [], "sure": 1}', "sure that is not of type boolean"),
    ],
)
def test_json_that_cannot_be_used_is_an_error(server: ChatServer, chat: OpenAIChat, text: str, fault: str) -> None:
    server.say(text)
    error = failure(lambda: chat.complete_json("s", "u", SCHEMA))
    assert fault in str(error)
    assert "tiny" in str(error)


@pytest.mark.parametrize(
    "answer",
    [
        {"names": [], "count": 2, "share": 1, "sure": True, "note": "any"},
        {"names": [], "count": None, "share": 0.5, "sure": False, "note": None},
        {"names": [], "unasked": 1},
        {"names": [], "properties": {}},
    ],
)
def test_json_of_the_right_types_is_an_answer(server: ChatServer, chat: OpenAIChat, answer: dict[str, Any]) -> None:
    server.say(json.dumps(answer))
    assert chat.complete_json("s", "u", SCHEMA) == answer


def test_echo_without_required_keys_and_a_property_called_properties(server: ChatServer, chat: OpenAIChat) -> None:
    optional = {"type": "object", "properties": {"name": {"type": "string"}}}
    server.say(json.dumps(optional))
    assert "is the schema itself" in str(failure(lambda: chat.complete_json("s", "u", optional)))
    own = {"type": "object", "properties": {"properties": {"type": "object"}}}
    server.say('{"properties": {"year": 2024}}')
    assert chat.complete_json("s", "u", own) == {"properties": {"year": 2024}}


def test_hostile_answer_is_read_in_linear_time(server: ChatServer, chat: OpenAIChat) -> None:
    server.say('{"' + '\\"' * 100_000)
    started = time.monotonic()
    failure(lambda: chat.complete_json("s", "u", SCHEMA))
    assert time.monotonic() - started < 3


# Thoughts, truncation, refusal, nothing.


@pytest.mark.parametrize(
    "text",
    [*PARIS_WITH_THOUGHTS, "<think>a <think> b </think> c </think> Paris"],
)
def test_thoughts_are_dropped(server: ChatServer, chat: OpenAIChat, text: str) -> None:
    server.say(text)
    assert chat.complete("s", "u") == "Paris"


def test_separate_reasoning_is_dropped(server: ChatServer, chat: OpenAIChat) -> None:
    server.say("Paris", reasoning_content="Hm.", reasoning="Hm.")
    assert chat.complete("s", "u") == "Paris"


def test_the_word_think_later_in_a_text_stays(server: ChatServer, chat: OpenAIChat) -> None:
    server.say("The tag <think> opens a block.")
    assert chat.complete("s", "u") == "The tag <think> opens a block."


@pytest.mark.parametrize(
    ("text", "finish"),
    [
        (SAID, "length"),
        ('{"names": ["Jane', "length"),
        ("<think>Hm, let me", "stop"),
        (f"<think>Perhaps {SAID}", "stop"),
        ("<think>Hm, let me", "length"),
        (None, "length"),
    ],
)
def test_truncated_answer_is_an_error(server: ChatServer, chat: OpenAIChat, text: str | None, finish: str) -> None:
    server.say(text, finish_reason=finish)
    server.say(text, finish_reason=finish)
    assert "was cut off" in str(failure(lambda: chat.complete_json("s", "u", SCHEMA)))
    assert "was cut off" in str(failure(lambda: chat.complete("s", "u")))


@pytest.mark.parametrize("text", [None, "", " \n", "<think>Hm.</think>\n"])
def test_empty_answer_is_an_error(server: ChatServer, chat: OpenAIChat, text: str | None) -> None:
    server.say(text)
    server.say(text)
    assert "is empty" in str(failure(lambda: chat.complete("s", "u")))
    assert "is empty" in str(failure(lambda: chat.complete_json("s", "u", SCHEMA)))


def test_refusal_is_an_error(server: ChatServer, chat: OpenAIChat) -> None:
    server.say(None, refusal="I can't help with that.")
    assert "is a refusal" in str(failure(lambda: chat.complete("s", "u")))
    server.say("Half of", finish_reason="content_filter")
    assert "is a refusal" in str(failure(lambda: chat.complete("s", "u")))


# What a server rejects.


def test_rejected_schema_falls_back_to_an_object_then_to_prose(server: ChatServer, chat: OpenAIChat) -> None:
    server.fail(400, "This model does not support response format `json_schema`.", param="response_format")
    server.fail(400, "'response_format.type' must be 'text'")
    server.say(f"Here you are: {SAID}")
    assert chat.complete_json("s", "u", SCHEMA) == ANSWER
    server.say(SAID)
    assert chat.complete_json("s", "u", SCHEMA) == ANSWER
    assert formats(server) == ["json_schema", "json_object", None, None]
    assert all(request.body["temperature"] == 0.0 for request in server.requests)


def test_accepted_object_is_remembered(server: ChatServer, chat: OpenAIChat) -> None:
    server.reply({"error": "json_schema is not supported"}, status=400)
    for _ in range(2):
        server.say(SAID)
        assert chat.complete_json("s", "u", SCHEMA) == ANSWER
    assert formats(server) == ["json_schema", "json_object", "json_object"]


@pytest.mark.parametrize("status", [400, 422])
def test_rejected_temperature_is_left_out_and_remembered(server: ChatServer, chat: OpenAIChat, status: int) -> None:
    server.fail(status, "'temperature' does not support 0 with this model, see max_tokens", param="temperature")
    server.say("Paris")
    server.say("Paris")
    assert chat.complete("s", "u") == chat.complete("s", "u") == "Paris"
    assert ["temperature" in request.body for request in server.requests] == [True, False, False]
    assert all(request.body["max_tokens"] == 4096 for request in server.requests)


def test_rejected_max_tokens_is_renamed_and_remembered(server: ChatServer, chat: OpenAIChat) -> None:
    server.fail(400, "'max_tokens' is not supported. Use 'max_completion_tokens' instead.", param="max_tokens")
    server.say("Paris")
    server.say("Paris")
    assert chat.complete("s", "u") == chat.complete("s", "u") == "Paris"
    limits = [{k: v for k, v in request.body.items() if k.startswith("max_")} for request in server.requests]
    assert limits == [{"max_tokens": 4096}, {"max_completion_tokens": 4096}, {"max_completion_tokens": 4096}]


@pytest.mark.parametrize(
    ("messages", "names"),
    [
        (["max_tokens is not allowed"], ["max_tokens", None]),
        (
            ["max_completion_tokens and max_tokens exclude each other"],
            ["max_tokens", "max_completion_tokens"],
        ),
        (["4396 tokens (300 in the messages, 4096 in the completion)"], ["max_tokens", None]),
        (
            ["'max_tokens' or 'max_completion_tokens' is too large"] * 2,
            ["max_tokens", "max_completion_tokens", None],
        ),
    ],
)
def test_rejected_limit_is_left_out(
    server: ChatServer, chat: OpenAIChat, messages: list[str], names: list[str | None]
) -> None:
    for message in messages:
        server.fail(400, message)
    server.say("Paris")
    assert chat.complete("s", "u") == "Paris"
    sent = [next((name for name in request.body if name.startswith("max_")), None) for request in server.requests]
    assert sent == names


def test_the_param_of_an_error_goes_before_its_words(server: ChatServer, chat: OpenAIChat) -> None:
    server.fail(400, "Beside a temperature there can be no such limit.", param="max_tokens")
    server.say("Paris")
    assert chat.complete("s", "u") == "Paris"
    assert server.requests[1].body["temperature"] == 0.0
    assert "max_tokens" not in server.requests[1].body


def test_a_slower_thread_does_not_unlearn(server: ChatServer, chat: OpenAIChat) -> None:
    server.say("slow", delay=0.5)
    with ThreadPoolExecutor() as threads:
        slow = threads.submit(chat.complete, "s", "slow")
        while not server.requests:
            time.sleep(0.01)
        server.fail(400, "no temperature")
        server.say("Paris")
        assert chat.complete("s", "u") == "Paris"
        assert slow.result() == "slow"
    server.say("Paris")
    chat.complete("s", "u")
    assert ["temperature" in request.body for request in server.requests] == [True, True, False, False]


def test_each_option_is_left_out_once_at_most(server: ChatServer, chat: OpenAIChat) -> None:
    message = "No temperature, max_tokens, max_completion_tokens or response_format."
    for _ in range(6):
        server.fail(400, message)
    assert message in str(failure(lambda: chat.complete_json("s", "u", SCHEMA)))
    assert set(server.requests[-1].body) == {"model", "messages"}
    # Nothing was learnt, because nothing helped.
    server.say(SAID)
    chat.complete_json("s", "u", SCHEMA)
    assert {"temperature", "max_tokens", "response_format"} <= set(server.requests[-1].body)


def test_other_rejections_are_not_retried(server: ChatServer, chat: OpenAIChat) -> None:
    server.fail(400, "The prompt is too long. " * 50)
    error = str(failure(lambda: chat.complete("s", "u")))
    assert "HTTP 400" in error and "It says: The prompt is too long." in error and len(error) < 400
    server.fail(400, "response_format is wrong")
    failure(lambda: chat.complete("s", "u"))
    assert len(server.requests) == 2


# Faults.


def test_refused_port() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{closed.getsockname()[1]}"
        chat = OpenAIChat(base_url=f"{address}/v1", model="tiny", api_key=KEY)
        error = failure(lambda: chat.complete("s", "u"))
    assert str(error) == f"No chat server can be reached at {address}."
    assert "HOPSCOPE_CHAT_URL" in error.remedy


def test_slow_answer_is_given_up_after_one_timeout(server: ChatServer) -> None:
    chat = OpenAIChat(base_url=server.url, model="tiny", api_key=KEY, timeout=0.3)
    server.say("Paris", delay=30)
    error = failure(lambda: chat.complete("s", "u"))
    assert "did not answer within 0.3 seconds" in str(error)
    assert "HOPSCOPE_CHAT_TIMEOUT" in error.remedy
    assert len(server.requests) == 1


def test_busy_server_is_asked_again_when_it_said(server: ChatServer, chat: OpenAIChat) -> None:
    server.fail(429, "Slow down.", headers={"Retry-After": "1"})
    server.say("Paris")
    assert chat.complete("s", "u") == "Paris"
    first, second = server.requests
    assert second.time - first.time >= 1
    assert first.body == second.body


@pytest.mark.parametrize(
    ("status", "words"),
    [(429, "takes no more requests"), (500, "failed (HTTP 500)"), (503, "failed (HTTP 503)")],
)
def test_retries_are_bounded(server: ChatServer, chat: OpenAIChat, status: int, words: str) -> None:
    for _ in range(3):
        server.fail(status, "needs more memory", headers=AT_ONCE)
    error = failure(lambda: chat.complete("s", "u"))
    assert words in str(error) and str(error).endswith("It says: needs more memory")
    assert len(server.requests) == 3


def test_failed_server_that_recovers(server: ChatServer, chat: OpenAIChat) -> None:
    server.fail(500, "Starting.", headers=AT_ONCE)
    server.reply('{"choices', headers={"Content-Length": "5000"})
    server.say("Paris")
    assert chat.complete("s", "u") == "Paris"
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("status", "words", "setting"),
    [
        (401, "refuses the key", "HOPSCOPE_CHAT_KEY"),
        (403, "does not let this key use the model tiny", "HOPSCOPE_CHAT_MODEL"),
        (404, "does not find the model tiny", "HOPSCOPE_CHAT_MODEL"),
        (413, "rejects the request (HTTP 413)", "tiny is a chat model"),
    ],
)
def test_refusals_name_the_setting_and_never_the_key(
    server: ChatServer, chat: OpenAIChat, status: int, words: str, setting: str
) -> None:
    server.fail(status, f"Not with the key {KEY}.")
    error = failure(lambda: chat.complete("s", "u"))
    assert words in str(error)
    assert setting in error.remedy
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("<html>Welcome</html>", "text/html"),
        ("not JSON", "application/json"),
        ("", "application/json"),
        ("[" * 100_000, "application/json"),
        ([], "application/json"),
        (None, "application/json"),
        ({}, "application/json"),
        ({"error": {"message": "no"}}, "application/json"),
        ({"choices": None}, "application/json"),
        ({"choices": []}, "application/json"),
        ({"choices": [None]}, "application/json"),
        ({"choices": [{"message": None}]}, "application/json"),
        ({"choices": [{"message": {"content": [{"type": "text"}]}}]}, "application/json"),
    ],
)
def test_body_of_another_kind_is_an_error(server: ChatServer, chat: OpenAIChat, body: Any, content_type: str) -> None:
    server.reply(body, content_type=content_type)
    error = failure(lambda: chat.complete("s", "u"))
    assert "does not speak OpenAI's chat format" in str(error)


def test_pages_of_html_are_not_repeated(server: ChatServer, chat: OpenAIChat) -> None:
    server.reply("<html>Not here</html>", status=404, content_type="text/html")
    assert "html" not in str(failure(lambda: chat.complete("s", "u")))


def sdk_errors(root: type[openai.OpenAIError] = openai.OpenAIError) -> list[type[openai.OpenAIError]]:
    """Every exception class of the SDK that a request can raise, and some that it cannot."""
    found = {root}
    for child in root.__subclasses__():
        found |= set(sdk_errors(child))
    return sorted(found, key=lambda kind: kind.__name__)


SDK_ERRORS = sdk_errors()
MAPPED = {
    openai.APIConnectionError: "No chat server can be reached",
    openai.APITimeoutError: "did not answer within",
    openai.AuthenticationError: "refuses the key",
    openai.PermissionDeniedError: "does not let this key",
    openai.NotFoundError: "does not find the model",
    openai.RateLimitError: "takes no more requests",
    openai.InternalServerError: "failed (HTTP",
    openai.BadRequestError: "rejects the request (HTTP",
    openai.UnprocessableEntityError: "rejects the request (HTTP",
    openai.ConflictError: "rejects the request (HTTP",
    openai.APIError: "cannot be asked (APIError)",
    openai.OpenAIError: "cannot be asked (OpenAIError)",
}


def instance(kind: type[openai.OpenAIError]) -> openai.OpenAIError:
    """An exception of the class, made as the SDK makes it: arguments by their names."""
    request = httpx2.Request("POST", f"http://user:{KEY}@localhost/v1")
    status = getattr(kind, "status_code", 500)
    completion = openai.types.chat.ChatCompletion.construct()
    values: dict[str, Any] = {
        "message": f"with {KEY}",
        "request": request,
        "response": httpx2.Response(status if isinstance(status, int) else 500, request=request),
        "body": {"message": f"with {KEY}"},
        "completion": completion,
        "unsent_messages": [],
        "symbol": "ChatCompletion",
    }
    if kind.__init__ is openai.OpenAIError.__init__:
        return kind(values["message"])
    parameters = inspect.signature(kind).parameters.values()
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return kind(**{each.name: values[each.name] for each in parameters if each.kind in kinds})


def test_the_walk_sees_the_sdks_errors() -> None:
    exported = {getattr(openai, name) for name in openai.__all__ if name.endswith("Error")}
    exported = {kind for kind in exported if issubclass(kind, openai.OpenAIError)}
    assert exported <= set(SDK_ERRORS) and len(exported) >= 14


@pytest.mark.parametrize("kind", SDK_ERRORS, ids=lambda kind: kind.__name__)
def test_every_sdk_error_becomes_a_model_error(
    chat: OpenAIChat, monkeypatch: pytest.MonkeyPatch, kind: type[openai.OpenAIError]
) -> None:
    def send(*args: Any, **options: Any) -> httpx2.Response:
        raise instance(kind)

    # Under the SDK, because a server cannot cause them all; the SDK passes its own exceptions on.
    monkeypatch.setattr(httpx2.Client, "send", send)
    error = failure(lambda: chat.complete("s", "u"))
    assert MAPPED.get(kind, "The chat server at http://127.0.0.1:") in str(error)
