"""Surveys: header rows are no respondents, answers to one question are labels; demographics of Prolific."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grasp_core.model.errors import DataError
from grasp_core.reading.dataset.load import Dataset, load
from grasp_core.reading.guess.advice import Named
from grasp_core.reading.guess.recognise import recognise
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Table
from tests.reading.exports import read_or_refused, recipe_of
from tests.reading.files.workbook_files import xlsx_bytes
from tests.reading.making import csv_bytes, rows_table

OWN = ("StartDate", "EndDate", "Status", "Progress", "Finished", "RecordedDate", "ResponseId", "UserLanguage")
SAID = "Start Date,End Date,Response Type,Progress,Finished,Recorded Date,Response ID,User"
GERMAN = "Startdatum,Enddatum,Antworttyp,Fortschritt,Fertig,Aufgezeichnet,ID,Sprache"
"""Qualtrics words the second row in the language of the account."""
ITEMS = tuple(f"Q{n}_1" for n in range(1, 7))


def rows(n: int = 4, *, preview: bool = False, codes: bool = False) -> list[list[str]]:
    """Responses without their header; the last is a preview."""
    found = []
    for row in range(n):
        last = preview and row == n - 1
        status = ("1" if last else "0") if codes else "Survey Preview" if last else "IP Address"
        day = f"2024-05-0{row + 1} 10:00:00"
        own = [day, day, status, "100", "True" if row else "False", day, f"R_{row}x", "EN"]
        labels = [str(1 + (row * k) % 5) if (row + k) % 4 else "" for k in range(len(ITEMS))]
        found.append([*own, f"5f3c{row:020x}", ("Woman", "Man")[row % 2], *labels, "thanks, all"])
    return found


def qualtrics(body: list[list[str]], *, headers: int = 3, texts: tuple[str, ...] = (), said: str = SAID):
    asked = texts or tuple(f"How offensive is this? - Comment {n}" for n in range(len(ITEMS)))
    names = [*OWN, "PROLIFIC_PID", "gender", *ITEMS, "Q9_TEXT"]
    text = [*said.split(","), "PROLIFIC_PID", "What is your gender?", *asked, "Anything else? - Text"]
    own = (*OWN, "PROLIFIC_PID")
    ids = [json.dumps({"ImportId": name if name in own else f"QID{name}"}) for name in names]
    return [names, *[text, ids][: headers - 1], *body]


def loaded(table: Table) -> Dataset:
    guess = recognise(table)
    assert not guess.uncertain
    return load(table, None, guess.spec, guess.axes)


@pytest.mark.parametrize(("said", "headers"), [*((SAID, n) for n in (1, 2, 3)), (GERMAN, 3)])
@pytest.mark.parametrize("form", ["csv", "tsv", "xlsx"])
def test_qualtrics(said, headers, form):
    lines = qualtrics(rows(), headers=headers, said=said)
    made = {"csv": csv_bytes(lines), "tsv": csv_bytes(lines, "\t"), "xlsx": xlsx_bytes(lines)}[form]
    table = read_table(made, f"survey.{form}")
    spec = recognise(table).spec
    assert (spec.layout, spec.rater) == ("raters-by-items", "PROLIFIC_PID")
    data = loaded(table)
    assert (data.summary.raters, data.summary.items) == (4, 6)
    assert data.summary.annotations == sum(bool(cell) for row in rows() for cell in row[10:16])
    assert set(data.summary.categories) <= set("12345")
    assert data.raters.axes["gender"].values == ("Man", "Woman")
    assert table.row(0) == headers + 1


@pytest.mark.parametrize("codes", [True, False])
def test_previews_are_left_out_and_unfinished_responses_are_said(codes):
    table = rows_table(qualtrics(rows(5, preview=True, codes=codes)))
    assert loaded(table).summary.raters == 4
    assert "1 response is previews and left out" in " ".join(recipe_of(table).sentences) or codes
    assert "1 response is unfinished and count" in " ".join(recipe_of(table).sentences)


def test_qualtrics_of_old():
    own = "ResponseID,ResponseSet,Name,ExternalDataReference,EmailAddress,IPAddress,Status,StartDate,EndDate"
    header = [*(f"V{n}" for n in range(1, 11)), *ITEMS, ""]
    asked = (f"How offensive is this? Comment {n}" for n in range(len(ITEMS)))
    about = ["Default Response Set", "Anonymous", "", "", "", "0", "2014-05-01 10:00:00", "2014-05-01", "1"]
    body = [[f"R_{row}", *about, *(str(1 + row * k % 5) for k in range(len(ITEMS))), ""] for row in range(4)]
    table = rows_table([header, [*own.split(","), "Finished", *asked, ""], *body])
    assert recognise(table).spec.rater == "ResponseID"
    assert loaded(table).summary.annotations == 24


def test_blank_ids_are_no_raters_and_previews_no_responses():
    body = rows()
    body[1][8] = ""
    assert recognise(rows_table(qualtrics(body))).spec.rater == "ResponseId"
    with pytest.raises(DataError, match="holds no responses"):
        rows_table(qualtrics(rows(1, preview=True)))


def test_several_questions_are_refused_or_for_a_person_to_choose():
    texts = tuple(f"How {what} is it? - Comment {n}" for what in ("rude", "funny") for n in range(3))
    with pytest.raises(DataError, match=r"2 different questions \('How rude is it\?', 'How funny is it\?'\)"):
        rows_table(qualtrics(rows(), texts=texts))
    text = "Respondent ID,Collector ID,How rude?,,How funny?,\n,,C1,C2,C1,C2\n1,4,1,2,3,4\n2,4,2,1,2,1\n"
    (asked,) = recognise(read_table(text.encode(), "survey.csv")).uncertain
    assert (asked.field, asked.candidates) == ("label", ("How rude? / C*", "How funny? / C*"))
    guess = recognise(read_table(text.encode(), "survey.csv"), named=Named(label="How funny? / C*"))
    assert (guess.uncertain, guess.axes) == ((), ())  # what else was asked is nothing that is known of raters
    body = rows()
    for row in body:
        row[13:16] = ["Yes" if row[13] else "No", "Yes", "No"]
    guess = recognise(rows_table(qualtrics(body, texts=tuple(f"Question {n}" for n in range(6)))))
    assert [reason.field for reason in guess.uncertain] == ["label"]


def test_questions_about_the_person_are_no_items_and_those_of_like_names_may_be():
    body = rows()
    for position, row in enumerate(body):
        row[10] = ("Woman", "Man")[position % 2]
    texts = ("What is your gender?", *(f"Comment {n}" for n in range(5)))
    data = loaded(rows_table(qualtrics(body, texts=texts)))
    assert data.summary.items == 5
    # Two of them are named alike by chance, as ``... no 1`` and ``... no 2``; the others would go unread.
    asked = ("How rude is no 1?", "How rude is no 2?", "How rude is this?", "And what of that?")
    lines = [["Respondent ID", "Collector ID", "What is your gender?", *asked], ["", "", *["Response"] * 5]]
    for n in range(9):
        lines.append([f"11{n}", "4", ("Woman", "Man")[n % 2], *(str(1 + n * k % 5) for k in range(1, 5))])
    guess = recognise(rows_table(lines))
    assert [reason.field for reason in guess.uncertain] == ["label"]


MONKEY = (
    "Respondent ID,Collector ID,Start Date,End Date,IP Address,What is your gender?,How rude is it?,,,Why?\n"
    ",,,,,Response,Comment 1,Comment 2,Comment 3,Open-Ended Response\n"
    "118,44,05/01/2024,05/01/2024,1.2.3.4,Woman,1,2,3,because\n"
    "119,44,05/01/2024,05/01/2024,1.2.3.5,Man,2,2,,\n"
    "120,44,05/01/2024,05/01/2024,1.2.3.6,Woman,3,1,3,of this\n"
)


def test_surveymonkey():
    table = read_table(MONKEY.encode(), "survey.csv")
    spec = recognise(table).spec
    assert (spec.layout, spec.rater) == ("raters-by-items", "Respondent ID")
    data = loaded(table)
    assert data.annotations.item_ids == tuple(f"How rude is it? / Comment {n}" for n in (1, 2, 3))
    assert (data.summary.raters, data.summary.annotations) == (3, 8)
    assert table.row(0) == 3


@pytest.mark.parametrize("labelled", [True, False])
def test_sosci_survey(labelled: bool) -> None:
    """Whose ``CASE`` is a person."""
    asked = [f"AB{n:02d}_01" for n in range(1, 7)]
    header = ["CASE", "SERIAL", "QUESTNNR", "MODE", "STARTED", "SD01", *asked, "FINISHED", "TIME001"]
    labels = ["Interview-Nummer", "Seriennummer", "Fragebogen", "Modus", "Startzeit", "Geschlecht"]
    labels += [*(f"Bewertung: Kommentar {n}" for n in range(6)), "Abgeschlossen", "Verweildauer Seite 1"]
    body = []
    for n in range(12):
        own = [str(17 + 3 * n), "", "base", "interview", f"2024-05-01 10:{n:02d}:00", str(1 + n % 2)]
        body.append([*own, *(str(1 + (n * k) % 5) for k in range(1, 7)), "1", str(20 + n)])
    data = loaded(rows_table([header, *([labels] if labelled else []), *body]))
    assert (data.summary.raters, data.summary.items, data.summary.annotations) == (12, 6, 72)
    assert data.summary.categories == ("1", "2", "3", "4", "5")


def limesurvey(texts: bool, asked: dict[str, str]) -> Table:
    """Eight responses whose columns are called by codes, with or without texts, and timed, one unfinished."""
    about = {"id": "ID de la réponse", "submitdate": "Date", "lastpage": "Page", "startlanguage": "Langue"}
    header = about | {"token": "Code d'accès"}
    for code, text in asked.items():
        header |= {code: text, f"{code}[comment]": f"{text} [Commentaire]"}
    header |= {"interviewtime": "Temps total", "groupTime36": "Durée pour le groupe"}
    header |= {f"{code}Time": f"Durée pour la question: {code}" for code in asked}
    body = []
    for n in range(8):
        given = (f"{1 + (n * k) % 4} : assez" for k in range(1, 1 + len(asked)))
        own = [str(n + 1), "2024-05-01" if n else "", "5", "fr", f"invited_{n}"]
        times = [f"{n + 2}.{k}5" for k in range(2 + len(asked))]
        body.append([*own, *(cell for one in given for cell in (one, "parce que" if n % 2 else "")), *times])
    return rows_table([[f"{code}. {text}" if texts else code for code, text in header.items()], *body])


@pytest.mark.parametrize("texts", [True, False])
def test_limesurvey(texts: bool) -> None:
    """Whose question is chosen by its codes; times of pages and comments are none."""
    table = limesurvey(
        texts, {f"R{r}Q{q}": f"Le rapport vous paraît-il {q} ?" for r in (1, 2, 3) for q in (1, 2)}
    )
    (asked,) = recognise(table).uncertain
    assert asked.candidates == ("R*Q1", "R*Q2")
    spec = recognise(table, named=Named(label="R*Q1")).spec
    data = load(table, None, spec)
    assert (spec.rater, data.annotations.item_ids) == ("token", ("R1Q1", "R2Q1", "R3Q1"))
    assert (data.summary.raters, data.summary.annotations) == (8, 24)
    assert "1 response is unfinished and counts" in str(recipe_of(table).sentences).replace(
        "count'", "counts'"
    )


def test_limesurvey_has_parts_of_a_question_in_brackets() -> None:
    parts = ("chat", "chien", "cheval")
    table = limesurvey(True, {f"G1Q1[SQ00{n}]": f"Est-ce beau ? [{one}]" for n, one in enumerate(parts)})
    data = loaded(table)
    assert (data.summary.items, data.summary.raters, data.summary.annotations) == (3, 8, 24)


# Prolific's demographic export.
#
# Sample written by hand. Base fields: https://docs.prolific.com/api-reference/studies/export-demographic-data.
# The columns' spelling, CONSENT_REVOKED and DATA_EXPIRED are as published analyses expect them.
EXPORT_HEADER = [
    *("Submission id", "Participant id", "Status", "Started at", "Completed at", "Time taken"),
    *("Total approvals", "Age", "Sex", "Ethnicity simplified", "Nationality"),
]
PARTICIPANTS = [
    ("p1", "APPROVED", "31", "Female", "White", "Kenya"),
    ("p2", "APPROVED", "44", "Female", "Prefer not to say", "Peru"),
    ("p3", "APPROVED", "19", "Male", "White", "Oman"),
    ("p4", "APPROVED", "DATA_EXPIRED", "Male", "Asian", "Chad"),
    ("p5", "APPROVED", "CONSENT_REVOKED", "CONSENT_REVOKED", "CONSENT_REVOKED", "CONSENT_REVOKED"),
    ("p6", "RETURNED", "52", "Male", "Prefer not to say", "Fiji"),
    ("p6", "APPROVED", "52", "Male", "Prefer not to say", "Fiji"),
]
VOTES = "item,rater,label\n" + "".join(
    f"{item},p{rater},{vote}\n"
    for item, votes in (("i1", "YYNNYN"), ("i2", "NYNYYY"))
    for rater, vote in enumerate(votes, start=1)
)


def export(people: list[tuple[str, ...]] = PARTICIPANTS) -> bytes:
    rows = [
        [f"s{at}", person, status, "2024-01-01", "2024-01-02", "60", "12", *rest]
        for at, (person, status, *rest) in enumerate(people)
    ]
    return csv_bytes([EXPORT_HEADER, *rows])


def test_answers_to_which_the_export_was_joined_are_annotations() -> None:
    rows = [
        [f"s{rater}", f"p{rater}", "APPROVED", "a", "b", "60", "12", "31", "FM"[rater % 2], "White", "Peru"]
        for rater in range(6)
    ]
    joined = [[*row, f"i{i}", str((n + i) % 3)] for n, row in enumerate(rows) for i in range(5)]
    guess = recognise(read_table(csv_bytes([[*EXPORT_HEADER, "stim", "rating"], *joined]), "joined.csv"))
    assert (guess.spec.item, guess.spec.rater, guess.spec.label) == ("stim", "Participant id", "rating")
    assert "Sex" in guess.axes


def read(content: bytes) -> Table:
    return read_table(content, "prolific.csv")


def test_it_is_recognised_and_says_what_means_no_value() -> None:
    table = read(export())
    assert table.kind == "Prolific, CSV"
    recipe = recipe_of(table)
    assert recipe.spec is None
    assert recipe.missing == ("CONSENT_REVOKED", "DATA_EXPIRED")
    assert recipe.axes == (("Sex",), ("Ethnicity simplified",))  # ages and nationalities hardly recur
    with pytest.raises(DataError, match=r"prolific\.csv describes raters \(Prolific\)"):
        recognise(table)


def test_missing_texts_reach_the_data() -> None:
    votes, raters = read_table(VOTES.encode(), "votes.csv"), read(export())
    guess = recognise(votes, raters)
    assert guess.axes == ("Sex", "Ethnicity simplified")
    assert {"", "CONSENT_REVOKED", "DATA_EXPIRED"} <= set(guess.spec.missing)
    dataset = load(votes, raters, guess.spec, guess.axes)
    assert (dataset.summary.items, dataset.summary.raters, dataset.summary.annotations) == (2, 6, 12)
    assert dataset.raters.axes["Sex"].values == ("Female", "Male")
    assert dataset.raters.axes["Ethnicity simplified"].values == ("Asian", "Prefer not to say", "White")
    assert dataset.raters.axes["Sex"].codes.tolist() == [0, 0, 1, 1, -1, 1]


def test_the_older_form_of_prolific_and_what_only_names_participants() -> None:
    header = "session_id,participant_id,status,started_datetime,completed_date_time,time_taken,age"
    rows = [f"s{at},p{at},APPROVED,a,b,60,{20 + at},3,0,100,{sex}" for at, sex in enumerate("FMFM")]
    old = [f"{header},num_approvals,num_rejections,prolific_score,Sex", *rows, ""]
    table = read("\n".join(old).encode())
    assert table.kind == "Prolific, CSV"
    assert recipe_of(table).axes == (("Sex",),)
    table = read(b"participant_id,status,item,label\np1,ok,i1,x\n")
    assert table.recipe is None


@given(st.data())
def test_nothing_breaks_it(data: st.DataObject) -> None:
    cell = st.sampled_from(["", "CONSENT_REVOKED", "Female", "31", '"', "a,b", "\n"])
    people = data.draw(st.lists(st.tuples(*[cell] * 6), min_size=1, max_size=5))
    header = data.draw(st.permutations(EXPORT_HEADER))
    body = export(people).split(b"\n", 1)[1]
    read_or_refused(",".join(header).encode() + b"\n" + body, "prolific.csv")
