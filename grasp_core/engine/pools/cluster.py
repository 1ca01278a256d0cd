"""A Dask cluster as an executor: versions are compared, and errors are reported as sentences."""

import asyncio
import logging
import platform
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent import futures
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, TypeVar, cast

import dask
import numba
import numpy as np
from distributed import Client, KilledWorker, Security, get_worker
from distributed.client import ClosedClientError

from grasp_core.analysis.panel import BlockWork
from grasp_core.engine.pools import workers
from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.pools.workers import SentWork
from grasp_core.model.errors import GraspError, LostSchedulerError, SettingsError, WorkerError
from grasp_core.model.settings import Settings
from grasp_core.version import __version__

CONNECT_SECONDS = 10.0
"""Most seconds that a scheduler may take to answer."""
DESERTED_SECONDS = 60.0
"""Seconds that work waits for a cluster without workers, which may be starting them."""
LOOK_SECONDS = 1.0
"""Seconds from one count of the workers to the next."""

UNREACHABLE = "The Dask scheduler at {} cannot be reached; check GRASP_DASK_ADDRESS and that it runs there."
DESERTED = "The Dask scheduler at {} has no workers; start some (docs/scaling.md) and run it again."
DYING = (
    "Workers of the Dask cluster ended {} times over the same piece of work, perhaps for want of memory or of"
    " this package; their logs tell, and then run it again."
)
OTHER = "The Dask worker at {} runs {}, but here it is {}; start it with the same versions."
FOREIGN = "The Dask cluster at {} cannot run GRASP ({}); start its scheduler and workers with {}."

T = TypeVar("T")
log = logging.getLogger(__name__)

# Errors are reported as sentences; Dask would log lines of its own in addition.
for _name in ("distributed", "distributed.client"):
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)
dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"})


def certificates(settings: Settings) -> Security | None:
    """Return the certificates of the settings; raise SettingsError if they cannot be used."""
    if not settings.dask_ca:
        return None
    security = Security(
        tls_ca_file=settings.dask_ca,
        tls_client_cert=settings.dask_cert,
        tls_client_key=settings.dask_key or None,
        require_encryption=True,
    )
    try:
        security.get_connection_args("client")
    except OSError as error:
        raise SettingsError(
            "the certificates of GRASP_DASK_CA, GRASP_DASK_CERT, GRASP_DASK_KEY cannot be used: "
            + (error.strerror or type(error).__name__)
        ) from None
    return security


def versions() -> dict[str, str]:
    """Return the versions that must be the same everywhere, so that results have the same digits."""
    python = ".".join(platform.python_version_tuple()[:2])
    return {"GRASP": __version__, "Python": python, "Numba": numba.__version__, "NumPy": np.__version__}


def named(these: dict[str, str]) -> str:
    """Join versions for a sentence."""
    return ", ".join(f"{name} {version}" for name, version in these.items())


def answer(
    expected: dict[str, str], function: Callable[..., T], *arguments: Any, **sent: SentWork
) -> T | Exception:
    """Return a function's result on a worker, or its error: Dask logs raised ones, which may quote data."""
    here = versions()
    if here != expected:
        other = {name: version for name, version in here.items() if expected.get(name) != version}
        wanted = {name: expected[name] for name in other if name in expected}
        return WorkerError(OTHER.format(get_worker().address, named(other), named(wanted)))
    try:
        return function(*arguments, **sent)
    except GraspError as error:
        return error
    except Exception as error:
        return RuntimeError(f"{type(error).__name__} on a worker")


class Cluster(Executor):
    """The workers of a Dask scheduler; once the connection to it is lost, the executor is broken."""

    def __init__(self, address: str, security: Security | None = None) -> None:
        self._address = address
        self._counted, self._threads = float("-inf"), 0
        self._deserted: float | None = None
        try:
            self._client = Client(
                address, security=security, timeout=CONNECT_SECONDS, set_as_default=False, name="grasp"
            )
        except (OSError, ValueError, ImportError):
            raise LostSchedulerError(UNREACHABLE.format(address)) from None
        self._begun: dict[Future[Any], Any] = {}

    @property
    def threads(self) -> int:
        """Number of the workers' threads a moment ago; raises WorkerError if there are none for long."""
        now = time.monotonic()
        if now - self._counted > LOOK_SECONDS:
            with self._connected():
                self._threads = sum(self._client.nthreads().values())
            self._counted = now
            self._deserted = None if self._threads else self._deserted or now
        if now - (self._deserted or now) > DESERTED_SECONDS:
            self._deserted = None  # the next run waits as long
            raise WorkerError(DESERTED.format(self._address))
        return self._threads

    def submit(self, function: Callable[..., T], /, *arguments: Any, **sent: Any) -> Future[T]:
        """Have a function computed, which workers find by name; keywords pass a :meth:`holding` buffer."""
        # Dask does not search arguments inside the partial for its own keys.
        call = partial(answer, versions(), function, *arguments)
        with self._connected():
            there = self._client.submit(call, pure=False, **sent)
            loop = cast("Any", self._client.loop).asyncio_loop
            # Not Dask's get_executor(): its results never come if the connection ends while they are sent.
            here = asyncio.run_coroutine_threadsafe(self._outcome(there), loop)
        self._begun[here] = there
        here.add_done_callback(self._begun.pop)
        return here

    @contextmanager
    def holding(self, buffer: bytes) -> Iterator[Any]:
        """Keep a buffer on the workers meanwhile; workers that join get it from the others."""
        with self._connected():
            sent = SentWork(uuid.uuid4().hex, buffer)
            try:
                held = self._client.scatter(sent, broadcast=True, hash=False, timeout=DESERTED_SECONDS)
            except TimeoutError:
                raise WorkerError(DESERTED.format(self._address)) from None
        try:
            yield held
        finally:
            held.release()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Cancel work that is not computed yet and leave the cluster, which keeps running."""
        begun = dict(self._begun)
        with suppress(BrokenExecutor), self._connected():
            self._client.cancel(list(begun.values()))
        futures.wait(begun, CONNECT_SECONDS)
        self._client.close(CONNECT_SECONDS)

    @contextmanager
    def _connected(self) -> Iterator[None]:
        if self._client.status != "running":
            raise BrokenExecutor
        try:
            yield
        except (OSError, RuntimeError, CancelledError, ClosedClientError):  # lost or closed just now
            raise BrokenExecutor from None

    async def _outcome(self, there: Any) -> Any:
        try:  # shielded, because Dask fetches the results of other callers along with this one
            outcome = await asyncio.shield(self._client.gather(there, asynchronous=True))
        except asyncio.CancelledError:
            await self._client.cancel(there, asynchronous=True)
            raise
        except (CancelledError, OSError):  # lost with the connection, or with the only worker that had it
            raise BrokenExecutor from None
        except KilledWorker as killed:
            raise WorkerError(DYING.format(killed.allowed_failures + 1)) from None
        except Exception as error:  # an error of Dask: for example, a worker could not read the task
            sentence = FOREIGN.format(self._address, type(error).__name__, named(versions()))
            raise WorkerError(sentence) from None
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


class ClusterPool(Pool):
    """A :class:`Pool` that uses the workers of a :class:`Cluster`, at most `limit` at a time."""

    def __init__(self, address: str, security: Security | None = None, limit: int | None = None) -> None:
        super().__init__(lambda _: Cluster(address, security))
        self._address, self._limit = address, limit

    @property
    def n_workers(self) -> int:
        """Number of blocks computed side by side: the cluster's threads a moment ago, at least 1."""
        try:
            threads = cast("Cluster", self._ready().executor).threads
        except (BrokenExecutor, LostSchedulerError):  # submitting work raises it again
            return 1
        return max(min(threads, self._limit or threads), 1)

    def warm(self) -> None:
        """Connect now. If that fails, pages are still served, and runs try again."""
        try:
            self._ready()
            log.info("the Dask cluster at %s computes, with %d threads", self._address, self.n_workers)
        except WorkerError as error:
            log.warning("%s", error)

    @contextmanager
    def _holding(self, work: BlockWork, executor: Executor) -> Iterator[SentWork]:
        with cast("Cluster", executor).holding(workers.pack(work)) as held:
            yield held
