"""A sheet for people to vote on a task's rows, as the benchmark had its own human baseline made."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from grasp_core.analysis.models.labels import ID, LABEL
from grasp_core.benchmark.tasks import Rows, Task
from grasp_core.model.errors import DataError, SpecError
from grasp_core.model.text import csv_text

RATER = "rater"


def voting_sheet(
    task: Task,
    train: Rows,
    test: Rows,
    raters: Sequence[str],
    *,
    items: int = 100,
    asked: int = 10,
    seed: int = 1,
) -> tuple[str, str]:
    """A CSV file with a row for each rater and row, without labels, and the right labels of a qualification.

    `train`: labelled rows, of which some are the qualification.
    `test`: rows to be voted on.
    `raters`: names that tell the raters apart.
    `items`, `asked`: rows to be voted on and rows of the qualification, both drawn at random; all where there
        are fewer.

    Returns the sheet, columns rater, ID, Label and the task's fields, the qualification's rows first; and the
    qualification, columns ID and Label.
    """
    if not raters or len(set(raters)) != len(raters) or not all(raters):
        raise SpecError("a sheet needs raters, each with a name of its own")
    if train.labels is None:
        raise DataError(f"{train.table.name} has no labels, so nobody can qualify on its rows")
    both = sorted(set(train.ids) & set(test.ids))
    if asked and both:
        raise DataError(
            f"{train.table.name} and {test.table.name} both have the ID {both[0]!r}; give each row its own"
        )
    rng = np.random.Generator(np.random.Philox(seed))
    known, voted = _some(rng, len(train.ids), asked), _some(rng, len(test.ids), items)
    sheet = (
        [rater, rows.ids[at], "", *(rows.texts[at][name] for name in task.fields)]
        for rater in raters
        for rows, places in ((train, known), (test, voted))
        for at in places
    )
    right = ((train.ids[at], train.labels[at]) for at in known)
    return csv_text([RATER, ID, LABEL, *task.fields], sheet), csv_text([ID, LABEL], right)


def _some(rng: np.random.Generator, rows: int, wanted: int) -> list[int]:
    return sorted(map(int, rng.choice(rows, min(wanted, rows), replace=False)))
