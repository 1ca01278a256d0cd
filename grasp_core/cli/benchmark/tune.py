"""``raft tune``: which way of asking a language model, or which setting of AdaBoost, suits a task."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from grasp_core.benchmark.baselines.registry import LM, check_installed
from grasp_core.benchmark.language_models.answers import Asking
from grasp_core.benchmark.language_models.in_context import Trial, grid, macro_f1_declared, paper_sweeps, tune
from grasp_core.benchmark.scoring.boosting import (
    boosting_grid,
    boosting_sweeps,
    kept_trials,
    tune_boosting,
)
from grasp_core.benchmark.tasks import TRAIN_FILE, Rows, Task, read_rows, read_task, read_tasks
from grasp_core.cli.benchmark.lm import ANSWERS, asked, model_options, similarity_or_say
from grasp_core.cli.benchmark.raft import TASKS, add_all_tasks, whole
from grasp_core.cli.parser import option
from grasp_core.cli.terminal.messages import clear_line, note, show_line, show_rows
from grasp_core.model.errors import DataError, SpecError

ADABOOST = "adaboost"
TRIALS = "adaboost-trials.jsonl"
_BEST = 10


def fill_tune(tuning: argparse.ArgumentParser) -> None:
    """Add the command ``tune`` to the parser."""
    tuning.set_defaults(command=_tune)
    tuning.add_argument("name", nargs="?", choices=(LM, ADABOOST), default=LM, metavar="lm|adaboost")
    add_all_tasks(tuning, "one after the other")
    option(tuning, "--seed N", "of chance", whole, default=1)
    option(tuning, "--sweeps", "the paper's trials, one thing varied at a time, not all")
    model_options(tuning)


def _tune(chosen: argparse.Namespace) -> None:
    if chosen.tasks and not chosen.all:
        raise SpecError("--tasks goes with --all")
    found = _labelled(chosen)
    if chosen.name == ADABOOST:
        _tune_boosting(chosen, found)
    else:
        _tune_lm(chosen, found)


def _labelled(chosen: argparse.Namespace) -> list[tuple[Task, Rows]]:
    """The tasks with their labelled rows; of a folder, those that have some."""
    if not chosen.all:
        task = read_task(chosen.task)
        return [(task, read_rows(chosen.task / TRAIN_FILE, task, labelled=True))]
    folder = chosen.tasks or TASKS
    found = [
        (task, read_rows(folder / name / TRAIN_FILE, task, labelled=True))
        for name, task in read_tasks(folder).items()
        if (folder / name / TRAIN_FILE).is_file()
    ]
    if not found:
        raise DataError(f"no task in {folder} has a {TRAIN_FILE}")
    return found


def _tune_lm(chosen: argparse.Namespace, found: Sequence[tuple[Task, Rows]]) -> None:
    similarity = similarity_or_say()
    with asked(chosen) as (model, answers, usage):
        for task, train in found:
            _head(task, found)
            if not task.instructions:
                note(f"{task.name} has no instructions: trials with and without them are the same")
            asking = Asking(task, model, answers, similarity, chosen.seed, show_rows, usage)
            if not chosen.sweeps:
                _print(tune(asking, train, grid(len(train.ids)), macro_f1_declared))
                continue
            for varied, settings in paper_sweeps(len(train.ids)):
                trials = tune(asking, train, settings, macro_f1_declared)
                clear_line()
                print(f"{varied}:")
                _print(trials)


def _head(task: Task, found: Sequence[tuple[Task, Rows]]) -> None:
    if len(found) > 1:
        print(f"{task.name}:")


def _print(trials: Sequence[Trial]) -> None:
    clear_line()
    print("macro-F1  shots  instructions  similar examples")
    for trial in trials:
        words = ["yes" if on else "no" for on in (trial.setting.instructions, trial.setting.semantic)]
        print(f"{trial.score:8.3f}  {trial.setting.shots:5d}  {words[0]:12s}  {words[1]}", flush=True)


def _tune_boosting(chosen: argparse.Namespace, found: Sequence[tuple[Task, Rows]]) -> None:
    check_installed(ADABOOST)

    def watch(done: int, total: int) -> None:
        show_line(f"{done:,} of {total:,} ensembles")

    path = Path(TRIALS) if chosen.resume == Path(ANSWERS) else chosen.resume
    done = kept_trials(path)
    try:
        for task, train in found:
            _head(task, found)
            parts = boosting_sweeps() if chosen.sweeps else (("", boosting_grid()),)
            for varied, settings in parts:
                trials = tune_boosting(train, task, settings, done, seed=chosen.seed, watch=watch)
                clear_line()
                if varied:
                    print(f"{varied}:")
                print("macro-F1  trees  depth  learning rate")
                for trial in trials if varied else trials[:_BEST]:
                    one, score = trial.setting, trial.score
                    print(f"{score:8.3f}  {one.trees:5d}  {one.depth:5d}  {one.learning_rate:g}", flush=True)
                if len(trials) > _BEST:
                    note(f"the best {_BEST} of {len(trials)} settings")
    finally:
        clear_line()
        if len(done):
            note(f"trials are kept in {path} and are not made again")
