"""Partitioned data sets for tests: simulated annotations, written as Parquet files that hold whole items."""

from __future__ import annotations

import io
from pathlib import Path

import fsspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from tests.permutation.simulated import files, simulate


def frames(seed: int = 1, **shape) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Annotations, item after item, and raters, as text."""
    votes, raters = (pd.read_csv(io.BytesIO(raw), dtype=str) for raw in files(*simulate(seed, **shape)))
    return votes, raters


def write(folder: str | Path, votes: pd.DataFrame, n_parts: int) -> str:
    """Write each item's annotations into one of `n_parts` files."""
    items = votes["item"].unique()
    for part, chosen in enumerate(np.array_split(items, n_parts)):
        table = pa.Table.from_pandas(votes[votes["item"].isin(chosen)], preserve_index=False)
        with fsspec.open(f"{folder}/part-{part}.parquet", "wb") as file:
            pq.write_table(table, file)
    return str(folder)
