"""Columns whose texts recur are kept as codes, wherever in the file they recur."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from grasp_core.reading.table.parsed import compact

ROWS = 600_000


@pytest.mark.parametrize(("texts", "coded"), [(60_000, True), (5, True), (ROWS, False)])
def test_ids_in_no_order_are_kept_as_codes_where_they_recur(texts: int, coded: bool) -> None:
    rng = np.random.default_rng(0)
    positions = rng.permutation(ROWS) if texts == ROWS else rng.integers(0, texts, ROWS)
    ids = pa.array(positions).cast(pa.string())
    kept = compact(pa.table({"id": pa.chunked_array([ids[: ROWS // 3], ids[ROWS // 3 :]])}))["id"]
    assert pa.types.is_dictionary(kept.type) == coded
    assert kept.num_chunks == 1
    assert kept.cast(pa.string()).combine_chunks().equals(ids)
