"""Leave-one-out, splits and labelled files; a baseline on one task and on all; texts that a program finds."""

import json
import re
import sys
import time
from pathlib import Path

import pytest
from sklearn.metrics import f1_score

from grasp_core import cli
from grasp_core.benchmark import checkpoints
from grasp_core.benchmark.baselines.classical import Predict, Texts, fit_plurality, fit_tfidf
from grasp_core.benchmark.checkpoints import FIELD, RetrievalProgram, kept_texts, with_retrieved
from grasp_core.benchmark.language_models.answers import UnansweredError
from grasp_core.benchmark.scoring.all_tasks import read_run
from grasp_core.benchmark.scoring.evaluate import (
    Done,
    evaluate,
    label_rows,
    leave_one_out,
    stratified_splits,
    taken,
    work_key,
)
from grasp_core.benchmark.tasks import Task, TaskRows, read_rows
from grasp_core.cli import main
from grasp_core.model.errors import DataError, RunCancelledError, SpecError
from grasp_core.model.remarks.benchmark import BaselineCaution
from grasp_core.model.remarks.remark import said
from tests.benchmark.folders import NEW, WEATHER, opened, texts, weather
from tests.benchmark.language_models.completions_server import says, serving
from tests.commands import refused, write, written

BALANCED = [(f"text {number}", ("rain", "snow")[number % 2]) for number in range(10)]


class Spy:
    """Notes what it learns from; labels by TF-IDF."""

    def __init__(self) -> None:
        self.learnt: list[tuple[str, ...]] = []

    def __call__(self, train: TaskRows, task: Task, seed: int) -> Predict:
        self.learnt.append(train.ids)
        return fit_tfidf(train, task, seed)


def test_leave_one_out_is_counted_as_scikit_learn_counts_and_says_where_it_misleads(tmp_path: Path) -> None:
    task, train = opened(weather(tmp_path))
    spy = Spy()
    found = evaluate(spy, train, task)
    assert spy.learnt == [tuple(i for i in train.ids if i != left) for left in train.ids]
    expected = [
        fit_tfidf(taken(train, fold.train), task, 1)(taken(train, fold.test).texts)[0]
        for fold in leave_one_out(train)
    ]
    assert list(found.predicted) == expected
    assert found.n == 6
    assert found.macro_f1 == pytest.approx(f1_score(train.labels, expected, average="macro"), abs=1e-12)
    assert found.macro_f1_declared == pytest.approx(
        f1_score(train.labels, expected, average="macro", labels=task.classes, zero_division=0), abs=1e-12
    )
    assert found.ci95[0] <= found.macro_f1 <= found.ci95[1]
    task, train = opened(weather(tmp_path, BALANCED))
    found = evaluate(fit_plurality, train, task)
    assert found.macro_f1 == 0.0  # the other class is always the larger one
    assert "equally many rows" in str(found.caution[1])
    task, train = opened(weather(tmp_path))
    cautions = evaluate(fit_plurality, train, task).caution
    assert "A class with a single row (1 here) is left without an example" in str(cautions[-1])
    assert not any("equally many" in str(sentence) for sentence in cautions)


def test_splits_are_stratified_seeded_and_apart(tmp_path: Path) -> None:
    _, train = opened(weather(tmp_path, [*WEATHER, *BALANCED]))
    folds = stratified_splits(train, 1)
    assert folds == stratified_splits(train, 1) != stratified_splits(train, 2)
    labels = train.labels or ()
    for fold in folds:
        assert sorted(fold.train + fold.test) == list(range(16))
        assert {labels[row] for row in fold.train} == set(labels)
    # A fifth of 8, 6 and 2 rows: 1.6, 1.2 and 0.4 rows of 20 splits on average.
    for name, expected in (("rain", 1.6), ("snow", 1.2), ("sun_shine", 0.4)):
        mean = sum(labels[row] == name for fold in folds for row in fold.test) / len(folds)
        assert mean == pytest.approx(expected, abs=0.45)


def test_splits_say_where_they_mislead_or_cannot_be(tmp_path: Path) -> None:
    task, train = opened(weather(tmp_path))
    found = evaluate(fit_plurality, train, task, way="splits")
    assert "is never tested" in str(found.caution[1])
    assert "Rare classes (2 with 2 to 4 rows)" in str(found.caution[2])
    assert found.n == sum(len(fold.test) for fold in stratified_splits(train, 1))
    task, train = opened(weather(tmp_path, [("a", "rain"), ("b", "snow")]))
    with pytest.raises(DataError, match="no class with two rows"):
        evaluate(fit_plurality, train, task, way="splits")
    task, train = opened(weather(tmp_path, [("a", "rain")]))
    with pytest.raises(DataError, match="takes two or more"):
        evaluate(fit_plurality, train, task)


def test_a_labelled_file_that_repeats_training_rows_is_remarked(tmp_path: Path) -> None:
    task, train = opened(weather(tmp_path))
    write(tmp_path, {"gold.csv": f"Text,Label\n{WEATHER[0][0]},rain\nsun,sun_shine\n"})
    gold = read_rows(tmp_path / "gold.csv", task, labelled=True)
    found = evaluate(fit_tfidf, train, task, way="file", test=gold)
    assert found.macro_f1 == 1.0
    assert found.caution == (BaselineCaution.ROWS_LEARNT_FROM(both=1, rows=2),)
    assert str(found.caution[0]).startswith("1 of the 2 rows are also among those learnt from")


@pytest.mark.parametrize("way", ["loo", "splits"])
def test_a_cancelled_evaluation_goes_on_where_it_was(tmp_path: Path, way: str) -> None:
    task, train = opened(weather(tmp_path, [*WEATHER, *BALANCED]))
    whole = evaluate(fit_tfidf, train, task, way=way)  # type: ignore[arg-type]
    kept: Done = {}

    def cancel(done: int, total: int) -> None:
        if done >= total / 2:
            raise RunCancelledError("cancelled")

    with pytest.raises(RunCancelledError):
        evaluate(fit_tfidf, train, task, way=way, watch=cancel, done=kept)  # type: ignore[arg-type]
    before = len(kept)
    spy, told = Spy(), []
    kept = json.loads(json.dumps(kept))
    how = {"way": way, "watch": lambda *now: told.append(now), "done": kept}
    again = evaluate(spy, train, task, **how)
    assert 0 < before < len(kept) == before + len(spy.learnt)
    assert (again.macro_f1, again.ci95, again.predicted) == (whole.macro_f1, whole.ci95, whole.predicted)
    assert told[0][0] == 0
    assert told[-1] == (again.n, again.n)


def test_blocks_of_rows_change_no_label_and_partial_work_belongs_to_its_rows_and_seed(tmp_path: Path) -> None:
    task, train = opened(weather(tmp_path))
    rows = texts(*NEW, *(text for text, _ in WEATHER))
    kept: Done = {}
    whole = label_rows(fit_tfidf, train, task, rows)
    assert label_rows(fit_tfidf, train, task, rows, block=2, done=kept) == whole

    def never(train: TaskRows, task: Task, seed: int) -> Predict:
        raise AssertionError("learnt again")

    assert label_rows(never, train, task, rows, block=2, done=kept) == whole

    def dead(texts: Texts) -> list[str]:
        raise UnansweredError(said("It died"), 1, len(texts))

    del kept["rows 2 to 4"]
    with pytest.raises(UnansweredError, match=f"3 of {len(rows)} rows got an answer. It died"):
        label_rows(lambda *_: dead, train, task, rows, block=2, done=kept)
    task, train = opened(weather(tmp_path / "one"))
    _, other = opened(weather(tmp_path / "two", BALANCED))
    own = ("tfidf", train, "loo", 1)
    others = [("tfidf", train, "loo", 2), ("tfidf", other, "loo", 1), ("tfidf", train, "splits", 1)]
    others.append(("plurality", train, "loo", 1))
    keys = [work_key(name, task, [rows], way, seed) for name, rows, way, seed in (own, *others, own)]
    assert len(set(keys)) == 5
    assert keys[0] == keys[-1]


def command(*arguments: str | Path) -> int:
    return cli.main(["raft", "baseline", *map(str, arguments)])


def test_the_command_scores_by_leave_one_out_files_and_splits(tmp_path, capsys) -> None:
    folder, out = weather(tmp_path / "weather"), tmp_path / "scores.json"
    assert command("tfidf", "--task", folder, "--evaluate", "loo", "--out", out) == 0
    printed = capsys.readouterr()
    scores = json.loads(printed.out)
    assert json.loads(out.read_text("utf-8")) == scores
    task, train = opened(folder)
    found = evaluate(fit_tfidf, train, task)
    assert (scores["macro_f1"], scores["macro_f1_declared"]) == (found.macro_f1, found.macro_f1_declared)
    assert (scores["baseline"], scores["task"], scores["n"]) == ("tfidf", "weather", 6)
    assert "note: Leave-one-out makes" in printed.err
    rows = "ID,Text,Label\n9,so much snow,snow\n8,the sun,sun_shine\n7,it will rain,rain\n"
    write(tmp_path, {"gold.csv": rows})
    assert command("tfidf", "--task", folder, "--evaluate", tmp_path / "gold.csv") == 0
    assert json.loads(capsys.readouterr().out)["macro_f1"] == 1.0
    assert command("plurality", "--task", folder, "--evaluate", "splits", "--seed", "3") == 0
    assert json.loads(capsys.readouterr().out)["evaluate"] == "splits"


def test_the_command_labels_what_is_to_be_handed_in(tmp_path: Path, capsys, monkeypatch) -> None:
    weather(tmp_path / "tasks" / "weather")
    (tmp_path / "mine" / "weather").mkdir(parents=True)
    out = tmp_path / "mine" / "weather" / "predictions.csv"
    assert command("tfidf", "--task", tmp_path / "tasks" / "weather", "--out", out) == 0
    assert out.read_text("utf-8") == "ID,Label\n70,rain\n71,sun_shine\n72,snow\n"
    assert cli.main(["raft", "validate", str(tmp_path / "mine"), "--tasks", str(tmp_path / "tasks")]) == 0
    monkeypatch.chdir(tmp_path)
    assert command("plurality", "--task", tmp_path / "tasks" / "weather") == 0
    assert (tmp_path / "predictions.csv").is_file()
    assert capsys.readouterr().out.endswith("3 rows labelled: predictions.csv\n")


@pytest.mark.parametrize(
    ("changed", "arguments", "message"),
    [
        ({"task.json": None}, (), "is no task folder"),
        ({"train.csv": None}, (), "train.csv"),
        (
            {"train.csv": "Text,Label\nwet,hail\n"},
            (),
            "none of the 3 classes of weather; use one of 'rain', 'snow'",
        ),
        ({"train.csv": "Text,Label\nwet,rains\n"}, (), "classes of weather; did you mean 'rain'?"),
        ({"task.json": '{"fields": ["Text"]}'}, (), "weather/task.json names no `classes`; add a list"),
        ({}, ("--evaluate", "nowhere.csv"), "nowhere.csv"),
        ({}, ("--evaluate", "LOO"), "--evaluate takes loo, splits or a labelled file; there is no file LOO"),
        ({}, ("--out", "nowhere/scores.json"), "there is no folder"),
        ({}, ("--out", "."), "it is a folder"),
    ],
)
def test_bad_input_is_one_sentence(tmp_path, capsys, monkeypatch, changed, arguments, message) -> None:
    folder = weather(tmp_path / "weather")
    monkeypatch.chdir(tmp_path)
    for name, content in changed.items():
        (folder / name).unlink()
        if content is not None:
            write(folder, {name: content})
    assert message in refused(capsys, "raft", "baseline", "plurality", "--task", folder, *arguments)


# All tasks
@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two tasks in the folder that is looked for without an option."""
    for name in ("first", "second"):
        weather(tmp_path / "raft" / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def gold(folder: Path, *names: str) -> Path:
    rows = "\n".join(["ID,Label", "70,rain", "71,sun_shine", "72,snow", ""])
    return write(folder / "gold", {f"{name}/test.csv": rows for name in names})


def test_every_task_is_labelled_and_scored(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    held = gold(here, "first", "second")
    assert main(["raft", "baseline", "tfidf", "--all", "--gold", str(held)]) == 0
    shown = capsys.readouterr().out
    assert "first: 3 rows" in shown
    assert "2 tasks labelled: tfidf" in shown
    assert re.search(r"overall +1\.000", shown)
    plain = written("tfidf/run.json")
    assert {name: one["rows"] for name, one in plain["tasks"].items()} == {"first": 3, "second": 3}
    assert plain["scores"]["first"]["macro_f1"] == plain["overall"] == 1
    assert all(one["seconds"] >= 0 for one in plain["tasks"].values())
    assert main(["raft", "validate", "tfidf", "--tasks", "raft"]) == 0
    assert main(["raft", "score", "tfidf", "--tasks", "raft", "--gold", "gold"]) == 0


def test_what_the_same_baseline_has_labelled_is_not_labelled_again(here: Path, capsys) -> None:
    command = ["raft", "baseline", "adaboost", "--all", "--out", "boosted"]
    assert main([*command, "--trees", "5"]) == 0
    first = read_run(Path("boosted"))
    (here / "boosted" / "data" / "second" / "predictions.csv").unlink()
    capsys.readouterr()
    assert main([*command, "--trees", "5"]) == 0
    before = [line.endswith("from before") for line in capsys.readouterr().out.splitlines()]
    assert before == [True, False, False]
    assert read_run(Path("boosted"))["first"] == first["first"]
    assert main([*command, "--trees", "6"]) == 0
    assert "from before" not in capsys.readouterr().out
    write(here / "raft" / "first", {"train.csv": "Text,Label\nsnow,snow\nrain,rain\n"})
    assert main([*command, "--trees", "6"]) == 0
    before = [line.endswith("from before") for line in capsys.readouterr().out.splitlines()]
    assert before[:2] == [False, True]


def test_an_endpoint_that_dies_loses_nothing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(here / "raft" / "second", {"test_unlabeled.csv": "ID,Text\n70,ice\n71,more ice\n72,no ice\n"})
    with serving() as server:
        server.top = lambda prompt: {" snow": -0.1}
        command = ["raft", "baseline", "lm", "--all", "--endpoint", server.url, "--model", "m"]
        command += ["--random-examples", "--retries", "0", "--price-in", "10", "--out", "asked"]
        server.before = [lambda: None] * 4 + [says(503)] * 2
        assert main(command) == 2
        found = capsys.readouterr()
        assert "1 of 2 tasks are done and kept in asked; the same command goes on from there" in found.err
        assert "refused with status 503" in found.err
        assert "first has no instructions; the model is told the classes alone" in found.err
        assert list(read_run(Path("asked"))) == ["first"]
        asked = len(server.requests)
        assert main(command) == 0
        found = capsys.readouterr()
        assert "first: 3 rows, from before, 3 questions, 303 tokens, price 0.0030" in found.out
        assert len(server.requests) == asked + 2  # one of the second task's three was known
    labels = (here / "asked" / "data" / "second" / "predictions.csv").read_text().splitlines()
    assert labels == ["ID,Label", "70,snow", "71,snow", "72,snow"]


def test_what_took_long_is_told(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving() as server:
        server.top = lambda prompt: {" snow": -0.1}
        command = ["raft", "baseline", "lm", "--task", "raft/first", "--random-examples", "--model", "m"]
        command += ["--endpoint", server.url]
        server.before = [lambda: time.sleep(1.05)]
        assert main(command) == 0
        assert re.search(r"note: it took \d", capsys.readouterr().err)
        server.before = [lambda: time.sleep(1.05)]
        assert main([*command, "--evaluate", "loo"]) == 0
        assert re.search(r"note: it took \d", capsys.readouterr().err)


def test_tasks_without_rows_are_left_out_and_a_task_is_written_whole_or_not_at_all(here, capsys) -> None:
    (here / "raft" / "second" / "test_unlabeled.csv").unlink()
    held = gold(here, "first")
    assert main(["raft", "baseline", "plurality", "--all", "--gold", str(held)]) == 0
    found = capsys.readouterr()
    assert "left out, for want of train.csv or test_unlabeled.csv: 'second'" in found.err
    assert "without predictions or without gold labels: 'second'" in found.err
    write(here, {"out/data": "a file where a folder should be"})
    assert main(["raft", "baseline", "plurality", "--all", "--out", "out"]) == 2
    (here / "strange" / "run.json").mkdir(parents=True)
    with pytest.raises(DataError, match="cannot be read"):
        read_run(here / "strange")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["--all", "--tasks", "nowhere"], "there is no folder nowhere"),
        (["--all", "--evaluate", "loo"], "--evaluate looks at one task"),
        (["--task", "raft/first", "--gold", "gold"], "--tasks and --gold go with --all"),
        (["--all", "--depth", "2"], "--depth is a setting of adaboost, not of plurality"),
        (["--all", "--out", "file"], "file is a file; with --all, --out names the submission's folder"),
        (["--all", "--out", "other"], "other/run.json is not what a baseline writes"),
    ],
)
def test_what_cannot_be_asked(here: Path, command: list[str], said: str, capsys) -> None:
    write(here, {"file": "x", "other/run.json": "[]"})
    assert said in refused(capsys, "raft", "baseline", "plurality", *command)


def test_unlabelled_rows_of_the_task_are_learnt_from(here: Path) -> None:
    assert main(["raft", "baseline", "minilm-spreading", "--all"]) == 0
    labels = (here / "minilm-spreading" / "data" / "first" / "predictions.csv").read_text().splitlines()
    assert [line.split(",")[1] for line in labels[1:]] == ["rain", "sun_shine", "snow"]
    assert len(labels) == 1 + len(NEW)
    assert main(["raft", "baseline", "minilm-spreading", "--task", "raft/first", "--evaluate", "loo"]) == 0


# Retrieved texts
PROGRAM = """
import json, sys
from pathlib import Path
row = json.load(sys.stdin)
with Path("asked.txt").open("a") as file:
    file.write(row["Text"] + "\\n")
print("found for", row["Text"].upper())
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "search.py").write_text(PROGRAM)
    return f"{sys.executable} search.py"


def test_texts_are_one_more_field(program: str, tmp_path: Path) -> None:
    task, train = opened(weather(tmp_path / "task"))
    rows, wider = with_retrieved(train, task, RetrievalProgram(program, {}))
    assert rows.texts[0] == {**train.texts[0], FIELD: f"found for {train.texts[0]['Text'].upper()}"}
    assert (wider.fields, wider.prompt_fields) == (("Text", FIELD), ("Text", FIELD))
    assert (rows.ids, rows.labels) == (train.ids, train.labels)


def test_nothing_is_retrieved_twice(program: str, tmp_path: Path) -> None:
    kept = kept_texts(tmp_path / "kept.jsonl")
    retrieve = RetrievalProgram(program, kept)
    assert retrieve({"Text": "a"}) == retrieve({"Text": "a"}) == "found for A"
    again = RetrievalProgram(program, kept_texts(tmp_path / "kept.jsonl"))
    assert again({"Text": "a"}) == "found for A"
    assert again({"Text": "b"}) == "found for B"
    assert (tmp_path / "asked.txt").read_text().splitlines() == ["a", "b"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("no-such-program-here", "no-such-program-here cannot be started"),
        (f'"{sys.executable}" -c "import sys; sys.exit(3)"', "ended with status 3 for a row; what it found"),
        (f'"{sys.executable}" -c "import time; time.sleep(60)"', "took more than 0.5 seconds"),
        (
            f'"{sys.executable}" -c "import sys; sys.stdout.buffer.write(b\'\\xff\')"',
            "wrote something that is no UTF-8",
        ),
    ],
)
def test_programs_that_fail(line: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "RETRIEVE_SECONDS", 0.5 if "sleep" in line else 60.0)
    with pytest.raises(DataError, match=said):
        RetrievalProgram(line, {})({"Text": "a"})


def test_a_line_without_a_program_and_a_task_of_such_a_field_are_refused(tmp_path: Path) -> None:
    for line in ("", '"open'):
        with pytest.raises(SpecError, match="takes a program"):
            RetrievalProgram(line, {})
    task, train = opened(weather(tmp_path))
    with pytest.raises(SpecError, match="has a field Retrieved of its own"):
        with_retrieved(train, Task("t", task.classes, (FIELD,), (FIELD,)), lambda _: "")


def test_a_language_model_is_shown_it_last(program: str, tmp_path: Path) -> None:
    weather(tmp_path / "raft" / "task")
    with serving() as server:
        server.top = lambda prompt: {" snow": -0.1}
        command = ["raft", "baseline", "lm", "--all", "--retrieve", program, "--shots", "1"]
        command += ["--endpoint", server.url, "--model", "m", "--random-examples"]
        assert main(command) == 0
        last = server.prompts[0].split("\n\n")[-1]
    assert last == "Text: rain and more rain\nRetrieved: found for RAIN AND MORE RAIN\nLabel:"
    assert (tmp_path / "retrieved.jsonl").is_file()
