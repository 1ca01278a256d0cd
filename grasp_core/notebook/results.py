"""What was found about cohesion: as frames, figures, words and files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from grasp_core.model.result import RunResult
from grasp_core.model.spec import RunSpec
from grasp_core.model.text import Sentence
from grasp_core.notebook.saving import save
from grasp_core.notebook.shown import below, page, shown_table
from grasp_core.report.contents import marks_legend
from grasp_core.report.findings.mending import warned
from grasp_core.report.findings.sentences import answer
from grasp_core.report.given import as_result
from grasp_core.report.pair_tables import pairs_table
from grasp_core.report.pairs import PAIRS_SAID, most_told
from grasp_core.report.slices import as_results
from grasp_core.report.tables import RowOrder, dsi_table, label_use_table, results_table, wide_table
from grasp_core.report.words.printable import printable_result
from grasp_core.report.writers.registry import EXPORTS

if TYPE_CHECKING:  # both take long to load, and not every program shows what it finds
    import altair as alt
    import pandas as pd


SliceTable = Literal["table", "label_use", "dsi"]
_SLICE_TABLES: Mapping[SliceTable, Callable[[RunResult], pd.DataFrame]] = {
    "table": results_table,
    "label_use": label_use_table,
    "dsi": dsi_table,
}


@dataclass(frozen=True, slots=True, eq=False)
class Analysis:
    """What was found about cohesion.

    Parameters
    ----------
    result : RunResult
        Everything as immutable values, as files hold it.
    notes : tuple of str
        How the data were read, and what is good to know of the run; empty of a result that was opened.
    """

    result: RunResult
    notes: tuple[str, ...] = ()

    @property
    def spec(self) -> RunSpec:
        """What was asked; :func:`analyse` takes it to ask the same again."""
        return self.result.spec

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to mind when reading the numbers, most important first."""
        return tuple(map(str, self.result.warnings))

    def answer(self) -> str:
        """The answer in words: a headline, a line for each warning that may undo it and each sentence."""
        headline, *said = self._said()
        return "\n".join([headline.plain, *(f"- {sentence.plain}" for sentence in said)])

    def _said(self) -> list[Sentence]:
        """The headline, what may undo it, what backs it, and what holds of pairs."""
        found = answer(self.result)
        mind = [Sentence.of(f"Mind first: {one}") for one in found.warned.first]
        pairs = most_told(self.result, PAIRS_SAID) if self.result.pairs else ()
        return [
            found.headline,
            *mind,
            *found.details,
            *(Sentence.of("Pairs: ", *one.segments) for one in pairs),
        ]

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
        return dsi_table(self.result)

    def label_use(self) -> pd.DataFrame:
        """Rows per group: the test of all labels, and how much more often it gives each than the others do.

        Returns
        -------
        DataFrame
            `axis`, `group`, `raters`, `label` ("all labels", a label, or "mean"), `shift`, `low`, `high`
            (shares of 1), `p`, and of all labels together `q` and `stars`.
        """
        return label_use_table(self.result)

    def pairs(self) -> pd.DataFrame:
        """One row per pair of groups and what was tested of it; no row where pairs were not compared.

        Returns
        -------
        DataFrame
            `axis`, `first`, `second`, `raters_first`, `raters_second`, `statistic`, `value`, `low`, `high`
            (of labels in percentage points), `p`, `q`, `stars`, `reason`.
        """
        return pairs_table(self.result)

    def slices(self, what: SliceTable = "table") -> pd.DataFrame:
        """A table of each slice, one below the other; no row where items were not sliced.

        Parameters
        ----------
        what : {"table", "label_use", "dsi"}
            Which of the tables of these names.

        Returns
        -------
        DataFrame
            `slice` (the column), `slice_value` and `items`, then the columns of that table.
        """
        make = _SLICE_TABLES[what]
        found = [
            (make(view), {"slice": column.column, "slice_value": one.value, "items": one.items})
            for column in self.result.slices
            for one, view in as_results(self.result, column)
        ]
        return below(found)

    def given(self) -> pd.DataFrame:
        """One row per axis that the run was given and group that it has no part in.

        Returns
        -------
        DataFrame
            `given`, then the columns of :meth:`table`, whose p and q are those given that axis; no row where
            none was given.
        """
        return below(
            (results_table(as_result(self.result, found)), {"given": found.column})
            for found in self.result.given
        )

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
        from grasp_core.notebook.figures import drawn

        return drawn(self.result, name, of)

    def save(self, path: str | Path) -> None:
        """Write a file, whose ending says which.

        Parameters
        ----------
        path : str or Path
            ``.json`` holds everything, for :func:`open`; ``.spec.json`` the spec alone, for ``run --spec``;
            ``.csv`` and ``.xlsx`` the tables, ``.tex`` and ``.md`` Table 5, ``.html`` a report.

        Raises
        ------
        DataError
            If it cannot be written, or its ending is none of these.
        """
        kinds: Mapping[str, Any] = {f".{one.extension}": one.make for one in EXPORTS.values()}
        save(path, kinds, self.result)

    def _repr_html_(self) -> str:
        table = wide_table(printable_result(self.result))
        headline, *said = self._said()
        found = warned(self.result)
        others = "Other warnings" if found.first else "Warnings"
        return page(
            headline,
            said,
            shown_table(table, marks_legend(self.spec.analysis)),
            {others: tuple(map(str, found.others)), "How the data were read": self.notes},
        )
