"""The asking side of a limited reading: what comes of a file, or a sentence."""

from __future__ import annotations

import signal
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from typing import Any, TypeVar, get_type_hints

from grasp_core.model.errors import DataError
from grasp_core.model.json_values import from_json, to_json
from grasp_core.model.turns import Turns, asking
from grasp_core.reading.sandbox import _wire as wire
from grasp_core.reading.sandbox.cache import count_held
from grasp_core.reading.sandbox.limits import NO_MEMORY, Limits, current_limits
from grasp_core.reading.sandbox.process import HELPER, Helper, HelperGoneError, Job
from grasp_core.reading.table.parsed import Parsed, Watch
from grasp_core.reading.table.table import Table

READING = Turns("reading files", at_once=2, each=1, waiting=12, waiting_each=4, patience=120)
"""Two files at a time, so that what all take together is bounded, and never both of one person's."""
TRYING = Turns("reading small files", at_once=3, each=1, waiting=12, waiting_each=4, patience=120)
SMALL = Limits(memory=2**28, seconds=1)
"""What others share is first tried within these: so nobody's small file waits for anybody's large one."""
_NICENESS, _NICENESS_LARGE = 5, 15
"""How far what is made here stands back for the process that answers people: before workers that compute, and
large files as these do, so that neither keeps the other's people waiting."""
_POLL = 0.25
"""Seconds after which whoever waits may call the reading off."""
_TRIED = 3
T = TypeVar("T")


class ReadingFaultError(Exception):
    """A reader failed by a fault of its own; the text says where, and nothing of the file."""


class _NotSmallError(Exception):
    """It takes more than a small file may."""


def read(
    files: Callable[[], Iterable[Iterable[bytes | memoryview]]],
    name: str,
    *,
    folder: bool,
    member: str | None,
    watch: Watch,
) -> Parsed:
    """Parse files in a process of limited memory and time.

    `files`: gives an iterable of iterables of bytes, each file in pieces; called twice for what is not small.
    `name`: for messages.
    `folder`: whether they are the Parquet files of a folder, or one file of any format.
    `member`: see :func:`grasp_core.reading.sandbox.parse.parse`.
    `watch`: called several times a second; what it raises ends the reading.

    Raises DataError if they cannot be read, not within the limits, or not beside what the person has open;
    TooOftenError if too many files wait.
    """
    request = {"name": name, "member": member, "folder": folder}

    def tried(within: Limits) -> Parsed:
        with _limited(HELPER, request, name, watch, within) as conversation:
            conversation.send_files(files())
            return conversation.parsed()

    parsed = _in_turn(tried, lambda: watch(0, 1))
    count_held(parsed.data, name)
    return parsed


def handle(work: Callable[..., T], tables: Mapping[str, Table | None], given: Mapping[str, object]) -> T:
    """Call a function of tables in a process of limited memory and time: see :func:`call`.

    Raises DataError; TooOftenError if too many files wait.
    """
    return _in_turn(lambda within: call(HELPER, work, given, tables, within=within))


def _in_turn(tried: Callable[[Limits], T], waits: Callable[[], None] = lambda: None) -> T:
    """Do what takes little in a turn of its own, and only what takes more in a turn at large files."""
    if asking() is not None:
        with TRYING.turn(waits), suppress(_NotSmallError):
            return tried(SMALL)
    with READING.turn(waits):
        return tried(current_limits())


def call(
    helper: Helper,
    work: Callable[..., T],
    given: Mapping[str, object],
    tables: Mapping[str, Table | None],
    name: str = "",
    within: Limits | None = None,
) -> T:
    """Call a function in a process of limited memory and time.

    `work`: of the module whose functions that helper calls.
    `given`: its arguments that JSON holds.
    `tables`: its arguments that are tables.
    `name`: for messages; by default the first table's.
    `within`: by default those that the settings give.

    Raises DataError what it raises, or that it does not end within the limits.
    """
    sent = {name: table for name, table in tables.items() if table is not None}
    named = name or next(table.name for table in sent.values())
    request = {
        "work": work.__name__, "tables": list(tables), "sent": list(sent), "given": to_json(dict(given))
    }  # fmt: skip
    with _limited(helper, request, named, _unwatched, within or current_limits()) as conversation:
        conversation.send_tables(sent.values())
        answer: T = from_json(conversation.value(), get_type_hints(work)["return"])
        return answer


def _unwatched(_done: int, _total: int) -> None:
    """Let it go on."""


@contextmanager
def _limited(
    helper: Helper, request: Mapping[str, object], name: str, watch: Watch, within: Limits
) -> Generator[_Conversation]:
    """A child that was told what to do, and within which limits.

    Raises DataError, ReadingFaultError; _NotSmallError in place of what may come of the limits of a small
    file.
    """
    limits, small = current_limits(), within is SMALL
    told = {
        "name": name,
        "limits": limits,
        "memory": min(within.memory, limits.memory),
        "seconds": min(within.seconds, limits.seconds),
        "niceness": _NICENESS_LARGE if helper is HELPER and not small else _NICENESS,
    }
    with _conversation(helper, watch) as conversation:
        try:
            conversation.ask({**told, **request})
            yield conversation
        except (EOFError, ConnectionError):
            if small:
                raise _NotSmallError from None
            raise _ended(conversation.job.exit_code(), limits, name) from None
        except ReadingFaultError:
            if small:
                raise _NotSmallError from None
            raise


class _Conversation:
    """A conversation with a child."""

    def __init__(self, helper: Helper, job: Job, watch: Watch) -> None:
        self.job = job
        self._helper = helper
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
        self._helper.kill(self.job)
        self.job.close()

    def ask(self, request: Mapping[str, object]) -> None:
        self._channel.say(wire.REQUEST, request)

    def send_files(self, files: Iterable[Iterable[bytes | memoryview]]) -> None:
        for file in files:
            for piece in file:
                self._channel.send(wire.CHUNK, piece)
            self._channel.send(wire.END_OF_FILE)
        self._channel.send(wire.END_OF_FILES)

    def send_tables(self, tables: Iterable[Table]) -> None:
        for table in tables:
            wire.send_table(self._channel, table)

    def parsed(self) -> Parsed:
        lines: bytearray | None = None
        kind, content = self._answer()
        if kind == wire.LINES:
            lines, (_, content) = content, self._answer()
        return wire.receive_table(self._channel, content, lines, Parsed)

    def value(self) -> Any:
        return wire.value_of(self._answer()[1])

    def _answer(self) -> tuple[bytes, bytearray]:
        """The next frame that is an answer."""
        while True:
            kind, content = self._channel.receive()
            if kind in (wire.TABLE, wire.LINES, wire.VALUE):
                return kind, content
            if kind == wire.PROGRESS:
                self._progress = wire.value_of(content)
                self._waiting()
            elif kind == wire.REFUSED:
                raise wire.unpacked_error(content)
            else:
                raise ReadingFaultError(wire.value_of(content))


@contextmanager
def _conversation(helper: Helper, watch: Watch) -> Generator[_Conversation]:
    """A child that waits for a request."""
    for _ in range(_TRIED):  # the helper may be ending while it is asked
        conversation = _Conversation(helper, _job(helper), watch)
        try:
            if conversation.is_there():
                yield conversation
                return
        finally:
            conversation.close()
    raise _no_process()


def _job(helper: Helper) -> Job:
    try:
        return helper.job()
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
