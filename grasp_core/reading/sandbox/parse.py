"""Parsing of bytes into tables of text, in a process that ends after one reading."""

import dataclasses
import gc
import importlib
import io
import json
import os
import resource
import socket
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any, get_type_hints

from grasp_core.model.errors import DataError
from grasp_core.model.json_values import CONVERTER, from_json
from grasp_core.model.text import listed, quoted
from grasp_core.reading.archives import containers, foreign
from grasp_core.reading.archives.containers import Archive
from grasp_core.reading.archives.stack import Member, together
from grasp_core.reading.files import delimited, encodings, json_files, workbooks
from grasp_core.reading.formats import arrow, registry, statistical
from grasp_core.reading.formats.tools import doccano
from grasp_core.reading.sandbox import wire
from grasp_core.reading.sandbox.limits import DONE, FAULTY, NO_MEMORY, Limits, check_weight, limit_process
from grasp_core.reading.table.parsed import Watch
from grasp_core.reading.table.table import Parsed, Table


def parse(raw: bytes, name: str, member: str | None, watch: Watch) -> Parsed:
    """Read a file of any format that docs/formats.md lists, or one `member` of it."""
    content, packed = containers.unpack(raw, name)
    if content.startswith(containers.ZIP):
        parsed = _parse_zip(content, name, member, watch)
    elif content.startswith(workbooks.OLD_EXCEL):
        parsed = _parse_workbook(content, name, member)
    elif member is not None:
        raise DataError(
            f"{name} has no sheets or files to choose {quoted(member)} from; leave the choice out"
        )
    else:
        parsed = _parse_single(content, name, watch)
    return dataclasses.replace(parsed, kind=parsed.kind + (f", {packed}" if packed else ""))


def _parse_zip(content: bytes, name: str, member: str | None, watch: Watch) -> Parsed:
    archive = Archive(content, name)
    names = archive.names
    if workbooks.is_workbook(names):
        foreign.refuse_archive(archive)
        return _parse_workbook(content, name, member)
    if (whole := registry.of_archive(archive)) is not None:
        return whole
    if (saved := arrow.read_saved(archive, member, watch)) is not None:
        return dataclasses.replace(saved, kind=f"{saved.kind}, zip")
    foreign.refuse_archive(archive)
    if member is not None and member not in names:
        raise DataError(f"{name} holds no file {quoted(member)}; its files are {listed(names)}")
    if member is None:
        return _parse_all(archive, name, watch)
    inside = archive.member(member)
    return dataclasses.replace(_parse_member(inside, name, member, watch), members=names, member=member)


def _parse_all(archive: Archive, name: str, watch: Watch) -> Parsed:
    """Read an archive's files and combine them into one table; leave out files that are no tables."""
    refused: dict[str, DataError] = {}
    tables: list[Member] = []
    size = 0
    for member in archive.names:
        inside = archive.member(member)  # a damaged archive ends the reading
        size += len(inside)
        containers.check_size(size, name)
        try:
            tables.append(Member(member, _parse_member(inside, name, member, watch)))
        except DataError as error:
            refused[member] = error
    if not tables:
        raise next(iter(refused.values()))
    parsed = together(tables, list(refused), name, "file")
    return dataclasses.replace(parsed, members=archive.names if len(archive.names) > 1 else ())


def _parse_member(inside: bytes, name: str, member: str, watch: Watch) -> Parsed:
    shown = f"{name}, {PurePosixPath(member).name}"
    if not inside.startswith(containers.ZIP):
        parsed = _parse_single(inside, shown, watch)
    elif workbooks.is_workbook(Archive(inside, shown).names):
        parsed = _parse_workbook(inside, shown, None)
    else:
        raise DataError(f"{shown} is a zip archive inside another; pack its files once")
    return dataclasses.replace(parsed, kind=f"{parsed.kind}, zip")


def _parse_workbook(content: bytes, name: str, member: str | None) -> Parsed:
    found, sheets = workbooks.parse(content, name, member)
    tables = [dataclasses.replace(one, parsed=registry.of_table(one.parsed, name)) for one in found]
    held = {one.name for one in tables}
    others = [sheet for sheet in sheets if sheet not in held] if member is None else []
    parsed = together(tables, others, name, "sheet")
    several = len(sheets) > 1
    return dataclasses.replace(
        parsed, members=sheets if several else (), member=parsed.member if member is None else member
    )


def _parse_single(content: bytes, name: str, watch: Watch) -> Parsed:
    if content.startswith(workbooks.OLD_EXCEL):
        return _parse_workbook(content, name, None)
    if (form := arrow.form_of(content)) is not None:
        return registry.of_table(arrow.parse([content], form, name, watch), name)
    if (of_program := statistical.form_of(content)) is not None:
        return registry.of_table(statistical.parse(content, of_program, name, watch), name)
    foreign.refuse(content, name)
    text, encoding, notes = encodings.to_utf8(content, name)
    doccano.refuse_fasttext(text, name)
    if text[:1024].lstrip().startswith((b"{", b"[")):
        found, kind = json_files.records(text, name)
        known = registry.of_records(found, name)
        parsed = registry.of_table(json_files.table(found, name, kind), name) if known is None else known
    else:
        parsed = registry.of_table(delimited.parse(text, name, watch), name)
    shown = parsed.kind if encoding == "UTF-8" else f"{parsed.kind}, {encoding}"
    return dataclasses.replace(parsed, kind=shown, problems=(*notes, *parsed.problems))


def parse_folder(contents: Sequence[bytes], name: str, watch: Watch) -> Parsed:
    """Read the Parquet files of a folder as one table."""
    return registry.of_table(arrow.parse(contents, "Parquet", name, watch), name)


_FILES = 64
_WORK: dict[str, Callable[..., Any]] = {}
_BETWEEN = 0.1  # seconds between two reports of progress


def get_ready(work: str) -> None:
    """Import the functions to call and prepare their values' converters to JSON, so that no child has to."""
    for function in importlib.import_module(work).WORK:
        _WORK[function.__name__] = function
        kinds = get_type_hints(function)
        CONVERTER.get_unstructure_hook(kinds.pop("return"))
        for kind in kinds.values():
            if kind not in (Table, Table | None):
                CONVERTER.get_structure_hook(kind)


def run(connection: socket.socket) -> int:
    """Receive a request and files, limit this process, answer, and return the exit status."""
    channel = wire.Channel(connection)
    try:
        channel.send(wire.READY)
        request = json.loads(channel.receive()[1])
        limits = Limits(**request["limits"])
        memory, seconds = request["memory"], request["seconds"]
        os.environ |= {  # functions on tables read these
            "GRASP_READ_MEMORY_MB": str(limits.memory >> 20), "GRASP_READ_SECONDS": str(limits.seconds)
        }  # fmt: skip
        time_limit = (resource.RLIMIT_CPU, seconds, seconds + 1)  # the soft limit sends its own signal
        limit_process(memory, 0, (resource.RLIMIT_NOFILE, _FILES, _FILES), time_limit)
        with suppress(OSError):
            os.nice(request["niceness"])
        with suppress(OSError):  # if memory still ends, this process is killed first
            Path("/proc/self/oom_score_adj").write_text("1000")
        gc.disable()  # it would check millions of values repeatedly; the process ends soon
        try:
            if "work" in request:
                channel.say(wire.VALUE, _done(request, channel))
                return DONE
            contents, watch = _contents(channel), _told(channel)
            if request["folder"]:
                parsed = parse_folder(contents, request["name"], watch)
            else:
                parsed = parse(contents.pop(), request["name"], request["member"], watch)
            check_weight(parsed, limits, request["name"])
        except DataError as error:
            if _out_of_memory(error):  # and the reader took the file to be damaged
                return NO_MEMORY
            channel.say(wire.REFUSED, {"message": str(error), "problems": error.problems})
        else:
            wire.send_table(channel, parsed)
    except (EOFError, ConnectionError):  # the process that asked is gone
        return DONE
    except BaseException as error:  # Rust's panics are no Exception
        if _out_of_memory(error):
            return NO_MEMORY
        with suppress(OSError):
            channel.say(wire.FAULT, _place(error))
        return FAULTY
    return DONE


_NO_ROOM = ("start new thread", "launch worker thread", "Unable to allocate memory")
"""Messages of Python and Arrow if a thread's stack does not fit, and of ReadStat if memory runs out."""


def _out_of_memory(error: BaseException | None) -> bool:
    """Return whether memory ran out, in this error or in an error that caused it."""
    while error is not None:
        if isinstance(error, MemoryError) or any(said in str(error) for said in _NO_ROOM):
            return True
        error = error.__cause__ or error.__context__
    return False


def _contents(channel: wire.Channel) -> list[bytes]:
    contents: list[bytes] = []
    file = io.BytesIO()
    while True:
        kind, chunk = channel.receive()
        if kind == wire.END_OF_FILES:
            return contents
        if kind == wire.END_OF_FILE:
            contents.append(file.getvalue())
            file = io.BytesIO()
        else:
            file.write(chunk)


def _done(request: dict[str, Any], channel: wire.Channel) -> Any:
    """Call a function with the tables that follow and the given values."""
    function = _WORK[request["work"]]
    kinds = get_type_hints(function)
    given = {name: from_json(value, kinds[name]) for name, value in request["given"].items()}
    tables: dict[str, Table | None] = dict.fromkeys(request["tables"])
    for name in request["sent"]:
        lines = None
        kind, content = channel.receive()
        if kind == wire.LINES:
            lines, (_, content) = content, channel.receive()
        tables[name] = wire.receive_table(channel, content, lines, Table)
    return function(**tables, **given)


def _told(channel: wire.Channel) -> Watch:
    """Return a watch that reports progress, but not at every step."""
    following = 0.0

    def watch(done: int, total: int) -> None:
        nonlocal following
        if (now := time.monotonic()) >= following:
            following = now + _BETWEEN
            channel.say(wire.PROGRESS, (done, total))

    return watch


def _place(error: BaseException) -> str:
    """Return the kind of an error, and its place in the code; its message could quote the file."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}"
