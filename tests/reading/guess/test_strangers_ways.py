"""What real files of strangers have: each in the shape that was met, small."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from grasp_core import cli
from grasp_core.model.data_spec import Layout
from grasp_core.model.errors import DataError
from grasp_core.reading.dataset.load import load
from grasp_core.reading.guess.advice import Named
from grasp_core.reading.guess.recognise import Guess, file_roles, question, recognise
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


def survey(columns: int = 8, people: int = 24) -> list[list[str]]:
    """A row per person: number, block of answers from 1 to 4, and numbers about the row behind them."""
    rows = [["id", *(f"{word}" for word in WORDS[:columns]), "time", "gender"]]
    return rows + [
        [f"{n // 2}", *(RNG.choice("1234") for _ in range(columns)), f"{n % 2 + 1}", f"{n // 2 % 2 + 1}"]
        for n in range(people)
    ]


WORDS = ("calm", "tense", "upset", "relaxed", "content", "worried", "pleasant", "nervous")


def test_na_beside_numbers_is_no_label_though_a_profile_has_it_too() -> None:
    incomes = {taster: RNG.choice(["low", "high"]) for taster in TASTERS} | {TASTERS[0]: "NA"}
    rows = [[*row, incomes[row[0]]] for row in tastings()]
    table = rows_table([["Consumer", "Product", "Preference", "Income"], *rows])
    guess = recognise(table, named=Named(item="Product", rater="Consumer"))
    data = load(table, None, guess.spec, guess.axes)
    assert "NA" not in data.summary.categories
    assert "NA" in guess.spec.missing
    assert "NA" not in data.raters.axes["Income"].values


def test_columns_that_are_no_items_by_their_names_are_none_and_ids_that_recur_are_asked_about() -> None:
    table = rows_table(survey())
    guess = recognise(table, named=Named(layout="raters-by-items"))
    assert asked(guess) == {"rater": ("id",)}
    assert not {"time", "gender"} & set(load(table, None, guess.spec, ()).annotations.item_ids)


def test_a_column_named_beside_a_matrix_makes_no_items_of_the_others(tmp_path: Path, monkeypatch) -> None:
    header, *rows = survey()
    for place, row in enumerate(rows):
        row[0] = f"s{place}"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.csv").write_bytes(csv_bytes([header, *rows]))
    options = ["--layout", "raters-by-items", "--profile", "gender", "--permutations", "50"]
    assert cli.main(["run", "x.csv", *options, "--out", "x.json"]) == 0
    data = json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))["data"]
    assert (data["items"], data["categories"]) == (len(WORDS), ["1", "2", "3", "4"])


@pytest.mark.parametrize("other", ["author", "автор"])
def test_a_coder_whose_column_is_called_otherwise_is_one_of_them(other: str) -> None:
    rows = [[f"{n}", *(RNG.choice("0123") for _ in range(3))] for n in range(30)]
    table = rows_table([["id", other, "model_1", "model_2"], *rows])
    assert "layout" in asked(recognise(table))
    guess = recognise(table, named=Named(layout="items-by-raters"))
    assert load(table, None, guess.spec, ()).summary.raters == 3


def test_two_columns_of_coders_and_nothing_else_are_asked_about() -> None:
    table = rows_table([["doc1", "doc2"], *([RNG.choice("123"), RNG.choice("123")] for _ in range(30))])
    assert asked(recognise(table)) == {"layout": ("items-by-raters", "raters-by-items")}
    guess = recognise(table, named=Named(layout="items-by-raters"))
    summary = load(table, None, guess.spec, ()).summary
    assert (summary.items, summary.raters) == (30, 2)
    with pytest.raises(DataError, match="only 2 columns"):
        recognise(rows_table([["text", "label"], *([f"t{n}", RNG.choice("12")] for n in range(30))]))


def test_means_and_links_beside_coders_are_no_coders() -> None:
    head = [
        "song",
        "split",
        "URL",
        "A1 agents",
        "A2 agents",
        "A1 events",
        "A2 events",
        "Agents mean",
        "STDEV",
    ]
    rows = [
        [f"s{n}", "train", f"http://x/{n}", *(RNG.choice("12345") for _ in range(4)), "3.33", f"0.{n}"]
        for n in range(14)
    ]
    guess = recognise(rows_table([head, *rows]), named=Named(layout="items-by-raters"))
    assert "label" in asked(guess)
    assert {"URL", "Agents mean", "STDEV"} <= set(guess.spec.ignore)


@pytest.mark.parametrize("layout", ["items-by-raters", "raters-by-items"])
def test_names_made_of_two_are_several_questions_to_raters_and_no_question_of_items(layout: Layout) -> None:
    head = ["id", *(f"{unit} {part}" for unit in ("A1", "A2", "A3") for part in ("curse", "shout"))]
    rows = [[f"r{n}", *(RNG.choice("123") for _ in head[1:])] for n in range(12)]
    guess = recognise(rows_table([head, *rows]), named=Named(layout=layout))
    assert asked(guess) == ({"label": ("A* curse", "A* shout")} if layout == "items-by-raters" else {})


def test_whose_ids_a_file_has_is_told_by_its_columns_where_names_of_ids_say_nothing() -> None:
    ratings = rows_table([["Taster_no", "Sort", "Preference"], *tastings()])
    people = rows_table(
        [
            ["Taster_no", "Gender", "Age"],
            *([taster, RNG.choice("12"), RNG.choice("123")] for taster in TASTERS),
        ]
    )
    assert file_roles([ratings, people]) == ("annotations", "raters")


def test_files_of_the_same_columns_are_read_together(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    files = [f"annotator_{n}.csv" for n in range(1, 4)]
    for place, file in enumerate(files):
        rows = [[f"i{n}", RNG.choice("abc")] for n in range(12)]
        named = [["case", "label"], *rows]
        counted = [
            ["", "case", "label"],
            *([f"{n}", *row] for n, row in enumerate(rows)),
        ]  # as pandas writes it
        (tmp_path / file).write_bytes(csv_bytes(named if place else counted))
    assert cli.main(["run", *files, "--permutations", "50", "--out", "x.json"]) == 0
    assert "annotator_1.csv and 2 more files of its columns: annotations" in capsys.readouterr().err
    data = json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))["data"]
    assert (data["raters"], data["items"], data["annotations"]) == (3, 12, 36)


def test_a_file_about_people_alone_is_refused_as_that() -> None:
    head = ["ResponseId", "score", "age", "race", "gender", "income"]
    rows = [[f"R_{n}", RNG.choice("1234"), *(RNG.choice("ab") for _ in range(4))] for n in range(20)]
    with pytest.raises(DataError, match="tells about people, a row each"):
        recognise(rows_table([head, *rows]))


def test_a_table_of_how_often_answers_meet_is_refused_as_counts() -> None:
    rows = [
        [h, w, f"{RNG.randrange(1, 30)}"] for h in ("never", "often") for w in ("never", "often", "always")
    ]
    with pytest.raises(DataError, match="'Freq' counts how often"):
        recognise(rows_table([["Husband", "Wife", "Freq"], *rows]))


def test_items_that_some_rated_twice_are_offered() -> None:
    rows = [[f"r{n}", f"p{p}", RNG.choice("123456")] for n in range(12) for p in range(6) for _ in range(2)]
    guess = recognise(rows_table([["CONSUMER", "PRODUCT_CODE", "SURENESS"], *rows]))
    assert asked(guess)["item"][0] == "PRODUCT_CODE"
    assert "rater" not in asked(guess)


def test_a_layout_is_hinted_at_where_columns_are_alike() -> None:
    head = ["question_id", "model_1", "model_2", "turn", "winner1", "winner2", "winner3"]
    rows = [
        [
            f"{n // 4}",
            "gpt",
            "llama",
            f"{n % 2}",
            *(RNG.choice(("model_1", "model_2", "tie")) for _ in range(3)),
        ]
        for n in range(40)
    ]
    guess = recognise(rows_table([head, *rows]))
    (reason,) = (one for one in guess.uncertain if one.field == "rater")
    assert "--layout items-by-raters" in question(reason)


def test_blanks_behind_commas_belong_to_no_cell() -> None:
    rows = (f'{n // 2}, "a, {n % 2}", {n % 3}' for n in range(12))
    table = read_here("\n".join(["row, annotator, label", *rows]).encode(), "votes.csv")
    assert table.columns == ("row", "annotator", "label")
    assert set(table.distinct("annotator")) == {"a, 0", "a, 1"}


def test_raters_are_joined_by_another_column_that_says_who_they_are() -> None:
    """Raters and items are both numbered from 0, and only the raters' names tell which file is whose."""
    head = ["worker_indices", "worker_unique_ids", "question_indices", "ratings"]
    rows = [[f"{r}", f"batch_{r}", f"{i}", RNG.choice("012")] for i in range(30) for r in range(20)]
    people = [["", "over34", "poll1", "unique_id"]]
    people += [[f"{r}", RNG.choice("01"), RNG.choice("01"), f"batch_{r}"] for r in range(20)]
    labels, raters = rows_table([head, *rows]), rows_table(people)
    assert file_roles([labels, raters]) == ("annotations", "raters")
    guess = recognise(labels, raters)
    assert (guess.spec.item, guess.spec.rater, guess.uncertain) == ("question_indices", "worker_indices", ())
    assert guess.axes == ("over34", "poll1")


def test_coders_who_have_not_begun_hide_no_others() -> None:
    rows = [[f"scan_{n}.png", RNG.choice("012"), "", "", RNG.choice("012")] for n in range(20)]
    table = rows_table([["img_id", "asta", "bob", "cem", "dora"], *rows])
    assert "layout" in asked(recognise(table))
    guess = recognise(table, named=Named(layout="items-by-raters"))
    assert load(table, None, guess.spec, ()).annotations.rater_ids == ("asta", "dora")


def test_a_layout_is_hinted_at_where_columns_of_any_names_hold_the_same_labels() -> None:
    head = ["Blair", "Hague", "Kennedy", "gender"]
    rows = [[*(RNG.choice("12345") for _ in range(3)), RNG.choice(("male", "female"))] for _ in range(60)]
    (reason,) = (one for one in recognise(rows_table([head, *rows])).uncertain if one.field == "rater")
    assert "--layout items-by-raters or --layout raters-by-items" in question(reason)


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
