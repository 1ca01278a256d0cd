"""Doubts about ids, spans, questions, rows and files are told or asked about."""

import json
from collections.abc import Callable, Mapping
from random import Random

import pytest

from grasp_core.model.errors import DataError
from grasp_core.reading.dataset.load import load
from grasp_core.reading.guess.advice import Named
from grasp_core.reading.guess.file_roles import file_roles, with_items
from grasp_core.reading.guess.recognise import Guess, question, recognise
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Table
from tests.reading.made_up import asked, doubts
from tests.reading.making import crossed, rows_table


def batch(answer: Callable[[int], object]) -> Table:
    """A batch of Mechanical Turk: ten HITs by three workers."""
    header = "HITId,AssignmentId,WorkerId,Input.text,Answer.spans"
    return crossed(
        header, lambda n, r: (f"H{n}", f"A{3 * n + r}", f"W{r}", f"a text {n}", answer(3 * n + r)), 10, 3
    )


def test_what_is_no_label_is_asked_and_what_recurs_is_one() -> None:
    for answer, what in (
        (lambda n: json.dumps([{"start": n, "end": n + 2}]), "objects in JSON"),
        (lambda n: f"I have read this text {n} times and never understood what it is about", "free answers"),
    ):
        ((field, why),) = doubts(recognise(batch(answer)))
        assert field == "label"
        assert what in why
    assert not recognise(batch(lambda n: "yn"[n % 2])).uncertain
    guess = recognise(batch(lambda n: [1, 2, 3, 4, -99][n % 5]))
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


def test_a_sheet_that_nobody_has_filled_in_says_so() -> None:
    rows = [[rater, str(50 + row), "", f"a text of row {row}"] for rater in "abc" for row in range(4)]
    why = "no column looks like labels: 'Label' is empty in every row; fill it in"
    assert doubts(recognise(rows_table([["rater", "ID", "Label", "Query"], *rows]))) == [("label", why)]


@pytest.mark.parametrize("pair", [("start", "end"), ("begin_char", "end_char"), ("startOffset", "endOffset")])
def test_spans_are_asked_about(pair: tuple[str, str]) -> None:
    why = (
        f"no column looks like labels: '{pair[0]}' and '{pair[1]}' mark spans, several of one rater "
        "in one item, on which no agreement is computed"
    )
    assert doubts(recognise(marked(pair))) == [("label", why)]
    assert not recognise(marked(pair), named=Named(label="label")).uncertain


def test_other_numbers_are_no_spans() -> None:
    assert not recognise(marked(("start", "end"), each=1)).uncertain
    assert not recognise(marked(("start", "end"), step=-1)).uncertain
    for columns in (("start_time", "end_time"), ("left", "right")):
        assert not recognise(marked(columns)).uncertain


# Answers to several questions in one column are asked about where another column names the questions.
ASKED = ("clear", "fluent", "true")


def votes(column: str, of: Callable[[int, int], tuple[str, ...]], item: str = "item") -> Table:
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
    (one,) = recognise(votes(column, of)).uncertain
    assert (one.field, one.candidates) == ("label", ("score",))
    assert f"('{column}' names what each row answers ('clear', 'fluent', 'true'), so " in question(one)


def test_items_without_a_name_are_found_within_one_question() -> None:
    """Criteria of albums, which no column calls items; the option that is told leaves one of them."""
    table = votes("criterion", lambda n, r: ASKED, item="album")
    assert asked(recognise(table)) == {"label": ("score",)}
    assert "--drop criterion=fluent --drop criterion=true" in doubts(recognise(table))[0][1]
    assert recognise(table, named=Named(label="score")).spec.item == "album"


def test_what_is_the_item_s_or_called_otherwise_is_no_question_and_a_named_label_is_sure() -> None:
    assert not recognise(votes("dimension", lambda n, r: ASKED[n % 3 :][:1])).uncertain
    assert not recognise(votes("topic_type", lambda n, r: ASKED[r % 3 :][:1])).uncertain
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


LABEL = {"label": lambda place, item, rater: Random(f"{place} {item} {rater}").choice("yn")}
ANEW = {"item": lambda p, i, r: f"i{i}", "rater": lambda p, i, r: f"{'ab'[p]}{r}"}
PEOPLE = {"item": lambda p, i, r: f"{'ab'[p]}{i}", "rater": lambda p, i, r: f"annotator {r}"}


@pytest.mark.parametrize("name", ["dataset", "source_corpus"])
def test_the_same_items_in_several_sets_are_several(name: str) -> None:
    both = table(ANEW | {name: lambda place, *_: PLACES[place]} | LABEL)
    assert doubts(recognise(both)) == [("item", f"'item': the same ids are there in several '{name}'")]
    assert not recognise(both, named=Named(item="item")).uncertain


def test_raters_of_two_countries_share_their_items_and_ids_of_several_texts_are_several() -> None:
    assert not recognise(table(ANEW | {"country": lambda place, *_: PLACES[place]} | LABEL)).uncertain
    words = {"content": lambda place, item, _: f"what was said about number {item} in the {PLACES[place]}"}
    why = "'item': one id has several texts in 'content', that recur"
    assert doubts(recognise(table(ANEW | words | LABEL, raters=8, items=16))) == [("item", why)]
    own = {"why": lambda place, item, rater: f"because rater {rater} of {PLACES[place]} thinks so of {item}"}
    assert not recognise(table(ANEW | own | LABEL, raters=8, items=16)).uncertain


@pytest.mark.parametrize("place", ["batch", "country"])
def test_a_rater_of_two_genders_is_two_people(place: str) -> None:
    more = {
        place: lambda where, *_: PLACES[where],
        "gender": lambda where, item, rater: ("Woman", "Man")[(rater // 2 + where) % 2],
    }
    both = table(PEOPLE | more | LABEL)
    why = f"'rater': one id may be several people, as 'gender' differs with '{place}'"
    assert doubts(recognise(both)) == [("rater", why)]
    assert not recognise(both, named=Named(rater="rater")).uncertain


def about(value) -> list[str]:
    """What is said of axes, where each row's age is made of its place, item and rater."""
    more = {"batch": lambda place, *_: PLACES[place], "age_group": value}
    guess = recognise(table(PEOPLE | more | LABEL))
    assert not guess.uncertain
    return [reason.sentence for reason in guess.reasons if reason.field == "axes"]


def test_raters_of_two_ages_are_said_and_what_is_no_raters_is_not() -> None:
    mistaken = about(lambda place, item, rater: "65+" if (item, rater) == (2, 1) else f"{rater % 3}0s")
    assert "'age_group' is none: 1 rater of 6 has several values" in mistaken
    for value in (
        lambda place, item, rater: f"{rater % 3}0s",
        lambda place, item, rater: f"{rater % 3}0s" if item % 3 else "",
        lambda place, item, rater: f"{item % 3}0s",
        lambda place, item, rater: f"{(item + place) % 3}0s",
    ):
        assert not any("is none" in sentence for sentence in about(value))


# Rows that may not be meant to count do, and it is said.
def beside(column: str, of_row: Callable[[int, int], object], *more: str) -> tuple[int, Guess, list[str]]:
    """How many count of 54 rows with a further column, the guess, and its doubts about rows."""
    rows = crossed(
        f"item,worker,answer,gender,{column}",
        lambda n, r: (f"i{n}", f"w{r}", "yn"[(n + r) % 2], "fm"[r % 2], of_row(n, r)),
        raters=6,
    )
    further = [row.split(",") for row in more]
    table = rows_table([rows.columns, *rows.frame().to_numpy().tolist(), *further])
    guess = recognise(table)
    found = [one for one in guess.reasons if one.field in ("exclude", "filters")]
    assert not guess.uncertain
    assert all(one.confidence == "unsure" for one in found)
    count = load(table, None, guess.spec, guess.axes).summary.annotations
    return count, guess, [one.sentence for one in found]


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
    count, guess, said = beside(column, of_row)
    assert (count, guess.axes) == (54, ("gender",))
    assert said == [
        f"'{column}' = '{value}' in {rows} rows of 54: {may}; they count, unless left out on Data, "
        f"under Leave out, or by --drop {column}={value}"
    ]


@pytest.mark.parametrize(
    ("column", "of_row", "more"),
    [
        ("accept", lambda n, r: n % 2, ()),  # the paper was, not the answer
        ("accept", lambda n, r: n * r % 3, ()),
        ("author_type", lambda n, r: ("model", "human")[n % 2], ()),
        ("source", lambda n, r: ("web", "news")[(n + r) % 2], ()),
        ("test_score", lambda n, r: (n + r) % 2, ()),
        ("failed_attention_check", lambda n, r: ("no", "yes")[r == 0], ()),  # recommended to be left out
        ("_country", lambda n, r: "NA", [f"i{n},llm4ki6p517tnu48lsl9,y,,NA" for n in range(9)]),
    ],
)
def test_what_says_something_else_is_no_doubt(column, of_row, more) -> None:
    """Nor are a column without any value and ids of random letters."""
    count, _, said = beside(column, of_row, *more)
    assert (count, said) == (54 + len(more), [])


def test_raters_called_like_models_count_and_are_named() -> None:
    rows = [f"i{n},{who},y,," for n in range(9) for who in ("gpt-4o", "Claude 3 Opus", "Claude")]
    count, _, said = beside("x", lambda n, r: "", *rows)
    assert count == 81
    assert said == [
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
    count, guess, (said,) = beside(column, of_row)
    assert (count, guess.axes) == (54, ("gender",))
    assert said.startswith(f"'{column}' = {why} may say who should not count; nobody is left out")


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


def test_files_are_told_by_what_they_hold_and_by_names_where_ids_are_the_same() -> None:
    assert roles({"matrix.csv": MATRIX, "people.csv": RATERS}) == ["annotations", "raters"]
    assert roles({"items.csv": ITEMS, "matrix.csv": MATRIX}) == ["items", "annotations"]
    assert roles({"june.csv": VOTES, "july.csv": VOTES.replace("\ni", "\nj")}) == ["annotations"] * 2
    other = RATERS.replace("r", "other")
    assert roles({"votes.csv": VOTES, "other.csv": other}, as_given=True) == ["annotations", None]
    with pytest.raises(DataError, match="has only 2 columns"):
        roles({"items.csv": ITEMS, "raters.csv": RATERS})
    for written in (RATERS.replace("\nr", "\nR"), RATERS.replace("r", " r"), ITEMS.replace("\ni", "\nI")):
        (role,) = {*roles({"votes.csv": VOTES, "other.csv": written})} - {"annotations"}
        assert role == ("items" if written.startswith("id") else "raters")
    numbered = VOTES.replace(",r", ",00").replace("00ater", "rater")
    assert roles({"votes.csv": numbered, "people.csv": RATERS.replace("\nr", "\n")})[1] == "raters"
    votes = "item,rater,label\n" + "".join(f"{i},{j},{'YN'[i * j % 2]}\n" for i in range(9) for j in range(9))
    people = "id,gender\n" + "".join(f"{j},{'fm'[j % 2]}\n" for j in range(9))
    texts = "id,text\n" + "".join(f"{i},some words about {i}\n" for i in range(9))
    nothing = "id,x\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(9))
    called = nothing.replace("id,", "rater,")
    for other, role in ((people, "raters"), (texts, "items"), (nothing, None), (called, "raters")):
        assert roles({"votes.csv": votes, "what.csv": other}) == ["annotations", role]


# The items file's column of ids: recognised where that is likely, else asked.
RATED = crossed("item,rater,label", lambda n, r: (f"i{n}", r, "xy"[n % 2]), items=6, raters=3)
IDS = [f"i{n}" for n in range(6)]


def items_file(header: list[str], *columns: list[str]) -> Table:
    return rows_table([header, *map(list, zip(*columns, strict=True))], "items.csv")


def test_the_items_files_ids_are_named_or_hold_each_item_once() -> None:
    guess = with_items(recognise(RATED), RATED, items_file(["other", "item"], IDS, IDS))
    assert guess.spec.items_id == "item"
    assert not guess.uncertain
    items = items_file(["topic", "key", "near"], list("ababab"), [*IDS[:5], "new"], ["i1"] * 6)
    guess = with_items(recognise(RATED), RATED, items)
    assert guess.spec.items_id == "key"
    (reason,) = [reason for reason in guess.reasons if reason.field == "items_id"]
    assert (reason.sentence, reason.confidence) == ("'key' holds 83% of the items", "likely")
    items = items_file(["key", "other"], IDS, IDS[::-1])
    guess = with_items(recognise(RATED), RATED, items, "other")
    assert guess.spec.items_id == "other"
    assert not guess.uncertain
    with pytest.raises(DataError, match=r"items.csv has no column 'keys'; did you mean 'key'"):
        with_items(recognise(RATED), RATED, items, "keys")
    assert with_items(recognise(RATED), RATED, None).spec.items_id is None


@pytest.mark.parametrize("columns", [(IDS, IDS[::-1]), (["i0", *"abcde"], list("uvwxyz"))])
def test_what_is_not_certain_is_asked(columns: tuple[list[str], ...]) -> None:
    (reason,) = with_items(recognise(RATED), RATED, items_file(["key", "other"], *columns)).uncertain
    assert (reason.field, reason.candidates) == ("items_id", ("key", "other"))
    assert "items file's column of item ids is not certain: 'key' or 'other'?" in question(reason)
