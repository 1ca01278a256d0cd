"""Small tables of what was understood of the data."""

from __future__ import annotations

import numpy as np
import pandas as pd

from grasp_core.model.annotations import Axis, Codes
from grasp_core.reading.dataset.load import Dataset

UNKNOWN = "(unknown)"
"""Row or column of the raters whose value on an axis is unknown."""
TOTAL = "Total"


def labels(dataset: Dataset) -> pd.DataFrame:
    """Annotations per label, in the order of the categories; ``share`` is of all annotations."""
    data = dataset.summary
    counts = np.array(data.label_counts, dtype=np.int64)
    return pd.DataFrame(
        {"label": list(data.categories), "annotations": counts, "share": counts / max(data.annotations, 1)}
    )


def axis_counts(dataset: Dataset, axis: str) -> pd.DataFrame:
    """Raters and annotations per value of an axis; ``share`` is of all raters.

    Raises KeyError if the data set has no such axis.
    """
    values, codes = _with_unknown(dataset.raters.axes[axis])
    per_rater = np.bincount(dataset.annotations.rater, minlength=codes.size)
    raters = np.bincount(codes, minlength=len(values))
    annotations = np.bincount(codes, weights=per_rater, minlength=len(values)).astype(np.int64)
    return pd.DataFrame(
        {axis: values, "raters": raters, "annotations": annotations, "share": raters / max(codes.size, 1)}
    )


def cross_table(dataset: Dataset, rows: str, columns: str) -> pd.DataFrame:
    """Raters per value of one axis (index) and of another (columns), with totals.

    Raises KeyError if the data set lacks one of the axes.
    """
    row_values, row_codes = _with_unknown(dataset.raters.axes[rows])
    column_values, column_codes = _with_unknown(dataset.raters.axes[columns])
    cell = row_codes * len(column_values) + column_codes
    counts = np.bincount(cell, minlength=len(row_values) * len(column_values))
    counts = counts.reshape(len(row_values), len(column_values))
    counts = np.hstack([counts, counts.sum(axis=1, keepdims=True)])
    counts = np.vstack([counts, counts.sum(axis=0, keepdims=True)])
    return pd.DataFrame(
        counts,
        index=pd.Index([*row_values, TOTAL], name=rows),
        columns=pd.Index([*column_values, TOTAL], name=columns),
    )


def _with_unknown(axis: Axis) -> tuple[list[str], Codes]:
    codes = axis.codes.astype(np.int64)
    if (codes >= 0).all():
        return list(axis.values), codes
    return [*axis.values, UNKNOWN], np.where(codes < 0, len(axis.values), codes)
