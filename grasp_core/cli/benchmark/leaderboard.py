"""``raft leaderboard``: submissions of one's own among the published systems."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from grasp_core.benchmark.gold import Gold
from grasp_core.benchmark.leaderboard import (
    OVERALL,
    Entry,
    difficulty_table,
    interval_text,
    is_part_of_raft,
    leaderboard_dict,
    leaderboard_table,
    over_tasks,
    published,
    ranked,
    scored_entry,
    steps,
    wins_text,
)
from grasp_core.benchmark.scoring.compare import Difference, compare
from grasp_core.benchmark.scoring.scores import score, score_details
from grasp_core.benchmark.submissions import Submission
from grasp_core.benchmark.tasks import builtin_tasks
from grasp_core.cli.benchmark.raft import (
    Setting,
    add_gold,
    add_seed,
    add_tasks,
    open_setting,
    show_task,
    unknown,
)
from grasp_core.cli.parser import option
from grasp_core.cli.terminal.messages import clear_line, note
from grasp_core.cli.terminal.output import check_target, write_text
from grasp_core.model.errors import DataError
from grasp_core.report.words.names import format_p_value


def fill_leaderboard(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.set_defaults(command=_leaderboard)
    parser.add_argument(
        "submissions",
        nargs="*",
        type=Path,
        metavar="SUBMISSION_DIR",
        help="folders or zips, each a row under its name; without one: the published systems",
    )
    add_gold(parser, required=False)
    add_tasks(parser)
    add_seed(parser)
    option(parser, "--by TASK", "rank by this task; default: the mean over all tasks", default=OVERALL)
    option(
        parser,
        "--against SYSTEM",
        "count on how many tasks each system is better than this one; default: GPT-3 (davinci)",
        default="GPT-3 (davinci)",
    )
    option(parser, "--csv FILE", "every system's figures by task as CSV", Path)
    option(parser, "--out FILE", "the same with intervals as JSON", Path)


def _leaderboard(chosen: argparse.Namespace) -> None:
    for target in (chosen.csv, chosen.out):
        check_target(target)
    if chosen.submissions and chosen.gold is None:
        raise DataError("submissions are scored against gold labels: name their folder by --gold")
    setting = open_setting(chosen) if chosen.submissions else None
    tasks = setting.tasks if setting is not None else builtin_tasks()
    held = _scored(chosen, setting) if setting is not None else {}
    both = is_part_of_raft(tasks)
    names = list(tasks)
    found = [entry for entry, _ in held.values()]
    found += over_tasks(published(), names) if both else []
    if chosen.by not in (OVERALL, *names):
        raise unknown(f"{chosen.by} is none of the tasks", chosen.by, names)
    best = ranked(found, chosen.by)
    tested = _tested(best, chosen, held, setting) if setting is not None else {}
    clear_line()
    print(
        _board(best, chosen.by, _system(best, chosen.against) if both else None, tested).to_string(
            index=False
        )
    )
    if set(builtin_tasks()) > set(tasks):
        note(f"means are over {', '.join(names)} alone, those of published systems too")
    kinds = difficulty_table(best, tasks.values())
    if len(kinds.columns) > 1:
        print("\nBy kind of difficulty (mean macro-F1 over its tasks)")
        print(kinds.to_string(index=False, na_rep="–", float_format="{:.3f}".format))
    columns = [*names, *(name for name in builtin_tasks() if both and name not in names)]
    write_text(chosen.csv, leaderboard_table(best, columns).to_csv(index=False))
    content = json.dumps(leaderboard_dict(best, names), ensure_ascii=False, indent=1) + "\n"
    write_text(chosen.out, content)


def _scored(chosen: argparse.Namespace, setting: Setting) -> dict[str, tuple[Entry, Submission]]:
    """Each submission with its row, by its name."""
    held: dict[str, tuple[Entry, Submission]] = {}
    for path in chosen.submissions:
        name = path.resolve().name.removesuffix(".zip")
        if name in held:
            raise DataError(f"two submissions are named {name}; rename one of them")
        submission = setting.submission(path)
        scores = score(submission, setting.tasks, setting.gold, seed=chosen.seed, told=show_task)
        held[name] = scored_entry(name, score_details(scores), id=name), submission
    return held


def _tested(
    best: list[Entry],
    chosen: argparse.Namespace,
    held: Mapping[str, tuple[Entry, Submission]],
    setting: Setting,
) -> dict[str, tuple[str, Difference]]:
    """Each own system's difference from the own one above it, by its id, with that one's name."""
    tasks = setting.tasks if chosen.by == OVERALL else {chosen.by: setting.tasks[chosen.by]}
    gold = Gold({name: labels for name, labels in setting.gold.labels.items() if name in tasks})
    found = {}
    for lower, upper in steps(best, chosen.by):
        made = compare(held[lower.id][1], held[upper.id][1], tasks, gold, seed=chosen.seed, told=show_task)
        difference = made.overall if chosen.by == OVERALL else made.tasks[chosen.by]
        if difference is not None:
            found[lower.id] = upper.name, difference
    return found


def _system(best: list[Entry], name: str) -> Entry:
    for entry in best:
        if entry.name == name:
            return entry
    raise unknown(f"{name} is no system of the leaderboard", name, [entry.name for entry in best])


def _board(
    best: list[Entry], column: str, against: Entry | None, tested: Mapping[str, tuple[str, Difference]]
) -> pd.DataFrame:
    rows = []
    for entry in best:
        value = entry.score(column)
        row = {
            "system": entry.name,
            "scored": "here" if entry.own else "published",
            "macro-F1": "–" if value is None else f"{value:.3f}",
            "95 % interval": interval_text(entry, column),
        }
        if against is not None:
            row[f"better than {against.name} on"] = wins_text(entry, against)
        if tested:
            upper, step = tested.get(entry.id, ("", None))
            row["against the own one above"] = (
                "–" if step is None else f"{step.difference:+.3f}, p {format_p_value(step.p)} ({upper})"
            )
        rows.append(row)
    return pd.DataFrame(rows)
