"""Confirmed readings of files, found again by the files' columns, and drafts that were not run yet."""

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

import sqlalchemy as sa

from grasp_core.model.data_spec import Combine, DataSpec
from grasp_core.model.json_values import from_json, to_json
from grasp_core.model.spec import AnalysisSpec
from grasp_core.store.base import Bound, put
from grasp_core.store.database import new_id, to_write
from grasp_core.store.schema import drafts, readings, storable


@dataclass(frozen=True, slots=True)
class KeptReading:
    """A reading that somebody confirmed, without rules on single items or raters of one file."""

    spec: DataSpec
    axes: tuple[str, ...]
    ids_left_out: int
    owner: str
    updated_at: float
    answers: Mapping[str, bool]


class ReadingStore(Bound):
    """Readings of a project in the database, one for each person and signature."""

    def remember(
        self,
        signature: str,
        spec: DataSpec,
        axes: tuple[str, ...],
        *,
        owner: str,
        answers: Mapping[str, bool] | None = None,
    ) -> None:
        """Keep a reading in place of the person's earlier one; raises AccessError in an archived project."""
        kept, left_out = without_ids(spec)
        whose = {"project_id": self._home, "signature": signature, "owner": owner}
        data = {**to_json(kept), _ANSWERS: dict(answers or {})}
        values = {"data": json.dumps(data), "axes": json.dumps(axes), "ids_left_out": left_out}
        with to_write(self._engine, alone=f"reading {signature}") as connection:
            self._check_open(connection)
            put(connection, readings, whose, id=new_id(), updated_at=self._now, **values)

    def recall(self, signature: str, *, owner: str) -> KeptReading | None:
        """Return the person's own reading, else the project's latest; None if none can be parsed."""
        own = sa.case((readings.c.owner == storable(owner), 0), else_=1)
        query = sa.select(readings).where(self._of(signature))
        rows = self._rows(query.order_by(own, readings.c.updated_at.desc(), readings.c.id))
        for row in rows:
            with contextlib.suppress(ValueError, RecursionError):  # of another version
                axes = from_json(json.loads(row.axes), tuple[str, ...])
                data = json.loads(row.data)
                given = data.pop(_ANSWERS, {}) if isinstance(data, dict) else {}
                spec, answers = from_json(data, DataSpec), from_json(given, dict[str, bool])
                return KeptReading(spec, axes, row.ids_left_out, row.owner, row.updated_at, answers)
        return None

    def delete_older_than(self, days: float) -> int:
        """Delete readings of any project that nobody confirmed for so long; returns how many."""
        old = readings.c.updated_at < self._now - days * 86400
        return self._write(readings.delete().where(old))

    def _of(self, signature: str) -> sa.ColumnElement[bool]:
        """SQL condition that a reading is the project's, of files with this signature."""
        return (readings.c.project_id == self._home) & (readings.c.signature == signature)


def without_ids(spec: DataSpec) -> tuple[DataSpec, int]:
    """Return the spec without rules that name single raters or items, and the number of those rules."""
    ids = {spec.item, spec.rater, spec.items_id} - {None}
    exclude = tuple(rule for rule in spec.exclude if rule[0] not in ids)
    drop = tuple(rule for rule in spec.filters.drop if rule[0] not in ids)
    recode = tuple(step for step in spec.recode if isinstance(step, Combine) or step.column not in ids)
    left_out = len(spec.exclude) + len(spec.filters.drop) + len(spec.recode)
    left_out += len(spec.filters.raters) + len(spec.filters.items)
    left_out -= len(exclude) + len(drop) + len(recode)
    filters = replace(spec.filters, drop=drop, raters=(), items=())
    return replace(spec, exclude=exclude, recode=recode, filters=filters), left_out


_ANSWERS = "answers"
"""Key of the answers, beside the spec's fields."""
MAX_BYTES = 2**20
"""Most bytes of a draft; longer drafts are not kept."""


@dataclass(frozen=True, slots=True)
class DraftFile:
    """A file of a draft, kept with the uploads; `member` is a sheet, or a file in an archive."""

    name: str
    sha256: str
    member: str | None


@dataclass(frozen=True, slots=True)
class Draft:
    """Files and choices of somebody; `decided` is the reading that includes the `answers` to questions."""

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
        """Replace the earlier draft; one without files deletes it. AccessError: the project is archived."""
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
        """Return the draft in this project; None if none can be parsed."""
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
