"""What a file answers by itself is not asked; where it does not quite, it is."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence

import pytest

from grasp_core.reading.dataset.load import load
from grasp_core.reading.guess.advice import Named
from grasp_core.reading.guess.recognise import recognise
from tests.reading.made_up import asked
from tests.reading.making import rows_table

RNG = random.Random()
KINDS = ("calm", "sad", "angry")


@pytest.fixture(autouse=True)
def _seeded() -> None:
    RNG.seed(8)


def votes(n: int, raters: int, labels: Sequence[str] = KINDS) -> list[list[str]]:
    """A row per item, a label per rater, most of them alike."""
    return [
        [RNG.choice([most, most, RNG.choice(labels)]) for _ in range(raters)]
        for most in (RNG.choice(labels) for _ in range(n))
    ]


def most_of(row: Sequence[str]) -> str:
    return Counter(row).most_common(1)[0][0]


# Matrices: what the cells of a row agree on
@pytest.mark.parametrize("name", ["final", "majority"])
def test_a_column_of_what_most_cells_say_makes_the_others_raters(name) -> None:
    rows = [[f"A text of many words, number {at}", *row, most_of(row)] for at, row in enumerate(votes(90, 3))]
    guess = recognise(rows_table([["text", "anna", "ben", "cleo", name], *rows]))
    assert not asked(guess)
    data = load(rows_table([["text", "anna", "ben", "cleo", name], *rows]), None, guess.spec, ())
    assert data.annotations.rater_ids == ("anna", "ben", "cleo")
    assert any(repr(name) in reason.sentence for reason in guess.reasons if reason.field == "layout")


@pytest.mark.parametrize("same", [("yes", "no"), ("False", "True")])
def test_so_does_one_of_whether_all_say_the_same(same) -> None:
    rows = [[str(at), *row, same[len(set(row)) > 1]] for at, row in enumerate(votes(60, 2))]
    guess = recognise(rows_table([["abstract_id", "rater1", "rater2", "alike"], *rows]))
    assert (asked(guess), guess.spec.layout) == ({}, "items-by-raters")


def test_a_rater_called_otherwise_belongs_to_those_with_whom_the_column_agrees() -> None:
    rows = [[str(at), *row, most_of(row)] for at, row in enumerate(votes(90, 4))]
    table = rows_table([["id", "Doc", "A1", "A2", "A3", "majority"], *rows])
    guess = recognise(table)
    assert not asked(guess)
    assert load(table, None, guess.spec, ()).annotations.rater_ids == ("Doc", "A1", "A2", "A3")


@pytest.mark.parametrize("name", ["overall", "first"])
def test_criteria_that_are_summed_up_and_other_labels_leave_it_open(name) -> None:
    rows = [
        [f"A text of many words, number {at}", *row, sorted(row)[1] if name == "overall" else row[0]]
        for at, row in enumerate(votes(90, 3, "12345" if name == "overall" else KINDS))
    ]
    assert "layout" in asked(recognise(rows_table([["text", "fluency", "clarity", "style", name], *rows])))


@pytest.mark.parametrize(
    ("head", "last"),
    [
        ("text toxic rude crude any", lambda row: str(int("1" in row))),
        ("text toxic rude crude final", lambda row: str(int("1" in row))),
        ("text model_a model_b tie", lambda row: "ny"[row[0] == row[1]]),
        ("text food staff room mood", lambda row: row[0]),
        ("text true_label pred_label correct", lambda row: "ny"[row[0] == row[1]]),
        ("text before after changed", lambda row: "yn"[row[0] == row[1]]),
    ],
)
def test_what_is_worked_out_of_answers_of_other_kinds_makes_no_raters(head, last) -> None:
    cells = head.split()[1:-1]
    rows = [
        [f"A text of many words, number {at}", *row, last(row)]
        for at, row in enumerate(votes(90, len(cells), "01"))
    ]
    assert "layout" in asked(recognise(rows_table([head.split(), *rows])))


@pytest.mark.parametrize("labels", [("no", "yes"), ("absent", "present"), ("present", "zero")])
@pytest.mark.parametrize("last", ["safe unsafe", "unsafe safe"])
def test_none_of_several_criteria_is_no_agreement(labels, last) -> None:
    """Where rows without any are the only ones whose cells are alike."""
    rows = [
        [f"A text of many words, number {at}", *row, last.split()[any(one == labels[1] for one in row)]]
        for at, row in enumerate(votes(90, 3, labels))
        if set(row) != {labels[1]}
    ]
    assert "layout" in asked(recognise(rows_table([["text", "toxic", "rude", "threat", "verdict"], *rows])))


# Long files: people, items of several columns, what was predicted
def answers(n: int = 40, raters: int = 12, each: int = 4) -> Iterator[tuple[int, int, str]]:
    for item in range(n):
        for rater in RNG.sample(range(raters), each):
            yield item, rater, RNG.choice(KINDS)


@pytest.mark.parametrize(
    ("name", "beside", "rater"),
    [
        ("session", "gender", None),
        ("performer", "gender", None),
        ("user_email", "batch", "user_email"),
        ("coder_initials", "batch", "coder_initials"),
        ("system", "length", None),
        ("voice", "gender", None),
        ("name", "gender", None),
        ("student", "gender", None),
    ],
)
def test_who_gave_the_labels_is_said_by_a_name_or_by_what_is_known_of_them(name, beside, rater) -> None:
    who = ["Ann", "Bob", "Cem", "Dee", "Eve", "Fay", "Gus", "Hal", "Ida", "Jan", "Kim", "Leo"]
    ids = who if name == "name" else [f"k{r}" for r in range(12)]
    rows = [[f"q{i}", ids[r], "mf"[r % 2], label] for i, r, label in answers()]
    guess = recognise(rows_table([["question", name, beside, "kind"], *rows]))
    assert asked(guess) == ({} if rater else {"rater": (name,)})
    assert rater in (None, guess.spec.rater)


@pytest.mark.parametrize(
    ("values", "reads"),
    [
        ("Math English History Physics", False),
        ("Bio Chem Eng Art", False),
        ("s01 s02 s03 s04", True),
        ("AB CD EFG GHI", True),
    ],
)
def test_a_subject_of_words_is_nobody(values, reads) -> None:
    rows = [[f"{pupil}", one, RNG.choice("12345")] for pupil in range(30) for one in values.split()]
    guess = recognise(rows_table([["id", "subject", "score"], *rows]))
    assert (guess.spec.rater == "subject" and not asked(guess)) is reads
    assert reads or {"item", "rater"} <= asked(guess).keys()


@pytest.mark.parametrize(
    ("one", "other", "reads"),
    [
        ("doc_id", "sent_id", True),
        ("dialogue_id", "turn_id", True),
        ("prompt_id", "system", False),
        ("video", "frame", False),
        ("topic", "doc_id", False),  # it may be what a document was judged for
        ("doc_id", "question_id", False),  # it may be what was asked
        ("doc_id", "trial_id", False),  # it may be when it was asked
        ("doc_id", "emotion_id", False),
        ("video_id", "statement", False),
        ("video_id", "section", False),
    ],
)
def test_parts_that_are_called_so_make_one_item(one, other, reads) -> None:
    rows = [[f"d{i // 5}", f"{i % 5}", f"r{r}", label] for i, r, label in answers(60)]
    guess = recognise(rows_table([[one, other, "annotator", "label"], *rows]))
    assert (not asked(guess)) is reads
    assert guess.spec.item == f"{one}+{other}" or not reads


@pytest.mark.parametrize("gaps", [False, True])
def test_people_numbered_anew_in_each_study_are_asked_about(gaps) -> None:
    """Some of them left out or not; the items are asked about too, as others may do for other people."""
    people = [n for n in range(1, 13) if not gaps or n % 4]
    rows = [
        [f"e{study}", f"a{study}", f"p{piece}", str(person), RNG.choice("12345")]
        for study in range(3)
        for person in people
        for piece in range(6)
    ]
    table = rows_table([["exp", "album_id", "piece_id", "participant", "mood"], *rows])
    guess = recognise(table, named=Named(item="album_id+piece_id"))
    assert asked(guess) == {"rater": ("participant+exp", "participant")}
    assert recognise(table, named=Named(item="album_id+piece_id", rater="participant+exp")).uncertain == ()


@pytest.mark.parametrize(("sizes", "several"), [((3, 8, 6), True), ((4, 4, 4), False)])
def test_numbered_names_of_panels_are_asked_about_where_each_data_set_has_its_own(sizes, several) -> None:
    """Ann1 of three people is not Ann1 of eight; four people who labelled three data sets are four."""
    rows = [
        [f"set {place}", f"{place}{item}", f"Ann{n}", RNG.choice("01")]
        for place, size in enumerate(sizes)
        for item in range(40)
        for n in range(1, size + 1)
    ]
    guess = recognise(rows_table([["dataset", "text_id", "annotator", "label"], *rows]))
    assert asked(guess) == ({"rater": ("annotator+dataset", "annotator")} if several else {})


@pytest.mark.parametrize(("name", "reads"), [("mood_binary", True), ("binary", False), ("mood_fine", False)])
def test_a_label_made_of_another_by_name_and_values_is_none(name, reads) -> None:
    rows = [[f"i{i}", f"r{r}", label, label[0]] for i, r, label in answers()]  # calm, sad, angry: c, s, a
    fine = {"mood_fine": lambda row: [*row[:2], row[2], f"{row[2]}{RNG.randrange(2)}"]}
    less = {"mood_binary": "csa", "binary": "csa"}
    made = [
        fine[name](row) if name in fine else [*row[:3], str(int(row[3] in less[name][:2]))] for row in rows
    ]
    guess = recognise(rows_table([["item", "rater", "mood", name], *made]))
    assert (guess.spec.label, asked(guess)) == ("mood", {}) if reads else "label" in asked(guess)


def test_a_prediction_is_no_label_beside_one() -> None:
    rows = [[f"i{i}", f"r{r}", label, RNG.choice(KINDS)] for i, r, label in answers()]
    guess = recognise(rows_table([["item", "rater", "label", "prediction"], *rows]))
    assert (asked(guess), guess.spec.label) == ({}, "label")
    beside = recognise(rows_table([["item", "rater", "reason", "prediction"], *rows]))
    assert "prediction" in asked(beside)["label"]
    alone = recognise(rows_table([["item", "rater", "prediction"], *(row[:3] for row in rows)]))
    assert (asked(alone), alone.spec.label) == ({}, "prediction")


def test_numbers_of_trials_make_no_sets_of_items() -> None:
    rows = [[f"i{i}", f"r{r}", label, str(RNG.randrange(4))] for i, r, label in answers()]
    assert not asked(recognise(rows_table([["item", "rater", "label", "subset_trial_index"], *rows])))
    in_sets = recognise(rows_table([["item", "rater", "label", "subset"], *rows]))
    assert asked(in_sets) == {"item": ("item+subset", "item")}


# What both files say of raters
@pytest.mark.parametrize("name", ["rater_gender", "Gender", "annotator gender"])
def test_an_axis_that_the_annotations_call_otherwise_is_told_where_they_disagree(name) -> None:
    rows = [[f"i{i}", f"r{r}", label, "mf"[r % 2]] for i, r, label in answers()]
    table = rows_table([["item", "rater", "label", name], *rows])
    same, other = (
        rows_table(
            [["rater", "gender"], *([f"r{r}", "mf"[r % 2 if r > most else 1]] for r in range(12))], "r.csv"
        )
        for most in (-1, 4)
    )
    assert not [one for one in recognise(table, same).reasons if one.field == "raters"]
    guess = recognise(table, other)
    (told,) = [one.sentence for one in guess.reasons if one.field == "raters"]
    assert guess.axes == ("gender",)
    assert f"disagree on 'gender', called '{name}' there, for 3 raters" in told
    spelt = rows_table([["rater", "gender"], *([f"r{r}", ("Male", "F")[r % 2]] for r in range(12))], "r.csv")
    assert not [one for one in recognise(table, spelt).reasons if one.field == "raters"]
