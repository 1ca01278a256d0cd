"""A process that fetches one source and ends: told by its input, it answers in lines of JSON."""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from grasp_core.model.errors import DataError
from grasp_core.reading.connectors import hosts
from grasp_core.reading.connectors._failures import sentence
from grasp_core.reading.connectors._job import Job
from grasp_core.reading.connectors.source import parse

MODULES = {"label-studio": "label_studio", "argilla": "argilla", "hf": "hugging_face", "sql": "sql"}


def main() -> None:
    """Fetch what the input says."""
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)  # whatever a client prints is nobody's answer
    asked = json.loads(sys.stdin.buffer.readline())

    def say(what: str, value: str) -> None:
        print(json.dumps({what: value}), file=answers, flush=True)

    job = Job(
        source=parse(asked["source"]),
        token=asked["token"],
        folder=Path(asked["folder"]),
        seconds=asked["seconds"],
        told=lambda words: say("told", words),
        file=asked["file"],
        hub=asked["hub"],
    )
    _limit(asked["bytes"], asked["memory"])
    if asked["admitted"] is not None:
        hosts.keep_to(_admits(asked["admitted"]))
    try:
        module = importlib.import_module(f"grasp_core.reading.connectors.{MODULES[job.source.kind]}")
        say("done", module.fetch(job))
    except DataError as error:
        say("refused", str(error))
    except MemoryError:
        say("refused", f"{job.source.shown} takes more memory than reading may take; ask for less")
    except Exception as error:  # every client has errors of its own
        say("refused", sentence(error, job))


def _admits(admitted: list[list[Any]]) -> hosts.Admits:
    """Hosts with a port; those that begin with a dot stand for all below them."""
    return lambda host, port: any(
        port == known and (host == name or (name.startswith(".") and host.endswith(name)))
        for name, known in admitted
    )


def _limit(most: int, memory: int) -> None:
    for what, limit in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, most),
        (resource.RLIMIT_DATA, memory),
    ):
        with suppress(ValueError, OSError):
            resource.setrlimit(what, (limit, limit))


if __name__ == "__main__":
    main()
