"""Runs in threads and processes: the same digits however they are cut, cancelled, killed or asked again."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import krippendorff
import pytest

from grasp_core.engine import blocks as blocks_module
from grasp_core.engine import engine as engine_module
from grasp_core.engine import workers
from grasp_core.engine.engine import Engine, Run
from grasp_core.errors import RunCancelledError
from grasp_core.result import RunResult
from grasp_core.spec import AnalysisSpec, RunSpec
from tests.core.simulated import DATA_SPEC, dataset

DATA = dataset(1, items=30, missing=0.2, unknown=0.05)
AXES = (("gender",), ("race",), ("gender", "race"))
ENDLESS = 2_000_000
"""More permutations than any test waits for."""
LONG = 600
"""Seconds after which a run counts as hanging; nothing here is a measurement."""


def question(**analysis) -> RunSpec:
    return RunSpec(
        DATA_SPEC,
        AnalysisSpec(**{"axes": AXES, "permutations": 1000, **analysis}),
    )


def digits(run: Run) -> dict:
    """Everything but the clock."""
    assert run.wait(LONG)
    assert run.error is None
    assert run.result is not None
    plain = run.result.to_dict()
    del plain["timing"]
    return plain


def answer(make_executor=workers.threads, n_workers: int = 2, **analysis) -> dict:
    engine = Engine(make_executor, n_workers)
    try:
        return digits(engine.submit(DATA, question(**analysis)))
    finally:
        engine.close()


def wait_for_progress(run: Run) -> None:
    while not run.progress.done and not run.wait(0.005):
        pass


@pytest.fixture(scope="module")
def right() -> dict:
    return answer(n_workers=1)


@pytest.fixture
def threads() -> Iterator[Engine]:
    engine = Engine(workers.threads, 2)
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def processes() -> Iterator[Engine]:
    engine = Engine(workers.processes, 2)
    engine.warm()
    yield engine
    engine.close()


def folder(engine: Engine) -> Path:
    return Path(engine._files.name)


# The same digits


@pytest.mark.parametrize("n_workers", [2, 3, 8])
def test_any_number_of_threads(right: dict, n_workers: int) -> None:
    assert answer(n_workers=n_workers) == right


@pytest.mark.parametrize(("first", "seconds"), [(1, 1e-9), (7, 1e-9), (1000, 0.2), (5000, 0.2), (8, 0.001)])
def test_any_size_of_blocks(monkeypatch, right: dict, first: int, seconds: float) -> None:
    monkeypatch.setattr(blocks_module, "FIRST_BLOCK", first)
    monkeypatch.setattr(blocks_module, "BLOCK_SECONDS", seconds)
    assert answer() == right


def test_spawned_processes(right: dict, processes: Engine) -> None:
    assert digits(processes.submit(DATA, question())) == right


def test_spawned_processes_with_every_other_option(processes: Engine) -> None:
    options = {
        "ties": "random",
        "cross_negentropy": "paper",
        "p_value": "paper",
        "strata": "region",
        "correction": "max-t",
        "seed": 2**63 - 1,
    }
    assert digits(processes.submit(DATA, question(**options))) == answer(**options)


def test_runs_side_by_side(right: dict, threads: Engine) -> None:
    runs = [threads.submit(DATA, question(seed=seed)) for seed in (1, 2, 3, 4)]
    found = [digits(run) for run in runs]
    assert found[0] == right
    assert found[1] == answer(seed=2)


def test_a_result_survives_its_file_form(right: dict, threads: Engine) -> None:
    run = threads.submit(DATA, question())
    assert digits(run) == right
    assert run.result is not None
    again = RunResult.from_dict(run.result.to_dict())
    assert again == run.result
    assert threads.add(again).result == run.result


# The same question


def test_the_same_question_returns_the_same_run(threads: Engine) -> None:
    run = threads.submit(DATA, question())
    assert threads.submit(DATA, question()) is run
    assert run.wait(LONG)
    assert threads.submit(DATA, question()) is run
    assert threads.submit(DATA, question(seed=2)) is not run
    assert threads.submit(dataset(2), question()) is not run
    assert threads.get(run.id) is run
    assert threads.get("no such run") is None


def test_a_failed_question_is_tried_again(monkeypatch, threads: Engine) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(krippendorff, "alpha", lambda **given: 7.0)
        first = threads.submit(DATA, question())
        assert first.wait(LONG)
        assert first.state == "failed"
    second = threads.submit(DATA, question())
    assert second is not first
    assert second.wait(LONG)
    assert second.state == "done"


def test_old_runs_are_forgotten_but_never_live_ones(monkeypatch, threads: Engine, right: dict) -> None:
    monkeypatch.setattr(engine_module, "KEPT_RUNS", 2)
    live = threads.submit(DATA, question(permutations=ENDLESS))
    ended = []
    for seed in range(2, 6):
        run = threads.submit(DATA, question(seed=seed, permutations=100))
        run.wait(LONG)
        ended.append(run)
    assert threads.get(live.id) is live
    assert threads.get(ended[0].id) is None
    assert threads.get(ended[-1].id) is ended[-1]
    live.cancel()
    assert live.wait(LONG)


# Progress and cancel


def test_progress_only_moves_forward(threads: Engine) -> None:
    run = threads.submit(DATA, question(permutations=50_000))
    seen = [run.progress]
    while not run.wait(0.001):
        seen.append(run.progress)
    done = [progress.done for progress in seen]
    assert done == sorted(done)
    assert run.progress.done == run.progress.total == 50_000
    assert run.state == "done"


@pytest.mark.parametrize("engine_kind", ["threads", "processes"])
def test_cancel_ends_the_run_and_frees_its_files(request, engine_kind: str, right: dict) -> None:
    engine = request.getfixturevalue(engine_kind)
    run = engine.submit(DATA, question(permutations=ENDLESS, seed=77))
    wait_for_progress(run)
    assert run.state == "running"
    assert len(list(folder(engine).iterdir())) == 1
    run.cancel()
    assert run.wait(LONG)
    assert run.state == "cancelled"
    assert run.result is None
    assert run.progress.done < ENDLESS
    assert not list(folder(engine).iterdir())
    assert digits(engine.submit(DATA, question())) == right  # its workers are free


def test_a_cancelled_question_is_taken_up_again(threads: Engine) -> None:
    """Even while the cancelled run is still finishing its blocks."""
    first = threads.submit(DATA, question(permutations=ENDLESS))
    first.cancel()
    second = threads.submit(DATA, question(permutations=ENDLESS))
    assert second is not first
    second.cancel()
    assert first.wait(LONG)
    assert second.wait(LONG)
    assert threads.submit(DATA, question(permutations=100)).wait(LONG)


# Failures


def test_a_killed_worker_loses_nothing(right: dict, caplog) -> None:
    engine = Engine(workers.processes, 2)
    before = {child.pid for child in multiprocessing.active_children()}
    try:
        slow = answer(permutations=60_000)
        run = engine.submit(DATA, question(permutations=60_000))
        wait_for_progress(run)
        victim = next(child for child in multiprocessing.active_children() if child.pid not in before)
        assert victim.pid is not None
        os.kill(victim.pid, signal.SIGKILL)
        assert digits(run) == slow
        assert digits(engine.submit(DATA, question())) == right  # the engine lives on
        assert "a worker died" in caplog.text
        assert "Traceback" not in caplog.text
    finally:
        engine.close()
    assert {child.pid for child in multiprocessing.active_children()} <= before


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


@pytest.mark.parametrize("blocks", [0, 1, 2, 3, 5, 9])
def test_a_pool_that_refuses_a_block_loses_nothing(monkeypatch, right: dict, blocks: int) -> None:
    """The block that was being handed over is computed too, not left as whatever memory held."""
    monkeypatch.setattr(blocks_module, "BLOCK_SECONDS", 1e-9)  # many blocks
    made: list[Executor] = []

    def make_executor(n_workers: int) -> Executor:
        made.append(Unreliable(n_workers, blocks) if not made else workers.threads(n_workers))
        return made[-1]

    assert answer(make_executor) == right
    assert len(made) == 2
    for executor in made:
        executor.shutdown()


def test_workers_that_keep_dying_end_the_run_in_a_sentence() -> None:
    made: list[Executor] = []

    def make_executor(n_workers: int) -> Executor:
        made.append(Unreliable(n_workers, 1))
        return made[-1]

    engine = Engine(make_executor, 2)
    try:
        run = engine.submit(DATA, question())
        assert run.wait(LONG)
        assert run.state == "failed"
        assert run.error == (
            "The worker processes ended 3 times before the run was complete, perhaps for want of memory;"
            " nothing is lost, run it again or on a larger machine."
        )
    finally:
        engine.close()
        for executor in made:
            executor.shutdown()


def raising(error: Exception) -> Callable:
    def fail(*arguments, **named):
        raise error

    return fail


@pytest.mark.parametrize("where", ["prepare", "finish", "compute_block"])
def test_an_unforeseen_error_ends_in_a_sentence_without_data(monkeypatch, caplog, threads, where) -> None:
    module = workers if where == "compute_block" else engine_module
    monkeypatch.setattr(module, where, raising(ZeroDivisionError("rater r7 said Yes")))
    with caplog.at_level(logging.DEBUG):
        run = threads.submit(DATA, question())
        assert run.wait(LONG)
    assert run.state == "failed"
    assert run.result is None
    assert run.error == "The run stopped because of an error in GRASP itself; please file a bug."
    assert "ZeroDivisionError" in caplog.text
    assert "r7" not in caplog.text
    assert "Traceback" not in caplog.text
    assert not list(folder(threads).iterdir())


def test_an_error_for_the_user_is_passed_on(threads: Engine) -> None:
    run = threads.submit(DATA, question(axes=(("age",),)))
    assert run.wait(LONG)
    assert run.state == "failed"
    assert run.error == "the data have no axis age; there are gender, race, region"


def test_a_contradicted_run_reports_nothing(monkeypatch, threads: Engine) -> None:
    true = krippendorff.alpha
    monkeypatch.setattr(krippendorff, "alpha", lambda **given: true(**given) + 1e-8)
    run = threads.submit(DATA, question())
    assert run.wait(LONG)
    assert run.state == "failed"
    assert run.result is None
    assert "package krippendorff" in (run.error or "")


def test_cancelled_before_it_began(monkeypatch, threads: Engine) -> None:
    monkeypatch.setattr(engine_module, "prepare", raising(RunCancelledError()))
    run = threads.submit(DATA, question())
    assert run.wait(LONG)
    assert run.state == "cancelled"


# The end


@pytest.mark.parametrize("busy", [False, True])
def test_close_leaves_no_process_and_no_file(busy: bool) -> None:
    before = {child.pid for child in multiprocessing.active_children()}
    engine = Engine(workers.processes, 2)
    where = folder(engine)
    run = engine.submit(DATA, question(permutations=ENDLESS if busy else 100))
    if busy:
        wait_for_progress(run)
        assert {child.pid for child in multiprocessing.active_children()} > before
    else:
        run.wait(LONG)
    engine.close()
    assert run.ended
    assert run.state == ("cancelled" if busy else "done")
    assert {child.pid for child in multiprocessing.active_children()} <= before
    assert not where.exists()


def test_closing_an_idle_engine_starts_nothing() -> None:
    before = {child.pid for child in multiprocessing.active_children()}
    engine = Engine(workers.processes, 2)
    engine.close()
    engine.close()
    assert {child.pid for child in multiprocessing.active_children()} == before


def test_shared_engine_is_one() -> None:
    assert engine_module.shared() is engine_module.shared()
    engine_module.shared().close()
    engine_module.shared.cache_clear()


def test_available_cores_are_those_of_this_process() -> None:
    assert 1 <= workers.available_cores() <= (os.cpu_count() or 1)
