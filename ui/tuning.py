"""What Tune sweeps: the questions, the settings, the sweep as it goes and what it has given so far."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import streamlit as st

from kgcore import ConfigError, KnowledgeGraphRetriever
from kgcore.evals import (
    FIGURES,
    SWEPT,
    Evaluation,
    Gold,
    Outcome,
    arguments_for,
    grid,
    read_gold,
    sweep,
    value_of,
    within,
)
from kgcore.ingest.demo import DEMO
from kgcore.types import Retrieval
from ui import resources
from ui.jobs import Job
from ui.runs import runs
from ui.state import MAX_HOPS, Request, auto_beam, keep_in_link, request_of

MOST = 20_000
"""Retrievals in one sweep."""
KEPT = 8
_USUAL_FIGURES = ("passage_recall@5", "fact_recall@20", "answer_in_facts@20", "entity_recall@20", "explained")
_AXES = ("max_hops", "beam_width", "top_k", "scoring", "seed_mode", "rerank")
"""The settings that can be swept, by their names here, what costs most first: of equal ones the first is the best.
`rerank` says whether the offline reranker is used."""
_SHORT = {"beam_width": "beam", "max_hops": "hops", "top_k": "top k"}
_NAMES = {**_SHORT, "seed_mode": "seeds from", "rerank": "order of the facts"}

Setting = Mapping[str, Any]
"""One of the settings of a sweep, a value for each of `_AXES`."""


class _Stopped(Exception):
    """Ends the work of a sweep that was stopped."""


@dataclass(frozen=True, kw_only=True)
class Questions:
    """What is asked: one question, or a set with gold. `base` are Ask's settings that hold throughout."""

    name: str
    golds: tuple[Gold, ...]
    base: Mapping[str, Any]


@dataclass(kw_only=True)
class Sweep:
    """A sweep and the outcomes that it has so far: a row a question, in each an outcome for each of `settings`.

    `compared` holds the two retrievals that were compared last, `reported` the reports on the two.
    """

    key: str
    questions: Questions
    settings: tuple[Setting, ...]
    rows: list[tuple[Outcome, ...]] = field(default_factory=list)
    job: Job[None] | None = None
    stopped: bool = False
    compared: Any = None
    reported: Any = None

    @property
    def whole(self) -> bool:
        """Whether every question was asked."""
        return len(self.rows) == len(self.questions.golds)

    def figures(self) -> list[str]:
        """The names of `SWEPT` that some question has."""
        deepest = max(self.settings, key=lambda setting: setting["top_k"])
        needless = set(FIGURES) - set(within(deepest))
        return [
            name
            for name in SWEPT
            if name not in needless and any(value_of(row[0], name) is not None for row in self.rows)
        ]

    def evaluation(self, at: int) -> Evaluation:
        """The run of one of the settings, for the reports."""
        return Evaluation(
            gold=self.questions.name,
            graph={},
            settings=dict(self.settings[at]),
            outcomes=tuple(row[at] for row in self.rows),
        )


def usual_figure(names: Sequence[str]) -> int:
    """Where in these names the figure stands that is shown first."""
    return next((names.index(name) for name in _USUAL_FIGURES if name in names), 0)


def described(setting: Setting) -> str:
    """A setting in words: `beam 4, hops 2, top k 20, coverage, seeds auto`."""
    numbers = [f"{_SHORT[name]} {setting[name]}" for name in _SHORT]
    seeds = f"seeds {setting['seed_mode']}"
    return ", ".join([*numbers, setting["scoring"], seeds, *["reranked"] * setting["rerank"]])


def numbers(text: str, what: str, most: int = 1_000) -> tuple[int, ...]:
    """The whole numbers in `2, 4, 6`, each once, rising. Raises ConfigError."""
    parts = [part for part in re.split(r"[\s,;]+", text.strip()) if part]
    if not parts or not all(re.fullmatch(r"[0-9]{1,4}", part) and 1 <= int(part) <= most for part in parts):
        raise ConfigError(f"{what}: {text!r} is no list of numbers.", remedy=f"Write 2, 4, 6; each from 1 to {most:,}.")
    return tuple(sorted({int(part) for part in parts}))


def settings_of(axes: Mapping[str, Sequence[Any]], questions: int) -> tuple[Setting, ...]:
    """Every combination of the axes' values. Raises ConfigError where that is too much to ask."""
    for name in _AXES:
        if not axes[name]:
            raise ConfigError(f"No value of {_NAMES.get(name, name)} is chosen.", remedy="Choose at least one.")
    found = tuple(grid({name: axes[name] for name in _AXES}))
    if len(found) * questions > MOST:
        raise ConfigError(
            f"{len(found):,} settings over {questions:,} questions are too many.",
            remedy=f"Choose fewer values: there can be {MOST:,} retrievals in a sweep.",
        )
    return found


def one_question(request: Request | None, question: str, golds: Sequence[Gold]) -> Questions:
    """One question under Ask's settings; if it is of a known set, with its gold."""
    base = base_of(request)
    if request is not None and request.question == question and request.entity_ids:
        base["entity_ids"] = request.entity_ids
    gold = next((gold for gold in golds if gold.question == question), Gold(id="1", question=question))
    return Questions(name=question, golds=(gold,), base=base)


def base_of(request: Request | None) -> dict[str, Any]:
    """What a sweep takes over from Ask, beside what it sweeps."""
    if request is None:
        return {}
    return {
        "filters": request.filters,
        "relations": request.relations or None,
        "entity_types": request.entity_types or None,
        "hub_limit": request.hub_limit,
        "aliases": request.aliases,
        "llm_filter": request.llm_filter,
    }


@st.cache_data(show_spinner=False)
def demo_golds() -> tuple[Gold, ...]:
    """The demo's questions."""
    return read_gold(DEMO / "questions.jsonl")


def uploaded_golds(name: str, content: bytes) -> tuple[Gold, ...]:
    """The questions of an uploaded file. Raises IngestError that names the line at fault."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "gold" / (re.sub(r"[^A-Za-z0-9._-]", "_", Path(name).name)[-80:] or "gold.jsonl")
        path.parent.mkdir()
        path.write_bytes(content)
        return read_gold(path)


def sweep_of(questions: Questions, settings: tuple[Setting, ...]) -> Sweep:
    """The sweep of these questions and settings: one of this session's, or a new one that is not begun."""
    held: dict[str, Sweep] = runs().tuned
    asked = [asdict(gold) for gold in questions.golds]
    key = resources.digest(json.loads(json.dumps([asked, questions.base, settings], default=str)))
    found = held.pop(key, None) or Sweep(key=key, questions=questions, settings=settings)
    held[key] = found
    while len(held) > KEPT:
        held.pop(next(iter(held)))
    for other in held.values():
        if other is not found:
            stop(other)
    return found


def begin(swept: Sweep, retriever: KnowledgeGraphRetriever) -> None:
    """Asks what was not asked yet, beside the page."""
    left = swept.questions.golds[len(swept.rows) :]
    given = [arguments(swept.questions.base, setting) for setting in swept.settings]

    def work(job: Job[None]) -> None:
        def tick() -> None:
            if job.stopped:
                raise _Stopped

        for row in sweep(retriever, left, given, tick=tick):
            tick()
            swept.rows.append(row)

    swept.stopped = False
    swept.job = Job(work)


def stop(swept: Sweep) -> None:
    """Ends a sweep; what it has given stays."""
    if swept.job is not None:
        swept.job.stop()
        swept.job, swept.stopped = None, True


def arguments(base: Mapping[str, Any], setting: Setting) -> dict[str, Any]:
    """The arguments of `retrieve` for one of the settings."""
    own = {name: value for name, value in setting.items() if name != "rerank"}
    return {**base, **own, "document_reranker": resources.reranker() if setting["rerank"] else None}


def arguments_at(swept: Sweep, gold: Gold, at: int) -> dict[str, Any]:
    """The arguments of `retrieve` for a question of a sweep under one of its settings."""
    return arguments_for(gold, arguments(swept.questions.base, swept.settings[at]))


def choose(side: str, setting: Setting) -> None:
    """Makes a setting A or B."""
    st.session_state[f"tune_{side}"] = described(setting)


def chosen(swept: Sweep, side: str, otherwise: int) -> int:
    """Where the setting stands that is A or B: the one that was chosen, here or in the link, else this."""
    known = {described(setting): at for at, setting in enumerate(swept.settings)}
    wanted = st.session_state.get(f"tune_{side}") or st.query_params.get(side, "")
    keep_in_link(side, [wanted] if wanted in known else [])
    return known.get(wanted, otherwise)


def as_asked(swept: Sweep, request: Request | None) -> int:
    """Where the settings stand that Ask has, or would have; else the first."""
    known = {described(setting): at for at, setting in enumerate(swept.settings)}
    usual = {**swept.settings[0], "max_hops": MAX_HOPS, "beam_width": auto_beam(MAX_HOPS, swept.settings[0]["top_k"])}
    return known.get(described(_setting_of(request) if request else usual), 0)


def _setting_of(request: Request) -> Setting:
    return {
        "max_hops": request.max_hops,
        "beam_width": request.beam_width or auto_beam(request.max_hops, request.top_k),
        "top_k": request.top_k,
        "scoring": request.scoring,
        "seed_mode": request.seed_mode,
        "rerank": request.reranked,
    }


def request_for(swept: Sweep, setting: Setting, looked: Retrieval, request: Request | None) -> Request:
    """What Ask is to ask for to show the question that is looked at under one of the settings.

    A question of a set that starts from names starts from the seeds that these gave.
    """
    asked = looked.trace.settings
    seeds = tuple(seed.entity_id for seed in looked.trace.seeds) if asked.entities else ()
    return replace(
        request_of(looked.trace.question, asked),
        max_hops=setting["max_hops"],
        beam_width=setting["beam_width"],
        top_k=setting["top_k"],
        scoring=setting["scoring"],
        seed_mode=setting["seed_mode"],
        reranked=setting["rerank"],
        summarize=request is not None and request.summarize,
        entity_ids=asked.entity_ids or seeds or None,
        filters=swept.questions.base.get("filters"),
    )


def raise_if_failed(swept: Sweep) -> None:
    """The error that ended a sweep, if one did. Raises KgError."""
    job = swept.job
    if job is not None and job.wait(0):
        swept.job = None
        job.result()
