"""Difference in label use between each group and its others under permutations, from sums over raters.

The statistic is :func:`~grasp_core.statistics.rater_residuals.difference`. A rater's terms in its sums do not
change when profiles move. So a permutation needs one pass over the raters and none over the items.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from grasp_core.model.annotations import Annotations, FloatArray, Int32Array, Int64Array
from grasp_core.model.spec import Level
from grasp_core.permutation.design import MOST_LABELS_USED
from grasp_core.permutation.kernel.arguments import Rows
from grasp_core.permutation.kernel.columns import add_up
from grasp_core.permutation.kernel.profiles import FEWEST_BATCH, Membership, draw
from grasp_core.statistics.label_use import Scale
from grasp_core.statistics.levels import category_values
from grasp_core.statistics.rater_residuals import RaterResiduals, ResidualSums, of_sums

ROOM = 8 * 2**20


class Residuals(NamedTuple):
    """Raters' residuals of all questions: L labels, then the position of each question with an order."""

    of_raters: RaterResiduals
    n_labels: int


@dataclass(frozen=True, slots=True, eq=False)
class RaterTerms:
    """Raters' terms in the sums of label use, and raters' membership in groups.

    `order`, `bounds`: steps of the shuffle, see :class:`~grasp_core.permutation.draw.Exchange`.
    `rows`: without rows of raters with known values if all are: their sums are the same in any permutation.
    `rater`, shape (R,): raters who have terms.
    `terms`, shape (R, 5 C): :attr:`~grasp_core.statistics.rater_residuals.RaterResiduals.terms` for each
        label of every question, then for each question's position.
    """

    rows: Rows
    order: Int64Array
    bounds: Int64Array
    rater: Int32Array
    terms: FloatArray
    n_labels: int

    @classmethod
    def of(cls, residuals: Residuals, membership: Membership) -> Self:
        """Build the terms from residuals and membership."""
        terms = residuals.of_raters.terms
        rater = np.flatnonzero(terms.any(axis=1))
        rows, n_known = membership.rows, membership.rows.n_known
        if membership.grouping.known.all():
            of = rows.of[rows.of >= n_known] - n_known
            rows = rows._replace(ptr=rows.ptr - n_known * np.arange(rows.ptr.size), of=of, n_known=0)
        return cls(
            rows,
            membership.order,
            membership.bounds,
            rater.astype(np.int32),
            np.ascontiguousarray(terms[rater]),
            residuals.n_labels,
        )

    @property
    def n_groups(self) -> int:
        """Number of groups, G."""
        return int(self.rows.known_of.size)

    @property
    def own(self) -> npt.NDArray[np.unsignedinteger[Any]]:
        """The raters' own profiles, shape (J, 1)."""
        return np.asarray(self.rows.profile.reshape(-1, 1))


def shuffled(terms: RaterTerms, seed: int, start: int, stop: int) -> FloatArray:
    """Return differences under permutations `start` to `stop` - 1, shape (stop - start, G, 1 + L).

    First t of the mean's shift, all questions together, then t of each label; NaN if there is none.
    """
    found = np.empty((stop - start, terms.n_groups, 1 + terms.n_labels))
    rows = terms.rows.n_known + terms.n_groups
    each = 8 * rows * terms.terms.shape[1] + terms.rows.profile.itemsize * terms.order.size
    step = max(ROOM // each, FEWEST_BATCH)
    for first in range(start, stop, step):
        last = min(first + step, stop)
        profiles = np.empty((terms.order.size, last - first), terms.rows.profile.dtype)
        draw(np.uint64(seed), first, terms.order, terms.bounds, terms.rows.profile, profiles)
        found[first - start : last - start] = differences(terms, profiles)
    return found


def observed(terms: RaterTerms) -> FloatArray:
    """Return differences under the raters' own profiles, shape (G, 1 + L)."""
    return np.asarray(differences(terms, terms.own)[0])


def differences(terms: RaterTerms, profiles: npt.NDArray[np.unsignedinteger[Any]]) -> FloatArray:
    """Return differences, shape (B, G, 1 + L), for these profiles of raters, shape (J, B)."""
    n_known, width = terms.rows.n_known, terms.terms.shape[1]
    sums = np.empty((profiles.shape[1], n_known + terms.n_groups, width))
    add_up(profiles, terms.rows.ptr, terms.rows.of, terms.rater, terms.terms, sums)
    inside = sums[:, n_known:]
    # Accumulated, not summed: one rater after the other, as the kernel adds.
    known = sums[:, terms.rows.known_of] if n_known else terms.terms.cumsum(axis=0)[-1:].sum(axis=0)
    t = of_sums(inside, known - inside)
    shifts = t[..., terms.n_labels :]
    computed = ~np.isnan(shifts)
    n = computed.sum(axis=-1, keepdims=True)
    found = np.full(n.shape, np.nan)
    np.divide(np.where(computed, shifts, 0.0).sum(axis=-1, keepdims=True), np.sqrt(n), out=found, where=n > 0)
    return np.concatenate([found, t[..., : terms.n_labels]], axis=-1)


def residuals_of(questions: Sequence[Annotations], level: Level) -> Residuals | None:
    """Return raters' residuals for all questions whose label use is computed; None if there are none."""
    reported = [one for one in questions if one.n_categories <= MOST_LABELS_USED]
    if not reported:
        return None
    sizes = [one.n_categories for one in reported]
    sums = [ResidualSums.of(one) for one in reported]
    each = [
        RaterResiduals.of(of_one, _positions(of_one, one.categories, level))
        for of_one, one in zip(sums, reported, strict=True)
    ]

    def side_by_side(columns: Sequence[FloatArray]) -> FloatArray:
        labels = [one[:, :size] for one, size in zip(columns, sizes, strict=True)]
        positions = [one[:, size:] for one, size in zip(columns, sizes, strict=True)]
        return np.concatenate([*labels, *positions], axis=1)

    mean, weight = (side_by_side([getattr(one, name) for one in each]) for name in ("mean", "weight"))
    return Residuals(RaterResiduals(each[0].n, mean, weight), sum(sizes))


def _positions(sums: ResidualSums, categories: Sequence[str], level: Level) -> FloatArray | None:
    """Return labels' positions, scaled to a range of 1; None if labels are names."""
    if level == "nominal":
        return None
    shares = sums.given / max(int(sums.given.sum()), 1)
    positions = Scale(level, category_values(categories, level)).positions(shares)
    reach = float(np.ptp(positions))
    return positions / reach if reach > 0 else positions
