"""Long files: the right columns, or a question with candidates; never other columns without a word."""

import random
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grasp_core.reading.guess.advice import Named
from grasp_core.reading.guess.recognise import Guess, question, recognise
from grasp_core.reading.table.table import Table
from tests.reading.made_up import IDS, Made, asked, doubts, made, noise
from tests.reading.making import crossed, rows_table, text_table

ITEMS = ("item", "item_id", "text_id", "HITId", "Input.image_id", "tweet_id", "stim", "x", "id", "post")
RATERS = ("rater", "worker_id", "WorkerId", "annotator", "Participant ID", "coder", "user_id", "who", "y")
LABELS = (("label",), ("toxicity",), ("toxicity", "sarcasm"), ("rating",), ("q_1", "q_2"), ("hate_label",))
VALUES = (("Yes", "No", "Unsure"), ("0", "1"), ("1", "2", "3", "4", "5"), ("1.0", "2.0", "3.0"))
NOISE = tuple(noise(random.Random(0), 0, 0))


def table(file: Made) -> Table:
    return rows_table([list(file.rows[0]), *(list(row.values()) for row in file.rows)])


def sure(guess: Guess, item: str, rater: str, label: str) -> bool:
    return (guess.spec.item, guess.spec.rater, guess.spec.label, guess.uncertain) == (item, rater, label, ())


def right(guess: Guess, file: Made) -> dict[str, bool]:
    """Which fields are as they should be, or are asked for."""
    spec, open_ = guess.spec, asked(guess)
    fields = (spec.layout == "long", spec.item == file.item, spec.rater == file.rater)
    true = dict(zip(("layout", "item", "rater"), fields, strict=True))
    true["label"] = (spec.label,) == file.labels
    return {} if "layout" in open_ else {field: one or field in open_ for field, one in true.items()}


@settings(max_examples=2 * settings().max_examples)
@given(
    seed=st.integers(0, 2**32),
    names=st.tuples(st.sampled_from(ITEMS), st.sampled_from(RATERS), st.sampled_from(LABELS)),
    ids=st.tuples(st.sampled_from(tuple(IDS)), st.sampled_from(tuple(IDS))),
    beside=st.lists(st.sampled_from(NOISE), max_size=6, unique=True),
    labels=st.sampled_from(VALUES),
    size=st.sampled_from([(20, 8, 4), (40, 12, 3), (60, 40, 6), (120, 8, 8), (150, 90, 2)]),
)
def test_right_or_asked(seed, names, ids, beside, labels, size):
    items, raters, per_item = size
    how = {"ids": ids, "beside": tuple(beside), "labels": labels}
    file = made(random.Random(seed), names, items=items, raters=raters, per_item=per_item, **how)
    guess = recognise(table(file))
    assert all(right(guess, file).values()), (right(guess, file), guess)
    for field, candidates in asked(guess).items():
        if field == "label":
            assert set(file.labels) <= set(candidates)


@pytest.mark.parametrize("ids", IDS)
def test_plain_names_are_not_asked_for(ids):
    file = made(random.Random(2), ("item_id", "worker_id", ("toxicity",)), ids=(ids, ids), beside=NOISE[:9])
    assert sure(recognise(table(file)), "item_id", "worker_id", "toxicity")


def test_several_questions_alike_are_candidates():
    rng = random.Random(3)
    questions = tuple(f"Q{n}" for n in range(20))
    file = made(
        rng, ("item", "rater", questions), beside=("comments", "why", "timestamp", "duration_seconds")
    )
    guess = recognise(table(file))
    assert sorted(asked(guess)["label"]) == sorted(questions)
    (reason,) = guess.uncertain
    assert question(reason).startswith("the label column is not certain: 'Q")
    assert all(f"'{name}'" in question(reason) for name in questions)


def test_scores_are_asked_about_where_no_name_tells():
    def guessed(*questions: str) -> Guess:
        return recognise(table(made(random.Random(11), ("item", "rater", questions), labels=("1", "2", "3"))))

    beside = ("toxicity", "toxicity_score")  # a score beside the same question
    assert set(asked(guessed(*beside))["label"]) == set(beside)
    assert sure(guessed("label", "confidence"), "item", "rater", "label")  # by name
    assert sure(guessed("model_rating"), "item", "rater", "model_rating")  # of models


def test_names_and_codes_of_labels_are_one_question() -> None:
    file = made(random.Random(5), ("item", "rater", ("toxic",)))
    codes = {"Yes": "1", "No": "0", "Unsure": "2"}
    rows = [{**row, "toxic_coded": codes[row["toxic"]]} for row in file.rows]
    guess = recognise(table(file._replace(rows=rows)))
    assert not guess.uncertain
    assert guess.spec.label in ("toxic", "toxic_coded")
    # Beside their codes, whose column is called an id.
    file = made(random.Random(6), ("item", "rater", ("label_name",)), labels=("toxic", "fine"))
    rows = [row | {"label_id": str(int(row["label_name"] == "toxic"))} for row in file.rows]
    assert sure(recognise(table(file._replace(rows=rows))), "item", "rater", "label_name")


def test_items_of_documents_and_questions_are_asked_about() -> None:
    rng, questions = random.Random(6), ("toxic", "funny", "clear")
    rows = [[f"i{n // 18}", f"r{n // 3 % 6}", questions[n % 3], rng.choice("12345")] for n in range(216)]
    table = rows_table([["item", "rater", "question", "answer"], *rows])
    assert asked(recognise(table))["item"] == ("item+question", "item")
    rows = [[f"d{n // 12}", str(n % 5), f"w{n % 12}", "ab"[n % 7 % 2]] for n in range(60)]
    guess = recognise(rows_table([["doc", "sentence", "annotator", "label"], *rows]))
    ((field, why),) = doubts(guess)
    assert field == "item"
    assert "'doc'" in why


RNG = random.Random(7)


def soft(_: int) -> list[str]:
    return RNG.sample(["0.2", "0.5", "0.3"], 3)


def counts(n: int) -> list[str]:
    yes = RNG.randrange(6)
    return [f"text number {n} of them", str(yes), str(5 - yes)]


def by_group(_: int) -> list[str]:
    women, men = RNG.randrange(6), RNG.randrange(5)
    return [str(women), str(5 - women), str(men), str(RNG.choice([4, 5]) - men)]


def of_3_or_6(_: int) -> list[str]:
    votes = RNG.choices("abc", [0.6, 0.3, 0.1], k=RNG.choices([3, 6], [0.93, 0.07])[0])
    return [str(len(votes)), *(str(votes.count(label)) for label in "abc"), max("abc", key=votes.count)]


AGGREGATED: dict[str, Callable[[int], list[str]]] = {
    "text,label,split": lambda n: [RNG.choice("ab"), RNG.choice(["train", "test"])],
    "item,majority_label,agreement": lambda n: [RNG.choice("ab"), f"{RNG.random():.2f}"],
    "id,text,label_a_count,label_b_count": counts,
    "id,text,toxic,fine": counts,
    "item,rating_1_count,rating_2_count,rating_3_count": lambda n: RNG.choices("0123", k=3),
    "id,positive,negative,neutral": soft,
    "id,text,pos,neg,neu": lambda n: [f"text {n}", *("01"[n % 3 == k] for k in range(3))],
    "id,count,hateful,offensive,neither,class": of_3_or_6,
    "id,women_yes,women_no,men_yes,men_no": by_group,
    "tweet_id,user_id,text,label": lambda n: [f"u{RNG.randrange(20)}", f"words {n}", RNG.choice("ab")],
    "item,mean_rating,std_rating,n_ratings": lambda n: [
        *(f"{RNG.random() * 4:.3f}", f"{RNG.random():.3f}", str(RNG.randrange(3, 6)))
    ],
}
"""Columns of files without raters, and what follows the id in each of their rows."""


def aggregated(columns: str) -> Table:
    return rows_table([columns.split(","), *([f"i{n}", *AGGREGATED[columns](n)] for n in range(90))])


def slots() -> Table:
    """Answers numbered within each item, by nobody."""
    given_answers = [(i, n) for i in range(30) for n in range(RNG.randrange(2, 6))]
    rows = [[f"i{i}", str(n + 1), RNG.choice("ab")] for i, n in given_answers]
    return rows_table([["item", "slot", "label"], *rows])


def anonymous() -> Table:
    rows = [[f"i{n // 4}", RNG.choice("ab"), RNG.choice("123")] for n in range(80)]
    return rows_table([["item", "label", "confidence"], *rows])


@pytest.mark.parametrize("make", [*(partial(aggregated, one) for one in AGGREGATED), slots, anonymous])
def test_files_without_raters_are_refused(make):
    sentences = " ".join(question(reason) for reason in recognise(make()).uncertain)
    assert "no column looks like raters" in sentences or "nobody can be compared: " in sentences
    assert "cannot be analysed" in sentences


def test_what_there_is_in_place_of_raters_is_named():
    lists = [[f"i{n}", f"text {n}", '["no", "yes"]' if n % 3 else '["yes"]'] for n in range(40)]
    lists[0][2] = '["yes", "yes", "no"]'
    means = [[f"w{n}", *(f"{RNG.random() * 9:.2f}" for _ in "ms"), str(20 + n % 9)] for n in range(40)]
    for head, rows, told in (
        (["id", "text", "labels"], lists, "'labels' holds lists of values"),
        (["word", "valence_mean", "valence_sd", "n_raters"], means, "'valence_mean' is named like"),
    ):
        uncertain = recognise(rows_table([head, *rows])).uncertain
        (sentence,) = [one.sentence for one in uncertain if not one.candidates]
        assert told in sentence


@pytest.mark.usefixtures("_large_from_a_thousand_rows")
def test_ids_tell_rows_apart_in_large_files_too_and_may_begin_as_durations() -> None:
    rows = [f"i{n % 6} r{n // 6} {'ab'[n % 5 > 2]}" for n in range(30)]
    assert set(asked(recognise(text_table("/".join(["u v w", *rows, "i0 r0 a"]))))) >= {"item", "rater"}
    rng = random.Random(8)
    rows = [[f"i{n // 3}", f"w{(n // 3 * 7 + n % 3) % 90}", rng.choice("ab")] for n in range(2_700)]
    large = rows_table([["thing", "worker", "verdict_x"], *rows])
    assert sure(recognise(large), "thing", "worker", "verdict_x")
    table = crossed(
        "patient_id,reader,malignant", lambda i, j: (f"PT{i:02d}", f"v{j}", "ab"[(i * j + i) % 2]), 20, 12
    )
    assert sure(recognise(table), "patient_id", "reader", "malignant")


# What is named is sure, and the rest is guessed around it.
def test_naming_the_uncertain_one_suffices_where_none_was_found_too():
    file = made(random.Random(9), ("stim", "who", ("toxic", "funny")), beside=("gender", "timestamp"))
    guess = recognise(table(file), named=Named(item="stim", label="funny"))
    assert sure(guess, "stim", "who", "funny")
    assert guess.axes == ("gender",)
    authors = aggregated("tweet_id,user_id,text,label")
    guess = recognise(authors, named=Named(rater="user_id", layout="long"))
    assert guess.spec.rater == "user_id"
    assert "rater" not in asked(guess)


@pytest.mark.parametrize("named", [{"item": "a"}, {"rater": "b"}, {"item": "a", "rater": "b"}])
def test_one_id_named_settles_the_other(named):
    file = made(random.Random(10), ("a", "b", ("c",)))
    assert {"item", "rater"} <= set(asked(recognise(table(file))))
    assert sure(recognise(table(file), named=Named(layout="long", **named)), "a", "b", "c")


MATRIX = "key a b c d/1 Yes No Yes Yes/2 No No Yes No/3 Yes Yes No No"


def test_a_layout_named_is_taken_for_a_matrix():
    assert asked(recognise(text_table(MATRIX)))["layout"] == ("items-by-raters", "raters-by-items")
    for id_column, layout in (("rater", "raters-by-items"), ("item", "items-by-raters")):
        for named in (Named(layout=layout), Named(**{id_column: "key"})):
            guess = recognise(text_table(MATRIX), named=named)
            found = {"item": guess.spec.item, "rater": guess.spec.rater}
            assert (guess.spec.layout, guess.uncertain) == (layout, ())
            assert found == {"item": None, "rater": None, id_column: "key"}


SCORES = tuple(f"0.{n}" for n in range(1000, 1900))


@pytest.mark.parametrize(
    ("shown", "values", "label"),
    [
        ("label", ("toxic", "fine"), "response"),
        ("ai_label", ("toxic", "fine"), "is_toxic"),
        ("score", SCORES, "hateful"),
    ],
)
def test_what_may_have_been_shown_or_measured_is_no_label_for_sure(shown, values, label) -> None:
    """Each varies within items and raters; its name alone spoke for the first, which nobody gave."""
    file = made(
        random.Random(3),
        ("item", "rater", (label,)),
        labels=("Yes", "No"),
        extra=lambda rng, i, j: {shown: rng.choice(values)},
    )
    assert set(asked(recognise(table(file)))["label"]) == {shown, label}


@pytest.mark.parametrize(("labels", "alike"), [(80, False), (1, True)])
def test_the_reason_for_a_label_by_name_alone_is_true(labels: int, alike: bool) -> None:
    names = tuple(f"L{k}" for k in range(labels))
    file = made(random.Random(3), ("item", "rater", ("label",)), labels=names)
    reason = next(one for one in recognise(table(file)).reasons if one.field == "label")
    assert reason.confidence == "likely"
    assert ("does not vary within items" in reason.sentence) == alike


@pytest.mark.parametrize(("written", "said"), [("answer", True), ("comments", False), ("why", False)])
def test_what_stands_beside_free_answers_is_asked_about(written: str, said: bool) -> None:
    """Where the answer is a text, its length is no label; a remark beside a label is none."""

    def beside(rng: random.Random, _i: int, _j: int) -> dict[str, str]:
        answer = f"I think that it is number {rng.randrange(10_000)} of those {rng.randrange(99)} things"
        return {written: answer, "n_chars": str(rng.randrange(40, 60))}

    guess = recognise(table(made(random.Random(5), ("item", "rater", ()), extra=beside)))
    assert asked(guess) == ({"label": ("n_chars",)} if said else {})
    assert not said or "'answer' holds free answers" in question(guess.uncertain[0])


@pytest.mark.parametrize(
    ("item", "about", "rater", "sure"),
    [
        ("face", "face_gender", "who", False),
        ("clip", "speaker_sex", "who", False),
        ("face", "gender", "who", False),
        ("teacher", "teacher_gender", "student", False),
        ("clip", "speaker_sex", "listener", True),
        ("voice", "gender", "participant", True),
    ],
)
def test_what_is_known_of_whom_an_item_shows_makes_it_no_rater(item, about, rater, sure) -> None:
    """Faces, or speakers, with a gender of their own, by raters of whom nothing is known."""
    ids = f"{item[:2]}{{:02}}".format, f"{rater[:2]}{{:02}}".format
    table = crossed(
        f"{item},{about},{rater},trust",
        lambda i, j: (ids[0](i), "fm"[i % 2], ids[1](j), 1 + (i * j + j) % 5) if (i + j) % 3 else None,
        items=20,
        raters=12,
    )
    guess = recognise(table)
    assert set(asked(guess)) == (set() if sure else {"item", "rater"})
    assert not sure or (guess.spec.item, guess.spec.rater) == (item, rater)


@pytest.mark.parametrize(
    ("one", "other", "item"),
    [
        ("Subject", "Rater", "Subject"),
        ("rater_id", "subject_id", "subject_id"),
        ("participant_id", "clinician_id", "participant_id"),
        ("moderator", "user", "user"),
        *(("annotator", "reviewer", None), ("user", "worker", None)),  # both may rate
    ],
)
def test_people_may_be_rated_by_those_whose_name_says_that_they_rate(one, other, item) -> None:
    people = crossed(
        f"{one},{other},severity",
        lambda i, j: (i, "ABCDEFGHI"[j], 1 + (i * j + j) % 5) if (i + j) % 3 else None,
        items=20,
        raters=9,
    )
    guess = recognise(people)
    assert set(asked(guess)) == (set() if item else {"item", "rater"})
    assert item in (None, guess.spec.item)
    assert {guess.spec.item, guess.spec.rater} == {one, other}


@pytest.mark.parametrize("label", ["Label (yes/no)", "Is it toxic? (Yes / No)"])
def test_yes_or_no_is_no_number(label):
    rows = [[f"i{n // 4}", f"w{n % 4}", ("yes", "no")[n // 4 % 2 ^ n % 2]] for n in range(24)]
    assert sure(recognise(rows_table([["item", "worker", label], *rows])), "item", "worker", label)


@pytest.mark.parametrize(("digits", "texts"), [(10, 29), (4, 29), (10, 12), (18, 30)])
def test_items_are_told_apart_by_their_id_where_some_have_one_text(digits: int, texts: int) -> None:
    rng = random.Random(3)
    rows = [["id", "worker", "toxic", "comment"]]
    for n in range(30):
        for worker in rng.sample(range(12), 4):
            rows.append([str(10 ** (digits - 1) + n), f"w{worker}", rng.choice("yn"), f"remark {n % texts}"])
    assert sure(recognise(rows_table(rows)), "id", "worker", "toxic")
