"""Reading of files as tables of text, and work on tables, in processes of limited memory and time."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import signal
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from typing import BinaryIO, TypeVar, get_type_hints

from grasp_core.model.errors import DataError, Problem
from grasp_core.model.json_values import from_json, to_json
from grasp_core.model.text import not_there
from grasp_core.model.turns import Turns, asking, check_going
from grasp_core.reading.archives import containers
from grasp_core.reading.archives.containers import MAX_BYTES
from grasp_core.reading.sandbox import wire
from grasp_core.reading.sandbox.limits import NO_MEMORY, Limits, count_open_table, current_limits
from grasp_core.reading.sandbox.process import HELPER, Helper, HelperGoneError, Job
from grasp_core.reading.table.parsed import Watch, unwatched
from grasp_core.reading.table.table import Parsed, Table

READING = Turns("reading files", at_once=2, each=1, waiting=12, waiting_each=4, patience=120)
"""Turns of two files at a time, never both of one person, so that their memory together is bounded."""
TRYING = Turns("reading small files", at_once=3, each=1, waiting=12, waiting_each=4, patience=120)
SMALL = Limits(memory=2**28, seconds=1)
"""Limits of the first attempt if people share the program, so that no small file waits for a large one."""
_NICENESS, _NICENESS_LARGE = 10, 15
"""Niceness of processes here: behind the process that answers people. Small files are equal to workers that
compute, so that neither keeps people waiting for the other; large files are behind both."""
_POLL = 0.25  # seconds after which the waiting caller may cancel the reading
_TRIED = 3
T = TypeVar("T")
_PIECE = 1 << 20


def read_table(
    source: Path | str | bytes | BinaryIO,
    name: str | None = None,
    *,
    member: str | None = None,
    watch: Watch = unwatched,
) -> Table:
    """Read a table from a file of any format that docs/formats.md lists, or from a folder of such files.

    `member`: sheet of a workbook or file in an archive; by default all that fit together, or else the
        first table.
    `watch`: called now and then with the amounts done and in total; an exception from it ends the reading.
    """
    whole = name or (str(source) if isinstance(source, Path | str) else "")
    shown = PurePosixPath(whole.replace("\\", "/")).name or "file"
    if isinstance(source, Path | str) and os.path.isdir(source):
        return _read_folder(Path(source), shown, member, watch)
    file = _File(Path(source) if isinstance(source, str) else source, shown)
    parsed = read(lambda: [file.pieces()], shown, folder=False, member=member, watch=watch)
    return parsed.table(shown, file.sha256, file.size)


def _read_folder(folder: Path, name: str, member: str | None, watch: Watch) -> Table:
    """Read a folder of Parquet files as one table, and any other folder like an archive of its files."""
    paths = sorted(folder.rglob("*.parquet"))
    if paths:
        return read_files([(str(path.relative_to(folder)), path) for path in paths], name, watch=watch)
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    shown = [one for one in found if not any(part[0] == "." for part in one.relative_to(folder).parts)]
    if not shown:
        raise DataError(f"{name} is a folder without files; name one that holds some, or a file")
    if len(shown) > containers.MAX_MEMBERS:
        raise DataError(
            f"{name} is a folder of {len(shown):,} files, at most {containers.MAX_MEMBERS:,} are read"
        )
    return read_together(shown, folder, name, member, watch)


def read_together(
    paths: Sequence[Path], folder: Path, name: str, member: str | None = None, watch: Watch = unwatched
) -> Table:
    """Read files like an archive of them; their names are their paths below the folder."""
    packed = containers.packed(_contents(paths, folder, name))
    table = read_table(packed, name, member=member, watch=watch)
    return dataclasses.replace(table, kind=table.kind.replace(", zip", ", folder"))


def _contents(paths: Sequence[Path], folder: Path, name: str) -> Iterator[tuple[str, bytes]]:
    """Yield files by their path below the folder; refuse files that are too large together."""
    total = 0
    for path in paths:
        inner = path.relative_to(folder).as_posix()
        try:
            total += path.stat().st_size
            containers.check_size(total, name)
            yield inner, path.read_bytes()
        except OSError as error:
            raise DataError(f"{name}, {inner} cannot be read: {error.strerror}") from None


def read_files(files: Sequence[tuple[str, bytes | Path]], name: str, *, watch: Watch = unwatched) -> Table:
    """Read a folder's Parquet files, each given as its path below the folder, and its content or path."""
    streams = [_File(source, PurePosixPath(path).name) for path, source in files]
    parsed = read(lambda: _within(streams, name), name, folder=True, member=None, watch=watch)
    hashes = [(path, stream.sha256) for (path, _), stream in zip(files, streams, strict=True)]
    return parsed.table(name, _joint_sha256(hashes), sum(stream.size for stream in streams))


def _within(files: Sequence[_File], name: str) -> Iterator[Iterator[bytes | memoryview]]:
    """Yield the files one by one; refuse files that are too large together."""
    total = 0
    for file in files:
        yield file.pieces()
        total += file.size
        containers.check_size(total, name)


def files_sha256(files: Sequence[tuple[str, bytes]]) -> str:
    """Return the hash of a folder: a hash of its files' paths and hashes."""
    return _joint_sha256([(path, hashlib.sha256(content).hexdigest()) for path, content in files])


def _joint_sha256(hashes: Sequence[tuple[str, str]]) -> str:
    whole = hashlib.sha256()
    for path, sha256 in hashes:
        whole.update(f"{path}\n{sha256}\n".encode())
    return whole.hexdigest()


class _File:
    """A file that is passed on in pieces; its size and hash are known after the last piece."""

    def __init__(self, source: Path | bytes | BinaryIO, name: str) -> None:
        self._source, self._name = source, name
        self._hash = hashlib.sha256()
        self._start: int | None = None
        self.size = 0

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()

    def pieces(self) -> Iterator[bytes | memoryview]:
        """Yield the content in pieces, from its beginning each time."""
        self._hash = hashlib.sha256()
        self.size = 0
        for piece in self._raw_pieces():
            self.size += len(piece)
            if self.size > MAX_BYTES:
                raise containers.too_large(self._name)
            self._hash.update(piece)
            yield piece

    def _raw_pieces(self) -> Iterator[bytes | memoryview]:
        if isinstance(self._source, bytes):
            whole = memoryview(self._source)
            return (whole[start : start + _PIECE] for start in range(0, len(whole), _PIECE))
        if isinstance(self._source, Path):
            return self._from_path(self._source)
        if self._start is None:
            self._start = self._source.tell() if self._source.seekable() else 0
        elif self._start != self._source.tell():
            self._source.seek(self._start)
        return iter(partial(self._source.read, _PIECE), b"")

    def _from_path(self, path: Path) -> Iterator[bytes]:
        try:
            with path.open("rb") as file:
                yield from iter(partial(file.read, _PIECE), b"")
        except FileNotFoundError:
            raise DataError(f"{not_there(self._name, path)}; check the path") from None
        except OSError as error:
            raise DataError(f"{self._name} cannot be read: {error.strerror}") from None


class ReadingFaultError(Exception):
    """A reader failed by a fault of its own; the text names the place in the code, not the file."""


class _NotSmallError(Exception):
    pass


def read(
    files: Callable[[], Iterable[Iterable[bytes | memoryview]]],
    name: str,
    *,
    folder: bool,
    member: str | None,
    watch: Watch,
) -> Parsed:
    """Parse files, given in pieces, within limited memory and time; larger files are sent a second time."""
    request = {"name": name, "member": member, "folder": folder}

    def tried(within: Limits) -> Parsed:
        with _limited(HELPER, request, name, watch, within) as conversation:
            for file in files():
                for piece in file:
                    conversation.channel.send(wire.CHUNK, piece)
                conversation.channel.send(wire.END_OF_FILE)
            conversation.channel.send(wire.END_OF_FILES)
            lines: bytearray | None = None
            kind, content = conversation.answer()
            if kind == wire.LINES:
                lines, (_, content) = content, conversation.answer()
            return wire.receive_table(conversation.channel, content, lines, Parsed)

    parsed = _in_turn(tried, lambda: watch(0, 1))
    count_open_table(parsed.data, name)
    return parsed


def handle(work: Callable[..., T], tables: Mapping[str, Table | None], given: Mapping[str, object]) -> T:
    """Call a function of tables in a process of limited memory and time: see :func:`call`."""
    return _in_turn(lambda within: call(HELPER, work, given, tables, within=within))


def _in_turn(tried: Callable[[Limits], T], waits: Callable[[], None] = lambda: None) -> T:
    """Try work in a turn for small files first, and only if it takes more, in a turn for large files."""
    if asking() is not None:
        with TRYING.turn(waits):
            try:
                return tried(SMALL)
            except _NotSmallError as error:
                # In Python 3.13 they are in a reference cycle with frames that will have the table.
                traceback.clear_frames(error.__traceback__)
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
    """Call a function in a process of limited memory and time; `name` is for messages."""
    sent = {name: table for name, table in tables.items() if table is not None}
    named = name or next(table.name for table in sent.values())
    request = {
        "work": work.__name__, "tables": list(tables), "sent": list(sent), "given": to_json(dict(given))
    }  # fmt: skip
    with _limited(helper, request, named, unwatched, within or current_limits()) as conversation:
        for table in sent.values():
            wire.send_table(conversation.channel, table)
        answer: T = from_json(wire.value_of(conversation.answer()[1]), get_type_hints(work)["return"])
        return answer


@contextmanager
def _limited(
    helper: Helper, request: Mapping[str, object], name: str, watch: Watch, within: Limits
) -> Generator[_Conversation]:
    """Open a conversation with a child that got a request and its limits."""
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
            conversation.channel.say(wire.REQUEST, {**told, **request})
            yield conversation
        except (EOFError, ConnectionError, ReadingFaultError) as error:
            if small:
                raise _NotSmallError from None
            if isinstance(error, ReadingFaultError):
                raise
            raise _ended(conversation.job.exit_code(), limits, name) from None


class _Conversation:
    def __init__(self, helper: Helper, job: Job, watch: Watch) -> None:
        self.job = job
        self._helper = helper
        self._watch = watch
        self._progress = (0, 1)
        job.connection.settimeout(_POLL)
        self.channel = wire.Channel(job.connection, self._waiting)

    def _waiting(self) -> None:
        check_going()
        self._watch(*self._progress)

    def is_there(self) -> bool:
        try:
            return self.channel.receive()[0] == wire.READY
        except (EOFError, ConnectionError):
            return False

    def close(self) -> None:
        self._helper.kill(self.job)
        self.job.close()

    def answer(self) -> tuple[bytes, bytearray]:
        while True:
            kind, content = self.channel.receive()
            if kind in (wire.TABLE, wire.LINES, wire.VALUE):
                return kind, content
            if kind == wire.PROGRESS:
                self._progress = wire.value_of(content)
                self._waiting()
            elif kind == wire.REFUSED:
                said = wire.value_of(content)
                raise DataError(said["message"], from_json(said["problems"], tuple[Problem, ...]))
            else:
                raise ReadingFaultError(wire.value_of(content))


@contextmanager
def _conversation(helper: Helper, watch: Watch) -> Generator[_Conversation]:
    for _ in range(_TRIED):  # the helper may be ending while it is asked
        try:
            conversation = _Conversation(helper, helper.job(), watch)
        except HelperGoneError:
            break
        try:
            if conversation.is_there():
                yield conversation
                return
        finally:
            conversation.close()
    raise DataError(
        "files cannot be read just now: no process to read them in can be started; try again"
    ) from None


def _ended(code: int | None, limits: Limits, name: str) -> DataError:
    """Return the error for a child that ended before it answered."""
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
        f"{name}: the program that reads this format failed on it, so it may be damaged, or take more than "
        f"{limits.memory / 2**30:.3g} GiB of memory; write it again, save it as CSV, or split it"
    )
