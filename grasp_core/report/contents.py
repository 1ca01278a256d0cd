"""The text of a report beside its tables and figures: title, marks, methods, conventions of a run."""

from collections.abc import Mapping
from dataclasses import dataclass

from grasp_core.model.groups import axis_label, one_line
from grasp_core.model.result import DataSummary, GivenResult, Result, RunResult, SliceResult, Stopping
from grasp_core.model.spec import LEVEL, WORKLOAD, AnalysisSpec, RunSpec
from grasp_core.model.text import first_few, printable, printable_name
from grasp_core.report.account import ending, guarantee
from grasp_core.report.tables import lacking
from grasp_core.report.words import names


@dataclass(frozen=True, slots=True)
class Choice:
    """One value of a convention: a short label and its meaning."""

    label: str
    meaning: str


CHOICES: Mapping[str, Mapping[str, Choice]] = {
    field: {value: Choice(**one) for value, one in values.items()}
    for field, values in names.TEXTS["conventions"].items()
}
"""Possible values of each convention of a run."""
CONVENTION_NAMES: Mapping[str, str] = {
    "p_value": "p-value",
    "correction": "Correction",
    "family": "Corrected together",
    "level": "Level of measurement",
    "interval": "Intervals",
    "cross_negentropy": "Cross-negentropy",
    "voting_agreement": "Voting agreement",
    "ties": "Tied votes",
}
"""Names of the conventions."""
PAPER_P = CHOICES["p_value"]["paper"].meaning
LEVEL_COUNTS_FOR = (
    "It counts for IRR, XRR, their GAI and gap, the distance and the shift of the mean; to other statistics "
    "labels are equal or not."
)
SEVERAL: str = names.TEXTS["explained"]["several"]
PAIRS: str = names.TEXTS["explained"]["pairs_of_run"]
TAIL = Choice(
    "Fit small p-values",
    "Where fewer than 10 random groupings go as far, p is that of a curve through the tail of all, and is "
    "marked: an estimate of what many more permutations would give.",
)


def chosen(analysis: AnalysisSpec, field: str) -> Choice:
    """The value of a convention that a run has."""
    return CHOICES[field][getattr(analysis, field)]


def profiles_move(analysis: AnalysisSpec) -> str:
    """Say among which raters profiles are shuffled, and in which clusters."""
    labels = ["bin of workload" if name == WORKLOAD else axis_label((name,)) for name in analysis.strata]
    if not labels:
        among = "over all raters"
    elif len(labels) > 1:
        among = f"within each combination of {', '.join(labels[:-1])} and {labels[-1]}"
    else:
        among = f"within each {labels[0] if WORKLOAD in analysis.strata else f'value of {labels[0]}'}"
    if analysis.cluster is None:
        return among
    return f"{among}, all raters of one {axis_label((analysis.cluster,))} together"


def conventions(spec: RunSpec, stopping: Stopping | None = None) -> dict[str, str]:
    """All conventions of a run, each name with its printable sentence; how an adaptive run ended, too."""
    analysis = spec.analysis
    inside, across = (names.WORDS[name].name for name in analysis.gai)
    several = [one_line(name) for name in spec.data.labels] if spec.data.further else []
    many = f"At most {analysis.permutations:,}" if analysis.adaptive else f"{analysis.permutations:,}"

    def of(field: str, more: str = "") -> tuple[str, str]:
        choice = chosen(analysis, field)
        return CONVENTION_NAMES[field], f"{choice.label}. {choice.meaning}{more}"

    moved = f"{many} shuffles of whole rater profiles {profiles_move(analysis)}; seed {analysis.seed}."
    stated = [
        *([("Questions", f"{', '.join(several)}. {SEVERAL}")] if several else []),
        ("Random groupings", moved),
        *([] if stopping is None else [("Stopping", ending(analysis, stopping))]),
        *([] if stopping is None else [("Guarantee", guarantee(analysis, stopping))]),
        of("p_value"),
        *([("Small p", TAIL.meaning)] if analysis.tail else []),
        of("correction"),
        of("family"),
        of("level", f" {LEVEL_COUNTS_FOR}"),
        ("GAI", f"{inside} divided by {across}."),
        of("interval"),
        *([("Pairs of groups", PAIRS)] if analysis.pairs else []),
        ("Smallest group", f"Groups with fewer than {analysis.min_raters} raters are not shown."),
        *map(of, ("cross_negentropy", "voting_agreement", "ties")),
    ]
    return {name: printable(sentence) for name, sentence in stated}


_NAMED, _MODELS = 4, 5
"""Number of questions or axes, and of models, that a title names."""


@dataclass(frozen=True, slots=True)
class Method:
    """A statistic in plain words, and its formula."""

    name: str
    explanation: str
    formula: str


def run_title(spec: RunSpec) -> str:
    """Title such as "Q_overall by gender, race, race × gender", or for models "gold: Q_overall by gender"."""
    labels = spec.data.labels or (spec.data.label or "Labels",)
    questions = first_few([printable_name(one_line(name)) for name in labels], _NAMED)
    axes = first_few([printable_name(axis_label(titles)) for titles in spec.analysis.axes], _NAMED)
    models = first_few([printable_name(one_line(model.name)) for model in spec.models], _MODELS)
    return (f"{models}: " if models else "") + questions + (f" by {axes}" if axes else "")


def marks(result: Result) -> tuple[tuple[str, str], ...]:
    """The signs beside a value, with their meanings."""
    correction = chosen(result.spec.analysis, "correction").label
    forms = _forms(result)
    return (
        ("↑ ↓", "above or below the middle of the random groupings"),
        ("*", f"may be luck, p < {LEVEL:g}"),
        ("**", f"after correction, q < {LEVEL:g} ({correction})"),
        *([(names.FITTED, names.FITTED_MEANING)] if result.spec.analysis.tail else []),
        *([(names.OF_SHARES, names.OF_SHARES_MEANING)] if names.OF_SHARES in forms else []),
        *([(names.GAP_INSTEAD, names.GAP_INSTEAD_MEANING)] if f" {names.GAP_INSTEAD}" in forms else []),
    )


def _forms(result: Result) -> set[str]:
    """Signs that a result's tables use for a distance of shares, or for a gap in place of GAI."""
    if not isinstance(result, RunResult):
        return set()
    beside: list[SliceResult | GivenResult] = list(result.given)
    beside += [one for found in result.slices for one in found.values]
    groups = [*result.groups, *(row for one in beside for row in one.groups)]
    told = [names.shown_outcome(row, name) for row in groups for name in row.statistics]
    return {
        names.form(one) for one in (*told, *(one for row in result.pairs for one in row.statistics.values()))
    }


def marks_legend(result: Result) -> str:
    """The marks of :func:`marks` in one line, to stand below a table."""
    return "; ".join(f"{sign}: {words}" for sign, words in marks(result)) + "."


def brackets(analysis: AnalysisSpec) -> str:
    """Explain the brackets behind a value in one line."""
    target = chosen(analysis, "interval").label
    return f"In brackets: the 95 % interval for {target[0].lower()}{target[1:]}."


def methods(result: RunResult) -> tuple[Method, ...]:
    """Every statistic of the run, and DSI if there is one."""
    found = [
        Method(names.WORDS[name].name, names.WORDS[name].explanation, names.statistic_formula(name, result))
        for name in names.reported_statistics(result)
    ]
    if result.dsi:
        found.append(Method(names.DSI_NAME, names.DSI_EXPLANATION, names.DSI_FORMULA))
    return tuple(found)


def not_estimable(result: RunResult) -> tuple[str, ...]:
    """One sentence per statistic and reason why it has no value or no mark, with the groups it concerns."""
    return tuple(
        f"{names.WORDS[statistic].name} {lacks} for {'; '.join(found)}: {reason}."
        for statistic in names.reported_statistics(result)
        for (lacks, reason), found in lacking(result, statistic).items()
    )


def counts_of(data: DataSummary) -> dict[str, str]:
    """Count items, raters, annotations and raters per item, as texts."""
    return {
        "Items": f"{data.items:,}",
        "Raters": f"{data.raters:,}",
        "Annotations": f"{data.annotations:,}",
        "Raters per item": ranged(*data.raters_per_item),
    }


def ranged(low: int, median: float, high: int) -> str:
    """Write a range with its median; only the median if both ends are equal."""
    return f"{median:,g}" if low == high else f"{low:,} to {high:,}, median {median:,g}"
