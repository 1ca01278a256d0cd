"""Feeds: addresses at which feed readers, who cannot sign in, find what came of watches.

An address's token has 256 random bits and is stored as its sha256 only; withdrawn, it is gone. An address
that a personal token made works no longer than that.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from grasp_core.errors import LimitError, StoreError
from grasp_core.store.bound import Bound
from grasp_core.store.database import clock, new_id, only_one, to_read, to_write
from grasp_core.store.digest import digest_of
from grasp_core.store.schema import feeds, storable, tokens, watches

TOKEN_BYTES = 32
MOST = 100
"""Feeds that one person may have."""
_NOTED_S = 60.0
"""The last use is noted once in so many seconds."""


@dataclass(frozen=True, slots=True)
class Feed:
    """A feed as its maker sees it; its address is shown once and not kept.

    Parameters
    ----------
    id, project, owner : str
    watch : str or None
        Id of the watch that it is about; None for all of its maker's in the project.
    created_at : float
    last_used_at : float or None
    """

    id: str
    project: str
    owner: str
    watch: str | None
    created_at: float
    last_used_at: float | None


class FeedStore(Bound):
    """Feeds of a project; a token opens what it opens for whoever brings it."""

    def create(self, *, owner: str, watch: str | None = None, made_by_token: str | None = None) -> str:
        """Make a feed of one watch, or of all of the person's; returns its token, kept by nobody.

        Parameters
        ----------
        owner : str
        watch : str, optional
        made_by_token : str, optional
            Id of the personal token with which the feed is to end.

        Raises
        ------
        LimitError
            If the person has too many.
        StoreError
            If there is no such watch in the project (any more).
        """
        token, owner = secrets.token_urlsafe(TOKEN_BYTES), storable(owner)
        row = {"id": new_id(), "project_id": self._home, "watch_id": watch, "owner": owner}
        row |= {"token_sha256": digest_of(token), "created_at": clock(self._engine)}
        row |= {"made_by_token": made_by_token}
        theirs = sa.select(sa.func.count()).where(feeds.c.owner == owner, self._works())
        there = sa.select(watches.c.id).where(watches.c.id == watch, watches.c.project_id == self._home)
        try:
            with to_write(self._engine) as connection:
                only_one(connection, f"feeds of {owner}")
                if connection.execute(theirs).scalar_one() >= MOST:
                    raise LimitError(f"You have {MOST} feeds, the most there may be; withdraw one first.")
                if watch is not None and connection.execute(there).first() is None:
                    raise StoreError("The watch was deleted.")
                connection.execute(feeds.insert().values(row))
        except IntegrityError:
            raise StoreError("The project, the watch or the token was deleted.") from None
        return token

    def use(self, token: str) -> Feed | None:
        """The feed that a token opens, its use noted; None if it is unknown or withdrawn."""
        now, which = clock(self._engine), (feeds.c.token_sha256 == digest_of(token)) & self._works()
        stale = sa.func.coalesce(feeds.c.last_used_at < now - _NOTED_S, sa.true()).label("stale")
        with to_read(self._engine) as connection:
            row = connection.execute(sa.select(feeds, stale).where(which)).one_or_none()
        if row is None:
            return None
        if row.stale:
            with to_write(self._engine) as connection:
                connection.execute(feeds.update().where(which).values(last_used_at=now))
        return _feed(row)

    def of(self, owner: str) -> list[Feed]:
        """A person's feeds in the project, latest first."""
        query = (
            sa.select(feeds)
            .where(feeds.c.project_id == self._home, feeds.c.owner == storable(owner), self._works())
            .order_by(feeds.c.created_at.desc(), feeds.c.id)
        )
        with to_read(self._engine) as connection:
            return [_feed(row) for row in connection.execute(query)]

    def withdraw(self, feed_id: str, *, owner: str) -> bool:
        """Make a feed of one's own stop working for good; returns whether there was one."""
        which = (feeds.c.id == feed_id) & (feeds.c.owner == storable(owner))
        with to_write(self._engine) as connection:
            gone = feeds.delete().where(which, self._seen(feeds.c.project_id))
            return bool(connection.execute(gone).rowcount)

    def _works(self) -> sa.ColumnElement[bool]:
        working = sa.select(tokens.c.id).where(
            tokens.c.revoked_at.is_(None), tokens.c.expires_at > clock(self._engine)
        )
        return feeds.c.made_by_token.is_(None) | feeds.c.made_by_token.in_(working)


def _feed(row: Any) -> Feed:
    return Feed(row.id, row.project_id, row.owner, row.watch_id, row.created_at, row.last_used_at)
