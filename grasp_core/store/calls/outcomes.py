"""Outcomes of requests that carry an idempotency key: asked again, they are answered and not done again."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Engine

from grasp_core.errors import LimitError
from grasp_core.store.database import clock, only_one, to_write
from grasp_core.store.digest import digest_of
from grasp_core.store.schema import outcomes

KEPT_HOURS = 24.0
"""How long an outcome is kept."""
_GIVEN_UP_S = 900.0
"""After so long, a request that came to no outcome has died with its server."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a request came to.

    Parameters
    ----------
    status : int
        Of the response.
    body : str
        JSON.
    """

    status: int
    body: str


class OutcomeStore:
    """Outcomes in the database.

    Parameters
    ----------
    engine : sqlalchemy Engine
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def begin(self, key: str, request: str, *, owner: str) -> Outcome | None:
        """Begin to answer a request, or find what the same one came to.

        Parameters
        ----------
        key : str
            Whose and which request it is.
        request : str
            What it asks for.
        owner : str
            The person's id.

        Returns
        -------
        Outcome or None
            None for the first one, which has to be ended by :meth:`end` or :meth:`forget`.

        Raises
        ------
        LimitError
            If the first one is still being answered, or asked for something else.
        """
        named, now = outcomes.c.key == digest_of(key), clock(self._engine)
        lost = outcomes.c.status.is_(None) & (outcomes.c.created_at < now - _GIVEN_UP_S)
        with to_write(self._engine) as connection:
            only_one(connection, f"outcome {digest_of(key)}")
            connection.execute(
                outcomes.delete().where(named, lost | (outcomes.c.created_at < now - KEPT_HOURS * 3600))
            )
            known = connection.execute(sa.select(outcomes).where(named)).one_or_none()
            if known is None:
                row = {
                    "key": digest_of(key),
                    "request": digest_of(request),
                    "owner": owner,
                    "created_at": now,
                }
                connection.execute(outcomes.insert().values(row))
        if known is None:
            return None
        if known.request != digest_of(request):
            raise LimitError("This Idempotency-Key was used for another request; take a new one.")
        if known.status is None:
            raise LimitError("The same request is being answered just now; ask again in a moment.")
        return Outcome(known.status, known.body)

    def end(self, key: str, outcome: Outcome) -> None:
        """Keep what the first request came to."""
        which = outcomes.c.key == digest_of(key)
        with to_write(self._engine) as connection:
            connection.execute(
                outcomes.update().where(which).values(status=outcome.status, body=outcome.body)
            )

    def forget(self, key: str) -> None:
        """Let the request be made again: it changed nothing."""
        which = (outcomes.c.key == digest_of(key)) & outcomes.c.status.is_(None)
        with to_write(self._engine) as connection:
            connection.execute(outcomes.delete().where(which))

    def delete_old(self) -> int:
        """Delete outcomes that are kept no longer; returns how many."""
        old = outcomes.c.created_at < clock(self._engine) - KEPT_HOURS * 3600
        with to_write(self._engine) as connection:
            return connection.execute(outcomes.delete().where(old)).rowcount
