"""Data frames as tables of text, in the form in which Parquet files are read."""

from __future__ import annotations

import datetime
import decimal
import hashlib
import numbers
from collections.abc import Iterable
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import interchange

from grasp_core.errors import DataError
from grasp_core.io.formats import registry
from grasp_core.io.formats.columnar import arrow_files
from grasp_core.io.formats.columnar.column_text import OF_PANDAS
from grasp_core.io.table.parsed import no_rows
from grasp_core.io.table.table import Table
from grasp_core.remarks.problems import FileProblem

_VIEWS = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
"""Newer types for text and bytes, and those that are read."""


def frame_table(frame: Any, name: str) -> Table:
    """Read a data frame as a file with its columns would be read.

    Cells become text: a missing one (None, NaN, NaT, NA) the empty text, whole numbers in columns of reals
    lose their ``.0``, texts stay as they are. Of a pandas frame, index levels that have a name are columns.

    Parameters
    ----------
    frame : data frame
        Of pandas, polars or Arrow, or of any library that hands out its columns by Arrow's or the dataframe
        interchange protocol.
    name : str
        What it is called in messages and results.

    Returns
    -------
    Table
        Its hash is that of names and texts: the same for the same data in another library's frame.

    Raises
    ------
    DataError
        If it is no frame, has no rows, or a cell is neither text, number, truth value nor date.
    """
    data, kind = _arrow(frame, name)
    if not data.num_rows:
        raise no_rows(name)
    parsed = registry.of_table(arrow_files.of_table(data, kind, name), name)
    sha256, size = _fingerprint(parsed.data)
    return Table(
        name=name,
        columns=parsed.columns,
        data=parsed.data,
        sha256=sha256,
        bytes=size,
        kind=parsed.kind,
        first_row=parsed.first_row,
        lines=parsed.lines,
        problems=parsed.problems,
        recipe=parsed.recipe,
        vocabularies=parsed.vocabularies,
    )


def _arrow(frame: Any, name: str) -> tuple[pa.Table, str]:
    """The frame's columns, and what it is, for people."""
    kind = f"{type(frame).__module__.partition('.')[0]} {type(frame).__name__}"
    if isinstance(frame, pd.DataFrame):
        return _of_pandas(frame, name), kind
    try:
        known = nw.from_native(frame, eager_only=True, pass_through=True)
        if isinstance(known, nw.DataFrame):
            data = known.to_arrow()
        elif hasattr(frame, "__arrow_c_stream__"):
            data = pa.table(frame)
        elif hasattr(frame, "__dataframe__"):
            data = interchange.from_dataframe(frame)
        else:
            raise DataError(FileProblem.NO_FRAME(file=name, kind=kind))
    except DataError:
        raise
    except Exception as error:  # every library's frames have errors of their own
        remark = FileProblem.FRAME_NOT_READ(file=name, kind=kind, error=type(error).__name__)
        raise DataError(remark) from None
    schema = pa.schema([field.with_type(_VIEWS.get(field.type, field.type)) for field in data.schema])
    return data.cast(schema), kind


def _of_pandas(frame: pd.DataFrame, name: str) -> pa.Table:
    levels = [level for level in frame.index.names if level is not None]
    frame = frame.reset_index(level=levels) if levels else frame
    columns = list(map(_column_name, frame.columns))
    arrays = [_column(frame.iloc[:, at], column, name) for at, column in enumerate(columns)]
    return pa.Table.from_arrays(arrays, names=columns, metadata=OF_PANDAS)


def _column_name(column: Any) -> str:
    """A column's name as text; of several levels joined by dots."""
    return ".".join(map(str, column)) if isinstance(column, tuple) else str(column)


def _column(series: pd.Series[Any], column: str, name: str) -> pa.Array | pa.ChunkedArray:
    kind = series.dtype
    if isinstance(kind, pd.CategoricalDtype):
        kind = kind.categories.dtype
    if isinstance(kind, pd.IntervalDtype | pd.PeriodDtype):  # as pandas.cut makes them
        series = series.astype(object).map(str, na_action="ignore")
    try:
        return pa.array(series, from_pandas=True)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return _mixed(series, column, name)


def _mixed(cells: Iterable[Any], column: str, name: str) -> pa.Array:
    """Cells of several kinds, such as numbers beside texts."""
    texts: list[str | None] = []
    for row, cell in enumerate(cells, start=1):
        text = _text(cell)
        if text is None and not (pd.api.types.is_scalar(cell) and pd.isna(cell)):
            kind = type(cell).__name__
            raise DataError(FileProblem.CELL_WITHOUT_TEXT(file=name, row=row, column=column, kind=kind))
        texts.append(text)
    return pa.array(texts, pa.large_string())


def _text(cell: Any) -> str | None:
    """A cell as text; None where it is missing, or of another kind."""
    if isinstance(cell, str):
        return cell
    if not pd.api.types.is_scalar(cell) or pd.isna(cell):
        return None
    if isinstance(cell, bool | np.bool_ | numbers.Integral | decimal.Decimal):
        return str(cell)
    if isinstance(cell, numbers.Real):
        number = float(cell)
        return str(int(number)) if number.is_integer() else repr(number)
    if isinstance(cell, datetime.date | datetime.time | datetime.timedelta | pd.Period | pd.Interval):
        return str(cell)
    return None


def _fingerprint(data: pa.Table) -> tuple[str, int]:
    """Hash of names and texts however they lie in memory, and how many bytes all texts have."""
    whole, size = hashlib.sha256(), 0
    for name, column in zip(data.column_names, data.columns, strict=True):
        texts = [chunk.cast(pa.large_string()) for chunk in pa.chunked_array(column).chunks]
        whole.update(f"{len(name.encode())}:{data.num_rows}:".encode() + name.encode())
        for text in texts:
            whole.update(pc.binary_length(text).to_numpy().astype("<i8"))
        for text in texts:
            offsets = np.frombuffer(text.buffers()[1], np.int64)[text.offset : text.offset + len(text) + 1]
            content = memoryview(text.buffers()[2] or b"")[offsets[0] : offsets[-1]]
            whole.update(content)
            size += len(content)
    return whole.hexdigest(), size
