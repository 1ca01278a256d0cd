"""Records of runs, and their computation: one server at a time claims, resumes and ends a run."""

import json
import threading
import time
import zlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np
import sqlalchemy as sa
from sqlalchemy import Connection

from grasp_core.analysis.models.result import ModelsResult
from grasp_core.model.annotations import FloatArray
from grasp_core.model.errors import StoreError
from grasp_core.model.json_values import from_json
from grasp_core.model.result import DataSummary, Result, RunResult
from grasp_core.model.spec import RunSpec
from grasp_core.report.findings.advice import ranked_findings
from grasp_core.report.findings.answer import title
from grasp_core.report.models import title as models_title
from grasp_core.store.base import Bound, from_row, put
from grasp_core.store.database import insert_new, only_one, to_read, to_write
from grasp_core.store.schema import checkpoints, losses, provisional_results, runs, tags, tallies

T = TypeVar("T")
State = Literal["queued", "running", "done", "failed", "cancelled"]
GOING, ENDED = ("queued", "running"), ("done", "failed", "cancelled")
"""States of unfinished runs, and of ended runs, which change only if they are asked again."""

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
    """The result in one sentence; None if there is none."""
    computed_as: str
    """Id of the run that is computed: this one, or somebody else's of the same question that is running."""

    @property
    def ended(self) -> bool:
        """True if the run is done, failed or cancelled: it changes only if it is asked again."""
        return self.state in ENDED


@dataclass(frozen=True, slots=True)
class Request:
    """A request for a run."""

    key: str
    title: str
    owner: str
    code_version: str
    spec: RunSpec
    summary: DataSummary
    files: tuple[tuple[str, str], ...]  # name and sha256; annotations first


def verdict_of(result: Result | None) -> str | None:
    """Return the result in one sentence; None without a result."""
    if isinstance(result, ModelsResult):
        return models_title(result).plain
    return title(result, ranked_findings(result)).plain if isinstance(result, RunResult) else None


def find_record(
    connection: Connection, run_id: str, seen: sa.ColumnElement[bool] | None = None
) -> RunRecord | None:
    """Return the run of this id, or None if there is none that meets the condition `seen`; default: any."""
    found = the_records(connection, [run_id], seen)
    return found[0] if found else None


def the_record(connection: Connection, run_id: str) -> RunRecord:
    """Return the run of this id."""
    return the_records(connection, [run_id])[0]


def the_records(
    connection: Connection, ids: Sequence[str], seen: sa.ColumnElement[bool] | None = None
) -> list[RunRecord]:
    """Return runs in the order of `ids`, without unknown ids and runs that do not meet `seen`."""
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
        from_row(
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
    """SQL condition that another run of the same project asks the same question as a run."""
    same = (others.c.project_id == runs.c.project_id) & (others.c.key == runs.c.key)
    return same & (others.c.id != runs.c.id)


def is_computed_as(others: sa.FromClause) -> sa.ColumnElement[bool]:
    """SQL condition that a run waits for another one, of the same question, that is being computed."""
    return same_question(others) & (runs.c.state == "queued") & (others.c.state == "running")


def _one_of(column: sa.Column[str], ids: Sequence[str]) -> sa.ColumnElement[bool]:
    """SQL condition of being one of the ids. One id is compared: a list is written into each query's text."""
    return column == ids[0] if len(ids) == 1 else column.in_(ids)


LEASE_SECONDS = 10.0
"""Seconds without a word from a run's server after which any server may resume the run."""


_lost: sa.ColumnElement[int] = sa.func.coalesce(
    sa.select(losses.c.count).where(losses.c.run_id == runs.c.id).scalar_subquery(), 0
)
"""Number of times in a row that the process computing a run was lost."""
_COMPUTED = (checkpoints, tallies)
"""Tables of a run's computed blocks or counts, which are kept for another attempt."""


class LostRunError(StoreError):
    """Another server has taken the run over, or it was deleted: this server must stop computing it."""


INSIST_SECONDS = 600.0
"""Seconds for which a finished run waits for a database that does not answer."""


def insist(work: Callable[[], T], *, until: threading.Event) -> T:
    """Repeat work that the database refuses until it succeeds, for `INSIST_SECONDS` at most.

    Raises StoreError if it fails for so long, or `until` is set; at once if the run is no longer ours.
    """
    started = time.monotonic()
    while True:
        try:
            return work()
        except LostRunError:
            raise
        except StoreError:
            if time.monotonic() - started > INSIST_SECONDS or until.wait(1.0):
                raise


class Claims(Bound):
    """Runs as a server computes them: claim, save and end them, and delete old ones."""

    def claim(self, in_hand: Collection[str] = ()) -> RunRecord | None:
        """Claim the next run that nobody computes, and that is not `in_hand`; return None if there is none.

        Runs that were lost before they made progress come last. Before them, the user with the fewest running
        comes first, then who has waited longest since asking or since a run of theirs gave way. A run waits
        while its question is computed for somebody else. A claimed run continues with the blocks or counts of
        a failed or cancelled run of the same question.
        """
        theirs = runs.alias()
        gave_way = sa.func.coalesce(
            sa.select(sa.func.max(theirs.c.lease_until))
            .where(theirs.c.owner == runs.c.owner, theirs.c.state == "queued")
            .scalar_subquery(),
            0.0,
        )
        since = sa.case((gave_way > runs.c.created_at, gave_way), else_=runs.c.created_at)
        query = (
            sa.select(runs.c.id, runs.c.state)
            .where(self._free, runs.c.id.not_in(in_hand))
            .order_by(_lost, self._busy, since, runs.c.lease_until, runs.c.created_at, runs.c.id)
            .limit(1)
            .with_for_update(skip_locked=True, of=runs)
        )
        with to_write(self._engine) as connection:
            only_one(connection, "claim")  # of two runs of one question, only one
            free_one = connection.execute(query).one_or_none()
            if free_one is None:
                return None
            if free_one.state == "running":  # its process neither ended it nor gave it back
                insert_new(connection, losses, [{"run_id": free_one.id, "count": 0}])
                of_it = losses.c.run_id == free_one.id
                connection.execute(losses.update().where(of_it).values(count=losses.c.count + 1))
            connection.execute(
                runs.update()
                .where(runs.c.id == free_one.id)
                .values(state="running", attempt=runs.c.attempt + 1, lease_until=self._now + LEASE_SECONDS)
            )
            _take_over(connection, free_one.id)
            return the_record(connection, free_one.id)

    def somebody_waits(self, in_hand: Collection[str] = ()) -> bool:
        """Return whether :meth:`claim` finds a run, without losses, of a user who has none running."""
        query = sa.select(runs.c.id).where(self._free, runs.c.id.not_in(in_hand), self._busy == 0, _lost == 0)
        with to_read(self._engine) as connection:
            return connection.execute(query.limit(1)).first() is not None

    def losses(self, run: RunRecord) -> int:
        """Return how many times in a row the run's process was lost before it made progress."""
        return self._value(sa.select(losses.c.count).where(losses.c.run_id == run.id)) or 0

    def forget_losses(self, run: RunRecord) -> None:
        """Reset the losses of a claimed run that makes progress; raises LostRunError if it is not ours."""
        with to_write(self._engine) as connection:
            self._update(connection, run, lease_until=self._now + LEASE_SECONDS)
            _forget(connection, run, losses)

    def keep(
        self,
        run: RunRecord,
        done: int | None = None,
        computed: Sequence[tuple[int, FloatArray]] = (),
        counted: bytes | None = None,
        provisional: Result | None = None,
    ) -> bool:
        """Renew the claim on a run, and save its progress and computed values; blocks may be given again.

        `computed`: new blocks, as (start, array of shape (block, W)).
        `counted`, `provisional`: state of the tally, and the provisional result; they replace the last ones.

        Returns whether somebody asked for the run to be cancelled; raises LostRunError if it is not ours.
        """
        with to_write(self._engine) as connection:
            known = {} if done is None else {"done": done}
            self._update(connection, run, lease_until=self._now + LEASE_SECONDS, **known)
            if counted is not None:
                _forget(connection, run, *_COMPUTED)
                connection.execute(tallies.insert().values(run_id=run.id, state=counted))
            if provisional is not None:
                content = zlib.compress(result_text(provisional).encode())
                put(connection, provisional_results, {"run_id": run.id}, content=content)
            blocks = ((start, np.ascontiguousarray(values, dtype="<f8")) for start, values in computed)
            rows = [
                {"run_id": run.id, "start": start, "stop": start + len(block), "shuffled": block.tobytes()}
                for start, block in blocks
            ]
            insert_new(connection, checkpoints, rows)
            query = sa.select(runs.c.cancel_requested).where(runs.c.id == run.id)
            return bool(connection.execute(query).scalar_one())

    def computed(self, run: RunRecord, width: int) -> list[tuple[int, FloatArray]]:
        """Blocks of this width that an earlier attempt saved, as (start, array of shape (block, `width`))."""
        query = sa.select(checkpoints).where(checkpoints.c.run_id == run.id).order_by("start")
        return [
            (row.start, np.frombuffer(row.shuffled, dtype="<f8").reshape(-1, width))
            for row in self._rows(query)
            if len(row.shuffled) == (row.stop - row.start) * width * 8
        ]

    def counted(self, run: RunRecord) -> bytes | None:
        """Return the state of the tally that an earlier attempt saved, or None."""
        return self._value(sa.select(tallies.c.state).where(tallies.c.run_id == run.id))

    def finish(
        self,
        run: RunRecord,
        state: State,
        *,
        result: Result | None = None,
        error: str | None = None,
        duration_s: float | None = None,
    ) -> None:
        """End a claimed run and, unless it was cancelled, the runs of others that wait for it."""
        with to_write(self._engine) as connection:
            self._update(
                connection,
                run,
                state=state,
                error=error,
                result=None if result is None else result_text(result),
                verdict=verdict_of(result),
                done=runs.c.done if result is None else result.permutations,
                # An adaptive run may need fewer permutations than it was allowed.
                total=runs.c.total if result is None else result.permutations,
                finished_at=self._now,
                duration_s=duration_s,
                lease_until=0.0,
            )
            _forget(connection, run, provisional_results, losses)
            if result is not None:
                _forget(connection, run, *_COMPUTED)
            if state != "cancelled":
                others = runs.alias()
                of_it = sa.select(others.c.id).where(others.c.id == run.id, same_question(others)).exists()
                take_answer(connection, run.id, of_it & (runs.c.state == "queued"))

    def release(self, run: RunRecord, *, gives_way: bool = False) -> None:
        """Put a claimed run back into the queue: at its old place or, if it gives way, behind all others."""
        asked = runs.c.cancel_requested
        with to_write(self._engine) as connection:
            self._update(
                connection,
                run,
                state=sa.case((asked, "cancelled"), else_="queued"),
                finished_at=sa.case((asked, self._now), else_=None),
                lease_until=self._now if gives_way else 0.0,
            )

    def delete_older_than(self, days: float) -> int:
        """Delete runs that ended more than `days` ago; returns how many."""
        old = (runs.c.finished_at < self._now - days * 86400) & runs.c.state.in_(ENDED)
        return self._write(runs.delete().where(old))

    def drop_checkpoints(self, *, older_than_hours: float) -> int:
        """Delete blocks and counts of runs that failed or were cancelled so long ago; returns how many."""
        given_up = sa.select(runs.c.id).where(
            runs.c.state.in_(("failed", "cancelled")),
            runs.c.finished_at < self._now - older_than_hours * 3600,
        )
        return sum(self._write(saved.delete().where(saved.c.run_id.in_(given_up))) for saved in _COMPUTED)

    @property
    def _free(self) -> sa.ColumnElement[bool]:
        """SQL condition that nobody computes a run, nor its question for somebody else."""
        others = runs.alias()
        goes_on = sa.select(others.c.id).where(is_computed_as(others)).exists()
        return ((runs.c.state == "queued") & ~goes_on) | ((runs.c.state == "running") & ~self._held(runs))

    @property
    def _busy(self) -> sa.ScalarSelect[int]:
        """Number of runs of a run's user that are computed now."""
        theirs = runs.alias()
        return (
            sa.select(sa.func.count())
            .where(theirs.c.owner == runs.c.owner, theirs.c.state == "running", self._held(theirs))
            .scalar_subquery()
        )

    def _held(self, table: sa.FromClause) -> sa.ColumnElement[bool]:
        """SQL condition that a lease is valid; one too far ahead was given before the clock was set back."""
        return table.c.lease_until.between(self._now, self._now + 2 * LEASE_SECONDS)

    def _update(self, connection: Connection, run: RunRecord, **values: Any) -> None:
        """Change a claimed run; raises LostRunError if the claim has passed to somebody else."""
        ours = (runs.c.id == run.id) & (runs.c.attempt == run.attempt) & (runs.c.state == "running")
        if connection.execute(runs.update().where(ours).values(**values)).rowcount != 1:
            raise LostRunError("The run was taken over by another server or deleted.")


def take_answer(connection: Connection, run_id: str, whose: sa.ColumnElement[bool]) -> None:
    """End the runs that meet the condition `whose` as this run of the same question ended."""
    ids = list(connection.execute(sa.select(runs.c.id).where(whose)).scalars())
    ended = runs.alias()
    names = ("state", "error", "result", "verdict", "done", "total", "finished_at", "duration_s")
    values = {name: sa.select(ended.c[name]).where(ended.c.id == run_id).scalar_subquery() for name in names}
    connection.execute(runs.update().where(runs.c.id.in_(ids)).values(values))
    answered = sa.select(runs.c.id).where(runs.c.id.in_(ids), runs.c.state == "done")
    for table in _COMPUTED:
        connection.execute(table.delete().where(table.c.run_id.in_(answered)))


def hand_over(connection: Connection, whose: sa.ColumnElement[bool]) -> None:
    """Give the blocks and counts of a run that is being deleted to another run that waits for them."""
    others = runs.alias()
    waiting = (
        sa.select(runs.c.id, others.c.id.label("waits"))
        .join(others, same_question(others))
        .where(whose, others.c.state == "queued")
        .order_by(others.c.created_at, others.c.id)
        .limit(1)
    )
    found = connection.execute(waiting).one_or_none()
    if found is not None:
        _move_computed(connection, found.id, found.waits)


def _take_over(connection: Connection, run_id: str) -> None:
    """Give a claimed run with no blocks or counts those of a failed or cancelled run of its question."""
    others = runs.alias()

    def kept(table: sa.FromClause) -> sa.ColumnElement[bool]:
        return sa.or_(
            *(sa.select(one.c.run_id).where(one.c.run_id == table.c.id).exists() for one in _COMPUTED)
        )

    given_up = (
        sa.select(others.c.id)
        .select_from(runs.join(others, same_question(others)))
        .where(runs.c.id == run_id, ~kept(runs), kept(others), others.c.state.in_(("failed", "cancelled")))
        .order_by(others.c.done.desc(), others.c.id)
        .limit(1)
    )
    found = connection.execute(given_up).scalar_one_or_none()
    if found is not None:
        _move_computed(connection, found, run_id)


def _move_computed(connection: Connection, source: str, target: str) -> None:
    for table in _COMPUTED:
        connection.execute(table.delete().where(table.c.run_id == target))
        connection.execute(table.update().where(table.c.run_id == source).values(run_id=target))
    before = runs.alias()
    done = sa.select(before.c.done).where(before.c.id == source).scalar_subquery()
    connection.execute(runs.update().where(runs.c.id == target).values(done=done))
    connection.execute(runs.update().where(runs.c.id == source).values(done=0))


def result_text(result: Result) -> str:
    """Return a result as the JSON text that the database keeps."""
    return json.dumps(result.to_dict(), allow_nan=False)


def _forget(connection: Connection, run: RunRecord, *tables: sa.Table) -> None:
    for saved in tables:
        connection.execute(saved.delete().where(saved.c.run_id == run.id))
