"""What a few raters reach, and people as a row of the leaderboard: a sheet, a bar, experts apart."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from grasp_core.benchmark.leaderboard import published
from grasp_core.benchmark.scoring.human import human_baseline, of_kind, plurality_of_few, qualify
from grasp_core.benchmark.tasks import read_rows, voting_sheet
from grasp_core.cli import main
from grasp_core.model.annotations import Annotations, Raters
from grasp_core.model.errors import DataError, SpecError
from grasp_core.reading.dataset.load import Dataset
from tests.benchmark.folders import opened, weather
from tests.commands import COLUMNS, write, written

GOLD = {str(item): ("no", "yes")[item % 2] for item in range(200)}


def dataset(right: float, raters: int = 7, items: int = 200, seed: int = 1) -> Dataset:
    """Raters who are right with the same probability on every item, whose right labels alternate."""
    rng = np.random.default_rng(seed)
    item = np.repeat(np.arange(items), raters)
    category = np.where(rng.random(item.size) < right, item % 2, 1 - item % 2)
    ids = tuple(map(str, range(raters)))
    annotations = Annotations.from_codes(
        item=item,
        rater=np.tile(np.arange(raters), items),
        category=category,
        item_ids=tuple(map(str, range(items))),
        rater_ids=ids,
        categories=("no", "yes"),
    )
    return Dataset(annotations, Raters(ids, {}), None, ())


def test_raters_who_are_always_right_and_a_few_as_often_as_the_binomial_says() -> None:
    found = human_baseline(dataset(1.0), votes=5, items=100, against=GOLD, repeats=3)
    assert (found.macro_f1, found.macro_f1_declared, found.mean, found.spread) == (1, 1, 1, 0)
    assert found.ci95 == (1, 1)
    assert (found.n, found.votes, found.eligible, found.against) == (100, 5, 200, "gold")
    some = {item: label for item, label in GOLD.items() if int(item) < 40}
    assert human_baseline(dataset(0.9), votes=5, items=40, against=some, repeats=1).eligible == 40
    # With 3 votes that are right with probability 0.7: 0.7^3 + 3 * 0.7^2 * 0.3 = 0.784
    means = [
        human_baseline(
            dataset(0.7, raters=3, seed=seed), votes=3, items=200, against=GOLD, repeats=1, resamples=10
        ).mean
        for seed in range(60)
    ]
    # 12,000 items: the standard error is 0.004.
    assert np.mean(means) == pytest.approx(0.784, abs=0.015)


def test_ties_are_broken_evenly_and_votes_are_drawn_among_all_raters() -> None:
    """Two votes, right with probability 0.7: 0.49 + 0.42 / 2 = 0.7, as with one vote."""
    found = human_baseline(
        dataset(0.7, raters=30), votes=2, items=200, against=GOLD, repeats=200, resamples=10
    )
    # 40,000 draws from 6,000 annotations, themselves right with a standard error of 0.006.
    assert found.mean == pytest.approx(0.7, abs=0.02)
    # Six raters who are right and one who never is: alone against the plurality of the six others
    data = dataset(1.0)
    wrong = data.annotations.category.copy()
    wrong[data.annotations.rater == 0] ^= 1
    a = data.annotations
    changed = Annotations(a.item_ids, a.rater_ids, a.categories, a.indptr, a.rater, wrong)
    found = human_baseline(
        Dataset(changed, data.raters, None, ()), votes=1, items=200, repeats=100, resamples=10
    )
    assert found.against == "held-out raters"
    # Whoever is drawn is right against the others with probability 6/7; 20,000 draws.
    assert found.mean == pytest.approx(6 / 7, abs=0.01)


def test_draws_depend_on_the_seed_and_interval_and_spread_tell_of_the_same_uncertainty() -> None:
    data = dataset(0.6)
    one = human_baseline(data, votes=3, items=50, repeats=1, seed=4)
    many = human_baseline(data, votes=3, items=50, repeats=9, seed=4)
    assert (one.macro_f1, one.ci95) == (many.macro_f1, many.ci95)
    assert np.isnan(one.spread)
    assert human_baseline(data, votes=3, items=50, repeats=9, seed=4) == many
    assert human_baseline(data, votes=3, items=50, repeats=9, seed=5).mean != many.mean
    # Items are drawn from 2,000, so draws hardly share any: the spread is a quarter of the interval
    many = {str(item): ("no", "yes")[item % 2] for item in range(2_000)}
    found = human_baseline(dataset(0.7, items=2_000), votes=3, items=100, against=many, repeats=300)
    width = found.ci95[1] - found.ci95[0]
    assert width == pytest.approx(4 * found.spread, rel=0.3)


@pytest.mark.parametrize(
    ("asked", "error", "said"),
    [
        (
            {"votes": 7},
            DataError,
            r"0 items of 200 have 8 or more annotations \(one is held out\), but 100 are",
        ),
        ({"votes": 8, "against": GOLD}, DataError, "0 items of 200 have 8 or more annotations and a right"),
        ({"items": 201}, DataError, "200 items of 200 have 6 or more annotations"),
        ({"against": {"1": "maybe"}}, DataError, "1 right label of the items .*'maybe'.* alike in both"),
        ({"against": {"1": "yes", "2": "NO "}}, DataError, "1 right label of the items .*'NO '"),
        ({"votes": 0}, SpecError, "`votes` must be 1 or more; found 0"),
        ({"items": 0}, SpecError, "`items` must be 1 or more; found 0"),
        ({"repeats": 0}, SpecError, "`repeats` must be 1 or more; found 0"),
        ({"seed": -1}, SpecError, "`seed`"),
    ],
    ids=str,
)
def test_too_little_to_draw_from_and_numbers_that_cannot_be(asked: dict, error: type, said: str) -> None:
    with pytest.raises(error, match=said):
        human_baseline(dataset(0.9), **asked)


def test_right_labels_that_nobody_voted_for_are_always_missed() -> None:
    """Of 200 items 20 are of a third class, which voters take for one of their two."""
    gold = {item: "maybe" if int(item) < 20 else label for item, label in GOLD.items()}
    gold |= {"elsewhere": "never"}  # of an item that nobody votes on
    found = human_baseline(dataset(1.0), votes=5, items=200, against=gold, repeats=1)
    assert found.unvoted == ("maybe",)
    assert found.classes == 3
    # Each of the two is given 100 items, 90 rightly: F1 180 / 190; of the third none: 0.
    assert found.macro_f1 == found.macro_f1_declared == pytest.approx(2 / 3 * 180 / 190)
    assert human_baseline(dataset(1.0), against=GOLD | {"elsewhere": "never"}).unvoted == ()
    kept, passed = qualify(dataset(1.0), dict(list(gold.items())[:40]), 0.5)
    assert len(passed.passed) == 7
    assert kept.annotations.n_annotations == 160 * 7


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
    files = ["--annotations", "votes.csv", "--raters", "raters.csv", *COLUMNS, "--layout", "long"]
    return main(["raft", "human", *files, "--items", "20", *arguments])


def test_gold_from_a_file_of_its_own_and_who_qualifies_votes(here, capsys) -> None:
    assert human("--votes", "9", "--gold-file", "gold.csv", "--pay", "0.1") == 0
    shown = capsys.readouterr().out
    assert "macro-F1 1.000" in shown
    assert "on 20 of 20 items, against gold" in shown
    assert "180 votes cost 18.00, 0.90 an item" in shown
    asked = ["--gold-file", "gold.csv", "--qualification", "qualification.csv", "--bar", "0.8", "--pay", "1"]
    assert human("--votes", "9", *asked) == 0
    shown = capsys.readouterr().out
    assert "9 raters qualified; 1 did not reach 0.8, 1 labelled too few rows" in shown
    # 10 raters label 12 rows, one 9 of them.
    assert "180 votes cost 180.00, 9.00 an item, and 129 votes of the qualification 129.00" in shown
    assert human("--votes", "10", *asked) == 2
    assert "0 items of 32 have 10 or more annotations" in capsys.readouterr().err


def test_experts_and_crowd_apart_as_rows_of_the_leaderboard(here: Path, capsys) -> None:
    board = ["--gold-file", "gold.csv", "--by", "kind", "--out", "board.json"]
    assert human("--votes", "1", "--task", "overruling", *board) == 0
    shown = capsys.readouterr().out
    assert "People (expert):\nmacro-F1 1.000" in shown
    lines = [line.split() for line in shown.splitlines()]
    assert any(line[:3] == ["People", "(expert)", "1.000"] for line in lines)
    assert any(line[0] == "T-Few" for line in lines if line)
    assert human("--votes", "5", "--task", "mood", *board) == 0
    plain = written("board.json")
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
def test_what_cannot_be_asked(here: Path, arguments: list[str], said: str, capsys) -> None:
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
    a, b = dataset(0.9, raters=6).annotations, dataset(0.5, raters=6, seed=2).annotations
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


def test_a_sheet_has_every_row_for_every_voter_each_of_another_name(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    folder = weather(tmp_path / "task")
    command = ["raft", "sheet", "--task", str(folder), "--voters", "ann,bob", "--items", "2", "--asked", "3"]
    assert main(command) == 0
    told = capsys.readouterr().err
    assert f"--categories {folder / 'task.json'} --qualification qualification.csv --bar 0.6" in told
    assert "rude" not in told
    rows = list(csv.DictReader((tmp_path / "votes.csv").read_text().splitlines()))
    assert len(rows) == 2 * (2 + 3)
    assert {row["rater"] for row in rows} == {"ann", "bob"}
    assert all(row["Label"] == "" and row["Text"] for row in rows)
    right = list(csv.DictReader((tmp_path / "qualification.csv").read_text().splitlines()))
    assert {row["ID"] for row in right} == {row["ID"] for row in rows[:3]}
    assert main(command) == 2
    assert "votes.csv is there already" in capsys.readouterr().err
    description = {**written(folder / "task.json"), "warning": "Its rows are rude."}
    write(folder, {"task.json": json.dumps(description)})
    assert main([*command, "--out", "again.csv", "--right", "right.csv"]) == 0
    assert "note: task: Its rows are rude." in capsys.readouterr().err
    task, train = opened(folder)
    test = read_rows(folder / "test_unlabeled.csv", task, labelled=False)
    for names in ((), ("a", "a"), ("a", "")):
        with pytest.raises(SpecError, match="a sheet needs raters"):
            voting_sheet(task, train, test, names)
    with pytest.raises(DataError, match="both have the ID '0'"):
        voting_sheet(task, train, train, ("a",))
