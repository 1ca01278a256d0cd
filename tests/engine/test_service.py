"""A server's runs: computed in the background, asked again, cancelled, failed, handed back."""

import logging
import multiprocessing
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import URL

from grasp_core import __version__
from grasp_core.engine import compute as compute_module
from grasp_core.engine import run as run_module
from grasp_core.engine import saved_runs
from grasp_core.engine import service as service_module
from grasp_core.engine.inputs import DataCache, Inputs
from grasp_core.engine.pools import workers
from grasp_core.engine.service import Service
from grasp_core.model.access import EVERYTHING
from grasp_core.model.errors import FAULT, MissingResultError, RunCancelledError
from grasp_core.model.settings import Settings
from grasp_core.server import server as server_module
from grasp_core.server.server import Server
from grasp_core.store import claims as claims_module
from grasp_core.store.database import connect
from grasp_core.store.runs import RunRecord
from grasp_core.store.schema import runs
from tests.engine.asking import DATA, ENDLESS, known_answer, question, sliced_answer, wait_until
from tests.engine.serving import ask, ask_sliced, ended, in_progress, now, result_digits, serving
from tests.permutation.simulated import dataset
from tests.store.making import change, column

# The same digits


def test_the_digits_of_a_lone_run(service: Service, right: dict) -> None:
    record = ask(service)
    assert result_digits(service, record) == right
    done = now(service, record)
    assert (done.done, done.total) == (1000, 1000)
    assert done.duration_s is not None
    assert done.finished_at is not None
    assert service.progress(done).done == 1000


def test_more_runs_than_are_computed_side_by_side(service: Service, right: dict) -> None:
    records = [ask(service, seed=seed) for seed in range(1, 6)]
    found = [result_digits(service, record) for record in records]
    assert found[0] == right
    assert found[4] == known_answer(seed=5)


def test_as_many_runs_side_by_side_as_keep_the_workers_busy(url: URL) -> None:
    with serving(url, n_workers=3) as service:
        records = [ask(service, seed=seed, permutations=ENDLESS) for seed in range(1, 7)]
        for record in records[:4]:
            in_progress(service, record)
        assert [now(service, record).state for record in records[4:]] == ["queued", "queued"]


def test_a_run_with_an_items_file_is_read_from_its_files(url: URL) -> None:
    with serving(url, started=False) as first:
        record = ask_sliced(first)
    with serving(url) as second:
        found = result_digits(second, record)
    assert found == sliced_answer()
    assert [value["value"] for value in found["slices"][0]["values"]] == ["art", "news"]


def test_a_run_whose_files_are_gone_says_so(url: URL) -> None:
    with serving(url, started=False) as first:
        record = ask(first)
    with serving(url) as second:
        failed = ended(second, record)
    assert failed.state == "failed"
    assert failed.error == "votes.csv is no longer on this server; bring it again on Data, then run."


# The same question


def test_the_same_question_is_the_same_run(service: Service) -> None:
    first, known = service.submit(DATA, question(), title="A", reach=EVERYTHING)
    assert not known
    again, known = service.submit(DATA, question(), title="B", reach=EVERYTHING)
    assert known
    assert again.id == first.id
    ended(service, first)
    done, known = service.submit(DATA, question(), title="C", reach=EVERYTHING)
    assert (known, done.id, done.state) == (True, first.id, "done")
    assert ask(service, seed=2).id != first.id
    assert service.submit(dataset(2), question(), title="A", reach=EVERYTHING)[0].id != first.id
    assert service.runs.get("no such run") is None
    with pytest.raises(MissingResultError):
        service.result("no such run")


def test_want_of_memory_is_a_sentence_and_ends_that_run_alone(monkeypatch, service, right) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(compute_module, "prepare", raising(MemoryError()))
        failed = ended(service, ask(service))
        assert (failed.state, failed.error) == ("failed", saved_runs.NO_MEMORY)
    assert result_digits(service, ask(service)) == right


def test_an_older_version_is_another_question(monkeypatch, service: Service) -> None:
    first = ask(service)
    ended(service, first)
    for module in (service_module, saved_runs, run_module):
        monkeypatch.setattr(module, "__version__", f"{__version__}.later")
    assert ask(service).id != first.id


def test_a_run_that_waited_for_an_older_version_says_so(monkeypatch, url: URL) -> None:
    with serving(url, started=False) as old:
        record = ask(old)
    monkeypatch.setattr(saved_runs, "__version__", f"{__version__}.later")
    with serving(url) as new:
        assert ended(new, record).error == "GRASP was upgraded while this run waited; run it again."


# In turn by person


def test_a_run_that_gave_way_has_the_digits_of_a_lone_one(url, right, monkeypatch) -> None:
    monkeypatch.setattr(saved_runs, "TURN_SECONDS", 0.0)
    monkeypatch.setattr(saved_runs, "ROOM_SECONDS", 0.05)
    with serving(url, n_workers=1) as service:
        record = ask(service, owner="ann", permutations=20_000)
        other = ask(service, owner="ann", permutations=ENDLESS)
        in_progress(service, record)
        in_progress(service, other)
        assert result_digits(service, ask(service, owner="bob")) == right
        wait_until(lambda: now(service, record).attempt + now(service, other).attempt >= 3)
        service.cancel(other.id)
        assert result_digits(service, record) == known_answer(permutations=20_000)


# Cancel


def test_cancel_ends_the_run(service: Service, right: dict) -> None:
    record = ask(service, permutations=ENDLESS)
    in_progress(service, record)
    assert now(service, record).state == "running"
    service.cancel(record.id)
    cancelled = ended(service, record)
    assert cancelled.state == "cancelled"
    assert cancelled.finished_at is not None
    assert 0 < cancelled.done < ENDLESS
    assert service.runs.result(record.id) is None
    assert result_digits(service, ask(service)) == right


def test_cancelling_an_ended_run_changes_nothing(service: Service) -> None:
    record = ended(service, ask(service))
    service.cancel(record.id)
    service.cancel("no such run")
    assert now(service, record) == record
    assert ask(service).id == record.id


def test_a_cancelled_run_goes_on_from_where_it_was(service: Service) -> None:
    record = ask(service, permutations=20_000)
    in_progress(service, record)
    service.cancel(record.id)
    cancelled = ended(service, record)
    assert 0 < cancelled.done < 20_000
    again = ask(service, permutations=20_000)
    assert again.id == record.id
    assert again.done == cancelled.done
    assert result_digits(service, again) == known_answer(permutations=20_000)


def test_a_question_asked_again_while_it_is_being_cancelled(service: Service) -> None:
    """Is computed, though the cancelled attempt may still be finishing its blocks."""
    record = ask(service, permutations=20_000)
    in_progress(service, record)
    service.runs.request_cancel(record.id)  # as from another server: not noticed at once
    again, known = service.submit(DATA, question(permutations=20_000), title="A", reach=EVERYTHING)
    assert not known
    assert again.id == record.id
    assert result_digits(service, again) == known_answer(permutations=20_000)


def test_a_cancel_is_heard_of_while_data_are_prepared(monkeypatch, service: Service) -> None:
    monkeypatch.setattr(compute_module, "prepare", raising(RunCancelledError()))
    assert ended(service, ask(service)).state == "cancelled"


# Failures


def raising(error: Exception) -> Callable:
    def fail(*arguments, **named):
        raise error

    return fail


@pytest.mark.parametrize("where", ["prepare", "finish", "compute_block"])
def test_an_unforeseen_error_ends_in_a_sentence_without_data(monkeypatch, caplog, service, where) -> None:
    module = workers if where == "compute_block" else compute_module
    monkeypatch.setattr(module, where, raising(ZeroDivisionError("rater r7 said Yes")))
    with caplog.at_level(logging.DEBUG):
        failed = ended(service, ask(service))
    assert failed.state == "failed"
    assert failed.error == FAULT
    assert service.runs.result(failed.id) is None
    assert "ZeroDivisionError" in caplog.text
    assert "rater r7" not in caplog.text
    assert "Traceback" not in caplog.text
    assert not list(service.pool.folder.iterdir())


def test_a_result_that_cannot_be_written_ends_in_a_sentence(monkeypatch, caplog, service: Service) -> None:
    monkeypatch.setattr(claims_module, "result_text", raising(ValueError("rater r7 said Yes")))
    failed = ended(service, ask(service))
    assert (failed.state, failed.error) == ("failed", FAULT)
    assert "rater r7" not in caplog.text


def test_whatever_happens_at_claiming_the_next_run_is_computed(monkeypatch, caplog, service: Service) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(saved_runs, "POLL_SECONDS", 0.01)
        patched.setattr(service.runs, "claim", raising(ZeroDivisionError("rater r7 said Yes")))
        record = ask(service)
        wait_until(lambda: "ZeroDivisionError" in caplog.text)
    assert ended(service, record).state == "done"
    assert "rater r7" not in caplog.text


def test_an_error_for_the_user_is_passed_on(service: Service) -> None:
    failed = ended(service, ask(service, min_raters=500))
    assert failed.state == "failed"
    assert "; lower the smallest group size on Analysis, or by --min-raters; or" in str(failed.error)


# Claims that are kept


@pytest.mark.parametrize("where", ["prepare", "finish"])
def test_a_claim_is_kept_while_nothing_is_permuted(monkeypatch, url: URL, where: str) -> None:
    """However long a large data set takes to prepare, or its result to finish."""
    monkeypatch.setattr(claims_module, "LEASE_SECONDS", 3.0)
    monkeypatch.setattr(saved_runs, "POLL_SECONDS", 0.05)
    original, reached, go_on = getattr(compute_module, where), threading.Event(), threading.Event()

    def slow(*arguments, **named):
        reached.set()
        assert go_on.wait(60)
        return original(*arguments, **named)

    monkeypatch.setattr(compute_module, where, slow)
    engine = connect(url)
    with serving(url) as first, serving(url) as second:
        record = ask(first, with_files=True)
        assert reached.wait(60)
        [claimed] = column(engine, runs, "lease_until")
        wait_until(lambda: column(engine, runs, "lease_until")[0] > claimed + 3)  # as long as a claim lasts
        go_on.set()
        assert ended(second, record).attempt == 1
    engine.dispose()


def test_a_run_deleted_while_it_is_computed(service: Service, right: dict) -> None:
    record = ask(service, permutations=ENDLESS)
    in_progress(service, record)
    service.runs.delete(record.id)
    wait_until(lambda: not list(service.pool.folder.iterdir()))
    assert service.runs.get(record.id) is None
    assert result_digits(service, ask(service)) == right


# The end


@pytest.mark.long
@pytest.mark.parametrize("busy", [False, True])
def test_close_leaves_no_process_no_thread_and_no_file(url: URL, busy: bool) -> None:
    before = {child.pid for child in multiprocessing.active_children()}
    with serving(url, workers.processes) as service:
        where = service.pool.folder
        record = ask(service, permutations=ENDLESS if busy else 100)
        in_progress(service, record) if busy else ended(service, record)
    assert {child.pid for child in multiprocessing.active_children()} <= before
    assert not where.exists()
    assert not [thread.name for thread in threading.enumerate() if thread.name.startswith("grasp-")]
    with serving(url, started=False) as later:
        left = now(later, record)
    assert left.state == ("queued" if busy else "done")
    assert left.done > 0


def test_a_closed_servers_run_goes_on_in_the_next(url: URL) -> None:
    with serving(url) as first:
        record = ask(first, with_files=True, permutations=20_000)
        in_progress(first, record)
    with serving(url) as second:
        left = now(second, record)
        assert left.done > 0
        assert result_digits(second, record) == known_answer(permutations=20_000)
        assert now(second, record).attempt == 2


def lost(url: URL, times: int, **analysis) -> RunRecord:
    """A run that was claimed and whose claims ran out; the next claim finds it lost so often."""
    with serving(url, started=False) as waiting:
        record = ask(waiting, with_files=True, **analysis)
        for _ in range(times):
            assert waiting.runs.claim() is not None
            change(waiting.runs._engine, runs, lease_until=0.0)
    return record


def test_a_run_at_which_every_process_is_lost_is_given_up(url: URL, right: dict) -> None:
    record = lost(url, saved_runs.LOSSES)
    with serving(url) as service:
        given_up = ended(service, record)
        assert given_up.state == "failed"
        assert "was lost 5 times before the run got on" in given_up.error
        assert result_digits(service, ask(service)) == right  # asked again


def test_a_run_lost_less_often_is_computed(url: URL, right: dict) -> None:
    record = lost(url, saved_runs.LOSSES - 1)
    with serving(url) as service:
        assert result_digits(service, record) == right


def test_nothing_is_computed_beside_a_run_whose_process_was_lost_until_it_gets_on(monkeypatch, url) -> None:
    record = lost(url, 2, permutations=ENDLESS)
    reading, go_on = threading.Event(), threading.Event()
    dataset_of = Inputs.dataset

    def held_up(self, *arguments):
        if arguments[0].id == record.id:
            reading.set()
            assert go_on.wait(60)
        return dataset_of(self, *arguments)

    monkeypatch.setattr(Inputs, "dataset", held_up)
    monkeypatch.setattr(saved_runs, "POLL_SECONDS", 0.4)
    with serving(url) as service:
        assert reading.wait(60)
        other = ask(service, seed=5, permutations=ENDLESS)
        time.sleep(3 * saved_runs.POLL_SECONDS / 2)
        assert now(service, other).state == "queued"
        assert service.runs.losses(record) == 2
        go_on.set()
        in_progress(service, other)
        wait_until(lambda: service.runs.losses(record) == 0)


def test_a_run_cancelled_as_its_server_closes_is_not_resumed(url: URL) -> None:
    with serving(url) as first:
        record = ask(first, with_files=True, permutations=ENDLESS)
        in_progress(first, record)
        first.closing.set()
        first.runs.request_cancel(record.id)
    with serving(url, started=False) as second:
        assert now(second, record).state == "cancelled"


def test_closing_an_idle_service_starts_nothing(url: URL) -> None:
    before = {child.pid for child in multiprocessing.active_children()}
    with serving(url, workers.processes, started=False) as service:
        service.close()
    assert {child.pid for child in multiprocessing.active_children()} == before


# The server of a process


def test_the_shared_server_is_one_even_if_many_ask_first(monkeypatch, tmp_path: Path) -> None:
    made = []
    together = threading.Barrier(8)

    def visit(_: int) -> Server:
        together.wait(60)
        return server_module.shared()

    def make(settings: Settings) -> Server:
        made.append(Server(Settings(home=str(tmp_path)), workers.threads))
        return made[-1]

    monkeypatch.setattr(server_module, "Server", make)
    with ThreadPoolExecutor(8) as visitors:
        servers = set(visitors.map(visit, range(8)))
    try:
        assert servers == {made[0]}
        assert len(made) == 1
    finally:
        for server in made:
            server.close()
        server_module._shared.clear()
    assert not [thread.name for thread in threading.enumerate() if thread.name.startswith("grasp-")]


def test_data_of_a_question_asked_again_outlast_its_first_run() -> None:
    """The first run may end in the database a moment before it lets its own data go."""
    holding = DataCache()
    first = holding.hold("question", DATA, 0.5)
    again = holding.hold("question", DATA, 0.0)
    holding.drop("question", first)
    held = holding.find("question")
    assert (held.number, held.dataset, held.load_s) == (again, DATA, 0.0)
    holding.drop("question", again)
    assert holding.find("question") is None
    holding.drop("question", again)


def test_the_data_of_the_latest_questions_are_held() -> None:
    holding = DataCache()
    for number in range(9):
        holding.hold(str(number), DATA, 0.0)
    assert holding.find("0") is None
    assert all(holding.find(str(number)) for number in range(1, 9))
