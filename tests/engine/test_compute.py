"""One run on a pool: the same digits however it is cut, interrupted and resumed."""

import random
from concurrent.futures import ThreadPoolExecutor

import krippendorff
import numpy as np
import pytest

from grasp_core.engine.compute import compute
from grasp_core.engine.pools import schedule as blocks_module
from grasp_core.engine.pools import workers
from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.pools.schedule import Progress
from grasp_core.engine.watching import Checkpoints, Watcher
from grasp_core.model.annotations import FloatArray
from grasp_core.model.errors import RunCancelledError, SelfCheckError
from tests.computing import Noted
from tests.engine.asking import DATA, ENDLESS, answer, digits, question


@pytest.mark.parametrize("n_workers", [2, 3, 8])
def test_any_number_of_threads(right: dict, n_workers: int) -> None:
    assert answer(n_workers=n_workers) == right


@pytest.mark.parametrize(("first", "seconds"), [(1, 1e-9), (1000, 0.2), (5000, 0.2), (8, 0.001)])
def test_any_size_of_blocks(monkeypatch, right: dict, first: int, seconds: float) -> None:
    monkeypatch.setattr(blocks_module, "FIRST_BLOCK", first)
    monkeypatch.setattr(blocks_module, "FIRST_LABELS", 0)  # however few annotations there are
    monkeypatch.setattr(blocks_module, "BLOCK_SECONDS", seconds)
    assert answer() == right


@pytest.mark.long
def test_spawned_processes(right: dict, processes: Pool) -> None:
    assert digits(compute(DATA, question(), processes, Watcher())) == right


@pytest.mark.long
def test_spawned_processes_with_every_other_option(processes: Pool) -> None:
    options = {
        "ties": "random",
        "cross_negentropy": "paper",
        "voting_agreement": "kappa",
        "p_value": "paper",
        "strata": ("region",),
        "correction": "max-t",
        "seed": 2**63 - 1,
    }
    assert digits(compute(DATA, question(**options), processes, Watcher())) == answer(**options)


def test_runs_side_by_side(right: dict, threads: Pool) -> None:
    def run(seed: int) -> dict:
        return digits(compute(DATA, question(seed=seed), threads, Watcher()))

    with ThreadPoolExecutor(4) as four:
        found = list(four.map(run, (1, 2, 3, 4)))
    assert found[0] == right
    assert found[1] == answer(seed=2)


class Resumed(Checkpoints):
    """Begins with these blocks and notes what is computed."""

    def __init__(self, before: list[tuple[int, FloatArray]]) -> None:
        self.before = before
        self.after: list[tuple[int, FloatArray]] = []

    def computed_before(self, width: int) -> list[tuple[int, FloatArray]]:
        assert all(values.shape[1:] == (width,) for _, values in self.before)
        return self.before

    def computed(self, start: int, values: FloatArray) -> None:
        self.after.append((start, values.copy()))


@pytest.mark.parametrize(("seed", "share"), [(0, 0.6), (1, 0.6), (0, 1.0)])
def test_any_blocks_computed_before_count(monkeypatch, right: dict, seed: int, share: float) -> None:
    monkeypatch.setattr(blocks_module, "BLOCK_SECONDS", 0.001)
    chance = random.Random(seed)
    first = Resumed([])
    assert answer(checkpoints=first) == right
    kept = [block for block in first.after if chance.random() < share]
    chance.shuffle(kept)
    second = Resumed(kept)
    assert answer(checkpoints=second, n_workers=3) == right
    whole = np.concatenate(
        [np.arange(start, start + len(values)) for start, values in (*kept, *second.after)]
    )
    assert sorted(whole) == list(range(1000))


def test_progress_only_moves_forward(threads: Pool) -> None:
    watcher = Noted()
    compute(DATA, question(permutations=20_000), threads, watcher)
    done = [progress.done for progress in watcher.seen]
    assert done == sorted(done)
    assert watcher.seen[0] == Progress(0, 20_000, None)
    assert watcher.seen[-1].done == 20_000
    assert len(done) > 3


class Stopping(Watcher):
    """Ends the run with this once something is computed."""

    def __init__(self, error: Exception, pool: Pool) -> None:
        self.error = error
        self.pool = pool
        self.files = 0

    def check(self, progress: Progress) -> None:
        if progress.done:
            self.files = len(list(self.pool.folder.iterdir()))
            raise self.error


@pytest.mark.parametrize(("pool_kind", "files"), [("threads", 0), ("processes", 1)])
@pytest.mark.parametrize("error", [RunCancelledError(), ZeroDivisionError()], ids=["cancelled", "failed"])
def test_an_ended_run_frees_its_files_and_workers(request, pool_kind, files, error, right) -> None:
    pool: Pool = request.getfixturevalue(pool_kind)
    watcher = Stopping(error, pool)
    with pytest.raises(type(error)):
        compute(DATA, question(permutations=ENDLESS, seed=77), pool, watcher)
    assert watcher.files == files
    assert not list(pool.folder.iterdir())
    assert digits(compute(DATA, question(), pool, Watcher())) == right


def test_an_error_in_a_worker_is_passed_on(monkeypatch, threads: Pool) -> None:
    def fail(*arguments, **sent):
        raise ZeroDivisionError

    monkeypatch.setattr(workers, "compute_block", fail)
    with pytest.raises(ZeroDivisionError):
        compute(DATA, question(), threads, Watcher())
    assert not list(threads.folder.iterdir())


def test_a_contradicted_run_reports_nothing(monkeypatch, threads: Pool) -> None:
    true = krippendorff.alpha
    monkeypatch.setattr(krippendorff, "alpha", lambda **given: true(**given) + 1e-8)
    watcher = Noted()
    with pytest.raises(SelfCheckError, match="package krippendorff"):
        compute(DATA, question(), threads, watcher)
    assert {progress.done for progress in watcher.seen} == {0}
    assert watcher.shown == []
