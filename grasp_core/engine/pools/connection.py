"""A connection to a Dask scheduler, whose workers are counted and looked at while it lasts."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar, cast

import dask
from distributed import Client, Security

from grasp_core.engine.pools.versions import check, versions
from grasp_core.errors import LostSchedulerError, WorkerError

CONNECT_SECONDS = 10.0
"""How long a scheduler may take to answer, at first and when the connection is lost."""
SILENT_SECONDS = 30.0
"""How long a connected scheduler may leave a question open."""
DESERTED_SECONDS = 120.0
"""How long work waits for a cluster without workers, which may be starting them."""
LOOK_SECONDS = 1.0
"""How often the workers are counted."""

UNREACHABLE = "The Dask scheduler at {} cannot be reached; check GRASP_DASK_ADDRESS and that it runs there."
LOST = "The Dask scheduler at {} cannot be reached any more; run it again once it is back."
DESERTED = "The Dask scheduler at {} has no workers; start some (docs/scaling.md) and run it again."

T = TypeVar("T")

# What goes wrong is told in a sentence; Dask's own lines would stand beside it.
for _name in ("distributed", "distributed.client"):
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)
dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"})


class Connection:
    """A connection to a scheduler, all of it in one thread of its own.

    Parameters
    ----------
    address : str
        Such as ``tcp://scheduler:8786``.
    security : distributed.Security, optional
        Certificates, for a ``tls://`` address.
    limit : int, optional
        Most pieces of work that run side by side; by default as many as the cluster has threads.

    Attributes
    ----------
    problem : WorkerError or None
        Why no more work is taken.

    Raises
    ------
    WorkerError
        If the scheduler does not answer, or a worker runs another version of this package.
    """

    def __init__(self, address: str, security: Security | None = None, limit: int | None = None) -> None:
        self.problem: WorkerError | None = None
        self._address = address
        self._limit = limit
        self._threads = 0
        self._known: set[str] = set()
        self._inhabited = time.monotonic()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._inspections: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="grasp-dask", daemon=True)
        self._thread.start()
        try:
            self._call(self._connect(security))
        except BaseException:
            self._end_thread()
            raise

    @property
    def n_workers(self) -> int:
        """Pieces of work that can run side by side at this moment, at least 1."""
        return max(min(self._threads, self._limit or self._threads), 1)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Give back what is not computed yet and leave the cluster, which goes on."""
        if self._thread.is_alive():
            with suppress(OSError, TimeoutError):
                self._call(self._leave())
            self._end_thread()

    def _begun(self) -> set[asyncio.Future[Any]]:
        """What is under way with the scheduler, but for watching it."""
        return {*self._tasks, *self._inspections}

    def _call(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _end_thread(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _connect(self, security: Security | None) -> None:
        self._client = Client(
            self._address,
            security=security,
            asynchronous=True,
            timeout=CONNECT_SECONDS,
            set_as_default=False,
            name="grasp",
        )
        try:
            await self._client
            try:  # it reads what it hands on
                answer = await self._client.run_on_scheduler(versions)
            except (ImportError, AttributeError) as error:
                answer = error
            check("Dask scheduler", self._address, answer)
            await self._inspect_all()
        except WorkerError:
            await self._client.close()
            raise
        except (OSError, TimeoutError, ValueError):
            await self._client.close()
            raise WorkerError(UNREACHABLE.format(self._address)) from None
        self._watching = asyncio.create_task(self._watch())

    async def _leave(self) -> None:
        self.problem = self.problem or LostSchedulerError(LOST.format(self._address))
        tasks: set[asyncio.Future[Any]] = {self._watching, *self._begun()}
        left = tasks
        while left:  # Python 3.11's wait_for forgets a cancel that comes as what it waits for ends
            for task in left:
                task.cancel()
            _, left = await asyncio.wait(left, timeout=LOOK_SECONDS)
        await asyncio.gather(*tasks, return_exceptions=True)  # else what they raised is logged
        await asyncio.wait_for(self._client.close(), CONNECT_SECONDS)

    async def _watch(self) -> None:
        """Count the workers now and then; end all work once there is no point in waiting for it."""
        try:
            while self.problem is None:
                await asyncio.sleep(LOOK_SECONDS)
                try:
                    await asyncio.wait_for(self._look(), SILENT_SECONDS)
                except TimeoutError:
                    raise LostSchedulerError(LOST.format(self._address)) from None
                except OSError:
                    await self._connected()
        except WorkerError as problem:
            self._end(problem)

    async def _look(self) -> None:
        threads: dict[str, int] = await self._client.nthreads()
        for worker in threads.keys() - self._known:
            self._inspections.add(asyncio.create_task(self._inspect(worker)))
        self._known = set(threads)
        self._threads = sum(threads.values())
        if threads or not self._tasks:
            self._inhabited = time.monotonic()
        elif time.monotonic() - self._inhabited > DESERTED_SECONDS:
            raise WorkerError(DESERTED.format(self._address))

    async def _inspect(self, worker: str) -> None:
        with suppress(OSError, WorkerError):  # gone, which others notice; or all work has been ended
            self._check(worker, await self._ask(worker, versions))
        self._inspections.discard(cast("asyncio.Task[None]", asyncio.current_task()))

    async def _inspect_all(self) -> None:
        """Look at every worker now; one that does not answer soon is looked at while others work."""
        self._known.clear()
        await self._look()
        if self._inspections:
            await asyncio.wait(self._inspections, timeout=CONNECT_SECONDS)
        if self.problem is not None:
            raise self.problem

    async def _ask(self, worker: str, function: Callable[..., T], *arguments: Any) -> T:
        """Run a function beside a worker's tasks, which Dask would try for long on one that is gone.

        Raises
        ------
        OSError
            If the worker, or the scheduler, is gone.
        """
        run = self._client.run(function, *arguments, workers=[worker], on_error="return")
        asked = asyncio.ensure_future(run)
        try:
            while not (await asyncio.wait({asked}, timeout=LOOK_SECONDS))[0]:
                if worker not in await self._client.nthreads():
                    raise ConnectionError(worker)
            answer = asked.result()[worker]
        finally:
            asked.cancel()
        if isinstance(answer, OSError):
            raise answer
        return cast("T", answer)

    def _check(self, worker: str, answer: Any) -> None:
        """End all work if a worker could compute other digits.

        Raises
        ------
        WorkerError
        """
        try:
            check("Dask worker", worker, answer)
        except WorkerError as problem:
            self._end(problem)
            raise

    def _end(self, problem: WorkerError) -> None:
        self.problem = self.problem or problem
        for task in self._tasks:
            task.cancel()

    async def _connected(self) -> None:
        """Wait for a connection that was lost; the client itself tries for `CONNECT_SECONDS`."""
        while self._client.status == "connecting":
            await asyncio.sleep(0.1)
        if self._client.status != "running":
            raise LostSchedulerError(LOST.format(self._address))
