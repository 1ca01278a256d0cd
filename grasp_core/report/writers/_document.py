"""What a report tells beside its answer and first table: sections of sentences and tables, in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from grasp_core.analysis.rater_map_values import RaterMap
from grasp_core.model.groups import axis_label, one_line
from grasp_core.model.result import RunResult
from grasp_core.model.spec import Level
from grasp_core.model.text import Sentence
from grasp_core.report.contents import brackets
from grasp_core.report.in_numbers import Table, dsi_in_numbers, in_numbers, pairs_in_words
from grasp_core.report.pairs import PAIRS_EXPLANATION, PAIRS_SAID, most_told
from grasp_core.report.rater_map import EXPLANATION, axes_table, distance_words, groups_table, sentences
from grasp_core.report.slices import GIVEN_EXPLANATION, given_sentences, given_table, slice_sentences, sliced
from grasp_core.report.tables import label_use_by_group, wide_table, with_label_use
from grasp_core.report.words.names import DSI_EXPLANATION, LABEL_USE_EXPLANATION


class Section(NamedTuple):
    """An explanation, sentences and tables under a heading of this level; any of them may be missing."""

    heading: str = ""
    words: str = ""
    said: Sequence[Sentence] = ()
    tables: Sequence[Table] = ()
    level: int = 2


def further(result: RunResult) -> Iterator[Section]:
    """DSI, label use, pairs, slices, and groups given another axis: what of it was computed."""
    if result.dsi:
        dsi = Table("dsi", "DSI of every axis", dsi_in_numbers(result), 2, DSI_EXPLANATION)
        yield Section(tables=[dsi])
    if with_label_use(result):
        use = Table("labels", "Label use", label_use_by_group(result), 2, LABEL_USE_EXPLANATION)
        yield Section(words=LABEL_USE_EXPLANATION, tables=[use])
    if result.pairs:
        note = " ".join(sentence.plain for sentence in most_told(result, PAIRS_SAID))
        what = "Pairs of groups, each with its raters"
        pairs = Table("pairs", what, pairs_in_words(result), 3, PAIRS_EXPLANATION, note)
        yield Section("", PAIRS_EXPLANATION, most_told(result, len(result.pairs)), [pairs])
    for place, found in enumerate(result.slices, 1):
        what = f"Every group on the items of each value of {one_line(found.column)}"
        table = Table(f"slices-{place}", what, sliced(result, found, wide_table), 4)
        yield Section(f"Slices by {found.column}", "", slice_sentences(result, found), [table])
    if result.given:
        tables = [
            Table(
                f"given-{place}",
                f"Every group given {axis_label((found.column,))}",
                given_table(result, found),
                1,
                GIVEN_EXPLANATION,
            )
            for place, found in enumerate(result.given, 1)
        ]
        yield Section("Given another axis", GIVEN_EXPLANATION, given_sentences(result), tables)


def every_number(result: RunResult) -> Iterator[Section]:
    """Every number with its interval, p and q."""
    inside = brackets(result.spec.analysis)
    yield Section("In numbers", inside)
    for one in in_numbers(result):
        table = one._replace(words=f"{one.words} {inside}")
        yield Section(one.caption, one.words, tables=[table], level=3)


def map_of_raters(found: RaterMap, level: Level) -> Iterator[Section]:
    """Which axes disagreement follows; where there is a map, the numbers behind it."""
    yield Section("Map of raters", said=sentences(found, level))
    if found.reason is None:
        axes = Table("map", "What axes explain", axes_table(found), 1, EXPLANATION)
        yield Section(words=EXPLANATION, tables=[axes])
        words = distance_words(level)
        groups = Table("map-groups", "How far raters differ", groups_table(found, level), 2, words)
        yield Section(words=words, tables=[groups])
