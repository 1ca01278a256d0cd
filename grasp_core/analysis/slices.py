"""Groups on the items of each value of a column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from grasp_core.analysis.cohesion.columns import group_families
from grasp_core.analysis.cohesion.panel import Cohesion
from grasp_core.analysis.panel import Later, groups_asked
from grasp_core.model.account import ALL_ALIKE, Unequal
from grasp_core.model.annotations import Annotations, BoolArray, FloatArray, Int64Array
from grasp_core.model.groups import Grouping
from grasp_core.model.outcome import Outcome
from grasp_core.model.remarks.cautions import Caution
from grasp_core.model.result import DsiResult, GroupResult, RunResult, SliceResult, SlicesResult, Undecided
from grasp_core.model.spec import AnalysisSpec
from grasp_core.permutation import questions
from grasp_core.permutation.questions import Questions
from grasp_core.permutation.testing.deviations import Extremes, Known, Maximum, Null, Summary, Tails
from grasp_core.permutation.testing.outcomes import outcomes, tested_otherwise
from grasp_core.permutation.testing.tally import Tally
from grasp_core.permutation.testing.tests import Family, Tests
from grasp_core.reading.dataset.load import Dataset


def only_items(dataset: Dataset, chosen: BoolArray) -> Dataset:
    """The data set as if its files held the chosen items alone: raters without annotations are gone.

    `chosen`: shape (I,).

    Returns with the labels, the account and the order of raters of the whole one.
    """
    counted = np.zeros(dataset.annotations.n_raters, np.bool_)
    for one in dataset.questions:
        counted[one.rater[chosen[one.item]]] = True
    first, *further = (_only(one, chosen, counted) for one in dataset.questions)
    raters = dataset.raters.some(counted)
    found = replace(
        dataset, annotations=first, raters=raters, further=tuple(further), models=(), attributes={}
    )
    return replace(found, raters=replace(raters, workload=found.annotations_of))


def _only(one: Annotations, chosen: BoolArray, counted: BoolArray) -> Annotations:
    kept = chosen[one.item]
    return Annotations.from_codes(
        item=(np.cumsum(chosen) - 1)[one.item[kept]],
        rater=(np.cumsum(counted) - 1)[one.rater[kept]],
        category=one.category[kept],
        item_ids=[one.item_ids[i] for i in np.flatnonzero(chosen)],
        rater_ids=[one.rater_ids[j] for j in np.flatnonzero(counted)],
        categories=one.categories,
    )


def slices_tests(panels: Sequence[Cohesion], analysis: AnalysisSpec) -> Tests:
    """The tests of all panels, whose columns and units stand one after the other.

    `panels`: of each value of one column.
    `analysis`: a family is a statistic's tests of all groups and values.
    """
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
        for family in group_families(kinds, analysis, panels[0].places.n_labels)
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
    """The same of columns further on."""
    within = None if maximum.within is None else maximum.within + by
    columns, upper = (tuple(c + by for c in some) for some in (maximum.columns, maximum.upper))
    return maximum._replace(columns=columns, upper=upper, within=within)


@dataclass(frozen=True, slots=True)
class Within(Null):
    """The null distributions of a panel whose columns begin at `first` of another's."""

    whole: Null
    first: int

    def tails(self, column: int) -> Tails:
        """See :class:`~grasp_core.permutation.testing.deviations.Null`."""
        return self.whole.tails(column + self.first)

    def summary(self, column: int) -> Summary:
        """See :class:`~grasp_core.permutation.testing.deviations.Null`."""
        return self.whole.summary(column + self.first)

    def reached(self, maximum: Maximum) -> tuple[Int64Array, int]:
        """See :class:`~grasp_core.permutation.testing.deviations.Null`."""
        return self.whole.reached(moved(maximum, self.first))

    def extremes(self, column: int, *, upper: bool) -> Extremes:
        """See :class:`~grasp_core.permutation.testing.deviations.Null`."""
        return self.whole.extremes(column + self.first, upper=upper)

    def largest(self, maximum: Maximum) -> tuple[float, Extremes]:
        """See :class:`~grasp_core.permutation.testing.deviations.Null`."""
        return self.whole.largest(moved(maximum, self.first))


@dataclass(frozen=True, slots=True, eq=False)
class SlicesWork:
    """A design of each slice; their values are those of :func:`questions.values` of all slices' groups."""

    designs: tuple[Questions, ...]

    def arrays(self) -> dict[str, Any]:
        """See :class:`~grasp_core.analysis.panel.Work`."""
        found = enumerate(map(questions.arrays, self.designs))
        return {f"{k}/{name}": value for k, of_slice in found for name, value in of_slice.items()}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, Any]) -> Self:
        """See :class:`~grasp_core.analysis.panel.Work`."""
        of_slices: dict[str, dict[str, Any]] = {}
        for name, value in arrays.items():
            one, _, field = name.partition("/")
            of_slices.setdefault(one, {})[field] = value
        return cls(tuple(map(questions.of_arrays, of_slices.values())))

    def shuffled(self, seed: int, start: int, stop: int) -> FloatArray:
        """See :class:`~grasp_core.analysis.panel.Work`."""
        return np.concatenate([questions.shuffled(one, seed, start, stop) for one in self.designs], axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class _Slice:
    """A value, the data of its items, and the panel of its groups; None where no group is large enough."""

    value: str
    dataset: Dataset
    panel: Cohesion | None

    @classmethod
    def of(cls, value: str, dataset: Dataset, analysis: AnalysisSpec, unequal: Unequal) -> Self:
        """Form the groups of a slice and compute what is observed."""
        grouping = groups_asked(dataset.raters, analysis)
        panel = Cohesion.of(dataset, grouping, analysis, unequal) if grouping.groups else None
        return cls(value, dataset, panel)

    def result(self, groups: tuple[GroupResult, ...], dsi: tuple[DsiResult, ...]) -> SliceResult:
        """What was found in the slice."""
        data = self.dataset
        annotations = int(data.annotations_of.sum())
        sizes = data.annotations.n_items, data.annotations.n_raters, annotations
        return SliceResult(self.value, *sizes, groups, dsi)


class Slices:
    """Every statistic of every group on the items of each value of a column; the units are those groups.

    `column`: one of the data set's attributes.
    `unequal`: axes whose groups were given other items, or more of them.
    """

    name = "slices"

    def __init__(
        self, dataset: Dataset, analysis: AnalysisSpec, column: str, unequal: Unequal = ALL_ALIKE
    ) -> None:
        self._column = column
        self._without = int((dataset.attributes[column].codes < 0).sum())
        self._slices = [_Slice.of(value, data, analysis, unequal) for value, data in _values(dataset, column)]
        self._panels = [one.panel for one in self._slices if one.panel is not None]
        self.per_unit: int = self._panels[0].per_unit
        self._first = np.cumsum([0, *(one.observed.size for one in self._panels)])
        self._first_unit = np.cumsum([0, *(len(one.grouping.groups) for one in self._panels)])
        self._asked = slices_tests(self._panels, analysis)
        self.tests = self._asked.without(
            {c + first for first, one in self._placed() for c in one.untested.columns}
        )
        self.observed = np.concatenate([one.observed for one in self._panels])

    @property
    def labels(self) -> int:
        """Annotations that a permutation has to count."""
        return sum(one.dataset.annotations.n_annotations for one in self._slices)

    def work(self, active: BoolArray) -> SlicesWork:
        """See :class:`~grasp_core.analysis.panel.Panel`."""
        wanted = zip(self._panels, np.split(active, self._first_unit[1:-1]), strict=True)
        return SlicesWork(tuple(panel.work(units).design for panel, units in wanted if units.any()))

    def columns(self, values: FloatArray) -> FloatArray:
        """See :class:`~grasp_core.analysis.panel.Panel`."""
        of_panels = zip(self._panels, np.split(values, self._first_unit[1:-1], axis=1), strict=True)
        return np.concatenate([panel.columns(own) for panel, own in of_panels], axis=-1)

    def _placed(self) -> Iterator[tuple[int, Cohesion]]:
        """The panels, each with its first column."""
        return zip(self._first.tolist(), self._panels, strict=False)

    def into(self, result: RunResult, tally: Tally, *, so_far: bool) -> RunResult:
        """The result with this column's slices behind those that it has."""
        null = tally.null
        reasons = {c + first: reason for first, one in self._placed() for c, reason in one.reasons.items()}
        found = outcomes(self.tests, self.observed, null, reasons, so_far=so_far)
        untested = {
            c + first: outcome
            for first, one in self._placed()
            for c, outcome in one.untested_outcomes.items()
        }
        found |= tested_otherwise(self._asked.families, untested)
        labels, starts = result.spec.data.labels, iter(self._first.tolist())
        rows = tuple(
            one.result((), ())
            if one.panel is None
            else one.result(*_own(one.panel, next(starts), found, null, labels, so_far=so_far))
            for one in self._slices
        )
        return replace(result, slices=(*result.slices, SlicesResult(self._column, self._without, rows)))

    def undecided(self, c: int, *, corrected: bool) -> Undecided:
        """See :class:`~grasp_core.analysis.panel.LaterPanel`."""
        k = int(np.searchsorted(self._first, c, side="right")) - 1
        values = [one.value for one in self._slices if one.panel is not None]
        found = self._panels[k].undecided(c - int(self._first[k]), corrected=corrected)
        return replace(found, slice=(self._column, values[k]))


def _own(
    panel: Cohesion,
    first: int,
    found: Mapping[int, Outcome],
    null: Null,
    labels: Sequence[str],
    *,
    so_far: bool,
) -> tuple[tuple[GroupResult, ...], tuple[DsiResult, ...]]:
    """Rows of a slice, whose columns begin at `first`."""
    own = {c: found[c + first] for c in range(panel.observed.size) if c + first in found}
    return panel.rows(own, Within(null, first), labels, so_far=so_far)


def slices_of(dataset: Dataset, grouping: Grouping, analysis: AnalysisSpec, unequal: Unequal) -> Later:
    """The slices of each column that was asked and has groups, one after the other."""
    sliced = [column for column in analysis.slices if _has_groups(dataset, analysis, column)]
    empty = len(analysis.slices) - len(sliced)
    panels = (Slices(dataset, analysis, column, unequal) for column in sliced)
    none = (Caution.NO_GROUP_IN_SLICES(columns=empty, least=analysis.min_raters),) if empty else ()
    return Later(panels, none)


def _has_groups(dataset: Dataset, analysis: AnalysisSpec, column: str) -> bool:
    """Whether some slice has a group."""
    return any(groups_asked(data.raters, analysis).groups for _, data in _values(dataset, column))


def _values(dataset: Dataset, column: str) -> Iterator[tuple[str, Dataset]]:
    """Each value of a column, with the data of its items."""
    attribute = dataset.attributes[column]
    for code, value in enumerate(attribute.values):
        yield value, only_items(dataset, attribute.codes == code)
