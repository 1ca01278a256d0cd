"""Any long data set, written in any layout and format that is read, comes back as it was, or is refused."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grasp_core.model.data_spec import DataSpec, Question
from grasp_core.model.errors import DataError
from grasp_core.reading.dataset.load import Dataset, load
from grasp_core.reading.guess.recognise import recognise
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Table
from tests.reading.exports import parquet as parquet_of
from tests.reading.files.workbook_files import ods_bytes, ods_text_rows, xlsx_text_bytes
from tests.reading.making import LONG, csv_bytes, labels_of
from tests.strategies import AWKWARD

Rows = list[list[str]]
PLAIN = settings(max_examples=settings().max_examples // 3, suppress_health_check=[HealthCheck.too_slow])
COLUMNS = {"", "item", "rater", "text", "label", "second", "gender", "age", "the gender", "the age"}
"""What no id is, since ids stand beside these in headers."""
IDS = st.one_of(
    st.integers(0, 30).map(str),
    st.integers(0, 30).map(lambda number: f"{number:03}"),
    st.sampled_from((*AWKWARD, "P 01", " lead", "trail ", "two  spaces", "名前", "a@b.org", "-5", "1e3")),
    st.text(
        st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1, max_size=6
    ).filter(lambda text: text.strip() not in COLUMNS),
)
LABELS = (
    *(("No", "Yes"), ("1", "2", "3", "4", "5"), ("1.0", "2.5", "-1"), ("0", "1")),
    *(("NA", "None", "null", "007", "7"), ("a, b", 'say "no"', "two\nlines", "semi;colon", "it's", "|")),
)
AGES = ("18-24", "25 and over", "")


@dataclass(frozen=True)
class Given:
    """What raters said: labels per item and rater, one per question, and two axes."""

    labels: dict[tuple[str, str], tuple[str, ...]]
    axes: dict[str, tuple[str, str]]

    @property
    def items(self) -> list[str]:
        return list(dict.fromkeys(item for item, _ in self.labels))

    @property
    def raters(self) -> list[str]:
        return list(dict.fromkeys(rater for _, rater in self.labels))

    def content(self, questions: int = 1) -> object:
        """What :func:`content` says of a data set that holds exactly this."""
        votes = {
            (item, rater, question, label)
            for (item, rater), labels in self.labels.items()
            for question, label in enumerate(labels[:questions])
        }
        return votes, {rater: self.axes[rater] for rater in self.raters}


@st.composite
def given_labels(draw: st.DrawFn, *, ids: st.SearchStrategy[str] = IDS, least: int = 2) -> Given:
    items = draw(st.lists(ids, min_size=least, max_size=least + 4, unique=True))
    raters = draw(st.lists(ids, min_size=least, max_size=least + 3, unique=True))
    first, second = draw(st.sampled_from(LABELS)), draw(st.sampled_from(LABELS))
    pairs = st.tuples(st.sampled_from(items), st.sampled_from(raters))
    chosen = draw(st.lists(pairs, min_size=least, max_size=24, unique=True))
    labels = {pair: (draw(st.sampled_from(first)), draw(st.sampled_from(second))) for pair in chosen}
    axes = {rater: (draw(st.sampled_from(("w", "m"))), draw(st.sampled_from(AGES))) for rater in raters}
    return Given(labels, axes)


def content(data: Dataset, axes: Sequence[str] = ("gender", "age")) -> object:
    votes = {
        (*pair, question, label)
        for question, formed in enumerate(data.questions)
        for pair, label in labels_of(formed).items()
    }
    found = [data.raters.axes[name] for name in axes]
    profiles = {
        rater: tuple(axis.values[axis.codes[at]] if axis.codes[at] >= 0 else "" for axis in found)
        for at, rater in enumerate(data.raters.rater_ids)
    }
    return votes, profiles


def long_rows(said: Given, header: Sequence[str] = ("item", "rater", "label", "second")) -> Rows:
    rows = [[item, rater, *labels, *said.axes[rater]] for (item, rater), labels in said.labels.items()]
    return [[*header, "gender", "age"], *rows]


def rater_rows(said: Given) -> Rows:
    return [["rater", "gender", "age"], *([rater, *said.axes[rater]] for rater in said.raters)]


def item_rows(said: Given) -> Rows:
    cells = [[said.labels.get((i, r), ("",))[0] for r in said.raters] for i in said.items]
    rows = [[i, f"About {i}", *row] for i, row in zip(said.items, cells, strict=True)]
    return [["item", "text", *said.raters], *rows]


def wide_rows(said: Given) -> Rows:
    cells = [[said.labels.get((i, r), ("",))[0] for i in said.items] for r in said.raters]
    rows = [[r, *row, *said.axes[r]] for r, row in zip(said.raters, cells, strict=True)]
    return [["rater", *said.items, "the gender", "the age"], *rows]


def records(rows: Rows) -> list[dict[str, str]]:
    return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


FORMATS: dict[str, Callable[[Rows], bytes]] = {
    "CSV": csv_bytes,
    "TSV": lambda rows: csv_bytes(rows, "\t"),
    "semicolons": lambda rows: csv_bytes(rows, ";"),
    "UTF-16": lambda rows: csv_bytes(rows).decode().encode("utf-16"),
    "XLSX": xlsx_text_bytes,
    "ODS": lambda rows: ods_bytes({"Sheet1": ods_text_rows(rows)}),
    "JSON": lambda rows: json.dumps(records(rows)).encode(),
    "JSON Lines": lambda rows: "\n".join(map(json.dumps, records(rows))).encode(),
    "Parquet": lambda rows: parquet_of(records(rows)),
}
OF_FILES = {"sha256": "", "files": (), "account": None}
AXES = ("gender", "age")
THE_AXES = ("the gender", "the age")
BY_ITEM = DataSpec(layout="items-by-raters", item="item", rater="rater", text="text")
BY_RATER = DataSpec(layout="raters-by-items", rater="rater", profile=THE_AXES)


@pytest.mark.parametrize("form", FORMATS)
@PLAIN
@given(said=given_labels())
def test_every_layout_comes_back_from_every_format(form: str, said: Given) -> None:
    def read(rows: Rows) -> Table:
        return read_table(FORMATS[form](rows), "file")

    long, raters = long_rows(said), read(rater_rows(said))
    both = load(read(long), None, replace(LONG, further=(Question("second"),)), AXES)
    assert content(both) == said.content(2)
    one = load(read(long), None, LONG, AXES)
    beside = load(read([row[:4] for row in long]), raters, LONG, AXES)
    by_item = load(read(item_rows(said)), raters, BY_ITEM, AXES)
    by_rater = load(read(wide_rows(said)), None, BY_RATER, THE_AXES)
    for found, axes in ((one, AXES), (beside, AXES), (by_item, AXES), (by_rater, THE_AXES)):
        assert content(found, axes) == said.content()
        assert replace(found.summary, **OF_FILES) == replace(one.summary, **OF_FILES)
        orders = [[axis.values for axis in data.raters.axes.values()] for data in (found, one)]
        assert orders[0] == orders[1]
    for name in ("item_ids", "rater_ids", "categories"):
        assert getattr(beside.annotations, name) == getattr(one.annotations, name)
    for name in ("indptr", "rater", "category"):
        assert np.array_equal(getattr(beside.annotations, name), getattr(one.annotations, name))


@pytest.mark.parametrize("form", ["JSON", "Parquet"])
@PLAIN
@given(said=given_labels())
def test_lists_in_a_row_per_item(form: str, said: Given) -> None:
    rows = []
    for item in said.items:
        by = {r: labels[0] for (i, r), labels in said.labels.items() if i == item}
        gender = [said.axes[r][0] for r in by]
        rows.append({"item_id": item, "raters": list(by), "labels": list(by.values()), "gender": gender})
    table = read_table(json.dumps(rows).encode() if form == "JSON" else parquet_of(rows), "file")
    spec = replace(table.recipe.spec, label="labels")
    votes, axes = said.content()
    expected = votes, {rater: values[:1] for rater, values in axes.items()}
    assert content(load(table, None, spec, ("gender",)), ("gender",)) == expected


HEADERS = (
    ("item", "rater", "label", "second"),
    ("text_id", "annotator", "toxic", "note"),
    ("a", "b", "c", "d"),
    ("rater", "item", "label", "second"),
)
TIDY = st.sampled_from([f"{kind}{n:02}" for kind in ("P", "i", "", "w ") for n in range(1, 9)])
ALIKE = st.integers(1, 99).map("P{:02}".format)
"""Ids that are named alike, as columns of raters or items are."""


def guessed(table: Table, raters: Table | None) -> Dataset | None:
    """The data set as it is recognised; None where it is refused or somebody has to choose."""
    try:
        guess = recognise(table, raters)
        if guess.uncertain or any(reason.field == "missing" for reason in guess.reasons):
            return None  # it is asked, or said, that a number such as -1 stands for no answer
        return load(table, raters, guess.spec, ("gender", "age") if raters is not None else ())
    except DataError:
        return None


@pytest.mark.parametrize("header", HEADERS, ids=" ".join)
@PLAIN
@given(said=given_labels(ids=TIDY | IDS, least=3))
def test_a_long_file_is_guessed_right_or_left_open(header: tuple[str, ...], said: Given) -> None:
    data = guessed(read_table(csv_bytes(long_rows(said, header)), "votes.csv"), None)
    if data is None:
        return
    found, _ = content(data, ())
    right = [{(*pair, 0, labels[question]) for pair, labels in said.labels.items()} for question in (0, 1)]
    turned = [{(rater, item, *rest) for item, rater, *rest in votes} for votes in right]
    # Either question may be the label, but items are items and raters are raters.
    assert found in (turned if header[0] == "rater" else right)


@pytest.mark.parametrize("write", [item_rows, wide_rows])
@PLAIN
@given(said=given_labels(ids=ALIKE, least=3))
def test_a_matrix_is_guessed_right_or_left_open(write: Callable[[Given], Rows], said: Given) -> None:
    tables = [read_table(csv_bytes(rows), "file.csv") for rows in (write(said), rater_rows(said))]
    data = guessed(*tables)
    if data is not None:
        assert content(data) == said.content()
