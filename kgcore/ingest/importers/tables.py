"""Files of rows: cells between delimiters, or JSON objects or lists a line. What a file is shows in its first lines."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from kgcore.errors import IngestError
from kgcore.ingest.source import Notes
from kgcore.ingest.text_lines import MAX_LINE, encoding_of, first_lines, text_lines
from kgcore.names import is_unicode

SAMPLE = 200
MAX_COLUMNS = 1_000
DELIMITERS = {"tab": "\t", "|": "|", "comma": ",", "semicolon": ";"}
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_JSON = re.compile(r'\{|\[\s*($|["\[{\d])')

Row = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Table:
    """How a file is read. `form` is "cells", "objects" or "lists"; columns without a name are called 1, 2, 3.

    `sample` has the first rows, `numeric` the columns whose cells are numbers there, `counting` the column without a
    name that counts the rows, `share` how many of the sample's rows have the same width (1.0: all).
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
    counting: str | None = None

    def rows(self, notes: Notes) -> Iterator[Row]:
        """Each row as its columns' values; of JSON objects all that they hold. Raises IngestError with the line."""
        if self.form == "objects":
            yield from self._values(dict, notes)
            return
        if self.before:
            notes.add("lines before the table left out", self.before)
        cells = self._cells() if self.form == "cells" else self._values(list, notes)
        columns, width = self.columns, len(self.columns)
        for row in islice(cells, self.before + self.header, None):
            if len(row) > width and not any(row[width:]):
                row = row[:width]
            if len(row) > width:
                notes.add(f"rows with more than {width} columns left out")
            else:
                yield dict(zip(columns, row, strict=False))

    def _cells(self) -> Iterator[list[str]]:
        rows = _parsed(text_lines(self.path, self.encoding), self.delimiter, self.quoted)
        line = 0
        try:
            for row in rows:
                line = rows.line_num
                row = [*map(str.strip, row)]
                if any(row):
                    yield row
        except csv.Error as error:
            raise IngestError(
                f"{self.path.name}, line {line + 1}: {error}.",
                remedy='Close each quotation mark that opens a cell, and double those inside it: "a ""b"" c".',
            ) from error

    def _values(self, kind: type, notes: Notes) -> Iterator[Any]:
        for number, line in enumerate(text_lines(self.path, self.encoding), 1):
            if not line.strip():
                continue
            value = _json(self.path, number, line)
            if isinstance(value, kind):
                yield value
            else:
                notes.add(f"lines that are no JSON {'object' if kind is dict else 'list'} left out")


def look(path: Path, known: Collection[str], *, delimiter: str | None = None, header: bool | None = None) -> Table:
    """How a file is to be read, by its first lines. `known` are names of columns that tell a header, as `plain` gives.

    Raises IngestError for a file that is empty, binary, not text, or has no columns.
    """
    encoding = encoding_of(path)
    lines = first_lines(path, encoding, SAMPLE)
    number, first = next(((n, line) for n, line in enumerate(lines, 1) if line.strip()), (0, ""))
    if not number:
        raise IngestError(f"{path.name} is empty.", remedy="Name a file with a triple a line.")
    if _JSON.match(first.strip()):
        table = _json_table(path, encoding, lines)
    else:
        signs = [sign for sign in DELIMITERS.values() if delimiter in (None, sign)]
        found = [_cell_table(path, encoding, lines, sign, known, header) for sign in signs]
        tables = [table for table in found if table is not None]
        if not tables:
            raise IngestError(
                f"{path.name}, line {number}: no columns are to be seen.",
                remedy="Part source, relation and target by tabs, commas, semicolons or |, the same in each line.",
            )
        table = max(tables, key=lambda table: (is_named(table, known), len(table.columns) > 2, table.share))
    if len(table.columns) > MAX_COLUMNS:
        raise IngestError(
            f"{path.name} has {len(table.columns):,} columns.", remedy=f"Give at most {MAX_COLUMNS:,} columns."
        )
    return table


def is_named(table: Table, known: Collection[str]) -> bool:
    """Whether at least two columns have a known name."""
    return sum(plain(column) in known for column in table.columns) > 1


def plain(name: str) -> str:
    """A column's name to compare: letters and digits alone, case-folded."""
    return "".join(c for c in name.casefold() if c.isalnum())


def number_of(cell: str) -> int | float | None:
    """The number that a cell writes, None if it writes none or one with leading zeros or beyond 64 bits."""
    if cell.isdecimal() and cell.isascii() and len(cell) < 19 and cell[0] != "0":
        return int(cell)  # most numbers, and much faster
    if not _NUMBER.fullmatch(cell):
        return None
    if cell.lstrip("-").isdigit():
        return int(cell) if len(cell) < 21 and abs(int(cell)) < 2**63 else None
    number = float(cell)
    return None if number in (float("inf"), float("-inf")) else number


def _parsed(lines: Iterator[str], delimiter: str, quoted: bool) -> Any:
    csv.field_size_limit(max(MAX_LINE, csv.field_size_limit()))
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
            row = [cell.strip() for cell in row]
            if any(row):
                rows.append(row)
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
    # A remark may hold a delimiter too.
    before = next(i for i, row in enumerate(rows) if len(row) == width or (len(row) > 1 and row[0][:1] != "#"))
    first, rest = rows[before], rows[before + 1 :]
    if header is None:
        header = sum(plain(cell) in known for cell in first) > 1 or _differs(first, rest)
    if header:
        if len(first) == width - 1 and _counts([row[0] for row in rest if len(row) == width]):
            first = ["", *first]  # as R writes its rows' numbers
        columns = _named(first, width)
    else:
        columns = tuple(str(n) for n in range(1, width + 1))
        rest = [first, *rest]
    sample = [dict(zip(columns, row, strict=False)) for row in rest]
    counted = header and first[0] == "" and _counts([row[0] for row in rest if row])
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
        counting=columns[0] if counted else None,
    )


def _named(first: Sequence[str], width: int) -> tuple[str, ...]:
    """The header's names; a column without one, or with one that is taken, is called by its number."""
    names: dict[str, None] = {}
    for number in range(1, max(width, len(first)) + 1):
        name = first[number - 1] if number <= len(first) else ""
        if not name or name in names:
            name = str(number)
        while name in names:
            name += "_"
        names[name] = None
    columns = list(names)
    while len(columns) > width and columns[-1] == str(len(columns)):
        columns.pop()  # a header that ends with delimiters
    return tuple(columns)


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


def _counts(cells: Sequence[str]) -> bool:
    """Whether they are 0, 1, 2 or 1, 2, 3 and so on."""
    return bool(cells) and cells[0] in ("0", "1") and cells == [str(int(cells[0]) + n) for n in range(len(cells))]


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


def _json_table(path: Path, encoding: str, lines: Sequence[str]) -> Table:
    values = [_json(path, n, line) for n, line in enumerate(lines, 1) if line.strip()]
    form, kind = ("objects", dict) if isinstance(values[0], dict) else ("lists", list)
    rows: list[Any] = [value for value in values if isinstance(value, kind)]
    width, count = Counter(len(row) for row in rows).most_common(1)[0]
    if form == "objects":
        columns = tuple(dict.fromkeys(key for row in rows for key in row if is_unicode(key)))
        return Table(path=path, encoding=encoding, form=form, columns=columns, sample=tuple(rows))
    columns = tuple(str(n) for n in range(1, width + 1))
    sample = tuple(dict(zip(columns, row, strict=False)) for row in rows)
    share = count / len(rows)
    return Table(path=path, encoding=encoding, form=form, columns=columns, sample=sample, share=share)


def _json(path: Path, number: int, line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise IngestError(
            f"{path.name}, line {number}: not JSON.", remedy="Give one JSON object, or a list of three, a line."
        ) from error
