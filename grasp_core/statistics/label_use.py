"""Label use: labels that a group gives more often than the others on the same items."""

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
    """Scale of a question's labels: their level of measurement and their numbers.

    Parameters
    ----------
    level : {"nominal", "ordinal", "interval", "ratio"}
    values : float array, shape (K,)
        The labels' numbers, from :func:`~grasp_core.statistics.levels.category_values`.
    """

    level: Level
    values: FloatArray

    @property
    def distance(self) -> Distance:
        """Function for the squared distances between the labels."""
        return partial(squared_distances, self.level, self.values)

    def distances(self, marginals: FloatArray) -> FloatArray:
        """Return squared distances, shape (K, K), of labels with the shares `marginals`, shape (K,)."""
        return squared_distances(self.level, self.values, marginals)

    def positions(self, marginals: FloatArray) -> FloatArray:
        """Return the labels' numbers, or for ordinal labels their middle ranks from 0 to 1, shape (K,)."""
        if self.level != "ordinal":
            return self.values
        return np.asarray(np.cumsum(marginals) - marginals / 2)


def label_use(c: Int64Array, d: Int64Array) -> FloatArray:
    """Return how much more often the group gives each label than the others on the same items.

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
    D_k = sum_i w_i (c_ik / n_i - d_ik / m_i) / sum_i w_i over shared items, w_i = n_i m_i / (n_i + m_i).
    As in the Mantel-Haenszel risk difference, an item's weight is the precision of its difference.

    References
    ----------
    Greenland & Robins (1985), Biometrics 41.
    """
    c, d = shared(c, d)
    n, m = c.sum(axis=1, keepdims=True), d.sum(axis=1, keepdims=True)
    weight = n * m / (n + m)
    return np.asarray((weight * (c / n - d / m)).sum(axis=0) / weight.sum())


def mean_shift(c: Int64Array, d: Int64Array, scale: Scale) -> float:
    """Return the shift of the mean, sum_k v_k D_k, of labels that are numbers or ordered; NaN for names.

    For ordered labels, v are middle ranks among both sides' labels of shared items, from 0 to 1. The shift is
    then the probability that a label of the group is higher than one of the others on the same item, minus
    1/2, with ties counted as half and on the common scale of all items.

    Raises
    ------
    NotEstimableError
        If no item has labels of both.
    """
    difference = label_use(c, d)
    return float("nan") if scale.level == "nominal" else float(scale.positions(_marginals(c, d)) @ difference)


def mean_positions(c: Int64Array, d: Int64Array, scale: Scale) -> FloatArray | None:
    """Return label positions for :func:`mean_shift`, shape (K,); None for names, or if no item is shared."""
    if scale.level == "nominal" or not ((c.sum(axis=1) > 0) & (d.sum(axis=1) > 0)).any():
        return None
    return scale.positions(_marginals(c, d))


def distance(c: Int64Array, d: Int64Array, scale: Scale) -> float:
    """Return the energy distance between the group's and the others' labels of the same items.

    Parameters
    ----------
    c, d : int arrays, shape (I, K)
    scale : Scale

    Returns
    -------
    float
        About 0 if both answer alike, then also below 0 by chance; at most 2 for nominal labels.

    Raises
    ------
    NotEstimableError
        If no item has two labels of both.

    Notes
    -----
    E = sum_i w_i (2 Dx_i - Din_i - Dout_i) / sum_i w_i over items with n_i, m_i >= 2: the mean distances of
    labels of both sides, of two labels inside and of two outside. For nominal labels, E estimates
    sum_k (p_k - q_k)^2 without bias. Ordinal distances use middle ranks from 0 to 1, as :func:`mean_shift`.

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
    """Return the distance of the shares of labels, -sum_kl D_k D_l delta_kl; sum_k D_k^2 if nominal.

    It replaces :func:`distance` if too few items have two labels of each side (:func:`enough_paired`).
    It does not compare single items, so it misses differences that even out over items.

    Raises
    ------
    NotEstimableError
        If no item has labels of both.
    """
    difference = label_use(c, d)
    return float(-difference @ scale.distances(_marginals(c, d)) @ difference)


def enough_paired(c: Int64Array, d: Int64Array) -> float:
    """Return 1 if enough shared items have two labels of both sides for the distance, else 0.

    Raises as :func:`label_use`. See :data:`~grasp_core.statistics.items.ENOUGH_PAIRS`.
    """
    c, d = shared(c, d)
    paired = (np.minimum(c.sum(axis=1), d.sum(axis=1)) > 1).sum()
    return float(paired >= ENOUGH_PAIRS or 2 * paired >= len(c))


def shared(c: Int64Array, d: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Return both sides' labels of the items that both sides labelled."""
    both = (c.sum(axis=1) > 0) & (d.sum(axis=1) > 0)
    if not both.any():
        raise NotEstimableError(NoValue.NO_SHARED_ITEM())
    return c[both], d[both]


def _marginals(c: Int64Array, d: Int64Array) -> FloatArray:
    """Return the shares of labels among both sides' labels of shared items."""
    c, d = shared(c, d)
    return np.asarray((c + d).sum(axis=0) / (c + d).sum())
