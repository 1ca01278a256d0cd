"""Arrow, Feather, SPSS and Stata files, as their own programs show them."""

import datetime
import io
import json
import tempfile
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyreadstat
import pytest

from grasp_core.model.errors import DataError
from grasp_core.reading.guess.recognise import recognise
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Table
from tests.reading.making import arrow_bytes, messages
from tests.zips import zipped

# Arrow files, and data sets as Hugging Face saves them
FEATURES = {"info": {"features": {"label": {"names": ["no", "yes"], "_type": "ClassLabel"}}}}
NAMES = ("item", "rater", "label")


def votes(first: int = 0, items: int = 3) -> pa.Table:
    pairs = [(item, rater) for item in range(first, first + items) for rater in (1, 2)]
    rows = [(f"i{item}", f"r{rater}", (item + rater) % 2) for item, rater in pairs]
    table = pa.table({name: [row[at] for row in rows] for at, name in enumerate(NAMES)})
    return table.replace_schema_metadata({"huggingface": json.dumps(FEATURES)})


def expected(table: pa.Table) -> list[list[str]]:
    return [[row["item"], row["rater"], ("no", "yes")[row["label"]]] for row in table.to_pylist()]


def file_bytes(table: pa.Table, compression: str | None = None) -> bytes:
    return arrow_bytes(table, pa.ipc.new_file, options=pa.ipc.IpcWriteOptions(compression=compression))


WRITERS = [arrow_bytes, file_bytes, *(partial(file_bytes, compression=how) for how in ("zstd", "lz4"))]


def saved(table: pa.Table, files: int = 1) -> dict[str, bytes]:
    """What `save_to_disk` writes."""
    names = [f"data-{at:05}-of-{files:05}.arrow" for at in range(files)]
    shards = [table.slice(at * len(table) // files, -(-len(table) // files)) for at in range(files)]
    state = {"_data_files": [{"filename": name} for name in names], "_fingerprint": "0", "_split": None}
    about = {"state.json": json.dumps(state), "dataset_info.json": json.dumps(FEATURES["info"])}
    data = {name: arrow_bytes(shard) for name, shard in zip(names, shards, strict=True)}
    return {name: text.encode() for name, text in about.items()} | data


def splits(**tables: pa.Table) -> dict[str, bytes]:
    files = {f"{split}/{path}": content for split in tables for path, content in saved(tables[split]).items()}
    return {"dataset_dict.json": json.dumps({"splits": list(tables)}).encode(), **files}


def put(folder: Path, files: dict[str, bytes]) -> Path:
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder


def cells(table: Table) -> list[list[str]]:
    return table.head(1000)[list(NAMES)].to_numpy().tolist()


@pytest.mark.parametrize("write", WRITERS, ids=["stream", "file", "zstd", "lz4"])
def test_arrow_files(write):
    table = read_table(write(votes()), "votes.arrow")
    assert cells(table) == expected(votes())
    assert (table.kind, table.row(0)) == ("Arrow", 1)
    content = write(votes())
    for length in range(12, len(content) - 20, 97):
        with pytest.raises(DataError, match=r"^votes\.arrow (is a damaged or cut-off Arrow|holds column na)"):
            read_table(content[:length], "votes.arrow")


def test_lists_in_arrow_are_read_and_streams_without_an_end_refused():
    with pytest.raises(DataError, match="damaged or cut-off Arrow"):
        read_table(arrow_bytes(votes(items=10))[:-8], "votes.arrow")
    table = pa.table({"id": ["a", "b"], "annotators": [["r1", "r2"], ["r1"]], "labels": [["x", "y"], ["y"]]})
    found = read_table(arrow_bytes(table), "votes.arrow")
    assert found.kind == "Arrow with lists"
    assert found.head(9).to_numpy().tolist() == [["a", "r1", "x"], ["a", "r2", "y"], ["b", "r1", "y"]]


def test_feather_of_the_first_version_and_as_pandas_writes_it():
    sink = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pyarrow.feather.write_feather(votes().replace_schema_metadata(None), sink, version=1)
    assert cells(read_table(sink.getvalue(), "x"))[0] == ["i0", "r1", "1"]
    frame = pd.DataFrame({"item": ["a", None], "label": [1.0, None], "kind": pd.Categorical(["x", "y"])})
    sink = io.BytesIO()
    frame.to_feather(sink)
    rows = read_table(sink.getvalue(), "votes.feather").head(9).to_numpy().tolist()
    assert rows == [["a", "1", "x"], ["", "", "y"]]


@pytest.mark.parametrize("files", [1, 3])
@pytest.mark.parametrize("top", ["", "my_data/"])
def test_a_saved_data_set(tmp_path, files, top):
    members = {f"{top}{path}": content for path, content in saved(votes(), files).items()}
    packed = read_table(zipped(members), "votes.zip")
    assert cells(packed) == expected(votes())
    assert packed.members == ()
    assert packed.kind == f"Hugging Face dataset{', 3 files' if files == 3 else ''}, zip"
    folder = read_table(put(tmp_path, members))
    assert cells(folder) == expected(votes())
    assert folder.kind == packed.kind.replace("zip", "folder")
    assert read_table(tmp_path).sha256 == folder.sha256


def test_splits_of_one_data_set_are_read_together_or_alone(tmp_path):
    members = splits(train=votes(), test=votes(first=10))
    table = read_table(zipped(members), "votes.zip")
    assert cells(table) == expected(votes()) + expected(votes(first=10))
    assert (table.members, table.member) == (("train", "test"), None)
    assert table.distinct("split") == ("train", "test")
    assert "its 2 splits with the same columns were read as one table of 12 rows" in messages(table)
    guess = recognise(table)
    assert (guess.spec.item, guess.spec.rater, guess.spec.label) == NAMES
    alone = read_table(put(tmp_path, members), member="test")
    assert (cells(alone), alone.member) == (expected(votes(first=10)), "test")
    with pytest.raises(DataError, match="no split 'x'; its splits are 'train', 'test'"):
        read_table(tmp_path, member="x")


def test_splits_that_repeat_annotations_or_number_their_items_are_not_put_together():
    table = read_table(zipped(splits(train=votes(), test=votes())), "votes.zip")
    assert (table.member, len(table)) == ("train", 6)
    assert "only its split 'train' (6 rows) was read; another is 'test' (6 rows)" in messages(table)
    table = pa.table({"annotators": [["r1", "r2"], ["r1", "r2"]], "labels": [["x", "y"], ["y", "x"]]})
    other = pa.table({"annotators": [["r3", "r4"], ["r3", "r4"]], "labels": [["x", "x"], ["y", "x"]]})
    found = read_table(zipped(splits(train=table, test=other)), "votes.zip")
    assert (found.member, len(found)) == ("train", 4)
    assert "another is 'test' (4 rows)" in messages(found)


def test_a_saved_data_set_that_lacks_a_file():
    members = saved(votes(), 2)
    del members["data-00001-of-00002.arrow"]
    with pytest.raises(DataError, match=r"lacks 'data-00001-of-00002\.arrow'; save it again"):
        read_table(zipped(members), "votes.zip")
    with pytest.raises(DataError, match="a damaged description"):
        read_table(zipped({**saved(votes()), "state.json": b"{"}), "votes.zip")


def test_a_folder_with_a_file_per_annotator(tmp_path):
    text = "item,label\n" + "".join(f"i{item},{{}}\n" for item in range(5))
    for number, rater in enumerate(("anna", "ben")):
        labels = (str((item * (number + 1)) % 3) for item in range(5))
        (tmp_path / f"{rater}.csv").write_text(text.format(*labels))
    (tmp_path / ".hidden").write_text("x")
    table = read_table(tmp_path)
    assert table.distinct("rater") == ("anna", "ben")
    assert table.kind == "CSV, folder, 2 files"
    assert len(table) == 10


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


def columns(table: Table, *names: str) -> dict[str, list[str]]:
    return table.head(100)[list(names)].to_dict("list")


PLAIN = {
    "item": ["a", "b", "é"],
    "gender": ["Woman", "Man", "Woman"],
    "scale": ["1", "3", "5"],
    "at": ["2024-01-31 12:30:00", "2024-02-01", ""],
    "day": ["2020-01-01", "1890-12-31", ""],
    "share": ["0.5", "1000000", "2.25"],
}
"""Texts of the columns that are the same in files of SPSS and of Stata."""
WITH_MISSING = {"rating": ["1", "", ""], "took": ["1:02:03"] * 3, "note": ["x", "", ""]}


@pytest.mark.parametrize("options", [{}, {"row_compress": True}, {"compress": True}])
def test_spss_files(options):
    content = sav(FRAME, variable_value_labels=LABELS, missing_ranges=MISSING, **options)
    table = read_table(content, "votes.sav")
    assert table.kind == ("SPSS, ZSAV" if "compress" in options else "SPSS")
    assert table.row(0) == 1
    assert table.columns == tuple(FRAME.columns)
    assert columns(table, *PLAIN, *WITH_MISSING) == PLAIN | WITH_MISSING
    told = messages(table)
    assert "2 cells that the file declares missing, read as empty, in 'rating', 'note'" in told
    assert "3 cells without a value (system-missing), read as empty, in 'rating', 'at'" in told
    assert "'gender' holds the labels of the values in place of codes" in told
    assert "'scale' keeps its codes" in told
    assert "(1 'not at all', 5 'very')" in told


def test_portable_spss_files():
    content = written(pyreadstat.write_por, FRAME.replace("é", "e"), "votes.por")
    table = read_table(content, "votes.por")
    assert table.kind == "SPSS, portable"
    read = {"ITEM": ["a", "b", "e"], "RATING": ["1", "99", ""], "AT": PLAIN["at"]}
    assert columns(table, *read) == read


@pytest.mark.parametrize("version", [8, 10, 12, 13, 14, 15])
def test_stata_files_of_every_version(version):
    frame = FRAME.drop(columns="took")
    content = written(pyreadstat.write_dta, frame, "votes.dta", version=version, variable_value_labels=LABELS)
    table = read_table(content, "votes.dta")
    assert table.kind == "Stata"
    assert columns(table, *PLAIN) == PLAIN


@pytest.mark.parametrize("version", [114, 117, 118, 119])
def test_stata_files_that_pandas_wrote(version):
    frame = pd.DataFrame({"item": ["a", "b"], "label": pd.Categorical(["Yes", "No"])})
    frame["single"] = np.array([0.1, 2.0], dtype=np.float32)
    frame["month"] = pd.to_datetime(["2024-03-01", "1959-12-01"])
    sink = io.BytesIO()
    frame.to_stata(sink, write_index=False, version=version, convert_dates={"month": "tm"})
    read = {"label": ["Yes", "No"], "single": ["0.1", "2"], "month": ["2024-03", "1959-12"]}
    assert columns(read_table(sink.getvalue(), "votes.dta"), *read) == read


def test_old_letters_and_missing_values_of_stata_are_told():
    frame = pd.DataFrame({"item": ["a", "b", "c"], "rating": ["a", 2, None]})
    content = written(pyreadstat.write_dta, frame, "votes.dta", missing_user_values={"rating": ["a"]})
    table = read_table(content, "votes.dta")
    assert columns(table, "rating") == {"rating": ["", "2", ""]}
    assert "1 cell that the file declares missing" in messages(table)
    assert "1 cell without a value (system-missing)" in messages(table)
    frame = pd.DataFrame({"item": ["caf\xe9", "b"], "label": ["x", "y"]})
    sink = io.BytesIO()
    frame.to_stata(sink, write_index=False, version=114)
    table = read_table(sink.getvalue(), "votes.dta")
    assert columns(table, "item") == {"item": ["café", "b"]}
    assert "read as Windows-1252, where it holds 'café' for one" in messages(table)


def test_codes_of_spss():
    def read(values: list[int], **options: object) -> tuple[list[str], str]:
        table = read_table(sav(pd.DataFrame({"item": ["a", "b"], "label": values}), **options), "votes.sav")
        return columns(table, "label")["label"], messages(table)

    same = {"label": {1: "Other", 2: "Other"}}
    said = (
        "votes.sav: 'label' keeps its codes, as not every value has a label of its own (1 'Other', 2 'Other')"
    )
    assert read([1, 2], variable_value_labels=same) == (["1", "2"], said)
    refused = {"variable_value_labels": {"label": {99: "refused"}}, "missing_ranges": {"label": [99]}}
    said = "votes.sav: 1 cell that the file declares missing, read as empty, in 'label'"
    assert read([1, 99], **refused) == (["1", ""], said)
    assert read([296708581782793, 1]) == (["296708581782793", "1"], "")  # all digits of ids


def test_damaged_files_and_files_without_rows_are_refused():
    for ending in ("por", "dta"):
        frame = FRAME[["rating", "share"]]
        content = written(getattr(pyreadstat, f"write_{ending}"), frame, f"votes.{ending}")
        with pytest.raises(DataError, match=r"votes is a damaged or cut-off (SPSS|Stata)"):
            read_table(content[: len(content) * 2 // 3], "votes")
    with pytest.raises(DataError, match="no rows"):
        read_table(sav(FRAME[["item", "rating"]].iloc[:0]), "votes.sav")
