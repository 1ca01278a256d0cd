"""Runs on a real Dask cluster: the digits of this machine, whatever dies meanwhile."""

import io
import json
import logging
import math
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from distributed import Client, Security

from grasp_core import __version__, cli
from grasp_core.engine.compute import compute, make_pool
from grasp_core.engine.pools import cluster as cluster_module
from grasp_core.engine.pools import workers
from grasp_core.engine.pools.cluster import ClusterPool
from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.pools.schedule import Progress
from grasp_core.engine.service import Service
from grasp_core.engine.watching import Watcher
from grasp_core.model.access import EVERYTHING
from grasp_core.model.errors import LostSchedulerError, RunCancelledError, SettingsError, WorkerError
from grasp_core.model.settings import Settings, read_settings
from grasp_core.model.spec import AnalysisSpec, RunSpec
from grasp_core.reading.dataset.load import load
from grasp_core.reading.sandbox.read import read_table
from grasp_core.store.database import connect, database_url
from grasp_core.store.files import FileStore
from grasp_core.store.runs import RunStore
from tests.computing import compute_in_threads
from tests.engine import models_asking
from tests.engine.asking import ENDLESS, digits, question, wait_until
from tests.engine.dask_cluster import DaskCluster, dask_cluster
from tests.engine.serving import ended, in_progress, result_digits
from tests.permutation.simulated import DATA_SPEC, dataset, files, simulate

# A client that is closed while it looks for a dead scheduler drops the socket it tries.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")

DICES = {"items": 350, "raters": 104}
DATA = dataset(1, **DICES)
LONG = {"permutations": 3000}


@pytest.fixture(scope="module")
def local() -> dict:
    return digits(compute_in_threads(DATA, question(**LONG)))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    with dask_cluster(tmp_path_factory.mktemp("dask"), 2) as made:
        yield made


@pytest.fixture
def pool(cluster: DaskCluster) -> Iterator[ClusterPool]:
    made = ClusterPool(cluster.address)
    yield made
    made.close()


@pytest.fixture(scope="module")
def one_worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    with dask_cluster(tmp_path_factory.mktemp("mortal"), 1) as made:
        yield made


@pytest.fixture
def mortal(one_worker: DaskCluster) -> DaskCluster:
    """A cluster of one worker, whose processes a test may kill; by now they are alive."""
    if one_worker.scheduler.poll() is not None:
        one_worker.restart()
    return one_worker


class Once(Watcher):
    """Does something as soon as a part of the run is computed."""

    def __init__(self, act: Callable[[], object]) -> None:
        self.act: Callable[[], object] | None = act
        self.done_then = 0

    def check(self, progress: Progress) -> None:
        if progress.done and self.act is not None:
            act, self.act, self.done_then = self.act, None, progress.done
            act()


@pytest.mark.long
def test_a_killed_worker_loses_only_its_block(cluster: DaskCluster, pool: ClusterPool, local: dict) -> None:
    wait_until(lambda: pool.n_workers == 2)

    def kill() -> None:
        cluster.kill_worker(cluster.workers[0])
        cluster.start_worker()  # joins the run, and is sent what it lacks

    killer = Once(kill)
    assert digits(compute(DATA, question(**LONG), pool, killer)) == local
    assert 0 < killer.done_then < LONG["permutations"]
    wait_until(lambda: pool.n_workers == 2)
    assert digits(compute(DATA, question(**LONG), pool, Watcher())) == local


@pytest.mark.parametrize(
    "shuffle",
    [
        {"strata": ("region", "workload"), "pairs": True},
        {"cluster": "team"},
        {"cluster": "team", "strata": ("region",)},
    ],
    ids=["strata", "clusters", "clusters within strata"],
)
def test_what_may_change_places_is_the_same_there(pool, tmp_path, shuffle) -> None:
    """Raters who work in teams in regions."""
    tables = files(*simulate(5, items=30, raters=36, missing=0.4))
    votes, raters = (pd.read_csv(io.BytesIO(raw), dtype=str) for raw in tables)
    raters["region"] = [("north", "south")[j // 18] for j in range(36)]
    raters["team"] = [f"team {j // 3}" for j in range(36)]
    raters["gender"] = np.where(np.random.default_rng(5).random(12) < 0.5, "Man", "Woman").repeat(3)
    raters.to_csv(tmp_path / "raters.csv", index=False)
    votes.to_csv(tmp_path / "votes.csv", index=False)
    profiles = read_table(tmp_path / "raters.csv")
    spec = RunSpec(DATA_SPEC, AnalysisSpec(axes=(("gender",),), permutations=600, **shuffle))
    whole = load(read_table(tmp_path / "votes.csv"), profiles, DATA_SPEC, spec.analysis.columns)
    here = digits(compute_in_threads(whole, spec))
    assert digits(compute(whole, spec, pool, Watcher())) == here
    anybody = replace(spec, analysis=replace(spec.analysis, strata=(), cluster=None))
    assert digits(compute(whole, anybody, pool, Watcher()))["groups"] != here["groups"]


def test_models_are_computed_there_as_here(pool: ClusterPool) -> None:
    asked = models_asking.question(permutations=300)
    here = models_asking.answer(workers.threads, 2, permutations=300)
    assert digits(compute(models_asking.DATA, asked, pool, Watcher())) == here


def test_any_function_runs_on_the_cluster_and_its_errors_come_back(pool: ClusterPool) -> None:
    assert list(pool.each(math.factorial, range(6))) == [1, 1, 2, 6, 24, 120]
    assert os.getpid() not in set(pool.each(_where, range(4)))
    with pytest.raises(SettingsError, match="GRASP_WORKERS"):
        list(pool.each(read_settings, [{"GRASP_WORKERS": "many"}]))


def _where(_: int) -> int:
    return os.getpid()


def test_what_an_error_quotes_stays_out_of_the_logs(cluster: DaskCluster, pool: ClusterPool) -> None:
    with pytest.raises(RuntimeError, match=r"^ValueError on a worker$"):
        list(pool.each(int, ["somebody's label"]))
    assert "somebody" not in cluster.log("worker") + cluster.log("scheduler")


def test_cancel_reaches_the_workers(cluster: DaskCluster, pool: ClusterPool) -> None:
    def cancel() -> None:
        raise RunCancelledError

    with pytest.raises(RunCancelledError):
        compute(DATA, question(permutations=ENDLESS), pool, Once(cancel))
    with Client(cluster.address, set_as_default=False) as client:
        wait_until(lambda: not any(client.processing().values()))
        wait_until(lambda: not client.run_on_scheduler(_tasks))
        wait_until(lambda: not any(client.run(_executing).values()))


def _tasks(dask_scheduler) -> int:
    return len(dask_scheduler.tasks)


def _executing(dask_worker) -> int:
    return dask_worker.state.executing_count


def test_no_more_blocks_are_computed_at_a_time_than_was_said(cluster: DaskCluster) -> None:
    with closing(ClusterPool(cluster.address, limit=1)) as limited:
        wait_until(lambda: limited._ready().executor.threads == 2)
        assert limited.n_workers == 1


@pytest.mark.long
def test_a_worker_of_another_version_is_refused_even_in_the_middle_of_a_run(cluster, pool, tmp_path) -> None:
    other = tmp_path / "other.py"
    other.write_text("import grasp_core.version\ngrasp_core.version.__version__ = '0.0.1'\n")
    joined = []
    sentence = rf"Dask worker at tcp://\S+ runs GRASP 0\.0\.1, but here it is GRASP {__version__}; start it"
    join = Once(lambda: joined.append(cluster.start_worker("--preload", str(other))))
    try:
        with pytest.raises(WorkerError, match=sentence):
            compute(DATA, question(permutations=ENDLESS), pool, join)
        with pytest.raises(WorkerError, match=sentence):
            list(pool.each(time.sleep, [0.3] * 9))  # more than two workers take at a time
    finally:
        cluster.kill_worker(joined[0])
    wait_until(lambda: accepted(pool))


def test_a_worker_without_this_package_leaves_its_work_to_others(cluster, pool, without_package) -> None:
    stranger = cluster.start_worker(cwd=without_package)
    try:
        wait_until(lambda: pool.n_workers == 3)
        assert list(pool.each(time.sleep, [0.3] * 9)) == [None] * 9
        stranger.wait(30)
    finally:
        cluster.kill_worker(stranger)


@pytest.fixture
def without_package(tmp_path: Path) -> Path:
    """A folder from which no process finds this package."""
    (tmp_path / "grasp_core.py").write_text("raise ImportError", encoding="utf-8")  # before .venv's own
    return tmp_path


@pytest.mark.long
def test_a_scheduler_without_workers_or_this_package_is_one_sentence(monkeypatch, without_package) -> None:
    monkeypatch.setattr(cluster_module, "DESERTED_SECONDS", 1.0)
    with dask_cluster(without_package, 0) as cluster, closing(ClusterPool(cluster.address)) as pool:
        for _ in range(2):
            with pytest.raises(WorkerError, match="has no workers; start some"):
                list(pool.each(math.factorial, [3]))
        with pytest.raises(WorkerError, match="has no workers; start some"):
            compute(DATA, question(), pool, Watcher())
        cluster.kill()
        cluster.start_scheduler(cluster.address.rpartition(":")[2], without_package)
        with pytest.raises(WorkerError, match=rf"cannot run GRASP .* with GRASP {__version__}, Python"):
            list(pool.each(math.factorial, [3]))


def accepted(pool: ClusterPool) -> bool:
    """Whether the same pool computes again, once the worker is gone."""
    try:
        return list(pool.each(math.factorial, [3])) == [6]
    except WorkerError:
        return False


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A command's words; its files are in the working folder."""
    for name, content in zip(("votes.csv", "raters.csv"), files(*simulate(1, items=30)), strict=True):
        (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    ask = ["run", "--annotations", "votes.csv", "--raters", "raters.csv", "--axis", "gender"]
    return [*ask, "--item", "item", "--rater", "rater", "--label", "label", "--permutations", "500"]


def test_the_command_line_computes_on_the_cluster(cluster: DaskCluster, ask, monkeypatch, capsys) -> None:
    monkeypatch.setenv("GRASP_DASK_ADDRESS", cluster.address)
    assert cli.main([*ask, "--out", "there.json", "--engine", "dask", "--workers", "2"]) == 0
    said = capsys.readouterr().err.splitlines(True)
    account = "note: 720 rows read: 720 annotations, 0 left out\n"
    waiting = ("Preparing the engine", " of 500 permutations")  # told where the machine is slow
    assert "".join(line for line in said if not any(one in line for one in waiting)) == account
    monkeypatch.setenv("GRASP_DASK_ADDRESS", "tcp://127.0.0.1:9")  # nobody there, and nobody asked
    assert cli.main([*ask, "--out", "here.json", "--engine", "local", "--workers", "1"]) == 0
    here, there = (json.loads(Path(name).read_text()) for name in ("here.json", "there.json"))
    assert here.pop("timing") != there.pop("timing")
    assert here == there


def test_an_engine_without_an_address_is_one_sentence(ask, monkeypatch, capsys) -> None:
    monkeypatch.delenv("GRASP_DASK_ADDRESS", raising=False)
    assert cli.main([*ask, "--engine", "dask"]) == cli.BAD_INPUT
    assert (
        "grasp: --engine dask needs the scheduler's address in GRASP_DASK_ADDRESS" in capsys.readouterr().err
    )


def test_a_scheduler_that_is_not_there_is_one_sentence(monkeypatch, caplog) -> None:
    monkeypatch.setattr(cluster_module, "CONNECT_SECONDS", 1.0)
    with closing(ClusterPool("tcp://127.0.0.1:9")) as pool:
        started = time.monotonic()
        with pytest.raises(WorkerError, match=r"at tcp://127\.0\.0\.1:9 cannot be reached; check GRASP_DASK"):
            compute(DATA, question(), pool, Watcher())
        assert time.monotonic() - started < 60
        with caplog.at_level(logging.WARNING):
            pool.warm()  # a server starts nevertheless
        assert "cannot be reached" in caplog.text


@pytest.mark.long
def test_a_scheduler_that_comes_back_goes_on(mortal: DaskCluster, local: dict) -> None:
    with closing(ClusterPool(mortal.address)) as pool:
        restart = Once(mortal.restart)
        assert digits(compute(DATA, question(**LONG), pool, restart)) == local
        assert 0 < restart.done_then < LONG["permutations"]


@pytest.mark.long
def test_what_the_only_worker_held_is_sent_to_the_next(mortal: DaskCluster, local: dict) -> None:
    def replace() -> None:
        mortal.kill_worker(mortal.workers[0])
        mortal.start_worker()

    replaced = Once(replace)
    with closing(ClusterPool(mortal.address)) as pool:
        assert digits(compute(DATA, question(**LONG), pool, replaced)) == local
    assert 0 < replaced.done_then < LONG["permutations"]


@pytest.mark.long
def test_a_scheduler_that_vanishes_leaves_a_run_that_goes_on_elsewhere(
    mortal: DaskCluster, tmp_path: Path, monkeypatch, local: dict
) -> None:
    monkeypatch.setattr(cluster_module, "CONNECT_SECONDS", 2.0)
    monkeypatch.setattr("grasp_core.engine.saved_runs.SAVE_SECONDS", 0.0)
    engine = connect(database_url(Settings(home=str(tmp_path))))
    service = Service(RunStore(engine), FileStore(engine), ClusterPool(mortal.address))
    service.start()
    try:
        record, _ = service.submit(DATA, question(**LONG), title="A question", reach=EVERYTHING)
        in_progress(service, record)
        mortal.kill()
        lost = ended(service, record)
        assert lost.state == "failed"
        assert lost.error == (
            f"The Dask scheduler at {mortal.address} cannot be reached; check GRASP_DASK_ADDRESS and that it"
            " runs there. What was computed is kept."
        )
    finally:
        service.close()
    assert 0 < lost.done < LONG["permutations"]
    service = Service(RunStore(engine), FileStore(engine), Pool(workers.threads, 2))
    service.start()
    try:
        again, known = service.submit(DATA, question(**LONG), title="A question", reach=EVERYTHING)
        assert (again.id, known) == (record.id, False)
        assert again.done == lost.done
        assert result_digits(service, again) == local
    finally:
        service.close()
        engine.dispose()


@pytest.mark.long
def test_a_lost_scheduler_is_told_from_other_errors_and_asked_again(mortal: DaskCluster, monkeypatch) -> None:
    monkeypatch.setattr(cluster_module, "CONNECT_SECONDS", 1.0)
    with closing(ClusterPool(mortal.address)) as pool:
        assert list(pool.each(math.factorial, [3])) == [6]
        mortal.kill()
        with pytest.raises(LostSchedulerError):
            list(pool.each(math.factorial, [3]))
        mortal.restart()
        assert list(pool.each(math.factorial, [4])) == [24]


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Of one authority, in files by Dask's option."""
    made = Security.temporary()
    folder = tmp_path_factory.mktemp("certificates")
    texts = {"ca-file": made.tls_ca_file, "cert": made.tls_client_cert, "key": made.tls_client_key}
    for name, text in texts.items():
        (folder / f"{name}.pem").write_text(text)
    return {f"--tls-{name}": folder / f"{name}.pem" for name in texts}


@pytest.mark.long
def test_certificates_and_workers_that_keep_dying(tmp_path, monkeypatch, certificates) -> None:
    with dask_cluster(tmp_path, 2, certificates=certificates, failures=1) as cluster:
        assert cluster.address.startswith("tls://")
        ca, cert, key = map(str, certificates.values())
        settings = Settings(dask_address=cluster.address, dask_ca=ca, dask_cert=cert, dask_key=key)
        with closing(make_pool(settings, workers.threads)) as pool:
            assert list(pool.each(math.factorial, range(6))) == [1, 1, 2, 6, 24, 120]
            wait_until(lambda: pool.n_workers == 2)
            with pytest.raises(
                WorkerError, match="ended 2 times over the same piece of work, perhaps for want"
            ):
                list(pool.each(signal.raise_signal, [signal.SIGKILL]))
        monkeypatch.setattr(cluster_module, "CONNECT_SECONDS", 1.0)
        with (
            closing(ClusterPool(cluster.address.replace("tls:", "tcp:"))) as stranger,
            pytest.raises(WorkerError, match="cannot be reached"),
        ):
            list(stranger.each(math.factorial, [3]))


def test_certificates_that_cannot_be_read_are_one_sentence(tmp_path: Path) -> None:
    damaged = tmp_path / "ca.pem"
    damaged.write_text("no certificate")
    for ca in (tmp_path / "missing.pem", damaged):
        settings = Settings(dask_address="tls://127.0.0.1:9", dask_ca=str(ca), dask_cert=str(ca))
        with pytest.raises(
            SettingsError, match="certificates of GRASP_DASK_CA, GRASP_DASK_CERT, GRASP_DASK_KEY"
        ):
            make_pool(settings, workers.threads)
