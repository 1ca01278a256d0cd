"""``items``: which items carry what one group says differently, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from grasp_core import cli
from grasp_core.analysis.items.outcomes import ItemsResult

COLUMNS = ["--layout", "long", "--item", "item", "--rater", "rater", "--label", "label"]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Thirty raters; the 12 Asian women among them see item i2 the other way round."""
    rng = np.random.default_rng(4)
    votes, raters = ["item,rater,label,words,second"], ["rater,race,gender"]
    for j in range(30):
        raters.append(f"r{j},{'Asian' if j < 15 else 'White'},{'Woman' if j < 12 or j > 20 else 'Man'}")
        for i in range(12):
            yes = rng.random() < 0.15
            yes = yes if i != 2 or j >= 12 else not yes
            votes.append(f"i{i},r{j},{'Yes' if yes else 'No'},What is {i}?,{'ab'[rng.integers(2)]}")
    for name, lines in (("votes.csv", votes), ("raters.csv", raters)):
        (tmp_path / name).write_text("\n".join(lines), encoding="utf-8")
    return ["--annotations", str(tmp_path / "votes.csv"), "--raters", str(tmp_path / "raters.csv")]


def ask(*arguments: str) -> int:
    return cli.main(["items", *arguments])


def test_planted_item_is_named_with_its_text(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    group = ["--group", "gender=Woman, race=Asian", "--text", "words", "--top", "2"]
    targets = ["--out", str(tmp_path / "items.json"), "--csv", str(tmp_path / "items.csv")]
    assert ask(*files, *COLUMNS, *group, *targets) == 0
    shown = capsys.readouterr().out
    assert "1 of 12 items" in shown
    assert "holds after correction, by label use or distance: i2 (“Yes” more often)." in shown
    assert "What is 2?" in shown
    found = ItemsResult.from_dict(json.loads((tmp_path / "items.json").read_text(encoding="utf-8")))
    assert (found.group.values, found.permutations, len(found.items)) == (("Woman", "Asian"), 10_000, 12)
    assert "What is" not in (tmp_path / "items.json").read_text(encoding="utf-8")
    assert (tmp_path / "items.csv").read_text(encoding="utf-8").count("\n") == 13


def test_group_of_a_result_is_looked_at_under_its_permutations(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = ["run", *files, *COLUMNS, "--intersect", "race:gender", "--permutations", "auto:3000"]
    assert cli.main([*run, "--out", str(tmp_path / "run.json")]) == 0
    result = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    asked = [*files, "--spec", str(tmp_path / "run.json"), "--group", "race=Asian,gender=Woman"]
    assert ask(*asked, "--out", str(tmp_path / "items.json")) == 0
    found = json.loads((tmp_path / "items.json").read_text(encoding="utf-8"))
    assert found["permutations"] == result["stopping"]["permutations"]
    assert found["spec"] == result["spec"]
    capsys.readouterr()
    assert ask(*asked, "--seed", "3") == cli.BAD_INPUT
    assert "--spec says all of what to run: leave out --seed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--group", "race=Purple"], "no group 'race=Purple'; there are race=Asian; race=White"),
        (["--group", "Asian"], "--group is written AXIS=VALUE,AXIS=VALUE; found 'Asian'"),
        (["--group", "colour=Blue"], "colour"),
        (["--group", "race=Asian", "--top", "-1"], "--top is a number of items from 0; found -1"),
        (["--group", "race=Asian", "--permutations", "auto"], "write --permutations 10000"),
        (["--group", "race=Asian", "--question", "third"], "there is no 'third'"),
        (["--group", "race=Asian", "--axis", "gender"], "there are gender=Man; gender=Woman"),
    ],
)
def test_what_cannot_be_asked_is_a_sentence(
    files: list[str], more: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(*files, *COLUMNS, *more) == cli.BAD_INPUT
    error = capsys.readouterr().err
    assert said in error
    assert "Traceback" not in error


def test_several_questions_are_looked_at_one_by_one(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    both = [*files, *COLUMNS, "--label", "second", "--group", "race=Asian", "--permutations", "200"]
    assert ask(*both) == cli.BAD_INPUT
    assert "name one of them of label, second" in capsys.readouterr().err
    assert ask(*both, "--question", "second", "--top", "0") == 0
    assert "raters say “" in capsys.readouterr().out
