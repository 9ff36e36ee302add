"""What a block's calls of a chat model use, told aside, so that `ChatModel` stays as small as it is."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from email.utils import mktime_tz, parsedate_tz
from typing import Any

import openai


@dataclass
class Calls:
    """Tokens as the server counts them, of answers that could not be used too; 0 where it does not count.

    With `patient` false a busy server is not asked again: ModelError.wait says how long to wait.
    """

    patient: bool = True
    prompt_tokens: int = 0
    answer_tokens: int = 0

    def add(self, usage: Any) -> None:
        """The `usage` of an answer, as OpenAI words it; anything else counts nothing."""
        if isinstance(usage, Mapping):
            self.prompt_tokens += _count(usage.get("prompt_tokens"))
            self.answer_tokens += _count(usage.get("completion_tokens"))


_CALLS: ContextVar[Calls | None] = ContextVar("calls", default=None)


@contextmanager
def calls(*, patient: bool = True) -> Iterator[Calls]:
    """Counts what is asked within the block, on its thread."""
    counted = Calls(patient=patient)
    token = _CALLS.set(counted)
    try:
        yield counted
    finally:
        _CALLS.reset(token)


def current_calls() -> Calls:
    """Those of the innermost block; outside of any, ones that nobody reads."""
    return _CALLS.get() or Calls()


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def wait_of(error: openai.OpenAIError) -> float | None:
    """`ModelError.wait` of what the SDK raised: a rate limit, a server's failure and a broken connection pass."""
    if isinstance(error, openai.APIConnectionError):
        return None if isinstance(error, openai.APITimeoutError) else 0.0
    if not isinstance(error, openai.APIStatusError) or error.code == "insufficient_quota":
        return None
    headers = error.response.headers
    if headers.get("x-should-retry") == "false" or not (
        error.status_code in (408, 409, 429) or error.status_code >= 500
    ):
        return None
    for header, seconds in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        if (text := headers.get(header)) is not None and (asked := _seconds(text)) is not None:
            return asked * seconds
    return 0.0


def _seconds(text: str) -> float | None:
    """Of a header's number or date; None if it is neither."""
    try:
        found = float(text)
    except ValueError:
        try:
            date = parsedate_tz(text)
            found = mktime_tz(date) - time.time() if date else math.nan
        except (ValueError, OverflowError, OSError):
            return None
    return None if math.isnan(found) else max(found, 0.0)
