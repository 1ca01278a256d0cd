"""SPSS and Stata files: labels, missing values, dates and letters as the programs themselves show them."""

from __future__ import annotations

import datetime
import io
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import DataError
from grasp_core.reading.dataset.load import load
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Table
from tests.shared_data import SHARED, needs_shared_data

FRAME = pd.DataFrame(
    {
        "item": ["a", "b", "é"],
        "rating": [1.0, 99.0, np.nan],
        "gender": [1, 2, 1],
        "scale": [1, 3, 5],
        "at": pd.to_datetime(["2024-01-31 12:30:00", "2024-02-01 00:00:00", None]),
        "day": [datetime.date(2020, 1, 1), datetime.date(1890, 12, 31), None],
        "took": [datetime.time(1, 2, 3)] * 3,
        "note": ["x", "NA", ""],
        "share": [0.5, 1e6, 2.25],
    }
)
LABELS = {"gender": {1: "Woman", 2: "Man", 3: "Other"}, "scale": {1: "not at all", 5: "very"}}
MISSING = {"rating": [99, {"lo": 6, "hi": 8}], "note": ["NA"]}


def sav(frame: pd.DataFrame, **options: object) -> bytes:
    return written(pyreadstat.write_sav, frame, "votes.sav", **options)


def written(write, frame: pd.DataFrame, name: str, **options: object) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        write(frame, path, **options)
        return path.read_bytes()


def cells(table: Table, column: str) -> list[str]:
    return table.head(100)[column].tolist()


def messages(table: Table) -> str:
    return " | ".join(problem.message for problem in table.problems)


@pytest.mark.parametrize("options", [{}, {"row_compress": True}, {"compress": True}])
def test_spss_files(options):
    content = sav(FRAME, variable_value_labels=LABELS, missing_ranges=MISSING, **options)
    table = read_table(content, "votes.sav")
    assert table.kind == ("SPSS, ZSAV" if "compress" in options else "SPSS")
    assert table.row(0) == 1
    assert table.columns == tuple(FRAME.columns)
    assert cells(table, "item") == ["a", "b", "é"]
    assert cells(table, "rating") == ["1", "", ""]
    assert cells(table, "gender") == ["Woman", "Man", "Woman"]
    assert cells(table, "scale") == ["1", "3", "5"]
    assert cells(table, "at") == ["2024-01-31 12:30:00", "2024-02-01", ""]
    assert cells(table, "day") == ["2020-01-01", "1890-12-31", ""]
    assert cells(table, "took") == ["1:02:03"] * 3
    assert cells(table, "note") == ["x", "", ""]
    assert cells(table, "share") == ["0.5", "1000000", "2.25"]
    assert "2 cells that the file declares missing, read as empty, in 'rating', 'note'" in messages(table)
    assert "3 cells without a value (system-missing), read as empty, in 'rating', 'at', 'day'" in messages(
        table
    )
    assert "'gender' holds the labels of the values in place of codes" in messages(table)
    assert "'scale' keeps its codes" in messages(table)
    assert "(1 'not at all', 5 'very')" in messages(table)


def test_portable_spss_files():
    content = written(pyreadstat.write_por, FRAME.replace("é", "e"), "votes.por")
    table = read_table(content, "votes.por")
    assert table.kind == "SPSS, portable"
    assert cells(table, "ITEM") == ["a", "b", "e"]
    assert cells(table, "RATING") == ["1", "99", ""]
    assert cells(table, "AT") == ["2024-01-31 12:30:00", "2024-02-01", ""]


@pytest.mark.parametrize("version", [8, 10, 12, 13, 14, 15])
def test_stata_files_of_every_version(version):
    frame = FRAME.drop(columns="took")
    content = written(pyreadstat.write_dta, frame, "votes.dta", version=version, variable_value_labels=LABELS)
    table = read_table(content, "votes.dta")
    assert table.kind == "Stata"
    assert cells(table, "item") == ["a", "b", "é"]
    assert cells(table, "gender") == ["Woman", "Man", "Woman"]
    assert cells(table, "scale") == ["1", "3", "5"]
    assert cells(table, "at") == ["2024-01-31 12:30:00", "2024-02-01", ""]
    assert cells(table, "day") == ["2020-01-01", "1890-12-31", ""]
    assert cells(table, "share") == ["0.5", "1000000", "2.25"]


@pytest.mark.parametrize("version", [114, 117, 118, 119])
def test_stata_files_that_pandas_wrote(version):
    frame = pd.DataFrame(
        {
            "item": ["a", "b"],
            "label": pd.Categorical(["Yes", "No"]),
            "single": np.array([0.1, 2.0], dtype=np.float32),
            "month": pd.to_datetime(["2024-03-01", "1959-12-01"]),
        }
    )
    sink = io.BytesIO()
    frame.to_stata(sink, write_index=False, version=version, convert_dates={"month": "tm"})
    table = read_table(sink.getvalue(), "votes.dta")
    assert cells(table, "label") == ["Yes", "No"]
    assert cells(table, "single") == ["0.1", "2"]
    assert cells(table, "month") == ["2024-03", "1959-12"]


def test_missing_values_of_stata_that_have_a_letter():
    frame = pd.DataFrame({"item": ["a", "b", "c"], "rating": ["a", 2, None]})
    content = written(pyreadstat.write_dta, frame, "votes.dta", missing_user_values={"rating": ["a"]})
    table = read_table(content, "votes.dta")
    assert cells(table, "rating") == ["", "2", ""]
    assert "1 cell that the file declares missing" in messages(table)
    assert "1 cell without a value (system-missing)" in messages(table)


def test_codes_stay_where_two_values_have_one_label():
    frame = pd.DataFrame({"item": ["a", "b"], "label": [1, 2]})
    table = read_table(sav(frame, variable_value_labels={"label": {1: "Other", 2: "Other"}}), "votes.sav")
    assert cells(table, "label") == ["1", "2"]
    assert "'label' keeps its codes, as not every value has a label of its own" in messages(table)


def test_labels_of_missing_values_alone_are_not_told():
    frame = pd.DataFrame({"item": ["a", "b"], "label": [1, 99]})
    content = sav(frame, variable_value_labels={"label": {99: "refused"}}, missing_ranges={"label": [99]})
    table = read_table(content, "votes.sav")
    assert cells(table, "label") == ["1", ""]
    assert messages(table) == "votes.sav: 1 cell that the file declares missing, read as empty, in 'label'"


def test_ids_keep_all_their_digits():
    frame = pd.DataFrame({"item": ["a", "b"], "rater": [296708581782793, 1]})
    assert cells(read_table(sav(frame), "votes.sav"), "rater") == ["296708581782793", "1"]


def test_old_letters_are_told():
    frame = pd.DataFrame({"item": ["caf\xe9", "b"], "label": ["x", "y"]})
    sink = io.BytesIO()
    frame.to_stata(sink, write_index=False, version=114)
    table = read_table(sink.getvalue(), "votes.dta")
    assert cells(table, "item") == ["café", "b"]
    assert "read as Windows-1252, where it holds 'café' for one" in messages(table)


@pytest.mark.parametrize("ending", ["por", "dta"])
def test_damaged_files_are_refused(ending):
    content = written(getattr(pyreadstat, f"write_{ending}"), FRAME[["rating", "share"]], f"votes.{ending}")
    with pytest.raises(DataError, match=r"votes is a damaged or cut-off (SPSS|Stata)"):
        read_table(content[: len(content) * 2 // 3], "votes")


def test_files_without_rows():
    with pytest.raises(DataError, match="no rows"):
        read_table(sav(FRAME[["item", "rating"]].iloc[:0]), "votes.sav")


@needs_shared_data
@pytest.mark.parametrize("ending", ["sav", "dta"])
def test_a_survey_as_statistics_programs_keep_it(ending):
    table = read_table(SHARED / "data" / "exports" / "survey" / f"long.{ending}")
    data = load(table, None, DataSpec(item="item", rater="rater", label="offensive"), [])
    assert data.summary.annotations == 725
    counted = Counter(dict(zip(data.summary.categories, data.summary.label_counts, strict=True)))
    assert counted == {"1": 213, "2": 188, "3": 134, "4": 112, "5": 78}
    assert data.summary.raters == 24
