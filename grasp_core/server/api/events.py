"""A run followed while it goes on, by server-sent events."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Annotated

import anyio
from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.concurrency import run_in_threadpool

from grasp_core.model.errors import StoreError
from grasp_core.model.result import Result
from grasp_core.server.api._admission import Asking, Caller, shown_to
from grasp_core.server.api.runs import so_far, visible_run
from grasp_core.server.problem import ProblemError, again_after
from grasp_core.store.database import digest_of
from grasp_core.store.runs import RunRecord

router = APIRouter(tags=["Runs"])

POLL_SECONDS = 1.0
CHECK_SECONDS = 5.0
"""How often it is asked whether who follows may still."""
MAX_STREAMS = 200
"""Runs that one server lets be followed at one time."""
EACH = 10
"""Of them, those that one person, one link and one stranger's address may follow."""
_open: list[frozenset[tuple[str, str]]] = []
_looking = anyio.CapacityLimiter(4)  # those who follow leave the other threads to all other requests


async def _followed(run_id: str, asking: Asking) -> AsyncIterator[RunRecord]:
    with _counted(_counted_as(asking)):
        yield await run_in_threadpool(visible_run, asking, run_id)


@router.get("/runs/{run_id}/events", response_class=EventSourceResponse)
async def follow_run(
    asking: Asking, record: Annotated[RunRecord, Depends(_followed)]
) -> AsyncIterator[ServerSentEvent]:
    """Follow a run: `progress` when it has got further, `provisional` with what is found, then `end`."""
    found: Result | None = None
    told: dict[str, object] | None = None
    checked = time.monotonic()
    while True:
        state = await run_sync(so_far, asking, record, None, limiter=_looking)
        if state != told:
            yield ServerSentEvent(event="end" if record.ended else "progress", data=state)
        if record.ended:
            return
        told, before = state, found
        found = await run_sync(asking.server.service.provisional, record.computed_as, limiter=_looking)
        if found is not None and found is not before and found != before:
            yield ServerSentEvent(event="provisional", data=shown_to(asking, found).to_dict())
        await anyio.sleep(POLL_SECONDS)
        if asking.server.service.closing.is_set():
            return
        again = time.monotonic() - checked > CHECK_SECONDS
        checked = time.monotonic() if again else checked
        later = await run_sync(_later, asking, record, again, limiter=_looking)
        if later is None:
            return
        record = later


def _later(asking: Caller, record: RunRecord, again: bool) -> RunRecord | None:
    """The run as it is now; None where it was deleted, or must not be seen any more."""
    try:
        return visible_run(asking.again(), record.id) if again else asking.stores().runs.get(record.id)
    except (ProblemError, StoreError):
        return None


def _counted_as(asking: Caller) -> frozenset[tuple[str, str]]:
    """What is counted: a person, or else the address, with the link by which a stranger comes."""
    link = {("link", digest_of(asking.token or ""))} if asking.user is None else set()
    return frozenset({asking.asker.key, *link})


@contextmanager
def _counted(keys: frozenset[tuple[str, str]]) -> Iterator[None]:
    if any(sum(key in one for one in _open) >= EACH for key in keys):
        raise ProblemError(
            HTTPStatus.TOO_MANY_REQUESTS,
            f"You, or others by this link or from this address, follow {EACH} runs, the most there may be; "
            "end one, or ask for states.",
            again_after(10),
        )
    if len(_open) >= MAX_STREAMS:
        raise ProblemError(
            HTTPStatus.SERVICE_UNAVAILABLE,
            "Too many runs are followed; ask for states.",
            again_after(10),
        )
    _open.append(keys)
    try:
        yield
    finally:
        _open.remove(keys)
