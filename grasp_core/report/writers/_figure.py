"""Figures inside an HTML document: only shapes and text, without ids that clash or links that lead out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.etree import ElementTree

_ELEMENTS = frozenset({"g", "defs", "clipPath", "rect", "path", "line", "circle", "text", "tspan"})
_ATTRIBUTES = frozenset(
    {"d", "x", "y", "dx", "dy", "x1", "y1", "x2", "y2", "cx", "cy", "r", "width", "height", "transform"}
    | {"fill", "fill-opacity", "opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray"}
    | {"stroke-linejoin", "stroke-linecap", "stroke-miterlimit"}
    | {"id", "clip-path", "text-anchor", "font-size", "font-weight", "font-style"}
)
_AS_INHERITED = {("opacity", "1"), ("font-weight", "normal"), ("font-style", "normal")}
_OWN_ID = re.compile(r"url\(#([\w-]+)\)")


def inline_svg(svg: str, *, name: str, alt: str) -> str:
    """A chart's SVG as an element of an HTML document.

    `svg`: from :func:`grasp_core.report.charts.to_svg`.
    `name`: begins the figure's ids, so that no other figure in the document has them. The rest is numbered
        anew: the renderer's own numbers go on from figure to figure.
    `alt`: what the figure shows; it stands for all its parts.
    """
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
