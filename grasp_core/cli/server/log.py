"""``log``: the audit log as JSON Lines, for whoever has the database."""

from __future__ import annotations

import argparse
from pathlib import Path

from grasp_core.cli.server.storage import open_database
from grasp_core.cli.terminal.output import check_target, write_text
from grasp_core.store.people.audit import AuditStore


def fill_log(log: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    log.set_defaults(command=_log)
    log.add_argument(
        "--out", type=Path, metavar="FILE", help="write every entry there, one JSON object a line"
    )


def _log(chosen: argparse.Namespace) -> None:
    check_target(chosen.out)
    with open_database() as engine:
        store = AuditStore(engine)
        if chosen.out is not None:
            write_text(chosen.out, "".join(store.lines()))
        print(f"{store.check():,} entries, each as it was written")
