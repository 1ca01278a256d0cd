"""Exports that tools wrote: small ones run as they are; every form of one project gives its annotations."""

import json
from pathlib import Path

import pytest

from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Table
from tests.commands import ran
from tests.reading.exports import cells, loaded
from tests.shared_data import SHARED

EXAMPLES = Path(__file__).parent / "examples"


@pytest.mark.parametrize(
    ("annotations", "raters", "axis"),
    [
        *((f"{name}.csv", "raters.csv", "gender") for name in ("potato", "mturk", "zooniverse")),
        *(("label_studio.json", "numbers.csv", "gender"), ("doccano.jsonl", "numbers.csv", "gender")),
        *(("prodigy.jsonl", "sessions.csv", "gender"), ("argilla.json", "users.csv", "gender")),
        *(("potato.jsonl", "raters.csv", "gender"), ("ratings.csv", "prolific.csv", "Sex")),
        *((name, "lewidi_annotators_meta.json", "Gender") for name in ("lewidi.json", "lewidi2.json")),
    ],
)
def test_an_export_runs_as_it_is(annotations, raters, axis, capsys) -> None:
    named = ["--annotations", str(EXAMPLES / annotations), "--raters", str(EXAMPLES / raters)]
    assert "4 raters" in ran(capsys, "run", *named, "--axis", axis, "--permutations", "200").out


FLAT = "annotation_id,annotator,id,lead_time,text,tone\n" + "".join(
    f"{n},{n % 4},{n // 4},1.5,text {n // 4},{'rude' if n % 3 else 'kind'}\n" for n in range(40)
)


@pytest.mark.parametrize(
    ("name", "item", "rater"),
    [
        ("potato.csv", "instance_id", "user"),
        ("zooniverse.csv", "subject_ids", "user_name"),
        ("flat.csv", "id", "annotator"),
    ],
)
def test_ids_may_be_named_as_they_are_in_the_file(tmp_path: Path, capsys, name, item, rater) -> None:
    """The tables that readers make of exports call them item and rater."""
    path = EXAMPLES / name if name != "flat.csv" else tmp_path / name
    if not path.exists():
        path.write_text(FLAT)
    given = ("agreement", "--annotations", str(path))
    recognised = ran(capsys, *given).out
    assert ran(capsys, *given, "--item", item, "--rater", rater).out == recognised
    assert "4 raters" in recognised


EXPORTS = SHARED / "data" / "exports"
needs_exports = pytest.mark.skipif(not EXPORTS.is_dir(), reason="needs the exports beside the repository")


def truth(path: str, *keys: str) -> list[tuple[str, ...]]:
    """What each annotator was made to answer, by item; Label Studio's has mails beside the numbers."""
    told = json.loads((EXPORTS / path).read_text(encoding="utf-8"))
    for key in keys:
        told = told[key]
    rows = ([row[0], *row[2:]] if path.startswith("label_studio") else row for row in told)
    return sorted(tuple("" if cell is None else str(cell) for cell in row) for row in rows)


def answers(table: Table, *questions: str) -> list[tuple[str, ...]]:
    """What was read; a text that an annotator left without labels is no annotation."""
    return sorted(row for row in cells(table, "item", "rater", *questions) if any(row[2:]))


LABEL_STUDIO = (("label_studio/truth.json", "truth", "toxicity"), ("toxic", "kinds", "severity"), 97)
ARGILLA = (("argilla/truth_v2.json",), ("toxic", "kinds", "sev"), 49)
RATED = ("tone", "kinds", "offence", "strength", "rates.polite", "rates.funny")
POTATO = (("potato/truth.json",), RATED, 43)
UNSHARED, SINGLE = ((("doccano/truth.json", project), ("label",), 40) for project in ("unshared", "single"))


@needs_exports
@pytest.mark.parametrize(
    ("name", "project"),
    [
        *((f"label_studio/toxicity.{form}", LABEL_STUDIO) for form in ("csv", "tsv", "json", "min.json")),
        *((f"argilla/{name}", ARGILLA) for name in ("v2_flat.parquet", "v2_list_flatTrue.json")),
        ("potato/annotation_output.zip", POTATO),
        ("potato/export_jsonl/annotations.jsonl", POTATO),
        ("potato/export_parquet/annotations.parquet", POTATO),
        *(("doccano/unshared_CSV.zip", UNSHARED), ("doccano/unshared_JSONL.zip", UNSHARED)),
        ("doccano/single_JSON.zip", SINGLE),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_form_of_a_project_gives_its_annotations(name, project) -> None:
    """Drafts and discarded responses apart; several choices, scales, sliders, tables of ratings."""
    told, questions, annotations = project
    table = read_table(EXPORTS / name)
    assert answers(table, *questions) == truth(*told)
    summary = loaded(table).summary
    assert summary.annotations == annotations
    assert name[:12] != "label_studio" or summary.label_counts == (46, 30, 21)
