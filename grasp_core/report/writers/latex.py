"""A result's table as LaTeX, to be put into a paper."""

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from grasp_core.analysis.rater_map_values import RaterMap
from grasp_core.model.groups import axis_label, group_label
from grasp_core.model.outcome import Outcome
from grasp_core.model.remarks.benchmark import ranked
from grasp_core.model.result import RunResult
from grasp_core.model.text import printable
from grasp_core.report.contents import marks, run_title
from grasp_core.report.document import Section, TextTable, every_number, further, map_of_raters
from grasp_core.report.everybody import agreement_tables, in_one_line
from grasp_core.report.tables import ordered_groups
from grasp_core.report.words.names import (
    MINUS,
    WORDS,
    format_value,
    reported_statistics,
    shown_outcome,
    signs,
)
from grasp_core.report.words.printable import printable_result

_PAGE = 45
"""Number of rows that fit on a page."""
_LONG = "% Longer than a page: split it, or use the package longtable."
_BOOKTABS = r"% In the preamble: \usepackage{booktabs}"
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
    """Text that LaTeX sets as it is, none of it a command; letters outside ASCII stay themselves."""
    return _LIGATURE.sub("\\1\0", printable(text)).translate(_TRANSLATION)


def table_latex(result: RunResult, found: RaterMap | None = None) -> str:
    """Table 5 as a ``table*`` with booktabs rules and the label ``tab:grasp``; then all other tables."""
    result = printable_result(result)
    if result.of_everybody and result.everybody is not None:
        title = f"{run_title(result.spec)}. {in_one_line(result)}"
        lines = [_BOOKTABS]
        for place, (heading, frame) in enumerate(agreement_tables(result.everybody), 1):
            lines += _table(TextTable(f"agreement-{place}", heading, frame, 1), f"{heading}: {title}")
        return "\n".join(lines) + "\n"
    warned = (rf"({place}) {escape_latex(str(one))}" for place, one in enumerate(ranked(result.warnings), 1))
    # A copied table includes the warnings that may undo its marks.
    note = _note(f"Careful: {'; '.join(warned)}.") if result.warnings else []
    see = r" See the note below Table~\ref{tab:grasp}." if result.warnings else ""
    on_map: Iterable[Section] = ()
    if found is not None and found.reason is None:
        on_map = map_of_raters(printable_result(found), result.spec.analysis.level)
    sections = [*further(result)]
    sections += every_number(result, sections)
    lines = [*_groups(result, note), *_tables(sections, result, see)]
    return "\n".join([*lines, *_tables(on_map, result)]) + "\n"


def _groups(result: RunResult, note: list[str]) -> list[str]:
    """Table 5, with a note below it."""
    statistics = reported_statistics(result)
    heads = [rf"\multicolumn{{2}}{{c}}{{{escape_latex(WORDS[name].name)}}}" for name in statistics]
    width = 2 + 2 * len(statistics)
    body, missing = list[str](), False
    for axes, rows in groupby(ordered_groups(result), key=lambda row: row.group.axes):
        heading = escape_latex(axis_label(axes))
        body += [r"\midrule", rf"\multicolumn{{{width}}}{{l}}{{\textit{{{heading}}}}} \\"]
        for row in rows:
            outcomes = [shown_outcome(row, name) for name in statistics]
            missing = missing or any(one.value is None for one in outcomes)
            name, cells = escape_latex(group_label(row.group)), " & ".join(map(_cell, outcomes))
            body.append(rf"{name} & {row.n_raters} & {cells} \\")
    signs = "; ".join(f"{escape_latex(sign)}: {escape_latex(meaning)}" for sign, meaning in marks(result))
    caption = (
        f"Agreement inside and across groups of raters: {escape_latex(run_title(result.spec))}, with "
        f"{result.permutations:,} random groupings. {signs}{'; ---: not estimable' if missing else ''}."
    )
    lines = [_BOOKTABS]
    if any(ord(character) > 0x17F for row in result.groups for character in f"{row.group}"):
        lines.append("% Names below hold letters that pdfLaTeX may lack: use XeLaTeX or LuaLaTeX.")
    if len(result.groups) > _PAGE:
        lines.append(_LONG)
    none = [r"\midrule", rf"\multicolumn{{{width}}}{{l}}{{There is no group to show.}} \\"]
    head, columns = " & ".join(["Group", "Raters", *heads]), f"lr{'r@{ }l' * len(statistics)}"
    tight = [r"\setlength{\tabcolsep}{3pt}"]
    return [*lines, *_float(tight, caption, "tab:grasp", columns, [rf"{head} \\", *(body or none)], note)]


def _float(
    look: Sequence[str], caption: str, label: str, columns: str, lines: Sequence[str], note: Sequence[str]
) -> list[str]:
    """A table over both columns of a page, and words below it."""
    return [
        *(r"\begin{table*}", r"\centering", r"\small", *look),
        *(rf"\caption{{{caption}}}", rf"\label{{{label}}}"),
        *(rf"\begin{{tabular}}{{{columns}}}", r"\toprule", *lines, r"\bottomrule", r"\end{tabular}"),
        *(*note, r"\end{table*}"),
    ]


def _cell(outcome: Outcome) -> str:
    if outcome.value is None:
        return r"\multicolumn{2}{c}{---}"
    arrow = {"up": r"$\uparrow$", "down": r"$\downarrow$", None: ""}[outcome.direction]
    return f"{escape_latex(format_value(outcome.value))} & {arrow}{signs(outcome)}"


def _note(escaped: str) -> list[str]:
    return [r"\par\medskip", rf"\begin{{minipage}}{{\textwidth}}\footnotesize {escaped}\end{{minipage}}"]


def _tables(sections: Iterable[Section], result: RunResult, see: str = "") -> list[str]:
    """Tables of all other results; `see` ends their captions."""
    title, lines = run_title(result.spec), list[str]()
    for table in (table for section in sections for table in section.tables):
        what = f"{table.caption}: {title}." + (f" {table.words}" if table.words else "")
        lines += _table(table, what, see)
    return lines


def _table(table: TextTable, what: str, see: str = "") -> list[str]:
    """A table of texts, with its note below; columns after the names are aligned to the right."""
    frame = table.frame
    head, *rows = (
        rf"{' & '.join(escape_latex(str(cell)) for cell in row)} \\"
        for row in [list(frame.columns), *frame.to_numpy().tolist()]
    )
    columns = "l" * table.names + "r" * (len(frame.columns) - table.names)
    lines = [head, r"\midrule", *rows]
    note = _note(escape_latex(table.note)) if table.note else []
    whole = _float((), f"{escape_latex(what)}{see}", f"tab:grasp-{table.key}", columns, lines, note)
    return ["", *([_LONG] if len(frame) > _PAGE else []), *whole]
