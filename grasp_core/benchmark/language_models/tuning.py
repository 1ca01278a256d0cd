"""Which way of asking suits a task, tried out on its labelled rows alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from grasp_core.benchmark.language_models.asking import Asking
from grasp_core.benchmark.language_models.scoring import Setting, leave_one_out
from grasp_core.benchmark.tasks import Rows, Task
from grasp_core.statistics.f1 import confusion, macro_f1

SHOTS = (5, 10, 25, 49)
Score = Callable[[Sequence[str], Sequence[str], Task], float]
"""Macro-F1 of (gold, predicted) labels over all declared classes of the task."""


@dataclass(frozen=True, slots=True)
class Trial:
    """How well one way of asking did.

    Parameters
    ----------
    setting : Setting
    score : float
        Macro-F1 over the declared classes, by leave-one-out.
    """

    setting: Setting
    score: float


def grid(rows: int = 50) -> tuple[Setting, ...]:
    """Every combination of instructions, selection and number of examples: 16 with 50 rows."""
    return tuple(
        Setting(n, instructions, semantic)
        for n, instructions, semantic in product(_shots(rows), (True, False), (True, False))
    )


def paper_sweeps(rows: int = 50) -> tuple[tuple[str, tuple[Setting, ...]], ...]:
    """The paper's own trials: one thing is varied at a time.

    Instructions are tried with 20 examples by chance; similarity with instructions and 20 examples; the
    number of examples with both (raft_train_experiment.py of github.com/oughtinc/raft-baselines).
    """
    return (
        ("instructions", tuple(Setting(20, instructions, False) for instructions in (False, True))),
        ("similar examples", tuple(Setting(20, True, semantic) for semantic in (False, True))),
        ("number of examples", tuple(Setting(n, True, True) for n in _shots(rows))),
    )


def _shots(rows: int) -> list[int]:
    return list(dict.fromkeys(min(n, rows - 1) for n in SHOTS))


def macro_f1_declared(gold: Sequence[str], predicted: Sequence[str], task: Task) -> float:
    """Macro-F1 over all declared classes, as the paper tunes."""
    codes = [np.array([task.classes.index(label) for label in labels]) for labels in (gold, predicted)]
    return macro_f1(confusion(codes[0], codes[1], len(task.classes)), "declared")


def tune(asking: Asking, train: Rows, settings: Sequence[Setting], score: Score) -> list[Trial]:
    """Try settings by leave-one-out, best first; of equal ones that with fewer examples, which costs less.

    Progress is told over all settings together. Stopping loses nothing: the answers so far are kept, and the
    next attempt asks only for the others.

    Raises
    ------
    DataError
        If rows stayed without an answer.

    Notes
    -----
    Leave-one-out misleads where classes are balanced, for the class of the row left out is always the rarer
    one among the others, and where a class has a single row, which is then left without an example.
    """
    n = len(train.texts)
    trials = []
    for done, setting in enumerate(settings):
        watch = _shifted(asking, done * n, len(settings) * n)
        found = leave_one_out(replace(asking, watch=watch), setting, train)
        trials.append(Trial(setting, score(train.labels or (), found.labels, asking.task)))
    return sorted(trials, key=lambda trial: (-trial.score, trial.setting.shots))


def _shifted(asking: Asking, before: int, total: int) -> Callable[[int, int], None] | None:
    watch = asking.watch
    return None if watch is None else lambda done, _: watch(before + done, total)
