"""What a screen reader meets in figures: no group of marks without a name, though nothing is marked."""

from __future__ import annotations

import re

import pytest

from grasp_core.model.result import RunResult
from grasp_core.report.charts.groups import forest_plot
from grasp_core.report.charts.theme import to_svg
from tests.report.charts.drawn import CHARTS
from tests.results import make_group, make_outcome, make_result

ALL = {**CHARTS, "forest": lambda found: forest_plot(found, "gai")}


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
