"""The commands of docs/evaluate.md are ones that there are, and the demo's prints what the page says."""

from __future__ import annotations

import re
import shlex

import pytest
import typer.main
from typer.testing import CliRunner

from kgcore.__main__ import app
from kgcore.evals import FIGURES
from tests.docs.test_docs import ROOT

PAGE = (ROOT / "docs" / "evaluate.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\.venv/bin/python -m kgcore (.+)$", PAGE, re.M)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_can_be_read(command: str) -> None:
    name, *arguments = shlex.split(command)
    typer.main.get_command(app).commands[name].make_context(name, arguments)  # type: ignore[attr-defined]


def test_the_demo_prints_what_the_page_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    said = re.search(r"```text\n(.*?)```", PAGE, re.S)
    assert said is not None
    done = CliRunner().invoke(app, shlex.split(COMMANDS[0]))
    assert done.exit_code == 0
    assert done.stdout.splitlines()[1:] == said[1].splitlines()


def test_every_figure_is_explained() -> None:
    for name in {figure.partition("@")[0] for figure in FIGURES}:
        assert re.search(rf"^\| `{name}(@k)?` \|", PAGE, re.M), name


def test_the_commands_of_the_measured_sets_are_there() -> None:
    assert len(COMMANDS) == 8 and {command.split()[0] for command in COMMANDS} == {"import", "eval"}
