"""The pairs of one axis or intersection as a panel: what workers compute, and what becomes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from grasp_core.analysis.cohesion.columns import all_columns, few_paired, group_columns, members
from grasp_core.analysis.cohesion.label_use import Labels, label_use
from grasp_core.analysis.cohesion.panel import CohesionWork
from grasp_core.analysis.cohesion.untested import Untested, tests_of
from grasp_core.analysis.cohesion.verdict import (
    GAI_AT,
    GAP_AT,
    Tested,
    corrected,
    judged_alone,
    untestable,
    values_together,
    verdict_of,
)
from grasp_core.analysis.pair_columns import (
    PairPlaces,
    names_of,
    pair_columns,
    pairs_tests,
    reasons_of_pair,
    side_by_side,
    two_groups,
    with_intervals,
)
from grasp_core.analysis.panel import Later
from grasp_core.model.account import Unequal
from grasp_core.model.annotations import BoolArray, FloatArray
from grasp_core.model.groups import AxisSet, Grouping
from grasp_core.model.outcome import LabelUse, Outcome, PairResult, Untestable
from grasp_core.model.remarks.cautions import Caution
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.result import RunResult, Undecided
from grasp_core.model.spec import AnalysisSpec
from grasp_core.permutation import questions
from grasp_core.permutation.label_use import residuals_of
from grasp_core.permutation.testing.deviations import Null
from grasp_core.permutation.testing.outcomes import outcomes, tested_otherwise
from grasp_core.permutation.testing.tail import Shuffles, Symmetry, regroupings
from grasp_core.permutation.testing.tally import Tally
from grasp_core.reading.dataset.load import Dataset

MOST_GROUPS = 40
"""Groups of an axis that are compared two by two: they make 780 pairs."""


class Pairs:
    """Every statistic of every pair of an axis's groups, as a panel whose units are the pairs.

    `of_axis`: the groups of an axis or intersection, none of which has a rater of another.
    `unequal`: axes whose groups were given other items, or more of them: label use is tested by leaving out
        raters.
    `over`: what became of the pairs of axes before, with how many permutations: all are corrected together.
    """

    name = "pairs"

    def __init__(
        self,
        dataset: Dataset,
        grouping: Grouping,
        analysis: AnalysisSpec,
        of_axis: Sequence[int],
        unequal: Unequal,
        over: list[tuple[Tested, int]],
    ) -> None:
        self._analysis = analysis
        self._pairs = [
            two_groups(dataset.questions, dataset.raters, grouping, a, b) for a, b in combinations(of_axis, 2)
        ]
        self._designs = [
            questions.lay_out(*pair, analysis, residuals=residuals_of(pair.questions, analysis.level))
            for pair in self._pairs
        ]
        components = [questions.observed_components(design) for design in self._designs]
        differences = map(questions.observed_differences, self._designs)
        counted = np.stack(list(map(questions.values, components, differences)))
        self._per_group = int(counted.shape[-1])
        self._by_shares: BoolArray = np.any(few_paired(counted), axis=-1)
        self._labels = Labels.of(dataset.questions)
        self._places = PairPlaces.of_pairs(len(self._pairs), self._labels.told)
        self._symmetries = [Symmetry.of(pair.raters, pair.grouping, analysis) for pair in self._pairs]
        asked = pairs_tests(self._places, analysis, self._symmetries)
        self._why = self._untestable(unequal)
        self._over = over
        self._asked = replace(asked, regroupings=self._left())
        self._untested = self._not_shuffled(unequal)
        self.tests = self._asked.without(self._untested.columns)
        self.observed = self._of_pairs(counted)
        self._reasons = self._missing(components)

    @property
    def per_unit(self) -> int:
        """Values of both groups."""
        return 2 * self._per_group

    @property
    def labels(self) -> int:
        """Annotations that a permutation has to count."""
        return sum(pair.n_annotations for pair in self._pairs)

    def work(self, active: BoolArray) -> CohesionWork:
        """See :class:`~grasp_core.analysis.panel.Panel`."""
        return CohesionWork(tuple(self._designs[u] for u in np.flatnonzero(active)), of_unit=2)

    def columns(self, values: FloatArray) -> FloatArray:
        """See :class:`~grasp_core.analysis.panel.Panel`."""
        of_groups = values.reshape(*values.shape[:2], 2, self._per_group)
        return self._of_pairs(of_groups)

    def _of_pairs(self, values: FloatArray) -> FloatArray:
        """Columns of pairs from what is computed of their groups, shape (..., U, 2, V + 1 + L)."""
        labels, by_shares = self._labels, self._by_shares[:, None]
        both = all_columns(
            values, self._analysis, by_shares, labels.told, labels.questions, with_further=False
        )
        return side_by_side(pair_columns(both))

    def into(self, result: RunResult, tally: Tally, *, so_far: bool) -> RunResult:
        """The result with these pairs behind those that it has."""
        null = tally.null
        found = outcomes(self.tests, self.observed, null, self._reasons, so_far=so_far)
        untested = self._untested.outcomes(self.observed, self._reasons)
        found |= tested_otherwise(self._asked.families, untested)
        names = self._labels.names(result.spec.data.labels)
        rows = []
        for u, pair in enumerate(self._pairs):
            of_pair = {name: found[self._places.column(u, name)] for name in names_of(self._analysis)}
            use = self._label_use(u, names, found, null)
            if not so_far:
                by_shares = bool(self._by_shares[u])
                of_pair, use = with_intervals(of_pair, use, pair, self._analysis, by_shares=by_shares)
            if self._by_shares[u] and "distance" in of_pair:
                of_pair["distance"] = replace(of_pair["distance"], of_shares=True)
            (a, b), (n_a, n_b) = pair.grouping.groups, pair.grouping.n_raters.tolist()
            rows.append(PairResult(a, b, n_a, n_b, of_pair, use))
        pairs = (*result.pairs, *rows)
        return replace(result, pairs=pairs if so_far else self._judged(pairs, tally))

    def together(self, shuffled: FloatArray) -> FloatArray:
        """What verdicts need of the columns (B, C), shape (B + 1, 2 U, 4): both groups of each pair."""
        places, n = self._places.of_first, len(self._pairs)
        first = values_together(shuffled, self.observed, places, self._by_shares.tolist())
        whole = np.concatenate([self.observed[None], shuffled])
        second = first.copy()
        for u in range(n):
            second[:, u, GAI_AT] -= whole[:, self._places.column(u, "gai_difference")]
            second[:, u, GAP_AT] = whole[:, self._places.column(u, "gap_b")]
        return np.stack([first, second], axis=2).reshape(len(first), 2 * n, -1)

    def _judged(self, pairs: Sequence[PairResult], tally: Tally) -> tuple[PairResult, ...]:
        """All pairs so far with their verdicts: a pair is one question, as the two groups of an axis are."""
        like = [place for u, one in enumerate(self._symmetries) for place in (2 * u + one.like[:2])]
        asked = [(2 * u, 2 * u + 1) for u in range(len(self._pairs))]
        self._over.append((judged_alone(tally.together, asked, like, self._why), tally.n_together))
        n = min(n for _, n in self._over)
        found = corrected([one for one, _ in self._over])
        return tuple(replace(row, verdict=verdict_of(one, n)) for row, one in zip(pairs, found, strict=True))

    def undecided(self, c: int, *, corrected: bool) -> Undecided:
        """See :class:`~grasp_core.analysis.panel.LaterPanel`."""
        u, name = self._places.name(c)
        a, b = self._pairs[u].grouping.groups
        return Undecided(a.axes, a, name, corrected, other=b)

    def _label_use(self, u: int, names: Sequence[str], found: Mapping[int, Outcome], null: Null) -> LabelUse:
        places, p_value = self._places.of_first, self._analysis.p_value
        return label_use(u, names, found, self.observed, null, places, p_value, self._untested)

    def _not_shuffled(self, unequal: Unequal) -> Untested:
        tests = [tests_of(pair.questions, pair.grouping, self._analysis.level) for pair in self._pairs]
        chosen = [u for u, pair in enumerate(self._pairs) if pair.grouping.groups[0].axes in unequal]
        places = self._places.of_first
        columns = {places.column(u, places.label_use): u for u in chosen if self._labels.told}
        of_other_items = [u for u in chosen if unequal[self._pairs[u].grouping.groups[0].axes] == "items"]
        withheld = frozenset(
            self._places.column(u, name)
            for u in of_other_items
            for name in names_of(self._analysis)
            if name != "distance"
        )
        return Untested(lambda u: tests[u](0), withheld, columns)

    def _untestable(self, unequal: Unequal) -> dict[int, Untestable]:
        """The groups, two a pair, of which shuffling within their pair says nothing."""
        found: dict[int, Untestable] = {}
        for u, pair in enumerate(self._pairs):
            left = Shuffles.of(pair.raters, pair.grouping, self._analysis).log_regroupings
            found |= {2 * u + half: why for half, why in untestable(pair.grouping, left, unequal).items()}
        return found

    def _left(self) -> FloatArray | None:
        """What curves through tails need of the shuffles within each pair, if any are asked."""
        left = [regroupings(pair.raters, pair.grouping, self._analysis) for pair in self._pairs]
        return np.array([one.max() for one in left if one is not None]) if self._analysis.tail else None

    def _missing(self, components: Sequence[Sequence[FloatArray]]) -> dict[int, Remark]:
        """Why columns have no observed value."""
        found: dict[int, Remark] = {}
        for u, (of_pair, by_shares) in enumerate(zip(components, self._by_shares, strict=True)):
            both = group_columns(questions.together(of_pair), self._analysis, bool(by_shares))
            why = reasons_of_pair(questions.reasons(of_pair), both, np.repeat(by_shares, 2), self._analysis)
            found |= {self._places.column(u, name): reason for name, reason in why.items()}
        return found


def pairs_of(dataset: Dataset, grouping: Grouping, analysis: AnalysisSpec, unequal: Unequal) -> Later:
    """The pairs of each axis or intersection that has some, one after the other."""
    if not analysis.pairs:
        return Later(iter(()), ())
    sizes = map(len, members(grouping.groups, analysis))
    over: list[tuple[Tested, int]] = []
    return Later(
        (Pairs(dataset, grouping, analysis, one, unequal, over) for one in compared(grouping, analysis.axes)),
        tuple(Caution.TOO_MANY_PAIRS(groups=n, most=MOST_GROUPS) for n in sizes if n > MOST_GROUPS),
    )


def compared(grouping: Grouping, axis_sets: Sequence[AxisSet]) -> list[list[int]]:
    """The groups of each axis or intersection that has some to compare, and not too many."""
    found = [[g for g, group in enumerate(grouping.groups) if group.axes == axes] for axes in axis_sets]
    return [of_axis for of_axis in found if 2 <= len(of_axis) <= MOST_GROUPS]
