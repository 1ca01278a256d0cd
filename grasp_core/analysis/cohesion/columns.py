"""The columns of cohesion: every group's statistics and label use, then the DSI of every axis.

A group's columns are, in this order: its statistics, the shift of its mean and its use of each label, which
are reported; then the tests of label use: of all labels together, of the mean and of each label. Without
labels there are only statistics. Optional statistics that the spec asks for come last.
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
"""Places of the mean's shift and of the first label among a group's columns, after its statistics."""
_SHARED = KERNEL_STATISTICS.index("distance")
"""The kernel's statistics before it are in the order of :data:`~grasp_core.model.spec.STATISTICS`."""


@dataclass(frozen=True, slots=True)
class Places:
    """Positions of the columns of G groups, with L labels whose use is reported, and axes."""

    n_groups: int
    n_labels: int = 0
    further: tuple[str, ...] = ()

    @property
    def of_group(self) -> int:
        """W, the number of columns of a group."""
        return self._first_further + len(self.further)

    @property
    def _first_further(self) -> int:
        return self.label_use + 2 + self.n_labels if self.n_labels else len(STATISTICS)

    @property
    def label_use(self) -> int:
        """Place of the test of all labels; the tests of the mean and of each label follow it."""
        return LABELS + self.n_labels

    @property
    def names(self) -> tuple[str, ...]:
        """Kind of each reported column of a group: a statistic's name, "mean" or "label"."""
        of_labels = ("mean", *["label"] * self.n_labels) if self.n_labels else ()
        return (*STATISTICS, *of_labels, *self.further)

    @property
    def statistics(self) -> dict[str, int]:
        """The place of each statistic among a group's columns."""
        further = range(self._first_further, self.of_group)
        return dict(zip((*STATISTICS, *self.further), (*range(len(STATISTICS)), *further), strict=True))

    def column(self, g: int, place: int) -> int:
        """Return the column of group g at a place among its own, such as a statistic's in `STATISTICS`."""
        return g * self.of_group + place

    def labels(self, g: int) -> tuple[int, ...]:
        """Return the columns of a group's use of each label."""
        return tuple(range(self.column(g, LABELS), self.column(g, LABELS + self.n_labels)))

    def mean_test(self, g: int) -> int:
        """Return the column of the test of the mean's shift."""
        return self.column(g, self.label_use + 1)

    def label_tests(self, g: int) -> tuple[int, ...]:
        """Return the columns of the tests of each label."""
        first = self.mean_test(g) + 1
        return tuple(range(first, first + self.n_labels))

    def dsi(self, axis: int) -> int:
        """Return the column of an axis's DSI."""
        return self.n_groups * self.of_group + axis


def further_of(spec: AnalysisSpec) -> tuple[str, ...]:
    """Return the optional statistics that the spec asks for."""
    return tuple(name for name in spec.statistics if TABLE[name].optional)


def members(groups: Sequence[Group], spec: AnalysisSpec) -> list[list[int]]:
    """Return the indices of the groups of each axis or intersection of the spec."""
    return [[g for g, group in enumerate(groups) if group.axes == axes] for axes in spec.axes]


def cohesion_tests(
    groups: Sequence[Group], spec: AnalysisSpec, n_labels: int = 0, symmetry: Symmetry | None = None
) -> Tests:
    """Return the tests of the chosen statistics, label use and the axes' DSI; units are groups."""
    places = Places(len(groups), n_labels, further_of(spec))
    families = group_families([group.axes for group in groups], spec, places)
    of_axis = members(groups, spec)
    axes = tuple(places.dsi(axis) for axis in range(len(of_axis)))
    needs = np.zeros((places.dsi(len(of_axis)), len(groups)), np.bool_)
    for g in range(len(groups)):
        needs[places.column(g, 0) : places.column(g + 1, 0), g] = True
    known = known_of(places, symmetry.like, len(axes)) if symmetry else Known()
    largest: dict[int, Maximum] = {}
    for c, chosen in zip(axes, of_axis, strict=True):
        needs[c, chosen] = True
        if chosen:
            columns = tuple(places.column(g, GAI) for g in chosen)
            largest[c] = Maximum(columns, upper=columns, within=c, every=True, known=known.of(columns))
    families = (*families, Family(axes, "upper", "benjamini-hochberg"))
    return Tests(families, needs, largest, known=known)


def known_of(places: Places, like: Int64Array, further: int) -> Known:
    """Return symmetries (:class:`Symmetry`) of the groups' columns, which `further` others follow."""
    width, found = places.of_group, np.arange(places.dsi(further))
    found[: places.dsi(0)] = (width * like[:, None] + np.arange(width)).ravel()
    return Known(tuple(found.tolist()))


def group_families(
    kinds: Sequence[Hashable], spec: AnalysisSpec, places: Places, tested: Collection[str] = TABLE.keys()
) -> tuple[Family, ...]:
    """Return the families of tests that are corrected together; `kinds` are the units' axes."""
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
    """Turn the kernel's values, (..., V), into reported columns, (..., S + 1 + L + F), or (..., S + F).

    `by_shares`, shape (...) or its end: True if the distance is that of shares: see :func:`few_paired`.
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
    """Turn values (..., V + F + 1 + L), as of :func:`questions.values`, into all columns of groups, (..., W).

    `n_labels`, `n_questions`: L, and the number of questions that these labels belong to.

    A label has a test where its use is reported, with value 0 if no rater differs from others in it.
    """
    n_further = len(further_of(analysis)) if with_further else 0
    n_counted = len(KERNEL_STATISTICS) + n_labels + n_further
    columns = group_columns(values[..., :n_counted], analysis, by_shares, n_further)
    if not n_labels:
        return columns
    columns, beside = np.split(columns, [columns.shape[-1] - n_further], axis=-1)
    use, far = columns[..., MEAN:], values[..., n_counted:]
    tests = np.where(np.isnan(use), np.nan, np.where(np.isnan(far), 0.0, far))
    joint = evidence(tests[..., 1:], tests[..., 0], n_labels - n_questions)
    return np.concatenate([columns, joint[..., None], tests, beside], axis=-1)


def few_paired(counted: FloatArray) -> BoolArray:
    """Flag where too few items have two labels from each side: `counted` has shape (..., V).

    Several questions are flagged together if that is true for half of them or more.
    """
    return np.asarray(counted[..., KERNEL_STATISTICS.index("enough_paired")] <= 0.5)


def with_dsi(values: FloatArray, axis_members: Sequence[Sequence[int]]) -> FloatArray:
    """Join the columns of groups, (..., G, W), and append every axis's largest GAI: shape (..., W G + A).

    All groups of an axis take part: without those not estimable in the data, p would be too small.
    """
    flat = values.reshape(*values.shape[:-2], -1)
    largest = [dsi(values[..., list(groups), GAI])[..., None] for groups in axis_members]
    return np.concatenate([flat, *largest], axis=-1)
