"""Parquet files as text."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from grasp_core.errors import DataError, Problem
from grasp_core.io.parsed import Parsed, check_header, no_rows
from grasp_core.io.problems import know, listed, number

MAGIC = b"PAR1"
_BATCH_ROWS = 1 << 16


def parse(content: bytes, name: str, max_bytes: int) -> Parsed:
    """Read a Parquet file; nulls become empty text, whole numbers lose a trailing ``.0``.

    Columns without a text form (lists, structures, raw bytes) are left out and reported.

    Raises
    ------
    DataError
        If the file is damaged, empty, or unpacks to more than `max_bytes`.
    """
    try:
        file = pq.ParquetFile(pa.BufferReader(content))
        table, left_out = _read(file, name, max_bytes)
        table.validate(full=True)
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise DataError(f"{name} is a damaged or cut-off Parquet file; write or upload it again") from None
    columns = tuple(table.column_names)
    check_header(columns, name)
    if not columns:
        raise DataError(f"{name} is a Parquet file without a column of text, numbers or dates")
    if not table.num_rows:
        raise no_rows(name, "")
    frame: pd.DataFrame = table.to_pandas()
    return Parsed(columns, frame, "Parquet", first_row=1, problems=_left_out(left_out, name))


def _read(file: pq.ParquetFile, name: str, max_bytes: int) -> tuple[pa.Table, list[str]]:
    readable = [position for position, field in enumerate(file.schema_arrow) if _has_text_form(field.type)]
    left_out = [field.name for field in file.schema_arrow if not _has_text_form(field.type)]
    schema = pa.schema(
        [pa.field(file.schema_arrow.field(position).name, pa.string()) for position in readable]
    )
    names = [field.name for field in schema]  # the others are not even decoded
    batches: list[pa.RecordBatch] = []
    total = 0
    for batch in file.iter_batches(batch_size=_BATCH_ROWS, columns=names):
        text = [_as_text(batch.column(name)) for name in names]
        total += sum(column.nbytes for column in text)
        if total > max_bytes:
            raise DataError(
                f"{name} unpacks to more than {max_bytes:,} bytes, the most that is read; split it"
            )
        batches.append(pa.RecordBatch.from_arrays(text, schema=schema))
    return pa.Table.from_batches(batches, schema=schema), left_out


def _has_text_form(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        return _has_text_form(kind.value_type)
    return not (pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _as_text(column: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_boolean(column.type):
        column = pc.if_else(column, "True", "False")
    elif pa.types.is_floating(column.type):
        column = _whole_numbers(column)
    return pc.fill_null(column.cast(pa.string()), "")


def _whole_numbers(column: pa.Array) -> pa.Array:
    """Whole numbers stored as reals because some are missing, as whole numbers again."""
    column = pc.if_else(pc.is_nan(column), None, column)
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:
        return column


def _left_out(columns: list[str], name: str) -> tuple[Problem, ...]:
    if not columns:
        return ()
    return (
        know(
            f"{name}: {number(len(columns), 'column')} without a text form (lists, structures, raw bytes) "
            f"left out: {listed(columns)}",
            len(columns),
            columns,
        ),
    )
