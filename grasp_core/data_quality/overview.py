"""How much there is: items, raters, annotations, and what is missing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from grasp_core.annotations import Annotations, Int64Array, Raters

BARS = 10
"""Most bars of the histogram of raters per item."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Smallest, median and largest."""

    low: int
    median: float
    high: int


@dataclass(frozen=True, slots=True)
class Bar:
    """Items with `low` to `high` raters."""

    low: int
    high: int
    items: int


@dataclass(frozen=True, slots=True)
class Unknown:
    """Raters whose value on an axis is unknown."""

    axis: str
    raters: int
    share: float


@dataclass(frozen=True, slots=True)
class Overview:
    """Sizes of the data.

    `filled` is the share of all item-rater pairs that have an annotation.
    """

    items: int
    raters: int
    annotations: int
    filled: float
    raters_per_item: Spread
    annotations_per_rater: Spread
    items_by_raters: tuple[Bar, ...]
    unknown: tuple[Unknown, ...]

    @property
    def missing(self) -> float:
        """Share of all item-rater pairs without an annotation."""
        return 1 - self.filled


def overview(annotations: Annotations, raters: Raters) -> Overview:
    """Count what there is and what is missing.

    Parameters
    ----------
    annotations : Annotations
        With at least one annotation.
    raters : Raters
    """
    per_item = np.diff(annotations.indptr)
    per_rater = np.bincount(annotations.rater, minlength=annotations.n_raters)
    return Overview(
        items=annotations.n_items,
        raters=annotations.n_raters,
        annotations=annotations.n_annotations,
        filled=annotations.n_annotations / (annotations.n_items * annotations.n_raters),
        raters_per_item=_spread(per_item),
        annotations_per_rater=_spread(per_rater),
        items_by_raters=_bars(per_item),
        unknown=tuple(
            Unknown(name, int((axis.codes < 0).sum()), float((axis.codes < 0).mean()))
            for name, axis in raters.axes.items()
        ),
    )


def _spread(counts: Int64Array) -> Spread:
    return Spread(int(counts.min()), float(np.median(counts)), int(counts.max()))


def _bars(per_item: Int64Array) -> tuple[Bar, ...]:
    """Bars of equal whole width; those at either end hold at least one item."""
    low, high = int(per_item.min()), int(per_item.max())
    width = -(-(high - low + 1) // BARS)
    counts = np.bincount((per_item - low) // width)
    return tuple(
        Bar(low + bar * width, min(low + (bar + 1) * width - 1, high), int(count))
        for bar, count in enumerate(counts)
    )
