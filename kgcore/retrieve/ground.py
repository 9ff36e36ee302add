"""The source passages behind the facts, in the order in which they help to answer (steps 6 and 7 of the recipe).

The pool is the chunks of every edge looked at and the chunks nearest to the question. A passage's score is
`z(path) + 0.5 z(near) + z(log PageRank)`, z over the pool: `path` is the best score of a kept path through the
passage, else of its best single fact; `near` the cosine with the question; the PageRank is over what was looked at.
The best thirty are then taken one after another by that score + 10 x the part of the question that a passage covers
beyond those taken before. Nothing but visible facts and passages is looked at, so what is hidden changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kgcore.errors import KgError
from kgcore.filters import AccessFilter
from kgcore.retrieve.beam import Looked
from kgcore.retrieve.expand import Walk
from kgcore.retrieve.fetched import Fetched
from kgcore.retrieve.render import passage_text
from kgcore.retrieve.score import DECIMALS, Array, Coverage
from kgcore.store.protocol import DocumentRetriever, Similar
from kgcore.types import Document, Fact, Passage, Seed, Vector

NEAREST = 100
"""Passages that are in the pool for being nearest to the question."""
WEIGHED = 30
PICKED = 10
NEAR_WEIGHT, COVER_WEIGHT = 0.5, 10.0
DAMPING, ROUNDS = 0.5, 20
RESTARTS = 5
"""Looked-at facts nearest to the question, at whose ends the PageRank begins."""
NAMED, CLOSE = 0.5, 0.1
"""What a name in the question adds to its node's restart, and a passage's nearness to its own."""


@dataclass(frozen=True, kw_only=True)
class Grounded:
    """The passages of a result, and how each of those weighed was scored."""

    documents: tuple[Document, ...] = ()
    passages: tuple[Passage, ...] = ()


def ground(
    facts: Sequence[Fact],
    walked: Walk,
    seeds: Sequence[Seed],
    coverage: Coverage,
    vector: Vector | None,
    retriever: DocumentRetriever | None,
    filter: AccessFilter,
    warnings: list[str],
    fetched: Fetched | None = None,
) -> Grounded:
    """The passages that assert the facts, and those that were picked; none, with a warning, if they cannot be fetched.

    Passages near to the question stand in the pool only where the asker narrows nothing: what narrows facts reaches
    passages through them alone. Passages behind facts need no further check: these came through visible edges.
    Their metadata lose the filter's access fields here, of which who fetches them may know nothing. `fetched` holds
    passages from runs before.
    """
    if retriever is None or not facts:
        return Grounded()
    asserting = list(dict.fromkeys(id_ for fact in facts for id_ in fact.source_doc_ids))
    try:
        pool = _pool(walked, seeds, _near(walked, vector, retriever, filter))
        order = sorted(pool, key=lambda id_: (-pool[id_].score, id_))
        wanted = dict.fromkeys([*order[:WEIGHED], *asserting])
        found = (fetched or Fetched()).get(list(wanted), retriever, filter.access_fields)
    except Exception as error:
        reason = f" {error}" if isinstance(error, KgError) else ""
        warnings.append(f"The source passages could not be fetched.{reason}")
        return Grounded()
    lost = sum(id_ not in found for id_ in asserting)
    if lost:
        warnings.append(f"{lost} of {len(asserting)} source passages are missing from the document store.")
    listed = [pool[id_] for id_ in order if id_ in found]
    picked = _picked(listed[:WEIGHED], found, coverage)
    taken = {passage.id for passage in picked}
    ranked = [*picked, *(passage for passage in listed if passage.id not in taken)]
    ranked = [replace(passage, rank=rank) for rank, passage in enumerate(ranked, 1)]
    shown = taken | {*asserting}
    return Grounded(
        documents=tuple(found[passage.id] for passage in ranked if passage.id in shown),
        passages=tuple(ranked),
    )


def _near(
    walked: Walk, vector: Vector | None, retriever: DocumentRetriever, filter: AccessFilter
) -> Mapping[str, float]:
    """The cosines of the passages nearest to the question, and of those looked at; empty without vectors."""
    if vector is None or not isinstance(retriever, Similar):
        return {}
    looked = sorted({id_ for fact in walked.looked.values() for id_ in fact.passages})
    return retriever.similar(vector, filter, NEAREST if filter.caller is None else 0, looked)


def _pool(walked: Walk, seeds: Sequence[Seed], near: Mapping[str, float]) -> dict[str, Passage]:
    """The passages by id with what each signal says of them."""
    looked = walked.looked
    ids = sorted({*near, *(id_ for fact in looked.values() for id_ in fact.passages)})
    if not ids:
        return {}
    kept = [c for hop in walked.hops for c in hop.candidates if c.fate == "kept"]
    single = _best([(fact.score, id_, (id_,)) for id_, fact in looked.items()], looked)
    chains = _best([(c.score, c.fact.id, c.chain) for c in kept], looked)
    lowest = min(fact.score for fact in looked.values())
    paths = [max(single.get(id_, (lowest, "")), chains.get(id_, (lowest, ""))) for id_ in ids]
    farthest = min(near.values(), default=0.0)
    nearness = np.array([near.get(id_, farthest) for id_ in ids])
    ranks = _page_rank(ids, looked, seeds, nearness)
    parts = np.round(
        [_z(np.array([score for score, _ in paths])), NEAR_WEIGHT * _z(nearness), _z(np.log(ranks + 1e-9))], DECIMALS
    )
    scores = np.round(parts.sum(axis=0), DECIMALS)
    return {
        id_: Passage(
            id=id_,
            score=float(scores[i]),
            path=paths[i][0],
            fact_id=paths[i][1] or None,
            near=near.get(id_),
            page_rank=round(float(ranks[i]), DECIMALS),
            by_path=float(parts[0, i]),
            by_near=float(parts[1, i]),
            by_page_rank=float(parts[2, i]),
        )
        for i, id_ in enumerate(ids)
    }


def _best(
    ways: Sequence[tuple[float, str, Sequence[str]]], looked: Mapping[str, Looked]
) -> dict[str, tuple[float, str]]:
    """For each passage the best score of a way through it, and the fact that the way leads to."""
    best: dict[str, tuple[float, str]] = {}
    for score, fact_id, chain in sorted(ways, key=lambda way: (-way[0], way[1])):
        for passed in chain:
            for id_ in looked[passed].passages:
                best.setdefault(id_, (score, fact_id))
    return best


def _page_rank(ids: Sequence[str], looked: Mapping[str, Looked], seeds: Sequence[Seed], nearness: Array) -> Array:
    """The share of each passage in a walk over looked-at facts and passages that begins anew near the question.

    It begins at the ends of the five looked-at facts nearest to the question and at the names in it, each divided by
    how many passages speak of the node, and at passages by their nearness.
    """
    nodes = sorted({end for fact in looked.values() for end in (fact.source_id, fact.target_id)})
    node_at = {id_: i for i, id_ in enumerate(nodes)}
    passage_at = {id_: i for i, id_ in enumerate(ids, len(nodes))}
    size = len(nodes) + len(ids)
    facts = [looked[id_] for id_ in sorted(looked)]
    links = sorted(
        {(node_at[end], passage_at[id_]) for f in facts for end in (f.source_id, f.target_id) for id_ in f.passages}
    )
    joins = [
        (node_at[f.source_id], node_at[f.target_id])
        for f in facts
        if f.source_id != f.target_id
        for _ in f.passages or ("",)
    ]
    pairs = np.array([*joins, *links], np.intp).reshape(-1, 2)
    ends, others = np.concatenate([pairs[:, 0], pairs[:, 1]]), np.concatenate([pairs[:, 1], pairs[:, 0]])
    share = 1 / np.maximum(np.bincount(ends, minlength=size), 1)
    spoken = np.maximum(np.bincount([node for node, _ in links], minlength=size), 1)
    begin = np.zeros(size)
    for node, weights in _restarts(facts, node_at).items():
        begin[node] += np.mean(weights) / spoken[node]
    for seed in seeds:
        if seed.found_by != "vector" and seed.entity_id in node_at:
            begin[node_at[seed.entity_id]] += NAMED / spoken[node_at[seed.entity_id]]
    begin[len(nodes) :] += CLOSE * _min_max(nearness)
    begin = begin / begin.sum() if begin.sum() > 0 else np.full(size, 1 / size)
    rank = begin
    for _ in range(ROUNDS):
        rank = DAMPING * np.bincount(others, (rank * share)[ends], size) + (1 - DAMPING) * begin
    return rank[len(nodes) :]


def _restarts(facts: Sequence[Looked], node_at: Mapping[str, int]) -> dict[int, list[float]]:
    scores = np.array([fact.score if fact.cosine is None else fact.cosine for fact in facts])
    weights = _min_max(scores)
    found: dict[int, list[float]] = {}
    for i in np.argsort(-scores, kind="stable")[:RESTARTS].tolist():
        for end in sorted({facts[i].source_id, facts[i].target_id}):
            found.setdefault(node_at[end], []).append(float(weights[i]))
    return found


def _picked(listed: Sequence[Passage], found: Mapping[str, Document], coverage: Coverage) -> list[Passage]:
    """Of these, ten that cover the question together: the best first, then whichever adds the most."""
    rows = coverage.of([_text(found[passage.id]) for passage in listed])
    left = list(range(len(listed)))
    picked: list[Passage] = []
    known = coverage.nothing()
    while left and len(picked) < PICKED:
        gains = np.round(np.maximum(rows[left] - known, 0) @ coverage.weights, DECIMALS) * bool(picked)
        totals = [round(listed[i].score + COVER_WEIGHT * gain, DECIMALS) for i, gain in zip(left, gains, strict=True)]
        best = max(range(len(left)), key=lambda j: (totals[j], -left[j]))
        i = left.pop(best)
        after = np.maximum(known, rows[i])
        explains = coverage.explained(known[None], after[None])[0]
        picked.append(replace(listed[i], gain=float(gains[best]), explains=explains, picked=True))
        known = after
    return picked


def _text(document: Document) -> str:
    return passage_text(document.metadata.get("title"), document.content)


def _z(values: Array) -> Array:
    spread = float(values.std())
    return (values - values.mean()) / spread if spread > 1e-9 else np.zeros_like(values)


def _min_max(values: Array) -> Array:
    low, high = float(values.min()), float(values.max())
    return (values - low) / (high - low + 1e-9)
