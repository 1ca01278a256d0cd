"""What is left of one axis given another, in words and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pandas as pd

from grasp_core.model.groups import Group, axis_label, group_labels
from grasp_core.model.result import Association, GivenResult, RunResult
from grasp_core.model.text import Segment, Sentence
from grasp_core.report.findings.findings import held_groups, leading, left_given
from grasp_core.report.words.names import LABEL_USE_NAME, STARS, WORDS, format_p, outcome_of, p_text

GIVEN_EXPLANATION = (
    "Given an axis, profiles are shuffled only among raters who have the same value on it, so that it cannot "
    "explain what is found. The values stay the same, their tests do not: fewer raters change places, so "
    "that what is no longer found may also be too faint to be found within values."
)


def as_result(result: RunResult, found: GivenResult) -> RunResult:
    """What was found given an axis as if it were the whole result."""
    return replace(result, groups=found.groups, dsi=found.dsi, given=(), slices=(), pairs=())


def not_yet_given(result: RunResult) -> tuple[Association, ...]:
    """Axes that go together, of which not both were tested given the other."""
    asked = {found.column for found in result.given}
    return tuple(one for one in result.associations if not {one.first, one.second} <= asked)


def association_sentence(one: Association) -> Sentence:
    """That two axes go together, and what that means."""
    p = "" if one.p is None else f", {format_p(one.p)}"
    return Sentence.of(
        Segment(axis_label((one.first,)), strong=True),
        " and ",
        Segment(axis_label((one.second,)), strong=True),
        f" overlap among the raters (Cramér's V {one.v:.2f}{p}): it cannot be told yet which matters.",
    )


def given_sentences(result: RunResult) -> list[Sentence]:
    """For each axis what still holds given it, then which of two axes the data speak for."""
    said = [sentence for found in result.given for sentence in _of_axis(result, found)]
    given = {found.column: found for found in result.given}
    said += [
        _verdict(result, one, given[one.second], given[one.first])
        for one in result.associations
        if one.first in given and one.second in given
    ]
    return said


def given_table(result: RunResult, found: GivenResult) -> pd.DataFrame:
    """The p-values of each group, at first and given the axis, as texts with their marks."""
    first, column = {row.group: row for row in result.groups}, axis_label((found.column,))
    rows = [row for row in found.groups if row.group in first]
    heads = ["Group", "Raters"]
    for test in leading(result):
        name = LABEL_USE_NAME if test == "label_use" else WORDS[test].name
        heads += [f"{name}: p", f"{name}: p given {column}"]
    cells = []
    for name, row in zip(group_labels([row.group for row in rows]), rows, strict=True):
        line: list[str | int] = [f"{name} ({axis_label(row.group.axes)})", row.n_raters]
        for test in leading(result):
            for one in (first[row.group], row):
                told = one.label_use if test == "label_use" else outcome_of(one, test)
                if told is None or told.p is None:
                    line.append("none")
                else:
                    p = p_text(told, permutations=result.permutations)
                    line.append(f"{p} {STARS[told.significance]}".rstrip())
        cells.append(line)
    return pd.DataFrame(cells, columns=heads)


def _of_axis(result: RunResult, found: GivenResult) -> Iterator[Sentence]:
    column = Segment(axis_label((found.column,)), strong=True)
    there = {row.group for row in found.groups}
    before = [one for one in _held(result) if one in there]
    after = left_given(result, found)
    kept = [group for group in before if group in after]
    lost = [group for group in before if group not in after]
    new = [group for group in held_groups(replace(result, groups=found.groups)) if group not in before]
    if kept:
        yield Sentence.of("Given ", column, ", it still holds of ", *_names(kept), ".")
    if lost:
        why = " may stand behind it, or too few raters are left to change places within its values."
        yield Sentence.of("Given ", column, ", it no longer holds of ", *_names(lost), ": ", column, why)
    if new:
        tail = ", which is a hint, no finding."
        yield Sentence.of("Only given ", column, " it would hold of ", *_names(new), tail)
    if not (kept or lost or new):
        yield Sentence.of("Of the groups that ", column, " has no part in, none holds, with or without it.")


def _verdict(result: RunResult, one: Association, of_first: GivenResult, of_second: GivenResult) -> Sentence:
    """`of_first` is what is left of the first axis given the second, and the other way round."""
    names = tuple(Segment(axis_label((name,)), strong=True) for name in (one.first, one.second))
    held = _held(result)
    before = [_any_of(name, held) for name in (one.first, one.second)]
    left = [
        _any_of(name, [group for group in held if group in left_given(result, found)])
        for found, name in ((of_first, one.first), (of_second, one.second))
    ]
    both = (names[0], " and ", names[1])
    if all(left):
        return Sentence.of("Of ", *both, ", each still tells something that the other does not explain.")
    if any(left):
        stays, goes = names if left[0] else names[::-1]
        tail = ", but not the other way round."
        return Sentence.of("The data speak for ", stays, ": its groups differ given ", goes, tail)
    if any(before):
        tail = " the data cannot tell: given the other, neither holds."
        return Sentence.of("Which of ", *both, " it is,", tail)
    return Sentence.of("Neither of ", *both, " holds, alone or given the other.")


def _any_of(axis: str, groups: Sequence[Group]) -> bool:
    """Whether one of the groups is of this very axis."""
    return any(group.axes == (axis,) for group in groups)


def _held(result: RunResult) -> list[Group]:
    held = held_groups(result)
    return [row.group for row in result.groups if row.group in held]


def _names(groups: Sequence[Group]) -> list[str | Segment]:
    parts: list[str | Segment] = []
    for name in group_labels(groups):
        parts += [", ", Segment(name, strong=True)]
    return parts[1:]
