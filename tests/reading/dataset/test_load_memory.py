"""Reading takes little room beside the table: 8 bytes an annotation that are kept, and a few to sort it."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from grasp_core.reading.dataset.load import load
from grasp_core.reading.table.table import Table
from tests.reading.making import LONG

ITEMS, RATERS = 5_000, 400
MOST_BYTES = 14


@pytest.fixture(scope="module")
def table() -> Table:
    """Two million annotations in no order, each rater of one gender."""
    rng = np.random.default_rng(1)
    cell = rng.permutation(ITEMS * RATERS)
    rater = cell % RATERS
    columns = {
        "item": _coded(cell // RATERS, [f"i{i}" for i in range(ITEMS)]),
        "rater": _coded(rater, [f"r{j}" for j in range(RATERS)]),
        "label": _coded(rng.integers(0, 3, cell.size), ["No", "Yes", "Unsure"]),
        "gender": _coded(rater % 2, ["Woman", "Man"]),
    }
    return Table("votes.parquet", tuple(columns), pa.table(columns), "0" * 64, 0, "Parquet", 1)


def _coded(codes: np.ndarray, values: list[str]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(codes.astype(np.int32), values)


@pytest.mark.parametrize(
    "spec",
    [
        LONG,
        replace(LONG, missing=("Unsure",)),
        replace(LONG, repeated="first"),
        replace(LONG, exclude=(("gender", "Man"),)),
    ],
)
def test_reading_takes_few_bytes_an_annotation(table, spec):
    tracemalloc.start()
    try:
        data = load(table, None, spec, ["gender"])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert data.summary.annotations > 900_000
    assert peak / (ITEMS * RATERS) < MOST_BYTES
