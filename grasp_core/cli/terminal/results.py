"""Print a result, and a map of raters, in words and tables on the terminal."""

import math
import shlex
import sys
from collections.abc import Iterator, Mapping

import pandas as pd

from grasp_core.analysis.rater_map_values import RaterMap
from grasp_core.cli.terminal.messages import columns, emphasised, say, say_list
from grasp_core.model.groups import group_labels, one_line
from grasp_core.model.result import RunResult, SlicesResult
from grasp_core.model.spec import Level
from grasp_core.model.text import printable
from grasp_core.report.account import how_it_ended
from grasp_core.report.contents import brackets, marks_legend
from grasp_core.report.document import dsi_in_numbers, means_in_numbers, statistics_in_numbers
from grasp_core.report.everybody import agreement_tables, in_one_line
from grasp_core.report.findings.advice import WHICH_ITEMS, ranked_findings
from grasp_core.report.findings.answer import answer
from grasp_core.report.findings.selection import leading
from grasp_core.report.pairs import PAIRS_SAID, most_told
from grasp_core.report.rater_map import axes_table, distance_words, groups_table, sentences
from grasp_core.report.slices import given_sentences, given_table, side_by_side, slice_sentences
from grasp_core.report.tables import label_use_by_group, lead_table, verdict_table, wide_table, with_label_use
from grasp_core.report.words.names import (
    DSI_EXPLANATION,
    LABEL_USE_EXPLANATION,
    LABEL_USE_NAME,
    MEAN_SHIFT_EXPLANATION,
    WORDS,
    reported_statistics,
)
from grasp_core.report.words.printable import printable_result

CLEAR = 1
"""Exit status of a result with a clear verdict, with --exit-code."""
WIDTH = 100
"""Columns of a terminal that are enough for tables with intervals."""
_LINES = 24
"""Lines that every terminal has; a brief answer fits in them."""
_FEWEST_ROWS = 3
SHOWN = 50
"""Most raters, and most groups of an axis, that are printed; files have all."""
_FEW = 10
"""Groups that are printed of an axis with more than `SHOWN`."""


def something_clear(result: RunResult) -> bool:
    """Return whether the verdict on any group is clear."""
    return any(row.verdict is not None and row.verdict.code == "clear" for row in result.groups)


def is_brief(asked: bool | None) -> bool:
    """Return whether to print little: as asked, else on a narrow terminal."""
    return sys.stdout.isatty() and (columns() or WIDTH) < WIDTH if asked is None else asked


def say_result(result: RunResult, *, brief: bool | None = None) -> None:
    """Print warnings that may undo the answer, the answer in words, then every table."""
    if is_brief(brief):
        _say_brief(result)
    else:
        _say_all(result)


def _say_brief(result: RunResult) -> None:
    """Print the answer and one table, in fewer than 25 lines of a terminal."""
    found, shown, width = answer(result), printable_result(result), columns() or WIDTH
    if result.of_everybody and result.everybody is not None:
        titled = next(agreement_tables(shown.everybody or result.everybody), None)
        table = pd.DataFrame() if titled is None else titled[1]
        names = 1
    else:
        verdicts = verdict_table(shown)
        table = lead_table(shown) if verdicts.empty else verdicts.drop(columns="Kinds")
        names = 2
    said = [
        *([f"Careful: {printable(str(found.warned.first[0]))}"] if found.warned.first else []),
        found.headline.plain,
        *([] if result.provisional else [sentence.plain for sentence in found.details[:2]]),
    ]
    room = _LINES - 3 - sum(math.ceil(len(line) / width) for line in said)
    while len(said) > 1 and room < _FEWEST_ROWS + 2:
        room += math.ceil(len(said.pop()) / width)
    headline = said.index(found.headline.plain) if found.headline.plain in said else -1
    for place, line in enumerate(said):
        say(emphasised(line) if place == headline else line)
    if not table.empty:
        fitting = table.iloc[:, [*range(names), *next(_blocks(table, names, width))]]
        rows = room - 1 if len(table) <= room - 1 else max(room - 2, _FEWEST_ROWS)
        say(f"\n{fitting.head(rows).to_string(index=False)}")
        if len(table) > rows:
            say(f"... and {len(table) - rows:,} more")
    if not result.provisional:
        say("All of it: --no-brief, or -o report.html")


def _say_all(result: RunResult) -> None:
    found, shown = answer(result), printable_result(result)
    if found.warned.first:
        say("\nCareful:", end="\n\n")
        say_list(map(str, found.warned.first))
    say(f"\n{emphasised(found.headline.plain)}", end="\n\n")
    for sentence in found.details:
        say(f"- {sentence.plain}{_how_by_command(result) if sentence == WHICH_ITEMS else ''}")
    if result.of_everybody and result.everybody is not None:
        for heading, table in agreement_tables(printable_result(result).everybody or result.everybody):
            say(f"\n{heading}\n{fitted(table.head(SHOWN), 1)}")
            if len(table) > SHOWN:
                say(f"... and {len(table) - SHOWN:,} more: -o report.html has all")
        return
    verdicts = verdict_table(shown)
    if not verdicts.empty:
        say(f"\nVerdicts, by all tests of a group together\n{_of_groups(verdicts, 2)}")
    if line := in_one_line(result):
        say(f"\n{printable(line)}")
    say(f"\n{_of_groups(wide_table(result), 2)}")
    say(f"\n{marks_legend(result)} Stars here are of one statistic alone.")
    say(f"\n{brackets(result.spec.analysis)}")
    if shown.groups:
        say(f"\n{_of_groups(statistics_in_numbers(shown, _leading(result)), 3)}")
    if shown.dsi:
        say(f"\n{DSI_EXPLANATION}\n\n{fitted(dsi_in_numbers(shown), 2)}")
    if with_label_use(result):
        _say_labels(shown)
    if result.pairs:
        say("\nPairs of groups", end="\n\n")
        for sentence in most_told(result, PAIRS_SAID):
            say(f"- {sentence.plain}")
    for found_here in shown.slices:
        _say_slices(shown, found_here)
    for sentence in given_sentences(result):
        say(f"\n- {printable(sentence.plain)}")
    for given in shown.given:
        say(f"\n{fitted(given_table(result, given), 2)}")
    for words in how_it_ended(result):
        say(f"\n{printable(words)}")


def _how_by_command(result: RunResult) -> str:
    """Return the command for the items of the group that is reported first, to follow the advice on items."""
    group = next(one for one in ranked_findings(result) if one.apart).row.group
    named = ",".join(map("=".join, group.by_axis.items()))
    return f" With the same files and choices of columns and groups: grasp items --group {shlex.quote(named)}"


def _leading(result: RunResult) -> list[str]:
    """Return the statistics that can make findings and that the run reports."""
    return [name for name in reported_statistics(result) if name in leading(result)]


def _say_labels(result: RunResult) -> None:
    say(f"\n{LABEL_USE_EXPLANATION}")
    table = label_use_by_group(result, intervals=True)
    table["Group"] = group_labels([row.group for row, _ in with_label_use(result)])
    table, more = _shortened(table)
    say(f"\n{in_width(table.drop(columns=['Axis', 'Raters']), 1)}{more}")
    means = means_in_numbers(result)
    if not means.empty:
        say(f"\n{MEAN_SHIFT_EXPLANATION}\n\n{_of_groups(means, 1)}")


def _say_slices(result: RunResult, found: SlicesResult) -> None:
    say(f"\nSlices by {found.column}\n")
    say_list(slice_sentences(result, found))
    for what in [*_leading(result), *(["label_use"] if with_label_use(result) else [])]:
        name = LABEL_USE_NAME if what == "label_use" else WORDS[what].name
        say(f"\n{name}\n{in_width(side_by_side(result, found, what), 1)}")


def in_width(table: pd.DataFrame, names: int, usual: int = WIDTH) -> str:
    """Return a table as text; columns beyond the width continue below, after the first `names` columns."""
    return "\n\n".join(
        table.iloc[:, [*range(names), *block]].to_string(index=False)
        for block in _blocks(table, names, columns() or usual)
    )


def fitted(table: pd.DataFrame, names: int) -> str:
    """Return a table as :func:`in_width` does; without a terminal in one part, for programs to read."""
    return in_width(table, names, usual=sys.maxsize)


def _of_groups(table: pd.DataFrame, names: int) -> str:
    """Return a table as :func:`fitted` does, with few groups of a long axis."""
    shown, more = _shortened(table)
    return fitted(shown, names) + more


def _shortened(table: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Return a table with the first groups of each axis of more than `SHOWN`, and how many are left out."""
    lists = table.groupby([name for name in ("Statistic", "Axis") if name in table], sort=False)
    shown = table[(lists["Axis"].transform("size") <= SHOWN) | (lists.cumcount() < _FEW)]
    left = len(table) - len(shown)
    return shown, f"\n... and {left:,} more: -o report.html has all" if left else ""


def say_tables(tables: Mapping[str, pd.DataFrame]) -> None:
    """Print the tables that have rows, below their headings."""
    for heading, table in tables.items():
        if not table.empty:
            say(f"\n{heading}\n{fitted(table, 1)}")


def _blocks(table: pd.DataFrame, names: int, width: int) -> Iterator[list[int]]:
    """Yield blocks of the columns after the names, as many as fit, at least one."""
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


def map_tables(made: RaterMap, level: Level) -> dict[str, pd.DataFrame]:
    """Return the tables of a map, by their headings."""
    return {"What axes explain": axes_table(made), "How far raters differ": groups_table(made, level)}


def say_map(made: RaterMap, level: Level) -> None:
    """Print the axes that disagreement follows, and the numbers that show it."""
    say_list(one_line(sentence.plain) for sentence in sentences(made, level))
    if made.reason is None:
        say_tables(map_tables(made, level))
        say(distance_words(level))
