"""AdaBoost's settings tried by leave-one-out, as the paper did, or all combinations of them."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from grasp_core.benchmark.baselines.classical import PUBLISHED, Boosting, fit_staged, known_labels
from grasp_core.benchmark.checkpoints import Kept, Watch, unwatched
from grasp_core.benchmark.language_models.in_context import macro_f1_declared
from grasp_core.benchmark.scoring.evaluate import leave_one_out, taken, work_key
from grasp_core.benchmark.tasks import Rows, Task
from grasp_core.model.errors import DataError
from grasp_core.model.json_values import from_json

RATES, DEPTHS, TREES = (0.1, 0.3, 1.0, 3.0), (1, 2, 3, 5, 10), (10, 25, 50, 100, 200)
"""What is tried; the paper names what it tuned, the values are ours."""
Done = MutableMapping[str, list[str]]
"""Labels of a left-out row by the first 10, 25, ... trees, by setting and row."""


@dataclass(frozen=True, slots=True)
class BoostingTrial:
    """How well one setting did.

    `score`: macro-F1 over the declared classes, by leave-one-out.
    """

    setting: Boosting
    score: float


def boosting_grid() -> tuple[Boosting, ...]:
    """Every combination: 100 of them, from 20 ensembles for each row left out."""
    return tuple(Boosting(*one) for one in product(TREES, DEPTHS, RATES))


def boosting_sweeps() -> tuple[tuple[str, tuple[Boosting, ...]], ...]:
    """The paper's own order: one thing is varied at a time, the others as published."""
    return (
        ("learning rate", tuple(replace(PUBLISHED, learning_rate=rate) for rate in RATES)),
        ("depth", tuple(replace(PUBLISHED, depth=depth) for depth in DEPTHS)),
        ("trees", tuple(replace(PUBLISHED, trees=trees) for trees in TREES)),
    )


def kept_trials(path: Path) -> Kept[list[str]]:
    """The file that lets a search go on where it was ended."""

    def read(plain: dict[str, Any]) -> list[str]:
        return list(from_json(plain["labels"], tuple[str, ...]))

    what = ("trial of AdaBoost", "trials of AdaBoost")
    return Kept(path, "grasp-adaboost-trials", what, lambda labels: {"labels": labels}, read)


def tune_boosting(
    train: Rows,
    task: Task,
    settings: Sequence[Boosting],
    done: Done,
    *,
    seed: int = 1,
    watch: Watch = unwatched,
) -> list[BoostingTrial]:
    """Try settings by leave-one-out, best first; of equal ones, that with fewer and shallower trees.

    An ensemble tells what fewer of its trees say, so one is grown for each depth and rate.

    `train`: labelled rows.
    `done`: work of an earlier attempt; what is added lets the next go on.
    `watch`: told (ensembles done, ensembles in all).
    """
    labels = known_labels(train)
    if len(labels) < 2:
        raise DataError(f"{train.table.name} has one labelled row; evaluating on it takes two or more")
    folds = leave_one_out(train)
    most: dict[tuple[int, float], Boosting] = {}
    for one in sorted(settings, key=lambda one: one.trees):
        most[one.depth, one.learning_rate] = one
    said: dict[tuple[int, float], list[list[str]]] = {}
    ready, total = 0, len(most) * len(folds)
    for which, setting in most.items():
        found = []
        for row, fold in enumerate(folds):
            watch(ready, total)
            trees = [number for number in TREES if number <= setting.trees]
            key = work_key(f"adaboost {setting} {trees}", task, [train], f"loo {row}", seed)
            if key not in done:
                staged = fit_staged(taken(train, fold.train), task, seed, setting)
                done[key] = [stage[0] for stage in staged([train.texts[row]], trees)]
            found.append(done[key])
            ready += 1
        said[which] = found
    watch(total, total)
    trials = []
    for one in settings:
        at = TREES.index(one.trees)
        predicted = [stages[at] for stages in said[one.depth, one.learning_rate]]
        trials.append(BoostingTrial(one, macro_f1_declared(labels, predicted, task)))
    return sorted(trials, key=lambda trial: (-trial.score, trial.setting.trees, trial.setting.depth))
