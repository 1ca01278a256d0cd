"""Files that nobody here wrote: read right at once, or after what the program asks for; or refused.

What each file holds is in `truth.json` beside the files. A reading is right where annotations, items, raters
and the counts of its labels are those of one of the readings there. An answer here is what somebody types who
has read what the program says, in the words that it offers.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import cache

import pytest

from grasp_core.cli.options import add_reading, spec_fields
from grasp_core.cli.parser import Parser
from grasp_core.cli.terminal.messages import VOICE
from grasp_core.engine.request.reading import Tables, reading_of
from grasp_core.model.errors import DataError
from grasp_core.reading.connectors.fetching import read_anywhere
from grasp_core.reading.dataset.load import load
from grasp_core.reading.table.table import Table
from tests.shared_data import SHARED, needs_shared_data

FILES = SHARED / "data" / "strangers"

pytestmark = needs_shared_data

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
