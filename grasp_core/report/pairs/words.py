"""What is told of a pair of groups: names, explanations, and what can be shown in a matrix."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from grasp_core.model.groups import one_line
from grasp_core.model.outcome import Outcome
from grasp_core.model.pairs import PairResult
from grasp_core.model.result import RunResult
from grasp_core.report.words.label_use import format_points, mean_outcome, shift_outcome
from grasp_core.report.words.names import MEAN_SHIFT_NAME, MINUS, NOT_ESTIMABLE, format_value

PAIR_NAMES: Mapping[str, str] = {
    "distance": "Distance",
    "xrr": "XRR",
    "gap_a": "Gap of the first",
    "gap_b": "Gap of the second",
    "irr_difference": "Difference in IRR",
    "gai_difference": "Difference in GAI",
}
"""One entry per statistic of :data:`grasp_core.model.pairs.PAIR_STATISTICS`."""
PAIRS_EXPLANATION = (
    "The groups of an axis compared with each other two by two, whatever the others do. A value is compared "
    "with random groupings of the two groups’ raters alone; the pairs of an axis are corrected together."
)


@dataclass(frozen=True, slots=True)
class Measure:
    """Something that a matrix shows: of the row's group beside the column's one outcome.

    `signed` values lie on both sides of 0: above it means more in the row's group.
    """

    key: str
    name: str
    explanation: str
    brief_explanation: str
    signed: bool
    of: Callable[[PairResult], Outcome]
    write: Callable[[float | None], str]
    brief: Callable[[float], str]


_STATISTICS: Mapping[str, tuple[str, str, str, bool]] = {
    "distance": (
        "Distance",
        "How far both groups’ labels of the same items lie apart; about 0 where they answer alike.",
        "How far their labels lie apart.",
        False,
    ),
    "gap_a": (
        "Gap",
        "How much better the row’s raters agree with each other than with the column’s.",
        "Agreement inside the row less that across.",
        True,
    ),
    "xrr": (
        "XRR",
        "How well the row’s raters agree with the column’s, corrected for chance.",
        "Agreement of the row with the column.",
        False,
    ),
    "irr_difference": (
        "Difference in IRR",
        "How much better the row’s raters agree with each other than the column’s do.",
        "IRR of the row less that of the column.",
        True,
    ),
    "gai_difference": (
        "Difference in GAI",
        "GAI of the row’s raters less that of the column’s, each against the other group.",
        "GAI of the row less that of the column.",
        True,
    ),
}


def _mean_of(row: PairResult) -> Outcome:
    return mean_outcome(row.label_use) or Outcome(None)


def of_label_use(result: RunResult) -> list[Measure]:
    """Each label, all together, then the mean where labels have one."""
    labels = dict.fromkeys(label for row in result.pairs if row.label_use for label in row.label_use.labels)
    means = any(mean_outcome(row.label_use) is not None for row in result.pairs)
    return [*map(_label, labels), *([_ALL_LABELS] if labels else []), *([_MEAN] if means else [])]


def measures(result: RunResult) -> dict[str, Measure]:
    """All that a matrix can show of this result, by key: labels first."""
    reported = {name for row in result.pairs for name in row.statistics}
    found = of_label_use(result)
    found += [_statistic(name, *told) for name, told in _STATISTICS.items() if name in reported]
    return {measure.key: measure for measure in found}


def label_key(label: str) -> str:
    """The key of the measure that is the use of this label."""
    return f"label: {label}"


def _label(label: str) -> Measure:
    return Measure(
        label_key(label),
        f"“{one_line(label)}”",
        "Percentage points by which the row’s raters say it more often than the column’s on the same items; "
        "p is not corrected.",
        "Points more often in the row.",
        True,
        lambda row: shift_outcome(row.label_use, label),
        _points,
        _whole_points,
    )


def _points(points: float | None) -> str:
    return NOT_ESTIMABLE if points is None else format_points(points / 100)


def _whole_points(points: float) -> str:
    return format_points(round(points) / 100).removesuffix(".0")


def _all_labels(row: PairResult) -> Outcome:
    use = row.label_use
    if use is None or use.most is None:
        return Outcome(None, reason=None if use is None else use.reason)
    found = shift_outcome(use, use.most)
    return replace(found, p=use.p, q=use.q, p_interval=use.p_interval, q_interval=use.q_interval, fit=use.fit)


_ALL_LABELS = Measure(
    "label_use",
    "Label use",
    "Percentage points of the label that sets the two groups apart most; p and q are of all labels together.",
    "Points of the label that differs most.",
    True,
    _all_labels,
    _points,
    _whole_points,
)


def _statistic(name: str, called: str, explanation: str, brief: str, signed: bool) -> Measure:
    def of(row: PairResult) -> Outcome:
        return row.statistics.get(name, Outcome(None))

    return Measure(name, called, explanation, brief, signed, of, format_value, _two_decimals)


def _two_decimals(value: float) -> str:
    return f"{round(value, 2) + 0.0:.2f}".replace("-", MINUS)


_MEAN = Measure(
    "mean",
    MEAN_SHIFT_NAME,
    "How much higher on the scale the row’s raters’ labels lie than the column’s of the same items; p is not "
    "corrected.",
    "Mean of the row less that of the column.",
    True,
    _mean_of,
    format_value,
    _two_decimals,
)
