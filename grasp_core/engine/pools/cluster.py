"""An existing Dask cluster as the place where blocks are computed."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar, cast

from distributed import KilledWorker, Security

from grasp_core.engine.pools import remote
from grasp_core.engine.pools.connection import Connection
from grasp_core.engine.pools.versions import versions
from grasp_core.engine.pools.workers import Sent
from grasp_core.errors import LostSchedulerError, WorkerError

RELEASE_SECONDS = 0.5
"""How late cancelled work is given back: a scheduler forgets it for good only once it has taken it in."""
ATTEMPTS = 20
"""How often a piece of work that got lost, or whose buffer did, is handed out again."""

DYING = (
    "Workers of the Dask cluster ended {} times over the same piece of work, perhaps for want of memory or of"
    " this package; their logs tell, and then run it again."
)
SLIPPING = "The Dask cluster at {} lost the same piece of work {} times; run it again."

T = TypeVar("T")


class Cluster(Connection, Executor):
    """The workers of a Dask scheduler.

    A worker that dies has its work done again by another, which the scheduler sees to; a new one is put to
    work, and Dask sends it what it lacks.

    Parameters
    ----------
    address, security, limit
        As of a :class:`Connection`, which raises what there is to raise.
    """

    def __init__(self, address: str, security: Security | None = None, limit: int | None = None) -> None:
        self._buffers: dict[str, bytes] = {}
        self._scattered: dict[str, asyncio.Future[Any]] = {}
        super().__init__(address, security, limit)

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

    def _begun(self) -> set[asyncio.Future[Any]]:
        return {*super()._begun(), *self._scattered.values()}

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
