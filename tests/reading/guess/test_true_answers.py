"""Strangers' files whose truth is not among what was offered: it can be said, and nothing is lost unsaid."""

import random

import pytest

from grasp_core.model.errors import DataError
from grasp_core.reading.dataset.load import load
from grasp_core.reading.guess.advice import Named
from grasp_core.reading.guess.recognise import question, recognise
from tests.reading.made_up import asked
from tests.reading.making import csv_bytes, read_here, rows_table

RNG = random.Random(5)


@pytest.mark.parametrize(
    ("head", "rows", "ids"),
    [
        ("title Anna Ben Cleo", [f"t{n} {'123'[n % 3]} {'231'[n % 3]} {'345'[n % 3]}" for n in range(12)], 3),
        (None, ["2 2 3 2 2", "2 2 2 2 2", "2 NaN 2 2 1", "1 2 2 2 2"], 5),
        ("id amy bob cem", ["i1 yes no no", "i2 no yes unsure", "i3 yes yes unsure", "i4 no yes no"], 3),
    ],
)
def test_who_uses_other_labels_than_the_others_is_no_axis_and_stays_in(head, rows, ids: int) -> None:
    table = read_here(csv_bytes([line.split() for line in ([head] if head else []) + rows]), "x.csv")
    (reason,) = recognise(table).uncertain
    assert reason.field == "layout"
    assert "with other values, " in question(reason)
    for layout in reason.candidates:
        guess = recognise(table, named=Named(layout=layout))
        read = load(table, None, guess.spec, guess.axes).annotations
        assert ids == len(read.rater_ids if layout == "items-by-raters" else read.item_ids)
        assert not guess.axes


def test_what_a_layout_puts_aside_is_named_where_the_layout_is_asked() -> None:
    rows = [[f"i{n}", *(RNG.choice("123") for _ in range(5)), RNG.choice(["tea", "milk"])] for n in range(30)]
    table = rows_table([["key", *"abcde", "drink"], *rows])
    (reason,) = recognise(table).uncertain
    assert reason.sentence.endswith("'drink' is put aside, unless the label is '*'")
    whole = recognise(table, named=Named(label="*", item="key"))
    assert len(load(table, None, whole.spec, ()).annotations.rater_ids) == 6


def test_counts_of_the_points_of_a_scale_are_refused_with_all_of_their_columns() -> None:
    votes = [(0, 0, 3, 30, 37), (0, 0, 8, 29, 33), (4, 1, 11, 14, 40), (3, 0, 1, 33, 33), (0, 3, 1, 18, 48)]
    rows = [[f"kind {n}", *map(str, counts)] for n, counts in enumerate(votes)]
    table = rows_table([["index", "no idea", "not at all", "slightly", "very", "extremely"], *rows])
    for layout in ("items-by-raters", "raters-by-items"):
        guess = recognise(table, named=Named(layout=layout))
        assert asked(guess).keys() == {"aggregated"}
        assert "add up to 70" in question(guess.uncertain[0])


def test_respondents_without_ids_are_raters_by_number_and_what_is_no_answer_is_asked() -> None:
    answers = [["yes", "partly", "no"], ["no", "yes", "yes"], ["partly", "no", "no"]]
    rows = [[RNG.choice(["new", "old"]), "mf"[n % 2], *answers[n % 3]] for n in range(12)]
    table = rows_table([["user", "gender", "matters", "salary", "leaves"], *rows])
    guess = recognise(table, named=Named(layout="raters-by-items"))
    assert asked(guess) == {"profile": ("user",)}
    guess = recognise(table, named=Named(layout="raters-by-items", profile=("user",)))
    read = load(table, None, guess.spec, guess.axes).annotations
    assert (len(read.rater_ids), read.item_ids) == (12, ("matters", "salary", "leaves"))
    assert not guess.uncertain
    assert guess.axes == ("gender",)
    topic = rows_table([["subject", "gender", "matters", "salary", "leaves"], *rows])
    guess = recognise(topic, named=Named(layout="raters-by-items"))
    assert (asked(guess), guess.spec.profile) == ({}, ("subject", "gender"))  # new and old are no people


def test_rows_whose_ids_recur_are_no_items_by_number() -> None:
    rows = [[f"w{n % 4}", f"m{n // 4}", str(20 + n % 4), RNG.choice("01")] for n in range(40)]
    table = rows_table([["User ID", "Meme ID", "Age", "hate"], *rows])
    assert asked(recognise(table, named=Named(layout="items-by-raters")))["item"] == ("User ID", "Meme ID")


def test_the_column_that_makes_most_contradictions_go_is_named_with_those_that_stay(command) -> None:
    """An error of a translation is a row: most raters have several rows for a segment, of other systems."""
    rows = [
        [f"sys{s}", str(g), f"r{(s + g) % 3}", "ABC"[(s // 3 + g) % 3]] for s in range(6) for g in range(8)
    ]
    rows += [["sys0", "0", "r0", "C"], ["sys1", "1", "r2", "C"]]
    files = {"x": [["system", "seg_id", "rater", "category", "kind"], *([*row, "-"] for row in rows)]}
    code, _, said = command("run x.csv --item seg_id", **files)
    assert code == 2
    assert "'system' differs between most such rows, and 2 cases would be left. " in said
    assert "by --item seg_id+system" in said
    assert "--repeated" not in said


@pytest.mark.parametrize("coders", [("coder1", "coder2"), ("anna", "bob")])
def test_files_of_coders_whose_item_stands_in_two_columns_are_joined(command, coders) -> None:
    cases = [(m, act) for m in range(12) for act in ("Apologize", "Refer", "Thank")]
    files = {
        coder: [["message_id", "activity", "label"]]
        + [[str(m), act, str(int(m % 3 == 0) ^ (at and m % 5 == 0))] for m, act in cases]
        for at, coder in enumerate(coders)
    }
    line = "run " + " ".join(f"{coder}.csv" for coder in coders)
    code, _, said = command(line, **files)
    assert code == 2
    assert "message_id+activity" in said
    code, told, _ = command(f"{line} --item message_id+activity --permutations 10")
    assert code == 0
    assert "72 annotations of 36 items by 2 raters" in told


def test_a_row_for_each_item_has_no_raters_by_values_and_how_many_there_were_is_nobody() -> None:
    rows = [[f"q{n // 2}_{'ab'[n % 2]}", f"q{n // 2}", "AB"[n % 2], RNG.choice("01")] for n in range(40)]
    guess = recognise(rows_table([["item_id", "question_id", "side", "flattery"], *rows]))
    assert asked(guess) == {"rater": ()}
    papers = {f"Author {n}": (str(20 + 3 * n), str(9 + n)) for n in range(9)}
    rows = [[what, paper, RNG.choice("yn"), *papers[paper], RNG.choice(["en", "de"])]
            for at, what in enumerate(("tone", "stress", "intent", "mood"))
            for paper in papers if (at + int(paper[-1])) % 3]  # fmt: skip
    for columns in (6, 5):
        head = ["What", "Paper", "differences", "participants", "min", "language"][:columns]
        guess = recognise(rows_table([head, *(row[:columns] for row in rows)]))
        assert set(asked(guess)["rater"]) == {"What", "Paper"}
        assert all(
            "if none gave the labels" in question(one) or one.field != "rater" for one in guess.uncertain
        )


def test_initials_and_codes_of_everybody_are_no_labels() -> None:
    head = ["HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "Answer.Q1initials", "Answer.Q2code"]
    people = [
        ["h1", f"a{n}", f"w{n}", "Approved", f"{'KCALJP'[n % 6]}{n}", f"E2F{n * 7919}"] for n in range(9)
    ]
    (reason,) = recognise(read_here(csv_bytes([head, *people]), "batch.csv")).uncertain
    assert (reason.field, reason.candidates) == ("label", ())
    assert "as codes do" in question(reason)


def test_ages_of_few_raters_are_offered_in_bands() -> None:
    rows = [[f"w{n % 9}", f"m{n // 9}", str(20 + n % 9), "fm"[n % 2], RNG.choice("01")] for n in range(90)]
    table = rows_table([["user_id", "item_id", "age", "town", "hate"], *rows])
    said = [one.candidates for one in recognise(table).reasons if one.field == "axes" and one.candidates]
    assert said == [("age",)]


def test_a_question_about_a_comment_is_offered_as_the_label() -> None:
    """Its name says comment, as columns of remarks do: so it is offered, not taken by itself."""
    asks = "Is this comment rude?"
    rows = [[f"w{n % 9}", f"m{n // 9}", "fm"[n % 9 % 2], RNG.choice(["rude!", "fine"])] for n in range(90)]
    (reason,) = recognise(rows_table([["user_id", "item_id", "gender", asks], *rows])).uncertain
    assert (reason.field, reason.candidates) == ("label", (asks,))
    assert "none of few values varies" not in reason.sentence


def test_many_countries_are_told_to_be_none_that_is_taken() -> None:
    rows = [[f"w{n % 60}", f"m{n // 60}", f"country {n % 30}", RNG.choice("01")] for n in range(600)]
    (said,) = (
        one.sentence
        for one in recognise(rows_table([["user_id", "item_id", "country", "hate"], *rows])).reasons
        if one.field == "axes"
    )
    assert said.startswith("'country' makes no groups yet: 30 values are many")


def test_axes_are_proposed_beside_a_label_that_is_still_to_be_made() -> None:
    rows = [
        [f"w{n % 9}", f"m{n // 9}", "fm"[n % 9 % 2], RNG.choice("01"), RNG.choice("01")] for n in range(90)
    ]
    table = rows_table([["user_id", "item_id", "gender", "hate", "insult"], *rows])
    assert recognise(table, named=Named(label="any")).axes == ("gender",)


def test_one_question_is_asked_about_the_label_and_what_names_questions_is_none() -> None:
    rows = [[f"p{p}", model, rater, asked_of, f"{RNG.random() * 5:.9f}"]
            for p in range(4) for model in ("gpt", "claude") for rater in ("R1", "R2")
            for asked_of in ("socratic", "fidelity")]  # fmt: skip
    guess = recognise(rows_table([["prompt_id", "model", "rater", "dimension", "score"], *rows]))
    (about,) = [one for one in guess.uncertain if one.field == "label"]
    assert about.candidates == ("model", "score")


def test_your_name_is_who_answered_a_form() -> None:
    rows = [[f"1/{n + 1}/2020", f"Anna {n % 3}", f"A joke that nobody else has read, number {n}", "TRUE"]
            for n in range(9)]  # fmt: skip
    table = rows_table([["Timestamp", "Your Name:", "Short Text:", "The text is humorous."], *rows])
    (reason,) = recognise(table).uncertain
    assert reason.sentence.startswith(
        "nobody can be compared: hardly any item has more than one of 'Your Name:'"
    )


def test_a_file_beside_labels_that_are_not_read_for_certain_waits_for_what_is_asked(command) -> None:
    sayings = ["Bolt of verse", "Twain in song", "An artist", "Lucille", "PSY for all", "Ringo there"]
    votes = [["", "Participant", *sayings], ["0", "P0", *"353355"]]
    code, _, said = command("run x.csv y.csv", x=votes, y=[["", "Participant", "age"], ["0", "P0", "30"]])
    assert code == 2
    assert "x.csv: annotations, y.csv: raters" in said
    assert "x.csv: the layout is not certain" in said
    code, told, _ = command("run x.csv y.csv --layout raters-by-items --permutations 10")
    assert code == 0
    assert "6 annotations of 6 items by 1 rater" in told


def test_families_of_columns_for_each_rater_are_questions_and_their_means_are_nobodys() -> None:
    families = [f"{tool}-{of}" for tool in ("tree", "net") for of in "sn"]
    scores = [[[RNG.choice("1234") for _ in "12"] for _ in families] for _ in range(12)]
    head = [f"{family}{end}" for family in families for end in ("1", "2", "")]
    rows = [[f"f{n}", *(one for a, b in own for one in (a, b, f"{(int(a) + int(b)) / 2:g}")), "7"]
            for n, own in enumerate(scores)]  # fmt: skip
    table = read_here(csv_bytes([["sample", *head, "overall"], *rows]), "x.csv")
    assert sorted(asked(recognise(table))["label"]) == sorted(families)
    guess = recognise(table, named=Named(label="tree-n"))
    read = load(table, None, guess.spec, ()).annotations
    assert read.rater_ids == ("1", "2")
    cells = [table.cell("tree-n", row) for row in range(len(table))]
    assert cells == [one for own in scores for one in own[1]]
    with pytest.raises(DataError, match="'overall' is one for each item, and no rater's answer"):
        recognise(table, named=Named(label="overall"))


def test_where_no_column_names_raters_the_layout_is_offered(command) -> None:
    rows = [["student", "mf"[n % 2], "law", "yn"[n % 3 == 0], "yn"[n % 4 == 0]] for n in range(12)]
    code, _, said = command("run x.csv", x=[["status", "gender", "studies", "matters", "leaves"], *rows])
    assert code == 2
    assert said.endswith("with --rater; where each row or column is a rater's, name --layout\n")
