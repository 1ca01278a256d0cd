"""What further real files have: each in the shape that was met, small."""

import random

import pytest

from grasp_core.cli.terminal.messages import TERMINAL
from grasp_core.engine.reading_request import InputTables, reading_of
from grasp_core.model.data_spec import Filters
from grasp_core.model.errors import DataError
from grasp_core.reading.dataset.load import load
from grasp_core.reading.guess.advice import Named
from grasp_core.reading.guess.recognise import Guess, question, recognise
from tests.reading.exports import table_of
from tests.reading.made_up import asked
from tests.reading.making import crossed, numbered, read_here, rows_table, written

RNG = random.Random(7)
NOTHING = {"filters": Filters(), "missing": (), "recode": ()}


def said(guess: Guess, field: str) -> str:
    return "; ".join(one.sentence for one in guess.reasons if one.field == field)


# Matrices
def test_how_long_questions_took_is_no_matrix() -> None:
    pages = " ".join(f"R{r}Q{q}" for r in "123" for q in "12")
    timed = " ".join(f"R{r}Q{q}Time" for r in "1234" for q in "1234")

    def row(n: int) -> list[object]:
        return [f"p{n}", *RNG.choices("abcd", k=6), *(f"{RNG.random() * 90:.2f}" for _ in range(16))]

    guess = recognise(numbered(f"token {pages} {timed}", row, 12))
    assert asked(guess)["label"] == ("R*Q1", "R*Q2")


def test_when_a_form_was_sent_is_nobody_and_points_are_no_group() -> None:
    """Forms write a time into the first column, and a quiz how many answers were right."""

    def row(n: int) -> list[object]:
        return [f"07/04/2024_12:{n:02}", f"{n % 5}_/_9", f"{'xyz'[n % 3]}{n}w", *RNG.choices("abc", k=9)]

    images = " ".join(f"Image_{n}" for n in range(1, 10))
    table = numbered(f"Horodateur Score Pseudo {images}", row, 20)
    cells = [[cell.replace("_", " ") for cell in line] for line in written(table)]
    guess = recognise(rows_table(cells), named=Named(layout="raters-by-items"))
    assert (asked(guess), guess.spec.rater, guess.axes) == ({}, "Pseudo", ())


@pytest.mark.parametrize("ends", ["mood_annotator_{}", "mood_coder{}", "Mood_(Expert_{})"])
def test_columns_that_end_in_a_numbered_word_for_raters_are_theirs(ends: str) -> None:
    """Though the question stands first; what one of them was asked besides is put aside."""
    head = f"{ends} {ends} sure_{ends}".format(1, 2, 2)
    guess = recognise(numbered(f"tweet {head}", lambda n: (f"t{n}", *RNG.choices("ab", k=2), n % 6)))
    assert (asked(guess), guess.spec.layout, guess.spec.item) == ({}, "items-by-raters", "tweet")
    assert guess.spec.ignore == (f"sure_{ends}".format(2),)


def test_columns_that_end_in_coders_initials_are_asked_about_by_question() -> None:
    """Beside the label that was made of both, and texts of theirs; with the layout named as without."""
    asked_of = ("claim", "dataset", "reason")

    def row(n: int) -> list[object]:
        both = [(one, one, RNG.choice((one, "2"))) for one in RNG.choices("012", k=3)]
        return [f"paper{n}", *(cell for cells in both for cell in cells), f"note{n}", f"hm{n}"]

    head = " ".join(f"{one} {one}_ab {one}_cd" for one in asked_of)
    table = numbered(f"title {head} comment_ab comment_cd", row)
    patterns = tuple(f"{one}_*" for one in asked_of)
    for named in (Named(), Named(layout="items-by-raters")):
        assert asked(recognise(table, named=named))["label"] == patterns
    guess = recognise(table, named=Named(layout="items-by-raters", item="title", label="claim_*"))
    assert load(table, None, guess.spec).annotations.rater_ids == ("claim_ab", "claim_cd")
    sentence = question(recognise(table).uncertain[-1])
    assert "the same ends of names, 'ab', 'cd', may be those who answered, each in a column" in sentence


def test_what_was_rated_may_have_a_column_each_beside_items_and_raters() -> None:
    people = " ".join(f"Examinee{n}" for n in range(1, 6))
    table = crossed(
        f"Item,Rater,{people.replace(' ', ',')}", lambda n, r: (n, f"r{r}", *RNG.choices("0123", k=5)), 20, 5
    )
    guess = recognise(table)
    assert asked(guess) == {"label": tuple(people.split())}
    assert "if each is another that was rated, write a row for each" in question(guess.uncertain[0])


@pytest.mark.parametrize("again", ["", ".1 .2"])
def test_raters_and_labels_under_the_same_headings_belong_together_from_the_first_on(again: str) -> None:
    heads = [f"annotator{number},label{number}" for number in (again.split() or ["", ""])]
    lines = [["id", "text", "annotator", "label", *",".join(heads).split(",")]]
    for n in range(40):
        votes = [cell for rater in RNG.sample("abcdefgh", 3) for cell in (f"p{rater}", RNG.choice("xyz"))]
        lines.append([str(n), f"Text {n} that was read", *votes])
    table = rows_table(lines)
    guess = recognise(table)
    assert (asked(guess), guess.spec.item, guess.spec.rater) == ({}, "id", "annotator")
    assert load(table, None, guess.spec).summary.annotations == 120


def test_a_heading_behind_each_question_asks_more_about_its_answer() -> None:
    """How sure respondents are was read as the labels, and of unlike questions none."""
    asked_of = ["Is this rude?", "And what of that?", "Would you send it?", "Is it funny?"]
    heads = [cell for one in asked_of for cell in (one, "How sure are you?")]
    rows = [
        [f"p{n}", *(cell for _ in asked_of for cell in (RNG.choice("yn"), RNG.choice("12345")))]
        for n in range(30)
    ]
    table = rows_table([["respondent", *heads], *rows])
    assert "layout" in asked(recognise(table))
    guess = recognise(table, named=Named(layout="raters-by-items"))
    votes = load(table, None, guess.spec).annotations
    assert (asked(guess), set(votes.item_ids), set(votes.categories)) == ({}, set(asked_of), {"y", "n"})


@pytest.mark.parametrize("rated", ["system1rank system2rank", "system1_Rank system2_Rank system3_Rank"])
def test_each_of_a_pair_may_be_another_that_was_rated(rated: str) -> None:
    systems = rated.replace("_R", "r").replace("rank", "Id")
    head = f"segmentId,judgeId,{systems},{rated}".replace(" ", ",")
    count = len(rated.split())
    table = crossed(
        head, lambda n, r: (n, f"j{r}", *RNG.sample("uvwxyz", count), *RNG.choices("12345", k=count)), 40, 4
    )
    (sentence,) = map(question, recognise(table).uncertain)
    assert "if each is another that was rated, write a row for each" in sentence


def test_how_many_annotations_an_item_has_is_no_group_of_raters() -> None:
    """Though raters of one part of the data have as many everywhere."""

    def row(n: int, r: int) -> tuple[object, ...]:
        part = n % 2
        return (f"{part}_{n}", f"r{r}{part}", RNG.choice("01"), ("long", "short")[part], 6 + part)

    table = crossed("id,annotator,annotator_label,length,num_annotations", row, 40, 6)
    assert recognise(table).axes == ("length",)


@pytest.mark.parametrize("rater", ["Prüfer", "Codiererin", "beoordelaar", "valutatore"])
def test_raters_are_known_in_further_languages(rater: str) -> None:
    guess = recognise(crossed(f"Arbeit,{rater},Note", lambda n, r: (n, f"p{r}", RNG.choice("1234")), 30, 5))
    assert (asked(guess), guess.spec.item, guess.spec.rater) == ({}, "Arbeit", rater)


def test_a_first_row_of_sizes_is_told_where_what_is_asked_has_no_answer() -> None:
    rows = "".join(f"{item} {rater} {(item + rater) % 2}\n" for rater in range(9) for item in range(40))
    table = read_here(f"240 53 9600\n{rows}".encode(), "labels.txt")
    with pytest.raises(DataError, match=r"row 1: the first row holds numbers alone \('240', '53', '9600'\)"):
        reading_of(InputTables(table), NOTHING, TERMINAL)


# Columns beside each other
@pytest.mark.parametrize("names", ["hate_G{} annotator_G{}", "mood_{} rater_{}", "coder{} theme{}"])
def test_answers_of_any_name_beside_raters_are_theirs(names: str) -> None:
    of_rater = names.split()[0].startswith("coder")

    def row(n: int) -> list[object]:
        pairs = [(*RNG.choices("01"), who) for who in RNG.sample("ABCDEFG", 3)]
        return [f"t{n}", *(cell for pair in pairs for cell in (pair[::-1] if of_rater else pair))]

    guess = recognise(numbered(f"id {' '.join(names.format(n, n) for n in '123')}", row))
    label = names.split()[of_rater].partition("_" if "_" in names else "{")[0]
    assert asked(guess) == {}
    assert (guess.spec.item, guess.spec.label) == ("id", label)


def test_times_beside_raters_are_no_answers() -> None:
    table = numbered("id rater_1 time_1 rater_2 time_2", lambda n: (n, "a", n % 7, "b", n % 5))
    assert recognise(table).spec.label != "time"


# Long files
def test_a_label_may_begin_with_no_and_phases_are_no_groups() -> None:
    table = crossed(
        "image,reader,phase,No Finding,Edema",
        lambda n, r: (f"s{n}", f"r{r}", r % 2, *RNG.choices("01", k=2)),
        30,
        6,
    )
    guess = recognise(table)
    assert asked(guess) == {"label": ("No Finding", "Edema")}
    assert guess.axes == ()


@pytest.mark.parametrize(("head", "asks"), [("id,worker_id,label", True), ("id,annotator_id,label", False)])
def test_numbered_workers_who_all_rated_everything_may_be_places(head: str, asks: bool) -> None:
    table = crossed(head, lambda n, r: (f"i{n}", f"w_{r}", *RNG.choices("xy")), 40, 3)
    guess = recognise(table)
    assert ("rater" in asked(guess)) is asks
    assert asked(recognise(table, named=Named(rater=head.split(",")[1]))) == {}
    assert asked(recognise(crossed(head, lambda n, r: (n, f"w_{r}", *RNG.choices("xy")), 15, 3))) == {}


# Lists
def test_several_choices_of_each_rater_are_a_question_and_other_lists_are_told() -> None:
    """As in JSON with parallel lists of raters, of what is known of them, and of their answers."""

    def record(n: int) -> dict[str, object]:
        who = RNG.sample(range(9), 3)
        kinds = [[["insult"], ["slur", "insult"], []][(n + one) % 3] for one in who]
        known = {"ethnicities_annotators": ["xy"[one % 2] for one in who]}
        words = {"tokens": ["a"] * (n % 4 + 4), "rationales": [[0, 1], [1, 1], [0, 0]]}
        return {"id": n, "annotators": [f"A{one}" for one in who], **known, "kinds": kinds, **words}

    table = table_of([record(n) for n in range(40)])
    guess = recognise(table)
    assert (guess.spec.label, guess.axes) == ("kinds", ("ethnicities_annotators",))
    assert {"insult", "insult + slur"} <= set(table.distinct("kinds"))
    assert "the lists 'tokens', 'rationales' are no annotations and were left out" in said(guess, "layout")
    assert load(table, None, guess.spec).summary.raters == 9


def test_lists_of_choices_that_are_not_as_long_everywhere_are_of_something_else() -> None:
    def record(n: int, first: int) -> dict[str, object]:
        lists = {"annotators": ["a", "b", "c"][first:], "labels": ["x", "y", "x"][first:]}
        return {"id": n, **lists, "spans": [["q"]] * 3}

    assert "spans" not in table_of([*(record(n, 0) for n in range(20)), record(99, 2)]).columns


def test_lists_of_raters_named_after_what_they_answered_are_told_as_such() -> None:
    records = []
    for n in range(30):
        who = RNG.sample(range(9), 4)
        parts = {"Annotators_toxic": who[: n % 4], "Annotators_not_toxic": who[n % 4 :]}
        tags = [{"Tag": "slur", "Annotators": who[:2]}]
        records.append({"Index": n, **parts, "Tags": tags})
    with pytest.raises(
        DataError, match="'Annotators_toxic' are lists of raters, each named after what these"
    ):
        table_of(records)
    with pytest.raises(DataError, match=r"'Tags\.Annotators' holds several raters; write an entry for each"):
        table_of([{key: one[key] for key in ("Index", "Tags")} for one in records])
