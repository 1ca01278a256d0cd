"""The panel of the paper's statistics: GAI, DSI and the statistics they are made of."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import krippendorff
import numpy as np

from grasp_core.analysis import intervals as of_groups
from grasp_core.analysis.cohesion.columns import (
    DISTANCE,
    GAI,
    LABELS,
    Places,
    all_columns,
    cohesion_tests,
    few_paired,
    further_of,
    group_columns,
    members,
    with_dsi,
)
from grasp_core.analysis.cohesion.combined_test import pick_verdict_values
from grasp_core.analysis.cohesion.results import (
    ReportedLabels,
    by_axis,
    by_group,
    label_use,
    with_interval,
    with_intervals,
)
from grasp_core.analysis.cohesion.untested import NotShuffled, tests_of
from grasp_core.model.annotations import Annotations, BoolArray, FloatArray
from grasp_core.model.errors import SelfCheckError
from grasp_core.model.groups import Group, Grouping
from grasp_core.model.outcome import ALL_ALIKE, LabelUse, Outcome, Unequal
from grasp_core.model.remarks.cautions import Caution
from grasp_core.model.remarks.reasons import NoValue
from grasp_core.model.remarks.remark import Remark
from grasp_core.model.result import DsiResult, GroupResult, RunResult, Undecided
from grasp_core.model.spec import STATISTICS, AnalysisSpec, Level
from grasp_core.model.statistic import TABLE
from grasp_core.permutation import compiled, questions
from grasp_core.permutation.label_use import residuals_of
from grasp_core.permutation.questions import Questions
from grasp_core.permutation.testing.families import Tests
from grasp_core.permutation.testing.outcomes import outcomes, tested_otherwise
from grasp_core.permutation.testing.p_values import Null, Summaries
from grasp_core.permutation.testing.tail import Symmetry, regroupings
from grasp_core.permutation.uncompiled import further
from grasp_core.reading.dataset.load import Dataset
from grasp_core.statistics import in_group
from grasp_core.statistics.items import ENOUGH_PAIRS, NotEstimableError, count
from grasp_core.statistics.levels import category_values, distance_of

SELF_CHECK_TOLERANCE = 1e-9
SELF_CHECK_ITEMS = 2**15
"""Most items that ``krippendorff.alpha`` is given: it takes hundreds of bytes for each."""


def self_check(annotations: Annotations, grouping: Grouping, level: Level, irr: FloatArray) -> None:
    """Compare each group's IRR, shape (G,), with independent software.

    ``krippendorff.alpha`` takes much memory. If there are many items, it gets only the first ones and is
    compared with the plain definition on these; `irr` is compared with the plain definition on all items.

    Raises SelfCheckError if two of them differ by more than 1e-9.
    """
    values = category_values(annotations.categories, level)
    distance = distance_of(annotations.categories, level)
    for group, member, value in zip(grouping.groups, grouping.member, irr, strict=True):
        if np.isnan(value):
            continue
        counts = count(annotations, member)
        if len(counts) > SELF_CHECK_ITEMS:
            _same(group, float(value), in_group.irr(counts, distance), "its plain definition")
            counts = counts[:SELF_CHECK_ITEMS]
            try:
                value = in_group.irr(counts, distance)
            except NotEstimableError:
                continue
        used = counts.any(axis=0)
        expected = krippendorff.alpha(
            value_counts=counts[:, used], value_domain=values[used], level_of_measurement=level
        )
        _same(group, float(value), float(expected), "the package krippendorff")


def _same(group: Group, value: float, expected: float, source: str) -> None:
    if not abs(expected - value) <= SELF_CHECK_TOLERANCE:
        raise SelfCheckError(
            f"IRR of {group.label} is {value!r} here but {expected!r} by {source};"
            " nothing is reported, please file a bug"
        )


@dataclass(frozen=True, slots=True, eq=False)
class CohesionWork:
    """Designs whose groups follow one another; `of_unit` neighbouring groups make a unit."""

    designs: tuple[Questions, ...]
    of_unit: int = 1

    def shuffled(self, seed: int, start: int, stop: int) -> FloatArray:
        """See :class:`~grasp_core.analysis.panel.BlockWork`; profiles move within each design alone."""
        found = [questions.shuffled(design, seed, start, stop) for design in self.designs]
        groups = np.concatenate(found, axis=1)
        return groups.reshape(stop - start, -1, self.of_unit * groups.shape[-1])


class Cohesion:
    """Every statistic of every group and the DSI of every axis, as a panel.

    `unequal`: axes whose groups were given different items, or more items than others: shuffling does not
        test all of their columns.

    Raises SelfCheckError if an observed IRR differs from ``krippendorff.alpha`` by more than 1e-9.
    """

    def __init__(
        self, dataset: Dataset, grouping: Grouping, analysis: AnalysisSpec, unequal: Unequal = ALL_ALIKE
    ) -> None:
        self.grouping = grouping
        self._dataset, self._analysis = dataset, analysis
        names = further_of(analysis)
        self._residuals, self._lacking = residuals_of(dataset.questions, analysis.level), further(names)
        self._whole = self._lay_out(grouping)
        components = questions.observed_components(self._whole)
        for answers, one in zip(dataset.questions, components, strict=True):
            self_check(answers, grouping, analysis.level, compiled.statistics(one)[:, 0])
        counted = questions.values(components, questions.observed_differences(self._whole), len(names))
        self.per_unit = counted.shape[-1]
        self._labels = ReportedLabels.of(dataset.questions)
        self.places = Places(len(grouping.groups), self._labels.n_reported, names)
        test = tests_of(dataset.questions, grouping, analysis.level)
        self.untested = NotShuffled.of_groups(grouping.groups, unequal, analysis, self.places, test)
        symmetry = Symmetry.of(dataset.raters, grouping, analysis)
        asked = cohesion_tests(grouping.groups, analysis, self._labels.n_reported, symmetry)
        self.asked: Tests = replace(asked, regroupings=regroupings(dataset.raters, grouping, analysis))
        self.tests = self.asked.without(self.untested.columns)
        self.by_shares = few_paired(counted)
        self.statistics = self._of_groups(counted)
        self._members = members(grouping.groups, analysis)
        self.observed = with_dsi(self.statistics, self._members)
        self.notes: tuple[Remark, ...] = tuple(self._said(analysis))
        self._reasons = with_reasons(
            questions.reasons(components, names), self.statistics, self.by_shares, analysis
        )

    def _of_groups(self, values: FloatArray) -> FloatArray:
        """Turn the values computed for groups into their columns."""
        labels = self._labels
        return all_columns(values, self._analysis, self.by_shares, labels.n_reported, labels.questions)

    def _said(self, analysis: AnalysisSpec) -> Iterator[Remark]:
        if analysis.cross_negentropy == "paper":
            yield Caution.PAPER_CROSS_NEGENTROPY()
        few = int(self.by_shares.sum())
        if few and "distance" in analysis.statistics:
            groups = len(self.grouping.groups)
            yield Caution.DISTANCE_OF_SHARES(few=few, groups=groups, least=ENOUGH_PAIRS)

    def _lay_out(self, some: Grouping) -> Questions:
        """Return the data that workers need to compute these groups."""
        answers, raters = self._dataset.questions, self._dataset.raters
        return questions.lay_out(
            answers, raters, some, self._analysis, residuals=self._residuals, lacking=self._lacking
        )

    def _intervals(self) -> FloatArray | Remark:
        """Return interval ends and p of the groups' columns, shape (G, W, 3), or why there are none."""
        answers, analysis = self._dataset.questions, self._analysis
        n_further = len(self.places.further)
        return of_groups.too_large(answers, analysis) or of_groups.intervals(
            answers,
            self._dataset.raters,
            self.grouping,
            analysis,
            lambda counted, g: group_columns(counted, analysis, bool(self.by_shares[g]), n_further),
            self.places.names,
            lacking=self._lacking,
        )

    def work(self, active: BoolArray) -> CohesionWork:
        """See :class:`~grasp_core.analysis.panel.Panel`."""
        some = self.grouping.some(np.flatnonzero(active).tolist())
        return CohesionWork((self._whole if some is self.grouping else self._lay_out(some),))

    def columns(self, values: FloatArray) -> FloatArray:
        """See :class:`~grasp_core.analysis.panel.Panel`."""
        return with_dsi(self._of_groups(values), self._members)

    def verdict_values(self, shuffled: FloatArray) -> FloatArray:
        """Return the values that verdicts need from columns (B, C): see :func:`pick_verdict_values`."""
        return pick_verdict_values(shuffled, self.observed, self.places, self.by_shares.tolist())

    @property
    def reasons(self) -> dict[int, Remark]:
        """Reasons why columns have no observed value, by column."""
        return {
            self.places.column(g, place): of_group[name]
            for g, of_group in enumerate(self._reasons)
            for name, place in self.places.statistics.items()
            if name in of_group
        }

    @property
    def untested_outcomes(self) -> dict[int, Outcome]:
        """Outcomes of columns that shuffling does not test, without correction."""
        return self.untested.outcomes(self.observed, self.reasons)

    def result(self, null: Null, *, permutations_done: int | None, **of_run: Any) -> RunResult:
        """Return the result: each group's outcomes by statistic and label use, and each axis's DSI."""
        labels = of_run["spec"].data.labels
        groups, dsi = self.tested(null, labels, so_far=permutations_done is not None)
        return RunResult(groups=groups, dsi=dsi, permutations_done=permutations_done, **of_run)

    def tested(
        self, null: Null, labels: Sequence[str], *, so_far: bool
    ) -> tuple[tuple[GroupResult, ...], tuple[DsiResult, ...]]:
        """Test each column against its null; return results of groups and axes. Parameters: :meth:`rows`."""
        found = outcomes(self.tests, self.observed, null, self.reasons, so_far=so_far)
        found |= tested_otherwise(self.asked.families, self.untested_outcomes)
        return self.rows(found, null, labels, so_far=so_far)

    def rows(
        self, found: Mapping[int, Outcome], null: Summaries, labels: Sequence[str], *, so_far: bool
    ) -> tuple[tuple[GroupResult, ...], tuple[DsiResult, ...]]:
        """Return results of groups and axes."""
        groups, places, annotations_of = self.grouping.groups, self.places, self._dataset.annotations_of
        names = self._labels.names(labels)
        uses = [
            label_use(g, names, found, self.observed, null, places, self._analysis.p_value, self.untested)
            for g in range(len(groups))
        ]
        if not so_far:
            found, uses = self._with_intervals(found, uses)
        shares = (places.column(g, DISTANCE) for g in np.flatnonzero(self.by_shares).tolist())
        found = {**found, **{c: replace(found[c], of_shares=True) for c in shares if c in found}}
        rows = zip(groups, self.grouping.member, by_group(found, places, self._analysis), uses, strict=True)
        return tuple(
            GroupResult(group, int(member.sum()), int(annotations_of[member].sum()), row, use)
            for group, member, row, use in rows
        ), by_axis(found, groups, self.statistics[:, GAI], self._analysis, places)

    def _with_intervals(
        self, found: Mapping[int, Outcome], uses: Sequence[LabelUse]
    ) -> tuple[dict[int, Outcome], list[LabelUse]]:
        """Add intervals to the groups' outcomes and label use, or the reasons why they have none."""
        computed, target = self._intervals(), self._analysis.interval
        questions = self._dataset.questions
        of_columns, of_uses = dict(found), list(uses)
        for g, use in enumerate(uses):
            sides = self.grouping.member[g], self.grouping.complement(g)
            inside, outside = (int(side.sum()) for side in sides)
            ends = computed if isinstance(computed, Remark) else computed[g]
            rarer = [of_groups.rarer_labels(questions, side) for side in sides]
            for name, place in self.places.statistics.items():
                column = self.places.column(g, place)
                outcome = found.get(column)
                if outcome is not None and outcome.value is not None:
                    across = None if TABLE[name].side == "inside" else outside
                    of_one = ends if isinstance(ends, Remark) else ends[self.places.names.index(name)]
                    of_columns[column] = with_interval(outcome, of_one, target, inside, across, *rarer)
            of_labels = ends if isinstance(ends, Remark) else ends[: LABELS + self.places.n_labels]
            of_uses[g] = with_intervals(use, of_labels, target, inside, outside)
        return of_columns, of_uses

    def undecided(self, c: int, *, corrected: bool) -> Undecided:
        """See :class:`~grasp_core.analysis.panel.RunPanel`."""
        groups, first_dsi, width = self.grouping.groups, self.places.dsi(0), self.places.of_group
        if c >= first_dsi:
            return Undecided(self._analysis.axes[c - first_dsi], None, "dsi", corrected)
        group, place = groups[c // width], c % width
        named = {place: name for name, place in self.places.statistics.items()}
        statistic = named.get(place, "label_use")
        return Undecided(group.axes, group, statistic, corrected)


def with_reasons(
    reasons: Sequence[dict[str, Remark]], observed: FloatArray, by_shares: BoolArray, analysis: AnalysisSpec
) -> list[dict[str, Remark]]:
    """Add why GAI, gap and distance are not estimable where `observed`, shape (G, W), is NaN."""
    found = [dict(of_group) for of_group in reasons]
    for of_group, row, shares in zip(found, observed, by_shares, strict=True):
        if shares:
            of_group.pop("distance", None)
            if "shares_distance" in of_group:
                of_group["distance"] = of_group["shares_distance"]
        for name, halves in (("gai", analysis.gai), ("gap", ("irr", "xrr"))):
            if np.isnan(row[STATISTICS.index(name)]):
                missing = (half for half in halves if half in of_group)
                across = float(row[STATISTICS.index(halves[1])])
                of_group[name] = next(
                    (
                        NoValue.GAI_HALF_MISSING(statistic=_words(half), because=of_group[half])
                        for half in missing
                    ),
                    NoValue.GAI_NOT_ABOVE_0(statistic=_words(halves[1]), value=across),
                )
    return found


def _words(statistic: str) -> str:
    return statistic.upper() if statistic in ("irr", "xrr") else statistic.replace("_", " ")
