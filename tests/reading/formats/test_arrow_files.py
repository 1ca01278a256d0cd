"""Arrow and Feather files, and data sets as Hugging Face `datasets` saves them, alone and in splits."""

from __future__ import annotations

import io
import json
import warnings
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pytest

from grasp_core.model.errors import DataError
from grasp_core.reading.guess.recognise import recognise
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Table
from tests.zips import zipped

FEATURES = {"info": {"features": {"label": {"names": ["no", "yes"], "_type": "ClassLabel"}}}}
NAMES = ("item", "rater", "label")


def votes(first: int = 0, items: int = 3) -> pa.Table:
    rows = [
        (f"i{item}", f"r{rater}", (item + rater) % 2)
        for item in range(first, first + items)
        for rater in (1, 2)
    ]
    table = pa.table({name: [row[at] for row in rows] for at, name in enumerate(NAMES)})
    return table.replace_schema_metadata({"huggingface": json.dumps(FEATURES)})


def expected(table: pa.Table) -> list[list[str]]:
    return [[row["item"], row["rater"], ("no", "yes")[row["label"]]] for row in table.to_pylist()]


def stream_bytes(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=4)
    return sink.getvalue()


def file_bytes(table: pa.Table, compression: str | None = None) -> bytes:
    sink = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_file(sink, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=4)
    return sink.getvalue()


def old_feather(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pyarrow.feather.write_feather(table, sink, version=1)
    return sink.getvalue()


def saved(table: pa.Table, files: int = 1) -> dict[str, bytes]:
    """What `save_to_disk` writes."""
    shards = [table.slice(at * len(table) // files, -(-len(table) // files)) for at in range(files)]
    names = [f"data-{at:05}-of-{files:05}.arrow" for at in range(files)]
    state = {"_data_files": [{"filename": name} for name in names], "_fingerprint": "0", "_split": None}
    about = {
        "state.json": json.dumps(state).encode(),
        "dataset_info.json": json.dumps(FEATURES["info"]).encode(),
    }
    return {**about, **{name: stream_bytes(shard) for name, shard in zip(names, shards, strict=True)}}


def splits(**tables: pa.Table) -> dict[str, bytes]:
    about = {"dataset_dict.json": json.dumps({"splits": list(tables)}).encode()}
    return about | {
        f"{split}/{path}": content
        for split, table in tables.items()
        for path, content in saved(table).items()
    }


def put(folder: Path, files: dict[str, bytes]) -> Path:
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder


def cells(table: Table) -> list[list[str]]:
    return table.head(1000)[list(NAMES)].to_numpy().tolist()


def messages(table: Table) -> str:
    return " | ".join(problem.message for problem in table.problems)


@pytest.mark.parametrize(
    "write",
    [
        stream_bytes,
        file_bytes,
        lambda table: file_bytes(table, "zstd"),
        lambda table: file_bytes(table, "lz4"),
    ],
    ids=["stream", "file", "zstd", "lz4"],
)
def test_arrow_files(write):
    table = read_table(write(votes()), "votes.arrow")
    assert cells(table) == expected(votes())
    assert (table.kind, table.row(0)) == ("Arrow", 1)


def test_the_first_version_of_feather():
    plain = votes().replace_schema_metadata(None)
    assert cells(read_table(old_feather(plain), "x"))[0] == ["i0", "r1", "1"]


def test_feather_as_pandas_writes_it():
    frame = pd.DataFrame({"item": ["a", None], "label": [1.0, None], "kind": pd.Categorical(["x", "y"])})
    sink = io.BytesIO()
    frame.to_feather(sink)
    assert read_table(sink.getvalue(), "votes.feather").head(9).to_numpy().tolist() == [
        ["a", "1", "x"],
        ["", "", "y"],
    ]


def test_lists_of_annotations_in_arrow():
    table = pa.table({"id": ["a", "b"], "annotators": [["r1", "r2"], ["r1"]], "labels": [["x", "y"], ["y"]]})
    found = read_table(stream_bytes(table), "votes.arrow")
    assert found.kind == "Arrow with lists"
    assert found.head(9).to_numpy().tolist() == [["a", "r1", "x"], ["a", "r2", "y"], ["b", "r1", "y"]]


@pytest.mark.parametrize("write", [stream_bytes, file_bytes, lambda table: file_bytes(table, "zstd")])
def test_damaged_arrow_files_are_refused(write):
    content = write(votes())
    for length in range(12, len(content) - 20, 97):
        with pytest.raises(
            DataError, match=r"^votes\.arrow (is a damaged or cut-off Arrow file|holds column names)"
        ):
            read_table(content[:length], "votes.arrow")


def test_a_stream_without_its_end_is_refused():
    content = stream_bytes(votes(items=10))
    with pytest.raises(DataError, match="damaged or cut-off Arrow"):
        read_table(content[:-8], "votes.arrow")


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


def test_splits_that_repeat_annotations_are_not_put_together():
    table = read_table(zipped(splits(train=votes(), test=votes())), "votes.zip")
    assert (table.member, len(table)) == ("train", 6)
    assert "only its split 'train' (6 rows) was read; another is 'test' (6 rows)" in messages(table)


def test_items_that_are_only_row_numbers_are_not_put_together():
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
        (tmp_path / f"{rater}.csv").write_text(
            text.format(*(str((item * (number + 1)) % 3) for item in range(5)))
        )
    (tmp_path / ".hidden").write_text("x")
    table = read_table(tmp_path)
    assert table.distinct("rater") == ("anna", "ben")
    assert table.kind == "CSV, folder, 2 files"
    assert len(table) == 10
