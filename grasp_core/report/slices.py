"""Groups tested in slices of items, and given an axis: sentences and tables."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import pandas as pd

from grasp_core.model.groups import Group, axis_label, group_label, group_labels, one_line, spoken
from grasp_core.model.outcome import LabelUse, Outcome
from grasp_core.model.result import (
    Association,
    GivenResult,
    GroupResult,
    RunResult,
    SliceResult,
    SlicesResult,
)
from grasp_core.model.text import Segment, Sentence, agree, number, strong
from grasp_core.report.findings.advice import About, doubts
from grasp_core.report.findings.finding import Doubt, lead
from grasp_core.report.findings.selection import (
    REPORT_ORDER,
    judged,
    leading,
    significant_groups,
    still_differing,
)
from grasp_core.report.tables import cell_text
from grasp_core.report.words import names
from grasp_core.report.words.label_use import foremost_text, manner, p_and_q

ALL_ITEMS = "all items"
_TOLD = 5
"""Number of differences that get a sentence of their own."""


class SliceTest(NamedTuple):
    """A test of a group on the items of one value."""

    of: SliceResult
    row: GroupResult
    statistic: str
    test: Outcome | LabelUse


def as_results(result: RunResult, found: SlicesResult) -> Iterator[tuple[SliceResult, RunResult]]:
    """Yield each slice of a column, and its results as if they were the whole result."""
    for one in found.values:
        yield one, replace(result, groups=one.groups, dsi=one.dsi, slices=())


def sliced_groups(result: RunResult, found: SlicesResult) -> tuple[Group, ...]:
    """The groups of any slice of a column, in the run's order."""
    there = {row.group for one in found.values for row in one.groups}
    first = [row.group for row in result.groups if row.group in there]
    return (*first, *sorted(there.difference(first), key=lambda group: (group.axes, group.values)))


def by_value(result: RunResult, found: SlicesResult, group: Group) -> RunResult:
    """Return one group as a result: a row for all items, then a row for each slice of a column."""
    views = [(ALL_ITEMS, result.groups), *((one.value, one.groups) for one in found.values)]
    rows = [
        replace(row, group=Group((found.column,), (value,)))
        for value, groups in views
        for row in groups
        if row.group == group
    ]
    return replace(result, groups=tuple(rows), dsi=(), slices=())


def marked_groups(result: RunResult, found: SlicesResult) -> tuple[Group, ...]:
    """Groups with a test that is significant after correction in some slice."""
    marked = (one.row.group for one in _tests(result, found) if one.test.significance == "corrected")
    return tuple(dict.fromkeys(marked))


def sliced(result: RunResult, found: SlicesResult, make: Callable[[RunResult], pd.DataFrame]) -> pd.DataFrame:
    """Stack a table of every slice of a column; its first columns are the slice's value and items."""
    frames = []
    for one, view in as_results(result, found):
        frame = make(view)
        frame.insert(0, "Items", one.items)
        frame.insert(0, one_line(found.column), one_line(one.value), allow_duplicates=True)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def side_by_side(result: RunResult, found: SlicesResult, what: str) -> pd.DataFrame:
    """A statistic, or "label_use", of each group on all items and in each slice, as texts."""
    whole = {row.group: _brief(row, what) for row in result.groups}
    of_values = [{row.group: _brief(row, what) for row in one.groups} for one in found.values]
    groups = sliced_groups(result, found)
    heads = [f"{one_line(one.value)} ({number(one.items, 'item')})" for one in found.values]
    cells = [
        [name, whole.get(group, ""), *(of_value.get(group, "") for of_value in of_values)]
        for name, group in zip(group_labels(groups), groups, strict=True)
    ]
    return pd.DataFrame(cells, columns=["Group", ALL_ITEMS.capitalize(), *heads])


def _brief(row: GroupResult, what: str) -> str:
    if what == "label_use":
        return "" if row.label_use is None else foremost_text(row.label_use)
    outcome = names.shown_outcome(row, what)
    return f"{cell_text(outcome)} {names.format_interval(outcome.interval)}".rstrip()


def slice_sentences(result: RunResult, found: SlicesResult, group: Group | None = None) -> list[Sentence]:
    """Sentences on differences in the slices of a column, of all groups or one, then on items in no slice."""
    tested = [one for one in _tests(result, found, group) if one.test.p is not None]
    held, column = _held(result, tested), strong(one_line(found.column))
    nominal = sum(one.test.significance == "nominal" for one in tested)
    said = [_sentence(result, found, one) for one in held[:_TOLD]]
    if (left := len(held) - _TOLD) > 0:
        are = f"{number(left, 'more difference')} {agree(left, 'is', 'are')}"
        said.append(Sentence.of(f"{are} more than luck explains."))
    said += _advice(result, found, held)
    if not held:
        tests = f"{number(len(tested), 'test')}{f', of which {nominal} may be luck' if nominal else ''}"
        tail = (
            f" does a group differ more than luck explains ({tests}). Each value has fewer items than the "
            "whole: the intervals say how much may have been missed."
        )
        said.append(Sentence.of("On the items of no value of ", column, tail))
    if found.without:
        tail = f" {agree(found.without, 'is', 'are')} in no slice."
        said.append(Sentence.of(f"{number(found.without, 'item')} without a value in ", column, tail))
    empty = [one_line(one.value) for one in found.values if not one.groups]
    if empty:  # no group is large enough
        least = number(result.spec.analysis.min_raters, "rater")
        said.append(Sentence.of(f"No group has {least} or more on ", strong(", ".join(empty)), "."))
    return said


def _advice(result: RunResult, found: SlicesResult, held: list[SliceTest]) -> list[Sentence]:
    """Advice on the first difference if it makes a finding: remove its doubts, or ask for more labels."""
    if not held or held[0].statistic not in leading(result) or _is_hint(result, held[0]):
        return []
    first = held[0]
    raised = _doubts(result, first)
    if any(one.undoes for one in raised):
        return [Sentence.of(f"What to do first: {'; '.join(one.mend for one in raised)}.")]
    group = strong(spoken(first.row.group))
    where = strong(f"{one_line(found.column)} = {one_line(first.of.value)}")
    return [Sentence.of("What to do: have ", group, " raters label items of ", where, " too.")]


def _is_hint(result: RunResult, one: SliceTest) -> bool:
    """Return whether no verdict supports the test: a slice alone makes a hint, not a finding."""
    return judged(result) and one.row.group not in significant_groups(result)


def _doubts(result: RunResult, one: SliceTest) -> tuple[Doubt, ...]:
    return doubts(result, About(one.row.group.axes, (one.row.group,), one.statistic))


def first_test(result: RunResult, found: SlicesResult, group: Group | None = None) -> SliceTest | None:
    """The test of the first sentence, of all groups or of one; None if no test is significant."""
    return next(iter(_held(result, _tests(result, found, group))), None)


def _held(result: RunResult, tests: Iterable[SliceTest]) -> list[SliceTest]:
    """Tests significant after correction: statistics that make findings first, then the strongest first."""
    held = [one for one in tests if one.test.significance == "corrected"]

    def place(one: SliceTest) -> tuple[bool, int, float, float]:
        other = one.statistic not in leading(result)
        return other, REPORT_ORDER.index(one.statistic), one.test.q or 0.0, one.test.p or 0.0

    return sorted(held, key=place)


def _tests(result: RunResult, found: SlicesResult, group: Group | None = None) -> Iterator[SliceTest]:
    for one, row in ((of, row) for of in found.values for row in of.groups):
        if group in (None, row.group):
            for name in names.reported_statistics(result):
                outcome = names.shown_outcome(row, name)
                if not isinstance(outcome, names.InPlaceOfGai):  # the gap has its own test
                    yield SliceTest(one, row, name, outcome)
            if row.label_use is not None:
                yield SliceTest(one, row, "label_use", row.label_use)


def _sentence(result: RunResult, found: SlicesResult, one: SliceTest) -> Sentence:
    where = (
        "A hint, no finding: " if _is_hint(result, one) else "",
        lead(_doubts(result, one)),
        "On ",
        strong(f"{one_line(found.column)} = {one_line(one.of.value)}"),
        f" ({number(one.of.items, 'item')}), ",
        strong(spoken(one.row.group)),
        f" raters (n = {one.row.n_raters}) ",
    )
    if isinstance(one.test, LabelUse):
        return Sentence.of(*where, *manner(one.test), f"; {p_and_q(one.test, result)}.")
    words = names.WORDS[one.statistic]
    does = words.less if one.test.direction == "down" else words.more
    outcome = names.outcome_of(one.row, one.statistic)
    size = (
        f"{words.name} {names.format_value(outcome.value)} {names.format_interval(outcome.interval)}".rstrip()
    )
    tests = names.p_and_q_words(outcome, permutations=result.permutations)
    return Sentence.of(*where, f"{does} than random groups of their size would: {size}, {tests}.")


GIVEN_EXPLANATION: str = names.TEXTS["explained"]["given"]


def as_result(result: RunResult, found: GivenResult) -> RunResult:
    """The results given an axis as if they were the whole result."""
    return replace(result, groups=found.groups, dsi=found.dsi, given=(), slices=(), pairs=())


def not_yet_given(result: RunResult) -> tuple[Association, ...]:
    """Associations of two axes that were not both tested given the other, and can be."""
    asked = {found.column for found in result.given}
    free = (one for one in result.associations if not one.one_split)
    return tuple(one for one in free if not {one.first, one.second} <= asked)


def association_sentence(one: Association) -> Sentence:
    """Say that two axes go together, and what that means."""
    p = "" if one.p is None else f", {names.format_p(one.p)}"
    first, second = (strong(axis_label((name,))) for name in (one.first, one.second))
    said = f" overlap among the raters (Cramér's V {one.v:.2f}{p}): it cannot be told yet which matters."
    return Sentence.of(first, " and ", second, said)


def given_sentences(result: RunResult) -> list[Sentence]:
    """Say which differences remain given each axis, then which of two related axes the data favour."""
    said = [sentence for found in result.given for sentence in _of_axis(result, found)]
    given = {found.column: found for found in result.given}
    said += [
        _verdict(result, one, given[one.second], given[one.first])
        for one in result.associations
        if one.first in given and one.second in given
    ]
    return said


def given_table(result: RunResult, found: GivenResult) -> pd.DataFrame:
    """The p-values of each group, without and with the axis given, as texts with their marks."""
    first, column = {row.group: row for row in result.groups}, axis_label((found.column,))
    rows = [row for row in found.groups if row.group in first]
    heads = ["Group", "Raters"]
    for test in leading(result):
        name = names.LABEL_USE_NAME if test == "label_use" else names.WORDS[test].name
        heads += [f"{name}: p", f"{name}: p given {column}"]
    cells = []
    for row in rows:
        line: list[str | int] = [f"{group_label(row.group)} ({axis_label(row.group.axes)})", row.n_raters]
        for test in leading(result):
            for one in (first[row.group], row):
                told = one.label_use if test == "label_use" else names.outcome_of(one, test)
                if told is None or told.p is None:
                    line.append("none")
                else:
                    p = names.p_text(told, permutations=result.permutations)
                    line.append(f"{p} {names.STARS[told.significance]}".rstrip())
        cells.append(line)
    return pd.DataFrame(cells, columns=heads)


def _of_axis(result: RunResult, found: GivenResult) -> Iterator[Sentence]:
    column = strong(axis_label((found.column,)))
    there = {row.group for row in found.groups}
    before = [one for one in _held_of_given(result) if one in there]
    after = still_differing(result, found)
    kept = [group for group in before if group in after]
    lost = [group for group in before if group not in after]
    new = [group for group in _held_of_given(replace(result, groups=found.groups)) if group not in before]
    if kept:
        yield Sentence.of(
            "Among raters of the same ", column, " there is still a difference for ", *_names(kept), "."
        )
    if lost:
        left = " no difference is left for "
        why = " may be the reason, or too few raters are left to compare."
        yield Sentence.of("Among raters of the same ", column, left, *_names(lost), ": ", column, why)
    if new:
        only = " would there be a difference for "
        tail = ", which is a hint, no finding."
        yield Sentence.of("Only among raters of the same ", column, only, *_names(new), tail)
    if not (kept or lost or new):
        tail = ", as among all, no group of another axis differs by all tests together."
        yield Sentence.of("Among raters of the same ", column, tail)


def _verdict(result: RunResult, one: Association, of_first: GivenResult, of_second: GivenResult) -> Sentence:
    """Say which of two axes the data favour; `of_first` is the result of the first given the second."""
    titles = tuple(strong(axis_label((name,))) for name in (one.first, one.second))
    held = _held_of_given(result)
    before = [_any_of(name, held) for name in (one.first, one.second)]
    left = [
        _any_of(name, [group for group in held if group in still_differing(result, found)])
        for found, name in ((of_first, one.first), (of_second, one.second))
    ]
    both = (titles[0], " and ", titles[1])
    if all(left):
        return Sentence.of("Of ", *both, ", each explains something that the other does not.")
    if any(left):
        stays, goes = titles if left[0] else titles[::-1]
        same, tail = ": its groups differ among raters of the same ", ", but not the other way round."
        return Sentence.of("The data favour ", stays, same, goes, tail)
    if any(before):
        tail = " it is: among raters alike in one, the other shows no difference."
        return Sentence.of("The data cannot tell which of ", *both, tail)
    return Sentence.of("Neither of ", *both, " shows a difference, alone or among raters alike in the other.")


def _any_of(axis: str, groups: Sequence[Group]) -> bool:
    return any(group.axes == (axis,) for group in groups)


def _held_of_given(result: RunResult) -> list[Group]:
    held = significant_groups(result)
    return [row.group for row in result.groups if row.group in held]


def _names(groups: Sequence[Group]) -> list[str | Segment]:
    parts: list[str | Segment] = []
    for name in group_labels(groups):
        parts += [", ", strong(name)]
    return parts[1:]
