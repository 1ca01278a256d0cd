"""Two submissions compared by swapping their labels; where one goes wrong: counts by class, and the rows."""

import csv
import itertools
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix

from grasp_core.benchmark.scoring.compare import (
    ERROR_COLUMNS,
    compare,
    compare_task,
    confusion_table,
    errors_csv,
    joined_difference,
    mistakes_text,
    swapped_differences,
)
from grasp_core.benchmark.scoring.scores import TaskScore, joined, score_task
from grasp_core.benchmark.submissions import Gold, LabelledFile, Submission
from grasp_core.benchmark.tasks import Task, read_tasks
from grasp_core.model.errors import DataError
from grasp_core.statistics.f1 import confusion, macro_f1
from tests.benchmark.folders import CLASSES, GOLD, IDS, MOOD, SAID, TONE, write_tasks
from tests.commands import write

TWO = ("no", "yes")
TASKS = {name: Task(name, TWO, ("text",), ("text",)) for name in ("mood", "tone")}


def difference(right: np.ndarray, a: np.ndarray, b: np.ndarray, classes: int) -> float:
    return macro_f1(confusion(right, a, classes)) - macro_f1(confusion(right, b, classes))


def submission(codes: np.ndarray, *names: str) -> Submission:
    ids = tuple(map(str, range(codes.size)))
    labels = tuple(TWO[code] for code in codes)
    return Submission({name: LabelledFile(name, ("ID", "Label"), ids, labels, codes.size) for name in names})


def gold(codes: np.ndarray) -> Gold:
    labels = {str(one): TWO[code] for one, code in enumerate(codes)}
    return Gold(dict.fromkeys(TASKS, labels))


@pytest.mark.parametrize("repeated", [1, 2])
def test_swaps_have_the_exact_distribution(repeated: int) -> None:
    """All ways to swap are enumerated; items that occur twice are swapped with a binomial number."""
    right = np.tile([0, 1, 2, 1, 0], repeated)
    a, b = np.tile([0, 1, 2, 0, 0], repeated), np.tile([1, 1, 0, 1, 2], repeated)
    exact = []
    for swap in itertools.product([False, True], repeat=right.size):
        exact.append(difference(right, np.where(swap, b, a), np.where(swap, a, b), 3))
    found = swapped_differences(right, a, b, 3, seed=1, purpose="x", permutations=40_000)
    values, times = np.unique(np.round(exact, 9), return_counts=True)
    shares = [(np.abs(found - value) < 1e-8).mean() for value in values]
    # Four standard errors of a share of 40,000 draws are at most 0.01.
    assert shares == pytest.approx(times / len(exact), abs=0.01)
    assert sum(shares) == pytest.approx(1)


def test_equal_submissions_do_not_differ_a_better_one_is_found_and_p_is_never_0() -> None:
    said = np.random.default_rng(1).integers(0, 2, 50)
    right = np.random.default_rng(2).integers(0, 2, 50)
    found = compare(submission(said, *TASKS), submission(said, *TASKS), TASKS, gold(right), permutations=99)
    for one in (*found.tasks.values(), found.overall):
        assert (one.difference, one.ci95, one.p) == (0, (0, 0), 1)
    assert (found.tasks["mood"].n, found.overall.n) == (50, 100)
    with pytest.raises(DataError, match="no task for which both"):
        compare(submission(said, "mood"), submission(said, "tone"), TASKS, gold(right))
    rng = np.random.default_rng(3)
    right = rng.integers(0, 2, 200)
    poor = np.where(rng.random(200) < 0.4, 1 - right, right)
    found = compare(submission(right, *TASKS), submission(poor, *TASKS), TASKS, gold(right), permutations=999)
    mood = found.tasks["mood"]
    assert mood.difference == pytest.approx(difference(right, right, poor, 2))
    assert mood.p == 1 / 1_000
    assert 0 < mood.ci95[0] < mood.difference < mood.ci95[1]


def test_swapping_turns_the_sign_alone_and_the_same_seed_gives_the_same_figures() -> None:
    rng = np.random.default_rng(4)
    right, a, b = rng.integers(0, 2, (3, 60))
    one = compare(submission(a, "mood"), submission(b, "mood"), TASKS, gold(right), permutations=4_999)
    other = compare(submission(b, "mood"), submission(a, "mood"), TASKS, gold(right), permutations=4_999)
    assert one.tasks["mood"].difference == -other.tasks["mood"].difference
    # Different draws of the same distribution: the standard error of a p of 0.5 is 0.007.
    assert one.tasks["mood"].p == pytest.approx(other.tasks["mood"].p, abs=0.03)
    assert one.overall is None
    rng = np.random.default_rng(6)
    right, a, b = rng.integers(0, 2, (3, 40))
    given = (submission(a, *TASKS), submission(b, *TASKS), TASKS, gold(right))
    first, again, other = (compare(*given, seed=seed, permutations=500, resamples=500) for seed in (1, 1, 2))
    assert first.tasks == again.tasks
    assert first.overall == again.overall
    assert first.overall != other.overall
    assert first.tasks["mood"].p != first.tasks["tone"].p  # alike, but not drawn alike


def test_p_is_uniform_where_nothing_differs() -> None:
    rng = np.random.default_rng(5)
    tasks = {"mood": TASKS["mood"]}
    values = []
    for number in range(300):
        right = rng.integers(0, 2, 80)
        a, b = (np.where(rng.random(80) < 0.3, 1 - right, right) for _ in range(2))
        given = (submission(a, "mood"), submission(b, "mood"), tasks, gold(right))
        found = compare(*given, seed=number, permutations=199, resamples=2)
        values.append(found.tasks["mood"].p)
    # 5 % of 300 is 15, with a standard error of 3.8; ties make the test a little shy.
    assert 4 <= sum(p <= 0.05 for p in values) <= 26


@pytest.mark.parametrize("parts", [1, 3, 7])
def test_parts_make_what_is_drawn_at_once(parts: int) -> None:
    """So that workers may share a task, whatever their number."""
    generator = np.random.default_rng(3)
    task = Task("many", tuple("abcd"), ("text",), ("text",))
    right, one, other = (
        {str(row): "abcd"[code] for row, code in enumerate(generator.integers(0, 4, 60))} for _ in range(3)
    )
    gold = Gold({"many": right})
    whole = score_task(task, gold, one, seed=4, resamples=950)
    shared = joined(
        [score_task(task, gold, one, seed=4, resamples=950, part=(part, parts)) for part in range(parts)]
    )
    assert shared.values.tolist() == whole.values.tolist()
    assert shared.score.ci95 == whole.score.ci95
    both = compare_task(task, gold, one, other, permutations=850, resamples=950)
    apart = [
        compare_task(task, gold, one, other, permutations=850, resamples=950, part=(part, parts))
        for part in range(parts)
    ]
    assert joined_difference(apart).difference == both.difference
    assert both.null.size == 850


MANY = tuple(f"class {number}" for number in range(12))


def scored(right: np.ndarray, said: np.ndarray, classes: tuple[str, ...]) -> TaskScore:
    return TaskScore(0.5, 0.5, (0.4, 0.6), right.size, classes, confusion(right, said, len(classes)))


def test_the_table_is_that_of_scikit_learn_without_classes_that_never_occur() -> None:
    right, said = np.array([0, 3, 3, 5, 0, 3]), np.array([0, 3, 5, 5, 7, 0])
    found = confusion_table(confusion(right, said, 12), MANY)
    assert list(found.index) == list(found.columns) == [MANY[code] for code in (0, 3, 5, 7)]
    assert (found.to_numpy() == confusion_matrix(right, said)).all()


def test_few_classes_are_told_as_a_matrix_and_many_by_what_is_confused_most_often() -> None:
    right, said = (np.array([CLASSES.index(label) for label in labels]) for labels in (GOLD, SAID))
    lines = mistakes_text(MOOD, scored(right, said, CLASSES)).splitlines()
    assert lines[0] == "mood: 3 of 8 labelled wrongly (gold class down, predicted class across)"
    assert [line.split()[-3:] for line in lines[2:]] == [["2", "1", "0"], ["1", "2", "0"], ["1", "0", "1"]]
    assert mistakes_text(MOOD, scored(np.arange(3), np.arange(3), CLASSES)) == "mood: 0 of 3 labelled wrongly"
    right = np.concatenate([np.arange(12), np.full(1_200, 4), [2, 2]])
    said = np.concatenate([np.arange(12), np.full(1_200, 1), [0, 9]])
    assert mistakes_text("banking", scored(right, said, MANY)).splitlines() == [
        "banking: 1,202 of 1,214 labelled wrongly; most often (gold > predicted)",
        "  1,200  class 4 > class 1",
        "      1  class 2 > class 0",
        "      1  class 2 > class 9",
    ]
    every = np.arange(12)
    assert len(mistakes_text("x", scored(every, np.roll(every, 1), MANY)).splitlines()) == 11


def test_rows_labelled_wrongly_come_with_their_texts(tmp_path: Path) -> None:
    tasks = read_tasks(write_tasks(tmp_path))
    (tmp_path / TONE / "test_unlabeled.csv").unlink()
    write(tmp_path, {f"{MOOD}/test_unlabeled.csv": 'ID,text\n52,"one,\ntwo"\n55,=1+1\n57,last\n'})
    said, right = dict(zip(IDS, SAID, strict=True)), dict(zip(IDS, GOLD, strict=True))
    gold = Gold({MOOD: right, TONE: {"57": "maybe so", "50": "no"}})
    header, *found = csv.reader(errors_csv({MOOD: said, TONE: said}, tasks, gold, tmp_path).splitlines(True))
    assert tuple(header) == ERROR_COLUMNS
    assert found == [
        [MOOD, "52", "yes", "no", "text: one,\ntwo"],
        [MOOD, "55", "no", "yes", "text: =1+1"],
        [MOOD, "57", "maybe so", "no", "text: last"],
        [TONE, "57", "maybe so", "no", ""],
    ]
    run = errors_csv({MOOD: {"=1+1": "no"}}, tasks, Gold({MOOD: {"=1+1": "yes"}}))  # by a spreadsheet
    assert list(csv.reader(run.splitlines()))[1:] == [[MOOD, "'=1+1", "yes", "no", ""]]
