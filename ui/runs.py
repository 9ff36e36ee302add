"""The runs of a session: the one that is shown, those to undo to, and the one pinned to compare with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from kgcore import KgError
from kgcore.types import Retrieval
from ui import state
from ui.state import Request

KEPT = 20
_KEY = "runs"


@dataclass(frozen=True, kw_only=True)
class Run:
    """A request and what came of it. `at` is the time of day."""

    request: Request
    retrieval: Retrieval
    at: str


@dataclass(frozen=True, kw_only=True)
class SavedRun:
    """A run from a file, shown for as long as nothing else is asked than `over`, what was asked when it was opened."""

    name: str
    retrieval: Retrieval
    over: Request


@dataclass(frozen=True, kw_only=True)
class Refused:
    """Why a file was not opened, said for as long as nothing else is asked than `over`."""

    error: KgError
    over: Request


@dataclass(kw_only=True)
class Runs:
    """All of one scope. `past` and `history` have the newest last; `layouts` is by subject and kind.

    `tuned` holds the sweeps of Tune, the one last shown at the end; `views` what Access compared last, `audited` what
    it counted, by locked filter.
    """

    scope: tuple[str, ...] = ()
    shown: Run | None = None
    past: list[Run] = field(default_factory=list)
    history: list[Run] = field(default_factory=list)
    pinned: Run | None = None
    saved: SavedRun | None = None
    refused: Refused | None = None
    stopped: Request | None = None
    jobs: dict[str, Any] = field(default_factory=dict)
    layouts: dict[tuple[str, str], Any] = field(default_factory=dict)
    tuned: dict[str, Any] = field(default_factory=dict)
    views: Any = None
    audited: dict[str, Any] = field(default_factory=dict)
    browsing: Any = None
    asked: Any = None
    drawn: Any = None
    page: Any = None

    @property
    def base(self) -> Run | None:
        """What the shown run is compared with: the pinned one, else the one before it to the same question."""
        if self.pinned is not None:
            return self.pinned if self.pinned is not self.shown else None
        before = self.past[-1] if self.past else None
        same = before and self.shown and before.request.question == self.shown.request.question
        return before if same else None

    def saved_over(self, request: Request) -> SavedRun | None:
        """The saved run, if nothing else was asked since it was opened; else it is closed."""
        if self.saved is not None and self.saved.over != request:
            self.saved = None
        return self.saved

    def refused_over(self, request: Request) -> KgError | None:
        """What is wrong with the file last chosen, if nothing else was asked since."""
        if self.refused is not None and self.refused.over != request:
            self.refused = None
        return self.refused.error if self.refused else None

    def known(self, request: Request) -> Run | None:
        """The run of this request, if there was one."""
        return next((run for run in reversed(self.history) if run.request == request), None)

    def show(self, run: Run) -> None:
        """Another run than the one before, which can be gone back to. In the history each request stands once."""
        if self.shown is not None:
            self.past = [*self.past, self.shown][-KEPT:]
        self.shown = run
        self.history = [*(one for one in self.history if one.request != run.request), run][-KEPT:]

    def replace(self, old: Run, new: Run) -> None:
        """The same run with more to it: a written answer."""
        self.shown = new if self.shown is old else self.shown
        self.pinned = new if self.pinned is old else self.pinned
        self.past = [new if run is old else run for run in self.past]
        self.history = [new if run is old else run for run in self.history]


def runs() -> Runs:
    """This session's."""
    if _KEY not in st.session_state:
        st.session_state[_KEY] = Runs()
    found: Runs = st.session_state[_KEY]
    return found


def enter(graph: str, asker: str, data_version: str) -> None:
    """Another graph, another asker or other data: nothing of before is shown, compared or gone back to."""
    before, scope = runs().scope, (graph, asker, data_version)
    if before == scope:
        return
    forget()
    runs().scope = scope
    if before and before[:2] != scope[:2]:
        state.set_seeds(None)
        _forget_missed()


def _forget_missed() -> None:
    """Drops what was missed in a result, and said of it: another asker may not know of it."""
    for key in [key for key in st.session_state if str(key).startswith("why")]:
        del st.session_state[key]
    st.session_state["why_popover"] = False
    for name in ("why_fact", "why"):
        st.query_params.pop(name, None)


def forget() -> None:
    """Drops every run, and ends what is still at work for one."""
    memory: Runs | None = st.session_state.pop(_KEY, None)
    if memory is not None:
        jobs = [*(job for _, job in memory.jobs.values()), *(one.job for one in memory.tuned.values())]
        for job in jobs:
            if job is not None:
                job.stop()


def undo() -> None:
    """Back to the run before, with its settings."""
    memory = runs()
    if memory.past:
        memory.shown = memory.past.pop()
        state.restore(memory.shown.request)


def go_back_to(run: Run) -> None:
    """A run of the history, with its settings; the one shown until now can be undone to."""
    memory = runs()
    if memory.shown is not run:
        memory.show(run)
    state.restore(run.request)


def pin() -> None:
    """Compares what follows with the run now shown."""
    runs().pinned = runs().shown


def unpin() -> None:
    """Compares with the run before again."""
    runs().pinned = None


def add_seed(entity_id: str) -> None:
    """Starts the next walk from this entity too."""
    shown = runs().shown
    seeds = tuple(seed.entity_id for seed in shown.retrieval.trace.seeds) if shown else ()
    if entity_id not in seeds:
        state.set_seeds((*seeds, entity_id))
