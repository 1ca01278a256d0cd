"""``backup``, ``restore`` and ``log``: everything a server keeps as one file, and its audit log."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Engine

from grasp_core.cli.parser import option
from grasp_core.cli.terminal.messages import say
from grasp_core.cli.terminal.output import check_target, write_text
from grasp_core.model.access import COMMAND
from grasp_core.model.errors import SettingsError
from grasp_core.model.settings import read_settings
from grasp_core.store.backup import BackupKey, Contents, head_in, new_key, restore_backup, write_backup
from grasp_core.store.database import connect, database_url
from grasp_core.store.people.audit import AuditStore

NOT_RESTORED = (
    "Not in any backup: personal tokens, kept tokens of sources, webhooks and sign-ins."
    " People sign in again and make new ones."
)


def fill_backup(backup: argparse.ArgumentParser) -> None:
    """Add the arguments of ``backup``."""
    backup.set_defaults(command=_backup)
    backup.add_argument("file", type=Path, metavar="FILE")
    words = "write it so that whoever has the file reads it, and can change it"
    option(backup, "--unencrypted", words)


def fill_restore(restore: argparse.ArgumentParser) -> None:
    """Add the arguments of ``restore``."""
    restore.set_defaults(command=_restore)
    restore.add_argument("file", type=Path, metavar="FILE")
    words = "restore one that is not encrypted and signed; its share links are withdrawn"
    option(restore, "--unencrypted", words)


def fill_backup_key(backup_key: argparse.ArgumentParser) -> None:
    """Set the command."""
    backup_key.set_defaults(command=lambda _: print(new_key()))


def fill_log(log: argparse.ArgumentParser) -> None:
    """Add the arguments of ``log``."""
    log.set_defaults(command=_log)
    option(log, "--out FILE", "write every entry there, one JSON object a line", Path)
    option(
        log,
        "--since BACKUP",
        "check, too, that the log goes on from where it ended when this backup was written",
        Path,
    )
    option(log, "--seal", "check it, then seal its end by GRASP_SECRET_KEY")


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


def _log(chosen: argparse.Namespace) -> None:
    check_target(chosen.out)
    with open_database() as engine:
        store = AuditStore(engine)
        if chosen.out is not None:
            write_text(chosen.out, "".join(store.lines()))
        if chosen.seal:
            store.seal()
        secret = read_settings().backup_key
        key = BackupKey(secret) if secret else None
        since = None if chosen.since is None else head_in(chosen.since, key)
        say(f"{store.check(since):,} entries, each as it was written")


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
