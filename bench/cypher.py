"""Cypher over visible edges: `python -m bench.cypher [EDGES ...]`.

Prints the seconds of copying that many edges into the process that answers, and the milliseconds of queries over the
copy, as an asker waits for them.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import Annotated

import typer

from kgcore import open_store
from kgcore.cypher import CypherExecutor
from kgcore.evals.synthetic import PUBLIC, fill, make

QUERIES = (
    "MATCH ()-[r]->() RETURN count(r) AS n",
    "MATCH (n)-[r]-() RETURN n.name AS name, count(r) AS edges ORDER BY edges DESC, name LIMIT 10",
    "MATCH (n) WHERE n.name CONTAINS 'Desk 12' RETURN n LIMIT 25",
    "MATCH ()-[r]->() WHERE r.year >= 2020 RETURN r.year AS year, count(*) AS n ORDER BY year",
    "MATCH (a)-[r]->(b) RETURN a, r, b LIMIT 1000",
    "MATCH (a {id: 'n7'})-[*1..2]-(b) RETURN count(DISTINCT b) AS n",
)


def main(
    edges: Annotated[list[int] | None, typer.Argument(help="Numbers of edges.")] = None,
    rounds: Annotated[int, typer.Option(help="Times that each query is asked.")] = 5,
) -> None:
    """Prints the figures."""
    locked = {"field": "allowed_principals", "operator": "contains_any", "value": [PUBLIC]}
    for count in edges or [20_000, 200_000]:
        with tempfile.TemporaryDirectory() as folder:
            store = open_store(f"duckdb:///{Path(folder)}/graph.duckdb", create=True)
            fill(store, make(count, count // 10, max(count // 50, 20)))
            for filters in (None, locked):
                cypher = CypherExecutor(store=store, filters=filters)
                started = time.perf_counter()
                seen = cypher.query(QUERIES[0]).rows[0][0]
                print(f"{count:,} edges, {seen:,} visible: copied in {time.perf_counter() - started:.2f} s")
                for query in QUERIES:
                    print(f"  {_took(cypher, query, rounds):8.1f} ms  {query}")
                cypher.close()
            store.close()


def _took(cypher: CypherExecutor, query: str, rounds: int) -> float:
    taken = []
    for _ in range(rounds):
        started = time.perf_counter()
        cypher.query(query, timeout=30.0)
        taken.append((time.perf_counter() - started) * 1000)
    return statistics.median(taken)


if __name__ == "__main__":
    typer.run(main)
