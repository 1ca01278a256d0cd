"""One reading, in a process that ends with it."""

from __future__ import annotations

import gc
import importlib
import inspect
import io
import json
import os
import resource
import socket
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, get_type_hints

from grasp_core.model.errors import DataError
from grasp_core.model.json_values import CONVERTER, from_json
from grasp_core.reading.sandbox import _wire as wire
from grasp_core.reading.sandbox import parse
from grasp_core.reading.sandbox.cache import check_weight
from grasp_core.reading.sandbox.limits import DONE, FAULTY, NO_MEMORY, Limits
from grasp_core.reading.table.parsed import Parsed
from grasp_core.reading.table.table import Table

_FILES = 64
_WORK: dict[str, Callable[..., Any]] = {}
_BETWEEN = 0.1
"""Seconds between two words about progress."""


def get_ready(work: str) -> None:
    """Import the functions that are called, and have ready how their values become JSON: no child has to."""
    for function in vars(importlib.import_module(work)).values():
        if inspect.isfunction(function) and function.__module__ == work:
            _WORK[function.__name__] = function
            kinds = get_type_hints(function)
            CONVERTER.get_unstructure_hook(kinds.pop("return"))
            for kind in kinds.values():
                if kind not in (Table, Table | None):
                    CONVERTER.get_structure_hook(kind)


def run(connection: socket.socket) -> int:
    """Take a request and files, limit this process, and answer.

    Returns the exit status.
    """
    channel = wire.Channel(connection)
    try:
        channel.send(wire.READY)
        request = json.loads(channel.receive()[1])
        limits = Limits(**request["limits"])
        _limit(request, limits)
        gc.disable()  # of millions of values it looks at all again and again; the process ends soon
        try:
            if "work" in request:
                channel.say(wire.VALUE, _done(request, channel))
                return DONE
            parsed = _parsed(request, _contents(channel), channel)
            check_weight(parsed, limits, request["name"])
        except DataError as error:
            channel.say(wire.REFUSED, wire.packed_error(error))
        else:
            wire.send_table(channel, parsed)
    except MemoryError:
        return NO_MEMORY
    except (EOFError, ConnectionError):  # whoever asked is gone
        return DONE
    except BaseException as error:  # Rust's panics are no Exception
        if "start new thread" in str(error):  # whose stack did not fit
            return NO_MEMORY
        with suppress(OSError):
            channel.say(wire.FAULT, _place(error))
        return FAULTY
    return DONE


def _limit(request: dict[str, Any], limits: Limits) -> None:
    memory, seconds = request["memory"], request["seconds"]
    os.environ |= {  # what handles tables asks for them
        "GRASP_READ_MEMORY_MB": str(limits.memory >> 20), "GRASP_READ_SECONDS": str(limits.seconds)
    }  # fmt: skip
    # Some systems know no limit of memory; core dumps would hold the file.
    for what, soft, hard in (
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_FSIZE, 0, 0),
        (resource.RLIMIT_NOFILE, _FILES, _FILES),
        (resource.RLIMIT_CPU, seconds, seconds + 1),  # the soft one tells by its signal
        (resource.RLIMIT_DATA, memory, memory),
    ):
        with suppress(ValueError, OSError):
            resource.setrlimit(what, (soft, hard))
    with suppress(OSError):
        os.nice(request["niceness"])
    with suppress(OSError):  # where memory ends all the same, this process goes first
        Path("/proc/self/oom_score_adj").write_text("1000")


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


def _parsed(request: dict[str, Any], contents: list[bytes], channel: wire.Channel) -> Parsed:
    watch = _Watch(channel)
    if request["folder"]:
        return parse.parse_folder(contents, request["name"], watch)
    return parse.parse(contents.pop(), request["name"], request["member"], watch)


def _done(request: dict[str, Any], channel: wire.Channel) -> Any:
    """What a function makes of the tables that follow, and of values."""
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


class _Watch:
    """Tells how far reading is, but not at every step."""

    def __init__(self, channel: wire.Channel) -> None:
        self._channel = channel
        self._next = 0.0

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _BETWEEN
            self._channel.say(wire.PROGRESS, (done, total))


def _place(error: BaseException) -> str:
    """Kind of an error, and where it was raised; its message could quote the file."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}"
