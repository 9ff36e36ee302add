"""`python -m kgcore eval`, as a person runs it."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from kgcore import ConfigError, KgError, open_store
from kgcore.__main__ import app
from kgcore.config import cache_dir
from kgcore.evals.cli import read_settings
from kgcore.retrieve import KnowledgeGraphRetriever
from tests.data.build import JANE, offline

KB = "Kismet|directed_by|William Dieterle\nKismet|has_genre|Drama\nElena|directed_by|William Dieterle\n"
QUESTIONS = "who directed [Kismet]\tWilliam Dieterle\nwhat else was filmed by the director of [Kismet]\tElena\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A film graph with its questions, and caches of their own."""
    monkeypatch.setenv("HOPSCOPE_CACHE_DIR", str(tmp_path / "caches"))
    cache_dir.cache_clear()
    monkeypatch.setattr("kgcore.evals.cli.OfflineEmbedder", offline)
    (tmp_path / "kb.txt").write_text(KB)
    (tmp_path / "qa.txt").write_text(QUESTIONS)
    yield tmp_path
    cache_dir.cache_clear()


@pytest.fixture
def films(folder: Path) -> str:
    """The address of that graph, imported as a person does."""
    address = f"duckdb:///{folder}/films.duckdb"
    done = run("import", folder / "kb.txt", "--store", address, "--no-vectors")
    assert done.exit_code == 0 and "entities: 4 new\n  edges: 3 new\n" in done.output
    return address


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def failed(done: Result, kind: type[KgError] = ConfigError) -> KgError:
    assert isinstance(done.exception, kind) and done.exception.remedy.endswith(".")
    return done.exception


def lines(done: Result) -> list[str]:
    assert done.exit_code == 0, done.output
    return done.stdout.splitlines()


def test_figures_are_printed_a_line_each(folder: Path, films: str) -> None:
    title, _, *figures = lines(run("eval", folder / "qa.txt", "--store", films, "--top-k", 10))
    assert title.startswith("`qa.txt`: 2 questions, max_hops=2, top_k=10, scoring=coverage, seed_mode=auto")
    assert [line.split()[:4] for line in figures[:2]] == [["answer", "in", f"facts@{k}", "100.0"] for k in (5, 10)]
    assert [line.split()[3] for line in lines(run("eval", folder / "qa.txt", "--store", films, "--hops", 1))[2:3]] == [
        "50.0"
    ]


def test_results_are_written_as_json_and_printed_as_markdown(folder: Path, films: str) -> None:
    out = folder / "results.json"
    done = lines(run("eval", folder / "qa.txt", "--store", films, "--markdown", "--every", 2, "--out", out))
    assert "| answer in facts@50 | 100.0 | 100.0 to 100.0 | 1 |" in done
    found = json.loads(out.read_text())
    assert (found["gold"], [question["id"] for question in found["questions"]]) == ("qa.txt", ["1"])
    assert found["graph"] == {"entities": 4, "edges": 3, "documents": 1, "embedder": None}
    assert found["settings"]["max_hops"] == 2 and found["settings"]["aliases"] is True


def test_two_settings_are_compared(folder: Path, films: str) -> None:
    done = lines(run("eval", folder / "qa.txt", "--store", films, "--against", "hops=1, beam=3,aliases=no"))
    assert done[1].startswith("B: max_hops=1, beam_width=3, top_k=50,") and "aliases=False" in done[1]
    assert done[-1].split() == "answer in text@50 100.0 50.0 -50.0 -100.0 to 0.0 0 1".split()


def test_a_run_that_is_stopped_goes_on(folder: Path, films: str, monkeypatch: pytest.MonkeyPatch) -> None:
    command = ("eval", folder / "qa.txt", "--store", films, "--against", "hops=1")
    asked: list[str] = []
    retrieve = KnowledgeGraphRetriever.retrieve

    def stopping(self: KnowledgeGraphRetriever, question: str, **options: Any) -> Any:
        asked.append(question)
        if len(asked) == 3:
            signal.raise_signal(signal.SIGINT)
        return retrieve(self, question, **options)

    heard = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(KnowledgeGraphRetriever, "retrieve", stopping)
    done = run(*command)
    assert done.exit_code == 130 and "Stopped. The same command goes on from here." in done.output
    assert signal.getsignal(signal.SIGINT) is heard and len(asked) == 3
    assert len(list((folder / "caches" / "evals").iterdir())) == 2
    assert lines(run(*command))[0].startswith("`qa.txt`: 2 questions")
    assert len(asked) == 4
    assert list((folder / "caches" / "evals").iterdir()) == []


def test_the_demo_is_a_store(folder: Path, demo_address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgcore.evals.cli.ensure_demo", lambda: demo_address)
    (folder / "mine.jsonl").write_text(json.dumps({"question": JANE, "answer": "Helios"}))
    done = lines(run("eval", folder / "mine.jsonl", "--store", "demo"))
    assert done[2].split()[:4] == ["answer", "in", "facts@5", "100.0"]


class TestFaults:
    @pytest.mark.parametrize("beside", ["kb.txt", "triples.jsonl", None])
    def test_without_a_store_it_is_said_how_to_import_one(self, folder: Path, beside: str | None) -> None:
        gold = folder / "a b" / "qa.txt"
        gold.parent.mkdir()
        gold.write_text(QUESTIONS)
        if beside:
            (gold.parent / beside).write_text("")
        said = failed(run("eval", gold)).remedy
        graph = {"kb.txt": f"'{gold.parent}/kb.txt'", "triples.jsonl": f"'{gold.parent}'", None: "FOLDER"}[beside]
        assert f"python -m kgcore import {graph} --store duckdb:///graph.duckdb" in said
        assert ("--no-vectors" in said) == (beside == "kb.txt")

    def test_an_empty_store_is_said_how_to_fill(self, folder: Path) -> None:
        address = f"duckdb:///{folder}/empty.duckdb"
        open_store(address, create=True).close()
        error = failed(run("eval", folder / "qa.txt", "--store", address))
        assert str(error) == "The store holds no graph." and "kb.txt --store" in error.remedy

    def test_a_setting_that_is_not_there_or_out_of_bounds_is_found_before_anything_is_asked(
        self, folder: Path, films: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(KnowledgeGraphRetriever, "retrieve", lambda *_, **__: pytest.fail("asked"))
        for text, fault in (
            ("beem=3", "'beem=3'"), ("beam", "'beam'"), ("beam=0", "beam_width"), ("scoring=odd", "scoring"),
            ("seed-mode=odd", "seed_mode"), ("seed-mode=llm", "chat model"), ("beam=x", "beam_width"),
        ):  # fmt: skip
            error = failed(run("eval", folder / "qa.txt", "--store", films, "--against", text))
            assert fault in str(error)
        assert "folder" in str(failed(run("eval", folder / "qa.txt", "--store", films, "--out", folder / "no" / "x")))


def test_settings_are_read() -> None:
    assert read_settings(" beam=15,top_k=45, top-k = 46,aliases=no,scoring=edge,") == {
        "beam_width": 15, "top_k": 46, "aliases": False, "scoring": "edge"
    }  # fmt: skip


def test_help_says_what_there_is() -> None:
    done = CliRunner().invoke(app, ["eval", "--help"], env={"COLUMNS": "200", "NO_COLOR": "1"})
    assert done.exit_code == 0 and "--against" in done.output and "goes on from there" in done.output
