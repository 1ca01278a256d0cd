"""Messages between the two processes of a reading: frames of bytes, and values as JSON; never a pickle."""

import dataclasses
import json
import socket
import struct
from collections.abc import Callable
from typing import Any, BinaryIO, TypeVar, cast, get_type_hints

import numpy as np
import pyarrow as pa

from grasp_core.model.json_values import from_json, to_json
from grasp_core.reading.table.table import Parsed, Table

REQUEST, CHUNK, END_OF_FILE, END_OF_FILES = b"Q", b"C", b"N", b"Z"
READY, PROGRESS, REFUSED, FAULT, LINES, TABLE, VALUE = b"R", b"P", b"E", b"F", b"L", b"T", b"V"

_HEAD = struct.Struct("!cQ")
_NO_JSON = ("data", "columns", "lines")
"""Fields of a table that are sent in another form, or follow from other fields."""
Rows = TypeVar("Rows", Parsed, Table)


class Channel:
    """Frames over a stream socket; `waiting` is called when no bytes move, and may raise."""

    def __init__(self, connection: socket.socket, waiting: Callable[[], None] | None = None) -> None:
        self._connection = connection
        self._waiting = waiting

    def send(self, kind: bytes, content: bytes | memoryview = b"") -> None:
        """Send a frame."""
        self.write(_HEAD.pack(kind, len(content)))
        self.write(content)

    def say(self, kind: bytes, value: Any) -> None:
        """Send a frame with a value."""
        self.send(kind, json.dumps(to_json(value)).encode())

    def receive(self) -> tuple[bytes, bytearray]:
        """Receive the next frame: its kind and content."""
        kind, size = _HEAD.unpack(self.read(_HEAD.size))
        return kind, self.read(size)

    # A binary file for Arrow, whose streams mark their own end.

    closed = False

    def write(self, content: Any) -> int:
        """Send bytes."""
        rest = memoryview(content).cast("B")
        size = len(rest)
        while rest:
            try:
                rest = rest[self._connection.send(rest) :]
            except TimeoutError:
                self._wait()
        return size

    def read(self, size: int) -> bytearray:
        """Receive `size` bytes."""
        content = bytearray(size)
        rest = memoryview(content)
        while rest:
            try:
                count = self._connection.recv_into(rest)
            except TimeoutError:
                self._wait()
                continue
            if not count:
                raise EOFError
            rest = rest[count:]
        return content

    def flush(self) -> None:
        """Do nothing: no bytes are kept back."""

    def _wait(self) -> None:
        if self._waiting is not None:
            self._waiting()


def send_table(channel: Channel, table: Parsed) -> None:
    """Send a table."""
    if table.lines is not None:
        channel.send(LINES, table.lines.astype(np.int64).tobytes())
    names = [field.name for field in dataclasses.fields(table) if field.name not in _NO_JSON]
    channel.say(TABLE, {name: getattr(table, name) for name in names})
    with pa.ipc.new_stream(pa.PythonFile(cast(BinaryIO, channel), "w"), table.data.schema) as stream:
        stream.write_table(table.data)


def receive_table(channel: Channel, content: bytearray, lines: bytearray | None, kind: type[Rows]) -> Rows:
    """Receive a table after its frame of kind ``TABLE``, whose content is given."""
    with pa.ipc.open_stream(pa.PythonFile(cast(BinaryIO, channel), "r")) as stream:
        batches = list(stream)
        data = pa.Table.from_batches(batches, stream.schema)
    data.validate(full=True)
    kinds = get_type_hints(kind)
    fields = {name: from_json(value, kinds[name]) for name, value in value_of(content).items()}
    return kind(data=data, lines=None if lines is None else np.frombuffer(lines, dtype=np.int64), **fields)


def value_of(content: bytearray) -> Any:
    """Return the value in a frame."""
    return json.loads(content)
