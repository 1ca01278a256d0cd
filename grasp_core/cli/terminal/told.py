"""A result, and a map of raters, in words and tables on the terminal."""

from __future__ import annotations

from grasp_core.rater_map.tables import axes_table, distance_words, groups_table
from grasp_core.rater_map.values import RaterMap
from grasp_core.rater_map.words import sentences
from grasp_core.report.given import given_sentences, given_table
from grasp_core.report.label_tables import label_use_by_group, with_label_use
from grasp_core.report.pairs.sentences import most_told
from grasp_core.report.printable import printable, printable_result
from grasp_core.report.sentences import answer
from grasp_core.report.slices import side_by_side, slice_sentences
from grasp_core.report.stopping import how_it_ended
from grasp_core.report.tables import wide_table
from grasp_core.report.words import LABEL_USE_EXPLANATION, one_line
from grasp_core.result import RunResult
from grasp_core.spec import Level

PAIRS_SAID = 5
"""Pairs of groups of which something is said."""


def say_result(result: RunResult) -> None:
    """Print what may undo the answer, the answer in words, then every table."""
    found = answer(result)
    if found.cautions:
        print("\nMind first:", end="\n\n")
        for caution in found.cautions:
            print(f"- {printable(str(caution))}")
    print(f"\n{found.headline.plain}", end="\n\n")
    for sentence in found.details:
        print(f"- {sentence.plain}")
    print(f"\n{wide_table(result).to_string(index=False)}")
    if with_label_use(result):
        print(f"\n{LABEL_USE_EXPLANATION}")
        print(f"\n{label_use_by_group(printable_result(result)).to_string(index=False)}")
    if result.pairs:
        print("\nPairs of groups", end="\n\n")
        for sentence in most_told(result, PAIRS_SAID):
            print(f"- {sentence.plain}")
    for found_here in printable_result(result).slices:
        print(f"\nSlices by {found_here.column}\n")
        for sentence in slice_sentences(result, found_here):
            print(f"- {printable(sentence.plain)}")
        print(f"\n{side_by_side(result, found_here).to_string(index=False)}")
    for sentence in given_sentences(result):
        print(f"\n- {printable(sentence.plain)}")
    for given in printable_result(result).given:
        print(f"\n{given_table(result, given).to_string(index=False)}")
    for words in how_it_ended(result):
        print(f"\n{printable(words)}")


def say_map(made: RaterMap, level: Level) -> None:
    """Print which axes disagreement follows, and the numbers behind it."""
    for sentence in sentences(made, level):
        print(f"- {printable(one_line(sentence.plain))}")
    if made.reason is None:
        print(f"\nWhat axes explain\n{axes_table(made).to_string(index=False)}")
        print(f"\nHow far raters differ\n{groups_table(made, level).to_string(index=False)}")
        print(distance_words(level))
