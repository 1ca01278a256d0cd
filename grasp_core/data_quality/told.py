"""The whole quality report: sentences on what deserves a look, and tables by title."""

from __future__ import annotations

import pandas as pd

from grasp_core.data_quality import tables
from grasp_core.data_quality.report import QualityReport


def report_findings(report: QualityReport) -> list[str]:
    """Sentences on all that deserves a look; plain text that may quote names of axes."""
    return tables.findings(
        report.random, report.constant, report.duplicates, report.small, report.overlaps, report.assignment
    )


def report_tables(report: QualityReport) -> dict[str, pd.DataFrame]:
    """All tables that have rows, by title."""
    titled = {
        "Overview": tables.overview_table(report.overview),
        "Items by number of raters": tables.histogram_table(report.overview),
        "Raters at chance": tables.random_table(report.random),
        "Raters who gave one label always": tables.constant_table(report.constant),
        "Small groups": tables.small_groups_table(report.small),
        "Axes that go together": tables.overlap_table(report.overlaps),
        "Items and workloads of groups": tables.assignment_table(report.assignment),
        "What these raters and items could find": tables.power_table(report.power),
    }
    return {title: table for title, table in titled.items() if not table.empty}
