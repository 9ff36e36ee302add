"""`python -m kgcore`: the library from the command line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from kgcore.errors import KgError

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)
_console = Console(stderr=True)


@app.callback()
def _main() -> None:
    """Hopscope's library from the command line."""


@app.command("import")
def import_(
    folder: Annotated[Path, typer.Argument(help="A folder of documents or passages and triples in JSONL.")],
    store: Annotated[str, typer.Option(help="Where to write, such as duckdb:///graph.duckdb.")],
    vectors: Annotated[bool, typer.Option(help="Embed names, facts and passages with the offline embedder.")] = True,
) -> None:
    """Reads a folder into a store; what is there already is kept, the same ids are replaced."""
    from kgcore.ingest import write_graph
    from kgcore.ingest.importers.folder import read_folder
    from kgcore.models.offline import OfflineEmbedder
    from kgcore.store import open_store

    parts = read_folder(folder)
    target = open_store(store, create=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    try:
        with Progress(*columns, console=_console) as bar:
            task = bar.add_task("writing", total=None)
            write_graph(
                target,
                parts.entities,
                parts.edges,
                parts.chunks,
                embedder=OfflineEmbedder() if vectors else None,
                progress=lambda done, total, what: bar.update(task, completed=done, total=total, description=what),
            )
    finally:
        target.close()
    _console.print(f"{len(parts.entities):,} entities, {len(parts.edges):,} edges, {len(parts.chunks):,} passages")


def main() -> None:
    """Runs the command line; an error is its message and remedy, and exit code 1."""
    try:
        app()
    except KgError as error:
        _console.print(f"{error}\n{error.remedy}", markup=False, style="red")
        sys.exit(1)


if __name__ == "__main__":
    main()
