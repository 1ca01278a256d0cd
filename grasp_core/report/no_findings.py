"""Where nothing holds: what came nearest, and what could have been found."""

from __future__ import annotations

from statistics import NormalDist

from grasp_core.report.findings import nearest, of_labels, of_statistic
from grasp_core.report.spread import spread
from grasp_core.report.text import Sentence
from grasp_core.report.words import WORDS, format_value, lead_statistic
from grasp_core.result import GroupResult, RunResult
from grasp_core.spec import LEVEL
from grasp_core.wording import number

_POWER = 0.8


def could_have_been_found(result: RunResult) -> Sentence | None:
    """How far a lone group would have to differ to be found four times in five; None where nothing says so.

    Notes
    -----
    From the spread of each group's null distribution, taken as normal: the limit of the strictest step of the
    correction, a share of 0.05 by the number of groups (and labels), and .84 standard deviations more.
    """
    labels = any(row.label_use is not None for row in result.groups)
    needed = [one for one in (_needed(row, result, labels=labels) for row in result.groups) if one]
    if not needed:
        return None
    (least, many), (most, few) = min(needed), max(needed)
    what = "says a label" if labels else f"has a {WORDS[lead_statistic(result)].name}"
    how = "more or less often than the others" if labels else "away from the middle of chance groupings"
    size = _points if labels else format_value
    amount = f"about {size(least)} (n = {many})"
    if len(needed) > 1:
        amount += f" to {size(most)} (n = {few})"
    return Sentence.of(
        f"With these raters and items, four runs in five would find a lone group that {what} {amount} {how}."
    )


def _points(share: float) -> str:
    return f"{100 * share:.0f} points"


def _needed(row: GroupResult, result: RunResult, *, labels: bool) -> tuple[float, int] | None:
    """How far off the group would have to be, and its raters."""
    tests = len(result.groups)
    if labels:
        found = of_labels(row, "")
        tests *= 1 if row.label_use is None else max(len(row.label_use.labels) - 1, 1)
    else:
        found = of_statistic(row, "", lead_statistic(result))
    null = None if found is None else found.outcome.null
    if row.least_p is not None or null is None or not spread(null):
        return None
    normal = NormalDist()
    limit = normal.inv_cdf(1 - LEVEL / (2 * tests)) + normal.inv_cdf(_POWER)
    return limit * spread(null), row.n_raters


def nothing_holds(result: RunResult) -> tuple[Sentence, ...]:
    """What is said where there is no finding: what came nearest, and what could have been found."""
    said: list[Sentence] = []
    near = nearest(result)
    if near:
        count = f"Marked nominally only, so no finding: {number(len(near), 'group')}. The nearest: "
        said.append(Sentence.of(count, *near[0].sentence.segments))
    limit = could_have_been_found(result)
    return tuple(said if limit is None else [*said, limit])
