"""A guess that is unsure never runs: the command lists what it may be; naming that suffices."""

from __future__ import annotations

import argparse
import io
import random
import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest

from grasp_core import cli
from grasp_core.cli import reading
from grasp_core.cli.entry import make_parser
from grasp_core.cli.parser import Parser, fill_all
from grasp_core.reading.connectors.fetching import read_anywhere
from tests.commands import ran, refused, written
from tests.reading.files.workbook_files import sheets_bytes
from tests.reading.making import csv_bytes
from tests.zips import zipped

LABELS = [["item", "rater", "label"], *([f"i{n % 9}", f"r{n // 9}", "ab"[n % 5 % 2]] for n in range(54))]


def votes(*labels: str, ids: tuple[str, str] = ("item", "rater"), values: Sequence[str] = "123") -> bytes:
    rng = random.Random(1)
    rows = [[*ids, *labels, "gender"]]
    rows += [
        [f"i{i}", f"r{j}", *(rng.choice(values) for _ in labels), "Woman" if j < 4 else "Man"]
        for i in range(10)
        for j in range(8)
    ]
    return csv_bytes(rows)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch) -> Path:
    (tmp_path / "votes.csv").write_bytes(votes("offensive", "sarcastic"))
    (tmp_path / "nameless.csv").write_bytes(votes("c", ids=("a", "b")).replace(b"gender", b"where"))
    (tmp_path / "matrix.csv").write_bytes(b"key,a,b,c\n1,x,y,x\n2,y,y,x\n3,x,x,y\n4,y,x,y\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", ["run", "quality", "models"])
def test_the_candidates_are_listed_with_the_option(folder: Path, capsys, command: str) -> None:
    model = ["--model-baseline", "minilm-names"] if command == "models" else []
    said = refused(capsys, command, "--annotations", "votes.csv", *model)
    asked = "the label column is not certain: 'offensive' or 'sarcastic'? name it with --label"
    assert said == f"grasp: votes.csv: {asked}"


def test_ids_raters_and_layout_are_asked_for(folder: Path, capsys) -> None:
    said = refused(capsys, "run", "--annotations", "nameless.csv")
    assert "the item column is not certain: 'a' or 'b'? name it with --item" in said
    assert "the rater column is not certain: 'b' or 'a'? (if none gave the labels, the file does not " in said
    assert "say who did and cannot be analysed) name it with --rater" in said
    said = refused(capsys, "run", "--annotations", "matrix.csv")
    assert "the layout is not certain: 'items-by-raters' or 'raters-by-items'?" in said
    assert "name it with --layout" in said
    rows = [["text", "label", "split"]] + [[f"t{n}", "ab"[n % 2], "xy"[n % 3 > 1]] for n in range(12)]
    (folder / "gold.csv").write_bytes(csv_bytes(rows))
    said = refused(capsys, "run", "--annotations", "gold.csv")
    assert "no column looks like raters" in said
    assert "name it with --rater" in said


def test_naming_the_uncertain_one_suffices(folder: Path) -> None:
    options = ["--annotations", "votes.csv", "--label", "sarcastic", "--permutations", "50"]
    assert cli.main(["run", *options, "--out", "result.json"]) == 0
    result = written()
    data = result["spec"]["data"]
    assert (data["item"], data["rater"], data["label"]) == ("item", "rater", "sarcastic")
    assert result["spec"]["analysis"]["axes"] == [["gender"]]
    assert cli.main(["quality", "--annotations", "nameless.csv", "--item", "a"]) == 0
    assert cli.main(["quality", "--annotations", "matrix.csv", "--layout", "items-by-raters"]) == 0


@pytest.mark.parametrize(
    ("file", "named", "sentence"),
    [
        ("votes.csv", ("--item", "Item"), "votes.csv has no column 'Item'; did you mean 'item'"),
        ("plain.csv", ("--label", "ofensive"), "has no column 'ofensive'; did you mean 'offensive'"),
    ],
)
def test_a_column_named_that_does_not_exist(folder: Path, capsys, file, named, sentence) -> None:
    (folder / "plain.csv").write_bytes(votes("offensive").replace(b",gender", b",offensive 2"))
    assert sentence in refused(capsys, "run", "--annotations", file, *named)


def test_a_run_without_columns_about_raters_tells_how_well_they_agree(folder: Path, capsys) -> None:
    (folder / "bare.csv").write_bytes(csv_bytes(LABELS))
    told = ran(capsys, "run", "--annotations", "bare.csv", "--csv", "bare_out.csv")
    assert "no column is taken for one about raters, so this tells how well all of them agree" in told.err
    assert "--axis" in told.err
    assert "--raters" in told.err
    assert "Your 6 raters agree" in told.out or "Your 6 raters hardly agree" in told.out
    assert "When one rater says it, another says so too" in told.out
    assert ",,6,54,alpha,," in (folder / "bare_out.csv").read_text(encoding="utf-8")
    assert "models are compared with groups" not in told.err


def test_ages_are_offered_as_bands_that_are_an_axis(folder: Path, capsys) -> None:
    rng = random.Random(2)
    ages = [f"{17 + rng.random() * 50:.1f}" for _ in range(40)]
    rows = [[f"i{n % 9}", f"r{n // 9}", rng.choice("ab"), ages[n // 9]] for n in range(360)]
    (folder / "ages.csv").write_bytes(csv_bytes([["item", "rater", "label", "age"], *rows]))
    option = ran(capsys, "quality", "--annotations", "ages.csv").err.rpartition("--bins ")[2].split()[0]
    assert option.startswith("age:")
    seen = ran(capsys, "quality", "--annotations", "ages.csv", "--bins", option)
    assert "under" in seen.out
    assert "--bins" not in seen.err


# What the data mark to be left out is asked about, where somebody is there.
def at_a_terminal(monkeypatch: pytest.MonkeyPatch, typed: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)


def ends_alike(command: list[str], again: str, capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """What a command answered at a terminal prints and says; options as in `again` answer it so too."""
    said = ran(capsys, *command)
    assert ran(capsys, *command, *shlex.split(again)).out == said.out
    return said.out, said.err


def marked(folder: Path) -> list[str]:
    rows = [["item", "rater", "label", "gender", "removed", "status"]]
    rows += [
        [
            *(f"i{i}", f"r{j}", "ab"[(i + j) % 2], ("Woman", "Man")[j % 2], ("no", "yes")[j == 3]),
            ("approved", "rejected")[(i + 2 * j) % 9 == 0],
        ]
        for i in range(10)
        for j in range(8)
    ]
    (folder / "marked.csv").write_bytes(csv_bytes(rows))
    return ["quality", "--annotations", "marked.csv"]


@pytest.mark.parametrize(
    ("typed", "left", "again"),
    [
        ("yes\nno\n", "70 annotations", "--recommended --keep status=rejected"),
        ("\nn\nY\n", "71 annotations", "--recommended --keep removed=yes"),
        ("no\nno\n", "80 annotations", "--no-recommended"),
    ],
)
def test_on_a_terminal_it_is_asked_and_told_how_to_say_so(folder, capsys, monkeypatch, typed, left, again):
    at_a_terminal(monkeypatch, typed)
    out, err = ends_alike(marked(folder), again, capsys)
    assert err.index("1 rater with 'removed' = 'yes'") < err.index("note: ")
    assert f"note: to answer so again: {again}\n" in err
    assert ("please type yes or no" in err) == typed.startswith("\n")
    assert left in out.splitlines()[0]


def test_where_nobody_is_there_all_count_and_the_first_line_says_how_many_might_not(folder, capsys) -> None:
    assert cli.main(marked(folder)) == 0
    said = capsys.readouterr()
    assert "80 annotations" in said.out.splitlines()[0]
    first = said.err.splitlines()[0]
    assert "1 rater with 'removed' = 'yes'" in first
    assert "annotations with 'status' = 'rejected'" in first
    assert "--recommended leaves them out" in first


def stopped(folder: Path) -> list[str]:
    """Rows without an id, and an answer given twice."""
    rows = [f"i{i},r{j},{'ab'[(i + j) % 2]},{'fm'[j % 2]}" for i in range(10) for j in range(8)]
    rows += ["i0,r0,b,f", "i1,r0,b,f", ",r0,a,f", "i1,,a,f", "i2, ,a,f"]
    (folder / "stopped.csv").write_text("\n".join(["item,rater,label,gender", *rows]))
    return ["quality", "--annotations", "stopped.csv"]


@pytest.mark.parametrize(
    ("typed", "again", "left"),
    [
        ("yes\nyes\nyes\n", ["--drop item=", "--drop rater=", "--repeated last"], "a: 39 · b: 41"),
        ("yes\nyes\nno\nyes\n", ["--drop item=", "--drop rater=", "--repeated first"], "a: 40 · b: 40"),
    ],
)
def test_on_a_terminal_rows_that_stop_a_reading_are_asked_about(
    folder: Path, capsys, monkeypatch, typed: str, again: list[str], left: str
) -> None:
    at_a_terminal(monkeypatch, typed)
    out, err = ends_alike(stopped(folder), " ".join(again), capsys)
    assert "1 row without an id in 'item'" in err
    assert "2 rows without an id in 'rater'" in err
    assert "rater 'r0' gives item 'i0' the labels 'a' in row 2 and 'b' in row 82" in err
    told = err.split("note: to answer so again: ")[1:]
    assert [one.splitlines()[0] for one in told] == again
    assert left in out.splitlines()[0]


def test_in_a_script_such_rows_stop_it_unless_what_is_recommended_is_wanted(folder: Path, capsys) -> None:
    command = stopped(folder)
    for more in ([], ["--no-recommended"], ["--recommended", "--repeated", "refuse"]):
        said = refused(capsys, *command, *more)
        assert "leave such rows out: by --drop item= (and 2 more problems)" in said
    said = ran(capsys, *command, "--recommended")
    assert "note: left out, as recommended: 2 rows without an id in 'rater'" in said.err
    assert "note: the last answer counts, as recommended: 1 answer that differs" in said.err
    assert "a: 39 · b: 41" in said.out.splitlines()[0]


def test_on_a_terminal_a_matrix_row_without_an_id_is_left_out(folder: Path, capsys, monkeypatch) -> None:
    (folder / "matrix.csv").write_bytes(b"key,a,b,c\n1,x,y,x\n2,y,y,x\n,x,x,y\n4,y,x,y\n")
    command = ["quality", "--annotations", "matrix.csv", "--layout", "items-by-raters", "--item", "key"]
    at_a_terminal(monkeypatch, "yes\n")
    _, err = ends_alike(command, "--exclude-item ''", capsys)
    assert "note: to answer so again: --exclude-item ''" in err


WORDS = ("very low", "low", "high")


@pytest.mark.parametrize(
    ("values", "typed", "again", "ranked"),
    [
        ("123", "yes\n", "--level ordinal", ["1", "2", "3"]),
        ("123", "no\n", "--level nominal", None),
        (WORDS, "yes\n", "--categories 'very low,low,high' --level ordinal", list(WORDS)),
    ],
)
def test_on_a_terminal_labels_that_look_ranked_are_asked_about(
    folder: Path, capsys, monkeypatch, values, typed: str, again: str, ranked: list[str] | None
) -> None:
    (folder / "scale.csv").write_bytes(votes("rating", values=values))
    command = ["run", "--annotations", "scale.csv", "--permutations", "50", "--out", "result.json"]
    alone = ran(capsys, *command)
    assert "--level" in alone.err
    assert written()["spec"]["analysis"]["level"] == "nominal"
    at_a_terminal(monkeypatch, typed)
    assert f"note: to answer so again: {again}\n" in ran(capsys, *command).err
    found = written()
    assert found["spec"]["analysis"]["level"] == ("ordinal" if ranked else "nominal")
    assert not ranked or found["data"]["categories"] == ranked
    assert cli.main([*command, *shlex.split(again)]) == 0
    assert written()["groups"] == found["groups"]


# What was looked at is said first.
def test_the_label_and_its_counts_come_first(folder: Path, capsys) -> None:
    options = ["--annotations", "votes.csv", "--label", "sarcastic"]
    for command in (["run", *options, "--permutations", "50"], ["quality", *options]):
        said = ran(capsys, *command)
        first = said.out.splitlines()[0]
        assert first.startswith("label 'sarcastic': 80 annotations of 10 items by 8 raters (1: ")
        assert ("labels are the numbers 1 to 3: ordinal or interval" in said.err) == (command[0] == "run")
    assert cli.main(["run", *options, "--permutations", "50", "--level", "nominal"]) == 0
    assert "takes their order into account" not in capsys.readouterr().err  # once a level is named


def test_a_slider_says_what_would_do(folder: Path, capsys) -> None:
    rng = random.Random(2)
    rows = [["item", "rater", "toxicity", "group"]]
    rows += [
        [f"i{i}", f"r{j}", f"{rng.random() * 100:.2f}", "ab"[j % 2]] for i in range(40) for j in range(10)
    ]
    (folder / "slider.csv").write_bytes(csv_bytes(rows))
    said = refused(capsys, "run", "--annotations", "slider.csv")
    assert "these are numbers from" in said
    assert "--bins toxicity:20,40,60,80" in said
    options = ["--annotations", "slider.csv", "--bins", "toxicity:20,40,60,80", "--permutations", "50"]
    assert "400 annotations of 40 items by 10 raters (under 20: " in ran(capsys, "run", *options).out


# Values that begin with a minus.
def parsers(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    """The parser and those of its commands."""
    found = [parser]
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found += [one for child in action.choices.values() for one in parsers(child)]
    return found


def test_every_option_with_a_value_takes_one_with_a_minus() -> None:
    seen, whole = 0, make_parser()
    fill_all(whole)
    for parser in parsers(whole):
        assert isinstance(parser, Parser)
        for action in parser._actions:
            if not action.option_strings or action.nargs is not None:
                continue
            alone = Parser()
            alone.add_argument(*action.option_strings, dest="value")
            for value in ("-1,1", "-1", "-high,low", "--", "--x=1"):
                assert alone.parse_args([action.option_strings[-1], value]).value == value
                assert alone.parse_args([action.option_strings[-1][:-1], value]).value == value
            seen += 1
    assert seen > 100


def test_labels_with_a_minus_run_and_a_value_left_out_is_noticed(folder: Path, capsys) -> None:
    (folder / "signed.csv").write_bytes(votes("label").replace(b",1,", b",-1,"))
    options = ["--annotations", "signed.csv", "--categories", "-1,2,3", "--permutations", "50"]
    assert cli.main(["run", *options, "--missing", "--", "--out", "result.json"]) == 0
    result = written()
    assert result["data"]["categories"] == ["-1", "2", "3"]
    assert result["spec"]["data"]["missing"] == ["", "--"]
    with pytest.raises(SystemExit):
        cli.main(["run", "--annotations", "votes.csv", "--categories", "--label", "sarcastic"])
    assert "--categories: expected one argument" in capsys.readouterr().err


def test_files_without_an_option_are_told_apart_by_their_content(folder: Path, capsys, monkeypatch) -> None:
    (folder / "x.csv").write_bytes(csv_bytes(LABELS))
    people = [["who", "gender"], *([f"r{j}", "fm"[j % 2]] for j in range(6))]
    (folder / "y.csv").write_bytes(csv_bytes(people))
    (folder / "z.csv").write_bytes(csv_bytes([["a", "b"], *([f"q{j}", "cd"[j % 2]] for j in range(6))]))
    read = []

    def noted(place, *rest, **how):
        read.append(place)
        return read_anywhere(place, *rest, **how)

    with monkeypatch.context() as watched:
        watched.setattr(reading, "read_anywhere", noted)
        assert cli.main(["run", "y.csv", "x.csv", "--permutations", "50", "--out", "sorted.json"]) == 0
    assert read == ["y.csv", "x.csv"]  # each once
    assert "note: y.csv: raters, x.csv: annotations" in capsys.readouterr().err
    found = written("sorted.json")
    assert [file["name"] for file in found["data"]["files"]] == ["x.csv", "y.csv"]
    assert "z.csv: nothing in it joins to x.csv" in refused(capsys, "run", "x.csv", "z.csv")
    assert "x.csv and x.csv both look like annotations" in refused(capsys, "run", "x.csv", "x.csv")
    assert "not both" in refused(capsys, "run", "x.csv", "--annotations", "y.csv")
    assert "name the file with the labels" in refused(capsys, "run")
    assert cli.main(["quality", "x.csv", "--raters", "y.csv"]) == 0


PEOPLE = [["who", "gender", "age"], *([f"r{j}", "fm"[j % 2], str(30 + j)] for j in range(6))]
OTHER = [["what", "of"], ["a", "b"], ["c", "d"]]


@pytest.mark.parametrize("ending", ["xlsx", "zip"])
@pytest.mark.parametrize("order", ["Labels People", "People Labels", "Codebook People Labels"])
def test_the_sheet_with_the_raters_is_taken_as_a_file_would_be(
    folder: Path, capsys, ending: str, order: str
) -> None:
    sheets = {"Labels": LABELS, "People": PEOPLE, "Codebook": OTHER}
    sheets = {name: sheets[name] for name in order.split()}
    names = {name: name if ending == "xlsx" else f"{name}.csv" for name in sheets}
    packed = {f"{name}.csv": csv_bytes(rows) for name, rows in sheets.items()}
    book = f"book.{ending}"
    (folder / book).write_bytes(sheets_bytes(sheets) if ending == "xlsx" else zipped(packed))
    raters = ["--raters", book, "--raters-member", names["People"]]
    for beside in ([], raters):
        assert cli.main(["run", book, *beside, "--permutations", "20", "--out", "found.json"]) == 0
        data = written("found.json")["spec"]["data"]
        assert (data["part"], data["raters_part"]) == (names["Labels"], names["People"])
        said = capsys.readouterr().err
        assert bool(beside) or f"{names['People']!r}: raters ({' '.join(raters)})" in said
    assert cli.main(["run", book, "--member", names["Labels"], "--out", "found.json"]) == 0
    assert (
        written("found.json")["spec"]["data"]["raters_part"] is None
    )  # a sheet that is named is meant alone


def test_other_sheets_are_named_where_one_alone_is_read(folder: Path, capsys) -> None:
    (folder / "book.xlsx").write_bytes(sheets_bytes({"Labels": LABELS, "Codebook": OTHER}))
    assert cli.main(["run", "book.xlsx", "--permutations", "20"]) == 0
    assert (
        "only its sheet 'Labels' (54 rows) was read; another is 'Codebook' (2 rows)"
        in capsys.readouterr().err
    )
    asked = [row[:1] + row[2:] for row in LABELS]
    (folder / "book.xlsx").write_bytes(
        sheets_bytes({"Labels": [[*row, "x"] for row in asked], "Plan": OTHER})
    )
    assert "'Plan' (2 rows)" in refused(capsys, "run", "book.xlsx")
