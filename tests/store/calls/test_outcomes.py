"""Outcomes of requests on both databases: begun once, told again, kept for a day."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Engine

from grasp_core.model.errors import LimitError
from grasp_core.store.api_calls import CallOutcome, OutcomeStore
from grasp_core.store.schema import outcomes
from tests.store.both import on_both
from tests.store.making import change


@pytest.fixture
def store(engine: Engine) -> OutcomeStore:
    return OutcomeStore(engine)


def test_the_first_is_answered_and_the_next_told(store: OutcomeStore) -> None:
    assert store.begin("k", "r", owner="ann") is None
    with pytest.raises(LimitError, match="just now"):
        store.begin("k", "r", owner="ann")
    store.end("k", CallOutcome(201, "{}"))
    assert store.begin("k", "r", owner="ann") == CallOutcome(201, "{}")
    with pytest.raises(LimitError, match="another request"):
        store.begin("k", "other", owner="ann")
    assert store.begin("l", "r", owner="ann") is None
    store.forget("l")
    assert store.begin("l", "other", owner="ann") is None


@on_both
def test_one_of_many_at_once_is_the_first(store: OutcomeStore) -> None:
    def begin(_: int) -> bool:
        try:
            return store.begin("k", "r", owner="ann") is None
        except LimitError:
            return False

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(begin, range(12))) == 1


def test_after_a_day_or_where_a_server_died_it_begins_anew(store: OutcomeStore, engine: Engine) -> None:
    store.begin("old", "r", owner="ann")
    store.end("old", CallOutcome(201, "{}"))
    store.begin("lost", "r", owner="ann")
    change(engine, outcomes, created_at=time.time() - 23 * 3600)
    assert store.begin("old", "r", owner="ann") == CallOutcome(201, "{}")
    assert store.begin("lost", "r", owner="ann") is None
    change(engine, outcomes, created_at=time.time() - 25 * 3600)
    assert store.begin("old", "r", owner="ann") is None
    assert store.delete_old() == 1
