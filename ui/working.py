"""What is being written into a graph: one work at a time for each, which outlives the page and the session."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from kgcore import KgError
from ui.errors import show_error
from ui.jobs import Job
from ui.resources import Graph
from ui.text import escaped


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
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
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
    done = f"{work.done:,} of {work.total:,}" if work.total else f"{work.done:,}"
    share = min(1.0, work.done / work.total) if work.total else 0.0
    with st.container(key="work", horizontal=True, gap="small", vertical_alignment="center"):
        st.progress(share, text=f"{work.what}: {done} {work.of}, {work.job.seconds} s{work.note}")
        st.button("Stop", key="work_stop", on_click=work.job.stop)


def _forget(url: str) -> None:
    _works().pop(url, None)


@st.cache_resource(show_spinner=False)
def _works() -> dict[str, Work]:
    return {}
