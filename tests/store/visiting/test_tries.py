from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Engine

from grasp_core.store.links import LinkStore
from grasp_core.store.runs import RunStore
from grasp_core.store.schema import link_tries
from grasp_core.store.visiting.tries import BY_ADDRESS, BY_LINK, SECONDS, TryStore
from tests.store.both import on_both
from tests.store.making import RESULT, change


@pytest.fixture
def link_ids(engine: Engine) -> list[str]:
    run = RunStore(engine).add(RESULT, title="A", owner="ann")
    store = LinkStore(engine)
    for _ in range(2):
        store.create(run.id, created_by="ann")
    return [link.id for link in store.of_run(run.id)]


@on_both
def test_an_address_has_so_many_tries_at_a_link_for_a_while(engine: Engine, link_ids: list[str]) -> None:
    tries, (link, other) = TryStore(engine), link_ids
    with ThreadPoolExecutor(8) as askers:
        assert sum(askers.map(lambda _: tries.count(link, "token", "192.0.2.7"), range(12))) == BY_ADDRESS
    assert tries.count(link, "token", "192.0.2.8")
    assert tries.count(other, "another token", "192.0.2.7")
    change(engine, link_tries, since=link_tries.c.since - SECONDS - 1)
    assert tries.count(link, "token", "192.0.2.7")


def test_all_addresses_together_have_more(engine: Engine, link_ids: list[str]) -> None:
    tries, link = TryStore(engine), link_ids[0]
    assert sum(tries.count(link, "token", f"192.0.2.{place}") for place in range(BY_LINK + 5)) == BY_LINK


def test_who_knew_the_password_is_counted_anew(engine: Engine, link_ids: list[str]) -> None:
    tries, link = TryStore(engine), link_ids[0]
    for _ in range(BY_ADDRESS):
        tries.count(link, "token", "192.0.2.7")
    tries.forget(link, "token", "192.0.2.7")
    assert tries.count(link, "token", "192.0.2.7")


def test_the_right_password_is_no_try(engine: Engine, link_ids: list[str]) -> None:
    tries, link = TryStore(engine), link_ids[0]
    tries.count(link, "token", "198.51.100.1")
    for place in range(BY_LINK + 5):
        assert tries.count(link, "token", f"192.0.2.{place}")
        tries.forget(link, "token", f"192.0.2.{place}")
    assert sum(tries.count(link, "token", f"203.0.113.{place}") for place in range(BY_LINK)) == BY_LINK - 1
