"""From a run's result to figures: the same Altair charts on the page and in exports."""

from grasp_core.report.charts.bars import agreement_chart, dsi_chart, label_use_chart
from grasp_core.report.charts.groups import forest_plot, label_forest_plot, pairs_matrix, slices_chart
from grasp_core.report.charts.histograms import chart_alt, group_histograms, null_histograms, pair_histograms
from grasp_core.report.charts.maps import cohesion_map
from grasp_core.report.charts.models import leaderboard_chart
from grasp_core.report.charts.theme import (
    IMAGES,
    Theme,
    chart_text,
    check_can_draw,
    drawn,
    to_pdf,
    to_png,
    to_svg,
)
from grasp_core.report.charts.verdicts import verdict_chart

__all__ = [
    "IMAGES",
    "Theme",
    "agreement_chart",
    "chart_alt",
    "chart_text",
    "check_can_draw",
    "cohesion_map",
    "drawn",
    "dsi_chart",
    "forest_plot",
    "group_histograms",
    "label_forest_plot",
    "label_use_chart",
    "leaderboard_chart",
    "null_histograms",
    "pair_histograms",
    "pairs_matrix",
    "slices_chart",
    "to_pdf",
    "to_png",
    "to_svg",
    "verdict_chart",
]
