"""Files that store each piece of work once it is done, and texts that a command retrieves for each row."""

import hashlib
import json
import os
import shlex
import subprocess
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from grasp_core.benchmark.tasks import Task, TaskRows
from grasp_core.model.errors import DataError, SpecError
from grasp_core.model.json_values import from_json
from grasp_core.model.sizes import MIB, read_at_most
from grasp_core.reading.table.parsed import Watch, unwatched

V = TypeVar("V")
_MAX_FILE = 1024 * MIB


class KeptWork(MutableMapping[str, V], Generic[V]):
    """Pieces of work stored in a file; a piece that is set is on disk before anything else happens.

    `form`: the format's name, in the file's first line.
    `what`: one piece and several, in words.
    `read`: the reverse, from an object that also has a ``key``; raises ValueError, TypeError or KeyError.
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
                # If two programs begin a file at the same time, its first line is there twice.
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
        """Remove a last line that was not written to its end, so that the next one gets a line of its own."""
        if not lines:  # not even the first line is complete, so the file may not be ours
            raise DataError(f"{self.path} holds no {self._what[1]}; give --resume a new file")
        try:
            os.truncate(self.path, size)
        except OSError as error:
            raise self._unwritable(error) from None


FIELD = "Retrieved"
"""Name of the field with retrieved text: the last field, so that it is cut first in a full prompt."""
_MOST = 100_000  # characters of a text
RETRIEVE_SECONDS = 60.0
"""Most seconds that a program may take for a row."""
Retrieve = Callable[[Mapping[str, str]], str]
"""Function from a row's fields to a text about it, which may be empty."""


def with_retrieved(
    rows: TaskRows, task: Task, retrieve: Retrieve, *, watch: Watch = unwatched
) -> tuple[TaskRows, Task]:
    """Retrieve a text for each row; return the rows with this further field, and the task that has it too."""
    if FIELD in task.fields:
        raise SpecError(f"task {task.name} has a field {FIELD} of its own, where retrieved texts would stand")
    texts = []
    for place, text in enumerate(rows.texts):
        watch(place, len(rows.texts))
        texts.append({**text, FIELD: retrieve(text)})
    watch(len(rows.texts), len(rows.texts))
    wider = replace(task, fields=(*task.fields, FIELD), prompt_fields=(*task.prompt_fields, FIELD))
    return replace(rows, texts=tuple(texts)), wider


def kept_texts(path: Path) -> KeptWork[str]:
    """Open the file of retrieved texts, so that nothing is retrieved twice."""
    return KeptWork(
        path,
        "grasp-retrieved",
        ("retrieved text", "retrieved texts"),
        lambda text: {"text": text},
        lambda plain: from_json(plain["text"], str),
    )


class RetrievalProgram:
    """A program, run once a different row, that turns it as JSON into a text; `known` keeps these."""

    def __init__(self, line: str, known: MutableMapping[str, str]) -> None:
        try:
            self._words = shlex.split(line)
        except ValueError:
            self._words = []
        if not self._words:
            raise SpecError("--retrieve takes a program and its arguments; a quotation mark may be open")
        self._known = known

    def __call__(self, text: Mapping[str, str]) -> str:
        """Return the text that the program finds for a row."""
        row = json.dumps(dict(text), ensure_ascii=False, sort_keys=True)
        key = hashlib.sha256(json.dumps([self._words, row]).encode()).hexdigest()
        if key not in self._known:
            self._known[key] = self._found(row)
        return self._known[key]

    def _found(self, row: str) -> str:
        program = self._words[0]
        kept = "what it found so far is kept"
        try:
            done = subprocess.run(  # noqa: S603 - the user's own program, without a shell
                self._words,
                input=row.encode("utf-8", "replace"),
                stdout=subprocess.PIPE,
                timeout=RETRIEVE_SECONDS,
                check=False,
            )
            text = done.stdout[: 4 * _MOST].decode("utf-8")
        except subprocess.TimeoutExpired:
            took = f"took more than {RETRIEVE_SECONDS:g} seconds to retrieve for a row"
            raise DataError(f"{program} {took}; {kept}") from None
        except OSError as error:
            raise DataError(f"{program} cannot be started ({error.strerror}); name a program") from None
        except UnicodeDecodeError:
            raise DataError(f"{program} wrote something that is no UTF-8; {kept}") from None
        if done.returncode:
            raise DataError(f"{program} ended with status {done.returncode} for a row; {kept}")
        return " ".join(text[:_MOST].split())
