"""A chat model behind any OpenAI-compatible server: OpenAI, Ollama, LM Studio, vLLM, llama.cpp.

Servers differ in what they allow. What one rejects is left out, and not sent again by the same instance.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx2
import openai
from openai.types.chat import ChatCompletionChunk
from pydantic import SecretStr

from kgcore.config import Config
from kgcore.errors import ConfigError, ModelError
from kgcore.models.call import current_calls, wait_of
from kgcore.models.dialect import Dialect
from kgcore.models.structured import find_fault, find_object
from kgcore.models.thoughts import CLOSE, OPEN, ThoughtFilter, drop_thoughts
from kgcore.text import whole_characters

MAX_TOKENS = 4096
MAX_RETRIES = 2
_NO_KEY = "none"
_SAID_LENGTH = 200
_AGAIN = "Try again; if it stays so, read the server's log."
_AS_JSON = "Answer with one JSON object that holds to this JSON schema, and nothing else:"

# The SDK's exceptions, the more special first. {said} is a space and the server's own words, if it gave any.
_ERRORS: tuple[tuple[type[openai.OpenAIError], str, str], ...] = (
    (
        openai.AuthenticationError,
        "The chat server at {server} refuses the key.",
        "Set HOPSCOPE_CHAT_KEY to a key that this server accepts.",
    ),
    (
        openai.PermissionDeniedError,
        "The chat server at {server} does not let this key use the model {model}.{said}",
        "Use a key that may, or set HOPSCOPE_CHAT_MODEL to another model.",
    ),
    (
        openai.NotFoundError,
        "The chat server at {server} does not find the model {model}, or has no chat at this address.{said}",
        "Correct HOPSCOPE_CHAT_MODEL, or HOPSCOPE_CHAT_URL: the API's base URL, which often ends in /v1.",
    ),
    (
        openai.RateLimitError,
        "The chat server at {server} takes no more requests for now.{said}",
        "Wait a little and try again, or raise the limits of the key's account.",
    ),
    (
        openai.InternalServerError,
        "The chat server at {server} failed (HTTP {status}).{said}",
        _AGAIN,
    ),
    (
        openai.APITimeoutError,
        "The chat server at {server} did not answer within {timeout:g} seconds.",
        "Raise HOPSCOPE_CHAT_TIMEOUT, or use a smaller or faster model.",
    ),
    (
        openai.APIConnectionError,
        "No chat server can be reached at {server}.",
        "Start the server, or correct HOPSCOPE_CHAT_URL.",
    ),
    (
        openai.APIStatusError,
        "The chat server at {server} rejects the request (HTTP {status}).{said}",
        "Check that {model} is a chat model, and that the text is not too long for it.",
    ),
    (
        openai.OpenAIError,
        "The chat server at {server} cannot be asked ({kind}).",
        "Check HOPSCOPE_CHAT_URL and HOPSCOPE_CHAT_MODEL, and try again.",
    ),
)

# What reading a body of another shape can raise.
_SHAPELESS = (ValueError, LookupError, TypeError, AttributeError, RecursionError)

Answer = TypeVar("Answer")


class OpenAIChat:
    """`ChatModel` by the openai SDK; safe to share between threads.

    `timeout` is in seconds. An answer longer than `max_tokens` is an error, not half an answer. Raises
    ConfigError if `base_url` is not http(s) or holds credentials, or if `api_key` cannot be sent.
    """

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        api_key: SecretStr | str = "",
        timeout: float = 60.0,
        temperature: float = 0.0,
        max_tokens: int = MAX_TOKENS,
    ) -> None:
        self.name = model
        self._server = _check_url(base_url.strip())
        self._key = _check_key(api_key)
        self._timeout = timeout
        self._temperature = temperature
        self._max_tokens = max_tokens
        self._dialect = Dialect()
        self._thinks_unopened = False
        self._client = openai.OpenAI(
            base_url=base_url.strip(),
            api_key=self._key.get_secret_value() or _NO_KEY,
            timeout=timeout,
            max_retries=MAX_RETRIES,
            http_client=_HttpClient(),
        )
        self._at_once = self._client.with_options(max_retries=0)

    @classmethod
    def from_config(cls, config: Config) -> OpenAIChat | None:
        """The chat model of the settings; None when its URL or its name is not set."""
        if not config.has_chat:
            return None
        return cls(
            base_url=config.chat_url,
            model=config.chat_model.strip(),
            api_key=config.chat_key,
            timeout=config.chat_timeout,
        )

    def close(self) -> None:
        """Closes its connections."""
        self._client.close()

    def complete(self, system: str, user: str) -> str:
        """The answer's text, without any reasoning the model wrote before it. Raises ModelError."""
        return self._read(self._ask(system, user))

    def complete_json(self, system: str, user: str, schema: Mapping[str, Any]) -> dict[str, Any]:
        """An object with the schema's required keys and top-level types; ModelError for any other."""
        # Also in the prompt, because some servers accept a response_format and ignore it.
        system = f"{system}\n\n{_AS_JSON}\n{json.dumps(dict(schema), ensure_ascii=False)}"
        answer = find_object(self._read(self._ask(system, user, schema)))
        fault = "has no complete JSON object" if answer is None else find_fault(answer, schema)
        if answer is None or fault:
            raise self._unusable(fault, "Give it less text at once, or use a model that is better at JSON.")
        return answer

    def stream(self, system: str, user: str) -> Iterator[str]:
        """The same text in pieces, as the server writes them: a generator, and closing it closes the connection.

        Raises ModelError while iterating, after pieces too: what breaks off is no answer. A thought without a beginning
        is shown, with its `</think>`, the first time that the model writes one: see `ThoughtFilter`.
        """
        create = self._client.chat.completions.with_streaming_response.create
        prompt = self._prompt(system, user)
        with ExitStack() as connection:
            response = self._negotiate(
                lambda options: connection.enter_context(create(**prompt, **options)), stream=True
            )
            if "event-stream" in response.headers.get("content-type", ""):
                yield from self._pieces(response.parse())
            else:
                yield self._read(self._whole(response))

    def _ask(self, system: str, user: str, schema: Mapping[str, Any] | None = None) -> str:
        """The body of the server's response."""
        client = self._client if current_calls().patient else self._at_once
        create = client.chat.completions.with_raw_response.create
        prompt = self._prompt(system, user)
        return self._negotiate(lambda options: create(**prompt, **options).text, schema=schema)

    def _prompt(self, system: str, user: str) -> dict[str, Any]:
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        return {"model": self.name, "messages": messages}

    def _negotiate(
        self, send: Callable[[dict[str, Any]], Answer], *, schema: Mapping[str, Any] | None = None, stream: bool = False
    ) -> Answer:
        """What the server answers, asked again without each option that it rejects."""
        first = dialect = self._dialect
        while True:
            options = dialect.options(
                temperature=self._temperature, max_tokens=self._max_tokens, schema=schema, stream=stream
            )
            try:
                answer = send(options)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                simpler = dialect.without_rejected(options, error)
                if simpler is None:
                    raise self._explain(error) from None
                dialect = simpler
            except openai.OpenAIError as error:
                # Without its cause, because a server may repeat the key in what it says.
                raise self._explain(error) from None
            except httpx2.HTTPError:
                raise self._broken_off() from None
            else:
                if dialect is not first:
                    self._dialect = dialect
                return answer

    def _read(self, body: str) -> str:
        """The answer's text in a response."""
        try:
            answer = json.loads(body)
            choice = answer["choices"][0]
            message, finish = choice["message"], choice.get("finish_reason")
            content, refusal = message.get("content") or "", message.get("refusal")
            text = drop_thoughts(whole_characters(content))
        except _SHAPELESS:
            raise self._foreign() from None
        current_calls().add(answer.get("usage"))
        self._thinks_unopened = self._thinks_unopened or (CLOSE in content and OPEN not in content)
        self._check(finish, refusal, is_cut=text.startswith(OPEN), is_empty=not text)
        return text

    def _whole(self, response: openai.APIResponse[Any]) -> str:
        """The body of a server that does not stream."""
        try:
            return response.text()
        except httpx2.TimeoutException:
            raise self._explain(openai.APITimeoutError(response.http_request)) from None
        except httpx2.HTTPError:
            raise self._broken_off() from None

    def _pieces(self, chunks: openai.Stream[ChatCompletionChunk]) -> Iterator[str]:
        """The text in a stream of chunks, without thoughts."""
        thoughts = ThoughtFilter(unopened=self._thinks_unopened)
        finish = refusal = None
        for text, refused, finish in self._deltas(chunks):  # noqa: B007 (the last one is looked at below)
            refusal = refusal or refused
            if shown := thoughts.feed(text):
                yield shown
        rest = thoughts.rest()
        if not finish:
            raise self._broken_off()
        self._check(finish, refusal, is_cut=rest is None, is_empty=not (thoughts.shown or rest))
        self._thinks_unopened = thoughts.unopened
        if rest:
            yield rest

    def _deltas(self, chunks: openai.Stream[ChatCompletionChunk]) -> Iterator[tuple[str, str | None, str | None]]:
        """The text and refusal that each chunk adds to the first choice, and why it ends, with the last one."""
        known = False
        try:
            for chunk in chunks:
                for choice in chunk.choices[:1]:
                    known = True
                    yield whole_characters(choice.delta.content or ""), choice.delta.refusal, choice.finish_reason
                    if choice.finish_reason:
                        return
        except openai.APITimeoutError as error:
            raise self._explain(error) from None
        except openai.APIError as error:
            raise self._broken_off(self._said(error)) from None
        except _SHAPELESS:
            raise self._foreign() from None
        if not known:
            raise self._foreign()

    def _check(self, finish: str | None, refusal: str | None, *, is_cut: bool, is_empty: bool) -> None:
        if finish == "length" or is_cut:
            raise self._unusable("was cut off", "Give it less text at once, or use a model that thinks less.")
        if refusal or finish == "content_filter":
            raise self._unusable("is a refusal", "Ask in other words, or use another model.")
        if is_empty:
            raise self._unusable("is empty", "Try again, or use another model.")

    def _foreign(self) -> ModelError:
        return ModelError(
            f"What answers at {self._server} does not speak OpenAI's chat format.",
            remedy="Correct HOPSCOPE_CHAT_URL: the API's base URL, which often ends in /v1.",
        )

    def _broken_off(self, said: str = "") -> ModelError:
        return ModelError(
            f"The chat server at {self._server} broke off in the middle of its answer.{said}", remedy=_AGAIN
        )

    def _unusable(self, fault: str, remedy: str) -> ModelError:
        return ModelError(f"The answer of the model {self.name} {fault}.", remedy=remedy)

    def _explain(self, error: openai.OpenAIError) -> ModelError:
        message, remedy = next((row[1], row[2]) for row in _ERRORS if isinstance(error, row[0]))
        words = {
            "server": self._server,
            "model": self.name,
            "timeout": self._timeout,
            "status": getattr(error, "status_code", ""),
            "kind": type(error).__name__,
            "said": self._said(error),
        }
        return ModelError(message.format(**words), remedy=remedy.format(**words), wait=wait_of(error))

    def _said(self, error: openai.OpenAIError) -> str:
        body = getattr(error, "body", None)
        if isinstance(body, Mapping):
            body = body.get("message") or body.get("detail")
        if not isinstance(body, str) or not body.strip() or body.lstrip().startswith("<"):
            return ""
        if self._key:
            body = body.replace(self._key.get_secret_value(), "***")
        text = " ".join(whole_characters(body).split())
        return f" It says: {text if len(text) <= _SAID_LENGTH else text[:_SAID_LENGTH] + '…'}"


class _HttpClient(openai.DefaultHttpxClient):
    """Gives up after one timeout, where the SDK would wait as long twice more; other faults it retries."""

    def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        try:
            return super().send(request, **options)
        except httpx2.TimeoutException as error:
            raise openai.APITimeoutError(request) from error


def _check_url(url: str) -> str:
    """The server as messages may show it, without the path."""
    try:
        parts, _ = urlsplit(url), httpx2.URL(url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except (ValueError, httpx2.InvalidURL):
        valid = False
    if not valid or re.search(r"[@?#\s]", url):
        raise ConfigError(
            "The chat server's URL cannot be used: it must be http(s)://, a host and a path only.",
            remedy="Set HOPSCOPE_CHAT_URL as in http://localhost:11434/v1, and the key in HOPSCOPE_CHAT_KEY.",
        )
    return f"{parts.scheme}://{parts.netloc}"


def _check_key(key: SecretStr | str) -> SecretStr:
    # A key that no header can hold would otherwise be printed by the HTTP library.
    text = (key.get_secret_value() if isinstance(key, SecretStr) else key).strip()
    if not (text.isascii() and text.isprintable()):
        raise ConfigError(
            "The chat server's key holds characters that no key has.", remedy="Copy HOPSCOPE_CHAT_KEY again."
        )
    return SecretStr(text)
