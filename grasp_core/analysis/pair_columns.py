"""Columns of pairs of groups, and their intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np

from grasp_core.analysis import intervals as of_groups
from grasp_core.analysis.cohesion import label_use
from grasp_core.analysis.cohesion.columns import (
    GAI,
    LABELS,
    Places,
    group_columns,
    group_families,
    known_of,
)
from grasp_core.analysis.cohesion.label_use import Labels
from grasp_core.analysis.cohesion.panel import with_reasons
from grasp_core.analysis.cohesion.results import with_interval
from grasp_core.analysis.intervals import FEWEST_RATERS, interval_of_two
from grasp_core.model.annotations import Annotations, BoolArray, FloatArray, Raters
from grasp_core.model.groups import Grouping
from grasp_core.model.outcome import PAIR_STATISTICS, LabelUse, Outcome
from grasp_core.model.remarks.reasons import NoValue
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.spec import STATISTICS, AnalysisSpec
from grasp_core.permutation.testing.deviations import Known
from grasp_core.permutation.testing.tail import Symmetry
from grasp_core.permutation.testing.tests import Family, Tests


def reasons_of_pair(
    reasons: Sequence[Mapping[str, Remark]],
    columns: FloatArray,
    by_shares: BoolArray,
    analysis: AnalysisSpec,
) -> dict[str, Remark]:
    """Reasons by the pair's statistic, from those of its two groups and their columns, shape (2, W)."""
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
    """The raters of two groups and the items that one of them has rated.

    `questions`: over the same items and raters.
    `grouping`: of two groups, each the other's complement.
    """

    questions: tuple[Annotations, ...]
    raters: Raters
    grouping: Grouping

    @property
    def n_labels(self) -> int:
        """Labels that are told of."""
        return Labels.of(self.questions).told

    @property
    def n_annotations(self) -> int:
        """Answers to all questions."""
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
    """The answers of the chosen raters, shape (J,), to the items that one of them has rated."""
    answers = [chosen[one.rater] for one in questions]
    rated = np.zeros(questions[0].n_items, dtype=np.bool_)
    for one, here in zip(questions, answers, strict=True):
        rated[one.item[here]] = True
    ids = tuple(questions[0].rater_ids[j] for j in np.flatnonzero(chosen))
    return tuple(
        _restricted(one, here, chosen, rated, ids) for one, here in zip(questions, answers, strict=True)
    )


def _restricted(
    annotations: Annotations, here: BoolArray, chosen: BoolArray, rated: BoolArray, ids: tuple[str, ...]
) -> Annotations:
    """The annotations that are `here`, among the chosen raters and rated items."""
    new_rater, new_item = np.cumsum(chosen) - 1, np.cumsum(rated) - 1
    return Annotations.from_codes(
        item=new_item[annotations.item[here]],
        rater=new_rater[annotations.rater[here]],
        category=annotations.category[here],
        item_ids=[name for name, is_rated in zip(annotations.item_ids, rated, strict=True) if is_rated],
        rater_ids=ids,
        categories=annotations.categories,
    )


OF_FIRST = {"distance": "distance", "xrr": "xrr", "gap_a": "gap"}
"""Statistics of a pair that are the first group's, with their names there."""
OF_BOTH = ("gap_b", "irr_difference", "gai_difference")
IRR, GAP = STATISTICS.index("irr"), STATISTICS.index("gap")


@dataclass(frozen=True, slots=True)
class PairPlaces:
    """Where columns are; `of_first` says it of the first group's.

    `of_first`: of the pairs in place of groups.
    """

    of_first: Places

    @classmethod
    def of_pairs(cls, n_pairs: int, n_labels: int) -> Self:
        """Of so many pairs and labels."""
        return cls(Places(n_pairs, n_labels))

    @property
    def n_columns(self) -> int:
        """C."""
        return self.of_first.n_groups * (self.of_first.of_group + len(OF_BOTH))

    def column(self, u: int, name: str) -> int:
        """The column of pair u's statistic of :data:`~grasp_core.model.outcome.PAIR_STATISTICS`."""
        if name in OF_FIRST:
            return self.of_first.column(u, STATISTICS.index(OF_FIRST[name]))
        return self.of_first.dsi(0) + u * len(OF_BOTH) + OF_BOTH.index(name)

    def name(self, c: int) -> tuple[int, str]:
        """The pair of a tested column, and its statistic's name or "label_use"."""
        after = c - self.of_first.dsi(0)
        if after >= 0:
            return after // len(OF_BOTH), OF_BOTH[after % len(OF_BOTH)]
        u, place = divmod(c, self.of_first.of_group)
        called = {STATISTICS.index(name): pair for pair, name in OF_FIRST.items()}
        return u, called.get(place, "label_use")


def names_of(analysis: AnalysisSpec) -> tuple[str, ...]:
    """The pairs' statistics that are asked."""
    return tuple(name for name, of_groups in PAIR_STATISTICS.items() if of_groups in analysis.statistics)


def pair_columns(both: FloatArray) -> FloatArray:
    """From columns of both groups, (..., 2, X), to those of pairs: the first group's, then `OF_BOTH`."""
    a, b = both[..., 0, :], both[..., 1, :]
    taken = [b[..., GAP], a[..., IRR] - b[..., IRR], a[..., GAI] - b[..., GAI]]
    return np.concatenate([a, np.stack(taken, axis=-1)], axis=-1)


def place_of(name: str) -> int:
    """The place of a name of :data:`~grasp_core.model.outcome.PAIR_STATISTICS` in :func:`pair_columns`."""
    return STATISTICS.index(OF_FIRST[name]) if name in OF_FIRST else OF_BOTH.index(name) - len(OF_BOTH)


def side_by_side(columns: FloatArray) -> FloatArray:
    """Columns of pairs, shape (..., U, W + 3), in one row: the first groups' before all others."""
    first, both = columns[..., : -len(OF_BOTH)], columns[..., -len(OF_BOTH) :]
    rows = [part.reshape(*columns.shape[:-2], -1) for part in (first, both)]
    return np.concatenate(rows, axis=-1)


def pairs_tests(places: PairPlaces, analysis: AnalysisSpec, symmetries: Sequence[Symmetry]) -> Tests:
    """Each statistic, and label use, is a family over all pairs, which are the units.

    The symmetries are those of each pair's two groups.
    """
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
    """What is known of all columns: of groups of one size the mirror of a regrouping exchanges the two."""
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
    found: Mapping[str, Outcome],
    use: LabelUse,
    pair: TwoGroups,
    analysis: AnalysisSpec,
    *,
    by_shares: bool,
) -> tuple[dict[str, Outcome], LabelUse]:
    """The outcomes and label use of a pair with their intervals, or with why they have none."""
    inside, outside = pair.grouping.n_raters.tolist()
    ends = _ends(pair, analysis, by_shares=by_shares)
    target = analysis.interval
    outcomes = dict(found)
    for name, outcome in found.items():
        if outcome.value is not None:
            of_one = ends if isinstance(ends, Remark) else ends[place_of(name)]
            outcomes[name] = with_interval(outcome, of_one, target, inside, outside)
    of_first = ends if isinstance(ends, Remark) else ends[: -len(OF_BOTH)]
    return outcomes, label_use.with_intervals(use, of_first, target, inside, outside)


def _ends(pair: TwoGroups, analysis: AnalysisSpec, *, by_shares: bool) -> FloatArray | Remark:
    """Lower and upper ends of what :func:`pair_columns` has of this pair, or why there are none."""
    too_large = of_groups.too_large(pair.questions, analysis)
    if too_large is not None:
        return too_large
    if pair.grouping.n_raters.min() < FEWEST_RATERS:
        return np.full((LABELS + pair.n_labels + len(OF_BOTH), 2), np.nan)
    return interval_of_two(
        pair.questions,
        pair.raters,
        pair.grouping,
        analysis,
        lambda both: pair_columns(group_columns(both, analysis, by_shares)),
        (*Places(1, pair.n_labels).names, *OF_BOTH),
    )
