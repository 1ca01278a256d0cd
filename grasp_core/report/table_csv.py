"""A result as one CSV file for programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from grasp_core.outcome import LabelUse, Outcome, Shift
from grasp_core.report.slices import as_results
from grasp_core.report.tables import ends
from grasp_core.report.words import outcome_of, reported_statistics
from grasp_core.result import RunResult

CSV_COLUMNS = (
    "axis",
    "group",
    "n_raters",
    "n_annotations",
    "statistic",
    "label",
    "value",
    "low",
    "high",
    "null_median",
    "direction",
    "p",
    "q",
    "significance",
    "reason",
)
SLICE_COLUMNS = ("slice", "slice_value")
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def table_csv(result: RunResult) -> str:
    """Every number at full precision: one line per group and reported statistic, then its label use.

    Of a run with slices further lines follow, of every group in each, and all lines have two cells more: the
    slice's column and value, blank where all items are meant.

    Notes
    -----
    Text cells that a spreadsheet would run as a formula get a leading apostrophe. Values that are
    not estimable are empty, with their reason in the last column.
    """
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    if not result.slices:
        writer.writerow(CSV_COLUMNS)
        writer.writerows(_lines(result))
        return buffer.getvalue()
    writer.writerow((*CSV_COLUMNS, *SLICE_COLUMNS))
    writer.writerows((*line, "", "") for line in _lines(result))
    for found in result.slices:
        for one, view in as_results(result, found):
            of_slice = (safe_cell(found.column), safe_cell(one.value))
            writer.writerows((*line, *of_slice) for line in _lines(view))
    return buffer.getvalue()


def _lines(result: RunResult) -> Iterator[tuple[object, ...]]:
    for row in result.groups:
        group = (safe_cell(" x ".join(row.group.axes)), safe_cell(row.group.label))
        of_group = (*group, row.n_raters, row.n_annotations)
        for name in reported_statistics(result):
            yield (*of_group, name, "", *_outcome(outcome_of(row, name)))
        if row.label_use is not None:
            yield from ((*of_group, *cells) for cells in _label_use(row.label_use))


def _outcome(outcome: Outcome) -> tuple[str, ...]:
    return (
        exact(outcome.value),
        *map(exact, ends(outcome)),
        exact(outcome.null_median),
        outcome.direction or "",
        exact(outcome.p),
        exact(outcome.q),
        outcome.significance,
        safe_cell(str(outcome.reason or "")),
    )


def _label_use(use: LabelUse) -> Iterator[tuple[str, ...]]:
    """The test of all labels together, each label's shift, and the mean's where there is one."""
    test = (exact(use.p), exact(use.q), use.significance, safe_cell(str(use.reason or "")))
    yield ("label_use", "", "", "", "", "", "", *test)
    for label, shift in use.labels.items():
        yield ("label_use", safe_cell(label), *_shift(shift))
    if use.mean is not None:
        yield ("mean_shift", "", *_shift(use.mean))


def _shift(shift: Shift) -> tuple[str, ...]:
    return (*map(exact, (shift.value, shift.low, shift.high)), "", "", exact(shift.p), "", "", "")


def safe_cell(text: str) -> str:
    """Text that a spreadsheet shows instead of running it."""
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def exact(value: float | None) -> str:
    """All digits of a value, as tables for programs have them; empty where there is none."""
    return "" if value is None else repr(float(value))
