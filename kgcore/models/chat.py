"""A chat model behind any OpenAI-compatible server: OpenAI, Ollama, LM Studio, vLLM, llama.cpp.

Servers differ in what they allow. What one rejects is left out, and not sent again by the same instance.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

import httpx2
import openai
from pydantic import SecretStr

from kgcore.config import Config
from kgcore.errors import ConfigError, ModelError

MAX_TOKENS = 4096
MAX_RETRIES = 2
_NO_KEY = "none"
_SAID_LENGTH = 200
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
        "Try again; if it stays so, read the server's log.",
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

# How a server names what it rejects. Servers that count the answer's tokens against the model's context
# complain about the sum, "(300 in the messages, 4096 in the completion)", and do answer without a limit.
_REJECTED = {
    "response_format": re.compile(r"response.?format|json.?schema|json.?object|grammar", re.IGNORECASE),
    "temperature": re.compile(r"temperature", re.IGNORECASE),
    "max_tokens": re.compile(r"max_(completion_)?tokens|in the completion", re.IGNORECASE),
}
_TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "number": (int, float),
    "integer": int,
    "boolean": bool,
    "null": type(None),
}
_FENCED = re.compile(r"```\w*\s(.*?)```", re.DOTALL)
_OPENING = re.compile(r"[{\[]")
# A string, to its end or to the text's, or a bracket. Possessive: linear in the text, whatever it holds.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"?|[{}\[\]]', re.DOTALL)


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
        self._dialect = _Dialect()
        self._client = openai.OpenAI(
            base_url=base_url.strip(),
            api_key=self._key.get_secret_value() or _NO_KEY,
            timeout=timeout,
            max_retries=MAX_RETRIES,
            http_client=_HttpClient(),
        )

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

    def complete(self, system: str, user: str) -> str:
        """The answer's text, without any reasoning the model wrote before it. Raises ModelError."""
        return self._read(self._ask(system, user, None))

    def complete_json(self, system: str, user: str, schema: Mapping[str, Any]) -> dict[str, Any]:
        """An object with the schema's required keys and top-level types; ModelError for any other."""
        # Also in the prompt, because some servers accept a response_format and ignore it.
        system = f"{system}\n\n{_AS_JSON}\n{json.dumps(dict(schema), ensure_ascii=False)}"
        answer = _find_object(self._read(self._ask(system, user, schema)))
        fault = "has no complete JSON object" if answer is None else _find_fault(answer, schema)
        if answer is None or fault:
            raise self._unusable(fault, "Give it less text at once, or use a model that is better at JSON.")
        return answer

    def _ask(self, system: str, user: str, schema: Mapping[str, Any] | None) -> str:
        """The body of the server's response."""
        first = dialect = self._dialect
        while True:
            options = self._options(dialect, schema)
            try:
                response = self._client.chat.completions.with_raw_response.create(
                    model=self.name,
                    messages=[{"role": "system", "content": system}, {"role": "user", "content": user}],
                    **options,
                )
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                simpler = _simplify(dialect, options, error)
                if simpler is None:
                    raise self._explain(error) from None
                dialect = simpler
            except openai.OpenAIError as error:
                # Without its cause, because a server may repeat the key in what it says.
                raise self._explain(error) from None
            else:
                if dialect is not first:
                    self._dialect = dialect
                return response.text

    def _options(self, dialect: _Dialect, schema: Mapping[str, Any] | None) -> dict[str, Any]:
        options: dict[str, Any] = {}
        if dialect.temperature:
            options["temperature"] = self._temperature
        if dialect.limit:
            options[dialect.limit] = self._max_tokens
        if schema is not None and dialect.format:
            options["response_format"] = {"type": dialect.format}
            if dialect.format == "json_schema":
                options["response_format"]["json_schema"] = {"name": "answer", "schema": dict(schema)}
        return options

    def _read(self, body: str) -> str:
        """The answer's text in a response."""
        try:
            choice = json.loads(body)["choices"][0]
            message, finish = choice["message"], choice.get("finish_reason")
            content, refusal = message.get("content") or "", message.get("refusal")
            text = _drop_thoughts(content)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise ModelError(
                f"What answers at {self._server} does not speak OpenAI's chat format.",
                remedy="Correct HOPSCOPE_CHAT_URL: the API's base URL, which often ends in /v1.",
            ) from None
        if finish == "length" or text.startswith("<think>"):
            raise self._unusable("was cut off", "Give it less text at once, or use a model that thinks less.")
        if refusal or finish == "content_filter":
            raise self._unusable("is a refusal", "Ask in other words, or use another model.")
        if not text:
            raise self._unusable("is empty", "Try again, or use another model.")
        return text

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
        return ModelError(message.format(**words), remedy=remedy.format(**words))

    def _said(self, error: openai.OpenAIError) -> str:
        body = getattr(error, "body", None)
        if isinstance(body, Mapping):
            body = body.get("message") or body.get("detail")
        if not isinstance(body, str) or not body.strip() or body.lstrip().startswith("<"):
            return ""
        if self._key:
            body = body.replace(self._key.get_secret_value(), "***")
        text = " ".join(body.split())
        return f" It says: {text if len(text) <= _SAID_LENGTH else text[:_SAID_LENGTH] + '…'}"


@dataclass(frozen=True, kw_only=True)
class _Dialect:
    """What a server accepts: the option's name for the limit and the format; empty for none."""

    temperature: bool = True
    limit: str = "max_tokens"
    format: str = "json_schema"


class _HttpClient(openai.DefaultHttpxClient):
    """Gives up after one timeout, where the SDK would wait as long twice more; other faults it retries."""

    def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        try:
            return super().send(request, **options)
        except httpx2.TimeoutException as error:
            raise openai.APITimeoutError(request) from error


def _simplify(dialect: _Dialect, options: Mapping[str, Any], error: openai.APIStatusError) -> _Dialect | None:
    """The dialect without the option that the server rejects; None if it rejects none of those sent."""
    body = str(error.body)
    for text in (error.param or "", body):
        if "response_format" in options and _REJECTED["response_format"].search(text):
            return replace(dialect, format="json_object" if dialect.format == "json_schema" else "")
        if dialect.temperature and _REJECTED["temperature"].search(text):
            return replace(dialect, temperature=False)
        if dialect.limit and _REJECTED["max_tokens"].search(text):
            renamed = dialect.limit == "max_tokens" and "max_completion_tokens" in body
            return replace(dialect, limit="max_completion_tokens" if renamed else "")
    return None


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


def _drop_thoughts(text: str) -> str:
    text = re.sub(r"<think>.*?</think>", "", text, flags=re.DOTALL)
    # Some prompts open the block themselves, so that the answer holds only its end.
    return text.rpartition("</think>")[2].strip()


def _find_object(text: str) -> dict[str, Any] | None:
    """The first JSON object in a fenced block, else in the text; never a piece of a larger or broken one."""
    for source in (*_FENCED.findall(text), text):
        end = 0
        while opening := _OPENING.search(source, end):
            end = _find_end(source, opening.start())
            try:
                value = json.loads(source[opening.start() : end])
            except (ValueError, RecursionError):
                continue
            if isinstance(value, dict):
                return value
    return None


def _find_end(text: str, start: int) -> int:
    """Where the bracket that opens at start is closed; the text's end if it is not."""
    depth = 0
    for token in _TOKEN.finditer(text, start):
        depth += (token[0] in "{[") - (token[0] in "}]")
        if depth == 0:
            return token.end()
    return len(text)


def _find_fault(answer: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """What is wrong with an answer, to follow "The answer"; empty if nothing is."""
    properties: Mapping[str, Any] = schema.get("properties", {})
    missing = [key for key in schema.get("required", ()) if key not in answer]
    echoed = any(key in answer and key not in properties for key in ("$schema", "properties"))
    if echoed and (missing or not schema.get("required")):
        return "is the schema itself, not filled in"
    if missing:
        return f"lacks {', '.join(missing)}"
    for key, value in answer.items():
        kinds = properties.get(key, {}).get("type", [])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        if kinds and not any(_is(value, kind) for kind in kinds):
            return f"has a {key} that is not of type {' or '.join(kinds)}"
    return ""


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _TYPES.get(kind, object))
