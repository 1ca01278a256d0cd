"""Label use in words."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from grasp_core.model.data_spec import DataSpec
from grasp_core.model.groups import one_line, spoken
from grasp_core.model.outcome import Histogram, Interval, LabelUse, Outcome, Shift, Significance
from grasp_core.model.result import DataSummary, GroupResult, RunResult
from grasp_core.model.spec import LEVEL
from grasp_core.model.text import Segment, Sentence, listed, number, quoted, strong
from grasp_core.report.words import names


def centre(null: Histogram) -> float:
    """Mean of the shuffled values, each taken at the middle of its bin."""
    total = sum(null.counts)
    return sum(count * middle for count, middle in zip(null.counts, _middles(null), strict=True)) / total


def spread(null: Histogram) -> float:
    """Standard deviation of the shuffled values, each taken at the middle of its bin."""
    total, mean = sum(null.counts), centre(null)
    squares = (
        count * (middle - mean) ** 2 for count, middle in zip(null.counts, _middles(null), strict=True)
    )
    return float((sum(squares) / total) ** 0.5)


def _middles(null: Histogram) -> list[float]:
    width = (null.high - null.low) / len(null.counts)
    return [null.low + width * (place + 0.5) for place in range(len(null.counts))]


_LABELS = 12
"""Number of labels that are listed; labels given less often are only counted."""


def labelled_sentence(spec: DataSpec, data: DataSummary) -> str:
    """Count data: "label 'toxic': 97 annotations of 20 items by 6 raters (No: 46 · Unsure: 30 · Yes: 21)"."""
    counts = (
        f"{number(data.annotations, 'annotation')} of {number(data.items, 'item')} by "
        f"{number(data.raters, 'rater')}"
    )
    if spec.layout == "long":
        what = f"label {quoted(spec.labels[0])}" if not spec.further else f"labels {listed(spec.labels)}"
    else:
        columns = data.raters if spec.layout == "items-by-raters" else data.items
        what = f"labels in the cells of {number(columns, 'column')}"
    given = dict(zip(data.categories, data.label_counts, strict=False))
    often = set(sorted(given, key=lambda label: -given[label])[:_LABELS])
    shown = [f"{quoted(label)[1:-1]}: {count:,}" for label, count in given.items() if label in often]
    more = len(given) - len(shown)
    rest = f" and {number(more, 'more label')}" if more else ""
    return f"{what}: {counts} ({' · '.join(shown)}{rest})"


P_BOTH = "p over raters and items"
P_BOTH_MEANING = (
    f"{P_BOTH}: of this label alone, for other raters and other items. Every other p is for other raters on "
    "these items."
)
_WHOLE_ANSWERS = 2.95
"""Number of answers of 100 from which on a sentence has no decimals."""
_NEARLY = 0.8
_WHOLE_FROM = 9.95
"""Number of points from which on a sentence has no decimals."""


def format_points(share: float | None) -> str:
    """A difference of shares in percentage points for a table cell, such as ``+11.3``."""
    if share is None:
        return names.NOT_ESTIMABLE
    text = f"{100 * share:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text.replace("-", names.MINUS)


def write_points(points: float | None) -> str:
    """Percentage points for a table cell, as :func:`format_points` writes them."""
    return format_points(None if points is None else points / 100)


def of_100(share: float) -> str:
    """A difference of shares in answers per 100, such as ``13 more`` and ``0.4 fewer``."""
    size = 100 * abs(share)
    return f"{size:.{0 if size >= _WHOLE_ANSWERS else 1}f} {'fewer' if share < 0 else 'more'}"


A_STEP = 0.05
"""Smallest shift of the average that is written, in steps between two labels."""


def of_scale(value: float) -> str:
    """A difference of means in the scale's unit, without its sign: two decimals, or two digits if small."""
    return f"{abs(value):.2f}" if abs(value) >= 0.095 else f"{abs(value):.2g}"


def format_points_interval(shift: Shift) -> str:
    """A shift's 95 % interval in points and brackets, such as ``[+4.0, +18.1]``; empty if it has none."""
    return names.in_brackets(shift.low, shift.high, format_points)


def foremost(use: LabelUse) -> tuple[str, Shift] | None:
    """Return the label furthest from chance, with its shift; None without values."""
    estimable = {label: shift for label, shift in use.labels.items() if shift.value is not None}
    if not estimable:
        return None
    label = use.most if use.most in estimable else max(estimable, key=lambda name: _size(estimable[name]))
    return label, estimable[label]


def label_for_sentence(use: LabelUse) -> tuple[str, Shift] | None:
    """Return the label for a sentence: :func:`foremost`, or one given more often that moves nearly as far."""
    found = foremost(use)
    if found is None or (found[1].value or 0.0) >= 0:
        return found
    up = {label: shift for label, shift in use.labels.items() if (shift.value or 0.0) > 0}
    label = max(up, key=lambda name: _size(up[name]), default=None)
    if label is None or _size(up[label]) < _NEARLY * _size(found[1]):
        return found
    surer = (found[1].high or 0.0) < 0 and (up[label].low or 0.0) <= 0
    return found if surer else (label, up[label])


def foremost_text(use: LabelUse) -> str:
    """The label of :func:`foremost` for a table cell, such as ``“Yes” +13.1 ** [+6.2, +20.0]``."""
    found = foremost(use)
    if found is None:
        return names.NOT_ESTIMABLE
    label, shift = found
    value, interval = format_points(shift.value), format_points_interval(shift)
    return " ".join(filter(None, (f"“{one_line(label)}”", value, names.signs(use), interval)))


def manner(use: LabelUse, than: str | Segment | None = None) -> tuple[str | Segment, ...]:
    """Words to follow a group's name: it says a label more or less often than the others.

    For example "say “unsafe” 11 points more often than the others on the same items [4, 18]".
    """
    found = label_for_sentence(use)
    if found is None:
        return ()
    label, shift = found
    points, sign = 100 * _size(shift), -1 if (shift.value or 0) < 0 else 1
    digits = 0 if points >= _WHOLE_FROM else 1
    size = f"{points:.{digits}f}"
    interval = ""
    if shift.low is not None and shift.high is not None:
        interval = _ends(100 * shift.low, 100 * shift.high, sign, digits)
    unit = "point" if size == "1.0" else "points"
    often = "less often" if (shift.value or 0) < 0 else "more often"
    said = ("say “", strong(one_line(label)), f"” {size} {unit} {often} than ")
    whom = ("the others",) if than is None else (than, " raters")
    return (*said, *whom, f" on the same items{interval}")


def direction(
    use: LabelUse | None, *who: str | Segment, than: str | Segment | None = None, hint: bool = False
) -> tuple[str | Segment, ...]:
    """Words to follow a finding or hint: the label that goes with it. The p that is told is the finding's."""
    if use is None or use.significance == "none":
        return ()
    said = manner(use, than)
    doubtful = ", which may be luck" if use.significance == "nominal" and not hint else ""
    return ("; ", *(who or ("they",)), " ", *said, doubtful) if said else ()


def label_use_sentence(row: GroupResult, use: LabelUse, result: RunResult) -> Sentence:
    """A group's label use as one sentence: size first, then its test."""
    name = strong(spoken(row.group))
    size = f" raters (n = {row.n_raters}) "
    if foremost(use) is None:
        return Sentence.of(name, size, f"have no label use: {use.reason or 'no reason given'}.")
    return Sentence.of(name, size, *manner(use), f"; {p_and_q(use, result)}.")


def p_and_q(use: LabelUse, result: RunResult) -> str:
    """The test of all labels together, for the end of a sentence."""
    if use.p is None and use.reason is not None:
        return f"no mark: {use.reason}"
    how = " by leaving raters out" if use.test == "jackknife" else ""
    return f"{names.p_and_q_words(use, permutations=result.permutations)}{how}"


def mean_words(use: LabelUse, result: RunResult) -> str:
    """Say in a sentence how the mean moves on a scale, with its unit; empty if labels have no mean."""
    mean = scale_outcome(use, result)
    if mean is None or not mean.value:
        return ""
    unit = "steps" if result.spec.analysis.level == "ordinal" else "points"
    where, ends = higher_or_lower(mean.value), mean_ends(mean)
    size = f"{of_scale(mean.value)} {unit} of the scale {where}"
    return f"Their labels lie {size} on average than the others’ on the same items{ends}."


def mean_ends(mean: Outcome) -> str:
    """The interval of a shifted mean in brackets, to follow its size without a sign; empty if it has none."""
    if mean.interval is None:
        return ""
    return _ends(mean.interval.low, mean.interval.high, -1 if (mean.value or 0.0) < 0 else 1, 2)


def _steps(use: LabelUse) -> float | None:
    """The shift in steps from each label to the next, in their order; None if a label has no value."""
    values = [shift.value for shift in use.labels.values()]
    known = [value for value in values if value is not None]
    return sum(place * value for place, value in enumerate(known)) if len(known) == len(values) else None


def higher_or_lower(value: float) -> str:
    """Say in which direction a mean moves."""
    return "higher" if value > 0 else "lower"


def mean_outcome(use: LabelUse | None) -> Outcome | None:
    """The shift of the mean, which is tested with the labels; None if labels have no mean."""
    if use is None or use.mean is None:
        return None
    mean = use.mean
    if mean.value is None:
        return Outcome(None, reason=use.reason)
    return Outcome(mean.value, interval=interval_of(use, mean), no_interval=use.no_interval)


def interval_of(use: LabelUse, shift: Shift | None, times: float = 1) -> Interval | None:
    """The interval of the shift of a label or of the mean, multiplied by `times`; None if it has none."""
    if shift is None or shift.low is None or shift.high is None:
        return None
    return Interval(times * shift.low, times * shift.high, use.target or "both")


def scale_outcome(use: LabelUse | None, result: RunResult) -> Outcome | None:
    """Return the shift of the mean in the scale's own unit; None if labels are names, or it is unclear.

    For ordered labels the unit is the step from one label to the next, so all steps count alike. The analysis
    computes the shift of middle ranks and its interval. The interval's ends are converted in proportion, so
    an end at 0 stays at 0. If nothing was found, and steps and ranks have different signs, the ends keep
    their distance from the value instead, converted by the number of steps per rank.
    """
    mean = mean_outcome(use)
    if use is None or mean is None or mean.value is None or result.spec.analysis.level != "ordinal":
        return mean
    steps = _steps(use) if len(result.spec.data.questions) == 1 else None
    interval, one_side = mean.interval, steps is not None and steps * mean.value > 0
    if steps is None or not (one_side or use.significance == "none"):
        return None
    per_rank = steps / mean.value if one_side else _steps_per_rank(result.data.label_counts)
    if interval is not None:
        low, high = (steps + per_rank * (end - mean.value) for end in (interval.low, interval.high))
        interval = Interval(low, high, interval.target)
    return replace(mean, value=steps, interval=interval)


def _steps_per_rank(counts: Sequence[int]) -> float:
    """Number of steps by which labels differ if their middle ranks differ by 1, by least squares."""
    given = np.array(counts, dtype=float)
    shares, steps = given / given.sum(), np.arange(given.size)
    ranks = np.cumsum(shares) - shares / 2
    off, apart = steps - shares @ steps, ranks - shares @ ranks
    varied = float(shares @ apart**2)
    return float(shares @ (off * apart)) / varied if varied else 0.0


def shift_outcome(use: LabelUse | None, label: str) -> Outcome:
    """One label's shift in points and its mark, for figures.

    All labels are tested together, so no label has a mark if the group has none. The label furthest from
    chance and the label named in sentences have the group's mark. Other labels have a nominal mark if their
    own p is below 0.05.
    """
    if use is None or label not in use.labels:
        return Outcome(None)
    shift = use.labels[label]
    if shift.value is None:
        return Outcome(None, reason=use.reason)
    mark: Significance = "none"
    told = {use.most, *(label_for_sentence(use) or ())[:1]}
    if label in told or len(use.labels) == 2:  # one gains what the other loses
        mark = use.significance
    elif use.significance != "none" and shift.p is not None and shift.p < LEVEL:
        mark = "nominal"
    interval = interval_of(use, shift, 100)
    return Outcome(100 * shift.value, significance=mark, interval=interval, no_interval=use.no_interval)


def tested_as(value: Outcome, use: LabelUse) -> Outcome:
    """A value with the test of all labels together."""
    tested = {name: getattr(use, name) for name in ("p", "q", "significance", "p_interval", "q_interval")}
    return replace(value, fit=use.fit, no_fit=use.no_fit, reason=use.reason, **tested)


def _size(shift: Shift) -> float:
    return abs(shift.value or 0.0)


def _ends(low: float, high: float, sign: int, digits: int) -> str:
    first, last = sorted((sign * low, sign * high))
    ends = (f"{round(end, digits) + 0.0:.{digits}f}".replace("-", names.MINUS) for end in (first, last))
    return f" [{', '.join(ends)}]"
