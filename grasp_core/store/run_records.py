"""Records of runs in the database, without results and what was computed so far."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import sqlalchemy as sa
from sqlalchemy import Connection

from grasp_core.model.json_values import from_json
from grasp_core.model.result import DataSummary, Result, RunResult
from grasp_core.model.spec import RunSpec
from grasp_core.report.findings.advice import told
from grasp_core.report.findings.title import title
from grasp_core.store.bound import of_row
from grasp_core.store.schema import runs, tags

State = Literal["queued", "running", "done", "failed", "cancelled"]

_COLUMNS = [column for column in runs.c if column.name != "result"]
_OTHERS = runs.alias("others")


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A saved run, without its result."""

    id: str
    project: str
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
    verdict: str | None
    """The result in one sentence; None where there is none."""
    computed_as: str
    """The run that is computed for it: itself, or somebody else's of the same question that goes on."""

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


def verdict_of(result: Result | None) -> str | None:
    """The result in one sentence; None of models, who have no verdicts."""
    return title(result, told(result)).plain if isinstance(result, RunResult) else None


def find_record(
    connection: Connection, run_id: str, seen: sa.ColumnElement[bool] | None = None
) -> RunRecord | None:
    """The run, or None where there is none of this id among those that are seen; by default all are."""
    found = the_records(connection, [run_id], seen)
    return found[0] if found else None


def the_record(connection: Connection, run_id: str) -> RunRecord:
    """The run of this id."""
    return the_records(connection, [run_id])[0]


def the_records(
    connection: Connection, ids: Sequence[str], seen: sa.ColumnElement[bool] | None = None
) -> list[RunRecord]:
    """In the order of `ids`; unknown ones, and those that are not seen, are passed over."""
    going = _OTHERS.c.id.label("computed_as"), _OTHERS.c.done.label("done_there")
    query = (
        sa.select(*_COLUMNS, *going)
        .select_from(runs.outerjoin(_OTHERS, is_computed_as(_OTHERS)))
        .where(_one_of(runs.c.id, ids), sa.true() if seen is None else seen)
    )
    rows = {row.id: row for row in connection.execute(query)}
    tagged: dict[str, list[str]] = {}
    of_these = sa.select(tags).where(_one_of(tags.c.run_id, ids)).order_by(tags.c.tag)
    for row in connection.execute(of_these):
        tagged.setdefault(row.run_id, []).append(row.tag)
    return [
        of_row(
            RunRecord,
            row,
            project=row.project_id,
            tags=tuple(tagged.get(row.id, ())),
            state=row.state if row.computed_as is None else "running",
            spec=RunSpec.from_dict(json.loads(row.spec)),
            summary=from_json(json.loads(row.summary), DataSummary),
            done=row.done if row.computed_as is None else row.done_there,
            computed_as=row.computed_as or row.id,
        )
        for row in (rows[run_id] for run_id in ids if run_id in rows)
    ]


def same_question(others: sa.FromClause) -> sa.ColumnElement[bool]:
    """Whether another run of the project asks what a run asks."""
    same = (others.c.project_id == runs.c.project_id) & (others.c.key == runs.c.key)
    return same & (others.c.id != runs.c.id)


def is_computed_as(others: sa.FromClause) -> sa.ColumnElement[bool]:
    """Whether a run waits for another one, of the same question, that is being computed."""
    return same_question(others) & (runs.c.state == "queued") & (others.c.state == "running")


def _one_of(column: sa.Column[str], ids: Sequence[str]) -> sa.ColumnElement[bool]:
    """One id, as every page asks, is compared: a list is written into the query's text each time."""
    return column == ids[0] if len(ids) == 1 else column.in_(ids)
