"""Columns of one Parquet file, as folders that are read part by part have them."""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from grasp_core.io.formats.columnar.parquet import read_columns
from grasp_core.io.table.parsed import compact

ROWS = 1_100_000
"""More than are read at a time."""


@pytest.mark.parametrize("n_raters", [50, 900_000])
def test_texts_are_the_same_however_often_they_recur(n_raters: int) -> None:
    rng = np.random.default_rng(1)
    rater = np.char.add("rater ", rng.integers(0, n_raters, ROWS).astype(str))
    table = pa.table(
        {
            "rater": pa.array(rater, mask=rng.random(ROWS) < 0.01),
            "label": pa.array(["No", "Yes"] * (ROWS // 2)).dictionary_encode(),
            "score": rng.integers(0, 9, ROWS),
        }
    )
    file = io.BytesIO()
    pq.write_table(table, file)
    read = compact(read_columns(file, ["label", "rater", "score"]))
    for name in ("label", "rater", "score"):
        texts = table.column(name).cast(pa.string()).fill_null("")
        assert read.column(name).cast(pa.string()).equals(texts)
        assert read.column(name).num_chunks == 1
