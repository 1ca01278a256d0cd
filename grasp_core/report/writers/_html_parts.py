"""What an HTML report is made of: its style, tables, figures, lists and sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from xml.etree import ElementTree

import altair as alt
import pandas as pd

from grasp_core.model.errors import MissingPackageError
from grasp_core.model.text import Sentence
from grasp_core.report.charts.theme import to_svg
from grasp_core.report.words.names import FITTED, SIGNIFICANCE_NAMES

_ELEMENTS = frozenset({"g", "defs", "clipPath", "rect", "path", "line", "circle", "text", "tspan"})
_ATTRIBUTES = frozenset(
    {"d", "x", "y", "dx", "dy", "x1", "y1", "x2", "y2", "cx", "cy", "r", "width", "height", "transform"}
    | {"fill", "fill-opacity", "opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray"}
    | {"stroke-linejoin", "stroke-linecap", "stroke-miterlimit"}
    | {"id", "clip-path", "text-anchor", "font-size", "font-weight", "font-style"}
)
_AS_INHERITED = {("opacity", "1"), ("font-weight", "normal"), ("font-style", "normal")}
_OWN_ID = re.compile(r"url\(#([\w-]+)\)")


_SIGNS = re.compile(r"(?<= )([↑↓]?)(\*{0,2})(†?)(‡?)(\??)$")
_WORDS = (
    {"↑": "above random groupings", "↓": "below random groupings"},
    {"**": SIGNIFICANCE_NAMES["corrected"], "*": SIGNIFICANCE_NAMES["nominal"]},
    {FITTED: "p fitted"},
)
"""What signs behind a value are read out as."""


def rows(caption: str, heads: Sequence[str], cells: Iterable[Sequence[str]], kinds: Sequence[str]) -> str:
    """A table of texts that scrolls sideways where it is too wide; the first column names its rows.

    `kinds`: the CSS class of each column; signs behind a "number" are read out as words.
    """
    head = "".join(_cell("th", escape(one), css, "col") for one, css in zip(heads, kinds, strict=False))
    body = "\n".join(f"<tr>{''.join(_cells(line, kinds))}</tr>" for line in cells)
    return _scrolling(
        caption,
        f"<table>\n<caption>{escape(caption)}</caption>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{body}\n</tbody>\n</table>",
    )


def _cells(line: Sequence[str], kinds: Sequence[str]) -> Iterator[str]:
    for place, (words, css) in enumerate(zip(line, kinds, strict=False)):
        found = _SIGNS.search(words) if css == "number" else None
        if found is None or not found.group():
            yield _cell("td" if place else "th", escape(words), css, "" if place else "row")
            continue
        marks = {"**": " corrected", "*": " nominal"}.get(found[2], "")
        read = ", ".join(
            filter(None, (known.get(sign) for known, sign in zip(_WORDS, found.groups(), strict=False)))
        )
        beside = f'<span aria-hidden="true">{found.group()}</span><span class="unseen">{read}</span>'
        yield _cell("td", escape(words[: found.start()]) + beside, css + marks)


def frame(caption: str, texts: pd.DataFrame, names: int) -> str:
    """The same of a table of texts: first names, of which the group's comes first, then numbers."""
    order = sorted(range(len(texts.columns)), key=lambda place: texts.columns[place] != "Group")
    cells = ([str(line[place]) for place in order] for line in texts.to_numpy().tolist())
    kinds = [""] * names + ["number"] * (len(order) - names)
    return rows(caption, [str(texts.columns[place]) for place in order], cells, kinds)


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


def _cell(tag: str, markup: str, css: str, scope: str = "") -> str:
    attributes = (f' scope="{scope}"' if scope else "") + (f' class="{css}"' if css else "")
    return f"<{tag}{attributes}>{markup}</{tag}>"


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
