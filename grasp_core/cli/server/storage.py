"""``backup`` and ``restore``: everything a server keeps, as one file."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Engine

from grasp_core.model.access import COMMAND
from grasp_core.model.errors import SettingsError
from grasp_core.model.settings import read_settings
from grasp_core.store.backup import BackupKey, Contents, new_key, restore_backup, write_backup
from grasp_core.store.database import connect, database_url
from grasp_core.store.people.audit import AuditStore

NOT_RESTORED = (
    "Not in any backup: personal tokens, kept tokens of sources, webhooks and sign-ins."
    " People sign in again and make new ones."
)


def fill_backup(backup: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    backup.set_defaults(command=_backup)
    backup.add_argument("file", type=Path, metavar="FILE")
    _add_unencrypted(backup, "write it so that whoever has the file reads it, and can change it")


def fill_restore(restore: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    restore.set_defaults(command=_restore)
    restore.add_argument("file", type=Path, metavar="FILE")
    _add_unencrypted(restore, "restore one that is not encrypted and signed; its share links are withdrawn")


def fill_backup_key(backup_key: argparse.ArgumentParser) -> None:
    """Set the command."""
    backup_key.set_defaults(command=lambda _: print(new_key()))


def _add_unencrypted(parser: argparse.ArgumentParser, help_text: str) -> None:
    parser.add_argument("--unencrypted", action="store_true", help=help_text)


def _key(chosen: argparse.Namespace) -> BackupKey | None:
    if chosen.unencrypted:
        return None
    text = read_settings().backup_key
    if not text:
        raise SettingsError(
            "GRASP_BACKUP_KEY is not set: the command backup-key makes one; --unencrypted does without"
        )
    return BackupKey(text)


def _backup(chosen: argparse.Namespace) -> None:
    key = _key(chosen)
    with open_database() as engine:
        contents = write_backup(engine, chosen.file, key)
    print(f"{chosen.file}: {_counted(contents)}")


def _restore(chosen: argparse.Namespace) -> None:
    key = _key(chosen)
    with open_database() as engine:
        contents = restore_backup(engine, chosen.file, key)
        details = {"runs": contents.runs, "encrypted": key is not None}
        AuditStore(engine).record(COMMAND, "restore", "backup", "", details)
    print(f"restored {_counted(contents)}")
    print(NOT_RESTORED)


@contextlib.contextmanager
def open_database() -> Iterator[Engine]:
    """The database that the settings name."""
    settings = read_settings()
    engine = connect(database_url(settings), settings.secret_key)
    try:
        yield engine
    finally:
        engine.dispose()


def _counted(contents: Contents) -> str:
    return f"{contents.runs:,} runs, {contents.files:,} files, {contents.links:,} links"
