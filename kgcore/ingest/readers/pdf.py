"""The text of a PDF's pages."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kgcore.ingest.readers import pdf_pages
from kgcore.ingest.readers.found import MOST_TEXT, SECONDS, Found, refused
from kgcore.ingest.source import Notes

MOST_MEMORY = 400 * 2**20
_WAIT = 3 * SECONDS  # by the clock; where the system can, the program is held to SECONDS of the processor's time
_HYPHEN = re.compile("[\ufffe\x02](?:\r?\n)?(?=(.?))")  # the parser's mark where a line ends with a hyphen
_SAVE = "Print it to a new PDF, or split it"


def read_pdf(name: str, data: bytes, notes: Notes) -> Iterator[Found]:
    """One text, its pages parted by blank lines. Raises IngestError for an encrypted one, or one of images alone."""
    found = _read(name, data)
    if "error" in found:
        if "password" in found["error"].lower():
            raise refused(name, "encrypted", "Save it without its password")
        raise refused(name, "not a PDF, or broken", _SAVE)
    pages = [_HYPHEN.sub(_joined, page or "").strip() for page in found["pages"]]
    broken = sum(page is None for page in found["pages"])
    if not any(pages):
        reason = "its pages cannot be read" if broken else "no text: its pages are images, or empty"
        raise refused(name, reason, _SAVE if broken else "Run it through text recognition (OCR) first")
    if broken:
        notes.add("pages left out that cannot be read", broken)
    if empty := pages.count("") - broken:
        notes.add("pages without text", empty)
    yield Found(title=found["title"], text="\n\n".join(page for page in pages if page))


def _joined(hyphen: re.Match[str]) -> str:
    """A word goes on in small letters; before others the hyphen is its own."""
    return "" if hyphen[1].islower() else "-"


def _read(name: str, data: bytes) -> dict[str, Any]:
    limits = [str(limit) for limit in (MOST_TEXT, MOST_MEMORY, SECONDS)]
    # -P: the modules beside the program are not to stand in for the library's.
    command = [sys.executable, "-P", str(Path(pdf_pages.__file__)), *limits]
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=_WAIT, check=False)
    except subprocess.TimeoutExpired as error:
        raise refused(name, f"not read within {_WAIT} seconds", _SAVE) from error
    if done.returncode:
        raise refused(name, "reading it failed, or took more memory or time than a document should", _SAVE)
    found: dict[str, Any] = json.loads(done.stdout)
    return found
