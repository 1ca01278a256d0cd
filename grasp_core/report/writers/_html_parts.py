"""What an HTML report is made of: its style, tables, figures, lists and sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from xml.etree import ElementTree

import altair as alt
import pandas as pd

from grasp_core.model.errors import MissingPackageError
from grasp_core.model.text import Sentence
from grasp_core.report.charts import to_svg

_ELEMENTS = frozenset({"g", "defs", "clipPath", "rect", "path", "line", "circle", "text", "tspan"})
_ATTRIBUTES = frozenset(
    {"d", "x", "y", "dx", "dy", "x1", "y1", "x2", "y2", "cx", "cy", "r", "width", "height", "transform"}
    | {"fill", "fill-opacity", "opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray"}
    | {"stroke-linejoin", "stroke-linecap", "stroke-miterlimit"}
    | {"id", "clip-path", "text-anchor", "font-size", "font-weight", "font-style"}
)
_AS_INHERITED = {("opacity", "1"), ("font-weight", "normal"), ("font-style", "normal")}
_OWN_ID = re.compile(r"url\(#([\w-]+)\)")


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


def frame(caption: str, texts: pd.DataFrame, names: int, last: Callable[[str], Cell] = number) -> str:
    """The same of a table of texts: first names, then numbers, then what `last` makes a cell of."""
    kinds: list[Callable[[str], Cell]] = [*[text] * names, *[number] * (len(texts.columns) - names - 1), last]
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


def paragraph(words: str) -> str:
    """A paragraph of plain text."""
    return f"<p>{escape(words)}</p>"


def folded(summary: str, markup: str) -> str:
    """Markup that opens by a click."""
    return f"<details><summary>{escape(summary)}</summary>\n{markup}</details>"


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


def inline_svg(svg: str, *, name: str, alt: str) -> str:
    """A chart's SVG as an element of an HTML document."""
    root = ElementTree.fromstring(svg)  # noqa: S314 - no stranger's file, our own renderer's
    found = [element.attrib["id"] for element in root.iter() if "id" in element.attrib]
    ids = {old: f"{name}-{position}" for position, old in enumerate(found)}
    figure = ElementTree.Element(
        "svg",
        {
            "viewBox": root.get("viewBox", ""),
            "width": root.get("width", ""),
            "role": "img",
            "aria-label": alt,
        },
    )
    figure.extend(_copies(root, ids))
    return ElementTree.tostring(figure, encoding="unicode")


def _copies(parent: ElementTree.Element, ids: Mapping[str, str]) -> list[ElementTree.Element]:
    copies = []
    for child in parent:
        tag = child.tag.rpartition("}")[2]
        if tag not in _ELEMENTS or child.get("display") == "none" or child.get("opacity") == "0":
            continue
        copy = ElementTree.Element(tag, _attributes(child, ids))
        copy.text, copy.tail = child.text, child.tail
        copy.extend(_copies(child, ids))
        copies.append(copy)
    return copies


def _attributes(element: ElementTree.Element, ids: Mapping[str, str]) -> dict[str, str]:
    kept = {}
    for key, value in element.attrib.items():
        if key not in _ATTRIBUTES or (key, value) in _AS_INHERITED:
            continue
        if key == "id":
            kept[key] = ids[value]
        elif (own := _OWN_ID.fullmatch(value)) and own[1] in ids:
            kept[key] = f"url(#{ids[own[1]]})"
        elif "url(" not in value:
            kept[key] = value
    return kept
