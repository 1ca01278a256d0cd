"""Share links on both databases: secret, counted, expiring, revoked."""

from __future__ import annotations

import base64
import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import URL, Engine

from grasp_core.errors import StoreError
from grasp_core.store.database import connect
from grasp_core.store.links import LinkStore
from grasp_core.store.runs import RunStore
from grasp_core.store.schema import links
from tests.store.making import HOSTILE, RESULT, change, column


@pytest.fixture
def run_id(engine: Engine) -> str:
    return RunStore(engine).add(RESULT, title="A", owner="ann").id


@pytest.fixture
def store(engine: Engine) -> LinkStore:
    return LinkStore(engine)


def test_a_link_opens_its_run(engine: Engine, store: LinkStore, run_id: str) -> None:
    other = RunStore(engine).add(RESULT, title="B", owner="ann").id
    token = store.create(run_id, created_by="ann", label="for the reviewers")
    assert store.use(token) == run_id
    assert store.use(store.create(other, created_by="ann")) == other
    (link,) = store.of_run(run_id)
    assert (link.run_id, link.label, link.created_by) == (run_id, "for the reviewers", "ann")
    assert (link.expires_at, link.revoked_at, link.expired, link.works) == (None, None, False, True)
    assert (link.uses, link.last_used_at is not None) == (1, True)


def test_a_token_is_256_random_bits_and_only_its_hash_is_kept(
    engine: Engine, store: LinkStore, run_id: str
) -> None:
    tokens = {store.create(run_id, created_by="ann") for _ in range(50)}
    assert len(tokens) == 50
    assert all(len(base64.urlsafe_b64decode(token + "=")) == 32 for token in tokens)
    expected = {hashlib.sha256(token.encode()).hexdigest() for token in tokens}
    assert set(column(engine, links, "token_sha256")) == expected
    assert not tokens & {link.id for link in store.of_run(run_id)}


def test_the_database_file_does_not_hold_the_token(tmp_path: Path) -> None:
    engine = connect(URL.create("sqlite", database=str(tmp_path / "grasp.db")))
    run = RunStore(engine).add(RESULT, title="A", owner="ann")
    store = LinkStore(engine)
    token = store.create(run.id, created_by="ann", label="the label is there")
    assert store.use(token) == run.id
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    engine.dispose()
    files["after"] = (tmp_path / "grasp.db").read_bytes()
    content = b"".join(files.values())
    assert b"the label is there" in content
    for form in (token, base64.urlsafe_b64decode(token + "="), base64.urlsafe_b64decode(token + "=").hex()):
        assert (form.encode() if isinstance(form, str) else form) not in content


@pytest.mark.parametrize("text", [*HOSTILE, "\x00", "\ud800", "' OR 1=1 --"])
def test_other_texts_open_nothing(store: LinkStore, run_id: str, text: str) -> None:
    token = store.create(run_id, created_by=text, label=text)
    for other in (
        text,
        token + text,
        token[:-1],
        token.swapcase(),
        hashlib.sha256(token.encode()).hexdigest(),
    ):
        if other != token:
            assert store.use(other) is None
            assert store.use(other, count=False) is None
    assert store.of_run(text) == []
    (link,) = store.of_run(run_id)
    assert link.uses == 0
    assert link.label == text or "\ufffd" in link.label


def test_uses_are_counted(store: LinkStore, run_id: str) -> None:
    token = store.create(run_id, created_by="ann")
    assert store.of_run(run_id)[0].last_used_at is None
    with ThreadPoolExecutor(8) as visitors:
        assert set(visitors.map(lambda _: store.use(token), range(24))) == {run_id}
    assert store.use(token, count=False) == run_id
    assert store.of_run(run_id)[0].uses == 24


def test_a_link_expires(engine: Engine, store: LinkStore, run_id: str) -> None:
    token = store.create(run_id, created_by="ann", days=2)
    (link,) = store.of_run(run_id)
    assert link.expires_at is not None
    assert round(link.expires_at - link.created_at) == 2 * 86400
    assert store.use(token) == run_id
    change(engine, links, expires_at=links.c.expires_at - 2 * 86400 - 1)
    assert store.use(token) is None
    assert store.use(token, count=False) is None
    (link,) = store.of_run(run_id)
    assert (link.expired, link.works, link.uses) == (True, False, 1)


def test_a_link_is_revoked_for_good(store: LinkStore, run_id: str) -> None:
    token, other = (store.create(run_id, created_by="ann") for _ in range(2))
    revoked = next(link for link in store.of_run(run_id) if link.uses == 0)
    assert store.use(token) == run_id
    by_id = {link.id: link for link in store.of_run(run_id)}
    used = next(link for link in by_id.values() if link.uses == 1)
    store.revoke(used.id)
    first = next(link for link in store.of_run(run_id) if link.id == used.id)
    assert first.revoked_at is not None
    assert not first.works
    assert store.use(token) is None
    assert store.use(other) == run_id
    store.revoke(used.id)
    store.revoke("nobody")
    assert next(link for link in store.of_run(run_id) if link.id == used.id) == first
    assert revoked.works


def test_a_deleted_run_cannot_be_shared(engine: Engine, store: LinkStore, run_id: str) -> None:
    token = store.create(run_id, created_by="ann")
    RunStore(engine).delete(run_id)
    assert store.use(token) is None
    with pytest.raises(StoreError, match="The run was deleted, so it cannot be shared"):
        store.create(run_id, created_by="ann")
