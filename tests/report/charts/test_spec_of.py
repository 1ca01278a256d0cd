"""Charts as pages send them: what Altair itself would make of them."""

from collections.abc import Callable

import altair as alt
import pytest

from grasp_core.model.result import RunResult
from grasp_core.report.charts.forest import dsi_chart, forest_plot
from grasp_core.report.charts.histograms import group_histograms, null_histograms
from grasp_core.report.charts.maps import cohesion_map
from grasp_core.report.charts.theme import spec_of
from tests.results import make_result


@pytest.mark.parametrize(
    "draw",
    [
        lambda result: null_histograms(result, "gai"),
        lambda result: forest_plot(result, "irr"),
        cohesion_map,
        dsi_chart,  # whose layers share their data
        lambda result: group_histograms(result, result.groups[0]),
    ],
)
def test_the_same_as_altairs(draw: Callable[[RunResult], alt.LayerChart]) -> None:
    chart = draw(make_result())
    spec = spec_of(chart)
    assert spec == draw(make_result()).to_dict()
    assert spec_of(chart) == spec
    assert len(spec["layer"]) > 1
