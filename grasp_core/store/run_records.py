"""Records of runs in the database, without results and what was computed so far."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import sqlalchemy as sa
from sqlalchemy import Connection

from grasp_core.json_values import from_json
from grasp_core.result import DataSummary
from grasp_core.spec import RunSpec
from grasp_core.store.schema import runs, tags

State = Literal["queued", "running", "done", "failed", "cancelled"]

_COLUMNS = [column for column in runs.c if column.name != "result"]


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A saved run, without its result."""

    id: str
    title: str
    owner: str
    note: str
    tags: tuple[str, ...]
    state: State
    error: str | None
    created_at: float
    finished_at: float | None
    duration_s: float | None
    code_version: str
    spec: RunSpec
    summary: DataSummary
    done: int
    total: int
    attempt: int
    cancel_requested: bool

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen to the run unless it is asked again."""
        return self.state in ("done", "failed", "cancelled")


@dataclass(frozen=True, slots=True)
class Request:
    """A run as it is asked for."""

    key: str
    title: str
    owner: str
    code_version: str
    spec: RunSpec
    summary: DataSummary
    files: tuple[tuple[str, str], ...]  # name and sha256; annotations first


def find_record(connection: Connection, run_id: str) -> RunRecord | None:
    """The run, or None where there is none of this id."""
    found = the_records(connection, [run_id])
    return found[0] if found else None


def the_record(connection: Connection, run_id: str) -> RunRecord:
    """The run of this id."""
    return the_records(connection, [run_id])[0]


def the_records(connection: Connection, ids: Sequence[str]) -> list[RunRecord]:
    """In the order of `ids`; unknown ones are passed over."""
    rows = {row.id: row for row in connection.execute(sa.select(*_COLUMNS).where(_one_of(runs.c.id, ids)))}
    tagged: dict[str, list[str]] = {}
    of_these = sa.select(tags).where(_one_of(tags.c.run_id, ids)).order_by(tags.c.tag)
    for row in connection.execute(of_these):
        tagged.setdefault(row.run_id, []).append(row.tag)
    return [
        RunRecord(
            id=row.id,
            title=row.title,
            owner=row.owner,
            note=row.note,
            tags=tuple(tagged.get(row.id, ())),
            state=row.state,
            error=row.error,
            created_at=row.created_at,
            finished_at=row.finished_at,
            duration_s=row.duration_s,
            code_version=row.code_version,
            spec=RunSpec.from_dict(json.loads(row.spec)),
            summary=from_json(json.loads(row.summary), DataSummary),
            done=row.done,
            total=row.total,
            attempt=row.attempt,
            cancel_requested=row.cancel_requested,
        )
        for row in (rows[run_id] for run_id in ids if run_id in rows)
    ]


def _one_of(column: sa.Column[str], ids: Sequence[str]) -> sa.ColumnElement[bool]:
    """One id, as every page asks, is compared: a list is written into the query's text each time."""
    return column == ids[0] if len(ids) == 1 else column.in_(ids)
