"""``map_raters``: raters placed by how they agree, and which axes that follows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grasp_core.analysis.rater_map import MapTask, rater_map
from grasp_core.analysis.rater_map_values import RaterMap, rater_map_dict
from grasp_core.engine.pools import workers
from grasp_core.engine.pools.pool import Pool
from grasp_core.model.errors import SpecError
from grasp_core.model.spec import RunSpec
from grasp_core.model.text import json_text
from grasp_core.model.wording import listed
from grasp_core.notebook._of_run import data_of, other_data
from grasp_core.notebook._saving import save
from grasp_core.notebook._shown import Brief, page, shown_table
from grasp_core.notebook.options import texts, worded
from grasp_core.notebook.results import Analysis
from grasp_core.report.rater_map import (
    EXPLANATION,
    axes_numbers,
    axes_table,
    groups_numbers,
    map_csv,
    sentences,
)

if TYPE_CHECKING:  # both take long to load
    import altair as alt
    import pandas as pd


@dataclass(frozen=True, slots=True, repr=False)
class MappedRaters(Brief):
    """Raters placed by how they agree, held against every axis; it names none of them.

    Parameters
    ----------
    map : RaterMap
        Everything as immutable values.
    spec : RunSpec
        Of the run whose raters they are.
    sha256 : str
        Hash of the data.
    notes : tuple of str
        What is good to know of the data.
    """

    map: RaterMap
    spec: RunSpec
    sha256: str
    notes: tuple[str, ...] = field(default=(), compare=False)

    def answer(self) -> str:
        """Which axes disagreement follows, a line each."""
        found = sentences(self.map, self.spec.analysis.level)
        return "\n".join(f"- {sentence.plain}" for sentence in found)

    def axes(self) -> pd.DataFrame:
        """What each axis explains, what random groupings do, and the test.

        Returns
        -------
        DataFrame
            `axis`, `groups`, `explained`, `by_chance` (shares of 1), `p`, `q`, `mark`, `reason`.
        """
        return axes_numbers(self.map)

    def groups(self) -> pd.DataFrame:
        """How far two raters of a group differ, and one of it from one outside.

        Returns
        -------
        DataFrame
            `axis`, `group`, `raters`, `within`, `between`.
        """
        return groups_numbers(self.map)

    def chart(self, axis: Any = None, *, theme: Any = "light") -> alt.LayerChart:
        """The map, the page's own figure, coloured by an axis or intersection; by default by the first.

        Raises
        ------
        SpecError
            If the map has no such axis.
        """
        from grasp_core.report.charts.rater_map import rater_map_chart

        axes = self.spec.analysis.axes
        wanted = axes[0] if axis is None else texts(axis)
        if wanted not in axes:
            raise SpecError(f"the axis is one of {listed([':'.join(one) for one in axes])}; found {axis!r}")
        return rater_map_chart(self.map, wanted, theme)

    def save(self, path: str | Path) -> None:
        """Write the map as ``.json``, or its tables as ``.csv``.

        Raises
        ------
        DataError
            If it cannot be written, or its ending is none of these.
        """
        kinds: Mapping[str, Callable[[RaterMap], bytes]] = {
            ".json": lambda one: json_text(rater_map_dict(one, self.spec, self.sha256)).encode(),
            ".csv": lambda one: map_csv(one).encode(),
        }
        save(path, kinds, self.map)

    def _repr_html_(self) -> str:
        found = sentences(self.map, self.spec.analysis.level)
        return page(None, found, shown_table(axes_table(self.map), EXPLANATION), {"Notes": self.notes})


@worded()
def map_raters(annotations: Any, raters: Any = None, *, result: Analysis, items: Any = None) -> MappedRaters:
    """Place the raters of a result by how they agree, and hold that against its axes.

    Parameters
    ----------
    annotations, raters, items : data frame, Table, str or Path
        The data of the result, as :func:`analyse` took them.
    result : Analysis
        The data are read, and profiles shuffled, as it has them.

    Returns
    -------
    MappedRaters

    Raises
    ------
    DataError, SpecError
        If the data cannot be read so.
    """
    data, _ = data_of(result, annotations, raters, items)
    pool = Pool(workers.threads)
    try:
        made = rater_map(MapTask.of(data, result.spec.analysis), pool.each)
    finally:
        pool.close()
    return MappedRaters(made, result.spec, data.summary.sha256, other_data(result, data))
