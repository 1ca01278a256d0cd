"""An existing Dask cluster as the place where blocks are computed."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
import uuid
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import CancelledError, Executor, Future
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, TypeVar, cast

import dask
from distributed import Client, KilledWorker, Security

from grasp_core.engine import remote
from grasp_core.engine.versions import check, versions
from grasp_core.engine.workers import Sent
from grasp_core.errors import LostSchedulerError, WorkerError

CONNECT_SECONDS = 10.0
"""How long a scheduler may take to answer, at first and when the connection is lost."""
SILENT_SECONDS = 30.0
"""How long a connected scheduler may leave a question open."""
DESERTED_SECONDS = 120.0
"""How long work waits for a cluster without workers, which may be starting them."""
LOOK_SECONDS = 1.0
"""How often the workers are counted."""
RELEASE_SECONDS = 0.5
"""How late cancelled work is given back: a scheduler forgets it for good only once it has taken it in."""
ATTEMPTS = 20
"""How often a piece of work that got lost, or whose buffer did, is handed out again."""

UNREACHABLE = "The Dask scheduler at {} cannot be reached; check GRASP_DASK_ADDRESS and that it runs there."
LOST = "The Dask scheduler at {} cannot be reached any more; run it again once it is back."
DESERTED = "The Dask scheduler at {} has no workers; start some (docs/scaling.md) and run it again."
DYING = (
    "Workers of the Dask cluster ended {} times over the same piece of work, perhaps for want of memory or of"
    " this package; their logs tell, and then run it again."
)
SLIPPING = "The Dask cluster at {} lost the same piece of work {} times; run it again."

T = TypeVar("T")

# What goes wrong is told in a sentence; Dask's own lines would stand beside it.
for _name in ("distributed", "distributed.client"):
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)
dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"})


class Cluster(Executor):
    """The workers of a Dask scheduler.

    All talk with the scheduler happens in one thread of its own. A worker that dies has its work done again
    by another, which the scheduler sees to; a new one is put to work, and Dask sends it what it lacks.

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
        self._buffers: dict[str, bytes] = {}
        self._scattered: dict[str, asyncio.Future[Any]] = {}
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

    def submit(self, function: Callable[..., T], /, *arguments: Any, **named: Any) -> Future[T]:
        """Have a function computed; it has to be importable by name, and without effects."""
        if self.problem is not None:
            raise self.problem
        call = remote.Call(partial(function, **named) if named else function, arguments, versions())
        return asyncio.run_coroutine_threadsafe(self._compute(call), self._loop)

    @contextmanager
    def holding(self, buffer: bytes) -> Iterator[Sent]:
        """While this lasts, workers find the buffer."""
        sent = Sent(uuid.uuid4().hex)
        self._buffers[sent.key] = buffer
        try:
            yield sent
        finally:
            del self._buffers[sent.key]
            if self.problem is None:
                self._loop.call_soon_threadsafe(self._release, sent.key)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Give back what is not computed yet and leave the cluster, which goes on."""
        if self._thread.is_alive():
            with suppress(OSError, TimeoutError):
                self._call(self._leave())
            self._end_thread()

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
        tasks = {self._watching, *self._tasks, *self._inspections, *self._scattered.values()}
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

    async def _compute(self, call: remote.Call) -> Any:
        task = cast("asyncio.Task[Any]", asyncio.current_task())
        self._tasks.add(task)
        try:
            for _ in range(ATTEMPTS):
                await self._connected()
                try:
                    outcome = await self._outcome(call)
                except (CancelledError, OSError):  # connection lost, or workers restarted by hand
                    continue
                return self._value(outcome)
            raise WorkerError(SLIPPING.format(self._address, ATTEMPTS))
        except asyncio.CancelledError:
            if self.problem is not None:
                raise self.problem from None
            raise
        except LostSchedulerError as problem:
            self.problem = problem
            raise
        finally:
            self._tasks.discard(task)

    async def _outcome(self, call: remote.Call) -> Any:
        content = await self._scatter(call.sent)
        key = f"grasp-{uuid.uuid4().hex}"
        future = self._client.submit(remote.do, call, content, key=key, pure=False)
        try:
            return await future
        except KilledWorker as killed:
            raise WorkerError(DYING.format(killed.allowed_failures + 1)) from None
        except (CancelledError, OSError):
            raise
        except Exception:  # e.g. unknown there: the worker may be another version's
            await self._inspect_all()
            raise
        finally:
            # Not future.cancel(), which is told to all clients of the scheduler.
            self._loop.call_later(0 if future.done() else RELEASE_SECONDS, future.release)

    def _value(self, outcome: Any) -> Any:
        if isinstance(outcome, remote.Refused):
            self._check(outcome.worker, outcome.versions)
        if isinstance(outcome, remote.Failed):
            raise outcome.error
        return outcome

    def _release(self, key: str) -> None:
        """Have workers drop a buffer, now rather than when what still refers to it is collected."""
        held = self._scattered.pop(key, None)
        if held is not None:
            held.add_done_callback(_drop)

    async def _scatter(self, sent: Sent | None) -> Any:
        """The buffer as Dask holds it: on all workers that are there; those that come get it from them."""
        if sent is None:
            return None
        held = self._scattered.get(sent.key)
        if held is None or (held.done() and (held.exception() or held.result().status != "finished")):
            scattered = self._client.scatter(self._buffers[sent.key], broadcast=True, hash=False)
            held = self._scattered[sent.key] = asyncio.ensure_future(scattered)
        return await asyncio.shield(held)


def _drop(scattered: asyncio.Future[Any]) -> None:
    if not scattered.cancelled() and scattered.exception() is None:
        scattered.result().release()
