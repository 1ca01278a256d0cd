"""GRASP: find groups of raters who see a task differently, and test whether the difference is real.

``import grasp_core as grasp`` gives the functions of docs/python.md: :func:`analyse`, :func:`models`,
:func:`items`, :func:`map_raters`, :func:`quality`, :func:`plan`, :func:`read`, :func:`open`,
:func:`compare` and :func:`connect`. Each is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from grasp_core.version import __version__

if TYPE_CHECKING:
    from grasp_core import statistics as statistics
    from grasp_core.analysis.planner.values import Assumed
    from grasp_core.model.data_spec import Bins, Combine, DataSpec, Filters, MapValues
    from grasp_core.model.errors import DataError, GraspError, RemoteError, SpecError, UnsureError
    from grasp_core.model.spec import AnalysisSpec, RunSpec
    from grasp_core.notebook.analysis import Tested, analyse, permutation_test
    from grasp_core.notebook.data import Quality, load_example, quality, read
    from grasp_core.notebook.items_and_map import GroupItems, MappedRaters, items, map_raters
    from grasp_core.notebook.models import ModelsAnalysis, models
    from grasp_core.notebook.opening import Compared, Connection, compare, connect
    from grasp_core.notebook.opening import open as open
    from grasp_core.notebook.plan import Planned, plan
    from grasp_core.notebook.results import Analysis

_HOMES = {
    "analyse": "notebook.analysis",
    "models": "notebook.models",
    "quality": "notebook.data",
    "plan": "notebook.plan",
    "read": "notebook.data",
    "load_example": "notebook.data",
    "open": "notebook.opening",
    "permutation_test": "notebook.analysis",
    "Tested": "notebook.analysis",
    "items": "notebook.items_and_map",
    "GroupItems": "notebook.items_and_map",
    "map_raters": "notebook.items_and_map",
    "MappedRaters": "notebook.items_and_map",
    "compare": "notebook.opening",
    "connect": "notebook.opening",
    "Connection": "notebook.opening",
    "Compared": "notebook.opening",
    "Analysis": "notebook.results",
    "ModelsAnalysis": "notebook.models",
    "Quality": "notebook.data",
    "Planned": "notebook.plan",
    "AnalysisSpec": "model.spec",
    "RunSpec": "model.spec",
    "DataSpec": "model.data_spec",
    "Filters": "model.data_spec",
    "MapValues": "model.data_spec",
    "Bins": "model.data_spec",
    "Combine": "model.data_spec",
    "Assumed": "analysis.planner.values",
    "GraspError": "model.errors",
    "DataError": "model.errors",
    "UnsureError": "model.errors",
    "SpecError": "model.errors",
    "RemoteError": "model.errors",
}
"""Module of each public name, below ``grasp_core``."""

__all__ = [  # without `open`, so that a star import replaces no builtin
    "Analysis",
    "AnalysisSpec",
    "Assumed",
    "Bins",
    "Combine",
    "Compared",
    "Connection",
    "DataError",
    "DataSpec",
    "Filters",
    "GraspError",
    "GroupItems",
    "MapValues",
    "MappedRaters",
    "ModelsAnalysis",
    "Planned",
    "Quality",
    "RemoteError",
    "RunSpec",
    "SpecError",
    "Tested",
    "UnsureError",
    "__version__",
    "analyse",
    "compare",
    "connect",
    "items",
    "load_example",
    "map_raters",
    "models",
    "permutation_test",
    "plan",
    "quality",
    "read",
    "statistics",
]


def __getattr__(name: str) -> Any:
    if name == "statistics":
        return importlib.import_module(f"{__name__}.statistics")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_HOMES})
