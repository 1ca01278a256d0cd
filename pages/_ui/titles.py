"""What a run is called: the question it asks."""

from __future__ import annotations

from grasp_core.report.words import axis_label, one_line
from grasp_core.spec import RunSpec

_NAMED = 4


def run_title(spec: RunSpec) -> str:
    """For example "Q_overall by gender, race, race × gender"."""
    axes = [axis_label(names) for names in spec.analysis.axes]
    more = len(axes) - _NAMED
    tail = f" and {more} more" if more > 0 else ""
    return f"{one_line(spec.data.label or 'Labels')} by {', '.join(axes[:_NAMED])}{tail}"
