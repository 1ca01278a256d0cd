"""Exports that tools wrote: small ones run as they are; every form of one project gives its annotations."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path

import pytest

from grasp_core import cli
from grasp_core.model.errors import DataError
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Table
from tests.reading.exports import cells, loaded
from tests.shared_data import SHARED

# Small exports


EXAMPLES = Path(__file__).parent / "examples"


@pytest.mark.parametrize(
    ("annotations", "raters", "axis"),
    [
        ("label_studio.json", "numbers.csv", "gender"),
        ("prodigy.jsonl", "sessions.csv", "gender"),
        ("doccano.jsonl", "numbers.csv", "gender"),
        ("argilla.json", "users.csv", "gender"),
        ("potato.jsonl", "raters.csv", "gender"),
        ("potato.csv", "raters.csv", "gender"),
        ("mturk.csv", "raters.csv", "gender"),
        ("ratings.csv", "prolific.csv", "Sex"),
        ("lewidi.json", "lewidi_annotators_meta.json", "Gender"),
        ("lewidi2.json", "lewidi_annotators_meta.json", "Gender"),
        ("zooniverse.csv", "raters.csv", "gender"),
    ],
)
def test_an_export_runs_as_it_is(annotations, raters, axis, capsys) -> None:
    named = ["--annotations", str(EXAMPLES / annotations), "--raters", str(EXAMPLES / raters)]
    assert cli.main(["run", *named, "--axis", axis, "--permutations", "200"]) == 0
    assert "4 raters" in capsys.readouterr().out


# Forms of one project
EXPORTS = SHARED / "data" / "exports"


def answers(table: Table, *questions: str) -> list[tuple[str, ...]]:
    return sorted(cells(table, "item", "rater", *questions))


def truth(path: Path) -> list[tuple[str, ...]]:
    return sorted(tuple(str(cell) for cell in row) for row in json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.skipif(not EXPORTS.is_dir(), reason="needs the exports in ../shared beside the repository")
@pytest.mark.parametrize("name", ["toxicity.csv", "toxicity.tsv", "toxicity.json", "toxicity.min.json"])
def test_label_studio(name: str) -> None:
    folder = EXPORTS / "label_studio"
    told = json.loads((folder / "truth.json").read_text(encoding="utf-8"))["truth"]["toxicity"]
    table = read_table(folder / name)
    wanted = [tuple("" if cell is None else str(cell) for cell in (row[0], *row[2:])) for row in told]
    assert answers(table, "toxic", "kinds", "severity") == sorted(wanted)
    assert loaded(table).summary.label_counts == (46, 30, 21)


@pytest.mark.skipif(not EXPORTS.is_dir(), reason="needs the exports in ../shared beside the repository")
@pytest.mark.parametrize("name", ["v2_flat.parquet", "v2_list_flatTrue.json"])
def test_argilla(name: str) -> None:
    """Drafts and discarded responses are left out, choices, ratings and several choices are read."""
    folder = EXPORTS / "argilla"
    table = read_table(folder / name)
    assert answers(table, "toxic", "kinds", "sev") == truth(folder / "truth_v2.json")
    assert loaded(table).summary.annotations == 49


@pytest.mark.skipif(not EXPORTS.is_dir(), reason="needs the exports in ../shared beside the repository")
def test_argilla_without_statuses() -> None:
    with pytest.raises(DataError, match="does not say which responses were submitted"):
        read_table(EXPORTS / "argilla" / "v2.json")


QUESTIONS = ("tone", "kinds", "offence", "strength", "rates.polite", "rates.funny")


@pytest.mark.skipif(not EXPORTS.is_dir(), reason="needs the exports in ../shared beside the repository")
@pytest.mark.parametrize(
    "name", ["annotation_output.zip", "export_jsonl/annotations.jsonl", "export_parquet/annotations.parquet"]
)
def test_potato(name: str) -> None:
    """Single and several choices, a scale, a slider and a table of ratings."""
    folder = EXPORTS / "potato"
    table = read_table(folder / name)
    assert answers(table, *QUESTIONS) == truth(folder / "truth.json")
    assert loaded(table).summary.annotations == 43


def doccano_truth(project: str) -> list[tuple[str, ...]]:
    told = json.loads((EXPORTS / "doccano" / "truth.json").read_text(encoding="utf-8"))[project]
    return sorted(tuple(str(cell) for cell in row) for row in told)


@pytest.mark.skipif(not EXPORTS.is_dir(), reason="needs the exports in ../shared beside the repository")
@pytest.mark.parametrize(
    ("name", "project"),
    [("unshared_CSV.zip", "unshared"), ("unshared_JSONL.zip", "unshared"), ("single_JSON.zip", "single")],
)
def test_doccano(name: str, project: str) -> None:
    """A text that an annotator left without labels is no annotation."""
    table = read_table(EXPORTS / "doccano" / name)
    assert [row for row in answers(table, "label") if row[2]] == doccano_truth(project)
    assert loaded(table).summary.annotations == 40


@pytest.mark.skipif(not EXPORTS.is_dir(), reason="needs the exports in ../shared beside the repository")
def test_doccano_as_fasttext() -> None:
    """The same project written as doccano writes fastText, whose labels may be of several words."""
    table = read_table(EXPORTS / "doccano" / "unshared_JSONL.zip")
    raters, items = table.distinct("rater"), table.distinct("item")
    told = {
        (item, rater): (label, text)
        for item, rater, label, text in cells(table, "item", "rater", "label", "text")
    }
    texts = {item: text for (item, _), (_, text) in told.items()}
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        for rater in raters:
            file = io.StringIO()
            for item in items:
                label = told.get((item, rater), ("", ""))[0]
                marked = " ".join(f"__label__{one}" for one in label.split(" + ") if one)
                csv.writer(file, lineterminator="\n").writerow([f"{marked} {texts[item]} "])
            packed.writestr(f"{rater}.txt", file.getvalue())
    found = read_table(archive.getvalue(), "unshared.zip")
    ours = [(items[int(item) - 1], rater, label) for item, rater, label in answers(found, "label") if label]
    assert sorted(ours) == doccano_truth("unshared")


@pytest.mark.skipif(not EXPORTS.is_dir(), reason="needs the exports in ../shared beside the repository")
def test_doccano_with_shared_annotations() -> None:
    with pytest.raises(DataError, match="does not say who gave which label"):
        read_table(EXPORTS / "doccano" / "shared_JSONL.zip")


@pytest.mark.skipif(not EXPORTS.is_dir(), reason="needs the exports in ../shared beside the repository")
def test_objects_by_rater() -> None:
    table = read_table(EXPORTS / "survey" / "nested_dict_objects.json")
    data = loaded(table)
    assert data.summary.label_counts == (213, 188, 134, 112, 78)
    with (EXPORTS / "survey" / "truth_long.csv").open(newline="", encoding="utf-8") as file:
        told = sorted(tuple(row) for row in list(csv.reader(file))[1:])
    assert len(told) == data.summary.annotations == 725
    assert sorted(cells(table, "key", "annotators.rater", "annotators.label")) == [row[:3] for row in told]
