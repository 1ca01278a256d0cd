"""Rows that are no answers are left out, and told; answers that should not count are asked about."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from grasp_core.reading.dataset.load import load
from grasp_core.reading.guess.recognise import recognise
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Table
from tests.commands import ran
from tests.reading.making import crossed


def of(answer: Callable, *more: str, column: str = "answer", items: int = 9, raters: int = 4) -> str:
    """A long file: an answer of each rater to each item, and further rows."""
    rows = [f"i{n},w{r},{answer(n, r)}" for n in range(items) for r in range(raters)]
    return "\n".join([f"item,worker,{column}", *rows, *more])


def long(*more: str) -> Table:
    return read_table(of(lambda n, r: "yn"[(n + r) % 2], *more).encode(), "votes.csv")


def three(of_row: Callable[[int], str]) -> Callable[..., Table]:
    """Maker of matrices of three raters and nine items, made of each item's number, between further rows."""

    def made(*below: str, above: Sequence[str] = ()) -> Table:
        lines = ["item,rater_1,rater_2,rater_3", *above, *(f"i{n},{of_row(n)}" for n in range(9)), *below]
        return read_table("\n".join(lines).encode(), "votes.csv")

    return made


matrix = three(lambda n: f"{n % 3},{n % 2},1")
words = three(lambda n: f"{'yn'[n % 2]},{'yn'[n % 3 % 2]},y")
mixed = three(lambda n: f"{n % 3},{'yn'[n % 3 % 2]},y")


def beside(column: str, of_row: Callable[[int], object], *more: str) -> Table:
    """The long file with a further column, made of each row's number."""
    text = of(lambda n, r: f"{'yn'[(n + r) % 2]},{of_row(4 * n + r)}", *more, column=f"answer,{column}")
    return read_table(text.encode(), "votes.csv")


def read(table: Table, raters: Table | None = None) -> tuple[int, int, list[str]]:
    """What is left once all advice is taken, and why the rest is not."""
    guess = recognise(table, raters)
    summary = load(table, raters, guess.advised, guess.axes).summary
    why = [reason.sentence for reason in guess.reasons if reason.field == "filters"]
    return summary.annotations, summary.raters, [*why, *(one.sentence for one in guess.advice)]


MADE = "its name says that it was made of others' labels, or is known to be right"
OF_OTHERS = (
    *("gold", "Majority vote", "ground_truth", "consensus", "Adjudicated", "adjudicator", "FINAL", "MACE"),
    *("Dawid-Skene", "CURATION_USER", "final label", "GT", "Konsens", "Mehrheit", "consenso", "Referenz"),
)
NOBODY = ("nan", "NULL", "unknown", "Anonymous", "#N/A")


@pytest.mark.parametrize(
    ("who", "why"), [*((who, MADE) for who in OF_OTHERS), *((who, "it names nobody") for who in NOBODY)]
)
def test_a_rater_whose_name_is_no_persons_is_none(who: str, why: str) -> None:
    """Several people may have answered without an id, the same item too."""
    found = read(long(f"i0,{who},y", f"i0,{who},n", f"i1,{who},n"))
    assert found == (36, 4, [f"3 annotations with 'worker' = '{who}': {why}"])


def test_all_count_without_an_answer_and_where_the_raters_file_knows_them() -> None:
    guess = recognise(table := long("i0,gold,y", "i1,gold,n", "Total,4,36"))
    summary = load(table, None, guess.spec, guess.axes).summary
    assert (summary.annotations, summary.raters) == (38, 5)
    people = "\n".join(["worker,gender", *(f"w{r},{'fm'[r % 2]}" for r in range(4)), "gold,f"])
    annotations, raters, why = read(long("i0,gold,y"), read_table(people.encode(), "raters.csv"))
    assert (annotations, raters, why) == (37, 5, [])


def test_a_rater_whose_name_says_more_stays() -> None:
    for who in (
        *("Goldberg", "gold_01", "expert", "truth_seeker", "adjudicator_2", "user"),
        *("na", "none", "Nan Goldin", "unknown_1"),  # it may be somebody's,
    ):
        assert read(long(f"i0,{who},y", f"i1,{who},n")) == (38, 5, [])


@pytest.mark.parametrize(
    ("made", "last"),
    [
        (matrix, ["Mean,1.1,0.4,1.0"]),
        (matrix, ["Total,9,4,9", "Kappa,0.5,0.61,0.4"]),
        (matrix, ["Cohen's kappa,0.1,0.2,0.3"]),
        (words, ["Anzahl ja,11,9,10", "Anzahl nein,9,11,10"]),
        (words, ["# yes,55 %,45 %,50 %"]),
        (words, ["yes,11,9,10", "Kappa,0.4,0.5,0.4", "Abweichung,1,2,0"]),
    ],
)
def test_sums_below_a_matrix_are_no_items(made: Callable[..., Table], last: list[str]) -> None:
    annotations, raters, why = read(made(*last))
    assert (annotations, raters, len(why)) == (27, 3, len(last))
    assert why[-1].endswith("it sums up the rows above it")


def test_a_row_that_may_be_an_item_stays() -> None:
    for made, last in (
        (words, ["i9,1,2,y"]),
        (words, ["i9,,,"]),
        (mixed, ["i9,1,2,3"]),
        (matrix, ["religion,1,0,1", "age,0,2,1"]),  # labelled as others are
        (matrix, ["mean,1,1,1", "median value,0,1,2", "last,1,1,0"]),
    ):
        assert read(made(*last))[1:] == (3, [])


def test_totals_below_long_files_and_raters_by_items_are_nobody() -> None:
    annotations, raters, why = read(long("Total,4,36", "Mean,9,0.5", "Source: us,,"))
    assert (annotations, raters) == (36, 4)
    assert why == [f"'item' = '{t}' is no answer: it sums up the rows above it" for t in ("Mean", "Total")]
    assert read(long("36,Total,18"))[:2] == (36, 4)
    rows = [f"P{n},{n % 3},{n % 2},1" for n in range(9)] + ["gold,1,1,1", "Mean,1.5,1.1,1.0"]
    table = read_table("\n".join(["rater,item_1,item_2,item_3", *rows]).encode(), "votes.csv")
    annotations, raters, why = read(table)
    assert (annotations, raters, len(why)) == (27, 9, 2)


@pytest.mark.parametrize(
    "above", [["gender,f,m,f"], ["Gender,f,m,f", "age,31,40,52"], ["age group,18+,18+,30+"]]
)
def test_rows_about_raters_are_no_items(above: list[str]) -> None:
    annotations, raters, why = read(matrix(above=above))
    assert (annotations, raters, len(why)) == (27, 3, len(above))
    assert why[0].endswith("it describes the raters; what is known of them goes into a raters file")


FILES = {
    "gold": of(lambda n, r: "yn"[(n + r) % 2], "i0,gold,y", "i1,gold,n"),
    "accept": of(lambda n, r: f"{'yn'[(n + r) % 2]},{int(n != r)}", column="answer,accept", raters=6),
    "nan": of(lambda n, r: "nan" if r == n % 4 else 1 + (n + r) % 2),
    "-1": of(lambda n, r: ("-1", *"12345")[(n + r) % 6], items=12, raters=6),
    "-9": of(lambda n, r: -9 if r == n % 4 else 1 + (n + r) % 2),
    "total": "\n".join(
        ["item,w1,w2,w3,w4", *(f"i{n},{n % 3},{n % 2},1,{n % 2}" for n in range(9)), "Total,9,4,9,4"]
    ),
}
GOLD = "2 annotations with 'worker' = 'gold'"


@pytest.fixture(params=[False, True], ids=["guessed", "named"])
def quality(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch, capsys) -> Callable[..., tuple]:
    """What the command prints of one of the files, whether or not all its columns are named."""
    monkeypatch.chdir(tmp_path)

    def command(file: str, options: str) -> tuple[str, str]:
        (tmp_path / "votes.csv").write_text(FILES[file], encoding="utf-8")
        columns = "--layout items-by-raters" if file == "total" else "--rater worker --label answer"
        named = ["--item", "item", *columns.split()] if request.param else []
        return ran(capsys, "quality", "--annotations", "votes.csv", *named, *options.split())

    return command


@pytest.mark.parametrize(
    ("file", "options", "annotations", "told", "unsaid"),
    [
        ("gold", "", 38, f"note: kept, though recommended to be left out: {GOLD}", None),
        ("gold", "--recommended", 36, f"note: left out as recommended: {GOLD}", None),
        ("gold", "--recommended --keep worker=gold", 38, "note: nothing else is recommended", None),
        ("gold", "--no-recommended", 38, "", "recommended"),
        ("accept", "", 54, "'accept' = '0' in 6 rows of 54", None),
        ("accept", "--drop accept=0", 48, "", None),
        ("nan", "", 27, "'nan' in 9 cells are no label", None),
        ("-1", "", 72, "note: kept as a label: 12 cells with '-1'", None),
        ("-1", "", 72, "--missing -1 takes it for no answer", None),
        ("-1", "--missing -1", 60, "", "kept as a label"),
        *(("-9", "", 36, "", None), ("-9", "--recommended", 27, "", None)),
        *(("-9", f"{one}--categories -9,1,2", 36, "", None) for one in ("", "--recommended ")),
        ("total", "", 36, "'item' = 'Total' is no answer", None),
        ("total", "--keep item=Total", 40, "", None),
    ],
)
def test_the_command_says_what_counts_first(quality, file, options, annotations, told, unsaid) -> None:
    out, err = quality(file, options)
    assert f" {annotations} annotations" in out.splitlines()[0]
    assert told in (err.splitlines()[0] if told.startswith(("note", "--")) else err)
    assert unsaid is None or unsaid not in err


@pytest.mark.usefixtures("_large_from_a_thousand_rows")
def test_the_state_of_answers_is_told_from_that_of_items_in_large_files_too() -> None:
    """Of which every few rows alone would show hardly any item twice."""
    text = of(
        lambda n, r: f"{'yn'[(3 * n + r) % 2]},{'Rejected' if (3 * n + r) % 7 == 0 else 'Approved'}",
        column="answer,status",
        items=700,
        raters=3,
    )
    table = read_table(text.encode(), "votes.csv")
    assert recognise(table).advised.filters.drop == (("status", "Rejected"),)


@pytest.mark.parametrize(
    ("column", "bad", "good"),
    [
        ("ASSIGNMENT:status", "REJECTED", "APPROVED"),
        ("status", "Returned", "Submitted"),
        ("_tainted", "true", "false"),
        ("is_valid", "False", "True"),
        ("accepted", "no", "yes"),
        ("excluded", "1", "0"),
        ("skipped", "true", "false"),
        ("was_cancelled", "True", "False"),
        ("response_deleted", "1.0", "0.0"),
    ],
)
def test_answers_that_a_column_withdraws_are_left_out(column: str, bad: str, good: str) -> None:
    annotations, raters, why = read(beside(column, lambda n: bad if n % 7 == 0 else good))
    assert (annotations, raters) == (30, 4)
    assert why == [f"6 annotations with '{column}' = '{bad}': such answers were not accepted"]


def test_what_says_something_else_leaves_nothing_out() -> None:
    for column, of_row in (
        ("deleted", lambda n: n // 4 % 2),  # the comment was, not the answer
        ("paper_status", lambda n: "accepted" if n // 4 % 2 else "rejected"),
        ("block", lambda n: "ab"[n % 2]),
        ("valid_reason", lambda n: int(n % 7 == 0)),
        ("accepted", lambda n: ("yes", "no", "maybe")[n % 3]),
    ):
        assert read(beside(column, of_row)) == (36, 4, [])


@pytest.mark.parametrize(
    ("column", "check", "other"),
    [
        *(("_golden", "TRUE", "FALSE"), ("is_gold", "1", "0"), ("gold", "true", "false")),
        *(("test_question", "yes", "no"), ("phase", "training", "main"), ("block", "practice", "main")),
        *(("is_attn_check", "1", "0"), ("GOLDEN:result", "y", "")),
    ],
)
def test_answers_to_test_questions_are_left_out(column: str, check: str, other: str) -> None:
    rows = [f"known,w{r},y,{check}" for r in range(4)]
    annotations, raters, why = read(beside(column, lambda n: other, *rows))
    assert (annotations, raters) == (36, 4)
    assert why == [f"4 annotations with '{column}' = '{check}': its name says that such rows check the rater"]


def test_right_labels_in_a_column_called_gold_check_nobody() -> None:
    table = crossed("item,worker,answer,gold", lambda n, r: (f"i{n}", f"w{r}", (n + r) % 2, n % 2))
    assert read(table) == (36, 4, [])


def test_items_that_are_checks_are_left_out_and_words_stay() -> None:
    for item in ("attention_check_1", "catch trial 3", "Practice 2", "attention check"):
        annotations, raters, why = read(long(*(f"{item},w{r},y" for r in range(4))))
        assert (annotations, raters, len(why)) == (36, 4, 1)
    for item in ("attention", "practice makes perfect", "check in 3", "test_1", "total"):
        assert read(long(*(f"{item},w{r},y" for r in range(4)))) == (40, 4, [])
