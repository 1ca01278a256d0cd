"""What SQLite's file shows, to whom, and what is left in it."""

import contextlib
import os
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import URL, Engine

from grasp_core.model.errors import StoreError
from grasp_core.store.database import check, connect, to_read
from grasp_core.store.files import FileStore
from grasp_core.store.people.audit import AuditStore
from grasp_core.store.runs import RunStore
from tests.empty_store import open_store
from tests.store.making import create

BESIDE = ("", "-wal", "-shm")


def address(folder: Path) -> URL:
    return URL.create("sqlite", database=str(folder / "grasp.db"))


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[Engine]:
    engine = open_store(address(tmp_path))
    yield engine
    engine.dispose()


def found_in(folder: Path, secret: bytes) -> list[str]:
    """Files of a folder that hold some bytes."""
    return [path.name for path in folder.rglob("*") if path.is_file() and secret in path.read_bytes()]


@pytest.mark.parametrize("rights", [0o700, 0o755, 0o777])
def test_others_cannot_read_the_files_whatever_the_folder(tmp_path: Path, rights: int) -> None:
    home = tmp_path / "home"
    home.mkdir()
    home.chmod(rights)
    before = os.umask(0)
    try:
        engine = connect(address(home))
        create(RunStore(engine))
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in home.iterdir()}
    finally:
        os.umask(before)
    engine.dispose()
    assert modes == {f"grasp.db{beside}": 0o600 for beside in BESIDE}


def test_files_that_were_open_to_others_are_closed(tmp_path: Path) -> None:
    first = connect(address(tmp_path))
    create(RunStore(first))
    for path in tmp_path.iterdir():
        path.chmod(0o666)
    second = connect(address(tmp_path))
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}
    second.dispose()
    first.dispose()


def test_nothing_of_a_deleted_file_stays_on_the_disk(tmp_path: Path, sqlite: Engine) -> None:
    files = FileStore(sqlite)
    secret = os.urandom(64)  # not compressible: it is on the disk as it is here
    content = os.urandom(50_000) + secret + os.urandom(3_000_000)
    sha256 = files.put(content, owner="ann")
    kept = files.put(b"somebody else's", owner="bob")
    assert found_in(tmp_path, secret)
    files.delete(sha256, owner="ann")
    assert found_in(tmp_path, secret) == []
    left = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert not any(content[at : at + 32] in left for at in range(0, len(content), 4096))
    assert files.get(kept) == b"somebody else's"


def test_a_reader_in_the_way_delays_it_until_the_next_deletion(tmp_path: Path, sqlite: Engine) -> None:
    files = FileStore(sqlite)
    secret = os.urandom(64)
    sha256 = files.put(secret, owner="ann")
    with to_read(sqlite) as connection:
        connection.exec_driver_sql("SELECT count(*) FROM files").all()
        files.delete(sha256, owner="ann")
        assert files.get(sha256) is None
    files.delete(sha256, owner="ann")
    assert found_in(tmp_path, secret) == []


def test_nothing_is_written_to_a_file_that_is_gone(tmp_path: Path, sqlite: Engine) -> None:
    runs = RunStore(sqlite)
    create(runs)
    (tmp_path / "grasp.db").unlink()
    with pytest.raises(StoreError, match="database file is gone"):
        create(runs, "another question")
    sqlite.dispose()
    with pytest.raises(StoreError):
        runs.counts()
    assert not (tmp_path / "grasp.db").exists()


def test_a_file_that_another_process_is_making_is_waited_for(tmp_path: Path) -> None:
    with contextlib.closing(
        sqlite3.connect(tmp_path / "grasp.db", isolation_level=None, check_same_thread=False)
    ) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("CREATE TABLE being_made (id INTEGER)")
        ended = threading.Timer(0.3, lambda: other.execute("ROLLBACK"))
        ended.start()
        connect(address(tmp_path)).dispose()
        ended.join()


def test_a_database_without_its_tables_is_said_to_be_unreadable(tmp_path: Path, sqlite: Engine) -> None:
    with sqlite.begin() as connection:
        connection.exec_driver_sql("PRAGMA foreign_keys=OFF")
        connection.exec_driver_sql("ALTER TABLE runs RENAME TO gone")
    with pytest.raises(StoreError, match="cannot be read"):
        check(sqlite)


SERVER = """
import sys
import sqlalchemy
from grasp_core.store.database import check, connect
from grasp_core.store.people.audit import AuditStore

url = sqlalchemy.make_url(sys.argv[1])
engine = connect(url)
AuditStore(engine).record("server", "run", "run", "before")
for look in sys.argv[2:]:
    check(engine) if look == "checks" else connect(url)
print("ready", flush=True)
sys.stdin.readline()
AuditStore(engine).record("server", "run", "run", "after")
print("written", flush=True)
sys.stdin.readline()
"""


@pytest.mark.parametrize("does", ["checks", "connects again"])
def test_what_a_server_that_has_looked_at_its_file_writes_is_there_after_a_kill(tmp_path, does: str) -> None:
    command = [sys.executable, "-c", SERVER, str(address(tmp_path)), does]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin
        assert server.stdout
        try:
            assert server.stdout.readline() == "ready\n"
            another = connect(address(tmp_path))  # in this process
            for written in ("before", "after"):
                AuditStore(another).record("server", "run", "run", written)
            another.dispose()
            server.stdin.write("\n")
            server.stdin.flush()
            assert server.stdout.readline() == "written\n"
        finally:
            server.kill()
    with contextlib.closing(sqlite3.connect(tmp_path / "grasp.db")) as after:
        assert after.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        named = [object_id for (object_id,) in after.execute("SELECT object_id FROM audit ORDER BY number")]
    assert named == ["before", "before", "after", "after"]


def test_a_file_overwritten_under_the_log_is_said_to_be_unreadable(tmp_path: Path, sqlite: Engine) -> None:
    check(sqlite)
    create(RunStore(sqlite))
    check(sqlite)
    with (tmp_path / "grasp.db").open("r+b") as file:
        file.write(b"this is no database")
    with pytest.raises(StoreError, match="cannot be read"):
        check(sqlite)
