"""The leaderboard: a team's own systems beside published ones, which are always marked."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any

import pandas as pd

from grasp_core.benchmark.tasks import Task, builtin_tasks
from grasp_core.model.errors import DataError
from grasp_core.model.json_values import WrongKindError, damaged, from_json

FORMAT = "grasp-leaderboard"
FORMAT_VERSION = 1
OVERALL = "overall"
"""Column of the mean over all tasks."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One system's macro-F1.

    `overall`: mean over all tasks of the benchmark; None if one is missing.
    `source`: source of a published figure; empty for a system scored here.
    `ci95`: bootstrap intervals, with the mean's as :data:`OVERALL`; published systems have none.
    """

    name: str
    tasks: Mapping[str, float]
    overall: float | None
    source: str = ""
    ci95: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    id: str = ""

    @property
    def own(self) -> bool:
        """True if it was scored here."""
        return not self.source

    def score(self, column: str) -> float | None:
        """Return the score of a task, or of :data:`OVERALL`."""
        return self.overall if column == OVERALL else self.tasks.get(column)


@cache
def published() -> tuple[Entry, ...]:
    """Return the systems with published macro-F1, best first, each with its source."""
    plain: dict[str, Any] = json.loads(
        files("grasp_core.benchmark").joinpath("published.json").read_text("utf-8")
    )
    return tuple(
        Entry(system["name"], system["tasks"], system["overall"], system["source"])
        for system in plain["systems"]
    )


def ranked(entries: Iterable[Entry], column: str = OVERALL) -> list[Entry]:
    """Sort systems by a task or overall, best first; systems without a score come last, by name."""

    def place(entry: Entry) -> tuple[bool, float, str]:
        score = entry.score(column)
        return (score is None, 0.0 if score is None else -score, entry.name)

    return sorted(entries, key=place)


def over_tasks(entries: Iterable[Entry], names: Sequence[str]) -> list[Entry]:
    """Return the systems with the mean over `names`; published means stay if all tasks are among these."""
    return [
        entry
        if entry.own or set(builtin_tasks()) <= set(names)
        else replace(entry, overall=mean_over(entry, names))
        for entry in entries
    ]


def is_part_of_raft(tasks: Mapping[str, Task]) -> bool:
    """Return whether these are some of RAFT's tasks, with its classes, so that published figures apply."""
    built = builtin_tasks()
    return all(
        name in built and set(task.classes) == set(built[name].classes) for name, task in tasks.items()
    )


def mean_over(entry: Entry, names: Sequence[str]) -> float | None:
    """Return the mean macro-F1 over some tasks, equally weighted; None if one of them is missing."""
    scores = [entry.tasks[name] for name in names if name in entry.tasks]
    return sum(scores) / len(scores) if scores and len(scores) == len(names) else None


def wins(entry: Entry, other: Entry) -> tuple[int, int]:
    """Return the number of tasks on which a system has the higher macro-F1, and of tasks that both have."""
    both = [name for name in entry.tasks if name in other.tasks]
    return sum(entry.tasks[name] > other.tasks[name] for name in both), len(both)


def wins_text(entry: Entry, other: Entry) -> str:
    """Return the wins for a cell, such as ``8 of 11``; a dash if there is nothing to compare."""
    won, of = wins(entry, other)
    return f"{won} of {of}" if of and entry != other else "–"


def difficulties(tasks: Iterable[Task]) -> dict[str, list[str]]:
    """Return names of tasks by kind of difficulty, with the kinds in the order of their first task."""
    kinds: dict[str, list[str]] = {}
    for task in tasks:
        for kind in task.difficulty:
            kinds.setdefault(kind, []).append(task.name)
    return kinds


def difficulty_table(entries: Sequence[Entry], tasks: Iterable[Task]) -> pd.DataFrame:
    """Return a row per system: its mean over the tasks of each kind of difficulty, None if one is missing."""
    kinds = difficulties(tasks)
    rows = [
        {"system": entry.name, **{kind: mean_over(entry, names) for kind, names in kinds.items()}}
        for entry in entries
    ]
    return pd.DataFrame(rows, columns=["system", *kinds]).astype(dict.fromkeys(kinds, "float64"))


def steps(entries: Sequence[Entry], column: str) -> list[tuple[Entry, Entry]]:
    """Return each system scored here with the next better one scored here, by a task or overall."""
    own = [entry for entry in ranked(entries, column) if entry.own and entry.score(column) is not None]
    return list(zip(own[1:], own, strict=False))


def leaderboard_table(entries: Sequence[Entry], tasks: Sequence[str]) -> pd.DataFrame:
    """Return a row per system: ``system``, ``scored`` ("here" or the source), ``overall``, and its tasks."""
    return pd.DataFrame(
        [
            {
                "system": entry.name,
                "scored": "here" if entry.own else entry.source,
                OVERALL: entry.overall,
                **{task: entry.tasks.get(task) for task in tasks},
            }
            for entry in entries
        ],
        columns=["system", "scored", OVERALL, *tasks],
    )


def interval_text(entry: Entry, column: str) -> str:
    """Return the 95 % interval of a task's or the overall score for a cell; a dash if there is none."""
    ends = entry.ci95.get(column)
    return "–" if ends is None else f"{ends[0]:.3f} to {ends[1]:.3f}"


def scored_entry(name: str, scores: Mapping[str, Any], id: str = "") -> Entry:
    """Return a system from the scores that ``raft score`` writes."""
    found = scores["tasks"]
    ends = {task: (one["ci95"][0], one["ci95"][1]) for task, one in found.items()}
    overall = scores.get("overall_ci95")  # not in scores of earlier versions
    if overall is not None:
        ends[OVERALL] = (overall[0], overall[1])
    return Entry(
        name, {task: one["macro_f1"] for task, one in found.items()}, scores["overall"], "", ends, id
    )


def leaderboard_dict(entries: Sequence[Entry], tasks: Sequence[str]) -> dict[str, Any]:
    """Return the systems with intervals, JSON-ready (``grasp-leaderboard`` version 1), without submitters."""
    systems = [
        {
            "system": entry.name,
            "source": entry.source or None,
            "overall": entry.overall,
            "tasks": dict(entry.tasks),
            "ci95": {task: list(ends) for task, ends in entry.ci95.items()},
        }
        for entry in entries
    ]
    return {"format": FORMAT, "version": FORMAT_VERSION, "tasks": list(tasks), "systems": systems}


def read_leaderboard(plain: Any) -> tuple[list[Entry], list[str]]:
    """Read the entries and tasks that :func:`leaderboard_dict` wrote."""
    if not isinstance(plain, dict) or (plain.get("format"), plain.get("version")) != (FORMAT, FORMAT_VERSION):
        raise DataError(f'this is no leaderboard: it lacks "format": "{FORMAT}", "version": {FORMAT_VERSION}')
    with damaged("the leaderboard"):
        entries = [
            Entry(
                name=from_json(one["system"], str),
                tasks={task: _score(score) for task, score in one["tasks"].items()},
                overall=None if one["overall"] is None else _score(one["overall"]),
                source="" if one["source"] is None else from_json(one["source"], str),
                ci95={from_json(task, str): (_score(a), _score(b)) for task, (a, b) in one["ci95"].items()},
            )
            for one in plain["systems"]
        ]
        return entries, list(from_json(plain["tasks"], tuple[str, ...]))


def _score(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise WrongKindError(value, "a number from 0 to 1")
    return float(value)
