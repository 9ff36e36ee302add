"""The nodes and edges of a GraphML file, in its order, each with its attributes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from xml.parsers import expat

from kgcore.errors import IngestError
from kgcore.ingest.importers.json_file import check_size
from kgcore.types import Scalar

_READ = 2**16
_MOST_TAG = 2**20
_NUMBERS: dict[str, type[int] | type[float]] = {"int": int, "long": int, "float": float, "double": float}


@dataclass(frozen=True, kw_only=True)
class Record:
    """A node with its id, or an edge with the ids at its ends."""

    kind: Literal["node", "edge"]
    ids: tuple[str, ...]
    data: dict[str, Scalar] = field(default_factory=dict)


def graphml_records(path: Path) -> Iterator[Record]:
    """The file's records. Raises IngestError that names the file and the line; a DTD is refused."""
    check_size(path)
    reader = _Reader(path.name)
    try:
        with path.open("rb") as file:
            while block := file.read(_READ):
                reader.parser.Parse(block, False)
                reader.check_tag(file.tell())
                yield from reader.taken()
            reader.parser.Parse(b"", True)
            yield from reader.taken()
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise IngestError(
            f"{path.name}, line {error.lineno}: not XML ({reason}).",
            remedy="Write it again with the tool that made it.",
        ) from error
    except (OSError, ValueError, LookupError) as error:
        raise IngestError(f"{path.name} cannot be read as XML ({error}).", remedy="Save it as UTF-8.") from error
    if not reader.is_graphml:
        raise IngestError(f"{path.name} is not GraphML.", remedy="Name a GraphML file.")


class _Reader:
    def __init__(self, name: str) -> None:
        self.name = name
        self.is_graphml = False
        self.keys: dict[str, tuple[str, str]] = {}
        self.record: Record | None = None
        self.key: str | None = None
        self.text: list[str] = []
        self.ready: list[Record] = []
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters

    def taken(self) -> list[Record]:
        taken, self.ready = self.ready, []
        return taken

    def check_tag(self, read: int) -> None:
        """A tag that does not end would be begun again with each block."""
        if read - max(self.parser.CurrentByteIndex, 0) > _MOST_TAG:
            raise self._error("a tag of more than 1 MB", "Write it again with the tool that made it.")

    def _doctype(self, *_: object) -> None:
        raise self._error("a document type (DTD) is not allowed", "Remove the DOCTYPE and what it declares.")

    def _start(self, tag: str, given: dict[str, str]) -> None:
        tag = tag.rpartition(":")[2]
        if tag == "graphml":
            self.is_graphml = True
        elif tag == "key":
            self.keys[given.get("id", "")] = (given.get("attr.name", given.get("id", "")), given.get("attr.type", ""))
        elif tag == "node":
            self.record = Record(kind="node", ids=(self._needed(given, tag, "id"),))
        elif tag == "edge":
            ids = (self._needed(given, tag, "source"), self._needed(given, tag, "target"))
            self.record = Record(kind="edge", ids=ids)
        elif tag == "data" and self.record is not None:
            self.key, self.text = given.get("key", ""), []

    def _characters(self, text: str) -> None:
        if self.key is not None:
            self.text.append(text)

    def _end(self, tag: str) -> None:
        tag = tag.rpartition(":")[2]
        if tag == "data" and self.record is not None and self.key is not None:
            name, type_ = self.keys.get(self.key, (self.key, ""))
            text = "".join(self.text)
            if text.strip():
                self.record.data[name] = self._value(name, type_, text)
            self.key = None
        elif tag in ("node", "edge") and self.record is not None:
            self.ready.append(self.record)
            self.record = None

    def _value(self, name: str, type_: str, text: str) -> Scalar:
        if type_ == "boolean":
            return text.strip().lower() in ("true", "1")
        if type_ not in _NUMBERS:
            return text
        try:
            return _NUMBERS[type_](text)
        except ValueError:
            raise self._error(f"{name!r} is not a number", "Correct the value, or declare its key a string.") from None

    def _needed(self, given: dict[str, Any], tag: str, name: str) -> str:
        found = given.get(name)
        if not found:
            raise self._error(f"{'an' if tag == 'edge' else 'a'} {tag} has no {name}", f"Give each {tag} its {name}.")
        return str(found)

    def _error(self, reason: str, remedy: str) -> IngestError:
        return IngestError(f"{self.name}, line {self.parser.CurrentLineNumber}: {reason}.", remedy=remedy)
