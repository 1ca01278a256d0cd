"""What the shuffles of a run leave: how many regroupings, how small a p, and what they leave alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import gammaln

from grasp_core.model.annotations import BoolArray, FloatArray, Int64Array, Raters
from grasp_core.model.errors import SpecError
from grasp_core.model.groups import AxisSet, Grouping
from grasp_core.model.spec import AnalysisSpec
from grasp_core.permutation.exchange import Exchange, axes_in_clusters, exchange_of
from grasp_core.permutation.nulls.deviations import Tail


@dataclass(frozen=True, slots=True, eq=False)
class Shuffles:
    """What the permutations of a run leave of its groups.

    Parameters
    ----------
    log_regroupings : float64 array, shape (G,)
        See :func:`log_regroupings`.
    least_p : float64 array, shape (G,)
        See :func:`smallest_p`; 1 where nothing moves.
    least_of_one_tail : float64 array, shape (G,)
        The same of tests in which large values alone count, such as those of distance and label use.
    """

    exchange: Exchange
    log_regroupings: FloatArray
    least_p: FloatArray
    least_of_one_tail: FloatArray

    @classmethod
    def of(cls, raters: Raters, grouping: Grouping, spec: AnalysisSpec) -> Self:
        """Those of some groups; errors are those of :func:`~grasp_core.permutation.exchange.exchange_of`."""
        exchange = exchange_of(raters, spec)
        found = log_regroupings(grouping, exchange)
        return cls(exchange, found, smallest_p(found, spec.p_value), smallest_p(found, "upper"))

    @property
    def n_fixed(self) -> int:
        """Raters of clusters that change places with no other."""
        return self.exchange.n_fixed


@dataclass(frozen=True, slots=True, eq=False)
class Symmetry:
    """What is known of the null distributions of groups (docs/methods.md, "Mirrored regroupings").

    Parameters
    ----------
    like : int64 array, shape (G,)
        The first group of the same axis that has as many raters in every stratum: what is computed of a group
        has the same null distribution for both.
    centred : bool array, shape (G,)
        Groups that give no label more often than their others on average over all regroupings.
    """

    like: Int64Array
    centred: BoolArray

    @classmethod
    def of(cls, raters: Raters, grouping: Grouping, spec: AnalysisSpec) -> Self:
        """That of groups under the shuffles of a spec; errors are those of its exchange.

        Notes
        -----
        Where everybody changes places with everybody, the expected number of each label is the group's share
        of all. Else it is that where half of the raters of each stratum are the group's. Of clusters that
        change places rater by rater neither is known.
        """
        exchange = exchange_of(raters, spec)
        steps = exchange.bounds[exchange.bounds[:, 2] > 0]
        order = exchange.order[: steps[-1, 1]]
        inside = np.add.reduceat(grouping.member[:, order], steps[:, 0], axis=1, dtype=np.int64)
        n_groups = len(inside)
        if (steps[:, 2] > 1).any():
            return cls(np.arange(n_groups), np.zeros(n_groups, np.bool_))
        centred = np.ones(n_groups, np.bool_)
        if len(steps) > 1:
            known = np.add.reduceat(grouping.known[:, order], steps[:, 0], axis=1, dtype=np.int64)
            centred = (2 * inside == known[grouping.known_of]).all(axis=1)
        first: dict[object, int] = {}
        keys = zip((group.axes for group in grouping.groups), map(tuple, inside.tolist()), strict=True)
        like = [first.setdefault(key, g) for g, key in enumerate(keys)]
        return cls(np.array(like, np.int64), centred)


def regroupings(raters: Raters, grouping: Grouping, spec: AnalysisSpec) -> FloatArray | None:
    """What curves through tails need of the shuffles, shape (G,): None where the spec asks for none."""
    return Shuffles.of(raters, grouping, spec).log_regroupings if spec.tail else None


def log_regroupings(grouping: Grouping, exchange: Exchange) -> FloatArray:
    """The logarithm of the number of ways in which profiles can make each group and its others, shape (G,).

    Notes
    -----
    For each step of the shuffle it is a multinomial coefficient: of n blocks, the ways to hand out what they
    hold, where blocks that hold the same are not told apart. Steps multiply.
    """
    others = np.array([grouping.complement(g) for g in range(len(grouping.groups))], dtype=np.bool_)
    sides = (grouping.member + 2 * others.reshape(grouping.member.shape))[:, exchange.order]
    found = _of_single_raters(sides, exchange.bounds)
    for first, end, width in exchange.bounds[exchange.bounds[:, 2] > 1].tolist():
        blocks = sides[:, first:end].reshape(len(found), -1, width)
        found += [_log_ways(np.unique(of_group, axis=0, return_counts=True)[1]) for of_group in blocks]
    return found


def smallest_p(log_regroupings: FloatArray, tail: Tail) -> FloatArray:
    """The smallest p that so many regroupings can give, shape (G,): 2 / C, or 1 / C of one tail.

    Permutations drawn at random make each regrouping about as often as the others, so a p may fall a little
    below. The paper's, which leaves the observed grouping out, may be 0 too.
    """
    tails = 2 if tail == "two-sided" else 1
    return np.asarray(np.minimum(tails * np.exp(-log_regroupings), 1.0))


def check_something_moves(raters: Raters, grouping: Grouping, spec: AnalysisSpec) -> None:
    """Refuse axes whose every group stays as it is in all permutations.

    Raises
    ------
    SpecError
        If strata or clusters leave nothing to shuffle, with the axes that this is true of.
    """
    stuck = axes_that_stay(raters, grouping, spec)
    if not stuck:
        return
    if _sizes_differ(raters, spec):
        raise SpecError(
            f"each {spec.cluster} has a size of its own, and since raters of one differ on what is tested, "
            "only those of equal size can change places: nothing moves. Leave clusters out and shuffle "
            f"within {spec.cluster}, or merge them to equal sizes"
        )
    why = " and ".join(
        [
            *([f"the strata of {', '.join(spec.strata)}"] if spec.strata else []),
            *([f"the clusters of {spec.cluster}"] if spec.cluster is not None else []),
        ]
    )
    named = ", ".join(" x ".join(axes) for axes in stuck)
    raise SpecError(
        f"{why} leave nothing to shuffle for {named}: whoever may change places has the same values there; "
        "choose coarser ones, or leave these axes out"
    )


def _sizes_differ(raters: Raters, spec: AnalysisSpec) -> bool:
    """Whether clusters that could only change places with others of their size have none."""
    if spec.cluster is None or not axes_in_clusters(raters, spec)[1]:
        return False
    first, end, width = exchange_of(raters, spec).bounds.T
    return bool((end - first == width).all())


def axes_that_stay(raters: Raters, grouping: Grouping, spec: AnalysisSpec) -> list[AxisSet]:
    """Those of the spec's axes and intersections of which strata or clusters leave every group as it is."""
    if not spec.strata and spec.cluster is None:
        return []
    free = log_regroupings(grouping, exchange_of(raters, AnalysisSpec(axes=spec.axes)))
    left = log_regroupings(grouping, exchange_of(raters, spec))
    return [axes for axes in spec.axes if _stays(axes, grouping, free, left)]


def _of_single_raters(sides: Int64Array, bounds: Int64Array) -> FloatArray:
    """Of the steps whose blocks are one rater each; there may be many such steps. Shape (G,)."""
    single = bounds[bounds[:, 2] == 1]
    sizes = single[:, 1] - single[:, 0]
    step = np.repeat(np.arange(len(single)), sizes)
    places = np.concatenate([np.arange(first, end) for first, end, _ in single.tolist()] or [step])
    cells = 3 * step + sides[:, places].astype(np.int64)
    counts = [np.bincount(of_group, minlength=3 * len(single)) for of_group in cells]
    # By step, so that one that moves nothing adds 0 and no rounding.
    return np.array(
        [(gammaln(sizes + 1) - gammaln(of.reshape(-1, 3) + 1).sum(axis=1)).sum() for of in counts]
    )


def _log_ways(counts: Int64Array) -> float:
    """The logarithm of a multinomial coefficient."""
    return float(gammaln(counts.sum() + 1) - gammaln(counts + 1).sum())


def _stays(axes: AxisSet, grouping: Grouping, free: FloatArray, left: FloatArray) -> bool:
    """Whether an axis set has groups that could be shuffled, and none of them is."""
    own = [g for g, group in enumerate(grouping.groups) if group.axes == axes]
    return bool(free[own].any() and not left[own].any())
