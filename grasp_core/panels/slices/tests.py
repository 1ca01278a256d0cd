"""The tests of slices: those of each slice's groups, corrected over all values of the column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from grasp_core.annotations import Int64Array
from grasp_core.panels.cohesion.columns import group_families
from grasp_core.panels.cohesion.panel import Cohesion
from grasp_core.permutation.nulls.deviations import Known, Maximum
from grasp_core.permutation.nulls.extremes import Extremes
from grasp_core.permutation.nulls.tails import Tails
from grasp_core.permutation.nulls.values import Null, Summary
from grasp_core.permutation.testing.tests import Family, Tests
from grasp_core.spec import AnalysisSpec


def slices_tests(panels: Sequence[Cohesion], analysis: AnalysisSpec) -> Tests:
    """The tests of all panels, whose columns and units stand one after the other.

    Parameters
    ----------
    panels : sequence of Cohesion
        Of each value of one column.
    analysis : AnalysisSpec
        A family is a statistic's tests of all groups and values.
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
    """The null distributions of a panel whose columns begin at `first` of another's.

    Parameters
    ----------
    whole : Null
    first : int
    """

    whole: Null
    first: int

    def tails(self, column: int) -> Tails:
        """See :class:`~grasp_core.permutation.nulls.values.Null`."""
        return self.whole.tails(column + self.first)

    def summary(self, column: int) -> Summary:
        """See :class:`~grasp_core.permutation.nulls.values.Null`."""
        return self.whole.summary(column + self.first)

    def reached(self, maximum: Maximum) -> tuple[Int64Array, int]:
        """See :class:`~grasp_core.permutation.nulls.values.Null`."""
        return self.whole.reached(moved(maximum, self.first))

    def extremes(self, column: int, *, upper: bool) -> Extremes:
        """See :class:`~grasp_core.permutation.nulls.values.Null`."""
        return self.whole.extremes(column + self.first, upper=upper)

    def largest(self, maximum: Maximum) -> tuple[float, Extremes]:
        """See :class:`~grasp_core.permutation.nulls.values.Null`."""
        return self.whole.largest(moved(maximum, self.first))
