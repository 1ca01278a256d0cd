"""Where a submission goes wrong, for whoever holds the gold labels: all of this tells them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from grasp_core.annotations import Int64Array
from grasp_core.benchmark.gold import Gold
from grasp_core.benchmark.language_models.prompt import shown
from grasp_core.benchmark.scoring.scores import TaskScore
from grasp_core.benchmark.tasks import TEST_FILE, Task, read_rows
from grasp_core.models_as_raters.labels import ID
from grasp_core.report.table_csv import safe_cell
from grasp_core.report.words.printable import printable_name

ERROR_COLUMNS = ("task", ID, "gold", "predicted", "text")
_MOST_CLASSES = 8
"""A matrix of more classes is told by its largest cells."""
_LARGEST = 10


def confusion_table(counts: Int64Array, classes: Sequence[str]) -> pd.DataFrame:
    """Rows by gold class (down) and predicted class (across); classes that never occur are left out.

    Parameters
    ----------
    counts : int array, shape (K, K)
        See :func:`grasp_core.statistics.f1.confusion`.
    classes : sequence of str, length K
    """
    occur = np.flatnonzero(counts.sum(axis=0) + counts.sum(axis=1)).tolist()
    names = [classes[code] for code in occur]
    return pd.DataFrame(counts[np.ix_(occur, occur)], index=names, columns=names)


def mistakes_text(name: str, score: TaskScore) -> str:
    """How many rows of a task are wrong, and which classes were taken for which.

    Parameters
    ----------
    name : str
        Of the task.
    score : TaskScore
    """
    wrong = score.n - int(np.trace(score.confusion))
    start = f"{name}: {wrong:,} of {score.n:,} labelled wrongly"
    if not wrong:
        return start
    table = confusion_table(score.confusion, [printable_name(one) for one in score.classes])
    if len(table) <= _MOST_CLASSES:
        return f"{start} (gold class down, predicted class across)\n{table.to_string()}"
    lines = [f"{count:>7,}  {gold} > {said}" for count, gold, said in _largest(table)]
    return "\n".join([f"{start}; most often (gold > predicted)", *lines])


def _largest(table: pd.DataFrame) -> list[tuple[int, str, str]]:
    """The cells beside the diagonal with the most rows; of equal ones, those of the first classes."""
    counts = table.to_numpy().copy()
    np.fill_diagonal(counts, 0)
    cells = zip(*np.nonzero(counts), strict=True)
    found = sorted((-int(counts[cell]), cell) for cell in cells)
    return [(-count, table.index[gold], table.columns[said]) for count, (gold, said) in found[:_LARGEST]]


def errors_csv(
    predictions: Mapping[str, Mapping[str, str]],
    tasks: Mapping[str, Task],
    gold: Gold,
    folder: Path | None = None,
) -> str:
    """Every row that was labelled wrongly, as CSV with :data:`ERROR_COLUMNS`.

    Parameters
    ----------
    predictions : mapping of str to mapping of str to str
        Label by id, by task, of all rows that have a gold label.
    tasks : mapping of str to Task
    gold : Gold
    folder : Path, optional
        Of the tasks: where a task's ``test_unlabeled.csv`` is there, the texts are taken from it.

    Raises
    ------
    DataError
        If such a file cannot be read.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(ERROR_COLUMNS)
    for name, task in tasks.items():
        if name in predictions and name in gold.labels:
            texts = _texts(task, folder)
            for one, right, said in _wrong(predictions[name], gold.labels[name]):
                writer.writerow([safe_cell(cell) for cell in (name, one, right, said, texts.get(one, ""))])
    return out.getvalue()


def _wrong(predictions: Mapping[str, str], gold: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    for one, right in gold.items():
        if predictions[one] != right:
            yield one, right, predictions[one]


def _texts(task: Task, folder: Path | None) -> dict[str, str]:
    path = None if folder is None else folder / task.name / TEST_FILE
    if path is None or not path.is_file():
        return {}
    rows = read_rows(path, task, labelled=False)
    return {one: shown(task, text) for one, text in zip(rows.ids, rows.texts, strict=True)}
