"""Backup and restore: from either database to either, and nothing at all from a file that is not right."""

from __future__ import annotations

import base64
import contextlib
import gzip
import hashlib
import io
import json
import os
import stat
import zipfile
import zlib
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
from grasp_core.access import EVERYONE, only
from grasp_core.cli.server.storage import NOT_RESTORED
from grasp_core.errors import DataError, StoreError
from grasp_core.people import Identity
from grasp_core.store.answers import MAX_BYTES, AnswerStore
from grasp_core.store.backup.backup import Contents, restore_backup, write_backup
from grasp_core.store.backup.sealed import BackupKey, new_key
from grasp_core.store.database import connect
from grasp_core.store.files import CHUNK_BYTES, FileStore
from grasp_core.store.links import LinkStore, Target
from grasp_core.store.people.members import Member
from grasp_core.store.people.people import PeopleStore
from grasp_core.store.people.projects import ProjectStore
from grasp_core.store.readings import ReadingStore
from grasp_core.store.runs import RunStore
from grasp_core.store.schema import metadata
from tests.empty_store import open_store
from tests.engine.asking import known_answer, sliced_answer
from tests.engine.serving import ask, ask_sliced, in_progress, now, result_digits, serving
from tests.made_up import BOARD, make_models
from tests.results import make_result
from tests.store.both import on_both
from tests.store.conftest import NewDatabase
from tests.store.making import HOSTILE, RESULT, claim, create
from tests.store.postgres import Postgres

Members = dict[str, bytes]
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


def everything(engine: Engine) -> dict[str, list[dict[str, Any]]]:
    with engine.connect() as connection:
        return {
            table.name: [
                dict(row)
                for row in connection.execute(sa.select(table).order_by(*table.primary_key)).mappings()
            ]
            for table in metadata.sorted_tables
        }


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
            assert content is not None
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
def test_a_run_goes_on_after_its_server_was_restored_elsewhere(
    opened: Open, new_database: NewDatabase, tmp_path: Path
) -> None:
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


@pytest.mark.long
def test_a_run_with_an_items_file_is_computed_where_it_was_restored(
    opened: Open, new_database: NewDatabase, tmp_path: Path
) -> None:
    source, target = new_database(), new_database()
    with serving(source, started=False) as first:
        record = ask_sliced(first)
    write_backup(opened(source), tmp_path / "backup.zip", KEY)
    restore_backup(opened(target), tmp_path / "backup.zip", KEY)
    with serving(target) as second:
        assert result_digits(second, record) == sliced_answer()


def test_an_empty_server_is_backed_up_too(engine: Engine, tmp_path: Path) -> None:
    assert write_backup(engine, tmp_path / "b.zip", KEY) == Contents(0, 0, 0)
    assert restore_backup(engine, tmp_path / "b.zip", KEY) == Contents(0, 0, 0)


def test_the_file_is_its_owners_and_complete_or_not_there(
    monkeypatch, engine: Engine, tmp_path: Path
) -> None:
    fill(engine)
    path = tmp_path / "b.zip"
    write_backup(engine, path, KEY)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    before = path.read_bytes()

    def fail(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(zipfile.ZipFile, "writestr", fail)
    with pytest.raises(DataError, match=r"cannot be written .No space left on device"):
        write_backup(engine, path, KEY)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir() if "b.zip" in file.name] == ["b.zip"]


@pytest.mark.parametrize("name", ["", "nowhere/b.zip"])
def test_a_place_that_cannot_be_written(engine: Engine, tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match="cannot be written"):
        write_backup(engine, tmp_path / name, KEY)


@on_both
def test_a_backup_holds_one_moment(
    monkeypatch, opened: Open, new_database: NewDatabase, tmp_path: Path
) -> None:
    """What is deleted while it is written is whole in it, in every table."""
    source, target = opened(new_database()), opened(new_database())
    fill(source)
    expected = restored(everything(source))
    store, dumps = RunStore(source), json.dumps

    def meanwhile(*arguments, **named):
        for record in store.search(limit=1):
            store.delete(record.id)
        return dumps(*arguments, **named)

    with monkeypatch.context() as patched:
        patched.setattr(json, "dumps", meanwhile)  # of each row as it is written
        write_backup(source, tmp_path / "b.zip", KEY)
    restore_backup(target, tmp_path / "b.zip", KEY)
    assert everything(target) == expected
    assert len(everything(source)["runs"]) < len(expected["runs"])


# Refused


def test_only_into_an_empty_server(engine: Engine, tmp_path: Path) -> None:
    fill(engine)
    write_backup(engine, tmp_path / "b.zip", KEY)
    before = everything(engine)
    with pytest.raises(StoreError, match="not empty: a backup is restored into an empty one only"):
        restore_backup(engine, tmp_path / "b.zip", KEY)
    assert everything(engine) == before


def read(path: Path) -> Members:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(path: Path, members: Members, *, sign: bool = True) -> None:
    """With the manifest made to fit, as somebody would who knows the format."""
    if sign:
        manifest = json.loads(members["manifest.json"])
        for name, table in manifest["tables"].items():
            content = members.get(f"{name}.jsonl", b"")
            table.update(rows=content.count(b"\n"), sha256=hashlib.sha256(content).hexdigest())
        members["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def changed(members: Members, name: str, change: Callable[[dict[str, Any]], object], row: int = -1) -> None:
    lines = members[name].splitlines()
    plain = json.loads(lines[row])
    change(plain)
    lines[row] = json.dumps(plain).encode()
    members[name] = b"\n".join(lines) + b"\n"


def cell(table: str, column: str, value: Any) -> Callable[[Members], None]:
    return lambda members: changed(members, f"{table}.jsonl", lambda row: row.update({column: value}))


def packed(content: bytes) -> str:
    return base64.b64encode(zlib.compress(content)).decode()


TAMPERED: dict[str, Callable[[Members], object]] = {
    "a table left out": lambda m: m.pop("tags.jsonl"),
    "no manifest": lambda m: m.pop("manifest.json") and None,
    "another file": lambda m: m.update({"other.txt": b""}),
    "a path upwards": lambda m: m.update({"../../grasp.db": b"x"}),
    "an absolute path": lambda m: m.update({"/tmp/grasp.db": b"x"}),
    "a bomb": lambda m: m.update({"tags.jsonl": b" " * 20_000_000}),
    "a line without end": lambda m: m.update({"tags.jsonl": b"[" * 1_000_000}),
    "no JSON": lambda m: m.update({"tags.jsonl": b"{\n"}),
    "no object": lambda m: m.update({"tags.jsonl": b"[]\n"}),
    "not a number": lambda m: m.update({"tags.jsonl": b'{"run_id": NaN, "tag": "x"}\n'}),
    "no ASCII": lambda m: m.update({"tags.jsonl": '{"run_id": "ä", "tag": "x"}\n'.encode()}),
    "an unknown column": cell("runs", "admin", True),
    "a column left out": lambda m: changed(m, "runs.jsonl", lambda row: row.pop("title")),
    "a text for a number": cell("runs", "total", "1000"),
    "a number for a text": cell("runs", "title", 5),
    "a yes for a number": cell("runs", "total", True),
    "a number too large": cell("runs", "total", 2**63),
    "an unknown state": cell("runs", "state", "lost"),
    "done without a result": lambda m: changed(
        m, "runs.jsonl", lambda row: row.update(state="done", result=None)
    ),
    "a spec that is none": cell("runs", "spec", "{}"),
    "a spec that is no JSON": cell("runs", "spec", "spec"),
    "a summary that is none": cell("runs", "summary", "{}"),
    "half a surrogate": cell("run_files", "sha256", None),
    "a link to no run": lambda m: changed(
        m, "links.jsonl", lambda row: row.update(run_id="nobody", leaderboard=None)
    ),
    "a link to nothing": lambda m: changed(
        m, "links.jsonl", lambda row: row.update(run_id=None, leaderboard=None)
    ),
    "a link to two things": lambda m: changed(
        m,
        "links.jsonl",
        lambda row: row.update(
            run_id=json.loads(m["runs.jsonl"].splitlines()[0])["id"],
            leaderboard=json.dumps(BOARD),
        ),
    ),
    "a leaderboard that is none": lambda m: changed(
        m, "links.jsonl", lambda row: row.update(run_id=None, leaderboard="{}")
    ),
    "a link twice": lambda m: m.update({"links.jsonl": m["links.jsonl"] * 2}),
    "a result that is none": lambda m: [
        changed(m, "runs.jsonl", lambda row: row.update(result=row["result"] and "{}"), number)
        for number in range(len(m["runs.jsonl"].splitlines()))
    ],
    "another file's content": cell("chunks", "content", packed(b"other")),
    "a chunk that is not packed": cell("chunks", "content", "AAAA"),
    "a chunk that is a bomb": cell("chunks", "content", packed(b"\x00" * (CHUNK_BYTES + 1))),
    "an answer that is no JSON": cell("answers", "content", packed(b"{")),
    "an answer that is a bomb": cell("answers", "content", packed(b" " * MAX_BYTES + b"{}")),
    "a member of no kind": cell("project_members", "kind", "everybody"),
    "a member of no role": cell("project_members", "role", "admin"),
    "a project without a name": cell("projects", "name", None),
    "no base64": cell("chunks", "content", "~~~"),
    "a block of another length": cell("checkpoints", "stop", 4),
    "an empty block": cell("checkpoints", "stop", 0),
    "another format": lambda m: changed(m, "manifest.json", lambda plain: plain.update(format="zip"), 0),
    "another version": lambda m: changed(m, "manifest.json", lambda plain: plain.update(version=9), 0),
    "a version that was never released": lambda m: changed(
        m, "manifest.json", lambda plain: plain.update(version=3), 0
    ),
    "a version without its tables": lambda m: m.pop("readings.jsonl"),
    "tables that its version lacks": lambda m: changed(
        m, "manifest.json", lambda plain: plain.update(version=1), 0
    ),
}


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Members:
    folder = tmp_path_factory.mktemp("good")
    engine = connect(sqlite(folder, "source"))
    fill(engine)
    write_backup(engine, folder / "b.zip", None)
    engine.dispose()
    members = read(folder / "b.zip")
    members["manifest.json"] = json.dumps(json.loads(members["manifest.json"])).encode()  # one line
    return members


def refused(engine: Engine, path: Path) -> str:
    with pytest.raises(DataError) as raised:
        restore_backup(engine, path, None)
    assert all(rows == [] for table, rows in everything(engine).items() if table != "projects")
    sentence = str(raised.value)
    assert sentence.startswith(str(path))
    assert "\n" not in sentence
    return sentence


def test_a_tampered_backup_is_refused_in_a_sentence(
    engine: Engine, tmp_path: Path, good: Members, subtests: pytest.Subtests
) -> None:
    path = tmp_path / "b.zip"
    for case, tamper in TAMPERED.items():
        with subtests.test(case):
            members = dict(good)
            tamper(members)
            write(path, members, sign="manifest.json" in members)
            assert refused(engine, path)
    write(path, dict(good))
    restore_backup(engine, path, None)  # and the right one afterwards


def test_rows_that_the_manifest_does_not_count(target: Engine, tmp_path: Path, good: Members) -> None:
    path = tmp_path / "b.zip"
    for table in ("runs", "links", "tags"):
        members = dict(good)
        members[f"{table}.jsonl"] = b"\n".join(members[f"{table}.jsonl"].splitlines()[:-1]) + b"\n"
        write(path, members, sign=False)
        assert refused(target, path)


def test_damaged_bytes_are_found(opened: Open, tmp_path: Path, good: Members) -> None:
    engine = opened(sqlite(tmp_path, "0"))
    path = tmp_path / "b.zip"
    write(path, dict(good))
    content = path.read_bytes()
    rng = np.random.default_rng(1)
    for number, position in enumerate(rng.integers(0, len(content) - 2000, size=20)):
        damaged = bytearray(content)
        damaged[position] ^= 0x55
        path.write_bytes(bytes(damaged))
        try:
            restore_backup(engine, path, None)
        except DataError:
            continue
        # A byte that no reader looks at, such as a time stamp: then all is there.
        assert len(everything(engine)["runs"]) == good["runs.jsonl"].count(b"\n")
        engine = opened(sqlite(tmp_path, f"{number + 1}"))
    for length in (0, 10, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:length])
        assert refused(engine, path)


PROJECTS = ("projects", "project_members", "current_projects")
SINCE_6 = ("webhook_keys", "audit_heads", "addresses")
LATER = (*SINCE_6, "people", "audit", *PROJECTS, "watches", "watch_runs")
SINCE = {
    1: ("readings", "submissions", "scorings", "tallies", "answers", *LATER),
    4: ("answers", *LATER),
    5: LATER,
}
DOCUMENTS = 4


def earlier(good: Members, version: int) -> Members:
    """The backup as a version of before would have written it; what it did not know is left out."""
    members = dict(good)
    for table in SINCE[version]:
        del members[f"{table}.jsonl"]
    for table in {"runs", "files", "chunks", "readings", "submissions", "links"} - {*SINCE[version]}:
        kept = [row for row in rows(members, table) if row.pop("project_id") == EVERYONE]
        rewrite(members, table, kept)
    if version > DOCUMENTS:
        return signed(members, version)
    links, runs = rows(members, "links"), rows(members, "runs")
    answers = [run for run in runs if "models" in json.loads(run["spec"])]
    rewrite(members, "runs", [run for run in runs if run not in answers])
    documents = [document("models", run["id"], run["owner"], run["result"]) for run in answers]
    for link in links:
        board = link.pop("leaderboard")
        link["document_id"] = link["run_id"] if link["run_id"] in {run["id"] for run in answers} else None
        if board is not None:
            documents.append(document("leaderboard", link["id"], "ann", board))
            link["document_id"] = link["id"]
        if link["document_id"] is not None:
            link["run_id"] = None
    if version == DOCUMENTS:
        rewrite(members, "links", links)
        rewrite(members, "documents", documents)
    else:
        rewrite(members, "links", [link for link in links if link.pop("document_id") is None])
    if version == 1:
        rewrite(members, "files", [row for row in rows(members, "files") if row.pop("location") is None])
    return signed(members, version)


def document(kind: str, document_id: str, owner: str, content: str) -> dict[str, Any]:
    sha256 = hashlib.sha256(content.encode()).hexdigest()
    named = {"id": document_id, "kind": kind, "title": f"A {kind}", "owner": owner, "created_at": 5.0}
    return {**named, "sha256": sha256, "content": content}


def signed(members: Members, version: int) -> Members:
    """With a manifest that says what the members are."""
    tables = {
        name.removesuffix(".jsonl"): {
            "rows": content.count(b"\n"),
            "sha256": hashlib.sha256(content).hexdigest(),
        }
        for name, content in members.items()
        if name.endswith(".jsonl")
    }
    manifest = {**json.loads(members["manifest.json"]), "version": version, "tables": tables}
    return {**members, "manifest.json": json.dumps(manifest).encode()}


@pytest.mark.parametrize("version", list(SINCE))
def test_a_backup_of_an_earlier_version(
    opened: Open, new_database: NewDatabase, good: Members, tmp_path: Path, version: int
):
    """The first without submissions and so on; the fourth with answers as documents; none with projects."""
    write(tmp_path / "b.zip", earlier(good, version))
    engine = opened(new_database())
    contents = restore_backup(engine, tmp_path / "b.zip", None)
    found = everything(engine)
    assert contents.files == {1: 4}.get(version, 5)
    assert all(found[table] == [] for table in SINCE[version] if table != "projects")
    assert [row["id"] for row in found["projects"]] == [EVERYONE]
    assert {row["project_id"] for table in ("runs", "files", "links") for row in found[table]} == {EVERYONE}
    whole = len(rows(good, "runs")), len(rows(good, "links"))
    if version >= DOCUMENTS:
        assert (contents.runs, contents.links) == whole
    else:
        assert (contents.runs, contents.links) == (whole[0] - len(HOSTILE), len(HOSTILE) + 1)


def test_who_signed_in_first_holds_the_address_in_a_backup_that_does_not_say(
    engine: Engine, target: Engine, tmp_path: Path
) -> None:
    people = [
        PeopleStore(engine).sign_in(Identity("i", str(one), "ann@lab.example", "Ann")) for one in range(3)
    ]
    PeopleStore(engine).sign_in(people[0].identity)
    PeopleStore(engine).assign_address(people[1].id, "ann@lab.example")
    write_backup(engine, tmp_path / "b.zip", None)
    before = read(tmp_path / "b.zip")
    for table in SINCE_6:
        del before[f"{table}.jsonl"]
    write(tmp_path / "before.zip", signed(before, 6))
    restore_backup(target, tmp_path / "before.zip", None)
    assert everything(target)["addresses"] == [{"address": "ann@lab.example", "person_id": people[0].id}]


def test_documents_of_a_backup_are_runs_and_links_open_them(
    opened: Open, target: Engine, tmp_path: Path
) -> None:
    """Under their ids, so that addresses that people noted hold; leaderboards are in their links."""
    source = opened(sqlite(tmp_path, "source"))
    tokens = fill(source)
    write_backup(source, tmp_path / "b.zip", None)
    write(tmp_path / "earlier.zip", earlier(read(tmp_path / "b.zip"), 4))
    restore_backup(target, tmp_path / "earlier.zip", None)
    links, before = LinkStore(target), RunStore(source)
    for token, opens in tokens.items():
        assert links.use(token) is None, "withdrawn: anybody may have written an open backup"
        if opens is not None and opens.kind == "run":
            assert RunStore(target).result(opens.id) == before.result(opens.id)
    (board,) = links.of_leaderboards()
    kept = links.leaderboard(board.id)
    assert kept is not None
    assert kept.content == BOARD


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "note"},
        {"kind": "leaderboard"},
        {"content": "{}"},
        {"content": "{}", "sha256": hashlib.sha256(b"{}").hexdigest()},
        {"id": "nobody"},
    ],
)
def test_a_damaged_document_is_refused(target: Engine, good: Members, tmp_path: Path, changes: Any) -> None:
    members = earlier(good, 4)
    first, *others = rows(members, "documents")
    rewrite(members, "documents", [{**first, **changes}, *others])
    write(tmp_path / "b.zip", signed(members, 4))
    assert "damaged" in refused(target, tmp_path / "b.zip")


def rows(members: Members, table: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in members[f"{table}.jsonl"].splitlines()]


def rewrite(members: Members, table: str, rows: list[dict[str, Any]]) -> None:
    members[f"{table}.jsonl"] = b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def test_what_is_no_archive(target: Engine, tmp_path: Path) -> None:
    for content in (b"", b"item,rater,label\n", b"PK\x03\x04" + b"\x00" * 100):
        (tmp_path / "b.zip").write_bytes(content)
        assert "is no backup of GRASP" in refused(target, tmp_path / "b.zip")
    assert "cannot be read" in refused(target, tmp_path / "nowhere.zip")
    assert "cannot be read" in refused(target, tmp_path)


def test_an_encrypted_archive(target: Engine, tmp_path: Path, good: Members) -> None:
    write(tmp_path / "b.zip", dict(good))
    content = bytearray((tmp_path / "b.zip").read_bytes())
    for header, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = content.find(header)
        while at >= 0:
            content[at + offset] |= 1
            at = content.find(header, at + 4)
    (tmp_path / "b.zip").write_bytes(bytes(content))
    assert refused(target, tmp_path / "b.zip")


def test_no_names_or_data_in_a_sentence(target: Engine, tmp_path: Path, good: Members) -> None:
    members = dict(good)
    cell("runs", "state", "rater r7 said Yes")(members)
    write(tmp_path / "b.zip", members)
    assert "r7" not in refused(target, tmp_path / "b.zip")


# Encrypted and signed


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("sealed")
    engine = connect(sqlite(folder, "source"))
    fill(engine)
    write_backup(engine, folder / "b", KEY)
    engine.dispose()
    return (folder / "b").read_bytes()


def sealed_refused(engine: Engine, path: Path, key: BackupKey | None = KEY) -> str:
    with pytest.raises(DataError) as raised:
        restore_backup(engine, path, key)
    assert all(rows == [] for table, rows in everything(engine).items() if table != "projects")
    return str(raised.value)


def test_nothing_of_the_data_stands_in_a_sealed_backup(sealed: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(sealed)) as archive:
        for name in archive.namelist():
            content = archive.read(name)
            assert b"lab.example" not in content
            if name.endswith(".age"):
                assert content.startswith(b"age-encryption.org/v1\n-> X25519 ")


def test_another_key_opens_nothing(target: Engine, tmp_path: Path, sealed: bytes) -> None:
    (tmp_path / "b").write_bytes(sealed)
    assert "another key" in sealed_refused(target, tmp_path / "b", BackupKey(new_key()))
    assert "GRASP_BACKUP_KEY" in sealed_refused(target, tmp_path / "b", None)
    restore_backup(target, tmp_path / "b", KEY)


def test_a_cut_or_changed_sealed_backup_is_refused(opened: Open, tmp_path: Path, sealed: bytes) -> None:
    engine, path = opened(sqlite(tmp_path, "0")), tmp_path / "b"
    with zipfile.ZipFile(io.BytesIO(sealed)) as archive:
        starts = {one.filename: one.header_offset + 30 + len(one.filename) for one in archive.infolist()}
    for name, start in starts.items():
        damaged = bytearray(sealed)
        damaged[start + 25] ^= 1  # in the content, also of the shortest
        path.write_bytes(bytes(damaged))
        assert sealed_refused(engine, path), name
    for position in (*range(0, len(sealed), len(sealed) // 100), *range(len(sealed) - 1500, len(sealed), 31)):
        damaged = bytearray(sealed)
        damaged[position] ^= 1  # also what no reader looks at, such as a time
        path.write_bytes(bytes(damaged))
        assert sealed_refused(engine, path), position
    for length in (0, 10, len(sealed) // 2, len(sealed) - 1):
        path.write_bytes(sealed[:length])
        assert sealed_refused(engine, path)


def test_a_forged_link_is_not_restored(target: Engine, tmp_path: Path, sealed: bytes, good: Members) -> None:
    """By somebody who knows the format, and the recipient that tables are encrypted for, but not the key."""
    recipient = x25519.Identity.from_str(SECRET).to_public()
    members = read_bytes(sealed)
    cell("links", "revoked_at", None)(open_members := dict(good))
    forged = gzip.compress(open_members["links.jsonl"])
    members["links.jsonl.age"] = pyrage.encrypt(forged, [recipient])
    path = tmp_path / "b"
    write(path, members, sign=False)
    assert "is not what was written" in sealed_refused(target, path)
    manifest = json.loads(members["manifest.json"])
    manifest["tables"]["links"] = {
        "rows": open_members["links.jsonl"].count(b"\n"),
        "sha256": hashlib.sha256(open_members["links.jsonl"]).hexdigest(),
        "sealed": hashlib.sha256(members["links.jsonl.age"]).hexdigest(),
    }
    members["manifest.json"] = json.dumps(manifest, indent=1).encode()
    write(path, members, sign=False)
    assert "was changed, or made with another key" in sealed_refused(target, path)
    members["signature"] = BackupKey(new_key()).sign(members["manifest.json"])
    write(path, members, sign=False)
    assert "was changed, or made with another key" in sealed_refused(target, path)
    write(path, dict(good))
    assert "--unencrypted restores it" in sealed_refused(target, path)


def test_links_of_an_open_backup_are_withdrawn(target: Engine, tmp_path: Path, good: Members) -> None:
    write(tmp_path / "b", dict(good))
    restore_backup(target, tmp_path / "b", None)
    found = everything(target)["links"]
    assert len(found) == good["links.jsonl"].count(b"\n")
    assert all(row["revoked_at"] is not None for row in found)


def test_a_disk_that_is_full_is_told_while_encrypting() -> None:
    class Full(io.RawIOBase):
        def write(self, content: object) -> int:
            raise OSError(28, "No space left on device")

    def fill_up() -> None:
        with KEY.sealing(Full()) as file:
            for _ in range(100):
                file.write(os.urandom(2**16))

    with pytest.raises(DataError, match="No space left"):
        fill_up()


def read_bytes(content: bytes) -> Members:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


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


def test_a_backup_is_plain(good: Members) -> None:
    """JSON all through, and nothing that a reader would have to run."""
    assert json.loads(good["manifest.json"])["format"] == "grasp-backup"
    for name, content in good.items():
        for line in io.BytesIO(content):
            assert isinstance(json.loads(line), dict), name
