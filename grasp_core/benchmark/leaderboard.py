"""The leaderboard: a team's own systems beside published ones, never mixed unmarked."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

import pandas as pd

from grasp_core.model.errors import DataError
from grasp_core.model.json_values import WrongKindError, damaged, from_json

FORMAT = "grasp-leaderboard"
FORMAT_VERSION = 1
OVERALL = "overall"
"""Column of the mean over all tasks."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One system's macro-F1.

    Parameters
    ----------
    tasks : mapping from task to float
        In the leaderboard's convention.
    overall : float or None
        Mean over all tasks of the benchmark; None where one is missing.
    source : str
        Where a published figure is from; empty for one scored here.
    ci95 : mapping from task to (low, high)
        Bootstrap intervals; published systems give none.
    id : str
        Of the submission, for one scored here.
    """

    name: str
    tasks: Mapping[str, float]
    overall: float | None
    source: str = ""
    ci95: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    id: str = ""

    @property
    def own(self) -> bool:
        """Whether it was scored here."""
        return not self.source

    def score(self, column: str) -> float | None:
        """Of a task, or :data:`OVERALL`."""
        return self.overall if column == OVERALL else self.tasks.get(column)


@cache
def published() -> tuple[Entry, ...]:
    """Systems whose macro-F1 was published, best first, each with its source."""
    plain: dict[str, Any] = json.loads(
        files("grasp_core.benchmark").joinpath("published.json").read_text("utf-8")
    )
    return tuple(
        Entry(system["name"], system["tasks"], system["overall"], system["source"])
        for system in plain["systems"]
    )


def ranked(entries: Iterable[Entry], column: str = OVERALL) -> list[Entry]:
    """Best first by a task or overall; those without a score come last, by name."""

    def place(entry: Entry) -> tuple[bool, float, str]:
        score = entry.score(column)
        return (score is None, 0.0 if score is None else -score, entry.name)

    return sorted(entries, key=place)


def leaderboard_table(entries: Sequence[Entry], tasks: Sequence[str]) -> pd.DataFrame:
    """A row per system: ``system``, ``scored`` ("here" or the source), ``overall`` and a column per task."""
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


def leaderboard_dict(entries: Sequence[Entry], tasks: Sequence[str]) -> dict[str, Any]:
    """The same with intervals, JSON-ready (``grasp-leaderboard`` version 1); who handed in is not in it."""
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
    """The entries and tasks of :func:`leaderboard_dict`'s form.

    Raises
    ------
    DataError
        If it is not a ``grasp-leaderboard`` of version 1, or a field is missing or of the wrong kind.
    """
    if not isinstance(plain, dict) or (plain.get("format"), plain.get("version")) != (FORMAT, FORMAT_VERSION):
        raise DataError(f'this is no leaderboard: it lacks "format": "{FORMAT}", "version": {FORMAT_VERSION}')
    with damaged("the leaderboard"):
        return [_read_entry(system) for system in plain["systems"]], list(
            from_json(plain["tasks"], tuple[str, ...])
        )


def _read_entry(plain: Mapping[str, Any]) -> Entry:
    return Entry(
        name=from_json(plain["system"], str),
        tasks={task: _score(score) for task, score in plain["tasks"].items()},
        overall=None if plain["overall"] is None else _score(plain["overall"]),
        source="" if plain["source"] is None else from_json(plain["source"], str),
        ci95={
            from_json(task, str): (_score(low), _score(high)) for task, (low, high) in plain["ci95"].items()
        },
    )


def _score(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise WrongKindError(value, "a number from 0 to 1")
    return float(value)
