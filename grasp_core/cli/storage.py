"""``backup`` and ``restore``: everything a server keeps, as one file."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Engine

from grasp_core.settings import read_settings
from grasp_core.store.backup import Contents, restore_backup, write_backup
from grasp_core.store.database import connect, database_url
from grasp_core.store.people.audit import COMMAND, AuditStore


def fill_backup(backup: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    backup.set_defaults(command=_backup)
    backup.add_argument("file", type=Path, metavar="FILE")


def fill_restore(restore: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    restore.set_defaults(command=_restore)
    restore.add_argument("file", type=Path, metavar="FILE")


def _backup(chosen: argparse.Namespace) -> None:
    with open_database() as engine:
        contents = write_backup(engine, chosen.file)
    print(f"{chosen.file}: {_counted(contents)}")


def _restore(chosen: argparse.Namespace) -> None:
    with open_database() as engine:
        contents = restore_backup(engine, chosen.file)
        AuditStore(engine).record(COMMAND, "restore", "backup", "", {"runs": contents.runs})
    print(f"restored {_counted(contents)}")


@contextlib.contextmanager
def open_database() -> Iterator[Engine]:
    """The database that the settings name."""
    engine = connect(database_url(read_settings()))
    try:
        yield engine
    finally:
        engine.dispose()


def _counted(contents: Contents) -> str:
    return f"{contents.runs:,} runs, {contents.files:,} files, {contents.links:,} links"
