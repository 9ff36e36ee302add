"""What every reader of documents gives, and what it may take."""

from __future__ import annotations

import codecs
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from kgcore.errors import IngestError
from kgcore.ingest.source import Notes
from kgcore.text import whole_characters
from kgcore.types import PropertyValue

MOST_BYTES = 50 * 2**20
"""Of a file, and of what is packed in it."""
MOST_TEXT = 10_000_000
"""Characters that a file may hold as text."""
SECONDS = 10
"""Of a processor's time that reading one file may take: a busy machine refuses no sound file."""
_BLOCK = 2**16
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins as UTF-16's does
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LINE_ENDS = re.compile(r"\r\n?|[\v\x85\u2028]")
_PAGE_ENDS = re.compile(r"[\f\u2029]")
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
_MANY_BLANK = re.compile(r"\n{3,}")


@dataclass(frozen=True, kw_only=True)
class Found:
    """A text in a file; `id` is "" where the file holds no other, else its own."""

    id: str = ""
    title: str = ""
    text: str
    metadata: Mapping[str, PropertyValue] = field(default_factory=dict)


def refused(where: str, reason: str, remedy: str) -> IngestError:
    """The error of a file, or of a line in it; reason and remedy without their full stop."""
    return IngestError(f"{where}: {reason}.", remedy=f"{remedy}.")


def decoded(name: str, data: bytes, *, most: int = MOST_TEXT) -> str:
    """UTF-8, or UTF-16 and UTF-32 with their mark, of at most `most` characters.

    Raises IngestError that names the line and the byte.
    """
    encoding = next((encoding for mark, encoding in _MARKS if data.startswith(mark)), "utf-8")
    if encoding.startswith("utf-8") and b"\0" in data:
        where = _line(name, data, data.index(b"\0"))
        raise refused(where, "binary, or UTF-16 without its byte order mark", "Save it as UTF-8 text")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        said = encoding.removesuffix("-sig").upper()
        where = _line(name, data, error.start) if said == "UTF-8" else f"{name}, byte {error.start + 1:,}"
        raise refused(where, f"not {said} text", "Save it as UTF-8") from error
    check_length(name, len(text), most)
    return text


def _line(name: str, data: bytes, at: int) -> str:
    return f"{name}, line {data.count(10, 0, at) + 1:,}, byte {at + 1:,}"


def cleaned(text: str, notes: Notes) -> str:
    """Text that every store, page and model can hold: line ends are \\n, control characters are left out and noted."""
    text = _PAGE_ENDS.sub("\n\n", _LINE_ENDS.sub("\n", whole_characters(text)))
    text, count = _CONTROLS.subn("", text)
    if count:
        notes.add("control characters left out", count)
    return text


def laid_out(pieces: Iterable[str]) -> str:
    """The text of a page or a table in pieces: runs of spaces as one, one blank line at most between paragraphs."""
    lines = [" ".join(line.split()) for line in "".join(pieces).split("\n")]
    return _MANY_BLANK.sub("\n\n", "\n".join(line if line.strip(" |") else "" for line in lines)).strip()


def feed(name: str, read: Callable[[int], bytes], take: Callable[[bytes], object]) -> None:
    """Gives a file to a parser block by block. Raises IngestError when that takes too long."""
    end = time.thread_time() + SECONDS
    while block := read(_BLOCK):
        take(block)
        if time.thread_time() > end:
            raise refused(name, f"not read within {SECONDS} seconds", "Split it, or save it anew with another tool")


def check_length(name: str, length: int, most: int = MOST_TEXT) -> None:
    """Raises IngestError for more characters than a file may hold."""
    if length > most:
        raise refused(name, f"more than {most:,} characters of text", "Split it into several files")
