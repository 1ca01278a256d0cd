"""A result's tables as Markdown, for GitHub and other places that know its tables."""

import re
from collections.abc import Iterable

import pandas as pd

from grasp_core.analysis.items.outcomes import ItemsResult
from grasp_core.analysis.rater_map_values import RaterMap
from grasp_core.model.result import RunResult
from grasp_core.model.text import WORD_JOINER, printable
from grasp_core.report import items
from grasp_core.report.contents import marks, not_estimable, run_title
from grasp_core.report.document import every_number, further, map_of_raters
from grasp_core.report.everybody import agreement_tables, in_one_line
from grasp_core.report.findings.answer import answer
from grasp_core.report.tables import wide_table
from grasp_core.report.words.label_use import labelled_sentence
from grasp_core.report.words.printable import printable_result

_MARKUP = re.compile(r"[\\`*_\[\]<>|~$&!#]")
_LINKED_AFTER_PARSING = re.compile(r"[:@](?=\S)|www(?=\.)", re.IGNORECASE)


def escape_inline(text: str) -> str:
    r"""Text that shows as itself inside a line of Markdown or a cell of its tables.

    A backslash stops what GitHub's parser knows: emphasis, links, HTML, maths, cell borders. Emoji
    codes, mentions and bare addresses are replaced after parsing; an invisible word joiner breaks those.
    """
    escaped = _MARKUP.sub(lambda found: "\\" + found.group(), " ".join(printable(text).split()))
    return _LINKED_AFTER_PARSING.sub(lambda found: found.group() + WORD_JOINER, escaped)


def table_markdown(result: RunResult, found: RaterMap | None = None) -> str:
    """Markdown of the answer in words, Table 5 with its marks explained, all other results, and the map."""
    result = printable_result(result)
    told, analysis = answer(result), result.spec.analysis
    others = ["**Warnings**", told.warned.lead] if told.warned.others else []
    parts = [
        f"# {escape_inline(run_title(result.spec))}",
        f"{escape_inline(labelled_sentence(result.spec.data, result.data))}.",
        told.headline.marked(escape_inline),
        *(["Careful:", _listed(map(str, told.warned.first))] if told.warned.first else []),
        "\n".join(f"- {one.marked(escape_inline)}" for one in told.in_files),
        *others,
        _listed(map(str, told.warned.others)),
    ]
    if result.of_everybody and result.everybody is not None:
        for heading, table in agreement_tables(result.everybody):
            parts += [f"## {escape_inline(heading)}", frame_markdown(table, 1)]
        return "\n\n".join(filter(None, parts)) + "\n"
    parts += [
        escape_inline(in_one_line(result)),
        frame_markdown(wide_table(result), 2),
        "; ".join(f"{escape_inline(sign)}: {meaning}" for sign, meaning in marks(result)) + ".",
        *(f"- {escape_inline(sentence)}" for sentence in not_estimable(result)),
    ]
    sections = [*further(result)]
    on_map = () if found is None else map_of_raters(printable_result(found), analysis.level)
    numbers = every_number(result, sections) if result.groups else ()
    for one in (*sections, *on_map, *numbers):
        parts += [
            f"{'#' * one.level} {escape_inline(one.heading)}" if one.heading else "",
            escape_inline(one.words),
            "\n".join(f"- {sentence.marked(escape_inline)}" for sentence in one.said),
            *(frame_markdown(table.frame, table.names) for table in one.tables),
        ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _listed(texts: Iterable[str]) -> str:
    return "\n".join(f"- {escape_inline(one)}" for one in texts)


def frame_markdown(table: pd.DataFrame, texts: int) -> str:
    """A table in Markdown; its first columns are texts, the others numbers."""
    rule = [":--"] * texts + ["--:"] * (len(table.columns) - texts)
    rows = [list(table.columns), *table.to_numpy().tolist()]
    lines = [[escape_inline(str(cell)) for cell in row] for row in rows]
    drawn = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([drawn[0], f"| {' | '.join(rule)} |", *drawn[1:]])


MARKDOWN_ROWS = 50
"""Number of items that Markdown lists for each measure; the files for programs have all."""


def items_markdown(result: ItemsResult) -> str:
    """Sentences and the first items of each measure, largest first."""
    parts = [f"# {escape_inline(items.items_title(result))}"]
    for measure, name in items.MEASURES.items():
        rows = items.in_order(result, measure, "part")
        parts += [
            f"## {name}",
            *(f"- {escape_inline(one.plain)}" for one in items.sentences(result, measure)),
        ]
        if rows:
            frame = items.items_table(result, measure, rows[:MARKDOWN_ROWS])
            parts.append(frame_markdown(frame, len(frame.columns)))
        if len(rows) > MARKDOWN_ROWS:
            parts.append(f"{len(rows) - MARKDOWN_ROWS:,} further items are in the CSV.")
    return "\n\n".join(parts) + "\n"
