"""Runs and submissions that become somebody else's, who may have the same."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy import Connection

from grasp_core.store.schema import runs, submissions


def tell_apart(connection: Connection, owners: Sequence[str], heir: str) -> None:
    """Before what is these owners' becomes the heir's, let nothing be twice that one person has once.

    A run of a question that the heir would have twice stays like a result that was brought along: no question
    finds it. A submission that the heir has, too, goes.
    """
    others = runs.alias()
    same = (others.c.project_id == runs.c.project_id) & (others.c.key == runs.c.key)
    earlier = others.c.owner.in_(owners) & (others.c.id < runs.c.id)
    twice = sa.select(others.c.id).where(same, (others.c.owner == heir) | earlier).exists()
    connection.execute(runs.update().where(runs.c.owner.in_(owners), twice).values(key=None))
    twin = submissions.alias()
    alike = (twin.c[name] == submissions.c[name] for name in ("project_id", "sha256", "name"))
    earlier = twin.c.owner.in_(owners) & (twin.c.id < submissions.c.id)
    twice = sa.select(twin.c.id).where(*alike, (twin.c.owner == heir) | earlier).exists()
    connection.execute(submissions.delete().where(submissions.c.owner.in_(owners), twice))
