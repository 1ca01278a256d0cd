"""A group's items as files: an Excel workbook, and Markdown."""

from __future__ import annotations

from collections.abc import Mapping

from grasp_core.analysis.items.outcomes import ItemsResult, Measure
from grasp_core.model.groups import axis_label, group_label
from grasp_core.model.text import printable, printable_name
from grasp_core.report.items import EXPLANATIONS, MEASURES, cut_text, in_order, items_table, sentences
from grasp_core.report.tables import or_nan
from grasp_core.report.words.names import STARS
from grasp_core.report.writers._workbook import Book, Column
from grasp_core.report.writers.markdown import escape_inline, frame_markdown

MARKDOWN_ROWS = 50
"""Items that Markdown lists of each measure; the files for programs have all."""


def items_title(result: ItemsResult) -> str:
    """What the files are called."""
    return f"Items of {group_label(result.group)} ({axis_label(result.group.axes)})"


def items_xlsx(result: ItemsResult, texts: Mapping[str, str] | None = None) -> bytes:
    """Workbook with a sheet of items for each measure, largest first, and one of sentences.

    `texts` are only for those who may see them.
    """
    book = Book(printable(items_title(result)), result.permutations)
    said = [
        (name, printable(sentence.plain))
        for measure, name in MEASURES.items()
        for sentence in sentences(result, measure)
    ]
    said += [(name, EXPLANATIONS[measure]) for measure, name in MEASURES.items()]
    said += [("Warning", printable(str(warning))) for warning in result.warnings]
    about, words = zip(*said, strict=True)
    book.add("Answer", [Column("About", "text", about), Column("In words", "text", words)])
    for measure, name in MEASURES.items():
        book.add(name, _items(result, measure, texts), frozen=1)
    return book.content()


def _items(result: ItemsResult, measure: Measure, texts: Mapping[str, str] | None) -> list[Column]:
    """One measure's items, largest part first, with the labels of both sides."""
    found = in_order(result, measure, "part")
    rows, parts = [row for row, _ in found], [part for _, part in found]
    columns = [Column("Item", "text", [printable(row.item) for row in rows])]
    if texts is not None:
        columns.append(Column("Text", "text", [cut_text(texts.get(row.item, "")) for row in rows]))
    if measure == "label_use":
        columns += [
            Column("Label", "text", [printable_name(part.label or "") for part in parts]),
            Column("Part, points", "points", [100 * part.value for part in parts]),
        ]
    else:
        columns.append(Column("Part", "value", [part.value for part in parts]))
    columns += [
        Column("p", "p", [or_nan(part.p) for part in parts]),
        Column("q", "p", [or_nan(part.q) for part in parts]),
        Column("*", "mark", [STARS[part.significance] for part in parts]),
    ]
    for label in result.label_use:
        shown = printable_name(label)
        columns += [
            Column(f"Group: {shown}", "count", [row.inside.get(label, 0) for row in rows]),
            Column(f"Others: {shown}", "count", [row.outside.get(label, 0) for row in rows]),
        ]
    return columns


def items_markdown(result: ItemsResult) -> str:
    """Sentences and the first items of each measure, largest first."""
    parts = [f"# {escape_inline(items_title(result))}"]
    for measure, name in MEASURES.items():
        rows = in_order(result, measure, "part")
        parts += [f"## {name}", *(f"- {escape_inline(one.plain)}" for one in sentences(result, measure))]
        if rows:
            frame = items_table(result, measure, rows[:MARKDOWN_ROWS])
            parts.append(frame_markdown(frame, len(frame.columns)))
        if len(rows) > MARKDOWN_ROWS:
            parts.append(f"{len(rows) - MARKDOWN_ROWS:,} further items are in the CSV.")
    return "\n\n".join(parts) + "\n"
