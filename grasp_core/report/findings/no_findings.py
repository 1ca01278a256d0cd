"""Where nothing holds: what came nearest, and what could have been found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import NormalDist

from grasp_core.report.findings.findings import count_groups, nearest, of_labels, of_statistic
from grasp_core.report.words.names import WORDS, format_value, lead_statistic
from grasp_core.report.words.spread import spread
from grasp_core.report.words.text import Sentence
from grasp_core.result import GroupResult, RunResult
from grasp_core.spec import LEVEL
from grasp_core.wording import number

_POWER = 0.8
_WHOLE_FROM = 0.05
"""From 5 points on, decimals say nothing in a sentence."""


def could_have_been_found(result: RunResult) -> Sentence | None:
    """How far a lone group would have to differ to be found four times in five; None where nothing says so.

    Notes
    -----
    From the spread of each group's null distribution, taken as normal: the limit of the strictest step of the
    correction, a share of 0.05 by the number of groups (and labels), and .84 standard deviations more.
    """
    return _limit(result, result.groups, len(result.groups), "a lone group that", "the others")


def pair_could_have_been_found(result: RunResult) -> Sentence | None:
    """The same of pairs of groups, each tested beside the others of its axis."""
    rows = [GroupResult(row.a, row.n_raters_a, 0, row.statistics, row.label_use) for row in result.pairs]
    tests = max(Counter(row.a.axes for row in result.pairs).values(), default=0)
    labels = [row for row in rows if row.label_use is not None]
    return _limit(result, labels, tests, "a lone pair of which one", "the other") if labels else None


def _limit(
    result: RunResult, rows: Sequence[GroupResult], tests: int, who: str, others: str
) -> Sentence | None:
    labels = any(row.label_use is not None for row in rows)
    needed = [one for one in (_needed(row, result, tests, labels=labels) for row in rows) if one]
    if not needed:
        return None
    (least, many), (most, few) = min(needed), max(needed)
    what = "says a label" if labels else f"has a {WORDS[lead_statistic(result)].name}"
    how = f"more or less often than {others}" if labels else "away from the middle of chance groupings"
    size = _points if labels else format_value
    amount = f"about {size(least)} (n = {many})"
    if size(least) == size(most):
        amount = f"about {size(least)}"
    elif len(needed) > 1:
        amount += f" to {size(most)} (n = {few})"
    return Sentence.of(
        f"With these raters and items, four runs in five would find {who} {what} {amount} {how}."
    )


def _points(share: float) -> str:
    points = f"{100 * share:.0f}" if share > _WHOLE_FROM else f"{100 * share:.1f}"
    return f"{points} {'point' if points == '1.0' else 'points'}"


def _needed(row: GroupResult, result: RunResult, tests: int, *, labels: bool) -> tuple[float, int] | None:
    """How far off the group would have to be, and its raters."""
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
        count = f"Marked nominally only, so no finding: {number(count_groups(near), 'group')}. The nearest: "
        said.append(Sentence.of(count, *near[0].sentence.segments))
    limit = could_have_been_found(result)
    return tuple(said if limit is None else [*said, limit])
