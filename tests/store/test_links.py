"""Share links on both databases: secret, counted, expiring, revoked."""

from __future__ import annotations

import base64
import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import URL, Engine
from sqlalchemy.exc import IntegrityError

from grasp_core.errors import StoreError
from grasp_core.store.database import connect
from grasp_core.store.documents import DocumentStore
from grasp_core.store.links import Link, LinkStore, Target
from grasp_core.store.runs import RunStore
from grasp_core.store.schema import links
from tests.documents import BOARD
from tests.store.making import HOSTILE, RESULT, change, column


@pytest.fixture(params=["run", "document"])
def target(request: pytest.FixtureRequest, engine: Engine) -> Target:
    return made(engine, request.param)


def made(engine: Engine, kind: str, title: str = "A") -> Target:
    if kind == "run":
        return Target("run", RunStore(engine).add(RESULT, title=title, owner="ann").id)
    content = {**BOARD, "tasks": [title]}
    return Target("document", DocumentStore(engine).keep("leaderboard", content, title=title, owner="ann").id)


def links_to(store: LinkStore, target: Target) -> list[Link]:
    return store.of_run(target.id) if target.kind == "run" else store.of_documents([target.id])


@pytest.fixture
def store(engine: Engine) -> LinkStore:
    return LinkStore(engine)


def test_a_link_opens_what_it_was_made_for(engine: Engine, store: LinkStore, target: Target) -> None:
    other = made(engine, target.kind, "B")
    token = store.create(target, created_by="ann", label="for the reviewers")
    assert store.use(token) == target
    assert store.use(store.create(other, created_by="ann")) == other
    (link,) = links_to(store, target)
    assert (link.target, link.label, link.created_by) == (target, "for the reviewers", "ann")
    assert (link.expires_at, link.revoked_at, link.expired, link.works) == (None, None, False, True)
    assert (link.uses, link.last_used_at is not None) == (1, True)


def test_a_token_is_256_random_bits_and_only_its_hash_is_kept(
    engine: Engine, store: LinkStore, target: Target
) -> None:
    tokens = {store.create(target, created_by="ann") for _ in range(50)}
    assert len(tokens) == 50
    assert all(len(base64.urlsafe_b64decode(token + "=")) == 32 for token in tokens)
    expected = {hashlib.sha256(token.encode()).hexdigest() for token in tokens}
    assert set(column(engine, links, "token_sha256")) == expected
    assert not tokens & {link.id for link in links_to(store, target)}


def test_the_database_file_does_not_hold_the_token(tmp_path: Path) -> None:
    engine = connect(URL.create("sqlite", database=str(tmp_path / "grasp.db")))
    run = RunStore(engine).add(RESULT, title="A", owner="ann")
    store = LinkStore(engine)
    token = store.create(Target("run", run.id), created_by="ann", label="the label is there")
    assert store.use(token) == Target("run", run.id)
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    engine.dispose()
    files["after"] = (tmp_path / "grasp.db").read_bytes()
    content = b"".join(files.values())
    assert b"the label is there" in content
    for form in (token, base64.urlsafe_b64decode(token + "="), base64.urlsafe_b64decode(token + "=").hex()):
        assert (form.encode() if isinstance(form, str) else form) not in content


@pytest.mark.parametrize("text", [*HOSTILE, "\x00", "\ud800", "' OR 1=1 --"])
def test_other_texts_open_nothing(store: LinkStore, target: Target, text: str) -> None:
    token = store.create(target, created_by=text, label=text)
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
    (link,) = links_to(store, target)
    assert link.uses == 0
    assert link.label == text or "\ufffd" in link.label


def test_uses_are_counted(store: LinkStore, target: Target) -> None:
    token = store.create(target, created_by="ann")
    assert links_to(store, target)[0].last_used_at is None
    with ThreadPoolExecutor(8) as visitors:
        assert set(visitors.map(lambda _: store.use(token), range(24))) == {target}
    assert store.use(token, count=False) == target
    assert links_to(store, target)[0].uses == 24


def test_a_link_expires(engine: Engine, store: LinkStore, target: Target) -> None:
    token = store.create(target, created_by="ann", days=2)
    (link,) = links_to(store, target)
    assert link.expires_at is not None
    assert round(link.expires_at - link.created_at) == 2 * 86400
    assert store.use(token) == target
    change(engine, links, expires_at=links.c.expires_at - 2 * 86400 - 1)
    assert store.use(token) is None
    assert store.use(token, count=False) is None
    (link,) = links_to(store, target)
    assert (link.expired, link.works, link.uses) == (True, False, 1)


def test_a_link_is_revoked_for_good(store: LinkStore, target: Target) -> None:
    token, other = (store.create(target, created_by="ann") for _ in range(2))
    revoked = next(link for link in links_to(store, target) if link.uses == 0)
    assert store.use(token) == target
    by_id = {link.id: link for link in links_to(store, target)}
    used = next(link for link in by_id.values() if link.uses == 1)
    store.revoke(used.id)
    first = next(link for link in links_to(store, target) if link.id == used.id)
    assert first.revoked_at is not None
    assert not first.works
    assert store.use(token) is None
    assert store.use(other) == target
    store.revoke(used.id)
    store.revoke("nobody")
    assert next(link for link in links_to(store, target) if link.id == used.id) == first
    assert revoked.works


def test_what_was_deleted_cannot_be_shared(engine: Engine, store: LinkStore, target: Target) -> None:
    token = store.create(target, created_by="ann")
    (RunStore(engine) if target.kind == "run" else DocumentStore(engine)).delete(target.id)
    assert store.use(token) is None
    assert column(engine, links, "id") == []
    with pytest.raises(StoreError, match=f"The {target.kind} was deleted, so it cannot be shared"):
        store.create(target, created_by="ann")


def test_a_link_to_a_run_is_none_to_a_document_of_that_id(engine: Engine, store: LinkStore) -> None:
    run, document = made(engine, "run"), made(engine, "document")
    store.create(run, created_by="ann")
    store.create(document, created_by="ann")
    assert [link.target for link in store.of_run(run.id)] == [run]
    assert [link.target for link in store.of_documents([run.id, document.id])] == [document]
    assert store.of_documents([]) == []
    for other in (Target("document", run.id), Target("run", document.id)):
        with pytest.raises(StoreError, match="cannot be shared"):
            store.create(other, created_by="ann")


def test_the_database_refuses_a_link_to_both_or_neither(engine: Engine, store: LinkStore) -> None:
    run, document = made(engine, "run"), made(engine, "document")
    store.create(run, created_by="ann")
    for values in ({"document_id": document.id}, {"run_id": None}):
        with pytest.raises(IntegrityError):
            change(engine, links, **values)
    change(engine, links, run_id=None, document_id=document.id)
