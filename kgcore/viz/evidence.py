"""The evidence beside the graph: facts, near misses, sources, and the whole trace as a table."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from kgcore.types import NO_NEW_WORDS, Candidate, Document, Retrieval, Trace
from kgcore.viz.frontier import Frontier, frontier, new_words
from kgcore.viz.labels import UNNAMED, plain
from kgcore.viz.sentences import said_at


def evidence_payload(retrieval: Retrieval) -> dict[str, Any]:
    """All that the evidence component needs for one run."""
    trace = retrieval.trace
    found = frontier(trace)
    sources = {document.id: document for document in retrieval.source_documents}
    return {
        "answer": retrieval.content if retrieval.context else "",
        "best": max((candidate.score for candidate in found.kept), default=0.0),
        "lastStep": len(trace.hops) + 1,
        "facts": [_fact(candidate, trace, found, sources) for candidate in _in_order(found)],
        "near": [_near(candidate, trace, found, sources) for candidate in found.near],
        "sources": _sources(found, retrieval.source_documents),
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
        "words": new_words(candidate, trace) if candidate.gain >= NO_NEW_WORDS else [],
        "start": plain(candidate.parent_name),
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


def _near(candidate: Candidate, trace: Trace, found: Frontier, sources: dict[str, Document]) -> dict[str, Any]:
    hop = trace.hops[candidate.hop - 1]
    return {**_fact(candidate, trace, found, sources), "beam": candidate.rank, "considered": hop.considered}


def _sources(found: Frontier, documents: tuple[Document, ...]) -> list[dict[str, Any]]:
    asserted: dict[str, list[str]] = defaultdict(list)
    for candidate in _in_order(found):
        for document_id in candidate.fact.source_doc_ids:
            asserted[document_id].append(candidate.fact.id)
    return [
        {
            "id": document.id,
            "title": plain(str(document.metadata.get("title") or document.id)),
            "about": _about(document),
            "content": document.content,
            "facts": asserted[document.id],
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
            }
            for hop in trace.hops
        ],
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
