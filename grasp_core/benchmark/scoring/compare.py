"""Comparison of systems, and rows that they label wrongly."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from grasp_core.analysis.models.labels import ID
from grasp_core.benchmark.language_models.prompt import shown
from grasp_core.benchmark.scoring.scores import RESAMPLES, TaskScore, paired_codes, resampled_f1
from grasp_core.benchmark.submissions import Gold, Submission
from grasp_core.benchmark.tasks import TEST_FILE, Task, read_rows
from grasp_core.model.annotations import Codes, FloatArray, Int64Array
from grasp_core.model.errors import DataError
from grasp_core.model.text import csv_text, printable_name, safe_cell
from grasp_core.statistics import f1

ERROR_COLUMNS = ("task", ID, "gold", "predicted", "text")
_MOST_CLASSES = 8
"""Most classes of a matrix that is shown whole; of a larger one, only its largest cells are."""
_LARGEST = 10


def confusion_table(counts: Int64Array, classes: Sequence[str]) -> pd.DataFrame:
    """Return rows by gold class (down) and predicted class (across), without classes that never occur."""
    occur = np.flatnonzero(counts.sum(axis=0) + counts.sum(axis=1)).tolist()
    names = [classes[code] for code in occur]
    return pd.DataFrame(counts[np.ix_(occur, occur)], index=names, columns=names)


def mistakes_text(name: str, score: TaskScore) -> str:
    """Describe the number of wrong rows of a task, and which classes were taken for which."""
    wrong = score.n - int(np.trace(score.confusion))
    start = f"{name}: {wrong:,} of {score.n:,} labelled wrongly"
    if not wrong:
        return start
    table = confusion_table(score.confusion, [printable_name(one) for one in score.classes])
    if len(table) <= _MOST_CLASSES:
        return f"{start} (gold class down, predicted class across)\n{table.to_string()}"
    counts = table.to_numpy().copy()
    np.fill_diagonal(counts, 0)
    cells = zip(*np.nonzero(counts), strict=True)
    found = sorted((-int(counts[cell]), cell) for cell in cells)[:_LARGEST]
    lines = [f"{-count:>7,}  {table.index[gold]} > {table.columns[said]}" for count, (gold, said) in found]
    return "\n".join([f"{start}; most often (gold > predicted)", *lines])


def errors_csv(
    predictions: Mapping[str, Mapping[str, str]],
    tasks: Mapping[str, Task],
    gold: Gold,
    folder: Path | None = None,
) -> str:
    """Return every row that was labelled wrongly, with its text from a task's file in `folder`."""
    found = []
    for name, task in tasks.items():
        if name not in predictions or name not in gold.labels:
            continue
        texts = {}
        path = None if folder is None else folder / name / TEST_FILE
        if path is not None and path.is_file():
            rows = read_rows(path, task, labelled=False)
            texts = {one: shown(task, text) for one, text in zip(rows.ids, rows.texts, strict=True)}
        for one, right in gold.labels[name].items():
            said = predictions[name][one]
            if said != right:
                found.append([safe_cell(cell) for cell in (name, one, right, said, texts.get(one, ""))])
    return csv_text(ERROR_COLUMNS, found)


PERMUTATIONS = 10_000


@dataclass(frozen=True, slots=True)
class ScoreDifference:
    """Difference of the first submission's macro-F1 (leaderboard's convention) minus the second's.

    `ci95`: 95 % bootstrap interval over items, both submissions scored on the same draws.
    `p`: p-value of the paired permutation test, two-sided; never 0.
    """

    difference: float
    ci95: tuple[float, float]
    p: float
    n: int


@dataclass(frozen=True, slots=True, eq=False)
class SystemComparison:
    """The differences of two submissions by task, and overall if every task was compared."""

    tasks: Mapping[str, ScoreDifference]
    overall: ScoreDifference | None


def compare(
    first: Submission,
    second: Submission,
    tasks: Mapping[str, Task],
    gold: Gold,
    *,
    seed: int = 1,
    permutations: int = PERMUTATIONS,
    resamples: int = RESAMPLES,
    on_task: Callable[[str], None] = lambda _task: None,
) -> SystemComparison:
    """Compare two submissions that pass ``require_scorable``."""
    one, other = first.predictions, second.predictions
    parts = []
    for name, task in tasks.items():
        if name in one and name in other and name in gold.labels:
            on_task(name)
            parts.append(
                compare_task(
                    task,
                    gold,
                    one[name],
                    other[name],
                    seed=seed,
                    permutations=permutations,
                    resamples=resamples,
                )
            )
    return compared(parts, tasks)


@dataclass(frozen=True, slots=True, eq=False)
class TaskDifference:
    """A task's difference with its draws, or with a part of them.

    `null`: shape (permutations,); `drawn`: shape (resamples,).
    `gap`: macro-F1 of the first system minus that of the second.
    """

    name: str
    gap: float
    n: int
    null: FloatArray
    drawn: FloatArray

    @property
    def difference(self) -> ScoreDifference:
        """Difference with interval and p."""
        return _difference(self.gap, self.null, self.drawn, self.n)


def compare_task(
    task: Task,
    gold: Gold,
    first: Mapping[str, str],
    second: Mapping[str, str],
    *,
    seed: int = 1,
    permutations: int = PERMUTATIONS,
    resamples: int = RESAMPLES,
    part: f1.Part = (0, 1),
) -> TaskDifference:
    """Compare two systems' labels of one task, by row id, on all draws or a part of them."""
    right, (a, b) = paired_codes(task, gold, [first, second])
    classes, name = len(task.classes), task.name
    null = swapped_differences(
        right, a, b, classes, seed=seed, purpose=name, permutations=permutations, part=part
    )
    scores = resampled_f1(right, [a, b], classes, seed=seed, purpose=name, resamples=resamples, part=part)
    gap = f1.macro_f1(f1.confusion(right, a, classes)) - f1.macro_f1(f1.confusion(right, b, classes))
    return TaskDifference(name, gap, int(right.size), null, scores[0] - scores[1])


def joined_difference(parts: Sequence[TaskDifference]) -> TaskDifference:
    """Join the parts of a task's difference, in their order."""
    null, drawn = (np.concatenate(values) for values in _draws(parts))
    return replace(parts[0], null=null, drawn=drawn)


def compared(parts: Sequence[TaskDifference], tasks: Iterable[str]) -> SystemComparison:
    """Return a comparison from the differences of its tasks."""
    if not parts:
        raise DataError("there is no task for which both submissions and the gold have labels")
    found = {part.name: part.difference for part in parts}
    if set(tasks) - set(found):
        return SystemComparison(found, None)
    gap = float(np.mean([one.difference for one in found.values()]))
    n = sum(one.n for one in found.values())
    shuffled, drawn = (np.sum(values, axis=0) / len(parts) for values in _draws(parts))
    return SystemComparison(found, _difference(gap, shuffled, drawn, n))


def _draws(parts: Sequence[TaskDifference]) -> tuple[list[FloatArray], list[FloatArray]]:
    return [part.null for part in parts], [part.drawn for part in parts]


def swapped_differences(
    gold: Codes,
    first: Codes,
    second: Codes,
    classes: int,
    *,
    seed: int,
    purpose: str,
    permutations: int,
    part: f1.Part = (0, 1),
) -> FloatArray:
    """Return differences in macro-F1, shape (permutations,), each item's two predictions swapped by a coin.

    Of c items with the same gold label and the same two predictions, a binomial number is swapped. Each swap
    moves one count between two classes of either submission.
    """
    rows, times = f1.distinct([gold, first, second])
    of_gold, of_first, of_second = (f1.indicator(rows[:, column], classes) for column in range(3))
    moved = of_second - of_first
    right_moved = of_gold * moved
    golds = times @ of_gold
    said = times @ of_first, times @ of_second
    right = times @ (of_gold * of_first), times @ (of_gold * of_second)
    differ = rows[:, 1] != rows[:, 2]
    moved, right_moved, times = moved[differ], right_moved[differ], times[differ]
    blocks = []
    for generator, size in f1.streams(seed, f"permutation {purpose}", permutations, part):
        swaps = _swaps(generator, times, size).astype(np.float64)
        shift, right_shift = swaps @ moved, swaps @ right_moved
        blocks.append(
            f1.f1_of_totals(right[0] + right_shift, golds, said[0] + shift)
            - f1.f1_of_totals(right[1] - right_shift, golds, said[1] - shift)
        )
    return np.concatenate(blocks)


def _swaps(generator: np.random.Generator, times: Int64Array, size: int) -> Int64Array:
    """Draw the number of swapped items of each distinct row, shape (size, P)."""
    swaps = np.empty((size, times.size), dtype=np.int64)
    single = times == 1  # usually most rows: a coin is faster than a binomial number
    swaps[:, single] = generator.integers(2, size=(size, int(single.sum())), dtype=np.int8)
    swaps[:, ~single] = generator.binomial(times[~single], 0.5, size=(size, int((~single).sum())))
    return swaps


def _difference(gap: float, null: FloatArray, drawn: FloatArray, n: int) -> ScoreDifference:
    """Add p = (1 + #{|shuffled| >= |observed|}) / (B + 1); values within 1e-12 are ties."""
    as_large = int((np.abs(null) >= abs(gap) - f1.TIE).sum())
    return ScoreDifference(gap, f1.interval(drawn), (1 + as_large) / (null.size + 1), int(n))
