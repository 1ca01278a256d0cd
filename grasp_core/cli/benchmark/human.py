"""``raft human``: the score of a few raters per item together, as a row of the leaderboard."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from grasp_core.benchmark import leaderboard
from grasp_core.benchmark.folders import read_bounded
from grasp_core.benchmark.scoring.human import UNVOTED, HumanScore, human_baseline, of_kind, qualify
from grasp_core.benchmark.submissions import gold_labels, right_labels
from grasp_core.benchmark.tasks import builtin_tasks
from grasp_core.cli.options import add_reading
from grasp_core.cli.parser import option
from grasp_core.cli.reading import read
from grasp_core.cli.terminal.messages import TERMINAL, note
from grasp_core.cli.terminal.output import check_target, write_text
from grasp_core.engine.run_request import say_problems
from grasp_core.model.errors import DataError, SpecError
from grasp_core.model.text import listed, number

_NUMBERS = (
    ("votes", 5, "annotations drawn per item"),
    ("items", 100, "items drawn"),
    ("repeats", 100, "draws that mean and spread are over"),
    ("seed", 1, "of the draws"),
)
PEOPLE = "People"


def fill_human(human: argparse.ArgumentParser) -> None:
    """Add the command to those of ``raft``."""
    human.set_defaults(command=_human)
    add_reading(human)
    drawn = human.add_argument_group("human baseline")
    for name, default, what in _NUMBERS:  # options of reading have similar names
        words = f"{what} (default: {default})"
        option(drawn, f"--{name} N", words, int, dest=f"human_{name}", default=default)
    option(drawn, "--gold-file FILE", "right labels: ID,Label", Path)
    option(
        drawn,
        "--qualification FILE",
        "ID,Label of rows that raters qualify on: 10 or more each, which are not scored",
        Path,
    )
    option(drawn, "--bar SHARE", "of these rows that must be right to vote, 0 to 1", float)
    option(drawn, "--by COLUMN", "of the raters: score each kind apart, such as experts")
    option(drawn, "--pay PRICE", "for a vote: what all of this costs", float)
    board = human.add_argument_group("leaderboard")
    option(board, "--name NAME", f"of the row; default: {PEOPLE}", default=PEOPLE)
    option(board, "--task TASK", "that the items are rows of")
    option(board, "--out FILE", "the leaderboard with the row, as JSON", Path)


def _human(chosen: argparse.Namespace) -> None:
    _check(chosen)
    given = {name: value for name, value in vars(chosen).items() if value is not None}
    if chosen.min_gold is None:  # no rater is left out by their right labels
        given.pop("gold", None)
    found = read(given)
    against = None
    if chosen.gold_file is not None:
        against = right_labels(read_bounded(chosen.gold_file, chosen.gold_file.name))
    if chosen.gold is not None:
        against = gold_labels(found.annotations, found.spec, chosen.gold)
    axes = () if chosen.by is None else (chosen.by,)
    found, dataset = found.formed(axes)
    asked = 0
    if chosen.qualification is not None:
        right = right_labels(read_bounded(chosen.qualification, chosen.qualification.name))
        dataset, passed = qualify(dataset, right, chosen.bar)
        asked = passed.votes
        print(
            f"{number(len(passed.passed), 'rater')} qualified; {len(passed.failed):,} did not reach "
            f"{chosen.bar:g}, {len(passed.few):,} labelled too few rows"
        )
    kinds = {"": dataset} if chosen.by is None else of_kind(dataset, chosen.by)
    entries = []
    for kind, part in kinds.items():
        name = f"{chosen.name} ({kind})" if kind else chosen.name
        if kind:
            print(f"{name}:")
        result = human_baseline(
            part,
            votes=chosen.human_votes,
            items=chosen.human_items,
            repeats=chosen.human_repeats,
            seed=chosen.human_seed,
            against=against,
        )
        _print(result, chosen.pay, asked)
        if result.unvoted:
            note(f"{UNVOTED}: {listed(result.unvoted, 5)}")
        at = chosen.task or ""
        entries.append(leaderboard.Entry(name, {at: result.macro_f1}, None, ci95={at: result.ci95}))
    say_problems(dataset, TERMINAL)
    if chosen.task is None:
        return
    board = _board(chosen.out, entries)
    scored = [entry for entry in leaderboard.ranked(board, chosen.task) if chosen.task in entry.tasks]
    table = leaderboard.leaderboard_table(scored, [chosen.task])[["system", chosen.task, "scored"]]
    table[chosen.task] = table[chosen.task].map("{:.3f}".format)
    with pd.option_context("display.max_colwidth", 60):
        print(table.to_string(index=False))
    if chosen.out is not None:
        tasks = dict.fromkeys([*builtin_tasks(), *(task for entry in board for task in entry.tasks)])
        plain = leaderboard.leaderboard_dict(leaderboard.ranked(board), list(tasks))
        write_text(chosen.out, json.dumps(plain, ensure_ascii=False, indent=2) + "\n")


def _check(chosen: argparse.Namespace) -> None:
    if chosen.gold is not None and chosen.gold_file is not None:
        raise SpecError("right labels come from one place: --gold COLUMN, or --gold-file FILE")
    if (chosen.qualification is None) != (chosen.bar is None):
        raise SpecError("a qualification takes both its rows and a bar: --qualification FILE --bar SHARE")
    if chosen.out is not None and chosen.task is None:
        raise SpecError("a row of the leaderboard is about a task: name it with --task")
    if chosen.task is not None and chosen.gold is None and chosen.gold_file is None:
        raise SpecError(
            "a row of the leaderboard is scored against right labels: give --gold-file FILE, or --gold COLUMN"
        )
    if chosen.pay is not None and not 0 <= chosen.pay < float("inf"):
        raise SpecError(f"--pay takes a price, 0 or more; found {chosen.pay:g}")
    check_target(chosen.out)


def _print(result: HumanScore, pay: float | None, asked: int) -> None:
    low, high = result.ci95
    print(
        f"macro-F1 {result.macro_f1:.3f}, 95 % interval {low:.3f} to {high:.3f}: plurality of {result.votes} "
        f"on {result.n:,} of {result.eligible:,} items, against {result.against}"
    )
    print(f"over all {result.classes} categories {result.macro_f1_declared:.3f}")
    if result.repeats > 1:
        print(
            f"{result.repeats:,} such draws: mean {result.mean:.3f}, standard deviation {result.spread:.3f}"
        )
    if pay is not None:
        votes = result.votes * result.n
        extra = f", and {number(asked, 'vote')} of the qualification {asked * pay:,.2f}" if asked else ""
        print(f"{number(votes, 'vote')} cost {votes * pay:,.2f}, {result.votes * pay:,.2f} an item{extra}")


def _board(path: Path | None, entries: Sequence[leaderboard.Entry]) -> list[leaderboard.Entry]:
    """Return the file's leaderboard, or the published one, with the rows; an earlier row gets the task."""
    known = list(leaderboard.published())
    if path is not None and path.exists():
        try:
            known, _ = leaderboard.read_leaderboard(json.loads(path.read_bytes()))
        except (OSError, ValueError, RecursionError):
            raise DataError(f"{path} is no leaderboard; name another file with --out") from None
    own = {entry.name: entry for entry in known if entry.own}
    for entry in entries:
        before = own.get(entry.name)
        tasks = {**(before.tasks if before else {}), **entry.tasks}
        whole = tasks.keys() >= builtin_tasks().keys()
        mean = float(np.mean([tasks[name] for name in builtin_tasks()])) if whole else None
        ci95 = {**(before.ci95 if before else {}), **entry.ci95}
        own[entry.name] = leaderboard.Entry(entry.name, tasks, mean, ci95=ci95)
    return [*own.values(), *(entry for entry in known if not entry.own)]
