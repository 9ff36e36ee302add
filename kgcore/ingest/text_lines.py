"""The lines of a text file in UTF-8, or in UTF-16 or UTF-32 with its byte order mark."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path

from kgcore.errors import IngestError

MAX_LINE = 1_000_000
_WIDE = (
    ((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE), "utf-32"),
    ((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE), "utf-16"),
)
_UTF8 = "utf-8-sig"


def encoding_of(path: Path) -> str:
    """The encoding, by the first bytes. Raises IngestError for what is no file, cannot be read or is binary."""
    if not path.is_file():
        raise IngestError(f"{path} is not a file.", remedy="Name a file that is there.")
    try:
        with path.open("rb") as file:
            head = file.read(8192)
    except OSError as error:
        raise _unreadable(path, error) from error
    for marks, encoding in _WIDE:
        if head.startswith(marks):
            return encoding
    if b"\0" in head:
        raise IngestError(
            f"{path.name} is not text: it is binary, or UTF-16 without its byte order mark.",
            remedy="Save it as UTF-8 text.",
        )
    return _UTF8


def text_lines(path: Path, encoding: str, longest: int = MAX_LINE) -> Iterator[str]:
    """The lines with their ends. Raises IngestError with the line that is no text or longer than `longest`."""
    number = 0
    try:
        with path.open(encoding=encoding, newline="") as file:
            for number, line in enumerate(iter(partial(file.readline, longest + 1), ""), 1):
                if len(line) > longest:
                    raise IngestError(
                        f"{path.name}, line {number}: longer than {longest:,} characters.",
                        remedy="Give one record a line.",
                    )
                yield line
    except UnicodeError as error:
        number = _undecodable(path, encoding)
        name = "UTF-8" if encoding == _UTF8 else encoding.upper()
        raise IngestError(f"{path.name}, line {number}: not {name} text.", remedy="Save it as UTF-8.") from error
    except OSError as error:
        raise _unreadable(path, error) from error


def first_lines(path: Path, encoding: str, count: int) -> list[str]:
    """The first lines, fewer where they are long."""
    lines: list[str] = []
    size = 0
    for line in islice(text_lines(path, encoding), count):
        lines.append(line)
        size += len(line)
        if size > MAX_LINE:
            break
    return lines


def _undecodable(path: Path, encoding: str) -> int:
    """The line, since text is decoded in blocks that reach beyond the line at hand."""
    decoder = codecs.getincrementaldecoder(encoding)()
    number = 1
    with path.open("rb") as file:
        for block in iter(partial(file.read, 2**16), b""):
            try:
                number += decoder.decode(block).count("\n")
            except UnicodeDecodeError as error:
                return number + error.object[: error.start].decode(error.encoding, "ignore").count("\n")
    return number


def _unreadable(path: Path, error: OSError) -> IngestError:
    return IngestError(f"{path} cannot be read: {error.strerror}.", remedy="Name a file that can be read.")
