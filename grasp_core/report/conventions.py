"""Every convention of a run in words: as a choice on Analysis and as a statement on Results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from grasp_core.model.groups import axis_label, one_line
from grasp_core.model.result import Stopping
from grasp_core.model.spec import WORKLOAD, AnalysisSpec, RunSpec
from grasp_core.report.account import ending, guarantee
from grasp_core.report.words.names import CORRECTION_NAMES, WORDS


@dataclass(frozen=True, slots=True)
class Choice:
    """One value of a convention: a short label and what it means."""

    label: str
    meaning: str


PAPER_P = (
    "The paper's p-value picks its side from the data, so at 0.05 about 10 % of groups would be marked "
    "where nothing is there. It is what the paper's stars show; use it to replicate them."
)
P_VALUE: Mapping[str, Choice] = {
    "two-sided": Choice(
        "Two-sided, never 0", "Counts both tails; at 0.05 at most 5 % of groups are marked by chance."
    ),
    "paper": Choice("As in the paper", PAPER_P),
}
CROSS_NEGENTROPY: Mapping[str, Choice] = {
    "smooth": Choice("Smoothed", "Labels that the others never gave an item count as half an annotation."),
    "paper": Choice(
        "As in the paper",
        "An item to which others did not give every label counts as full agreement; for replication only.",
    ),
}
VOTING_AGREEMENT: Mapping[str, Choice] = {
    "alpha": Choice("Krippendorff's alpha", "Chance is taken from the votes of both sides together."),
    "kappa": Choice(
        "Cohen's kappa", "Chance is taken from each side's own votes; so are the paper's figures."
    ),
}
TIES: Mapping[str, Choice] = {
    "first": Choice("First label in the declared order", "The same on every run, whatever the seed."),
    "random": Choice("Drawn at random", "From the run's seed, so a re-run gives the same draw."),
}
LEVEL: Mapping[str, Choice] = {
    "nominal": Choice("Nominal: names", "Two different labels disagree fully, whichever they are."),
    "ordinal": Choice(
        "Ordinal: ranks",
        "Labels disagree more, the more of the labels given lie between them in the declared order.",
    ),
    "interval": Choice(
        "Interval: numbers", "Labels are numbers; they disagree by the square of their difference."
    ),
    "ratio": Choice(
        "Ratio: numbers from 0",
        "Labels are numbers; they disagree by the square of their difference divided by their sum.",
    ),
}
LEVEL_COUNTS_FOR = "It counts for IRR, XRR and their GAI; to other statistics labels are equal or not."
SEVERAL = (
    "IRR and XRR take all of them together, two raters differing by the share of questions that they answer "
    "differently; other statistics are averaged over the questions."
)
PAIRS = (
    "The groups of each axis are compared with each other two by two; profiles are shuffled among the two "
    "alone, and the pairs of an axis are corrected together."
)
TAIL = Choice(
    "Fit small p-values",
    "Where fewer than 10 random groupings go as far, p is that of a curve through the tail of all, and is "
    "marked: an estimate of what many more permutations would give.",
)
CORRECTION: Mapping[str, Choice] = {
    "benjamini-hochberg": Choice(
        CORRECTION_NAMES["benjamini-hochberg"],
        "Of the groups marked after correction, at most 5 % are expected to be false.",
    ),
    "benjamini-yekutieli": Choice(
        CORRECTION_NAMES["benjamini-yekutieli"],
        "As Benjamini–Hochberg, but whatever the dependence between groups; stricter.",
    ),
    "max-t": Choice(
        CORRECTION_NAMES["max-t"],
        "The chance that even one group is marked falsely is at most 5 %; uses the shared permutations.",
    ),
}
FAMILY: Mapping[str, Choice] = {
    "statistic": Choice("All groups, per statistic", "The groups of one statistic are corrected together."),
    "statistic-axis": Choice("Per statistic and axis", "Each axis of each statistic is corrected by itself."),
    "all": Choice("Everything together", "All groups and statistics are corrected together; strictest."),
}


INTERVAL: Mapping[str, Choice] = {
    "both": Choice(
        "Other raters and other items",
        "In brackets. Of intervals made so, 95 of 100 hold what such raters and such items give on average.",
    ),
    "raters": Choice(
        "Other raters",
        "In brackets. Of intervals made so, 95 of 100 hold what such raters give on average on these items.",
    ),
    "items": Choice(
        "Other items",
        "In brackets. Of intervals made so, 95 of 100 hold what these raters give on average on such items.",
    ),
}


def stratum_label(name: str) -> str:
    """An axis within whose values profiles are shuffled, or the bins of workload, as shown to people."""
    return "bin of workload" if name == WORKLOAD else axis_label((name,))


def profiles_move(analysis: AnalysisSpec) -> str:
    """Among whom profiles are shuffled, and by which clusters."""
    labels = [stratum_label(name) for name in analysis.strata]
    if not labels:
        among = "over all raters"
    elif len(labels) > 1:
        among = f"within each combination of {', '.join(labels[:-1])} and {labels[-1]}"
    else:
        among = f"within each {labels[0] if WORKLOAD in analysis.strata else f'value of {labels[0]}'}"
    if analysis.cluster is None:
        return among
    return f"{among}, all raters of one {axis_label((analysis.cluster,))} together"


def stated(spec: RunSpec, stopping: Stopping | None = None) -> list[tuple[str, str]]:
    """A run's conventions as (name, sentence), all of them; for an adaptive one also how it ended."""
    analysis = spec.analysis
    inside, across = analysis.gai
    p_value, correction = P_VALUE[analysis.p_value], CORRECTION[analysis.correction]
    family = FAMILY[analysis.family]
    several = [one_line(name) for name in spec.data.labels] if spec.data.further else []
    number = f"At most {analysis.permutations:,}" if analysis.adaptive else f"{analysis.permutations:,}"
    ended = [] if stopping is None else [("Stopping", ending(analysis, stopping))]
    kept = [] if stopping is None else [("Guarantee", guarantee(analysis, stopping))]
    return [
        *([("Questions", f"{', '.join(several)}. {SEVERAL}")] if several else []),
        (
            "Random groupings",
            f"{number} shuffles of whole rater profiles {profiles_move(analysis)}; seed {analysis.seed}.",
        ),
        *ended,
        *kept,
        ("p-value", f"{p_value.label}. {p_value.meaning}"),
        *([("Small p", TAIL.meaning)] if analysis.tail else []),
        ("Correction", f"{correction.label}. {correction.meaning}"),
        ("Corrected together", f"{family.label}. {family.meaning}"),
        (
            "Level of measurement",
            f"{LEVEL[analysis.level].label}. {LEVEL[analysis.level].meaning} {LEVEL_COUNTS_FOR}",
        ),
        ("GAI", f"{WORDS[inside].name} divided by {WORDS[across].name}."),
        ("Intervals", f"{INTERVAL[analysis.interval].label}. {INTERVAL[analysis.interval].meaning}"),
        *([("Pairs of groups", PAIRS)] if analysis.pairs else []),
        ("Smallest group", f"Groups with fewer than {analysis.min_raters} raters are not shown."),
        (
            "Cross-negentropy",
            f"{CROSS_NEGENTROPY[analysis.cross_negentropy].label}. "
            f"{CROSS_NEGENTROPY[analysis.cross_negentropy].meaning}",
        ),
        (
            "Voting agreement",
            f"{VOTING_AGREEMENT[analysis.voting_agreement].label}. "
            f"{VOTING_AGREEMENT[analysis.voting_agreement].meaning}",
        ),
        ("Tied votes", f"{TIES[analysis.ties].label}. {TIES[analysis.ties].meaning}"),
    ]
