"""Drafts: what somebody has brought and chosen and not yet run, so that a closed tab loses nothing."""

from __future__ import annotations

import json
from dataclasses import dataclass

import sqlalchemy as sa

from grasp_core.model.data_spec import DataSpec
from grasp_core.model.json_values import from_json, to_json
from grasp_core.model.spec import AnalysisSpec
from grasp_core.store.bound import Bound
from grasp_core.store.database import to_write
from grasp_core.store.schema import drafts, storable

MAX_BYTES = 2**20
"""Longer drafts are not kept."""


@dataclass(frozen=True, slots=True)
class DraftFile:
    """A file of a draft, kept with the uploads; its member is a sheet, or a file of an archive."""

    name: str
    sha256: str
    member: str | None


@dataclass(frozen=True, slots=True)
class Draft:
    """What somebody has brought and chosen.

    `spec`: the reading as it was chosen, without what `answers` to questions say.
    `decided`: the reading with these answers, once no question is open.
    """

    annotations: DraftFile | None
    raters: DraftFile | None
    items: DraftFile | None
    spec: DataSpec | None = None
    axes: tuple[str, ...] = ()
    answers: dict[str, bool] | None = None
    decided: DataSpec | None = None
    analysis: AnalysisSpec | None = None


class DraftStore(Bound):
    """Drafts in the database: one for each person, or browser, in a project."""

    def save(self, draft: Draft, *, owner: str) -> None:
        """Keep a draft that has files in place of the earlier one; raises AccessError if nothing is added."""
        text = json.dumps(to_json(draft))
        empty = draft.annotations is None and draft.raters is None and draft.items is None
        with to_write(self._engine, alone=f"draft {owner}") as connection:
            connection.execute(drafts.delete().where(self._of(owner)))
            if empty or len(text) > MAX_BYTES:
                return
            self._check_open(connection)
            connection.execute(
                drafts.insert().values(project_id=self._home, owner=owner, data=text, updated_at=self._now)
            )

    def load(self, *, owner: str) -> Draft | None:
        """The draft in this project; None where there is none that can be read."""
        text = self._value(sa.select(drafts.c.data).where(self._of(owner)))
        try:
            return None if text is None else from_json(json.loads(text), Draft)
        except (ValueError, RecursionError):  # of another version
            return None

    def delete_older_than(self, hours: float) -> int:
        """Delete drafts of any project that nobody changed for so long; returns how many."""
        old = drafts.c.updated_at < self._now - hours * 3600
        return self._write(drafts.delete().where(old))

    def _of(self, owner: str) -> sa.ColumnElement[bool]:
        return (drafts.c.project_id == self._home) & (drafts.c.owner == storable(owner))
