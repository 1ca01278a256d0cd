"""Names of statistics, groups and models; values, p and q as text."""

import math
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from grasp_core.model.outcome import Interval, LabelUse, Outcome, Significance, Verdict, VerdictCode
from grasp_core.model.remarks.reasons import NoValue
from grasp_core.model.result import DsiResult, GroupResult, Result, RunResult
from grasp_core.model.spec import LEVEL

MINUS = "−"
NOT_ESTIMABLE = "not estimable"


@dataclass(frozen=True, slots=True)
class StatisticWords:
    """Texts on one statistic; `more` and `less` complete "These raters ... than random groups would"."""

    name: str
    explanation: str
    formula: str
    axis: str
    more: str
    less: str


TEXTS: Mapping[str, Any] = tomllib.loads(Path(__file__).with_name("texts.toml").read_text(encoding="utf-8"))
"""Texts on statistics and conventions for people."""
WORDS: Mapping[str, StatisticWords] = {name: StatisticWords(**one) for name, one in TEXTS["groups"].items()}
"""One entry per statistic of :data:`grasp_core.model.statistic.TABLE`."""

LABEL_USE_NAME = "Label use"
LABEL_USE_EXPLANATION: str = TEXTS["explained"]["label_use"]
OF_ALL_LABELS = "p and q: of all labels together."
OF_ALL = "of all labels"
"""In the place of p and q of one label, or of the mean: they are tested together, as label use."""
LABEL_USE_FORMULA: str = TEXTS["explained"]["label_use_formula"]
MEAN_SHIFT_NAME = "Shift of the mean"
MEAN_SHIFT_EXPLANATION: str = TEXTS["explained"]["mean_shift"]

DSI_NAME = "DSI"
DSI_EXPLANATION: str = TEXTS["explained"]["dsi"]
DSI_FORMULA = "DSI(axis) = max over the axis's groups of GAI"

STARS: Mapping[Significance, str] = {"none": "", "nominal": "*", "corrected": "**"}
FITTED = "†"
FITTED_MEANING = "p fitted to the tail of the random groupings, since fewer than 10 go as far"
SIGNIFICANCE_NAMES: Mapping[Significance, str] = {
    "corrected": "after correction",
    "nominal": "may be luck",
    "none": "not significant",
}
PAIR_NAMES: Mapping[str, str] = {
    "distance": "Distance",
    "xrr": "XRR",
    "gap_a": "Gap of the first",
    "gap_b": "Gap of the second",
    "irr_difference": "Difference in IRR",
    "gai_difference": "Difference in GAI",
}
"""One entry per statistic of :data:`grasp_core.model.outcome.PAIR_STATISTICS`."""
OF_SHARES = "‡"
OF_SHARES_MEANING = "distance of the shares of labels over all items, which takes no part in verdicts"
GAP_INSTEAD = "(gap)"
GAP_INSTEAD_MEANING = "IRR − XRR in the place of a GAI beyond 5, which comes of an XRR near 0"
VERDICT_NAMES: Mapping[VerdictCode, str] = {
    "clear": "clear",
    "hint": "may be luck",
    "explained": "explained by another group",
    "none": "no difference found",
    "untestable": "cannot be tested",
}


def arrow(outcome: Outcome) -> str:
    """Arrow up or down for the direction from the null's median; empty if there is none."""
    return {"up": "↑", "down": "↓", None: ""}[outcome.direction]


def format_value(value: float | None) -> str:
    """Three decimals with a true minus sign; "not estimable" for None."""
    if value is None:
        return NOT_ESTIMABLE
    return f"{value:z.3f}".replace("-", MINUS)


def two_decimals(value: float | None) -> str:
    """Two decimals with a true minus sign; "not estimable" for None."""
    return NOT_ESTIMABLE if value is None else f"{value:z.2f}".replace("-", MINUS)


def in_brackets(low: float | None, high: float | None, write: Callable[[float], str] = format_value) -> str:
    """Write two ends, such as ``[0.112, 0.304]``; empty if there are none."""
    return "" if low is None or high is None else f"[{write(low)}, {write(high)}]"


def format_interval(interval: Interval | None) -> str:
    """Write an interval in brackets; empty for None."""
    return "" if interval is None else in_brackets(interval.low, interval.high)


def verdict(outcome: Outcome) -> str:
    """State the mark of a value, or the reason why it has none."""
    if outcome.value is None:
        return f"{NOT_ESTIMABLE}: {outcome.reason or 'no reason given'}"
    if outcome.p is None and outcome.reason is not None:
        return f"no mark: {outcome.reason}"
    return SIGNIFICANCE_NAMES[outcome.significance]


def format_p_value(p: float | None, *, permutations: int | None = None) -> str:
    """A p or q for a table cell: three decimals, "< 0.001" below that, never 0.

    `p`: None reads "not tested": the value is not estimable, or the data's design forbids its test.
    `permutations`: with fewer than 1,000 permutations a p of 0 (convention `paper`) only shows that it is
        below ``1 / permutations``; give their number so that no more is claimed.
    """
    if p is None:
        return "not tested"
    floor = 0.001 if permutations is None else max(0.001, 1 / max(permutations, 1))
    if p == 0 and floor > 0.001:
        return f"< {floor:.3f}"
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def format_p(p: float | None, *, name: str = "p", permutations: int | None = None) -> str:
    """A p or q for a sentence: ``p = 0.014``, ``p < 0.001`` or ``p not tested``."""
    text = format_p_value(p, permutations=permutations)
    return f"{name} {text}" if p is None or text.startswith("<") else f"{name} = {text}"


def p_text(test: Outcome | LabelUse, *, permutations: int | None = None) -> str:
    """A test's p for a table cell; a p fitted to the tail has one digit, as ``≈ 0.00002``."""
    if test.fit is None or test.p is None:
        return format_p_value(test.p, permutations=permutations)
    decimals = max(3, -math.floor(math.log10(test.p)))
    return f"{'≤' if test.fit.limit else '≈'} {test.p:.{decimals}f}"


def p_words(test: Outcome | LabelUse, *, permutations: int | None = None) -> str:
    """A test's p for a sentence, such as ``p ≈ 0.00002 (fitted)``."""
    if test.fit is None:
        return format_p(test.p, permutations=permutations)
    return f"p {p_text(test)} (fitted)"


def p_and_q_words(test: Outcome | LabelUse, *, permutations: int | None = None) -> str:
    """A test's p and q for a sentence, such as ``p = 0.014, q = 0.08``."""
    q = format_p(test.q, name="q", permutations=permutations)
    return f"{p_words(test, permutations=permutations)}, {q}"


def all_tests_words(verdict: Verdict) -> str:
    """The p and q of all tests together, for a sentence."""
    return f"all tests together {format_p(verdict.p)}, {format_p(verdict.q, name='q')}"


def signs(test: Outcome | LabelUse) -> str:
    """The stars of a test, then the signs of a fitted p and of :func:`form`."""
    return STARS[test.significance] + (FITTED if test.fit is not None else "") + form(test)


def form(test: Outcome | LabelUse) -> str:
    """The sign of a distance of shares, or the word for a gap in place of GAI; empty for others."""
    if isinstance(test, InPlaceOfGai):
        return f" {GAP_INSTEAD}"
    return OF_SHARES if isinstance(test, Outcome) and test.of_shares else ""


def reported_statistics(result: RunResult) -> tuple[str, ...]:
    """The statistics that the run's spec reports, in Table 5's order."""
    return result.spec.analysis.statistics


def lead_statistic(result: RunResult) -> str:
    """The statistic that headlines and row orders follow: GAI if reported, else the first one."""
    reported = reported_statistics(result)
    return "gai" if "gai" in reported else reported[0]


def outcome_of(row: GroupResult, statistic: str) -> Outcome:
    """The group's outcome; a statistic that the run did not compute is not estimable, with that reason."""
    absent = Outcome(None, reason=NoValue.NOT_IN_THIS_RUN(statistic=WORDS[statistic].name))
    return row.statistics.get(statistic, absent)


LARGEST_GAI = 5.0
"""Largest GAI that people read: a ratio further from 0 comes from an XRR near 0 and says little."""


class InPlaceOfGai(Outcome):
    """The gap, shown in place of a GAI that says little."""

    __slots__ = ()


def shown_outcome(row: GroupResult, statistic: str) -> Outcome:
    """The outcome that people read for a statistic: the gap in place of a GAI that says little, if any."""
    outcome, gap = outcome_of(row, statistic), row.statistics.get("gap")
    if statistic != "gai" or gap is None or gap.value is None or abs(outcome.value or 0.0) <= LARGEST_GAI:
        return outcome
    return InPlaceOfGai(**{field.name: getattr(gap, field.name) for field in fields(gap)})


def shown_dsi(row: DsiResult, groups: Iterable[GroupResult]) -> Outcome:
    """The DSI that people read: its group's gap in place of a GAI that says little, with the DSI's test."""
    attained = next((one for one in groups if one.group == row.group), None)
    told = row.outcome if attained is None else shown_outcome(attained, "gai")
    if not isinstance(told, InPlaceOfGai):
        return row.outcome
    shown = {name: getattr(told, name) for name in ("value", "interval", "no_interval")}
    return InPlaceOfGai(**{field.name: getattr(row.outcome, field.name) for field in fields(told)} | shown)


def statistic_formula(statistic: str, result: RunResult) -> str:
    """The statistic's formula; for GAI with the pair that this run used."""
    if statistic != "gai":
        return WORDS[statistic].formula
    inside, across = result.spec.analysis.gai
    return f"GAI = {WORDS[inside].name} / {WORDS[across].name}"


NOT_YET = "…"
MAY_CHANGE = "?"


def may_change(outcome: Outcome | LabelUse) -> bool:
    """Return whether more permutations may change a mark: the interval of p or of q includes the level."""
    intervals = (outcome.p_interval, outcome.q_interval)
    return any(one is not None and one[0] < LEVEL <= one[1] for one in intervals)


def so_far(value: float | None, interval: tuple[float, float] | None) -> str:
    """A p or q so far with its interval, such as ``about 0.031 (0.022–0.046)``."""
    if value is None or interval is None:
        return NOT_YET
    return f"about {value:.3f} ({interval[0]:.3f}–{interval[1]:.3f})"


def p_and_q_cells(test: Outcome | LabelUse, result: Result) -> tuple[str, str]:
    """Write p and q for a table; while permutations run, the values so far."""
    if result.provisional or test.p_interval is not None:
        return so_far(test.p, test.p_interval), so_far(test.q, test.q_interval)
    many = result.permutations
    return p_text(test, permutations=many), format_p_value(test.q, permutations=many)


def not_yet(outcome: Outcome | LabelUse, result: Result) -> bool:
    """Return whether a test has no p-value because its run has only begun."""
    return result.provisional and outcome.p is None and outcome.reason is None


def in_figure(outcome: Outcome | LabelUse, result: Result) -> tuple[str, str]:
    """Write p and q briefly for a figure: ``≈ 0.031`` while permutations run, dots before the first."""
    if not_yet(outcome, result):
        return NOT_YET, NOT_YET
    p, q = (
        ("≈ " if result.provisional and value is not None else "")
        + format_p_value(value, permutations=result.permutations)
        for value in (outcome.p, outcome.q)
    )
    return p if outcome.fit is None else p_text(outcome), q


def what_is_provisional(result: Result) -> str:
    """Explain which values of a provisional result are final, which may change, and how to read its signs."""
    if result.later is not None:
        return f"Groups are done; {result.later} are still computed, and what is told of them may change."
    if not result.permutations:
        return "Provisional: observed values are final; p-values come with the first permutations."
    return (
        f"Provisional, after {result.permutations:,} permutations: observed values are final; p, q, arrows, "
        "stars and histograms may still change. In brackets: a 95 % interval of what p or q becomes. "
        f"{MAY_CHANGE}: a mark that may still change."
    )


LEAD = "macro_f1"
"""The statistic of the models' table and chart; sentences on the sides of models name it first."""


@dataclass(frozen=True, slots=True)
class SideWords:
    """Texts on one statistic of models; `short` is its name within a sentence."""

    name: str
    short: str
    explanation: str


SIDE_WORDS = {name: SideWords(**one) for name, one in TEXTS["models"].items()}
"""One entry per statistic of ``SIDES``, the lead first: the order in which people see them."""


LABEL_USE, LABELS, MEAN, DSI = "label_use", "labels", "mean_shift", "dsi"
"""Names used beside statistics: a group's test of all labels, its further labels, its mean; an axis's DSI."""
_BESIDE = {LABEL_USE: LABEL_USE_NAME, LABELS: "Further labels", MEAN: MEAN_SHIFT_NAME, DSI: DSI_NAME}


def statistic_name(statistic: str) -> str:
    """The name of a statistic of groups, or of models and groups."""
    if statistic in _BESIDE:
        return _BESIDE[statistic]
    return SIDE_WORDS[statistic].name if statistic in SIDE_WORDS else WORDS[statistic].name


REPRODUCED: str = TEXTS["explained"]["reproduced"]
SIDES_WITH: str = TEXTS["explained"]["sides_with"]
