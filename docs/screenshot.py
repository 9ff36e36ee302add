"""Writes docs/ask.png from the running app: `python docs/screenshot.py` with the development set installed."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import sync_playwright  # noqa: E402

from tests.e2e.conftest import CHROMIUM, FLAGS, SCREEN, running  # noqa: E402


def main() -> None:
    """Opens the demo as a person would and keeps what is on the screen."""
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder), store="") as url,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport=SCREEN, device_scale_factor=1.5)
        page.goto(url)
        page.get_by_text("Result 8").wait_for(timeout=60_000)
        page.locator("canvas").first.wait_for()
        page.wait_for_load_state("networkidle")
        page.wait_for_timeout(1_000)
        page.screenshot(path=ROOT / "docs" / "ask.png")
        browser.close()


if __name__ == "__main__":
    main()
