"""Results of Mechanical Turk batches and of Zooniverse's projects.

Sample written by hand. An assignment's fields: https://docs.aws.amazon.com/AWSMechTurk/latest/AWSMturkAPI/
ApiReference_AssignmentDataStructureArticle.html; what Crowd HTML elements write into `Answer.taskAnswers`:
https://docs.aws.amazon.com/sagemaker/latest/dg/sms-ui-template-crowd-classifier.html.
"""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grasp_core.model.errors import DataError
from grasp_core.model.outcome import LeftOut
from grasp_core.model.remarks.cautions import Skipped
from grasp_core.reading.dataset.load import load
from grasp_core.reading.guess.advice import Named
from grasp_core.reading.guess.recognise import recognise
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Table
from tests.reading.exports import cells, loaded, read_or_refused, recipe_of, spec_of
from tests.reading.making import csv_bytes

HEADER = ["HITId", "HITTypeId", "Title", "AssignmentId", "WorkerId", "AssignmentStatus", "WorkTimeInSeconds"]
WORKERS = ("W1", "W2", "W3", "W4")


def row(hit: str, worker: str, *answers: str) -> list[str]:
    return [hit, "T", "Judge", f"A-{hit}-{worker}", worker, "Approved", "31", f"text of {hit}", *answers]


def crowd(answers: Any) -> str:
    return json.dumps([answers])


def results(*rows: list[str], answers: tuple[str, ...] = ("Answer.taskAnswers",)) -> bytes:
    return csv_bytes([[*HEADER, "Input.text", *answers], *rows])


def voted() -> list[list[str]]:
    """Two HITs by four workers; the fourth's work on the second was rejected."""
    rows = [
        row(hit, worker, crowd({"category": {"label": {"P": "Positive", "N": "Negative"}[vote]}}))
        for hit, votes in (("H1", "PPNN"), ("H2", "NPNP"))
        for worker, vote in zip(WORKERS, votes, strict=True)
    ]
    rows[-1][HEADER.index("AssignmentStatus")] = "Rejected"
    return rows


def read(content: bytes) -> Table:
    return read_table(content, "batch.csv")


def test_crowd_classifier_answers_become_a_column() -> None:
    table = read(results(*voted()))
    assert table.kind == "Mechanical Turk, CSV"
    assert "Answer.taskAnswers" not in table.columns
    found = cells(table, "HITId", "WorkerId", "Answer.category")
    assert found[:2] == [("H1", "W1", "Positive"), ("H1", "W2", "Positive")]
    assert table.row(0) == 2
    spec = spec_of(table)
    assert (spec.item, spec.rater, spec.label) == ("HITId", "WorkerId", "Answer.category")
    assert spec.text == "Input.text"


def test_rejected_assignments_count_until_somebody_says_otherwise() -> None:
    table = read(results(*voted()))
    guess = recognise(table)
    for spec, count in ((guess.spec, 8), (guess.advised, 7)):
        data = load(table, None, spec, ()).summary
        assert (data.items, data.raters, data.categories) == (2, 4, ("Negative", "Positive"))
        assert data.label_counts == (4, count - 4)
    assert recognise(read(results(*voted()[:4]))).advice == ()


def test_work_that_a_requester_is_about_to_reject_is_advised_against() -> None:
    """Results to upload again, whose status is still Submitted."""
    header = [*HEADER, "Input.text", "Answer.tone", "Approve", "Reject"]
    reviewed = [("x", ""), ("", "too fast"), ("x", ""), ("", "Failed the check")]
    rows = [row("H1", worker, "a", *marks) for worker, marks in zip(WORKERS, reviewed, strict=True)]
    rows += [row("H2", worker, "b", "x", "") for worker in WORKERS]
    table = read(csv_bytes([header, *rows]))
    spec = recognise(table).advised
    assert spec.filters.drop == (("Reject", "too fast"), ("Reject", "Failed the check"))
    assert load(table, None, spec, ()).summary.annotations == 6


def test_every_form_of_a_crowd_answer() -> None:
    forms = {
        "category": ({"label": "A"}, "A"),
        "several": ({"labels": ["b", "a"]}, "a + b"),
        "box": ({"first": True, "second": False, "third": True}, "first + third"),
        "comment": ('fine, "really"', 'fine, "really"'),
        "age": (31, "31"),
        "sure": (True, "True"),
    }
    answers = {name: answer for name, (answer, _) in forms.items()} | {"nested": {"inner": {"deep": "x"}}}
    table = read(results(row("H1", "W1", crowd(answers)), row("H1", "W2", "[{}]"), row("H1", "W3", "")))
    found = {column: table.cell(column, 0) for column in table.columns if column.startswith("Answer.")}
    read_as = {f"Answer.{name}": text for name, (_, text) in forms.items()}
    assert found == read_as | {"Answer.nested.inner.deep": "x"}
    assert [table.cell("Answer.category", at) for at in (1, 2)] == ["", ""]


def test_true_false_columns_are_folded_where_they_hold_nothing_else() -> None:
    answers = ("Answer.tone.angry", "Answer.tone.calm", "Answer.tone.sad", "Answer.note.text")
    given = [("true", "false", "false", "n1"), ("false", "true", "true", "n2"), ("", "", "", "")]
    table = read(results(*(row("H1", f"W{at}", *cells) for at, cells in enumerate(given)), answers=answers))
    assert cells(table, "Answer.tone") == [("angry",), ("calm + sad",), ("",)]
    assert "Answer.tone.angry" not in table.columns
    assert "Answer.note.text" in table.columns
    answers = ("Answer.q.1", "Answer.q.2")
    table = read(results(row("H1", "W1", "true", "maybe"), row("H1", "W2", "false", "true"), answers=answers))
    assert {"Answer.q.1", "Answer.q.2"} <= set(table.columns)


@pytest.mark.parametrize(
    ("genders", "toxic", "label"), [("MWMW", "aaaa", "Answer.gender"), ("MMWW", "abab", "Answer.toxic")]
)
def test_plain_answer_columns(genders, toxic, label) -> None:
    """A gender is the label only where no other question has several answers."""
    rows = [row("H1", *answers) for answers in zip(WORKERS, genders, toxic, strict=True)]
    assert spec_of(read(results(*rows, answers=("Answer.gender", "Answer.toxic")))).label == label


@pytest.mark.parametrize("broken", ['[{"category"', "text", '["x"]', "[" * 5000])
def test_damaged_answers_name_the_row(broken: str) -> None:
    rows = voted()
    rows[5][-1] = broken
    with pytest.raises(DataError, match=r"batch\.csv, row 7, column 'Answer\.taskAnswers'.*JSON"):
        read(results(*rows))


@pytest.mark.parametrize("hits", [1, 5])
def test_answers_are_no_axes_where_each_worker_did_one_hit(hits: int) -> None:
    """Of few answers to one HIT hardly one recurs: they are asked about, too."""
    head = "HITId,WorkerId,AssignmentId,AssignmentStatus,Answer.rude,Answer.kind,Answer.gender"
    rows = [
        f"H{n % hits},W{n},A{n},Submitted,{'yn'[n % 2]},{'yn'[n % 3 % 2]},{'fm'[n % 2]}" for n in range(12)
    ]
    table = read_table("\n".join([head, *rows]).encode(), "batch.csv")
    (asked,) = recognise(table).uncertain
    assert asked.candidates == ("Answer.rude", "Answer.kind")
    named = recognise(table, named=Named(label="Answer.kind"))
    assert named.axes == ("Answer.gender",)
    unlike = [f"H0,W{n},A{n},Submitted,{n % 7},{n % 9},f" for n in range(11)]
    (asked,) = recognise(read_table("\n".join([head, *unlike]).encode(), "batch.csv")).uncertain
    assert asked.candidates == ("Answer.rude", "Answer.kind")


def test_forms_of_one_question_are_told_apart_and_questions_have_an_end() -> None:
    answers = json.dumps([{"tone": "calm", "age": 31}, {"tone": "angry"}])
    table = read(results(row("H1", "W1", answers)))
    assert cells(table, "Answer.tone.1", "Answer.tone.2", "Answer.age") == [("calm", "angry", "31")]
    rows = [row("H1", f"W{at}", crowd({f"q{at}-{q}": 1 for q in range(20)})) for at in range(1_500)]
    with pytest.raises(DataError, match="would become a table of more than"):
        read(results(*rows))


# Several items per HIT
PREFIX = ["HITId", "AssignmentId", "WorkerId", "AssignmentStatus"]


def hits(inputs: list[str], answers: list[str], *rows: list[str]) -> Table:
    """A batch whose rows hold HIT, assignment, worker, inputs and answers."""
    header = [*PREFIX, *(f"Input.{name}" for name in inputs), *(f"Answer.{name}" for name in answers)]
    return read(csv_bytes([header, *([*row[:3], "Approved", *row[3:]] for row in rows)]))


@pytest.mark.parametrize(
    ("inputs", "answers", "label"),
    [
        ("p_{}", "rating{}", "Answer.rating"),
        ("text{}", "rating_{}", "Answer.rating"),
        ("text{}", "q1.{}", "Answer.q1"),
        ("text-{}", "item{}.tone", "Answer.item.tone"),
        ("image_{}_url", "{}", "Answer.item"),
    ],
)
@pytest.mark.parametrize("first", [(0, 0), (1, 1), (1, 0), (0, 1)], ids=str)
def test_several_items_in_a_hit(inputs: str, answers: str, label: str, first: tuple[int, int]) -> None:
    """Nine items in three HITs, each by three workers; numbers may begin at different ones."""
    slots, work = range(3), [(hit, at) for hit in ("H1", "H2", "H3") for at in range(3)]
    wanted = [[(f"Text {hit} {slot}", f"W{at}", "yn"[(at + slot) % 2]) for slot in slots] for hit, at in work]
    rows = [
        [hit, f"A{hit}{at}", f"W{at}", *(text for text, *_ in own), *(given for *_, given in own)]
        for (hit, at), own in zip(work, wanted, strict=True)
    ]
    forms = zip((inputs, answers), first, strict=True)
    numbered = ([form.format(slot + begin) for slot in slots] for form, begin in forms)
    table = hits(*numbered, *rows)
    guess = recognise(table)
    assert (guess.spec.item, guess.spec.rater, guess.spec.label) == ("item", "WorkerId", label)
    assert cells(table, "item", "WorkerId", label) == [one for own in wanted for one in own]
    assert [table.row(position) for position in range(6)] == [2, 2, 2, 3, 3, 3]
    assert load(table, None, guess.spec, ()).summary.annotations == 27


def test_several_questions_about_each_item_and_empty_places() -> None:
    table = hits(
        ["id1", "id2", "text1", "text2"],
        ["tone_1", "tone_2", "rude_1", "rude_2", "comment"],
        ["H1", "A1", "W1", "a", "b", "Text a", "Text b", "calm", "angry", "no", "", "fine"],
        ["H2", "A2", "W1", "c", "", "Text c", "", "calm", "angry", "no", "yes", ""],
    )
    wanted = ("item", "Input.text", "Answer.tone", "Answer.rude", "Answer.comment")
    assert cells(table, *wanted) == [
        ("a", "Text a", "calm", "no", "fine"),
        ("b", "Text b", "angry", "", "fine"),
        ("c", "Text c", "calm", "no", ""),
    ]
    assert spec_of(table).text == "Input.text"
    assert recipe_of(table).left_out == (LeftOut(Skipped.ITEMS_WITHOUT_INPUT(), 1),)


def test_a_text_that_fills_the_places_of_a_hit_is_no_item() -> None:
    inputs = [f"statement_{n}" for n in range(1, 6)]
    said = ("one", "two", "three", "four", "five")
    rows = [
        [f"H{hit}", f"A{hit}{worker}", worker, *shown, *("n" if text == "BLANK" else "p" for text in shown)]
        for hit, own in enumerate((said, (*said[:2], *["BLANK"] * 3), ("six", *["BLANK"] * 4)))
        for worker in ("W1", "W2")
        for shown in ([f"{text} {hit}" if text != "BLANK" else text for text in own],)
    ]
    table = hits(inputs, [f"S{n}Answer" for n in range(1, 6)], *rows)
    assert not {item for (item,) in cells(table, "item")} & {"BLANK"}
    assert recipe_of(table).left_out == (LeftOut(Skipped.ITEMS_WITHOUT_INPUT(), 14),)
    assert "'BLANK', several times in one HIT, stands for no input" in recipe_of(table).sentences


def test_inputs_are_items_whatever_their_place_and_number() -> None:
    long = "word " * 40
    rows = ["H1", "A1", "W1", long, "b", "x", "y"], ["H2", "A2", "W2", "b", long, "x", "y"]
    table = hits(["text0", "text1"], ["q0", "q1"], *rows)
    assert [item for (item,) in cells(table, "item")] == ["H1/0", "H1/1", "H1/1", "H1/0"]
    slots = range(10)
    inputs = [f"p_{slot}" for slot in slots] + [f"option{slot}" for slot in range(11)]
    answers = [f"rating{slot}" for slot in slots if slot != 4] + ["age"]
    row = ["H1", "A1", "W1", *(f"P{slot}" for slot in slots), *"abcdefghijk", *"123123123", "31"]
    table = hits(inputs, answers, row)
    wanted = [(f"P{slot}", rating, "k", "31") for slot, rating in enumerate([*"1231", "", *"23123"])]
    assert cells(table, "item", "Answer.rating", "Input.option10", "Answer.age") == wanted


def test_questions_about_a_whole_dialogue_stay_one_row() -> None:
    rows = [["H1", f"A{at}", f"W{at}", *"abcde", *"yn"] for at in range(3)]
    table = hits([f"turn{at}" for at in range(1, 6)], ["q1", "q2"], *rows)
    assert len(table) == 3
    assert recipe_of(table).sentences == (
        "'Input.turn#' and 'Answer.q#' are not numbered alike, so that each HIT counts as one item",
    )


@pytest.mark.parametrize(
    ("second", "read"), [("true", [("a", "true"), ("b", "true")] * 2), ("false", [("H1", "1")] * 2)]
)
def test_true_false_columns_numbered_like_items_are_answers_to_each(second: str, read: list) -> None:
    rows = [["H1", f"A{at}", f"W{at}", "a", "b", "true", second] for at in range(2)]
    table = hits(["text1", "text2"], ["toxic.1", "toxic.2"], *rows)
    assert cells(table, spec_of(table).item, "Answer.toxic") == read


@given(st.lists(st.text("Inputasw.0123_#", max_size=9), min_size=2, max_size=8, unique=True), st.data())
def test_no_numbering_breaks_it(ends: list[str], data: st.DataObject) -> None:
    header = [data.draw(st.sampled_from(("Input.", "Answer."))) + end for end in ends]
    cell = st.sampled_from(["", "a", "b", "true"])
    rows = [["H1", f"A{at}", f"W{at}", "ok", *data.draw(st.tuples(*[cell] * len(ends)))] for at in range(2)]
    read_or_refused(csv_bytes([[*PREFIX, *header], *rows]), "batch.csv")


# Rows that end before the requester's columns
def short(missing: int, last: tuple[str, ...] = ("Approve", "Reject")) -> bytes:
    header = [*HEADER, "Input.text", "Answer.tone", *last]
    rows = [row("H1", worker, "ab"[at % 2], *["x"] * (2 - missing)) for at, worker in enumerate(WORKERS)]
    return csv_bytes([header, *rows])


@pytest.mark.parametrize("missing", [1, 2])
def test_rows_that_end_before_approve_and_reject(missing: int) -> None:
    table = read(short(missing))
    assert cells(table, "WorkerId", "Answer.tone", "Reject")[0] == ("W1", "a", "")
    assert [table.row(position) for position in range(4)] == [2, 3, 4, 5]
    assert [problem.message for problem in table.problems] == [
        "batch.csv: 4 rows end before 'Approve' and 'Reject', which are taken as empty"
    ]


def test_other_short_rows_are_refused_and_other_tables_left_alone() -> None:
    for content in (short(2, ("Reject", "Approve")), short(2, ("a", "b")), short(2).replace(b",W3,", b",")):
        with pytest.raises(DataError, match="fields found, the header names"):
            read(content)
    for content in (b"HITId,WorkerId,label\nh,w,x\n", b"HITId,AssignmentId,WorkerId,Input.a\nh,a,w,x\n"):
        assert read(content).recipe is None


ANSWERS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(ANSWERS.map(json.dumps) | st.text(max_size=8), min_size=1, max_size=4))
def test_nothing_breaks_it(answers: list[str]) -> None:
    rows = [row("H1", f"W{at}", answer) for at, answer in enumerate(answers)]
    read_or_refused(results(*rows), "batch.csv")


# Zooniverse's classification exports.
#
# Samples written by hand after https://help.zooniverse.org/next-steps/data-exports/: a list of tasks in
# `annotations`, the subject under its id in `subject_data`.
CLASSIFICATION = ["classification_id", "user_name", "user_id", "user_ip", "workflow_id", "workflow_name"]
CLASSIFICATION += ["workflow_version", "created_at", "gold_standard", "expert", "metadata", "annotations"]
CLASSIFICATION += ["subject_data", "subject_ids"]
SEEN = {"s1": ("Yes", "No", "Yes"), "s2": ("No", "No", "Yes")}
PEOPLE = ("ann", "ben", "not-logged-in-0a1b2c")


def classified(subject: str, user: str, tasks: list[dict[str, Any]], workflow: str = "7") -> list[str]:
    data = {subject: {"retired": None, "file": f"{subject}.jpg", "#place": "Kiel"}}
    about = [workflow, f"flow {workflow}", "3.4", "2024-05-01 10:00:00 UTC", "", ""]
    told = map(json.dumps, ({"session": "x"}, tasks, data))
    return [f"{subject}{user}", user, "12", "ffff", *about, *told, subject]


def single(answer: Any, task: str = "T0") -> dict[str, Any]:
    return {"task": task, "task_label": "Is it there?", "value": answer}


def export(rows: list[list[str]]) -> Table:
    return read_table(csv_bytes([CLASSIFICATION, *rows]), "galaxy-classifications.csv")


def test_a_row_per_classification() -> None:
    rows = [
        classified(subject, user, [single(answer), single(["a", "b"][: 1 + (user == "ann")], "T1")])
        for subject, answers in SEEN.items()
        for user, answer in zip(PEOPLE, answers, strict=True)
    ]
    table = export(rows)
    assert table.kind == "Zooniverse, CSV"
    assert cells(table, "item", "rater", "T0", "T1", "file")[:2] == [
        ("s1", "ann", "Yes", "a + b", "s1.jpg"),
        ("s1", "ben", "No", "a", "s1.jpg"),
    ]
    assert table.row(0) == 2
    assert "people who were not logged in, told apart by 1 address only" in str(recipe_of(table).sentences)
    data = loaded(table)
    assert (data.summary.items, data.summary.raters, data.summary.label_counts) == (2, 3, (3, 3))


def test_kinds_of_tasks_and_workflows() -> None:
    combined = {"task": "T2", "value": [single("Yes", "T3"), single(None, "T4")]}
    survey = {"task": "T5", "value": [{"choice": "ZEBRA", "answers": {"HOWMANY": "1"}}, {"choice": "LION"}]}
    dropdown = {"task": "T6", "value": [{"value": "de", "option": True}]}
    drawing = {"task": "T7", "value": [{"tool": 0, "x": 1.5, "y": 2, "value": "x"}]}
    table = export([classified("s1", user, [combined, survey, dropdown, drawing]) for user in PEOPLE[:2]])
    assert table.columns[:5] == ("item", "rater", "T3", "T5", "T6")
    assert cells(table, "T3", "T5", "T6")[0] == ("Yes", "LION + ZEBRA", "de")
    assert recipe_of(table).sentences[:2] == (
        "2 tasks that were left without an answer were left out",
        "tasks whose answers cannot be read, as drawings, were left out: 'T7'",
    )
    other = classified("s1", "ben", [single("Red")], workflow="8")
    table = export([classified("s1", "ann", [single("Yes")]), other])
    assert cells(table, "rater", "flow 7.T0", "flow 8.T0") == [("ann", "Yes", ""), ("ben", "", "Red")]
    damaged = classified("s1", "ann", [])
    damaged[CLASSIFICATION.index("annotations")] = "[{"
    with pytest.raises(DataError, match=r"row 3: 'annotations' should be a list of answers in JSON"):
        export([classified("s1", "ben", [single("Yes")]), damaged])
