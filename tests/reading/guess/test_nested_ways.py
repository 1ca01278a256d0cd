"""Exports of tools and data sets that nest answers, or write nothing in a way of their own, each small."""

import json
from random import Random

import pytest

from grasp_core.model.data_spec import DataSpec
from grasp_core.model.errors import DataError
from grasp_core.reading.dataset.load import load
from grasp_core.reading.guess.advice import Named
from grasp_core.reading.guess.recognise import recognise
from grasp_core.reading.table.table import Table
from tests.reading.exports import table_of
from tests.reading.made_up import asked
from tests.reading.making import numbered, read_here
from tests.zips import zipped

RNG = Random(7)
WHO = ["ana@x.org", "bo@x.org", "cy@x.org", "di@x.org"]


def counts(table: Table, spec: DataSpec) -> tuple[int, int, int]:
    summary = load(table, None, spec).summary
    return summary.annotations, summary.items, summary.raters


def votes(n: int = 3, labels: str = "yn") -> list[dict[str, str]]:
    """What some of the raters say of one item."""
    return [{"annotator": who, "label": RNG.choice(labels)} for who in RNG.sample(WHO, n)]


def test_lists_in_lists_in_lists_are_read():
    def part(a: int, p: int) -> dict[str, object]:
        return {"text": f"text {a} {p}", "qas": [{"id": f"q{a}{p}", "judgments": votes()}]}

    texts = [{"title": f"T{a}", "parts": [part(a, p) for p in range(3)]} for a in range(8)]
    table = table_of({"version": "2.0", "data": texts})
    assert counts(table, recognise(table).spec) == (72, 24, 4)


@pytest.mark.parametrize("several", [False, True])
def test_an_answer_in_a_list_of_its_own_is_the_label_and_answers_with_names_are_questions(several: bool):
    """As Labelbox and Kili write them: who answered is told by an address, and how long it took beside it."""

    def given(who: str) -> dict[str, object]:
        answers = [{"name": "Rude", "radio_answer": {"name": RNG.choice(["Rude", "Kind"])}}]
        topics = {"name": "Topics", "checklist_answers": [{"name": one} for one in RNG.sample("abc", 2)]}
        details = {"created_by": who, "seconds_to_label": RNG.randint(1, 9)}
        answered = {"objects": [], "classifications": [*answers, *([topics] if several else [])]}
        return {"isLatestLabelForUser": True, "label_details": details, "annotations": answered}

    labels = ([given(who) for who in RNG.sample(WHO, 3)] for _ in range(30))
    table = table_of(
        [{"data_row": {"id": f"d{n}"}, "projects": {"p1": {"labels": own}}} for n, own in enumerate(labels)]
    )
    guess = recognise(table)
    assert not guess.uncertain
    within = "projects.p1.labels.annotations.classifications"
    assert guess.spec.label == (f"{within}.Rude" if several else within) + ".radio_answer.name"
    assert counts(table, guess.spec) == (90, 30, 4)


def test_an_answer_that_is_only_called_like_an_id_is_asked_about():
    def given(who: str) -> dict[str, object]:
        chosen = {"categories": [{"confidence": 100, "name": RNG.choice(["POS", "NEG"])}]}
        about = {"isLatestLabelForUser": True, "secondsToLabel": RNG.randint(3, 9)}
        return {"author": {"email": who}, "job": chosen, **about}

    table = table_of(
        [{"id": f"k{n}", "labels": [given(who) for who in RNG.sample(WHO, 3)]} for n in range(30)]
    )
    guess = recognise(table)
    assert asked(guess) == {"label": ("labels.job.categories.name",)}
    named = recognise(table, named=Named(label="labels.job.categories.name")).spec
    assert counts(table, named) == (90, 30, 4)


def test_one_object_in_a_list_of_a_record_is_taken_apart():
    def record(n: int, who: str) -> dict[str, object]:
        chosen = [{"answer": {"title": RNG.choice("xy")}}]
        return {"task": f"t{n}", "annotator": who, "Label": {"classifications": chosen}}

    table = table_of([record(n, who) for n in range(20) for who in WHO])
    assert recognise(table).spec.label == "Label.classifications.answer.title"


@pytest.mark.parametrize("often", [3, 4])
def test_a_field_that_some_records_lack_is_a_question_like_the_others(often: int):
    def given(n: int, who: str) -> dict[str, str]:
        more = {"rude": RNG.choice(["yes", "no"])} if n % 5 < often else {}
        return {"annotator": who, "kind": RNG.choice(["yes", "no"]), **more}

    table = table_of(
        [{"id": f"x{n}", "annotations": [given(n, who) for who in RNG.sample(WHO, 3)]} for n in range(30)]
    )
    assert "annotations.rude" in table.columns
    assert counts(table, recognise(table, named=Named(label="annotations.kind")).spec) == (90, 30, 4)


def test_a_list_of_annotations_is_read_from_beside_a_list_of_items():
    items = [{"id": n, "text": f"text {n}"} for n in range(20)]
    raters = [{"id": who, "gender": "F"} for who in WHO]
    votes = [{"item_id": n, "rater_id": who, "label": RNG.choice("pq")} for n in range(20) for who in WHO[:3]]
    for called in ("items", "posts"):
        table = table_of({called: items, "raters": raters, "annotations": votes})
        assert counts(table, recognise(table).spec) == (60, 20, 3)


def test_raters_listed_under_each_label_are_told_as_such():
    records = []
    for n in range(30):
        by: dict[str, list[str]] = {"positive": [], "negative": [], "neutral": []}
        for who in RNG.sample(range(12), 5):
            by[RNG.choice([*by])].append(f"w{who}")
        records.append({"hits": ["y1"], "sentence": f"text {n}", "label_distribution": by})
    with pytest.raises(DataError, match="are lists of raters, each named after what these answered"):
        table_of(records)


def test_labels_under_items_under_raters_are_a_matrix():
    """Also where the raters are called as those whom a file of the LeWiDi shared tasks describes."""
    table = table_of({f"Ann{j}": {f"doc{n}": RNG.choice(["yes", "no"]) for n in range(9)} for j in range(4)})
    guess = recognise(table)
    assert (guess.spec.layout, guess.spec.rater) == ("raters-by-items", "key")
    assert counts(table, guess.spec) == (36, 9, 4)


def test_no_choice_of_several_is_kept_and_asked_about():
    head = "id,annotators,annotations"
    rows = [
        f"{n},\"['a1', 'a2', 'a3']\",\"[['age'], [], {RNG.choice(['[`age`, `race`]', '[`race`]'])}]\""
        for n in range(20)
    ]
    table = read_here("\n".join([head, *rows]).replace("`", "'").encode(), "votes.csv")
    guess = recognise(table)
    assert counts(table, guess.spec)[0] == 60
    assert [one.values for one in guess.advice if one.field == "missing"] == [("[]",)]


def test_files_of_one_item_each_tell_their_item_and_a_second_name_of_the_raters_is_no_item():
    """As Ground Truth writes what its workers answered."""

    def answer(who: int) -> dict[str, object]:
        chosen = {"classifier": {"label": RNG.choice(["good", "bad"])}}
        return {
            "answerContent": chosen,
            "workerId": f"private.{who:04d}",
            "workerMetadata": {"sub": f"s-{who}"},
        }

    files = {}
    for n in range(12):
        answers = {"answers": [answer(who) for who in RNG.sample(range(5), 3)]}
        files[f"{n}/2020-01-01_10:00:{n:02d}.json"] = json.dumps(answers).encode()
    table = read_here(zipped(files), "worker-response.zip")
    guess = recognise(table)
    assert (guess.spec.item, guess.spec.rater) == ("item", "answers.workerId")
    assert counts(table, guess.spec) == (36, 12, 5)


# Tables


def test_rows_of_delimiters_alone_are_no_rows():
    """As Toloka writes one below each suite of tasks."""
    rows = [f"{n}\tw{who}\t{RNG.choice(['OK', 'BAD'])}" for n in range(20) for who in RNG.sample(range(6), 3)]
    blank = [row for at, row in enumerate(rows) for row in ([row, "\t\t"] if at % 5 == 4 else [row])]
    table = read_here(
        "\n".join(["INPUT:image\tASSIGNMENT:worker_id\tOUTPUT:result", *blank]).encode(), "a.tsv"
    )
    assert counts(table, recognise(table).spec) == (60, 20, 6)
    assert table.row(5) == 8
    with pytest.raises(DataError, match="column names and no rows"):
        read_here(b"item,rater,label\n,,\n,,\n", "votes.csv")


def test_numbers_without_names_may_begin_with_some_that_are_missing():
    rows = ["1.0 2.0 3.0 nan nan", "1.0 2.0 3.0 5.0 nan", "nan 3.0 3.0 5.0 1.0", "1.0 2.0 3.0 5.0 1.0"]
    assert len(read_here("\n".join(rows).encode(), "votes.csv")) == 4
    named = read_here(b"item,none,some\n1,4,0\n2,3,1\n3,4,0\n4,1,3\n", "votes.csv")
    assert named.columns == ("item", "none", "some")


def test_counts_are_refused_also_where_a_label_is_called_like_a_sum():
    def row(n: int) -> list[object]:
        votes = RNG.randint(0, 90)
        return [f"u{n}", votes, 99 - votes, 1]

    table = numbered("uid counter.e counter.n counter.c", row, 20)
    told = recognise(table, named=Named(layout="items-by-raters")).uncertain
    assert "the cells of each row add up to 100" in told[0].sentence


def test_coders_who_all_say_the_same_are_coders():
    table = numbered("unit coder1 coder2 coder3", lambda n: [f"u{n}", 1, 1, 1], 6)
    assert not recognise(table).uncertain


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("#FORMAT=WebAnno TSV 3.2\n#T_SP=ner|value\n\n#Text=One two\n1-1\t0-3\tOne\t_\t\n", "WebAnno TSV"),
        ("T1\tLOC 6 11\tWorld\nA1\tNegation T1\n", "a file of brat"),
    ],
)
def test_marked_spans_are_refused_as_what_they_are(text: str, told: str):
    with pytest.raises(DataError, match=told):
        read_here(text.encode(), "d1.ann")


def test_of_several_lists_those_named_like_labels_are_told():
    def record(n: int) -> dict[str, object]:
        return {"hits": [str(n)], "text": f"text {n}", "annotator_labels": RNG.choices("xyz", k=5)}

    (doubt,) = recognise(table_of([record(n) for n in range(20)])).uncertain
    assert "'annotator_labels' holds lists of values" in doubt.sentence
    answers = [[[who, RNG.choice("xy")] for who in WHO] for _ in range(20)]
    pairs = [{"id": n, "text": f"text {n}", "votes": own} for n, own in enumerate(answers)]
    (doubt,) = recognise(table_of(pairs)).uncertain
    assert "'votes' holds lists of lists, which were not taken apart" in doubt.sentence


def test_of_few_rows_without_names_either_id_is_offered_for_either_role():
    """As triples of coder, item and label, which other programs take in this order."""
    rows = [f"{who},{n},{RNG.choice('12')}" for who in range(3) for n in range(3)]
    found = asked(recognise(read_here("\n".join(rows).encode(), "triples.csv")))
    assert set(found["item"]) == set(found["rater"]) == {"column 1", "column 2"}


def test_names_of_any_kind_and_cells_of_a_bracket_are_borne():
    for name in ({"first": "A"}, ["A"], None, 3, ""):
        given = [{"annotator": who, "label": "x", "said": [{"name": name, "of": []}] * 2} for who in WHO]
        table = table_of([{"id": n, "annotations": given} for n in range(9)])
        assert "annotations.label" in table.columns
    assert recognise(numbered("id text labels", lambda n: [n, f"t{n}", "["], 9)).uncertain
