"""The Data page's tables."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grasp_core.reading.dataset import describe
from grasp_core.reading.dataset.load import load
from tests.reading.making import LONG, text_table


@pytest.fixture(scope="module")
def data():
    votes = "item rater label g h/a r1 Yes x 1/a r2 No y 1/b r1 Yes x 1/b r2 No y 1/b r3 No x 2/c r4 No NA 2"
    spec = replace(LONG, missing=("NA",))
    return load(text_table(votes), None, spec, ["g", "h"])


def test_labels(data):
    assert describe.labels(data).to_numpy().tolist() == [["No", 4, 4 / 6], ["Yes", 2, 2 / 6]]


def test_axis_counts(data):
    table = describe.axis_counts(data, "g")
    assert table.columns.tolist() == ["g", "raters", "annotations", "share"]
    assert table.to_numpy().tolist() == [["x", 2, 3, 0.5], ["y", 1, 2, 0.25], ["(unknown)", 1, 1, 0.25]]


def test_cross_table(data):
    table = describe.cross_table(data, "g", "h")
    assert table.index.tolist() == ["x", "y", "(unknown)", "Total"]
    assert table.columns.tolist() == ["1", "2", "Total"]
    assert table.to_numpy().tolist() == [[1, 1, 2], [1, 0, 1], [0, 1, 1], [2, 2, 4]]
