"""What real files of strangers have: each in the shape that was met, small."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from grasp_core import cli
from grasp_core.model.errors import DataError
from grasp_core.reading.dataset.load import load
from grasp_core.reading.guess.advice import Named
from grasp_core.reading.guess.recognise import Guess, question, recognise
from tests.reading.making import csv_bytes, read_here, rows_table

RNG = random.Random(5)
TASTERS = [f"c{n}" for n in range(12)]


def asked(guess: Guess) -> dict[str, tuple[str, ...]]:
    return {reason.field: reason.candidates for reason in guess.uncertain}


def tastings(*more: str) -> list[list[str]]:
    """A row per taster and product, with a label from 1 to 7; one of them is NA."""
    rows = [[taster, f"p{p}", RNG.choice("1234567"), *more] for taster in TASTERS for p in range(5)]
    rows[3][2] = "NA"
    return rows


def test_coders_who_have_not_begun_hide_no_others() -> None:
    rows = [[f"scan_{n}.png", RNG.choice("012"), "", "", RNG.choice("012")] for n in range(20)]
    table = rows_table([["img_id", "asta", "bob", "cem", "dora"], *rows])
    assert "layout" in asked(recognise(table))
    guess = recognise(table, named=Named(layout="items-by-raters"))
    assert load(table, None, guess.spec, ()).annotations.rater_ids == ("asta", "dora")


@pytest.mark.parametrize(
    ("head", "raters"),
    [
        ("Blair Hague Kennedy gender", ("Blair", "Hague", "Kennedy")),
        ("anna ben clara", ("anna", "ben", "clara")),
        ("id tweet anna ben clara final", ("anna", "ben", "clara")),
        ("label_A label_B label_final", ("label_A", "label_B")),
        ("id code_JM code_KL code_agreed", ("code_JM", "code_KL")),
        ("id label1 label2 label_resolved", ("label1", "label2")),
        ("fluency adequacy relevance", ("fluency", "adequacy", "relevance")),
    ],
)
def test_a_layout_is_asked_where_columns_of_any_names_hold_the_same_labels(head, raters) -> None:
    """Both answers load, and what was settled is nobody's."""
    filled = {"id": "i{}", "tweet": "A tweet of many words, the one with number {}", "gender": "male"}
    rows = [[filled.get(name, RNG.choice("12345")).format(n) for name in head.split()] for n in range(60)]
    rows[0] = [one.replace("male", "female") for one in rows[0]]
    table = rows_table([head.split(), *rows])
    (reason,) = recognise(table).uncertain
    assert reason.field == "layout"
    assert len(raters) == 2 or "criteria of one judgement" in question(reason)
    for layout in reason.candidates:
        guess = recognise(table, named=Named(layout=layout))
        read = load(table, None, guess.spec, guess.axes).annotations
        assert raters == (read.rater_ids if layout == "items-by-raters" else read.item_ids)
        assert set(guess.axes) <= {"gender"}


@pytest.mark.parametrize(
    ("column", "said"), [("town", "no group there has 2 raters or more"), ("remark", "")]
)
def test_an_axis_that_nobody_named_and_that_makes_no_group_stops_no_run(
    tmp_path: Path, monkeypatch, capsys, column: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    known = {"w1": "here", "w2": "there", "w3": ""}
    rows = [[f"h{n}", worker, RNG.choice("ab"), text] for n in range(4) for worker, text in known.items()]
    (tmp_path / "x.csv").write_bytes(csv_bytes([["hit", "worker", "label", column], *rows]))
    assert cli.main(["run", "x.csv", "--permutations", "50"]) == 0
    told = capsys.readouterr()
    assert "Your 3 raters" in told.out
    assert said in told.err
    assert cli.main(["run", "x.csv", "--permutations", "50", "--axis", column]) == 2


def test_a_raters_file_in_which_a_rater_stands_twice_is_joined(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [[f"t{n}", f"p{r}", RNG.choice("123")] for n in range(6) for r in range(4)]
    (tmp_path / "x.csv").write_bytes(csv_bytes([["turn", "participant_id", "interest"], *rows]))
    people = [[f"p{r}", "MF"[r % 2], f"{31 + r}"] for r in (0, 1, 2, 3)]
    people.append(["p1", "F", "26"])
    (tmp_path / "y.csv").write_bytes(csv_bytes([["Participant id", "Sex", "Age"], *people]))
    assert cli.main(["run", "x.csv", "y.csv", "--permutations", "50", "--out", "x.json"]) == 0
    assert json.loads((tmp_path / "x.json").read_text())["spec"]["analysis"]["axes"] == [["Sex"]]
    capsys.readouterr()
    assert cli.main(["run", "x.csv", "y.csv", "--permutations", "50", "--axis", "Age"]) == 2
    assert "column 'Age': rater 'p1' has '32' and '26'; give each rater one value" in capsys.readouterr().err


def test_files_of_which_none_joins_are_told_how_to_say_what_each_holds(
    tmp_path: Path, monkeypatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.csv").write_bytes(csv_bytes([["Taster", "Product", "rating"], *tastings()]))
    (tmp_path / "y z.csv").write_bytes(csv_bytes([["who", "sex"], ["Ann", "F"], ["Bob", "M"]]))
    assert cli.main(["run", "x.csv", "y z.csv"]) == 2
    said = capsys.readouterr().err
    assert "y z.csv: nothing in it joins to x.csv; " in said
    assert said.endswith("such as --annotations x.csv --raters 'y z.csv'\n")


@pytest.mark.parametrize("tells", [True, False])
def test_first_answers_are_not_proposed_where_most_rows_would_be_left_out(tells: bool) -> None:
    """Each row is a case of its own; `tells`: whether other columns differ between those of one kind."""
    more = [["town", "language"], *([RNG.choice("xyz"), RNG.choice("ef")] for _ in range(90))]
    cases = [
        ["nation", "judge", "decision"],
        *([f"n{n % 3}", f"j{n % 5}", RNG.choice("yn")] for n in range(90)),
    ]
    table = rows_table(
        [[*case, *beside] if tells else case for case, beside in zip(cases, more, strict=True)]
    )
    guess = recognise(table, named=Named(item="nation", rater="judge", label="decision"))
    with pytest.raises(DataError, match="raters have several rows for most items") as refused:
        load(table, None, guess.spec, ())
    said = str(refused.value)
    assert "--repeated" not in said
    assert ("which differ in 'town', 'language'" if tells else "nothing names what was judged") in said


def test_an_id_of_the_rows_by_any_name_tells_the_items_apart() -> None:
    asked_of_each = [f"{what}_coder{n}" for n in (1, 2) for what in ("role", "tone", "frame")]
    rows = [[f"14822{n}::PA{n}", *(RNG.choice("abc") for _ in asked_of_each)] for n in range(20)]
    guess = recognise(read_here(csv_bytes([["pair_id", *asked_of_each], *rows]), "pairs.csv"))
    assert guess.spec.item == "pair_id"
    assert not any("no column tells the items apart" in one.sentence for one in guess.reasons)


def test_times_of_reaction_are_no_labels() -> None:
    head = ["id", "item", "rt", "log_rt", "correct"]
    rows = [
        [f"N{r}", f"word{n}", f"{RNG.random():.4f}", f"{-RNG.random():.4f}", RNG.choice(("TRUE", "FALSE"))]
        for n in range(20)
        for r in range(12)
    ]
    guess = recognise(rows_table([head, *rows]), named=Named(item="item", rater="id"))
    assert guess.spec.label == "correct"
    assert "label" not in asked(guess)


def test_what_a_survey_embeds_after_the_last_question_is_known_of_its_respondents() -> None:
    own = ["StartDate", "Status", "Finished", "RecordedDate", "ResponseId"]
    asked_of = ["Trust_1", "Honest_1", "Open_1"]
    head = [*own, *asked_of, "Impress", "condition"]
    texts = [*own, "How trusty?", "How honest?", "How open?", "How impressive?", "condition"]
    ids = [f'{{"ImportId":"{name if name in (*own, "condition") else f"QID{name}"}"}}' for name in head]
    rows = [
        [
            *("2025-11-04", "IP Address", "True", "2025-11-04", f"R_{n}"),
            *(RNG.choice("12345") for _ in asked_of),
            *(RNG.choice(("high", "low")), ("control", "treated")[n % 2]),
        ]
        for n in range(12)
    ]
    table = read_here(csv_bytes([head, texts, ids, *rows]), "survey.csv")
    guess = recognise(table, named=Named(label="*_1"))
    assert "condition" in guess.spec.profile
    assert "condition" in guess.axes
    with pytest.raises(DataError, match="column 'Status' is put aside, so it cannot describe raters"):
        load(table, None, guess.spec, ("Status",))


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
    rows = [[RNG.choice(["arts", "law"]), "mf"[n % 2], *answers[n % 3]] for n in range(12)]
    table = rows_table([["subject", "gender", "matters", "salary", "leaves"], *rows])
    guess = recognise(table, named=Named(layout="raters-by-items"))
    assert asked(guess) == {"profile": ("subject",)}
    guess = recognise(table, named=Named(layout="raters-by-items", profile=("subject",)))
    read = load(table, None, guess.spec, guess.axes).annotations
    assert (len(read.rater_ids), read.item_ids) == (12, ("matters", "salary", "leaves"))
    assert not guess.uncertain
    assert guess.axes == ("gender",)


def test_rows_whose_ids_recur_are_no_items_by_number() -> None:
    rows = [[f"w{n % 4}", f"m{n // 4}", str(20 + n % 4), RNG.choice("01")] for n in range(40)]
    table = rows_table([["User ID", "Meme ID", "Age", "hate"], *rows])
    assert asked(recognise(table, named=Named(layout="items-by-raters")))["item"] == ("User ID", "Meme ID")
