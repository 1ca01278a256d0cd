"""The paper's Table 5 computed anew, in plain NumPy, against the printed one."""

from __future__ import annotations

import csv
import functools
from pathlib import Path

import numpy as np
import pytest

from benchmarks import paper
from grasp_core.errors import DataError
from tests.published_dices import published_dices350
from tests.shared_data import DICES350, REFERENCE, needs_shared_data

# With 1,000 permutations (seed 1) these stars differ or lie within four standard errors of a limit.

PERMUTATIONS = 1_000


@functools.cache
def ours(permutations: int) -> paper.Table:
    return paper.computed(paper.read(DICES350), permutations, seed=1)


@needs_shared_data
def test_all_values_are_as_printed() -> None:
    printed, computed = paper.printed(), ours(100)
    assert len(printed) == 140
    assert {key: cell.value for key, cell in computed.items()} == {
        key: cell.value for key, cell in printed.items()
    }


@needs_shared_data
def test_the_published_file_gives_the_same_data(tmp_path: Path) -> None:
    (tmp_path / "another.csv").write_text("item_id,rater_id\n", encoding="utf-8")
    with pytest.raises(DataError, match="holds no CSV file with the columns item_id, rater_id, Q_overall"):
        paper.read(tmp_path)
    (tmp_path / "diverse_safety_adversarial_dialog_350.csv").write_bytes(published_dices350())
    for one, other in zip(paper.read(tmp_path), paper.read(DICES350), strict=True):
        assert np.array_equal(one, other)


@needs_shared_data
def test_the_printed_table_is_the_reference() -> None:
    with (REFERENCE / "grasp_tables_5_6_7.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["table"] == "5"]
    stars, arrows = {"none": "", "nominal": "*", "bh": "**"}, {"up": "↑", "down": "↓"}
    assert paper.printed() == {
        (row["group"], row["statistic"]): paper.Cell(
            row["value"], arrows[row["direction"]], stars[row["significance"]]
        )
        for row in rows
    }
