"""A Dask cluster as what computes: an executor, with versions compared and what goes wrong told."""

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

from grasp_core.engine.pools.pool import Pool
from grasp_core.engine.pools.workers import Sent
from grasp_core.model.errors import GraspError, LostSchedulerError, SettingsError, WorkerError
from grasp_core.model.settings import Settings
from grasp_core.version import __version__

CONNECT_SECONDS = 10.0
"""How long a scheduler may take to answer."""
DESERTED_SECONDS = 60.0
"""How long work waits for a cluster without workers, which may be starting them."""
LOOK_SECONDS = 1.0
"""How often the workers are counted."""

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

# What goes wrong is told in a sentence; Dask's own lines would stand beside it.
for _name in ("distributed", "distributed.client"):
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)
dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"})


def certificates(settings: Settings) -> Security | None:
    """Those of the settings; a SettingsError where they cannot be used."""
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
    """Versions that have to be the same everywhere for the same digits."""
    python = ".".join(platform.python_version_tuple()[:2])
    return {"GRASP": __version__, "Python": python, "Numba": numba.__version__, "NumPy": np.__version__}


def named(these: dict[str, str]) -> str:
    """Versions as a sentence has them."""
    return ", ".join(f"{name} {version}" for name, version in these.items())


def answer(
    expected: dict[str, str], function: Callable[..., T], *arguments: Any, **sent: Sent
) -> T | Exception:
    """What a function returns on a worker, or its error: Dask would log one raised, which may quote data."""
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
    """The workers of a Dask scheduler, to which a connection is made; once lost, the executor is broken."""

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
        """Threads of the workers that were there a moment ago; a WorkerError where none come for long."""
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
        """Have a function computed, which is found by its name; what was :meth:`holding` is named."""
        # Hidden in the call, arguments are not searched for Dask's own keys.
        call = partial(answer, versions(), function, *arguments)
        with self._connected():
            there = self._client.submit(call, pure=False, **sent)
            loop = cast("Any", self._client.loop).asyncio_loop
            # Not its get_executor(), whose results never come where the connection ends as they travel.
            here = asyncio.run_coroutine_threadsafe(self._outcome(there), loop)
        self._begun[here] = there
        here.add_done_callback(self._begun.pop)
        return here

    @contextmanager
    def holding(self, buffer: bytes) -> Iterator[Any]:
        """While this lasts, the workers hold a buffer, which those that come get from them."""
        with self._connected():
            sent = Sent(uuid.uuid4().hex, buffer)
            try:
                held = self._client.scatter(sent, broadcast=True, hash=False, timeout=DESERTED_SECONDS)
            except TimeoutError:
                raise WorkerError(DESERTED.format(self._address)) from None
        try:
            yield held
        finally:
            held.release()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take back what is not computed yet and leave the cluster, which goes on."""
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
        except (OSError, RuntimeError, CancelledError, ClosedClientError):  # it is lost or closed just now
            raise BrokenExecutor from None

    async def _outcome(self, there: Any) -> Any:
        try:  # shielded, because Dask fetches what others wait for along with it
            outcome = await asyncio.shield(self._client.gather(there, asynchronous=True))
        except asyncio.CancelledError:
            await self._client.cancel(there, asynchronous=True)
            raise
        except (CancelledError, OSError):  # with the connection, or the only worker that held what it takes
            raise BrokenExecutor from None
        except KilledWorker as killed:
            raise WorkerError(DYING.format(killed.allowed_failures + 1)) from None
        except Exception as error:  # Dask's own: what was asked could not be read there, for example
            told = FOREIGN.format(self._address, type(error).__name__, named(versions()))
            raise WorkerError(told) from None
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


class ClusterPool(Pool):
    """A :class:`Pool` whose workers are those of a :class:`Cluster`, at most `limit` at a time."""

    def __init__(self, address: str, security: Security | None = None, limit: int | None = None) -> None:
        super().__init__(lambda _: Cluster(address, security))
        self._address, self._limit = address, limit

    @property
    def n_workers(self) -> int:
        """Blocks that are computed side by side: threads of the cluster a moment ago, at least 1."""
        try:
            threads = cast("Cluster", self._ready()).threads
        except (BrokenExecutor, LostSchedulerError):  # which whoever hands out work is told
            return 1
        return max(min(threads, self._limit or threads), 1)

    def warm(self) -> None:
        """Connect now. Where that fails, pages are served all the same, and runs try again."""
        try:
            self._ready()
            log.info("the Dask cluster at %s computes, with %d threads", self._address, self.n_workers)
        except WorkerError as error:
            log.warning("%s", error)

    @contextmanager
    def _holding(self, buffer: bytes, executor: Executor) -> Iterator[Sent]:
        with cast("Cluster", executor).holding(buffer) as held:
            yield held
