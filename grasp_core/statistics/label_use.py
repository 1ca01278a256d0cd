"""Label use: which labels a group gives more often than the others do to the same items."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from grasp_core.model.annotations import FloatArray, Int64Array
from grasp_core.model.remarks.reasons import NoValue
from grasp_core.model.spec import Level
from grasp_core.statistics.items import ENOUGH_PAIRS, NotEstimableError
from grasp_core.statistics.levels import Distance, squared_distances


@dataclass(frozen=True, slots=True)
class Scale:
    """What the labels of a question stand for.

    Parameters
    ----------
    level : {"nominal", "ordinal", "interval", "ratio"}
    values : float array, shape (K,)
        Their numbers, from :func:`~grasp_core.statistics.levels.category_values`.
    """

    level: Level
    values: FloatArray

    @property
    def distance(self) -> Distance:
        """Squared distances between the labels."""
        return partial(squared_distances, self.level, self.values)

    def distances(self, marginals: FloatArray) -> FloatArray:
        """Squared distances, shape (K, K), of labels whose shares are `marginals`, shape (K,)."""
        return squared_distances(self.level, self.values, marginals)

    def positions(self, marginals: FloatArray) -> FloatArray:
        """Where labels lie: their numbers, or middle ranks from 0 to 1 of shares `marginals`, shape (K,)."""
        if self.level != "ordinal":
            return self.values
        return np.asarray(np.cumsum(marginals) - marginals / 2)


def label_use(c: Int64Array, d: Int64Array) -> FloatArray:
    """How much more often the group gives each label than the others do to the same items.

    Parameters
    ----------
    c, d : int arrays, shape (I, K)
        Labels of the group and of the others.

    Returns
    -------
    float64 array, shape (K,)
        Differences of shares; they add up to 0.

    Raises
    ------
    NotEstimableError
        If no item has labels of both.

    Notes
    -----
    D_k = sum_i w_i (c_ik / n_i - d_ik / m_i) / sum_i w_i over the shared items, w_i = n_i m_i / (n_i + m_i):
    items count as in the Mantel-Haenszel risk difference, by how precisely they tell the difference.

    References
    ----------
    Greenland & Robins (1985), Biometrics 41.
    """
    c, d = shared(c, d)
    n, m = c.sum(axis=1, keepdims=True), d.sum(axis=1, keepdims=True)
    weight = n * m / (n + m)
    return np.asarray((weight * (c / n - d / m)).sum(axis=0) / weight.sum())


def mean_shift(c: Int64Array, d: Int64Array, scale: Scale) -> float:
    """Shift of the mean, sum_k v_k D_k, where labels are numbers or ordered; NaN where they are names.

    For ordered labels v are middle ranks among both sides' labels of shared items, from 0 to 1: the shift is
    then the probability that a label of the group is higher than one of the others to the same item, ties
    counting half, less 1/2, on the common scale of all items.

    Raises
    ------
    NotEstimableError
        If no item has labels of both.
    """
    difference = label_use(c, d)
    return float("nan") if scale.level == "nominal" else float(scale.positions(_marginals(c, d)) @ difference)


def mean_positions(c: Int64Array, d: Int64Array, scale: Scale) -> FloatArray | None:
    """Where labels lie for :func:`mean_shift`, shape (K,); None where they are names, or none is shared."""
    if scale.level == "nominal" or not ((c.sum(axis=1) > 0) & (d.sum(axis=1) > 0)).any():
        return None
    return scale.positions(_marginals(c, d))


def distance(c: Int64Array, d: Int64Array, scale: Scale) -> float:
    """How far the group's and the others' labels of the same items are apart: the energy distance.

    Parameters
    ----------
    c, d : int arrays, shape (I, K)
    scale : Scale

    Returns
    -------
    float
        About 0 where both answer alike, below it by chance; of nominal labels at most 2.

    Raises
    ------
    NotEstimableError
        If no item has two labels of both.

    Notes
    -----
    E = sum_i w_i (2 Dx_i - Din_i - Dout_i) / sum_i w_i over items with n_i, m_i >= 2, the mean distances of a
    label of each side, and of two different labels of one side. Of nominal labels it is an unbiased estimate
    of sum_k (p_k - q_k)^2. Ordinal distances are those of middle ranks from 0 to 1, as in :func:`mean_shift`.

    References
    ----------
    Székely & Rizzo (2013), Journal of Statistical Planning and Inference 143.
    """
    apart = scale.distances(_marginals(c, d))
    paired = (c.sum(axis=1) > 1) & (d.sum(axis=1) > 1)
    if not paired.any():
        raise NotEstimableError(NoValue.NO_PAIRED_ITEM())
    c, d = c[paired], d[paired]
    n, m = c.sum(axis=1), d.sum(axis=1)
    across = np.einsum("ik,il,kl->i", c, d, apart) / (n * m)
    inside = np.einsum("ik,il,kl->i", c, c, apart) / (n * (n - 1))
    outside = np.einsum("ik,il,kl->i", d, d, apart) / (m * (m - 1))
    weight = n * m / (n + m)
    return float(weight @ (2 * across - inside - outside) / weight.sum())


def shares_distance(c: Int64Array, d: Int64Array, scale: Scale) -> float:
    """The distance of the shares of labels, -sum_kl D_k D_l delta_kl; of nominal labels sum_k D_k^2.

    It stands for :func:`distance` where half of the shared items or more have one label of the group. Of
    single items it says nothing: differences that even out are not seen.

    Raises
    ------
    NotEstimableError
        If no item has labels of both.
    """
    difference = label_use(c, d)
    return float(-difference @ scale.distances(_marginals(c, d)) @ difference)


def enough_paired(c: Int64Array, d: Int64Array) -> float:
    """1 where enough shared items have two labels of both sides for the distance, else 0; as seen from both.

    Raises as :func:`label_use`. See :data:`~grasp_core.statistics.items.ENOUGH_PAIRS`.
    """
    c, d = shared(c, d)
    paired = (np.minimum(c.sum(axis=1), d.sum(axis=1)) > 1).sum()
    return float(paired >= ENOUGH_PAIRS or 2 * paired >= len(c))


def shared(c: Int64Array, d: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Both sides' labels of the items that both have labels of."""
    both = (c.sum(axis=1) > 0) & (d.sum(axis=1) > 0)
    if not both.any():
        raise NotEstimableError(NoValue.NO_SHARED_ITEM())
    return c[both], d[both]


def _marginals(c: Int64Array, d: Int64Array) -> FloatArray:
    """The labels' shares among both sides' of shared items."""
    c, d = shared(c, d)
    return np.asarray((c + d).sum(axis=0) / (c + d).sum())
