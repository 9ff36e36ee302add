"""What is being written into a graph: one work at a time for each, which outlives the page and the session."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from kgcore import KgError
from kgcore.errors import IngestError
from ui.errors import show_error
from ui.jobs import Job, Result, job_of, wait_for
from ui.resources import Graph
from ui.runs import runs
from ui.text import escaped

_log = logging.getLogger(__name__)


@dataclass
class Work:
    """A work on a graph and how far it is, with a `note` on it; `said` is what it came to, `result` what it found."""

    what: str
    of: str = ""
    done: int = 0
    total: int | None = None
    note: str = ""
    said: str = ""
    result: Any = None
    job: Job[None] = field(init=False)

    def step(self, done: int, total: int | None = None, of: str = "edges") -> None:
        """How far it is. Raises Stopped where it is asked to end."""
        self.done, self.total, self.of = done, total, of
        unless_stopped(self.job)

    @property
    def is_on(self) -> bool:
        """Whether it goes on still."""
        return not self.job.wait(0)


class Stopped(Exception):
    """A person has ended the work."""


def unless_stopped(job: Job[Any]) -> None:
    """Raises Stopped where a job is asked to end."""
    if job.stopped:
        raise Stopped


def waited(kind: str, subject: object, what: str, work: Callable[[Job[Result]], Result]) -> Result | None:
    """What this session's job of a kind gives; None, with the way to go on, once it has been stopped.

    Raises what the job does; the next call begins it anew.
    """
    key = f"{kind}_stopped"
    if st.session_state.get(key) == subject:
        if st.button("Go on", key=f"{kind}_again"):
            del st.session_state[key]
            st.rerun()
        return None
    job = job_of(kind, subject, work)

    def stop() -> None:
        job.stop()
        runs().jobs.pop(kind, None)
        st.session_state[key] = subject

    wait_for(job, kind, what, on_stop=stop)
    try:
        return job.result()
    except Exception:
        runs().jobs.pop(kind, None)
        raise


def begin(graph: Graph, what: str, work: Callable[[Work], str]) -> None:
    """Begins a work on a graph, unless one is on; `work` gives what it came to."""
    held = _works().get(graph.url)
    if held is not None and held.is_on:
        return
    new = Work(what)

    def run(job: Job[None]) -> None:
        new.job = job  # the thread may be faster than the line below
        try:
            new.said = work(new)
        except Stopped:
            new.said = "Stopped: what was written stays, and doing the same again goes on from there."
        except KgError:
            raise
        except Exception as error:
            _log.exception("%s", what)
            raise IngestError(
                f"{what} has failed: {type(error).__name__}: {error}.",
                remedy="What was written stays; the server's log says more.",
            ) from error

    new.job = Job(run)
    _works()[graph.url] = new


def is_on(graph: Graph) -> bool:
    """Whether something is being written into a graph."""
    held = _works().get(graph.url)
    return held is not None and held.is_on


def last(graph: Graph) -> Work | None:
    """The work that is on, or was the last."""
    return _works().get(graph.url)


def show(graph: Graph) -> None:
    """How far the work on a graph is, with `Stop`, and then what it came to."""
    held = _works().get(graph.url)
    if held is None:
        return
    if held.is_on:
        _moving(held)
        return
    with st.container(key="work_said", horizontal=True, gap="small", vertical_alignment="center"):
        try:
            held.job.result()
        except KgError as error:
            show_error(error)
        else:
            st.success(escaped(held.said, 600))
        st.button("Dismiss", key="work_dismiss", on_click=_forget, args=(graph.url,))


@st.fragment(run_every=1.0)
def _moving(work: Work) -> None:
    if not work.is_on:
        st.rerun()
    done = f"{work.done:,} of {work.total:,} " if work.total else f"{work.done:,} " if work.done else ""
    far = f"{work.what}: {done}{work.of}" if work.of else work.what
    share = min(1.0, work.done / work.total) if work.total else 0.0
    with st.container(key="work", horizontal=True, gap="small", vertical_alignment="center"):
        st.progress(share, text=f"{far} · {work.job.seconds} s{work.note}")
        st.button("Stop", key="work_stop", on_click=work.job.stop)


def _forget(url: str) -> None:
    _works().pop(url, None)


@st.cache_resource(show_spinner=False)
def _works() -> dict[str, Work]:
    return {}
