"""A scripted OpenAI-compatible chat server: a test queues replies and faults, then asserts what was asked.

    with ChatServer() as server:
        server.say("Paris")
        server.stream(["Par", "is"])
        ...
    assert server.requests[0].body["messages"] == ...

Leaving the block fails if a reply was not fetched or a request was not expected.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

PARIS_WITH_THOUGHTS = (
    "<think>Hm.\nFrance?</think>\n\nParis",
    "<think></think>Paris",
    "<think>a</think><think>b</think> Paris",
    "<think>a</think> Paris <think>\nb</think>",
    "Paris<think>a\nb</think>",
    "Hm, France?\n</think>\nParis",
)
"""Answers of models that think aloud; each says Paris."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """What the server was asked. Header names are in lower case; `time` is in seconds, to compare two."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    time: float


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What it answers, after `delay` seconds. A `Content-Length` in the headers replaces the true one.

    `parts` are sent one by one instead of a body, and the connection is closed after them.
    """

    status: int = 200
    body: bytes = b""
    parts: Iterable[bytes] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0


class ChatServer:
    """Listens on a free port of 127.0.0.1 while its block runs.

    `gone` is set when a client has closed its connection before it was told everything.
    """

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.gone = threading.Event()
        self._replies: deque[Reply] = deque()
        self._by: Callable[[Request], Reply] | None = None
        self._unexpected: list[Request] = []
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        """The base URL for a client."""
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def say(self, content: str | None, *, finish_reason: str = "stop", delay: float = 0.0, **message: Any) -> None:
        """Queue a model's answer; `message` adds fields to it, such as `refusal` or `tool_calls`."""
        choice = {
            "index": 0,
            "finish_reason": finish_reason,
            "message": {"role": "assistant", "content": content, **message},
        }
        self.reply(
            {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]},
            delay=delay,
        )

    def stream(self, pieces: Iterable[str | Mapping[str, Any]], *, finish_reason: str | None = "stop") -> None:
        """Queue a model's answer in pieces: texts, or deltas with other fields, such as `refusal`.

        They are fetched while they are sent, so a generator can wait for something, or never end. Without a
        `finish_reason` the stream breaks off after them.
        """
        self.reply(_events(pieces, finish_reason), content_type="text/event-stream; charset=utf-8")

    def reply(
        self,
        body: Any,
        *,
        status: int = 200,
        content_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
        delay: float = 0.0,
    ) -> None:
        """Queue any response; a body that is not text is sent as JSON, an iterator of bytes part by part."""
        parts = body if isinstance(body, Iterator) else None
        text = body if isinstance(body, str) else "" if parts else json.dumps(body)
        self._replies.append(
            Reply(
                status=status,
                body=text.encode(),
                parts=parts,
                headers={"Content-Type": content_type, **(headers or {})},
                delay=delay,
            )
        )

    def answer(self, by: Callable[[Request], Reply]) -> None:
        """From now on whatever finds no reply queued is answered by this, on the thread of the request."""
        self._by = by

    def fail(self, status: int, message: str, *, headers: Mapping[str, str] | None = None, **error: Any) -> None:
        """Queue an error as OpenAI words it; `error` adds fields to it, such as `param`."""
        self.reply({"error": {"message": message, **error}}, status=status, headers=headers)

    def __enter__(self) -> ChatServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
        if error is None:
            assert not self._replies, f"{len(self._replies)} replies were not fetched"
            assert not self._unexpected, f"{len(self._unexpected)} requests had no reply queued"

    def _next(self, request: Request) -> Reply:
        with self._lock:
            self.requests.append(request)
            if self._replies:
                return self._replies.popleft()
            if self._by is None:
                self._unexpected.append(request)
        return self._by(request) if self._by else Reply(status=418, body=b"no reply is queued")

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                headers = {name.lower(): value for name, value in self.headers.items()}
                request = Request(path=self.path, headers=headers, body=body, time=time.monotonic())
                reply = outer._next(request)
                outer._closing.wait(reply.delay)
                try:
                    self.send_response(reply.status)
                    length = {"Content-Length": str(len(reply.body))} if reply.parts is None else {}
                    for name, value in {**length, **reply.headers}.items():
                        self.send_header(name, value)
                    self.end_headers()
                    for part in (reply.body,) if reply.parts is None else reply.parts:
                        self.wfile.write(part)
                except ConnectionError:
                    outer.gone.set()

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler


def said(content: str | None, *, finish_reason: str = "stop", delay: float = 0.0, usage: Any = None) -> Reply:
    """A model's answer, for `ChatServer.answer`."""
    choice = {"index": 0, "finish_reason": finish_reason, "message": {"role": "assistant", "content": content}}
    body = {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], "usage": usage}
    return Reply(body=json.dumps(body).encode(), headers={"Content-Type": "application/json"}, delay=delay)


def event(data: Any) -> str:
    """One event of a stream; data that is not text is sent as JSON."""
    return f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n"


def chunk(delta: Mapping[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    """A part of a model's answer, as the API words it."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [choice]}


def _events(pieces: Iterable[str | Mapping[str, Any]], finish_reason: str | None) -> Iterator[bytes]:
    for piece in pieces:
        yield event(chunk({"content": piece} if isinstance(piece, str) else piece)).encode()
    if finish_reason is not None:
        yield (event(chunk({}, finish_reason)) + event("[DONE]")).encode()
