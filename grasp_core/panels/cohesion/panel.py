"""Cohesion as a panel: observed values, why some are missing, and what workers compute."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np

from grasp_core.annotations import BoolArray, Codes, FloatArray
from grasp_core.groups import Grouping
from grasp_core.intervals import of_groups
from grasp_core.io.dataset.load import Dataset
from grasp_core.outcome import Outcome
from grasp_core.panels.cohesion.columns import (
    GAI,
    cohesion_tests,
    column,
    dsi_column,
    members,
    with_dsi,
    with_gai,
)
from grasp_core.panels.cohesion.results import by_axis, by_group, with_interval
from grasp_core.panels.cohesion.self_check import self_check
from grasp_core.permutation import compiled, questions
from grasp_core.permutation.compiled import KERNEL_STATISTICS
from grasp_core.permutation.nulls.values import Null
from grasp_core.permutation.questions import AnyDesign
from grasp_core.permutation.testing.outcomes import outcomes
from grasp_core.permutation.testing.tests import Tests
from grasp_core.remarks.cautions import Caution
from grasp_core.remarks.reasons import NoInterval, NoValue
from grasp_core.remarks.remark import Remark
from grasp_core.result import GroupResult, RunResult, Undecided
from grasp_core.spec import CROSS_GROUP, STATISTICS, AnalysisSpec


@dataclass(frozen=True, slots=True, eq=False)
class CohesionWork:
    """A design, or one per question; their values are the kernel's statistics of the groups.

    Those are `groups` by their position in the panel, () being all; workers need not know.
    """

    design: AnyDesign
    groups: tuple[int, ...] = ()

    def arrays(self) -> dict[str, Any]:
        """See :class:`~grasp_core.panels.panel.Work`."""
        return questions.arrays(self.design)

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, Any]) -> Self:
        """See :class:`~grasp_core.panels.panel.Work`."""
        return cls(questions.of_arrays(arrays))

    def shuffled(self, seed: int, start: int, stop: int) -> FloatArray:
        """See :class:`~grasp_core.panels.panel.Work`."""
        return questions.shuffled(self.design, seed, start, stop)


class Cohesion:
    """Every statistic of every group and the DSI of every axis, as a panel.

    Parameters
    ----------
    grouping : Grouping
    analysis : AnalysisSpec
    components : sequence of float64 arrays, shape (G, 8)
        :func:`~grasp_core.permutation.compiled.components` of each question as observed.
    lay_out : callable
        Takes a grouping, gives what workers need to compute its groups.
    annotations_of : int array, shape (J,)
        Annotations of each rater.
    intervals : callable or Remark
        Gives :func:`~grasp_core.intervals.of_groups.intervals` of the groups' statistics, shape (G, 7, 2), or
        says why there are none; by default because data are in parts.
    """

    per_unit = len(KERNEL_STATISTICS)

    def __init__(
        self,
        grouping: Grouping,
        analysis: AnalysisSpec,
        components: Sequence[FloatArray],
        lay_out: Callable[[Grouping], AnyDesign],
        annotations_of: Codes,
        intervals: Callable[[], FloatArray] | Remark | None = None,
    ) -> None:
        self.grouping = grouping
        self.tests: Tests = cohesion_tests(grouping.groups, analysis)
        self.statistics = with_gai(questions.together(components), analysis)
        self._members = members(grouping.groups, analysis)
        self.observed = with_dsi(self.statistics, self._members)
        paper = analysis.cross_negentropy == "paper"
        self.notes: tuple[Remark, ...] = (Caution.PAPER_CROSS_NEGENTROPY(),) if paper else ()
        self._analysis = analysis
        self._lay_out = lay_out
        self._reasons = with_gai_reasons(questions.reasons(components), self.statistics, analysis)
        self._annotations_of = annotations_of
        self._intervals = intervals or NoInterval.INTERVAL_IN_PARTS()

    @classmethod
    def of(cls, dataset: Dataset, grouping: Grouping, analysis: AnalysisSpec) -> Self:
        """Compute the observed statistics and check them.

        Raises
        ------
        SelfCheckError
            If an observed IRR differs from ``krippendorff.alpha`` by more than 1e-9.
        """

        def lay_out(some: Grouping) -> AnyDesign:
            return questions.lay_out(dataset.questions, dataset.raters, some, analysis)

        whole = lay_out(grouping)
        components = questions.observed_components(whole)
        for answers, one in zip(dataset.questions, components, strict=True):
            self_check(answers, grouping, analysis.level, compiled.statistics(one)[:, 0])
        return cls(
            grouping,
            analysis,
            components,
            lambda some: whole if some is grouping else lay_out(some),
            dataset.annotations_of,
            of_groups.too_large(dataset.questions, analysis)
            or (
                lambda: of_groups.intervals(
                    dataset.questions,
                    dataset.raters,
                    grouping,
                    analysis,
                    partial(with_gai, analysis=analysis),
                )
            ),
        )

    def work(self, active: BoolArray) -> CohesionWork:
        """See :class:`~grasp_core.panels.panel.Panel`."""
        chosen = np.flatnonzero(active).tolist()
        design = self._lay_out(self.grouping.some(chosen))
        return CohesionWork(design, () if active.all() else tuple(chosen))

    def columns(self, values: FloatArray) -> FloatArray:
        """See :class:`~grasp_core.panels.panel.Panel`."""
        return with_dsi(with_gai(values, self._analysis), self._members)

    def result(self, null: Null, *, permutations_done: int | None, **of_run: Any) -> RunResult:
        """Outcomes of each group by statistic, and the DSI of each axis."""
        groups = self.grouping.groups
        reasons = {
            column(g, STATISTICS.index(name)): reason
            for g, of_group in enumerate(self._reasons)
            for name, reason in of_group.items()
        }
        so_far = permutations_done is not None
        found = outcomes(self.tests, self.observed, null, reasons, so_far=so_far)
        if not so_far:
            found = self._with_intervals(found)
        rows = zip(groups, self.grouping.member, by_group(found, len(groups), self._analysis), strict=True)
        return RunResult(
            groups=tuple(
                GroupResult(group, int(member.sum()), int(self._annotations_of[member].sum()), row)
                for group, member, row in rows
            ),
            dsi=by_axis(found, groups, self.statistics[:, GAI], self._analysis),
            permutations_done=permutations_done,
            **of_run,
        )

    def _with_intervals(self, found: Mapping[int, Outcome]) -> dict[int, Outcome]:
        """The outcomes of groups with their intervals, or with why they have none."""
        given = self._intervals
        computed = given if isinstance(given, Remark) else given()
        of_columns = dict(found)
        for g in range(len(self.grouping.groups)):
            inside, outside = int(self.grouping.n_raters[g]), int(self.grouping.complement(g).sum())
            for s, name in enumerate(STATISTICS):
                outcome = found.get(column(g, s))
                if outcome is not None and outcome.value is not None:
                    ends = computed if isinstance(computed, Remark) else computed[g, s]
                    across = outside if name in (*CROSS_GROUP, "gai") else None
                    of_columns[column(g, s)] = with_interval(
                        outcome, ends, self._analysis.interval, inside, across
                    )
        return of_columns

    def undecided(self, c: int, *, corrected: bool) -> Undecided:
        """See :class:`~grasp_core.panels.panel.RunPanel`."""
        groups, first_dsi = self.grouping.groups, dsi_column(len(self.grouping.groups), 0)
        if c >= first_dsi:
            return Undecided(self._analysis.axes[c - first_dsi], None, "dsi", corrected)
        group = groups[c // len(STATISTICS)]
        return Undecided(group.axes, group, STATISTICS[c % len(STATISTICS)], corrected)


def with_gai_reasons(
    reasons: Sequence[dict[str, Remark]], observed: FloatArray, analysis: AnalysisSpec
) -> list[dict[str, Remark]]:
    """With why GAI is not estimable, where `observed`, shape (G, 7), has none."""
    found = [dict(of_group) for of_group in reasons]
    for of_group, row in zip(found, observed, strict=True):
        if np.isnan(row[GAI]):
            across = row[STATISTICS.index(analysis.gai[1])]
            missing = (name for name in analysis.gai if name in of_group)
            of_group["gai"] = next(
                (
                    NoValue.GAI_HALF_MISSING(statistic=_words(name), because=of_group[name])
                    for name in missing
                ),
                NoValue.GAI_NOT_ABOVE_0(statistic=_words(analysis.gai[1]), value=float(across)),
            )
    return found


def _words(statistic: str) -> str:
    return statistic.upper() if statistic in ("irr", "xrr") else statistic.replace("_", " ")
