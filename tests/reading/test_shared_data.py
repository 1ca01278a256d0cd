"""Published data sets and files that nobody here wrote: read right, or after what the program asks for."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from grasp_core.cli.options import add_reading, spec_fields
from grasp_core.cli.parser import Parser
from grasp_core.cli.terminal.messages import VOICE
from grasp_core.engine.request.reading import Tables, reading_of
from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import DataError
from grasp_core.reading.connectors.fetching import read_anywhere
from grasp_core.reading.dataset.load import cross_table, load
from grasp_core.reading.guess.recognise import recognise
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Table
from tests.reading.making import rows_table
from tests.shared_data import SHARED, needs_shared_data

pytestmark = needs_shared_data


# Published data sets
DATA = SHARED / "data"
AXES = ("rater_gender", "rater_race", "rater_age")
REMOVED = (("removed", "True"),)


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
    table = cross_table(load(long, None, guess.advised, guess.axes), "rater_race", "rater_gender")
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


# Files that nobody here wrote
FILES = SHARED / "data" / "strangers"


AT_ONCE = (
    "armis",
    "csc",
    "ct_open_cf",
    "ct_relex_multi",
    "emofull",
    "gws_resp",
    "hatebr",
    "medevac_long",
    "nlivar",
    "popq_off",
    "wax",
    "zoo_camcat",
)
ANSWERED = {
    "awa": "--item postCategory+postId --label toyou",
    "babe": "--label label_bias",
    "catejsj": "--layout items-by-raters",
    "convabuse_full": "--item prev_agent+prev_user+agent+user --label is_abuse.1 --repeated first",
    "ct_open_amt": "--label Answer.Q1",
    "deadpan": "--item albumID+pieceID --rater participant+expID --label valence",
    "dog_label": "--item column~1 --rater column~2",
    "dsk_att": "--layout raters-by-items",
    "hbcp": "--layout items-by-raters",
    "humor": "--item column~1 --rater column~2",
    "icc": "--rater rater+study",
    "mace_rte": "--layout items-by-raters",
    "mace_wsd": "--layout items-by-raters",
    "medevac": "--layout raters-by-items --label Question~*",
    "muscular": "--label id*_dom_result",
    "zoo_kenya": "--repeated first",
}
"""What the program asks of the others that can be read; ``~`` stands for a blank."""
NOT_READ = (
    "careless_x",  # the sheets' ids are blank in most rows
    "climate_q",  # no reading is known to be right
    "ct_factspan",
    "entity863",
    "gws",  # who stood at which place is in no column
    "llmrep",
    "offcombr",
    "sci_coded",
    "usjudge",
)


@cache
def truth() -> dict:
    return json.loads((FILES / "truth.json").read_text(encoding="utf-8"))


@cache
def table(file: str) -> Table:
    return read_anywhere(str(FILES / "files" / file), None)


def read(key: str, options: str = ""):
    """The data set as the command reads the file with these options."""
    parser = Parser()
    add_reading(parser)
    words = [word.replace("~", " ") for word in options.split()]
    given = {name: value for name, value in vars(parser.parse_args(words)).items() if value is not None}
    beside = truth()[key]["raters"]
    annotations = table(truth()[key]["file"])
    raters = None if beside is None else table(beside)
    found = reading_of(Tables(annotations, raters), spec_fields(given), VOICE)
    return load(found.annotations, found.raters, found.spec, found.axes)


def is_right(key: str, data) -> bool:
    """Whether sizes and counts are those of one of the true readings; of conflicts one answer counts."""
    counts = sorted(Counter(data.annotations.category.tolist()).values())
    return any(_is(one, data.summary, counts) for one in truth()[key]["readings"])


def _is(one, summary, counts) -> bool:
    conflicts = one.get("conflicts", 0)
    sizes = {one["rows"], one["cols"]} if "rows" in one else {one["items"], one["raters"]}
    same = not one["counts"] or conflicts or sorted(one["counts"].values()) == counts
    return (
        sizes == {summary.items, summary.raters} and 0 <= one["n"] - summary.annotations <= conflicts and same
    )


@pytest.mark.parametrize("key", AT_ONCE)
def test_read_right_at_once(key: str) -> None:
    assert is_right(key, read(key))


@pytest.mark.parametrize("key", ANSWERED)
def test_asked_and_then_read_right(key: str) -> None:
    with pytest.raises(DataError):
        read(key)
    assert is_right(key, read(key, ANSWERED[key]))


def test_answers_to_other_questions_are_no_axes() -> None:
    data = read("muscular", ANSWERED["muscular"])
    assert not any(name.endswith("_result") for name in data.raters.axes)


def test_a_layout_alone_makes_no_people_of_places_in_a_round() -> None:
    """Which others take in the next; a pattern that names them says that they are people."""
    with pytest.raises(DataError) as caught:
        read("gws", "--layout items-by-raters")
    assert "--label" in str(caught.value)
    assert read("gws", "--label worker_*").summary.raters == 8


@pytest.mark.parametrize("key", NOT_READ)
def test_asked_or_refused(key: str) -> None:
    with pytest.raises(DataError):
        read(key)


def test_all_are_held() -> None:
    assert {*AT_ONCE, *ANSWERED, *NOT_READ} == truth().keys()
