"""Store of watches: the files that are looked at, when, and the runs that follow."""

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

import sqlalchemy as sa
from cronsim import CronSim, CronSimError
from sqlalchemy import Connection

from grasp_core.model.errors import LimitError, SpecError, StoreError
from grasp_core.model.json_values import from_json, to_json
from grasp_core.store.base import Bound, count, from_row
from grasp_core.store.database import new_id, to_write
from grasp_core.store.schema import runs, storable, watch_runs, watches

EVERY = re.compile(
    r"hourly|daily|weekly|[1-9][0-9]{0,2}[hd]|[0-5]?[0-9]( [0-9A-Za-z*,/#-]{1,15}){4}", re.ASCII
)
"""Times at which a watch looks: hourly, daily, weekly, every so many hours or days, or by a cron line, which
names one minute of the hour, as nobody may look more often than hourly."""
_SECONDS: Mapping[str, float] = {"hourly": 3600.0, "daily": 86_400.0, "weekly": 7 * 86_400.0}
_UNITS: Mapping[str, float] = {"h": 3600.0, "d": 86_400.0}
Paused = Literal["person", "failures", "rights", "run"]
"""Reason why a watch is paused: a person paused it, looks failed, its owner may no longer run here, or its
run is gone."""
Kind = Literal["annotations", "raters", "items"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Location of a watched file, as :class:`grasp_core.reading.sources.allowed.AllowedSources` takes it."""

    kind: Kind
    location: str


@dataclass(frozen=True, slots=True)
class Watch:
    """A saved analysis that is run again when its files change; `lease_until` marks the claim of who looks.

    `last_run`, `going_run`: run with whose data new data are compared, and unfinished run of changed data.
    """

    id: str
    project: str
    owner: str
    title: str
    last_run: str | None
    going_run: str | None
    sources: tuple[Origin, ...]
    every: str
    created_at: float
    next_at: float
    lease_until: float
    looked_at: float | None
    failures: int
    problem: str | None
    paused: Paused | None
    paused_at: float | None
    webhook: str | None


@dataclass(frozen=True, slots=True)
class WatchRun:
    """A run of a watch; number 0 is the one that was watched."""

    number: int
    run_id: str
    added_at: float


def _watch(row: Any) -> Watch:
    sources = from_json(json.loads(row.sources), tuple[Origin, ...])
    runs = {"last_run": row.last_run_id, "going_run": row.going_run_id}
    return from_row(Watch, row, project=row.project_id, sources=sources, **runs)


MOST = 50
"""Most watches that one person may have, in all projects together."""
CLAIM_SECONDS = 900.0
"""Seconds that a server has for a look; then another server may look."""
LEAST_SECONDS = 60.0
"""Seconds after a look before which nobody can have another one."""
_WELL = {"failures": 0, "problem": None}
FAILURES = 5
"""Looks in a row that may fail before a watch pauses."""


class WatchStore(Bound):
    """Watches of a project."""

    def add(
        self,
        run_id: str,
        sources: Sequence[Origin],
        *,
        owner: str,
        title: str,
        every: str,
        webhook: str | None = None,
    ) -> Watch:
        """Watch a run's files. SpecError: `every`; LimitError: too many watches; StoreError: no run."""
        owner, now, watch_id = storable(owner), self._now, new_id()
        with to_write(self._engine, alone=f"watches of {owner}") as connection:
            self._check_open(connection)
            there = sa.select(runs.c.id).where(runs.c.id == run_id, runs.c.project_id == self._home)
            if connection.execute(there).first() is None:
                raise StoreError("The run was deleted, so it cannot be watched.")
            if count(connection, watches, watches.c.owner == owner) >= MOST:
                raise LimitError(f"You have {MOST} watches, the most there may be; delete one first.")
            what = {"last_run_id": run_id, "sources": json.dumps(to_json(list(sources))), "title": title}
            when = {"every": every, "created_at": now, "next_at": next_look(every, now)}
            whose = {"id": watch_id, "project_id": self._home, "owner": owner, "webhook": webhook}
            connection.execute(watches.insert().values(**what, **when, **whose))
            _insert_run(connection, watch_id, run_id, now)
            return _watch(connection.execute(sa.select(watches).where(watches.c.id == watch_id)).one())

    def get(self, watch_id: str) -> Watch | None:
        """Return the watch, or None if there is none of this id within reach."""
        found = self._found(self._seen_by_id(watches, watch_id))
        return found[0] if found else None

    def all(self) -> list[Watch]:
        """Watches of the project, latest first."""
        return self._found(watches.c.project_id == self._home)

    def runs_of(self, watch_id: str) -> list[WatchRun]:
        """Runs of a watch that were not deleted and are within reach, oldest first."""
        query = (
            sa.select(watch_runs)
            .where(watch_runs.c.watch_id == watch_id, self._of_seen_run(watch_runs.c.run_id))
            .order_by(watch_runs.c.number)
        )
        return [from_row(WatchRun, row) for row in self._rows(query)]

    def pause(self, watch_id: str) -> None:
        """Stop looking until :meth:`resume`."""
        self._change(watch_id, paused="person", paused_at=self._now)

    def resume(self, watch_id: str) -> None:
        """Look again, from now on."""
        self._change(watch_id, paused=None, paused_at=None, failures=0, next_at=self._now)

    def set_every(self, watch_id: str, every: str) -> None:
        """Change how often to look, from now on."""
        self._change(watch_id, every=every, next_at=next_look(every, self._now))

    def set_webhook(self, watch_id: str, webhook: str | None) -> None:
        """Set the address to notify of runs that end from now on; None for no address."""
        self._change(watch_id, webhook=webhook)

    def look_now(self, watch_id: str) -> None:
        """Look at once, but not within a minute of the last look; raises StoreError without such a watch."""
        now = self._now
        soonest = sa.func.coalesce(watches.c.looked_at + LEAST_SECONDS, now)
        self._change(watch_id, next_at=sa.case((soonest > now, soonest), else_=now))

    def delete(self, watch_id: str) -> None:
        """Delete a watch; its runs stay."""
        self._write(watches.delete().where(self._seen_by_id(watches, watch_id)))

    # Looks at watches of any project, by the server that has claimed the watch

    def take(self) -> Watch | None:
        """Claim the watch that has been due for longest; None if none is due that nobody looks at."""
        now = self._now
        held = watches.c.lease_until.between(now, now + 2 * CLAIM_SECONDS)  # if later, the clock was set back
        free = watches.c.paused.is_(None) & watches.c.going_run_id.is_(None) & ~held
        query = (
            sa.select(watches.c.id)
            .where(free, watches.c.next_at <= now)
            .order_by(watches.c.next_at, watches.c.id)
            .limit(1)
        )
        with to_write(self._engine, alone="watches") as connection:
            found = connection.execute(query).scalar_one_or_none()
            if found is None:
                return None
            claimed = watches.update().where(watches.c.id == found)
            connection.execute(claimed.values(lease_until=now + CLAIM_SECONDS))
            return _watch(connection.execute(sa.select(watches).where(watches.c.id == found)).one())

    def looked(self, watch: Watch, *, going_run: str | None = None) -> None:
        """End a look that did not fail: nothing has changed, or `going_run` is the changed data's run."""
        self._end(watch, going_run_id=going_run, **_WELL)

    def failed(self, watch: Watch, problem: str) -> None:
        """End a look that failed; after :data:`FAILURES` in a row, pause."""
        self._end(watch, **self._failure(problem))

    def stop(self, watch: Watch, why: Paused) -> None:
        """End a look, and pause the watch for this reason."""
        self._end(watch, paused=why, paused_at=self._now)

    def going(self) -> list[Watch]:
        """Watches that wait for a run."""
        return self._found(watches.c.going_run_id.is_not(None))

    def run_done(self, watch: Watch) -> None:
        """Compare new data with the awaited run from now on, and add it to the watch's runs."""
        run_id, now = watch.going_run, self._now
        with to_write(self._engine) as connection:
            waited = {"last_run_id": run_id, "going_run_id": None, **_WELL}
            if run_id is not None and connection.execute(_waiting(watch).values(waited)).rowcount:
                _insert_run(connection, watch.id, run_id, now)

    def run_failed(self, watch: Watch, problem: str) -> None:
        """Stop waiting for a run that ended without a result, and count a failure."""
        self._write(_waiting(watch).values(going_run_id=None, **self._failure(problem)))

    def _failure(self, problem: str) -> dict[str, Any]:
        now, last = self._now, watches.c.failures + 1 >= FAILURES
        return {
            "failures": watches.c.failures + 1,
            "problem": problem,
            "paused": sa.case((last, "failures"), else_=watches.c.paused),
            "paused_at": sa.case((last, now), else_=watches.c.paused_at),
        }

    def _end(self, watch: Watch, **values: Any) -> None:
        """End a look; nothing is changed if the claim has passed to somebody else."""
        now = self._now
        ours = (watches.c.id == watch.id) & (watches.c.lease_until == watch.lease_until)
        times = {"lease_until": 0.0, "looked_at": now, "next_at": next_look(watch.every, now)}
        self._write(watches.update().where(ours).values(**times, **values))

    def _found(self, which: sa.ColumnElement[bool]) -> list[Watch]:
        query = (
            sa.select(watches)
            .where(which, self._seen(watches.c.project_id))
            .order_by(watches.c.created_at.desc(), watches.c.id)
        )
        return [_watch(row) for row in self._rows(query)]

    def _change(self, watch_id: str, **values: Any) -> None:
        if not self._write(watches.update().where(self._seen_by_id(watches, watch_id)).values(values)):
            raise StoreError("The watch was deleted.")


def next_look(every: str, now: Any, clock: Callable[[], float] = time.time) -> Any:
    """Return the time of the next look, in seconds since 1970.

    `now` is the database's clock; cron lines use `clock`, in UTC. Raises SpecError if `every` is not valid.
    """
    if not EVERY.fullmatch(every):
        raise SpecError(f"no time to look is {every!r}", field="every")
    if " " in every:
        return next(cron_line(every, clock())).timestamp()
    return now + (_SECONDS.get(every) or int(every[:-1]) * _UNITS[every[-1]])


def cron_line(every: str, now: float = 0.0) -> CronSim:
    """Return an iterator over the times of a cron line after `now`; raises SpecError if it is none."""
    try:
        return CronSim(every, datetime.fromtimestamp(now, UTC))
    except CronSimError as error:
        raise SpecError(f"{every!r} is no cron line: {str(error).lower()}", field="every") from None


def _waiting(watch: Watch) -> sa.Update:
    """Return a change of the watch that applies only while it waits for the same run."""
    return watches.update().where(watches.c.id == watch.id, watches.c.going_run_id == watch.going_run)


def _insert_run(connection: Connection, watch_id: str, run_id: str, now: Any) -> None:
    number = sa.select(sa.func.coalesce(sa.func.max(watch_runs.c.number) + 1, 0)).where(
        watch_runs.c.watch_id == watch_id
    )
    row = {"watch_id": watch_id, "number": number.scalar_subquery(), "run_id": run_id, "added_at": now}
    connection.execute(watch_runs.insert().values(row))
