"""Doubts about ids, spans, questions, rows and files are told or asked about."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from random import Random

import pytest

from grasp_core import cli
from grasp_core.model.errors import DataError
from grasp_core.reading.dataset.load import load
from grasp_core.reading.guess.advice import Named
from grasp_core.reading.guess.recognise import Guess, file_roles, question, recognise, with_items
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Table
from tests.reading.making import rows_table
from tests.shared_data import DICES350, SHARED, needs_shared_data

# Ids, spans and questions


HEADER = ["HITId", "AssignmentId", "WorkerId", "Input.text", "Answer.spans"]


def batch(answer, header=HEADER, more=()) -> bytes:
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(header)
    for n in range(30):
        writer.writerow([f"H{n // 3}", f"A{n}", f"W{n % 3}", f"a text {n // 3}", answer(n), *more])
    return file.getvalue().encode()


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        (lambda n: json.dumps([{"start": n, "end": n + 2}]), "objects in JSON"),
        (lambda n: f"I have read this text {n} times and never understood what it is about", "free answers"),
    ],
)
def test_what_is_no_label_is_asked(answer, what) -> None:
    guess = recognise(read_table(batch(answer), "batch.csv"))
    assert [reason.field for reason in guess.uncertain] == ["label"]
    assert what in guess.uncertain[0].sentence


def test_answers_that_recur_are_labels() -> None:
    assert not recognise(read_table(batch(lambda n: "yn"[n % 2]), "batch.csv")).uncertain


def test_codes_for_no_answer_in_known_formats_too() -> None:
    guess = recognise(read_table(batch(lambda n: [1, 2, 3, 4, -99][n % 5]), "batch.csv"))
    assert (guess.spec.missing, guess.advised.missing) == (("",), ("", "-99"))


# Rows that mark spans are no labels of items, also where equal ones would count once.
def marked(columns: tuple[str, str], each: int = 2, step: int = 4) -> Table:
    """Spans of eight documents by four annotators, as many for each; all of a pair are of one kind."""
    rows = [
        [f"d{d}", f"a{a}", str(10 * k + a), str(10 * k + a + step), ("toxic", "insult")[(d * a + d) % 3 % 2]]
        for d in range(8)
        for a in range(1, 5)
        for k in range(each)
    ]
    return rows_table([["doc_id", "annotator", *columns, "label"], *rows])


@pytest.mark.parametrize(
    "columns", [("start", "end"), ("begin_char", "end_char"), ("startOffset", "endOffset")]
)
def test_spans_are_asked_about(columns: tuple[str, str]) -> None:
    why = (
        f"no column looks like labels: '{columns[0]}' and '{columns[1]}' mark spans, several of one rater "
        "in one item, on which no agreement is computed"
    )
    assert [(one.field, one.sentence) for one in recognise(marked(columns)).uncertain] == [("label", why)]
    assert not recognise(marked(columns), named=Named(label="label")).uncertain


@pytest.mark.parametrize(
    "table",
    [
        marked(("start", "end"), each=1),
        marked(("start", "end"), step=-1),
        marked(("start_time", "end_time")),
        marked(("left", "right")),
    ],
)
def test_other_numbers_are_none(table: Table) -> None:
    assert not recognise(table).uncertain


# Answers to several questions in one column are asked about where another column names the questions.
ASKED = ("clear", "fluent", "true")


def votes(column: str, of, item: str = "item") -> Table:
    """Nine items by six raters, each with the questions that `of` gives."""
    rows = [
        [f"i{n}", f"w{r}", one, str(1 + (n * r + at) % 5)]
        for n in range(9)
        for r in range(6)
        for at, one in enumerate(of(n, r))
    ]
    return rows_table([[item, "rater", column, "score"], *rows])


@pytest.mark.parametrize("column", ["variable", "quality_criterion", "metric_name", "score_type"])
@pytest.mark.parametrize("of", [lambda n, r: ASKED, lambda n, r: ASKED[r % 3 :][:1]])
def test_several_questions_are_asked_about(column: str, of) -> None:
    """Whether each rater answers all of them, or one."""
    (asked,) = recognise(votes(column, of)).uncertain
    assert (asked.field, asked.candidates) == ("label", ("score",))
    assert f"('{column}' names what each row answers ('clear', 'fluent', 'true'), so " in question(asked)


def test_items_without_a_name_are_found_within_one_question() -> None:
    """Criteria of albums, which no column calls items; the option that is told leaves one of them."""
    table = votes("criterion", lambda n, r: ASKED, item="album")
    (asked,) = recognise(table).uncertain
    assert (asked.field, asked.candidates) == ("label", ("score",))
    assert "--drop criterion=fluent --drop criterion=true" in asked.sentence
    assert recognise(table, named=Named(label="score")).spec.item == "album"


@pytest.mark.parametrize(
    ("column", "of"),
    [("dimension", lambda n, r: ASKED[n % 3 :][:1]), ("topic_type", lambda n, r: ASKED[r % 3 :][:1])],
)
def test_what_is_the_item_s_or_called_otherwise_is_no_question(column: str, of) -> None:
    assert not recognise(votes(column, of)).uncertain


def test_a_label_that_is_named_is_sure() -> None:
    assert not recognise(votes("dimension", lambda n, r: ASKED), named=Named(label="score")).uncertain


# Ids that begin anew are asked about; those that mean the same everywhere are not.
PLACES = ("north", "south")


def table(columns: dict, raters: int = 6, items: int = 10) -> Table:
    """A row for each item, rater and place; each column is made of place, item and rater."""
    rows = [
        [make(place, item, rater) for make in columns.values()]
        for place in range(len(PLACES))
        for item in range(items)
        for rater in range(raters)
        if (item + rater) % 2
    ]
    return rows_table([list(columns), *rows])


def asked(guess: Guess) -> list[tuple[str, str]]:
    return [(one.field, one.sentence) for one in guess.uncertain]


LABEL = {"label": lambda place, item, rater: Random(f"{place} {item} {rater}").choice("yn")}
ANEW = {
    "item": lambda place, item, rater: f"i{item}",
    "rater": lambda place, item, rater: f"{'ab'[place]}{rater}",
}


@pytest.mark.parametrize("name", ["dataset", "source_corpus"])
def test_the_same_items_in_several_sets_are_several(name: str) -> None:
    both = table(ANEW | {name: lambda place, item, rater: PLACES[place]} | LABEL)
    why = f"'item': the same ids are there in several '{name}'"
    assert asked(recognise(both)) == [("item", why)]
    assert asked(recognise(both, named=Named(item="item"))) == []


def test_raters_of_two_countries_share_their_items() -> None:
    assert asked(recognise(table(ANEW | {"country": lambda place, *_: PLACES[place]} | LABEL))) == []


def test_an_id_with_several_texts_is_several_items() -> None:
    words = {
        "content": lambda place, item, rater: f"what was said about number {item} in the {PLACES[place]}"
    }
    why = "'item': one id has several texts in 'content', each of them rated by several"
    assert asked(recognise(table(ANEW | words | LABEL, raters=8, items=16))) == [("item", why)]
    own = {"why": lambda place, item, rater: f"because rater {rater} of {PLACES[place]} thinks so of {item}"}
    assert asked(recognise(table(ANEW | own | LABEL, raters=8, items=16))) == []


PEOPLE = {
    "item": lambda place, item, rater: f"{'ab'[place]}{item}",
    "rater": lambda place, item, rater: f"annotator {rater}",
}


@pytest.mark.parametrize("place", ["batch", "country"])
def test_a_rater_of_two_genders_is_two_people(place: str) -> None:
    more = {
        place: lambda where, *_: PLACES[where],
        "gender": lambda where, item, rater: ("Woman", "Man")[(rater // 2 + where) % 2],
    }
    differs = f"'gender' differs with '{place}'"
    why = f"'rater': one id may be several people, as {differs}"
    assert asked(recognise(table(PEOPLE | more | LABEL))) == [("rater", why)]
    assert asked(recognise(table(PEOPLE | more | LABEL), named=Named(rater="rater"))) == []


def about(value) -> list[str]:
    """What is said of axes, where each row's age is made of its place, item and rater."""
    more = {"batch": lambda place, *_: PLACES[place], "age_group": value}
    guess = recognise(table(PEOPLE | more | LABEL))
    assert asked(guess) == []
    return [reason.sentence for reason in guess.reasons if reason.field == "axes"]


def test_a_rater_of_two_ages_by_mistake_is_said() -> None:
    mistaken = about(lambda place, item, rater: "65+" if (item, rater) == (2, 1) else f"{rater % 3}0s")
    assert "'age_group' is none: 1 rater of 6 has several values" in mistaken


@pytest.mark.parametrize(
    "value",
    [
        lambda place, item, rater: f"{rater % 3}0s",
        lambda place, item, rater: f"{rater % 3}0s" if item % 3 else "",
        lambda place, item, rater: f"{item % 3}0s",
        lambda place, item, rater: f"{(item + place) % 3}0s",
    ],
)
def test_nothing_is_said_of_raters_who_have_one_or_of_what_is_no_rater_s(value) -> None:
    assert not any("is none" in sentence for sentence in about(value))


# Rows that may not be meant to count
ROWS = [(n, r) for n in range(9) for r in range(6)]


def beside(column: str, of_row, *more: str) -> Table:
    """A long file with a further column, made of each row's item and rater."""
    rows = [f"i{n},w{r},{'yn'[(n + r) % 2]},{'fm'[r % 2]},{of_row(n, r)}" for n, r in ROWS]
    return read_table("\n".join([f"item,worker,answer,gender,{column}", *rows, *more]).encode(), "votes.csv")


def doubts(guess: Guess) -> list[str]:
    found = [one for one in guess.reasons if one.field in ("exclude", "filters")]
    assert not guess.uncertain
    assert all(one.confidence == "unsure" for one in found)
    return [one.sentence for one in found]


def counted(table: Table, guess: Guess) -> int:
    return load(table, None, guess.spec, guess.axes).summary.annotations


ACCEPTED = "such answers may not have been accepted"
MADE = "such labels may be a model's, or made of others'"


@pytest.mark.parametrize(
    ("column", "of_row", "value", "rows", "may"),
    [
        ("accept", lambda n, r: int(n != r), "0", 6, ACCEPTED),
        ("reject", lambda n, r: ("no", "yes")[n == r], "yes", 6, ACCEPTED),
        ("removed", lambda n, r: (n + r) % 2, "1", 27, ACCEPTED),
        ("is_valid", lambda n, r: (n + r) % 2, "0", 27, ACCEPTED),
        ("is_test", lambda n, r: int(n < 2), "1", 12, "such rows may be tests"),
        ("annotator_type", lambda n, r: ("human", "model")[r == 5], "model", 9, MADE),
        ("label_source", lambda n, r: ("crowd", "consensus")[n == r], "consensus", 6, MADE),
    ],
)
def test_rows_that_may_not_count_do_and_it_is_said(column, of_row, value, rows, may) -> None:
    table = beside(column, of_row)
    guess = recognise(table)
    assert (counted(table, guess), guess.axes) == (54, ("gender",))
    assert doubts(guess) == [
        f"'{column}' = '{value}' in {rows} rows of 54: {may}; they count, unless left out on Data, "
        f"under Leave out, or by --drop {column}={value}"
    ]


@pytest.mark.parametrize(
    ("column", "of_row"),
    [
        ("accept", lambda n, r: n % 2),  # the paper was, not the answer
        ("accept", lambda n, r: (n + r) % 3),
        ("author_type", lambda n, r: ("model", "human")[n % 2]),
        ("source", lambda n, r: ("web", "news")[(n + r) % 2]),
        ("test_score", lambda n, r: (n + r) % 2),
    ],
)
def test_what_says_something_else_is_no_doubt(column, of_row) -> None:
    table = beside(column, of_row)
    guess = recognise(table)
    assert (counted(table, guess), doubts(guess)) == (54, [])


def test_a_column_without_any_value_and_ids_of_random_letters_are_no_doubt() -> None:
    table = beside("_country", lambda n, r: "NA", *(f"i{n},llm4ki6p517tnu48lsl9,y,,NA" for n in range(9)))
    assert doubts(recognise(table)) == []


def test_raters_called_like_models_count_and_are_named() -> None:
    rows = [f"i{n},{who},y,," for n in range(9) for who in ("gpt-4o", "Claude 3 Opus", "Claude")]
    table = beside("x", lambda n, r: "", *rows)
    guess = recognise(table)
    assert counted(table, guess) == 81
    assert doubts(guess) == [
        "'gpt-4o', 'Claude 3 Opus' are called like models, not like the other raters; they count, unless "
        "left out on Data, under Leave out, or by --exclude-rater gpt-4o"
    ]


@pytest.mark.parametrize(
    ("column", "of_row", "why"),
    [
        ("failed_checks", lambda n, r: r // 2, "'1' (one of 3 values, as counts have)"),
        ("uses_bot", lambda n, r: ("yes", "no")[r // 3], "'yes' (3 of 6 raters, so many)"),
        ("consent", lambda n, r: ("No", "Yes")[r > 0], "'No' (1 of 6 raters)"),
        ("speeder", lambda n, r: int(r < 2), "'1' (2 of 6 raters)"),
    ],
)
def test_counts_and_habits_exclude_nobody_by_themselves(column, of_row, why) -> None:
    table = beside(column, of_row)
    guess = recognise(table)
    assert (counted(table, guess), guess.axes) == (54, ("gender",))
    (said,) = doubts(guess)
    assert said.startswith(f"'{column}' = {why} may say who should not count; nobody is left out")


@pytest.mark.parametrize("named", [[], ["--item", "item", "--rater", "worker", "--label", "answer"]])
def test_the_command_says_so_and_leaves_out_what_is_named(tmp_path, monkeypatch, capsys, named) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"i{n},w{r},{'yn'[(n + r) % 2]},{'fm'[r % 2]},{int(n != r)}" for n, r in ROWS]
    (tmp_path / "votes.csv").write_text("\n".join(["item,worker,answer,gender,accept", *rows]))
    run = ["run", "--annotations", "votes.csv", "--axis", "gender", "--permutations", "20", *named]
    assert cli.main(run) == 0
    said = capsys.readouterr()
    assert "54 annotations" in said.out + said.err
    assert "'accept' = '0' in 6 rows of 54" in said.err
    assert cli.main([*run, "--drop", "accept=0"]) == 0
    assert "48 annotations" in "".join(capsys.readouterr())


# Which file is which
VOTES = "item,rater,label\n" + "".join(f"i{i},r{j},{'YN'[i * j % 2]}\n" for i in range(9) for j in range(6))
RATERS = "person,gender\n" + "".join(f"r{j},{'fm'[j % 2]}\n" for j in range(6))
ITEMS = "id,topic\n" + "".join(f"i{i},{'ab'[i % 2]}\n" for i in range(9))
MATRIX = "item,r0,r1,r2,r3\n" + "".join(f"i{i},Y,N,Y,{'YN'[i % 2]}\n" for i in range(9))


def roles(files: Mapping[str, str], *, as_given: bool = False) -> list[str | None]:
    return [*file_roles([read_table(text.encode(), name) for name, text in files.items()], as_given=as_given)]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_files_are_told_by_their_content_in_any_order(order: tuple[int, ...]) -> None:
    files = (("x.csv", VOTES), ("y.csv", RATERS), ("z.csv", ITEMS))
    said = ("annotations", "raters", "items")
    assert roles(dict(files[place] for place in order)) == [said[place] for place in order]


def test_the_heads_of_a_matrix_are_ids_too() -> None:
    assert roles({"matrix.csv": MATRIX, "people.csv": RATERS}) == ["annotations", "raters"]
    assert roles({"items.csv": ITEMS, "matrix.csv": MATRIX}) == ["items", "annotations"]


def test_where_raters_and_items_have_the_same_ids_names_tell() -> None:
    votes = "item,rater,label\n" + "".join(f"{i},{j},{'YN'[i * j % 2]}\n" for i in range(9) for j in range(9))
    people = "id,gender\n" + "".join(f"{j},{'fm'[j % 2]}\n" for j in range(9))
    texts = "id,text\n" + "".join(f"{i},some words about {i}\n" for i in range(9))
    nothing = "id,x\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(9))
    called = nothing.replace("id,", "rater,")
    for other, role in ((people, "raters"), (texts, "items"), (nothing, None), (called, "raters")):
        assert roles({"votes.csv": votes, "what.csv": other}) == ["annotations", role]


def test_a_file_of_the_same_columns_holds_more_labels_and_one_that_joins_to_nothing_has_no_role() -> None:
    assert roles({"june.csv": VOTES, "july.csv": VOTES.replace("\ni", "\nj")}) == ["annotations"] * 2
    other = RATERS.replace("r", "other")
    assert roles({"votes.csv": VOTES, "other.csv": other}, as_given=True) == ["annotations", None]


def test_files_that_hold_no_labels_are_refused() -> None:
    with pytest.raises(DataError, match="has only 2 columns"):
        roles({"items.csv": ITEMS, "raters.csv": RATERS})


@needs_shared_data
def test_real_files_are_told() -> None:
    files = ("items.csv", "raters.csv", "ratings_wide.csv")
    tables = [read_table(DICES350 / name) for name in files]
    assert file_roles(tables) == ("items", "raters", "annotations")
    for folder in ("04", "13a", "17", "35"):
        tables = [
            read_table(SHARED / "data" / "reports" / folder / name) for name in ("raters.csv", "ann.csv")
        ]
        assert file_roles(tables) == ("raters", "annotations"), folder


# The items file's column of ids: recognised where that is likely, else asked.
ROWS_ROLES = [["item", "rater", "label"], *([f"i{n}", r, "xy"[n % 2]] for n in range(6) for r in "123")]
VOTES_ITEM_IDS = rows_table(ROWS_ROLES)


def beside_roles(header: list[str], *columns: list[str]) -> tuple[Guess, Table]:
    items = rows_table([header, *map(list, zip(*columns, strict=True))], "items.csv")
    return with_items(recognise(VOTES_ITEM_IDS), VOTES_ITEM_IDS, items), items


IDS = [f"i{n}" for n in range(6)]


def test_a_column_named_as_the_item_column_is() -> None:
    guess, _ = beside_roles(["other", "item"], IDS, IDS)
    assert guess.spec.items_id == "item"
    assert not guess.uncertain


def test_the_one_column_that_holds_the_items_each_once() -> None:
    guess, _ = beside_roles(["topic", "key", "near"], list("ababab"), [*IDS[:5], "new"], ["i1"] * 6)
    assert guess.spec.items_id == "key"
    (reason,) = [reason for reason in guess.reasons if reason.field == "items_id"]
    assert (reason.sentence, reason.confidence) == ("'key' holds 83% of the items", "likely")


@pytest.mark.parametrize(
    ("columns", "candidates"),
    [((IDS, IDS[::-1]), ("key", "other")), ((["i0", *"abcde"], list("uvwxyz")), ("key", "other"))],
)
def test_what_is_not_certain_is_asked(columns: tuple[list[str], ...], candidates: tuple[str, ...]) -> None:
    guess, _ = beside_roles(["key", "other"], *columns)
    (reason,) = guess.uncertain
    assert (reason.field, reason.candidates) == ("items_id", candidates)
    assert "items file's column of item ids is not certain: 'key' or 'other'?" in question(reason)


def test_a_column_that_is_named_is_sure() -> None:
    _, items = beside_roles(["key", "other"], IDS, IDS[::-1])
    guess = with_items(recognise(VOTES_ITEM_IDS), VOTES_ITEM_IDS, items, "other")
    assert guess.spec.items_id == "other"
    assert not guess.uncertain
    with pytest.raises(DataError, match=r"items.csv has no column 'keys'; did you mean 'key'"):
        with_items(recognise(VOTES_ITEM_IDS), VOTES_ITEM_IDS, items, "keys")
    assert with_items(recognise(VOTES_ITEM_IDS), VOTES_ITEM_IDS, None).spec.items_id is None
