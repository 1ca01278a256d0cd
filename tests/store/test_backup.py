"""Backup and restore: from either database to either, and nothing at all from a file that is not right."""

import contextlib
import gzip
import hashlib
import io
import os
import re
import sqlite3
import stat
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyrage
import pytest
import sqlalchemy as sa
from pyrage import x25519
from sqlalchemy import URL, Engine

from grasp_core import cli
from grasp_core.cli.server import NOT_RESTORED
from grasp_core.model.access import Identity, only
from grasp_core.model.errors import DataError, StoreError
from grasp_core.store import backup as backup_module
from grasp_core.store.backup import BackupKey, Contents, new_key, restore_backup, write_backup
from grasp_core.store.files import CHUNK_BYTES, FileStore
from grasp_core.store.links import LinkStore, Target
from grasp_core.store.people.credentials import TokenStore
from grasp_core.store.people.people import PeopleStore
from grasp_core.store.people.projects import Member, ProjectStore
from grasp_core.store.readings import ReadingStore
from grasp_core.store.runs import AnswerStore, RunStore
from grasp_core.store.schema import PASSING
from tests.empty_store import open_store
from tests.engine.asking import known_answer
from tests.engine.serving import ask, in_progress, now, result_digits, serving
from tests.made_up import BOARD, make_models
from tests.results import make_result
from tests.store.both import on_both
from tests.store.conftest import NewDatabase
from tests.store.making import HOSTILE, RESULT, claim, create, everything
from tests.store.postgres import Postgres

SECRET = new_key()
KEY = BackupKey(SECRET)


def fill(engine: Engine, large: bytes = b"not so large") -> dict[str, Any]:
    """One of everything; returns what links open."""
    store, links, files = RunStore(engine), LinkStore(engine), FileStore(engine)
    for content in (b"", b"small", b"y" * 1000, large):
        files.put(content, owner="ann")
    files.refer("5" * 64, 2**40, "data:ünïcödé/votes.csv", owner="ann")
    projects = ProjectStore(engine)
    own = projects.create("Ünïcödé; DROP TABLE", owner=Member("person", "ann", "owner"))
    projects.admit(own.id, Member("domain", "lab.example", "viewer"))
    projects.choose("ann", own.id)
    files.within(only(own.id)).put(b"small", owner="ann")  # the same file, of another project
    for owner in HOSTILE:
        ReadingStore(engine).remember("1" * 64, RESULT.spec.data, ("gender", owner), owner=owner)
        PeopleStore(engine).sign_in(Identity("https://id.example", owner[:250], "eve@lab.example", owner))
    opens: dict[str, Target | None] = {}
    for number, text in enumerate(HOSTILE):
        create(store, f"run {number}", title=text, owner=text)
        store.finish(claim(store), "done", result=make_result(warnings=(text,)), duration_s=0.1 + number)
    for record in store.search():
        store.describe(record.id, note=record.title, tagged=["a", "b"])
        AnswerStore(engine).keep(record.id, "what", {record.title: [1.5, None]})
        token = links.create(record.id, created_by="ann", label=record.title, days=3)
        opens[token] = Target("run", record.id)
        about = store.add(make_models((record.title,)), title=record.title, owner=record.title)
        opens[links.create(about.id, created_by="ann")] = Target("run", about.id)
    board = links.create_leaderboard(BOARD, created_by="ann")
    opens[board] = links.use(board)
    revoked = links.create(record.id, created_by="ann")
    links.revoke(next(link.id for link in links.of_run(record.id) if link.expires_at is None))
    opens[revoked] = None
    assert links.use(next(iter(opens))) is not None
    store.add(RESULT, title="Theirs", owner="bob")
    create(store, "failed")
    store.finish(claim(store), "failed", error="a sentence")
    create(store, "waiting", files=(("votes.csv", hashlib.sha256(large).hexdigest()),))
    running = claim(store)
    store.keep(running, 7, [(0, np.random.default_rng(1).normal(size=(7, 3, 6)))])
    create(store, "long")
    store.keep(claim(store), 20_000, counted=bytes(range(256)))
    cancelled = create(store, "being cancelled")
    claim(store)
    store.request_cancel(cancelled.id)
    return opens


def restored(rows: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """What a restore makes of it."""
    for row in rows["runs"]:
        if row["state"] == "running":
            row["state"] = "cancelled" if row["cancel_requested"] else "queued"
        row["lease_until"] = 0.0
    return rows


Open = Callable[[URL], Engine]


@pytest.fixture
def opened() -> Iterator[Open]:
    """Opens databases and closes them after the test."""
    with contextlib.ExitStack() as stack:

        def open_database(url: URL) -> Engine:
            engine = open_store(url)
            stack.callback(engine.dispose)
            return engine

        yield open_database


@pytest.fixture
def target(opened: Open, tmp_path: Path) -> Engine:
    """An empty server, for what does not differ between databases."""
    return opened(sqlite(tmp_path, "target"))


def sqlite(folder: Path, name: str) -> URL:
    return URL.create("sqlite", database=str(folder / f"{name}.db"))


def test_from_sqlite_to_postgresql_to_sqlite(opened: Open, tmp_path: Path, postgres: Postgres) -> None:
    addresses = [sqlite(tmp_path, "first"), postgres.new_database(), sqlite(tmp_path, "last")]
    engines = [opened(url) for url in addresses]
    tokens = fill(engines[0], os.urandom(2 * CHUNK_BYTES + 5))
    expected = restored(everything(engines[0]))
    results = {record.id: RunStore(engines[0]).result(record.id) for record in RunStore(engines[0]).search()}
    for number, (before, after) in enumerate(pairwise(engines)):
        contents = write_backup(before, tmp_path / f"{number}.zip", KEY)
        assert contents == Contents(runs=len(results), files=6, links=len(tokens))
        assert restore_backup(after, tmp_path / f"{number}.zip", KEY) == contents
        assert everything(after) == expected
        assert {
            record.id: RunStore(after).result(record.id) for record in RunStore(after).search()
        } == results
        assert {token: LinkStore(after).use(token, count=False) for token in tokens} == tokens
        assert {record.state for record in RunStore(after).search("waiting")} == {"queued"}
        assert FileStore(after).location("5" * 64) == "data:ünïcödé/votes.csv"
        for row in expected["files"]:
            if row["location"] is not None:
                continue
            content = FileStore(after).within(only(row["project_id"])).get(row["sha256"])
            assert hashlib.sha256(content).hexdigest() == row["sha256"]


def saved_permutations(rows: dict[str, list[dict[str, Any]]]) -> int:
    saved = sum(row["stop"] - row["start"] for row in rows["checkpoints"])
    for row in rows["tallies"]:  # beyond 10,000 permutations, counts in place of the blocks before
        with np.load(io.BytesIO(row["state"]), allow_pickle=False) as state:
            saved += int(np.diff(state["done"], axis=1).sum())
    return saved


@pytest.mark.parametrize(
    "new_database", [pytest.param("sqlite", marks=pytest.mark.long), "postgresql"], indirect=True
)
def test_a_run_goes_on_after_its_server_was_restored_elsewhere(opened, new_database, tmp_path) -> None:
    source, target = new_database(), new_database()
    engine = opened(source)
    with serving(source) as first:
        record = ask(first, with_files=True, permutations=20_000)
        in_progress(first, record)
    write_backup(engine, tmp_path / "backup.zip", KEY)
    restore_backup(opened(target), tmp_path / "backup.zip", KEY)
    saved = saved_permutations(everything(opened(target)))
    assert saved > 0
    with serving(target, started=False) as second:
        assert now(second, record).done == saved
        second.start()
        assert result_digits(second, record) == known_answer(permutations=20_000)


def test_an_empty_server_is_backed_up_too_and_alone_restored_into(engine: Engine, tmp_path: Path) -> None:
    assert write_backup(engine, tmp_path / "b.zip", KEY) == Contents(0, 0, 0)
    assert restore_backup(engine, tmp_path / "b.zip", KEY) == Contents(0, 0, 0)
    fill(engine)
    write_backup(engine, tmp_path / "b", KEY)
    before = everything(engine)
    with pytest.raises(StoreError, match="not empty: a backup is restored into an empty one only"):
        restore_backup(engine, tmp_path / "b", KEY)
    assert everything(engine) == before


def test_the_file_is_its_owners_and_complete_or_not_there(monkeypatch, engine, tmp_path) -> None:
    fill(engine)
    path = tmp_path / "b.zip"
    write_backup(engine, path, KEY)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    before = path.read_bytes()

    def fail(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(BackupKey, "seal", fail)
    with pytest.raises(DataError, match=r"cannot be written .No space left on device"):
        write_backup(engine, path, KEY)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir() if "b.zip" in file.name] == ["b.zip"]


@pytest.mark.parametrize("name", ["", "nowhere/b.zip"])
def test_a_place_that_cannot_be_written(engine: Engine, tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match="cannot be written"):
        write_backup(engine, tmp_path / name, KEY)


@on_both
def test_a_backup_holds_one_moment(monkeypatch, opened: Open, new_database: NewDatabase, tmp_path) -> None:
    """What is deleted while it is written is whole in it, in every table."""
    source, target = opened(new_database()), opened(new_database())
    fill(source)
    expected = restored(everything(source))
    store, copy = RunStore(source), backup_module._copy

    def meanwhile(table: sa.Table, *between: sa.Connection) -> None:
        copy(table, *between)
        for record in store.search(limit=1):
            store.delete(record.id)

    with monkeypatch.context() as patched:
        patched.setattr(backup_module, "_copy", meanwhile)
        write_backup(source, tmp_path / "b.zip", KEY)
    restore_backup(target, tmp_path / "b.zip", KEY)
    assert everything(target) == expected
    assert len(everything(source)["runs"]) < len(expected["runs"])


# Refused


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, bytes]:
    """One backup, sealed and in the open."""
    folder = tmp_path_factory.mktemp("backup")
    engine = open_store(sqlite(folder, "source"))
    fill(engine)
    write_backup(engine, folder / "sealed", KEY)
    write_backup(engine, folder / "open", None)
    engine.dispose()
    return (folder / "sealed").read_bytes(), (folder / "open").read_bytes()


def refused(engine: Engine, path: Path, key: BackupKey | None = KEY) -> str:
    with pytest.raises(DataError) as raised:
        restore_backup(engine, path, key)
    assert all(rows == [] for table, rows in everything(engine).items() if table != "projects")
    return str(raised.value)


def test_nothing_of_the_data_stands_in_a_sealed_backup(written: tuple[bytes, bytes]) -> None:
    sealed, plain = written
    assert b"lab.example" in gzip.decompress(plain)
    first, _, rest = sealed.partition(b"\n")
    assert re.fullmatch(rb"grasp-backup 9 [0-9a-f]{64}", first)
    assert rest.startswith(b"age-encryption.org/v1\n-> X25519 ")
    opened = pyrage.decrypt(rest, [x25519.Identity.from_str(SECRET)])
    assert gzip.decompress(opened).startswith(b"SQLite format 3")


def test_no_key_that_would_come_back_to_life_is_in_a_backup(opened: Open, tmp_path: Path) -> None:
    engine = opened(sqlite(tmp_path, "source"))
    TokenStore(engine).create(owner="ann", name="Nightly", scope="run", days=3)
    write_backup(engine, tmp_path / "b", None)
    (tmp_path / "copy.db").write_bytes(gzip.decompress((tmp_path / "b").read_bytes()))
    rows = everything(opened(URL.create("sqlite", database=str(tmp_path / "copy.db"))))
    assert rows["tokens"] == []
    assert not any(rows[table.name] for table in PASSING)


def test_another_key_opens_nothing(target: Engine, tmp_path: Path, written: tuple[bytes, bytes]) -> None:
    (tmp_path / "b").write_bytes(written[0])
    assert "another key" in refused(target, tmp_path / "b", BackupKey(new_key()))
    assert "GRASP_BACKUP_KEY" in refused(target, tmp_path / "b", None)
    restore_backup(target, tmp_path / "b", KEY)


def test_a_cut_or_changed_sealed_backup_is_refused(target, tmp_path, written) -> None:
    sealed, path = written[0], tmp_path / "b"
    for position in (*range(0, 300, 7), *range(300, len(sealed), len(sealed) // 50)):
        damaged = bytearray(sealed)
        damaged[position] ^= 1
        path.write_bytes(bytes(damaged))
        assert refused(target, path), position
    for length in (0, 10, 90, len(sealed) // 2, len(sealed) - 1):
        path.write_bytes(sealed[:length])
        assert refused(target, path)


def test_a_forged_backup_is_not_restored(target: Engine, tmp_path, written: tuple[bytes, bytes]) -> None:
    """By somebody who knows the format, and the recipient that backups are encrypted for, but not the key."""
    sealed, plain = written
    forged = pyrage.encrypt(plain, [x25519.Identity.from_str(SECRET).to_public()])
    for first in (sealed.partition(b"\n")[0], b"grasp-backup 9 " + b"0" * 64):
        (tmp_path / "b").write_bytes(first + b"\n" + forged)
        assert "was changed, or made with another key" in refused(target, tmp_path / "b")
    (tmp_path / "b").write_bytes(plain)
    assert "--unencrypted restores it" in refused(target, tmp_path / "b")


def test_links_of_an_open_backup_are_withdrawn(target, tmp_path, written) -> None:
    (tmp_path / "b").write_bytes(written[1])
    restore_backup(target, tmp_path / "b", None)
    found = everything(target)["links"]
    assert found
    assert all(row["revoked_at"] is not None for row in found)


@pytest.mark.parametrize(
    "script",
    [
        "CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM runs; END",
        "CREATE VIEW v AS SELECT * FROM runs",
        "DROP TABLE alembic_version",
        "DROP TABLE links",
    ],
    ids=["trigger", "view", "no revision", "no links"],
)
def test_what_somebody_made_of_an_open_backup_is_refused(target, tmp_path, written, script) -> None:
    path = tmp_path / "made.db"
    path.write_bytes(gzip.decompress(written[1]))
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
        connection.execute("PRAGMA journal_mode = DELETE")
    (tmp_path / "b").write_bytes(gzip.compress(path.read_bytes()))
    assert "damaged" in refused(target, tmp_path / "b", None)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "no backup"),
        (b"no backup at all", "no backup"),
        (b"PK\x03\x04", "early state"),
        (gzip.compress(b"no database"), "damaged"),
        (gzip.compress(b"x" * 2**24), "damaged"),
        (gzip.compress(b"SQLite format 3\x00" * 99)[:-9], "damaged"),
    ],
    ids=["empty", "text", "archive", "no database", "bomb", "cut"],
)
def test_what_is_no_backup(target: Engine, tmp_path: Path, content: bytes, why: str) -> None:
    (tmp_path / "b").write_bytes(content)
    assert why in refused(target, tmp_path / "b", None)


# The commands


def test_the_commands(monkeypatch, capsys, opened: Open, tmp_path: Path) -> None:
    monkeypatch.delenv("GRASP_DATABASE_URL", raising=False)
    monkeypatch.setenv("GRASP_HOME", str(tmp_path / "one"))
    engine = opened(sqlite(tmp_path / "one", "grasp"))
    tokens = fill(engine)
    total = len(everything(engine)["runs"])
    path = tmp_path / "b.zip"
    for wrong, why in (("", "is not set"), ("AGE-SECRET-KEY-1", "is no key")):
        monkeypatch.setenv("GRASP_BACKUP_KEY", wrong)
        assert cli.main(["backup", str(path)]) == 2
        assert why in capsys.readouterr().err
        assert not path.exists()
    assert cli.main(["backup-key"]) == 0
    monkeypatch.setenv("GRASP_BACKUP_KEY", capsys.readouterr().out.strip())
    assert cli.main(["backup", str(path)]) == 0
    counted = f"{total} runs, 6 files, {len(tokens)} links"
    assert capsys.readouterr().out == f"{path}: {counted}\n"
    assert cli.main(["restore", str(path)]) == 2
    assert capsys.readouterr().err.startswith("grasp: This GRASP is not empty")
    monkeypatch.setenv("GRASP_HOME", str(tmp_path / "two"))
    assert cli.main(["restore", str(tmp_path / "nowhere.zip")]) == 2
    assert "cannot be read" in capsys.readouterr().err
    assert cli.main(["restore", str(path)]) == 0
    assert capsys.readouterr().out == f"restored {counted}\n{NOT_RESTORED}\n"
    assert len(everything(opened(sqlite(tmp_path / "two", "grasp")))["runs"]) == total
    assert cli.main(["backup", "--unencrypted", str(path)]) == 0
    monkeypatch.setenv("GRASP_HOME", str(tmp_path / "three"))
    assert cli.main(["restore", str(path)]) == 2
    assert "neither encrypted nor signed" in capsys.readouterr().err
    assert cli.main(["restore", "--unencrypted", str(path)]) == 0
