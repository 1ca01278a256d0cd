"""Functions that make files of results and charts in the process of limited memory and time."""

import base64

from grasp_core.analysis.models.result import ModelsResult
from grasp_core.analysis.rater_map_values import RaterMap
from grasp_core.model.result import RunResult
from grasp_core.report.charts.theme import drawn
from grasp_core.report.writers.registry import EXPORTS, MODELS_EXPORTS


def written(*, name: str, result: RunResult, rater_map: RaterMap | None) -> str:
    """The file of the export of this name, in base 64."""
    return base64.b64encode(EXPORTS[name].make(result, rater_map)).decode()


def written_of_models(*, name: str, result: ModelsResult) -> str:
    """The file of an analysis of models, in base 64."""
    return base64.b64encode(MODELS_EXPORTS[name](result).encode("utf-8", "replace")).decode()


def figure(*, name: str, chart: str) -> str:
    """The chart as a file of this kind, in base 64; see :func:`grasp_core.report.charts.theme.drawn`."""
    return base64.b64encode(drawn(chart, name)).decode()


WORK = (written, written_of_models, figure)
