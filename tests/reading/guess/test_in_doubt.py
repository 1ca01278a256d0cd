"""Rows that may not be meant to count do, and how to leave them out is said."""

from __future__ import annotations

import pytest

from grasp_core import cli
from grasp_core.reading.dataset.load import load
from grasp_core.reading.guess.recognise import Guess, recognise
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Table

ROWS = [(n, r) for n in range(9) for r in range(6)]


def beside(column: str, of_row, *more: str) -> Table:
    """A long file with a further column, made of each row's item and rater."""
    rows = [f"i{n},w{r},{'yn'[(n + r) % 2]},{'fm'[r % 2]},{of_row(n, r)}" for n, r in ROWS]
    return read_table("\n".join([f"item,worker,answer,gender,{column}", *rows, *more]).encode(), "votes.csv")


def doubts(guess: Guess) -> list[str]:
    found = [one for one in guess.reasons if one.field in ("exclude", "filters")]
    assert not guess.uncertain
    assert all(one.confidence == "unsure" for one in found)
    return [one.sentence for one in found]


def counted(table: Table, guess: Guess) -> int:
    return load(table, None, guess.spec, guess.axes).summary.annotations


@pytest.mark.parametrize(
    ("column", "of_row", "value", "rows", "may"),
    [
        ("accept", lambda n, r: int(n != r), "0", 6, "such answers may not have been accepted"),
        (
            "reject",
            lambda n, r: "yes" if n == r else "no",
            "yes",
            6,
            "such answers may not have been accepted",
        ),
        ("removed", lambda n, r: (n + r) % 2, "1", 27, "such answers may not have been accepted"),
        ("is_valid", lambda n, r: (n + r) % 2, "0", 27, "such answers may not have been accepted"),
        ("is_test", lambda n, r: int(n < 2), "1", 12, "such rows may be tests"),
        (
            "annotator_type",
            lambda n, r: "model" if r == 5 else "human",
            "model",
            9,
            "such labels may be a model's, or made of others'",
        ),
        (
            "label_source",
            lambda n, r: "consensus" if n == r else "crowd",
            "consensus",
            6,
            "such labels may be a model's, or made of others'",
        ),
    ],
)
def test_rows_that_may_not_count_do_and_it_is_said(column, of_row, value, rows, may) -> None:
    table = beside(column, of_row)
    guess = recognise(table)
    assert (counted(table, guess), guess.axes) == (54, ("gender",))
    assert doubts(guess) == [
        f"'{column}' = '{value}' in {rows} rows of 54: {may}; they count, unless left out on Data, "
        f"under Leave out, or by --drop {column}={value}"
    ]


@pytest.mark.parametrize(
    ("column", "of_row"),
    [
        ("accept", lambda n, r: n % 2),  # the paper was, not the answer
        ("accept", lambda n, r: (n + r) % 3),
        ("author_type", lambda n, r: ("model", "human")[n % 2]),
        ("source", lambda n, r: ("web", "news")[(n + r) % 2]),
        ("test_score", lambda n, r: (n + r) % 2),
    ],
)
def test_what_says_something_else_is_no_doubt(column, of_row) -> None:
    table = beside(column, of_row)
    guess = recognise(table)
    assert (counted(table, guess), doubts(guess)) == (54, [])


def test_a_column_without_any_value_and_ids_of_random_letters_are_no_doubt() -> None:
    table = beside("_country", lambda n, r: "NA", *(f"i{n},llm4ki6p517tnu48lsl9,y,,NA" for n in range(9)))
    assert doubts(recognise(table)) == []


def test_raters_called_like_models_count_and_are_named() -> None:
    rows = [f"i{n},{who},y,," for n in range(9) for who in ("gpt-4o", "Claude 3 Opus", "Claude")]
    table = beside("x", lambda n, r: "", *rows)
    guess = recognise(table)
    assert counted(table, guess) == 81
    assert doubts(guess) == [
        "'gpt-4o', 'Claude 3 Opus' are called like models, not like the other raters; they count, unless "
        "left out on Data, under Leave out, or by --exclude-rater gpt-4o"
    ]


@pytest.mark.parametrize(
    ("column", "of_row", "why"),
    [
        ("failed_checks", lambda n, r: r // 2, "'1' (one of 3 values, as counts have)"),
        ("uses_bot", lambda n, r: ("yes", "no")[r // 3], "'yes' (3 of 6 raters, so many)"),
        ("consent", lambda n, r: ("No", "Yes")[r > 0], "'No' (1 of 6 raters)"),
        ("speeder", lambda n, r: int(r < 2), "'1' (2 of 6 raters)"),
    ],
)
def test_counts_and_habits_exclude_nobody_by_themselves(column, of_row, why) -> None:
    table = beside(column, of_row)
    guess = recognise(table)
    assert (counted(table, guess), guess.axes) == (54, ("gender",))
    (said,) = doubts(guess)
    assert said.startswith(f"'{column}' = {why} may say who should not count; nobody is left out")


@pytest.mark.parametrize("named", [[], ["--item", "item", "--rater", "worker", "--label", "answer"]])
def test_the_command_says_so_and_leaves_out_what_is_named(tmp_path, monkeypatch, capsys, named) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"i{n},w{r},{'yn'[(n + r) % 2]},{'fm'[r % 2]},{int(n != r)}" for n, r in ROWS]
    (tmp_path / "votes.csv").write_text("\n".join(["item,worker,answer,gender,accept", *rows]))
    run = ["run", "--annotations", "votes.csv", "--axis", "gender", "--permutations", "20", *named]
    assert cli.main(run) == 0
    said = capsys.readouterr()
    assert "54 annotations" in said.out + said.err
    assert "'accept' = '0' in 6 rows of 54" in said.err
    assert cli.main([*run, "--drop", "accept=0"]) == 0
    assert "48 annotations" in "".join(capsys.readouterr())
