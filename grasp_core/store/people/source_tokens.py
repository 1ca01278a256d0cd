"""Tokens of tools and databases that people asked to have kept, encrypted by whoever hands them over."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Engine

from grasp_core.store.database import clock, only_one, to_read, to_write
from grasp_core.store.schema import source_tokens, storable


@dataclass(frozen=True, slots=True)
class KeptToken:
    """A token as it is kept, and what it opens."""

    site: str
    sealed: bytes
    created_at: float


class SourceTokenStore:
    """Kept tokens in the database, one of a person for each site."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def keep(self, sealed: bytes, *, owner: str, site: str) -> None:
        """Keep a token in place of the person's earlier one for this site."""
        with to_write(self._engine) as connection:
            only_one(connection, f"source tokens of {owner}")
            connection.execute(source_tokens.delete().where(_is(owner, site)))
            row = {"owner": owner, "site": site, "sealed": sealed, "created_at": clock(self._engine)}
            connection.execute(source_tokens.insert().values(row))

    def get(self, *, owner: str, site: str) -> KeptToken | None:
        """A person's token for a site; None where none is kept."""
        return next(iter(self._found(_is(owner, site))), None)

    def forget(self, *, owner: str, site: str) -> bool:
        """Delete a token; whether there was one."""
        with to_write(self._engine) as connection:
            return bool(connection.execute(source_tokens.delete().where(_is(owner, site))).rowcount)

    def _found(self, which: sa.ColumnElement[bool]) -> list[KeptToken]:
        columns = (source_tokens.c.site, source_tokens.c.sealed, source_tokens.c.created_at)
        with to_read(self._engine) as connection:
            rows = connection.execute(sa.select(*columns).where(which).order_by(source_tokens.c.site))
            return [KeptToken(*row) for row in rows]


def _is(owner: str, site: str) -> sa.ColumnElement[bool]:
    return (source_tokens.c.owner == storable(owner)) & (source_tokens.c.site == storable(site))
