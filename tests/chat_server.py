"""A scripted OpenAI-compatible chat server: a test queues replies and faults, then asserts what was asked.

    with ChatServer() as server:
        server.say("Paris")
        ...
    assert server.requests[0].body["messages"] == ...

Leaving the block fails if a reply was not fetched or a request was not expected.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Request:
    """What the server was asked. Header names are in lower case; `time` is in seconds, to compare two."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    time: float


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What it answers, after `delay` seconds. A `Content-Length` in the headers replaces the true one."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0


class ChatServer:
    """Listens on a free port of 127.0.0.1 while its block runs."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self._replies: deque[Reply] = deque()
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

    def reply(
        self,
        body: Any,
        *,
        status: int = 200,
        content_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
        delay: float = 0.0,
    ) -> None:
        """Queue any response; a body that is not text is sent as JSON."""
        text = body if isinstance(body, str) else json.dumps(body)
        self._replies.append(
            Reply(
                status=status,
                body=text.encode(),
                headers={"Content-Type": content_type, **(headers or {})},
                delay=delay,
            )
        )

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
            self._unexpected.append(request)
            return Reply(status=418, body=b"no reply is queued")

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
                    for name, value in {"Content-Length": str(len(reply.body)), **reply.headers}.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(reply.body)
                except ConnectionError:
                    pass  # The client did not wait for the answer.

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler
