"""Workers that die, refuse and end."""

import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import numpy as np
import pytest

from grasp_core.engine.compute import compute
from grasp_core.engine.pools import schedule as blocks_module
from grasp_core.engine.pools import workers
from grasp_core.engine.pools.pool import ATTEMPTS, Pool
from grasp_core.engine.pools.schedule import Progress
from grasp_core.engine.pools.workers import SentWork
from grasp_core.engine.run import prepare
from grasp_core.engine.watching import Watcher
from grasp_core.model.errors import RunCancelledError, WorkerError
from tests.engine.asking import DATA, ENDLESS, answer, digits, known_answer, question, wait_until


def children() -> set[int | None]:
    return {child.pid for child in multiprocessing.active_children()}


class Killer(Watcher):
    """Kills a worker once something is computed."""

    def __init__(self, before: set[int | None]) -> None:
        self.before = before
        self.killed = False

    def check(self, progress: Progress) -> None:
        if progress.done and not self.killed:
            self.killed = True
            victim = min(pid for pid in children() - self.before if pid is not None)
            os.kill(victim, signal.SIGKILL)


@pytest.mark.long
def test_a_killed_worker_loses_nothing(right: dict, caplog) -> None:
    before = children()
    pool = Pool(workers.processes, 2)
    killer = Killer(before)
    try:
        result = compute(DATA, question(permutations=60_000), pool, killer)
        assert killer.killed
        assert digits(result) == known_answer(permutations=60_000)
        assert digits(compute(DATA, question(), pool, Watcher())) == right  # the pool lives on
        assert "a worker process ended" in caplog.text
        assert "Traceback" not in caplog.text
    finally:
        pool.close()
    assert children() <= before


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Executor]]:
    """The executors of a run of many blocks, which are shut down in the end."""
    monkeypatch.setattr(blocks_module, "BLOCK_SECONDS", 1e-9)
    monkeypatch.setattr(blocks_module, "FIRST_LABELS", 1)
    found: list[Executor] = []
    yield found
    for executor in found:
        executor.shutdown()


class Unreliable(ThreadPoolExecutor):
    """Refuses work after so many blocks, as a pool whose process has died."""

    def __init__(self, n_workers: int, blocks: int) -> None:
        super().__init__(n_workers)
        self.left = blocks

    def submit(self, *arguments, **named):
        if not self.left:
            raise BrokenProcessPool("a process ended")
        self.left -= 1
        return super().submit(*arguments, **named)


@pytest.mark.parametrize("blocks", [0, 4])
def test_a_pool_that_refuses_a_block_loses_nothing(made: list[Executor], right: dict, blocks: int) -> None:
    """The block that was being handed over is computed too, not left as whatever memory held."""

    def make_executor(n_workers: int) -> Executor:
        made.append(Unreliable(n_workers, blocks) if not made else workers.threads(n_workers))
        return made[-1]

    assert answer(make_executor) == right
    assert len(made) == 2


def test_workers_that_keep_dying_end_the_run_in_a_sentence(made: list[Executor]) -> None:

    def make_executor(n_workers: int) -> Executor:
        made.append(Unreliable(n_workers, 1))
        return made[-1]

    with pytest.raises(WorkerError, match=r"ended 3 times before the run got on, .* run it again"):
        answer(make_executor)


def test_workers_that_die_now_and_then_do_not_end_a_run_that_gets_on(made, right: dict) -> None:

    class Finishing(Unreliable):
        """Its blocks are done before it refuses the next."""

        def submit(self, *arguments, **named):
            future = super().submit(*arguments, **named)
            wait([future])
            return future

    def make_executor(n_workers: int) -> Executor:
        made.append(Finishing(n_workers, 5) if len(made) < 6 else workers.threads(n_workers))
        return made[-1]

    assert answer(make_executor) == right
    assert len(made) > ATTEMPTS + 1


class Cancelling(Watcher):
    def check(self, progress: Progress) -> None:
        if progress.done:
            raise RunCancelledError


@pytest.mark.long
@pytest.mark.parametrize("busy", [False, True])
def test_close_leaves_no_process_and_no_file(busy: bool) -> None:
    before = children()
    pool = Pool(workers.processes, 2)
    where = pool.folder
    if busy:
        with pytest.raises(RunCancelledError):
            compute(DATA, question(permutations=ENDLESS), pool, Cancelling())
    else:
        compute(DATA, question(permutations=100), pool, Watcher())
    assert children() > before
    pool.close()
    assert children() <= before
    assert not where.exists()


SERVER = """
import multiprocessing, sys
from grasp_core.engine.pools import workers

if __name__ == "__main__":
    executor = workers.processes(2)
    for future in [executor.submit(workers.compute_nothing) for _ in range(2)]:
        future.result()
    print(*[child.pid for child in multiprocessing.active_children()], flush=True)
    sys.stdin.read()
"""


@pytest.mark.long
def test_workers_end_with_a_killed_server(tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    script.write_text(SERVER)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[3])}
    server = subprocess.Popen(
        [sys.executable, str(script)],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert server.stdin is not None
    pids = server.stdout.readline().split()
    assert pids
    server.kill()
    server.communicate()
    wait_until(lambda: not [pid for pid in pids if Path(f"/proc/{pid.decode()}").exists()])


def test_a_buffer_that_travels_is_the_same_work_as_in_a_file(tmp_path: Path) -> None:
    """And stays so after others have taken its place in memory."""
    panel = prepare(DATA, question()).panel
    n_groups = panel.tests.needs.shape[1]
    works = [panel.work(np.arange(n_groups) % n == 0) for n in range(1, workers.HELD + 3)]
    for _ in range(2):
        for number, work in enumerate(works):
            packed = tmp_path / f"{number}.npz"
            packed.write_bytes(workers.pack(work))
            sent = SentWork(f"travels {number}", packed.read_bytes())
            expected = work.shuffled(3, 5, 8)
            for found in (SentWork(str(packed)), sent):
                values = workers.compute_block(type(work), 3, 5, 8, sent=found).values
                np.testing.assert_array_equal(values, expected)


def test_threads_share_the_work_itself(monkeypatch: pytest.MonkeyPatch, right: dict) -> None:
    monkeypatch.setattr(workers, "pack", lambda work: pytest.fail("packed for threads"))
    assert answer(workers.threads) == right


def test_available_cores_are_those_of_this_process() -> None:
    assert 1 <= workers.available_cores() <= (os.cpu_count() or 1)
