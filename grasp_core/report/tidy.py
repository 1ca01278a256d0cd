"""The one tidy table of a result: a line for each number, from which files and frames are made."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import pandas as pd

from grasp_core.model.groups import AxisSet, Group, axis_label, group_label, named_group
from grasp_core.model.outcome import LabelUse, Outcome, Shift, Verdict
from grasp_core.model.result import RunResult
from grasp_core.model.statistic import TABLE
from grasp_core.model.text import safe_cell
from grasp_core.report.columns import exact, or_nan
from grasp_core.report.findings.mending import caution_codes
from grasp_core.report.slices import as_result as given_view
from grasp_core.report.slices import as_results
from grasp_core.report.tables import ends
from grasp_core.report.words.label_use import said_more
from grasp_core.report.words.names import outcome_of, reported_statistics

UNITS: Mapping[str, str] = {
    **{name: one.unit for name, one in TABLE.items()},
    "alpha": "coefficient",
    "gap_a": "coefficient",
    "gap_b": "coefficient",
    "irr_difference": "coefficient",
    "unanimous": "share",
    "again": "share",
    "again_by_chance": "share",
    "label_use": "share",
    "gai_difference": "ratio",
    "dsi": "ratio",
    "mean_shift": "scale",
}
"""Of each statistic the unit of its value: "scale" is that of the labels, "share" of 1."""


@dataclass(frozen=True, slots=True)
class Line:
    """One number that was found, with its test.

    `group` is None of everybody and of an axis as a whole. Texts are empty, and numbers None, without one.
    `counted` is p as counted where p is that of a curve. Of a pair, `other` is its second group; `of_slice`
    is a column of items with its value, `given` an axis that the tests were given.
    """

    axes: AxisSet
    group: Group | None
    raters: int | None
    annotations: int | None
    statistic: str
    label: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    null_median: float | None = None
    direction: str = ""
    p: float | None = None
    q: float | None = None
    significance: str = ""
    reason: str = ""
    caution: str = ""
    counted: float | None = None
    other: Group | None = None
    raters_other: int | None = None
    of_slice: tuple[str, str] | None = None
    given: str | None = None
    verdict: Verdict | None = None


def lines(result: RunResult) -> Iterator[Line]:
    """Everybody, then each group's statistics and label use, then the DSI of each axis."""
    if result.of_everybody and result.everybody is not None:
        found = result.everybody
        of_all = Line((), None, result.data.raters, result.data.annotations, "")
        alpha = replace(of_all, statistic="alpha", value=found.alpha, low=found.low, high=found.high)
        yield replace(alpha, reason="" if found.reason is None else str(found.reason))
        yield replace(of_all, statistic="plurality_size", value=found.plurality)
        yield replace(of_all, statistic="unanimous", value=found.unanimous)
        for one in found.labels:
            of_label = replace(of_all, annotations=one.annotations, label=one.label)
            yield replace(of_label, statistic="again", value=one.again)
            yield replace(of_label, statistic="again_by_chance", value=one.by_chance)
    for row in result.groups:
        first = Line(row.group.axes, row.group, row.n_raters, row.n_annotations, "", verdict=row.verdict)
        outcomes = {name: outcome_of(row, name) for name in reported_statistics(result)}
        yield from _tests(first, outcomes, row.label_use, caution_codes(result.warnings, row.group.axes))
    raters = {row.group: (row.n_raters, row.n_annotations) for row in result.groups}
    for axis in result.dsi:
        n_raters, n_annotations = (None, None) if axis.group is None else raters.get(axis.group, (None, None))
        first = Line(axis.axes, axis.group, n_raters, n_annotations, "dsi")
        yield _outcome(first, axis.outcome, caution_codes(result.warnings, axis.axes))


def pair_lines(result: RunResult) -> Iterator[Line]:
    """Every pair of groups, and what was tested of it."""
    for row in result.pairs:
        first = Line(
            row.a.axes,
            row.a,
            row.n_raters_a,
            None,
            "",
            other=row.b,
            raters_other=row.n_raters_b,
            verdict=row.verdict,
        )
        caution = caution_codes(result.warnings, row.a.axes)
        yield from _tests(first, row.statistics, row.label_use, caution)


def slice_lines(result: RunResult) -> Iterator[Line]:
    """The lines of every slice."""
    for found in result.slices:
        for one, view in as_results(result, found):
            for line in lines(view):
                yield replace(line, of_slice=(found.column, one.value), verdict=None)


def given_lines(result: RunResult) -> Iterator[Line]:
    """The lines of the groups given each axis that the run was given."""
    for found in result.given:
        for line in lines(given_view(result, found)):
            yield replace(line, given=found.column)


def tidy(result: RunResult, found: Iterable[Line]) -> pd.DataFrame:
    """Lines as a long frame, with a column for each axis of the run, named as the person's own column."""
    return pd.DataFrame([_cells(line, result.spec.analysis.columns) for line in found])


def findings_table(result: RunResult) -> pd.DataFrame:
    """The verdict on each group, as a frame."""
    rows = []
    for row in result.groups:
        verdict = row.verdict or Verdict("none")
        found = None if row.label_use is None else said_more(row.label_use)
        name, shift = found or (None, Shift(None))
        rows.append(
            {
                **group_cells(row.group.axes, row.group, result.spec.analysis.columns),
                "raters": row.n_raters,
                "verdict": row.verdict and verdict.code,
                "kinds": verdict.kinds,
                "label": name,
                "points": shift.value,
                "low": shift.low,
                "high": shift.high,
                "p": verdict.p,
                "q": verdict.q,
                "explained_by": None if verdict.by is None else group_label(verdict.by),
                "why": verdict.why,
            }
        )
    frame = pd.DataFrame(rows)
    if rows:
        frame = frame.astype(dict.fromkeys(("points", "low", "high", "p", "q"), "float64"))
        frame[["points", "low", "high"]] *= 100
    return frame


def _cells(line: Line, columns: tuple[str, ...]) -> dict[str, Any]:
    cells: dict[str, Any] = {}
    if line.of_slice is not None:
        cells |= dict(zip(("slice", "slice_value"), line.of_slice, strict=True))
    if line.given is not None:
        cells["given"] = line.given
    cells |= group_cells(line.axes, line.group, columns)
    cells["raters"] = line.raters
    if line.other is None:
        cells["annotations"] = line.annotations
    else:
        others = dict(zip(line.other.axes, line.other.values, strict=True))
        cells |= {f"other_{name}": others.get(name) for name in columns}
        cells |= {"other_group": group_label(line.other), "other_raters": line.raters_other}
    return cells | {
        "statistic": line.statistic,
        "label": line.label or None,
        "value": or_nan(line.value),
        "unit": UNITS[line.statistic],
        "low": or_nan(line.low),
        "high": or_nan(line.high),
        "null_median": or_nan(line.null_median),
        "p": or_nan(line.p),
        "q": or_nan(line.q),
        "mark": line.significance or None,
        "reason": line.reason or None,
    }


def group_cells(axes: AxisSet, group: Group | None, columns: Sequence[str]) -> dict[str, Any]:
    """The axes' columns, and axis and group in words; no group stands for all of its axis, or everybody."""
    values = {} if group is None else dict(zip(group.axes, group.values, strict=True))
    return {
        **{name: values.get(name) for name in columns},
        "axis": axis_label(axes) or None,
        "group": None if group is None else group_label(group),
    }


def _tests(
    first: Line, outcomes: Mapping[str, Outcome], use: LabelUse | None, caution: str
) -> Iterator[Line]:
    for name, outcome in outcomes.items():
        yield _outcome(replace(first, statistic=name), outcome, caution)
    if use is None:
        return
    of_labels = replace(first, statistic="label_use", caution=caution)
    yield replace(
        of_labels,
        p=use.p,
        q=use.q,
        significance=use.significance,
        reason=str(use.reason or ""),
        counted=None if use.fit is None else use.fit.counted,
    )
    shifts = [(replace(of_labels, label=label), shift) for label, shift in use.labels.items()]
    if use.mean is not None:
        shifts.append((replace(of_labels, statistic="mean_shift"), use.mean))
    for line, shift in shifts:
        yield replace(line, value=shift.value, low=shift.low, high=shift.high, p=shift.p)


def _outcome(first: Line, outcome: Outcome, caution: str) -> Line:
    low, high = ends(outcome)
    return replace(
        first,
        value=outcome.value,
        low=low,
        high=high,
        null_median=outcome.null_median,
        direction=outcome.direction or "",
        p=outcome.p,
        q=outcome.q,
        significance=outcome.significance,
        reason=str(outcome.reason or ""),
        caution=caution,
        counted=None if outcome.fit is None else outcome.fit.counted,
    )


CSV_COLUMNS = (
    *("axis", "group", "n_raters", "n_annotations", "statistic", "label", "value", "low", "high"),
    *("null_median", "direction", "p", "q", "significance", "reason", "caution"),
)
PAIR_COLUMNS = ("other_group", "n_raters_other")
SLICE_COLUMNS = ("slice", "slice_value")
GIVEN_COLUMNS = ("given",)
TAIL_COLUMNS = ("p_counted",)
VERDICT_COLUMNS = ("verdict", "verdict_kinds", "verdict_p", "verdict_q", "verdict_by", "verdict_why")


def table_csv(result: RunResult) -> str:
    """Every number at full precision, as docs/file-formats.md describes it."""
    judged = any(row.verdict is not None for row in result.groups)
    columns = (
        *CSV_COLUMNS,
        *(PAIR_COLUMNS if result.pairs else ()),
        *(SLICE_COLUMNS if result.slices else ()),
        *(GIVEN_COLUMNS if result.given else ()),
        *(TAIL_COLUMNS if result.spec.analysis.tail else ()),
        *(VERDICT_COLUMNS if judged else ()),
    )
    buffer = io.StringIO(newline="")
    writer = csv.DictWriter(buffer, columns, restval="", extrasaction="ignore")
    writer.writeheader()
    of_all = (lines(result), pair_lines(result), slice_lines(result), given_lines(result))
    writer.writerows(_csv_cells(line) for line in chain.from_iterable(of_all))
    return buffer.getvalue()


def _csv_cells(line: Line) -> dict[str, object]:
    cells: dict[str, object] = {
        "axis": safe_cell(" x ".join(line.axes)),
        "group": "" if line.group is None else safe_cell(line.group.label),
        "n_raters": line.raters,
        "n_annotations": line.annotations,
        "statistic": line.statistic,
        "label": safe_cell(line.label),
        "direction": line.direction,
        "significance": line.significance,
        "reason": safe_cell(line.reason),
        "caution": line.caution,
        "p_counted": exact(line.counted),
    }
    cells |= {name: exact(getattr(line, name)) for name in ("value", "low", "high", "null_median", "p", "q")}
    if line.other is not None:
        cells |= {"other_group": safe_cell(line.other.label), "n_raters_other": line.raters_other}
    if line.of_slice is not None:
        cells |= dict(zip(SLICE_COLUMNS, map(safe_cell, line.of_slice), strict=True))
    if line.given is not None:
        cells["given"] = safe_cell(line.given)
    if line.verdict is not None:
        one = line.verdict
        by = "" if one.by is None else safe_cell(named_group(one.by))
        told = (one.code, " ".join(one.kinds), exact(one.p), exact(one.q), by, one.why or "")
        cells |= dict(zip(VERDICT_COLUMNS, told, strict=True))
    return cells
