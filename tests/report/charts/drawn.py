"""What a chart draws, read from its Vega-Lite form."""

import json

from grasp_core.report.charts.forest import dsi_chart
from grasp_core.report.charts.histograms import null_histograms
from grasp_core.report.charts.maps import cohesion_map
from grasp_core.report.charts.theme import spec_of

CHARTS = {
    "histograms": lambda result, theme="light": null_histograms(result, "gai", theme),
    "cohesion": cohesion_map,
    "dsi": dsi_chart,
}
COLOURS = {"light": ["#006D4E", "#D55E00", "#8C8C8C"], "dark": ["#6FE0BD", "#E66100", "#8C8C8C"]}


def _refuse(constant):
    raise AssertionError(f"{constant} is not JSON")


def datasets(chart):
    """Named data sets of a chart; strict JSON, without NaN or infinity.

    As pages and files draw it: Altair's own form, a tenth as fast, is compared in test_theme.py.
    """
    spec = json.loads(json.dumps(spec_of(chart), allow_nan=False))
    parts = [part.get("data", {}) for part in (spec, *spec["layer"])]
    return {
        data["name"]: json.loads(data["values"], parse_constant=_refuse) for data in parts if "values" in data
    }


def encodings(chart, channel):
    """The channel's definition in every layer that has it."""
    layers = spec_of(chart)["layer"]
    return [layer["encoding"][channel] for layer in layers if channel in layer.get("encoding", {})]
