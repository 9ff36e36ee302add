"""A JSON file that is read whole."""

from __future__ import annotations

import codecs
import json
from pathlib import Path
from typing import Any

from kgcore.errors import IngestError

MOST_BYTES = 2**29
"""A larger file is refused unread: it would not fit into memory as objects."""
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def read_json(path: Path) -> Any:
    """The value in a file: UTF-8, or UTF-16 with its mark. Raises IngestError that names the file and the line."""
    check_size(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise IngestError(f"{path.name} cannot be read ({error.strerror}).", remedy="Name a readable file.") from error
    if not data.strip():
        raise IngestError(f"{path.name} is empty.", remedy="Write it again with the tool that made it.")
    try:
        return json.loads(_decoded(path.name, data))
    except json.JSONDecodeError as error:
        raise _not_json(f"{path.name}, line {error.lineno}, character {error.colno}", error.msg) from error
    except RecursionError as error:
        raise _not_json(path.name, "nested too deep") from error
    except ValueError as error:
        raise _not_json(path.name, "a number of thousands of digits") from error


def check_size(path: Path) -> None:
    """Raises IngestError for a file that is not there, is none, or is too large to read whole."""
    if not path.is_file():
        raise IngestError(f"{path} is not a file.", remedy="Name a file.")
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise IngestError(
            f"{path.name} has {size // 2**20:,} MB, too much to read whole.",
            remedy=f"Give at most {MOST_BYTES // 2**20:,} MB in a file.",
        )


def decoded_head(path: Path, size: int = 2**16) -> str:
    """The beginning of a file as text, "" if it cannot be read or is no text."""
    try:
        with path.open("rb") as file:
            data = file.read(size)
        return data.decode(_encoding(data), "ignore")
    except (OSError, ValueError):
        return ""


def _decoded(name: str, data: bytes) -> str:
    encoding = _encoding(data)
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].decode(encoding, "ignore").count("\n") + 1
        said = "UTF-16" if encoding == "utf-16" else "UTF-8"
        raise IngestError(f"{name}, line {line}: not {said} text.", remedy="Save the file as UTF-8.") from error


def _encoding(data: bytes) -> str:
    return next((encoding for mark, encoding in _MARKS if data.startswith(mark)), "utf-8")


def _not_json(where: str, reason: str) -> IngestError:
    return IngestError(f"{where}: not JSON ({reason}).", remedy="Write it again with the tool that made it.")
