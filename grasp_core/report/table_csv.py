"""A result as one CSV file for programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping

from grasp_core.model.groups import AxisSet, Group, named_group
from grasp_core.model.outcome import LabelUse, Outcome, Shift, Verdict
from grasp_core.model.result import Everybody, RunResult
from grasp_core.model.text import safe_cell
from grasp_core.report.findings.mending import caution_codes
from grasp_core.report.given import as_result as given_view
from grasp_core.report.slices import as_results
from grasp_core.report.tables import ends
from grasp_core.report.words.names import outcome_of, reported_statistics

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
    "caution",
)
PAIR_COLUMNS = ("other_group", "n_raters_other")
SLICE_COLUMNS = ("slice", "slice_value")
GIVEN_COLUMNS = ("given",)
TAIL_COLUMNS = ("p_counted",)
VERDICT_COLUMNS = ("verdict", "verdict_kinds", "verdict_p", "verdict_q", "verdict_by", "verdict_why")


def table_csv(result: RunResult) -> str:
    """Every number at full precision: a line per group and reported statistic, label use, DSI of each axis.

    Of a run with pairs of groups, lines follow of each pair and what was tested of it, and all lines have two
    cells more: the second group and its raters, blank where all others are meant. Of a run with slices,
    further lines follow of every group in each, and again all lines have two cells more: the slice's column
    and value, blank where all items are meant; and so with groups given an axis, and one cell for that axis.
    Where p may be fitted, a last cell has it as counted. Of a finished run all lines have six cells more,
    which those of its groups, of pairs and of groups given an axis fill: the verdict, its kinds with spaces
    between, p and q of it, the group that explains it, and why it is untestable.

    Notes
    -----
    Text cells that a spreadsheet would run as a formula get a leading apostrophe. Values that are
    not estimable are empty, with their `reason`. `caution` has the codes of warnings that may undo what is
    found of the line's axis.
    """
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    more = (
        *(PAIR_COLUMNS if result.pairs else ()),
        *(SLICE_COLUMNS if result.slices else ()),
        *(GIVEN_COLUMNS if result.given else ()),
        *(TAIL_COLUMNS if result.spec.analysis.tail else ()),
        *(VERDICT_COLUMNS if _verdicts(result) else ()),
    )
    writer.writerow((*CSV_COLUMNS, *more))
    for line, cells in _with_more(result):
        counted = dict(zip(TAIL_COLUMNS, line[len(CSV_COLUMNS) :], strict=True))
        own = {**cells, **counted}
        writer.writerow((*line[: len(CSV_COLUMNS)], *(own.get(name, "") for name in more)))
    return buffer.getvalue()


def _with_more(result: RunResult) -> Iterator[tuple[tuple[object, ...], Mapping[str, object]]]:
    """All lines, each with what it has in the columns of verdicts, pairs and slices."""
    verdicts = _verdicts(result)
    for line in _lines(result):
        yield line, _verdict(None if line[4] == "dsi" else verdicts.get((line[0], line[1])))
    for row in result.pairs:
        beside = dict(zip(PAIR_COLUMNS, (safe_cell(row.b.label), row.n_raters_b), strict=True))
        beside |= _verdict(row.verdict)
        of_pair = (*_named(row.a), row.n_raters_a, "")
        for line in _tests(
            of_pair, row.statistics, row.label_use, caution_codes(result.warnings, row.a.axes)
        ):
            yield line, beside
    for found in result.slices:
        for one, view in as_results(result, found):
            of_slice = dict(zip(SLICE_COLUMNS, map(safe_cell, (found.column, one.value)), strict=True))
            for line in _lines(view):
                yield line, of_slice
    for given in result.given:
        view = given_view(result, given)
        of_given = _verdicts(view)
        for line in _lines(view):
            verdict = _verdict(None if line[4] == "dsi" else of_given.get((line[0], line[1])))
            yield line, {GIVEN_COLUMNS[0]: safe_cell(given.column), **verdict}


def _verdicts(result: RunResult) -> dict[tuple[object, object], Verdict]:
    """By the axis and the group of a line."""
    return {_named(row.group): row.verdict for row in result.groups if row.verdict is not None}


def _verdict(verdict: Verdict | None) -> dict[str, object]:
    """The cells of a verdict, if there is one."""
    if verdict is None:
        return {}
    by = "" if verdict.by is None else safe_cell(named_group(verdict.by))
    kinds = " ".join(verdict.kinds)
    cells = (verdict.code, kinds, exact(verdict.p), exact(verdict.q), by, verdict.why or "")
    return dict(zip(VERDICT_COLUMNS, cells, strict=True))


def _lines(result: RunResult) -> Iterator[tuple[object, ...]]:
    if result.of_everybody and result.everybody is not None:
        yield from _of_everybody(result, result.everybody)
    for row in result.groups:
        of_group = (*_named(row.group), row.n_raters, row.n_annotations)
        outcomes = {name: outcome_of(row, name) for name in reported_statistics(result)}
        caution = caution_codes(result.warnings, row.group.axes)
        yield from _tests(of_group, outcomes, row.label_use, caution)
    raters = {row.group: (row.n_raters, row.n_annotations) for row in result.groups}
    for axis in result.dsi:
        label = "" if axis.group is None else safe_cell(axis.group.label)
        sizes = ("", "") if axis.group is None else raters.get(axis.group, ("", ""))
        caution = caution_codes(result.warnings, axis.axes)
        yield (_axes(axis.axes), label, *sizes, "dsi", "", *_outcome(axis.outcome, caution))


def _of_everybody(result: RunResult, found: Everybody) -> Iterator[tuple[object, ...]]:
    """Of all raters: their agreement, how often each label is given again, and by chance."""
    of_all = ("", "", result.data.raters, result.data.annotations)
    not_tested = ("",) * 5  # middle of random groupings, direction, p, q and mark
    reason = "" if found.reason is None else str(found.reason)
    after = (*not_tested, "", "", "")
    ends = (exact(found.low), exact(found.high))
    yield (*of_all, "alpha", "", exact(found.alpha), *ends, *not_tested, reason, "", "")
    for name, value in (("plurality_size", found.plurality), ("unanimous", found.unanimous)):
        yield (*of_all, name, "", exact(value), "", "", *after)
    for one in found.labels:
        cells = ("", "", result.data.raters, one.annotations)
        yield (*cells, "again", safe_cell(one.label), exact(one.again), "", "", *after)
        yield (*cells, "again_by_chance", safe_cell(one.label), exact(one.by_chance), "", "", *after)


def _named(group: Group) -> tuple[str, str]:
    return _axes(group.axes), safe_cell(group.label)


def _axes(axes: AxisSet) -> str:
    return safe_cell(" x ".join(axes))


def _tests(
    first: tuple[object, ...], outcomes: Mapping[str, Outcome], use: LabelUse | None, caution: str
) -> Iterator[tuple[object, ...]]:
    """A line for each statistic, then those of label use, behind the same first cells."""
    for name, outcome in outcomes.items():
        yield (*first, name, "", *_outcome(outcome, caution))
    if use is not None:
        yield from ((*first, *cells) for cells in _label_use(use, caution))


def _outcome(outcome: Outcome, caution: str) -> tuple[str, ...]:
    return (
        exact(outcome.value),
        *map(exact, ends(outcome)),
        exact(outcome.null_median),
        outcome.direction or "",
        exact(outcome.p),
        exact(outcome.q),
        outcome.significance,
        safe_cell(str(outcome.reason or "")),
        caution,
        _counted(outcome),
    )


def _counted(test: Outcome | LabelUse) -> str:
    """P as counted, where p is that of a curve."""
    return "" if test.fit is None else exact(test.fit.counted)


def _label_use(use: LabelUse, caution: str) -> Iterator[tuple[str, ...]]:
    """The test of all labels together, each label's shift, and the mean's where there is one."""
    test = (exact(use.p), exact(use.q), use.significance, safe_cell(str(use.reason or "")))
    yield ("label_use", "", "", "", "", "", "", *test, caution, _counted(use))
    for label, shift in use.labels.items():
        yield ("label_use", safe_cell(label), *_shift(shift, caution))
    if use.mean is not None:
        yield ("mean_shift", "", *_shift(use.mean, caution))


def _shift(shift: Shift, caution: str) -> tuple[str, ...]:
    sizes = map(exact, (shift.value, shift.low, shift.high))
    return (*sizes, "", "", exact(shift.p), "", "", "", caution, "")


def exact(value: float | None) -> str:
    """All digits of a value, as tables for programs have them; empty where there is none."""
    return "" if value is None else repr(float(value))
