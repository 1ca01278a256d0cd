"""Who holds a mail address in databases up to 0018 and backups up to 6: who signed in first of those with it.

As if the rule had held from the beginning: whoever an address passed on to keeps nothing by it.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy import Connection

_people = sa.table("people", *map(sa.column, ("id", "email", "created_at")))
_addresses = sa.table("addresses", *map(sa.column, ("address", "person_id")))


def hold_first(connection: Connection) -> None:
    """Let everybody hold their mail address of whom nobody with the same one signed in before."""
    earlier = _people.alias()
    before = (earlier.c.created_at < _people.c.created_at) | (
        (earlier.c.created_at == _people.c.created_at) & (earlier.c.id < _people.c.id)
    )
    others = sa.select(sa.literal(1)).where(earlier.c.email == _people.c.email, before)
    first = sa.select(_people.c.email, _people.c.id).where(~others.exists())
    connection.execute(_addresses.insert().from_select(["address", "person_id"], first))
