"""Reading of the data that callers give; and ``quality``, which checks data before any run."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from grasp_core.engine.reading_request import InputTables, Reading, as_named, reading_of
from grasp_core.engine.run_request import say_batches, say_data, say_problems
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import SpecError
from grasp_core.model.example import example_files
from grasp_core.model.spec import AnalysisSpec
from grasp_core.model.text import Sentence, for_python
from grasp_core.notebook._shown import ProgressBar, Saved, page, shown_table
from grasp_core.notebook.frames import frame_table
from grasp_core.notebook.options import (
    Axes,
    Python,
    ReadingOptions,
    answer_of,
    axis_sets,
    data_fields,
    takes,
)
from grasp_core.reading.connectors.fetching import read_anywhere
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

if TYPE_CHECKING:  # takes long to load
    import pandas as pd


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
    import pandas as pd

    files = example_files()
    annotations, raters = (
        pd.read_csv(io.BytesIO(files[name]), dtype=str) for name in ("annotations.csv", "raters.csv")
    )
    return annotations, raters


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
