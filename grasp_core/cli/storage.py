"""``backup`` and ``restore``: everything a server keeps, as one file."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

from grasp_core.settings import read_settings
from grasp_core.store.backup import Contents, restore_backup, write_backup
from grasp_core.store.database import connect, database_url


def add_storage(commands: Any) -> None:
    """Add the commands to the parser."""
    backup = commands.add_parser("backup", help="write all that the server keeps to one file")
    backup.set_defaults(command=_backup)
    restore = commands.add_parser("restore", help="read such a file into an empty server's database")
    restore.set_defaults(command=_restore)
    for command in (backup, restore):
        command.add_argument("file", type=Path, metavar="FILE")


def _backup(chosen: argparse.Namespace) -> None:
    with _database() as engine:
        contents = write_backup(engine, chosen.file)
    print(f"{chosen.file}: {_counted(contents)}")


def _restore(chosen: argparse.Namespace) -> None:
    with _database() as engine:
        contents = restore_backup(engine, chosen.file)
    print(f"restored {_counted(contents)}")


@contextlib.contextmanager
def _database() -> Iterator[Engine]:
    """The database that the settings name."""
    engine = connect(database_url(read_settings()))
    try:
        yield engine
    finally:
        engine.dispose()


def _counted(contents: Contents) -> str:
    return (
        f"{contents.runs:,} runs, {contents.files:,} files, {contents.documents:,} documents, "
        f"{contents.links:,} links"
    )
