"""Texts from elsewhere for each row, such as search results: a command of the user's, asked once for each."""

from __future__ import annotations

import hashlib
import json
import shlex
import subprocess
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import replace
from pathlib import Path

from grasp_core.benchmark.checkpoints import Kept, Watch, unwatched
from grasp_core.benchmark.tasks import Rows, Task
from grasp_core.model.errors import DataError, SpecError
from grasp_core.model.json_values import from_json

FIELD = "Retrieved"
"""The field that holds what was found: the last one, so that it is cut first where a prompt is full."""
_MOST = 100_000  # characters for a row
Retrieve = Callable[[Mapping[str, str]], str]
"""A row's fields to a text about it; empty where there is none."""


def with_retrieved(
    rows: Rows, task: Task, retrieve: Retrieve, *, watch: Watch = unwatched
) -> tuple[Rows, Task]:
    """The rows with what was retrieved for each as one more field, and the task that has this field.

    `retrieve`: such as a :class:`Command`, or a function of one's own.
    `watch`: told (rows done, rows in all).
    """
    if FIELD in task.fields:
        raise SpecError(f"task {task.name} has a field {FIELD} of its own, where retrieved texts would stand")
    texts = []
    for place, text in enumerate(rows.texts):
        watch(place, len(rows.texts))
        texts.append({**text, FIELD: retrieve(text)})
    watch(len(rows.texts), len(rows.texts))
    wider = replace(task, fields=(*task.fields, FIELD), prompt_fields=(*task.prompt_fields, FIELD))
    return replace(rows, texts=tuple(texts)), wider


def kept_texts(path: Path) -> Kept[str]:
    """The file that keeps what was retrieved, so that nothing is asked for twice."""
    return Kept(
        path,
        "grasp-retrieved",
        ("retrieved text", "retrieved texts"),
        lambda text: {"text": text},
        lambda plain: from_json(plain["text"], str),
    )


class Command:
    """A program that is given a row as a JSON object on its input and writes a text to its output.

    It is started without a shell, once for each different row.

    `line`: the program and its arguments, as a shell would have them.
    `known`: what was retrieved before; what is found is added.
    `timeout_s`: seconds that it may take for a row.
    """

    def __init__(self, line: str, known: MutableMapping[str, str], *, timeout_s: float = 60.0) -> None:
        try:
            self._words = shlex.split(line)
        except ValueError:
            self._words = []
        if not self._words:
            raise SpecError("--retrieve takes a program and its arguments; a quotation mark may be open")
        self._known, self._timeout_s = known, timeout_s

    def __call__(self, text: Mapping[str, str]) -> str:
        """What the program finds for a row."""
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
                timeout=self._timeout_s,
                check=False,
            )
            text = done.stdout[: 4 * _MOST].decode("utf-8")
        except subprocess.TimeoutExpired:
            raise DataError(
                f"{program} took more than {self._timeout_s:g} seconds to retrieve for a row; {kept}"
            ) from None
        except OSError as error:
            raise DataError(f"{program} cannot be started ({error.strerror}); name a program") from None
        except UnicodeDecodeError:
            raise DataError(f"{program} wrote something that is no UTF-8; {kept}") from None
        if done.returncode:
            raise DataError(f"{program} ended with status {done.returncode} for a row; {kept}")
        return " ".join(text[:_MOST].split())
