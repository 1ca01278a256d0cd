"""The text of a report beside its tables and figures: title, marks, methods, conventions, data."""

from __future__ import annotations

from dataclasses import dataclass

from grasp_core.model.groups import axis_label, group_labels, one_line
from grasp_core.model.result import Result, RunResult, Stopping
from grasp_core.model.spec import LEVEL, AnalysisSpec, RunSpec
from grasp_core.model.text import first_few, printable, printable_name
from grasp_core.report.conventions import INTERVAL, stated
from grasp_core.report.words.names import (
    CORRECTION_NAMES,
    DSI_EXPLANATION,
    DSI_FORMULA,
    DSI_NAME,
    FITTED,
    FITTED_MEANING,
    OF_SHARES,
    OF_SHARES_MEANING,
    WORDS,
    outcome_of,
    reported_statistics,
    statistic_formula,
)

_NAMED, _MODELS = 4, 5
"""Questions or axes, and models, that a title names."""


@dataclass(frozen=True, slots=True)
class Method:
    """A statistic in plain words, and its formula."""

    name: str
    explanation: str
    formula: str


def run_title(spec: RunSpec) -> str:
    """For example "Q_overall by gender, race, race × gender"; of models "gold: Q_overall by gender"."""
    labels = spec.data.labels or (spec.data.label or "Labels",)
    questions = [printable_name(one_line(name)) for name in labels]
    axes = [printable_name(axis_label(names)) for names in spec.analysis.axes]
    models = [printable_name(one_line(model.name)) for model in spec.models]
    return (
        f"{first_few(models, _MODELS)}: " if models else ""
    ) + f"{first_few(questions, _NAMED)}{f' by {first_few(axes, _NAMED)}' if axes else ''}"


def marks(analysis: AnalysisSpec) -> tuple[tuple[str, str], ...]:
    """The signs beside a value and what they say."""
    correction = CORRECTION_NAMES[analysis.correction]
    return (
        ("↑ ↓", "above or below the middle of the random groupings"),
        ("*", f"may be luck, p < {LEVEL:g}"),
        ("**", f"after correction, q < {LEVEL:g} ({correction})"),
        *([(FITTED, FITTED_MEANING)] if analysis.tail else []),
        *([(OF_SHARES, OF_SHARES_MEANING)] if "distance" in analysis.statistics else []),
    )


def marks_legend(analysis: AnalysisSpec) -> str:
    """The same in one line, for below a table."""
    return "; ".join(f"{sign}: {words}" for sign, words in marks(analysis)) + "."


def brackets(analysis: AnalysisSpec) -> str:
    """What stands in brackets behind a value, in one line."""
    target = INTERVAL[analysis.interval].label
    return f"In brackets: the 95 % interval for {target[0].lower()}{target[1:]}."


def methods(result: RunResult) -> tuple[Method, ...]:
    """Every statistic of the run, and DSI where there is one."""
    found = [
        Method(WORDS[name].name, WORDS[name].explanation, statistic_formula(name, result))
        for name in reported_statistics(result)
    ]
    if result.dsi:
        found.append(Method(DSI_NAME, DSI_EXPLANATION, DSI_FORMULA))
    return tuple(found)


def conventions(spec: RunSpec, stopping: Stopping | None = None) -> tuple[tuple[str, str], ...]:
    """The run's conventions as (name, sentence), and how an adaptive one ended."""
    return tuple((name, printable(sentence)) for name, sentence in stated(spec, stopping))


def not_estimable(result: RunResult) -> tuple[str, ...]:
    """One sentence per statistic and reason why it has no value or no mark, with the groups it concerns."""
    names = group_labels([row.group for row in result.groups])
    sentences = []
    for statistic in reported_statistics(result):
        groups: dict[tuple[str, str], list[str]] = {}
        for name, row in zip(names, result.groups, strict=True):
            outcome = outcome_of(row, statistic)
            if outcome.value is None:
                why = ("is not estimable", str(outcome.reason or "no reason given"))
                groups.setdefault(why, []).append(name)
            elif outcome.reason is not None:
                groups.setdefault(("has no mark", str(outcome.reason)), []).append(name)
        sentences += [
            f"{WORDS[statistic].name} {lacks} for {'; '.join(found)}: {reason}."
            for (lacks, reason), found in groups.items()
        ]
    return tuple(sentences)


def raters_per_item(result: Result) -> str:
    """Median, and the range where there is one."""
    low, median, high = result.data.raters_per_item
    return f"{median:,g}" if low == high else f"{low:,} to {high:,}, median {median:,g}"
