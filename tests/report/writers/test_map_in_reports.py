"""The map of raters in every report: where it was made, and only there."""

import dataclasses
import io
import re

import openpyxl
import pytest

from grasp_core.analysis.rater_map import rater_map
from grasp_core.analysis.rater_map_values import NOTHING, MapPoint, RaterMap
from grasp_core.model.groups import Group
from grasp_core.model.remarks.cautions import NoMap
from grasp_core.report.rater_map import sentences
from grasp_core.report.writers.registry import EXPORTS
from tests.analysis.cases import divided
from tests.report.hostile import TEXTS
from tests.results import make_group, make_result

RESULT = make_result((make_group("A"),), statistics=("irr",), dsi=())
REPORTS = ("html", "latex", "markdown", "xlsx")


@pytest.fixture(scope="module")
def found() -> RaterMap:
    """Women who give the opposite label on many items, so that the axis holds."""
    return rater_map(divided(1))


def written(name: str, found: RaterMap | None) -> str:
    """A report's text; of a workbook, that of all its cells."""
    content = EXPORTS[name].make(RESULT, found)
    if name != "xlsx":
        return content.decode()
    book = openpyxl.load_workbook(io.BytesIO(content))
    return "\n".join(str(cell.value) for sheet in book for row in sheet.iter_rows() for cell in row)


@pytest.mark.parametrize("name", REPORTS)
def test_reports_say_which_axes_disagreement_follows(name: str, found: RaterMap) -> None:
    text = written(name, found)
    for words in ("Woman", "Two of the group", "One of it, one other"):
        assert words in text
    assert text != written(name, None)
    if name != "latex":  # tables alone
        assert sentences(found, "nominal")[0].segments[0].text in re.sub(r"</?\w+>|\*", "", text)


@pytest.mark.parametrize("name", sorted(set(EXPORTS) - set(REPORTS)))
def test_other_files_have_no_map(name: str, found: RaterMap) -> None:
    assert EXPORTS[name].make(RESULT, found) == EXPORTS[name].make(RESULT)


def test_the_workbook_has_its_numbers(found: RaterMap) -> None:
    book = openpyxl.load_workbook(io.BytesIO(EXPORTS["xlsx"].make(RESULT, found)))
    heads, row = ([cell.value for cell in cells] for cells in book["Map of raters"])
    shown = dict(zip(heads, row, strict=True))
    (axis,) = found.axes
    assert shown["Share explained"] == pytest.approx(axis.explained)
    assert (shown["Axis"], shown["q"]) == ("gender", pytest.approx(axis.q))
    groups = list(book["Groups on the map"].iter_rows(min_row=2, values_only=True))
    assert [groups[0][1:4], groups[1][1:4]] == [
        (row.group.values[0], row.n_raters, pytest.approx(row.within)) for row in axis.groups
    ]


def test_the_html_report_draws_it_by_axes_that_hold(found: RaterMap) -> None:
    page = written("html", found)
    (section,) = re.findall(r'<section id="raters">.*?</section>', page, flags=re.DOTALL)
    figures = re.findall(r'<img[^>]*alt="(Map of 40 raters by gender: [^"]*)"', section)
    assert len(figures) == 1
    assert '<a href="#raters">Map of raters</a>' in page
    unsure = dataclasses.replace(found.axes[0], axes=("gender", "gender"), q=0.9, significance="none")
    twice = dataclasses.replace(found, axes=(unsure, *found.axes))
    assert written("html", twice).count("Map of 40 raters") == page.count("Map of 40 raters")


@pytest.mark.parametrize("name", ["html", "markdown", "xlsx"])
def test_why_there_is_none_is_said(name: str) -> None:
    nothing = dataclasses.replace(NOTHING, reason=NoMap.NO_DISAGREEMENT())
    text = written(name, nothing)
    assert "There is no map of raters" in text
    assert "Two of the group" not in text


@pytest.mark.parametrize("name", REPORTS)
def test_hostile_names_stay_text(name: str, found: RaterMap) -> None:
    (axis,) = found.axes
    groups = tuple(
        dataclasses.replace(axis.groups[0], group=Group((TEXTS[0],), (text,)), n_raters=2) for text in TEXTS
    )
    points = tuple(
        MapPoint(point.x, point.y, (TEXTS[place % len(TEXTS)],)) for place, point in enumerate(found.points)
    )
    named = dataclasses.replace(axis, axes=(TEXTS[0],), groups=groups)
    shown = written(name, dataclasses.replace(found, columns=(TEXTS[0],), axes=(named,), points=points))
    assert "alert" in shown
    assert "\u202e" not in shown
    assert "x" * 201 not in shown
    if name in ("html", "markdown"):
        assert "<script>" not in shown.replace("\\<script", "")
