"""Published data sets and files that nobody here wrote: read right, or after what the program asks for."""

import json
from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from grasp_core import cli
from grasp_core.cli.options import add_reading, spec_fields
from grasp_core.cli.parser import Parser
from grasp_core.cli.terminal.messages import TERMINAL
from grasp_core.engine.reading_request import InputTables, reading_of
from grasp_core.model.data_spec import DataSpec, Layout
from grasp_core.model.errors import DataError
from grasp_core.reading.connectors.fetching import read_anywhere
from grasp_core.reading.dataset.load import load
from grasp_core.reading.guess.recognise import recognise
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Table
from grasp_core.report.quality import cross_table
from tests.reading.making import rows_table
from tests.shared_data import SHARED, needs_shared_data

pytestmark = needs_shared_data


DATA = SHARED / "data"
AXES = ("rater_gender", "rater_race", "rater_age")
REMOVED = (("removed", "True"),)


@pytest.fixture(scope="module")
def dices() -> dict[Layout, tuple[Table, Table | None]]:
    """The published ratings in every layout, with the raters in a file of their own where it has none."""
    long, matrix, raters = (
        read_table(DATA / "dices350" / f"{name}.csv") for name in ("ratings_long", "ratings_wide", "raters")
    )
    frame = matrix.head(1000).set_index("item_id").T.reset_index(names="rater_id")
    turned = rows_table([list(frame.columns), *frame.to_numpy().tolist()], "transposed.csv")
    return {"long": (long, None), "items-by-raters": (matrix, raters), "raters-by-items": (turned, raters)}


def test_dices_is_recognised_in_every_layout(dices):
    for layout, tables in dices.items():
        guess = recognise(*tables)
        item = None if layout == "raters-by-items" else "item_id"
        label = "Q_overall" if layout == "long" else None
        expected = DataSpec(layout=layout, item=item, rater="rater_id", label=label, exclude=REMOVED)
        assert (guess.advised, guess.axes) == (expected, AXES)


def test_dices_is_the_same_in_every_layout(dices):
    sets = []
    for table, beside in (*dices.values(), (dices["long"][0], dices["items-by-raters"][1])):
        guess = recognise(table, beside)
        spec = replace(guess.advised, categories=("No", "Yes", "Unsure"))
        sets.append(load(table, beside, spec, guess.axes))
    first = sets[0]
    # 104 kept raters of all 350 items.
    assert (first.summary.items, first.summary.raters) == (350, 104)
    assert first.summary.annotations == 350 * 104
    for other in sets:
        assert other.annotations.item_ids == first.annotations.item_ids
        assert other.annotations.rater_ids == first.annotations.rater_ids
        assert np.array_equal(other.annotations.category, first.annotations.category)
        for name in AXES:
            assert np.array_equal(other.raters.axes[name].codes, first.raters.axes[name].codes)
        told = [problem.message for problem in other.problems]
        assert told == ["left out: 6,650 annotations, 19 raters (raters with 'removed' = 'True')"]
    table = cross_table(first, "rater_race", "rater_gender")
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


FILES = SHARED / "data" / "strangers"
AT_ONCE = (
    *(
        "armis",
        "catejsj",
        "csc",
        "ct_open_cf",
        "ct_relex_multi",
        "emofull",
        "gws_resp",
        "hatebr",
        "medevac_long",
    ),
    *("nlivar", "popq_off", "wax", "zoo_camcat"),
)
ANSWERED = {
    "awa": "--item postCategory+postId --label toyou",
    "babe": "--label label_bias",
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
    found = reading_of(InputTables(annotations, raters), spec_fields(given), TERMINAL)
    return load(found.annotations, found.raters, found.spec, found.axes)


def is_right(key: str, data) -> bool:
    """Whether sizes and counts are those of one of the true readings; of conflicts one answer counts."""
    summary, counts = data.summary, sorted(Counter(data.annotations.category.tolist()).values())

    def holds(one) -> bool:
        conflicts = one.get("conflicts", 0)
        sizes = {one["rows"], one["cols"]} if "rows" in one else {one["items"], one["raters"]}
        same = not one["counts"] or conflicts or sorted(one["counts"].values()) == counts
        few = 0 <= one["n"] - summary.annotations <= conflicts
        return sizes == {summary.items, summary.raters} and few and bool(same)

    return any(map(holds, truth()[key]["readings"]))


@pytest.mark.parametrize("key", AT_ONCE)
def test_read_right_at_once(key: str) -> None:
    assert is_right(key, read(key))


@pytest.mark.parametrize("key", ANSWERED)
def test_asked_and_then_read_right(key: str) -> None:
    with pytest.raises(DataError):
        read(key)
    assert is_right(key, read(key, ANSWERED[key]))


def test_questions_and_places_in_a_round_are_no_axes_and_no_people() -> None:
    data = read("muscular", ANSWERED["muscular"])
    assert not any(name.endswith("_result") for name in data.raters.axes)
    # Which others take in the next; a pattern that names them says that they are people.
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


def test_raters_by_mail_lead_on_before_and_after_the_label_is_named(capsys) -> None:
    folder = SHARED / "data" / "exports" / "label_studio"
    files = [str(folder / "toxicity.json"), str(folder / "raters_mail.csv")]
    assert cli.main(["run", *files]) == 2
    assert "the label column is not certain: 'toxic', 'kinds' or 'severity'?" in capsys.readouterr().err
    assert cli.main(["run", *files, "--label", "toxic"]) == 2
    assert "the annotations name raters by number, raters_mail.csv by address" in capsys.readouterr().err
