"""The pairs of one axis or intersection as a panel: what workers compute, and what becomes of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Self

import numpy as np

from grasp_core.annotations import BoolArray, FloatArray
from grasp_core.groups import AxisSet, Grouping
from grasp_core.io.dataset.load import Dataset
from grasp_core.io.parts.survey import DatasetInParts
from grasp_core.outcome import Outcome
from grasp_core.pairs import PairResult
from grasp_core.panels.cohesion.columns import members
from grasp_core.panels.pairs.columns import names_of, of_two, pairs_tests
from grasp_core.panels.pairs.intervals import with_intervals
from grasp_core.panels.pairs.missing import reasons_of_pair
from grasp_core.panels.pairs.sides import two_groups
from grasp_core.permutation import questions
from grasp_core.permutation.nulls.values import Null
from grasp_core.permutation.questions import AnyDesign
from grasp_core.permutation.testing.outcomes import outcomes
from grasp_core.remarks.cautions import Caution
from grasp_core.remarks.remark import Remark
from grasp_core.result import RunResult, Undecided
from grasp_core.spec import AnalysisSpec

MOST_GROUPS = 40
"""Groups of an axis that are compared two by two: they make 780 pairs."""


@dataclass(frozen=True, slots=True, eq=False)
class PairsWork:
    """A design of each pair, or one per question; their values are the kernel's statistics of both groups."""

    designs: tuple[AnyDesign, ...]

    def arrays(self) -> dict[str, Any]:
        """See :class:`~grasp_core.panels.panel.Work`."""
        found = enumerate(map(questions.arrays, self.designs))
        return {f"{u}/{name}": value for u, of_pair in found for name, value in of_pair.items()}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, Any]) -> Self:
        """See :class:`~grasp_core.panels.panel.Work`."""
        of_pairs: dict[str, dict[str, Any]] = {}
        for name, value in arrays.items():
            pair, _, field = name.partition("/")
            of_pairs.setdefault(pair, {})[field] = value
        return cls(tuple(map(questions.of_arrays, of_pairs.values())))

    def shuffled(self, seed: int, start: int, stop: int) -> FloatArray:
        """See :class:`~grasp_core.panels.panel.Work`; profiles move within each pair alone."""
        found = [questions.shuffled(design, seed, start, stop) for design in self.designs]
        return np.stack(found, axis=1).reshape(stop - start, len(found), -1)


class Pairs:
    """Every statistic of every pair of an axis's groups, as a panel whose units are the pairs.

    Parameters
    ----------
    dataset : Dataset
    grouping : Grouping
    analysis : AnalysisSpec
    of_axis : sequence of int
        The groups of an axis or intersection, none of which has a rater of another.
    """

    name = "pairs"

    def __init__(
        self, dataset: Dataset, grouping: Grouping, analysis: AnalysisSpec, of_axis: Sequence[int]
    ) -> None:
        self._analysis = analysis
        self._names = names_of(analysis)
        self._pairs = [
            two_groups(dataset.questions, dataset.raters, grouping, a, b) for a, b in combinations(of_axis, 2)
        ]
        self._designs = [questions.lay_out(*pair, analysis) for pair in self._pairs]
        components = [questions.observed_components(design) for design in self._designs]
        both = np.stack([questions.together(of_pair) for of_pair in components])
        self._per_group = int(both.shape[-1])
        self.tests = pairs_tests(len(self._pairs), self._names, analysis)
        self.statistics = of_two(both, analysis)
        self.observed = self.statistics.ravel()
        self._reasons = [
            reasons_of_pair(questions.reasons(of_pair), values, analysis)
            for of_pair, values in zip(components, both, strict=True)
        ]

    @property
    def per_unit(self) -> int:
        """Values of both groups."""
        return 2 * self._per_group

    @property
    def labels(self) -> int:
        """Annotations that a permutation has to count."""
        return sum(pair.n_annotations for pair in self._pairs)

    def work(self, active: BoolArray) -> PairsWork:
        """See :class:`~grasp_core.panels.panel.Panel`."""
        return PairsWork(tuple(self._designs[u] for u in np.flatnonzero(active)))

    def columns(self, values: FloatArray) -> FloatArray:
        """See :class:`~grasp_core.panels.panel.Panel`."""
        of_groups = values.reshape(*values.shape[:2], 2, self._per_group)
        return of_two(of_groups, self._analysis).reshape(len(values), -1)

    def into(self, result: RunResult, null: Null, *, so_far: bool) -> RunResult:
        """The result with these pairs behind those that it has."""
        reasons = {
            self._column(u, name): reason
            for u, of_pair in enumerate(self._reasons)
            for name, reason in of_pair.items()
            if name in self._names
        }
        found = outcomes(self.tests, self.observed, null, reasons, so_far=so_far)
        rows = [self._row(u, found, so_far=so_far) for u in range(len(self._pairs))]
        return replace(result, pairs=(*result.pairs, *rows))

    def undecided(self, c: int, *, corrected: bool) -> Undecided:
        """See :class:`~grasp_core.panels.panel.LaterPanel`."""
        u, s = divmod(c, len(self._names))
        a, b = self._pairs[u].grouping.groups
        return Undecided(a.axes, a, self._names[s], corrected, other=b)

    def _column(self, u: int, name: str) -> int:
        return u * len(self._names) + self._names.index(name)

    def _row(self, u: int, found: Mapping[int, Outcome], *, so_far: bool) -> PairResult:
        pair = self._pairs[u]
        of_pair = {name: found[self._column(u, name)] for name in self._names}
        if not so_far:
            of_pair = with_intervals(of_pair, pair, self._analysis)
        a, b = pair.grouping.groups
        n_a, n_b = pair.grouping.n_raters.tolist()
        return PairResult(a, b, n_a, n_b, of_pair)


def pairs_of(dataset: Dataset, grouping: Grouping, analysis: AnalysisSpec) -> Iterator[Pairs]:
    """The pairs of each axis or intersection that has some, one after the other; none of data in parts."""
    if not (analysis.pairs and names_of(analysis)) or isinstance(dataset, DatasetInParts):
        return
    for of_axis in compared(grouping, analysis.axes):
        yield Pairs(dataset, grouping, analysis, of_axis)


def compared(grouping: Grouping, axis_sets: Sequence[AxisSet]) -> list[list[int]]:
    """The groups of each axis or intersection that has some to compare, and not too many."""
    found = [[g for g, group in enumerate(grouping.groups) if group.axes == axes] for axes in axis_sets]
    return [of_axis for of_axis in found if 2 <= len(of_axis) <= MOST_GROUPS]


def not_compared(dataset: Dataset, grouping: Grouping, analysis: AnalysisSpec) -> tuple[Remark, ...]:
    """Why groups are not compared two by two, where that was asked."""
    if not analysis.pairs:
        return ()
    if isinstance(dataset, DatasetInParts):
        return (Caution.NO_PAIRS_IN_PARTS(),)
    sizes = map(len, members(grouping.groups, analysis))
    return tuple(Caution.TOO_MANY_PAIRS(groups=n, most=MOST_GROUPS) for n in sizes if n > MOST_GROUPS)
