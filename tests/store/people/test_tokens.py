"""Personal tokens on both databases: secret, expiring, withdrawn, theirs alone."""

import hashlib
import time

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from grasp_core.model.errors import LimitError
from grasp_core.store.people import credentials as module
from grasp_core.store.people.credentials import PREFIX, TokenStore
from grasp_core.store.schema import tokens
from tests.store.both import on_both
from tests.store.making import change


@pytest.fixture
def store(engine: Engine) -> TokenStore:
    return TokenStore(engine)


def make(store: TokenStore, owner: str = "ann", **changes: object) -> str:
    return store.create(**{"owner": owner, "name": "a pipeline", "scope": "run", "days": 30, **changes})  # type: ignore[arg-type]


def test_only_the_hash_is_kept(store: TokenStore, engine: Engine) -> None:
    token = make(store)
    assert token.startswith(PREFIX)
    assert len(token) > 40
    with engine.connect() as connection:
        (row,) = connection.execute(sa.select(tokens)).all()
    assert token not in map(str, row)
    assert row.token_sha256 == hashlib.sha256(token.encode()).hexdigest()


@on_both
def test_a_token_tells_whose_it_is_and_when_it_was_used(store: TokenStore) -> None:
    token, other = make(store), make(store, "bob", scope="read")
    (before,) = store.of("ann")
    assert before.last_used_at is None
    found = store.use(token)
    assert (found.owner, found.scope, found.works) == ("ann", "run", True)
    (after,) = store.of("ann")
    assert after.last_used_at == pytest.approx(time.time(), abs=60)
    assert after.expires_at - after.created_at == pytest.approx(30 * 86400, abs=1)
    assert {one.owner for one in store.all()} == {"ann", "bob"}
    assert store.use(other) is not None


@pytest.mark.parametrize("wrong", ["", "grasp_", "grasp_guessed", "\udc80", "x" * 10_000])
def test_what_is_no_token_opens_nothing(store: TokenStore, wrong: str) -> None:
    make(store)
    assert store.use(wrong) is None


def test_withdrawn_and_expired_ones_open_nothing(store: TokenStore, engine: Engine) -> None:
    withdrawn, expired, works = (make(store, name=name) for name in ("withdrawn", "expired", "works"))
    ids = {one.name: one.id for one in store.all()}
    assert store.revoke(ids["withdrawn"], owner="ann")
    assert not store.revoke(ids["withdrawn"], owner="ann")
    assert not store.revoke(ids["works"], owner="bob")
    change(engine, tokens, tokens.c.id == ids["expired"], expires_at=time.time() - 1)
    assert store.use(withdrawn) is None
    assert store.use(expired) is None
    assert store.use(works) is not None
    assert {one.name: one.works for one in store.of("ann")} == {
        "withdrawn": False,
        "expired": False,
        "works": True,
    }
    assert store.delete_ended(older_than_days=1) == 0
    change(engine, tokens, tokens.c.revoked_at.is_not(None), revoked_at=1.0)
    assert store.delete_ended(older_than_days=1) == 1


@pytest.mark.parametrize(
    "changes", [{"name": " "}, {"name": "x" * 101}, {"days": 0}, {"days": 367}, {"days": -1}]
)
def test_what_is_no_token_to_make_is_refused(store: TokenStore, changes: dict[str, object]) -> None:
    with pytest.raises(LimitError):
        make(store, **changes)
    assert store.all() == []


def test_nobody_has_more_than_can_be_overseen(store: TokenStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_TOKENS", 2)
    make(store)
    make(store)
    with pytest.raises(LimitError, match="withdraw one first"):
        make(store)
    make(store, "bob")
    store.revoke(store.of("ann")[0].id)
    make(store)
