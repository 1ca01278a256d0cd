"""What is not tested by shuffling, since groups of its axis were given other items, or more of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal, Self

import numpy as np

from grasp_core.analysis.cohesion.columns import Places
from grasp_core.analysis.jackknife import FEWEST_RATERS, Jackknifed, jackknifed
from grasp_core.model.account import Unequal
from grasp_core.model.annotations import Annotations, FloatArray
from grasp_core.model.groups import Group, Grouping
from grasp_core.model.outcome import LabelUse, Outcome, Shift
from grasp_core.model.remarks.reasons import NoValue
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.spec import AnalysisSpec, Level
from grasp_core.model.statistic import TABLE
from grasp_core.permutation.design import MOST_TOLD
from grasp_core.statistics.items import count
from grasp_core.statistics.label_use import Scale, mean_positions
from grasp_core.statistics.levels import category_values

Test = Callable[[int], Jackknifed | Remark]
"""The test of a unit's label use by leaving out raters, or why there is none."""


@dataclass(frozen=True, slots=True)
class Untested:
    """Columns that are not tested by shuffling.

    `withheld`: those without any test.
    `by_jackknife`: columns of label use that are tested by leaving out raters, with their units.
    """

    test: Test
    withheld: frozenset[int] = frozenset()
    by_jackknife: Mapping[int, int] = field(default_factory=dict)

    @classmethod
    def of_groups(
        cls,
        groups: Sequence[Group],
        unequal: Unequal,
        spec: AnalysisSpec,
        places: Places,
        test: Test,
    ) -> Self:
        """Those of the groups of axes that were given other items, and of these axes' DSI."""
        names = {axes: _withheld(why, spec) for axes, why in unequal.items()}
        chosen = [g for g, group in enumerate(groups) if group.axes in unequal]
        withheld = {
            places.column(g, place)
            for g in chosen
            for name, place in places.statistics.items()
            if name in names[groups[g].axes]
        }
        withheld |= {places.dsi(axis) for axis, axes in enumerate(spec.axes) if "gai" in names.get(axes, ())}
        by_jackknife = {places.column(g, places.label_use): g for g in chosen if places.n_labels}
        return cls(test, frozenset(withheld), by_jackknife)

    @property
    def columns(self) -> frozenset[int]:
        """All of them."""
        return self.withheld | self.by_jackknife.keys()

    def outcomes(self, observed: FloatArray, reasons: Mapping[int, Remark]) -> dict[int, Outcome]:
        """Outcomes of the columns, without correction.

        `observed`: shape (C,).
        `reasons`: why it has no observed value.
        """
        found = {}
        for c in self.columns:
            if np.isnan(observed[c]):
                found[c] = Outcome(None, reason=reasons.get(c))
            elif c in self.withheld:
                found[c] = Outcome(float(observed[c]), reason=NoValue.OTHER_ITEMS())
            else:
                test = self.test(self.by_jackknife[c])
                of_test = {"reason": test} if isinstance(test, Remark) else {"p": test.p}
                found[c] = Outcome(float(observed[c]), **of_test)
        return found


def _withheld(why: Literal["items", "workload"], spec: AnalysisSpec) -> tuple[str, ...]:
    """Statistics that this design does not mark; GAI is one where it is made of one."""
    found = tuple(name for name, one in TABLE.items() if why in one.unmarked)
    return (*found, "gai") if set(found) & set(spec.gai) else found


def tests_of(questions: Sequence[Annotations], grouping: Grouping, level: Level) -> Test:
    """The test of each group's label use against its complement, each computed once."""
    told = [one for one in questions if one.n_categories <= MOST_TOLD]

    @cache
    def test(g: int) -> Jackknifed | Remark:
        sides = grouping.member[g], grouping.complement(g)
        positions = []
        for one in told:
            c, d = (count(one, side) for side in sides)
            scale = Scale(level, category_values(one.categories, level))
            positions.append(mean_positions(c, d, scale))
        found = jackknifed(told, *sides, positions)
        return NoValue.FEW_TO_LEAVE_OUT(least=FEWEST_RATERS) if found is None else found

    return test


def jackknifed_use(
    names: Sequence[str],
    columns: Sequence[int],
    mean: int,
    observed: FloatArray,
    together: Outcome,
    test: Jackknifed | Remark,
) -> LabelUse:
    """A unit's label use, tested by leaving out raters, without intervals.

    `names`: length L; `observed`: shape (C,).
    `columns`, length L: of the labels.
    `mean`: the column of the mean's shift.
    `together`: of all labels.
    `test`: which says why there is none.
    """
    values = observed[list(columns)]
    if isinstance(test, Remark):
        p, of_mean = np.full(len(columns), np.nan), float("nan")
    else:
        p, of_mean = test.of_labels, test.of_mean
    most = int(np.lexsort((-np.abs(values), p))[0])
    return LabelUse(
        labels={
            name: Shift(float(value), p=_known(one))
            for name, value, one in zip(names, values, p, strict=True)
        },
        mean=None if np.isnan(observed[mean]) else Shift(float(observed[mean]), p=_known(of_mean)),
        p=together.p,
        q=together.q,
        significance=together.significance,
        most=names[most],
        reason=together.reason,
        test="jackknife",
    )


def _known(p: float) -> float | None:
    return None if np.isnan(p) else float(p)
