"""Saved runs: asked, claimed by one server at a time, resumed from checkpoints, found again."""

from __future__ import annotations

import json
import secrets
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from grasp_core.annotations import FloatArray
from grasp_core.errors import LimitError, StoreError
from grasp_core.result import DataSummary, RunResult
from grasp_core.spec import RunSpec
from grasp_core.store.database import insert_new, only_one, reading, writing
from grasp_core.store.schema import checkpoints, files, run_files, runs, storable, tags

State = Literal["queued", "running", "done", "failed", "cancelled"]

LEASE_SECONDS = 10.0
"""A claimed run whose server has not been heard of for so long is anybody's to resume."""
ID_BYTES = 15
TAG_LENGTH = 64
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


class LostRunError(StoreError):
    """Another server has taken the run over, or it was deleted: what is computed here is not wanted."""


class RunStore:
    """Runs in the database.

    Parameters
    ----------
    engine : sqlalchemy Engine
        From :func:`grasp_core.store.database.connect`.
    queue_limit : int
        Runs that one user may have queued or running.
    """

    def __init__(self, engine: Engine, *, queue_limit: int = 20) -> None:
        self._engine = engine
        self._queue_limit = queue_limit

    def create(self, request: Request) -> tuple[RunRecord, bool]:
        """Save a run as queued, or find the one that answers the same question.

        One that failed, was cancelled or is being cancelled is queued again; its checkpoints count.

        Returns
        -------
        record : RunRecord
        known : bool
            Whether the run was queued, running or done before.

        Raises
        ------
        LimitError
            If the user has too many runs waiting.
        """
        with writing(self._engine) as connection:
            only_one(connection, "new run")
            known = sa.select(runs.c.id, _answers().label("answers")).where(runs.c.key == request.key)
            row = connection.execute(known.with_for_update()).one_or_none()
            if row is not None and row.answers:
                return _record(connection, row.id), True
            self._check_queue(connection, request.owner)
            if row is None:
                run_id = _insert(connection, request, self._now)
            else:
                run_id = row.id
                connection.execute(
                    runs.update()
                    .where(runs.c.id == run_id)
                    .values(
                        state="queued",
                        error=None,
                        cancel_requested=False,
                        lease_until=0.0,
                        finished_at=None,
                        attempt=runs.c.attempt + 1,  # whoever is still cancelling it has nothing more to say
                    )
                )
                connection.execute(run_files.delete().where(run_files.c.run_id == run_id))
            _insert_files(connection, run_id, request.files)
            needed = files.c.sha256.in_([sha256 for _, sha256 in request.files])
            connection.execute(files.update().where(needed).values(created_at=self._now))
            return _record(connection, run_id), False

    def add(self, result: RunResult, *, title: str, owner: str) -> RunRecord:
        """Save a result that was computed elsewhere."""
        total = result.spec.analysis.permutations
        with writing(self._engine) as connection:
            run_id = secrets.token_urlsafe(ID_BYTES)
            connection.execute(
                runs.insert().values(
                    id=run_id,
                    title=title,
                    owner=owner,
                    state="done",
                    created_at=self._now,
                    finished_at=self._now,
                    duration_s=result.timing.load_s + result.timing.observed_s + result.timing.permutations_s,
                    code_version=result.code_version[:64],
                    spec=json.dumps(result.spec.to_dict()),
                    summary=json.dumps(result.data.to_dict()),
                    result=_dumps(result),
                    done=total,
                    total=total,
                )
            )
            return _record(connection, run_id)

    def answering(self, key: str) -> RunRecord | None:
        """The run that answers this question or is about to."""
        query = sa.select(runs.c.id).where(runs.c.key == key, _answers())
        with reading(self._engine) as connection:
            run_id = connection.execute(query).scalar_one_or_none()
            return None if run_id is None else _find(connection, run_id)

    def get(self, run_id: str) -> RunRecord | None:
        """The run, or None where there is none of this id."""
        with reading(self._engine) as connection:
            return _find(connection, run_id)

    def result(self, run_id: str) -> RunResult | None:
        """The result of a run that is done."""
        with reading(self._engine) as connection:
            text = connection.execute(
                sa.select(runs.c.result).where(runs.c.id == run_id)
            ).scalar_one_or_none()
        return None if text is None else RunResult.from_dict(json.loads(text))

    def files_of(self, run_id: str) -> tuple[tuple[str, str], ...]:
        """Name and sha256 of the files the run reads; annotations first."""
        query = sa.select(run_files.c.name, run_files.c.sha256).where(run_files.c.run_id == run_id)
        with reading(self._engine) as connection:
            return tuple((row.name, row.sha256) for row in connection.execute(query.order_by("position")))

    def claim(self, in_hand: Collection[str] = ()) -> RunRecord | None:
        """Take the next run that nobody computes: the user with the fewest running first, then the oldest.

        Parameters
        ----------
        in_hand : collection of str
            Runs that this server still works on: it does not take them over from itself.
        """
        theirs = runs.alias()
        busy = (
            sa.select(sa.func.count())
            .where(
                theirs.c.owner == runs.c.owner, theirs.c.state == "running", theirs.c.lease_until > self._now
            )
            .scalar_subquery()
        )
        free = (runs.c.state == "queued") | ((runs.c.state == "running") & (runs.c.lease_until < self._now))
        query = (
            sa.select(runs.c.id)
            .where(free, runs.c.id.not_in(in_hand))
            .order_by(busy, runs.c.created_at, runs.c.id)
            .limit(1)
            .with_for_update(skip_locked=True, of=runs)
        )
        with writing(self._engine) as connection:
            run_id = connection.execute(query).scalar_one_or_none()
            if run_id is None:
                return None
            connection.execute(
                runs.update()
                .where(runs.c.id == run_id)
                .values(state="running", attempt=runs.c.attempt + 1, lease_until=self._now + LEASE_SECONDS)
            )
            return _record(connection, run_id)

    def keep(
        self, run: RunRecord, done: int | None = None, computed: Sequence[tuple[int, FloatArray]] = ()
    ) -> bool:
        """Renew the claim on a run, save how far it is and newly computed blocks.

        Blocks may be given again, e.g. where the connection broke before the database's answer came.

        Parameters
        ----------
        run : RunRecord
            From :meth:`claim`.
        done : int, optional
            Permutations computed.
        computed : sequence of (start, float64 array of shape (block, G, 6))

        Returns
        -------
        bool
            Whether somebody asked for the run to be cancelled.

        Raises
        ------
        LostRunError
            If the claim is no longer ours.
        """
        with writing(self._engine) as connection:
            known = {} if done is None else {"done": done}
            self._update(connection, run, lease_until=self._now + LEASE_SECONDS, **known)
            blocks = [
                {
                    "run_id": run.id,
                    "start": start,
                    "stop": start + len(values),
                    "shuffled": np.ascontiguousarray(values, dtype="<f8").tobytes(),
                }
                for start, values in computed
            ]
            insert_new(connection, checkpoints, blocks)
            query = sa.select(runs.c.cancel_requested).where(runs.c.id == run.id)
            return bool(connection.execute(query).scalar_one())

    def computed(self, run: RunRecord, n_groups: int) -> list[tuple[int, FloatArray]]:
        """Blocks that an earlier attempt saved, as (start, array of shape (block, G, 6))."""
        query = sa.select(checkpoints).where(checkpoints.c.run_id == run.id).order_by("start")
        with reading(self._engine) as connection:
            return [
                (
                    row.start,
                    np.frombuffer(row.shuffled, dtype="<f8").reshape(row.stop - row.start, n_groups, 6),
                )
                for row in connection.execute(query)
            ]

    def finish(
        self,
        run: RunRecord,
        state: State,
        *,
        result: RunResult | None = None,
        error: str | None = None,
        duration_s: float | None = None,
    ) -> None:
        """End a claimed run. The checkpoints of a cancelled or failed one are kept for another try."""
        with writing(self._engine) as connection:
            self._update(
                connection,
                run,
                state=state,
                error=error,
                result=None if result is None else _dumps(result),
                done=run.total if result is not None else runs.c.done,
                finished_at=self._now,
                duration_s=duration_s,
                lease_until=0.0,
            )
            if result is not None:
                connection.execute(checkpoints.delete().where(checkpoints.c.run_id == run.id))

    def release(self, run: RunRecord) -> None:
        """Give a claimed run back to the queue, e.g. because this server is shutting down."""
        asked = runs.c.cancel_requested
        with writing(self._engine) as connection:
            self._update(
                connection,
                run,
                state=sa.case((asked, "cancelled"), else_="queued"),
                finished_at=sa.case((asked, self._now), else_=None),
                lease_until=0.0,
            )

    def request_cancel(self, run_id: str) -> None:
        """Ask whoever computes the run to stop; one that waits is cancelled at once."""
        waits = runs.c.state == "queued"
        with writing(self._engine) as connection:
            connection.execute(  # one statement: a run that is claimed or released meanwhile is not missed
                runs.update()
                .where(runs.c.id == run_id, runs.c.state.in_(("queued", "running")))
                .values(
                    cancel_requested=True,
                    state=sa.case((waits, "cancelled"), else_=runs.c.state),
                    finished_at=sa.case((waits, self._now), else_=runs.c.finished_at),
                )
            )

    def search(
        self, text: str = "", *, tag: str | None = None, owner: str | None = None, limit: int = 200
    ) -> list[RunRecord]:
        """Runs whose title, note, owner or tag contains `text`, latest first."""
        query = sa.select(runs.c.id).order_by(runs.c.created_at.desc(), runs.c.id).limit(limit)
        if text:
            found = [
                column.icontains(text, autoescape=True)
                for column in (runs.c.title, runs.c.note, runs.c.owner)
            ]
            tagged = sa.select(tags.c.run_id).where(tags.c.tag.icontains(text, autoescape=True))
            query = query.where(sa.or_(*found, runs.c.id.in_(tagged)))
        if tag is not None:
            query = query.where(runs.c.id.in_(sa.select(tags.c.run_id).where(tags.c.tag == tag)))
        if owner is not None:
            query = query.where(runs.c.owner == owner)
        with reading(self._engine) as connection:
            return _records(connection, [row.id for row in connection.execute(query)])

    def describe(
        self,
        run_id: str,
        *,
        title: str | None = None,
        note: str | None = None,
        tagged: Iterable[str] | None = None,
    ) -> None:
        """Rename, annotate or tag a run.

        Raises
        ------
        LimitError
            If a tag is too long.
        StoreError
            If there is no such run (any more).
        """
        labels = list(dict.fromkeys(map(storable, tagged))) if tagged is not None else []
        for tag in labels:
            if len(tag) > TAG_LENGTH:
                raise LimitError(f"A tag may have {TAG_LENGTH} characters; {tag[:20]}… has {len(tag)}.")
        changed: dict[str, Any] = {"title": runs.c.title} if title is None else {"title": title}
        if note is not None:
            changed["note"] = note
        with writing(self._engine) as connection:
            there = runs.update().where(runs.c.id == run_id).values(changed)
            if not connection.execute(there).rowcount:
                raise StoreError("The run was deleted.")
            if tagged is not None:
                connection.execute(tags.delete().where(tags.c.run_id == run_id))
                if labels:
                    connection.execute(tags.insert(), [{"run_id": run_id, "tag": tag} for tag in labels])

    def delete(self, run_id: str) -> None:
        """Delete a run with its links and checkpoints."""
        with writing(self._engine) as connection:
            connection.execute(runs.delete().where(runs.c.id == run_id))

    def delete_older_than(self, days: float) -> int:
        """Delete runs that ended more than `days` ago; returns how many."""
        old = (runs.c.finished_at < self._now - days * 86400) & runs.c.state.in_(
            ("done", "failed", "cancelled")
        )
        with writing(self._engine) as connection:
            return connection.execute(runs.delete().where(old)).rowcount

    def drop_checkpoints(self, *, older_than_hours: float) -> int:
        """Delete the saved blocks of runs that failed or were cancelled so long ago; returns how many."""
        given_up = sa.select(runs.c.id).where(
            runs.c.state.in_(("failed", "cancelled")),
            runs.c.finished_at < self._now - older_than_hours * 3600,
        )
        with writing(self._engine) as connection:
            return connection.execute(checkpoints.delete().where(checkpoints.c.run_id.in_(given_up))).rowcount

    def counts(self) -> dict[str, int]:
        """Runs by state."""
        with reading(self._engine) as connection:
            rows = connection.execute(sa.select(runs.c.state, sa.func.count()).group_by(runs.c.state))
            return {state: count for state, count in rows}

    @property
    def _now(self) -> Any:
        return clock(self._engine)

    def _check_queue(self, connection: Connection, owner: str) -> None:
        waiting = runs.c.state.in_(("queued", "running")) & (runs.c.owner == owner)
        if connection.execute(sa.select(sa.func.count()).where(waiting)).scalar_one() >= self._queue_limit:
            raise LimitError(
                f"You have {self._queue_limit} runs waiting or running, as many as one person may; cancel one"
                " or wait until one has ended."
            )

    def _update(self, connection: Connection, run: RunRecord, **values: Any) -> None:
        """Change a claimed run; refused where the claim has passed to somebody else."""
        ours = (runs.c.id == run.id) & (runs.c.attempt == run.attempt) & (runs.c.state == "running")
        if connection.execute(runs.update().where(ours).values(**values)).rowcount != 1:
            raise LostRunError("The run was taken over by another server or deleted.")


def clock(engine: Engine) -> Any:
    """The database's own clock, in seconds since 1970: the same for all servers."""
    if engine.dialect.name == "postgresql":
        return sa.literal_column("extract(epoch FROM clock_timestamp())::double precision", sa.Double)
    return sa.literal_column("((julianday('now') - 2440587.5) * 86400.0)", sa.Double)


def _answers() -> sa.ColumnElement[bool]:
    """Whether a run has the answer to its question or is on its way there."""
    coming = runs.c.state.in_(("queued", "running")) & ~runs.c.cancel_requested
    return (runs.c.state == "done") | coming


def _dumps(result: RunResult) -> str:
    return json.dumps(result.to_dict(), allow_nan=False)


def _insert(connection: Connection, request: Request, now: Any) -> str:
    run_id = secrets.token_urlsafe(ID_BYTES)
    connection.execute(
        runs.insert().values(
            id=run_id,
            key=request.key,
            title=request.title,
            owner=request.owner,
            state="queued",
            created_at=now,
            code_version=request.code_version,
            spec=json.dumps(request.spec.to_dict()),
            summary=json.dumps(request.summary.to_dict()),
            total=request.spec.analysis.permutations,
        )
    )
    return run_id


def _insert_files(connection: Connection, run_id: str, files: Sequence[tuple[str, str]]) -> None:
    for position, (name, sha256) in enumerate(files):
        connection.execute(
            run_files.insert().values(run_id=run_id, position=position, name=name, sha256=sha256)
        )


def _find(connection: Connection, run_id: str) -> RunRecord | None:
    found = _records(connection, [run_id])
    return found[0] if found else None


def _record(connection: Connection, run_id: str) -> RunRecord:
    return _records(connection, [run_id])[0]


def _records(connection: Connection, ids: Sequence[str]) -> list[RunRecord]:
    """In the order of `ids`; unknown ones are passed over."""
    rows = {row.id: row for row in connection.execute(sa.select(*_COLUMNS).where(runs.c.id.in_(ids)))}
    tagged: dict[str, list[str]] = {}
    for row in connection.execute(sa.select(tags).where(tags.c.run_id.in_(ids)).order_by(tags.c.tag)):
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
            summary=DataSummary.from_dict(json.loads(row.summary)),
            done=row.done,
            total=row.total,
            attempt=row.attempt,
            cancel_requested=row.cancel_requested,
        )
        for row in (rows[run_id] for run_id in ids if run_id in rows)
    ]
