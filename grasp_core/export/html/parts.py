"""Pieces of an HTML document; what they are given as text is escaped, what is markup says so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

import altair as alt
import pandas as pd

from grasp_core.charts import to_svg
from grasp_core.errors import MissingPackageError
from grasp_core.export.figure import inline_svg
from grasp_core.report.words.text import Sentence


@dataclass(frozen=True, slots=True)
class Cell:
    """A table cell's markup and CSS class."""

    markup: str
    css: str = ""


def text(words: str, css: str = "") -> Cell:
    """A cell of text."""
    return Cell(escape(words), css)


def number(digits: str) -> Cell:
    """A cell of digits, flush right."""
    return Cell(escape(digits), "number")


def table(caption: str, heads: Sequence[Cell], rows: Iterable[Sequence[Cell]]) -> str:
    """A table that scrolls sideways where it is too wide; the first column names its rows."""
    head = "".join(_cell("th", cell, "col") for cell in heads)
    body = "\n".join(
        "<tr>"
        + "".join(
            _cell("th", cell, "row") if position == 0 else _cell("td", cell)
            for position, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    return _scrolling(
        caption,
        f"<table>\n<caption>{escape(caption)}</caption>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{body}\n</tbody>\n</table>",
    )


def frame(caption: str, texts: pd.DataFrame, names: int) -> str:
    """The same of a table of texts, whose first columns hold names, and the others numbers."""
    kinds = [text] * names + [number] * (len(texts.columns) - names)
    lines = [list(texts.columns), *texts.to_numpy().tolist()]
    heads, *rows = [[kind(str(cell)) for kind, cell in zip(kinds, line, strict=True)] for line in lines]
    return table(caption, heads, rows)


def figure(chart: alt.LayerChart, name: str) -> str:
    """A chart, or its description where none can be drawn; `name` is unique in the document."""
    try:
        drawn = to_svg(chart)
    except MissingPackageError as error:
        return f"<p>{escape(str(chart.description))} (Not drawn: {escape(str(error))}.)</p>"
    svg = inline_svg(drawn, name=name, alt=str(chart.description))
    return _scrolling("Figure", svg, css="scroll figure")


def listing(markups: Iterable[str]) -> str:
    """A bulleted list; nothing where there is no entry."""
    entries = "\n".join(f"<li>{markup}</li>" for markup in markups)
    return f"<ul>\n{entries}\n</ul>" if entries else ""


def definitions(entries: Mapping[str, str]) -> str:
    """Names with their markup."""
    pairs = (f"<dt>{escape(name)}</dt><dd>{markup}</dd>" for name, markup in entries.items())
    return "<dl>\n{}\n</dl>".format("\n".join(pairs))


def code(label: str, lines: str) -> str:
    """Text to copy, with its line breaks."""
    return f'<pre tabindex="0" role="group" aria-label="{escape(label)}">{escape(lines)}</pre>'


def sentence(words: Sentence) -> str:
    """A sentence; names keep their own reading direction."""
    return "".join(
        f"<strong><bdi>{escape(part.text)}</bdi></strong>" if part.strong else escape(part.text)
        for part in words.segments
    )


def _cell(tag: str, cell: Cell, scope: str = "") -> str:
    attributes = (f' scope="{scope}"' if scope else "") + (f' class="{cell.css}"' if cell.css else "")
    return f"<{tag}{attributes}>{cell.markup}</{tag}>"


def _scrolling(label: str, markup: str, css: str = "scroll") -> str:
    return f'<div class="{css}" role="group" tabindex="0" aria-label="{escape(label)}">\n{markup}\n</div>'
