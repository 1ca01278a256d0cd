"""The columns of cohesion: what is known of every group, then the DSI of every axis.

A group's columns are its statistics, the shift of its mean and its use of each label, which are told, then
what is tested of these: how much speaks for another use of the labels, and how far the mean and each label
lie out. Without labels they are the statistics alone. Optional statistics that are asked stand last.
"""

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from grasp_core.model.annotations import BoolArray, FloatArray, Int64Array
from grasp_core.model.groups import Group
from grasp_core.model.spec import STATISTICS, AnalysisSpec
from grasp_core.model.statistic import TABLE
from grasp_core.permutation.compiled import KERNEL_STATISTICS
from grasp_core.permutation.testing.families import Family, Tests
from grasp_core.permutation.testing.p_values import Known, Maximum
from grasp_core.permutation.testing.tail import Symmetry
from grasp_core.statistics.association import dsi, gai
from grasp_core.statistics.rater_residuals import evidence

GAI, DISTANCE = STATISTICS.index("gai"), STATISTICS.index("distance")
MEAN, LABELS = len(STATISTICS), len(STATISTICS) + 1
"""Places among a group's columns, behind its statistics: the last is the first label's."""
_SHARED = KERNEL_STATISTICS.index("distance")
"""The kernel's statistics before it are in the order of :data:`~grasp_core.model.spec.STATISTICS`."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where columns are.

    `n_groups`: G.
    `n_labels`: L, labels of which it is told how often a group gives them; 0 where there are too many.
    `further`: the optional statistics.
    """

    n_groups: int
    n_labels: int = 0
    further: tuple[str, ...] = ()

    @property
    def of_group(self) -> int:
        """W, columns of a group."""
        return self._first_further + len(self.further)

    @property
    def _first_further(self) -> int:
        return self.label_use + 2 + self.n_labels if self.n_labels else len(STATISTICS)

    @property
    def label_use(self) -> int:
        """The place of the test of all labels, behind which are those of the mean and of each label."""
        return LABELS + self.n_labels

    @property
    def names(self) -> tuple[str, ...]:
        """What those of a group's columns are that are told: a statistic, the mean, or a label."""
        of_labels = ("mean", *["label"] * self.n_labels) if self.n_labels else ()
        return (*STATISTICS, *of_labels, *self.further)

    @property
    def statistics(self) -> dict[str, int]:
        """The place of each statistic among a group's columns."""
        further = range(self._first_further, self.of_group)
        return dict(zip((*STATISTICS, *self.further), (*range(len(STATISTICS)), *further), strict=True))

    def column(self, g: int, place: int) -> int:
        """The column of group g that has this place among its own, such as a statistic's in `STATISTICS`."""
        return g * self.of_group + place

    def labels(self, g: int) -> tuple[int, ...]:
        """The columns of a group's use of each label."""
        return tuple(range(self.column(g, LABELS), self.column(g, LABELS + self.n_labels)))

    def mean_test(self, g: int) -> int:
        """The column of how far the mean lies out."""
        return self.column(g, self.label_use + 1)

    def label_tests(self, g: int) -> tuple[int, ...]:
        """The columns of how far each label lies out."""
        first = self.mean_test(g) + 1
        return tuple(range(first, first + self.n_labels))

    def dsi(self, axis: int) -> int:
        """The column of an axis's DSI."""
        return self.n_groups * self.of_group + axis


def further_of(spec: AnalysisSpec) -> tuple[str, ...]:
    """The optional statistics that are asked."""
    return tuple(name for name in spec.statistics if TABLE[name].optional)


def members(groups: Sequence[Group], spec: AnalysisSpec) -> list[list[int]]:
    """The groups of each axis or intersection of the spec."""
    return [[g for g, group in enumerate(groups) if group.axes == axes] for axes in spec.axes]


def cohesion_tests(
    groups: Sequence[Group], spec: AnalysisSpec, n_labels: int = 0, symmetry: Symmetry | None = None
) -> Tests:
    """The chosen statistics and label use in the spec's families, and the axes' DSI; units are groups.

    Without a symmetry nothing is taken to be known of their null distributions.
    """
    places = Places(len(groups), n_labels, further_of(spec))
    families = group_families([group.axes for group in groups], spec, places)
    of_axis = members(groups, spec)
    axes = tuple(places.dsi(axis) for axis in range(len(of_axis)))
    needs = np.zeros((places.dsi(len(of_axis)), len(groups)), np.bool_)
    for g in range(len(groups)):
        needs[places.column(g, 0) : places.column(g + 1, 0), g] = True
    known = known_of(places, symmetry.like, len(axes)) if symmetry else Known()
    largest: dict[int, Maximum] = {}
    for c, together in zip(axes, of_axis, strict=True):
        needs[c, together] = True
        if together:
            columns = tuple(places.column(g, GAI) for g in together)
            largest[c] = Maximum(columns, upper=columns, within=c, every=True, known=known.of(columns))
    families = (*families, Family(axes, "upper", "benjamini-hochberg"))
    return Tests(families, needs, largest, known=known)


def known_of(places: Places, like: Int64Array, further: int) -> Known:
    """What is known of the columns of groups, behind which lie so many others.

    `like` is that of a :class:`~grasp_core.permutation.testing.tail.Symmetry`.
    """
    width, found = places.of_group, np.arange(places.dsi(further))
    found[: places.dsi(0)] = (width * like[:, None] + np.arange(width)).ravel()
    return Known(tuple(found.tolist()))


def group_families(
    kinds: Sequence[Hashable], spec: AnalysisSpec, places: Places, tested: Collection[str] = TABLE.keys()
) -> tuple[Family, ...]:
    """Tests that are corrected together.

    `kinds`, length U: the axis of each unit, such as a group.
    `places`: of the units' columns.
    `tested`: statistics that units have, if the spec asks for them.
    """
    found: dict[Hashable, list[int]] = {}
    upper: list[int] = []
    at = places.statistics
    chosen = [(at[name], name) for name in spec.statistics if name in tested]
    for place, name in [*chosen, *([(places.label_use, "label_use")] if places.n_labels else [])]:
        for g, axes in enumerate(kinds):
            key = {"statistic": name, "statistic-axis": (name, axes), "all": None}[spec.family]
            found.setdefault(key, []).append(places.column(g, place))
            if name == "label_use" or TABLE[name].upper:
                upper.append(places.column(g, place))
    return tuple(
        Family(tuple(columns), spec.p_value, spec.correction, tuple(c for c in upper if c in set(columns)))
        for columns in found.values()
    )


def group_columns(
    counted: FloatArray, analysis: AnalysisSpec, by_shares: BoolArray | bool = False, n_further: int = 0
) -> FloatArray:
    """From the kernel's values to the columns of groups.

    `counted`: shape (..., V), its last `n_further` of statistics that kernels lack.
    `by_shares`, shape of `counted` without the last axis, or the end of it: whether the distance is that of
        the shares of labels: see :func:`few_paired`.

    Returns shape (..., S + 1 + L + F), without labels (..., S + F): what is told of groups.
    """
    of = {name: counted[..., place] for place, name in enumerate(KERNEL_STATISTICS)}
    index = gai(of[analysis.gai[0]], of[analysis.gai[1]])
    distance = np.where(by_shares, of["shares_distance"], of["distance"])
    made = [index, of["irr"] - of["xrr"], distance]
    behind = counted[..., len(KERNEL_STATISTICS) :]
    if behind.shape[-1] > n_further:
        made.append(of["mean_shift"])
    return np.concatenate([counted[..., :_SHARED], np.stack(made, axis=-1), behind], axis=-1)


def all_columns(
    values: FloatArray,
    analysis: AnalysisSpec,
    by_shares: BoolArray | bool,
    n_labels: int,
    n_questions: int,
    *,
    with_further: bool = True,
) -> FloatArray:
    """From what is computed of groups to their columns.

    `values`, shape (..., V + F + 1 + L): from :func:`~grasp_core.permutation.questions.values`.
    `analysis`, `by_shares`: as in :func:`group_columns`.
    `n_labels`, `n_questions`: L, and the questions that these labels belong to.
    `with_further`: whether optional statistics that are asked are among the values.

    Returns shape (..., W): labels are tested just where it is told how much more often the group gives them;
    where no rater differs from the others in one, it does not lie out at all.
    """
    n_further = len(further_of(analysis)) if with_further else 0
    n_counted = len(KERNEL_STATISTICS) + n_labels + n_further
    columns = group_columns(values[..., :n_counted], analysis, by_shares, n_further)
    if not n_labels:
        return columns
    columns, beside = np.split(columns, [columns.shape[-1] - n_further], axis=-1)
    told, far = columns[..., MEAN:], values[..., n_counted:]
    tests = np.where(np.isnan(told), np.nan, np.where(np.isnan(far), 0.0, far))
    together = evidence(tests[..., 1:], tests[..., 0], n_labels - n_questions)
    return np.concatenate([columns, together[..., None], tests, beside], axis=-1)


def few_paired(counted: FloatArray) -> BoolArray:
    """Where too few items have two labels of both sides: `counted` has shape (..., V).

    Of several questions, where that is true of half of them or more.
    """
    return np.asarray(counted[..., KERNEL_STATISTICS.index("enough_paired")] <= 0.5)


def with_dsi(values: FloatArray, axis_members: Sequence[Sequence[int]]) -> FloatArray:
    """Lay columns of groups side by side and append every axis's largest GAI.

    `values`: shape (..., G, W).
    `axis_members`, length A, of sequences of int: from :func:`members`. All groups of an axis take part:
        those that happen to be estimable in the data would make the p-value of the maximum too small.

    Returns shape (..., W G + A).
    """
    flat = values.reshape(*values.shape[:-2], -1)
    largest = [dsi(values[..., list(groups), GAI])[..., None] for groups in axis_members]
    return np.concatenate([flat, *largest], axis=-1)
