"""The asking side of a limited reading: what comes of a file, or a sentence."""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager

from grasp_core.errors import DataError
from grasp_core.io.parsing.limited import wire
from grasp_core.io.parsing.limited.limits import NO_MEMORY, Limits, current_limits
from grasp_core.io.parsing.limited.process import HELPER, HelperGoneError, Job
from grasp_core.io.table.parsed import Parsed, Watch

AT_ONCE = 2
"""Files that are read at a time; others wait, so that what all take together is bounded."""
_POLL = 0.25
"""Seconds after which whoever waits may call the reading off."""
_TRIED = 3
_slots = threading.BoundedSemaphore(AT_ONCE)


class ReadingFaultError(Exception):
    """A reader failed by a fault of its own; the text says where, and nothing of the file."""


def read(
    files: Iterable[Iterable[bytes | memoryview]],
    name: str,
    *,
    folder: bool,
    member: str | None,
    watch: Watch,
) -> Parsed:
    """Parse files in a process of limited memory and time.

    Parameters
    ----------
    files : iterable of iterables of bytes
        Each file in pieces.
    name : str
        For messages.
    folder : bool
        Whether they are the Parquet files of a folder, or one file of any format.
    member : str or None
        See :func:`grasp_core.io.parsing.parse.parse`.
    watch : callable
        Called several times a second; what it raises ends the reading.

    Raises
    ------
    DataError
        If they cannot be read, or not within the limits.
    """
    limits = current_limits()
    request = {
        "name": name, "member": member, "folder": folder, "memory": limits.memory, "seconds": limits.seconds
    }  # fmt: skip
    with _slot(watch), _conversation(watch) as conversation:
        try:
            conversation.send(request, files)
            return conversation.answer()
        except (EOFError, ConnectionError):
            raise _ended(conversation.job.exit_code(), limits, name) from None


class _Conversation:
    """A conversation with a child."""

    def __init__(self, job: Job, watch: Watch) -> None:
        self.job = job
        self._watch = watch
        self._progress = (0, 1)
        job.connection.settimeout(_POLL)
        self._channel = wire.Channel(job.connection, self._waiting)

    def _waiting(self) -> None:
        self._watch(*self._progress)

    def is_there(self) -> bool:
        try:
            return self._channel.receive()[0] == wire.READY
        except (EOFError, ConnectionError):
            return False

    def close(self) -> None:
        HELPER.kill(self.job)
        self.job.close()

    def send(self, request: Mapping[str, object], files: Iterable[Iterable[bytes | memoryview]]) -> None:
        self._channel.say(wire.REQUEST, request)
        for file in files:
            for piece in file:
                self._channel.send(wire.CHUNK, piece)
            self._channel.send(wire.END_OF_FILE)
        self._channel.send(wire.END_OF_FILES)

    def answer(self) -> Parsed:
        lines: bytearray | None = None
        while True:
            kind, content = self._channel.receive()
            if kind == wire.TABLE:
                return wire.receive_parsed(self._channel, content, lines)
            if kind == wire.LINES:
                lines = content
            elif kind == wire.PROGRESS:
                self._progress = wire.value_of(content)
                self._waiting()
            elif kind == wire.REFUSED:
                raise wire.unpacked_error(content)
            else:
                raise ReadingFaultError(wire.value_of(content))


@contextmanager
def _slot(watch: Watch) -> Generator[None]:
    while not _slots.acquire(timeout=_POLL):
        watch(0, 1)
    try:
        yield
    finally:
        _slots.release()


@contextmanager
def _conversation(watch: Watch) -> Generator[_Conversation]:
    """A child that waits for a request."""
    for _ in range(_TRIED):  # the helper may be ending while it is asked
        conversation = _Conversation(_job(), watch)
        try:
            if conversation.is_there():
                yield conversation
                return
        finally:
            conversation.close()
    raise _no_process()


def _job() -> Job:
    try:
        return HELPER.job()
    except HelperGoneError:
        raise _no_process() from None


def _no_process() -> DataError:
    return DataError("files cannot be read just now: no process to read them in can be started; try again")


def _ended(code: int | None, limits: Limits, name: str) -> DataError:
    """Why a child ended before it had answered."""
    if code == -signal.SIGXCPU:
        return DataError(
            f"{name}: reading it takes more than {limits.seconds:,} seconds of processor time, the most that "
            "one file may; split it, or save it as CSV"
        )
    if code in (NO_MEMORY, -signal.SIGABRT, -signal.SIGKILL):
        return DataError(
            f"{name}: reading it takes more than {limits.memory / 2**30:.3g} GiB of memory, the most that "
            "one file may; split it or leave columns out (in a workbook, a cell far away from the table may "
            "be filled: copy the table to a new one)"
        )
    if code is None:
        return DataError(f"{name}: the process that reads files ended; read it again")
    return DataError(
        f"{name}: the program that reads this format failed on it, so it may be damaged; write it again, or "
        "save it as CSV"
    )
