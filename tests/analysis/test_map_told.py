"""The map of raters told: size before significance, who is not on it, and the command."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from grasp_core import cli
from grasp_core.analysis.rater_map import rater_map, told
from grasp_core.analysis.rater_map_values import NOTHING, RaterMap
from grasp_core.model.json_values import from_json
from grasp_core.model.remarks.cautions import NoMap
from grasp_core.model.spec import RunSpec
from grasp_core.report.rater_map import CSV_COLUMNS, axes_table, groups_table, map_csv, sentences
from tests.analysis.cases import ALL, divided, task
from tests.permutation.simulated import files, simulate

# Sentences


def said(found: RaterMap, level: str = "nominal") -> str:
    return "\n".join(sentence.plain for sentence in sentences(found, level))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def followed() -> RaterMap:
    return rater_map(divided(1))


def test_an_axis_that_holds_is_named_with_its_size_first(followed: RaterMap) -> None:
    words = said(followed)
    share = f"{100 * followed.axes[0].explained:.1f} %"
    assert words.startswith(f"Disagreement between raters follows gender: {share} goes with it, ")
    assert "points more than with random groupings (p < 0.001, q < 0.001)." in words
    assert "Recruit along these axes" in words
    assert f"Two raters differ on {100 * followed.between:.1f} % of what both answered" in words


def test_where_nothing_holds_the_most_is_told() -> None:
    words = said(rater_map(task(1)))
    assert words.startswith(
        "Disagreement between raters follows none of the axes beyond chance; the most with "
    )
    assert "Recruit" not in words


def test_who_is_not_drawn_is_counted(followed: RaterMap) -> None:
    assert "left out" not in said(followed)
    partly = dataclasses.replace(
        followed,
        n_raters=5000,
        n_drawn=2000,
        n_placed=1999,
        n_reduced=1,
        neutral=3,
        points=followed.points[:-1],
    )
    words = said(partly)
    for sentence in (
        "Of 5,000 raters, 2,000 were drawn at random.",
        "1 rater shares 5 answers with fewer than half of the others and is left out.",
        f"3 of {followed.pairs} pairs share fewer than 5 answers",
        "Of 1 rater not all values are shown: fewer than 2 raters have them all.",
    ):
        assert sentence in words


def test_other_levels_are_told_in_units_of_random_labels(followed: RaterMap) -> None:
    assert "times as far apart, on the average, as two labels drawn at random" in said(followed, "ordinal")


def test_no_map_says_why() -> None:
    nothing = dataclasses.replace(NOTHING, reason=NoMap.NO_DISAGREEMENT())
    assert said(nothing) == "There is no map of raters: raters never differ on what they share."


def test_tables_and_csv_hold_every_axis_and_group() -> None:
    found = rater_map(task(2, dataclasses.replace(ALL, min_raters=7), raters=40, unknown=0.1))
    axes = axes_table(found)
    assert axes["Axis"].tolist() == ["gender", "race", "gender × race"]
    groups = groups_table(found, "nominal")
    assert len(groups) == sum(len(axis.groups) for axis in found.axes)
    none = rater_map(task(2, dataclasses.replace(ALL, min_raters=24)))
    assert groups_table(none, "nominal").empty
    assert set(axes_table(none)["Result"]) == {str(none.axes[0].reason)}
    assert map_csv(none).count("\n") == 4
    rows = list(csv.DictReader(io.StringIO(map_csv(found))))
    assert tuple(rows[0]) == CSV_COLUMNS
    assert {row["axis"] for row in rows} == {"gender", "race", "gender × race"}
    first = found.axes[0].groups[0]
    assert float(rows[0]["within"]) == first.within
    assert groups["Two of the group"].iloc[0] == f"{100 * first.within:.1f} %"


CODES = st.tuples(st.integers(1, 40), st.integers(1, 4)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.integers(-1, 3))
)


@given(codes=CODES, least=st.integers(1, 6))
def test_never_of_fewer_than_enough_and_never_wrong(codes: np.ndarray, least: int) -> None:
    found, shown = told(codes, least)
    assert ((found == codes) | (found == -1)).all()
    for row in found[shown]:
        assert (found[shown] == row).all(axis=1).sum() >= least
    assert (found[~shown] == -1).all()
    assert (~shown).sum() < least


@given(codes=CODES)
def test_all_is_told_where_one_rater_is_enough(codes: np.ndarray) -> None:
    found, shown = told(codes, 1)
    assert (found == codes).all()
    assert shown.all()


def test_the_last_value_goes_first() -> None:
    codes = np.array([[0, 0], [0, 0], [0, 1], [0, -1], [1, 0]])
    found, shown = told(codes, 2)
    assert found.tolist() == [[0, 0], [0, 0], [0, -1], [0, -1], [-1, -1]]
    assert shown.tolist() == [True, True, True, True, False]


# The command
FILES = ["--annotations", "votes.csv", "--raters", "raters.csv"]
OPTIONS = [*FILES, *("--axis", "gender", "--axis", "race", "--permutations", "200")]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, content in zip(("votes.csv", "raters.csv"), files(*simulate(1)), strict=True):
        (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_sentences_tables_and_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ["--out", "map.json", "--csv", "map.csv", "--chart", "map.svg", "--colour", "race"]
    assert cli.main(["rater-map", *OPTIONS, *out]) == 0
    printed = capsys.readouterr().out
    for words in ("What axes explain", "How far raters differ"):
        assert words in printed
    plain = json.loads((folder / "map.json").read_text(encoding="utf-8"))
    assert (plain["format"], plain["version"]) == ("grasp-rater-map", 1)
    found = from_json(plain["map"], RaterMap)
    assert len(found.points) == 24
    assert found.permutations == 200
    assert RunSpec.from_dict(plain["spec"]).analysis.axes == (("gender",), ("race",))
    assert not any(f'"r{j}"' in json.dumps(plain) for j in range(24))
    rows = list(csv.DictReader((folder / "map.csv").read_text(encoding="utf-8").splitlines()))
    assert [row["group"] for row in rows] == ["Man", "Woman", "Asian", "Black", "White"]
    assert "by race" in (folder / "map.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".pdf", b"%PDF")])
def test_a_picture_of_the_kind_that_its_name_says(folder: Path, suffix: str, start: bytes) -> None:
    assert cli.main(["rater-map", *OPTIONS, "--chart", f"map{suffix}"]) == 0
    assert (folder / f"map{suffix}").read_bytes().startswith(start)


def test_the_same_again(folder: Path) -> None:
    for name in ("one.json", "two.json"):
        assert cli.main(["rater-map", *OPTIONS, "--out", name]) == 0
    assert (folder / "one.json").read_bytes() == (folder / "two.json").read_bytes()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--chart", "map.gif"], "--chart takes a file that ends in .svg, .png, .pdf; found map.gif"),
        (["--colour", "shoe_size"], "--colour takes an axis of the map, 'gender', 'race'; found 'shoe_size'"),
        (["--chart", "no/such/map.svg"], "cannot be written"),
        (["--axis", "shoe_size"], "shoe_size"),
        (["--level", "interval"], "every label to be a number"),
    ],
)
def test_bad_input_gets_one_sentence(folder, capsys, options, sentence) -> None:
    assert cli.main(["rater-map", *OPTIONS, *options]) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("grasp: ")
    assert sentence in error


def test_data_without_a_map_say_why(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, content in zip(("votes.csv", "raters.csv"), files(*simulate(1, missing=0.9)), strict=True):
        (folder / name).write_bytes(content)
    assert cli.main(["rater-map", *OPTIONS, "--chart", "map.svg"]) == 0
    printed = capsys.readouterr().out
    assert "There is no map of raters: only 0 of " in printed
    assert "What axes explain" not in printed
