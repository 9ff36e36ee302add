"""One answer after another from a chat model on several threads: kept once paid for, and a busy server waited out."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Any

from kgcore.errors import ModelError
from kgcore.ingest.cache import AnswerCache
from kgcore.ingest.prompt import Prompt
from kgcore.models.call import Calls, calls
from kgcore.models.protocol import ChatModel

BACKOFF = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0)
"""Seconds before each new try where the server does not say; as many tries are made where it does."""
PATIENCE = 600.0
"""Seconds that one passage waits for a busy server, in all."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a model answered, None with the error instead; without `used` it comes from the cache."""

    answer: dict[str, Any] | None = None
    used: Calls | None = None
    error: ModelError | None = None


class EndedError(Exception):
    """Nobody waits for this answer any more, and it was not asked for."""


class Asking:
    """Asks on the thread of each caller; once `ended` is set nothing new is asked, on any of them.

    A wait that the server named holds for all threads, one that it did not for the passage that met it.
    """

    def __init__(self, model: ChatModel, cache: AnswerCache) -> None:
        self.model = model
        self.cache = cache
        self.ended = threading.Event()
        self._lock = threading.Lock()
        self._until = 0.0
        self._said = ""
        self._waiting: dict[int, tuple[float, str]] = {}
        self._in_vain = False

    def ask(self, prompt: Prompt, key: str) -> Answer:
        """The model's answer, kept in the cache, or the error that waiting does not help against.

        Raises EndedError, and ConfigError for a cache that cannot be written.
        """
        until, said, waited, tries = 0.0, "", 0.0, 0
        with calls(patient=False) as used:
            while True:
                self._wait(until, said)
                known = self.cache.get(key)  # another process may have asked meanwhile
                if known is not None:
                    return Answer(answer=known)
                try:
                    answer = self.model.complete_json(prompt.system, prompt.user, prompt.schema)
                except ModelError as error:
                    pause = self._pause(error, tries, waited)
                    if pause is None:
                        return Answer(used=used, error=error)
                    tries, waited = tries + 1, waited + pause
                    until, said = time.monotonic() + pause, str(error)
                    if error.wait:
                        self._hold(until, said)
                else:
                    self.cache.put(key, answer)
                    self._in_vain = False
                    return Answer(answer=answer, used=used)

    def busy(self) -> tuple[float, str]:
        """The seconds until a waiting passage is asked again, and what the server said; 0 and "" if none waits."""
        with self._lock:
            until, said = min(self._waiting.values(), default=(0.0, ""))
        left = until - time.monotonic()
        return (left, said) if left > 0 else (0.0, "")

    def _pause(self, error: ModelError, tries: int, waited: float) -> float | None:
        """The seconds to wait after an error; None if it is no use."""
        if error.wait is None:
            return None
        if self._in_vain or tries >= len(BACKOFF):
            self._in_vain = True  # until something is answered, no other passage waits as long
            return None
        pause = error.wait or BACKOFF[tries]
        if waited + pause > PATIENCE:
            self._in_vain = True
            return None
        return pause

    def _hold(self, until: float, said: str) -> None:
        with self._lock:
            self._until, self._said = max((self._until, self._said), (until, said))

    def _wait(self, until: float, said: str) -> None:
        """Until this passage's turn comes and the server takes requests again."""
        me = threading.get_ident()
        try:
            while True:
                with self._lock:
                    turn = max((until, said), (self._until, self._said))
                    left = turn[0] - time.monotonic()
                    if left > 0:
                        self._waiting[me] = turn
                if self.ended.wait(max(left, 0.0)):
                    raise EndedError
                if left <= 0:
                    return
        finally:
            with self._lock:
                self._waiting.pop(me, None)
