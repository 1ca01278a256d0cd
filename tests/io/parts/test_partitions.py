"""Folders that are read part by part: what is found in them, what is refused, and writing them by item."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from grasp_core import cli
from grasp_core.data_spec import DataSpec, Filters
from grasp_core.errors import DataError, SpecError
from grasp_core.io.dataset.load import load
from grasp_core.io.parsing.read import read_table
from grasp_core.io.parts import survey as survey_module
from grasp_core.io.parts.partitions import Parts, find_parts, is_folder, sample
from grasp_core.io.parts.plan import PartPlan
from grasp_core.io.parts.repartition import repartition
from grasp_core.io.parts.rows import read_part
from grasp_core.io.parts.scan import hashes_of
from grasp_core.io.parts.survey import DatasetInParts, survey
from grasp_core.spec import AnalysisSpec, RunSpec
from tests.io.parts.parts import frames, write
from tests.permutation.simulated import DATA_SPEC

COLUMNS = ["--item", "item", "--rater", "rater", "--label", "label"]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Annotations and raters; the working folder is empty."""
    monkeypatch.chdir(tmp_path)
    votes, raters = frames(1, items=12, raters=10, missing=0.3)
    raters.to_csv("raters.csv", index=False)
    return votes, raters


def surveyed(folder: str = "votes", spec: DataSpec = DATA_SPEC, part_rows: int = 1) -> DatasetInParts:
    parts = find_parts(folder, part_rows)
    return survey(parts, read_table("raters.csv"), spec, ("gender",), map, ".")


# What is found


def test_the_summary_is_that_of_the_folder_read_whole(data) -> None:
    write("votes", data[0], 4)
    whole = load(read_table("votes"), read_table("raters.csv"), DATA_SPEC, ("gender",))
    found = surveyed()
    assert found.summary == whole.summary
    assert found.position.tolist() == list(range(whole.annotations.n_raters))
    assert found.raters.axes["gender"].values == whole.raters.axes["gender"].values
    assert found.raters.axes["gender"].codes.tolist() == whole.raters.axes["gender"].codes.tolist()
    assert found.annotations_of.tolist() == whole.annotations_of.tolist()


@pytest.mark.parametrize("n_parts", [1, 2, 5])
def test_parts_together_are_the_whole(data, n_parts: int) -> None:
    write("votes", data[0], n_parts)
    whole = load(read_table("votes"), read_table("raters.csv"), DATA_SPEC, ("gender",)).annotations
    found = surveyed()
    PartPlan.of(found, RunSpec(DATA_SPEC, AnalysisSpec(axes=(("gender",),)))).save()
    plan = PartPlan.load(".")
    pieces = [piece for part in range(n_parts) for piece in plan.annotations(part)]
    firsts = [sum(piece.n_items for piece in pieces[:part]) for part in range(n_parts)]
    assert list(plan.first_items) == firsts
    found = [
        (first + item, rater, label)
        for first, piece in zip(firsts, pieces, strict=True)
        for item, rater, label in zip(piece.item, piece.rater, piece.category, strict=True)
    ]
    assert sorted(found) == list(zip(whole.item, whole.rater, whole.category, strict=True))


def test_small_files_are_read_together(data) -> None:
    write("votes", data[0], 6)
    rows = len(data[0])
    parts = find_parts("votes", part_rows=rows // 2)
    assert 1 < len(parts.parts) < 6
    assert parts.parts[0].first_row == 0
    assert parts.parts[1].first_row == parts.parts[0].rows
    assert parts.rows == rows
    assert len(find_parts("votes").parts) == 1
    assert surveyed(part_rows=rows // 2).summary == surveyed().summary


def test_numbers_as_ids_and_labels_are_read_as_in_memory(data) -> None:
    votes = data[0].assign(
        label=data[0]["label"].str[-1].astype(int), item=data[0]["item"].str[1:].astype(int)
    )
    write("votes", votes, 3)
    whole = load(read_table("votes"), read_table("raters.csv"), DATA_SPEC, ("gender",))
    assert surveyed().summary == whole.summary


def test_an_empty_file_among_others(data) -> None:
    write("votes", data[0], 2)
    pq.write_table(pa.Table.from_pandas(data[0].iloc[:0], preserve_index=False), "votes/part-00.parquet")
    assert surveyed().summary.annotations == len(data[0])


def test_the_sample_has_all_columns(data) -> None:
    write("votes", data[0].assign(text="a"), 2)
    assert sample(find_parts("votes")).columns == ("item", "rater", "label", "text")


def test_folders_and_files() -> None:
    assert is_folder(str(Path(__file__).parent))
    assert not is_folder(__file__)
    assert not is_folder("https://example.org/votes/")


# What is refused


def refused(expected: str, folder: str = "votes", **more) -> None:
    with pytest.raises(DataError, match=expected):
        surveyed(folder, **more)


def test_an_item_in_two_parts(data) -> None:
    write("votes", data[0], 3)
    late = data[0][data[0]["item"].isin(["i0", "i1"])].tail(4)
    pq.write_table(pa.Table.from_pandas(late, preserve_index=False), "votes/part-9.parquet")
    refused(
        r"item 'i\d' has annotations in votes/part-\d.parquet and in votes/part-9.parquet.* partition does"
    )


def test_hashes_that_collide_are_no_items_in_two_parts(data, monkeypatch: pytest.MonkeyPatch) -> None:
    write("votes", data[0], 3)
    right = surveyed().summary
    for module in (survey_module, __import__("grasp_core.io.parts.scan", fromlist=["scan"])):
        monkeypatch.setattr(module, "hashes_of", lambda ids: hashes_of(ids) % 2)
    assert surveyed().summary == right


def test_contradicting_labels_name_the_file_and_its_row(data) -> None:
    votes = data[0].reset_index(drop=True)
    last = votes.iloc[[-1]].assign(label="another")
    write("votes", pd.concat([votes, last]), 3)
    row = int((votes["item"].isin(votes["item"].unique()[8:])).sum()) + 1
    refused(rf"^votes/part-2\.parquet: rater .* 'another' in row {row}; keep one of them")
    refused(rf"^votes/part-2\.parquet: rater .* 'another' in row {row}", part_rows=10**6)


def test_a_label_that_is_not_declared(data) -> None:
    write("votes", data[0], 3)
    spec = DataSpec(item="item", rater="rater", label="label", categories=("label 0", "label 1"))
    refused(r"votes/part-0\.parquet, row \d+, column 'label': 'label 2' is not one of", spec=spec)


def test_a_blank_id(data) -> None:
    data[0].iloc[-1, 1] = ""
    write("votes", data[0], 3)
    refused(r"votes/part-2\.parquet, row \d+, column 'rater': the id is blank")


def test_damaged_files_and_strange_folders(data, tmp_path: Path) -> None:
    write("votes", data[0], 2)
    whole = Path("votes/part-1.parquet").read_bytes()
    Path("votes/part-1.parquet").write_bytes(whole[:-20])
    refused(r"votes/part-1\.parquet is a damaged or cut-off Parquet file")
    Path("votes/part-1.parquet").write_bytes(whole[:200] + bytes(len(whole) - 1200) + whole[-1000:])
    refused(r"votes/part-1\.parquet is a damaged or cut-off Parquet file")
    write("votes", data[0].assign(more="x"), 1)
    Path("votes/part-1.parquet").write_bytes(whole)
    refused("its files have different columns")
    (tmp_path / "none").mkdir()
    refused(r"none is a folder without \*\.parquet files", "none")


def test_a_file_with_too_many_rows(data) -> None:
    write("votes", data[0], 1)
    with pytest.raises(DataError, match=r"part-0\.parquet has \d+ rows, and at most 5 of one file are read"):
        find_parts("votes", max_rows=5)


def test_columns_that_do_not_exist(data) -> None:
    write("votes", data[0], 2)
    spec = DataSpec(item="item", rater="rater", label="lable")
    refused(r"votes has no column 'lable'; did you mean 'label'", spec=spec)


def test_raters_described_only_by_annotations(data) -> None:
    write("votes", data[0].assign(mood="good"), 2)
    parts = find_parts("votes")
    with pytest.raises(DataError, match=r"raters\.csv has no column 'mood'; .* only the raters file"):
        survey(parts, read_table("raters.csv"), DATA_SPEC, ("mood",), map, ".")
    with pytest.raises(DataError, match="its raters are described in a file of their own"):
        survey(parts, None, DATA_SPEC, ("mood",), map, ".")


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"filters": Filters(min_per_rater=2)}, "a smallest number of annotations per rater"),
        ({"filters": Filters(gold="label", min_gold=0.5)}, "right labels"),
        ({"layout": "items-by-raters"}, "a matrix"),
    ],
)
def test_readings_that_need_the_whole_table(data, fields: dict, named: str) -> None:
    write("votes", data[0], 2)
    with pytest.raises(SpecError, match=f"part by part cannot be read with {named}"):
        surveyed(spec=DataSpec(**{"item": "item", "rater": "rater", "label": "label", **fields}))


def test_missing_labels_are_told_once(data) -> None:
    data[0].loc[::5, "label"] = ""
    write("votes", data[0], 3)
    count = (data[0]["label"] == "").sum()
    told = [problem.message for problem in surveyed().problems if "missing in" in problem.message]
    assert len(told) == 1
    assert told[0].startswith("votes/part-0.parquet, row 1, column 'label': the label is missing in")
    assert told[0].endswith(f"(and so in 2 more parts; {count} in all)")


# Written by item


def test_partition_puts_each_item_into_one_file(data) -> None:
    votes = data[0].sample(frac=1, random_state=1).assign(note="kept")
    Path("mixed").mkdir()
    for number in range(4):
        table = pa.Table.from_pandas(votes.iloc[number::4], preserve_index=False)
        pq.write_table(table, f"mixed/{number}.parquet")
    refused("has annotations in mixed/", "mixed")
    seen: list[int] = []
    written = repartition(find_parts("mixed"), Path("sorted"), "item", file_rows=30, watch=seen.append)
    assert written == -(-len(votes) // 30)
    assert seen[-1] == len(votes)
    order = ["item", "rater"]
    found = pq.read_table("sorted").to_pandas().sort_values(order).reset_index(drop=True)
    pd.testing.assert_frame_equal(found, votes.sort_values(order).reset_index(drop=True), check_dtype=False)
    assert surveyed("sorted").summary.annotations == len(votes)


def test_partition_writes_the_same_whatever_waits_in_memory(data, monkeypatch: pytest.MonkeyPatch) -> None:
    write("votes", data[0], 3)
    parts = find_parts("votes")
    repartition(parts, Path("one"), "item", file_rows=40)
    monkeypatch.setattr("grasp_core.io.parts.repartition.BUFFER_BYTES", 0)
    repartition(parts, Path("two"), "item", file_rows=40)
    for one in sorted(Path("one").iterdir()):
        assert pq.read_table(one).equals(pq.read_table(Path("two") / one.name))


def test_partition_refuses(data) -> None:
    write("votes", data[0], 2)
    parts = find_parts("votes")
    with pytest.raises(DataError, match="votes has no column 'itme'; its columns are 'item'"):
        repartition(parts, Path("new"), "itme")
    with pytest.raises(DataError, match="exists already"):
        repartition(parts, Path("votes"), "item")
    with pytest.raises(DataError, match="cannot be written"):
        repartition(parts, Path("raters.csv/new"), "item")


# On the command line


def test_the_command_reads_a_folder_in_parts(data, capsys: pytest.CaptureFixture[str]) -> None:
    write("votes", data[0], 3)
    run = ["run", "--annotations", "votes", "--raters", "raters.csv", *COLUMNS, "--axis", "gender"]
    run += ["--permutations", "100"]
    assert cli.main([*run, "--csv", "whole.csv", "--no-pairs"]) == 0  # data in parts have none
    assert "read in" not in capsys.readouterr().err
    assert cli.main([*run, "--csv", "parts.csv", "--out", "parts.json", "--in-parts"]) == 0
    assert f"note: {len(data[0])} rows are read in 1 part" in capsys.readouterr().err
    parts, whole = (pd.read_csv(name, dtype=str) for name in ("parts.csv", "whole.csv"))
    assert whole["low"].notna().any()
    assert parts["low"].isna().all()  # data in parts have no intervals
    pd.testing.assert_frame_equal(parts.drop(columns=["low", "high"]), whole.drop(columns=["low", "high"]))
    again = ["run", "--spec", "parts.json", *run[1:5], "--in-parts", "--csv", "again.csv"]
    assert cli.main(again) == 0
    assert "other data" not in capsys.readouterr().err
    assert Path("again.csv").read_text() == Path("parts.csv").read_text()


def test_the_command_recognises_a_folder_by_its_first_rows(data, capsys: pytest.CaptureFixture[str]) -> None:
    write("votes", data[0], 3)
    files = ["--annotations", "votes", "--raters", "raters.csv", "--in-parts", "--permutations", "100"]
    assert cli.main(["run", *files, "--out", "parts.json"]) == 0
    assert "item: " in capsys.readouterr().err


def test_a_large_folder_is_read_in_parts(data, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    write("votes", data[0], 3)
    monkeypatch.setattr("grasp_core.cli.in_parts.WHOLE_ROWS", 10)
    run = ["run", "--annotations", "votes", *COLUMNS, "--axis", "gender", "--permutations", "100"]
    assert cli.main(run) == 2
    assert "its raters are described in a file of their own" in capsys.readouterr().err
    assert cli.main([*run, "--raters", "raters.csv"]) == 0


def test_a_file_in_parts(data, capsys: pytest.CaptureFixture[str]) -> None:
    data[0].to_csv("votes.csv", index=False)
    assert cli.main(["run", "--annotations", "votes.csv", "--in-parts", *COLUMNS]) == 2
    assert "votes.csv is no folder of Parquet files, which --in-parts needs" in capsys.readouterr().err


def test_the_partition_command(data, capsys: pytest.CaptureFixture[str]) -> None:
    write("votes", data[0], 3)
    assert cli.main(["partition", "votes", "new", "--item", "item", "--rows", "20"]) == 0
    assert capsys.readouterr().out.endswith("files: new\n")
    assert cli.main(["partition", "votes", "whole", "--item", "item"]) == 0
    assert capsys.readouterr().out.endswith(" rows in 1 file: whole\n")
    assert cli.main(["partition", "raters.csv", "newer", "--item", "item"]) == 2
    assert "raters.csv is not a folder of Parquet files" in capsys.readouterr().err


def test_parts_keep_the_order_of_paths(data) -> None:
    for name in ("b/1", "a-b/1", "a/2"):
        Path("votes", name).parent.mkdir(parents=True, exist_ok=True)
        table = pa.Table.from_pandas(data[0].iloc[:5], preserve_index=False)
        pq.write_table(table, f"votes/{name}.parquet")
    parts: Parts = find_parts("votes")
    assert [file.path for file in parts.parts[0].files] == ["a/2.parquet", "a-b/1.parquet", "b/1.parquet"]
    rows = read_part(parts, parts.parts[0], DATA_SPEC, pa.array([], pa.string()))
    assert rows.sieves[0].votes.size == 5
