"""Rows of a parquet file, a few hundred at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kgcore.errors import IngestError

_ROWS = 5_000_000
_BYTES = 2**31
_BATCH = 500
_FAULTS = (pa.ArrowException, OSError, ValueError, TypeError, LookupError, ArithmeticError, MemoryError)
_REMEDY = "Write it again with the tool that made it, or copy it again."


def parquet_columns(path: Path) -> dict[str, pa.DataType]:
    """The columns of a file and their types. Raises IngestError that names it."""
    try:
        schema = pq.read_schema(path)
        return {name: schema.field(i).type for i, name in enumerate(schema.names)}
    except (*_FAULTS, NotImplementedError) as error:
        raise IngestError(f"{path.name} cannot be read as parquet ({_short(error)}).", remedy=_REMEDY) from error


def parquet_rows(path: Path, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The rows, of these columns only. Raises IngestError that names the file, and the row where reading stopped."""
    number = 0
    try:
        with pq.ParquetFile(path) as file:
            _check_size(path, file.metadata, frozenset(columns))
            for batch in file.iter_batches(batch_size=_BATCH, columns=list(columns)):
                rows = batch.to_pylist()
                yield from map(_plain, rows)
                number += len(rows)
    except (*_FAULTS, NotImplementedError) as error:
        raise IngestError(
            f"{path.name}, after row {number}: cannot be read ({_short(error)}).", remedy=_REMEDY
        ) from error


def _plain(cell: Any) -> Any:
    """Dates as ISO text, exact decimals and spans of time as text, also within a struct."""
    if isinstance(cell, dict):
        return {name: _plain(value) for name, value in cell.items()}
    if isinstance(cell, date | time):
        return cell.isoformat()
    return str(cell) if isinstance(cell, Decimal | timedelta) else cell


def _check_size(path: Path, found: pq.FileMetaData, columns: frozenset[str]) -> None:
    groups = [found.row_group(i) for i in range(found.num_row_groups)]
    held = [group.column(i) for group in groups for i in range(group.num_columns)]
    size = sum(c.total_uncompressed_size for c in held if c.path_in_schema.partition(".")[0] in columns)
    if found.num_rows > _ROWS or size > _BYTES:
        raise IngestError(
            f"{path.name} has {found.num_rows:,} rows and {size // 2**20:,} MB of text, too much to read at once.",
            remedy=f"Give at most {_ROWS:,} rows and {_BYTES // 2**20:,} MB in a file.",
        )


def _short(error: BaseException) -> str:
    return (str(error).partition("\n")[0].rstrip(".")[:200]) or type(error).__name__
