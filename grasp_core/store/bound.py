"""Stores bound to somebody's reach: every statement of theirs reads and changes nothing beyond it."""

from __future__ import annotations

import copy
from typing import Any, Self

import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from grasp_core.model.access import EVERYTHING, Reach
from grasp_core.model.errors import AccessError
from grasp_core.store.schema import projects, runs


class Bound:
    """A store; as it is made, it reaches everything and adds to the project Everyone."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._reach = EVERYTHING

    def within(self, reach: Reach) -> Self:
        """The same store, for somebody of this reach."""
        bound = copy.copy(self)
        bound._reach = reach
        return bound

    @property
    def _home(self) -> str:
        """The project that is listed, and added to."""
        return self._reach.home

    def _seen(self, project: sa.ColumnElement[Any]) -> sa.ColumnElement[bool]:
        """Whether a row's project is within reach."""
        return sa.true() if self._reach.projects is None else project.in_(sorted(self._reach.projects))

    def _of_seen_run(self, run_id: sa.ColumnElement[Any]) -> sa.ColumnElement[bool]:
        """Whether a row belongs to a run within reach."""
        if self._reach.projects is None:
            return sa.true()
        return run_id.in_(sa.select(runs.c.id).where(self._seen(runs.c.project_id)))

    def _check_open(self, connection: Connection) -> None:
        """Refuse to add to a project that is archived or gone.

        Raises AccessError.
        """
        query = sa.select(projects.c.archived_at).where(projects.c.id == self._home)
        row = connection.execute(query).one_or_none()
        if row is None:
            raise AccessError("This project was deleted; choose another one.")
        if row.archived_at is not None:
            raise AccessError(
                "This project is archived, so nothing is added to it; choose another one, or ask its owners."
            )
