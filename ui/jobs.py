"""Work that may be slow, done beside the page: a rerun finds it again, and `Stop` ends it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Generic, TypeVar

import streamlit as st

from ui.runs import runs

QUICK = 0.3
"""Seconds within which nothing is said."""
_SHOWN_EVERY = 0.4  # seconds; the browser falls behind when it is told more often

Result = TypeVar("Result")


class Job(Generic[Result]):
    """One call in a thread of its own, which never touches the page. `text` is what a stream has given so far."""

    def __init__(self, work: Callable[[Job[Result]], Result]) -> None:
        self.text = ""
        self.stopped = False
        self._began = time.monotonic()
        self._ended = threading.Event()
        self._result: Result
        self._error: BaseException | None = None
        threading.Thread(target=self._run, args=(work,), daemon=True).start()

    @property
    def seconds(self) -> int:
        """Whole seconds since it began."""
        return int(time.monotonic() - self._began)

    def wait(self, seconds: float) -> bool:
        """Whether it has ended, at the latest after so many seconds."""
        return self._ended.wait(seconds)

    def stop(self) -> None:
        """Asks it to end; what it would still give is not used."""
        self.stopped = True

    def result(self) -> Result:
        """What the work gave, or the error that it raised."""
        self._ended.wait()
        if self._error is not None:
            raise self._error
        return self._result

    def _run(self, work: Callable[[Job[Result]], Result]) -> None:
        try:
            self._result = work(self)
        except BaseException as error:
            self._error = error
        finally:
            self._ended.set()


def job_of(kind: str, subject: object, work: Callable[[Job[Result]], Result]) -> Job[Result]:
    """This session's job of a kind, found again if it is of the same subject; another subject's is stopped."""
    jobs = runs().jobs
    held = jobs.get(kind)
    if held is None or held[0] != subject:
        if held is not None:
            held[1].stop()
        held = jobs[kind] = (subject, Job(work))
    found: Job[Result] = held[1]
    return found


def collect(job: Job[str], pieces: Iterator[str]) -> str:
    """The whole text, growing in `job.text`. A stop closes where the pieces come from."""
    with closing(pieces):  # type: ignore[type-var]
        for piece in pieces:
            job.text += piece
            if job.stopped:
                break
    return job.text


def wait_for(
    job: Job[Result], kind: str, what: str, *, on_stop: Callable[[], None], show: Callable[[], None] = lambda: None
) -> None:
    """Until the job ends. After a moment says what is waited for, with `Stop`; a click ends this run of the page."""
    if job.wait(QUICK):
        return
    place = st.empty()
    with (
        place.container(),
        st.container(key=f"waiting_{kind}", horizontal=True, gap="small", vertical_alignment="center"),
    ):
        line = st.empty()
        st.button("Stop", key=f"stop_{kind}", on_click=on_stop)
    said = -1
    while not job.wait(_SHOWN_EVERY):
        if job.seconds != said:
            said = job.seconds
            line.text(f"{what} {said} s")
        show()
    place.empty()
