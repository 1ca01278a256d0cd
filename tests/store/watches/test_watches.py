"""Watches on both databases: claimed by one server at a time, paused after failures, stopped by deletions."""

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import Engine

from grasp_core.model.access import EVERYONE, only
from grasp_core.model.errors import AccessError, LimitError, SpecError, StoreError
from grasp_core.server.watches import how_often
from grasp_core.store import watches as watches_module
from grasp_core.store.people.projects import ProjectStore
from grasp_core.store.runs import RunStore
from grasp_core.store.schema import watches
from grasp_core.store.watches import FAILURES, Origin, Watch, WatchStore, next_look
from tests.store.both import on_both
from tests.store.making import RESULT, change, claim, create

WHERE = (Origin("annotations", "data:votes.csv"), Origin("raters", "https://data.example/raters.csv"))


def watched(engine: Engine, **changes: Any) -> Watch:
    run = RunStore(engine).add(RESULT, title="A run", owner="ann")
    given = {"owner": "ann", "title": "A run", "every": "daily", **changes}
    return WatchStore(engine).add(run.id, WHERE, **given)


def make_due(engine: Engine) -> None:
    change(engine, watches, next_at=0.0)


def again(engine: Engine, watch: Watch) -> Watch:
    return WatchStore(engine).get(watch.id)


def test_a_watch_is_as_it_was_made(engine: Engine) -> None:
    made = watched(engine)
    found = again(engine, made)
    assert found == made
    assert (found.project, found.sources, found.failures, found.paused) == (EVERYONE, WHERE, 0, None)
    assert found.next_at == pytest.approx(found.created_at + 86400, abs=1)
    assert [(one.number, one.run_id) for one in WatchStore(engine).runs_of(made.id)] == [(0, made.last_run)]


def take_now(engine: Engine) -> Watch | None:
    """Claim the only watch as if it were due."""
    make_due(engine)
    return WatchStore(engine).take()


@on_both
def test_one_server_looks_and_the_next_look_is_due_after_its_time(engine: Engine) -> None:
    store, made = WatchStore(engine), watched(engine)
    assert store.take() is None, "it is not due"
    make_due(engine)
    taken = store.take()
    assert store.take() is None, "another server looks"
    store.looked(taken)
    found = again(engine, made)
    assert found.next_at == pytest.approx(found.looked_at + 86400, abs=1)


@on_both
def test_a_server_that_died_is_followed_and_says_nothing_more(engine: Engine) -> None:
    store, made = WatchStore(engine), watched(engine)
    make_due(engine)
    lost = store.take()
    change(engine, watches, lease_until=1.0)
    taken = store.take()
    store.failed(lost, "too late")
    assert again(engine, made).problem is None
    store.failed(taken, "not there")
    assert again(engine, made).problem == "not there"


def test_after_failures_in_a_row_it_pauses_until_somebody_resumes(engine: Engine) -> None:
    store, made = WatchStore(engine), watched(engine)
    for count in range(1, FAILURES + 1):
        assert again(engine, made).paused is None
        taken = take_now(engine)
        store.failed(taken, f"not there {count}")
    found = again(engine, made)
    assert (found.failures, found.paused, found.problem) == (FAILURES, "failures", f"not there {FAILURES}")
    assert found.paused_at is not None
    make_due(engine)
    assert store.take() is None
    store.resume(made.id)
    taken = store.take()
    assert taken is not None, "it is looked at once it is resumed"
    store.looked(taken)
    found = again(engine, made)
    assert (found.failures, found.paused, found.problem) == (0, None, None)


def test_a_run_of_changed_data_is_waited_for(engine: Engine) -> None:
    store, runs, made = WatchStore(engine), RunStore(engine), watched(engine)
    taken = take_now(engine)
    run = create(runs, "of changed data")
    store.looked(taken, going_run=run.id)
    make_due(engine)
    assert store.take() is None, "it waits"
    (waiting,) = store.going()
    store.run_failed(waiting, "no memory")
    found = again(engine, made)
    assert (found.going_run, found.last_run, found.problem) == (None, made.last_run, "no memory")
    store.run_done(waiting)
    assert len(store.runs_of(made.id)) == 1, "another server was told before"
    taken = take_now(engine)
    store.looked(taken, going_run=run.id)
    runs.finish(claim(runs), "done", result=RESULT)
    (waiting,) = store.going()
    store.run_done(waiting)
    found = again(engine, made)
    assert (found.going_run, found.last_run, found.problem) == (None, run.id, None)
    assert [one.run_id for one in store.runs_of(made.id)] == [made.last_run, run.id]


def test_deleted_runs_leave_the_watch_without_them(engine: Engine) -> None:
    store, runs, made = WatchStore(engine), RunStore(engine), watched(engine)
    taken = take_now(engine)
    run = create(runs, "of changed data")
    store.looked(taken, going_run=run.id)
    runs.delete(run.id)
    assert again(engine, made).going_run is None
    assert made.last_run is not None
    runs.delete(made.last_run)
    found = again(engine, made)
    assert found.last_run is None
    assert store.runs_of(made.id) == []


def test_it_is_looked_at_when_asked_but_not_all_the_time(engine: Engine) -> None:
    store, made = WatchStore(engine), watched(engine, every="weekly")
    store.look_now(made.id)
    taken = store.take()
    store.looked(taken)
    store.look_now(made.id)
    assert store.take() is None
    assert again(engine, made).next_at < again(engine, made).created_at + 3600
    store.set_every(made.id, "hourly")
    found = again(engine, made)
    assert (found.every, round(found.next_at - found.created_at, -2)) == ("hourly", 3600)


def test_limits_and_projects(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    made = watched(engine)
    projects = ProjectStore(engine)
    other = projects.create("Other", owner=None).id
    assert made.last_run is not None
    with pytest.raises(StoreError, match="deleted"):
        WatchStore(engine).within(only(other)).add(made.last_run, WHERE, owner="ann", title="", every="daily")
    projects.archive(other)
    with pytest.raises(AccessError):
        WatchStore(engine).within(only(other)).add(made.last_run, WHERE, owner="ann", title="", every="daily")
    monkeypatch.setattr(watches_module, "MOST", 1)
    with pytest.raises(LimitError):
        watched(engine)
    watched(engine, owner="bob")
    WatchStore(engine).delete(made.id)
    with pytest.raises(StoreError, match="deleted"):
        WatchStore(engine).pause(made.id)


# When a watch looks next
SATURDAY = datetime(2026, 11, 28, 21, 0, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("every", "due", "told"),
    [
        ("hourly", datetime(2026, 11, 28, 22, tzinfo=UTC), "every hour"),
        ("3d", datetime(2026, 12, 1, 21, tzinfo=UTC), "every 3 days"),
        (
            "30 6 * * 1-5",
            datetime(2026, 11, 30, 6, 30, tzinfo=UTC),
            "at 06:30 on Monday through Friday (UTC)",
        ),
        ("0 22 * * *", datetime(2026, 11, 28, 22, tzinfo=UTC), "at 22:00 every day (UTC)"),
    ],
)
def test_the_next_look(every: str, due: datetime, told: str) -> None:
    assert next_look(every, SATURDAY, lambda: SATURDAY) == due.timestamp()
    assert how_often(every) == told


@pytest.mark.parametrize(
    ("every", "why"),
    [
        ("* * * * *", "no time to look"),  # more often than hourly
        ("0,30 * * * *", "no time to look"),
        ("0 25 * * *", "no cron line: bad hour"),
        ("0 0 31 2 *", "no cron line: bad day-of-month"),
        ("0 0 * *", "no time to look"),
    ],
)
def test_what_is_no_time(every: str, why: str) -> None:
    with pytest.raises(SpecError, match=why):
        next_look(every, SATURDAY)
