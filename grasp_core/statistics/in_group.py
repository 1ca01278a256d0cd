"""In-group cohesion: agreement of a group's members with each other."""

from functools import partial

import numpy as np

from grasp_core.model.annotations import Int64Array
from grasp_core.model.remarks.reasons import NoValue
from grasp_core.statistics.association import agreement
from grasp_core.statistics.items import NotEstimableError, cross_entropy
from grasp_core.statistics.levels import Distance, nominal


def irr(c: Int64Array, distance: Distance = nominal) -> float:
    """Krippendorff's alpha.

    Parameters
    ----------
    c : int array, shape (I, K)
    distance : callable, optional
        See :mod:`grasp_core.statistics.levels`; it gets the pairable labels.

    Returns
    -------
    float
        At most 1; 0 if the group agrees as much as its pooled labels would by chance.

    Raises
    ------
    NotEstimableError
        If no item has two labels, or all pairable labels are equal.

    Notes
    -----
    alpha = 1 - D_o / D_e over the items with n >= 2, where, summed over all pairs of categories,
    D_o = 1/N sum_i sum_kl c_ik c_il delta_kl^2 / (n_i - 1) and
    D_e = sum_kl M_k M_l delta_kl^2 / (N (N - 1)).

    References
    ----------
    Krippendorff (2019), Content Analysis, 4th ed., chapter 12.
    """
    return agreement([partial(irr_disagreement, c, distance)], NoValue.ONE_LABEL_INSIDE())


def irr_disagreement(c: Int64Array, distance: Distance = nominal) -> tuple[float, float]:
    """Return D_o and D_e of :func:`irr` for counts (I, K); D_e is 0 if all pairable labels are equal.

    Raises
    ------
    NotEstimableError
        If no item has two labels.
    """
    c = c[c.sum(axis=1) >= 2]
    n = c.sum(axis=1)
    total = int(n.sum())
    if total < 2:
        raise NotEstimableError(NoValue.NO_PAIR())
    marginal = c.sum(axis=0)
    squared = distance(marginal)
    expected = marginal @ squared @ marginal / (total * (total - 1))
    observed = ((c @ squared * c).sum(axis=1) / (n - 1)).sum() / total
    return float(observed), float(expected)


def plurality_size(c: Int64Array) -> float:
    """Mean over items of the share of the group's most frequent label.

    Parameters
    ----------
    c : int array, shape (I, K)

    Returns
    -------
    float
        From 1/K to 1.

    Raises
    ------
    NotEstimableError
        If the group has no annotations.
    """
    n, c = _rated(c)
    return float((c.max(axis=1) / n).mean())


def negentropy(c: Int64Array) -> float:
    """Mean over items of ln K - H(c_i / n_i), in nats.

    Parameters
    ----------
    c : int array, shape (I, K)

    Returns
    -------
    float
        From 0 (labels spread evenly) to ln K (every item unanimous).

    Raises
    ------
    NotEstimableError
        If the group has no annotations.
    """
    n, c = _rated(c)
    p = c / n[:, None]
    return float((np.log(c.shape[1]) - cross_entropy(p, p)).mean())


def _rated(c: Int64Array) -> tuple[Int64Array, Int64Array]:
    n = c.sum(axis=1)
    rated = n >= 1
    if not rated.any():
        raise NotEstimableError(NoValue.NO_ANNOTATION())
    return n[rated], c[rated]
