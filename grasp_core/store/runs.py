"""Saved runs: request, find, describe and delete them; answers about them. :mod:`.claims` computes runs."""

import json
import zlib
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from grasp_core.analysis.results import read_result
from grasp_core.model.errors import DataError, LimitError, StoreError
from grasp_core.model.json_values import to_json
from grasp_core.model.result import DataSummary, Result
from grasp_core.model.spec import RunSpec
from grasp_core.store import claims, schema
from grasp_core.store.base import Bound, count, put
from grasp_core.store.claims import GOING, Claims, LostRunError, Request, RunRecord, State
from grasp_core.store.database import new_id, only_one, to_read, to_write
from grasp_core.store.people.people import ids_named
from grasp_core.store.schema import answers, files, provisional_results, run_files, runs, storable, tags

__all__ = ["TAG_LENGTH", "LostRunError", "Request", "RunRecord", "RunStore", "State"]

TAG_LENGTH = 64


class RunStore(Claims):
    """Runs in the database; one user may have `queue_limit` of them queued or running."""

    def __init__(self, engine: Engine, *, queue_limit: int = 20) -> None:
        super().__init__(engine)
        self._queue_limit = queue_limit

    def create(self, request: Request) -> tuple[RunRecord, bool]:
        """Save a run as queued, or find the person's earlier run of the same question.

        A run that failed, was cancelled or is being cancelled is queued again and keeps its checkpoints. If
        somebody else of the project has the answer, the run is done at once; if theirs is running, it waits.

        Returns whether the person's own run was queued, running or done before. Raises AccessError if the
        project is archived or was deleted; LimitError if the user has too many runs waiting or running.
        """
        with to_write(self._engine, alone="new run") as connection:
            asked = self._asks(request.key)
            own = sa.select(runs.c.id, _answers().label("answers")).where(
                asked, runs.c.owner == request.owner
            )
            row = connection.execute(own.with_for_update()).one_or_none()
            if row is not None and row.answers:
                return claims.the_record(connection, row.id), True
            self._check_open(connection)
            done = sa.select(runs.c.id).where(asked, runs.c.state == "done").limit(1)
            answer = connection.execute(done).scalar_one_or_none()
            waits = runs.c.state.in_(GOING) & (runs.c.owner == request.owner)
            if answer is None and count(connection, runs, waits) >= self._queue_limit:
                raise LimitError(
                    f"You have {self._queue_limit} runs waiting or running, as many as one person may; cancel"
                    " one or wait until one has ended.",
                    seconds=30,
                )
            if row is None:
                asked_for = {"key": request.key, "title": request.title, "owner": request.owner}
                total, version = request.spec.analysis.permutations, request.code_version
                new = {"state": "queued", "total": total, "code_version": version, **asked_for}
                run_id = self._insert(connection, request.spec, request.summary, new)
            else:
                run_id = row.id
                anew = {"state": "queued", "error": None, "finished_at": None, "lease_until": 0.0}
                # A further attempt: the server that still cancels the earlier one must not write.
                again = runs.update().values(cancel_requested=False, attempt=runs.c.attempt + 1, **anew)
                connection.execute(again.where(runs.c.id == run_id))
                for table in (run_files, schema.losses):
                    connection.execute(table.delete().where(table.c.run_id == run_id))
            for position, (name, sha256) in enumerate(request.files):
                file = {"run_id": run_id, "position": position, "name": name, "sha256": sha256}
                connection.execute(run_files.insert().values(file))
            needed = files.c.sha256.in_([sha256 for _, sha256 in request.files])
            ours = files.c.project_id == self._home
            connection.execute(files.update().where(needed, ours).values(created_at=self._now))
            if answer is not None:
                claims.take_answer(connection, answer, runs.c.id == run_id)
            return claims.the_record(connection, run_id), False

    def add(self, result: Result, *, title: str, owner: str) -> RunRecord:
        """Save a result computed elsewhere; raises AccessError if the project is archived or was deleted."""
        total, timing = result.permutations, result.timing
        with to_write(self._engine) as connection:
            self._check_open(connection)
            what = {"title": title, "owner": owner, "code_version": result.code_version[:64]}
            found = {"result": claims.result_text(result), "verdict": claims.verdict_of(result)}
            # Results about models were once written without times.
            seconds = timing.load_s + timing.observed_s + timing.permutations_s or None
            ended = {"state": "done", "finished_at": self._now, "duration_s": seconds}
            values = {**what, **found, **ended, "done": total, "total": total}
            return claims.the_record(connection, self._insert(connection, result.spec, result.data, values))

    def _insert(
        self, connection: Connection, spec: RunSpec, summary: DataSummary, values: Mapping[str, Any]
    ) -> str:
        """Insert a run, without its files; returns its id."""
        run_id, now = new_id(), self._now
        documents = {"spec": json.dumps(spec.to_dict()), "summary": json.dumps(to_json(summary))}
        row = {"id": run_id, "project_id": self._home, "created_at": now, **documents, **values}
        connection.execute(runs.insert().values(row))
        return run_id

    def answering(self, key: str, owner: str) -> RunRecord | None:
        """Return the person's run in the project that has the answer to this question, or soon will."""
        query = sa.select(runs.c.id).where(self._asks(key), runs.c.owner == owner, _answers())
        with to_read(self._engine) as connection:
            run_id = connection.execute(query).scalar_one_or_none()
            return None if run_id is None else claims.find_record(connection, run_id)

    def get(self, run_id: str) -> RunRecord | None:
        """Return the run, or None if there is none of this id within reach."""
        with to_read(self._engine) as connection:
            return claims.find_record(connection, run_id, self._seen(runs.c.project_id))

    def result(self, run_id: str) -> Result | None:
        """The result of a run that is done."""
        query = sa.select(runs.c.result).where(self._seen_by_id(runs, run_id))
        text = self._value(query)
        return None if text is None else read_result(json.loads(text))

    def provisional(self, run_id: str) -> Result | None:
        """Return the provisional result of an unfinished run, as its server last saved it, or None."""
        column = provisional_results.c.run_id
        query = sa.select(provisional_results.c.content).where(column == run_id, self._of_seen_run(column))
        content = self._value(query)
        return None if content is None else read_result(json.loads(zlib.decompress(content)), final=False)

    def files_of(self, run_id: str) -> tuple[tuple[str, str], ...]:
        """Name and sha256 of the files the run reads; annotations first."""
        query = sa.select(run_files.c.name, run_files.c.sha256).where(
            run_files.c.run_id == run_id, self._of_seen_run(run_files.c.run_id)
        )
        return tuple((row.name, row.sha256) for row in self._rows(query.order_by("position")))

    def known_tags(self) -> list[str]:
        """Every tag in use in the project, in alphabetical order."""
        query = sa.select(tags.c.tag).distinct().join(runs).where(runs.c.project_id == self._home)
        return sorted(self._values(query), key=str.casefold)

    def waiting_for(self, sha256s: Collection[str]) -> int:
        """Count the project's queued or running runs that read one of these files."""
        going = runs.c.state.in_(GOING) & (runs.c.project_id == self._home)
        reads = runs.c.id.in_(sa.select(run_files.c.run_id).where(run_files.c.sha256.in_(sha256s)))
        with to_read(self._engine) as connection:
            return count(connection, runs, going, reads)

    def request_cancel(self, run_id: str) -> None:
        """Ask the server that computes the run to stop; a queued run is cancelled at once."""
        waits = runs.c.state == "queued"
        # One statement: a run that is claimed or released meanwhile is not missed.
        self._write(
            runs.update()
            .where(self._seen_by_id(runs, run_id), runs.c.state.in_(GOING))
            .values(
                cancel_requested=True,
                state=sa.case((waits, "cancelled"), else_=runs.c.state),
                finished_at=sa.case((waits, self._now), else_=runs.c.finished_at),
            )
        )

    def search(
        self,
        text: str = "",
        *,
        tag: str | None = None,
        owner: str | None = None,
        state: State | None = None,
        after: tuple[float, str] | None = None,
        limit: int = 200,
    ) -> list[RunRecord]:
        """Find runs of the project with `text` in title, note, tag, or owner's name or address; latest first.

        `after`: time and id of a run; only runs that come after it in the list are returned.
        """
        query = sa.select(runs.c.id).where(runs.c.project_id == self._home)
        if text:
            said = [
                column.icontains(text, autoescape=True)
                for column in (runs.c.title, runs.c.note, runs.c.owner)
            ]
            tagged = sa.select(tags.c.run_id).where(tags.c.tag.icontains(text, autoescape=True))
            named = runs.c.owner.in_(ids_named(text))
            query = query.where(sa.or_(*said, named, runs.c.id.in_(tagged)))
        if tag is not None:
            query = query.where(runs.c.id.in_(sa.select(tags.c.run_id).where(tags.c.tag == tag)))
        if owner is not None:
            query = query.where(runs.c.owner == owner)
        if state is not None:
            others = runs.alias()
            goes_on = sa.select(others.c.id).where(claims.is_computed_as(others)).exists()
            query = query.where(sa.case((goes_on, "running"), else_=runs.c.state) == state)
        if after is not None:
            earlier = runs.c.created_at < after[0]
            query = query.where(earlier | ((runs.c.created_at == after[0]) & (runs.c.id > after[1])))
        query = query.order_by(runs.c.created_at.desc(), runs.c.id).limit(limit)
        with to_read(self._engine) as connection:
            return claims.the_records(connection, [row.id for row in connection.execute(query)])

    def describe(
        self,
        run_id: str,
        *,
        title: str | None = None,
        note: str | None = None,
        tagged: Iterable[str] | None = None,
    ) -> None:
        """Rename, annotate or tag a run; raises LimitError if a tag is too long, StoreError if it is gone."""
        labels = list(dict.fromkeys(map(storable, tagged))) if tagged is not None else []
        for tag in labels:
            if len(tag) > TAG_LENGTH:
                raise LimitError(f"A tag may have {TAG_LENGTH} characters; {tag[:20]}… has {len(tag)}.")
        changed: dict[str, Any] = {"title": runs.c.title} if title is None else {"title": title}
        if note is not None:
            changed["note"] = note
        with to_write(self._engine) as connection:
            there = runs.update().where(self._seen_by_id(runs, run_id)).values(changed)
            if not connection.execute(there).rowcount:
                raise StoreError("The run was deleted.")
            if tagged is not None:
                connection.execute(tags.delete().where(tags.c.run_id == run_id))
                if labels:
                    connection.execute(tags.insert(), [{"run_id": run_id, "tag": tag} for tag in labels])

    def delete(self, run_id: str) -> None:
        """Delete a run with its links; its blocks and counts go to a run that waits for the same question."""
        with to_write(self._engine) as connection:
            only_one(connection, "claim")  # so that no run is claimed meanwhile
            claims.hand_over(connection, self._seen_by_id(runs, run_id))
            connection.execute(runs.delete().where(self._seen_by_id(runs, run_id)))

    def counts(self) -> dict[str, int]:
        """Count the runs within reach by state."""
        query = sa.select(runs.c.state, sa.func.count()).where(self._seen(runs.c.project_id))
        return {state: number for state, number in self._rows(query.group_by(runs.c.state))}

    def _asks(self, key: str) -> sa.ColumnElement[bool]:
        """SQL condition that a run of the project asks this question."""
        return (runs.c.key == key) & (runs.c.project_id == self._home)


def _answers() -> sa.ColumnElement[bool]:
    """SQL condition that a run has the answer to its question, or soon will."""
    coming = runs.c.state.in_(GOING) & ~runs.c.cancel_requested
    return (runs.c.state == "done") | coming


MAX_BYTES = 2**26
"""Most bytes of an answer, unpacked."""


class AnswerStore(Bound):
    """Answers in the database, by run and name; they are deleted with the run."""

    def keep(self, run_id: str, name: str, answer: Any) -> None:
        """Keep an answer's JSON-ready form; raises DataError if it is larger than :data:`MAX_BYTES`."""
        text = json.dumps(answer, allow_nan=False).encode("ascii")
        if len(text) > MAX_BYTES:
            raise DataError(
                f"The answer is larger than the {MAX_BYTES // 2**20} MB that are kept with a run; ask it on "
                "the command line."
            )
        content = zlib.compress(text)
        with to_write(self._engine, alone=f"answers of {run_id}") as connection:
            there = sa.select(runs.c.id).where(runs.c.id == run_id, self._seen(runs.c.project_id))
            if connection.execute(there).first() is None:
                return
            put(connection, answers, {"run_id": run_id, "name": name}, content=content)

    def find(self, run_id: str, name: str) -> Any:
        """Return the answer's JSON-ready form; None if the question was not asked yet."""
        query = sa.select(answers.c.content).where(
            answers.c.run_id == run_id, answers.c.name == name, self._of_seen_run(answers.c.run_id)
        )
        content = self._value(query)
        return None if content is None else unpacked(content)

    def names(self, run_id: str, prefix: str) -> list[str]:
        """Names of the run's answers that begin with `prefix`, in order."""
        query = sa.select(answers.c.name).where(
            answers.c.run_id == run_id,
            answers.c.name.startswith(prefix, autoescape=True),
            self._of_seen_run(answers.c.run_id),
        )
        return sorted(self._values(query))


def unpacked(content: bytes) -> Any:
    """Unpack an answer's JSON-ready form; raises ValueError or zlib.error if it is damaged or too large."""
    unpacking = zlib.decompressobj()
    text = unpacking.decompress(content, MAX_BYTES)
    if not unpacking.eof:
        raise ValueError("too large")
    return json.loads(text)
