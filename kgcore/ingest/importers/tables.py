"""Files of rows: cells between delimiters, or JSON objects or lists a line. What a file is shows in its first lines."""

from __future__ import annotations

import codecs
import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from kgcore.errors import IngestError
from kgcore.ingest.source import Notes

MAX_LINE = 1_000_000
SAMPLE = 200
DELIMITERS = {"tab": "\t", "|": "|", "comma": ",", "semicolon": ";"}
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")
_JSON = re.compile(r'\{|\[\s*($|["\[{\d])')

Row = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Table:
    """How a file is read. `form` is "cells", "objects" or "lists"; columns without a name are called 1, 2, 3.

    `sample` has the first rows, `numeric` the columns whose cells are numbers there, `share` how many of the sample's
    rows have the same width (1.0: all).
    """

    path: Path
    encoding: str
    form: str
    columns: tuple[str, ...]
    sample: tuple[Row, ...]
    delimiter: str = ""
    quoted: bool = True
    header: bool = False
    before: int = 0
    share: float = 1.0
    numeric: frozenset[str] = frozenset()

    def rows(self, notes: Notes) -> Iterator[Row]:
        """Each row as its columns' values; of JSON objects all that they hold. Raises IngestError with the line."""
        if self.form == "objects":
            yield from (value for _, value in self._values(dict, notes))
            return
        cells = self._cells() if self.form == "cells" else (value for _, value in self._values(list, notes))
        width = len(self.columns)
        for row in islice(cells, self.before + self.header, None):
            if len(row) > width and not any(row[width:]):
                row = row[:width]
            if len(row) == width:
                yield dict(zip(self.columns, row, strict=True))
            elif len(row) > width:
                notes.add(f"rows with more than {width} columns left out")
            elif row:
                yield dict(zip(self.columns, row, strict=False))
        if self.before:
            notes.add("lines before the table left out", self.before)

    def _cells(self) -> Iterator[list[str]]:
        csv.field_size_limit(max(MAX_LINE, csv.field_size_limit()))
        rows = _parsed(_lines(self.path, self.encoding), self.delimiter, self.quoted)
        line = 0
        try:
            for row in rows:
                line = rows.line_num
                if any(row):
                    yield row
        except csv.Error as error:
            raise IngestError(
                f"{self.path.name}, line {line + 1}: {error}.",
                remedy='Close each quotation mark that opens a cell, and double those inside it: "a ""b"" c".',
            ) from error

    def _values(self, kind: type, notes: Notes) -> Iterator[tuple[int, Any]]:
        for number, line in enumerate(_lines(self.path, self.encoding), 1):
            if not line.strip():
                continue
            value = _json(self.path, number, line)
            if isinstance(value, kind):
                yield number, value
            else:
                notes.add(f"lines that are no JSON {'object' if kind is dict else 'list'} left out")


def look(
    path: Path, known: Collection[str], *, delimiter: str | None = None, header: bool | None = None
) -> Table:  # fmt: skip
    """How a file is to be read, by its first lines. `known` are names of columns that tell a header, as `plain` gives.

    Raises IngestError for a file that is empty, binary, not text, or has no columns.
    """
    encoding = _encoding(path)
    lines = _first_lines(path, encoding)
    number, first = next(((n, line) for n, line in enumerate(lines, 1) if line.strip()), (0, ""))
    if not number:
        raise IngestError(f"{path.name} is empty.", remedy="Name a file with a triple a line.")
    if _JSON.match(first.strip()):
        return _json_table(path, encoding, number, lines)
    found = [_cell_table(path, encoding, lines, d, known, header) for d in DELIMITERS.values() if delimiter in (None, d)]
    tables = [table for table in found if table is not None]
    if not tables:
        raise IngestError(
            f"{path.name}, line {number}: no columns are to be seen.",
            remedy="Part source, relation and target by tabs, commas, semicolons or |, the same in each line.",
        )
    return max(tables, key=lambda table: (is_named(table, known), len(table.columns) > 2, table.share))


def is_named(table: Table, known: Collection[str]) -> bool:
    """Whether at least two columns have a known name."""
    return sum(plain(column) in known for column in table.columns) > 1


def plain(name: str) -> str:
    """A column's name to compare: letters and digits alone, case-folded."""
    return "".join(c for c in name.casefold() if c.isalnum())


def number_of(cell: str) -> int | float | None:
    """The number that a cell writes, None if it writes none or one with leading zeros or beyond 64 bits."""
    if not _NUMBER.fullmatch(cell):
        return None
    if cell.lstrip("-").isdigit():
        return int(cell) if abs(int(cell[:20])) < 2**63 and len(cell) < 21 else None
    return float(cell)


def _encoding(path: Path) -> str:
    try:
        with path.open("rb") as file:
            head = file.read(8192)
    except OSError as error:
        raise IngestError(f"{path} cannot be read: {error.strerror}.", remedy="Name a file that is there.") from error
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if b"\0" in head:
        raise IngestError(
            f"{path.name} is not text: it is binary, or UTF-16 without its byte order mark.",
            remedy="Save it as UTF-8 text.",
        )
    return "utf-8-sig"


def _lines(path: Path, encoding: str) -> Iterator[str]:
    """The lines with their ends, none longer than MAX_LINE characters."""
    number = 0
    try:
        with path.open(encoding=encoding, newline="") as file:
            for number, line in enumerate(iter(partial(file.readline, MAX_LINE + 1), ""), 1):
                if len(line) > MAX_LINE:
                    raise IngestError(
                        f"{path.name}, line {number}: longer than {MAX_LINE:,} characters.",
                        remedy="Give one triple a line.",
                    )
                yield line
    except UnicodeDecodeError as error:
        number = _undecodable(path) if encoding == "utf-8-sig" else number + 1
        name = "UTF-8" if encoding == "utf-8-sig" else encoding.upper()
        raise IngestError(f"{path.name}, line {number}: not {name} text.", remedy="Save it as UTF-8.") from error
    except OSError as error:
        raise IngestError(f"{path} cannot be read: {error.strerror}.", remedy="Name a file that is there.") from error


def _undecodable(path: Path) -> int:
    """The line, since text is decoded in blocks that reach beyond the line at hand."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    number = 1
    with path.open("rb") as file:
        for raw in iter(partial(file.readline, MAX_LINE), b""):
            try:
                decoder.decode(raw)
            except UnicodeDecodeError:
                break
            number += raw.endswith(b"\n")
    return number


def _first_lines(path: Path, encoding: str) -> list[str]:
    lines: list[str] = []
    size = 0
    for line in islice(_lines(path, encoding), SAMPLE):
        lines.append(line)
        size += len(line)
        if size > MAX_LINE:
            break
    return lines


def _parsed(lines: Iterator[str], delimiter: str, quoted: bool) -> Any:
    return csv.reader(
        lines,
        delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
        skipinitialspace=delimiter in ",;",
        strict=True,
    )


def _sampled(lines: Sequence[str], delimiter: str, quoted: bool) -> list[list[str]]:
    """The rows up to the first that cannot be read: it may be cut, or is named when the file is read."""
    rows = []
    try:
        for row in _parsed(iter(lines), delimiter, quoted):
            if any(row):
                rows.append([cell.strip() for cell in row])
    except csv.Error:
        pass
    return rows


def _cell_table(
    path: Path, encoding: str, lines: Sequence[str], delimiter: str, known: Collection[str], header: bool | None
) -> Table | None:
    quoted = delimiter in ",;" or _is_quoted(_sampled(lines, delimiter, False))
    rows = _sampled(lines, delimiter, quoted)
    widths = Counter(len(row) for row in rows)
    if not rows or max(widths) < 2:
        return None
    width = max((width for width in widths if width > 1), key=lambda width: (widths[width], width))
    before = next(i for i, row in enumerate(rows) if len(row) > 1)
    first, rest = rows[before], rows[before + 1 :]
    if header is None:
        header = sum(plain(cell) in known for cell in first) > 1 or _differs(first, rest)
    columns = _named(first, width) if header else tuple(str(n) for n in range(1, width + 1))
    sample = [dict(zip(columns, row, strict=False)) for row in (rest if header else [first, *rest])]
    return Table(
        path=path,
        encoding=encoding,
        form="cells",
        columns=columns,
        sample=tuple(sample),
        delimiter=delimiter,
        quoted=quoted,
        header=header,
        before=before,
        share=widths[width] / len(rows),
        numeric=frozenset(column for column in columns if _is_numeric([row.get(column, "") for row in sample])),
    )


def _named(first: Sequence[str], width: int) -> tuple[str, ...]:
    """The header's names; a column without one, or with one that is taken, is called by its number."""
    names: list[str] = []
    for number in range(1, max(width, len(first)) + 1):
        name = first[number - 1] if number <= len(first) else ""
        names.append(name if name and name not in names else str(number))
    while len(names) > width and names[-1] == str(len(names)):
        names.pop()  # a header that ends with delimiters
    return tuple(names)


def _is_quoted(rows: Sequence[Sequence[str]]) -> bool:
    """Whether quotation marks are the file's own: around all cells of a column, or doubled inside one."""
    if any('""' in cell[1:-1] and _in_quotes(cell) for row in rows for cell in row):
        return True
    width = min((len(row) for row in rows), default=0)
    return any(all(_in_quotes(row[column]) for row in rows) for column in range(width))


def _in_quotes(cell: str) -> bool:
    return len(cell) > 1 and cell[0] == cell[-1] == '"'


def _is_numeric(cells: Sequence[str]) -> bool:
    filled = [cell for cell in cells if cell]
    return bool(filled) and all(number_of(cell) is not None for cell in filled)


def _differs(first: Sequence[str], rest: Sequence[Sequence[str]]) -> bool:
    """Whether a first row of unknown words is a header: words over numbers, or over columns that repeat others."""
    if not all(first) or len({*first}) < len(first) or any(number_of(cell) is not None for cell in first):
        return False
    columns = [[row[i] for row in rest if i < len(row)] for i in range(len(first))]
    if any(_is_numeric(cells) for cells in columns):
        return True
    repeating = (
        len(cells) > 9 and len({*cells}) * 2 < len(cells) and cell not in cells
        for cell, cells in zip(first, columns, strict=True)
    )
    return sum(repeating) > 1


def _json_table(path: Path, encoding: str, number: int, lines: Sequence[str]) -> Table:
    values = [_json(path, n, line) for n, line in enumerate(lines, 1) if line.strip()]
    form, kind = ("objects", dict) if isinstance(values[0], dict) else ("lists", list)
    rows = [value for value in values if isinstance(value, kind)]
    if not rows:
        raise IngestError(f"{path.name}, line {number}: no object and no list.", remedy="Give one of them a line.")
    width = Counter(len(row) for row in rows).most_common(1)[0][0]
    share = 1.0
    if form == "objects":
        columns = tuple(dict.fromkeys(key for row in rows for key in row))
        sample = rows
    else:
        columns = tuple(str(n) for n in range(1, width + 1))
        sample = [dict(zip(columns, row, strict=False)) for row in rows]
        share = sum(len(row) == width for row in rows) / len(rows)
    return Table(path=path, encoding=encoding, form=form, columns=columns, sample=tuple(sample), share=share)


def _json(path: Path, number: int, line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise IngestError(
            f"{path.name}, line {number}: not JSON.", remedy="Give one JSON object, or a list of three, a line."
        ) from error


Known = Callable[[str], bool]
