"""The document of a result: sections that HTML, LaTeX and Markdown all show."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import pandas as pd

from grasp_core.analysis.rater_map_values import RaterMap
from grasp_core.model.groups import axis_label, group_label, one_line
from grasp_core.model.outcome import Outcome, PairResult
from grasp_core.model.result import GroupResult, RunResult, SlicesResult
from grasp_core.model.spec import Level
from grasp_core.model.text import Sentence
from grasp_core.report.contents import brackets
from grasp_core.report.pairs import PAIRS_EXPLANATION, PAIRS_SAID, Measure, measures, most_told, of_label_use
from grasp_core.report.rater_map import EXPLANATION, axes_table, distance_words, groups_table, sentences
from grasp_core.report.slices import GIVEN_EXPLANATION, given_sentences, given_table, slice_sentences, sliced
from grasp_core.report.tables import (
    Column,
    ends,
    label_use_by_group,
    ordered_dsi,
    p_and_starred_q,
    shown_axes,
    wide_table,
    with_label_use,
)
from grasp_core.report.words import names
from grasp_core.report.words.label_use import (
    P_BOTH,
    P_BOTH_MEANING,
    format_points,
    format_points_interval,
    scale_outcome,
)
from grasp_core.report.words.names import DSI_EXPLANATION, LABEL_USE_EXPLANATION, PAIR_NAMES

INTERVAL = "95 % interval"
_OF_LABELS = f"{LABEL_USE_EXPLANATION} {P_BOTH_MEANING}"
_NO_INTERVAL = "none"


class TextTable(NamedTuple):
    """A table of texts, its first `names` columns names; `words` and `note` explain it if it stands alone."""

    key: str
    caption: str
    frame: pd.DataFrame
    names: int
    words: str = ""
    note: str = ""


class PairTest(NamedTuple):
    """A test of a pair, with its name."""

    row: PairResult
    name: str
    outcome: Outcome


PAIRS = (
    Column(lambda one: axis_label(one.row.a.axes), name="axis", sheet="Axis"),
    Column(lambda one: group_label(one.row.a), name="first", sheet="First"),
    Column(lambda one: group_label(one.row.b), name="second", sheet="Second"),
    Column("row.n_raters_a", name="raters_first", sheet="Raters of the first", kind="count"),
    Column("row.n_raters_b", name="raters_second", sheet="Raters of the second", kind="count"),
    Column("name", name="statistic", sheet="Statistic, or label in points"),
    Column("outcome.value", name="value", sheet="Value", kind="value"),
    Column(lambda one: ends(one.outcome)[0], name="low", sheet="from", kind="end"),
    Column(lambda one: ends(one.outcome)[1], name="high", sheet="to", kind="end"),
    Column("outcome.p", name="p", sheet="p", kind="p"),
    Column("outcome.q", name="q", sheet="q", kind="p"),
    Column(
        lambda one: "" if one.outcome.q is None else names.signs(one.outcome),
        *("", None, "stars", "*", "mark"),
    ),
    Column(lambda one: str(one.outcome.reason or ""), name="reason", sheet="Why not estimable"),
    Column(lambda one: getattr(one.row.verdict, "code", ""), name="verdict", sheet="Verdict of the pair"),
    Column(lambda one: one.row.verdict and one.row.verdict.p, name="verdict_p", sheet="its p", kind="p"),
    Column(lambda one: one.row.verdict and one.row.verdict.q, name="verdict_q", sheet="its q", kind="p"),
)


def pairs_tested(result: RunResult) -> list[PairTest]:
    """Each test of each pair; labels are in percentage points."""
    labels, found = of_label_use(result), list[PairTest]()
    for row in result.pairs:
        found += [PairTest(row, one.name, one.of(row)) for one in labels]
        found += [PairTest(row, PAIR_NAMES[name], outcome) for name, outcome in row.statistics.items()]
    return found


def pairs_in_words(result: RunResult) -> pd.DataFrame:
    """One row of texts for each pair: both groups, then the value of each measure with its stars."""
    told = measures(result).values()
    found = [
        [
            axis_label(row.a.axes),
            f"{group_label(row.a)} ({row.n_raters_a:,})",
            f"{group_label(row.b)} ({row.n_raters_b:,})",
            *(f"{one.write(one.of(row).value)} {names.signs(one.of(row))}".rstrip() for one in told),
        ]
        for row in result.pairs
    ]
    return pd.DataFrame(found, columns=["Axis", "First", "Second", *(one.name for one in told)])


def pairs_in_numbers(
    result: RunResult, rows: Sequence[PairResult] | None = None, measure: Measure | None = None
) -> pd.DataFrame:
    """One row of texts for each pair and measure: all of them, or only these pairs and this measure."""
    found = [
        [axis_label(row.a.axes), group_label(row.a), group_label(row.b), *line]
        for row in (result.pairs if rows is None else rows)
        for line in _of_pair(result, row, measure)
    ]
    heads = ["Axis", "First", "Second", "Measure", "Value", INTERVAL, "p", "q"]
    return pd.DataFrame(found, columns=heads)


def _of_pair(result: RunResult, row: PairResult, measure: Measure | None) -> Iterator[list[str]]:
    for one in measures(result).values() if measure is None else [measure]:
        titles = {one.name: one.of(row)}
        if one.key == "gap_a" and measure is None:  # a gap for each group
            titles = {
                f"{one.name} of {group_label(group)}": row.statistics.get(key, Outcome(None))
                for key, group in (("gap_a", row.a), ("gap_b", row.b))
            }
        for name, outcome in titles.items():
            yield [name, *_texts(outcome, one, result)]


def _texts(outcome: Outcome, measure: Measure, result: RunResult) -> list[str]:
    interval = names.in_brackets(*ends(outcome), measure.write)
    if result.later is not None and outcome.p is None and outcome.reason is None:
        tested = [names.NOT_YET] * 2
    elif outcome.value is not None and outcome.p is None and outcome.reason is None:
        tested = [names.OF_ALL] * 2
    else:
        tested = p_and_starred_q(outcome, result)
    return [measure.write(outcome.value), interval, *tested]


def slices_in_numbers(result: RunResult, found: SlicesResult, key: str) -> Iterator[TextTable]:
    """Tables of all results in the slices of one column; their keys begin with `key`."""
    for name, title, explanation, make, titles in (
        ("numbers", "Every statistic", "", statistics_in_numbers, 5),
        ("labels", "Label use", _OF_LABELS, labels_in_numbers, 5),
        ("means", names.MEAN_SHIFT_NAME, names.MEAN_SHIFT_EXPLANATION, means_in_numbers, 4),
        ("dsi", "DSI", names.DSI_EXPLANATION, dsi_in_numbers, 4),
    ):
        caption = f"{title} by {one_line(found.column)}"
        yield TextTable(f"{key}-{name}", caption, sliced(result, found, make), titles, explanation)


def statistics_in_numbers(result: RunResult, statistics: Sequence[str] | None = None) -> pd.DataFrame:
    """One row for each statistic and group; only for the named statistics, if some are named."""
    rows = [
        [names.WORDS[name].name, *_named(row), *_tested(names.shown_outcome(row, name), result)]
        for name in (names.reported_statistics(result) if statistics is None else statistics)
        for row in result.groups
    ]
    return pd.DataFrame(rows, columns=["Statistic", "Axis", "Group", "Value", INTERVAL, "p", "q"])


def dsi_in_numbers(result: RunResult) -> pd.DataFrame:
    """One row for each axis, largest DSI first."""
    rows = []
    for row in shown_axes(result):
        group = "" if row.group is None else group_label(row.group)
        tested = _tested(replace(row.outcome, direction=None), result)
        rows.append([axis_label(row.axes), group, *tested])
    return pd.DataFrame(rows, columns=["Axis", "Attained by", "DSI", INTERVAL, "p", "q"])


def dsi_with_groups(result: RunResult) -> pd.DataFrame:
    """The table of :func:`dsi_in_numbers`, with the p of the group that attains DSI, as in the paper."""
    table, many = dsi_in_numbers(result), result.permutations
    groups = ordered_dsi(result)
    table["p of that group"] = [names.format_p_value(row.p_group, permutations=many) for row in groups]
    return table


def labels_in_numbers(result: RunResult) -> pd.DataFrame:
    """One row for each group and label."""
    rows = [
        [
            *(*_named(row), one_line(label), format_points(shift.value)),
            format_points_interval(shift) or _NO_INTERVAL,
            _NO_INTERVAL if shift.p_both is None else names.format_p_value(shift.p_both),
            *p_and_starred_q(use, result),
        ]
        for row, use in with_label_use(result)
        for label, shift in use.labels.items()
    ]
    heads = ["Axis", "Group", "Label", "Points", INTERVAL, P_BOTH, "p of all labels", "q of all labels"]
    return pd.DataFrame(rows, columns=heads)


def means_in_numbers(result: RunResult) -> pd.DataFrame:
    """One row for each group whose labels have a mean: in steps for ordered labels, or of numbers."""
    rows = [
        [*_named(row), *_tested(mean, result)[:2]]
        for row, use in with_label_use(result)
        if (mean := scale_outcome(use, result)) is not None
    ]
    return pd.DataFrame(rows, columns=["Axis", "Group", names.MEAN_SHIFT_NAME, INTERVAL])


def _named(row: GroupResult) -> tuple[str, str]:
    return axis_label(row.group.axes), group_label(row.group)


def _tested(outcome: Outcome, result: RunResult) -> list[str]:
    beside = f"{names.arrow(outcome)}{names.form(outcome)}".strip()
    value = f"{names.format_value(outcome.value)} {beside}".rstrip()
    return [value, names.format_interval(outcome.interval) or _NO_INTERVAL, *p_and_starred_q(outcome, result)]


class Section(NamedTuple):
    """A heading, an explanation, sentences and tables, each optional; `numbers` may be shown at the end."""

    key: str = ""
    heading: str = ""
    words: str = ""
    said: Sequence[Sentence] = ()
    tables: Sequence[TextTable] = ()
    numbers: Sequence[TextTable] = ()
    level: int = 2


def further(result: RunResult) -> Iterator[Section]:
    """Sections on DSI, label use, pairs, slices, and groups given another axis, if they were computed."""
    if result.dsi:
        yield Section(
            "dsi", tables=[TextTable("dsi", "DSI of every axis", dsi_in_numbers(result), 2, DSI_EXPLANATION)]
        )
    if with_label_use(result):
        use = TextTable("labels", "Label use", label_use_by_group(result), 2, LABEL_USE_EXPLANATION)
        labels, means = labels_in_numbers(result), means_in_numbers(result)
        numbers = [
            TextTable("label-numbers", "Every label of every group", labels, 3, _OF_LABELS),
            TextTable("means", names.MEAN_SHIFT_NAME, means, 2, names.MEAN_SHIFT_EXPLANATION),
        ]
        yield Section("labels", words=LABEL_USE_EXPLANATION, tables=[use], numbers=numbers)
    if result.pairs:
        note = " ".join(sentence.plain for sentence in most_told(result, PAIRS_SAID))
        what = "Pairs of groups, each with its raters"
        pairs = TextTable("pairs", what, pairs_in_words(result), 3, PAIRS_EXPLANATION, note)
        every = TextTable("pair-numbers", "Everything of every pair of groups", pairs_in_numbers(result), 4)
        said = most_told(result, len(result.pairs))
        yield Section("pairs", "", PAIRS_EXPLANATION, said, [pairs], [every])
    for place, found in enumerate(result.slices, 1):
        key, what = f"slices-{place}", f"Every group on the items of each value of {one_line(found.column)}"
        table = TextTable(key, what, sliced(result, found, wide_table), 4)
        of_slices = [*slices_in_numbers(result, found, key)]
        heading, told = f"Slices by {found.column}", slice_sentences(result, found)
        yield Section(key, heading, "", told, [table], of_slices)
    if result.given:
        tables = []
        for place, one in enumerate(result.given, 1):
            what, frame = f"Every group given {axis_label((one.column,))}", given_table(result, one)
            tables.append(TextTable(f"given-{place}", what, frame, 1, GIVEN_EXPLANATION))
        yield Section("given", "Given another axis", GIVEN_EXPLANATION, given_sentences(result), tables)


def every_number(result: RunResult, sections: Sequence[Section]) -> Iterator[Section]:
    """Sections of all numbers with interval, p and q: of groups, then of these sections; no empty tables."""
    inside = brackets(result.spec.analysis)
    yield Section(heading="In numbers", words=inside)
    of_groups = TextTable("numbers", "Every statistic of every group", statistics_in_numbers(result), 3)
    for one in (of_groups, *(table for section in sections for table in section.numbers)):
        if not one.frame.empty:
            table = one._replace(words=f"{one.words} {inside}")
            yield Section(heading=one.caption, words=one.words, tables=[table], level=3)


def map_of_raters(found: RaterMap, level: Level) -> Iterator[Section]:
    """Sections on the axes that disagreement follows and, if there is a map, its numbers."""
    yield Section(heading="Map of raters", said=sentences(found, level))
    if found.reason is None:
        axes = TextTable("map", "What axes explain", axes_table(found), 1, EXPLANATION)
        yield Section(words=EXPLANATION, tables=[axes])
        words = distance_words(level)
        groups = TextTable("map-groups", "How far raters differ", groups_table(found, level), 2, words)
        yield Section(words=words, tables=[groups])
