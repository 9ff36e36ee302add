"""A gold set through a retriever, question by question; a run that is stopped goes on from its file."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import perf_counter
from typing import IO, Any

from pydantic import TypeAdapter, ValidationError

from kgcore.errors import ConfigError
from kgcore.evals.gold import Gold
from kgcore.evals.metrics import ranks_of
from kgcore.ingest.write import Progress
from kgcore.retrieve import KnowledgeGraphRetriever
from kgcore.types import Retrieval


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of one question: the ranks of its gold (`metrics.Ranks`) and the warnings of its trace.

    `facts` is how many it gave, `explained` the share of the question's words that they and the seeds explain, by
    weight. `ms` is the whole retrieve in milliseconds; it stands outside equality.
    """

    id: str
    hops: int | None
    kind: str
    ranks: Mapping[str, tuple[int | None, ...]]
    warnings: tuple[str, ...]
    facts: int
    explained: float
    ms: float = field(compare=False)


def evaluate(
    retriever: KnowledgeGraphRetriever,
    golds: Sequence[Gold],
    settings: Mapping[str, Any],
    *,
    file: Path | None = None,
    progress: Progress | None = None,
) -> Iterator[Outcome]:
    """The outcome of each question, in order; `settings` are arguments of `retrieve`.

    The walk starts from a question's own `seeds` where it has some and `seed_mode` is not set otherwise than `auto`.
    Each outcome is in `file` before it is given: the same call goes on from there, and begins anew once the settings,
    the gold or the graph are others (`run_key`). `progress(done, total, what)` is called after each; what it raises
    stops the run. Raises ConfigError (a setting out of its bounds, a file that is no run), StoreError.
    """
    with _kept(file, run_key(retriever, golds, settings), golds) as (before, keep):
        for done, gold in enumerate(golds, 1):
            if done <= len(before):
                outcome = before[done - 1]
            else:
                outcome = _ask(retriever, gold, settings)
                keep(outcome)
            yield outcome
            if progress is not None:
                progress(done, len(golds), "asking")


def run_key(retriever: KnowledgeGraphRetriever, golds: Sequence[Gold], settings: Mapping[str, Any]) -> str:
    """A name for a run: of its settings, gold, graph with its data version, locked filter and models.

    Defaults of the retriever itself are not in it: give what differs between runs as settings.
    """
    models = [model.name for model in (retriever.embedder, retriever.reranker) if model is not None]
    parts = {
        "settings": settings,
        "gold": [asdict(gold) for gold in golds],
        "graph": asdict(retriever.store.describe(retriever.filter)),
        "filter": retriever.filter.key,
        "models": models,
    }
    text = json.dumps(parts, sort_keys=True, default=lambda value: getattr(value, "name", repr(value)))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _ask(retriever: KnowledgeGraphRetriever, gold: Gold, settings: Mapping[str, Any]) -> Outcome:
    given = arguments_for(gold, settings)
    began = perf_counter()
    result = retriever.retrieve(gold.question, **given)
    return outcome_of(gold, result, (perf_counter() - began) * 1000)


def arguments_for(gold: Gold, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `retrieve` for a question under these settings: it starts from its own seeds, if it has some."""
    given = dict(settings)
    if gold.seeds and given.get("seed_mode") in (None, "auto"):
        given.setdefault("entities", gold.seeds)
    return given


def outcome_of(gold: Gold, result: Retrieval, ms: float) -> Outcome:
    """What came of a question that took so many milliseconds."""
    trace = result.trace
    return Outcome(
        id=gold.id,
        hops=gold.hops,
        kind=gold.kind,
        ranks=ranks_of(gold, result),
        warnings=trace.warnings,
        facts=len(result.facts),
        explained=round(sum(word.weight for word in trace.words if word.hop is not None), 6),
        ms=round(ms, 3),
    )


_OUTCOME = TypeAdapter(Outcome)


@contextmanager
def _kept(
    path: Path | None, key: str, golds: Sequence[Gold]
) -> Iterator[tuple[list[Outcome], Callable[[Outcome], None]]]:
    """The outcomes that a file holds of this run, and what adds one to it."""
    if path is None:
        yield [], lambda outcome: None
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        before, end = _read(file, path, key, golds)
        file.truncate(end)
        if not end:
            _append(file, {"run": key})
        yield before, lambda outcome: _append(file, asdict(outcome))


def _read(file: IO[bytes], path: Path, key: str, golds: Sequence[Gold]) -> tuple[list[Outcome], int]:
    """The outcomes up to the first line that is not whole, and where they end; none of another run."""
    file.seek(0)
    head = file.readline()
    found = _object(head).get("run")
    if head and found is None:
        raise ConfigError(f"{path.name} is a file, but no run.", remedy="Name a file that is not there yet.")
    if found != key:
        return [], 0
    before: list[Outcome] = []
    end = file.tell()
    for gold, line in zip(golds, file, strict=False):
        try:
            outcome = _OUTCOME.validate_json(line)
        except ValidationError:
            break
        if outcome.id != gold.id or not line.endswith(b"\n"):
            break
        before.append(outcome)
        end += len(line)
    return before, end


def _object(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _append(file: IO[bytes], value: Mapping[str, Any]) -> None:
    file.write(json.dumps(value).encode() + b"\n")
    file.flush()
    os.fsync(file.fileno())
