"""Scales on which intervals are taken, and ends beyond which no interval goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Self

import numpy as np
from scipy.special import expit, logit

from grasp_core.annotations import BoolArray, FloatArray

Scale = Literal["logit", "log"]
CLOSEST: Mapping[Scale, float] = {"logit": 2.0, "log": 1.0}
"""A statistic closer to 0 than its interval's half width divided by so much has that interval as it is."""
_MOST = 700.0
"""Larger exponents have no power."""


class Range(NamedTuple):
    """The least and the largest value of a statistic, and the scale of its interval where it is above 0."""

    low: float = -np.inf
    high: float = np.inf
    scale: Scale | None = None


RANGES: Mapping[str, Range] = {
    "irr": Range(-1.0, 1.0, "logit"),
    "xrr": Range(-1.0, 1.0, "logit"),
    "negentropy": Range(low=0.0),
    "plurality_size": Range(0.0, 1.0),
    "voting_agreement": Range(-1.0, 1.0),
    "gai": Range(low=0.0),
    "gap": Range(-2.0, 2.0),
    "gap_b": Range(-2.0, 2.0),
    "irr_difference": Range(-2.0, 2.0),
    "distance": Range(scale="log"),
    "label": Range(-1.0, 1.0),
}
"""By statistic, of groups and of pairs; others may have any value. "label" is the use of one label."""


class Scales(NamedTuple):
    """Ranges of T statistics, which have a scale, shape (T,), and which of these L the logit, shape (L,)."""

    low: FloatArray
    high: FloatArray
    scaled: BoolArray
    by_logit: BoolArray

    @classmethod
    def of(cls, names: Sequence[str]) -> Self:
        """Of statistics by name."""
        ranges = [RANGES.get(name, Range()) for name in names]
        return cls(
            np.array([one.low for one in ranges]),
            np.array([one.high for one in ranges]),
            np.array([one.scale is not None for one in ranges], dtype=np.bool_),
            np.array([one.scale == "logit" for one in ranges if one.scale], dtype=np.bool_),
        )

    def with_scaled(self, values: FloatArray) -> FloatArray:
        """Statistics, shape (N, T), and behind them those with a scale on it; NaN where there is no such."""
        some = values[:, self.scaled]
        inside = (some > 0) & ((some < 1) | ~self.by_logit)
        of_some = np.where(inside, some, np.nan)
        on_scale = np.log(of_some)
        on_scale[:, self.by_logit] = logit(of_some[:, self.by_logit])
        return np.concatenate([values, on_scale], axis=1)

    def ends(self, found: FloatArray, whole: FloatArray) -> FloatArray:
        """Intervals of the statistics, shape (T, 2), from those of :meth:`with_scaled`, shape (T + L, 2).

        Notes
        -----
        Where a label is rare, little agreement comes with a small variance, and the interval around it would
        be too narrow; so would that of a distance which few items make. So ends are those of the interval on
        the scale. An interval that holds 0 keeps its lower end, since chance has no place on the scale; one
        around hardly anything, or of a distance that may be 0, keeps both.
        """
        ends = found[: whole.size].copy()
        plain, on_scale = ends[self.scaled], found[whole.size :]
        closest = np.where(self.by_logit, CLOSEST["logit"], CLOSEST["log"])
        clear = closest * whole[self.scaled] >= (plain[:, 1] - plain[:, 0]) / 2
        used = clear & ~np.isnan(on_scale).any(axis=1)
        scaled = np.where(self.by_logit[:, None], expit(on_scale), np.exp(np.minimum(on_scale, _MOST)))
        low = np.where(plain[:, 0] > 0, scaled[:, 0], plain[:, 0])
        high = np.maximum(scaled[:, 1], plain[:, 1])
        ends[self.scaled] = np.where(used[:, None], np.stack([low, high], axis=1), plain)
        low, high = np.maximum(ends[:, 0], np.minimum(self.low, whole)), np.minimum(ends[:, 1], self.high)
        return np.stack([low, high], axis=1)
