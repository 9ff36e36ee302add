"""Why source passages stand where they do: what each signal says of one, and what that adds to its score."""

from __future__ import annotations

from typing import Any

from kgcore.types import Trace
from kgcore.viz.frontier import Frontier, words_of
from kgcore.viz.labels import plain


def reasons(trace: Trace, found: Frontier) -> dict[str, dict[str, Any]]:
    """For each passage weighed, by id, its rank and score, each signal's `value` and what it `adds`, and what it newly
    explains.

    `near` has no value if this passage has no vector. `fact` is what its best path leads to, "" where no candidate has
    it and None without one; `factId` is given if that can be selected.
    """
    facts = {c.fact.id: c.fact for hop in trace.hops for c in hop.candidates}
    shown = {candidate.fact.id for candidate in (*found.kept, *found.near)}
    told = {}
    for passage in trace.passages:
        fact = facts.get(passage.fact_id or "")
        spelled = f"{plain(fact.source)} —{plain(fact.relation)}→ {plain(fact.target)}" if fact else ""
        told[passage.id] = {
            "rank": passage.rank,
            "picked": passage.picked,
            "score": passage.score,
            "path": {"value": passage.path, "adds": passage.by_path},
            "near": {"value": passage.near, "adds": passage.by_near},
            "pageRank": {"value": passage.page_rank, "adds": passage.by_page_rank},
            "fact": None if passage.fact_id is None else spelled,
            "factId": passage.fact_id if passage.fact_id in shown else None,
            "gain": passage.gain,
            "words": words_of(passage.explains, trace),
        }
    return told
