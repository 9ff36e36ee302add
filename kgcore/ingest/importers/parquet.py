"""Rows of a parquet file, a few hundred at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kgcore.errors import IngestError

_ROWS = 5_000_000
_BYTES = 2**30
_BATCH = 500
# What pyarrow raises of a broken file; for types that it cannot read also Python's own NotImplementedError.
_FAULTS = (
    pa.ArrowException, OSError, ValueError, TypeError, LookupError, ArithmeticError, MemoryError, NotImplementedError,
)  # fmt: skip
_REMEDY = "Write it again with the tool that made it, or copy it again."


def parquet_columns(path: Path) -> dict[str, pa.DataType]:
    """The columns of a file and their types. Raises IngestError that names it."""
    try:
        schema = pq.read_schema(path)
        return {name: schema.field(i).type for i, name in enumerate(schema.names)}
    except _FAULTS as error:
        raise IngestError(f"{path.name} cannot be read as parquet ({_short(error)}).", remedy=_REMEDY) from error


def parquet_rows(path: Path, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The rows, of these columns only. Raises IngestError that names the file, and the row where reading stopped."""
    number, size = 0, 0
    try:
        texts = _text_paths(path)
        with pq.ParquetFile(path, read_dictionary=texts) as file:
            _check_claims(path, file.metadata, frozenset(columns))
            for batch in file.iter_batches(batch_size=_BATCH, columns=list(columns)):
                size += sum(map(_text_bytes, batch.columns))
                if size > _BYTES:
                    raise _too_much(path, f"over {_BYTES // 2**20:,} MB of text")
                rows = batch.to_pylist()
                yield from map(_plain, rows)
                number += len(rows)
    except _FAULTS as error:
        raise IngestError(
            f"{path.name}, after row {number}: cannot be read ({_short(error)}).", remedy=_REMEDY
        ) from error


def _text_paths(path: Path) -> list[str]:
    """The text columns, as parquet names them. Read with their dictionaries, a text that is repeated is there once."""
    schema = pq.read_metadata(path).schema
    leaves = [schema.column(i) for i in range(len(schema))]
    return [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY" and leaf.logical_type.type == "STRING"]


def _text_bytes(array: pa.Array) -> int:
    """How large the texts of a column become as a list."""
    type_ = array.type
    if pa.types.is_struct(type_):
        return sum(map(_text_bytes, array.flatten()))
    if pa.types.is_list(type_) or pa.types.is_large_list(type_) or pa.types.is_fixed_size_list(type_):
        return _text_bytes(array.flatten())
    if pa.types.is_dictionary(type_):
        lengths = pc.take(pc.binary_length(array.dictionary), array.indices)
    elif pa.types.is_string(type_) or pa.types.is_large_string(type_) or pa.types.is_binary(type_):
        lengths = pc.binary_length(array)
    else:
        return 0
    return pc.sum(lengths).as_py() or 0


def _plain(cell: Any) -> Any:
    """Dates as ISO text, exact decimals and spans of time as text, also within a struct."""
    if isinstance(cell, dict):
        return {name: _plain(value) for name, value in cell.items()}
    if isinstance(cell, date | time):
        return cell.isoformat()
    return str(cell) if isinstance(cell, Decimal | timedelta) else cell


def _check_claims(path: Path, found: pq.FileMetaData, columns: frozenset[str]) -> None:
    """By what the file says of itself, before any of it is unpacked."""
    groups = [found.row_group(i) for i in range(found.num_row_groups)]
    held = [group.column(i) for group in groups for i in range(group.num_columns)]
    wanted = [column for column in held if column.path_in_schema.partition(".")[0] in columns]
    if found.num_rows > _ROWS or any(column.num_values > 10 * _ROWS for column in wanted):
        raise _too_much(path, f"{found.num_rows:,} rows")
    size = sum(column.total_uncompressed_size for column in wanted)
    if size > _BYTES:
        raise _too_much(path, f"{size // 2**20:,} MB")


def _too_much(path: Path, what: str) -> IngestError:
    return IngestError(
        f"{path.name} has {what}, too much to read at once.",
        remedy=f"Give at most {_ROWS:,} rows and {_BYTES // 2**20:,} MB in a file.",
    )


def _short(error: BaseException) -> str:
    return (str(error).partition("\n")[0].rstrip(".")[:200]) or type(error).__name__
