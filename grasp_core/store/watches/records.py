"""Watches as they are stored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from grasp_core.json_values import from_json

Every = Literal["hourly", "daily", "weekly"]
"""How often is looked; more often than hourly nobody may."""
SECONDS: Mapping[Every, float] = {"hourly": 3600.0, "daily": 86_400.0, "weekly": 7 * 86_400.0}
Paused = Literal["person", "failures", "rights", "run"]
"""Why a watch is paused: somebody said so, looks failed, its owner may not run here any more, or its run is
gone."""
PAUSED: tuple[Paused, ...] = get_args(Paused)
Kind = Literal["annotations", "raters", "items"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where one of a watch's files is.

    Parameters
    ----------
    kind : {"annotations", "raters", "items"}
    location : str
        As :class:`grasp_core.io.sources.allowed.AllowedSources` reads it.
    """

    kind: Kind
    location: str


@dataclass(frozen=True, slots=True)
class Watch:
    """A saved analysis that is run again when its files change.

    Parameters
    ----------
    id, project, owner, title : str
    last_run : str or None
        Id of the run whose data new ones are held against; None where it was deleted.
    going_run : str or None
        Id of the run of changed data, until it has ended.
    sources : tuple of Origin
    every : {"hourly", "daily", "weekly"}
    created_at, next_at, lease_until : float
        Seconds since 1970; whoever looks knows its claim by `lease_until`.
    looked_at : float or None
    failures : int
        Looks that failed in a row.
    problem : str or None
        Why the last one did.
    paused : {"person", "failures", "rights", "run"} or None
    paused_at : float or None
    """

    id: str
    project: str
    owner: str
    title: str
    last_run: str | None
    going_run: str | None
    sources: tuple[Origin, ...]
    every: Every
    created_at: float
    next_at: float
    lease_until: float
    looked_at: float | None
    failures: int
    problem: str | None
    paused: Paused | None
    paused_at: float | None


@dataclass(frozen=True, slots=True)
class WatchRun:
    """A run of a watch; number 0 is the one that was watched."""

    number: int
    run_id: str
    added_at: float


def watch_of(row: Any) -> Watch:
    """The watch that a row of the table describes."""
    return Watch(
        id=row.id,
        project=row.project_id,
        owner=row.owner,
        title=row.title,
        last_run=row.last_run_id,
        going_run=row.going_run_id,
        sources=sources_of(row.sources),
        every=row.every,
        created_at=row.created_at,
        next_at=row.next_at,
        lease_until=row.lease_until,
        looked_at=row.looked_at,
        failures=row.failures,
        problem=row.problem,
        paused=row.paused,
        paused_at=row.paused_at,
    )


def sources_of(text: str) -> tuple[Origin, ...]:
    """Where the files are, as the table has it."""
    return from_json(json.loads(text), tuple[Origin, ...])
