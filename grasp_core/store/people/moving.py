"""Runs moved from one project to another, with their files and links."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import IntegrityError

from grasp_core.access import Reach
from grasp_core.errors import AccessError, StoreError
from grasp_core.store.database import insert_from, only_one, to_write
from grasp_core.store.schema import chunks, files, links, projects, run_files, runs


def move(engine: Engine, run_id: str, project_id: str, reach: Reach) -> None:
    """Let a run that has ended belong to another project; its address and its links stay the same.

    Its files are copied, for other runs of its earlier project may need them too.

    Parameters
    ----------
    engine : sqlalchemy Engine
    run_id, project_id : str
    reach : Reach
        Of whoever moves it; that they own both projects is asked of :class:`~grasp_core.access.User` before.

    Raises
    ------
    AccessError
        If one of the two is out of reach or gone, or the project is archived.
    StoreError
        If the run has not ended, or the project holds its owner's run of the same question.
    """
    with to_write(engine) as connection:
        only_one(connection, "new run")
        asked = sa.select(runs.c.project_id, runs.c.state).where(runs.c.id == run_id)
        run = connection.execute(asked).first()
        target = connection.execute(sa.select(projects).where(projects.c.id == project_id)).first()
        seen = reach.projects
        if run is None or target is None or (seen is not None and not {run.project_id, project_id} <= seen):
            raise AccessError("The run or the project is not there any more, or not for you.")
        if target.archived_at is not None:
            raise AccessError("This project is archived, so nothing is added to it.")
        if run.state in ("queued", "running"):
            raise StoreError("A run is moved once it has ended; wait for it, or cancel it first.")
        if run.project_id != project_id:
            _copy_files(connection, run_id, run.project_id, project_id)
            _assign(connection, run_id, project_id)


def _copy_files(connection: Connection, run_id: str, source: str, target: str) -> None:
    """The run's files, as far as they are still there and the other project does not have them."""
    of_run = sa.select(run_files.c.sha256).where(run_files.c.run_id == run_id).distinct()
    for sha256 in sorted(connection.execute(of_run).scalars()):
        only_one(connection, f"file {sha256}")
        known = sa.select(files.c.bytes).where(files.c.project_id == target, files.c.sha256 == sha256)
        if connection.execute(known).first() is not None:
            continue
        for table in (files, chunks):
            insert_from(connection, table, {"project_id": target}, {"project_id": source, "sha256": sha256})


def _assign(connection: Connection, run_id: str, project_id: str) -> None:
    try:
        connection.execute(runs.update().where(runs.c.id == run_id).values(project_id=project_id))
    except IntegrityError:
        raise StoreError("The project holds its owner's run of the same data and settings already.") from None
    connection.execute(links.update().where(links.c.run_id == run_id).values(project_id=project_id))
