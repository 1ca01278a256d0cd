"""The audit log: what is in it, and that nobody changes it unseen; on both databases."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from grasp_core.model.errors import AccessError, StoreError
from grasp_core.model.settings import Settings
from grasp_core.server.accounts import Accounts
from grasp_core.store.backup import BackupKey, head_in, new_key, write_backup
from grasp_core.store.database import SECRET
from grasp_core.store.people.audit import MOST_AN_HOUR, AuditStore, Refusals, UnsealedError
from grasp_core.store.people.projects import Member
from grasp_core.store.schema import audit, audit_heads
from tests.store.both import on_both

KEY = BackupKey(new_key())
CLAIMS = {"iss": "https://id.example", "sub": "a", "email": "ann@lab.example", "email_verified": True}


@pytest.fixture
def log(engine: Engine) -> AuditStore:
    store = AuditStore(engine)
    for number in range(5):
        store.record("ann", "run", "run", str(number), {"known": False})
    return store


@on_both
def test_entries_follow_each_other_also_from_several_threads(engine: Engine) -> None:
    store = AuditStore(engine)
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda number: store.record("ann", "upload", "file", str(number)), range(20)))
    assert store.check() == 20
    entries, total = store.search(limit=30)
    assert ([entry.number for entry in entries], total) == (list(range(20, 0, -1)), 20)
    assert len({entry.object_id for entry in entries}) == 20


@pytest.mark.parametrize(
    "statement",
    [
        audit.update().where(audit.c.number == 3).values(actor="bob"),
        audit.update().where(audit.c.number == 3).values(details="{}"),
        audit.update().where(audit.c.number == 1).values(at=1.0),
        audit.delete().where(audit.c.number == 3),
        audit.update().where(audit.c.number == 5).values(number=9),
    ],
)
def test_what_is_changed_or_left_out_breaks_the_chain(log, engine, statement) -> None:
    assert log.check() == 5
    with engine.begin() as connection:
        connection.execute(statement)
    with pytest.raises(StoreError, match="not as it was written"):
        log.check()


@pytest.mark.parametrize("go_on", [False, True])
@pytest.mark.parametrize("kept", [0, 3])
def test_newest_entries_that_are_deleted_are_missed(log: AuditStore, engine, kept: int, go_on: bool) -> None:
    with engine.begin() as connection:
        connection.execute(audit.delete().where(audit.c.number > kept))
    if go_on:
        log.record("bob", "run")
    with pytest.raises(StoreError, match="not as it was written"):
        log.check()


def sealing(engine: Engine, secret: str = "a secret of the server's alone") -> AuditStore:
    engine.update_execution_options(**{SECRET: secret})
    return AuditStore(engine)


def test_a_head_that_was_put_right_in_the_database_has_no_seal(engine: Engine) -> None:
    log = sealing(engine)
    for _ in range(3):
        log.record("ann", "run")
    assert log.check() == 3
    with engine.begin() as connection:
        connection.execute(audit.delete().where(audit.c.number == 3))
        second = connection.execute(sa.select(audit).where(audit.c.number == 2)).one()
        connection.execute(audit_heads.update().values(number=2, hash=second.hash))
    for _ in range(2):
        with pytest.raises(UnsealedError):
            log.check()
        log.record("bob", "run")  # does not make it good
    log.seal()
    assert log.check() == 4
    with pytest.raises(UnsealedError):
        sealing(engine, "another secret").check()


def test_a_log_of_before_there_was_a_key_is_sealed_when_asked(log: AuditStore, engine: Engine) -> None:
    with pytest.raises(StoreError, match="GRASP_SECRET_KEY"):
        log.seal()
    with engine.begin() as connection:
        connection.execute(audit_heads.delete())  # as the version before left it
    assert log.check() == 5
    keyed = sealing(engine)
    keyed.record("ann", "run")
    with pytest.raises(UnsealedError):
        keyed.check()
    keyed.seal()
    assert keyed.check() == 6


def test_a_log_set_back_as_a_whole_does_not_go_on_from_a_backup(engine: Engine, tmp_path: Path) -> None:
    log, backup = sealing(engine), tmp_path / "b"
    for _ in range(3):
        log.record("ann", "run")
    with engine.begin() as connection:
        before = connection.execute(sa.select(audit_heads)).mappings().one()
    log.record("ann", "delete")
    write_backup(engine, backup, KEY)
    since = head_in(backup, KEY)
    log.record("ann", "run")
    assert since.number == 4
    assert log.check(since) == 5
    with engine.begin() as connection:
        connection.execute(audit.delete().where(audit.c.number > 3))
        connection.execute(audit_heads.update().values(**before))
    assert log.check() == 3  # its seal holds
    with pytest.raises(StoreError, match="entry 4 is not what it was then"):
        log.check(since)


def test_the_beginning_goes_with_time_and_the_chain_holds(log: AuditStore, engine: Engine) -> None:
    old = AuditStore(engine)
    assert old.delete_older_than(1) == 0
    assert old.delete_older_than(0) == 4
    assert log.check() == 1
    log.record("ann", "delete", "run", "0")
    assert [json.loads(line)["number"] for line in log.lines()] == [5, 6]


@on_both
def test_it_is_searched(log: AuditStore) -> None:
    log.record("bob", "delete", "run", "3")
    assert [entry.actor for entry in log.search(action="delete")[0]] == ["bob"]
    assert log.search(object_id="3")[1] == 2
    assert log.search(actor="ann", start=1, limit=2)[0][0].object_id == "3"


def test_sign_ins_refusals_and_what_admins_change_stand_in_it_without_names(engine: Engine) -> None:
    accounts = Accounts(Settings(allowed_domains=("lab.example",)), engine)
    ann = accounts.sign_in(CLAIMS)
    with pytest.raises(AccessError):
        accounts.sign_in({**CLAIMS, "email": "eve@evil.example"})
    accounts.set_role(ann.id, "admin", by=None)
    accounts.sign_out(CLAIMS)
    entries, _ = AuditStore(engine).search()
    assert [(entry.actor, entry.action) for entry in reversed(entries)] == [
        (ann.id, "sign-in"),
        ("", "refusal"),
        ("command", "role"),
        (ann.id, "sign-out"),
    ]
    assert "lab.example" not in "".join(AuditStore(engine).lines())


def test_whoever_is_refused_over_and_over_fills_no_log(engine: Engine) -> None:
    store, refusals = AuditStore(engine), Refusals(AuditStore(engine))
    for _ in range(50):
        refusals.record("eve", "api", "/api/v1/runs", status=403)
    assert store.search()[1] == 1
    for number in range(MOST_AN_HOUR + 50):
        refusals.record(f"someone {number}", "page", "People")
    entries, total = store.search(limit=1)
    assert total == MOST_AN_HOUR
    assert entries[0].details == {}
    assert store.search(actor="someone 0")[0][0].details == {"more": 49}


@on_both
def test_what_is_no_text_for_the_database_does_not_break_the_chain(engine: Engine) -> None:
    store = AuditStore(engine)
    Refusals(store).record("", "api", "/api/\x00\ud800\n" + "x" * 500, status=401)
    store.record("a\x00b", "run", "run", "c\ud800d")
    assert store.check() == 2
    assert store.search(action="refusal")[0][0].object_id.startswith("/api/???xxx")


def test_members_stand_in_it_without_their_address() -> None:
    assert Member("address", "ann@lab.example", "owner").log_details == {"kind": "address", "role": "owner"}
    assert Member("person", "id", "viewer").log_details == {
        "kind": "person",
        "role": "viewer",
        "person": "id",
    }
