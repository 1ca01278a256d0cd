"""``raft score`` and ``raft compare``: submissions against gold labels."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from grasp_core.benchmark.gold import Gold, read_gold
from grasp_core.benchmark.scoring.compare import compare, errors_csv, mistakes_text
from grasp_core.benchmark.scoring.scores import Scores, score, scores_json
from grasp_core.benchmark.submissions import Submission, known_ids, read_submission, require_scorable
from grasp_core.benchmark.tasks import Task, read_tasks
from grasp_core.cli.benchmark.arguments import add_gold, add_seed, add_submission, add_tasks
from grasp_core.cli.terminal.lines import note
from grasp_core.cli.terminal.output import check_target, write_text
from grasp_core.model.wording import listed, number
from grasp_core.report.words.names import format_p_value


def fill_score(scoring: argparse.ArgumentParser) -> None:
    """Add the command ``score`` to those of ``raft``."""
    scoring.set_defaults(command=_score)
    add_submission(scoring, "submission")
    add_gold(scoring)
    add_tasks(scoring)
    add_seed(scoring)
    scoring.add_argument("--out", type=Path, metavar="FILE", help="the scores as JSON")
    scoring.add_argument(
        "--errors", type=Path, metavar="FILE", help="the rows labelled wrongly as CSV, with their gold labels"
    )


def fill_compare(comparing: argparse.ArgumentParser) -> None:
    """Add the command ``compare`` to those of ``raft``."""
    comparing.set_defaults(command=_compare)
    add_submission(comparing, "first")
    add_submission(comparing, "second")
    add_gold(comparing)
    add_tasks(comparing)
    add_seed(comparing)


@dataclass(frozen=True, slots=True, eq=False)
class _Setting:
    """Tasks, gold and the ids that submissions must have."""

    tasks: Mapping[str, Task]
    gold: Gold
    ids: Mapping[str, tuple[str, ...]]

    def submission(self, source: Path) -> Submission:
        """A submission that can be scored."""
        found = read_submission(source, self.tasks)
        require_scorable(found, self.tasks, self.ids)
        for file in found.unexpected:
            note(f"{file.path} belongs to none of the tasks and is left out")
        return found


def _setting(chosen: argparse.Namespace) -> _Setting:
    tasks = read_tasks(chosen.tasks)
    ids = known_ids(chosen.tasks)
    gold = read_gold(chosen.gold, tasks, ids)
    return _Setting(tasks, gold, {**gold.ids, **ids})


def _score(chosen: argparse.Namespace) -> None:
    for target in (chosen.out, chosen.errors):
        check_target(target)
    setting = _setting(chosen)
    submission = setting.submission(chosen.submission)
    scores = score(submission, setting.tasks, setting.gold, seed=chosen.seed)
    if chosen.errors is not None:
        text = errors_csv(submission.predictions, setting.tasks, setting.gold, chosen.tasks)
        write_text(chosen.errors, text)
    write_text(chosen.out, scores_json(scores))
    _print_scores(scores)
    for name, one in scores.tasks.items():
        print(f"\n{mistakes_text(name, one)}")


def _print_scores(scores: Scores) -> None:
    rows = [
        (name, f"{one.macro_f1:.3f}", _interval(one.ci95), f"{one.macro_f1_declared:.3f}", f"{one.n:,}")
        for name, one in scores.tasks.items()
    ]
    if scores.overall is not None and scores.overall_ci95 is not None:
        rows.append(("overall", f"{scores.overall:.3f}", _interval(scores.overall_ci95), "", ""))
    columns = ["task", "macro-F1", "95 % interval", "over declared classes", "items"]
    print(pd.DataFrame(rows, columns=columns).to_string(index=False))
    if scores.unscored:
        without = listed(scores.unscored)
        note(
            f"no overall score, {number(len(scores.unscored), 'task')} without predictions or without "
            f"gold labels: {without}"
        )


def _compare(chosen: argparse.Namespace) -> None:
    setting = _setting(chosen)
    first, second = (setting.submission(source) for source in (chosen.first, chosen.second))
    found = compare(first, second, setting.tasks, setting.gold, seed=chosen.seed)
    named = [*found.tasks.items(), *([("overall", found.overall)] if found.overall is not None else [])]
    rows = [
        (name, f"{one.difference:+.3f}", _interval(one.ci95), format_p_value(one.p), f"{one.n:,}")
        for name, one in named
    ]
    columns = ["task", "difference", "95 % interval", "p", "items"]
    print(pd.DataFrame(rows, columns=columns).to_string(index=False))
    if found.overall is None:
        note("no overall difference, not every task could be compared")


def _interval(ends: tuple[float, float]) -> str:
    return f"{ends[0]:.3f} to {ends[1]:.3f}"
