"""Pieces of work by key, each written to a JSON Lines file as soon as it is done, and told of."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, MutableMapping
from pathlib import Path
from typing import Any, Generic, TypeVar

from grasp_core.model.errors import DataError
from grasp_core.model.json_values import from_json
from grasp_core.reading.archives.members import MIB, read_at_most

V = TypeVar("V")
_MAX_FILE = 1024 * MIB
Watch = Callable[[int, int], None]
"""Told how much is done, and of how much; what it raises ends the work, and nothing done before is lost."""


def unwatched(_done: int, _total: int) -> None:
    """Nobody is told."""


class Kept(MutableMapping[str, V], Generic[V]):
    """A file's pieces of work; a piece that is set is on disk before anything else happens.

    `path`: may hold pieces of an earlier attempt.
    `form`: the file's own name for what it holds, in its first line.
    `what`: one piece and several, in words.
    `write`: a piece as the fields of a JSON object.
    `read`: the piece of such an object, which has a ``key`` too; raises ValueError, TypeError or KeyError.
    """

    def __init__(
        self,
        path: Path,
        form: str,
        what: tuple[str, str],
        write: Callable[[V], dict[str, Any]],
        read: Callable[[dict[str, Any]], V],
    ) -> None:
        self.path = path
        self._form = {"format": form, "version": 1}
        self._what, self._write, self._from = what, write, read
        self._known = self._read()

    def __getitem__(self, key: str) -> V:
        return self._known[key]

    def __setitem__(self, key: str, value: V) -> None:
        self._known[key] = value
        try:
            with self.path.open("a", encoding="utf-8") as file:
                if file.tell() == 0:
                    file.write(json.dumps(self._form) + "\n")
                file.write(json.dumps({"key": key, **self._write(value)}) + "\n")
        except OSError as error:
            raise self._unwritable(error) from None

    def __delitem__(self, key: str) -> None:
        raise TypeError("what is kept is only added to")

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def _unwritable(self, error: OSError) -> DataError:
        return DataError(f"{self.path}: {self._what[1]} cannot be written ({error.strerror})")

    def _read(self) -> dict[str, V]:
        path, (one, several) = self.path, self._what
        try:
            content = read_at_most(path, _MAX_FILE, several) if path.exists() else b""
        except OSError as error:
            raise DataError(f"{path} cannot be read ({error.strerror})") from None
        *lines, unfinished = content.split(b"\n")
        known: dict[str, V] = {}
        for row, line in enumerate(lines, 1):
            try:
                plain = json.loads(line)
                # Two programs that begin a file at the same time write its first line twice.
                if plain != self._form:
                    if row == 1:
                        raise ValueError
                    known[from_json(plain["key"], str)] = self._from(plain)
            except (ValueError, TypeError, KeyError, RecursionError):
                raise DataError(
                    f"{path}, line {row}: no {one} is written there; give --resume a new file, or one that "
                    "this program wrote"
                ) from None
        if unfinished:
            self._cut_off(len(content) - len(unfinished), lines)
        return known

    def _cut_off(self, size: int, lines: list[bytes]) -> None:
        """Take away a last line that was not written to its end, so that the next has one of its own."""
        if not lines:  # not even the first line is whole: nothing says that the file is ours
            raise DataError(f"{self.path} holds no {self._what[1]}; give --resume a new file")
        try:
            os.truncate(self.path, size)
        except OSError as error:
            raise self._unwritable(error) from None
