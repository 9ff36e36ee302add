"""One hop on a Neo4j server against plain Cypher: `python -m bench.server_hop STORE [--edges N] [--hub N]`.

The graph of `python -m kgcore bench` is written into the database if it is empty. Three calls are timed in turn, with
another question every round: `expand`, one plain statement for the same answer (visible edges, cosine, facts, the best
1,000, their far ends' names and visible degrees), and the bare statement of the hop, which neither merges nor counts.
"""

from __future__ import annotations

import statistics
import time
from typing import Annotated

import numpy as np
import typer

from kgcore import AccessFilter, open_store
from kgcore.evals.speed import LOCKED, SHORTLIST
from kgcore.evals.synthetic import PUBLIC, fill, make
from kgcore.store.neo4j import NeoStore

BARE = """
MATCH (n:Entity)-[r]-(m:Entity) WHERE n.id IN $ids AND any(x IN r.allowed_principals WHERE x IN $principals)
WITH r, vector.similarity.cosine(r.embedding, $vector) AS score ORDER BY score DESC SHORTLIST $limit
RETURN startNode(r).id, endNode(r).id, type(r), r {.*, embedding: null}, score
"""
WHOLE = """
MATCH (n:Entity)-[r]-(m:Entity) WHERE n.id IN $ids AND any(x IN r.allowed_principals WHERE x IN $principals)
WITH DISTINCT r, startNode(r) AS a, endNode(r) AS b
WITH a, type(r) AS relation, b, max(vector.similarity.cosine(r.embedding, $vector)) AS score, collect(r) AS edges
ORDER BY score DESC WITH count(*) AS found, collect([edges, score])[..$limit] AS kept
UNWIND kept AS pair UNWIND pair[0] AS r
WITH found, collect([startNode(r).id, endNode(r).id, type(r), r {.*, embedding: null}, pair[1]]) AS edges,
     collect(startNode(r)) + collect(endNode(r)) AS nodes
UNWIND nodes AS n WITH DISTINCT found, edges, n
RETURN found, edges, collect([n.id, n.name, COUNT {
    (n)-[r]-(:Entity) WHERE any(x IN r.allowed_principals WHERE x IN $principals)
}])
"""


def main(
    store: Annotated[str, typer.Argument(help="A Neo4j database: empty, or one that this bench has filled.")],
    edges: Annotated[int, typer.Option(help="Edges of the graph.")] = 500_000,
    hub: Annotated[int, typer.Option(help="Edges at the hub.")] = 50_000,
    rounds: Annotated[int, typer.Option(help="Timed rounds a case.")] = 15,
) -> None:
    """Prints a hop's milliseconds by `expand` and by both statements."""
    arrays = make(edges, hub, 2_000)
    graph = open_store(store, create=True)
    assert isinstance(graph, NeoStore)
    locked = AccessFilter.of(LOCKED)
    began = time.perf_counter()
    if not graph.state.names:
        fill(graph, arrays)
        graph.optimize()
        taken = time.perf_counter() - began
        print(f"{edges:,} edges x 384 written in {taken:.0f} s: {edges / taken:,.0f} a second")
    began = time.perf_counter()
    seen = graph.describe(locked)
    print(f"describe: {seen.edges:,} visible edges, {time.perf_counter() - began:.1f} s the first time")
    small = [f"n{n}" for n in np.random.default_rng(3).integers(1, arrays.nodes, 20)]
    print(f"{'case':<22}{'expand p50':>11}{'min':>8}{'whole p50':>11}{'min':>8}{'bare p50':>10}{'min':>8}")
    for name, ids in (("hub", ["n0"]), ("one small node", small[:1]), ("twenty small nodes", small)):
        graph.entities(ids, locked)
        times: tuple[list[float], list[float], list[float]] = ([], [], [])
        for question in arrays.vectors[:: len(arrays.vectors) // rounds][: rounds + 2]:
            params = {"ids": ids, "principals": [PUBLIC], "vector": question.tolist(), "limit": SHORTLIST}
            calls = (
                lambda ids=ids, q=question: graph.expand(ids, [], locked, q, SHORTLIST),
                lambda params=params: graph.server.rows(WHOLE, params),
                lambda params=params: graph.server.rows(BARE, params),
            )
            for call, taken_by in zip(calls, times, strict=True):
                began = time.perf_counter()
                call()
                taken_by.append((time.perf_counter() - began) * 1000)
        warm = [part[2:] for part in times]
        print(f"{name:<22}" + "".join(f"{statistics.median(t):>11.1f}{min(t):>8.1f}" for t in warm))
    graph.close()


if __name__ == "__main__":
    typer.run(main)
