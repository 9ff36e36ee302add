"""How well a result holds what is right for its question: ranks, figures of a question, means with their intervals.

Every figure of a question is a share in 0..1, made from the ranks at which its gold stands in the result:

passage_recall@k    the share of the gold documents that are among the first k source passages
all_gold@k          1 if all of them are, else 0
fact_recall@k       the share of the gold facts that are among the first k facts
fact_mrr            1 / rank of the first fact that is a gold one, 0 without any (mean reciprocal rank)
entity_recall@k     the share of the gold entities that are ends of the first k facts
answer_in_facts@k   1 if the answer or an alias is the name of an end of one of the first k facts, else 0
answer_in_text@k    1 if it stands, word for word, in the text of one of them, else 0

Names are compared folded, relations too (`_` is a space); answers also without signs and articles.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kgcore.evals.gold import Gold, Triple
from kgcore.names import fold, words_of
from kgcore.types import Document, Fact, Retrieval

PASSAGES_AT = (2, 5, 8, 10)
FACTS_AT = (5, 10, 20, 50)
RESAMPLES = 2_000
LEVEL = 0.95
_ARTICLES = {"a", "an", "the"}
_BLOCK = 2_000_000

Ranks = Mapping[str, tuple[int | None, ...]]
"""For each kind of gold, the rank (from 1) at which each piece stands first; None for what is not in the result."""


def ranks_of(gold: Gold, result: Retrieval) -> dict[str, tuple[int | None, ...]]:
    """Where the gold stands: `documents`, `facts`, `entities`, and of the answers `ends` and `texts`, one rank each."""
    facts = [(_keys(f.source_id, f.source), fold(f.relation), _keys(f.target_id, f.target)) for f in result.facts]
    passages = [_passage_keys(passage) for passage in result.source_documents]
    answers = {answer_key(answer) for answer in gold.answers}
    ends = [{answer_key(fact.source), answer_key(fact.target)} for fact in result.facts] if answers else []
    texts = [f" {answer_key(_said(fact))} " for fact in result.facts] if answers else []
    return {
        "documents": tuple(_first(_named(wanted) & keys for keys in passages) for wanted in gold.documents),
        "facts": tuple(_first(_is(wanted, fact) for fact in facts) for wanted in map(_parts, gold.facts)),
        "entities": tuple(_first(_named(wanted) & (a | b) for a, _, b in facts) for wanted in gold.entities),
        "ends": (_first(answers & both for both in ends),) if answers else (),
        "texts": (_first(any(f" {answer} " in text for answer in answers) for text in texts),) if answers else (),
    }


def figures(ranks: Ranks) -> dict[str, float]:
    """The figures of one question; those without gold are left out."""
    found: dict[str, float] = {}
    for name, kind, depths in _AT:
        if ranks.get(kind):
            found |= {f"{name}@{k}": _share(ranks[kind], k) for k in depths}
    if ranks.get("documents"):
        found |= {f"all_gold@{k}": float(_share(ranks["documents"], k) == 1) for k in PASSAGES_AT}
    if ranks.get("facts"):
        found["fact_mrr"] = max((1 / rank for rank in ranks["facts"] if rank is not None), default=0.0)
    return {name: found[name] for name in FIGURES if name in found}


_AT = (
    ("passage_recall", "documents", PASSAGES_AT),
    ("fact_recall", "facts", FACTS_AT),
    ("entity_recall", "entities", FACTS_AT),
    ("answer_in_facts", "ends", FACTS_AT),
    ("answer_in_text", "texts", FACTS_AT),
)
FIGURES = (
    *(f"passage_recall@{k}" for k in PASSAGES_AT),
    *(f"all_gold@{k}" for k in PASSAGES_AT),
    *(f"fact_recall@{k}" for k in FACTS_AT),
    "fact_mrr",
    *(f"entity_recall@{k}" for k in FACTS_AT),
    *(f"answer_in_facts@{k}" for k in FACTS_AT),
    *(f"answer_in_text@{k}" for k in FACTS_AT),
)
"""Every figure, in the order in which they are shown."""


@dataclass(frozen=True, kw_only=True)
class Mean:
    """A mean over questions with its bootstrap interval."""

    mean: float
    low: float
    high: float
    questions: int


@dataclass(frozen=True, kw_only=True)
class Difference(Mean):
    """The mean of what each question gained, with its bootstrap interval, and how many gained and lost."""

    better: int
    worse: int


def mean_of(values: Sequence[float]) -> Mean:
    """The mean of at least one value, and the 95 % percentile interval of 2,000 resamples (Efron 1979).

    The seed is fixed: the same values give the same interval.
    """
    given = np.array(values, np.float64)
    means = _resampled(given)
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]).tolist()
    return Mean(mean=_rounded(given.mean()), low=_rounded(low), high=_rounded(high), questions=len(given))


def difference(before: Sequence[float], after: Sequence[float]) -> Difference:
    """What the same questions gained, one by one, from `before` to `after`: a paired comparison."""
    gains = np.array(after, np.float64) - np.array(before, np.float64)
    found = mean_of(gains.tolist())
    return Difference(**vars(found), better=int((gains > 0).sum()), worse=int((gains < 0).sum()))


def answer_key(text: str) -> str:
    """An answer for comparing: its folded words without signs and articles; all of it if that leaves nothing."""
    words = words_of(text)
    return " ".join(word for word in words.split() if word not in _ARTICLES) or words


def _resampled(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The mean of each resample, drawn in blocks that fit into memory whatever the number of questions."""
    random = np.random.default_rng(0)
    rows = max(1, _BLOCK // len(values))
    return np.concatenate(
        [
            values[random.integers(0, len(values), (min(rows, RESAMPLES - start), len(values)))].mean(axis=1)
            for start in range(0, RESAMPLES, rows)
        ]
    )


def _rounded(value: float) -> float:
    return round(float(value), 6)


def _share(ranks: Sequence[int | None], k: int) -> float:
    return sum(rank is not None and rank <= k for rank in ranks) / len(ranks)


def _first(hits: Iterable[object]) -> int | None:
    return next((rank for rank, hit in enumerate(hits, 1) if hit), None)


_Parts = tuple[frozenset[str], str, frozenset[str]]
"""A fact: what names its source, its relation folded, what names its target."""


def _parts(triple: Triple) -> _Parts:
    source, relation, target = triple
    return _named(source), fold(relation), _named(target)


def _is(wanted: _Parts, fact: _Parts) -> bool:
    return bool(wanted[1] == fact[1] and wanted[0] & fact[0] and wanted[2] & fact[2])


def _keys(id_: str, name: str) -> frozenset[str]:
    return frozenset((id_, fold(name)))


def _named(wanted: str) -> frozenset[str]:
    return _keys(wanted, wanted)


def _passage_keys(passage: Document) -> frozenset[str]:
    """The ids of a passage and of its document, and its title."""
    own = [passage.metadata.get(name) for name in ("document_id", "title")]
    return frozenset(key for text in (passage.id, *own) if isinstance(text, str) for key in _named(text))


def _said(fact: Fact) -> str:
    said = f"{fact.source} {fact.relation} {fact.target}"
    return f"{said} {fact.description}" if fact.description else said
