"""A PostgreSQL server of the tests' own: on a free port, without privileges, gone afterwards."""

from __future__ import annotations

import itertools
import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy import URL, NullPool

_USER = "grasp"


def programs() -> Path | None:
    """The folder of initdb and pg_ctl: GRASP_POSTGRES, else where Debian puts the newest version."""
    chosen = os.environ.get("GRASP_POSTGRES")
    found = [Path(chosen)] if chosen else sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=_version)
    return found[-1] if found and (found[-1] / "initdb").exists() else None


def _version(folder: Path) -> int:
    return int(folder.parent.name) if folder.parent.name.isdigit() else 0


class Postgres:
    """A server; started when made."""

    def __init__(self, binaries: Path) -> None:
        self._binaries = binaries
        self._folder = Path(tempfile.mkdtemp(prefix="grasp-postgres-"))
        self._numbers = itertools.count()
        # PostgreSQL refuses to run as root; Debian's package brings a user for it.
        self._as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        if self._as_user:
            shutil.chown(self._folder, "postgres")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self._run("initdb", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C", "-U", _USER)
        self.start()

    def start(self) -> None:
        options = f"-p {self._port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off"
        self._run("pg_ctl", "start", "--wait", "--silent", f"--log={self._folder / 'log'}", "-o", options)

    def stop(self) -> None:
        """At once, as in a failure: open connections break."""
        self._run("pg_ctl", "stop", "--wait", "--silent", "--mode=immediate")

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self._folder)

    def new_database(self) -> URL:
        """A schema with nothing in it: made and deleted much sooner than a database, and as good as one."""
        schema = f"test_{next(self._numbers)}"
        url = URL.create("postgresql+psycopg", _USER, host="127.0.0.1", port=self._port, database="postgres")
        with sa.create_engine(url, poolclass=NullPool).begin() as connection:
            connection.exec_driver_sql(f"CREATE SCHEMA {schema}")
        return url.set(query={"options": f"-csearch_path={schema}"})

    def _run(self, program: str, *arguments: str) -> None:
        command = [*self._as_user, str(self._binaries / program), f"--pgdata={self._folder / 'data'}"]
        subprocess.run(
            [*command, *arguments], check=True, cwd="/", stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL
        )
