"""What a screen reader meets in figures: no group of marks without a name, though nothing is marked."""

from __future__ import annotations

import re
from collections.abc import Callable

import altair as alt
import pytest

from grasp_core.model.result import RunResult
from grasp_core.report import charts
from tests.results import make_group, make_outcome, make_result

CHARTS: dict[str, Callable[[RunResult], alt.LayerChart]] = {
    "histograms": lambda found: charts.null_histograms(found, "gai"),
    "forest": lambda found: charts.forest_plot(found, "gai"),
    "cohesion": charts.cohesion_map,
    "dsi": charts.dsi_chart,
}


@pytest.fixture(scope="module")
def quiet() -> RunResult:
    """Two groups of which nothing is marked."""
    alike = {name: make_outcome(0.5, "up") for name in ("irr", "xrr", "gai")}
    return make_result((make_group("A", **alike), make_group("B", **alike)), statistics=tuple(alike))


@pytest.mark.parametrize("name", CHARTS)
def test_a_symbol_has_a_name_or_is_hidden(name: str, quiet: RunResult) -> None:
    svg = charts.to_svg(CHARTS[name](quiet))
    symbols = re.findall(r'<\w+ [^>]*role="graphics-symbol"[^>]*>', svg)
    assert symbols
    assert [symbol for symbol in symbols if "aria-label=" not in symbol] == []
