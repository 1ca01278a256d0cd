"""Raters placed in the plane, as near to each other as they agree: classical scaling."""

from __future__ import annotations

import numpy as np

from grasp_core.annotations import BoolArray, FloatArray, Int32Array, Int64Array

LEAST_COMMON = 5
"""Answers that two raters have to share for a distance between them."""
DIGITS = 5
"""Decimals of a place."""


def connected(common: Int32Array) -> Int64Array:
    """Raters who share enough answers with at least half of the others, shape (n,).

    Whoever lacks that most is left out first, those who lack it alike together, until nobody lacks it: so
    the order of raters does not matter.
    """
    known = common >= LEAST_COMMON
    shared, kept = known.sum(axis=1), np.ones(len(common), np.bool_)
    while True:
        lacking = kept & (2 * shared < kept.sum() - 1)
        if not lacking.any():
            return np.flatnonzero(kept)
        fewest = lacking & (shared == shared[lacking].min())
        kept &= ~fewest
        shared -= known[fewest].sum(axis=0)


def squared_distances(mean: FloatArray, known: BoolArray) -> FloatArray:
    """The disagreements as squared distances, shape (n, n), with neutral ones where none is known.

    Parameters
    ----------
    mean : float64 array, shape (n, n)
    known : bool array, shape (n, n)
        Symmetric, False on the diagonal, at least one True in each row.

    Notes
    -----
    A pair that shares too little gets the sum of both raters' own means less the mean of all: after centring
    it counts as neither nearer nor farther than two raters who have nothing to do with each other.
    """
    own = np.where(known, mean, 0.0).sum(axis=1) / known.sum(axis=1)
    neutral = np.maximum(own[:, None] + own - mean[known].mean(), 0.0)
    squared = np.where(known, mean, neutral)
    np.fill_diagonal(squared, 0.0)
    return squared


def place(squared: FloatArray) -> tuple[FloatArray, tuple[float, float]]:
    """Places in the plane, shape (n, 2), and the share of the variance along each of its directions.

    Parameters
    ----------
    squared : float64 array, shape (n, n)
        Squared distances.

    Notes
    -----
    Classical scaling: the two largest eigenvectors of the centred matrix, times the roots of their
    eigenvalues. Shares are of the sum of all eigenvalues' sizes, since distances that were filled in can make
    some negative. scikit-learn's ``ClassicalMDS`` gives the same places but not all eigenvalues. Of both
    signs of a direction the one is taken that makes its largest coordinate positive.

    References
    ----------
    Torgerson (1952), Psychometrika 17; Gower (1966), Biometrika 53; Mardia (1978), Communications in
    Statistics A7.
    """
    from scipy.linalg import eigh  # takes a while to load, and most commands place nobody

    means = squared.mean(axis=0)
    centred = -0.5 * (squared - means - means[:, None] + means.mean())
    values, vectors = eigh(centred, check_finite=False)
    size = float(np.abs(values).sum())
    largest = np.maximum(values[:-3:-1], 0.0)
    places = vectors[:, :-3:-1] * np.sqrt(largest)
    at = np.abs(places).argmax(axis=0)
    places *= np.where(places[at, np.arange(2)] < 0, -1.0, 1.0)
    first, second = (float(value) / size if size else 0.0 for value in largest)
    return np.round(places, DIGITS) + 0.0, (first, second)
