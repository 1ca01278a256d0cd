"""Pairs of groups as tables."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from grasp_core.model.groups import AxisSet, Group, axis_label, group_label
from grasp_core.model.outcome import Outcome, PairResult, Verdict
from grasp_core.model.result import RunResult
from grasp_core.report.pairs import PAIR_NAMES, Measure, measures, of_label_use, seen_from
from grasp_core.report.tables import ends, or_nan
from grasp_core.report.words.names import (
    MAY_CHANGE,
    NOT_YET,
    STARS,
    format_p_value,
    may_change,
    p_so_far,
    p_text,
    q_so_far,
    signs,
)


def pairs_table(result: RunResult) -> pd.DataFrame:
    """One row for each pair and what was tested of it.

    Returns `axis`, `first`, `second`, `raters_first`, `raters_second`, `statistic`, then `value`, `low`,
    `high` (float; of labels in percentage points, of the mean on its scale; NaN where there is none), `p`,
    `q`, `stars` and `reason`; of the pair's verdict by all tests together `verdict`, `verdict_p`,
    `verdict_q`.
    """
    told = of_label_use(result)
    rows = [
        [
            axis_label(row.a.axes),
            group_label(row.a),
            group_label(row.b),
            row.n_raters_a,
            row.n_raters_b,
            name,
            or_nan(outcome.value),
            *map(or_nan, ends(outcome)),
            or_nan(outcome.p),
            or_nan(outcome.q),
            "" if outcome.q is None else signs(outcome),
            str(outcome.reason or ""),
            *_verdict(row.verdict),
        ]
        for row in result.pairs
        for name, outcome in (
            *((one.name, one.of(row)) for one in told),
            *((PAIR_NAMES[name], outcome) for name, outcome in row.statistics.items()),
        )
    ]
    columns = [
        "axis",
        "first",
        "second",
        "raters_first",
        "raters_second",
        "statistic",
        "value",
        "low",
        "high",
    ]
    columns += ["p", "q", "stars", "reason", "verdict", "verdict_p", "verdict_q"]
    return pd.DataFrame(rows, columns=columns)


def _verdict(found: Verdict | None) -> tuple[str, float, float]:
    if found is None:
        return "", float("nan"), float("nan")
    return found.code, or_nan(found.p), or_nan(found.q)


def measure_table(
    result: RunResult, measure: Measure, *, axes: AxisSet | None = None, group: Group | None = None
) -> pd.DataFrame:
    """One row for each pair, with texts: `First`, `Second`, the value, its interval, `p` and `q`.

    With `axes` the pairs of that axis or intersection alone; with `group` its own, `Beside` naming the other.
    """
    rows = result.pairs if group is None else seen_from(result, group)
    heads = ["First", "Second"] if group is None else ["Beside"]
    found = [
        [*map(group_label, (row.a, row.b)[-len(heads) :]), *_texts(measure.of(row), measure, result)]
        for row in rows
        if axes in (None, row.a.axes)
    ]
    return pd.DataFrame(found, columns=[*heads, measure.name, "95 % interval", "p", "q"])


def pairs_in_words(result: RunResult) -> pd.DataFrame:
    """One row for each pair, with texts: both groups, then of each measure its value with its stars."""
    told = measures(result)
    found = [
        [
            axis_label(row.a.axes),
            f"{group_label(row.a)} ({row.n_raters_a:,})",
            f"{group_label(row.b)} ({row.n_raters_b:,})",
            *(f"{one.write(one.of(row).value)} {signs(one.of(row))}".rstrip() for one in told.values()),
        ]
        for row in result.pairs
    ]
    return pd.DataFrame(found, columns=["Axis", "First", "Second", *(one.name for one in told.values())])


def pair_table(result: RunResult, row: PairResult) -> pd.DataFrame:
    """One row for each measure of a pair, with texts: `Measure`, `Value`, its interval, `p` and `q`."""
    told = [one for measure in measures(result).values() for one in _of_both_sides(measure, row)]
    found = [[one.name, *_texts(one.of(row), one, result)] for one in told]
    return pd.DataFrame(found, columns=["Measure", "Value", "95 % interval", "p", "q"])


def _of_both_sides(measure: Measure, row: PairResult) -> list[Measure]:
    """A gap for each group; any other measure as it is."""
    if measure.key != "gap_a":
        return [measure]
    first = replace(measure, name=f"{measure.name} of {group_label(row.a)}")
    name = f"{measure.name} of {group_label(row.b)}"
    return [first, replace(measure, name=name, of=lambda one: one.statistics.get("gap_b", Outcome(None)))]


def _texts(outcome: Outcome, measure: Measure, result: RunResult) -> list[str]:
    """Value, interval, p and q."""
    low, high = ends(outcome)
    interval = "" if low is None else f"[{measure.write(low)}, {measure.write(high)}]"
    if outcome.p_interval is not None:
        p, q = p_so_far(outcome), f"{q_so_far(outcome)}{MAY_CHANGE if may_change(outcome) else ''}"
    elif result.later is not None and outcome.p is None and outcome.reason is None:
        p = q = NOT_YET
    else:
        p = p_text(outcome, permutations=result.permutations)
        if outcome.p is not None and outcome.q is None:  # its mark is that of all labels together
            return [measure.write(outcome.value), interval, p, "none"]
        q = format_p_value(outcome.q, permutations=result.permutations)
    return [measure.write(outcome.value), interval, p, f"{q} {STARS[outcome.significance]}".rstrip()]
