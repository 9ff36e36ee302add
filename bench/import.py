"""How fast triples are imported, without vectors: `python -m bench.import [FILE] [--store NEO4J] [--triples N]`.

Each import is `python -m kgcore import` without its start, in a process of its own: reading, comparing with what is
there, writing, and the order that reading is fast in. The processor's time stands beside the clock's, since a busy
machine stretches the latter alone; `again` is the same import once more, which changes nothing.
"""

from __future__ import annotations

import random
import resource
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from kgcore.config import load_config
from kgcore.ingest.cli import import_path

METAQA = Path(__file__).parents[2] / "shared" / "data" / "metaqa" / "kb.txt"


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One import: the edges it wrote or compared, both clocks, and the most memory that its process had."""

    edges: int
    seconds: float
    processor: float
    megabytes: float


def measure(path: Path, address: str) -> Measured:
    """Imports a file into a store; for a process of its own, whose memory counts."""
    began, used = time.perf_counter(), time.process_time()
    found = import_path(path, address, load_config()).plan.edges
    seconds, processor = time.perf_counter() - began, time.process_time() - used
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    return Measured(edges=found.new + found.changed + found.same, seconds=seconds, processor=processor, megabytes=peak)


def lines(count: int) -> Iterator[str]:
    """Made up triples, the same each time, with an entity for about three of them."""
    chance = random.Random(1)
    yield "source,relation,target\n"
    for _ in range(count):
        person, thing = chance.randrange(count // 5 + 1), chance.randrange(count // 5 + 1)
        yield f"Person {person},relation_{chance.randrange(30)},Thing {thing}\n"


def main(
    file: Annotated[Path, typer.Argument(help="Triples; MetaQA's by default.")] = METAQA,
    store: Annotated[str, typer.Option(help="An empty Neo4j database, which the file is written into too.")] = "",
    triples: Annotated[int, typer.Option(help="Triples of a made up file, for its memory; 0 for none.")] = 1_000_000,
) -> None:
    """Prints triples a second and the most memory, a line an import."""
    print(f"{'import':<30}{'triples':>10}{'s':>8}{'a second':>10}{'cpu s':>8}{'a cpu s':>10}{'MB':>7}")
    with TemporaryDirectory() as folder:
        address = f"duckdb:///{folder}/file.duckdb"
        show(f"{file.name} into a file", file, address)
        show(f"{file.name} into a file, again", file, address)
        if store:
            show(f"{file.name} into a server", file, store)
            show(f"{file.name} into a server, again", file, store)
        if triples:
            made = Path(folder, "made.csv")
            with made.open("w", encoding="utf-8") as out:
                out.writelines(lines(triples))
            show("made up, into a file", made, f"duckdb:///{folder}/made.duckdb")


def show(name: str, path: Path, address: str) -> None:
    """Measures one import and prints its line."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        found = pool.submit(measure, path, address).result()
    rates = found.edges / found.seconds, found.edges / found.processor
    print(
        f"{name:<30}{found.edges:>10,}{found.seconds:>8.1f}{rates[0]:>10,.0f}{found.processor:>8.1f}{rates[1]:>10,.0f}"
        f"{found.megabytes:>7,.0f}",
        flush=True,
    )


if __name__ == "__main__":
    typer.run(main)
