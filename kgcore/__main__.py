"""`python -m kgcore`: the library from the command line."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from kgcore.errors import ConfigError, KgError

if TYPE_CHECKING:
    from kgcore.store import GraphStore

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)
_console = Console(stderr=True)
_SIGNS = {"pass": "✓", "warn": "!", "fail": "✗", "skip": "–"}
_LONGEST = 2_000


@app.callback()
def _main() -> None:
    """Hopscope's library from the command line."""


@app.command("import")
def import_(
    path: Annotated[Path, typer.Argument(help="A folder or a file that holds a graph; docs/import.md lists which.")],
    store: Annotated[str, typer.Option(help="Where to write, such as duckdb:///graph.duckdb.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would change, and write nothing.")] = False,
    map_: Annotated[
        list[str] | None, typer.Option("--map", help="A role and its column, as relation=verb; may be given again.")
    ] = None,
    principal: Annotated[
        list[str] | None, typer.Option(help="Who may see it, as group:finance; may be given again.")
    ] = None,
    vectors: Annotated[bool, typer.Option(help="Embed names, facts and passages with the offline embedder.")] = True,
) -> None:
    """Reads a graph into a store; documents of the same ids are replaced, other documents stay.

    Ctrl-C stops it after the part that it is writing; the same command goes on from there. Vectors come last: the graph
    can be asked before.
    """
    from kgcore.config import load_config
    from kgcore.ingest import embed_missing
    from kgcore.ingest.cli import import_path, told
    from kgcore.models.offline import OfflineEmbedder

    with _stoppable("Stopped. The same command goes on from here.") as check, _progress("reading") as show:

        def step(done: int, total: int | None, what: str) -> None:
            show(done, total, what)
            check()

        found = import_path(
            path, store, load_config(), mapping=map_ or (), principals=principal or (), dry_run=dry_run, progress=step
        )
        if vectors and not dry_run:
            with closing(_open_whole(store)) as target:
                embed_missing(target, OfflineEmbedder(), progress=step)
    for line in told(path, found, dry_run=dry_run):
        _console.print(line, markup=False, highlight=False)


@app.command(context_settings={"allow_extra_args": True})
def copy(
    context: typer.Context,
    source: Annotated[str, typer.Argument(metavar="FROM", help="The address to read, or demo for the demo graph.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="The address to write, such as duckdb:///copy.duckdb.")],
) -> None:
    """Copies a store into another, who may see what included; what is there already is kept, the same ids are replaced.

    Ctrl-C stops it after the page that it is writing, a second one at once: run again, it goes on from there.
    """
    from kgcore.ingest.copy import checkpoint_of, copy_graph, is_same_store
    from kgcore.ingest.demo import ensure_demo

    if context.args:  # not left to the parser, which would print them, passwords too
        raise ConfigError("There are more than two addresses.", remedy="Give FROM and TO alone.")
    if target == "demo":
        raise ConfigError("The demo graph is only read.", remedy="Give the address of another store as TO.")
    with _stoppable("Stopped. The same command goes on from here.") as check:
        address = ensure_demo() if source == "demo" else source
        if is_same_store(address, target):
            raise ConfigError("FROM and TO are one store.", remedy="Give the address of another store as TO.")
        with (
            closing(_open_whole(address)) as read,
            closing(_open_whole(target, create=True)) as written,
            _progress("reading") as show,
        ):

            def page(done: int, total: int | None, what: str) -> None:
                show(done, total, what)
                check()

            copied = copy_graph(read, written, progress=page, checkpoint=checkpoint_of(address, target))
    _console.print(f"{copied.entities:,} entities, {copied.edges:,} edges, {copied.chunks:,} passages")


@app.command()
def vectors(
    store: Annotated[str, typer.Argument(help="The address of a graph.")],
) -> None:
    """Computes the vectors that are missing: of a Neo4j graph that others built into a folder beside its mapping.

    Such a graph is not written to. Ctrl-C stops it; the same command goes on from there.
    """
    from kgcore.config import load_config, mapping_file
    from kgcore.ingest import embed_missing
    from kgcore.ingest.side import compute_side, is_foreign
    from kgcore.models.offline import OfflineEmbedder
    from kgcore.store.neo4j import side_folder

    config = load_config()
    with (
        _stoppable("Stopped. The same command goes on from here.") as check,
        closing(_open_whole(store)) as opened,
        _progress("reading") as show,
    ):

        def step(done: int, total: int | None, what: str) -> None:
            show(done, total, what)
            check()

        if is_foreign(opened):
            folder = side_folder(mapping_file(config, store))
            made = compute_side(opened, folder, OfflineEmbedder(), progress=step)
        else:
            made = embed_missing(opened, OfflineEmbedder(), progress=step)
    _console.print(f"{made:,} vectors")


@app.command("eval")
def eval_(
    gold: Annotated[Path, typer.Argument(help="Questions with their gold, or a folder with questions.jsonl.")],
    store: Annotated[str, typer.Option(help="The address of the graph, or demo.")] = "",
    hops: Annotated[int, typer.Option(help="Hops of a question.")] = 2,
    beam: Annotated[int | None, typer.Option(help="Facts that each hop keeps; top-k / hops if not given.")] = None,
    top_k: Annotated[int, typer.Option(help="Facts of a result.")] = 50,
    scoring: Annotated[str, typer.Option(help="coverage or edge.")] = "coverage",
    seed_mode: Annotated[
        str, typer.Option(help="auto (the gold's seeds, if it gives some), mentions, query or llm.")
    ] = "auto",
    hub_limit: Annotated[int, typer.Option(help="Edges beyond which a node is not walked through.")] = 500,
    aliases: Annotated[bool, typer.Option(help="Walk on from entities whose name is part of a reached one's.")] = True,
    llm_filter: Annotated[bool, typer.Option(help="Have the chat model read each hop's best 30 candidates.")] = False,
    against: Annotated[str, typer.Option(help="Settings to compare with, such as beam=15,top-k=45.")] = "",
    every: Annotated[int, typer.Option(min=1, help="Ask every Nth question.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Write all figures and each question's ranks here, as JSON.")] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print tables, of hops and types too.")] = False,
) -> None:
    """Measures how well a graph answers questions whose gold is known; with --against, what other settings gain.

    Ctrl-C stops it after the question that it is asking; the same command goes on from there.
    """
    from kgcore.evals import report_json, report_markdown, report_text
    from kgcore.evals.cli import evaluate_file, read_settings

    settings = {
        "max_hops": hops, "beam_width": beam, "top_k": top_k, "scoring": scoring, "seed_mode": seed_mode,
        "hub_limit": hub_limit, "aliases": aliases, "llm_filter": llm_filter,
    }  # fmt: skip
    runs = [settings, {**settings, **read_settings(against)}] if against else [settings]
    if out is not None and not out.absolute().parent.is_dir():
        raise ConfigError(f"There is no folder for {out}.", remedy="Give --out a file in a folder that is there.")
    with _stoppable("Stopped. The same command goes on from here.") as check, _progress("asking") as show:

        def step(done: int, total: int | None, what: str) -> None:
            show(done, total, what)
            check()

        found = evaluate_file(gold, store, runs, every=every, progress=step)
    if out is not None:
        out.write_text(report_json(*found), encoding="utf-8")
    typer.echo((report_markdown if markdown else report_text)(*found), nl=False)


@app.command()
def bench(
    edges: Annotated[list[int] | None, typer.Option(help="Edges of the graph; may be given again.")] = None,
    passages: Annotated[int, typer.Option(help="Passages, at most one for 25 edges.")] = 20_000,
    rounds: Annotated[int, typer.Option(help="Questions a case.")] = 25,
    folder: Annotated[Path | None, typer.Option(help="Keep the graphs here and use them again.")] = None,
) -> None:
    """Prints how fast a file answers: synthetic graphs of 50,000, 500,000 and 2,000,000 edges, a tenth at one hub."""
    from tempfile import TemporaryDirectory

    from kgcore.evals.speed import measure, report

    with TemporaryDirectory() as temporary, _progress("measuring") as show:
        place = folder or Path(temporary)
        place.mkdir(parents=True, exist_ok=True)
        sizes = edges or [50_000, 500_000, 2_000_000]
        speeds = []
        for done, size in enumerate(sizes):
            show(done, len(sizes), f"{size:,} edges")
            some = max(1, min(passages, size // 25))
            speeds.append(measure(place, edges=size, hub=size // 10, passages=some, rounds=rounds))
    typer.echo(report(speeds))


def _open_whole(address: str, *, create: bool = False) -> GraphStore:
    """A store with its access metadata, and with the login and the mapping that the settings have for it."""
    from kgcore.config import load_config, store_options
    from kgcore.store import open_store

    return open_store(address, create=create, **{**store_options(load_config(), address), "access_fields": ()})


@app.command(context_settings={"allow_extra_args": True})
def doctor(
    context: typer.Context,
    store: Annotated[str, typer.Argument(metavar="[STORE]", help="An address; without one the app's own graph.")] = "",
) -> None:
    """Checks a graph and the models, a line each; exit code 1 if something keeps the graph from being used."""
    from kgcore.config import load_config
    from kgcore.doctor import examine
    from kgcore.ingest.demo import ensure_demo
    from kgcore.viz import plain

    if context.args:  # not left to the parser, which would print them, passwords too
        raise ConfigError("There is more than one address.", remedy="Give one, or none.")
    config = load_config()
    url = config.store if not store else "" if store == "demo" else store
    out = Console(soft_wrap=True, markup=False, highlight=False, emoji=False)
    failed = False
    for check in examine(config, url or ensure_demo()):
        out.print(f"{_SIGNS[check.state]} {check.name}: {plain(check.said, _LONGEST)}")
        if check.remedy:
            out.print(f"  → {plain(check.remedy, _LONGEST)}")
        failed = failed or check.state == "fail"
    if failed:
        raise typer.Exit(1)


@contextmanager
def _progress(what: str) -> Iterator[Callable[[int, int | None, str], None]]:
    """A bar, moved by calling what this gives with how much is done, of how much, and what is being done."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=_console) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total, what: bar.update(task, completed=done, total=total, description=what)


@contextmanager
def _stoppable(said: str) -> Iterator[Callable[[], None]]:
    """Ctrl-C is heard where this one's call stands: within a query DuckDB makes an error of it, or loses it."""
    asked = False

    def ask(*_: object) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True

    def check() -> None:
        if asked:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield check
    except (KeyboardInterrupt, RuntimeError):
        if not asked:
            raise
        _console.print(said)
        raise typer.Exit(130) from None
    finally:
        signal.signal(signal.SIGINT, before)


def main() -> None:
    """Runs the command line; an error is its message and remedy, and exit code 1."""
    try:
        app()
    except KgError as error:
        _console.print(f"{error}\n{error.remedy}", markup=False, style="red")
        sys.exit(1)


if __name__ == "__main__":
    main()
