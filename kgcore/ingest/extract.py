"""Passages read by a chat model: several at a time, in order, each paid for once, and only what a passage supports."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from itertools import islice

from kgcore.errors import ConfigError, ModelError
from kgcore.ingest.ask import Answer, Asking
from kgcore.ingest.cache import AnswerCache, answer_key
from kgcore.ingest.ontology import Rules, ontology_fault
from kgcore.ingest.prompt import Prompt, passage_prompt
from kgcore.ingest.said import Mention, Said, SetAside, supported
from kgcore.models.protocol import ChatModel
from kgcore.types import Chunk, Ontology

__all__ = ["Mention", "Read", "Said", "SetAside", "Tally", "extract"]

MAX_WORKERS = 64
FAILED_IN_A_ROW = 20
"""Passages without one answer in between, after which the model is not asked any more."""
_AHEAD = 8
_POLL = 0.2
_REPORT = 1.0


@dataclass(frozen=True, kw_only=True)
class Read:
    """What a model said of one passage.

    `mentions` are the entities that the passage names, `facts` what it supports, `set_aside` what it does not. With
    `error` there are none of them, and the passage is asked again the next time. `tokens` are those of this run: 0 for
    an answer from the cache (`cached`), and where the server does not count.
    """

    chunk: Chunk
    mentions: tuple[Mention, ...] = ()
    facts: tuple[Said, ...] = ()
    set_aside: tuple[SetAside, ...] = ()
    tokens: int = 0
    cached: bool = False
    error: ModelError | None = None


@dataclass(frozen=True, kw_only=True)
class Tally:
    """How far an extraction has come: passages `done` of `total`, those among them that came from the cache or failed,
    and what was found. `seconds` have passed since the first was asked; tokens are 0 where the server does not count.

    `waiting` is the seconds until a busy server is asked again, and `why` what it said; 0 and "" if it is not busy.
    """

    total: int
    done: int = 0
    cached: int = 0
    failed: int = 0
    facts: int = 0
    set_aside: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    seconds: float = 0.0
    to_ask: int = 0
    waiting: float = 0.0
    why: str = ""

    @property
    def rate(self) -> float:
        """Passages a minute that the model has read in this run, without those from the cache."""
        return 60 * (self.done - self.cached) / self.seconds if self.seconds else 0.0

    @property
    def seconds_left(self) -> float | None:
        """For the passages that are still to be asked, at this rate; None before there is one."""
        return 60 * self.to_ask / self.rate if self.rate else None if self.to_ask else 0.0


def extract(
    chunks: Sequence[Chunk],
    ontology: Ontology,
    model: ChatModel,
    cache: AnswerCache,
    *,
    workers: int = 4,
    stopped: Callable[[], bool] = lambda: False,
    progress: Callable[[Tally], None] | None = None,
) -> Iterator[Read]:
    """What the model says of each passage, in their order, `workers` asked at a time.

    An answer is in `cache` before it is given, and is never asked for again: stopped or killed, the same call goes on
    where it was. A rate limit, a server's failure and a broken connection are waited out; a passage that fails is
    given with its error, and the others go on. Once `stopped()` is true nothing is asked or given any more; what is
    under way goes into the cache. `progress` is called before each passage is given, and about every second in between.
    Raises ConfigError for an ontology that is wrong, workers out of bounds and a cache that cannot be written;
    ModelError when FAILED_IN_A_ROW passages have failed without an answer in between.
    """
    if fault := ontology_fault(ontology):
        raise ConfigError(f"The ontology cannot be used: {fault}.", remedy="Correct the ontology.", field="ontology")
    if not 1 <= workers <= MAX_WORKERS:
        raise ConfigError(
            f"There can be 1 to {MAX_WORKERS} workers.", remedy="Set another number of workers.", field="workers"
        )
    return _Extraction(chunks, ontology, Asking(model, cache), workers, stopped, progress).run()


class _Extraction:
    """One run: which passages are under way, and what has been counted."""

    def __init__(
        self,
        chunks: Sequence[Chunk],
        ontology: Ontology,
        asking: Asking,
        workers: int,
        stopped: Callable[[], bool],
        progress: Callable[[Tally], None] | None,
    ) -> None:
        self.chunks, self.ontology, self.asking = chunks, ontology, asking
        self.workers, self.stopped, self.progress = workers, stopped, progress
        self.rules = Rules(ontology)
        self.tally = Tally(total=len(chunks))
        self._known: set[str] = set()  # keys of answers in the cache
        self._asked: dict[str, Future[Answer]] = {}  # those under way, and those that failed
        self._counted: set[str] = set()
        self._in_a_row = 0
        self._began: float | None = None
        self._reported = 0.0

    def run(self) -> Iterator[Read]:
        """The passages read, in order."""
        keys = [answer_key(self.asking.model.name, self._prompt(chunk)) for chunk in self.chunks]
        self._known = self.asking.cache.known(keys)
        self.tally = replace(self.tally, to_ask=sum(key not in self._known for key in keys))
        pool = ThreadPoolExecutor(self.workers, thread_name_prefix="extract")
        coming = zip(self.chunks, keys, strict=True)
        under_way: deque[tuple[Chunk, str, Future[Answer] | None]] = deque()
        try:
            while not self.stopped():
                for chunk, key in islice(coming, self.workers * _AHEAD - len(under_way)):
                    under_way.append((chunk, key, None if key in self._known else self._submit(pool, chunk, key)))
                if not under_way:
                    return
                chunk, key, future = under_way.popleft()
                answer = self._answer(pool, chunk, key, future)
                if answer is None:
                    return
                yield self._read(chunk, key, answer, asked=future is not None)
                self._check(answer)
        finally:
            self.asking.ended.set()
            pool.shutdown(wait=False, cancel_futures=True)

    def _prompt(self, chunk: Chunk) -> Prompt:
        return passage_prompt(chunk.content, self.ontology)

    def _submit(self, pool: ThreadPoolExecutor, chunk: Chunk, key: str) -> Future[Answer]:
        """The answer to come; passages of one text have the same."""
        self._began = self._began or time.monotonic()
        if key not in self._asked:
            self._asked[key] = pool.submit(self.asking.ask, self._prompt(chunk), key)
        return self._asked[key]

    def _answer(self, pool: ThreadPoolExecutor, chunk: Chunk, key: str, future: Future[Answer] | None) -> Answer | None:
        """A passage's answer when it is there; None once the run is stopped."""
        if key in self._known:
            known = self.asking.cache.get(key)
            if known is not None:
                return Answer(answer=known)
            future = None  # the cache was cleared meanwhile
        future = future or self._submit(pool, chunk, key)
        while not wait([future], timeout=_POLL).done:
            if self.stopped():
                return None
            if time.monotonic() - self._reported >= _REPORT:
                self._report()
        return future.result()

    def _read(self, chunk: Chunk, key: str, answer: Answer, *, asked: bool) -> Read:
        used = answer.used if key in self._asked and key not in self._counted else None
        self._counted.add(key)
        if answer.error is None:
            self._known.add(key)
            self._asked.pop(key, None)
        found = supported(chunk.content, answer.answer or {}, self.rules)
        read = Read(
            chunk=chunk,
            mentions=found.mentions,
            facts=found.facts,
            set_aside=found.set_aside,
            tokens=used.prompt_tokens + used.answer_tokens if used else 0,
            cached=answer.used is None,
            error=answer.error,
        )
        tally = self.tally
        self.tally = replace(
            tally,
            done=tally.done + 1,
            cached=tally.cached + read.cached,
            failed=tally.failed + (read.error is not None),
            facts=tally.facts + len(read.facts),
            set_aside=tally.set_aside + len(read.set_aside),
            prompt_tokens=tally.prompt_tokens + (used.prompt_tokens if used else 0),
            answer_tokens=tally.answer_tokens + (used.answer_tokens if used else 0),
            to_ask=tally.to_ask - asked,
        )
        self._report()
        return read

    def _report(self) -> None:
        self._reported = time.monotonic()
        if self.progress is not None:
            waiting, why = self.asking.busy()
            seconds = self._reported - self._began if self._began else 0.0
            self.progress(replace(self.tally, seconds=seconds, waiting=waiting, why=why))

    def _check(self, answer: Answer) -> None:
        """Ends the run once the model fails at everything. Raises ModelError."""
        if answer.used is not None:
            self._in_a_row = self._in_a_row + 1 if answer.error else 0
        if answer.error is not None and self._in_a_row >= FAILED_IN_A_ROW and self.tally.to_ask:
            raise ModelError(
                f"{self._in_a_row} passages in a row could not be read. The last time: {answer.error}",
                remedy=answer.error.remedy,
            )
