"""Every Python block of the docs runs, page by page in one namespace, and prints what its `#>` lines say."""

import contextlib
import io
import re
from pathlib import Path

import pytest

from kgcore.config import Config

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES_WITH_CODE = [page for page in PAGES if "```python" in page.read_text(encoding="utf-8")]


@pytest.mark.parametrize("page", PAGES_WITH_CODE, ids=lambda page: page.name)
def test_code_runs_and_prints_what_it_says(page: Path) -> None:
    namespace: dict[str, object] = {"__name__": "docs"}
    for block in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block, page.name, "exec"), namespace)
        said = re.findall(r"^#> ?(.*)$", block, re.M)
        assert printed.getvalue().splitlines() == said


def test_there_is_code_to_run() -> None:
    assert {"library.md", "import.md", "access.md"} <= {page.name for page in PAGES_WITH_CODE}


def test_every_setting_is_documented() -> None:
    text = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    for name in Config.model_fields:
        assert f"`HOPSCOPE_{name.upper()}`" in text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target
