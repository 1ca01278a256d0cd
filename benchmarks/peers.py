"""Other software on the same data: the time of each for one permutation of the raters.

Each is used as its documentation shows, and computes one statistic of every group. The obvious loop computes
the paper's seven; the kernel computes these, distance, gap and label use. First, values without a shuffle are
compared with ours. `apunim` takes part if it is installed.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable, Mapping
from functools import partial

import krippendorff
import numpy as np
from scipy.stats import permutation_test
from threadpoolctl import threadpool_limits

from benchmarks.figures import Figure, cpu_seconds, medians
from benchmarks.loop import Loop
from grasp_core.model.annotations import Annotations, FloatArray, Raters
from grasp_core.model.groups import AxisSet, Grouping, form_groups
from grasp_core.permutation import compiled
from grasp_core.permutation.design import Design
from grasp_core.permutation.kernel import crossed

_RESAMPLES = 40
_FEW, _MORE = 1, 11
"""Iterations of `apunim`: only the time of the further ones counts, not its preparation."""


class Data:
    """The data in the peers' forms.

    Attributes
    ----------
    ratings : array, shape (J, I)
        Codes of labels; NaN where there is none.
    given : array, shape (J, I K)
        1 where the rater gave the item the label.
    member : bool array, shape (G, J)
    """

    def __init__(self, annotations: Annotations, grouping: Grouping) -> None:
        self.items, self.labels = annotations.n_items, annotations.n_categories
        self.ratings = np.full((annotations.n_raters, self.items), np.nan)
        self.ratings[annotations.rater, annotations.item] = annotations.category
        given = np.zeros((annotations.n_raters, self.items * self.labels), np.float32)
        given[annotations.rater, annotations.item * self.labels + annotations.category] = 1
        self.given = given
        self.member = grouping.member
        self.rng = np.random.default_rng(1)

    def shuffled(self) -> np.ndarray:
        """Return the members of each group after one permutation of the raters, shape (G, J)."""
        return self.member[:, self.rng.permutation(self.member.shape[1])]

    def alphas(self, member: np.ndarray) -> FloatArray:
        """Return Krippendorff's nominal alpha of any number of groups at once, shape (...)."""
        counts = (member.astype(np.float32) @ self.given).reshape(*member.shape[:-1], self.items, self.labels)
        n = counts.sum(axis=-1)
        pairable = n > 1
        counts, n = counts * pairable[..., None], n * pairable
        total, of_label = n.sum(axis=-1), counts.sum(axis=-2, dtype=np.float64)
        unlike = np.where(pairable, (n**2 - (counts**2).sum(axis=-1)) / np.maximum(n - 1, 1), 0)
        observed = unlike.sum(axis=-1, dtype=np.float64) / total
        expected = (total**2 - (of_label**2).sum(axis=-1)) / (total * (total - 1))
        alphas: FloatArray = 1 - observed / expected
        return alphas


def by_krippendorff(data: Data, member: np.ndarray) -> FloatArray:
    """Return alphas by the package `krippendorff`, group by group."""
    return np.array(
        [
            krippendorff.alpha(reliability_data=data.ratings[rows], level_of_measurement="nominal")
            for rows in member
        ]
    )


def by_scipy(data: Data, member: np.ndarray, resamples: int) -> FloatArray:
    """Run a vectorised `scipy.stats.permutation_test` of each group's alpha; return the observed values."""

    def alphas(inside: np.ndarray, _outside: np.ndarray, axis: int) -> FloatArray:
        inside = np.moveaxis(inside, axis, -1)
        member = np.zeros((*inside.shape[:-1], len(data.given)), dtype=np.bool_)
        np.put_along_axis(member, inside, True, axis=-1)
        return data.alphas(member)

    return np.array(
        [
            permutation_test(
                (np.flatnonzero(rows), np.flatnonzero(~rows)),
                alphas,
                vectorized=True,
                n_resamples=resamples,
                batch=resamples,
                rng=data.rng,
            ).statistic
            for rows in member
        ]
    )


def compare(
    annotations: Annotations, raters: Raters, axes: tuple[AxisSet, ...], design: Design, rounds: int
) -> list[Figure]:
    """Return each one's processor time for one permutation of all groups: medians, in turn on one core."""
    grouping = form_groups(raters, axes)
    data, loop = Data(annotations, grouping), Loop(annotations, grouping)
    _check(data, loop, compiled.observed(design))
    sides: dict[str, Callable[[], float]] = {
        "ours": lambda: cpu_seconds(lambda: compiled.shuffled(design, 1, 0, crossed.BATCH)) / crossed.BATCH,
        "IRR by NumPy, all groups at once": lambda: cpu_seconds(lambda: data.alphas(data.shuffled())),
        "IRR by scipy.stats.permutation_test": lambda: (
            cpu_seconds(lambda: by_scipy(data, data.member, _RESAMPLES)) / _RESAMPLES
        ),
        "IRR by krippendorff.alpha, group by group": lambda: cpu_seconds(
            lambda: by_krippendorff(data, data.shuffled())
        ),
        "seven statistics, group by group (krippendorff.alpha, NumPy)": lambda: cpu_seconds(
            lambda: loop.permutation(data.rng)
        ),
        **_apunim(annotations, raters, axes),
    }
    with threadpool_limits(1):
        taken = medians(sides, rounds)
    ours = taken.pop("ours")
    return [Figure(what, each / ours, "all by the kernel", each * 1e3, "ms") for what, each in taken.items()]


def _check(data: Data, loop: Loop, ours: FloatArray) -> None:
    class Unshuffled:
        def permutation(self, size: int) -> np.ndarray:
            return np.arange(size)

    irr = (by_krippendorff(data, data.member), data.alphas(data.member), by_scipy(data, data.member, 1))
    away = [np.abs(theirs - ours[:, 0]).max() for theirs in irr]
    by_loop = loop.permutation(Unshuffled())[:, :6]  # the seventh is computed from two of them
    away.append(np.abs(by_loop - ours[:, : by_loop.shape[1]]).max())
    if max(away) > 1e-6:
        sys.exit(f"other values are found, by {max(away)}; a ratio of speeds would mean nothing")


def _apunim(
    annotations: Annotations, raters: Raters, axes: tuple[AxisSet, ...]
) -> Mapping[str, Callable[[], float]]:
    try:
        test = importlib.import_module("apunim").aposteriori_unimodality
    except ImportError:
        print("apunim is not installed here, and is left out")
        return {}
    groupings = [form_groups(raters, [each]) for each in axes]
    of_rater = [grouping.member.argmax(axis=0) for grouping in groupings]

    def run(iterations: int) -> None:
        for group in of_rater:
            test(
                annotations.category.astype(float),
                group[annotations.rater],
                annotations.item,
                num_bins=annotations.n_categories,
                iterations=iterations,
                alpha=None,
                seed=1,
            )

    def further() -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about means over no item
            few, more = (cpu_seconds(partial(run, iterations)) for iterations in (_FEW, _MORE))
        return (more - few) / (_MORE - _FEW)

    return {"nDFU by apunim": further}
