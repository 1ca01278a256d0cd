"""What is left of one axis, given another."""

from __future__ import annotations

from dataclasses import replace

from grasp_core.analysis.cohesion.panel import Cohesion, CohesionWork
from grasp_core.analysis.cohesion.verdict import hypotheses, joint_tests, untestable, with_verdicts
from grasp_core.analysis.panel import Later, groups_asked
from grasp_core.model.account import Unequal
from grasp_core.model.annotations import BoolArray, FloatArray, Raters
from grasp_core.model.errors import SpecError
from grasp_core.model.groups import Grouping
from grasp_core.model.result import GivenResult, RunResult, Undecided
from grasp_core.model.spec import AnalysisSpec
from grasp_core.permutation.testing.tail import Shuffles, Symmetry, axes_that_stay
from grasp_core.permutation.testing.tally import Tally
from grasp_core.reading.dataset.load import Dataset


class Given:
    """Every statistic of every group that an axis has no part in, shuffled within that axis's values.

    `analysis`: of :func:`within`, with its groups.
    `column`: the axis.
    `unequal`: axes whose groups were given other items, or more of them.
    """

    name = "given"

    def __init__(
        self,
        dataset: Dataset,
        grouping: Grouping,
        analysis: AnalysisSpec,
        column: str,
        unequal: Unequal,
    ) -> None:
        self._column = column
        self._panel = Cohesion.of(dataset, grouping, analysis, unequal)
        left = Shuffles.of(dataset.raters, grouping, analysis).log_regroupings
        self._untestable = untestable(grouping, left, unequal)
        self._like = Symmetry.of(dataset.raters, grouping, analysis).like.tolist()
        self.tests, self.observed = self._panel.tests, self._panel.observed
        self.per_unit: int = self._panel.per_unit
        self.labels = int(dataset.annotations.n_annotations)

    def work(self, active: BoolArray) -> CohesionWork:
        """See :class:`~grasp_core.analysis.panel.Panel`."""
        return self._panel.work(active)

    def columns(self, values: FloatArray) -> FloatArray:
        """See :class:`~grasp_core.analysis.panel.Panel`."""
        return self._panel.columns(values)

    def together(self, shuffled: FloatArray) -> FloatArray:
        """See :class:`~grasp_core.analysis.panel.Judged`."""
        return self._panel.together(shuffled)

    def into(self, result: RunResult, tally: Tally, *, so_far: bool) -> RunResult:
        """The result with these groups behind those given other axes."""
        groups, dsi = self._panel.tested(tally.null, result.spec.data.labels, so_far=so_far)
        if not so_far:
            asked = hypotheses(self._panel.grouping)
            tested = joint_tests(tally.together, asked, self._like, self._untestable)
            groups = with_verdicts(groups, tested, tally.n_together)
        return replace(result, given=(*result.given, GivenResult(self._column, groups, dsi)))

    def undecided(self, c: int, *, corrected: bool) -> Undecided:
        """See :class:`~grasp_core.analysis.panel.LaterPanel`."""
        return replace(self._panel.undecided(c, corrected=corrected), given=self._column)


def check_given(raters: Raters, analysis: AnalysisSpec) -> None:
    """Refuse axes given which nothing of those that are tested is left to shuffle.

    Raises SpecError.
    """
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
    """The groups that an axis has no part in and that shuffling within its values changes; None if none."""
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
    """The groups given each axis that was asked, one after the other."""
    found = {column: within(dataset.raters, analysis, column) for column in analysis.given}
    panels = (Given(dataset, *one, column, unequal) for column, one in found.items() if one is not None)
    return Later(panels, ())
