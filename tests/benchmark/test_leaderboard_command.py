"""The leaderboard by command: published systems, own ones, costs; files that released versions wrote."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from grasp_core import cli
from grasp_core.analysis.models.result import ModelsResult
from grasp_core.analysis.results import read_result
from grasp_core.benchmark import leaderboard
from grasp_core.benchmark.tasks import builtin_tasks
from grasp_core.model.errors import DataError
from grasp_core.report.models import answer, plurality_table, sides_csv, statistic_table
from tests.commands import ran, refused, write, written
from tests.made_up import BOARD, ENTRIES
from tests.results import changed


def system(name: str) -> leaderboard.Entry:
    return next(entry for entry in leaderboard.published() if entry.name == name)


def test_kinds_of_difficulty_and_some_of_the_tasks_have_their_means() -> None:
    tasks = builtin_tasks().values()
    kinds = leaderboard.difficulties(tasks)
    assert kinds["many classes"] == ["banking_77"]
    assert kinds["long inputs"] == [
        "neurips_impact_statement_risks",
        "one_stop_english",
        "systematic_review_inclusion",
        "tai_safety_research",
    ]
    table = leaderboard.difficulty_table(leaderboard.published(), tasks).set_index("system")
    assert table.loc["GPT-3 (davinci)", "long inputs"] == pytest.approx((0.679 + 0.431 + 0.516 + 0.656) / 4)
    assert table.loc["SetFit MPNet"].isna().all()
    (human,) = leaderboard.over_tasks([system("Human (crowd)")], ["overruling", "tweet_eval_hate"])
    assert human.overall == pytest.approx((0.917 + 0.722) / 2)
    assert len(human.tasks) == 11
    (setfit,) = leaderboard.over_tasks([system("SetFit MPNet")], ["overruling"])
    assert setfit.overall is None
    published = leaderboard.published()
    assert leaderboard.over_tasks(published, list(builtin_tasks())) == list(published)


def test_people_win_eight_of_eleven_against_gpt_3() -> None:
    human, gpt_3 = system("Human (crowd)"), system("GPT-3 (davinci)")
    assert leaderboard.wins(human, gpt_3) == (8, 11)
    assert leaderboard.wins(gpt_3, human) == (3, 11)
    lost = {name for name in human.tasks if human.tasks[name] < gpt_3.tasks[name]}
    assert lost == {"overruling", "systematic_review_inclusion", "tai_safety_research"}


def test_each_own_system_is_held_against_the_own_one_above() -> None:
    entries = [
        leaderboard.Entry("worst", {"one": 0.1}, 0.1, id="3"),
        leaderboard.Entry("theirs", {"one": 0.5}, 0.5, source="a paper"),
        leaderboard.Entry("best", {"one": 0.9}, 0.9, id="1"),
        leaderboard.Entry("incomplete", {}, None, id="4"),
        leaderboard.Entry("middle", {"one": 0.4}, 0.4, id="2"),
    ]
    found = [(lower.name, upper.name) for lower, upper in leaderboard.steps(entries, leaderboard.OVERALL)]
    assert found == [("middle", "best"), ("worst", "middle")]


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """The example task with two submissions."""
    monkeypatch.chdir(tmp_path)
    assert cli.main(["raft", "example", "shop"]) == 0
    for name in ("plurality", "tfidf"):
        out = Path(name) / "data" / "shop_messages"
        out.mkdir(parents=True)
        command = ["raft", "baseline", name, "--task", "shop/tasks/shop_messages"]
        assert cli.main([*command, "--out", str(out / "predictions.csv")]) == 0
    capsys.readouterr()
    return tmp_path


def test_own_systems_have_intervals_and_a_test(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--tasks", "shop/tasks", "--gold", "shop/gold"]
    command = ["raft", "leaderboard", "plurality", "tfidf", *where]
    lines = ran(capsys, *command, "--out", "board.json", "--csv", "board.csv").out.splitlines()
    assert [line.split()[0] for line in lines[1:3]] == ["tfidf", "plurality"]
    assert "p < 0.001 (tfidf)" in lines[2]
    entries, tasks = leaderboard.read_leaderboard(written("board.json"))
    assert tasks == ["shop_messages"]
    for entry in entries:
        assert entry.ci95[leaderboard.OVERALL] == pytest.approx(entry.ci95["shop_messages"])
    header, first, _ = Path("board.csv").read_text(encoding="utf-8").splitlines()
    assert header == "system,scored,overall,shop_messages"
    assert first.startswith("tfidf,here,0.9")


def test_published_systems_stand_there_where_tasks_are_fewer(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    task = builtin_tasks()["overruling"]
    labels = [task.classes[row % 2] for row in range(20)]
    rows = "ID,Label\n" + "".join(f"{50 + row},{label}\n" for row, label in enumerate(labels))
    texts = "Sentence,ID\n" + "".join(f"text {row},{50 + row}\n" for row in range(20))
    files = {"tasks/overruling/task.json": task.task_json, "tasks/overruling/test_unlabeled.csv": texts}
    files |= {"gold/overruling/test.csv": rows, "ours/data/overruling/predictions.csv": rows}
    write(tmp_path, files)
    command = ["raft", "leaderboard", "ours", "--tasks", "tasks", "--gold", "gold", "--csv", "board.csv"]
    printed = ran(capsys, *command)
    names = [line.split("  ")[0].strip() for line in printed.out.splitlines()[1:4]]
    assert printed.out.splitlines()[1].split()[:3] == ["ours", "here", "1.000"]
    assert len(names) == 3
    assert "0.950" in printed.out
    assert "means are over overruling alone" in printed.err
    header, *_ = Path("board.csv").read_text(encoding="utf-8").splitlines()
    assert header.split(",")[3] == "overruling"
    assert set(header.split(",")[3:]) == set(builtin_tasks())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["nowhere", "--gold", "gold"], "nowhere"),
        (["ours"], "name their folder by --gold"),
        (["--by", "overrulin"], "did you mean 'overruling'?"),
        (["--against", "GPT-4"], "is no system of the leaderboard"),
        (["--out", "nowhere/board.json"], "there is no folder nowhere"),
    ],
)
def test_faults_are_told_in_a_sentence(options: list[str], said: str, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"gold/overruling/test.csv": "ID,Label\n50,overruling\n"})
    assert said in refused(capsys, "raft", "leaderboard", *options)


def test_costs_are_told_beside_the_scores(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--tasks", "shop/tasks", "--gold", "shop/gold"]
    printed = ran(capsys, "raft", "score", "tfidf", *where, "--costs", "question", "1", "10").out
    told = "cost of question: 0 false positives at 1 and 7 false negatives at 10 make 70, 0.7 a row"
    assert told in printed
    assert "precision recall" in printed
    for costs, said in (
        (["questions", "1", "10"], "did you mean 'question'?"),
        (["question", "-1", "10"], "two numbers from 0"),
        (["question", "1", "nan"], "two numbers from 0"),
    ):
        assert said in refused(capsys, "raft", "score", "tfidf", *where, "--costs", *costs)


def test_a_leaderboard_is_read_back_without_ids() -> None:
    entries, tasks = leaderboard.read_leaderboard(json.loads(json.dumps(BOARD, allow_nan=False)))
    assert tasks == ["one", "two"]
    assert entries == [replace(entry, id="") for entry in ENTRIES]
    assert leaderboard.leaderboard_dict(entries, tasks) == BOARD
    assert leaderboard.leaderboard_table(entries, tasks).equals(leaderboard.leaderboard_table(ENTRIES, tasks))
    assert all(entry.id not in str(BOARD) for entry in ENTRIES if entry.id)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("version",), 2),
        (("format",), "grasp-models"),
        (("tasks",), [1]),
        (("tasks",), None),
        (("systems",), {"ours": 1}),
        (("systems", 0, "system"), None),
        (("systems", 0, "tasks", "one"), "0.5"),
        (("systems", 0, "tasks", "one"), float("nan")),
        (("systems", 0, "tasks", "one"), True),
        (("systems", 0, "overall"), 1.5),
        (("systems", 0, "ci95", "one"), [0.1]),
        (("systems", 0, "ci95"), None),
        (("systems", 0), "ours"),
    ],
)
def test_a_damaged_leaderboard_is_told(path: tuple[str | int, ...], value: object) -> None:
    with pytest.raises(DataError):
        leaderboard.read_leaderboard(changed(BOARD, path, value))


# Files of released versions can be read for good. Answers: `grasp models` of that version on the example,
# rater_gender and rater_race x rater_gender, 1,000 permutations, seed 1; the model "planted" gives every item
# Black women's plurality, of equally frequent labels the first of No, Yes, Unsure. Leaderboards: *All figures
# (JSON)* of the published systems and two invented ones of 150 rows a task, wrong on every fifth, one on all
# tasks, one on one alone.
FOLDER = Path(__file__).parents[1] / "released"
ANSWERS = sorted(FOLDER.glob("models-*.json"))
LEADERBOARDS = sorted(FOLDER.glob("leaderboard-*.json"))


def test_there_are_files() -> None:
    assert ANSWERS
    assert LEADERBOARDS


@pytest.mark.parametrize("path", ANSWERS, ids=lambda path: path.name)
def test_an_answer_about_models_is_read_and_shown(path: Path) -> None:
    content = json.loads(path.read_bytes())
    result = ModelsResult.from_dict(content)
    assert len(result.groups) == 12
    planted = next(row for row in result.groups if row.group.values == ("Black", "Woman"))
    side = planted.models["planted"]
    assert side.members_f1 == pytest.approx(0.431, abs=5e-4)
    assert side.statistics["macro_f1"].value == 1.0
    assert side.statistics["macro_f1"].significance == "corrected"
    said = "\n".join(sentence.plain for sentence in answer(result).details)
    assert "planted sides with Black, Woman (macro-F1 1.000, random groups 0.5" in said
    assert len(plurality_table(result)) == 13
    assert len(statistic_table(result, "xrr")) == 12
    assert sides_csv(result).count("\n") == 1 + 12 * 5
    assert read_result(content) == result


@pytest.mark.parametrize("path", LEADERBOARDS, ids=lambda path: path.name)
def test_a_leaderboard_is_read_and_shown(path: Path) -> None:
    content = json.loads(path.read_bytes())
    entries, tasks = leaderboard.read_leaderboard(content)
    assert len(tasks) == 11
    assert [entry.name for entry in entries if entry.own] == ["four of five right", "overruling alone"]
    assert len(entries) == 11
    whole, *_, half = entries
    assert whole.overall == pytest.approx(0.798, abs=5e-4)
    assert half.overall is None
    assert half.tasks == {"overruling": pytest.approx(0.8)}
    low, high = half.ci95["overruling"]
    assert low < 0.8 < high
    human = next(entry for entry in entries if entry.name == "Human (crowd)")
    assert (human.overall, human.tasks["overruling"]) == (0.735, 0.917)
    assert "arXiv:2109.14076" in human.source
    assert leaderboard.leaderboard_table(entries, tasks)["scored"].tolist().count("here") == 2
    assert leaderboard.leaderboard_dict(entries, tasks)["systems"] == content["systems"]
