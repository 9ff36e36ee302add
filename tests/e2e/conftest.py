"""The app in a real browser: a server on a free loopback port, and a page that records what it asks for."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FilePayload, Page, ViewportSize, sync_playwright

ROOT = Path(__file__).parents[2]
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SCREEN: ViewportSize = {"width": 1280, "height": 720}
STARTS_WITHIN = 90.0

OpenPage = Callable[..., Page]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if not Path(CHROMIUM).exists():
        if os.environ.get("CI"):
            pytest.fail(f"{CHROMIUM} is missing: install Chromium, or set CHROMIUM to it.")
        pytest.skip("Chromium is not installed.")
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="session")
def demo_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app on the demo graph."""
    with running(tmp_path_factory.mktemp("demo"), store="") as url:
        yield url


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """Opens an address in a fresh context; at the end, nothing may have failed or left the machine."""
    asked: list[str] = []
    failures: list[str] = []
    contexts = []

    def open_page(url: str, *, scheme: str = "light", screen: ViewportSize = SCREEN) -> Page:
        context = browser.new_context(viewport=screen, color_scheme=scheme)  # type: ignore[arg-type]
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("request", lambda request: asked.append(request.url))
        page.on("websocket", lambda socket: asked.append(socket.url))
        page.on("pageerror", lambda error: failures.append(str(error)))
        page.on("dialog", lambda dialog: failures.append(f"dialog: {dialog.message}"))
        page.goto(url)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert asked
    assert [url for url in asked if not _is_local(url)] == []
    assert failures == []


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser, without a window; closed when the block is."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


def download(page: Page, label: str) -> bytes:
    """What this button of the Share menu saves; the menu may be open."""
    saves = page.get_by_role("button", name=label)
    if not saves.is_visible():
        page.get_by_role("button", name="Share").click()
    with page.expect_download() as downloading:
        saves.click()
    return Path(downloading.value.path()).read_bytes()


def open_saved(page: Page, name: str, content: bytes) -> None:
    """Opens a file as a saved run, in the Share menu that is open."""
    file: FilePayload = {"name": name, "mimeType": "application/json", "buffer": content}
    page.locator("[data-testid=stFileUploader] input").set_input_files(file)


@contextmanager
def running(folder: Path, *, store: str, environment: dict[str, str] | None = None, home: Path = ROOT) -> Iterator[str]:
    """A server of its own, with its own cache and its output in `server.log`; ended when the block is.

    `home` is the folder of the `app.py` that is started.
    """
    port = _free_port()
    ours = {"HOPSCOPE_STORE": store, "HOPSCOPE_CACHE_DIR": str(folder), **(environment or {})}
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    with (folder / "server.log").open("w") as log:
        server = subprocess.Popen(command, cwd=home, env=os.environ | ours, stdout=log, stderr=subprocess.STDOUT)
        try:
            url = f"http://127.0.0.1:{port}"
            _wait_until_healthy(url, server, folder / "server.log")
            yield url
        finally:
            server.terminate()
            try:
                server.wait(timeout=10)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def _wait_until_healthy(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + STARTS_WITHIN
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=1) as response:
                if response.status == 200:
                    return
        except OSError:
            time.sleep(0.05)
    pytest.fail(f"The server did not start:\n{log.read_text()}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _is_local(url: str) -> bool:
    return url.startswith(("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:"))
