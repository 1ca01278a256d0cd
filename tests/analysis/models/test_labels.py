"""Models' labels from files and columns, and what is wrong with them."""

from __future__ import annotations

import dataclasses

import pytest

from grasp_core.analysis.models.labels import MAX_NAME, check_models, read_model, read_model_column
from grasp_core.model.data_spec import DataSpec, Filters, MapValues
from grasp_core.model.errors import DataError
from grasp_core.reading.dataset.load import Dataset, load
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Table

VOTES = """item,rater,label,gold,partial,differs
b,1,yes,no,,yes
b,2,no,no,,no
a,1,yes,yes,maybe,yes
a,2,yes,yes,maybe,yes
c,2,maybe,yes,no,no
"""
SPEC = DataSpec(item="item", rater="rater", label="label", categories=("no", "yes", "maybe"))


def data(spec: DataSpec = SPEC) -> Dataset:
    return load(table(VOTES, "votes.csv"), None, spec, ())


def table(text: str, name: str = "m.csv") -> Table:
    return read_table(text.encode(), name)


def test_labels_are_put_in_the_items_order() -> None:
    found = read_model(table("ID,Label\na,yes\nc,no\nb,maybe\n"), "m", data(), SPEC)
    assert data().annotations.item_ids == ("b", "a", "c")
    assert found.labels.tolist() == [2, 1, 0]
    assert (found.name, found.source, found.n_labelled, found.left_out) == ("m", "m.csv", 3, 0)


@pytest.mark.parametrize("text", ["ID,Label\na,yes\nb,\n", "ID,Label\na,yes\n", "ID,Label\r\na,yes\r\n"])
def test_items_without_label_are_left_out(text: str) -> None:
    assert read_model(table(text), "m", data(), SPEC).labels.tolist() == [-1, 1, -1]


def test_two_columns_called_as_in_the_data_will_do() -> None:
    assert read_model(table("item,expert\na,yes\n"), "m", data(), SPEC).labels.tolist() == [-1, 1, -1]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("ID,Label\na,yes\nz,no\n", "m.csv, row 3, column 'ID': the data have no item 'z'"),
        ("ID,Label\na,yes\nb,no\na,no\n", "m.csv, row 4: the ID 'a' occurs twice"),
        ("ID,Label\na,yes\nb,Unlabeled\n", "m.csv, row 3, column 'Label': the label 'Unlabeled' is none"),
        ("ID,Label\na,YES\nb,x\n", "row 2, column 'Label': the label 'YES' is none of the categories of the "
         "data, 'no', 'yes', 'maybe' (and 1 more such row); did you mean 'yes'?"),
        ("id,label\na,yes\n", "m.csv needs the columns ID (the item's id) and Label"),
        ("ID,Label\na,\n", "m.csv: model 'm' has no label for any item"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_file_and_row(text: str, told: str) -> None:
    with pytest.raises(DataError) as error:
        read_model(table(text), "m", data(), SPEC)
    assert told in str(error.value)


def test_a_benchmarks_predictions_may_go_beyond_the_rows_that_people_voted_on() -> None:
    """Every item has its label, so that none of the others can be a misspelt one."""
    found = read_model(table("ID,Label\na,yes\nz,no\nb,no\ny,strange\nc,maybe\n"), "m", data(), SPEC)
    assert found.labels.tolist() == [0, 1, 2]
    assert found.left_out == 2
    with pytest.raises(DataError, match="row 2, column 'Label': the label 'strange'"):
        read_model(table("ID,Label\na,strange\nz,no\nb,no\nc,maybe\n"), "m", data(), SPEC)


def test_items_that_a_filter_took_are_counted_not_refused() -> None:
    spec = dataclasses.replace(SPEC, filters=Filters(min_per_item=2))
    found = read_model(table("ID,Label\na,yes\nc,no\n"), "m", data(spec), spec)
    assert found.labels.tolist() == [-1, 1]
    assert found.left_out == 1


def test_a_column_of_the_annotations_is_a_model() -> None:
    votes = table(VOTES, "votes.csv")
    assert read_model_column(votes, "gold", "experts", data(), SPEC).labels.tolist() == [0, 1, 1]
    found = read_model_column(votes, "partial", "p", data(), SPEC)
    assert found.labels.tolist() == [-1, 2, 0]
    assert found.source == "votes.csv, column partial"


@pytest.mark.parametrize(
    ("column", "told"),
    [
        ("differs", "votes.csv, row 3, column 'differs': an item has one value in one row and another here"),
        ("none", "votes.csv has no column 'none' for model 'm'"),
        ("rater", "votes.csv, row 2, column 'rater': the label '1' is none of the categories"),
    ],
)
def test_a_column_that_will_not_do(column: str, told: str) -> None:
    with pytest.raises(DataError) as error:
        read_model_column(table(VOTES, "votes.csv"), column, "m", data(), SPEC)
    assert told in str(error.value)


def test_a_column_is_recoded_with_the_data() -> None:
    recode = (MapValues("gold", (("no", "maybe"),)), MapValues("age", (("1", "2"),)))
    people = table("rater,age\n1,1\n2,1\n", "raters.csv")
    spec = dataclasses.replace(SPEC, recode=recode)
    votes = table(VOTES, "votes.csv")
    loaded = load(votes, people, spec, ("age",))
    assert read_model_column(votes, "gold", "m", loaded, spec).labels.tolist() == [2, 1, 1]


def test_a_row_per_rater_has_no_column_per_item() -> None:
    spec = DataSpec(layout="raters-by-items", rater="rater")
    wide = table("rater,a,b\n1,yes,no\n2,no,no\n", "wide.csv")
    with pytest.raises(DataError, match="a row per rater"):
        read_model_column(wide, "a", "m", load(wide, None, spec, ()), spec)


def test_models_need_names_of_their_own() -> None:
    one = read_model(table("ID,Label\na,yes\n"), "m", data(), SPEC)
    with pytest.raises(DataError, match="two models are called 'm'"):
        check_models([one, one])
    with pytest.raises(DataError, match="there is no model"):
        check_models([])
    for name in ("", " ", "x" * (MAX_NAME + 1)):
        with pytest.raises(DataError, match="a model's name has 1 to 80 characters"):
            read_model(table("ID,Label\na,yes\n"), name, data(), SPEC)
