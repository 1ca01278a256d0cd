"""Long files: the right columns, or a question with candidates; never other columns without a word."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grasp_core.reading.guess.advice import Named
from grasp_core.reading.guess.recognise import Guess, question, recognise
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Table
from tests.reading.made_up import IDS, Made, made, noise
from tests.reading.making import rows_table, text_table

ITEMS = ("item", "item_id", "text_id", "HITId", "Input.image_id", "tweet_id", "stim", "x", "id", "post")
RATERS = ("rater", "worker_id", "WorkerId", "annotator", "Participant ID", "coder", "user_id", "who", "y")
LABELS = (("label",), ("toxicity",), ("toxicity", "sarcasm"), ("rating",), ("q_1", "q_2"), ("hate_label",))
VALUES = (("Yes", "No", "Unsure"), ("0", "1"), ("1", "2", "3", "4", "5"), ("1.0", "2.0", "3.0"))
NOISE = tuple(noise(random.Random(0), 0, 0))


def table(file: Made) -> Table:
    return rows_table([list(file.rows[0]), *(list(row.values()) for row in file.rows)])


def asked(guess: Guess) -> dict[str, tuple[str, ...]]:
    return {reason.field: reason.candidates for reason in guess.uncertain}


def sure(guess: Guess, item: str, rater: str, label: str) -> bool:
    return (guess.spec.item, guess.spec.rater, guess.spec.label, guess.uncertain) == (item, rater, label, ())


def right(guess: Guess, file: Made) -> dict[str, bool]:
    """Which fields are as they should be, or are asked for."""
    open_ = asked(guess)
    if "layout" in open_:
        return {}
    spec = guess.spec
    return {
        "layout": spec.layout == "long",
        "item": spec.item == file.item or "item" in open_,
        "rater": spec.rater == file.rater or "rater" in open_,
        "label": (spec.label,) == file.labels or "label" in open_,
    }


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
    file = made(rng, ("item", "rater", questions), beside=("remark", "free text", "timestamp", "duration"))
    guess = recognise(table(file))
    assert sorted(asked(guess)["label"]) == sorted(questions)
    (reason,) = guess.uncertain
    assert question(reason).startswith("the label column is not certain: 'Q")
    assert question(reason).endswith("and 8 more?")


@pytest.mark.parametrize(
    ("questions", "label"),
    [
        (("toxicity", "toxicity_score"), None),  # a score beside the same question
        (("label", "confidence"), "label"),  # by name
        (("model_rating",), "model_rating"),  # of models
    ],
)
def test_scores_are_asked_about_where_no_name_tells(questions, label):
    guess = recognise(table(made(random.Random(11), ("item", "rater", questions), labels=("1", "2", "3"))))
    assert set(asked(guess).get("label", ())) == (set() if label else set(questions))
    assert label in (None, guess.spec.label)


def test_codes_beside_their_names_are_one_question():
    file = made(random.Random(5), ("item", "rater", ("toxic",)), extra=None)
    codes = {"Yes": "1", "No": "0", "Unsure": "2"}
    rows = [{**row, "toxic_coded": codes[row["toxic"]]} for row in file.rows]
    guess = recognise(table(file._replace(rows=rows)))
    assert not guess.uncertain
    assert guess.spec.label in ("toxic", "toxic_coded")


def test_a_question_in_a_column_of_its_own_is_asked_about():
    rows = [["item", "rater", "question", "answer"]]
    rng = random.Random(6)
    for i in range(12):
        for j in range(6):
            rows += [[f"i{i}", f"r{j}", q, rng.choice("12345")] for q in ("toxic", "funny", "clear")]
    assert asked(recognise(rows_table(rows)))["item"] == ("item+question", "item")


def slots(rng: random.Random) -> list[list[str]]:
    """Answers numbered within each item, by nobody."""
    rows = [["item", "slot", "label"]]
    for i in range(30):
        rows += [[f"i{i}", str(n + 1), rng.choice("ab")] for n in range(rng.randrange(2, 6))]
    return rows


def aggregated() -> dict[str, list[list[str]]]:
    rng = random.Random(7)
    split = [[f"text {n}", rng.choice("ab"), rng.choice(["train", "test"])] for n in range(60)]
    majority = [[f"i{n}", rng.choice("ab"), f"{rng.random():.2f}"] for n in range(60)]
    counts = []
    for n in range(60):
        yes = rng.randrange(6)
        counts.append([str(n), f"text number {n} of them", str(yes), str(5 - yes)])
    authors = [[str(9000 + n), f"u{rng.randrange(20)}", f"words {n}", rng.choice("ab")] for n in range(60)]
    votes = [rng.choices("abc", [0.6, 0.3, 0.1], k=rng.choices([3, 6], [0.93, 0.07])[0]) for _ in range(90)]
    tweets = [
        [str(n), str(len(some)), *(str(some.count(label)) for label in "abc"), max("abc", key=some.count)]
        for n, some in enumerate(votes)
    ]
    groups = []
    for n in range(60):
        women, men = rng.randrange(6), rng.randrange(5)
        groups.append([str(n), str(women), str(5 - women), str(men), str(rng.choice([4, 5]) - men)])
    spread = [
        [f"i{n}", f"{rng.random() * 4:.3f}", f"{rng.random():.3f}", str(rng.randrange(3, 6))]
        for n in range(60)
    ]
    anonymous = [[f"i{n // 4}", rng.choice("ab"), rng.choice("123")] for n in range(80)]
    soft = [[f"i{n}", *map(str, sorted([0.2, 0.5, 0.3], key=lambda _: rng.random()))] for n in range(30)]
    single = [[f"i{n}", f"text {n}", *("01"[n % 3 == k] for k in range(3))] for n in range(30)]
    return {
        "split": [["text", "label", "split"], *split],
        "majority": [["item", "majority_label", "agreement"], *majority],
        "vote counts": [["id", "text", "label_a_count", "label_b_count"], *counts],
        "votes by label": [["id", "text", "toxic", "fine"], *counts],
        "counts per rating": [
            ["item", *(f"rating_{n}_count" for n in range(1, 6))],
            *([f"i{n}", *(str(rng.randrange(4)) for _ in range(5))] for n in range(30)),
        ],
        "soft labels": [["id", "positive", "negative", "neutral"], *soft],
        "one of each": [["id", "text", "pos", "neg", "neu"], *single],
        "votes of 3 or 6": [["id", "count", "hateful", "offensive", "neither", "class"], *tweets],
        "votes by group": [["id", "women_yes", "women_no", "men_yes", "men_no"], *groups],
        "authors": [["tweet_id", "user_id", "text", "label"], *authors],
        "means": [["item", "mean_rating", "std_rating", "n_ratings"], *spread],
        "slots": slots(rng),
        "no raters": [["item", "label", "confidence"], *anonymous],
    }


@pytest.mark.parametrize("kind", aggregated())
def test_files_without_raters_are_refused(kind):
    guess = recognise(rows_table(aggregated()[kind]))
    sentences = " ".join(question(reason) for reason in guess.uncertain)
    assert "no column looks like raters" in sentences
    assert "cannot be analysed" in sentences


def test_what_there_is_in_place_of_raters_is_named():
    lists = [[f"i{n}", f"text {n}", '["no", "yes"]' if n % 3 else '["yes"]'] for n in range(40)]
    lists[0][2] = '["yes", "yes", "no"]'
    rng = random.Random(9)
    means = [[f"w{n}", *(f"{rng.random() * 9:.2f}" for _ in "ms"), str(20 + n % 9)] for n in range(40)]
    for head, rows, told in (
        (["id", "text", "labels"], lists, "'labels' holds lists of labels"),
        (["word", "valence_mean", "valence_sd", "n_raters"], means, "'valence_mean' is named like"),
    ):
        uncertain = recognise(rows_table([head, *rows])).uncertain
        (sentence,) = [one.sentence for one in uncertain if not one.candidates]
        assert told in sentence


def test_ids_that_tell_not_all_rows_apart_are_unsure():
    text = "u v w/" + "/".join(f"i{n % 6} r{n // 6} {'ab'[n % 5 > 2]}" for n in range(30)) + "/i0 r0 a"
    assert set(asked(recognise(text_table(text)))) >= {"item", "rater"}


def test_a_large_file_is_looked_at_by_whole_items():
    rng = random.Random(8)
    rows = [["thing", "worker", "verdict_x"]]
    rows += [[f"i{i}", f"w{(i * 7 + k) % 900}", rng.choice("ab")] for i in range(90_000) for k in range(3)]
    assert sure(recognise(rows_table(rows)), "thing", "worker", "verdict_x")


# What is named is sure, and the rest is guessed around it.
def test_naming_the_uncertain_one_suffices():
    file = made(random.Random(9), ("stim", "who", ("toxic", "funny")), beside=("gender", "timestamp"))
    guess = recognise(table(file), named=Named(item="stim", label="funny"))
    assert sure(guess, "stim", "who", "funny")
    assert guess.axes == ("gender",)


@pytest.mark.parametrize("named", [{"item": "a"}, {"rater": "b"}, {"item": "a", "rater": "b"}])
def test_one_id_named_settles_the_other(named):
    file = made(random.Random(10), ("a", "b", ("c",)))
    assert {"item", "rater"} <= set(asked(recognise(table(file))))
    assert sure(recognise(table(file), named=Named(layout="long", **named)), "a", "b", "c")


def test_a_rater_named_where_none_was_found_is_taken():
    guess = recognise(rows_table(aggregated()["authors"]), named=Named(rater="user_id", layout="long"))
    assert guess.spec.rater == "user_id"
    assert "rater" not in asked(guess)


MATRIX = "key a b c d/1 Yes No Yes Yes/2 No No Yes No/3 Yes Yes No No"


def test_a_layout_named_is_taken_for_a_matrix():
    assert asked(recognise(text_table(MATRIX)))["layout"] == ("items-by-raters", "raters-by-items")
    for id_column, layout in (("rater", "raters-by-items"), ("item", "items-by-raters")):
        for named in (Named(layout=layout), Named(**{id_column: "key"})):
            guess = recognise(text_table(MATRIX), named=named)
            found = {"item": guess.spec.item, "rater": guess.spec.rater}
            assert (guess.spec.layout, guess.uncertain) == (layout, ())
            assert found == {"item": None, "rater": None, id_column: "key"}


def test_sentences_numbered_anew_in_documents_are_asked_about() -> None:
    rows = [f"d{n // 12},{n % 5},w{n % 12},{'ab'[n % 7 % 2]}" for n in range(60)]
    table = read_table("\n".join(["doc,sentence,annotator,label", *rows]).encode(), "numbered.csv")
    asked = recognise(table).uncertain
    assert [reason.field for reason in asked] == ["item"]
    assert "'doc'" in asked[0].sentence


@pytest.mark.parametrize(
    ("columns", "also"),
    [
        ({"label": ("toxic", "fine"), "response": ("Yes", "No")}, {"label", "response"}),
        ({"ai_label": ("toxic", "fine"), "is_toxic": ("Yes", "No")}, {"ai_label", "is_toxic"}),
        (
            {"score": tuple(f"0.{n}" for n in range(1000, 1900)), "hateful": ("Yes", "No")},
            {"score", "hateful"},
        ),
    ],
)
def test_what_may_have_been_shown_or_measured_is_no_label_for_sure(columns, also) -> None:
    """Each varies within items and raters; its name alone spoke for the first, which nobody gave."""
    rng = random.Random(3)
    file = made(
        rng,
        ("item", "rater", ("_",)),
        extra=lambda rng, i, j: {name: rng.choice(values) for name, values in columns.items()},
    )
    rows = [{name: cell for name, cell in row.items() if name != "_"} for row in file.rows]
    assert set(asked(recognise(table(file._replace(rows=rows))))["label"]) == also


def test_names_of_labels_are_labels() -> None:
    """Beside their codes, whose column is called an id."""
    file = made(random.Random(6), ("item", "rater", ("label_name",)), labels=("toxic", "fine"))
    rows = [row | {"label_id": str(int(row["label_name"] == "toxic"))} for row in file.rows]
    assert sure(recognise(table(file._replace(rows=rows))), "item", "rater", "label_name")


@pytest.mark.parametrize(("written", "said"), [("answer", True), ("comments", False), ("why", False)])
def test_what_stands_beside_free_answers_is_asked_about(written: str, said: bool) -> None:
    """Where the answer is a text, its length is no label; a remark beside a label is none."""
    rng = random.Random(5)

    def beside(rng: random.Random, i: int, j: int) -> dict[str, str]:
        answer = f"I think that it is number {rng.randrange(10_000)} of those {rng.randrange(99)} things"
        return {written: answer, "n_chars": str(rng.randrange(40, 60))}

    file = made(rng, ("item", "rater", ("_",)), extra=beside)
    rows = [{name: cell for name, cell in row.items() if name != "_"} for row in file.rows]
    guess = recognise(table(file._replace(rows=rows)))
    assert asked(guess) == ({"label": ("n_chars",)} if said else {})
    assert not said or "'answer' holds free answers" in question(guess.uncertain[0])


def shown(item: str, about: str, rater: str) -> Table:
    """Faces, or speakers, with a gender of their own, by raters of whom nothing is known."""
    rows = [
        [f"{item[:2]}{i:02d}", "fm"[i % 2], f"{rater[:2]}{j:02d}", str(1 + (i * j + j) % 5)]
        for i in range(20)
        for j in range(12)
        if (i + j) % 3
    ]
    return rows_table([[item, about, rater, "trust"], *rows])


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
    guess = recognise(shown(item, about, rater))
    assert set(asked(guess)) == (set() if sure else {"item", "rater"})
    assert not sure or (guess.spec.item, guess.spec.rater) == (item, rater)


def test_ids_that_begin_as_durations_are_ids() -> None:
    rows = [[f"PT{i:02d}", f"v{j}", "ab"[(i * j + i) % 2]] for i in range(20) for j in range(12)]
    guess = recognise(rows_table([["patient_id", "reader", "malignant"], *rows]))
    assert sure(guess, "patient_id", "reader", "malignant")


def people(one: str, other: str) -> Table:
    rows = [
        [f"{i}", "ABCDEFGHI"[j], str(1 + (i * j + j) % 5)] for i in range(20) for j in range(9) if (i + j) % 3
    ]
    return rows_table([[one, other, "severity"], *rows])


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
    guess = recognise(people(one, other))
    assert set(asked(guess)) == (set() if item else {"item", "rater"})
    assert item in (None, guess.spec.item)
    assert {guess.spec.item, guess.spec.rater} == {one, other}


@pytest.mark.parametrize("label", ["Label (yes/no)", "Is it toxic? (Yes / No)"])
def test_yes_or_no_is_no_number(label):
    rows = [f"i{n},w{r},{('yes', 'no')[(n + r) % 2]}" for n in range(6) for r in range(4)]
    guess = recognise(read_table("\n".join([f"item,worker,{label}", *rows]).encode(), "votes.csv"))
    assert guess.spec.label == label
    assert not guess.uncertain


@pytest.mark.parametrize(("digits", "texts"), [(10, 29), (4, 29), (10, 12), (18, 30)])
def test_items_are_told_apart_by_their_id_where_some_have_one_text(digits: int, texts: int) -> None:
    rng = random.Random(3)
    rows = [["id", "worker", "toxic", "comment"]]
    for n in range(30):
        for worker in rng.sample(range(12), 4):
            rows.append([str(10 ** (digits - 1) + n), f"w{worker}", rng.choice("yn"), f"remark {n % texts}"])
    assert sure(recognise(rows_table(rows)), "id", "worker", "toxic")
