"""Scored submissions, and the number of each person's scorings of a task."""

import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Engine

from grasp_core.model.errors import LimitError, StoreError
from grasp_core.store.base import Bound, from_row
from grasp_core.store.database import insert_new, new_id, to_read, to_write
from grasp_core.store.schema import scorings, storable, submissions

SCORINGS = 20
"""Default number of different predictions that one person may have scored per task."""

Predictions = Mapping[str, Mapping[str, str]]
"""Label by row id by task."""


@dataclass(frozen=True, slots=True)
class SubmissionRecord:
    """A submission that was scored; `scores` as ``raft score`` writes them."""

    id: str
    project: str
    name: str
    owner: str
    created_at: float
    scores: dict[str, Any]


class SubmissionStore(Bound):
    """Submissions of a project; one person may have `limit` different predictions scored per task."""

    def __init__(self, engine: Engine, *, limit: int = SCORINGS) -> None:
        super().__init__(engine)
        self._limit = limit

    def reserve(self, predictions: Predictions, *, owner: str) -> None:
        """Count one scoring of each task; raises LimitError if one is used up, and then counts none."""
        owner = storable(owner)
        with to_write(self._engine, alone=f"scorings of {owner}") as connection:
            for task, labels in predictions.items():
                used = self._used(connection, owner, task)
                digest = _digest(labels)
                if digest in used:
                    continue
                if len(used) >= self._limit:
                    raise LimitError(
                        f"{task}: you have had {self._limit:,} different predictions scored, the most that "
                        "one person may; leave the task out, or ask whoever runs this server"
                    )
                row = {"id": new_id(), "owner": owner, "task": task, "sha256": digest}
                connection.execute(scorings.insert().values(created_at=self._now, **row))

    def left(self, task: str, *, owner: str) -> int:
        """Return the number of further predictions of a task that the person may have scored."""
        with to_read(self._engine) as connection:
            return max(0, self._limit - len(self._used(connection, storable(owner), task)))

    def add(
        self, name: str, predictions: Predictions, scores: Mapping[str, Any], *, owner: str
    ) -> SubmissionRecord:
        """Keep a scored submission, or rename the person's earlier one of the same predictions."""
        values = {"sha256": _digest(predictions), "predictions": zlib.compress(_json(predictions))}
        whose = {"id": new_id(), "project_id": self._home, "name": name, "owner": owner}
        row = {**values, **whose, "scores": json.dumps(scores)}
        with to_write(self._engine) as connection:
            self._check_open(connection)
            now = connection.execute(sa.select(self._now)).scalar_one()
            insert_new(connection, submissions, [{**row, "created_at": now}])
        found = self.renamed(name, predictions, owner=owner)
        if found is None:
            raise StoreError("The submission was deleted as it was kept; send it again.")
        return found

    def renamed(self, name: str, predictions: Predictions, *, owner: str) -> SubmissionRecord | None:
        """Rename and return the person's submission of these predictions. AccessError: archived project."""
        same = (
            (submissions.c.project_id == self._home)
            & (submissions.c.sha256 == _digest(predictions))
            & (submissions.c.owner == owner)
        )
        found = self._found(same)
        if found and found[0].name != name:
            with to_write(self._engine) as connection:
                self._check_open(connection)
                connection.execute(submissions.update().where(same).values(name=name))
            found = self._found(same)
        return found[0] if found else None

    def all(self) -> list[SubmissionRecord]:
        """All submissions of the project, newest first."""
        return self._found(sa.true())

    def _found(self, which: sa.ColumnElement[bool]) -> list[SubmissionRecord]:
        columns = (column for column in submissions.c if column.name != "predictions")
        query = sa.select(*columns).where(submissions.c.project_id == self._home, which)
        return [
            from_row(SubmissionRecord, row, project=row.project_id, scores=json.loads(row.scores))
            for row in self._rows(query.order_by(submissions.c.created_at.desc()))
        ]

    def predictions(self, submission_id: str) -> Predictions | None:
        """The predictions of a submission, or None if it was deleted."""
        query = sa.select(submissions.c.predictions).where(self._seen_by_id(submissions, submission_id))
        content = self._value(query)
        if content is None:
            return None
        plain: Predictions = json.loads(zlib.decompress(content))
        return plain

    def delete(self, submission_id: str) -> None:
        """Delete a submission; its scorings stay counted."""
        self._write(submissions.delete().where(self._seen_by_id(submissions, submission_id)))

    def _used(self, connection: sa.Connection, owner: str, task: str) -> set[str]:
        query = sa.select(scorings.c.sha256).where(scorings.c.owner == owner, scorings.c.task == task)
        return set(connection.execute(query).scalars())


def _digest(value: object) -> str:
    return hashlib.sha256(_json(value)).hexdigest()


def _json(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
