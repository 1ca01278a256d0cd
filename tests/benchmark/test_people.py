"""People as a row of the leaderboard: a sheet, a qualification, gold of its own file, experts apart, cost."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from grasp_core.benchmark.baselines.registry import make_baseline
from grasp_core.benchmark.leaderboard import published
from grasp_core.benchmark.scoring.human import of_kind, plurality_of_few, qualify
from grasp_core.benchmark.tasks import read_rows, voting_sheet
from grasp_core.cli import main
from grasp_core.model.annotations import Annotations, Raters
from grasp_core.model.errors import DataError, SpecError
from grasp_core.reading.dataset.load import Dataset
from tests.benchmark.baseline_tasks import OPEN_ROWS, RAFT, opened, weather
from tests.benchmark.folders import write
from tests.benchmark.test_human import GOLD, dataset
from tests.shared_data import needs_shared_data

COLUMNS = ["--layout", "long", "--item", "item", "--rater", "rater", "--label", "label"]
RIGHT = ("no", "yes")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """20 items by 5 experts, who are always right, and 6 of the crowd, of whom one never is.

    Everybody labels q0 to q11 first, rater c5 only q0 to q8; the one who never is right fails there too.
    """
    monkeypatch.chdir(tmp_path)
    rows = ["item,rater,label"]
    for rater in [*(f"e{one}" for one in range(5)), *(f"c{one}" for one in range(6))]:
        wrong = rater == "c0"
        for place, item in enumerate([*(f"q{one}" for one in range(12)), *(f"i{one}" for one in range(20))]):
            if rater != "c5" or place < 9 or place >= 12:
                rows.append(f"{item},{rater},{RIGHT[(place + wrong) % 2]}")
    kinds = [f"e{one},expert" for one in range(5)] + [f"c{one},crowd" for one in range(6)]
    return write(
        tmp_path,
        {
            "votes.csv": "\n".join([*rows, ""]),
            "raters.csv": "\n".join(["rater,kind", *kinds, ""]),
            "gold.csv": "\n".join(["ID,Label", *(f"i{one},{RIGHT[one % 2]}" for one in range(20)), ""]),
            "qualification.csv": "\n".join(["ID,Label", *(f"q{n},{RIGHT[n % 2]}" for n in range(12)), ""]),
        },
    )


def human(*arguments: str) -> int:
    files = ["--annotations", "votes.csv", "--raters", "raters.csv", *COLUMNS]
    return main(["raft", "human", *files, "--items", "20", *arguments])


def test_gold_from_a_file_of_its_own(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert human("--votes", "9", "--gold-file", "gold.csv", "--pay", "0.1") == 0
    shown = capsys.readouterr().out
    assert "macro-F1 1.000" in shown
    assert "on 20 of 20 items, against gold" in shown
    assert "180 votes cost 18.00, 0.90 an item" in shown


def test_who_qualifies_votes(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--gold-file", "gold.csv", "--qualification", "qualification.csv", "--bar", "0.8", "--pay", "1"]
    assert human("--votes", "9", *asked) == 0
    shown = capsys.readouterr().out
    assert "9 raters qualified; 1 did not reach 0.8, 1 labelled too few rows" in shown
    # 10 raters label 12 rows, one 9 of them.
    assert "180 votes cost 180.00, 9.00 an item, and 129 votes of the qualification 129.00" in shown
    assert human("--votes", "10", *asked) == 2
    assert "0 items of 32 have 10 or more annotations" in capsys.readouterr().err


def test_experts_and_crowd_apart_as_rows_of_the_leaderboard(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    board = ["--gold-file", "gold.csv", "--by", "kind", "--out", "board.json"]
    assert human("--votes", "1", "--task", "overruling", *board) == 0
    shown = capsys.readouterr().out
    assert "People (expert):\nmacro-F1 1.000" in shown
    lines = [line.split() for line in shown.splitlines()]
    assert any(line[:3] == ["People", "(expert)", "1.000"] for line in lines)
    assert any(line[0] == "T-Few" for line in lines if line)
    assert human("--votes", "5", "--task", "mood", *board) == 0
    plain = json.loads((here / "board.json").read_text())
    rows = {one["system"]: one for one in plain["systems"]}
    assert set(rows["People (expert)"]["tasks"]) == {"overruling", "mood"}
    assert rows["People (expert)"]["overall"] is None
    assert rows["People (crowd)"]["tasks"]["overruling"] < rows["People (crowd)"]["tasks"]["mood"] == 1
    assert len(rows) == 2 + len(published())
    assert plain["tasks"][-1] == "mood"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--gold-file", "nowhere.csv"], "nowhere.csv cannot be read"),
        (["--gold-file", "gold.csv", "--gold", "label"], "right labels come from one place"),
        (["--qualification", "qualification.csv"], "takes both its rows and a bar"),
        (["--qualification", "qualification.csv", "--bar", "2"], "the bar is a share"),
        (["--qualification", "gold.csv", "--bar", "1", "--by", "kind"], "have 6 or more annotations"),
        (["--by", "town"], "town"),
        (["--out", "board.json"], "name it with --task"),
        (["--gold-file", "gold.csv", "--votes", "1", "--task", "t", "--out", "votes.csv"], "no leaderboard"),
        (["--task", "overruling"], "is scored against right labels"),
        (["--pay", "-1"], "--pay takes a price"),
        (["--gold-file", "twice.csv"], "twice.csv, row 3: the ID 'i1' occurs twice"),
        (["--gold-file", "raters.csv"], "raters.csv: right labels need the columns ID and Label"),
    ],
)
def test_what_cannot_be_asked(
    here: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(here, {"twice.csv": "ID,Label\ni1,no\ni1,no\n"})
    assert human(*arguments) == 2
    assert said in capsys.readouterr().err


def test_the_plurality_alone_needs_neither_right_labels_nor_a_vote_more() -> None:
    data = dataset(1.0, raters=5)
    labels = plurality_of_few(data, votes=5, items=100)
    assert len(labels) == 100
    assert all(label == GOLD[item] for item, label in labels.items())
    assert labels.keys() != plurality_of_few(data, votes=5, items=100, seed=2).keys()
    with pytest.raises(DataError, match="0 items of 200 have 6 or more annotations, but 100"):
        plurality_of_few(data, votes=6)


def test_nobody_qualifies() -> None:
    """Raters who are right on a share of 0.7, asked for all."""
    with pytest.raises(DataError, match=r"nobody qualifies: 7 raters did not reach 1, 0 raters labelled"):
        qualify(dataset(0.7), {str(item): GOLD[str(item)] for item in range(50)}, 1.0)
    with pytest.raises(DataError, match=r"0 raters did not reach 0, 7 raters labelled fewer than 10"):
        qualify(dataset(0.7), {str(item): GOLD[str(item)] for item in range(9)}, 0.0)
    with pytest.raises(DataError, match="no rater has labelled a row of the qualification"):
        qualify(dataset(0.7), {"x": "no"}, 0.5)
    with pytest.raises(DataError, match="no column kind of the raters"):
        of_kind(dataset(0.7), "kind")


def test_a_qualification_raises_the_score() -> None:
    """Half of the raters guess: with a bar they do not vote."""
    good, guessing = dataset(0.9, raters=6), dataset(0.5, raters=6, seed=2)
    a, b = good.annotations, guessing.annotations

    ids = tuple(map(str, range(12)))
    both = Annotations.from_codes(
        item=np.concatenate([a.item, b.item]),
        rater=np.concatenate([a.rater, b.rater + 6]),
        category=np.concatenate([a.category, b.category]),
        item_ids=a.item_ids,
        rater_ids=ids,
        categories=a.categories,
    )
    data = Dataset(both, Raters(ids, {}), None, ())
    kept, found = qualify(data, {one: GOLD[one] for one in map(str, range(60))}, 0.75)
    assert (found.passed, found.failed) == (ids[:6], ids[6:])
    assert found.votes == 12 * 60
    assert kept.annotations.n_annotations == 6 * 140
    assert set(np.unique(kept.annotations.rater)) == set(range(6))


def test_a_sheet_has_every_row_for_every_voter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = weather(tmp_path / "task")
    command = ["raft", "sheet", "--task", str(folder), "--voters", "ann,bob", "--items", "2", "--asked", "3"]
    assert main(command) == 0
    assert "--qualification qualification.csv --bar 0.6" in capsys.readouterr().err
    rows = list(csv.DictReader((tmp_path / "votes.csv").read_text().splitlines()))
    assert len(rows) == 2 * (2 + 3)
    assert {row["rater"] for row in rows} == {"ann", "bob"}
    assert all(row["Label"] == "" and row["Text"] for row in rows)
    right = list(csv.DictReader((tmp_path / "qualification.csv").read_text().splitlines()))
    assert {row["ID"] for row in right} == {row["ID"] for row in rows[:3]}
    assert main(command) == 2
    assert "votes.csv is there already" in capsys.readouterr().err


def test_sheets_that_cannot_be(tmp_path: Path) -> None:
    task, train = opened(weather(tmp_path))
    test = read_rows(tmp_path / "test_unlabeled.csv", task, labelled=False)
    for names in ((), ("a", "a"), ("a", "")):
        with pytest.raises(SpecError, match="a sheet needs raters"):
            voting_sheet(task, train, test, names)
    with pytest.raises(DataError, match="both have the ID '0'"):
        voting_sheet(task, train, train, ("a",))


@needs_shared_data
@pytest.mark.long
def test_votes_beside_a_models_predictions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Banking77's open rows: simulated voters of two towns, and a baseline that one of them follows."""
    monkeypatch.chdir(tmp_path)
    task, train = opened(RAFT / "banking_77")
    rows = read_rows(OPEN_ROWS, task, labelled=True)
    few = range(0, 8000, 200)
    texts = [rows.texts[at] for at in few]
    said = make_baseline("minilm-names")(train, task, 1)(texts)
    rng = np.random.default_rng(1)
    lines, raters = ["item,rater,label"], ["rater,town"]
    for number in range(12):
        town = ("North", "South")[number % 2]
        raters.append(f"r{number},{town}")
        for place, at in enumerate(few):
            told = said[place] if town == "North" else (rows.labels or ())[at]
            label = told if rng.random() < 0.8 else str(rng.choice(task.classes))
            lines.append(f"{rows.ids[at]},r{number},{label}")
    predictions = [f"{rows.ids[at]},{label}" for at, label in zip(few, said, strict=True)]
    write(
        tmp_path,
        {
            "votes.csv": "\n".join([*lines, ""]),
            "raters.csv": "\n".join([*raters, ""]),
            "names.csv": "\n".join(["ID,Label", *predictions, ""]),
        },
    )
    command = ["models", "--annotations", "votes.csv", "--raters", "raters.csv", *COLUMNS, "--axis", "town"]
    command += ["--model", "names=names.csv", "--permutations", "200", "--out", "models.json"]
    assert main(command) == 0
    groups = {
        next(iter(one["group"].values())): one["models"]["names"]
        for one in json.loads(Path("models.json").read_text())["groups"]
    }
    share = {name: one["statistics"]["share"]["value"] for name, one in groups.items()}
    assert share["North"] > 0.9 > share["South"]
