"""Whether raters of a group spread otherwise than the others, by the permutations of the run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from grasp_core.annotations import Annotations, FloatArray, Raters
from grasp_core.groups import Grouping
from grasp_core.permutation.exchange import exchange_of
from grasp_core.permutation.kernel.profiles import draw
from grasp_core.permutation.testing.combination import p_of
from grasp_core.spec import AnalysisSpec
from grasp_core.statistics.rater_residuals import RaterResiduals, ResidualSums
from grasp_core.statistics.spread import spread_of_sums, spread_terms
from grasp_core.verdict import Spread

_AT_ONCE = 256
"""Permutations drawn at a time."""
_OUT, _IN, _NEITHER = range(3)


class SpreadTest:
    """The test of spread of a run's groups; rater residuals are made when the first is asked for.

    Parameters
    ----------
    answers : sequence of Annotations
        A question each.
    raters : Raters
    grouping : Grouping
    analysis : AnalysisSpec
    permutations : int
        From 0 on, the same as of all other tests.

    Notes
    -----
    It is asked of groups that differ, so its permutations are drawn once more: raters' sums take a product of
    matrices, and nothing of a run waits for them.
    """

    def __init__(
        self,
        answers: Sequence[Annotations],
        raters: Raters,
        grouping: Grouping,
        analysis: AnalysisSpec,
        permutations: int,
    ) -> None:
        self._answers, self._grouping = answers, grouping
        self._seed, self._permutations = analysis.seed, permutations
        self._exchange = exchange_of(raters, analysis)
        self._terms: FloatArray | None = None

    def __call__(self, g: int, *, alike: bool) -> Spread | None:
        """The test of a group; None where a side has too few raters, or they do not differ.

        Parameters
        ----------
        g : int
        alike : bool
            Whether the others are a group with the same null distribution: each regrouping then has a mirror.
        """
        far = np.log(self._values(g))
        if np.isnan(far).any() or np.ptp(far) == 0:
            return None
        p = p_of(np.concatenate([far, -far]) if alike else far, two_sided=True)
        return Spread(float(np.exp(far[0])), float(p[0]))

    def _values(self, g: int) -> FloatArray:
        """The ratio, as observed and in each permutation; shape (B + 1,)."""
        if self._terms is None:
            residuals = (RaterResiduals.of(ResidualSums.of(one)) for one in self._answers)
            parts = [spread_terms(one).reshape(self._grouping.member.shape[1], 4, -1) for one in residuals]
            self._terms = np.concatenate(parts, axis=2).reshape(len(parts[0]), -1)
        profile = np.full(self._grouping.member.shape[1], _NEITHER, np.uint16)
        profile[self._grouping.complement(g)] = _OUT
        profile[self._grouping.member[g]] = _IN
        found = [self._ratios(profile[:, None])]
        for start in range(0, self._permutations, _AT_ONCE):
            shape = (profile.size, min(_AT_ONCE, self._permutations - start))
            drawn = np.empty(shape, profile.dtype)
            draw(np.uint64(self._seed), start, self._exchange.order, self._exchange.bounds, profile, drawn)
            found.append(self._ratios(drawn))
        return np.concatenate(found)

    def _ratios(self, profiles: np.ndarray) -> FloatArray:
        sides = ((profiles == side).T.astype(np.float64) @ self._terms for side in (_IN, _OUT))
        return spread_of_sums(*sides)
