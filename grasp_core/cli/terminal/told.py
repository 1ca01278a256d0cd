"""A result, and a map of raters, in words and tables on the terminal."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from grasp_core.analysis.rater_map_values import RaterMap
from grasp_core.model.groups import group_labels, one_line
from grasp_core.model.result import RunResult, SlicesResult
from grasp_core.model.spec import Level
from grasp_core.model.text import printable
from grasp_core.report.account import how_it_ended
from grasp_core.report.contents import brackets
from grasp_core.report.everybody import agreement_tables
from grasp_core.report.findings.findings import leading
from grasp_core.report.findings.sentences import answer
from grasp_core.report.given import given_sentences, given_table
from grasp_core.report.in_numbers import means_in_numbers, statistics_in_numbers
from grasp_core.report.pairs import PAIRS_SAID, most_told
from grasp_core.report.rater_map import axes_table, distance_words, groups_table, sentences
from grasp_core.report.slices import side_by_side, slice_sentences
from grasp_core.report.tables import label_use_by_group, verdict_table, wide_table, with_label_use
from grasp_core.report.words.names import (
    LABEL_USE_EXPLANATION,
    LABEL_USE_NAME,
    MEAN_SHIFT_EXPLANATION,
    WORDS,
    reported_statistics,
)
from grasp_core.report.words.printable import printable_result

WIDTH = 100
"""Columns of a terminal that tables with intervals fit in."""


def say_result(result: RunResult) -> None:
    """Print what may undo the answer, the answer in words, then every table."""
    found, shown = answer(result), printable_result(result)
    if found.warned.first:
        print("\nMind first:", end="\n\n")
        for caution in found.warned.first:
            print(f"- {printable(str(caution))}")
    print(f"\n{found.headline.plain}", end="\n\n")
    for sentence in found.details:
        print(f"- {sentence.plain}")
    if result.of_everybody and result.everybody is not None:
        for heading, table in agreement_tables(printable_result(result).everybody or result.everybody):
            print(f"\n{heading}\n{table.to_string(index=False)}")
        return
    verdicts = verdict_table(shown)
    if not verdicts.empty:
        print(f"\nVerdicts, by all tests of a group together\n{verdicts.to_string(index=False)}")
    print(f"\n{wide_table(result).to_string(index=False)}")
    print(f"\n{brackets(result.spec.analysis)}")
    if shown.groups:
        print(f"\n{statistics_in_numbers(shown, _leading(result)).to_string(index=False)}")
    if with_label_use(result):
        _say_labels(shown)
    if result.pairs:
        print("\nPairs of groups", end="\n\n")
        for sentence in most_told(result, PAIRS_SAID):
            print(f"- {sentence.plain}")
    for found_here in shown.slices:
        _say_slices(shown, found_here)
    for sentence in given_sentences(result):
        print(f"\n- {printable(sentence.plain)}")
    for given in shown.given:
        print(f"\n{given_table(result, given).to_string(index=False)}")
    for words in how_it_ended(result):
        print(f"\n{printable(words)}")


def _leading(result: RunResult) -> list[str]:
    """The statistics that make findings, as far as the run reports them."""
    return [name for name in reported_statistics(result) if name in leading(result)]


def _say_labels(result: RunResult) -> None:
    print(f"\n{LABEL_USE_EXPLANATION}")
    table = label_use_by_group(result, intervals=True).drop(columns=["Axis", "Raters"])
    table["Group"] = group_labels([row.group for row, _ in with_label_use(result)])
    print(f"\n{in_width(table, 1)}")
    means = means_in_numbers(result)
    if not means.empty:
        print(f"\n{MEAN_SHIFT_EXPLANATION}\n\n{means.to_string(index=False)}")


def _say_slices(result: RunResult, found: SlicesResult) -> None:
    print(f"\nSlices by {found.column}\n")
    for sentence in slice_sentences(result, found):
        print(f"- {printable(sentence.plain)}")
    for what in [*_leading(result), *(["label_use"] if with_label_use(result) else [])]:
        name = LABEL_USE_NAME if what == "label_use" else WORDS[what].name
        print(f"\n{name}\n{in_width(side_by_side(result, found, what), 1)}")


def in_width(table: pd.DataFrame, names: int, width: int = WIDTH) -> str:
    """A table whose columns go on below where they do not fit, behind the same first columns of names."""
    return "\n\n".join(
        table.iloc[:, [*range(names), *block]].to_string(index=False)
        for block in _blocks(table, names, width)
    )


def _blocks(table: pd.DataFrame, names: int, width: int) -> Iterator[list[int]]:
    """The columns behind the names, as many together as fit; at least one."""
    wide = [
        1 + max(map(len, [str(head), *map(str, table.iloc[:, place])]))
        for place, head in enumerate(table.columns)
    ]
    room = width - sum(wide[:names])
    block: list[int] = []
    for place in range(names, len(wide)):
        if block and sum(wide[one] for one in block) + wide[place] > room:
            yield block
            block = []
        block.append(place)
    yield block


def say_map(made: RaterMap, level: Level) -> None:
    """Print which axes disagreement follows, and the numbers behind it."""
    for sentence in sentences(made, level):
        print(f"- {printable(one_line(sentence.plain))}")
    if made.reason is None:
        print(f"\nWhat axes explain\n{axes_table(made).to_string(index=False)}")
        print(f"\nHow far raters differ\n{groups_table(made, level).to_string(index=False)}")
        print(distance_words(level))
