"""Versions that have to be the same wherever a run's blocks are computed."""

from __future__ import annotations

import platform
from typing import Any

import numba
import numpy as np

from grasp_core.errors import WorkerError
from grasp_core.version import __version__

OTHER = "The {} at {} runs {}, but here it is {}; start it with the same versions."
FOREIGN = "The {} at {} cannot run GRASP; start it where it can be imported, with {}."


def versions() -> dict[str, str]:
    """Versions that have to be the same everywhere for the same digits."""
    python = ".".join(platform.python_version_tuple()[:2])
    return {"GRASP": __version__, "Python": python, "Numba": numba.__version__, "NumPy": np.__version__}


def check(what: str, address: str, answer: Any) -> None:
    """Refuse a worker or scheduler whose versions could compute other digits, or none."""
    here = versions()
    if isinstance(answer, Exception):
        raise WorkerError(FOREIGN.format(what, address, _named(here)))
    if answer != here:
        other = {name: version for name, version in answer.items() if here.get(name) != version}
        expected = {name: here[name] for name in other if name in here}
        raise WorkerError(OTHER.format(what, address, _named(other), _named(expected)))


def _named(versions: dict[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())
