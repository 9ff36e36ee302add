"""Files that hold a text a row: tables, and JSON objects."""

from __future__ import annotations

import csv
import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from io import StringIO
from itertools import islice
from typing import Any

from kgcore.errors import IngestError
from kgcore.ingest.importers.cells import properties_of
from kgcore.ingest.lines import Line
from kgcore.ingest.readers.found import MOST_TEXT, Found, decoded, refused
from kgcore.ingest.source import Notes
from kgcore.types import PropertyValue

_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE = 50
_MOST_FIELDS = 1_000
_TEXT_COLUMNS = ("text", "content")
_OWN = ("id", "title", "text")
_BALANCE = 'Close each quotation mark that opens a cell, and double those inside it: "a ""b"" c"'


def read_table(name: str, data: bytes, notes: Notes, access_fields: Collection[str]) -> Iterator[Found]:
    """A text a row, a line of `name: value` for each cell that is not empty.

    The first row names the columns. `id` and `title` name the row; a column of the access fields is a list parted by
    ; or , (or a JSON list) of who may see it: metadata, never text. Raises IngestError that names the line.
    """
    text = decoded(name, data)
    csv.field_size_limit(max(MOST_TEXT, csv.field_size_limit()))
    rows = _rows(name, text, _delimiter(name, text))
    columns = [column or str(number) for number, column in enumerate(next(rows)[1], 1)]
    for number, (line, row) in enumerate(rows, 1):
        if len(row) > len(columns) or len(row) < min(2, len(columns)):
            raise refused(
                f"{name}, line {line:,}",
                f"{len(row)} {'cell' if len(row) == 1 else 'cells'} under {len(columns)} columns",
                "Use one delimiter throughout, and quote cells that hold it",
            )
        if len(row) < len(columns):
            notes.add("rows with fewer cells than columns")
        cells = [(column, cell) for column, cell in zip(columns, row, strict=False) if cell]
        own = {column.casefold(): cell for column, cell in cells}
        yield Found(
            id=f"{name}#{own.get('id', number)}",
            title=own.get("title", ""),
            text="\n".join(f"{column}: {cell}" for column, cell in cells if column not in access_fields),
            metadata={column: _principals(cell) for column, cell in cells if column in access_fields},
        )


def _rows(name: str, text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not empty, each with the line that it begins in."""
    rows = csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for row in rows:
            row = [cell.strip() for cell in row]
            if any(row):
                yield line, row
            line = rows.line_num + 1
    except csv.Error as error:
        raise refused(f"{name}, line {line:,}", str(error), _BALANCE) from error


def _delimiter(name: str, text: str) -> str:
    """The one that gives the first rows the same number of cells, at least two; else the header most."""
    best: tuple[bool, int] = (False, 1)
    found = ""
    header: list[str] = []
    for delimiter in _DELIMITERS:
        rows = _sample(name, text, delimiter)
        if not rows:
            continue
        header = header or rows[0]
        rank = (len({len(row) for row in rows}) == 1, len(rows[0]))
        if rank[1] > 1 and rank > best:
            best, found = rank, delimiter
    if not found and [cell.casefold() for cell in header] not in [[column] for column in _TEXT_COLUMNS]:
        raise refused(
            f"{name}, line 1",
            "no columns are to be seen",
            "Name the columns in the first row, and part them by commas, semicolons, tabs or |",
        )
    return found or _DELIMITERS[0]


def _sample(name: str, text: str, delimiter: str) -> list[list[str]]:
    """The first rows, up to one that cannot be read: it is named when the file is."""
    rows: list[list[str]] = []
    with suppress(IngestError):
        rows.extend(row for _, row in islice(_rows(name, text, delimiter), _SAMPLE))
    return rows


def _principals(cell: str) -> tuple[str, ...]:
    try:
        listed = json.loads(cell)
    except (ValueError, RecursionError):
        listed = None
    if not isinstance(listed, list):
        listed = cell.replace(";", ",").split(",")
    return tuple(text for item in listed if (text := str(item).strip()))


def read_jsonl(name: str, data: bytes, notes: Notes, access_fields: Collection[str]) -> Iterator[Found]:
    """A text for each object: `text`, `id` and `title` if it has them, and metadata. Raises IngestError."""
    for number, text in enumerate(StringIO(decoded(name, data), newline="\n"), 1):
        if text.strip():
            line = Line(where=f"{name}, line {number:,}", value=_object(f"{name}, line {number:,}", text))
            yield Found(
                id=line.optional("id") or f"{name}#{number}",
                title=line.optional("title") or "",
                text=line.text("text"),
                metadata=_metadata(line, notes, access_fields),
            )


def _object(where: str, text: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deep, or a number too long"
        raise refused(where, f"not JSON ({reason})", "Give one JSON object a line") from error
    if not isinstance(value, dict):
        raise refused(where, "not a JSON object", "Give one JSON object a line")
    return value


def _metadata(line: Line, notes: Notes, access_fields: Collection[str]) -> dict[str, PropertyValue]:
    if len(line.value) > _MOST_FIELDS:
        raise line.error(f"more than {_MOST_FIELDS:,} fields", "Make most of them part of the text")
    access: dict[str, PropertyValue] = {}
    others: dict[str, object] = {}
    for name, value in line.value.items():
        if name in access_fields:
            if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
                raise line.error(f"{name!r} is not a list of texts", "Give a list of who may see it")
            access[name] = tuple(value)
        elif name not in _OWN:
            others[name] = value
    return {**properties_of(others, notes), **access}
