"""Services on a given database, as a server makes them."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import URL

from grasp_core.engine.pools import workers
from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.service import Service
from grasp_core.model.access import EVERYTHING
from grasp_core.model.result import RunResult
from grasp_core.reading.sources.allowed import AllowedSources
from grasp_core.store.files import FileStore
from grasp_core.store.runs import RunRecord, RunStore
from tests.empty_store import open_store
from tests.engine.asking import DATA, SHAPE, digits, question, sliced_files, sliced_question, wait_until
from tests.permutation.simulated import files, simulate


@contextmanager
def serving(
    url: URL,
    make_executor=workers.threads,
    n_workers: int = 2,
    *,
    started: bool = True,
    queue_limit: int = 20,
    allowed: AllowedSources | None = None,
) -> Iterator[Service]:
    engine = open_store(url)
    service = Service(
        RunStore(engine, queue_limit=queue_limit), FileStore(engine), Pool(make_executor, n_workers), allowed
    )
    if started:
        service.start()
    try:
        yield service
    finally:
        service.close()
        engine.dispose()


def ask(service: Service, *, owner: str = "", with_files: bool = False, **analysis) -> RunRecord:
    """Ask the question of `asking`; with its files, so that another server can answer it too."""
    if with_files:
        for content in files(*simulate(1, **SHAPE)):
            service.files.put(content, owner=owner)
    record, _ = service.submit(DATA, question(**analysis), title="A question", reach=EVERYTHING, owner=owner)
    return record


def ask_sliced(service: Service) -> RunRecord:
    """Ask about slices of an items file, with the files, so that another server can answer it too."""
    for content in sliced_files():
        service.files.put(content, owner="")
    record, _ = service.submit(*sliced_question(), title="A question", reach=EVERYTHING, owner="")
    return record


def now(service: Service, record: RunRecord) -> RunRecord:
    """The run as it is by now."""
    return service.runs.get(record.id)


def ended(service: Service, record: RunRecord) -> RunRecord:
    wait_until(lambda: now(service, record).ended)
    return now(service, record)


def result(service: Service, record: RunRecord) -> RunResult:
    record = ended(service, record)
    assert (record.state, record.error) == ("done", None)
    return service.result(record.id)


def result_digits(service: Service, record: RunRecord) -> dict:
    return digits(result(service, record))


def in_progress(service: Service, record: RunRecord) -> None:
    """Wait until something of the run is computed."""
    wait_until(lambda: service.progress(now(service, record)).done)
