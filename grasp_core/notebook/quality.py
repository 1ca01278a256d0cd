"""``quality``: what the data can and cannot show, before any run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Unpack

from grasp_core.analysis.power import GroupPower, estimate, power_tasks
from grasp_core.engine.request.analysis import say_batches, say_data
from grasp_core.model.errors import SpecError
from grasp_core.model.groups import AxisSet
from grasp_core.model.spec import AnalysisSpec
from grasp_core.model.text import Sentence
from grasp_core.notebook._progress import Bar
from grasp_core.notebook._shown import Saved, page, shown_table
from grasp_core.notebook.data import reading, tables_of
from grasp_core.notebook.options import (
    Axes,
    Python,
    ReadingOptions,
    axis_sets,
    takes,
)
from grasp_core.reading.dataset.load import Dataset, load
from grasp_core.report.quality import (
    QualityReport,
    findings,
    power_sentences,
    quality_json,
    quality_report,
    report_numbers,
    report_tables,
)

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, repr=False)
class Quality(Saved):
    """What data can and cannot show; saved as ``.json``.

    Parameters
    ----------
    report : QualityReport
        Everything as immutable values; no rater is named.
    notes : tuple of str
        How the data were read, and what is odd about them.
    """

    report: QualityReport
    notes: tuple[str, ...] = field(default=(), compare=False)

    def answer(self) -> str:
        """What to mind, a line each."""
        return "\n".join(f"- {line}" for line in self._sentences())

    def tables(self) -> dict[str, pd.DataFrame]:
        """All tables that have rows, by title; numbers are numbers, shares are of 1."""
        return report_numbers(self.report)

    def _files(self) -> Mapping[str, Callable[[], str | bytes]]:
        return {".json": lambda: quality_json(self.report)}

    def _sentences(self) -> list[str]:
        power = power_sentences(self.report.power) if self.report.power else []
        return [*findings(self.report, self.report.duplicates), *power]

    def _repr_html_(self) -> str:
        tables = report_tables(self.report).items()
        titled = "".join(f"<h4>{title}</h4>{shown_table(table)}" for title, table in tables)
        details = [Sentence.of(line) for line in self._sentences()]
        return page(None, details, titled, {"How the data were read": self.notes})


@takes(ReadingOptions)
def quality(
    annotations: Any,
    raters: Any = None,
    *,
    axes: Axes | None = None,
    power: bool = False,
    progress: bool = True,
    **options: Unpack[ReadingOptions],
) -> Quality:
    """Look at what the data can and cannot show, before any run.

    Parameters
    ----------
    annotations, raters, axes, progress
        As in :func:`analyse`.
    power : bool
        Whether to simulate how large a GAI these raters and items would find; it takes seconds a group.

    Returns
    -------
    Quality

    Raises
    ------
    UnsureError, DataError, SpecError
        As :func:`analyse`.
    """
    voice = Python()
    tables = tables_of(annotations, raters, None, options)
    found = reading(tables, options, voice, axes_named=axes is not None)
    named = axis_sets(axes) or tuple((name,) for name in found.axes)
    sets = AnalysisSpec(axes=named).axes if named else ()
    data = load(found.annotations, found.raters, found.spec, tuple(dict.fromkeys(n for s in sets for n in s)))
    say_data(data, found.spec, voice)
    for problem in data.problems:
        voice.note(problem.message)
    if power and not sets:
        raise SpecError("power needs groups: name an axis with axes=")
    bar = Bar("groups", shown=progress)
    try:
        report = quality_report(data, power=power_of(data, sets if power else (), bar.tell))
    finally:
        bar.close()
    say_batches(found, tuple(data.raters.axes), data, report.warnings, voice)
    return Quality(report, tuple(voice.notes))


def power_of(data: Dataset, axes: Sequence[AxisSet], tell: Callable[[int, int], object]) -> list[GroupPower]:
    """How large a GAI is found of each group of the axes; `tell` takes how many are done, of how many."""
    tasks = power_tasks(data.annotations, data.raters, axes) if axes else ()
    found: list[GroupPower] = []
    for task in tasks:
        tell(len(found), len(tasks))
        found.append(estimate(task))
    return found
