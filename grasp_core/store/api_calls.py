"""Stores of the API: outcomes of requests, and webhooks, which are addresses to notify of ended runs."""

from dataclasses import dataclass

import sqlalchemy as sa

from grasp_core.model.errors import LimitError
from grasp_core.store.base import Store, from_row, put
from grasp_core.store.claims import ENDED
from grasp_core.store.database import digest_of, insert_new, new_id, to_write
from grasp_core.store.schema import outcomes, runs, webhook_keys, webhooks

KEPT_HOURS = 24.0
"""Hours for which an outcome is kept."""
_GIVEN_UP_S = 900.0
"""Seconds after which a request without an outcome counts as lost with its server."""


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """Outcome of a request: status and JSON of the response."""

    status: int
    body: str


class OutcomeStore(Store):
    """Outcomes in the database."""

    def begin(self, key: str, request: str, *, owner: str) -> CallOutcome | None:
        """Begin to answer a request, or return the outcome of the first request with this key.

        Returns None for the first request, which has to be ended by :meth:`end` or :meth:`forget`. Raises
        LimitError if the first one is still being answered, or was a different request.
        """
        named, now = outcomes.c.key == digest_of(key), self._now
        lost = outcomes.c.status.is_(None) & (outcomes.c.created_at < now - _GIVEN_UP_S)
        with to_write(self._engine, alone=f"outcome {digest_of(key)}") as connection:
            connection.execute(
                outcomes.delete().where(named, lost | (outcomes.c.created_at < now - KEPT_HOURS * 3600))
            )
            known = connection.execute(sa.select(outcomes).where(named)).one_or_none()
            if known is None:
                row = {"key": digest_of(key), "request": digest_of(request), "owner": owner}
                connection.execute(outcomes.insert().values(created_at=now, **row))
        if known is None:
            return None
        if known.request != digest_of(request):
            raise LimitError("This Idempotency-Key was used for another request; take a new one.")
        if known.status is None:
            raise LimitError("The same request is being answered just now; ask again in a moment.", seconds=2)
        return CallOutcome(known.status, known.body)

    def end(self, key: str, outcome: CallOutcome) -> None:
        """Keep the outcome of the first request."""
        which = outcomes.c.key == digest_of(key)
        self._write(outcomes.update().where(which).values(status=outcome.status, body=outcome.body))

    def forget(self, key: str) -> None:
        """Let the request be made again: it changed nothing."""
        which = (outcomes.c.key == digest_of(key)) & outcomes.c.status.is_(None)
        self._write(outcomes.delete().where(which))

    def delete_old(self) -> int:
        """Delete outcomes older than :data:`KEPT_HOURS`; returns how many."""
        old = outcomes.c.created_at < self._now - KEPT_HOURS * 3600
        return self._write(outcomes.delete().where(old))


LEASE_SECONDS = 120.0
"""Seconds that a server has to send the messages that it took."""
_AT_ONCE = 20


@dataclass(frozen=True, slots=True)
class Due:
    """A message that is to be sent now; `attempts` counts the attempts that failed."""

    id: str
    run_id: str
    owner: str
    url: str
    state: str
    attempts: int
    finished_at: float


class WebhookStore(Store):
    """Webhooks in the database."""

    def add(self, run_id: str, url: str, *, owner: str) -> None:
        """Notify an address once when the run ends; at once if it has ended."""
        with to_write(self._engine) as connection:
            values = {"run_id": run_id, "url": url, "owner": owner}
            put(connection, webhooks, values, id=new_id(), next_at=self._now)

    def key_number(self, owner: str) -> int:
        """Return how many times a person's key was replaced."""
        return self._value(sa.select(webhook_keys.c.number).where(webhook_keys.c.owner == owner)) or 0

    def roll_key(self, owner: str) -> None:
        """Replace a person's key, by counting one more."""
        number = webhook_keys.c.number
        with to_write(self._engine) as connection:
            insert_new(connection, webhook_keys, [{"owner": owner, "number": 0}])
            connection.execute(
                webhook_keys.update().where(webhook_keys.c.owner == owner).values(number=number + 1)
            )

    def take(self) -> list[Due]:
        """Take the messages that are due; no other server takes them for :data:`LEASE_SECONDS`."""
        now = self._now
        ended = runs.c.state.in_(ENDED) & (webhooks.c.next_at <= now)
        query = (
            sa.select(webhooks, runs.c.state, runs.c.finished_at)
            .select_from(webhooks.join(runs))
            .where(ended)
            .order_by(webhooks.c.next_at)
            .limit(_AT_ONCE)
        )
        with to_write(self._engine, alone="webhooks") as connection:
            rows = connection.execute(query).all()
            taken = webhooks.c.id.in_([row.id for row in rows])
            connection.execute(webhooks.update().where(taken).values(next_at=now + LEASE_SECONDS))
        return [from_row(Due, row, finished_at=row.finished_at or 0.0) for row in rows]

    def done(self, webhook_id: str) -> None:
        """Delete a webhook whose message was sent, or given up."""
        self._write(webhooks.delete().where(webhooks.c.id == webhook_id))

    def later(self, webhook_id: str, seconds: float) -> None:
        """Count a failed attempt, and try again after so many seconds."""
        which, now = webhooks.c.id == webhook_id, self._now
        self._write(
            webhooks.update().where(which).values(attempts=webhooks.c.attempts + 1, next_at=now + seconds)
        )
