"""People by issuer and subject, and their sessions, on both databases."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from grasp_core.model.access import Identity
from grasp_core.model.errors import AccessError, LimitError
from grasp_core.model.settings import Settings
from grasp_core.server.accounts import FRESH_SECONDS, Accounts
from grasp_core.store.people.people import PeopleStore
from grasp_core.store.schema import people, sessions
from tests.store.both import on_both
from tests.store.making import change, claims

ANN = Identity("https://id.example", "a", "ann@lab.example", "Ann")
SETTINGS = Settings(analysts=("ann@lab.example",), admins=("root@lab.example",), session_idle_minutes=10)


@pytest.fixture
def accounts(engine: Engine) -> Accounts:
    return Accounts(SETTINGS, engine)


def elsewhere(engine: Engine) -> Accounts:
    """Another server on the same database."""
    return Accounts(SETTINGS, engine)


def test_a_person_is_known_by_issuer_and_subject_whatever_the_address(engine: Engine) -> None:
    store = PeopleStore(engine)
    ann = store.sign_in(ANN)
    married = store.sign_in(dataclasses.replace(ANN, email="ann.b@lab.example", name="Ann B."))
    assert married.id == ann.id
    assert married.identity.name == "Ann B."
    others = [
        store.sign_in(dataclasses.replace(ANN, subject="b")),
        store.sign_in(dataclasses.replace(ANN, issuer="https://other.example")),
    ]
    assert len({ann.id, *(other.id for other in others)}) == 3
    assert store.names([ann.id, "bob@lab.example", ""]) == {
        ann.id: "Ann B.",
        "bob@lab.example": "bob@lab.example",
        "": "",
    }


@on_both
def test_two_first_sign_ins_at_once_are_one_person(engine: Engine) -> None:
    store = PeopleStore(engine)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(store.sign_in, [ANN] * 8))
    assert len({person.id for person in found}) == 1


@on_both
def test_people_are_searched_by_pages(engine: Engine) -> None:
    store = PeopleStore(engine)
    for number in range(7):
        store.sign_in(Identity("i", str(number), f"p{number}@lab.example", f"{'xX'[number % 2]} {number}"))
    found, total = store.search("X ", start=2, limit=3)
    assert ([person.identity.subject for person in found], total) == (["2", "3", "4"], 7)
    assert [person.identity.subject for person in store.search("p6@")[0]] == ["6"]
    assert store.search("%")[1] == 0


def test_a_session_ends_for_every_server(engine: Engine, accounts: Accounts) -> None:
    ann = accounts.sign_in(claims(ANN))
    accounts.sign_in(claims(ANN, visit="2"))
    other = elsewhere(engine)
    assert accounts.user(claims(ANN)) == ann
    accounts.sign_out(claims(ANN))
    assert accounts.user(claims(ANN)) is None
    assert other.user(claims(ANN)) is None
    assert other.user(claims(ANN, visit="2")) == ann
    with pytest.raises(AccessError):
        accounts.sign_in({**claims(ANN), "email_verified": False})
    accounts.sign_in(claims(ANN))  # the same token once more
    assert accounts.user(claims(ANN)) is None
    accounts.sign_out_everywhere(ann.id, by=ann)
    assert accounts.user(claims(ANN, visit="2")) is None
    assert accounts.sessions.of_person(ann.id) == []


def test_changes_elsewhere_hold_within_a_second(engine: Engine, accounts: Accounts) -> None:
    ann = accounts.sign_in(claims(ANN))
    assert FRESH_SECONDS <= 1
    assert ann.role == "analyst"
    assert accounts.user(claims(ANN)) is not None
    elsewhere(engine).set_role(ann.id, "viewer", by=None)
    fresh = Accounts(SETTINGS, engine)
    changed = fresh.user(claims(ANN))
    assert changed.role == "viewer"
    elsewhere(engine).disable(ann.id, by=None)
    with pytest.raises(AccessError, match="disabled"):
        Accounts(SETTINGS, engine).user(claims(ANN))


def test_nobody_ends_the_sessions_of_others(accounts: Accounts) -> None:
    accounts.sign_in(claims(ANN))
    bob = accounts.sign_in(claims(dataclasses.replace(ANN, subject="b")))
    (session,) = accounts.sessions.of_person(accounts.people.search("ann@")[0][0].id) or [None]
    accounts.end_session(session.key, bob.id)
    assert accounts.user(claims(ANN)) is not None


def test_who_is_disabled_is_out_and_stays_out(accounts: Accounts) -> None:
    ann = accounts.sign_in(claims(ANN))
    root = accounts.sign_in(claims(Identity("i", "r", "root@lab.example", "Root")))
    accounts.disable(ann.id, by=root)
    for _ in range(2):
        with pytest.raises(AccessError, match="disabled"):
            accounts.user(claims(ANN))
        with pytest.raises(AccessError, match="disabled"):
            accounts.sign_in(claims(ANN, visit="2"))
    assert accounts.acting(ann.id) is None
    accounts.enable(ann.id, by=root)
    assert accounts.user(claims(ANN)) is None  # the earlier session does not come back
    assert accounts.sign_in(claims(ANN, visit="3")).id == ann.id


@on_both
def test_idle_sessions_end_and_use_keeps_them(engine: Engine, accounts: Accounts) -> None:
    accounts.sign_in(claims(ANN))
    accounts.sign_in(claims(ANN, visit="2"))
    idle(engine, 9 * 60)
    assert elsewhere(engine).user(claims(ANN, visit="2"), seen=False) is not None
    assert elsewhere(engine).user(claims(ANN)) is not None
    idle(engine, 2 * 60)
    assert elsewhere(engine).user(claims(ANN, visit="2")) is None
    assert elsewhere(engine).user(claims(ANN)) is not None


def idle(engine: Engine, seconds: float) -> None:
    change(engine, sessions, seen_at=sessions.c.seen_at - seconds)


def test_admins_change_roles_and_others_do_not(accounts: Accounts) -> None:
    ann = accounts.sign_in(claims(ANN))
    root = accounts.sign_in(claims(Identity("i", "r", "root@lab.example", "Root")))
    for refused in (accounts.disable, accounts.enable):
        with pytest.raises(AccessError, match="Only an admin"):
            refused(root.id, by=ann)
    with pytest.raises(AccessError, match="Only an admin"):
        accounts.set_role(ann.id, "admin", by=ann)
    accounts.set_role(ann.id, "admin", by=root)
    ann = accounts.user(claims(ANN)) or ann
    assert ann.role == "admin"
    for refused in (accounts.disable, accounts.enable):
        with pytest.raises(AccessError, match="GRASP_ADMINS"):
            refused(root.id, by=ann)
    accounts.set_role(ann.id, None, by=root)
    assert accounts.acting(ann.id) == dataclasses.replace(ann, role="analyst")


def test_the_last_admin_stays(engine: Engine) -> None:
    accounts = Accounts(Settings(), engine)
    ann = accounts.sign_in(claims(ANN))
    accounts.set_role(ann.id, "admin", by=None)
    ann = accounts.user(claims(ANN)) or ann
    with pytest.raises(LimitError, match="the only admin"):
        accounts.disable(ann.id, by=ann)
    with pytest.raises(LimitError, match="the only admin"):
        accounts.set_role(ann.id, "viewer", by=ann)
    bob = accounts.sign_in(claims(dataclasses.replace(ANN, subject="b")))
    accounts.set_role(bob.id, "admin", by=ann)
    accounts.disable(ann.id, by=ann)
    assert accounts.acting(ann.id) is None


def test_old_sessions_are_deleted_and_people_stay(engine: Engine, accounts: Accounts) -> None:
    accounts.sign_in(claims(ANN))
    assert accounts.sessions.delete_older_than(32) == 0
    change(engine, sessions, created_at=sessions.c.created_at - 33 * 86400)
    assert accounts.sessions.delete_older_than(32) == 1
    assert accounts.user(claims(ANN)) is None
    with engine.connect() as connection:
        assert connection.execute(sa.select(sa.func.count()).select_from(people)).scalar_one() == 1
