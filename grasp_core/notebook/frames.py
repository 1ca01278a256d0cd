"""Data frames of any library as tables of text."""

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

from grasp_core.model.errors import DataError
from grasp_core.model.remarks.problems import FileProblem
from grasp_core.reading.formats import arrow, registry
from grasp_core.reading.table.parsed import no_rows
from grasp_core.reading.table.table import Table

_VIEWS = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
"""Newer types of text and bytes, each with the type as which it is read."""


def frame_table(frame: Any, name: str) -> Table:
    """Read a data frame as a file with its columns would be read, and call it `name`.

    Cells become text: a missing cell the empty text, and whole numbers in columns of reals without ``.0``.
    Named index levels of a pandas frame become columns. The hash depends on names and texts, in any library.
    """
    data, kind = _arrow(frame, name)
    if not data.num_rows:
        raise no_rows(name)
    parsed = registry.of_table(arrow.of_table(data, kind, name), name)
    return parsed.table(name, *_fingerprint(parsed.data))


def _arrow(frame: Any, name: str) -> tuple[pa.Table, str]:
    kind = f"{type(frame).__module__.partition('.')[0]} {type(frame).__name__}"
    if isinstance(frame, pd.Series) and frame.index.nlevels > 1:  # e.g. items by raters
        frame = frame.to_frame("label" if frame.name is None else frame.name)
    if isinstance(frame, pd.DataFrame):
        return _joined_lists(_of_pandas(frame, name)), kind
    try:
        known = frame if isinstance(frame, pa.Table) else nw.from_native(frame, pass_through=True)
        known = known.collect() if isinstance(known, nw.LazyFrame) else known
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
    data = _joined_lists(data)
    schema = pa.schema([field.with_type(_VIEWS.get(field.type, field.type)) for field in data.schema])
    return data.cast(schema), kind


def _joined_lists(data: pa.Table) -> pa.Table:
    """Join the lists of the only column with lists to texts ``a|b``; several columns have raters' entries."""
    lists = [at for at, kind in enumerate(data.schema.types) if pa.types.is_list(kind)]
    if len(lists) == 1:
        parts = data.column(lists[0]).cast(pa.list_(pa.string()))
        data = data.set_column(lists[0], data.schema.names[lists[0]], pc.binary_join(parts, "|"))
    return data


def _of_pandas(frame: pd.DataFrame, name: str) -> pa.Table:
    levels = [level for level in frame.index.names if level is not None]
    frame = frame.reset_index(level=levels) if levels else frame
    found: list[Any] = list(frame.columns)
    columns = [".".join(map(str, one)) if isinstance(one, tuple) else str(one) for one in found]
    arrays = [_column(frame.iloc[:, at], column, name) for at, column in enumerate(columns)]
    return pa.Table.from_arrays(arrays, names=columns, metadata=arrow.OF_PANDAS)


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
    """Read cells of several types, such as numbers beside texts."""
    texts: list[str | None] = []
    for row, cell in enumerate(cells, start=1):
        text = _text(cell)
        if text is None and not (pd.api.types.is_scalar(cell) and pd.isna(cell)):
            kind = type(cell).__name__
            raise DataError(FileProblem.CELL_WITHOUT_TEXT(file=name, row=row, column=column, kind=kind))
        texts.append(text)
    return pa.array(texts, pa.large_string())


def _text(cell: Any) -> str | None:
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
    """Return the hash of names and texts, whatever their layout in memory, and the bytes of all texts."""
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
