"""Where a null distribution lies and how widely it spreads, from its histogram."""

from __future__ import annotations

from grasp_core.outcome import Histogram


def centre(null: Histogram) -> float:
    """Mean of the shuffled values, each taken at the middle of its bin."""
    total = sum(null.counts)
    return sum(count * middle for count, middle in zip(null.counts, _middles(null), strict=True)) / total


def spread(null: Histogram) -> float:
    """Their standard deviation."""
    total, mean = sum(null.counts), centre(null)
    squares = (
        count * (middle - mean) ** 2 for count, middle in zip(null.counts, _middles(null), strict=True)
    )
    return float((sum(squares) / total) ** 0.5)


def _middles(null: Histogram) -> list[float]:
    width = (null.high - null.low) / len(null.counts)
    return [null.low + width * (place + 0.5) for place in range(len(null.counts))]
