"""Cross-group cohesion: agreement of a group with the others."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from grasp_core.model.annotations import Int64Array
from grasp_core.model.remarks.reasons import NoValue
from grasp_core.model.spec import CrossNegentropy, VotingAgreement
from grasp_core.statistics.association import agreement
from grasp_core.statistics.items import NotEstimableError, cross_entropy
from grasp_core.statistics.levels import Distance, nominal


def xrr(c: Int64Array, d: Int64Array, distance: Distance = nominal) -> float:
    """Cross-replication reliability, with missing data.

    Parameters
    ----------
    c, d : int arrays, shape (I, K)
        Labels of the group and of the others; only items that both rated count.
    distance : callable, optional
        See :mod:`grasp_core.statistics.levels`; it gets both sides' labels together.

    Returns
    -------
    float
        At most 1; 0 if the two sides agree as much as their pooled labels would by chance.

    Raises
    ------
    NotEstimableError
        If they share no item, or all their labels are equal.

    Notes
    -----
    XRR = 1 - D_o / D_e with D_o = sum_i (n_i + m_i) (sum_kl c_ik d_il delta_kl^2 / (n_i m_i)) / (R + S) and
    D_e = sum_kl (X_k / R) (Y_l / S) delta_kl^2, where R, S, X_k, Y_l are totals over the shared items.

    References
    ----------
    Wong, Paritosh & Aroyo (2021), Cross-replication Reliability, ACL.
    """
    return agreement([partial(xrr_disagreement, c, d, distance)], NoValue.ONE_LABEL_ACROSS())


def xrr_disagreement(c: Int64Array, d: Int64Array, distance: Distance = nominal) -> tuple[float, float]:
    """Return D_o and D_e of :func:`xrr` for counts (I, K); D_e is 0 if all labels are equal.

    Raises
    ------
    NotEstimableError
        If they share no item.
    """
    c, d = _shared(c, d)
    n, m = c.sum(axis=1), d.sum(axis=1)
    r, s = int(n.sum()), int(m.sum())
    x, y = c.sum(axis=0), d.sum(axis=0)
    squared = distance(x + y)
    expected = x @ squared @ y / (r * s)
    disagreement = (c @ squared * d).sum(axis=1) / (n * m)
    observed = ((n + m) * disagreement).sum() / (r + s)
    return float(observed), float(expected)


def voting_agreement(
    c: Int64Array, d: Int64Array, ranks: Sequence[Int64Array], form: VotingAgreement = "alpha"
) -> float:
    """Return the agreement between the plurality labels of the group and of the others, beyond chance.

    Parameters
    ----------
    c, d : int arrays, shape (I, K)
    ranks : pair of int arrays, shape (I, K)
        For the group and for the others. If categories of an item are tied, its plurality is the one of them
        with the highest rank.
    form : {"alpha", "kappa"}
        See :func:`plurality_agreement`.

    Returns
    -------
    float

    Raises
    ------
    NotEstimableError
        If they share no item, or all pluralities are the same label.
    """
    shared = (c.sum(axis=1) >= 1) & (d.sum(axis=1) >= 1)
    if not shared.any():
        raise NotEstimableError(NoValue.NO_SHARED_ITEM())
    k = c.shape[1]
    x, y = ((side * k + rank)[shared].argmax(axis=1) for side, rank in zip((c, d), ranks, strict=True))
    return plurality_agreement(x, y, k, form)


def plurality_agreement(x: Int64Array, y: Int64Array, k: int, form: VotingAgreement) -> float:
    """Return 1 - D_o / D_e of two raters, here of the two sides' pluralities.

    Parameters
    ----------
    x, y : int arrays, shape (I,)
        Positions of labels among the `k` categories.
    k : int
    form : {"alpha", "kappa"}
        "alpha" is Krippendorff's: D_e is for two different votes out of all 2 I. "kappa" is Cohen's: D_e uses
        each side's own marginals, 1 - sum_k (x_k / I) (y_k / I). The paper's figures are of this form.

    Returns
    -------
    float

    Raises
    ------
    NotEstimableError
        If all labels are equal.
    """
    of_x, of_y = np.bincount(x, minlength=k), np.bincount(y, minlength=k)
    if form == "alpha":
        total = 2 * x.size
        expected = (total**2 - ((of_x + of_y) ** 2).sum()) / (total * (total - 1))
    else:
        expected = (x.size**2 - of_x @ of_y) / x.size**2
    if expected == 0:
        raise NotEstimableError(NoValue.ONE_PLURALITY())
    return float(1 - (x != y).mean() / expected)


def cross_negentropy(c: Int64Array, d: Int64Array, convention: CrossNegentropy = "smooth") -> float:
    """Return the mean over shared items of ln K - H(p_X, q_Y), in nats: p is the group, q the others.

    Parameters
    ----------
    c, d : int arrays, shape (I, K)
    convention : {"smooth", "paper"}
        "smooth" takes q_k = (d_k + 1/2) / (m + K/2). "paper" takes q_k = d_k / m and counts an item's
        cross-entropy as 0 if any q_k = 0, even if the group did not give that label. Use "paper" only to
        reproduce the paper: the items on which the two sides differ most count as full agreement.

    Returns
    -------
    float
        At most ln K; not symmetric in the two sides.

    Raises
    ------
    NotEstimableError
        If they share no item.
    """
    c, d = _shared(c, d)
    k = c.shape[1]
    p = c / c.sum(axis=1, keepdims=True)
    if convention == "smooth":
        q = (d + 0.5) / (d.sum(axis=1, keepdims=True) + k / 2)
        found = cross_entropy(p, q)
    else:
        q = d / d.sum(axis=1, keepdims=True)
        found = np.where((d > 0).all(axis=1), cross_entropy(p, q), 0.0)
    return float((np.log(k) - found).mean())


def _shared(c: Int64Array, d: Int64Array) -> tuple[Int64Array, Int64Array]:
    shared = (c.sum(axis=1) >= 1) & (d.sum(axis=1) >= 1)
    if not shared.any():
        raise NotEstimableError(NoValue.NO_SHARED_ITEM())
    return c[shared], d[shared]
