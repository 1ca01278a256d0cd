"""Layouts of real files in which ids, answers and places were mistaken for each other, each small."""

from random import Random

import pytest

from grasp_core.cli.terminal.messages import TERMINAL
from grasp_core.engine.reading_request import InputTables, reading_of
from grasp_core.model.data_spec import Filters
from grasp_core.model.errors import DataError
from grasp_core.reading.dataset.load import load
from grasp_core.reading.guess.advice import Named
from grasp_core.reading.guess.recognise import question, recognise
from grasp_core.reading.table.table import Table
from tests.reading.exports import table_of
from tests.reading.made_up import asked
from tests.reading.making import crossed, numbered, read_here, tabled

RNG = Random(5)


def what_is_asked(table: Table, **named: str) -> str:
    return "; ".join(question(one) for one in recognise(table, named=Named(**named)).uncertain)


# Columns named after several things


def test_of_several_runs_of_answers_none_is_taken_for_the_label() -> None:
    """A survey program writes a place in the group, a payoff and an answer for each round."""
    rounds = [f"rating.{k}.player.{field}" for k in range(1, 7) for field in ("id_in_group", "choice")]
    table = numbered(
        " ".join(["participant.code", *rounds]),
        lambda n: [f"p{n}x", *(cell for _ in range(6) for cell in (n + 1, RNG.choice("abc")))],
        30,
    )
    assert "rating.*.player.choice" in asked(recognise(table))["label"]


def test_letters_before_numbers_are_of_people_where_there_are_several_questions() -> None:
    people = ("T1", "T2", "C1", "C2")
    heads = [f"{asked_for}_{one}" for asked_for in ("hate", "rude") for one in people]
    table = numbered(" ".join(["tweet_id", *heads]), lambda n: [f"t{n}", *RNG.choices("01", k=8)])
    assert asked(recognise(table))["label"][-2:] == ("hate_*", "rude_*")
    named = Named(layout="items-by-raters", label="hate_*")
    assert load(table, None, recognise(table, named=named).spec).summary.raters == 4


def test_the_label_that_coders_agreed_on_does_not_hide_who_coded_first_and_second() -> None:
    head = "article first_coder first_code second_coder second_code consensus_code"

    def row(n: int) -> list[object]:
        one, other = RNG.sample(["AK", "BM", "CS", "DT"], 2)
        return [n, one, RNG.choice("xy"), other, RNG.choice("xy"), RNG.choice("xy")]

    table = numbered(head, row)
    guess = recognise(table)
    assert (asked(guess), guess.spec.label) == ({}, "code")
    assert load(table, None, guess.spec).summary.raters == 4


def test_ids_of_tasks_in_a_row_per_respondent_are_not_the_respondents() -> None:
    parts = ("Task_ID", "Rating_Given", "Shown")
    heads = [f"Task_{k}_{part}" for k in range(1, 6) for part in parts]
    table = numbered(
        " ".join([*heads, "Respondent_ID", "Gender"]),
        lambda n: [*(c for k in range(5) for c in (f"{n}-{k}", RNG.choice("12345"), n % 2)), n, "fm"[n % 2]],
        30,
    )
    named = Named(layout="raters-by-items", label="Task_*_Rating_Given")
    assert recognise(table, named=named).spec.rater == "Respondent_ID"


def test_an_item_column_that_is_named_is_counted_as_such_though_it_holds_dates() -> None:
    table = numbered(
        "day KL MR TS", lambda n: [f"2021-{n // 28 + 1:02}-{n % 28 + 1:02}", *RNG.choices("xyz", k=3)]
    )
    spec = recognise(table, named=Named(layout="items-by-raters", item="day")).spec
    assert (spec.item, spec.ignore) == ("day", ())


# Ids


@pytest.mark.parametrize(
    ("name", "sizes", "asks"),
    [
        ("AnonReviewer{}", (3, 4), True),
        ("{}", (1, 2, 3), True),
        ("{}", (1, 3), False),  # the second and third coder of a part
        ("r{}", (2, 2), False),
    ],
)
def test_places_that_each_item_fills_from_the_first_on_may_be_other_people(name, sizes, asks) -> None:
    rows = [
        [f"d{n}", name.format(k + 1), RNG.choice("xy")]
        for n in range(60)
        for k in range(sizes[n % len(sizes)])
    ]
    table = tabled("doc_id reviewer label", rows)
    assert ("rater" in asked(recognise(table))) is asks
    assert asked(recognise(table, named=Named(rater="reviewer"))) == {}


@pytest.mark.parametrize("rater", ["Participant Private ID", "username"])
def test_raters_are_known_by_name_though_they_have_several_rows_for_an_item(rater: str) -> None:
    """As in events of an experiment, or where somebody corrected an answer."""
    lines = [
        f"img{n}.jpg,{4000 + who},{RNG.choice('1234')}"
        for n in range(20)
        for who in range(6)
        for _ in range(2 if (n + who) % 4 == 0 else 1)
    ]
    table = read_here("\n".join([f"image,{rater},mark", *lines]).encode(), "votes.csv")
    guess = recognise(table)
    assert (asked(guess), guess.spec.rater, guess.spec.item) == ({}, rater, "image")


def test_a_day_may_be_what_was_rated_and_counts_are_not() -> None:
    table = crossed(
        "date,coder,n_articles,tone",
        lambda n, r: (f"2020-03-{n + 1:02}", "abc"[r], *RNG.choices("123", k=2)),
        31,
        3,
    )
    assert asked(recognise(table))["item"][0] == "date"
    assert "n_articles" not in asked(recognise(table))["item"]


def test_what_was_shown_is_the_item_not_what_was_clicked_nor_the_number_of_a_trial() -> None:
    """In two stages of one experiment, which are no studies with raters of their own."""
    scales = {"health_stage": ["bad", "so", "good"], "taste_stage": ["awful", "fair", "great"]}
    rows = []
    for who in range(12):
        for stage, words in scales.items():
            for at, food in enumerate(RNG.sample(range(20), 20)):
                answer = RNG.randrange(3)
                rows.append([words[answer], answer, f"food{food}", stage, at, f"s{who}"])
    table = tabled("mouse_click coded_response stim exp_stage trial_index worker_id", rows)
    assert asked(recognise(table))["item"] == ("stim+exp_stage",)
    assert asked(recognise(table, named=Named(item="stim+exp_stage"))) == {}


def test_a_number_of_the_class_makes_no_items_of_boxes() -> None:
    """Several boxes of one reader in a picture: as an item with its class, all readers would agree."""
    rows = []
    for n in range(40):
        for reader in RNG.sample(range(1, 9), 3):
            for kind in RNG.choices((0, 1, 2), k=2):
                rows.append([f"pic{n}", ("edema", "mass", "none")[kind], kind, f"R{reader}", 3, 9])
    table = tabled("image_id class_name class_id rad_id x_min x_max", rows)
    assert "x_min" not in what_is_asked(table)
    spec = recognise(table, named=Named(rater="rad_id", label="class_name")).spec
    with pytest.raises(DataError) as error:
        load(table, None, spec)
    assert "class_id" not in str(error.value)
    assert "spans cannot be analysed" in str(error.value)


# Labels


@pytest.mark.parametrize("called", [True, False])
def test_a_list_of_those_who_gave_a_label_is_read_with_its_name_and_no_name_of_raters_is_a_label(called):
    def given(who: int) -> dict[str, object]:
        name = {"name": RNG.choice("xy")} if called else {}
        return {**name, "annotated_by": [{"annotator": f"{who}@x.org", "annotator_id": who}]}

    classes = ([given(who) for who in RNG.sample(range(5), 3)] for _ in range(30))
    records = [{"content": f"text {n}", "classes": own} for n, own in enumerate(classes)]
    table = table_of({"examples": records})
    guess = recognise(table)
    assert asked(guess) == {"label": ("classes.name",) if called else ()}
    assert called or "has one value for each rater, as a name is" in question(guess.uncertain[0])
    if called:
        summary = load(table, None, recognise(table, named=Named(label="classes.name")).spec).summary
        assert (summary.annotations, summary.items, summary.raters) == (90, 30, 5)


def test_lists_of_a_whole_data_set_name_their_items_and_ids_are_asked_about() -> None:
    votes = [
        {"id": 9 * n + who, "image_id": n, "annotator_id": who, "category_id": RNG.randrange(1, 3)}
        for n in range(30)
        for who in RNG.sample(range(9), 3)
    ]
    table = table_of({"info": {"year": 2022}, "annotations": votes, "images": [{"id": 1}, {"id": 2}]})
    guess = recognise(table)
    assert guess.spec.item == "annotations.image_id"
    assert asked(guess) == {"label": ("annotations.category_id",)}
    named = recognise(table, named=Named(label="annotations.category_id"))
    assert load(table, None, named.spec).summary.items == 30


def test_a_label_beside_two_pictures_is_nobodys_column() -> None:
    """A choice between two addresses, by somebody whose name for raters is not known."""

    def row(n: int) -> list[str]:
        pair = RNG.sample(range(9), 2)
        return [*(f"x.org/{one}.jpg" for one in (*pair, RNG.choice(pair))), f"v{n % 7}"]

    assert "layout" not in asked(recognise(numbered("left right label performer", row, 80)))


UNREAD = {
    "sentence worker answer": (
        lambda n, r: (f"s{n}", f"w{r}", f"what {r} wrote of {n} in words"),
        "holds free",
    ),
    "case reader finding": (
        lambda n, r: ("" if r else f"c{n}", f"r{r}", "xy"[(n + r) % 2]),
        "blank in 40 of 60",
    ),
    "id text votes": (lambda n, r: (3 * n + r, f"t{n}", '[{"by":"a"}]'), "lists of objects, which were not"),
}
"""Columns, the cells of a row, and a part of the sentence."""


@pytest.mark.parametrize("head", UNREAD)
def test_why_a_file_is_not_read_is_said(head) -> None:
    cells, why = UNREAD[head]
    assert why in what_is_asked(tabled(head, [cells(n, r) for n in range(20) for r in range(3)]))


def test_a_text_that_is_named_as_the_label_is_read_with_a_note() -> None:
    rows = [[f"s{n}", f"w{r}", f"what {r} wrote of {n}, at some length"] for n in range(20) for r in range(3)]
    guess = recognise(tabled("sentence worker answer", rows), named=Named(label="answer"))
    assert "free answers, hardly any of them twice" in " ".join(guess.notes)


# Models among raters


def test_a_model_in_a_column_of_its_own_is_told_until_it_is_left_out(capsys) -> None:
    table = numbered("id Alice Bob GPT-4o", lambda n: [n, *RNG.choices("xy", k=3)])
    for left, told in (((), True), (("GPT-4o",), False)):
        given = {"layout": "items-by-raters", "filters": Filters(raters=left), "missing": (), "recode": ()}
        reading_of(InputTables(table), given, TERMINAL)
        assert ("'GPT-4o' is called like a model" in capsys.readouterr().err) is told
