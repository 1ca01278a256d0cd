"""Statistics that the kernels lack, counted in plain NumPy: slow, but correct for any sum over items."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from grasp_core.model.annotations import FloatArray, Int64Array
from grasp_core.model.remarks.reasons import NoValue
from grasp_core.model.remarks.remark import Remark
from grasp_core.permutation.kernel.arguments import Labels, Rows
from grasp_core.statistics.coefficients import gwet_ac1_of, gwet_ac1_terms


class OfSums(NamedTuple):
    """A statistic: items' terms, (I, S), from counts of both sides, (I, K), and its value from sums (..., S).

    `missing`: reason why it has no value.
    """

    terms: Callable[[Int64Array, Int64Array], FloatArray]
    value: Callable[[FloatArray], FloatArray]
    missing: Callable[[], Remark]


FURTHER: Mapping[str, OfSums] = {
    "ac1": OfSums(lambda c, _: gwet_ac1_terms(c), gwet_ac1_of, NoValue.NO_PAIR),
}
"""Definitions by name of an optional statistic in :data:`~grasp_core.model.statistic.TABLE`."""


class Further(NamedTuple):
    """The optional statistics that were asked for, by position in :data:`FURTHER`."""

    asked: Int64Array

    @property
    def of_sums(self) -> list[OfSums]:
        """Their definitions."""
        return [list(FURTHER.values())[place] for place in self.asked]

    def sizes(self, n_categories: int) -> list[int]:
        """Return the number of sums that each of them needs."""
        nobody = np.zeros((1, n_categories), dtype=np.int64)
        return [one.terms(nobody, nobody).shape[1] for one in self.of_sums]

    def terms(self, c: Int64Array, d: Int64Array) -> FloatArray:
        """Return the items' terms for all of them, shape (I, S), from counts of shape (I, K)."""
        return np.hstack([one.terms(c, d) for one in self.of_sums])

    def values(self, sums: FloatArray, n_categories: int) -> FloatArray:
        """Return the statistics, shape (..., F), from sums (..., S)."""
        parts = np.split(sums, np.cumsum(self.sizes(n_categories))[:-1], axis=-1)
        return np.stack([one.value(part) for one, part in zip(self.of_sums, parts, strict=True)], axis=-1)


def further(names: Sequence[str]) -> Further | None:
    """Return those of the named statistics that kernels lack; None if there are none."""
    asked = [place for place, name in enumerate(FURTHER) if name in names]
    return Further(np.array(asked, dtype=np.int64)) if asked else None


def counts_of_rows(labels: Labels, rows: Rows, n_categories: int, profile: npt.NDArray[Any]) -> Int64Array:
    """Count labels for every row of raters, shape (rows, I, K), under these profiles, shape (J,)."""
    n_items = labels.indptr.size - 1
    belongs = np.zeros((rows.n_known + rows.known_of.size, rows.ptr.size - 1), dtype=np.bool_)
    belongs[rows.of, np.repeat(np.arange(rows.ptr.size - 1), np.diff(rows.ptr))] = True
    cell = np.repeat(np.arange(n_items) * n_categories, np.diff(labels.indptr)) + labels.category
    given_by = profile[labels.rater]
    counts = [np.bincount(cell[row[given_by]], minlength=n_items * n_categories) for row in belongs]
    return np.reshape(counts, (len(belongs), n_items, n_categories))
