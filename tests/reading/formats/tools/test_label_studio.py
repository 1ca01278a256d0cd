"""Label Studio's exports.

The samples are written by hand after https://labelstud.io/guide/task_format (tasks, annotations, results),
https://labelstud.io/guide/export (JSON-MIN, CSV, TSV) and https://labelstud.io/tags/choices, /rating,
/taxonomy, /textarea, /number (the values).
"""

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grasp_core import cli
from grasp_core.model.errors import DataError
from grasp_core.reading.dataset.load import load
from grasp_core.reading.formats.tools import label_studio
from grasp_core.reading.guess.advice import Named
from grasp_core.reading.guess.recognise import recognise
from grasp_core.reading.sandbox.read import read_table
from tests.reading import exports
from tests.reading.exports import cells, table_of
from tests.reading.files.workbook_files import ods_bytes, ods_rows


def result(name: str, kind: str, value: Any) -> dict[str, Any]:
    return {"from_name": name, "to_name": "text", "type": kind, "id": "x", "value": {kind: value}}


STAMPS = {"created_at": "2024-05-02T10:00:00Z", "updated_at": "2024-05-02T10:00:09Z", "lead_time": 4.288}


def annotation(rater: Any, *results: dict[str, Any], **other: Any) -> dict[str, Any]:
    status = {"was_cancelled": False, "ground_truth": False}
    return {"id": 1, "completed_by": rater, "result": list(results), **status, **STAMPS, **other}


def task(number: int, *annotations: dict[str, Any], **other: Any) -> dict[str, Any]:
    data = {"text": f"Text number {number}", "source": "forum", "history": ["a", "b"]}
    given_answers = {"annotations": list(annotations), "predictions": []}
    return {"id": number, "data": data, **given_answers, "project": 7, **other}


def toxicity(rater: Any, label: str, **other: Any) -> dict[str, Any]:
    return annotation(rater, result("toxic", "choices", [label]), **other)


LABELS = {101: "YYYY", 102: "YNNY", 103: "NYYN"}
"""Per task, how annotators 1 to 4 answered."""
TASKS = [
    task(number, *(toxicity(at, {"Y": "Yes", "N": "No"}[one]) for at, one in enumerate(labels, start=1)))
    for number, labels in LABELS.items()
]


def test_a_row_per_annotation() -> None:
    table = table_of(TASKS)
    assert table.kind == "Label Studio, JSON"
    assert ",".join(table.columns) == "item,rater,toxic,text,source,lead_time,created_at,updated_at"
    assert cells(table, "item", "rater", "toxic")[4:8] == [
        *(("102", "1", "Yes"), ("102", "2", "No"), ("102", "3", "No"), ("102", "4", "Yes"))
    ]
    assert table.cell("lead_time", 0) == "4.288"
    assert [table.row(position) for position in (0, 3, 4, 11)] == [1, 1, 2, 3]
    data = exports.loaded(table)
    assert (data.summary.items, data.summary.raters, data.summary.annotations) == (3, 4, 12)
    assert dict(zip(data.summary.categories, data.summary.label_counts, strict=True)) == {"No": 4, "Yes": 8}


def test_what_is_no_rating_is_left_out_and_said() -> None:
    no = [result("toxic", "choices", ["No"])]
    cancelled = toxicity(2, "No", was_cancelled=True)
    beside = {"drafts": [{"user": 3, "result": no}], "predictions": [{"model_version": "m", "result": no}]}
    tasks = [
        task(1, toxicity(1, "Yes"), cancelled, toxicity(None, "No"), **beside),
        task(2, toxicity(1, "No"), cancelled),
    ]
    table = table_of(tasks)
    assert cells(table, "item", "rater", "toxic") == [("1", "1", "Yes"), ("2", "1", "No")]
    assert exports.recipe_of(table).sentences == (
        "1 prediction was left out",
        "1 draft was left out",
        "2 cancelled annotations were left out",
        "1 annotation of an unknown annotator was left out",
    )


def test_answers_are_no_axes_where_each_annotator_did_one_task() -> None:
    def answered(rater: int) -> dict[str, Any]:
        said = {"toxic": "YN"[rater % 2], "rude": "YN"[rater % 3 % 2], "gender": "FM"[rater % 2]}
        return annotation(rater, *(result(name, "choices", [text]) for name, text in said.items()))

    table = table_of([task(at, *(answered(4 * at + n) for n in range(1, 5))) for at in range(5)])
    (asked,) = recognise(table).uncertain
    assert asked.candidates == ("toxic", "rude")
    assert recognise(table, named=Named(label="toxic")).axes == ("gender",)


def starred() -> list[dict[str, Any]]:
    """Three raters, of whom the second starred an own answer, and one who gave only reference answers."""
    return [
        task(
            number,
            *(toxicity(1, "Yes"), toxicity(2, "No", ground_truth=number == 1), toxicity(3, "YN"[number % 2])),
            toxicity(4, "No", ground_truth=True),
        )
        for number in range(1, 5)
    ]


def test_ground_truth_counts_where_its_rater_answered_others_too() -> None:
    table = table_of(starred())
    assert table.distinct("starred") == ("no", "rater", "reference")
    assert exports.recipe_of(table).sentences == (
        "1 ground-truth annotation of raters who answered others too counts (starred = rater)",
        "4 ground-truth annotations of annotators who gave nothing else are left out by a filter "
        "(starred = reference)",
    )
    data = exports.loaded(table)
    assert (data.summary.raters, data.summary.annotations) == (3, 12)
    guess = recognise(table)
    assert "starred" not in guess.axes
    for spec, count in ((guess.spec, 16), (guess.advised, 12)):  # asked for, not decided
        assert load(table, None, spec, ()).summary.annotations == count
    assert "starred" not in table_of(TASKS).columns


def test_raters_by_number_and_by_address() -> None:
    mails = ("a@example.org", "b@example.org")
    for raters, ids, what in ((("1", "2"), mails, "numbers"), (mails, ("1", "2"), "addresses")):
        table = table_of([task(number, *(toxicity(rater, "Yes") for rater in raters)) for number in (1, 2)])
        people = read_table("who,gender\n{},Man\n{},Woman\n".format(*ids).encode(), "raters.csv")
        with pytest.raises(DataError, match=f"add a column with the {what} to raters.csv"):
            load(table, people, exports.spec_of(table))


def test_ground_truth_alone_or_kept_twice_is_refused(tmp_path: Path, capsys) -> None:
    (tmp_path / "tasks.json").write_text(json.dumps(starred()), encoding="utf-8")
    files = ["--annotations", str(tmp_path / "tasks.json"), "--keep", "starred=no"]
    assert cli.main(["run", *files, "--axis", "rater", "--out", str(tmp_path / "result.json")]) == 2
    assert "left out by their values, or recommended to be: starred=reference" in capsys.readouterr().err
    tasks = [task(number, toxicity(1, "Yes", ground_truth=True)) for number in (1, 2)]
    with pytest.raises(DataError, match=r"no annotation left; check .* filters"):
        exports.loaded(table_of(tasks))


def test_every_kind_of_answer() -> None:
    region = {"from_name": "span", "type": "labels", "value": {"start": 0, "end": 4, "labels": ["Insult"]}}
    of_region = {"from_name": "why", "type": "choices", "value": {"start": 0, "end": 4, "choices": ["Slur"]}}
    relation = {"type": "relation", "from_id": "a", "to_id": "b", "direction": "right"}
    answers = annotation(
        {"id": 5, "email": "ann@example.org", "first_name": "Ann"},
        result("comment", "text", ["first line", "second"]),
        result("kinds", "choices", ["Threat", "Insult"]),
        *(result("stars", "rating", 4), result("hours", "number", 2)),
        result("topic", "taxonomy", [["Politics", "Party"], ["Sports"]]),
        {"from_name": "better", "type": "pairwise", "value": {"selected": "left"}},
        result("order", "ranker", {"rank": ["b", "a", "c"]}),
        result("sorted", "ranker", {"good": ["b"], "bad": ["a", "c"]}),
        {**result("page", "choices", ["x"]), "item_index": 0},
        *(region, of_region, relation),
    )
    table = table_of([task(1, answers, annotation({"id": 6}, result("stars", "rating", 3)))])
    both = {
        "rater": ("ann@example.org", "6"),
        "kinds": ("Insult + Threat", ""),
        "stars": ("4", "3"),
        "hours": ("2", ""),
        "topic": ("Politics / Party + Sports", ""),
        "better": ("left", ""),
        "order": ("b > a > c", ""),
        "sorted": ("good: b | bad: a > c", ""),
        "comment": ("first line\nsecond", ""),
        "completed_by.id": ("5", "6"),
    }
    assert {name: tuple(table.cell(name, row) for row in (0, 1)) for name in both} == both
    assert "first_name" not in table.columns
    assert "4 answers about regions or relations were left out" in exports.recipe_of(table).sentences
    assert (
        "several choices in one annotation were sorted and joined by ' + '"
        in exports.recipe_of(table).sentences
    )


def test_the_label_is_a_question_to_choose_from_and_keeps_its_name() -> None:
    def answered(rater: int, label: str) -> dict[str, Any]:
        return annotation(rater, result("comment", "text", ["same"]), result("toxic", "choices", [label]))

    tasks = [task(1, answered(1, "Yes"), answered(2, "No")), task(2, answered(1, "Yes"), answered(2, "No"))]
    table = table_of(tasks)
    assert exports.spec_of(table).label == "toxic"
    assert exports.spec_of(table).text == "text"

    def rated(number: int) -> dict[str, Any]:
        rating = [result("text", "choices", ["a"]), result("item", "rating", 1)]
        return {"id": number, "data": {"text": "t"}, "annotations": [annotation(1, *rating)]}

    table = table_of([rated(1)])
    assert table.columns[:5] == ("item", "rater", "text", "answers.item", "about.text")
    assert cells(table, "item", "text", "answers.item", "about.text") == [("1", "a", "1", "t")]


# JSON-MIN, CSV, TSV
def flat(number: int, rater: Any, toxic: str, **answers: Any) -> dict[str, Any]:
    about = {"text": f"Text number {number}", "source": "forum" if number == 1 else "news", "id": number}
    given_answers = {"toxic": toxic, **answers, "annotator": rater, "annotation_id": 10 * number + 1}
    return {**about, **given_answers, **STAMPS}


SPANS = [{"start": 0, "end": 1, "labels": ["a"]}]
FLAT = [
    flat(1, 1, "Yes", kinds={"choices": ["Threat", "Insult"]}, stars=[{"rating": 4}]),
    flat(1, 2, "No", stars=[{"rating": 2}]),
    flat(1, 3, "Yes", kinds="Insult", stars=[{"rating": 4}], spans=SPANS),
    flat(1, 4, "No", kinds="Insult"),
    *(flat(2, 1, "Yes"), flat(2, 2, "Yes")),
    *(flat(2, 3, "No", topic=[{"taxonomy": [["Politics", "Party"]]}]), flat(2, 4, "No")),
]
MIN_CELLS = [
    ("1", "1", "Yes", "Insult + Threat", "4", ""),
    ("1", "2", "No", "", "2", ""),
    ("1", "3", "Yes", "Insult", "4", ""),
    ("1", "4", "No", "Insult", "", ""),
    *(("2", "1", "Yes", "", "", ""), ("2", "2", "Yes", "", "", "")),
    *(("2", "3", "No", "", "", "Politics / Party"), ("2", "4", "No", "", "", "")),
]


def as_csv(delimiter: str, records: Sequence[dict[str, Any]] = FLAT) -> bytes:
    columns = sorted({key for record in records for key in record} | {"was_cancelled"})
    file = io.StringIO()
    writer = csv.DictWriter(file, columns, delimiter=delimiter, quoting=csv.QUOTE_NONNUMERIC)
    writer.writeheader()
    for record in records:
        packed = {key: json.dumps(one) for key, one in record.items() if isinstance(one, list | dict)}
        writer.writerow({**record, **packed, "was_cancelled": False})
    return file.getvalue().encode()


QUESTIONS = ("item", "rater", "toxic", "kinds", "stars", "topic")


@pytest.mark.parametrize(
    ("content", "kind", "first"),
    [
        (json.dumps(FLAT).encode(), "Label Studio, JSON-MIN", 1),
        (as_csv(","), "Label Studio, CSV", 2),
        (as_csv("\t"), "Label Studio, TSV", 2),
    ],
    ids=["JSON-MIN", "CSV", "TSV"],
)
def test_a_record_per_annotation(content: bytes, kind: str, first: int) -> None:
    table = read_table(content, "export")
    assert table.kind == kind
    assert cells(table, *QUESTIONS) == MIN_CELLS
    assert [table.row(position) for position in range(8)] == list(range(first, first + 8))
    assert table.cell("source", 7) == "news"
    assert {"annotation_id", "spans"}.isdisjoint(table.columns)
    assert exports.spec_of(table).text == "text"
    data = exports.loaded(table)
    assert (data.summary.items, data.summary.raters) == (2, 4)


def test_an_export_that_went_through_a_spreadsheet_keeps_its_sheets() -> None:
    rows = list(csv.reader(io.StringIO(as_csv(",").decode())))
    content = ods_bytes({"Export": ods_rows(rows), "Notes": ods_rows([["who", "what"], ["me", "this"]])})
    table = read_table(content, "export.ods")
    assert table.kind == "Label Studio, ODS"
    assert (table.members, table.member) == (("Export", "Notes"), "Export")
    assert cells(table, *QUESTIONS) == MIN_CELLS
    assert recognise(table).spec.member == "Export"


def test_flat_exports_may_agree_or_have_cancelled_and_empty_rows() -> None:
    content = as_csv(",").replace(b",4,", b',"ann@example.org",').replace(b"False", b"True", 1)
    table = read_table(content, "export.csv")
    assert "1 cancelled annotation was left out" in exports.recipe_of(table).sentences
    assert len(table) == 7
    assert table.distinct("rater") == ("2", "3", "ann@example.org", "1")
    table = table_of([flat(number, rater, "NY"[number % 2]) for number in range(1, 9) for rater in (1, 2)])
    assert exports.spec_of(table).label in ("toxic", "source")
    assert {"toxic", "source"} < set(table.columns)
    empty = {"text": "t", "id": 9, "annotator": None, "annotation_id": None, "lead_time": None}
    table = table_of([*FLAT, empty])
    assert "1 task without annotations was left out" in exports.recipe_of(table).sentences


def exported(tasks: list[dict[str, Any]]) -> dict[str, bytes]:
    """The tasks in the four forms, as Label Studio's converter writes them."""
    records = []
    for number, (of, one) in enumerate((task, one) for task in tasks for one in task["annotations"]):
        ids = {"id": of["id"], "annotator": one["completed_by"], "annotation_id": number}
        records.append({**of["data"], **ids, **_pretty(one["result"]), **STAMPS})
    forms = {"JSON": json.dumps(tasks).encode(), "JSON-MIN": json.dumps(records).encode()}
    return forms | {"CSV": as_csv(",", records), "TSV": as_csv("\t", records)}


def _pretty(results: list[dict[str, Any]]) -> dict[str, Any]:
    pretty: dict[str, Any] = {}
    for one in results:
        plain = one["type"] in ("choices", "text")
        value = one["value"] if plain else [one["value"]]
        pretty[one["from_name"]] = given[0] if plain and len(given := value[one["type"]]) == 1 else value
    return pretty


@st.composite
def projects(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Tasks by four annotators with several questions, some unanswered; on the main one they differ."""
    kinds = st.lists(st.sampled_from("abc"), min_size=1, max_size=2, unique=True)
    further = st.tuples(
        st.none() | kinds.map(lambda one: result("kinds", "choices", one)),
        st.none() | st.integers(1, 5).map(lambda one: result("stars", "rating", one)),
        st.none() | st.sampled_from(["fine", "hm, no"]).map(lambda one: result("comment", "text", [one])),
    )
    tasks = []
    for number in range(1, 5):
        answers = []
        for rater in range(1, 5):
            verdict = result("verdict", "choices", ["Yes" if (number + rater) % 2 else "No"])
            given = [verdict, *filter(None, draw(further))]
            answers.append(annotation(rater, *draw(st.permutations(given))))
        tasks.append(task(number, *answers))
    return tasks


@given(projects())
def test_all_forms_give_the_same_annotations_and_first_question(tasks: list[dict[str, Any]]) -> None:
    readings = [read_table(content, form) for form, content in exported(tasks).items()]
    assert {exports.spec_of(table).label for table in readings} == {"verdict"}
    sets = [sorted(cells(table, "item", "rater", "verdict")) for table in readings]
    assert len(sets[0]) == 16
    assert sets == [sets[0]] * 4


# Damage
def test_damage_of_tasks_is_one_sentence() -> None:
    def second(said: str, **fields: Any) -> None:
        exports.refused([TASKS[0], {**TASKS[1], **fields}], f"2: {said}")

    second("'id' should be the task's number, found nothing", id=None)
    second("'data' should be an object, found '[]'", data=[])
    second("'annotations' should be a list, found nothing", annotations=None)
    whole = [task(1, annotation(1, {"from_name": "a", "value": {"x": 1, "labels": ["b"]}}))]
    exports.refused(whole, "no annotation answers a question about its task as a whole")
    exports.refused([task(1, toxicity(1, "Yes", was_cancelled=True))], "without annotations")


def test_damage_of_annotations_is_one_sentence() -> None:
    def second(one: Any, said: str) -> None:
        exports.refused([TASKS[0], task(2, one)], f"2, annotation 1: {said}")

    second("x", "the annotation should be an object")
    second(annotation(1) | {"result": {"a": 1}}, "'result' should be a list, found '{\"a\": 1}'")
    second({"result": []}, "'completed_by' should be the annotator's number or address, found nothing")
    nameless = toxicity({"first_name": "A"}, "Yes")
    second(nameless, "'completed_by' should be an object with 'id' or 'email'")
    odd = annotation(1, result("a", "choices", [{"a": 1}]))
    second(odd, "an answer of 'choices' should be a text or a number")
    unnamed = annotation(1, {"value": {"choices": ["a"]}})
    second(unnamed, "'from_name' should be the question's name, found nothing")


def test_damage_of_records_is_one_sentence_and_others_are_not_its_own() -> None:
    exports.refused([FLAT[0], {**FLAT[1], "annotator": ["a"]}], "2: 'annotator' should be a text")
    exports.refused([FLAT[0], {"annotator": 1}], "2: 'id' should be a number or an address, found nothing")
    answers = {"id": 1, "text": "a", "annotations": "1,0"}
    for record in (answers, {"data": {"a": 1}}, {"id": "1", "annotator": "a"}, {}):
        assert label_studio.read([record], "other.json") is None, record


@given(exports.mangled(TASKS[:2]) | exports.mangled(FLAT[:4]))
def test_mangled_tasks(records: list[dict[str, Any]]) -> None:
    exports.survives(label_studio.read, records, "tasks.json")
