"""Names of statistics, groups and models; values, p and q as text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from grasp_core.model.outcome import Interval, LabelUse, Outcome, Significance, Verdict, VerdictCode
from grasp_core.model.remarks.reasons import NoValue
from grasp_core.model.result import GroupResult, Result, RunResult
from grasp_core.model.spec import LEVEL

MINUS = "−"
NOT_ESTIMABLE = "not estimable"


@dataclass(frozen=True, slots=True)
class StatisticWords:
    """How people read about one statistic.

    `more` and `less` complete "These raters ... than random groups of their size would".
    """

    name: str
    explanation: str
    formula: str
    axis: str
    more: str
    less: str


WORDS: Mapping[str, StatisticWords] = {
    "irr": StatisticWords(
        name="IRR",
        explanation="How well the group's raters agree with each other, corrected for chance "
        "(Krippendorff's alpha): 1 is full agreement, 0 is what random labels would give.",
        formula="IRR = 1 − D_o / D_e over items with two or more ratings from the group; "
        "D_o: mean disagreement within an item, D_e: the same over all items",
        axis="IRR (agreement inside the group, alpha)",
        more="agree with each other more",
        less="agree with each other less",
    ),
    "xrr": StatisticWords(
        name="XRR",
        explanation="How well the group's raters agree with the raters outside the group, corrected for "
        "chance: 1 is full agreement, 0 is what random labels would give.",
        formula="XRR = 1 − D_o / D_e over items that both sides rated; "
        "D_o: mean disagreement of a member with an outsider on one item, D_e: the same over all items",
        axis="XRR (agreement with raters outside the group)",
        more="agree with other raters more",
        less="agree with other raters less",
    ),
    "negentropy": StatisticWords(
        name="Negentropy",
        explanation="How strongly the group's labels for an item concentrate on few categories; larger "
        "means more agreement, 0 means that all categories are equally common.",
        formula="mean over items of ln K − H(p), with p the group's shares of the K categories and "
        "H(p) = −Σ p ln p",
        axis="Negentropy (nats)",
        more="concentrate their labels more",
        less="concentrate their labels less",
    ),
    "cross_negentropy": StatisticWords(
        name="Cross-negentropy",
        explanation="How well the labels of the raters outside the group predict the group's labels; larger "
        "means more agreement across the group's border.",
        formula="mean over items that both sides rated of ln K − H(p, q), with p the group's and q the "
        "others' shares of the K categories and H(p, q) = −Σ p ln q",
        axis="Cross-negentropy (nats)",
        more="give labels that the others' labels predict better",
        less="give labels that the others' labels predict less well",
    ),
    "plurality_size": StatisticWords(
        name="Plurality size",
        explanation="The average share of the group's raters who gave an item the group's most common label.",
        formula="mean over items of max_k c_k / n, with c_k the group's ratings of category k "
        "and n all of them",
        axis="Plurality size (share of the group's ratings)",
        more="side with their own most common label more",
        less="side with their own most common label less",
    ),
    "voting_agreement": StatisticWords(
        name="Voting agreement",
        explanation="How well the group's most common label per item agrees with the most common label of "
        "the raters outside the group, corrected for chance (the paper's tables: plurality agreement).",
        formula="Krippendorff's alpha between the two sides' most common labels, taken as two raters, over "
        "items that both rated",
        axis="Voting agreement (alpha)",
        more="vote like the other raters more",
        less="vote like the other raters less",
    ),
    "gai": StatisticWords(
        name="GAI",
        explanation="Group association index: how well the group agrees with itself, relative to how well it "
        "agrees with others; 1 means no difference.",
        formula="GAI = in-group cohesion / cross-group cohesion; by default IRR / XRR",
        axis="GAI (agreement inside the group ÷ agreement with others)",
        more="agree with each other more, relative to how they agree with others,",
        less="agree with each other less, relative to how they agree with others,",
    ),
    "gap": StatisticWords(
        name="Gap",
        explanation="How much better the group agrees with itself than with the others: what GAI says as a "
        "ratio, as a difference; 0 means no difference.",
        formula="Gap = IRR − XRR",
        axis="Gap (IRR − XRR)",
        more="agree with each other more, compared with how they agree with others,",
        less="agree with each other less, compared with how they agree with others,",
    ),
    "distance": StatisticWords(
        name="Distance",
        explanation="How far the group’s labels of an item lie from the others’ of the same item, beyond how "
        "far either side’s lie from each other: 0 means that nothing sets the two apart; by chance it may be "
        "a little below.",
        formula="E = Σ w (2 D_across − D_inside − D_outside) / Σ w over items with two or more ratings from "
        "either side; D: mean disagreement of two raters on the item, w = n m / (n + m) with n ratings from "
        "the group and m from the others",
        axis="Distance (disagreement beyond that of either side)",
        more="differ from the others on the same items more",
        less="differ from the others on the same items less",
    ),
    "ac1": StatisticWords(
        name="AC1",
        explanation="How well the group's raters agree with each other, corrected for chance by Gwet's AC1, "
        "which a very frequent label does not lower: 1 is full agreement, 0 is what chance would give.",
        formula="AC1 = (p_o − p_e) / (1 − p_e), with p_o the share of pairs of the group's ratings of an "
        "item that agree, p_e = Σ_k π_k (1 − π_k) / (K − 1) and π_k the mean share of category k",
        axis="AC1 (agreement inside the group)",
        more="agree with each other more",
        less="agree with each other less",
    ),
}
"""One entry per statistic of :data:`grasp_core.model.statistic.TABLE`."""

LABEL_USE_NAME = "Label use"
LABEL_USE_EXPLANATION = (
    "How much more or less often the group gives each label than the others give it to the same items, in "
    "percentage points; over all labels of a question these add up to 0."
)
LABEL_USE_FORMULA = (
    "D_k = Σ w (c_k / n − d_k / m) / Σ w over items that both sides rated, with c_k of the group’s n and d_k "
    "of the others’ m ratings giving label k, and w = n m / (n + m); tested by the label that lies furthest "
    "from its chance values, in their standard deviations"
)
MEAN_SHIFT_NAME = "Shift of the mean"
MEAN_SHIFT_EXPLANATION = (
    "How much higher on the scale the group’s labels lie than the others’ of the same items: of numbers in "
    "points of the scale, of ordered labels in ranks from 0 (all lowest) to 1."
)

DSI_NAME = "DSI"
DSI_EXPLANATION = (
    "Diversity sensitivity index: the largest GAI among the groups of an axis; it shows along which axis "
    "the choice of raters matters most."
)
DSI_FORMULA = "DSI(axis) = max over the axis's groups of GAI"

STARS: Mapping[Significance, str] = {"none": "", "nominal": "*", "corrected": "**"}
FITTED = "†"
FITTED_MEANING = "p fitted to the tail of the random groupings, since fewer than 10 go as far"
SIGNIFICANCE_NAMES: Mapping[Significance, str] = {
    "corrected": "after correction",
    "nominal": "may be luck",
    "none": "not significant",
}
OF_SHARES = "‡"
OF_SHARES_MEANING = "distance of the shares of labels over all items, which takes no part in verdicts"
VERDICT_NAMES: Mapping[VerdictCode, str] = {
    "clear": "clear",
    "hint": "may be luck",
    "explained": "explained by another group",
    "none": "no difference found",
    "untestable": "cannot be tested",
}
CORRECTION_NAMES: Mapping[str, str] = {
    "benjamini-hochberg": "Benjamini–Hochberg",
    "benjamini-yekutieli": "Benjamini–Yekutieli",
    "max-t": "Westfall–Young max-T",
}


def arrow(outcome: Outcome) -> str:
    """Arrow up or down for the direction from the null's median; empty where it has none."""
    return {"up": "↑", "down": "↓", None: ""}[outcome.direction]


def format_value(value: float | None) -> str:
    """Three decimals with a true minus sign; "not estimable" for None."""
    if value is None:
        return NOT_ESTIMABLE
    text = f"{value:.3f}"
    if text == "-0.000":
        return "0.000"
    return text.replace("-", MINUS)


def format_interval(outcome: Outcome) -> str:
    """An outcome's interval in brackets, such as ``[0.112, 0.304]``; empty where it has none."""
    return interval_text(outcome.interval)


def interval_text(interval: Interval | None) -> str:
    """As :func:`format_interval`, of an interval or None."""
    if interval is None:
        return ""
    ends = (f"{end:.3f}" for end in (interval.low, interval.high))
    return f"[{', '.join(ends)}]".replace("-", MINUS)


def verdict(outcome: Outcome) -> str:
    """What the test of a value says: its mark, or why there is none."""
    if outcome.value is None:
        return f"{NOT_ESTIMABLE}: {outcome.reason or 'no reason given'}"
    if outcome.p is None and outcome.reason is not None:
        return f"no mark: {outcome.reason}"
    return SIGNIFICANCE_NAMES[outcome.significance]


def format_p_value(p: float | None, *, permutations: int | None = None) -> str:
    """A p or q for a table cell: three decimals, "< 0.001" below that, never 0.

    `p`: none reads "not estimable".
    `permutations`: with fewer than 1,000 permutations a p of 0 (convention `paper`) only shows that it is
        below ``1 / permutations``; give their number so that no more is claimed.
    """
    if p is None:
        return NOT_ESTIMABLE
    floor = 0.001 if permutations is None else max(0.001, 1 / max(permutations, 1))
    if p == 0 and floor > 0.001:
        return f"< {floor:.3f}"
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def format_p(p: float | None, *, name: str = "p", permutations: int | None = None) -> str:
    """A p or q for a sentence: ``p = 0.014``, ``p < 0.001`` or ``p not estimable``."""
    text = format_p_value(p, permutations=permutations)
    return f"{name} {text}" if p is None or text.startswith("<") else f"{name} = {text}"


def p_text(test: Outcome | LabelUse, *, permutations: int | None = None) -> str:
    """A test's p for a table cell; of a curve through the tail with one digit, as ``≈ 0.00002``."""
    if test.fit is None or test.p is None:
        return format_p_value(test.p, permutations=permutations)
    decimals = max(3, -math.floor(math.log10(test.p)))
    return f"{'≤' if test.fit.limit else '≈'} {test.p:.{decimals}f}"


def p_words(test: Outcome | LabelUse, *, permutations: int | None = None) -> str:
    """The same for a sentence, such as ``p ≈ 0.00002 (fitted)``."""
    if test.fit is None:
        return format_p(test.p, permutations=permutations)
    return f"p {p_text(test)} (fitted)"


def p_and_q_words(test: Outcome | LabelUse, *, permutations: int | None = None) -> str:
    """Both for a sentence, such as ``p = 0.014, q = 0.08``."""
    q = format_p(test.q, name="q", permutations=permutations)
    return f"{p_words(test, permutations=permutations)}, {q}"


def together_words(verdict: Verdict) -> str:
    """What all tests together gave, for a sentence."""
    return f"all tests together {format_p(verdict.p)}, {format_p(verdict.q, name='q')}"


def signs(test: Outcome | LabelUse) -> str:
    """The stars of a test, and the signs of a fitted p and of a distance of shares."""
    shares = isinstance(test, Outcome) and test.of_shares
    return STARS[test.significance] + (FITTED if test.fit is not None else "") + (OF_SHARES if shares else "")


def reported_statistics(result: RunResult) -> tuple[str, ...]:
    """The statistics that the run's spec reports, in Table 5's order."""
    return result.spec.analysis.statistics


def lead_statistic(result: RunResult) -> str:
    """The statistic that headlines and row orders follow: GAI where reported, else the first one."""
    reported = reported_statistics(result)
    return "gai" if "gai" in reported else reported[0]


def outcome_of(row: GroupResult, statistic: str) -> Outcome:
    """The group's outcome; a statistic that the run did not compute is not estimable, with that reason."""
    absent = Outcome(None, reason=NoValue.NOT_IN_THIS_RUN(statistic=WORDS[statistic].name))
    return row.statistics.get(statistic, absent)


def statistic_formula(statistic: str, result: RunResult) -> str:
    """The statistic's formula; for GAI with the pair that this run used."""
    if statistic != "gai":
        return WORDS[statistic].formula
    inside, across = result.spec.analysis.gai
    return f"GAI = {WORDS[inside].name} / {WORDS[across].name}"


NOT_YET = "…"
MAY_CHANGE = "?"


def may_change(outcome: Outcome | LabelUse) -> bool:
    """Whether further permutations may change a mark: the interval of p, or of q, holds the level."""
    intervals = (outcome.p_interval, outcome.q_interval)
    return any(one is not None and one[0] < LEVEL <= one[1] for one in intervals)


def p_so_far(outcome: Outcome | LabelUse) -> str:
    """The p-value so far with its interval, such as ``about 0.031 (0.022–0.046)``."""
    return _about(outcome.p, outcome.p_interval)


def q_so_far(outcome: Outcome | LabelUse) -> str:
    """The same of q."""
    return _about(outcome.q, outcome.q_interval)


def _about(value: float | None, interval: tuple[float, float] | None) -> str:
    if value is None or interval is None:
        return NOT_YET
    return f"about {value:.3f} ({interval[0]:.3f}–{interval[1]:.3f})"


def not_yet(outcome: Outcome | LabelUse, result: Result) -> bool:
    """Whether a test has no p-value because its run has only begun."""
    return result.provisional and outcome.p is None and outcome.reason is None


def in_figure(outcome: Outcome | LabelUse, result: Result) -> tuple[str, str]:
    """P and q where there is little room: ``≈ 0.031`` while permutations go on, dots before."""
    if not_yet(outcome, result):
        return NOT_YET, NOT_YET
    p, q = (
        ("≈ " if result.provisional and value is not None else "")
        + format_p_value(value, permutations=result.permutations)
        for value in (outcome.p, outcome.q)
    )
    return p if outcome.fit is None else p_text(outcome), q


def what_is_provisional(result: Result) -> str:
    """What of a provisional result stays, what may change, and how to read its signs."""
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
"""The statistic of the table and the chart; of those that show a side it is named first."""


@dataclass(frozen=True, slots=True)
class SideWords:
    """How people read about one statistic; `short` is its name within a sentence."""

    name: str
    short: str
    explanation: str


SIDE_WORDS = {
    "macro_f1": SideWords(
        "Macro-F1",
        "macro-F1",
        "The model against the group's most common label per item: F1 of each label that either gives, "
        "averaged. 1 is a perfect copy.",
    ),
    "share": SideWords(
        "Same label", "same label", "Share of items on which the model gives the group's most common label."
    ),
    "xrr": SideWords(
        "XRR",
        "XRR",
        "How well the model, as one rater, agrees with the group's members, corrected for chance: 1 is full "
        "agreement, 0 is what random labels would give.",
    ),
    "cross_entropy": SideWords(
        "Cross-entropy",
        "cross-entropy",
        "How badly the model's label, smoothed, predicts the members' labels (nats). Smaller is closer.",
    ),
    "js_divergence": SideWords(
        "Jensen–Shannon",
        "Jensen–Shannon",
        "Divergence between the members' shares of labels and the model's one label (nats): 0 to 0.693. "
        "Smaller is closer.",
    ),
}
"""One entry per statistic of ``SIDES``, the lead first: the order in which people see them."""


LABEL_USE, LABELS, MEAN, DSI = "label_use", "labels", "mean_shift", "dsi"
"""What is told beside statistics: a group's test of all labels, each further label, the mean; axes' DSI."""
_BESIDE = {LABEL_USE: LABEL_USE_NAME, LABELS: "Further labels", MEAN: MEAN_SHIFT_NAME, DSI: DSI_NAME}


def statistic_name(statistic: str) -> str:
    """The name of a statistic of groups, or of models and groups."""
    if statistic in _BESIDE:
        return _BESIDE[statistic]
    return SIDE_WORDS[statistic].name if statistic in SIDE_WORDS else WORDS[statistic].name


REPRODUCED = (
    "A group's view counts as reproduced where a model's macro-F1 against the group's plurality reaches what "
    "the group's own members reach: all their labels, each compared with the plurality of the group's others "
    "(leave-one-out)."
)
SIDES_WITH = (
    "A model sides with a group where it is closer to it than to random groups of the same size, made by "
    "shuffling the raters' profiles, and against it where it is further; on the statistics named, each "
    "corrected for testing all groups."
)
