"""``raft score``, ``compare`` and ``leaderboard``: score submissions against gold labels."""

import argparse
import json
import math
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

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
from grasp_core.benchmark.scoring.compare import ScoreDifference, compare, errors_csv, mistakes_text
from grasp_core.benchmark.scoring.scores import (
    Calibration,
    Scores,
    TaskScore,
    calibration,
    class_scores,
    read_probabilities,
    score,
    score_details,
    scores_json,
)
from grasp_core.benchmark.submissions import PROBABILITIES, Gold, Submission
from grasp_core.benchmark.tasks import builtin_tasks
from grasp_core.cli.benchmark import raft
from grasp_core.cli.parser import option
from grasp_core.cli.terminal.messages import clear_line, note
from grasp_core.cli.terminal.output import check_target, write_text
from grasp_core.model.errors import DataError
from grasp_core.model.text import listed, number, printable_name, quoted
from grasp_core.report.words.names import format_p_value


def fill_score(scoring: argparse.ArgumentParser) -> None:
    """Add the command ``score`` to those of ``raft``."""
    scoring.set_defaults(command=_score)
    raft.add_submission(scoring, "submission")
    raft.add_setting(scoring)
    option(
        scoring,
        "--costs CLASS FALSE_POSITIVE FALSE_NEGATIVE",
        "what a row wrongly given the class costs, and what one of it that was missed",
    )
    option(
        scoring,
        "--probabilities DIR",
        "folder with <task>/probabilities.csv (ID and a column per class): how they come true",
        Path,
    )
    option(scoring, "--out FILE", "the scores as JSON", Path)
    option(
        scoring,
        "--details FILE",
        "the same with counts by class, which tell of gold labels, and calibration",
        Path,
    )
    option(scoring, "--errors FILE", "the rows labelled wrongly as CSV, with their gold labels", Path)


def fill_compare(comparing: argparse.ArgumentParser) -> None:
    """Add the command ``compare`` to those of ``raft``."""
    comparing.set_defaults(command=_compare)
    raft.add_submission(comparing, "first")
    raft.add_submission(comparing, "second")
    raft.add_setting(comparing)


def _score(chosen: argparse.Namespace) -> None:
    for target in (chosen.out, chosen.details, chosen.errors):
        check_target(target)
    costs = _costs(chosen.costs)
    setting = raft.open_setting(chosen)
    if costs is not None:
        names = dict.fromkeys(one for task in setting.tasks.values() for one in task.classes)
        if costs[0] not in names:
            raise raft.unknown(f"--costs: {quoted(costs[0])} is a class of no task", costs[0], names)
    submission = setting.submission(chosen.submission)
    scores = score(submission, setting.tasks, setting.gold, seed=chosen.seed, on_task=raft.show_task)
    clear_line()
    if chosen.errors is not None:
        text = errors_csv(submission.predictions, setting.tasks, setting.gold, chosen.tasks)
        write_text(chosen.errors, text)
    held = _calibrations(chosen.probabilities, scores, setting) if chosen.probabilities else {}
    write_text(chosen.out, scores_json(scores))
    details = score_details(scores)
    for name, calibrated in held.items():
        details["tasks"][name]["calibration"] = calibrated.plain
    write_text(chosen.details, json.dumps(details, ensure_ascii=False, allow_nan=False) + "\n")
    print_scores(scores)
    for name, one in scores.tasks.items():
        print(f"\n{mistakes_text(name, one)}")
        print(_classes_text(one))
        if costs is not None and costs[0] in one.classes:
            print(_cost_text(one, *costs))
        if name in held:
            print(_calibration_text(held[name]))


def print_scores(scores: Scores) -> None:
    """Print a row for each task, and one for all together."""
    rows = [
        (name, f"{one.macro_f1:.3f}", raft.interval(one.ci95), f"{one.macro_f1_declared:.3f}", f"{one.n:,}")
        for name, one in scores.tasks.items()
    ]
    if scores.overall is not None and scores.overall_ci95 is not None:
        rows.append(("overall", f"{scores.overall:.3f}", raft.interval(scores.overall_ci95), "", ""))
    columns = ["task", "macro-F1", "95 % interval", "over declared classes", "items"]
    print(raft.table_text(columns, rows))
    if scores.unscored:
        without = listed(scores.unscored)
        note(
            f"no overall score, {number(len(scores.unscored), 'task')} without predictions or without "
            f"gold labels: {without}"
        )


_MOST_CLASSES = 8
"""Most classes whose scores are printed; of a task with more, they are only in the file of --details."""


def _classes_text(score: TaskScore) -> str:
    found = class_scores(score)
    if len(found) > _MOST_CLASSES:
        return f"Precision, recall and F1 of the {len(found)} classes are in the file of --details."
    rows = [
        (
            printable_name(one.name),
            _share(one.precision),
            _share(one.recall),
            f"{one.f1:.3f}",
            f"{one.false_positives:,}",
            f"{one.false_negatives:,}",
        )
        for one in found
    ]
    columns = ["class", "precision", "recall", "F1", "false positives", "false negatives"]
    return raft.table_text(columns, rows)


def _calibrations(folder: Path, scores: Scores, setting: raft.ScoringData) -> dict[str, Calibration]:
    found = {
        name: calibration(
            setting.tasks[name],
            setting.gold.labels[name],
            read_probabilities(folder / name / PROBABILITIES, setting.tasks[name]),
        )
        for name in scores.tasks
        if (folder / name / PROBABILITIES).is_file()
    }
    if not found:
        raise DataError(f"{folder} has no <task>/{PROBABILITIES} of any of the tasks that are scored")
    return found


def _calibration_text(found: Calibration) -> str:
    rows = [
        (f"{one.low:.1f} to {one.high:.1f}", f"{one.n:,}", _share(one.confidence), _share(one.accuracy))
        for one in found.bins
        if one.n
    ]
    columns = ["probability", "rows", "mean of it", "came true"]
    return (
        f"calibration: Brier score {found.brier:.3f}, log loss {found.log_loss:.3f}, "
        f"expected calibration error {found.ece:.3f}\n"
        f"{raft.table_text(columns, rows)}"
    )


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _costs(given: list[str] | None) -> tuple[str, float, float] | None:
    if given is None:
        return None
    try:
        costs = [float(one) for one in given[1:]]
    except ValueError:
        costs = [math.nan]
    if not all(0 <= one < math.inf for one in costs):
        raise DataError(
            f"--costs takes a class and two numbers from 0; found {quoted(given[1])} and {quoted(given[2])}"
        )
    return given[0], costs[0], costs[1]


def _cost_text(score: TaskScore, name: str, false_positive: float, false_negative: float) -> str:
    one = next(found for found in class_scores(score) if found.name == name)
    total = one.cost(false_positive, false_negative)
    wrong = number(one.false_positives, "false positive")
    missed = number(one.false_negatives, "false negative")
    return (
        f"cost of {printable_name(name)}: {wrong} at {false_positive:g} and {missed} at {false_negative:g} "
        f"make {total:g}, {total / score.n:.3g} a row"
    )


def _compare(chosen: argparse.Namespace) -> None:
    setting = raft.open_setting(chosen)
    first, second = (setting.submission(source) for source in (chosen.first, chosen.second))
    found = compare(first, second, setting.tasks, setting.gold, seed=chosen.seed, on_task=raft.show_task)
    clear_line()
    named = [*found.tasks.items(), *([("overall", found.overall)] if found.overall is not None else [])]
    rows = [
        (name, f"{one.difference:+.3f}", raft.interval(one.ci95), format_p_value(one.p), f"{one.n:,}")
        for name, one in named
    ]
    columns = ["task", "difference", "95 % interval", "p", "items"]
    print(raft.table_text(columns, rows))
    if found.overall is None:
        note("no overall difference, not every task could be compared")


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
    raft.add_setting(parser, gold_required=False)
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
        raise DataError(
            "submissions are scored against gold labels: name their folder by --gold; RAFT's own are "
            "private: it scores at huggingface.co/spaces/ought/raft-leaderboard"
        )
    setting = raft.open_setting(chosen) if chosen.submissions else None
    tasks = setting.tasks if setting is not None else builtin_tasks()
    held = _scored(chosen, setting) if setting is not None else {}
    both = is_part_of_raft(tasks)
    names = list(tasks)
    found = [entry for entry, _ in held.values()]
    found += over_tasks(published(), names) if both else []
    if chosen.by not in (OVERALL, *names):
        raise raft.unknown(f"{chosen.by} is none of the tasks", chosen.by, names)
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


def _scored(chosen: argparse.Namespace, setting: raft.ScoringData) -> dict[str, tuple[Entry, Submission]]:
    """Return each submission with its row of the leaderboard, by name."""
    held: dict[str, tuple[Entry, Submission]] = {}
    for path in chosen.submissions:
        name = path.resolve().name.removesuffix(".zip")
        if name in held:
            raise DataError(f"two submissions are named {name}; rename one of them")
        submission = setting.submission(path)
        scores = score(submission, setting.tasks, setting.gold, seed=chosen.seed, on_task=raft.show_task)
        held[name] = scored_entry(name, score_details(scores), id=name), submission
    return held


def _tested(
    best: list[Entry],
    chosen: argparse.Namespace,
    held: Mapping[str, tuple[Entry, Submission]],
    setting: raft.ScoringData,
) -> dict[str, tuple[str, ScoreDifference]]:
    """Return by own system's id the name of the own system above it, and the difference from that one."""
    tasks = setting.tasks if chosen.by == OVERALL else {chosen.by: setting.tasks[chosen.by]}
    gold = Gold({name: labels for name, labels in setting.gold.labels.items() if name in tasks})
    found = {}
    for lower, upper in steps(best, chosen.by):
        made = compare(
            held[lower.id][1], held[upper.id][1], tasks, gold, seed=chosen.seed, on_task=raft.show_task
        )
        difference = made.overall if chosen.by == OVERALL else made.tasks[chosen.by]
        if difference is not None:
            found[lower.id] = upper.name, difference
    return found


def _system(best: list[Entry], name: str) -> Entry:
    for entry in best:
        if entry.name == name:
            return entry
    raise raft.unknown(f"{name} is no system of the leaderboard", name, [entry.name for entry in best])


def _board(
    best: list[Entry], column: str, against: Entry | None, tested: Mapping[str, tuple[str, ScoreDifference]]
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
