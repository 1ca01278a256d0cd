"""``items`` and ``map_raters``: further questions about a result, answered from its data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import altair as alt
import pandas as pd

from grasp_core.analysis.items.outcomes import ItemsResult, Measure, texts_of_items
from grasp_core.analysis.items.panel import ItemsRequest, look_at_items
from grasp_core.analysis.rater_map import MapTask, rater_map
from grasp_core.analysis.rater_map_values import RaterMap, rater_map_dict
from grasp_core.engine.pools import workers
from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.reading_request import Reading
from grasp_core.engine.run import checked_groups
from grasp_core.model.errors import SpecError
from grasp_core.model.spec import RunSpec
from grasp_core.model.text import json_text, listed
from grasp_core.notebook._shown import ProgressBar, Saved, page, shown_table
from grasp_core.notebook.analysis import on
from grasp_core.notebook.data import tables_of
from grasp_core.notebook.options import group_of, texts, worded
from grasp_core.notebook.results import Analysis
from grasp_core.reading.dataset.load import Dataset
from grasp_core.report.charts.maps import rater_map_chart
from grasp_core.report.items import MEASURES, in_order, items_columns, items_csv, items_table, sentences
from grasp_core.report.rater_map import (
    EXPLANATION,
    axes_table,
    axis_columns,
    group_columns,
    groups_of,
    map_csv,
)
from grasp_core.report.rater_map import sentences as map_sentences
from grasp_core.report.tables import numbers
from grasp_core.report.writers.markdown import items_markdown
from grasp_core.report.writers.spreadsheet import items_xlsx

_SHOWN = 10
"""Items shown in a notebook's cell."""


@dataclass(frozen=True, slots=True, repr=False)
class GroupItems(Saved):
    """The items behind a group's distance and label use; saved as ``.json``, ``.csv``, ``.xlsx`` or ``.md``.

    Parameters
    ----------
    result : ItemsResult
        All values, immutable, as in the saved file.
    texts : mapping from item to text, or None
        The items' texts, if a column was named as text.
    notes : tuple of str
        Remarks on the data.
    """

    result: ItemsResult
    texts: Mapping[str, str] | None = None
    notes: tuple[str, ...] = field(default=(), compare=False)

    def answer(self) -> str:
        """Return, for distance and label use, the total, the significant items and advice, a line each."""
        return "\n".join(
            f"- {name}: {sentence.plain}"
            for measure, name in MEASURES.items()
            for sentence in sentences(self.result, measure)
        )

    def table(self, measure: Measure = "label_use") -> pd.DataFrame:
        """Return the items that have a part in a measure, largest part first.

        Parameters
        ----------
        measure : {"label_use", "distance"}

        Returns
        -------
        DataFrame
            `item`, `text` if a column was named as text, `label` (label use only), `part` (for label use a
            share), `p`, `q`, `significance`; then how often each label was given, as `group: LABEL` and
            `others: LABEL`.
        """
        rows = in_order(self.result, measure, "part")
        return numbers(items_columns(self.result, measure, self.texts), rows)

    def _files(self) -> Mapping[str, Callable[[], str | bytes]]:
        return {
            ".json": lambda: json_text(self.result.to_dict()),
            ".csv": lambda: items_csv(self.result),
            ".xlsx": lambda: items_xlsx(self.result, self.texts),
            ".md": lambda: items_markdown(self.result),
        }

    def _repr_html_(self) -> str:
        said = [one for measure in MEASURES for one in sentences(self.result, measure)]
        rows = in_order(self.result, "label_use", "part")[:_SHOWN]
        table = shown_table(items_table(self.result, "label_use", rows, self.texts))
        warnings = tuple(map(str, self.result.warnings))
        return page(None, said, table, {"Warnings": warnings, "Notes": self.notes})


@worded()
def items(
    annotations: Any,
    raters: Any = None,
    *,
    result: Analysis,
    group: Mapping[str, object],
    items: Any = None,
    question: str | None = None,
    progress: bool = True,
) -> GroupItems:
    """Find the items behind the difference of one group of a result.

    Parameters
    ----------
    annotations, raters, items : data frame, Table, str or Path
        The data of the result, as :func:`analyse` took them.
    result : Analysis
        The result that has the group; data are read and permutations drawn as for it.
    group : mapping from axis to value
        Such as ``{"race": "Black", "gender": "Woman"}``.
    question : str, optional
        Label column to look at, if the result has several.
    progress : bool
        Whether to show a progress bar.

    Returns
    -------
    GroupItems

    Raises
    ------
    DataError, SpecError
        If the data cannot be read so, or the result has no such group or label.
    """
    data, found = data_of(result, annotations, raters, items)
    place = result.spec.data.question_named(question, " by question=")
    named = group_of(group, dict.fromkeys(checked_groups(data, result.spec).groups))
    asked = ItemsRequest(result.spec, named, result.result.permutations, place)
    pool, bar = Pool(workers.threads), ProgressBar("items", shown=progress)
    looked = on(pool, bar, lambda: look_at_items(data, asked, pool.each, bar.share))
    return GroupItems(looked, texts_of_items(found.annotations, result.spec.data), other_data(result, data))


@dataclass(frozen=True, slots=True, repr=False)
class MappedRaters(Saved):
    """A map of raters by how they agree, tested against every axis; it names none of them.

    It is saved as ``.json``, or its tables as ``.csv``.

    Parameters
    ----------
    map : RaterMap
        All values, immutable.
    spec : RunSpec
        Spec of the run with these raters.
    sha256 : str
        Hash of the data.
    notes : tuple of str
        Remarks on the data.
    """

    map: RaterMap
    spec: RunSpec
    sha256: str
    notes: tuple[str, ...] = field(default=(), compare=False)

    def answer(self) -> str:
        """Return the axes that disagreement follows, and how far raters differ, a line each."""
        found = map_sentences(self.map, self.spec.analysis.level)
        return "\n".join(f"- {sentence.plain}" for sentence in found)

    def axes(self) -> pd.DataFrame:
        """Return the share that each axis explains, the share by chance, and the test.

        Returns
        -------
        DataFrame
            `axis`, `groups`, `explained`, `by_chance` (shares of 1), `p`, `q`, `mark`, `reason`.
        """
        return numbers(axis_columns(self.map), self.map.axes)

    def groups(self) -> pd.DataFrame:
        """Return how far two raters of each group differ, and how far one of it differs from one outside.

        Returns
        -------
        DataFrame
            `axis`, `group`, `raters`, `within`, `between`.
        """
        return numbers(group_columns(), groups_of(self.map))

    def chart(self, axis: Any = None, *, theme: Any = "light") -> alt.LayerChart:
        """Draw the map as on the page, coloured by an axis or intersection; by default by the first.

        Raises
        ------
        SpecError
            If the map has no such axis.
        """
        axes = self.spec.analysis.axes
        wanted = axes[0] if axis is None else texts(axis)
        if wanted not in axes:
            raise SpecError(f"the axis is one of {listed([':'.join(one) for one in axes])}; found {axis!r}")
        return rater_map_chart(self.map, wanted, theme)

    def _files(self) -> Mapping[str, Callable[[], str | bytes]]:
        return {
            ".json": lambda: json_text(rater_map_dict(self.map, self.spec, self.sha256)),
            ".csv": lambda: map_csv(self.map),
        }

    def _repr_html_(self) -> str:
        found = map_sentences(self.map, self.spec.analysis.level)
        return page(None, found, shown_table(axes_table(self.map), EXPLANATION), {"Notes": self.notes})


@worded()
def map_raters(annotations: Any, raters: Any = None, *, result: Analysis, items: Any = None) -> MappedRaters:
    """Map the raters of a result by how they agree, and test the map against its axes.

    Parameters
    ----------
    annotations, raters, items : data frame, Table, str or Path
        The data of the result, as :func:`analyse` took them.
    result : Analysis
        The result; data are read and profiles shuffled as for it.

    Returns
    -------
    MappedRaters

    Raises
    ------
    DataError, SpecError
        If the data cannot be read so.
    """
    data, _ = data_of(result, annotations, raters, items)
    with closing(Pool(workers.threads)) as pool:
        made = rater_map(MapTask.of(data, result.spec.analysis), pool.each)
    return MappedRaters(made, result.spec, data.summary.sha256, other_data(result, data))


def data_of(result: Analysis, annotations: Any, raters: Any, items: Any) -> tuple[Dataset, Reading]:
    """Read the data as the result's were read."""
    if not isinstance(result, Analysis):
        raise SpecError("result= takes what analyse or open returned of a run on agreement")
    tables = tables_of(annotations, raters, items, result.spec.data)
    found = Reading(tables.annotations, tables.raters, result.spec.data, items=tables.items)
    return found.dataset(result.spec.analysis.columns, result.spec.analysis.slices), found


def other_data(result: Analysis, data: Dataset) -> tuple[str, ...]:
    """Return a note if the data are not those of the result."""
    counts = [(one.items, one.raters, one.annotations) for one in (result.result.data, data.summary)]
    same = counts[0] == counts[1]
    return () if same else ("these are other data than those of the result: so are what is found and its p",)
