"""Runs computed in a process of their own: the same digits, and what happens when it ends."""

import errno
import math
import multiprocessing
import os
import resource
import signal
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client
from pathlib import Path

import pytest

from grasp_core.engine import process as apart_module
from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.process import ComputingProcess
from grasp_core.engine.saved_runs import POLL_SECONDS
from grasp_core.model.errors import WorkerError
from grasp_core.model.settings import Settings
from grasp_core.reading.sandbox.limits import machine_memory
from grasp_core.server.server import Server
from grasp_core.store.schema import runs
from tests.empty_store import empty_home
from tests.engine import hurried
from tests.engine.asking import DATA, ENDLESS, wait_until
from tests.engine.serving import ask, ended, in_progress, now, result_digits
from tests.store.making import change


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=empty_home(tmp_path), workers=1)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose runs are computed in a process of its own; each start of one takes seconds."""
    made = Server(Settings(home=empty_home(tmp_path_factory.mktemp("apart")), workers=1))
    made.service.start()
    wait_until(lambda: made.service.computes)  # else data that are in memory alone are not handed over
    yield made
    made.service.close()
    made.database.dispose()


def _children() -> set[int]:
    return {child.pid or 0 for child in multiprocessing.active_children()}


def _threads() -> set[str]:
    return {thread.name for thread in threading.enumerate() if thread.name.startswith("grasp-")}


def _the_process(before: set[int]) -> int:
    (pid,) = _children() - before
    return pid


def test_what_is_asked_there_is_what_is_found_here(server: Server, right: dict) -> None:
    """Held data, digits, what is found so far, workers, errors of theirs, and a cancel."""
    service = server.service
    record = ask(service)  # whose files are nowhere but in memory
    service.wait(record.id, 60)
    assert service.progress(now(service, record)).total == 1000
    assert result_digits(service, record) == right

    going = ask(service, permutations=ENDLESS)
    in_progress(service, going)
    found = service.provisional(going.id)
    assert found.provisional
    again = service.provisional(going.id)
    assert again is found or again != found  # not sent twice
    assert service.news_every(going.id) == 1.0
    assert list(service.pool.each(int, ["1", "2", "3"])) == [1, 2, 3]
    with pytest.raises(ValueError, match="no number"):
        list(service.pool.each(int, ["no number"]))
    service.cancel(going.id)
    assert ended(service, going).state == "cancelled"
    wait_until(lambda: service.news_every(going.id) == 2.0)  # once it is let go there


def test_it_is_answered_by_its_key_alone(server: Server) -> None:
    desk = server.service._computing._desk
    place = Path(desk._token.address)
    assert place.parent.stat().st_mode & 0o077 == 0
    with pytest.raises(AuthenticationError):
        Client(str(place), authkey=b"another")


def test_a_question_that_fails_by_itself_loses_no_process(monkeypatch, server) -> None:
    """E.g. for want of file descriptors, where it has to connect first."""

    def cannot(*_: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(apart_module, "NOTICED_SECONDS", 0.1)
    service = server.service
    wait_until(lambda: service.computes)
    there = _children()
    with monkeypatch.context() as failing:
        failing.setattr(apart_module._DeskProxy, "_connect", cannot)
        in_another_thread = ThreadPoolExecutor(1).submit(service.news_every, "run")
        assert in_another_thread.result() == POLL_SECONDS
    assert service.computes
    assert list(service.pool.each(math.sqrt, [4])) == [2.0]
    assert _children() == there


def test_a_process_that_ends_is_started_anew_and_goes_on(monkeypatch, settings, caplog, tmp_path) -> None:
    """And where its server is closed, its run is handed back and nothing of it is left."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(work))
    monkeypatch.setattr(apart_module, "AGAIN_SECONDS", 0.1)
    monkeypatch.setattr(apart_module, "_get_ready", hurried.get_ready)
    before, threads = _children(), _threads()
    server = Server(settings)
    service = server.service
    service.start()
    try:
        record = ask(service, with_files=True, permutations=ENDLESS)
        wait_until(lambda: now(service, record).done > 0)
        first = _the_process(before)
        assert service.computes
        os.kill(first, signal.SIGKILL)
        wait_until(lambda: not service.computes)
        assert list(service.pool.each(math.sqrt, [4])) == [2.0]  # by the next one
        assert _the_process(before) != first
        assert "the process that computes runs ended; it is started again" in caplog.text
        left = now(service, record).done
        change(server.database, runs, lease_until=0.0)  # as once its claim has run out
        wait_until(lambda: now(service, record).attempt == 2)
        wait_until(lambda: now(service, record).done > left)
    finally:
        service.close()
    assert now(service, record).state == "queued"
    server.database.dispose()
    assert not list(work.iterdir())  # of either process
    assert _children() <= before
    assert _threads() <= threads


def test_it_and_its_workers_take_no_more_memory_than_they_are_given(server: Server) -> None:
    most = machine_memory() // 2
    (of_worker,) = server.service.pool.each(resource.getrlimit, [resource.RLIMIT_DATA])
    assert of_worker == (most, most)  # of one worker, whose share is all


def test_closed_while_it_starts(settings: Settings) -> None:
    before = _children()
    apart = ComputingProcess(settings)
    apart.start()
    wait_until(lambda: _children() > before)
    apart.close()
    assert _children() == before


def test_nothing_is_held_or_found_where_no_process_was_started(settings: Settings) -> None:
    apart = ComputingProcess(settings)
    assert apart.hold("key", DATA, 0.0) == 0
    assert apart.progress("run") is apart.found("run", 0) is apart.news_every("run") is None
    apart.expect("run")
    apart.wait("run", 60)
    apart.cancel("run")
    apart.close()
    with closing(Pool(apart.workers, 1)) as pool, pytest.raises(WorkerError):
        list(pool.each(math.sqrt, [1]))


def test_a_process_that_cannot_start_is_told_of(monkeypatch, settings, caplog) -> None:
    def cannot(*_: object) -> None:
        raise RuntimeError("rater r7 said Yes")

    monkeypatch.setattr(apart_module, "AGAIN_SECONDS", 0.05)
    monkeypatch.setattr(apart_module._Manager, "start", cannot)
    apart = ComputingProcess(settings)
    apart.start()
    wait_until(lambda: caplog.text.count("did not start: RuntimeError") > 1)
    assert apart.progress("run") is None
    assert "rater r7" not in caplog.text
    apart.close()
