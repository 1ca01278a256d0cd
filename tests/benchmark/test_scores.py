"""Scores and calibration equal to scikit-learn's, with intervals that hold; gold labels, never repeated."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix, f1_score, log_loss, precision_recall_fscore_support

from grasp_core import cli
from grasp_core.benchmark.scoring import scores as bootstrap
from grasp_core.benchmark.submissions import Gold, LabelledFile, Submission, read_gold
from grasp_core.benchmark.tasks import Task, builtin_tasks
from grasp_core.model.errors import DataError
from grasp_core.statistics import f1
from grasp_core.statistics.f1 import confusion, interval, macro_f1
from tests.benchmark.folders import CLASSES, GOLD, IDS, MOOD, SAID, TONE, table, write_gold
from tests.commands import refused, write, written

TASKS = {name: Task(name, CLASSES, ("text",), ("text",)) for name in (MOOD, TONE)}


def sklearn_f1(gold: np.ndarray, said: np.ndarray, classes: int, convention: f1.Convention) -> float:
    labels = None if convention == "leaderboard" else list(range(classes))
    return float(f1_score(gold, said, average="macro", labels=labels, zero_division=0))


def submission(*names: str, labels=SAID) -> Submission:
    files = {
        name: LabelledFile(f"data/{name}/predictions.csv", ("ID", "Label"), IDS, tuple(labels), len(IDS))
        for name in names
    }
    return Submission(files)


def gold(*names: str) -> Gold:
    return Gold({name: dict(zip(IDS, GOLD, strict=True)) for name in names})


@settings(max_examples=4 * settings().max_examples)
@given(st.data(), st.integers(2, 9), st.sampled_from(["leaderboard", "declared"]))
def test_macro_f1_is_that_of_scikit_learn(data: st.DataObject, classes: int, convention) -> None:
    codes = st.lists(st.integers(0, classes - 1), min_size=1, max_size=30)
    right = np.array(data.draw(codes))
    said = np.array(
        data.draw(st.lists(st.integers(0, classes - 1), min_size=len(right), max_size=len(right)))
    )
    expected = sklearn_f1(right, said, classes, convention)
    assert macro_f1(confusion(right, said, classes), convention) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("right", "said"), [([0, 0], [0, 0]), ([0, 0], [1, 1]), ([1], [1]), ([0, 1], [0, 0]), ([2, 2], [0, 1])]
)
@pytest.mark.parametrize("convention", ["leaderboard", "declared"])
def test_macro_f1_of_degenerate_data_is_that_of_scikit_learn(right, said, convention) -> None:
    expected = sklearn_f1(np.array(right), np.array(said), 3, convention)
    found = macro_f1(confusion(np.array(right), np.array(said), 3), convention)
    assert found == pytest.approx(expected, abs=1e-12)


def test_confusion_is_that_of_scikit_learn_and_without_items_there_is_no_score() -> None:
    rng = np.random.default_rng(2)
    right, said = rng.integers(0, 5, 200), rng.integers(0, 5, 200)
    assert (confusion(right, said, 5) == confusion_matrix(right, said, labels=range(5))).all()
    assert math.isnan(macro_f1(np.zeros((3, 3), dtype=int)))


def exact_distribution(right: np.ndarray, said: np.ndarray, classes: int) -> np.ndarray:
    """Macro-F1 of every possible draw with replacement, all equally likely."""
    n = len(right)
    draws = itertools.product(range(n), repeat=n)
    return np.array([macro_f1(confusion(right[list(d)], said[list(d)], classes)) for d in draws])


@pytest.mark.parametrize("few", [1, 16], ids=["counts drawn at once", "item by item"])
def test_the_bootstrap_has_the_exact_distribution(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    right, said = np.array([0, 0, 1, 1, 1]), np.array([0, 1, 1, 1, 0])
    exact = exact_distribution(right, said, 2)  # 5^5 = 3,125 draws
    monkeypatch.setattr(bootstrap, "FEW", few)
    found = bootstrap.resampled_f1(right, [said], 2, seed=1, purpose="x", resamples=20_000)[0]
    values, times = np.unique(exact.round(9), return_counts=True)
    shares = [(np.abs(found - value) < 1e-8).mean() for value in values]
    # Four standard errors of a share of 20,000 draws are below 0.0142.
    assert shares == pytest.approx(times / len(exact), abs=0.0142)
    assert sum(shares) == pytest.approx(1)


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(3)
    big = rng.integers(0, 2, 400_000)
    wrong = rng.random(big.size) < 0.25
    truth = macro_f1(confusion(big, np.where(wrong, 1 - big, big), 2))
    covered = 0
    for number in range(200):
        right = rng.integers(0, 2, 150)
        said = np.where(rng.random(150) < 0.25, 1 - right, right)
        values = bootstrap.resampled_f1(right, [said], 2, seed=number, purpose="x", resamples=500)
        low, high = interval(values[0])
        covered += low <= truth <= high
    # 95 % of 200, less and more three standard errors of 3.1; percentile intervals are a little short.
    assert 178 <= covered <= 199


def test_resamples_depend_on_seed_and_purpose_and_not_on_how_many_follow() -> None:
    right, said = np.array([0, 1, 2, 1, 0, 2, 2]), np.array([0, 1, 1, 1, 0, 2, 0])
    many = bootstrap.resampled_f1(right, [said], 3, seed=5, purpose="x", resamples=1_000)
    few = bootstrap.resampled_f1(right, [said], 3, seed=5, purpose="x", resamples=500)
    assert (many[:, :500] == few).all()
    assert (bootstrap.resampled_f1(right, [said], 3, seed=6, purpose="x", resamples=500) != few).any()
    assert (bootstrap.resampled_f1(right, [said], 3, seed=5, purpose="y", resamples=500) != few).any()


def test_scores_of_a_small_task_by_hand_and_a_class_that_nobody_uses_in_one_convention_only() -> None:
    found = bootstrap.score(submission(MOOD, TONE), TASKS, gold(MOOD, TONE), resamples=200)
    # no: 2 right of 3 gold and 4 said, yes: 2 of 3 and 3, maybe so: 1 of 2 and 1.
    expected = (4 / 7 + 4 / 6 + 2 / 3) / 3
    assert found.tasks[MOOD].macro_f1 == pytest.approx(expected, abs=1e-12)
    assert found.tasks[MOOD].macro_f1_declared == pytest.approx(expected, abs=1e-12)
    assert found.tasks[MOOD].n == 8
    assert found.tasks[MOOD].confusion.tolist() == [[2, 1, 0], [1, 2, 0], [1, 0, 1]]
    assert found.overall == pytest.approx(expected, abs=1e-12)
    assert found.unscored == ()
    low, high = found.overall_ci95
    assert low < found.overall < high
    task = Task(MOOD, (*CLASSES, "never"), ("text",), ("text",))
    found = bootstrap.score(submission(MOOD), {MOOD: task}, gold(MOOD), resamples=100).tasks[MOOD]
    assert found.macro_f1_declared == pytest.approx(found.macro_f1 * 3 / 4, abs=1e-12)


def test_overall_is_never_of_fewer_tasks_and_needs_all_eleven_of_the_benchmark() -> None:
    for sent, known in (((MOOD,), (MOOD, TONE)), ((MOOD, TONE), (TONE,))):
        found = bootstrap.score(submission(*sent), TASKS, gold(*known), resamples=100)
        assert len(found.tasks) == 1
        assert found.overall is None
        assert found.overall_ci95 is None
        assert found.unscored == tuple(set(TASKS) - set(found.tasks))
        assert json.loads(bootstrap.scores_json(found))["overall"] is None
    tasks = builtin_tasks()
    files, right = {}, {}
    for task in tasks.values():
        labels = [task.classes[number % len(task.classes)] for number in range(80)]
        ids = tuple(str(50 + number) for number in range(80))
        right[task.name] = dict(zip(ids, labels, strict=True))
        files[task.name] = LabelledFile("p.csv", ("ID", "Label"), ids, tuple(labels), 80)
    assert bootstrap.score(Submission(files), tasks, Gold(right), resamples=50).overall == 1.0
    del files["twitter_complaints"]
    assert bootstrap.score(Submission(files), tasks, Gold(right), resamples=50).overall is None


def test_rows_are_paired_by_id_and_other_tasks_change_no_interval() -> None:
    turned = {
        MOOD: LabelledFile("p.csv", ("ID", "Label"), IDS[::-1], SAID[::-1], len(IDS)),
        TONE: submission(TONE).files[TONE],
    }
    both = bootstrap.score(Submission(turned), TASKS, gold(MOOD, TONE), resamples=300)
    assert both.tasks[MOOD].macro_f1 == both.tasks[TONE].macro_f1
    alone = bootstrap.score(submission(TONE), TASKS, gold(MOOD, TONE), resamples=300)
    assert both.tasks[TONE].ci95 == alone.tasks[TONE].ci95


def test_an_incomplete_file_and_no_task_in_common_are_refused() -> None:
    with pytest.raises(DataError, match="no task has both"):
        bootstrap.score(submission(MOOD), TASKS, gold(TONE))
    short = LabelledFile("p.csv", ("ID", "Label"), IDS[1:], SAID[1:], 7)
    with pytest.raises(DataError, match=f"{MOOD} are incomplete"):
        bootstrap.score(Submission({MOOD: short}), TASKS, gold(MOOD, TONE))


def test_details_hold_scores_and_counts_by_class_that_equal_scikit_learns() -> None:
    found = bootstrap.score(submission(MOOD, TONE), TASKS, gold(MOOD, TONE), resamples=100)
    plain, details = json.loads(bootstrap.scores_json(found)), bootstrap.score_details(found)
    assert details["overall_ci95"] == list(found.overall_ci95 or ())
    one = details["tasks"][MOOD]
    assert {**one, **plain["tasks"][MOOD]} == one
    assert one["confusion"] == found.tasks[MOOD].confusion.tolist()
    assert [row["class"] for row in one["classes"]] == list(CLASSES)
    assert sum(row["right"] for row in one["classes"]) == int(np.trace(found.tasks[MOOD].confusion))
    generator = np.random.default_rng(5)
    right, said = generator.integers(0, 4, 200), generator.integers(0, 3, 200)  # nothing is given the last
    counts = confusion(right, said, 5)  # and nothing is of the one after it
    found = bootstrap.class_scores(bootstrap.TaskScore(0.0, 0.0, (0.0, 1.0), 200, tuple("abcde"), counts))
    expected = precision_recall_fscore_support(right, said, labels=range(5), zero_division=0)
    for one, precision, recall, f1_of_class, n in zip(found, *expected, strict=True):
        assert (one.precision or 0.0) == pytest.approx(precision, abs=1e-12)
        assert (one.recall or 0.0) == pytest.approx(recall, abs=1e-12)
        assert one.f1 == pytest.approx(f1_of_class, abs=1e-12)
        assert one.right + one.false_negatives == n
    assert found[3].precision is None
    assert found[4].recall is None
    one = bootstrap.ClassScore("angry", 3, false_positives=2, false_negatives=5)
    assert [one.cost(1, 10), one.cost(0.5, 0)] == [52, 1]


FEELING = Task("mood", ("angry", "calm", "sad"), ("text",), ("text",))


def test_calibration_equals_scikit_learns_and_what_comes_true_has_no_error() -> None:
    generator = np.random.default_rng(8)
    values = generator.dirichlet([1, 1, 1], 300)
    right = generator.integers(0, 3, 300)
    gold = {str(row): FEELING.classes[code] for row, code in enumerate(right)}
    found = bootstrap.calibration(FEELING, gold, {str(row): one for row, one in enumerate(values)})
    assert found.log_loss == pytest.approx(log_loss(right, values, labels=[0, 1, 2]), abs=1e-12)
    aim = np.eye(3)[right]
    assert found.brier == pytest.approx(((values - aim) ** 2).sum() / 300, abs=1e-12)
    assert sum(one.n for one in found.bins) == 300
    assert [one.n for one in found.bins[:3]] == [0, 0, 0]  # the most probable of three has a third or more
    gold = {str(row): "angry" if row < 8 else "calm" for row in range(10)}
    sure = {one: np.array([0.8, 0.2, 0.0]) for one in gold}
    found = bootstrap.calibration(FEELING, gold, sure)
    assert found.ece == pytest.approx(0, abs=1e-12)
    boasting = {one: np.array([1.0, 0.0, 0.0]) for one in gold}
    found = bootstrap.calibration(FEELING, gold, boasting)
    assert found.ece == pytest.approx(0.2)
    assert found.bins[-1].accuracy == pytest.approx(0.8)
    with pytest.raises(DataError, match="has no row for 1 ID: '11'"):
        bootstrap.calibration(FEELING, {"11": "calm"}, sure)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ID,angry,calm,Sad\n1,1,0,0\n", "no column 'sad', as mood needs; did you mean 'Sad'"),
        ("ID,angry,calm,sad\n1,0.5,0.5,x\n", "row 2, column 'sad': 'x' is no number from 0 to 1"),
        ("ID,angry,calm,sad\n1,0.5,0.5,\n", "is no number from 0 to 1"),
        ("ID,angry,calm,sad\n1,nan,0.5,0.5\n", "'nan' is no number from 0 to 1"),
        ("ID,angry,calm,sad\n1,0.5,0.7,0\n", "row 2: the probabilities add up to 1.2"),
        ("ID,angry,calm,sad\n1,1,0,0\n1,1,0,0\n", "row 3: the ID '1' occurs twice"),
    ],
)
def test_faults_are_told_with_their_place(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "mood" / "probabilities.csv"
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as caught:
        bootstrap.read_probabilities(path, FEELING)
    assert said in str(caught.value)
    assert "mood/probabilities.csv" in str(caught.value)


def test_the_command_tells_it_beside_the_scores(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["raft", "example", "shop"]) == 0
    gold = Path("shop/gold/shop_messages/test.csv").read_text(encoding="utf-8")
    for folder in ("mine/data/shop_messages", "sure/shop_messages"):
        Path(folder).mkdir(parents=True)
    Path("mine/data/shop_messages/predictions.csv").write_text(gold, encoding="utf-8")
    rows = [line.split(",") for line in gold.splitlines()[1:]]
    names = ("complaint", "praise", "question")
    lines = [",".join([one, *("0.9" if name == label else "0.05" for name in names)]) for one, label in rows]
    content = "\n".join(["ID,complaint,praise,question", *lines]) + "\n"
    Path("sure/shop_messages/probabilities.csv").write_text(content, encoding="utf-8")
    command = ["raft", "score", "mine", "--tasks", "shop/tasks", "--gold", "shop/gold"]
    command += ["--details", "out.json"]
    assert cli.main([*command, "--probabilities", "sure"]) == 0
    assert "log loss 0.105, expected calibration error 0.100" in capsys.readouterr().out
    brier = written("out.json")["tasks"]["shop_messages"]["calibration"]["brier"]
    assert brier == pytest.approx(0.015)
    said = refused(capsys, *command, "--probabilities", "shop")
    assert "shop has no <task>/probabilities.csv" in said


FILE = f"{MOOD}/test.csv"


def test_gold_of_some_tasks_whose_further_columns_do_not_matter(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has no gold labels of any task"):
        read_gold(tmp_path, TASKS)
    found = read_gold(write_gold(tmp_path, [MOOD]), TASKS)
    assert dict(found.labels) == {MOOD: dict(zip(IDS, GOLD, strict=True))}
    assert found.ids == {MOOD: IDS}
    assert "maybe so" not in repr(found)
    lines = [f"{line},text" for line in table(GOLD, end="\n").splitlines()]
    write(tmp_path, {FILE: "\r\n".join(lines)})
    assert read_gold(tmp_path, TASKS).ids == {MOOD: IDS}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (table([*GOLD[:-1], "secret"]), f"{FILE}, row 9: the gold label is none of the 3 classes of mood"),
        (table([*GOLD[:-1], "Unlabeled"]), f"{FILE}, row 9: the gold label is none"),
        (table(GOLD, [*IDS[:-1], "50"]), f"{FILE}, row 9: the ID occurs twice"),
        (table(GOLD).replace("Label", "secret"), f"{FILE}: the gold labels need the columns ID and Label"),
        (table(GOLD) + "58,no,secret\n", f"{FILE}: the gold labels cannot be read as CSV"),
        ("secret", f"{FILE}: the gold labels cannot be read as CSV"),
        (table(GOLD, ["1", *IDS[1:]]), f"{FILE}: 1 ID of the gold labels belongs to no row of mood: '1'"),
    ],
)
def test_errors_name_the_place_and_no_label(content: str, said: str, tmp_path: Path) -> None:
    write(tmp_path, {FILE: content})
    with pytest.raises(DataError) as raised:
        read_gold(tmp_path, TASKS, {MOOD: IDS})
    whole = str(raised.value) + "".join(str(problem) for problem in raised.value.problems)
    assert whole.startswith(said)
    assert "secret" not in whole
    assert "'no'" not in whole
    assert raised.value.__cause__ is None
