"""Matrices, and what else files of strangers have: names decide, what is not certain is unsure."""

import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grasp_core.model.data_spec import Layout
from grasp_core.model.errors import DataError
from grasp_core.reading.dataset.load import Dataset, load
from grasp_core.reading.guess.advice import Named
from grasp_core.reading.guess.file_roles import file_roles
from grasp_core.reading.guess.recognise import Guess, recognise
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Table
from tests.reading.made_up import asked
from tests.reading.making import crossed, read_here, rows_table, text_table

STYLES: dict[str, Callable[[int], str]] = {
    "P01": lambda n: f"P{n + 1:02d}",
    "annotator_3": "annotator_{}".format,
    "15 digits": lambda n: str(296708581782793 + 7 * n**3),
    "small numbers": lambda n: str(n + 1),
    "Prolific": "5f3c{:02x}aa01b2c3d4e5f60718".format,
    "Mechanical Turk": "A{:02d}X7QZ81K3PL".format,
    "e-mail": lambda n: f"{'abcdefghij'[n % 10]}{n}x@example.org",
    "words": lambda n: ("alice", "bob", "carol", "dave", "erin", "frank", "grace")[n % 7] + "y" * (n // 7),
}
FORM = ["Timestamp,Username,Age,Q [1],Q [2],Q [3]"] + [
    f"3/{n}/2024 9:10:22,{'abcdefgh'[n % 8]}@uni.org,{20 + n % 8},{n % 3},{n % 2},1" for n in range(1, 8)
]


@pytest.mark.parametrize("column", ["Username", "Your name", "Email Address"])
def test_when_a_row_was_written_is_no_rater_and_whoever_answered_twice_is_one(column):
    def form(*more: str) -> Table:
        text = "\n".join([*FORM, *more]).replace("Username", column)
        return read_table(text.encode(), "form.csv")

    spec = recognise(form()).spec
    assert (spec.layout, spec.rater) == ("raters-by-items", column)
    twice = form("3/9/2024 9:10:22,b@uni.org,21,2,2,2")
    guess = recognise(twice)
    assert guess.spec.rater == column
    with pytest.raises(DataError, match=r"'b@uni.org' gives item 'Q \[1\]' the labels '1' in row 2 "):
        load(twice, None, guess.spec, guess.axes)


def test_raters_keep_what_describes_them_where_the_layout_was_asked_for():
    rows = [f"S{n},{('control', 'treated')[n % 2]},{n % 2},{n % 3 % 2},1,0,{n % 5},0.5" for n in range(12)]
    table = read_table("\n".join(["Student,Group,1,2,3,4,Total,Mean", *rows]).encode(), "test.csv")
    assert "layout" in asked(recognise(table))
    guess = recognise(table, named=Named(layout="raters-by-items"))
    assert (guess.spec.rater, guess.spec.profile, guess.axes) == ("Student", ("Group",), ("Group",))
    fields = {reason.field for reason in guess.reasons}
    assert {"rater", "profile", "ignore"} <= fields
    assert "item" not in fields
    assert load(table, None, guess.spec, guess.axes).summary.annotations == 48


ASIDE = {
    "text": lambda item, _labels: f"the text, of {item}",
    "majority": lambda _item, labels: Counter(labels).most_common(1)[0][0] if labels else "",
    "mean": lambda _item, labels: f"{sum(map(int, labels)) / len(labels):.3f}" if labels else "",
    "gold": lambda _item, labels: max(labels, default=""),
    "n_votes": lambda _item, labels: str(len(labels)),
}
"""Columns of other things, from the item and its labels."""


def unsure(guess: Guess) -> bool:
    return any(reason.confidence == "unsure" for reason in guess.reasons)


def read(table: Table, raters: Table | None) -> Dataset | None:
    """The data set as it would run; None where the guess is not certain, or the file is refused."""
    try:
        guess = recognise(table, raters)
        return None if unsure(guess) else load(table, raters, guess.spec, guess.axes)
    except DataError:
        return None


def counts(found: Dataset | None) -> Counter[str]:
    """How often each label was given."""
    assert found is not None
    return +Counter(dict(zip(found.summary.categories, found.summary.label_counts, strict=True)))


def written(rng, raters, labels, density, items, aside) -> tuple[list[list[str]], Counter[str]]:
    """Rows of a matrix of items by raters, and the true counts."""
    rows, true = [["item", *raters, *aside]], Counter[str]()
    for n in range(items):
        cells = [rng.choice(labels) if rng.random() < density else "" for _ in raters]
        given_labels = list(filter(None, cells))
        true.update(given_labels)
        rows.append([f"C{n:03d}", *cells, *(ASIDE[name](f"C{n:03d}", given_labels) for name in aside)])
    return rows, true


@st.composite
def matrices(draw: st.DrawFn) -> tuple[list[list[str]], list[list[str]] | None, Counter[str]]:
    """Rows of a matrix, the raters file or None, and the true counts."""
    style = draw(st.sampled_from(sorted(STYLES)))
    raters = [STYLES[style](n) for n in range(draw(st.integers(2, 16)))]
    rng = random.Random(draw(st.integers(0, 10**6)))
    density = draw(st.sampled_from((0.05, 0.2, 0.6, 1.0)))
    labels = "123456789"[: draw(st.integers(2, 9))]
    aside = draw(st.lists(st.sampled_from(sorted(ASIDE)), unique=True))
    rows, true = written(rng, raters, labels, density, draw(st.integers(3, 30)), aside)
    people = [["rater", "gender"], *([rater, rng.choice(("Woman", "Man"))] for rater in raters)]
    return rows, people if draw(st.booleans()) else None, true


@given(matrices())
def test_counts_are_the_true_ones_or_the_guess_is_unsure(matrix):
    rows, people, true = matrix
    raters = None if people is None else rows_table(people, "raters.csv")
    found = read(rows_table(rows), raters)
    assert found is None or counts(found) == true


@pytest.mark.parametrize("style", sorted(set(STYLES) - {"words"}))
@pytest.mark.parametrize("density", [0.1, 1.0])
def test_a_run_of_like_names_needs_no_raters_file(style, density):
    raters = [*map(STYLES[style], range(9))]
    rows, true = written(random.Random(7), raters, "12345", density, 30, list(ASIDE))
    assert counts(read(rows_table(rows), None)) == true


@pytest.mark.parametrize("named", [True, False])
def test_rare_labels_of_a_sparse_matrix_stay(named):
    rows = [["item", *(f"P{n:02d}" for n in range(12))]]
    rows += [[f"C{n}", *("12"[n % 2] if n % 12 == k else "" for k in range(12))] for n in range(24)]
    rows[7][3] = "4"  # a label that occurs once
    people = rows_table([["id", "sex"], *([name, "f"] for name in rows[0][1:])], "raters.csv")
    found = read(rows_table(rows), people if named else None)
    assert counts(found)["4"] == 1
    assert found is not None
    assert (found.summary.annotations, found.summary.raters) == (25, 12)


def test_what_is_put_aside_is_said_unless_the_raters_file_names_it():
    table = text_table("item P1 P2 P3 majority mean/a 1 2 1 1 1.3/b 2 2 2 2 2.0/c 3 1 1 1 1.7")
    guess = recognise(table)
    assert guess.spec.ignore == ("majority", "mean")
    account = load(table, None, guess.spec).summary.account
    assert account is not None
    told = {(str(one.reason), one.count) for one in account.left_out}
    assert told == {("column 'majority' put aside", 3), ("column 'mean' put aside", 3)}
    text = "item P1 P2 P3 P4 majority/a 1 2 1 1 1/b 2 2 2 1 2/c 3 1 1 3 1"
    people = text_table("id sex/P1 m/P2 f/P3 f", "raters.csv")
    assert sum(counts(read(text_table(text), people)).values()) == 12
    table = text_table(text.replace("P1 P2 P3 P4", "ann bob cid dan"))
    assert unsure(recognise(table, text_table("id sex/ann m/bob f/cid f", "raters.csv")))
    assert not unsure(recognise(table, text_table("id sex/ann m/bob f/cid f/dan m", "raters.csv")))


def test_what_names_do_not_settle_is_unsure():
    for text in (
        "item alice bob carol/a 1 2 1/b 2 2 1/c 1 1 2",  # no names say who is a rater
        "item label1 label2 P1 P2/a 1 2 1 1/b 2 2 1 2/c 1 1 2 2",  # two runs
        "item P1 P2 P3 age1 age2/a 1 2 1 33 20/b 2 2 1 41 33/c 1 1 2 20 20",
        "item Q1 Q2 Q3 Q4/a 1 2 yes no/b 2 2 no no/c 1 1 yes yes",  # two kinds of labels
        "item question1 question2 question3/a 1 2 1/b 2 2 1/c 1 1 2",  # rows and columns are items
        "item prob1 prob2 prob3/a 1 2 1/b 2 2 1/c 1 1 2",
        "item votes1 votes2 votes3/a 1 2 1/b 2 2 1/c 1 1 2",
        "country y2019 y2020 y2021/a 1 2 1/b 2 2 1/c 1 1 2",
        "P1 P2 P3 P4/1 2 1 2/2 1 1 2/1 1 2 2/2 2 1 1",
    ):
        assert unsure(recognise(text_table(text))), text


def test_an_age_is_nobodys_id():
    text = "age q1 q2 q3/31 1 2 1/44 2 2 1/52 1 1 2/38 2 1 1"
    guess = recognise(text_table(text), named=Named(layout="raters-by-items"))
    assert guess.spec.rater is None
    assert "rater" not in [one.field for one in guess.uncertain]


def test_points_of_a_scale_may_be_what_was_counted_and_columns_of_one_name_are_all_labels():
    rows = [[f"i{n}", *map(str, (n % 3, n % 7, n % 9, n % 5, 2))] for n in range(40)]
    assert set(asked(recognise(rows_table([["image", *"12345"], *rows])))) == {"layout"}
    rows = [[f"{n}", "ab"[n % 2], "ab"[n % 3 % 2], "ab"[n % 5 % 2]] for n in range(30)]
    table = rows_table([["id", "label", "label", "label"], *rows])
    assert set(asked(recognise(table))) == {"layout"}
    guess = recognise(table, named=Named(layout="items-by-raters"))
    assert load(table, None, guess.spec, ()).summary.raters == 3


def test_each_row_is_a_rater():
    rows = [["rater_sex", "rater_age", *(f"X{n:03d}" for n in range(9))]]
    rows += [["fm"[n % 2], str(20 + n % 5), *(str(1 + (n * k) % 7) for k in range(9))] for n in range(40)]
    table = rows_table(rows)
    guess = recognise(table)
    assert (guess.spec.layout, guess.spec.rater) == ("raters-by-items", None)
    assert guess.spec.profile == ("rater_sex", "rater_age")
    assert not unsure(guess)
    found = load(table, None, guess.spec, ("rater_sex",))
    assert (found.summary.raters, found.summary.items, found.summary.annotations) == (40, 9, 360)
    assert found.annotations.rater_ids[0] == "row 2"
    assert len(found.raters.axes["rater_sex"].values) == 2
    with pytest.raises(DataError, match=r"no column of votes\.csv holds rater ids"):
        load(table, text_table("id age/a 3/b 4", "raters.csv"), guess.spec)


def test_each_row_is_an_item_where_a_raters_file_names_the_columns():
    table = text_table("ann bob cid/1 2 1/1 2 2/2 2 1")
    guess = recognise(table, text_table("id sex/ann f/bob m/cid m", "raters.csv"))
    assert (guess.spec.layout, guess.spec.item) == ("items-by-raters", None)
    assert load(table, None, guess.spec).annotations.item_ids == ("row 2", "row 3", "row 4")


@pytest.mark.parametrize(
    ("key", "about", "columns", "open_"),
    [
        *(("record_id", "gender", "rate_{}", True), ("record_id", "topic", "rate_{}", True)),
        ("record_id", "topic", "P{:02d}", False),
        *(("face", "face_gender", "P{:02d}", True), ("who", "gender", "P{:02d}", False)),
    ],
)
def test_records_may_be_respondents_unless_a_gender_is_of_what_rows_show(key, about, columns, open_):
    """As REDCap writes a survey: ``record_id``, what is known of the person, then the answers."""
    rows = [[f"{n + 1}", "fm"[n % 2], *(str(1 + n * k % 5) for k in range(2, 10))] for n in range(12)]
    guess = recognise(rows_table([[key, about, *(columns.format(k) for k in range(1, 9))], *rows]))
    assert list(asked(guess)) == (["layout"] if open_ else [])


# What real files of strangers have: each in the shape that was met, small.
RNG = random.Random(5)


def survey(people: int = 24) -> list[list[str]]:
    """A row per person: number, block of answers from 1 to 4, and numbers about the row behind them."""
    rows = [["id", *WORDS, "time", "gender"]]
    for n in range(people):
        rows.append([f"{n // 2}", *(RNG.choice("1234") for _ in WORDS), f"{n % 2 + 1}", f"{n // 2 % 2 + 1}"])
    return rows


WORDS = ("calm", "tense", "upset", "relaxed", "content", "worried", "pleasant", "nervous")


def test_columns_that_are_no_items_by_their_names_are_none_and_ids_that_recur_are_asked_about() -> None:
    table = rows_table(survey())
    guess = recognise(table, named=Named(layout="raters-by-items"))
    assert asked(guess) == {"rater": ("id",)}
    assert not {"time", "gender"} & set(load(table, None, guess.spec, ()).annotations.item_ids)


def test_a_column_named_beside_a_matrix_makes_no_items_of_the_others(command) -> None:
    header, *rows = survey()
    for place, row in enumerate(rows):
        row[0] = f"s{place}"
    options = "--layout raters-by-items --profile gender --permutations 50 --out x.json"
    assert command(f"run x.csv {options}", x=[header, *rows])[0] == 0
    data = json.loads(Path("x.json").read_text(encoding="utf-8"))["data"]
    assert (data["items"], data["categories"]) == (len(WORDS), ["1", "2", "3", "4"])


def test_coders_are_columns_called_otherwise_or_two_of_them() -> None:
    for other in ("author", "автор"):
        rows = [[f"{n}", *(RNG.choice("0123") for _ in range(3))] for n in range(30)]
        table = rows_table([["id", other, "model_1", "model_2"], *rows])
        assert "layout" in asked(recognise(table))
        guess = recognise(table, named=Named(layout="items-by-raters"))
        assert load(table, None, guess.spec, ()).summary.raters == 3
    table = rows_table([["doc1", "doc2"], *(RNG.choices("123", k=2) for _ in range(30))])
    assert asked(recognise(table)) == {"layout": ("items-by-raters", "raters-by-items")}
    summary = load(table, None, recognise(table, named=Named(layout="items-by-raters")).spec, ()).summary
    assert (summary.items, summary.raters) == (30, 2)
    with pytest.raises(DataError, match="only 2 columns"):
        recognise(rows_table([["text", "label"], *([f"t{n}", RNG.choice("12")] for n in range(30))]))


def test_means_and_links_beside_coders_are_no_coders() -> None:
    head = "song,split,URL,A1 agents,A2 agents,A1 events,A2 events,Agents mean,STDEV"
    rows = [
        [f"s{n}", "train", f"http://x/{n}", *(RNG.choice("12345") for _ in range(4)), "3.33", f"0.{n}"]
        for n in range(14)
    ]
    guess = recognise(rows_table([head.split(","), *rows]), named=Named(layout="items-by-raters"))
    assert "label" in asked(guess)
    assert {"URL", "Agents mean", "STDEV"} <= set(guess.spec.ignore)


@pytest.mark.parametrize("layout", ["items-by-raters", "raters-by-items"])
def test_names_made_of_two_are_several_questions_to_raters_and_no_question_of_items(layout: Layout) -> None:
    head = ["id", *(f"{unit} {part}" for unit in ("A1", "A2", "A3") for part in ("curse", "shout"))]
    rows = [[f"r{n}", *(RNG.choice("123") for _ in head[1:])] for n in range(12)]
    guess = recognise(rows_table([head, *rows]), named=Named(layout=layout))
    assert asked(guess) == ({"label": ("A* curse", "A* shout")} if layout == "items-by-raters" else {})


def test_ids_that_recur_tell_roles_and_items_that_some_rated_twice_are_offered() -> None:
    ratings = crossed(
        "Taster_no,Sort,Preference", lambda n, r: (f"c{n}", f"p{r}", RNG.choice("1234567")), 12, 5
    )
    people = [[f"c{n}", RNG.choice("12"), RNG.choice("123")] for n in range(12)]
    files = [ratings, rows_table([["Taster_no", "Gender", "Age"], *people])]
    assert file_roles(files) == ("annotations", "raters")
    rows = [[f"r{n}", f"p{p}", RNG.choice("123456")] for n in range(12) for p in range(6) for _ in range(2)]
    guess = recognise(rows_table([["CONSUMER", "PRODUCT_CODE", "SURENESS"], *rows]))
    assert asked(guess)["item"][0] == "PRODUCT_CODE"
    assert "rater" not in asked(guess)


def test_files_of_the_same_columns_are_read_together(command) -> None:
    files = {
        f"annotator_{n}": [["case", "label"], *([f"i{at}", RNG.choice("abc")] for at in range(12))]
        for n in range(1, 4)
    }
    files["annotator_1"] = [  # as pandas writes them
        [number, *row] for number, row in zip(["", *map(str, range(12))], files["annotator_1"], strict=True)
    ]
    names = " ".join(f"{name}.csv" for name in files)
    code, _, said = command(f"run {names} --permutations 50 --out x.json", **files)
    assert code == 0
    assert "annotator_1.csv and 2 more files of its columns: annotations" in said
    data = json.loads(Path("x.json").read_text(encoding="utf-8"))["data"]
    assert (data["raters"], data["items"], data["annotations"]) == (3, 12, 36)


def test_files_about_people_alone_and_of_counts_are_refused_as_that() -> None:
    head = ["ResponseId", "score", "age", "race", "gender", "income"]
    rows = [[f"R_{n}", RNG.choice("1234"), *RNG.choices("ab", k=4)] for n in range(20)]
    with pytest.raises(DataError, match="tells about people, a row each"):
        recognise(rows_table([head, *rows]))
    rows = [[f"{n}", "fm"[n % 2], f"{20 + 3 * n}"] for n in range(1, 7)]
    people = rows_table([["annotator", "gender", "age"], *rows])
    for layout, without in (("items-by-raters", "annotation left"), ("raters-by-items", "item column")):
        with pytest.raises(DataError, match=f"has no {without}"):  # asked for, so that it is tried
            load(people, None, recognise(people, named=Named(layout=layout)).spec, ())
    often = ("never", "often", "always")
    rows = [[h, w, f"{RNG.randrange(1, 30)}"] for h in often[:2] for w in often]
    with pytest.raises(DataError, match="'Freq' counts how often"):
        recognise(rows_table([["Husband", "Wife", "Freq"], *rows]))


def test_blanks_behind_commas_belong_to_no_cell() -> None:
    rows = (f'{n // 2}, "a, {n % 2}", {n % 3}' for n in range(12))
    table = read_here("\n".join(["row, annotator, label", *rows]).encode(), "votes.csv")
    assert table.columns == ("row", "annotator", "label")
    assert set(table.distinct("annotator")) == {"a, 0", "a, 1"}


def test_raters_are_joined_by_another_column_that_says_who_they_are() -> None:
    """Raters and items are both numbered from 0, and only the raters' names tell which file is whose."""
    labels = crossed(
        "worker_indices,worker_unique_ids,question_indices,ratings",
        lambda i, r: (r, f"batch_{r}", i, RNG.choice("012")),
        items=30,
        raters=20,
    )
    people = [[f"{r}", RNG.choice("01"), RNG.choice("01"), f"batch_{r}"] for r in range(20)]
    raters = rows_table([["", "over34", "poll1", "unique_id"], *people])
    assert file_roles([labels, raters]) == ("annotations", "raters")
    guess = recognise(labels, raters)
    assert (guess.spec.item, guess.spec.rater, guess.uncertain) == ("question_indices", "worker_indices", ())
    assert guess.axes == ("over34", "poll1")


def test_what_was_compared_is_no_rater_before_somebody_says_so() -> None:
    """One person scored two systems: nothing but their values says that these could be people."""
    rows = [[f"q{n}", mode, RNG.choice("01")] for n in range(20) for mode in ("direct", "rag")]
    guess = recognise(rows_table([["question_id", "mode", "score"], *rows]))
    assert asked(guess) == {"rater": ("mode",)}


def test_columns_of_responses_to_questions_are_no_raters() -> None:
    def answers(form: str) -> Guess:
        rows = [[*RNG.choices("01234", k=5), "fm"[n % 2]] for n in range(30)]
        return recognise(rows_table([[*(form.format(n) for n in range(1, 6)), "gender"], *rows]))

    assert answers("resp.q{}").spec.layout == "raters-by-items"
    assert answers("resp.q{}").axes == ("gender",)
    assert "layout" in asked(answers("resp_{}"))


def test_questions_that_share_no_label_are_not_pooled() -> None:
    rows = []
    for n in range(20):
        axis, labels = (("detection", "D0 D1"), ("safety", "SAFE UNSAFE"))[n % 2]
        rows += [[f"s{n}", axis, rater, RNG.choice(labels.split())] for rater in "AB"]
    guess = recognise(rows_table([["sentence", "axis", "annotator", "label"], *rows]))
    assert asked(guess) == {"label": ("label",)}
    assert "--drop axis=safety" in guess.uncertain[0].sentence


def test_who_is_the_rater_is_told_by_what_is_known_of_people() -> None:
    table = crossed(
        "track,who,rating,gender,treatment",
        lambda t, p: (f"t{t}", f"p{p}", RNG.choice("12345"), "fm"[p % 2], "ab"[p // 2 % 2]),
        items=20,
        raters=8,
    )
    guess = recognise(table)
    assert (guess.spec.item, guess.spec.rater, guess.uncertain) == ("track", "who", ())
    assert guess.axes == ("gender", "treatment")
