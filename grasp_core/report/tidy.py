"""The tidy table of a result: a line for each number; files and frames are made from it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import Any

import pandas as pd

from grasp_core.model.groups import AxisSet, Group, axis_label, group_label, named_group
from grasp_core.model.outcome import Interval, LabelUse, Outcome, Shift, Verdict
from grasp_core.model.result import RunResult
from grasp_core.model.spec import AnalysisSpec
from grasp_core.model.statistic import TABLE
from grasp_core.report.findings.mending import caution_codes
from grasp_core.report.slices import as_result as given_view
from grasp_core.report.slices import as_results
from grasp_core.report.tables import Column, csv_of, ends, or_nan, with_label_use
from grasp_core.report.words.label_use import P_BOTH, interval_of, label_for_sentence
from grasp_core.report.words.names import outcome_of, reported_statistics, signs

UNITS: Mapping[str, str] = {
    **{name: one.unit for name, one in TABLE.items()},
    **dict.fromkeys(("alpha", "gap_a", "gap_b", "irr_difference"), "coefficient"),
    **dict.fromkeys(("unanimous", "again", "again_by_chance", "label_use"), "share"),
    "gai_difference": "ratio",
    "dsi": "ratio",
    "mean_shift": "scale",
}
"""Unit of each statistic; "scale" is the unit of the labels, or "ranks" from 0 to 1 for ordered labels."""
_NOTHING = Outcome(None)


@dataclass(frozen=True, slots=True)
class Line:
    """One number of a result, with its test.

    `group` is None for everybody and for an axis as a whole. `other` is the second group of a pair.
    `of_slice` is a column of items with its value. `given` is an axis that the tests were given. `marked` is
    True if the number has a mark; single labels and numbers on everybody have none. Labels have a `p_both`
    over raters and items.
    """

    axes: AxisSet
    group: Group | None
    raters: int | None
    annotations: int | None
    statistic: str = ""
    outcome: Outcome = _NOTHING
    marked: bool = False
    label: str = ""
    caution: str = ""
    other: Group | None = None
    raters_other: int | None = None
    of_slice: tuple[str, str] | None = None
    given: str | None = None
    verdict: Verdict | None = None
    p_both: float | None = None


def lines(result: RunResult) -> Iterator[Line]:
    """Lines for everybody, then for each group's statistics and label use, then for the DSI of each axis."""
    if result.of_everybody and result.everybody is not None:
        found = result.everybody
        of_all = Line((), None, result.data.raters, result.data.annotations)
        of_items = None
        if found.low is not None and found.high is not None:
            of_items = Interval(found.low, found.high, "items")
        alpha = Outcome(found.alpha, interval=of_items, reason=found.reason)
        yield replace(of_all, statistic="alpha", outcome=alpha)
        yield replace(of_all, statistic="plurality_size", outcome=Outcome(found.plurality))
        yield replace(of_all, statistic="unanimous", outcome=Outcome(found.unanimous))
        for one in found.labels:
            of_label = replace(of_all, annotations=one.annotations, label=one.label)
            yield replace(of_label, statistic="again", outcome=Outcome(one.again))
            yield replace(of_label, statistic="again_by_chance", outcome=Outcome(one.by_chance))
    for row in result.groups:
        first = Line(row.group.axes, row.group, row.n_raters, row.n_annotations, verdict=row.verdict)
        outcomes = {name: outcome_of(row, name) for name in reported_statistics(result)}
        yield from _tests(result, first, outcomes, row.label_use)
    raters = {row.group: (row.n_raters, row.n_annotations) for row in result.groups}
    for axis in result.dsi:
        n_raters, n_annotations = (None, None) if axis.group is None else raters.get(axis.group, (None, None))
        first = Line(axis.axes, axis.group, n_raters, n_annotations)
        yield from _tests(result, first, {"dsi": axis.outcome})


def label_use_lines(result: RunResult) -> list[Line]:
    """Lines for each group: the test of all labels together, each label, and the mean if labels have one."""
    of_groups = (
        (Line(row.group.axes, row.group, row.n_raters, None), use) for row, use in with_label_use(result)
    )
    return [line for first, use in of_groups for line in _tests(result, first, {}, use)]


ALL_LABELS = "all labels"


def _points(of: Callable[[Outcome], float | None], line: Line) -> float:
    """A shift, or an end of its interval, in points; for the mean in the unit of the scale."""
    value: float = or_nan(of(line.outcome))
    return value if line.statistic == "mean_shift" else 100 * value


LABEL_USE = (
    Column(lambda line: axis_label(line.axes), name="axis", sheet="Axis"),
    Column(lambda line: line.group and group_label(line.group), name="group", sheet="Group"),
    Column("raters", name="raters", sheet="Raters", kind="count"),
    Column(
        lambda line: "mean" if line.statistic == "mean_shift" else line.label or ALL_LABELS,
        name="label",
        sheet="Label",
    ),
    Column("outcome.value", name="shift", kind="value"),
    Column(lambda line: ends(line.outcome)[0], name="low", kind="value"),
    Column(lambda line: ends(line.outcome)[1], name="high", kind="value"),
    Column(partial(_points, attrgetter("value")), sheet="Points more often than the others", kind="points"),
    Column(partial(_points, lambda one: ends(one)[0]), sheet="from", kind="points"),
    Column(partial(_points, lambda one: ends(one)[1]), sheet="to", kind="points"),
    Column("outcome.p", name="p", sheet="p", kind="p"),
    Column("outcome.q", name="q", sheet="q", kind="p"),
    Column(lambda line: signs(line.outcome), name="stars", sheet="*", kind="mark"),
    Column("p_both", name="p_both", sheet=P_BOTH, kind="p"),
)


def pair_lines(result: RunResult) -> Iterator[Line]:
    """Lines for every test of every pair of groups."""
    for row in result.pairs:
        first = Line(row.a.axes, row.a, row.n_raters_a, None, verdict=row.verdict)
        first = replace(first, other=row.b, raters_other=row.n_raters_b)
        yield from _tests(result, first, row.statistics, row.label_use)


def slice_lines(result: RunResult) -> Iterator[Line]:
    """The lines of every slice."""
    for found in result.slices:
        for one, view in as_results(result, found):
            for line in lines(view):
                yield replace(line, of_slice=(found.column, one.value), verdict=None)


def given_lines(result: RunResult) -> Iterator[Line]:
    """The lines of the groups given each axis that the run asked for."""
    for found in result.given:
        for line in lines(given_view(result, found)):
            yield replace(line, given=found.column)


_LINE = Line((), None, None, None, "gai")
FOR_SLICES = replace(_LINE, of_slice=("", ""))
OF_GIVEN = replace(_LINE, given="")
FOR_PAIRS = replace(_LINE, other=Group((), ()))


def tidy(result: RunResult, found: Iterable[Line], like: Line = _LINE) -> pd.DataFrame:
    """Lines as a long frame, with a column for each axis; `like` sets the columns if there are no lines."""
    rows = [_cells(line, result.spec.analysis) for line in found]
    return pd.DataFrame(rows) if rows else pd.DataFrame([_cells(like, result.spec.analysis)]).iloc[:0]


def findings_table(result: RunResult) -> pd.DataFrame:
    """The verdict on each group, as a frame."""
    rows = []
    for row in result.groups:
        verdict = row.verdict or Verdict("none")
        found = None if row.label_use is None else label_for_sentence(row.label_use)
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


def _cells(line: Line, analysis: AnalysisSpec) -> dict[str, Any]:
    outcome, columns, cells = line.outcome, analysis.columns, dict[str, Any]()
    ranks = line.statistic == "mean_shift" and analysis.level == "ordinal"
    if line.of_slice is not None:
        cells |= dict(zip(("slice", "slice_value"), line.of_slice, strict=True))
    if line.given is not None:
        cells["given"] = line.given
    cells |= group_cells(line.axes, line.group, columns)
    cells["raters"] = line.raters
    if line.other is None:
        cells["annotations"] = line.annotations
    else:
        cells |= {f"other_{name}": line.other.by_axis.get(name) for name in columns}
        cells |= {"other_group": group_label(line.other), "other_raters": line.raters_other}
    low, high = ends(outcome)
    numbers = {"low": low, "high": high, "null_median": outcome.null_median, "p": outcome.p, "q": outcome.q}
    numbers["p_both"] = line.p_both
    return cells | {
        "statistic": line.statistic,
        "label": line.label or None,
        "value": or_nan(outcome.value),
        "unit": "ranks" if ranks else UNITS[line.statistic],
        **{name: or_nan(number) for name, number in numbers.items()},
        "mark": outcome.significance if line.marked else None,
        "reason": None if outcome.reason is None else str(outcome.reason),
    }


def group_cells(axes: AxisSet, group: Group | None, columns: Sequence[str]) -> dict[str, Any]:
    """The axes' columns, then axis and group in words; no group means the whole axis, or everybody."""
    values = {} if group is None else group.by_axis
    return {
        **{name: values.get(name) for name in columns},
        "axis": axis_label(axes) or None,
        "group": None if group is None else group_label(group),
    }


def _tests(
    result: RunResult, first: Line, outcomes: Mapping[str, Outcome], use: LabelUse | None = None
) -> Iterator[Line]:
    first = replace(first, caution=caution_codes(result.warnings, first.axes))
    for name, outcome in outcomes.items():
        yield replace(first, statistic=name, outcome=outcome, marked=True)
    if use is None:
        return
    of_labels = replace(first, statistic="label_use")
    whole = Outcome(None, p=use.p, q=use.q, significance=use.significance, reason=use.reason, fit=use.fit)
    yield replace(of_labels, outcome=whole, marked=True)
    # Labels and the mean are tested together, above: a p of their own would answer the same question again.
    shifts = [(replace(of_labels, label=label), shift) for label, shift in use.labels.items()]
    if use.mean is not None:
        shifts.append((replace(of_labels, statistic="mean_shift"), use.mean))
    for line, shift in shifts:
        outcome = Outcome(shift.value, interval=interval_of(use, shift))
        yield replace(line, outcome=outcome, p_both=shift.p_both)


CSV_COLUMNS = (
    Column(lambda line: " x ".join(line.axes), name="axis"),
    Column(lambda line: "" if line.group is None else line.group.label, name="group"),
    Column("raters", name="n_raters"),
    Column("annotations", name="n_annotations"),
    Column("statistic", name="statistic"),
    Column("label", name="label"),
    Column("outcome.value", name="value", kind="value"),
    Column(lambda line: ends(line.outcome)[0], name="low", kind="value"),
    Column(lambda line: ends(line.outcome)[1], name="high", kind="value"),
    Column("outcome.null_median", name="null_median", kind="value"),
    Column(lambda line: line.outcome.direction or "", name="direction"),
    Column("outcome.p", name="p", kind="p"),
    Column("outcome.q", name="q", kind="p"),
    Column("p_both", name="p_both", kind="p"),
    Column(lambda line: line.outcome.significance if line.marked else "", name="significance"),
    Column(lambda line: str(line.outcome.reason or ""), name="reason"),
    Column("caution", name="caution"),
)
PAIR_COLUMNS = (
    Column(lambda line: line.other and line.other.label, name="other_group"),
    Column("raters_other", name="n_raters_other"),
)
SLICE_COLUMNS = (
    Column(lambda line: line.of_slice and line.of_slice[0], name="slice"),
    Column(lambda line: line.of_slice and line.of_slice[1], name="slice_value"),
)
GIVEN_COLUMNS = (Column("given", name="given"),)
TAIL_COLUMNS = (
    Column(lambda line: line.outcome.fit and line.outcome.fit.counted, name="p_counted", kind="p"),
)
VERDICT_COLUMNS = (
    Column(lambda line: line.verdict and line.verdict.code, name="verdict"),
    Column(lambda line: line.verdict and " ".join(line.verdict.kinds), name="verdict_kinds"),
    Column(lambda line: line.verdict and line.verdict.p, name="verdict_p", kind="p"),
    Column(lambda line: line.verdict and line.verdict.q, name="verdict_q", kind="p"),
    Column(lambda line: line.verdict and line.verdict.by and named_group(line.verdict.by), name="verdict_by"),
    Column(lambda line: line.verdict and line.verdict.why, name="verdict_why"),
)


def table_csv(result: RunResult) -> str:
    """Every number at full precision, as docs/file-formats.md describes it."""
    columns = (
        *CSV_COLUMNS,
        *(PAIR_COLUMNS if result.pairs else ()),
        *(SLICE_COLUMNS if result.slices else ()),
        *(GIVEN_COLUMNS if result.given else ()),
        *(TAIL_COLUMNS if result.spec.analysis.tail else ()),
        *(VERDICT_COLUMNS if any(row.verdict is not None for row in result.groups) else ()),
    )
    of_all = (lines(result), pair_lines(result), slice_lines(result), given_lines(result))
    return csv_of(columns, list(chain.from_iterable(of_all)), end="\r\n")
