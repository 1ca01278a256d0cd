"""Reading of the data that callers give, frames of any library too; and ``quality``, which checks data."""

from __future__ import annotations

import datetime
import decimal
import hashlib
import io
import numbers
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Unpack

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import interchange

from grasp_core.engine.reading_request import InputTables, Reading, as_named, reading_of
from grasp_core.engine.run_request import say_batches, say_data, say_problems
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import DataError, SpecError
from grasp_core.model.example import example_files
from grasp_core.model.remarks.problems import FileProblem
from grasp_core.model.spec import AnalysisSpec
from grasp_core.model.text import Sentence, for_python
from grasp_core.notebook._shown import ProgressBar, Saved, page, shown_table
from grasp_core.notebook.options import Axes, Python, ReadingOptions, answer_of, axis_sets, data_fields, takes
from grasp_core.reading.connectors.fetching import read_anywhere
from grasp_core.reading.formats import arrow, registry
from grasp_core.reading.table.parsed import no_rows
from grasp_core.reading.table.table import Table
from grasp_core.report.quality import (
    QualityReport,
    findings,
    power_of,
    power_sentences,
    quality_json,
    quality_report,
    report_numbers,
    report_tables,
)


def read(path: str | Path, *, member: str | None = None, token: str | None = None) -> Table:
    """Read a file of any format that docs/formats.md lists, as the dashboard does.

    Parameters
    ----------
    path : str or Path
        Path of a file or a folder; an address such as ``https://...`` or ``s3://...``; or a source in a tool,
        such as ``label-studio:https://host/projects/3`` (docs/formats.md).
    member : str, optional
        Sheet of a workbook, or file of an archive.
    token : str, optional
        Token of a source; by default the value of the tool's own environment variable.

    Returns
    -------
    Table
        For :func:`analyse` and others; :meth:`~grasp_core.reading.table.table.Table.frame` shows its cells,
        all of them text. The table of a known tool's export includes how to read it.

    Raises
    ------
    DataError
        If the file cannot be read, or contains no table.
    """
    return read_anywhere(str(path), member, token=token)


def table_of(given: Any, name: str, member: str | None = None) -> Table:
    """Return the table of a frame, a path or an address, or a table that was read before."""
    if isinstance(given, Table):
        return given
    if isinstance(given, str | Path):
        return read(given, member=member)
    return frame_table(given, name)


def load_example() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Load the built-in example: synthetic judgements whether texts are unsafe, with two planted groups.

    Returns
    -------
    annotations, raters : DataFrame
        36,400 labels of 350 items by 104 raters, and the raters' race, gender and age.

    Examples
    --------
    >>> annotations, raters = load_example()
    >>> len(annotations), len(raters)
    (36400, 104)
    """
    files = example_files()
    annotations, raters = (
        pd.read_csv(io.BytesIO(files[name]), dtype=str) for name in ("annotations.csv", "raters.csv")
    )
    return annotations, raters


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


def tables_of(
    annotations: Any, raters: Any, items: Any, members: Mapping[str, Any] | DataSpec
) -> InputTables:
    """Return the three tables; raters and items may be None."""

    def member(name: str) -> str | None:
        return members.get(name) if isinstance(members, Mapping) else getattr(members, name)

    return InputTables(
        table_of(annotations, "annotations", member("member")),
        None if raters is None else table_of(raters, "raters", member("raters_member")),
        None if items is None else table_of(items, "items", member("items_member")),
    )


def reading(
    tables: InputTables,
    options: Mapping[str, Any],
    frontend: Python,
    *,
    axes_named: bool,
    several: bool = False,
) -> Reading:
    """Read the tables as the options say; guess what they leave open, unless `guess` is False."""
    fields = data_fields(options, several=several)
    if not options.get("guess", True):
        return as_named(tables, fields)
    return reading_of(tables, fields, frontend, answer_of(options), axes_named=axes_named)


@dataclass(frozen=True, slots=True, repr=False)
class Quality(Saved):
    """A check of what data can and cannot show; saved as ``.json``.

    Parameters
    ----------
    report : QualityReport
        All values, immutable; no rater is named.
    notes : tuple of str
        How the data were read, and what is odd about them.
    """

    report: QualityReport
    notes: tuple[str, ...] = field(default=(), compare=False)

    def answer(self) -> str:
        """Return the remarks on the data, a line each."""
        return "\n".join(f"- {line}" for line in self._sentences())

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return all tables that have rows, by title; figures are numbers, not texts, and shares are of 1."""
        return report_numbers(self.report)

    def _files(self) -> Mapping[str, Callable[[], str | bytes]]:
        return {".json": lambda: quality_json(self.report)}

    def _sentences(self) -> list[str]:
        power = power_sentences(self.report.power) if self.report.power else []
        return [for_python(one) for one in (*findings(self.report, self.report.duplicates), *power)]

    def _repr_html_(self) -> str:
        tables = report_tables(self.report).items()
        titled = "".join(f"<h4>{title}</h4>{shown_table(table)}" for title, table in tables)
        details = [Sentence.of(line) for line in self._sentences()]
        return page(None, details, titled, {"How the data were read": self.notes})


@takes(ReadingOptions)
def quality(
    annotations: Any,
    raters: Any = None,
    *,
    axes: Axes | None = None,
    power: bool = False,
    progress: bool = True,
    **options: Unpack[ReadingOptions],
) -> Quality:
    """Check what the data can and cannot show, before any run.

    Parameters
    ----------
    annotations, raters, axes, progress
        As in :func:`analyse`.
    power : bool
        Whether to simulate which GAI these raters and items would detect; it takes seconds a group.

    Returns
    -------
    Quality

    Raises
    ------
    UnsureError, DataError, SpecError
        As :func:`analyse`.
    """
    frontend = Python()
    tables = tables_of(annotations, raters, None, options)
    found = reading(tables, options, frontend, axes_named=axes is not None)
    named = axis_sets(axes) or tuple((name,) for name in found.axes)
    sets = AnalysisSpec(axes=named).axes if named else ()
    found, data = found.formed(tuple(dict.fromkeys(name for one in sets for name in one)))
    say_data(data, found.spec, frontend)
    say_problems(data, frontend)
    if power and not sets:
        raise SpecError("power needs groups: name an axis with axes=")
    with closing(ProgressBar("groups", shown=progress)) as bar:
        report = quality_report(data, power=power_of(data, sets if power else (), bar.tell))
    say_batches(found, tuple(data.raters.axes), data, report.warnings, frontend)
    return Quality(report, tuple(frontend.notes))
