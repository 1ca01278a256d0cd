"""``log``: the audit log as JSON Lines, for whoever has the database."""

from __future__ import annotations

import argparse
from pathlib import Path

from grasp_core.cli.server.storage import open_database
from grasp_core.cli.terminal.messages import say
from grasp_core.cli.terminal.output import check_target, write_text
from grasp_core.model.settings import read_settings
from grasp_core.store.backup import BackupKey, head_in
from grasp_core.store.people.audit import AuditStore


def fill_log(log: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    log.set_defaults(command=_log)
    log.add_argument(
        "--out", type=Path, metavar="FILE", help="write every entry there, one JSON object a line"
    )
    log.add_argument(
        "--since",
        type=Path,
        metavar="BACKUP",
        help="check, too, that the log goes on from where it ended when this backup was written",
    )
    log.add_argument("--seal", action="store_true", help="check it, then seal its end by GRASP_SECRET_KEY")


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
