"""A result as one CSV file for programs: the lines of :mod:`grasp_core.report.tidy`."""

from __future__ import annotations

import csv
import io
from itertools import chain

from grasp_core.model.groups import named_group
from grasp_core.model.outcome import Verdict
from grasp_core.model.result import RunResult
from grasp_core.model.text import safe_cell
from grasp_core.report.tidy import Line, given_lines, lines, pair_lines, slice_lines

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

    Text cells that a spreadsheet would run as a formula get a leading apostrophe. Values that are
    not estimable are empty, with their `reason`. `caution` has the codes of warnings that may undo what is
    found of the line's axis.
    """
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
    writer.writerows(_cells(line) for line in chain.from_iterable(of_all))
    return buffer.getvalue()


def _cells(line: Line) -> dict[str, object]:
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
    return cells | ({} if line.verdict is None else _verdict(line.verdict))


def _verdict(verdict: Verdict) -> dict[str, object]:
    by = "" if verdict.by is None else safe_cell(named_group(verdict.by))
    kinds = " ".join(verdict.kinds)
    cells = (verdict.code, kinds, exact(verdict.p), exact(verdict.q), by, verdict.why or "")
    return dict(zip(VERDICT_COLUMNS, cells, strict=True))


def exact(value: float | None) -> str:
    """All digits of a value, as tables for programs have them; empty where there is none."""
    return "" if value is None else repr(float(value))
