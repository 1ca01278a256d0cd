"""Rates from measurements: how often a test calls, a mark is false, or an interval contains the truth."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from benchmarks.study.cells import Cell
from benchmarks.study.measure import Measured
from grasp_core.model.annotations import BoolArray
from grasp_core.model.remarks.cautions import GuardCaution
from grasp_core.model.spec import LEVEL

SIZE = (0.03, 0.06)
"""Bounds for a test's rate of false calls at 0.05."""
CLEAR = (0.0, 0.06)
"""Bounds for the share of data sets with a clear finding, if there are no differences."""
COVERAGE = (0.92, 0.99)
"""Bounds for the share of 95 % intervals that contain the truth."""
GUARDS = frozenset(code.key for code in GuardCaution)
_ERRORS = 2


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of data sets; `n` is 0 if nothing was asked."""

    share: float
    n: int

    @property
    def error(self) -> float:
        """Its Monte Carlo standard error."""
        return math.sqrt(self.share * (1 - self.share) / self.n) if self.n else math.nan

    def outside(self, bounds: tuple[float, float]) -> bool:
        """Return whether it is outside by more than two Monte Carlo errors, computed at the nearer bound."""
        low, high = bounds
        nearer = low if self.share < low else high
        away = max(low - self.share, self.share - high)
        return bool(self.n) and away > _ERRORS * math.sqrt(nearer * (1 - nearer) / self.n)


def called(measured: Measured, test: str, group: tuple[str, ...], figure: str = "p") -> Rate:
    """Return how often a test calls a group at the level; no p is no call."""
    p = measured.of(test, figure)[:, measured.groups.index(group)]
    if np.isnan(p).all():
        return Rate(math.nan, 0)
    return _rate(p < LEVEL)


def dsi_called(measured: Measured, axis: int) -> Rate:
    """Return how often the DSI of an axis is called at the level."""
    return _rate(measured.dsi[:, axis] < LEVEL)


def clear(measured: Measured, groups: Collection[tuple[str, ...]] | None = None) -> Rate:
    """Return how often the verdict's q of any of the groups, by default of all, is below the level."""
    asked = [place for place, group in enumerate(measured.groups) if groups is None or group in groups]
    q = measured.of("verdict", "q")[:, asked]
    return Rate(math.nan, 0) if np.isnan(q).all() else _rate((q < LEVEL).any(axis=1))


def false_discoveries(measured: Measured, cell: Cell, test: str) -> Rate:
    """Return the mean share of groups without a difference among those marked after correction."""
    marked = measured.of(test, "q") < LEVEL
    without = np.array([group not in cell.differs for group in measured.groups])
    each = marked[:, without].sum(axis=1) / np.maximum(marked.sum(axis=1), 1)
    return Rate(float(each.mean()), len(each))


def held(measured: Measured, test: str, group: tuple[str, ...]) -> Rate:
    """Return how often the interval contains the mean of the values over all data sets."""
    place = measured.groups.index(group)
    value, low, high = (measured.of(test, name)[:, place] for name in ("value", "low", "high"))
    there = ~np.isnan(low)
    if not there.any():
        return Rate(math.nan, 0)
    truth = np.nanmean(value)
    return _rate(((low <= truth) & (truth <= high))[there])


def peer_called(measured: Measured, peer: str, group: tuple[str, ...]) -> Rate:
    """Return how often another test calls a group at the level, if it has a p."""
    p = measured.peers[peer][:, measured.groups.index(group)]
    p = p[~np.isnan(p)]
    return _rate(p < LEVEL) if p.size else Rate(math.nan, 0)


def peer_held(measured: Measured, group: tuple[str, ...]) -> Rate:
    """Return how often the interval of resampled coincidences contains the mean IRR."""
    place = measured.groups.index(group)
    truth = np.nanmean(measured.of("irr", "value")[:, place])
    ends = measured.peers["coincidences"][:, place]
    ends = ends[~np.isnan(ends[:, 0])]
    return _rate((ends[:, 0] <= truth) & (truth <= ends[:, 1]))


def warned(measured: Measured) -> Rate:
    """Return how often a run warns that groups were given other items, or more of them."""
    return _rate(np.array([bool(codes & GUARDS) for codes in measured.warnings]))


def _rate(yes: BoolArray) -> Rate:
    return Rate(float(yes.mean()), yes.size)
