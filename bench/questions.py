"""Whole questions over a folder with questions.jsonl: `python -m bench.questions FOLDER [--hops 2] [--beam 10]`.

Prints the milliseconds of a retrieve, its question's embedding included, and for how many questions every gold passage
stands among the sources of the kept candidates. With `--store neo4j://...` the graph is on that server, imported
there if its database is empty, and the queries that a retrieve sends are counted.
"""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from kgcore import AccessFilter, KnowledgeGraphRetriever, Retrieval, open_store, write_graph
from kgcore.ingest.importers.folder import read_folder
from kgcore.models.offline import OfflineEmbedder
from kgcore.store import GraphStore
from kgcore.store.neo4j import NeoStore


def main(
    folder: Annotated[Path, typer.Argument(help="passages.jsonl, triples.jsonl, questions.jsonl with gold.")],
    hops: Annotated[int, typer.Option(help="Hops of a question.")] = 2,
    beam: Annotated[int, typer.Option(help="Beam width.")] = 10,
    file: Annotated[Path | None, typer.Option(help="Keep the imported graph here and use it again.")] = None,
    rounds: Annotated[int, typer.Option(help="Timed rounds over all questions, after the first.")] = 3,
    server: Annotated[str, typer.Option("--store", help="A Neo4j database instead of a file.")] = "",
) -> None:
    """Prints the figures."""
    embedder = OfflineEmbedder()
    with tempfile.TemporaryDirectory() as temporary:
        path = file or Path(temporary) / "questions.duckdb"
        store = open_store(server or f"duckdb:///{path}", create=True)
        if not store.describe(AccessFilter.of()).edges:
            parts = read_folder(folder)
            write_graph(store, parts.entities, parts.edges, parts.chunks, embedder=embedder)
        retriever = KnowledgeGraphRetriever(store, embedder=embedder, document_retriever=store.chunks)
        questions = [json.loads(line) for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
        found: Counter[str] = Counter()
        asked: Counter[str] = Counter()
        times: list[float] = []
        first: list[float] = []
        stages: list[dict[str, float]] = []
        queries: list[int] = []
        for turn in range(rounds + 1):
            for question in questions:
                sent = sent_by(store)
                began = time.perf_counter()
                result = retriever.retrieve(question["question"], max_hops=hops, beam_width=beam, top_k=hops * beam)
                taken = (time.perf_counter() - began) * 1000
                (times if turn else first).append(taken)
                queries.append(sent_by(store) - sent)
                if turn:
                    stages.append(dict(result.timings))
                else:
                    kind = str(question["id"])[:4]  # MuSiQue's ids begin with the number of hops
                    asked[kind] += 1
                    found[kind] += set(question["gold"]) <= kept_sources(result)
        store.close()
    cuts = statistics.quantiles(times, n=20)
    print(f"{len(questions)} questions, {hops} hops, beam {beam}: ", end="")
    print(f"p50 {statistics.median(times):.1f} ms, p95 {cuts[-1]:.1f} ms; asked for the first time ", end="")
    print(f"p50 {statistics.median(first):.1f} ms")
    print("stages p50: " + ", ".join(f"{s} {statistics.median(t[s] for t in stages):.1f}" for s in stages[0]))
    if server:
        print(f"queries a retrieve: median {statistics.median(queries):.0f}, at most {max(queries)}")
    print("whole gold chain among the kept: " + ", ".join(f"{k} {found[k]} of {asked[k]}" for k in sorted(asked)))


def sent_by(store: GraphStore) -> int:
    """How many queries a store has sent to its server; 0 for a file."""
    return store.server.queries if isinstance(store, NeoStore) else 0


def kept_sources(result: Retrieval) -> set[str]:
    """The passages behind every candidate that a beam kept."""
    return {
        passage
        for hop in result.trace.hops
        for candidate in hop.candidates
        if candidate.fate in ("kept", "top_k_cut", "reranked_out")
        for passage in candidate.fact.source_doc_ids
    }


if __name__ == "__main__":
    typer.run(main)
