"""Pairs of groups of one axis or intersection: their columns, panel and intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from grasp_core.analysis import intervals as of_groups
from grasp_core.analysis.cohesion.columns import (
    GAI,
    LABELS,
    Places,
    all_columns,
    few_paired,
    group_columns,
    group_families,
    known_of,
    members,
)
from grasp_core.analysis.cohesion.combined_test import (
    GAI_AT,
    GAP_AT,
    Regroupings,
    UncorrectedTests,
    corrected,
    pick_verdict_values,
    uncorrected_tests,
    untestable,
    verdict_of,
)
from grasp_core.analysis.cohesion.panel import CohesionWork, with_reasons
from grasp_core.analysis.cohesion.results import ReportedLabels, label_use, with_interval
from grasp_core.analysis.cohesion.results import with_intervals as use_with_intervals
from grasp_core.analysis.cohesion.untested import NotShuffled, tests_of
from grasp_core.analysis.intervals import FEWEST_RATERS, interval_of_two
from grasp_core.analysis.panel import Later
from grasp_core.model.annotations import Annotations, BoolArray, FloatArray, Int64Array, Raters
from grasp_core.model.groups import AxisSet, Grouping
from grasp_core.model.outcome import PAIR_STATISTICS, LabelUse, Outcome, PairResult, Unequal, Untestable
from grasp_core.model.remarks.cautions import Caution
from grasp_core.model.remarks.reasons import NoValue
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.result import RunResult, Undecided
from grasp_core.model.spec import STATISTICS, AnalysisSpec
from grasp_core.permutation import questions
from grasp_core.permutation.label_use import residuals_of
from grasp_core.permutation.testing.families import Family, Tests
from grasp_core.permutation.testing.outcomes import outcomes, tested_otherwise
from grasp_core.permutation.testing.p_values import Known
from grasp_core.permutation.testing.tail import Shuffles, Symmetry, regroupings
from grasp_core.permutation.testing.tally import Tally
from grasp_core.reading.dataset.load import Dataset


def reasons_of_pair(
    reasons: Sequence[Mapping[str, Remark]], columns: FloatArray, by_shares: BoolArray, analysis: AnalysisSpec
) -> dict[str, Remark]:
    """Return reasons by the pair's statistic, from its two groups' reasons and columns, shape (2, W)."""
    a, b = with_reasons([dict(of_group) for of_group in reasons], columns, by_shares, analysis)
    found = {
        "distance": a.get("distance"),
        "xrr": a.get("xrr"),
        "gap_a": a.get("gap"),
        "gap_b": b.get("gap"),
        "irr_difference": _half(a, b, "irr"),
        "gai_difference": _half(a, b, "gai"),
    }
    return {name: reason for name, reason in found.items() if reason is not None}


def _half(a: Mapping[str, Remark], b: Mapping[str, Remark], name: str) -> Remark | None:
    reason = a.get(name) or b.get(name)
    return None if reason is None else NoValue.GAI_HALF_MISSING(statistic=name.upper(), because=reason)


class TwoGroups(NamedTuple):
    """Two groups, each the other's complement: their raters, and items that one of these rated."""

    questions: tuple[Annotations, ...]
    raters: Raters
    grouping: Grouping

    @property
    def n_labels(self) -> int:
        """Number of labels whose use is reported."""
        return ReportedLabels.of(self.questions).n_reported

    @property
    def n_annotations(self) -> int:
        """Number of answers to all questions."""
        return sum(one.n_annotations for one in self.questions)


def two_groups(
    questions: Sequence[Annotations], raters: Raters, grouping: Grouping, a: int, b: int
) -> TwoGroups:
    """Leave everybody out who is in neither of the groups `a` and `b`, which have no rater in common."""
    of_pair = grouping.member[[a, b]]
    chosen: BoolArray = np.any(of_pair, axis=0)
    member = of_pair[:, chosen]
    return TwoGroups(
        only_raters(questions, chosen),
        raters.some(chosen),
        Grouping(
            (grouping.groups[a], grouping.groups[b]),
            member,
            np.ones((1, member.shape[1]), dtype=np.bool_),
            np.zeros(2, dtype=np.intp),
        ),
    )


def only_raters(questions: Sequence[Annotations], chosen: BoolArray) -> tuple[Annotations, ...]:
    """Return the answers of the chosen raters, shape (J,), and only the items that have some."""
    rated = np.zeros(questions[0].n_items, dtype=np.bool_)
    for one in questions:
        rated[one.item[chosen[one.rater]]] = True
    return tuple(one.only(rated, chosen) for one in questions)


OF_FIRST = {"distance": "distance", "xrr": "xrr", "gap_a": "gap"}
"""Statistics of a pair that are the first group's, with their names there."""
OF_BOTH = ("gap_b", "irr_difference", "gai_difference")
IRR, GAP = STATISTICS.index("irr"), STATISTICS.index("gap")


@dataclass(frozen=True, slots=True)
class PairPlaces:
    """Positions of the columns of pairs, from those of the first groups, one for each pair."""

    of_first: Places

    @property
    def n_columns(self) -> int:
        """C, the number of columns."""
        return self.of_first.n_groups * (self.of_first.of_group + len(OF_BOTH))

    def column(self, u: int, name: str) -> int:
        """Return the column of pair u's statistic in :data:`~grasp_core.model.outcome.PAIR_STATISTICS`."""
        if name in OF_FIRST:
            return self.of_first.column(u, STATISTICS.index(OF_FIRST[name]))
        return self.of_first.dsi(0) + u * len(OF_BOTH) + OF_BOTH.index(name)

    def name(self, c: int) -> tuple[int, str]:
        """Return the pair of a tested column, and its statistic's name or "label_use"."""
        after = c - self.of_first.dsi(0)
        if after >= 0:
            return after // len(OF_BOTH), OF_BOTH[after % len(OF_BOTH)]
        u, place = divmod(c, self.of_first.of_group)
        called = {STATISTICS.index(name): pair for pair, name in OF_FIRST.items()}
        return u, called.get(place, "label_use")


def names_of(analysis: AnalysisSpec) -> tuple[str, ...]:
    """Return the pairs' statistics that the spec asks for."""
    return tuple(name for name, of_groups in PAIR_STATISTICS.items() if of_groups in analysis.statistics)


def pair_columns(both: FloatArray) -> FloatArray:
    """Turn columns of both groups, (..., 2, X), into those of pairs: the first group's, then `OF_BOTH`."""
    a, b = both[..., 0, :], both[..., 1, :]
    taken = [b[..., GAP], a[..., IRR] - b[..., IRR], a[..., GAI] - b[..., GAI]]
    return np.concatenate([a, np.stack(taken, axis=-1)], axis=-1)


def place_of(name: str) -> int:
    """Return the place in :func:`pair_columns` of a :data:`~grasp_core.model.outcome.PAIR_STATISTICS`."""
    return STATISTICS.index(OF_FIRST[name]) if name in OF_FIRST else OF_BOTH.index(name) - len(OF_BOTH)


def side_by_side(columns: FloatArray) -> FloatArray:
    """Put columns of pairs, shape (..., U, W + 3), into one row: the first groups' before all others."""
    first, both = columns[..., : -len(OF_BOTH)], columns[..., -len(OF_BOTH) :]
    rows = [part.reshape(*columns.shape[:-2], -1) for part in (first, both)]
    return np.concatenate(rows, axis=-1)


def pairs_tests(places: PairPlaces, analysis: AnalysisSpec, symmetries: Sequence[Symmetry]) -> Tests:
    """Return the tests of pairs: each statistic, and label use, is a family over all pairs, the units."""
    n = places.of_first.n_groups
    asked = replace(analysis, family="statistic")
    families = group_families([()] * n, asked, places.of_first, OF_FIRST.values())
    further = tuple(
        Family(tuple(places.column(u, name) for u in range(n)), analysis.p_value, analysis.correction)
        for name in OF_BOTH
        if name in names_of(analysis)
    )
    of_first = np.repeat(np.eye(n, dtype=np.bool_), places.of_first.of_group, axis=0)
    of_both = np.repeat(np.eye(n, dtype=np.bool_), len(OF_BOTH), axis=0)
    known = _known(places, symmetries)
    return Tests((*families, *further), np.concatenate([of_first, of_both]), known=known)


def _known(places: PairPlaces, symmetries: Sequence[Symmetry]) -> Known:
    """Return symmetries of all columns: if two groups have one size, a regrouping's mirror swaps them."""
    n = places.of_first.n_groups
    like = list(known_of(places.of_first, np.arange(n), n * len(OF_BOTH)).like)
    centred = [False] * len(like)
    for u, one in enumerate(symmetries):
        if one.like[1] == one.like[0]:
            like[places.column(u, "gap_b")] = places.column(u, "gap_a")
            for name in OF_BOTH[1:]:
                centred[places.column(u, name)] = True
    return Known(tuple(like), tuple(centred))


def with_intervals(
    found: Mapping[str, Outcome], use: LabelUse, pair: TwoGroups, analysis: AnalysisSpec, *, by_shares: bool
) -> tuple[dict[str, Outcome], LabelUse]:
    """Add intervals to a pair's outcomes and label use, or the reasons why they have none."""
    inside, outside = pair.grouping.n_raters.tolist()
    ends = _ends(pair, analysis, by_shares=by_shares)
    target = analysis.interval
    rarer = [of_groups.rarer_labels(pair.questions, member) for member in pair.grouping.member]
    outcomes = dict(found)
    for name, outcome in found.items():
        if outcome.value is not None:
            of_one = ends if isinstance(ends, Remark) else ends[place_of(name)]
            outcomes[name] = with_interval(outcome, of_one, target, inside, outside, *rarer)
    of_first = ends if isinstance(ends, Remark) else ends[: -len(OF_BOTH)]
    return outcomes, use_with_intervals(use, of_first, target, inside, outside)


def _ends(pair: TwoGroups, analysis: AnalysisSpec, *, by_shares: bool) -> FloatArray | Remark:
    """Return interval ends and p of the pair's columns, shape (T, 3), or the reason why there are none."""
    too_large = of_groups.too_large(pair.questions, analysis)
    if too_large is not None:
        return too_large
    if pair.grouping.n_raters.min() < FEWEST_RATERS:
        return np.full((LABELS + pair.n_labels + len(OF_BOTH), 3), np.nan)
    return interval_of_two(
        pair.questions,
        pair.raters,
        pair.grouping,
        analysis,
        lambda both: pair_columns(group_columns(both, analysis, by_shares)),
        (*Places(1, pair.n_labels).names, *OF_BOTH),
    )


MOST_GROUPS = 40
"""Most groups of an axis that are compared two by two: they make 780 pairs."""


class Pairs:
    """Every statistic of every pair of an axis's groups, as a panel whose units are the pairs.

    `of_axis`: indices of the groups of an axis or intersection; no two have a rater in common.
    `unequal`: axes whose groups were given different items, or more items than others: label use is tested
        by leaving out raters.
    `over`: tests of the pairs of earlier axes, and numbers of permutations: all are corrected together.
    """

    name = "pairs"

    def __init__(
        self,
        dataset: Dataset,
        grouping: Grouping,
        analysis: AnalysisSpec,
        of_axis: Sequence[int],
        unequal: Unequal,
        over: list[tuple[UncorrectedTests, int]],
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
        self._labels = ReportedLabels.of(dataset.questions)
        self._places = PairPlaces(Places(len(self._pairs), self._labels.n_reported))
        self._symmetries = [Symmetry.of(pair.raters, pair.grouping, analysis) for pair in self._pairs]
        asked = pairs_tests(self._places, analysis, self._symmetries)
        self._why: dict[int, Untestable] = {}  # by group, two of each pair: why shuffling cannot test it
        self._regroupings: list[Regroupings] = []
        for u, pair in enumerate(self._pairs):
            shuffles = Shuffles.of(pair.raters, pair.grouping, analysis)
            found = untestable(pair.grouping, shuffles.log_regroupings, unequal)
            self._why |= {2 * u + k: why for k, why in found.items()}
            self._regroupings.append(Regroupings(pair.grouping, shuffles, analysis.seed))
        self._over = over
        left = [regroupings(pair.raters, pair.grouping, analysis) for pair in self._pairs]
        most = np.array([one.max() for one in left if one is not None]) if analysis.tail else None
        self._asked = replace(asked, regroupings=most)
        self._untested = self._not_shuffled(unequal)
        self.tests = self._asked.without(self._untested.columns)
        self.observed = self._of_pairs(counted)
        self._reasons = self._missing(components)

    @property
    def per_unit(self) -> int:
        """Number of values of both groups."""
        return 2 * self._per_group

    @property
    def labels(self) -> int:
        """Number of annotations that a permutation has to count."""
        return sum(pair.n_annotations for pair in self._pairs)

    def work(self, active: BoolArray) -> CohesionWork:
        """See :class:`~grasp_core.analysis.panel.Panel`."""
        return CohesionWork(tuple(self._designs[u] for u in np.flatnonzero(active)), of_unit=2)

    def columns(self, values: FloatArray) -> FloatArray:
        """See :class:`~grasp_core.analysis.panel.Panel`."""
        of_groups = values.reshape(*values.shape[:2], 2, self._per_group)
        return self._of_pairs(of_groups)

    def _of_pairs(self, values: FloatArray) -> FloatArray:
        """Turn the values computed for pairs of groups, shape (..., U, 2, V + 1 + L), into columns."""
        labels, by_shares = self._labels, self._by_shares[:, None]
        both = all_columns(
            values, self._analysis, by_shares, labels.n_reported, labels.questions, with_further=False
        )
        return side_by_side(pair_columns(both))

    def into(self, result: RunResult, tally: Tally, *, so_far: bool) -> RunResult:
        """Return the result with these pairs after its others."""
        null = tally.null
        found = outcomes(self.tests, self.observed, null, self._reasons, so_far=so_far)
        untested = self._untested.outcomes(self.observed, self._reasons)
        found |= tested_otherwise(self._asked.families, untested)
        names = self._labels.names(result.spec.data.labels)
        places, p_value = self._places.of_first, self._analysis.p_value
        rows = []
        for u, pair in enumerate(self._pairs):
            of_pair = {name: found[self._places.column(u, name)] for name in names_of(self._analysis)}
            use = label_use(u, names, found, self.observed, null, places, p_value, self._untested)
            if not so_far:
                by_shares = bool(self._by_shares[u])
                of_pair, use = with_intervals(of_pair, use, pair, self._analysis, by_shares=by_shares)
            if self._by_shares[u] and "distance" in of_pair:
                of_pair["distance"] = replace(of_pair["distance"], of_shares=True)
            (a, b), (n_a, n_b) = pair.grouping.groups, pair.grouping.n_raters.tolist()
            rows.append(PairResult(a, b, n_a, n_b, of_pair, use))
        pairs = (*result.pairs, *rows)
        return replace(result, pairs=pairs if so_far else self._judged(pairs, tally))

    def verdict_values(self, shuffled: FloatArray) -> FloatArray:
        """Return the values verdicts need from columns (B, C), for both groups: shape (B + 1, 2 U, 4)."""
        places, n = self._places.of_first, len(self._pairs)
        first = pick_verdict_values(shuffled, self.observed, places, self._by_shares.tolist())
        second = first.copy()
        differences = [self._places.column(u, "gai_difference") for u in range(n)]
        gaps = [self._places.column(u, "gap_b") for u in range(n)]
        for rows, of in ((second[:1], self.observed[None]), (second[1:], shuffled)):
            rows[..., GAI_AT] -= of[:, differences]
            rows[..., GAP_AT] = of[:, gaps]
        return np.stack([first, second], axis=2).reshape(len(first), 2 * n, -1)

    def _judged(self, pairs: Sequence[PairResult], tally: Tally) -> tuple[PairResult, ...]:
        """Return all pairs so far with their verdicts: a pair is one hypothesis."""
        like = [place for u, one in enumerate(self._symmetries) for place in (2 * u + one.like[:2])]
        asked = [(2 * u, 2 * u + 1) for u in range(len(self._pairs))]

        def regrouping(g: int, permutations: int) -> Int64Array | None:
            return self._regroupings[g // 2].of(g % 2, permutations)

        tested = uncorrected_tests(tally.verdict_values, asked, like, self._why, regrouping=regrouping)
        self._over.append((tested, tally.n_complete))
        n = min(n for _, n in self._over)
        found = corrected([one for one, _ in self._over])
        return tuple(replace(row, verdict=verdict_of(one, n)) for row, one in zip(pairs, found, strict=True))

    def undecided(self, c: int, *, corrected: bool) -> Undecided:
        """See :class:`~grasp_core.analysis.panel.LaterPanel`."""
        u, name = self._places.name(c)
        a, b = self._pairs[u].grouping.groups
        return Undecided(a.axes, a, name, corrected, other=b)

    def _not_shuffled(self, unequal: Unequal) -> NotShuffled:
        tests = [tests_of(pair.questions, pair.grouping, self._analysis.level) for pair in self._pairs]
        chosen = [u for u, pair in enumerate(self._pairs) if pair.grouping.groups[0].axes in unequal]
        places = self._places.of_first
        columns = {places.column(u, places.label_use): u for u in chosen if self._labels.n_reported}
        withheld = frozenset(
            self._places.column(u, name) for u in chosen for name in names_of(self._analysis)
        )
        return NotShuffled(lambda u: tests[u](0), withheld, columns)

    def _missing(self, components: Sequence[Sequence[FloatArray]]) -> dict[int, Remark]:
        """Return the reasons why columns have no observed value, by column."""
        found: dict[int, Remark] = {}
        for u, (of_pair, by_shares) in enumerate(zip(components, self._by_shares, strict=True)):
            both = group_columns(questions.joint_statistics(of_pair), self._analysis, bool(by_shares))
            why = reasons_of_pair(questions.reasons(of_pair), both, np.repeat(by_shares, 2), self._analysis)
            found |= {self._places.column(u, name): reason for name, reason in why.items()}
        return found


def pairs_of(dataset: Dataset, grouping: Grouping, analysis: AnalysisSpec, unequal: Unequal) -> Later:
    """Return the stage of pairs: one panel for each axis or intersection that has pairs."""
    if not analysis.pairs:
        return Later(iter(()), ())
    sizes = map(len, members(grouping.groups, analysis))
    over: list[tuple[UncorrectedTests, int]] = []
    return Later(
        (Pairs(dataset, grouping, analysis, one, unequal, over) for one in compared(grouping, analysis.axes)),
        tuple(Caution.TOO_MANY_PAIRS(groups=n, most=MOST_GROUPS) for n in sizes if n > MOST_GROUPS),
    )


def compared(grouping: Grouping, axis_sets: Sequence[AxisSet]) -> list[list[int]]:
    """Return the groups of each axis or intersection that has at least 2 and at most :data:`MOST_GROUPS`."""
    found = [[g for g, group in enumerate(grouping.groups) if group.axes == axes] for axes in axis_sets]
    return [of_axis for of_axis in found if 2 <= len(of_axis) <= MOST_GROUPS]
