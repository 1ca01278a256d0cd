"""A result's table as LaTeX, to be put into a paper."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

import pandas as pd

from grasp_core.analysis.rater_map_values import RaterMap
from grasp_core.model.groups import axis_label, group_label, one_line
from grasp_core.model.outcome import Outcome
from grasp_core.model.remarks.benchmark import ranked
from grasp_core.model.result import GroupResult, RunResult
from grasp_core.model.text import printable
from grasp_core.report.contents import brackets, marks, run_title
from grasp_core.report.everybody import agreement_tables, in_one_line
from grasp_core.report.given import GIVEN_EXPLANATION, given_table
from grasp_core.report.in_numbers import dsi_in_numbers, in_numbers
from grasp_core.report.pair_tables import pairs_in_words
from grasp_core.report.pairs import PAIRS_EXPLANATION, PAIRS_SAID, most_told
from grasp_core.report.rater_map import EXPLANATION, axes_table, distance_words, groups_table, printable_map
from grasp_core.report.slices import sliced
from grasp_core.report.tables import label_use_by_group, ordered_groups, wide_table
from grasp_core.report.words.names import (
    DSI_EXPLANATION,
    LABEL_USE_EXPLANATION,
    MINUS,
    WORDS,
    format_value,
    outcome_of,
    reported_statistics,
    signs,
)
from grasp_core.report.words.printable import printable_result

_PAGE = 45
"""Rows that fit on a page."""
_LONG = "% Longer than a page: split it, or use the package longtable."
_ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"{\char34}",
    "`": "{`}",
    # At the beginning of a row these would be options of the line break before.
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    # Signs that pdfLaTeX lacks as letters.
    MINUS: r"$-$",
    "×": r"$\times$",
    "÷": r"$\div$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "α": r"$\alpha$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "–": "--",
    "—": "---",
    "\u2018": "`",
    "’": "'",
    "“": "``",
    "”": "''",
    "…": r"\dots{}",
    "\u00a0": "~",
    "\0": "{}",  # put in by `_LIGATURE`
}
_TRANSLATION = str.maketrans(_ESCAPES)
_LIGATURE = re.compile(r"([-',])(?=\1)")


def escape_latex(text: str) -> str:
    """Text that LaTeX sets as it is; no character of it is a command.

    Letters outside ASCII stay themselves: pdfLaTeX sets the European ones, XeLaTeX and LuaLaTeX all
    that the font has.
    """
    return _LIGATURE.sub("\\1\0", printable(text)).translate(_TRANSLATION)


def table_latex(result: RunResult, found: RaterMap | None = None) -> str:
    r"""Table 5 as a ``table*`` with booktabs rules, a caption and the label ``tab:grasp``; then what else is.

    Tables of their own have DSI (``tab:grasp-dsi``), label use (``tab:grasp-labels``), pairs of groups
    (``tab:grasp-pairs``) and each column's slices (``tab:grasp-slices-1``...), the groups given each axis
    (``tab:grasp-given-1``...), every number with its interval, p and q (``tab:grasp-numbers``...), and,
    where the map of raters was made, what axes explain (``tab:grasp-map``, ``tab:grasp-map-groups``).
    """
    result = printable_result(result)
    if result.of_everybody and result.everybody is not None:
        title = f"{run_title(result.spec)}. {in_one_line(result)}"
        lines = [r"% In the preamble: \usepackage{booktabs}"]
        for place, (heading, table) in enumerate(agreement_tables(result.everybody), 1):
            lines += _table(table, f"{heading}: {title}", f"agreement-{place}", texts=1)
        return "\n".join(lines) + "\n"
    statistics = reported_statistics(result)
    heads = [rf"\multicolumn{{2}}{{c}}{{{escape_latex(WORDS[name].name)}}}" for name in statistics]
    lines = [
        *_remarks(result),
        r"\begin{table*}",
        r"\centering",
        r"\small",
        r"\setlength{\tabcolsep}{3pt}",
        rf"\caption{{{_caption(result)}}}",
        r"\label{tab:grasp}",
        rf"\begin{{tabular}}{{lr{'r@{ }l' * len(statistics)}}}",
        r"\toprule",
        rf"Group & Raters & {' & '.join(heads)} \\",
        *_body(result, statistics),
        r"\bottomrule",
        r"\end{tabular}",
        *_warned(result),
        r"\end{table*}",
        *(line for table in _further(result) for line in _minding(table, result)),
        *(line for table in _of_map(result, found) for line in table),
    ]
    return "\n".join(lines) + "\n"


def _warned(result: RunResult) -> list[str]:
    """A note below the table: whoever copies the table has what may undo its marks."""
    if not result.warnings:
        return []
    said = (rf"({place}) {escape_latex(str(one))}" for place, one in enumerate(ranked(result.warnings), 1))
    return _note(f"Mind: {'; '.join(said)}.")


def _note(escaped: str) -> list[str]:
    """Words below a table, within its float."""
    return [r"\par\medskip", rf"\begin{{minipage}}{{\textwidth}}\footnotesize {escaped}\end{{minipage}}"]


def _minding(table: list[str], result: RunResult) -> list[str]:
    """A further table whose caption leads to the note below the first, where there is one."""
    if not result.warnings:
        return table
    see = r" Mind the note below Table~\ref{tab:grasp}.}"
    return [line.removesuffix("}") + see if line.startswith(r"\caption{") else line for line in table]


def _further(result: RunResult) -> Iterator[list[str]]:
    """Tables of what else was computed."""
    title = run_title(result.spec)
    if result.dsi:
        yield _table(dsi_in_numbers(result), f"DSI of every axis: {title}. {DSI_EXPLANATION}", "dsi", texts=2)
    labels = label_use_by_group(result)
    if not labels.empty:
        yield _table(labels, f"Label use: {title}. {LABEL_USE_EXPLANATION}", "labels", texts=2)
    if result.pairs:
        what = f"Pairs of groups, each with its raters: {title}. {PAIRS_EXPLANATION}"
        told = " ".join(sentence.plain for sentence in most_told(result, PAIRS_SAID))
        yield _table(pairs_in_words(result), what, "pairs", texts=3, note=told)
    for position, found in enumerate(result.slices, 1):
        what = f"Every group on the items of each value of {one_line(found.column)}: {title}."
        yield _table(sliced(result, found, wide_table), what, f"slices-{position}", texts=4)
    for position, given in enumerate(result.given, 1):
        what = f"Every group given {axis_label((given.column,))}: {title}. {GIVEN_EXPLANATION}"
        yield _table(given_table(result, given), what, f"given-{position}", texts=1)
    for one in in_numbers(result):
        what = f"{one.title}: {title}. {one.explanation} {brackets(result.spec.analysis)}"
        yield _table(one.table, what, one.key, texts=one.names)


def _of_map(result: RunResult, found: RaterMap | None) -> Iterator[list[str]]:
    """Tables of the map of raters, where there is one."""
    if found is None or found.reason is not None:
        return
    found, level, title = printable_map(found), result.spec.analysis.level, run_title(result.spec)
    yield _table(axes_table(found), f"What axes explain: {title}. {EXPLANATION}", "map", texts=1)
    what = f"How far raters differ: {title}. {distance_words(level)}"
    yield _table(groups_table(found, level), what, "map-groups", texts=2)


def _table(table: pd.DataFrame, what: str, label: str, *, texts: int, note: str = "") -> list[str]:
    """A table of texts as it is, and words below it; after the first columns all stand to the right."""
    heads = " & ".join(map(escape_latex, table.columns))
    longer = [_LONG] if len(table) > _PAGE else []
    return [
        "",
        *longer,
        r"\begin{table*}",
        r"\centering",
        r"\small",
        rf"\caption{{{escape_latex(what)}}}",
        rf"\label{{tab:grasp-{label}}}",
        rf"\begin{{tabular}}{{{'l' * texts}{'r' * (len(table.columns) - texts)}}}",
        r"\toprule",
        rf"{heads} \\",
        r"\midrule",
        *(rf"{' & '.join(escape_latex(str(cell)) for cell in row)} \\" for row in table.to_numpy().tolist()),
        r"\bottomrule",
        r"\end{tabular}",
        *(_note(escape_latex(note)) if note else []),
        r"\end{table*}",
    ]


def _remarks(result: RunResult) -> list[str]:
    lines = [r"% In the preamble: \usepackage{booktabs}"]
    if any(ord(character) > 0x17F for row in result.groups for character in f"{row.group}"):
        lines.append("% Names below hold letters that pdfLaTeX may lack: use XeLaTeX or LuaLaTeX.")
    if len(result.groups) > _PAGE:
        lines.append(_LONG)
    return lines


def _caption(result: RunResult) -> str:
    analysis = result.spec.analysis
    signs = "; ".join(f"{escape_latex(sign)}: {escape_latex(meaning)}" for sign, meaning in marks(analysis))
    missing = any(
        outcome_of(row, name).value is None for row in result.groups for name in reported_statistics(result)
    )
    return (
        f"Agreement inside and across groups of raters: {escape_latex(run_title(result.spec))}, with "
        f"{result.permutations:,} random groupings. {signs}{'; ---: not estimable' if missing else ''}."
    )


def _body(result: RunResult, statistics: tuple[str, ...]) -> list[str]:
    lines = []
    width = 2 + 2 * len(statistics)
    for axes, rows in groupby(ordered_groups(result), key=lambda row: row.group.axes):
        heading = escape_latex(axis_label(axes))
        lines += [r"\midrule", rf"\multicolumn{{{width}}}{{l}}{{\textit{{{heading}}}}} \\"]
        lines += [_row(row, statistics) for row in rows]
    return lines or [r"\midrule", rf"\multicolumn{{{width}}}{{l}}{{There is no group to show.}} \\"]


def _row(row: GroupResult, statistics: tuple[str, ...]) -> str:
    cells = [_cell(outcome_of(row, name)) for name in statistics]
    return rf"{escape_latex(group_label(row.group))} & {row.n_raters} & {' & '.join(cells)} \\"


def _cell(outcome: Outcome) -> str:
    if outcome.value is None:
        return r"\multicolumn{2}{c}{---}"
    arrow = {"up": r"$\uparrow$", "down": r"$\downarrow$", None: ""}[outcome.direction]
    return f"{escape_latex(format_value(outcome.value))} & {arrow}{signs(outcome)}"
