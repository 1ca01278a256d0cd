"""Marks in figures: their looks, and their names for a screen reader, also where nothing is marked."""

import re

import pytest

from grasp_core.model.result import RunResult
from grasp_core.report.charts.forest import forest_plot
from grasp_core.report.charts.theme import to_svg
from tests.report.charts.drawn import CHARTS, COLOURS, encodings
from tests.results import make_group, make_outcome, make_result

ALL = {**CHARTS, "forest": lambda found, theme="light": forest_plot(found, "gai", theme)}


@pytest.fixture(scope="module")
def quiet() -> RunResult:
    """Two groups of which nothing is marked."""
    alike = {name: make_outcome(0.5, "up") for name in ("irr", "xrr", "gai")}
    return make_result((make_group("A", **alike), make_group("B", **alike)), statistics=tuple(alike))


@pytest.mark.parametrize("name", ALL)
def test_a_symbol_has_a_name_or_is_hidden(name: str, quiet: RunResult) -> None:
    svg = to_svg(ALL[name](quiet))
    symbols = re.findall(r'<\w+ [^>]*role="graphics-symbol"[^>]*>', svg)
    assert symbols
    assert [symbol for symbol in symbols if "aria-label=" not in symbol] == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ALL)
def test_significance_has_its_colour_its_shape_and_one_legend(name: str, theme: str) -> None:
    chart = ALL[name](make_result(), theme)
    domain = ["after correction", "may be luck", "not significant"]
    colours, shapes = encodings(chart, "color"), encodings(chart, "shape")
    assert shapes
    assert all(one["scale"] == {"domain": domain, "range": COLOURS[theme]} for one in colours)
    range_ = ["diamond", "triangle-up", "circle"]
    assert all(one["scale"] == {"domain": domain, "range": range_} for one in shapes)
    assert {str(one["legend"]) for one in colours} == {str(one["legend"]) for one in shapes}
