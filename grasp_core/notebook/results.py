"""What was found about cohesion: as frames, figures, words and files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from grasp_core.model.errors import SpecError
from grasp_core.model.result import RunResult
from grasp_core.model.spec import RunSpec
from grasp_core.model.text import Sentence, for_python
from grasp_core.notebook._shown import Saved, page, shown_table
from grasp_core.notebook.options import group_of, worded
from grasp_core.report.contents import marks_legend
from grasp_core.report.findings.answer import answer
from grasp_core.report.findings.mending import warned
from grasp_core.report.pairs import PAIRS_SAID, most_told
from grasp_core.report.tables import DSI, RowOrder, numbers, ordered_dsi, results_table, wide_table
from grasp_core.report.tidy import (
    LABEL_USE,
    OF_GIVEN,
    OF_PAIR,
    OF_SLICE,
    findings_table,
    given_lines,
    label_use_lines,
    lines,
    pair_lines,
    slice_lines,
    tidy,
)
from grasp_core.report.words.printable import printable_result
from grasp_core.report.writers.registry import EXPORTS

if TYPE_CHECKING:  # both take long to load, and not every program shows what it finds
    import altair as alt
    import pandas as pd

    from grasp_core.analysis.cohesion.panel import Cohesion
    from grasp_core.model.annotations import FloatArray
    from grasp_core.reading.dataset.load import Dataset

_AT_A_TIME = 500
"""Permutations whose values are held together."""


@dataclass(frozen=True, slots=True, repr=False)
class Analysis(Saved):
    """What was found about cohesion.

    It is saved as ``.json``, which holds everything, for :func:`open`; as ``.spec.json``, the spec alone, for
    ``run --spec``; as tables, ``.csv`` and ``.xlsx``; as Table 5, ``.tex`` and ``.md``; as a report,
    ``.html``.

    Parameters
    ----------
    result : RunResult
        Everything as immutable values, as files hold it.
    notes : tuple of str
        How the data were read, and what is good to know of the run; empty of a result that was opened.
    data : Dataset, optional
        What was analysed; None of a result that was opened or pickled.
    run : str, optional
        Id of the run on a server that computed it (:func:`connect`).
    """

    result: RunResult
    notes: tuple[str, ...] = field(default=(), compare=False)
    data: Dataset | None = field(default=None, compare=False)
    run: str | None = field(default=None, compare=False)

    def __reduce__(self) -> tuple[type[Analysis], tuple[RunResult, tuple[str, ...]]]:
        return type(self), (self.result, self.notes)  # a pickle holds what was found, nobody's answers

    @property
    def spec(self) -> RunSpec:
        """What was asked; :func:`analyse` takes it to ask the same again."""
        return self.result.spec

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to mind when reading the numbers, most important first."""
        return tuple(for_python(str(one)) for one in self.result.warnings)

    def answer(self) -> str:
        """The answer in words: a headline, a line for each warning that may undo it and each sentence."""
        headline, *said = self._said()
        return "\n".join([headline.plain, *(f"- {sentence.plain}" for sentence in said)])

    def _said(self) -> list[Sentence]:
        """The headline, what may undo it, what backs it, and what holds of pairs."""
        found = answer(self.result)
        mind = [Sentence.of(f"Careful: {one}") for one in found.warned.first]
        pairs = most_told(self.result, PAIRS_SAID) if self.result.pairs else ()
        said = (
            found.headline,
            *mind,
            *found.details,
            *(Sentence.of("Pairs: ", *one.segments) for one in pairs),
        )
        return [one.for_python for one in said]

    def table(self, *, order: RowOrder = "axis", by: str | None = None) -> pd.DataFrame:
        """One row per group, with every reported statistic.

        Parameters
        ----------
        order : {"axis", "effect", "q"}
            Axis by axis, largest effect first, or smallest q first.
        by : str, optional
            Statistic whose effect or q decides; by default the run's leading one.

        Returns
        -------
        DataFrame
            `axis`, `group`, `raters`, `annotations`; then per statistic s its value `s`, the 95 % interval
            `s_low` and `s_high`, `s_p`, `s_q` (float, NaN where there is none), and as texts `s_interval`,
            `s_arrow`, `s_stars`, `s_reason`.
        """
        return results_table(self.result, order=order, by=by)

    def dsi(self) -> pd.DataFrame:
        """One row per axis, largest diversity sensitivity index first.

        Returns
        -------
        DataFrame
            `axis`, `dsi`, its 95 % interval `low` and `high`, `group` that attains it, `p`, `q`, `stars`;
            `p_group` and `stars_group` are of that group's own GAI, the paper's convention; `reason` where
            there is no value.
        """
        return numbers(DSI, ordered_dsi(self.result))

    def label_use(self) -> pd.DataFrame:
        """Rows per group: the test of all labels, and how much more often it gives each than the others do.

        Returns
        -------
        DataFrame
            `axis`, `group`, `raters`, `label` ("all labels", a label, or "mean"), `shift`, `low`, `high`
            (shares of 1); `p`, `q` and `stars` of all labels and the mean together, in the row of all labels;
            `p_both` of each label, over other raters and other items.
        """
        return numbers(LABEL_USE, label_use_lines(self.result))

    def tidy(self) -> pd.DataFrame:
        """Every number of everybody, of the groups and of the axes: a row each, to filter, join and plot.

        Returns
        -------
        DataFrame
            A column for each axis, named as the data name it (None where the row is of no value of it), so
            that it joins the raters; `axis` and `group` in words, `raters`, `annotations`, `statistic`,
            `label`, `value`, `unit`, 95 % interval `low` and `high`, `null_median`, `p`, `q`, of labels
            `p_both`, for other raters and items, `mark` ("none", "nominal", "corrected") and `reason` where
            there is no value. Numbers are numbers, NaN where there is none. Units: "share" of 1,
            "coefficient", "ratio", "nats", "disagreement", and "scale", that of the labels.
        """
        return tidy(self.result, lines(self.result))

    def findings(self) -> pd.DataFrame:
        """The verdict on each group.

        Returns
        -------
        DataFrame
            The axes' columns, `axis` and `group` in words, `raters`, `verdict` ("clear", "hint", "explained",
            "none" or "untestable"; None in results that have none), `kinds` (tuple of "labels", "items",
            "cohesion", "spread"), the label to speak of with its difference from the others: `label`,
            `points` (percentage points), `low`, `high`; `p` and `q` of all tests together; `explained_by`,
            the group that explains it, and `why` it cannot be tested.
        """
        return findings_table(self.result)

    def pairs(self) -> pd.DataFrame:
        """The rows of :meth:`tidy` of each pair of groups; no row where pairs were not compared.

        Returns
        -------
        DataFrame
            As :meth:`tidy`, and of the pair's second group the axes' columns as ``other_...``, `other_group`
            and `other_raters`.
        """
        return tidy(self.result, pair_lines(self.result), OF_PAIR)

    def slices(self) -> pd.DataFrame:
        """The rows of :meth:`tidy` of each slice, behind `slice` (the column) and `slice_value`."""
        return tidy(self.result, slice_lines(self.result), OF_SLICE)

    def given(self) -> pd.DataFrame:
        """The rows of :meth:`tidy` given each axis that the run was given, behind `given`."""
        return tidy(self.result, given_lines(self.result), OF_GIVEN)

    def null_distribution(self, statistic: str, group: Mapping[str, object]) -> FloatArray:
        """What random groupings of the raters make of a statistic: the values behind its p.

        They are computed once more, with the run's seed, from the data, which a result that :func:`analyse`
        returned still has.

        Parameters
        ----------
        statistic : str
            One of the run's.
        group : mapping
            Such as ``{"race": "Black", "gender": "Woman"}``.

        Returns
        -------
        float64 array, shape (permutations,)
            NaN where a permutation has no value.

        Raises
        ------
        SpecError
            If the run has no such statistic or group, or the result was opened, which holds no data.
        """
        with worded():
            return _shuffled(self, statistic, group)

    def chart(self, name: str = "forest", **of: Any) -> alt.LayerChart:
        """A figure, the same as on the page.

        Parameters
        ----------
        name : str
            "forest", "histograms", "cohesion", "dsi", "label_use", "group", "pairs" or "slices".
        **of
            `theme` ("light" or "dark") of each. `statistic`, or `label`, of a forest, of pairs and of slices;
            `statistic` of histograms; `group`, such as ``{"race": "Black"}``, of "label_use", "group" and
            "slices"; `axis` of pairs; `column` of slices; `order` of a forest and of histograms.

        Raises
        ------
        SpecError
            If there is no such figure, or nothing of that name in the result.
        """
        from grasp_core.notebook._figures import drawn

        return drawn(self.result, name, of)

    def _files(self) -> Mapping[str, Callable[[], str | bytes]]:
        return {f".{one.extension}": partial(one.make, self.result) for one in EXPORTS.values()}

    def _repr_html_(self) -> str:
        table = wide_table(printable_result(self.result))
        headline, *said = self._said()
        found = warned(self.result)
        others = "Other warnings" if found.first else "Warnings"
        return page(
            headline,
            said,
            shown_table(table, marks_legend(self.result)),
            {
                others: tuple(for_python(str(one)) for one in found.others),
                "How the data were read": self.notes,
            },
        )


def _shuffled(analysis: Analysis, statistic: str, group: Any) -> FloatArray:
    from grasp_core.engine.run import prepare  # which a result that is opened does without

    result, data = analysis.result, analysis.data
    if data is None:
        raise SpecError(
            "a result that was opened, or pickled, holds no data: run grasp.analyse(annotations, raters, "
            "spec=result.spec), and ask what that returns"
        )
    asked = result.spec.analysis.statistics
    if statistic not in asked:
        raise SpecError(f"statistic is one of {', '.join(asked)}; found {statistic!r}")
    prepared = prepare(data, result.spec)
    groups = prepared.grouping.groups
    g = groups.index(group_of(group, dict.fromkeys(groups)))
    panel = cast("Cohesion", prepared.panel)
    active = np.arange(len(groups)) == g
    work = panel.work(active)
    column = panel.places.column(g, panel.places.statistics[statistic])
    found = []
    for start in range(0, result.permutations, _AT_A_TIME):
        stop = min(start + _AT_A_TIME, result.permutations)
        values = np.full((stop - start, len(groups), panel.per_unit), np.nan)
        values[:, active] = work.shuffled(result.spec.analysis.seed, start, stop)
        found.append(panel.columns(values)[:, column])
    return np.concatenate(found)
