"""One question as two principals: what both find, what only one does, and the edge by which it does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kgcore.filters import AccessFilter
from kgcore.names import tokens
from kgcore.retrieve.pipeline import KnowledgeGraphRetriever
from kgcore.types import KEPT_BY_BEAM, Candidate, Edge, Fact, Retrieval, Trace

DENIED = "is denied everything"
NO_SEED = "sees none of the entities to start from"
FACTS_LOOKED_THROUGH = 10_000
"""At one entity, when it is asked whether a fact of it is visible."""


@dataclass(frozen=True, kw_only=True)
class OneSided:
    """A fact that only one side finds, as that side sees it.

    `edge` decides: it asserts the first fact on the way from the seed that the other side does not see, `step` of the
    way's `steps`; of several the one with the lowest id. It is None where the other sees all of the way or nothing at
    all; then `why` says of the other how it came not to find the fact: `ranks it 5 of 101 in hop 2, its beam keeps 4`.
    """

    fact: Fact
    edge: Edge | None = None
    step: int = 0
    steps: int = 0
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class Shared:
    """A fact that both find, as A sees it. Of each document by which only one of the two sees it, an edge."""

    fact: Fact
    only_a: tuple[Edge, ...]
    only_b: tuple[Edge, ...]


@dataclass(frozen=True, kw_only=True)
class Views:
    """What two principals find, each in the order of its own result. A retrieval is None for who cannot start."""

    a: Retrieval | None
    b: Retrieval | None
    only_a: tuple[OneSided, ...]
    both: tuple[Shared, ...]
    only_b: tuple[OneSided, ...]


@dataclass(frozen=True, kw_only=True)
class _Side:
    """`filter` is what it reads under, with the caller's filter. Without a retriever it is denied everything."""

    retriever: KnowledgeGraphRetriever | None
    filter: AccessFilter
    result: Retrieval | None

    @property
    def facts(self) -> Sequence[Fact]:
        return self.result.facts if self.result else ()

    def edges(self, ids: Sequence[str]) -> dict[str, Edge]:
        if self.retriever is None:
            return {}
        return {edge.id: edge for edge in self.retriever.store.edges(ids, self.filter)}


def compare_views(
    question: str, a: KnowledgeGraphRetriever | None, b: KnowledgeGraphRetriever | None, **settings: Any
) -> Views:
    """Asks a question of two retrievers over one graph, whose locked filters are the two principals'.

    None is who is denied everything. `settings` are arguments of `retrieve`; of `entity_ids` each side starts from
    those that it sees. Raises what `retrieve` does.
    """
    one, other = _side(question, a, settings), _side(question, b, settings)
    in_a, in_b = ({fact.id: fact for fact in side.facts} for side in (one, other))
    return Views(
        a=one.result,
        b=other.result,
        only_a=_one_sided(one, other, [fact for fact in one.facts if fact.id not in in_b]),
        both=_shared(one, other, [(fact, in_b[fact.id]) for fact in one.facts if fact.id in in_b]),
        only_b=_one_sided(other, one, [fact for fact in other.facts if fact.id not in in_a]),
    )


def _side(question: str, retriever: KnowledgeGraphRetriever | None, settings: Mapping[str, Any]) -> _Side:
    if retriever is None:
        return _Side(retriever=None, filter=AccessFilter(), result=None)
    filter = retriever.filter.narrowed(settings.get("filters"))
    given = dict(settings)
    if asked := given.get("entity_ids"):
        given["entity_ids"] = [end.id for end in retriever.store.entities(asked, filter)]
        if not given["entity_ids"]:
            return _Side(retriever=retriever, filter=filter, result=None)
    return _Side(retriever=retriever, filter=filter, result=retriever.retrieve(question, **given))


def _one_sided(side: _Side, other: _Side, facts: Sequence[Fact]) -> tuple[OneSided, ...]:
    if side.result is None or not facts:
        return ()
    if other.retriever is None:
        return tuple(OneSided(fact=fact, why=DENIED) for fact in facts)
    kept = {c.fact.id: c for hop in side.result.trace.hops for c in hop.candidates if c.fate == "kept"}
    ways = {fact.id: kept[fact.id].chain for fact in facts}
    on_the_way = {fact_id: kept[fact_id].fact for way in ways.values() for fact_id in way}
    seen = _visible(list(on_the_way.values()), other)
    hidden = {id_: next((fact_id for fact_id in way if fact_id not in seen), None) for id_, way in ways.items()}
    deciding = {fact_id: min(on_the_way[fact_id].edge_ids) for fact_id in hidden.values() if fact_id}
    edges = side.edges(sorted(deciding.values()))
    met = _met(other.result.trace) if other.result else {}
    rows = []
    for fact in facts:
        decider, way = hidden[fact.id], ways[fact.id]
        if decider is None or fact.id in met:
            rows.append(OneSided(fact=fact, why=_why([kept[fact_id] for fact_id in way], other.result, met)))
        else:
            edge = edges.get(deciding[decider])
            rows.append(OneSided(fact=fact, edge=edge, step=way.index(decider) + 1, steps=len(way)))
    return tuple(rows)


def _visible(facts: Sequence[Fact], side: _Side) -> set[str]:
    """Which of these facts a side sees at all, be it by edges of its own."""
    assert side.retriever is not None
    met = {c.fact.id for hop in side.result.trace.hops for c in hop.candidates} if side.result else set()
    held = side.edges(sorted({id_ for fact in facts if fact.id not in met for id_ in fact.edge_ids}))
    met |= {fact.id for fact in facts if any(id_ in held for id_ in fact.edge_ids)}
    at: defaultdict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.id not in met:
            at[fact.source_id].append(fact)
    for source_id, missing in sorted(at.items()):
        found = side.retriever.store.expand(
            [source_id],
            (),
            side.filter,
            None,
            FACTS_LOOKED_THROUGH,
            words=sorted({word for fact in missing for word in tokens(fact.target)}),
            relations=sorted({fact.relation for fact in missing}),
        )
        met |= {visible.fact_id for visible in found.edges}
    return met


def _shared(a: _Side, b: _Side, pairs: Sequence[tuple[Fact, Fact]]) -> tuple[Shared, ...]:
    edges_a = a.edges(sorted({id_ for one, other in pairs for id_ in set(one.edge_ids) - set(other.edge_ids)}))
    edges_b = b.edges(sorted({id_ for one, other in pairs for id_ in set(other.edge_ids) - set(one.edge_ids)}))
    return tuple(
        Shared(fact=one, only_a=_documents_of(one, other, edges_a), only_b=_documents_of(other, one, edges_b))
        for one, other in pairs
    )


def _documents_of(fact: Fact, other: Fact, edges: Mapping[str, Edge]) -> tuple[Edge, ...]:
    """An edge of each document that asserts a fact to one side and not to the other."""
    found: dict[str | None, Edge] = {}
    for id_ in sorted(fact.edge_ids):
        edge = edges.get(id_)
        if edge is not None and edge.source_doc_id not in other.source_doc_ids:
            found.setdefault(edge.source_doc_id, edge)
    return tuple(found.values())


def _why(way: Sequence[Candidate], other: Retrieval | None, met: Mapping[str, Candidate]) -> str:
    """How a side came not to find the last fact of a way all of which it sees: where its own walk left it."""
    if other is None or not other.trace.seeds:
        return NO_SEED
    trace = other.trace
    last = met.get(way[-1].fact.id)
    if last is not None:
        return _cut(last, "it", trace)
    hubs = {c.fact.id: c for hop in trace.hops for c in hop.candidates if c.fate == "hub"}
    start, first = way[0].parent_id, way[0].fact
    starts = {seed.entity_id for seed in trace.seeds} | {alias.entity_id for hop in trace.hops for alias in hop.aliases}
    if start not in starts and first.id not in met:
        names = ", ".join(dict.fromkeys(seed.name for seed in trace.seeds[:3]))
        missing = first.source if first.source_id == start else first.target
        return f"starts from {names}{' and more' if len(trace.seeds) > 3 else ''}, not from {missing}"
    for at, candidate in enumerate(way[:-1]):
        found = met.get(candidate.fact.id)
        if found is None:
            break
        if found.fate not in KEPT_BY_BEAM:
            return _cut(found, f"{_said(candidate.fact)}, on the way,", trace)
        hub = hubs.get(candidate.fact.id)
        if hub and way[at + 1].fact.id not in met:
            return f"sees {hub.degree:,} edges at {hub.entity_name}, a hub that it does not walk through"
    return "sees all of the way, but does not have it among its candidates"


def _cut(found: Candidate, it: str, trace: Trace) -> str:
    if found.fate == "beam_cut":
        considered, width = trace.hops[found.hop - 1].considered, trace.settings.beam_width
        return f"ranks {it} {found.rank} of {considered:,} in hop {found.hop}, its beam keeps {width}"
    if found.fate == "llm_cut":
        return f"has {it} cut by the chat model in hop {found.hop}"
    by = " by the reranker" if found.fate == "reranked_out" else ""
    return f"keeps {it} in its beam, but it is put out of the top {trace.settings.top_k}{by}"


def _met(trace: Trace) -> dict[str, Candidate]:
    """Each fact that a walk met, with the best of its fates."""
    fates = ("kept", "top_k_cut", "reranked_out", "llm_cut", "beam_cut")
    candidates = [c for hop in trace.hops for c in hop.candidates if c.fate in fates]
    met: dict[str, Candidate] = {}
    for candidate in sorted(candidates, key=lambda c: (fates.index(c.fate), c.hop)):
        met.setdefault(candidate.fact.id, candidate)
    return met


def _said(fact: Fact) -> str:
    return f"{fact.source} {fact.relation} {fact.target}"
