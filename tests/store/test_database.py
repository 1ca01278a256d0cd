"""Opening, upgrading, filling, damaging and losing the database itself."""

import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy import URL, Engine, event

from grasp_core.engine import saved_runs
from grasp_core.model.errors import SettingsError, StoreError
from grasp_core.model.settings import Settings
from grasp_core.store import claims as claims_module
from grasp_core.store.database import MOST_WRITERS, POOL, connect, database_url, to_read, to_write
from grasp_core.store.files import FileStore
from grasp_core.store.runs import RunStore
from grasp_core.store.schema import metadata
from tests.engine.asking import known_answer, wait_until
from tests.engine.serving import ask, in_progress, now, result_digits, serving
from tests.store.both import on_both, on_both_bare
from tests.store.conftest import NewDatabase
from tests.store.making import RESULT, create
from tests.store.postgres import Postgres

ROOT = Path(__file__).resolve().parents[2]


def tables(url: URL) -> set[str]:
    engine = connect(url)
    found = set(sa.inspect(engine).get_table_names())
    engine.dispose()
    return found


@on_both_bare
def test_threads_that_open_a_new_database_at_once(bare_database: NewDatabase) -> None:
    url = bare_database()
    with ThreadPoolExecutor(4) as servers:
        found = list(servers.map(tables, [url] * 4))
    assert all(names == {*metadata.tables, "alembic_version"} for names in found)


TWO_SERVERS = """
import os, sys
import sqlalchemy
from grasp_core.store.database import connect

for address in sys.argv[1:]:
    second = os.fork()
    connect(sqlalchemy.make_url(address)).dispose()
    if second == 0:
        os._exit(0)
    if os.waitpid(second, 0)[1]:
        sys.exit(f"the second server did not open {address}")
"""


def test_servers_that_open_a_new_database_at_once(tmp_path: Path, postgres: Postgres) -> None:
    """Processes of one that has everything imported, so that they begin together."""
    urls = (URL.create("sqlite", database=str(tmp_path / "new.db")), postgres.new_database())
    addresses = [url.render_as_string(hide_password=False) for url in urls]
    subprocess.run([sys.executable, "-c", TWO_SERVERS, *addresses], cwd=ROOT, check=True, timeout=240)


@on_both
def test_who_waits_to_write_keeps_nobody_from_reading(engine: Engine) -> None:
    """As many as have no place in the pool; they all write once the first has."""
    most = 1 if engine.dialect.name == "sqlite" else MOST_WRITERS
    many, begun = 2 * POOL["pool_size"], threading.Semaphore(0)

    def write(_: int) -> None:
        begun.release()
        with to_write(engine, alone="this"):
            pass

    with ThreadPoolExecutor(many) as threads:
        with to_write(engine, alone="this"):
            written = threads.map(write, range(many))
            for _ in range(many):
                begun.acquire()
            wait_until(lambda: engine.pool.checkedout() == most)
            with to_read(engine) as connection:
                assert connection.scalar(sa.select(1)) == 1
            assert engine.pool.checkedout() == most
        assert len([*written]) == many


def test_the_default_is_a_file_in_the_home_folder(tmp_path: Path) -> None:
    home = tmp_path / "not there yet" / "50% of #1?x=y"
    url = database_url(Settings(home=str(home)))
    connect(url).dispose()
    assert (home / "grasp.db").is_file()


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_postgresql_is_named_as_elsewhere(scheme: str) -> None:
    url = database_url(Settings(database_url=f"{scheme}://u:p%40ss@db.example:5433/grasp?sslmode=require"))
    assert (url.drivername, url.username, url.password) == ("postgresql+psycopg", "u", "p@ss")
    assert (url.host, url.port, url.database) == ("db.example", 5433, "grasp")
    assert url.query == {"sslmode": "require"}


@pytest.mark.parametrize(
    "text",
    ["grasp.db", "mysql://u:secret@h/d", "postgresql://u:secret@h:port/d", "secret", "://", "oracle://"],
)
def test_an_address_that_cannot_be_used_is_not_quoted(text: str) -> None:
    with pytest.raises(SettingsError, match="GRASP_DATABASE_URL must look like") as raised:
        database_url(Settings(database_url=text))
    assert "secret" not in str(raised.value)
    assert raised.value.__context__ is None  # nor in a traceback


def test_a_home_or_server_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="GRASP_HOME cannot be used: Not a directory"):
        connect(URL.create("sqlite", database=str(tmp_path / "file" / "home" / "grasp.db")))
    with pytest.raises(StoreError, match="The database cannot be reached"):
        connect(URL.create("postgresql+psycopg", "grasp", host="127.0.0.1", port=1, database="grasp"))


def test_a_database_that_may_not_be_written_is_a_sentence(postgres: Postgres) -> None:
    url = postgres.new_database()
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE ROLE reader LOGIN")
    engine.dispose()
    with pytest.raises(StoreError, match="does not let GRASP make its tables"):
        connect(url.set(username="reader"))


@pytest.mark.parametrize("content", [b"this is no database" * 100, b"SQLite format 3\x00" + b"\xff" * 5000])
def test_a_file_that_is_no_database_is_a_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "grasp.db").write_bytes(content)
    with pytest.raises(StoreError, match=r"damaged; restore a backup|cannot be reached"):
        connect(URL.create("sqlite", database=str(tmp_path / "grasp.db")))
    assert (tmp_path / "grasp.db").read_bytes() == content


def test_a_damaged_page_is_a_sentence(tmp_path: Path) -> None:
    url = URL.create("sqlite", database=str(tmp_path / "grasp.db"))
    engine = connect(url)
    FileStore(engine).put(os.urandom(100_000), owner="ann")
    engine.dispose()
    size = (tmp_path / "grasp.db").stat().st_size
    with (tmp_path / "grasp.db").open("r+b") as file:
        for page in range(size // 4096 - 20, size // 4096):
            file.seek(page * 4096)
            file.write(b"\xff" * 4096)
    engine = connect(url)
    with pytest.raises(StoreError):
        FileStore(engine).delete_unneeded(older_than_hours=-1.0)
    engine.dispose()


@contextmanager
def small_disk(folder: Path) -> Iterator[Callable[[], None]]:
    """A file system of 3 MB in `folder`; yields what makes it larger."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pages = [700]

        def limit(connection: sqlite3.Connection, *_: object) -> None:
            connection.execute(f"PRAGMA max_page_count={pages[0]}")

        event.listen(sa.Pool, "checkout", limit)
        try:
            yield lambda: pages.__setitem__(0, 10**6)
        finally:
            event.remove(sa.Pool, "checkout", limit)
        return
    try:
        yield lambda: subprocess.run(["mount", "-o", "remount,size=1g", str(folder)], check=True)
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def on_disk(folder: Path) -> tuple[URL, Path]:
    path = folder / "disk" / "grasp.db"
    path.parent.mkdir()
    return URL.create("sqlite", database=str(path)), path


def fill(files: FileStore) -> None:
    while True:
        files.put(os.urandom(50_000), owner="ann")


def intact(path: Path) -> bool:
    with closing(sqlite3.connect(path)) as plain:
        return plain.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_a_full_disk_is_a_sentence_and_nothing_is_lost(monkeypatch, tmp_path: Path, caplog) -> None:
    monkeypatch.setattr(saved_runs, "SAVE_SECONDS", 0.05)
    monkeypatch.setattr(claims_module, "LEASE_SECONDS", 1.0)
    url, path = on_disk(tmp_path)
    with small_disk(path.parent) as make_larger:
        with serving(url) as service:
            kept = service.runs.add(RESULT, title="Kept", owner="ann")
            first = service.files.put(b"kept", owner="ann")
            record = ask(service, permutations=20_000)
            in_progress(service, record)
            with pytest.raises(StoreError, match="disk that holds GRASP's database is full; nothing saved"):
                fill(service.files)
            wait_until(lambda: "not saved yet: The disk" in caplog.text)
            assert service.runs.result(kept.id) == RESULT
            assert service.files.get(first) == b"kept"
            make_larger()
            assert result_digits(service, record) == known_answer(permutations=20_000)
            assert now(service, record).attempt == 1
            large = service.files.put(b"x" * 5_000_000, owner="ann")
            assert service.files.get(large) == b"x" * 5_000_000
        assert intact(path)


# A database that goes away and comes back


@pytest.mark.long
def test_a_run_survives_a_database_that_is_away(monkeypatch, postgres: Postgres, caplog) -> None:
    monkeypatch.setattr(saved_runs, "SAVE_SECONDS", 0.05)
    monkeypatch.setattr(saved_runs, "POLL_SECONDS", 0.05)
    monkeypatch.setattr(claims_module, "LEASE_SECONDS", 0.5)
    with serving(postgres.new_database()) as service:
        record = ask(service, permutations=150_000)
        in_progress(service, record)
        postgres.stop()
        try:
            sentence = "The database (cannot be reached|went away); try again in a moment"
            with pytest.raises(StoreError, match=sentence):
                service.runs.get(record.id)
            with pytest.raises(StoreError, match=sentence):
                ask(service, seed=2)
            wait_until(lambda: "not saved yet" in caplog.text)
            wait_until(lambda: "no run could be claimed" in caplog.text)
            before = service.progress(record).done
            wait_until(lambda: service.progress(record).done > before)  # it goes on meanwhile
        finally:
            postgres.start()
        assert result_digits(service, record) == known_answer(permutations=150_000)
        assert now(service, record).attempt == 1
        assert ask(service, seed=2).state == "queued"
    assert "Traceback" not in caplog.text


def test_a_run_that_ends_while_the_database_is_away_is_saved(monkeypatch, postgres: Postgres, caplog) -> None:
    monkeypatch.setattr(claims_module, "LEASE_SECONDS", 0.5)
    with serving(postgres.new_database()) as service:
        record = ask(service, permutations=20_000)
        in_progress(service, record)
        postgres.stop()
        try:
            wait_until(lambda: service.progress(record).done == 20_000)
        finally:
            postgres.start()
        assert result_digits(service, record) == known_answer(permutations=20_000)
        assert now(service, record).attempt == 1


@on_both
def test_requests_are_saved_in_one_piece(new_database: NewDatabase) -> None:
    engine = connect(new_database())
    store = RunStore(engine)
    with pytest.raises(sa.exc.IntegrityError):
        create(store, files=(("votes.csv", None),))  # type: ignore[arg-type]
    assert store.search() == []
    engine.dispose()
