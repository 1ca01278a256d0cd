from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Engine

from grasp_core.store import links as tries_module
from grasp_core.store.links import BY_ADDRESS, BY_NETWORK, SECONDS, LinkStore, TryStore
from grasp_core.store.runs import RunStore
from grasp_core.store.schema import link_tries
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
    monkeypatch.setattr(tries_module, "BY_LINK", 40)
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
