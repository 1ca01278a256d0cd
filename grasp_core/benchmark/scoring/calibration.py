"""Probabilities of classes held against gold labels: whether 0.8 comes true 8 times of 10."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from grasp_core.analysis.models.labels import ID
from grasp_core.benchmark.tasks import MAX_ROWS_FILE, Task
from grasp_core.model.annotations import FloatArray
from grasp_core.model.errors import DataError
from grasp_core.model.text import closest, listed, number, quoted
from grasp_core.reading.archives.members import check_size
from grasp_core.reading.sandbox.read import read_table
from grasp_core.reading.table.table import Table

PROBABILITIES = "probabilities.csv"
BINS = 10
_SUM = 0.01
"""How far the probabilities of a row may be from 1 in sum: they were rounded."""
_LEAST = 1e-15
"""Probabilities below this count as this in the log loss, as in scikit-learn's before 1.5."""


@dataclass(frozen=True, slots=True)
class Bin:
    """Items whose most probable class has a probability from `low` to `high`.

    `confidence`, `accuracy`: mean probability of the most probable class, and share of the items of that
        class; None without items.
    """

    low: float
    high: float
    n: int
    confidence: float | None
    accuracy: float | None


@dataclass(frozen=True, slots=True)
class Calibration:
    """How probabilities of a task's classes come true.

    `n`: items.
    `brier`: mean over items of the sum over classes of squared differences from 1 (gold) or 0; from 0 to 2.
    `log_loss`: mean of -ln of the gold class's probability.
    `ece`: expected calibration error: over bins, the mean distance of accuracy and confidence, by items.
    `bins`: ten of equal width.

    Source: Brier (1950), Verification of forecasts expressed in terms of probability. Naeini, Cooper and
    Hauskrecht (2015), Obtaining well calibrated probabilities using Bayesian binning.
    """

    n: int
    brier: float
    log_loss: float
    ece: float
    bins: tuple[Bin, ...]

    @property
    def plain(self) -> dict[str, Any]:
        """JSON-ready."""
        plain = asdict(self)
        return {name: plain[name] for name in ("brier", "log_loss", "ece")} | {"bins": list(plain["bins"])}


def calibration(task: Task, gold: Mapping[str, str], probabilities: Mapping[str, FloatArray]) -> Calibration:
    """Hold probabilities against gold labels.

    `gold`: class by row id.
    `probabilities`, shape (K,): by row id, in the order of the task's classes.
    """
    missing = [one for one in gold if one not in probabilities]
    if missing or not gold:
        raise DataError(
            f"{PROBABILITIES} of {task.name} has no row for {number(len(missing), 'ID')}: "
            f"{listed(missing, 3)}"
        )
    values = np.stack([probabilities[one] for one in gold])
    code_of = {name: code for code, name in enumerate(task.classes)}
    right = np.array([code_of[label] for label in gold.values()])
    rows = np.arange(right.size)
    aim = np.zeros_like(values)
    aim[rows, right] = 1.0
    top = values.argmax(axis=1)
    confidence, correct = values[rows, top], top == right
    place = np.minimum((confidence * BINS).astype(int), BINS - 1)
    bins = []
    for at in range(BINS):
        here = place == at
        means = (float(confidence[here].mean()), float(correct[here].mean())) if here.any() else (None, None)
        bins.append(Bin(at / BINS, (at + 1) / BINS, int(here.sum()), *means))
    gaps = [one.n * abs(one.accuracy - one.confidence) for one in bins if one.n]  # type: ignore[operator]
    return Calibration(
        n=int(right.size),
        brier=float(((values - aim) ** 2).sum(axis=1).mean()),
        log_loss=float(-np.log(np.maximum(values[rows, right], _LEAST)).mean()),
        ece=float(sum(gaps) / right.size),
        bins=tuple(bins),
    )


def read_probabilities(path: Path, task: Task) -> dict[str, FloatArray]:
    """Read a file with the column ID and a column per class, named as the class."""
    shown = f"{path.parent.name}/{path.name}"
    if path.is_file():
        check_size(path.stat().st_size, MAX_ROWS_FILE, shown, "probabilities")
    table = read_table(path)
    for name in (ID, *task.classes):
        if name not in table.columns:
            close = closest(name, table.columns)
            hint = (
                f"did you mean {listed(close)}?" if close else f"its columns are {listed(table.columns, 5)}"
            )
            raise DataError(f"{shown} has no column {quoted(name)}, as {task.name} needs; {hint}")
    columns = [_numbers(table, name, shown) for name in task.classes]
    values = np.stack(columns, axis=1)
    ids = table.column(ID)
    found: dict[str, FloatArray] = {}
    for position, code in enumerate(ids.codes.tolist()):
        one = ids.values[code]
        place = f"{shown}, row {table.row(position)}"
        if one in found:
            raise DataError(f"{place}: the ID {quoted(one)} occurs twice; give every ID one row")
        total = values[position].sum()
        if not abs(total - 1) <= _SUM:
            raise DataError(f"{place}: the probabilities add up to {total:.3g}; they must add up to 1")
        found[one] = values[position] / total
    return found


def _numbers(table: Table, name: str, shown: str) -> FloatArray:
    column = table.column(name)
    numbers = np.empty(len(column.values))
    for code, text in enumerate(column.values):
        try:
            numbers[code] = float(text)
        except ValueError:
            numbers[code] = np.nan
    values: FloatArray = numbers[column.codes]
    bad = np.flatnonzero(~((values >= 0) & (values <= 1)))
    if bad.size:
        position = int(bad[0])
        raise DataError(
            f"{shown}, row {table.row(position)}, column {quoted(name)}: "
            f"{quoted(column.values[column.codes[position]])} is no number from 0 to 1"
        )
    return values
