"""Exports of doccano and of Prodigy.

The samples are written by hand after what doccano writes, as
https://github.com/doccano/doccano/tree/master/backend/data_export documents: a file `<user>.jsonl`
(`.json`, `.csv`) per member of a project in which annotations are not shared, `all.jsonl` otherwise; columns
`id`, `text`, the text's own fields, `label`, `Comments`; labels joined by `#` in CSV. Up to version 1.2
(https://github.com/doccano/doccano/blob/v1.2.0/app/api/utils.py) `annotations` with the user's number.
"""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given

from grasp_core.model.errors import DataError
from grasp_core.reading.archives.containers import Archive, packed
from grasp_core.reading.formats.tools import doccano, prodigy
from grasp_core.reading.sandbox.read import read_table
from tests.reading.exports import cells, lines, loaded, mangled, recipe_of, refused, survives, table_of
from tests.reading.making import csv_bytes
from tests.zips import zipped

PEOPLE = ("ann", "ben", "cem", "dua")
GIVEN = {"ann": ("P", "N", "PN"), "ben": ("P", "P", ""), "cem": ("N", "N", "N"), "dua": ("N", "P", "N")}
"""Labels of texts 1 to 3, a letter each."""
LONG = {"P": "positive", "N": "negative"}


def record(number: int, letters: str, **other: Any) -> dict[str, Any]:
    labels = [LONG[letter] for letter in letters]
    about = {"text": f"Text number {number}", "source": "forum"}
    return {"id": number, **about, "label": labels, "Comments": [], **other}


def of(person: str) -> list[dict[str, Any]]:
    return [record(number, letters) for number, letters in enumerate(GIVEN[person], start=1)]


def as_csv(person: str) -> bytes:
    rows = [f"{one['id']},{one['text']},forum,{'#'.join(sorted(one['label']))}," for one in of(person)]
    return "\n".join(["id,text,source,label,Comments", *rows, ""]).encode()


ARCHIVES = {
    "JSON Lines": zipped({f"{person}.jsonl": lines(of(person)) for person in PEOPLE}),
    "JSON": zipped({f"export/{person}.json": json.dumps(of(person)).encode() for person in PEOPLE}),
    "CSV": zipped({f"{person}.csv": as_csv(person) for person in PEOPLE}),
}


@pytest.mark.parametrize("kind", ARCHIVES)
def test_a_file_per_annotator(kind: str) -> None:
    table = read_table(ARCHIVES[kind], "reviews.zip")
    assert table.kind == f"doccano, {kind}, zip"
    assert table.columns == ("item", "rater", "label", "text", "source")
    assert cells(table, "item", "rater", "label")[:6] == [
        *(("1", "ann", "positive"), ("2", "ann", "negative"), ("3", "ann", "negative + positive")),
        *(("1", "ben", "positive"), ("2", "ben", "positive"), ("3", "ben", "")),
    ]
    first = 2 if kind == "CSV" else 1
    assert [table.row(position) for position in (0, 2, 3)] == [first, first + 2, first]
    assert table.members == ()
    data = loaded(table)
    counts = dict(zip(data.summary.categories, data.summary.label_counts, strict=True))
    assert counts == {"positive": 4, "negative": 6, "negative + positive": 1}


def test_rows_bear_their_lines_and_annotators_may_have_none() -> None:
    content = b'id,text,label\n1,"one\ntwo\nthree",x\n2,four,y\n'
    read = read_table(zipped({f"{person}.csv": content for person in PEOPLE}), "d.zip")
    assert [read.row(position) for position in range(4)] == [2, 5, 2, 5]
    files = {"ann.jsonl": lines(of("ann")), "ben.jsonl": lines(of("ben")), "eve.jsonl": b"\n"}
    assert read_table(zipped(files)).distinct("rater") == ("ann", "ben")
    empty = {f"{person}.json": json.dumps(of(person)).encode() for person in ("ann", "ben")}
    assert read_table(zipped(empty | {"eve.json": b"[]"})).distinct("rater") == ("ann", "ben")


ANOTHER = lines([record(9, "P", text="Another")])


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (zipped({"train.jsonl": lines(of("ann")), "test.jsonl": ANOTHER}), "other texts.zip"),
        (zipped({"train.jsonl": lines(of("ann")), "test.jsonl": ANOTHER.replace(b"9", b"1")}), "ids.zip"),
        (zipped({"all.jsonl": lines(of("ann"))}), "one file.zip"),
        *((lines(of("ann")), name) for name in ("all.jsonl", "folder/all.jsonl", "ann.jsonl")),
        (as_csv("ann"), "ann.csv"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_files_that_tell_no_annotators_are_refused(content: bytes, name: str) -> None:
    """Where annotations are shared, the labels of all are in one list."""
    hint = "turn off 'Share annotations across all users'" if name.endswith("jsonl") else ""
    with pytest.raises(DataError, match=f"does not say who gave which label.*{hint}"):
        read_table(content, name)


def test_spans_and_damage_in_archives_are_refused() -> None:
    relations = {"entities": [{"id": 1}], "relations": [], "Comments": []}
    for spans in ({"label": [[0, 1, "P"], [1, 2, "N"]]}, relations):
        with pytest.raises(DataError, match="the labels are of spans; only labels of whole texts"):
            table_of([{"id": 1, "text": "a", **spans}])
    content = zipped({"ann.jsonl": lines(of("ann")), "ben.jsonl": lines(of("ben"))[:-4]})
    with pytest.raises(DataError, match=r"reviews.zip, ben.jsonl, row 3: "):
        read_table(content, "reviews.zip")


def test_texts_of_nobody_are_left_out() -> None:
    """Up to version 1.5 texts without labels are in a file of their own."""
    files = {f"{person}.jsonl": lines(of(person)) for person in PEOPLE}
    files["unknown.jsonl"] = lines([record(1, "P"), record(4, "")])
    table = read_table(zipped(files))
    assert table.distinct("rater") == PEOPLE
    assert "1 annotation of an unknown annotator was left out" in recipe_of(table).sentences


# fastText
TEXTS = ("Good, really", 'He said "no"\nand left', "So so")
WORDS = {"P": "very good", "N": "bad, other"}


def fasttext(given_labels: Mapping[str, tuple[str, ...]], texts: tuple[str, ...] = TEXTS) -> bytes:
    """As doccano writes it: a column of CSV without header."""
    files = {}
    for person, letters in given_labels.items():
        marked = (" ".join(sorted(f"__label__{WORDS[letter]}" for letter in labels)) for labels in letters)
        files[f"{person}.txt"] = csv_bytes([f"{m} {text} "] for m, text in zip(marked, texts, strict=True))
    return zipped(files)


def test_fasttext_of_all_annotators() -> None:
    """Labels of several words end where the text begins that all files have in the row."""
    table = read_table(fasttext(GIVEN), "reviews.zip")
    assert table.kind == "doccano, fastText, zip"
    assert table.distinct("text") == TEXTS
    assert cells(table, "item", "rater", "label")[:6] == [
        *(("1", "ann", "very good"), ("2", "ann", "bad, other"), ("3", "ann", "bad, other + very good")),
        *(("1", "ben", "very good"), ("2", "ben", "very good"), ("3", "ben", "")),
    ]
    assert loaded(table).summary.annotations == 11


def test_fasttext_where_all_agree_uses_the_labels_of_other_rows() -> None:
    agreed = {person: ("P", "N", "P") for person in ("ann", "ben")} | {"cem": ("P", "P", "P")}
    assert read_table(fasttext(agreed), "a.zip").distinct("label") == ("very good", "bad, other")
    with pytest.raises(DataError, match="row 1: where the label ends and the text begins cannot be told"):
        read_table(fasttext({"ann": ("P", "P", "P"), "ben": ("P", "P", "P")}), "a.zip")


def test_texts_may_begin_as_fasttext_does_and_fields_name_annotators() -> None:
    table = read_table(b"text,rater\n__label__P Great film,ann\nBad film,ben\n", "texts.csv")
    assert table.distinct("text") == ("__label__P Great film", "Bad film")
    table = table_of([record(number, "P", annotator=who) for number in (1, 2) for who in ("ann", "ben")])
    assert (table.distinct("rater"), table.problems) == (("ann", "ben"), ())


def test_fasttext_that_cannot_be_told_is_refused() -> None:
    alone = b"__label__good A text\n__label__bad Another\n"
    with pytest.raises(DataError, match="is fastText, which holds labels and texts but not who"):
        read_table(alone, "all.txt")
    with pytest.raises(DataError, match="is fastText"):
        read_table(zipped({"all.txt": alone}), "all.zip")
    with pytest.raises(DataError, match=r"unequally many texts \(2 of 'ann', 1 of 'ben'\)"):
        read_table(zipped({"ann.txt": alone, "ben.txt": alone[:21]}), "a.zip")
    ending = ("the first", "the second", "the third")
    with pytest.raises(DataError, match="all texts seem to begin with 'the'"):
        read_table(fasttext({"ann": ("P", "P", "N"), "ben": ("N", "N", "P")}, ending), "a.zip")
    told = read_table(fasttext({"ann": ("P", "P", ""), "ben": ("N", "N", "P")}, ending), "a.zip")
    assert told.distinct("text") == ending


# With the annotators' numbers
def numbered(number: int, *given_by: tuple[int, int]) -> dict[str, Any]:
    annotations = [{"label": label, "user": user, "created_at": "2020"} for user, label in given_by]
    about = {"text": f"Text number {number}", "meta": {"source": "forum"}, "annotation_approver": None}
    return {"id": number, "annotations": annotations, **about}


NUMBERED = [numbered(1, (1, 5), (2, 5), (3, 6), (4, 6)), numbered(2, (1, 6), (1, 5), (2, 5), (3, 6), (4, 6))]


@pytest.mark.parametrize("content", [json.dumps(NUMBERED).encode(), lines(NUMBERED)], ids=["JSON", "lines"])
def test_annotators_by_number(content: bytes) -> None:
    table = read_table(content, "reviews")
    assert cells(table, "item", "rater", "label", "meta.source") == [
        *(("1", str(user), "5566"[user - 1], "forum") for user in range(1, 5)),
        *(("2", str(user), ("5 + 6", "5", "6", "6")[user - 1], "forum") for user in range(1, 5)),
    ]
    assert loaded(table).summary.label_counts == (3, 4, 1)


def test_annotators_by_number_in_csv() -> None:
    rows = ["1,a,{},,5,1", "1,a,{},,6,1", "1,a,{},,6,2", "2,b,{},,6,1", "2,b,{},,6,"]
    text = "\n".join(["id,text,meta,annotation_approver,label,user", *rows, ""])
    table = read_table(text.encode(), "x.csv")
    assert cells(table, "item", "rater", "label") == [("1", "1", "5 + 6"), ("1", "2", "6"), ("2", "1", "6")]
    assert [table.row(position) for position in range(3)] == [2, 4, 5]
    assert "1 annotation of an unknown annotator was left out" in recipe_of(table).sentences


# Damage
def test_damage_is_one_sentence() -> None:
    many = [record(number, "P") for number in range(1, 22)]  # as many as tell whose file it is
    refused([*many, {"id": 22, "text": "a"}], "record 22: 'label' should be a list, found nothing")
    refused([*many, {"text": "a", "label": []}], "record 22: 'id' should be the text's number, found nothing")
    refused([*many, record(22, "", label=[{}])], "record 22: an entry of 'label' should be a text")
    span = {"label": 1, "user": 1, "start_offset": 0, "end_offset": 2}
    for found, said in (
        (None, "'annotations' should be a list, found nothing"),
        ([1], "an annotation should be an object, found '1'"),
        ([span], "the labels are of spans; only"),
    ):
        refused([NUMBERED[0], {"id": 2, "annotations": found}], f"record 2: {said}")


def test_other_records_are_of_neither() -> None:
    one = {"id": "1", "text": "a", "label": "P"}
    for record in (one, {"id": "1", "label": ["P"]}, {"text": "a", "label": ["P"]}):
        assert doccano.read([record], "other.json") is None, record
    for record in ({"answer": "accept"}, {"answer": "yes", "_input_hash": "1"}, {"accept": ["a"]}):
        assert prodigy.read([record], "other.json") is None, record


@given(mangled(of("ann")) | mangled(NUMBERED))
def test_mangled_records(records: list[dict[str, Any]]) -> None:
    survives(doccano.read, records, "reviews.json")


@given(mangled(of("ann")))
def test_mangled_archives(records: list[dict[str, Any]]) -> None:
    files = {"ann.jsonl": lines(of("ann")), "ben.jsonl": lines(records)}
    survives(doccano.read_archive, Archive(packed(files.items()), "reviews.zip"))


# Prodigy's exports.
#
# The samples are written by hand after https://prodi.gy/docs/api-interfaces (tasks, `answer`, `options` and
# `accept`, `field_id`), https://prodi.gy/docs/install#multi-user-sessions (`_session_id`) and
# https://prodi.gy/docs/review (`_annotator_id`, hashes).
SESSIONS = ("news-ann", "news-ben", "news-cem", "news-dua")
OPTIONS = [{"id": "POS", "text": "Positive"}, {"id": "NEG", "text": "Negative"}, {"id": 0, "text": "Neutral"}]


def task(number: int, rater: str | None, answer: str = "accept", **other: Any) -> dict[str, Any]:
    about = {"text": f"Text number {number}", "meta": {"source": "forum", "row": number}}
    hashes = {"_input_hash": -1000 - number, "_task_hash": 2000 + number}
    signed = {"_timestamp": 1690289516, "_annotator_id": rater, "_session_id": rater}
    return {**about, **hashes, **other, "answer": answer, **signed}


def binary(number: int, rater: str, answer: str, label: str = "TOXIC") -> dict[str, Any]:
    hashed = {"_task_hash": 2000 + number + 100 * (label != "TOXIC")}
    return task(number, rater, answer, label=label, _view_id="classification", **hashed)


def choice(number: int, rater: str, accept: Any, answer: str = "accept", style: str = "single") -> dict:
    config = {"choice_style": style}
    return task(number, rater, answer, options=OPTIONS, accept=accept, config=config, _view_id="choice")


ANSWERS = {"a": "accept", "r": "reject", "i": "ignore"}
BINARY = [
    binary(number, rater, ANSWERS[answer])
    for number, answers in enumerate(("aarr", "arra", "aaai"), start=1)
    for rater, answer in zip(SESSIONS, answers, strict=True)
]
CHOICE = [
    *(choice(1, SESSIONS[0], ["POS"]), choice(1, SESSIONS[1], ["POS"])),
    *(choice(1, SESSIONS[2], ["NEG"]), choice(1, SESSIONS[3], [0])),
    *(choice(2, SESSIONS[0], ["NEG"]), choice(2, SESSIONS[1], ["POS"], "reject")),
    *(choice(2, SESSIONS[2], ["NEG"]), choice(2, SESSIONS[3], [])),
]


def test_binary_tasks() -> None:
    table = read_table(lines(BINARY), "news.jsonl")
    assert table.kind == "Prodigy, JSON"
    assert ",".join(table.columns) == "item,rater,answer,text,label,meta.source,meta.row,timestamp"
    assert cells(table, "item", "rater", "answer")[8:] == [
        *(("2003", "news-ann", "accept"), ("2003", "news-ben", "accept")),
        *(("2003", "news-cem", "accept"), ("2003", "news-dua", "")),
    ]
    assert [table.row(position) for position in (0, 11)] == [1, 12]
    assert recipe_of(table).sentences[0] == "1 ignored task counts as missing"
    assert "each input with its label is one item" in recipe_of(table).sentences[1]
    data = loaded(table)
    assert (data.summary.items, data.summary.raters, data.summary.annotations) == (3, 4, 11)
    assert (data.summary.categories, data.summary.label_counts) == (("accept", "reject"), (7, 4))


def test_several_options_and_inputs_under_two_labels() -> None:
    given = ((["POS", 0], "accept"), ([0, "POS"], "accept"), ([], "accept"), ([], "ignore"))
    records = [choice(1, who, *one, style="multiple") for who, one in zip(SESSIONS, given, strict=True)]
    table = read_table(lines(records), "news.jsonl")
    assert [text for (text,) in cells(table, "accept")] == ["0 + POS", "0 + POS", "(none)", ""]
    assert recipe_of(table).sentences == (
        "1 ignored task counts as missing",
        "'(none)' stands for no option where several may be chosen",
        "several choices in one annotation were sorted and joined by ' + '",
    )
    both = read_table(lines([binary(1, "ds-ann", "accept"), binary(1, "ds-ann", "reject", "SPAM")]))
    told = [("2001", "TOXIC", "accept"), ("2101", "SPAM", "reject")]
    assert cells(both, "item", "label", "answer") == told


def test_choice_tasks() -> None:
    table = read_table(lines(CHOICE), "news.jsonl")
    assert cells(table, "item", "rater", "accept") == [
        *(("-1001", "news-ann", "POS"), ("-1001", "news-ben", "POS")),
        *(("-1001", "news-cem", "NEG"), ("-1001", "news-dua", "0")),
        *(("-1002", "news-ann", "NEG"), ("-1002", "news-ben", "")),
        *(("-1002", "news-cem", "NEG"), ("-1002", "news-dua", "")),
    ]
    assert recipe_of(table).sentences == ("1 rejected task counts as missing",)
    assert loaded(table).summary.annotations == 6


@pytest.mark.parametrize("declared", [True, False])
def test_ratings_that_are_filled_in(declared: bool) -> None:
    field = {"field_id": "rating"} if declared else {}
    given_ratings = ((1, "ds-ann", "5"), (1, "ds-ben", "2"), (2, "ds-ann", "5"))
    records = [task(number, rater, rating=value, **field) for number, rater, value in given_ratings]
    table = read_table(lines([*records, task(2, "ds-ben", "ignore", rating="2", **field)]))
    expected = [(str(-1000 - number), rater, value) for number, rater, value in given_ratings]
    assert cells(table, "item", "rater", "rating") == [*expected, ("-1002", "ds-ben", "")]
    assert loaded(table).summary.annotations == 3


def test_who_is_not_known_is_left_out_and_missing_options_are_told() -> None:
    table = read_table(lines([*BINARY, task(9, None), {**task(9, None), "_session_id": "news-eve"}]))
    assert "1 annotation of an unknown annotator was left out" in recipe_of(table).sentences
    assert (len(table), table.cell("rater", 12)) == (13, "news-eve")
    more = [choice(3, "2023-07-25_14-50-21", ["POS"]), task(4, SESSIONS[0])]
    table = read_table(lines([*CHOICE, *more]), "news.jsonl")
    assert len(table) == len(CHOICE) + 1
    assert "1 annotation of an unknown annotator was left out" in recipe_of(table).sentences
    assert "1 task without options counts as missing" in recipe_of(table).sentences


def without(record: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in keys}


def test_damage_of_prodigy_is_one_sentence() -> None:
    wrong = "'answer' should be accept, reject or ignore"
    refused([BINARY[0], without(BINARY[1], "answer")], f"2: {wrong}")
    refused([BINARY[0], {**BINARY[1], "answer": "yes"}], f"{wrong}, found")
    no_hash = without(BINARY[1], "_input_hash", "_task_hash")
    refused([BINARY[0], no_hash], "2: '_input_hash' should be the number that Prodigy gives each input")
    refused([CHOICE[0], {**CHOICE[1], "accept": "POS"}], "2: 'accept' should be a list")
    refused([CHOICE[0], {**CHOICE[1], "accept": [["POS"]]}], "2: an option of 'accept' should be a text")
    for sessions in (("2023-07-25_14-50-21", "news-2023-07-25_14-50-21"), (None, None)):
        nobody = [task(number, session) for number, session in enumerate(sessions)]
        refused(nobody, "no record says who answered it; annotate in named sessions")
    refused([{**BINARY[0], "versions": [{"sessions": ["news-ann"]}]}], "`prodigy review` decided")
    spans = [{"start": 0, "end": 4, "label": "A"}]
    refused([task(1, SESSIONS[0], spans=spans, _view_id="ner_manual")], "spans or regions that were marked")


@given(mangled(BINARY[:4]) | mangled(CHOICE[:4]))
def test_mangled_answers(records: list[dict[str, Any]]) -> None:
    survives(prodigy.read, records, "news.jsonl")
