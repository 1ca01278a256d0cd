"""``raft validate``, ``raft score``, ``raft compare`` and ``raft human``: their contract, and bad input."""

import json
from pathlib import Path

import pytest
from sklearn.metrics import f1_score

from grasp_core import cli
from grasp_core.benchmark.tasks import builtin_tasks
from tests.benchmark.folders import (
    CLASSES,
    GOLD,
    IDS,
    MOOD,
    SAID,
    TONE,
    submission_files,
    table,
    write_gold,
    write_tasks,
)
from tests.commands import ran, refused, write, written


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with tasks, gold labels and a submission."""
    write_tasks(tmp_path / "tasks")
    write_gold(tmp_path / "gold")
    write(tmp_path / "mine", submission_files())
    monkeypatch.chdir(tmp_path)
    return tmp_path


VOTES = ["--annotations", "votes.csv", "--item", "item", "--rater", "rater", "--label", "label"]


@pytest.fixture
def votes(folder: Path) -> Path:
    """Eight items with three votes each, of which two are right."""
    lines = ["item,rater,label,expert"]
    for item, label in zip(IDS, GOLD, strict=True):
        wrong = CLASSES[(CLASSES.index(label) + 1) % 3]
        lines += [f"{item},{rater},{wrong if rater == 'c' else label},{label}" for rater in "abc"]
    write(folder, {"votes.csv": "\n".join([*lines, ""])})
    return folder


def score(*arguments: str) -> int:
    return cli.main(["raft", "score", "mine", "--gold", "gold", *arguments])


def test_problems_are_listed_and_the_first_is_the_error(folder: Path, capsys) -> None:
    write(folder, {f"mine/data/{MOOD}/predictions.csv": table([*SAID[:-1], "nein"], IDS)})
    (folder / "mine" / "data" / TONE / "predictions.csv").unlink()
    assert cli.main(["raft", "validate", "mine", "--tasks", "tasks"]) == cli.BAD_INPUT
    out, err = capsys.readouterr()
    first = "Incorrect number of files! Expected 2 files, but got 1."
    assert err == f"grasp: {first} (and 2 more problems)\n"
    assert [line.split(";")[0] for line in out.splitlines()] == [
        f"- {first}",
        f"- data/{TONE}/predictions.csv is missing",
        f"- data/{MOOD}/predictions.csv, row 9: the label 'nein' is none of the 3 classes of mood",
    ]


def test_the_contract_of_scores_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert score("--tasks", "tasks", "--out", "scores.json") == 0
    plain = written("scores.json")
    expected = f1_score(GOLD, SAID, average="macro")
    assert list(plain) == ["tasks", "overall"]
    assert list(plain["tasks"]) == [MOOD, TONE]
    for found in plain["tasks"].values():
        assert list(found) == ["macro_f1", "macro_f1_declared", "ci95", "n"]
        assert found["macro_f1"] == pytest.approx(expected, abs=1e-12)
        assert found["macro_f1_declared"] == pytest.approx(
            f1_score(GOLD, SAID, average="macro", labels=CLASSES), abs=1e-12
        )
        low, high = found["ci95"]
        assert 0 <= low < found["macro_f1"] < high <= 1
        assert found["n"] == 8
    assert plain["overall"] == pytest.approx(expected, abs=1e-12)
    assert score("--tasks", "tasks", "--out", "again.json") == 0
    assert (folder / "again.json").read_bytes() == (folder / "scores.json").read_bytes()
    shown = capsys.readouterr().out
    assert f"{expected:.3f}" in shown
    assert "overall" in shown


@pytest.mark.parametrize("lacking", ["gold", "predictions"])
def test_overall_is_null_where_a_task_is_missing(lacking: str, folder: Path, capsys) -> None:
    gone = {"gold": f"gold/{TONE}/test.csv", "predictions": f"mine/data/{TONE}/predictions.csv"}
    (folder / gone[lacking]).unlink()
    assert score("--tasks", "tasks", "--out", "scores.json") == 0
    plain = written("scores.json")
    assert list(plain["tasks"]) == [MOOD]
    assert plain["overall"] is None
    assert "no overall score, 1 task without predictions or without gold labels: 'tone'" in (
        capsys.readouterr().err
    )


def test_the_built_in_tasks_are_the_default(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task = builtin_tasks()["neurips_impact_statement_risks"]
    ids = [str(number) for number in range(50, 200)]
    labels = [task.classes[number % 2] for number in range(150)]
    write(folder / "gold", {f"{task.name}/test.csv": table(labels, ids)})
    write(folder / "mine", {f"data/{task.name}/predictions.csv": table(labels, ids)})
    assert score("--out", "scores.json") == 0
    plain = written("scores.json")
    perfect = {"macro_f1": 1.0, "macro_f1_declared": 1.0, "ci95": [1.0, 1.0], "n": 150}
    assert plain == {"tasks": {task.name: perfect}, "overall": None}
    assert f"data/{MOOD}/predictions.csv belongs to none of the tasks" in capsys.readouterr().err


def test_only_rows_with_a_gold_label_are_scored_whose_ids_they_give_without_the_tasks_rows(
    folder, capsys
) -> None:
    write(folder, {f"gold/{MOOD}/test.csv": table(GOLD[:4], IDS[:4])})
    assert score("--tasks", "tasks", "--out", "scores.json") == 0
    found = written("scores.json")["tasks"][MOOD]
    assert found["n"] == 4
    assert found["macro_f1"] == pytest.approx(f1_score(GOLD[:4], SAID[:4], average="macro"), abs=1e-12)
    write_gold(folder / "gold", [MOOD])
    (folder / "tasks" / MOOD / "test_unlabeled.csv").unlink()
    write(folder, {f"mine/data/{MOOD}/predictions.csv": table(SAID, [*IDS[:-1], "58"])})
    said = refused(capsys, "raft", "score", "mine", "--gold", "gold", "--tasks", "tasks")
    assert "row 9: the ID '58' is of no row of mood" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["validate", "nothing"], "nothing does not exist; name"),
        (["validate", "mine", "--tasks", "gold"], "gold has no folder with a task.json"),
        (["score", "mine", "--gold", "tasks", "--tasks", "tasks"], "tasks has no gold labels"),
        (["score", "gold", "--gold", "gold", "--tasks", "tasks"], "no file of any of the 2 tasks"),
        (["score", "mine", "--gold", "gold", "--out", "no/such.json"], "there is no folder no"),
        (["score", "mine", "--gold", "gold", "--errors", "no/such.csv"], "there is no folder no"),
        (["compare", "mine", "nothing", "--gold", "gold", "--tasks", "tasks"], "nothing does not exist"),
        (["human", *VOTES, "--items", "9", "--votes", "2"], "8 items of 8 have 3 or more annotations"),
        (["human", *VOTES, "--gold", "experts"], "did you mean 'expert'?"),
        (["human", *VOTES, "--gold", "rater", "--items", "8", "--votes", "1"], "has another right label"),
    ],
)
def test_bad_input_is_one_sentence(arguments: list[str], said: str, votes: Path, capsys) -> None:
    assert said in refused(capsys, "raft", *arguments)


def test_where_it_goes_wrong(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert score("--tasks", "tasks", "--out", "scores.json", "--errors", "errors.csv") == 0
    out, err = capsys.readouterr()
    assert "\nmood: 3 of 8 labelled wrongly (gold class down, predicted class across)\n" in out
    assert "\ntone: 3 of 8 labelled wrongly" in out
    assert err == ""
    wrong = [(one, *labels) for one, *labels in zip(IDS, GOLD, SAID, strict=True) if labels[0] != labels[1]]
    lines = [f"{name},{one},{right},{said},text: some text {one}\n" for name in (MOOD, TONE)
             for one, right, said in wrong]  # fmt: skip
    assert (folder / "errors.csv").read_text(encoding="utf-8") == "".join(
        ["task,ID,gold,predicted,text\n", *lines]
    )
    assert list(written("scores.json")) == ["tasks", "overall"]


def test_only_what_tells_mistakes_tells_a_gold_label(folder: Path, capsys) -> None:
    """The gold labels are one class that nobody else names."""
    task = json.dumps({"classes": ["no", "yes", "unheard"], "fields": ["text"]})
    write(folder, {f"tasks/{name}/task.json": task for name in (MOOD, TONE)})
    write(folder, {f"gold/{name}/test.csv": table(["unheard"] * 8) for name in (MOOD, TONE)})
    write(folder, {f"mine/data/{name}/predictions.csv": table(["no"] * 8) for name in (MOOD, TONE)})
    assert score("--tasks", "tasks", "--out", "scores.json") == 0
    scores, *mistakes = capsys.readouterr().out.split("\n\n")
    assert all("unheard" in told for told in mistakes)
    assert len(mistakes) == 2
    assert cli.main(["raft", "compare", "mine", "mine", "--gold", "gold", "--tasks", "tasks"]) == 0
    write(folder, {f"mine/data/{MOOD}/predictions.csv": table(["no"] * 7, IDS[:7])})
    assert score("--tasks", "tasks") == cli.BAD_INPUT
    write(folder, {f"gold/{TONE}/test.csv": table(["unheard"] * 7 + ["unheardof"])})
    assert score("--tasks", "tasks") == cli.BAD_INPUT
    rest = "".join(capsys.readouterr()) + (folder / "scores.json").read_text(encoding="utf-8")
    assert "unheard" not in scores + rest


def test_compare(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder / "best", {f"data/{name}/predictions.csv": table(GOLD) for name in (MOOD, TONE)})
    arguments = ["raft", "compare", "best", "mine", "--gold", "gold", "--tasks", "tasks"]
    out, err = ran(capsys, *arguments)
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines()[1:]}
    gap = 1 - f1_score(GOLD, SAID, average="macro")
    assert [rows[name][0] for name in (MOOD, TONE, "overall")] == [f"+{gap:.3f}"] * 3
    # Of three items that differ there are eight ways to swap them; two are as extreme as the data.
    assert float(rows[MOOD][-2]) == pytest.approx(0.25, abs=0.02)
    assert err == ""
    (folder / "best" / "data" / TONE / "predictions.csv").unlink()
    assert "no overall difference" in ran(capsys, *arguments).err


def test_human_against_a_column_and_held_out_raters(votes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--votes", "3", "--items", "8", "--gold", "expert"]
    assert cli.main(["raft", "human", *VOTES, *asked]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "macro-F1 1.000, 95 % interval 1.000 to 1.000: plurality of 3 on 8 of 8 items, against gold",
        "over all 3 categories 1.000",
        "100 such draws: mean 1.000, standard deviation 0.000",
    ]
    out = ran(capsys, "raft", "human", *VOTES, "--votes", "1", "--items", "8", "--repeats", "1").out
    assert "plurality of 1 on 8 of 8 items, against held-out raters" in out
    assert "such draws" not in out
