"""Uploaded files on both databases: their content, their quota and their end."""

import hashlib
import random
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Engine

from grasp_core.model.errors import LimitError
from grasp_core.store.files import CHUNK_BYTES, FileStore
from grasp_core.store.runs import RunStore
from grasp_core.store.schema import chunks, files
from tests.store.both import on_both
from tests.store.making import RESULT, change, claim, column, create, request

CONTENTS = {
    "empty": b"",
    "one byte": b"\x00",
    "text": "item,rater,label\ni1,r1,Ünsure\n".encode(),
    "one chunk": b"x" * CHUNK_BYTES,
    "one chunk and a byte": b"x" * (CHUNK_BYTES + 1),
    "chunks that do not shrink": random.Random(1).randbytes(2 * CHUNK_BYTES + 77),
}


@pytest.fixture
def store(engine: Engine) -> FileStore:
    return FileStore(engine)


@pytest.mark.parametrize("kind", CONTENTS)
def test_a_content_is_read_back(engine: Engine, store: FileStore, kind: str) -> None:
    content = CONTENTS[kind]
    store.put(b"another file", owner="ann")
    sha256 = store.put(content, owner="ann")
    assert sha256 == hashlib.sha256(content).hexdigest()
    assert store.get(sha256) == content
    assert store.used("ann") == len(b"another file") + len(content)
    store.delete(sha256, owner="bob")
    assert store.get(sha256) == content
    store.delete(sha256, owner="ann")
    assert store.get(sha256) is None
    assert store.used("ann") == len(b"another file")
    assert len(column(engine, chunks, "sha256")) == 1


def test_the_same_content_is_kept_once(engine: Engine, store: FileStore) -> None:
    assert store.put(b"a", owner="ann") == store.put(b"a", owner="ann") == store.put(b"a", owner="bob")
    assert (store.used("ann"), store.used("bob")) == (1, 0)
    assert column(engine, files, "owner") == ["ann"]
    assert store.get("nothing") is None


def test_a_file_has_the_name_that_its_owner_gave_it_last(store: FileStore) -> None:
    for owner, name in (("ann", "a.csv"), ("ann", "b.csv"), ("bob", "c.csv"), ("ann", None)):
        store.put(b"a", owner=owner, name=name)
    assert [one.name for one in store.of("ann")] == ["b.csv"]


@on_both
def test_the_same_content_from_many_at_once(engine: Engine, store: FileStore) -> None:
    content = CONTENTS["chunks that do not shrink"]
    with ThreadPoolExecutor(6) as visitors:
        keys = set(visitors.map(lambda number: store.put(content, owner=f"user {number % 2}"), range(6)))
    assert store.get(keys.pop()) == content
    assert not keys
    assert len(column(engine, chunks, "position")) == 3


def test_the_quota_is_per_person(engine: Engine) -> None:
    store = FileStore(engine, quota=2**20)
    first = store.put(b"a" * 2**19, owner="ann")
    store.put(b"b" * 2**19, owner="ann")
    with pytest.raises(LimitError, match="Your files would take more than 1 MiB on this server"):
        store.put(b"c", owner="ann")
    assert store.put(b"a" * 2**19, owner="ann") == first  # known: takes no more room
    store.put(b"c", owner="bob")
    with pytest.raises(LimitError):
        store.put(b"d" * (2**20 + 1), owner="carl")
    store.delete(first, owner="ann")
    store.put(b"e" * 2**19, owner="ann")


@on_both
def test_the_quota_holds_for_many_at_once(engine: Engine) -> None:
    store = FileStore(engine, quota=10)

    def put(number: int) -> bool:
        try:
            store.put(b"%04d" % number, owner="ann")
        except LimitError:
            return False
        return True

    with ThreadPoolExecutor(8) as visitors:
        assert sum(visitors.map(put, range(8))) == 2
    assert store.used("ann") == 8


@on_both
def test_files_are_kept_while_a_run_needs_them(engine: Engine, store: FileStore) -> None:
    runs = RunStore(engine)
    needed = store.put(b"needed", owner="ann")
    store.put(b"not needed", owner="ann")
    create(runs, files=(("votes.csv", needed),))
    change(engine, files, created_at=0.0)
    assert store.delete_unneeded(older_than_hours=1.0) == 1
    claimed = claim(runs)
    assert store.delete_unneeded(older_than_hours=1.0) == 0
    assert store.get(needed) == b"needed"
    runs.finish(claimed, "done", result=RESULT)
    assert store.delete_unneeded(older_than_hours=1.0) == 1
    assert store.get(needed) is None
    assert column(engine, chunks, "sha256") == []


def test_a_file_that_somebody_elses_run_needs_becomes_theirs(engine: Engine, store: FileStore) -> None:
    sha256 = store.put(b"votes", owner="ann")
    runs = RunStore(engine)
    for owner in ("ann", "bob"):
        runs.create(request(owner=owner, files=(("votes.csv", sha256),)))
    store.delete(sha256, owner="ann")
    assert store.get(sha256) == b"votes"
    assert (store.used("ann"), store.used("bob")) == (0, 5)
    store.delete(sha256, owner="bob")
    assert store.get(sha256) == b"votes"  # Ann's run waits for it
    for run in runs.search():
        runs.delete(run.id)
    store.delete(sha256, owner="ann")
    assert store.get(sha256) is None


def test_files_are_kept_for_a_while_after_they_were_last_wanted(engine: Engine, store: FileStore) -> None:
    content = store.put(b"a", owner="ann")
    assert store.delete_unneeded(older_than_hours=1.0) == 0
    change(engine, files, created_at=0.0)
    store.put(b"a", owner="bob")
    assert store.delete_unneeded(older_than_hours=1.0) == 0
    change(engine, files, created_at=0.0)
    runs = RunStore(engine)
    made = create(runs, files=(("votes.csv", content),))
    runs.request_cancel(made.id)
    assert store.delete_unneeded(older_than_hours=1.0) == 0
    change(engine, files, created_at=0.0)
    assert store.delete_unneeded(older_than_hours=1.0) == 1


@on_both
def test_hostile_owners(engine: Engine) -> None:
    store = FileStore(engine, quota=3)
    for owner in ("'; DROP TABLE files; --", "%", "\x00", "\ud800", "🦖" * 1000):
        store.put(owner.encode("utf-8", "replace")[:2], owner=owner)
        assert store.used(owner) > 0


def test_a_reference_is_no_content(engine: Engine, store: FileStore) -> None:
    sha256 = "5" * 64
    store.refer(sha256, 2**50, "data:may/votes.csv", owner="ann")
    assert store.location(sha256) == "data:may/votes.csv"
    assert store.get(sha256) is None
    assert store.used("ann") == 0
    assert store.location("nothing") is None
    assert column(engine, chunks, "sha256") == []
    store.refer(sha256, 2**50, "https://data.example.org/ünïcödé.csv", owner="bob")
    assert store.location(sha256) == "https://data.example.org/ünïcödé.csv"
    assert column(engine, files, "owner") == ["ann"]
    store.delete(sha256, owner="bob")
    assert store.location(sha256) is not None
    store.delete(sha256, owner="ann")
    assert store.location(sha256) is None


def test_an_upload_takes_the_place_of_a_reference(engine: Engine, store: FileStore) -> None:
    sha256 = hashlib.sha256(b"a").hexdigest()
    store.refer(sha256, 1, "data:a.csv", owner="ann")
    assert store.put(b"a", owner="bob") == sha256
    assert store.get(sha256) == b"a"
    assert (store.location(sha256), store.source(sha256)) == (None, "data:a.csv")
    assert (store.used("ann"), store.used("bob")) == (0, 1)
    change(engine, files, created_at=0.0)
    store.refer("5" * 64, 1, "data:b.csv", owner="ann")
    assert store.locations([sha256, "5" * 64, "6" * 64]) == {sha256: None, "5" * 64: "data:b.csv"}
    store.delete("5" * 64, owner="ann")
    store.refer(sha256, 1, "data:a.csv", owner="ann")  # the content stays, and was wanted again
    assert store.get(sha256) == b"a"
    assert store.location(sha256) is None
    assert store.delete_unneeded(older_than_hours=1.0) == 0


def test_the_quota_does_not_hinder_references(engine: Engine) -> None:
    store = FileStore(engine, quota=3)
    store.put(b"abc", owner="ann")
    store.refer("5" * 64, 2**40, "data:large.csv", owner="ann")
    assert store.used("ann") == 3
    with pytest.raises(LimitError):
        store.put(b"d", owner="ann")


def test_references_are_kept_as_long_as_there_is_a_run_of_them(engine: Engine, store: FileStore) -> None:
    runs = RunStore(engine)
    store.refer("1" * 64, 1, "data:votes.csv", owner="ann")
    run = create(runs)
    change(engine, files, created_at=0.0)
    assert store.delete_unneeded(older_than_hours=1.0) == 0
    runs.finish(claim(runs), "done", result=RESULT)
    assert store.delete_unneeded(older_than_hours=1.0) == 0
    runs.delete(run.id)
    assert store.delete_unneeded(older_than_hours=1.0) == 1
    assert store.location("1" * 64) is None
