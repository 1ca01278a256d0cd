"""Synthetic annotations of any size, written block by block as a partitioned Parquet data set."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

LABELS_AN_ITEM = 30
FILE_ITEMS = 200_000
"""Items in a file: 6 million annotations."""
LABELS = ("No", "Yes", "Unsure")
AXES = {"gender": 4, "age": 6, "region": 10}
"""Number of values of each axis: 20 groups."""


def write(folder: Path, rows: int, n_raters: int, seed: int = 1) -> None:
    """Write ``votes/*.parquet`` and ``raters.parquet``; the same seed gives the same data.

    Items differ in the probability of each label, raters do not; each item has 30 different raters.
    """
    (folder / "votes").mkdir(parents=True)
    n_items = max(rows // LABELS_AN_ITEM, 1)
    for number, first in enumerate(range(0, n_items, FILE_ITEMS)):
        rng = np.random.default_rng([seed, number])
        table = _votes(rng, first, min(FILE_ITEMS, n_items - first), n_raters)
        pq.write_table(table, folder / "votes" / f"part-{number:05}.parquet")
    rng = np.random.default_rng([seed, 2**32 - 1])
    columns = {"rater": _ids("r", np.arange(n_raters))}
    for name, values in AXES.items():
        codes = pa.array(rng.integers(0, values, n_raters).astype(np.int32))
        columns[name] = pa.DictionaryArray.from_arrays(codes, [f"{name} {k}" for k in range(values)])
    pq.write_table(pa.table(columns), folder / "raters.parquet")


def _votes(rng: np.random.Generator, first: int, n_items: int, n_raters: int) -> pa.Table:
    each = min(LABELS_AN_ITEM, n_raters)
    item = np.repeat(np.arange(first, first + n_items), each)
    stride = rng.integers(1, n_raters // each + 1, n_items)  # so that no rater has an item twice
    rater = (rng.integers(0, n_raters, (n_items, 1)) + stride[:, None] * np.arange(each)) % n_raters
    bounds = np.sort(rng.random((n_items, 1, 2)), axis=2)
    label = (rng.random((n_items, each, 1)) > bounds).sum(axis=2)
    return pa.table(
        {
            "item": _ids("i", item),
            "rater": _ids("r", rater.ravel()),
            "label": pa.DictionaryArray.from_arrays(pa.array(label.ravel().astype(np.int32)), LABELS),
        }
    )


def _ids(letter: str, numbers: np.ndarray) -> pa.Array:
    distinct, codes = np.unique(numbers, return_inverse=True)
    names = pa.array([f"{letter}{number:09}" for number in distinct.tolist()], pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), names).cast(pa.string())
