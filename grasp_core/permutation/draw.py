"""Permutations drawn from a seed, and the raters who exchange profiles in them."""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from grasp_core.model.annotations import BoolArray, Int64Array, Raters
from grasp_core.model.errors import SpecError
from grasp_core.model.spec import WORKLOAD, AnalysisSpec

TIES_STREAM = 2**64 - 1
"""Second key word of the stream that breaks ties; no permutation has this number."""


def random_words(seed: int, stream: int, size: int) -> npt.NDArray[np.uint64]:
    """Return the first 64-bit words of the stream with key (seed, stream), shape (size,)."""
    words: npt.NDArray[np.uint64] = np.random.Philox(key=np.array([seed, stream], np.uint64)).random_raw(size)
    return words


def identity(n_raters: int) -> Int64Array:
    """Return the identity, shape (J,): everybody keeps their own profile, as in the observed data."""
    return np.arange(n_raters, dtype=np.int64)


def permutation(seed: int, b: int, order: Int64Array, bounds: Int64Array) -> Int64Array:
    """Draw permutation b (Fisher-Yates shuffle of the blocks of each step).

    `order`, `bounds`: see :class:`~grasp_core.permutation.draw.Exchange`.

    Returns shape (J,): rater j takes the profile of rater ``source[j]``.

    A position is the high word of draw x (i + 1); for n blocks its bias is below n / 2^64.
    """
    words = random_words(seed, b, order.size)
    shuffled = order.copy()
    for start, stop, width in bounds.tolist():
        if width <= 0:
            shuffled[start:stop] = shuffled[-width]
            continue
        blocks = shuffled[start:stop].reshape(-1, width)
        for i in range(len(blocks) - 1, 0, -1):
            j = int(words[start + i]) * (i + 1) >> 64
            blocks[[i, j]] = blocks[[j, i]]
    source = np.empty_like(order)
    source[order] = shuffled
    return source


RATERS_PER_BIN = 5
"""Approximate number of raters, of similar workloads, in a bin; equal workloads are in one bin."""


class Exchange(NamedTuple):
    """The steps of a shuffle.

    Parameters
    ----------
    order : int64 array, shape (J,)
        Raters, with raters who may exchange profiles next to each other.
    bounds : int64 array, shape (E, 3)
        Steps: first position, end, and width. From first to end there are blocks of `width` raters, which
        change places as wholes. If width is 0 or less, all raters of the step instead take the profile that
        is now at position -width.
    """

    order: Int64Array
    bounds: Int64Array

    @property
    def keeps_sizes(self) -> bool:
        """True if every group keeps its number of raters in each permutation."""
        return bool((self.bounds[:, 2] > 0).all())

    @property
    def n_fixed(self) -> int:
        """Number of raters in clusters that cannot change places with another; single raters do not count."""
        size = self.bounds[:, 1] - self.bounds[:, 0]
        return int(size[(size == self.bounds[:, 2]) & (size > 1)].sum())


def over_all(n_raters: int) -> Exchange:
    """Return the exchange in which everybody may take anybody's profile."""
    return Exchange(np.arange(n_raters), np.array([[0, n_raters, 1]], dtype=np.int64))


def exchange_of(raters: Raters, spec: AnalysisSpec) -> Exchange:
    """Return the steps that a spec's strata and cluster allow.

    Raises SpecError if a cluster is in two strata, or an axis has the name of the bins of workload.

    Unknown is a stratum too, and a rater without a cluster is a cluster of one. If all raters of each cluster
    have the same values on every tested axis, values belong to clusters: a cluster takes the values of any
    other of its stratum, whatever their sizes. Otherwise clusters of equal size change places, the first
    rater with the first, and so on.
    """
    strata = strata_of(raters, spec)
    everybody = np.arange(strata.size)
    if spec.cluster is None:
        order = np.lexsort((everybody, strata))
        return Exchange(order.astype(np.int64), _runs(strata[order], np.ones_like(strata)))
    cluster = clusters_of(raters, spec.cluster)
    sizes = np.bincount(cluster)
    _, first = np.unique(cluster, return_index=True)
    if (strata[first[cluster]] != strata).any():
        raise SpecError(
            f"raters of one {spec.cluster} are in different strata of {', '.join(spec.strata)}; clusters "
            "move as wholes, so all raters of each have to be in one stratum"
        )
    if not axes_in_clusters(raters, spec)[1]:
        return _of_values(strata, cluster, first, sizes)
    size = sizes[cluster]
    order = np.lexsort((everybody, first[cluster], size, strata))
    block = strata[order] * (sizes.max(initial=0) + 1) + size[order]
    return Exchange(order.astype(np.int64), _runs(block, size[order]))


def check_strata(strata: Collection[str], columns: Collection[str]) -> None:
    """Raise SpecError if bins of workload are a stratum and a column of the data has that name."""
    if WORKLOAD in strata and WORKLOAD in columns:
        raise SpecError(
            f"the data have a column {WORKLOAD}, and as a stratum that word stands for bins of raters by "
            "number of annotations; rename the column"
        )


def strata_of(raters: Raters, spec: AnalysisSpec) -> Int64Array:
    """Return each rater's stratum, shape (J,), ordered by one axis after the other; unknown is first."""
    strata = np.zeros(len(raters.rater_ids), dtype=np.int64)
    for name in spec.strata:
        codes = _workload(raters) if name == WORKLOAD else raters.axes[name].codes.astype(np.int64)
        combined = strata * (codes.max(initial=0) + 2) + codes
        strata = np.unique(combined, return_inverse=True)[1].astype(np.int64)
    return strata


def _workload(raters: Raters) -> Int64Array:
    check_strata((WORKLOAD,), raters.axes)
    if raters.workload is None:
        raise ValueError("raters without workload have no bins of it")
    n_bins = max(raters.workload.size // RATERS_PER_BIN, 1)
    cuts = np.quantile(raters.workload, np.arange(1, n_bins) / n_bins)
    return np.searchsorted(cuts, raters.workload, side="right").astype(np.int64)


def clusters_of(raters: Raters, name: str) -> Int64Array:
    """Return each rater's cluster, shape (J,), numbered from 0; raters without one are alone in theirs."""
    axis = raters.axes[name]
    own = len(axis.values) + np.arange(axis.codes.size)
    number = np.where(axis.codes < 0, own, axis.codes)
    return np.unique(number, return_inverse=True)[1].astype(np.int64)


def axes_in_clusters(raters: Raters, spec: AnalysisSpec) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the tested axes on which each cluster's raters have one value, and the other tested axes."""
    cluster = clusters_of(raters, str(spec.cluster))
    _, first = np.unique(cluster, return_index=True)
    found: tuple[list[str], list[str]] = [], []
    for name in spec.tested:
        codes = raters.axes[name].codes
        found[bool((codes[first[cluster]] != codes).any())].append(name)
    return tuple(found[0]), tuple(found[1])


def _runs(key: Int64Array, width: Int64Array) -> Int64Array:
    """Return a step for each run of equal keys; `width` is the same within a run."""
    if not key.size:
        return np.array([[0, 0, 1]], dtype=np.int64)
    first = np.flatnonzero(np.diff(key, prepend=key[0] - 1))
    return np.stack([first, np.append(first[1:], key.size), width[first]], axis=1).astype(np.int64)


def _of_values(strata: Int64Array, cluster: Int64Array, first: Int64Array, sizes: Int64Array) -> Exchange:
    """Return steps in which clusters' first raters change places and the others take their first's values."""
    leads: BoolArray = first[cluster] == np.arange(cluster.size)
    leaders = np.flatnonzero(leads)
    leaders = leaders[np.argsort(strata[leaders], kind="stable")]
    followers = np.flatnonzero(~leads)
    followers = followers[np.argsort(cluster[followers], kind="stable")]
    place = np.empty(sizes.size, dtype=np.int64)
    place[cluster[leaders]] = np.arange(leaders.size)
    taking = _runs(cluster[followers], -place[cluster[followers]]) if followers.size else np.empty((0, 3))
    taking[:, :2] += leaders.size
    steps = np.concatenate([_runs(strata[leaders], np.ones_like(leaders)), taking]).astype(np.int64)
    return Exchange(np.concatenate([leaders, followers]).astype(np.int64), steps)
