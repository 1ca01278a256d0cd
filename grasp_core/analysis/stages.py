"""Further tests of a run's groups: on the items of each value of a column, and given another axis.

Both are panels of cohesion side by side, each with its own data or shuffles; they share families of tests.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from grasp_core.analysis.cohesion.columns import group_families
from grasp_core.analysis.cohesion.combined_test import (
    Regroupings,
    hypotheses,
    joint_tests,
    untestable,
    with_verdicts,
)
from grasp_core.analysis.cohesion.panel import Cohesion, CohesionWork
from grasp_core.analysis.panel import Later, groups_asked
from grasp_core.model.annotations import BoolArray, FloatArray, Raters
from grasp_core.model.errors import SpecError
from grasp_core.model.groups import Grouping
from grasp_core.model.outcome import ALL_ALIKE, Unequal
from grasp_core.model.remarks.cautions import Caution
from grasp_core.model.result import (
    DsiResult,
    GivenResult,
    GroupResult,
    RunResult,
    SliceResult,
    SlicesResult,
    Undecided,
)
from grasp_core.model.spec import AnalysisSpec
from grasp_core.permutation.testing.families import Family, Tests
from grasp_core.permutation.testing.outcomes import outcomes, tested_otherwise
from grasp_core.permutation.testing.p_values import Known, Maximum, Summaries, Summary, Tails
from grasp_core.permutation.testing.tail import Shuffles, Symmetry, axes_that_stay
from grasp_core.permutation.testing.tally import Tally
from grasp_core.reading.dataset.load import Dataset


def _tests_of_all(panels: Sequence[Cohesion], analysis: AnalysisSpec) -> Tests:
    """Join the tests of all panels: their groups are in the same families."""
    first = np.cumsum([0, *(panel.observed.size for panel in panels)]).tolist()
    of_groups = [range(panel.places.dsi(0)) for panel in panels]
    column = [c + before for before, own in zip(first, of_groups, strict=False) for c in own]
    kinds = [group.axes for panel in panels for group in panel.grouping.groups]
    families = [
        replace(
            family,
            columns=tuple(column[c] for c in family.columns),
            upper=tuple(column[c] for c in family.upper),
        )
        for family in group_families(kinds, analysis, replace(panels[0].places, n_groups=len(kinds)))
    ]
    dsi = [
        panel.places.dsi(axis) + before
        for before, panel in zip(first, panels, strict=False)
        for axis in range(len(analysis.axes))
    ]
    units = np.cumsum([0, *(len(panel.grouping.groups) for panel in panels)]).tolist()
    needs = np.zeros((first[-1], units[-1]), np.bool_)
    largest: dict[int, Maximum] = {}
    for panel, before, unit in zip(panels, first, units, strict=False):
        of_panel = panel.tests.needs
        needs[before : before + of_panel.shape[0], unit : unit + of_panel.shape[1]] = of_panel
        largest |= {c + before: moved(one, before) for c, one in panel.tests.largest.items()}
    regroupings = [panel.tests.regroupings for panel in panels]
    return Tests(
        (*families, Family(tuple(dsi), "upper", "benjamini-hochberg")),
        needs,
        largest,
        np.concatenate([one for one in regroupings if one is not None]) if analysis.tail else None,
        Known(
            tuple(
                c + before
                for panel, before in zip(panels, first, strict=False)
                for c in panel.tests.known.like
            ),
            tuple(centred for panel in panels for centred in panel.tests.known.centred),
        ),
    )


def moved(maximum: Maximum, by: int) -> Maximum:
    """Move a maximum's columns by a number of places."""
    within = None if maximum.within is None else maximum.within + by
    columns, upper = (tuple(c + by for c in some) for some in (maximum.columns, maximum.upper))
    return maximum._replace(columns=columns, upper=upper, within=within)


@dataclass(frozen=True, slots=True)
class Within(Summaries):
    """Null distributions of a panel whose columns begin at column `first` of a larger panel."""

    whole: Summaries
    first: int

    def tails(self, column: int) -> Tails:
        """See :class:`~grasp_core.permutation.testing.p_values.Summaries`."""
        return self.whole.tails(column + self.first)

    def summary(self, column: int) -> Summary:
        """See :class:`~grasp_core.permutation.testing.p_values.Summaries`."""
        return self.whole.summary(column + self.first)


class SideBySide:
    """Several panels of cohesion as one: their columns and their units, the groups, follow one another."""

    def __init__(self, panels: Sequence[Cohesion], analysis: AnalysisSpec) -> None:
        self._panels = panels
        self.per_unit: int = panels[0].per_unit
        self._first = np.cumsum([0, *(one.observed.size for one in panels)])
        self._units = np.cumsum([len(one.grouping.groups) for one in panels])[:-1]
        self._asked = _tests_of_all(panels, analysis)
        untested = {c + first for first, one in self._placed() for c in one.untested.columns}
        self.tests = self._asked.without(untested)
        self.observed = np.concatenate([one.observed for one in panels])

    def work(self, active: BoolArray) -> CohesionWork:
        """See :class:`~grasp_core.analysis.panel.Panel`."""
        wanted = zip(self._panels, np.split(active, self._units), strict=True)
        works = [panel.work(units) for panel, units in wanted if units.any()]
        return CohesionWork(tuple(design for work in works for design in work.designs))

    def columns(self, values: FloatArray) -> FloatArray:
        """See :class:`~grasp_core.analysis.panel.Panel`."""
        of_panels = zip(self._panels, np.split(values, self._units, axis=1), strict=True)
        return np.concatenate([panel.columns(own) for panel, own in of_panels], axis=-1)

    def _placed(self) -> Iterator[tuple[int, Cohesion]]:
        """Yield the panels, each with its first column."""
        return zip(self._first.tolist(), self._panels, strict=False)

    def _found(
        self, result: RunResult, tally: Tally, *, so_far: bool
    ) -> Iterator[tuple[tuple[GroupResult, ...], tuple[DsiResult, ...]]]:
        """Yield results of groups and axes, panel by panel."""
        null = tally.null
        reasons = {c + first: reason for first, one in self._placed() for c, reason in one.reasons.items()}
        found = outcomes(self.tests, self.observed, null, reasons, so_far=so_far)
        untested = {
            c + first: outcome
            for first, one in self._placed()
            for c, outcome in one.untested_outcomes.items()
        }
        found |= tested_otherwise(self._asked.families, untested)
        for first, panel in self._placed():
            own = {c: found[c + first] for c in range(panel.observed.size) if c + first in found}
            yield panel.rows(own, Within(null, first), result.spec.data.labels, so_far=so_far)

    def _undecided(self, c: int, *, corrected: bool) -> tuple[int, Undecided]:
        """Return the index of a column's panel, and the column's mark, which the run left unsettled."""
        k = int(np.searchsorted(self._first, c, side="right")) - 1
        return k, self._panels[k].undecided(c - int(self._first[k]), corrected=corrected)


@dataclass(frozen=True, slots=True, eq=False)
class _Slice:
    """A value, the data of its items, and the panel of its groups; None if no group is large enough."""

    value: str
    dataset: Dataset
    panel: Cohesion | None

    @classmethod
    def of(cls, value: str, dataset: Dataset, analysis: AnalysisSpec, unequal: Unequal) -> Self:
        """Form the groups of a slice and compute the observed values."""
        grouping = groups_asked(dataset.raters, analysis)
        panel = Cohesion(dataset, grouping, analysis, unequal) if grouping.groups else None
        return cls(value, dataset, panel)

    def result(self, groups: tuple[GroupResult, ...], dsi: tuple[DsiResult, ...]) -> SliceResult:
        """Return the result of the slice."""
        data = self.dataset
        annotations = int(data.annotations_of.sum())
        sizes = data.annotations.n_items, data.annotations.n_raters, annotations
        return SliceResult(self.value, *sizes, groups, dsi)


class Slices(SideBySide):
    """Every statistic of every group on the items of each value of a column."""

    name = "slices"

    def __init__(
        self, dataset: Dataset, analysis: AnalysisSpec, column: str, unequal: Unequal = ALL_ALIKE
    ) -> None:
        self._column = column
        self._without = int((dataset.attributes[column].codes < 0).sum())
        self._slices = [_Slice.of(value, data, analysis, unequal) for value, data in _values(dataset, column)]
        self.labels = sum(one.dataset.annotations.n_annotations for one in self._slices)
        super().__init__([one.panel for one in self._slices if one.panel is not None], analysis)

    def into(self, result: RunResult, tally: Tally, *, so_far: bool) -> RunResult:
        """Return the result with this column's slices after its others."""
        found = self._found(result, tally, so_far=so_far)
        rows = tuple(one.result(*(((), ()) if one.panel is None else next(found))) for one in self._slices)
        return replace(result, slices=(*result.slices, SlicesResult(self._column, self._without, rows)))

    def undecided(self, c: int, *, corrected: bool) -> Undecided:
        """See :class:`~grasp_core.analysis.panel.LaterPanel`."""
        k, found = self._undecided(c, corrected=corrected)
        values = [one.value for one in self._slices if one.panel is not None]
        return replace(found, slice=(self._column, values[k]))


def slices_of(dataset: Dataset, grouping: Grouping, analysis: AnalysisSpec, unequal: Unequal) -> Later:
    """Return the stage of slices: one panel for each column of the spec whose slices have groups."""
    sliced = [
        column
        for column in analysis.slices
        if any(groups_asked(data.raters, analysis).groups for _, data in _values(dataset, column))
    ]
    empty = len(analysis.slices) - len(sliced)
    panels = (Slices(dataset, analysis, column, unequal) for column in sliced)
    none = (Caution.NO_GROUP_IN_SLICES(columns=empty, least=analysis.min_raters),) if empty else ()
    return Later(panels, none)


def _values(dataset: Dataset, column: str) -> Iterator[tuple[str, Dataset]]:
    """Yield each value of a column, with the data of its items."""
    attribute = dataset.attributes[column]
    for code, value in enumerate(attribute.values):
        yield value, only_items(dataset, attribute.codes == code)


def only_items(dataset: Dataset, chosen: BoolArray) -> Dataset:
    """Return the data set as if its files held only the chosen items, (I,): raters without any are gone.

    Labels, account and order of raters stay those of the whole data set.
    """
    counted = np.zeros(dataset.annotations.n_raters, np.bool_)
    for one in dataset.questions:
        counted[one.rater[chosen[one.item]]] = True
    first, *further = (one.only(chosen, counted) for one in dataset.questions)
    raters = dataset.raters.some(counted)
    found = replace(
        dataset, annotations=first, raters=raters, further=tuple(further), models=(), attributes={}
    )
    return replace(found, raters=replace(raters, workload=found.annotations_of))


class Given(SideBySide):
    """Every statistic of every group that an axis does not define, shuffled within that axis's values."""

    name = "given"

    def __init__(
        self, dataset: Dataset, grouping: Grouping, analysis: AnalysisSpec, column: str, unequal: Unequal
    ) -> None:
        self._column = column
        self._panel = Cohesion(dataset, grouping, analysis, unequal)
        shuffles = Shuffles.of(dataset.raters, grouping, analysis)
        self._untestable = untestable(grouping, shuffles.log_regroupings, unequal)
        self._regroupings = Regroupings(grouping, shuffles, analysis.seed)
        self._like = Symmetry.of(dataset.raters, grouping, analysis).like.tolist()
        self.labels = int(dataset.annotations.n_annotations)
        super().__init__([self._panel], analysis)

    def verdict_values(self, shuffled: FloatArray) -> FloatArray:
        """See :class:`~grasp_core.analysis.panel.VerdictPanel`."""
        return self._panel.verdict_values(shuffled)

    def into(self, result: RunResult, tally: Tally, *, so_far: bool) -> RunResult:
        """Return the result with these groups after those given other axes."""
        ((groups, dsi),) = self._found(result, tally, so_far=so_far)
        if not so_far:
            asked = hypotheses(self._panel.grouping)
            found, exact = tally.verdict_values, self._regroupings.of
            tested = joint_tests(found, asked, self._like, self._untestable, exact)
            groups = with_verdicts(groups, tested, tally.n_complete)
        return replace(result, given=(*result.given, GivenResult(self._column, groups, dsi)))

    def undecided(self, c: int, *, corrected: bool) -> Undecided:
        """See :class:`~grasp_core.analysis.panel.LaterPanel`."""
        return replace(self._undecided(c, corrected=corrected)[1], given=self._column)


def check_given(raters: Raters, analysis: AnalysisSpec) -> None:
    """Raise SpecError if shuffling within a given axis's values changes no group that is tested."""
    for column in analysis.given:
        if within(raters, analysis, column) is None:
            raise SpecError(_nothing_left(analysis, column))


def _nothing_left(analysis: AnalysisSpec, column: str) -> str:
    if column in analysis.strata:
        return f"profiles are shuffled within {column} already; leave it out of what is given"
    left = [" x ".join(axes) for axes in analysis.axes if column not in axes]
    if not left:
        return (
            f"given {column} nothing is left to test: no other axis is asked; test another one too, or leave "
            f"{column} out of what is given"
        )
    return (
        f"given {column} nothing is left to shuffle for {', '.join(left)}: raters who share a value of "
        f"{column} are all in the same group there, or no group is large enough; leave {column} out of what "
        "is given"
    )


def within(raters: Raters, analysis: AnalysisSpec, column: str) -> tuple[Grouping, AnalysisSpec] | None:
    """Return groups that an axis does not define and shuffling within its values changes; None if none."""
    axes = tuple(axes for axes in analysis.axes if column not in axes)
    if not axes or column in analysis.strata:
        return None
    strata = (*analysis.strata, column)
    asked = replace(analysis, axes=axes, strata=strata, slices=(), pairs=False, given=())
    stuck = axes_that_stay(raters, groups_asked(raters, asked), asked)
    axes = tuple(one for one in axes if one not in stuck)
    if not axes:
        return None
    asked = replace(asked, axes=axes)
    found = groups_asked(raters, asked)
    return (found, asked) if found.groups else None


def given_of(dataset: Dataset, grouping: Grouping, analysis: AnalysisSpec, unequal: Unequal) -> Later:
    """Return the stage of groups given another axis: one panel for each such axis of the spec."""
    found = {column: within(dataset.raters, analysis, column) for column in analysis.given}
    panels = (Given(dataset, *one, column, unequal) for column, one in found.items() if one is not None)
    return Later(panels, ())
