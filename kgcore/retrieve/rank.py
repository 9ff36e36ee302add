"""The reranker and the top_k cut: which kept facts become the result, and the fate of the others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kgcore.errors import KgError
from kgcore.models.protocol import Reranker
from kgcore.types import Candidate, Fact, Fate, Hop


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """The facts that survived, in order, and the hops with every fate final."""

    facts: tuple[Fact, ...]
    hops: tuple[Hop, ...]


def rank(question: str, hops: Sequence[Hop], top_k: int, reranker: Reranker | None, warnings: list[str]) -> Ranked:
    """Cuts the beams' facts to `top_k`: best first, each with the chain that leads to it, so none is an orphan.

    A reranker sees all of them first; if it fails, the beam's order stands and a warning says so. A fact whose
    chain no longer fits is passed over. In the result a fact stands before the rest of its chain.
    """
    kept = {c.fact.id: c for hop in hops for c in hop.candidates if c.fate == "kept"}
    scores = _reranked(question, list(kept.values()), reranker, warnings)
    order = sorted(kept.values(), key=lambda c: (-scores.get(c.fact.id, c.score), c.fact.id))
    chosen: dict[str, Candidate] = {}
    for candidate in order:
        chain = [fact_id for fact_id in reversed(candidate.chain) if fact_id not in chosen]
        if len(chosen) + len(chain) <= top_k:
            chosen |= {fact_id: kept[fact_id] for fact_id in chain}
    lost: Fate = "reranked_out" if scores else "top_k_cut"
    return Ranked(
        facts=tuple(candidate.fact for candidate in chosen.values()),
        hops=tuple(
            replace(hop, candidates=tuple(_final(c, chosen, scores, lost) for c in hop.candidates)) for hop in hops
        ),
    )


def _reranked(
    question: str, candidates: Sequence[Candidate], reranker: Reranker | None, warnings: list[str]
) -> dict[str, float]:
    if reranker is None or not candidates:
        return {}
    try:
        scores = [float(score) for score in reranker.rerank(question, [c.fact.text for c in candidates])]
        if len(scores) != len(candidates) or not all(map(math.isfinite, scores)):
            raise ValueError("one finite score a text is needed")
    except Exception as error:
        reason = f" {error}" if isinstance(error, KgError) else ""
        warnings.append(f"The reranker failed: facts are in the beam's order.{reason}")
        return {}
    return {c.fact.id: round(score, 6) for c, score in zip(candidates, scores, strict=True)}


def _final(candidate: Candidate, chosen: dict[str, Candidate], scores: dict[str, float], lost: Fate) -> Candidate:
    if candidate.fate != "kept":
        return candidate
    return replace(
        candidate,
        fate="kept" if candidate.fact.id in chosen else lost,
        rerank_score=scores.get(candidate.fact.id),
    )
