"""Files of JSON objects, one a line or in one list; each object knows where it stands."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgcore.errors import IngestError
from kgcore.ingest.text_lines import encoding_of, text_lines
from kgcore.text import whole_characters

LONGEST = 10_000_000
"""Characters of a line, which may hold a document's text."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One object; `where` names its file and its line."""

    where: str
    value: Mapping[str, Any]

    def text(self, name: str) -> str:
        """A text, or a number as one. Raises IngestError if it is missing or empty."""
        found = self.optional(name)
        if found is None:
            raise self.error(f"{name!r} is missing", f"Give {name!r} as a text that is not empty")
        return found

    def optional(self, name: str) -> str | None:
        """The same, None if it is missing or empty. Raises IngestError for anything but a text or a number."""
        found = self.value.get(name)
        if found is None or found == "":
            return None
        if isinstance(found, bool) or not isinstance(found, str | int | float):
            raise self.error(f"{name!r} is not a text", f"Give {name!r} as a text")
        return whole_characters(str(found))

    def error(self, message: str, remedy: str) -> IngestError:
        """The error of this object, both without their full stop."""
        return IngestError(f"{self.where}: {message}.", remedy=remedy + ".")


def read_lines(path: Path) -> Iterator[Line]:
    """The objects of a JSONL file, none if there is no file. Raises IngestError that names the file and the line."""
    if not path.is_file():
        return
    for number, text in enumerate(text_lines(path, encoding_of(path), LONGEST), 1):
        if text.strip():
            yield _parsed(f"{path.name}, line {number}", text)


def _parsed(where: str, text: str) -> Line:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise IngestError(f"{where}: not JSON.", remedy="Give one JSON object a line.") from error
    if not isinstance(value, dict):
        raise IngestError(f"{where}: not a JSON object.", remedy="Give one JSON object a line.")
    return Line(where=where, value=value)
