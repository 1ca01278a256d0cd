"""The data of a result once more, for what is asked beside it: a group's items, the map of raters."""

from __future__ import annotations

from typing import Any

from grasp_core.engine.request.reading import Reading
from grasp_core.model.errors import SpecError
from grasp_core.notebook.data import loaded, tables_of
from grasp_core.notebook.results import Analysis
from grasp_core.reading.dataset.load import Dataset


def data_of(result: Analysis, annotations: Any, raters: Any, items: Any) -> tuple[Dataset, Reading]:
    """The data, read as the result's were."""
    if not isinstance(result, Analysis):
        raise SpecError("result= takes what analyse or open returned of a run on agreement")
    tables = tables_of(annotations, raters, items, result.spec.data)
    found = Reading(tables.annotations, tables.raters, result.spec.data, items=tables.items)
    return loaded(found, result.spec), found


def other_data(result: Analysis, data: Dataset) -> tuple[str, ...]:
    """A note where the data are not those of the result."""
    counts = [(one.items, one.raters, one.annotations) for one in (result.result.data, data.summary)]
    same = counts[0] == counts[1]
    return () if same else ("these are other data than those of the result: so are what is found and its p",)
