"""Evaluation of a baseline on labelled rows, cautions about it, and trials of AdaBoost's settings."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np

from grasp_core.benchmark.baselines.classical import (
    PUBLISHED,
    Baseline,
    Boosting,
    Texts,
    fit_staged,
    known_labels,
)
from grasp_core.benchmark.checkpoints import KeptWork
from grasp_core.benchmark.language_models.answers import UnansweredError
from grasp_core.benchmark.language_models.in_context import macro_f1_declared
from grasp_core.benchmark.scoring.scores import resampled_f1
from grasp_core.benchmark.tasks import Task, TaskRows
from grasp_core.model.annotations import Codes
from grasp_core.model.errors import DataError
from grasp_core.model.json_values import from_json
from grasp_core.model.remarks.benchmark import BaselineCaution
from grasp_core.model.remarks.remark import Remark
from grasp_core.reading.table.parsed import Watch, unwatched
from grasp_core.statistics.f1 import confusion, interval, macro_f1

SPLITS, TEST_SHARE = 20, 0.2


@dataclass(frozen=True, slots=True)
class Fold:
    """Positions of the rows to learn from, and of the rows to be labelled."""

    train: tuple[int, ...]
    test: tuple[int, ...]


def leave_one_out(rows: TaskRows) -> list[Fold]:
    """Return folds in which each row is labelled from all others."""
    everyone = range(len(rows.ids))
    return [Fold(tuple(one for one in everyone if one != left), (left,)) for left in everyone]


def stratified_splits(rows: TaskRows, seed: int) -> list[Fold]:
    """Return random splits with a fifth of each class to label, but no class of one row."""
    labels = np.array(known_labels(rows))
    classes = [np.flatnonzero(labels == name) for name in dict.fromkeys(labels)]
    if max(map(len, classes)) < 2:
        raise DataError(f"{rows.table.name} has no class with two rows, so it cannot be split; use loo")
    return [_split(classes, np.random.Generator(np.random.Philox([seed, k]))) for k in range(SPLITS)]


def _split(classes: Sequence[Codes], rng: np.random.Generator) -> Fold:
    test: set[int] = set()
    while not test:
        for members in classes:
            wanted = len(members) * TEST_SHARE
            size = min(int(wanted) + int(rng.random() < wanted % 1), len(members) - 1)
            test.update(map(int, rng.permutation(members)[:size]))
    everyone = range(sum(map(len, classes)))
    return Fold(tuple(one for one in everyone if one not in test), tuple(sorted(test)))


def taken(rows: TaskRows, positions: Sequence[int]) -> TaskRows:
    """Return the rows at these positions, in that order."""
    labels = None if rows.labels is None else tuple(rows.labels[one] for one in positions)
    ids = tuple(rows.ids[one] for one in positions)
    return TaskRows(ids, tuple(rows.texts[one] for one in positions), labels, rows.table)


Way = Literal["loo", "splits", "file"]
Done = MutableMapping[str, list[str]]
"""Labels by piece of work, each complete; stored as JSON, it lets a later evaluation continue."""

BLOCK = 512
"""Rows labelled between two reports of progress. Labels do not depend on it."""


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """Scores of a baseline over classes in gold or predictions, and over declared ones; for splits, means.

    `ci95`: interval of `macro_f1`: bootstrap over rows; for splits, their 2.5th and 97.5th percentile.
    """

    way: Way
    macro_f1: float
    macro_f1_declared: float
    ci95: tuple[float, float]
    n: int
    predicted: tuple[str, ...]
    caution: tuple[Remark, ...]


def loo_cautions(labels: Sequence[str]) -> tuple[Remark, ...]:
    """Return cautions about leave-one-out."""
    counts = Counter(labels)
    found = [BaselineCaution.LEAVE_ONE_OUT()]
    most = counts.most_common(2)
    if len(most) > 1 and most[0][1] == most[1][1]:
        found.append(BaselineCaution.LARGEST_CLASSES_ALIKE())
    single = sum(count == 1 for count in counts.values())
    if single:
        found.append(BaselineCaution.SINGLE_WITHOUT_EXAMPLE(classes=single))
    return tuple(found)


def split_cautions(labels: Sequence[str], folds: Sequence[Fold]) -> tuple[Remark, ...]:
    """Return cautions about repeated stratified splits."""
    counts = Counter(labels).values()
    found = [BaselineCaution.SPLITS(learnt=len(folds[0].train), rows=len(labels))]
    single = sum(count == 1 for count in counts)
    if single:
        found.append(BaselineCaution.SINGLE_NEVER_TESTED(classes=single))
    rare = sum(1 < count < 5 for count in counts)
    if rare:
        found.append(BaselineCaution.RARE_CLASSES(classes=rare))
    return tuple(found)


def file_cautions(train: TaskRows, test: TaskRows) -> tuple[Remark, ...]:
    """Return cautions about other labelled rows."""
    known = {json.dumps(text, sort_keys=True) for text in train.texts}
    both = sum(json.dumps(text, sort_keys=True) in known for text in test.texts)
    return (BaselineCaution.ROWS_LEARNT_FROM(both=both, rows=len(test.ids)),) if both else ()


def evaluate(
    fit: Baseline,
    train: TaskRows,
    task: Task,
    *,
    way: Way = "loo",
    test: TaskRows | None = None,
    seed: int = 1,
    watch: Watch = unwatched,
    done: Done | None = None,
) -> Evaluation:
    """Score a baseline; work of an earlier attempt is taken from `done`, and new work added to it."""
    labels = known_labels(train)
    if way == "file":
        if test is None or not test.labels:
            raise DataError("the file to evaluate on has no labelled row")
        predicted = label_rows(fit, train, task, test.texts, seed=seed, watch=watch, done=done)
        return _scored(way, [tuple(test.labels)], [predicted], task, seed, file_cautions(train, test))
    if len(labels) < 2:
        raise DataError(f"{train.table.name} has one labelled row; evaluating on it takes two or more")
    folds = leave_one_out(train) if way == "loo" else stratified_splits(train, seed)
    done = {} if done is None else done
    total, ready = sum(len(fold.test) for fold in folds), 0
    found = []
    for number, fold in enumerate(folds):
        watch(ready, total)
        key = f"fold {number}"
        if key not in done:
            done[key] = fit(taken(train, fold.train), task, seed)([train.texts[row] for row in fold.test])
        found.append(done[key])
        ready += len(fold.test)
    watch(total, total)
    gold = [tuple(labels[row] for row in fold.test) for fold in folds]
    if way == "loo":
        gold, found = [tuple(labels)], [[label for fold in found for label in fold]]
        return _scored(way, gold, found, task, seed, loo_cautions(labels))
    return _scored(way, gold, found, task, seed, split_cautions(labels, folds))


def label_rows(
    fit: Baseline,
    train: TaskRows,
    task: Task,
    texts: Texts,
    *,
    seed: int = 1,
    watch: Watch = unwatched,
    done: Done | None = None,
    block: int = BLOCK,
) -> list[str]:
    """Label rows from all labelled ones; parameters are those of :func:`evaluate`."""
    done = {} if done is None else done
    predict = None
    labels: list[str] = []
    for start in range(0, len(texts), block):
        watch(start, len(texts))
        key = f"rows {start} to {min(start + block, len(texts))}"
        if key not in done:
            predict = predict or fit(train, task, seed)
            try:
                done[key] = predict(texts[start : start + block])
            except UnansweredError as error:  # counted over all rows, not over a block
                raise UnansweredError(error.remark, start + error.found, len(texts)) from None
        labels += done[key]
    watch(len(texts), len(texts))
    return labels


def work_key(name: str, task: Task, rows: Sequence[TaskRows], way: str, seed: int) -> str:
    """Return the identity of partial work: it may only be continued if all of this is the same."""
    parts = [name, task.name, list(task.classes), list(task.prompt_fields), way, seed]
    parts += [list(task.fields), *(one.table.sha256 for one in rows)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _scored(
    way: Way,
    gold: Sequence[Sequence[str]],
    predicted: Sequence[Sequence[str]],
    task: Task,
    seed: int,
    caution: tuple[Remark, ...],
) -> Evaluation:
    number = {name: code for code, name in enumerate(task.classes)}
    pairs = [
        (np.array([number[label] for label in right]), np.array([number[label] for label in said]))
        for right, said in zip(gold, predicted, strict=True)
    ]
    tables = [confusion(right, said, len(number)) for right, said in pairs]
    scores = np.array([macro_f1(table) for table in tables])
    declared = np.array([macro_f1(table, "declared") for table in tables])
    spread = (
        scores
        if way == "splits"
        else resampled_f1(pairs[0][0], [pairs[0][1]], len(number), seed=seed, purpose=task.name)[0]
    )
    said = tuple(label for one in predicted for label in one)
    return Evaluation(
        way, float(scores.mean()), float(declared.mean()), interval(spread), len(said), said, caution
    )


def evaluation_json(name: str, task: Task, seed: int, found: Evaluation) -> str:
    """Return the scores as JSON, without any row's text or label."""
    plain: Mapping[str, Any] = {
        "baseline": name,
        "task": task.name,
        "evaluate": found.way,
        "seed": seed,
        "macro_f1": found.macro_f1,
        "macro_f1_declared": found.macro_f1_declared,
        "ci95": list(found.ci95),
        "n": found.n,
        "caution": [remark.to_dict() for remark in found.caution],
    }
    return json.dumps(plain, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


RATES, DEPTHS, TREES = (0.1, 0.3, 1.0, 3.0), (1, 2, 3, 5, 10), (10, 25, 50, 100, 200)
"""Values that are tried; the paper names what it tuned, but the values are ours."""


@dataclass(frozen=True, slots=True)
class BoostingTrial:
    """The score of one setting: macro-F1 over the declared classes, by leave-one-out."""

    setting: Boosting
    score: float


def boosting_grid() -> tuple[Boosting, ...]:
    """Return every combination: 100 of them, from 20 ensembles for each row left out."""
    return tuple(Boosting(*one) for one in product(TREES, DEPTHS, RATES))


def boosting_sweeps() -> tuple[tuple[str, tuple[Boosting, ...]], ...]:
    """Return settings in the paper's own order: one is varied at a time, the others are as published."""
    return (
        ("learning rate", tuple(replace(PUBLISHED, learning_rate=rate) for rate in RATES)),
        ("depth", tuple(replace(PUBLISHED, depth=depth) for depth in DEPTHS)),
        ("trees", tuple(replace(PUBLISHED, trees=trees) for trees in TREES)),
    )


def kept_trials(path: Path) -> KeptWork[list[str]]:
    """Open the file from which a stopped search continues."""

    def read(plain: dict[str, Any]) -> list[str]:
        return list(from_json(plain["labels"], tuple[str, ...]))

    what = ("trial of AdaBoost", "trials of AdaBoost")
    return KeptWork(path, "grasp-adaboost-trials", what, lambda labels: {"labels": labels}, read)


def tune_boosting(
    train: TaskRows,
    task: Task,
    settings: Sequence[Boosting],
    done: Done,
    *,
    seed: int = 1,
    watch: Watch = unwatched,
) -> list[BoostingTrial]:
    """Try settings by leave-one-out, best first; of equal ones, the one with fewer and shallower trees first.

    An ensemble also gives the labels by fewer of its trees, so only one is grown for each depth and rate.
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
