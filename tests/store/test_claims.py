"""Claims on runs: fair, for a while, and refused once they have passed to somebody else."""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from grasp_core.store import claims as claims_module
from grasp_core.store.database import clock, to_write
from grasp_core.store.runs import LostRunError, RunStore
from grasp_core.store.schema import checkpoints, runs
from tests.store.both import on_both
from tests.store.making import RESULT, change, claim, column, create

pytestmark = on_both


@pytest.fixture
def store(engine: Engine) -> RunStore:
    return RunStore(engine)


def test_the_user_with_the_fewest_running_comes_first(store: RunStore) -> None:
    for number in range(3):
        create(store, f"ann {number}", owner="ann")
    create(store, "bob 0", owner="bob")
    create(store, "carl 0", owner="carl")
    create(store, "bob 1", owner="bob")
    claimed = [claim(store) for _ in range(6)]
    assert [record.title for record in claimed] == ["ann 0", "bob 0", "carl 0", "ann 1", "bob 1", "ann 2"]
    assert all((record.state, record.attempt) == ("running", 1) for record in claimed)
    assert store.claim() is None


def test_who_gives_way_waits_behind_those_who_wait(store: RunStore) -> None:
    for title in ("ann 0", "bob 0", "ann 1"):
        create(store, title, owner=title[:3])
    first, second = claim(store), claim(store)
    assert not store.somebody_waits()  # ann does, but is computed for
    create(store, "carl 0", owner="carl")
    assert store.somebody_waits()
    store.release(first, gives_way=True)
    assert claim(store).title == "carl 0"
    assert store.somebody_waits()
    store.release(second, gives_way=True)
    create(store, "dora 0", owner="dora")
    assert [claim(store).title for _ in range(4)] == ["ann 1", "bob 0", "dora 0", "ann 0"]
    assert store.claim() is None


def test_who_has_ended_counts_as_idle_again(store: RunStore) -> None:
    for title in ("ann 0", "ann 1", "bob 0", "bob 1"):
        create(store, title, owner=title[:3])
    first, second = claim(store), claim(store)
    assert (first.title, second.title) == ("ann 0", "bob 0")
    store.finish(second, "done", result=RESULT)
    assert claim(store).title == "bob 1"


def test_many_servers_never_claim_the_same(store: RunStore) -> None:
    made = {create(store, f"run {number}", owner=f"user {number % 4}").id for number in range(16)}
    with ThreadPoolExecutor(8) as servers:
        claimed = list(servers.map(lambda _: store.claim(), range(20)))
    ids = [record.id for record in claimed if record is not None]
    assert len(ids) == 16  # nobody was passed over, though others were looking at the same rows
    assert set(ids) == made


def test_a_claim_that_is_not_renewed_is_anybodys(engine: Engine, store: RunStore) -> None:
    create(store)
    first = claim(store)
    assert store.claim() is None
    assert store.keep(first) is False
    change(engine, runs, lease_until=runs.c.lease_until - claims_module.LEASE_SECONDS - 1)
    assert store.claim(in_hand=[first.id]) is None
    second = claim(store)
    assert (second.id, second.attempt) == (first.id, 2)
    assert store.claim() is None


def test_a_claim_from_before_the_clock_was_set_back_is_anybodys(engine: Engine, store: RunStore) -> None:
    create(store)
    first = claim(store)
    change(engine, runs, lease_until=runs.c.lease_until + 3600)
    second = claim(store)
    assert (second.id, second.attempt) == (first.id, 2)
    with pytest.raises(LostRunError):
        store.keep(first)
    change(engine, runs, lease_until=runs.c.lease_until + 1)  # a clock that is put right by a second
    assert store.claim() is None


def test_a_claim_renewed_late_but_before_anybody_took_it_holds(engine: Engine, store: RunStore) -> None:
    create(store)
    first = claim(store)
    change(engine, runs, lease_until=0.0)
    store.keep(first)
    assert store.claim() is None
    store.finish(first, "done", result=RESULT)


def test_who_has_lost_a_claim_can_write_nothing(engine: Engine, store: RunStore) -> None:
    create(store)
    stale = claim(store)
    store.keep(stale, 4, [(0, np.zeros((4, 12)))])
    change(engine, runs, lease_until=0.0)
    fresh = claim(store)
    writes = [
        lambda: store.keep(stale),
        lambda: store.keep(stale, 9, [(4, np.ones((5, 2, 6)))]),
        lambda: store.finish(stale, "done", result=RESULT),
        lambda: store.finish(stale, "failed", error="late"),
        lambda: store.release(stale),
    ]
    for write in writes:
        with pytest.raises(LostRunError, match="taken over by another server or deleted"):
            write()
        now = store.get(fresh.id)
        assert (now.state, now.attempt, now.done, now.error) == ("running", 2, 4, None)
    assert column(engine, checkpoints, "start") == [0]
    store.finish(fresh, "done", result=RESULT)
    assert column(engine, checkpoints, "start") == []
    with pytest.raises(LostRunError):
        store.keep(fresh)


def test_losses_are_counted_until_the_run_gets_on(engine: Engine, store: RunStore) -> None:
    create(store)
    first = claim(store)
    assert store.losses(first) == 0
    store.release(first)
    assert store.losses(claim(store)) == 0  # it was handed back
    for lost in (1, 2):
        change(engine, runs, lease_until=0.0)
        assert store.losses(claim(store)) == lost
    change(engine, runs, lease_until=0.0)
    going = claim(store)
    store.keep(going, going.done + 4)
    assert store.losses(going) == 3
    store.forget_losses(going)
    assert store.losses(going) == 0
    change(engine, runs, lease_until=0.0)
    last = claim(store)
    assert store.losses(last) == 1
    store.finish(last, "failed", error="Lost.")
    assert store.losses(last) == 0  # asked again it starts afresh
    with pytest.raises(LostRunError):
        store.forget_losses(last)


def test_a_run_cancelled_while_it_waits_starts_afresh_where_it_is_asked_again(engine, store) -> None:
    create(store, "asked")
    change(engine, runs, state="running")
    store.release(claim(store))
    (record,) = [store.get(one) for one in column(engine, runs, "id")]
    assert store.losses(record) == 1
    store.request_cancel(record.id)
    create(store, "asked")
    assert store.losses(record) == 0


def test_whose_process_was_lost_comes_last(engine: Engine, store: RunStore) -> None:
    first = create(store, "first", owner="ann")
    change(engine, runs, state="running", lease_until=0.0)
    store.release(claim(store))
    second = create(store, "second", owner="bob")
    create(store, "third", owner="bob")
    assert claim(store).id == second.id
    assert claim(store).title == "third"
    assert claim(store).id == first.id


def test_blocks_are_read_as_they_were_saved(store: RunStore) -> None:
    create(store)
    claimed = claim(store)
    rng = np.random.default_rng(1)
    values = rng.normal(size=(30, 5 * 6))
    values[3, 13] = np.nan
    values[4, 0] = -0.0
    store.keep(claimed, 10, [(20, values[20:])])
    store.keep(claimed, 30, [(0, values[:7]), (7, values[7:20])])
    found = store.computed(claimed, 5 * 6)
    assert [(start, len(block)) for start, block in found] == [(0, 7), (7, 13), (20, 10)]
    assert np.concatenate([block for _, block in found]).tobytes() == values.tobytes()


def test_blocks_saved_again_after_an_answer_that_never_came(store: RunStore) -> None:
    """The database had committed, but the connection broke before it could say so."""
    create(store)
    claimed = claim(store)
    blocks = [(0, np.ones((3, 12))), (3, np.ones((2, 12)))]
    store.keep(claimed, 3, blocks[:1])
    store.keep(claimed, 5, blocks)
    assert [start for start, _ in store.computed(claimed, 12)] == [0, 3]


def test_a_released_run_waits_again(store: RunStore) -> None:
    create(store)
    first = claim(store)
    store.release(first)
    again = claim(store)
    assert (again.id, again.attempt) == (first.id, 2)
    with pytest.raises(LostRunError):
        store.release(first)


def test_cancel_is_heard_of_at_the_next_save(store: RunStore) -> None:
    made = create(store)
    claimed = claim(store)
    store.request_cancel(made.id)
    assert store.keep(claimed) is True
    store.finish(claimed, "cancelled")
    record = store.get(made.id)
    assert record.state == "cancelled"


def test_a_run_that_waits_or_is_handed_back_is_cancelled_at_once(store: RunStore) -> None:
    made = create(store)
    store.request_cancel(made.id)
    record = store.get(made.id)
    assert (record.state, record.ended) == ("cancelled", True)
    assert record.finished_at is not None
    assert store.claim() is None
    made = create(store)
    claimed = claim(store)
    store.request_cancel(made.id)
    store.release(claimed)
    record = store.get(made.id)
    assert record.state == "cancelled"
    assert record.finished_at is not None


def test_asked_again_while_being_cancelled(store: RunStore) -> None:
    made = create(store)
    claimed = claim(store)
    store.keep(claimed, 4, [(0, np.zeros((4, 12)))])
    store.request_cancel(made.id)
    again = create(store)
    assert (again.id, again.state, again.cancel_requested) == (made.id, "queued", False)
    with pytest.raises(LostRunError):
        store.finish(claimed, "cancelled")
    assert [start for start, _ in store.computed(claim(store), 12)] == [0]


def test_claims_go_by_the_databases_clock(monkeypatch, engine: Engine, store: RunStore) -> None:
    """A server whose own clock is wrong, or is put right, loses and takes nothing."""
    create(store, "a")
    create(store, "b")
    first = claim(store)
    for wrong in (0.0, 4e9):
        monkeypatch.setattr(time, "time", lambda wrong=wrong: wrong)
        store.keep(first)
        second = store.claim()
        assert second is None or second.title == "b"
    assert store.claim() is None
    store.finish(first, "done", result=RESULT)
    monkeypatch.undo()
    done = store.get(first.id)
    with to_write(engine) as connection:
        now = connection.execute(sa.select(clock(engine))).scalar_one()
    assert abs(now - time.time()) < 60  # seconds since 1970, UTC, on both databases
    assert abs(done.finished_at - now) < 60
