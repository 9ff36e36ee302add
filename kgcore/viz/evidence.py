"""The evidence beside the graph: facts, near misses, sources, and the whole trace as a table."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from kgcore.types import Candidate, Document, PropertyValue, Retrieval, Trace
from kgcore.viz.diff import Diff
from kgcore.viz.frontier import Frontier, frontier, new_words, telling_words
from kgcore.viz.labels import UNNAMED, plain
from kgcore.viz.passages import reasons
from kgcore.viz.sentences import said_at

ALIASES_SHOWN = 20
"""Of a hop, in the trace."""


def evidence_payload(retrieval: Retrieval, diff: Diff | None = None) -> dict[str, Any]:
    """All that the evidence component needs for one run, and what changed since the run that it is compared with."""
    trace = retrieval.trace
    found = frontier(trace)
    sources = {document.id: document for document in retrieval.source_documents}
    return {
        "best": max((candidate.score for candidate in found.kept), default=0.0),
        "lastStep": len(trace.hops) + 1,
        "facts": [_fact(candidate, trace, found, sources) for candidate in _in_order(found)],
        "entered": sorted(diff.entered) if diff else [],
        "left": _left(diff, sources) if diff else [],
        "near": [_near(candidate, trace, found, sources) for candidate in found.near],
        "sources": _sources(trace, found, retrieval.source_documents),
        "trace": _trace(retrieval),
    }


def _in_order(found: Frontier) -> list[Candidate]:
    """The result as ranked, then what the beams kept and the result left out, best first."""
    last = len(found.rank) + 1
    return sorted(found.kept, key=lambda c: (found.rank.get(c.fact.id, last), -c.score, c.hop, c.fact.id))


def _fact(candidate: Candidate, trace: Trace, found: Frontier, sources: dict[str, Document]) -> dict[str, Any]:
    fact = candidate.fact
    return {
        "id": fact.id,
        "hop": candidate.hop,
        "rank": found.rank.get(fact.id),
        "sourceId": fact.source_id,
        "targetId": fact.target_id,
        "source": plain(fact.source) or UNNAMED,
        "relation": plain(fact.relation) or UNNAMED,
        "target": plain(fact.target) or UNNAMED,
        "description": plain(fact.description or "", 1_000),
        "score": candidate.score,
        "cutoff": trace.hops[candidate.hop - 1].cutoff,
        "words": telling_words(candidate, trace),
        "start": plain(candidate.parent_name),
        "aliasOf": _alias_of(candidate, found),
        "chain": list(candidate.chain),
        "bridge": candidate.bridge,
        "fate": candidate.fate,
        "documents": list(fact.source_doc_ids),
        "said": {
            document_id: said_at(sources[document_id].content, fact.source, fact.target, fact.text)
            for document_id in fact.source_doc_ids
            if document_id in sources
        },
    }


def _alias_of(candidate: Candidate, found: Frontier) -> str:
    """The reached name that the one it starts from is a part of, "" for most."""
    alias = found.aliases.get(candidate.parent_id)
    return plain(alias.of_name) or UNNAMED if alias else ""


def _left(diff: Diff, sources: dict[str, Document]) -> list[dict[str, Any]]:
    """Facts of the run before, as they were there."""
    found = frontier(diff.before)
    return [{**_fact(candidate, diff.before, found, sources), "left": True} for candidate in diff.left]


def _near(candidate: Candidate, trace: Trace, found: Frontier, sources: dict[str, Document]) -> dict[str, Any]:
    hop = trace.hops[candidate.hop - 1]
    return {**_fact(candidate, trace, found, sources), "beam": candidate.rank, "considered": hop.considered}


def _sources(trace: Trace, found: Frontier, documents: tuple[Document, ...]) -> list[dict[str, Any]]:
    """In their order, each with the facts of the run that it asserts, and why it is there."""
    why = reasons(trace, found)
    asserted: dict[str, list[str]] = defaultdict(list)
    for candidate in _in_order(found):
        for document_id in candidate.fact.source_doc_ids:
            asserted[document_id].append(candidate.fact.id)
    return [
        {
            "id": document.id,
            "title": plain(str(document.metadata.get("title") or document.id)),
            "about": _about(document),
            "properties": _properties(document),
            "content": document.content,
            "facts": asserted[document.id],
            "why": why.get(document.id),
        }
        for document in documents
    ]


def _about(document: Document) -> str:
    """What tells one chunk from another: its number and its date, where the metadata gives them."""
    parts = []
    if (number := document.metadata.get("chunk")) is not None:
        parts.append(f"chunk {plain(str(number))}")
    if date := document.metadata.get("date") or document.metadata.get("year"):
        parts.append(plain(str(date)))
    return " · ".join(parts)


def _properties(document: Document) -> list[list[str]]:
    """A document's metadata as a person reads it, by name."""
    return [
        [plain(name), ", ".join(plain(str(one)) for one in _listed(value))]
        for name, value in sorted(document.metadata.items())
    ]


def _listed(value: PropertyValue) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _trace(retrieval: Retrieval) -> dict[str, Any]:
    trace = retrieval.trace
    return {
        "seeds": [
            {
                "name": plain(seed.name),
                "type": plain(seed.type),
                "foundBy": seed.found_by,
                "text": plain(seed.text),
                "score": seed.score,
                "degree": seed.degree,
            }
            for seed in trace.seeds
        ],
        "hops": [
            {
                "number": hop.number,
                "considered": hop.considered,
                "kept": hop.kept,
                "leftOut": hop.left_out,
                "cutoff": hop.cutoff,
                "aliases": [
                    {"name": plain(alias.name) or UNNAMED, "of": plain(alias.of_name) or UNNAMED}
                    for alias in hop.aliases[:ALIASES_SHOWN]
                ],
                "moreAliases": max(0, len(hop.aliases) - ALIASES_SHOWN),
            }
            for hop in trace.hops
        ],
        "passages": {"weighed": len(trace.passages), "picked": sum(p.picked for p in trace.passages)},
        "candidates": [_row(candidate, trace) for hop in trace.hops for candidate in hop.candidates],
        "timings": [{"stage": plain(stage), "ms": round(ms, 1)} for stage, ms in retrieval.timings.items()],
        "warnings": [plain(warning, 1_000) for warning in trace.warnings],
    }


def _row(candidate: Candidate, trace: Trace) -> dict[str, Any]:
    fact = candidate.fact
    return {
        "id": fact.id,
        "hop": candidate.hop,
        "rank": candidate.rank,
        "fate": candidate.fate,
        "score": candidate.score,
        "gain": candidate.gain,
        "rerank": candidate.rerank_score,
        "fact": f"{plain(fact.source)} —{plain(fact.relation)}→ {plain(fact.target)}",
        "words": new_words(candidate, trace),
    }
