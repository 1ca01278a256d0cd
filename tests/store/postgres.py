"""A PostgreSQL server of the tests' own: on a free port, without privileges, gone afterwards."""

import functools
import itertools
import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy import URL, NullPool

from tests.programs import named

_USER = "grasp"
_SCHEMA = "-csearch_path="


def programs() -> Path | None:
    """The folder of initdb and pg_ctl: GRASP_POSTGRES, else where Debian puts the newest version."""
    chosen = named("GRASP_POSTGRES")
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
        schema = f"test_{next(self._numbers)}_"
        self._execute(f"CREATE SCHEMA {schema}")
        return self._url.set(query={"options": f"{_SCHEMA}{schema}"})

    def copy(self, source: URL, target: URL) -> None:
        """Make a database, which has nothing in it, like another one."""
        before, after = (str(url.query["options"]).removeprefix(_SCHEMA) for url in (source, target))
        self._execute(self._dump(before).replace(f"{before}.", f"{after}."))

    @functools.cache  # noqa: B019 - one server lives as long as the tests
    def _dump(self, schema: str) -> str:
        what = [f"--schema={schema}", "--inserts", "--no-owner", "--no-privileges"]
        where = ["--host=127.0.0.1", f"--port={self._port}", f"--username={_USER}", "postgres"]
        command = [str(self._binaries / "pg_dump"), *what, *where]
        found = subprocess.run(command, check=True, cwd="/", capture_output=True, text=True).stdout
        return "\n".join(line for line in found.splitlines() if not line.startswith(("\\", "CREATE SCHEMA")))

    def _execute(self, script: str) -> None:
        with sa.create_engine(self._url, poolclass=NullPool).begin() as connection:
            connection.exec_driver_sql(script)

    @property
    def _url(self) -> URL:
        return URL.create("postgresql+psycopg", _USER, host="127.0.0.1", port=self._port, database="postgres")

    def _run(self, program: str, *arguments: str) -> None:
        command = [*self._as_user, str(self._binaries / program), f"--pgdata={self._folder / 'data'}"]
        subprocess.run(
            [*command, *arguments], check=True, cwd="/", stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL
        )
