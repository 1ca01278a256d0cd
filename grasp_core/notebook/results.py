"""The result of an analysis of cohesion, as frames, figures by name, words and files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import altair as alt
import numpy as np
import pandas as pd

from grasp_core.model.errors import SpecError
from grasp_core.model.groups import AxisSet
from grasp_core.model.result import GroupResult, RunResult, SlicesResult
from grasp_core.model.spec import RunSpec
from grasp_core.model.statistic import TABLE
from grasp_core.model.text import Sentence, for_python, listed
from grasp_core.notebook._shown import Saved, page, shown_table
from grasp_core.notebook.options import group_of, texts, worded
from grasp_core.report.charts import forest
from grasp_core.report.charts.histograms import group_histograms, null_histograms
from grasp_core.report.charts.maps import cohesion_map
from grasp_core.report.charts.matrix import pairs_matrix
from grasp_core.report.contents import marks_legend
from grasp_core.report.findings.answer import answer
from grasp_core.report.findings.mending import warned
from grasp_core.report.pairs import PAIRS_SAID, label_key, measures, most_told
from grasp_core.report.slices import sliced_groups
from grasp_core.report.tables import (
    DSI,
    RowOrder,
    numbers,
    ordered_dsi,
    results_table,
    wide_table,
    with_label_use,
)
from grasp_core.report.tidy import (
    FOR_PAIRS,
    FOR_SLICES,
    LABEL_USE,
    OF_GIVEN,
    findings_table,
    given_lines,
    label_use_lines,
    lines,
    pair_lines,
    slice_lines,
    tidy,
)
from grasp_core.report.words.names import lead_statistic
from grasp_core.report.words.printable import printable_result
from grasp_core.report.writers.registry import EXPORTS

if TYPE_CHECKING:
    from grasp_core.analysis.cohesion.panel import Cohesion
    from grasp_core.model.annotations import FloatArray
    from grasp_core.reading.dataset.load import Dataset

_AT_A_TIME = 500
"""Permutations whose values are in memory together."""


@dataclass(frozen=True, slots=True, repr=False)
class Analysis(Saved):
    """The result of an analysis of cohesion.

    It is saved as ``.json`` with everything, for :func:`open`; as ``.spec.json``, the spec alone, for
    ``run --spec``; as tables, ``.csv`` and ``.xlsx``; as the paper's Table 5, ``.tex`` and ``.md``; as a
    report, ``.html``.

    Parameters
    ----------
    result : RunResult
        All values, immutable, as in the saved file.
    notes : tuple of str
        How the data were read, and remarks on the run; empty if the result was opened.
    data : Dataset, optional
        The analysed data; None if the result was opened or pickled.
    run : str, optional
        Id of the run on a server that computed it (:func:`connect`).
    """

    result: RunResult
    notes: tuple[str, ...] = field(default=(), compare=False)
    data: Dataset | None = field(default=None, compare=False)
    run: str | None = field(default=None, compare=False)

    def __reduce__(self) -> tuple[type[Analysis], tuple[RunResult, tuple[str, ...]]]:
        return type(self), (self.result, self.notes)  # a pickle contains the result, nobody's answers

    @property
    def spec(self) -> RunSpec:
        """Spec of the run; :func:`analyse` takes it to run the same again."""
        return self.result.spec

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings that may change how to read the numbers, most important first."""
        return tuple(for_python(str(one)) for one in self.result.warnings)

    def answer(self) -> str:
        """Return the answer in words: a headline, warnings that may undo it, and details, a line each."""
        headline, *said = self._said()
        return "\n".join([headline.plain, *(f"- {sentence.plain}" for sentence in said)])

    def _said(self) -> list[Sentence]:
        """Return the headline, warnings that may undo it, details that support it, and sentences on pairs."""
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
        """Return one row per group, with every reported statistic.

        Parameters
        ----------
        order : {"axis", "effect", "q"}
            Axis by axis, largest effect first, or smallest q first.
        by : str, optional
            Statistic whose effect or q decides the order; by default the run's leading one.

        Returns
        -------
        DataFrame
            `axis`, `group`, `raters`, `annotations`; then for each statistic s its value `s`, 95 % interval
            `s_low` and `s_high`, `s_p`, `s_q` (float, NaN if there is none), and as texts `s_interval`,
            `s_arrow`, `s_stars`, `s_reason`.
        """
        return results_table(self.result, order=order, by=by)

    def dsi(self) -> pd.DataFrame:
        """Return one row per axis, largest diversity sensitivity index first.

        Returns
        -------
        DataFrame
            `axis`, `dsi`, its 95 % interval `low` and `high`, `group` that attains it, `p`, `q`, `stars`;
            `p_group` and `stars_group` test that group's own GAI, as in the paper; `reason` if there is no
            value.
        """
        return numbers(DSI, ordered_dsi(self.result))

    def label_use(self) -> pd.DataFrame:
        """Return rows per group: the test of all labels, and how much more often it gives each than others.

        Returns
        -------
        DataFrame
            `axis`, `group`, `raters`, `label` ("all labels", a label, or "mean"), `shift`, `low`, `high`
            (shares of 1); `p`, `q` and `stars` of all labels and the mean together, in the row of all labels;
            `p_both` of each label, over other raters and other items.
        """
        return numbers(LABEL_USE, label_use_lines(self.result))

    def tidy(self) -> pd.DataFrame:
        """Return every number of all raters, of groups and of axes: a row each, to filter, join and plot.

        Returns
        -------
        DataFrame
            A column for each axis, named as in the data, so that it joins the raters (None if the row is for
            no value of the axis); `axis` and `group` in words, `raters`, `annotations`, `statistic`, `label`,
            `value`, `unit`, 95 % interval `low` and `high`, `null_median`, `p`, `q`, for labels `p_both` (for
            other raters and items), `mark` ("none", "nominal", "corrected"), `reason` if there is no value.
            Numeric columns have NaN if there is no value. Units: "share" of 1, "coefficient", "ratio",
            "nats", "disagreement", and "scale" (the labels' own).
        """
        return tidy(self.result, lines(self.result))

    def findings(self) -> pd.DataFrame:
        """Return the verdict on each group.

        Returns
        -------
        DataFrame
            The axes' columns, `axis` and `group` in words, `raters`, `verdict` ("clear", "hint", "explained",
            "none" or "untestable"; None in results without verdicts), `kinds` (tuple of "labels", "items",
            "cohesion", "spread"), the most telling label with its difference from the others: `label`,
            `points` (percentage points), `low`, `high`; `p` and `q` of all tests together; `explained_by`,
            the group that explains it, and `why` it cannot be tested.
        """
        return findings_table(self.result)

    def pairs(self) -> pd.DataFrame:
        """Return the rows of :meth:`tidy` for each pair of groups; no rows if pairs were not compared.

        Returns
        -------
        DataFrame
            As :meth:`tidy`, and for the pair's second group the axes' columns as ``other_...``, `other_group`
            and `other_raters`.
        """
        return tidy(self.result, pair_lines(self.result), FOR_PAIRS)

    def slices(self) -> pd.DataFrame:
        """Return the rows of :meth:`tidy` for each slice, after `slice` (the column) and `slice_value`."""
        return tidy(self.result, slice_lines(self.result), FOR_SLICES)

    def given(self) -> pd.DataFrame:
        """Return the rows of :meth:`tidy` given each axis of the run's `given`, after a column `given`."""
        return tidy(self.result, given_lines(self.result), OF_GIVEN)

    def agreement(self) -> pd.DataFrame:
        """Return how well all raters agree, by several coefficients, over all items and in each slice.

        Only a result that :func:`analyse` returned still has the data that this needs.

        Returns
        -------
        DataFrame
            `question` ("" if there is one), `column` and `batch` ("" for all items), `coefficient`, `value`,
            95 % interval `low` and `high` (for other items), `items` that several rated, `why` there is no
            value.

        Raises
        ------
        SpecError
            If the result was opened and so has no data.
        """
        from grasp_core.report.agreement import coefficients_frame  # an opened result does not need it

        result, data = self.result, _data(self)
        if result.everybody is None:
            raise SpecError("too many items and labels for agreement of all raters")
        questions = [str(one.label) for one in result.spec.data.questions]
        return coefficients_frame(data, result.everybody, questions, result.spec.analysis.level)

    def raters(self, gold: Mapping[str, str] | None = None) -> pd.DataFrame:
        """Return a row per rater, those who deserve a look first; it contains the raters' ids.

        Parameters
        ----------
        gold : mapping, optional
            Right label of each item, by the item's id, to compare raters with.

        Returns
        -------
        DataFrame
            `rater`, `answers`, `compared` (answers on items that others rated too), `as_others` (mean share
            of the others' answers that are the same); with `gold`, `gold_items` and `as_gold`; `differs`
            (agrees with the others clearly less than these with each other), `at_chance`, `constant` (None if
            there are too few answers to tell), `copies` (ids of raters who agree too closely with this one).

        Raises
        ------
        SpecError
            If a label of `gold` is none of the data's, or the result was opened and so has no data.
        """
        from grasp_core.report.agreement import raters_frame  # an opened result does not need it

        data = _data(self)
        if gold is None:
            return raters_frame(data)
        one = data.annotations
        codes = {label: code for code, label in enumerate(one.categories)}
        if unknown := next((label for label in gold.values() if label not in codes), None):
            raise SpecError(f"gold: {unknown!r} is no label of the data, {listed(one.categories)}")
        given = [codes[gold[item]] if item in gold else -1 for item in one.item_ids]
        return raters_frame(data, np.array(given, dtype=np.int64))

    def null_distribution(self, statistic: str, group: Mapping[str, object]) -> FloatArray:
        """Compute a statistic of a group under random groupings of the raters: the values behind its p.

        The values are computed again from the data, with the run's seed. Only a result that :func:`analyse`
        returned still has the data.

        Parameters
        ----------
        statistic : str
            One of the run's statistics.
        group : mapping
            Such as ``{"race": "Black", "gender": "Woman"}``.

        Returns
        -------
        float64 array, shape (permutations,)
            NaN if a permutation has no value.

        Raises
        ------
        SpecError
            If the run has no such statistic or group, or the result was opened and so has no data.
        """
        with worded():
            return _shuffled(self, statistic, group)

    def chart(self, name: str = "forest", **of: Any) -> alt.LayerChart:
        """Draw a figure, the same as on the page.

        Parameters
        ----------
        name : str
            "forest", "histograms", "cohesion", "dsi", "label_use", "group", "pairs" or "slices".
        **of
            `theme` ("light" or "dark") for all. `statistic` or `label` for a forest, pairs and slices;
            `statistic` for histograms; `group`, such as ``{"race": "Black"}``, for "label_use", "group" and
            "slices"; `axis` for pairs; `column` for slices; `order` for a forest and histograms.

        Raises
        ------
        SpecError
            If there is no such figure, or the result has nothing of the given name.
        """
        return _drawn(self.result, name, of)

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


def _data(analysis: Analysis) -> Dataset:
    if analysis.data is None:
        raise SpecError(
            "a result that was opened, or pickled, holds no data: run grasp.analyse(annotations, raters, "
            "spec=result.spec), and ask what that returns"
        )
    return analysis.data


def _shuffled(analysis: Analysis, statistic: str, group: Any) -> FloatArray:
    from grasp_core.engine.run import prepare  # imported here, since an opened result does not need it

    result, data = analysis.result, _data(analysis)
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


_Of = Mapping[str, Any]


def _drawn(result: RunResult, name: str, of: _Of) -> alt.LayerChart:
    """Draw the figure of this name.

    `of`: its choices: some of `statistic`, `label`, `group`, `axis`, `column`, `order` and `theme`.
    """
    if name not in _FIGURES:
        raise SpecError(f"there is no figure {name!r}; there are {listed(tuple(_FIGURES))}")
    draw, takes = _FIGURES[name]
    for given in of:
        if given not in (*takes, "theme"):
            raise SpecError(f"figure {name!r} takes {listed((*takes, 'theme'))}; found {given!r}")
    if of.get("theme", "light") not in ("light", "dark"):
        raise SpecError(f"the theme is 'light' or 'dark'; found {of['theme']!r}")
    return draw(result, of)


def _statistic(result: RunResult, of: _Of) -> str:
    name = of.get("statistic", lead_statistic(result))
    if name not in TABLE:
        raise SpecError(f"a statistic is one of {', '.join(TABLE)}; found {name!r}")
    return str(name)


def _row(result: RunResult, of: _Of) -> GroupResult:
    rows = {row.group: row for row in result.groups}
    return rows[group_of(of.get("group"), rows)]


def _one(what: str, asked: Any, there: Mapping[Any, Any]) -> Any:
    """Return the one that is asked for, or the only one there is."""
    found = next(iter(there)) if asked is None and len(there) == 1 else asked
    if found not in there:
        known = ", ".join(map(repr, there)) or "none"
        raise SpecError(f"{what} is one of this result's ({known}); found {asked!r}")
    return there[found]


def _theme(of: _Of) -> Any:
    return of.get("theme", "light")


def _forest(result: RunResult, of: _Of) -> alt.LayerChart:
    order = _order(of)
    if "label" in of:
        return forest.label_forest_plot(result, _label(result, of), _theme(of), order)
    return forest.forest_plot(result, _statistic(result, of), _theme(of), order)


def _label(result: RunResult, of: _Of) -> str:
    labels = {label: label for _, use in with_label_use(result) for label in use.labels}
    (named,) = texts(of["label"])
    return str(_one("the label", named, labels))


def _order(of: _Of) -> Any:
    order = of.get("order", "axis")
    if order not in ("axis", "effect", "q"):
        raise SpecError(f"the order is 'axis', 'effect' or 'q'; found {order!r}")
    return order


def _pairs(result: RunResult, of: _Of) -> alt.LayerChart:
    there = measures(result)
    axes: dict[AxisSet, AxisSet] = {row.a.axes: row.a.axes for row in result.pairs}
    axis = _one("the axis", None if "axis" not in of else texts(of["axis"]), axes)
    asked = label_key(of["label"]) if "label" in of else of.get("statistic", next(iter(there)))
    return pairs_matrix(result, axis, _one("label or statistic", asked, there), _theme(of))


def _slices(result: RunResult, of: _Of) -> alt.LayerChart:
    columns = {found.column: found for found in result.slices}
    found: SlicesResult = _one("the column", of.get("column"), columns)
    group = group_of(of.get("group"), dict.fromkeys(sliced_groups(result, found)))
    what = (_label(result, of), True) if "label" in of else (_statistic(result, of), False)
    return forest.slices_chart(result, found.column, group, what, _theme(of))


_FIGURES: Mapping[str, tuple[Callable[[RunResult, _Of], alt.LayerChart], tuple[str, ...]]] = {
    "forest": (_forest, ("statistic", "label", "order")),
    "histograms": (
        lambda result, of: null_histograms(result, _statistic(result, of), _theme(of), _order(of)),
        ("statistic", "order"),
    ),
    "cohesion": (lambda result, of: cohesion_map(result, _theme(of)), ()),
    "dsi": (lambda result, of: forest.dsi_chart(result, _theme(of)), ()),
    "label_use": (
        lambda result, of: forest.label_use_chart(result, _row(result, of), _theme(of)),
        ("group",),
    ),
    "group": (lambda result, of: group_histograms(result, _row(result, of), _theme(of)), ("group",)),
    "pairs": (_pairs, ("axis", "label", "statistic")),
    "slices": (_slices, ("column", "group", "statistic", "label")),
}
