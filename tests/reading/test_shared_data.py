"""Published data sets, where the development data lie beside the repository."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import numpy as np
import pytest

from grasp_core.model.data_spec import DataSpec
from grasp_core.reading.dataset import describe
from grasp_core.reading.dataset.load import load
from grasp_core.reading.guess.recognise import recognise
from grasp_core.reading.sandbox.read import read_table
from tests.reading.making import rows_table
from tests.shared_data import SHARED, needs_shared_data

DATA = SHARED / "data"
AXES = ("rater_gender", "rater_race", "rater_age")
REMOVED = (("removed", "True"),)

pytestmark = needs_shared_data


@pytest.fixture(scope="module")
def long():
    return read_table(DATA / "dices350" / "ratings_long.csv")


@pytest.fixture(scope="module")
def matrix():
    return read_table(DATA / "dices350" / "ratings_wide.csv")


@pytest.fixture(scope="module")
def raters():
    return read_table(DATA / "dices350" / "raters.csv")


@pytest.fixture(scope="module")
def transposed(matrix):
    frame = matrix.head(1000).set_index("item_id").T.reset_index(names="rater_id")
    return rows_table([list(frame.columns), *frame.to_numpy().tolist()], "transposed.csv")


def test_dices_is_recognised_in_every_layout(long, matrix, raters, transposed):
    guess = recognise(long)
    expected = DataSpec(item="item_id", rater="rater_id", label="Q_overall", exclude=REMOVED)
    assert (guess.advised, guess.axes) == (expected, AXES)
    guess = recognise(matrix, raters)
    expected = DataSpec(layout="items-by-raters", item="item_id", rater="rater_id", exclude=REMOVED)
    assert (guess.advised, guess.axes) == (expected, AXES)
    guess = recognise(transposed, raters)
    expected = DataSpec(layout="raters-by-items", rater="rater_id", exclude=REMOVED)
    assert (guess.advised, guess.axes) == (expected, AXES)


def test_dices_is_the_same_in_every_layout(long, matrix, raters, transposed):
    sets = []
    for table, beside in ((long, None), (long, raters), (matrix, raters), (transposed, raters)):
        guess = recognise(table, beside)
        spec = replace(guess.advised, categories=("No", "Yes", "Unsure"))
        sets.append(load(table, beside, spec, guess.axes))
    first = sets[0]
    # 104 kept raters of all 350 items.
    assert (first.summary.items, first.summary.raters) == (350, 104)
    assert first.summary.annotations == 350 * 104
    removed = ["left out: 6,650 annotations, 19 raters (raters with 'removed' = 'True')"]
    assert [problem.message for problem in first.problems] == removed
    for other in sets[1:]:
        assert other.annotations.item_ids == first.annotations.item_ids
        assert other.annotations.rater_ids == first.annotations.rater_ids
        assert np.array_equal(other.annotations.category, first.annotations.category)
        for name in AXES:
            assert np.array_equal(other.raters.axes[name].codes, first.raters.axes[name].codes)
        assert [problem.message for problem in other.problems] == removed


def test_dices_counts(long):
    guess = recognise(long)
    table = describe.cross_table(load(long, None, guess.advised, guess.axes), "rater_race", "rater_gender")
    # Counted from raters.csv with Python's csv module, rows with removed = False.
    assert table["Man"].tolist() == [12, 7, 10, 9, 9, 47]
    assert table["Woman"].tolist() == [9, 16, 12, 4, 16, 57]


def test_convabuse():
    table = read_table(DATA / "convabuse" / "votes.csv")
    guess = recognise(table)
    assert guess.spec == DataSpec(item="item", rater="annotator", label="label")
    assert guess.axes == ()
    data = load(table, None, guess.spec)
    # 12,411 votes of 8 annotators on 4,185 turns (the data's README).
    assert (data.summary.annotations, data.summary.raters, data.summary.items) == (12_411, 8, 4_185)
    assert data.annotations.categories == ("abusive", "not abusive")


def test_d3_profiles():
    raters = read_table(DATA / "d3" / "raters.csv")
    ids = list(raters.column("rater_id").values)
    rng = np.random.default_rng(1)
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(["item_id", "rater_id", "rating"])
    for rater in ids:
        writer.writerows([item, rater, rng.integers(5)] for item in rng.choice(4_554, 3, replace=False))
    table = read_table(file.getvalue().encode(), "ratings.csv")
    guess = recognise(table, raters)
    assert guess.recipe is not None
    assert guess.recipe.name == "D3CODE"
    assert (guess.spec.item, guess.spec.rater, guess.spec.label) == ("item_id", "rater_id", "rating")
    assert {"Age", "Gender", "Region"} <= set(guess.axes)
    data = load(table, raters, guess.spec, ("Region", "Country"))
    # 4,309 raters in 8 regions and 21 countries (the data's README).
    assert data.summary.raters == 4_309
    assert len(data.raters.axes["Region"].values) == 8
    assert len(data.raters.axes["Country"].values) == 21
