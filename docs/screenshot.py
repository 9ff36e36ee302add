"""Writes a picture of each step of the four-minute demo and of the other pages, and the README's into docs/.

`python docs/screenshot.py [FOLDER]` with the development set installed; FOLDER is `.cache/steps` unless given.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.e2e.conftest import SCREEN, chromium, running  # noqa: E402
from tests.e2e.four_minutes import STEPS  # noqa: E402

IN_README = {"3-fact": "ask.png", "4-one-hop": "diff.png"}


def main(folder: Path) -> None:
    """Does the demo as a person would and keeps what is on the screen after each step."""
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as cache,
        running(Path(cache), store="") as url,
        chromium() as browser,
    ):
        page = browser.new_page(viewport=SCREEN, device_scale_factor=1.5)
        page.goto(url)
        for name, step in STEPS:
            step(page)
            page.wait_for_load_state("networkidle")
            page.wait_for_timeout(700)
            page.screenshot(path=folder / f"{name}.png")
            if name in IN_README:
                shutil.copy(folder / f"{name}.png", ROOT / "docs" / IN_README[name])
        for name, show in PAGES.items():
            page = browser.new_page(viewport=SCREEN, device_scale_factor=1.5)
            show(page, url)
            page.mouse.move(0, 0)
            page.wait_for_timeout(2_000)
            page.screenshot(path=folder / f"{name}.png")
            shutil.copy(folder / f"{name}.png", ROOT / "docs" / f"{name}.png")


def tune(page: Page, url: str) -> None:
    page.goto(f"{url}/tune?over=The+demo%27s+questions")
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_text("A and B", exact=True).wait_for(timeout=60_000)


def why(page: Page, url: str) -> None:
    page.goto(f"{url}/?q=What+system+does+Jane+Doe%27s+employer+use%3F&beam=4&auto=false&why=nimbrel-labs")
    page.get_by_text("The shortest has").wait_for(timeout=60_000)


def browse(page: Page, url: str) -> None:
    page.goto(f"{url}/browse?open=helios")
    page.get_by_role("button", name=re.compile(r"^\+\d+ of")).click()
    page.get_by_role("button", name="Collapse").wait_for(timeout=60_000)


def access(page: Page, url: str) -> None:
    page.goto(f"{url}/access")
    page.get_by_text("Only A").first.wait_for(timeout=60_000)


def build(page: Page, url: str) -> None:
    page.goto(f"{url}/build")
    page.get_by_text("Make a graph to build in").wait_for(timeout=60_000)
    page.get_by_label("Make a new graph").last.fill(f"{tempfile.mkdtemp()}/harbour.duckdb")
    page.keyboard.press("Enter")
    page.get_by_label("Or a file or folder on this machine").fill("demo")
    page.keyboard.press("Enter")
    page.get_by_text("As the files say").click()
    page.get_by_role("button", name="Write", exact=True).wait_for(timeout=60_000)


PAGES = {"why": why, "tune": tune, "browse": browse, "access": access, "build": build}


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / ".cache" / "steps")
