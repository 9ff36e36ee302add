"""Walks made up from a seed, of any size: what a beam frontier of thousands of entities looks like, without a store."""

from __future__ import annotations

import random
from collections.abc import Sequence

from kgcore.evals.synthetic import FIRST, RELATIONS, SECOND
from kgcore.types import Candidate, Fact, Hop, Retrieval, Seed, Settings, Trace

TYPES = ("Organization", "Person", "System", "Place")


def walk(
    reached: Sequence[int], *, seeds: int = 3, bridges: int = 0, near: int = 0, top_k: int | None = None
) -> Retrieval:
    """A walk whose hop h reaches `reached[h - 1]` new entities, each from one of the hop before, the first ones most.

    `bridges` facts join entities already reached, and each hop just misses `near` more. A larger walk holds the
    smaller one. The result is the best `top_k` facts with their chains, all by default.
    """
    levels = [[f"e0-{index}" for index in range(seeds)]]
    chains: dict[str, tuple[str, ...]] = dict.fromkeys(levels[0], ())
    hops: list[list[Candidate]] = []
    for hop, count in enumerate(reached, start=1):
        level = [f"e{hop}-{index}" for index in range(count)]
        found = [_step(hop, index, entity_id, levels[-1], chains) for index, entity_id in enumerate(level)]
        found += [_step(hop, count + index, f"n{hop}-{index}", levels[-1], chains, "beam_cut") for index in range(near)]
        levels.append(level)
        hops.append(found)
    for index in range(bridges):
        hop = 1 + index % len(hops)
        hops[hop - 1].append(_bridge(hop, index, levels, chains))
    return _retrieval(levels[0], hops, top_k)


def name_of(entity_id: str) -> str:
    """`Cobalt Desk 12`: the same name for the same id."""
    rng = random.Random(entity_id)
    return f"{rng.choice(FIRST)} {rng.choice(SECOND)} {entity_id.rpartition('-')[2]}"


def _step(
    hop: int, index: int, entity_id: str, parents: list[str], chains: dict[str, tuple[str, ...]], fate: str = "kept"
) -> Candidate:
    rng = random.Random(f"{hop} {entity_id}")
    parent = parents[int(len(parents[: 1 + index // 2]) * rng.random() ** 3)]
    return _candidate(hop, index, parent, entity_id, rng, chains, fate)


def _bridge(hop: int, index: int, levels: list[list[str]], chains: dict[str, tuple[str, ...]]) -> Candidate:
    rng = random.Random(f"bridge {hop} {index}")
    parent, far = rng.choice(levels[hop - 1]), rng.choice(levels[hop])
    return _candidate(hop, len(levels[hop]) + index, parent, far, rng, chains, "kept")


def _candidate(
    hop: int, index: int, parent: str, far: str, rng: random.Random, chains: dict[str, tuple[str, ...]], fate: str
) -> Candidate:
    relation = rng.choice(RELATIONS)
    fact_id = f"{parent}|{relation}|{far}|{index}"
    chain = (*chains[parent], fact_id)
    chains.setdefault(far, chain)
    ends = (parent, far) if rng.random() < 0.7 else (far, parent)
    score = round(max(0.01, 0.9 - 0.1 * hop - 0.0002 * index), 6)
    return Candidate(
        hop=hop,
        fact=Fact(
            id=fact_id,
            source_id=ends[0],
            target_id=ends[1],
            source=name_of(ends[0]),
            target=name_of(ends[1]),
            relation=relation,
            text=f"{name_of(ends[0])} -[{relation}]-> {name_of(ends[1])}",
            hop=hop,
            score=score,
            edge_ids=(fact_id,),
            source_doc_ids=(),
            source_type=TYPES[len(ends[0]) % 4],
            target_type=TYPES[len(ends[1]) % 4],
        ),
        parent_id=parent,
        parent_name=name_of(parent),
        entity_id=far,
        entity_name=name_of(far),
        chain=chain,
        score=score,
        rank=index + 1,
        fate=fate,  # type: ignore[arg-type]
        degree=rng.randrange(1, 90),
    )


def _retrieval(seeds: list[str], hops: list[list[Candidate]], top_k: int | None) -> Retrieval:
    kept = sorted((c for found in hops for c in found if c.fate == "kept"), key=lambda c: (-c.score, c.fact.id))
    result = dict.fromkeys(fact_id for candidate in kept[:top_k] for fact_id in candidate.chain)
    trace = Trace(
        question="Which systems are behind the ledger?",
        settings=Settings(
            max_hops=len(hops),
            beam_width=max(map(len, hops), default=1),
            top_k=top_k or len(kept),
            scoring="coverage",
            seed_mode="auto",
            hub_limit=500,
            vector_top_k=5,
            summarize=False,
        ),
        words=(),
        seeds=tuple(
            Seed(entity_id=one, name=name_of(one), type="System", found_by="mention", score=1.0, degree=9)
            for one in seeds
        ),
        hops=tuple(
            Hop(
                number=number,
                considered=3 * len(found),
                left_out=0,
                kept=sum(c.fate == "kept" for c in found),
                cutoff=min((c.score for c in found if c.fate == "kept"), default=0.0),
                explains=(),
                candidates=tuple(found),
            )
            for number, found in enumerate(hops, start=1)
        ),
        result=tuple(result),
    )
    facts = {c.fact.id: c.fact for c in kept}
    return Retrieval(
        content="",
        facts=tuple(facts[one] for one in result),
        documents=(),
        source_documents=(),
        context="",
        trace=trace,
    )
