"""Share links on both databases: secret, counted, expiring, revoked."""

import base64
import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import URL, Engine
from sqlalchemy.exc import IntegrityError

from grasp_core.model.errors import StoreError
from grasp_core.store import links as links_module
from grasp_core.store.database import to_write
from grasp_core.store.links import (
    BY_ADDRESS,
    BY_NETWORK,
    SECONDS,
    Leaderboard,
    Link,
    LinkStore,
    Target,
    TryStore,
)
from grasp_core.store.runs import RunStore
from grasp_core.store.schema import link_tries, link_visits, links
from tests.empty_store import open_store
from tests.made_up import BOARD
from tests.store.both import on_both
from tests.store.making import HOSTILE, RESULT, change, column


@dataclass(frozen=True)
class Shared:
    """Something that links can be made to, and how to find these."""

    make: Callable[..., str]
    found: Callable[[], list[Link]]
    run_id: str | None = None

    def opened_by(self, store: LinkStore, token: str, *, count: bool = True) -> bool:
        """Whether the token opens just this."""
        if self.run_id is not None:
            return store.use(token, count=count) == Target("run", self.run_id)
        target = store.use(token, count=count)
        return target is not None and target in [link.target for link in self.found()]


@pytest.fixture(params=["run", "leaderboard"])
def target(request: pytest.FixtureRequest, engine: Engine) -> Shared:
    return made(engine, request.param)


def made(engine: Engine, kind: str, title: str = "A") -> Shared:
    store = LinkStore(engine)
    if kind == "run":
        run = RunStore(engine).add(RESULT, title=title, owner="ann")
        return Shared(partial(store.create, run.id), partial(store.of_run, run.id), run.id)
    content = {**BOARD, "tasks": [title]}

    def found() -> list[Link]:
        every = store.of_leaderboards()
        return [link for link in every if board(store, link.id).content == content]

    return Shared(partial(store.create_leaderboard, content), found)


def board(store: LinkStore, link_id: str) -> Leaderboard:
    kept = store.leaderboard(link_id)
    assert kept is not None
    return kept


@pytest.fixture
def store(engine: Engine) -> LinkStore:
    return LinkStore(engine)


def test_a_link_opens_what_it_was_made_for(engine: Engine, store: LinkStore, target: Shared) -> None:
    other = made(engine, "leaderboard" if target.run_id is None else "run", "B")
    token = target.make(created_by="ann", label="for the reviewers")
    assert target.opened_by(store, token)
    assert other.opened_by(store, other.make(created_by="ann"))
    (link,) = target.found()
    assert link.target == store.use(token, count=False)
    assert (link.label, link.created_by) == ("for the reviewers", "ann")
    assert (link.expires_at, link.revoked_at, link.expired, link.works) == (None, None, False, True)
    assert (link.uses, link.last_used_at is not None) == (1, True)


def test_a_token_is_256_random_bits_and_only_its_hash_is_kept(engine, store, target) -> None:
    tokens = {target.make(created_by="ann") for _ in range(50)}
    assert len(tokens) == 50
    assert all(len(base64.urlsafe_b64decode(token + "=")) == 32 for token in tokens)
    expected = {hashlib.sha256(token.encode()).hexdigest() for token in tokens}
    assert set(column(engine, links, "token_sha256")) == expected
    assert not tokens & {link.id for link in target.found()}


def test_the_database_file_does_not_hold_the_token(tmp_path: Path) -> None:
    engine = open_store(URL.create("sqlite", database=str(tmp_path / "grasp.db")))
    run = RunStore(engine).add(RESULT, title="A", owner="ann")
    store = LinkStore(engine)
    token = store.create(run.id, created_by="ann", label="the label is there")
    assert store.use(token) == Target("run", run.id)
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    engine.dispose()
    files["after"] = (tmp_path / "grasp.db").read_bytes()
    content = b"".join(files.values())
    assert b"the label is there" in content
    for form in (token, base64.urlsafe_b64decode(token + "="), base64.urlsafe_b64decode(token + "=").hex()):
        assert (form.encode() if isinstance(form, str) else form) not in content


@pytest.mark.parametrize("text", [*HOSTILE, "\x00", "\ud800", "' OR 1=1 --"])
def test_other_texts_open_nothing(store: LinkStore, target: Shared, text: str) -> None:
    token = target.make(created_by=text, label=text)
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
    (link,) = target.found()
    assert link.uses == 0
    assert link.label == text or "\ufffd" in link.label


@on_both
def test_a_link_expires(engine: Engine, store: LinkStore, target: Shared) -> None:
    token = target.make(created_by="ann", days=2)
    (link,) = target.found()
    assert round(link.expires_at - link.created_at) == 2 * 86400
    assert target.opened_by(store, token)
    change(engine, links, expires_at=links.c.expires_at - 2 * 86400 - 1)
    assert store.use(token) is None
    assert store.use(token, count=False) is None
    (link,) = target.found()
    assert (link.expired, link.works, link.uses) == (True, False, 1)


def test_a_link_is_revoked_for_good(store: LinkStore, target: Shared) -> None:
    token, other = (target.make(created_by="ann") for _ in range(2))
    revoked = next(link for link in target.found() if link.uses == 0)
    assert target.opened_by(store, token)
    by_id = {link.id: link for link in target.found()}
    used = next(link for link in by_id.values() if link.uses == 1)
    store.revoke(used.id)
    first = next(link for link in target.found() if link.id == used.id)
    assert first.revoked_at is not None
    assert not first.works
    assert store.use(token) is None
    assert target.opened_by(store, other)
    store.revoke(used.id)
    store.revoke("nobody")
    assert next(link for link in target.found() if link.id == used.id) == first
    assert revoked.works


def test_what_was_deleted_cannot_be_shared(engine: Engine, store: LinkStore) -> None:
    target = made(engine, "run")
    token = target.make(created_by="ann")
    RunStore(engine).delete(str(target.run_id))
    assert store.use(token) is None
    assert column(engine, links, "id") == []
    with pytest.raises(StoreError, match="No run has this id"):
        target.make(created_by="ann")


def test_a_link_to_a_run_holds_no_leaderboard(engine: Engine, store: LinkStore) -> None:
    run, other = made(engine, "run"), made(engine, "leaderboard")
    run.make(created_by="ann")
    other.make(created_by="ann")
    assert [link.target for link in run.found()] == [Target("run", str(run.run_id))]
    assert [link.target.kind for link in store.of_leaderboards()] == ["leaderboard"]
    assert store.leaderboard(run.found()[0].id) is store.leaderboard("nobody") is None
    assert board(store, other.found()[0].id).content == {**BOARD, "tasks": ["A"]}


@on_both
def test_the_database_refuses_a_link_to_both_or_neither(engine: Engine, store: LinkStore) -> None:
    run = made(engine, "run")
    run.make(created_by="ann")
    for values in ({"leaderboard": "{}"}, {"run_id": None}):
        with pytest.raises(IntegrityError):
            change(engine, links, **values)
    change(engine, links, run_id=None, leaderboard="{}")


def test_a_leaderboard_is_kept_as_it_was(store: LinkStore, engine: Engine) -> None:
    texts = {**BOARD, "tasks": list(HOSTILE)}
    token = store.create_leaderboard(texts, created_by="ann")
    target = store.use(token)
    assert board(store, target.id).content == texts


@on_both
def test_leaderboards_go_when_no_link_opens_them(engine: Engine, store: LinkStore) -> None:
    run = made(engine, "run")
    for name, days in (("open", None), ("limited", 1), ("revoked", None), ("expired", -1)):
        made(engine, "leaderboard", name).make(created_by="ann", label=name, days=days)
    revoked = next(link for link in store.of_leaderboards() if link.label == "revoked")
    store.revoke(revoked.id)
    run.make(created_by="ann", label="run", days=-1)
    change(engine, links, created_at=links.c.created_at - 3 * 3600)
    made(engine, "leaderboard", "new").make(created_by="ann", label="new", days=-1)
    assert store.delete_leaderboards(older_than_hours=2, closed=True) == 2
    assert {link.label for link in store.of_leaderboards()} == {"open", "limited", "new"}
    assert store.delete_leaderboards(older_than_hours=2, closed=False) == 2
    assert [link.label for link in store.of_leaderboards()] == ["new"]
    assert [link.label for link in run.found()] == ["run"]


def test_a_visit_counts_once_however_often_it_comes(store: LinkStore, target: Shared) -> None:
    token, other = target.make(created_by="ann"), target.make(created_by="ann")
    with ThreadPoolExecutor(8) as askers:
        assert all(askers.map(lambda _: store.use(token, visit="a browser"), range(16)))
    assert store.use(other, visit="a browser") is not None
    assert sorted(link.uses for link in target.found()) == [1, 1]


def test_a_visit_that_goes_on_waits_for_no_writer(engine: Engine, store: LinkStore, target: Shared) -> None:
    token = target.make(created_by="ann")
    opened = store.use(token, visit="a browser")
    with to_write(engine):
        assert store.use(token, visit="a browser") == opened


@on_both
def test_one_of_many_visitors_gets_the_last_use(store: LinkStore, target: Shared) -> None:
    token = target.make(created_by="ann", max_uses=3)
    with ThreadPoolExecutor(8) as visitors:
        opened = list(visitors.map(lambda place: store.use(token, visit=f"browser {place}"), range(16)))
    (link,) = target.found()
    assert sum(found is not None for found in opened) == link.uses == 3
    assert (link.max_uses, link.used_up, link.works, link.goes_on, link.state) == (
        3,
        True,
        False,
        True,
        "used up",
    )
    let_in = [place for place, found in enumerate(opened) if found is not None]
    for place in range(16):
        assert (store.lock(token, f"browser {place}") is not None) is (place in let_in)
        assert (store.use(token, visit=f"browser {place}") is not None) is (place in let_in)


def test_a_visit_lasts_twelve_hours(engine: Engine, store: LinkStore, target: Shared) -> None:
    token = target.make(created_by="ann", max_uses=1)
    assert store.use(token, visit="a browser") is not None
    change(engine, link_visits, began_at=link_visits.c.began_at - 11.9 * 3600)
    store.end_visits()
    assert store.use(token, visit="a browser") is not None
    change(engine, link_visits, began_at=link_visits.c.began_at - 0.2 * 3600)
    store.end_visits()
    assert store.use(token, visit="a browser") is None


def test_the_database_says_neither_who_came_nor_the_password(engine, store, target) -> None:
    token = target.make(created_by="ann", password="correct horse")
    store.use(token, visit="a browser")
    TryStore(engine).count(target.found()[0].id, token, "192.0.2.7")
    digests = {hashlib.sha256(text.encode()).hexdigest() for text in ("a browser", "192.0.2.7")}
    assert not digests & {*column(engine, link_visits, "visit"), *column(engine, link_tries, "who")}
    (kept,) = column(engine, links, "password")
    assert kept.startswith(f"scrypt-{links_module.LOG2_N}-8-3$")
    assert "correct" not in kept


def test_all_links_to_a_run_or_of_a_person_are_withdrawn(engine: Engine, store: LinkStore) -> None:
    first, second = made(engine, "run", "A"), made(engine, "run", "B")
    board_of_ann = made(engine, "leaderboard", "C")
    for shared in (first, second):
        for person in ("ann", "bob"):
            shared.make(created_by=person)
    first.make(created_by="ann", days=-1)
    board_of_ann.make(created_by="ann")
    used_up = first.make(created_by="ann", max_uses=1)
    assert store.use(used_up, visit="a browser") is not None
    assert store.revoke_of_run(str(first.run_id)) == 3
    assert store.use(used_up, count=False) is None
    assert [link.works for link in second.found()] == [True, True]
    assert store.revoke_of_person("ann") == 2
    assert {link.created_by for link in second.found() if link.works} == {"bob"}
    assert not board_of_ann.found()[0].works
    assert store.revoke_of_person("ann") == store.revoke_of_run(str(first.run_id)) == 0


# Tries at passwords
@pytest.fixture
def link_ids(engine: Engine) -> list[str]:
    run = made(engine, "run")
    for _ in range(2):
        run.make(created_by="ann")
    return [link.id for link in run.found()]


@on_both
def test_an_address_has_so_many_tries_at_a_link_for_a_while(engine: Engine, link_ids: list[str]) -> None:
    tries, (link, other) = TryStore(engine), link_ids
    with ThreadPoolExecutor(8) as askers:
        assert sum(askers.map(lambda _: tries.count(link, "token", "192.0.2.7"), range(12))) == BY_ADDRESS
    assert tries.count(link, "token", "192.0.2.8")
    assert tries.count(other, "another token", "192.0.2.7")
    change(engine, link_tries, since=link_tries.c.since - SECONDS - 1)
    assert tries.count(link, "token", "192.0.2.7")


@pytest.mark.parametrize("network", ["192.0.2.{}", "2001:db8:7:{:x}::1"])
def test_a_network_has_more_and_shuts_out_nobody_elsewhere(engine, link_ids: list[str], network: str) -> None:
    tries, link = TryStore(engine), link_ids[0]
    places = [network.format(place) for place in range(BY_NETWORK + 5)]
    assert sum(tries.count(link, "token", place) for place in places) == BY_NETWORK
    assert tries.count(link, "token", "198.51.100.1")
    assert tries.count(link, "token", "2001:db8:8::1")


def test_a_household_s_addresses_count_as_one(engine: Engine, link_ids: list[str]) -> None:
    tries, link = TryStore(engine), link_ids[0]
    tried = [tries.count(link, "token", f"2001:db8::{place:x}:1") for place in range(12)]
    assert sum(tried) == BY_ADDRESS
    assert tries.count(link, "token", "::ffff:192.0.2.7")
    assert [tries.count(link, "token", "192.0.2.7") for _ in range(BY_ADDRESS)].count(False) == 1


def test_all_together_have_an_end(engine: Engine, link_ids: list[str], monkeypatch) -> None:
    monkeypatch.setattr(links_module, "BY_LINK", 40)
    tries, link = TryStore(engine), link_ids[0]
    assert sum(tries.count(link, "token", f"192.0.{place}.1") for place in range(45)) == 40


def test_who_knew_the_password_is_counted_anew(engine: Engine, link_ids: list[str]) -> None:
    tries, link = TryStore(engine), link_ids[0]
    for _ in range(BY_ADDRESS):
        tries.count(link, "token", "192.0.2.7")
    tries.forget(link, "token", "192.0.2.7")
    assert tries.count(link, "token", "192.0.2.7")


def test_the_right_password_is_no_try(engine: Engine, link_ids: list[str]) -> None:
    tries, link = TryStore(engine), link_ids[0]
    tries.count(link, "token", "198.51.100.1")
    for place in range(BY_NETWORK + 5):
        assert tries.count(link, "token", f"192.0.2.{place}")
        tries.forget(link, "token", f"192.0.2.{place}")
    assert tries.count(link, "token", "192.0.2.1")
