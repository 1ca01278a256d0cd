"""What the workers of a Dask cluster do for this program; :mod:`~grasp_core.engine.cluster` asks them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from distributed import get_worker

from grasp_core.annotations import FloatArray
from grasp_core.engine.versions import versions
from grasp_core.errors import GraspError
from grasp_core.permutation import questions
from grasp_core.permutation.questions import Layout

KEPT_DESIGNS = 8
"""Designs that a worker process holds: of the runs that are computed side by side."""


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """A call, hidden from Dask, which would look for its own keys in the arguments.

    Parameters
    ----------
    function : callable
        Importable by name.
    arguments : tuple
    versions : dict
        What :func:`~grasp_core.engine.versions.versions` returns where the work comes from.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    versions: dict[str, str]


@dataclass(frozen=True, slots=True)
class Missing:
    """The worker at this address does not hold the design of this key."""

    worker: str
    key: str


@dataclass(frozen=True, slots=True)
class Refused:
    """The worker at this address runs other versions."""

    worker: str
    versions: dict[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class Failed:
    """The work raised an error."""

    error: Exception


class MissingDesignError(LookupError):
    """A design that this worker does not hold."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def do(work: Work) -> Any:
    """Do a piece of work.

    Nothing is raised: Dask would write the message, which could quote rater data, to the worker's log.

    Returns
    -------
    object
        What the function returns, or a :class:`Missing`, :class:`Refused` or :class:`Failed`.
    """
    here = versions()
    if here != work.versions:
        return Refused(get_worker().address, here)
    try:
        return work.function(*work.arguments)
    except MissingDesignError as missing:
        return Missing(get_worker().address, missing.key)
    except GraspError as error:
        return Failed(error)
    except Exception as error:
        return Failed(RuntimeError(f"{type(error).__name__} on a worker"))


def compute_block(key: str, seed: int, start: int, stop: int) -> FloatArray:
    """Compute permutations `start` to `stop` - 1 of a design held here, shape (stop - start, G, 6).

    Raises
    ------
    MissingDesignError
        If it is not held here, or not any more.
    """
    with _lock:
        if key not in _held:
            raise MissingDesignError(key)
        _held.move_to_end(key)
        design = _held[key]
    return questions.shuffled(design, seed, start, stop)


def hold(key: str, design: Layout) -> None:
    """Keep a design for the blocks to come."""
    with _lock:
        _held[key] = design
        while len(_held) > KEPT_DESIGNS:
            _held.popitem(last=False)


def drop(key: str) -> None:
    """Forget a design."""
    with _lock:
        _held.pop(key, None)


_held: OrderedDict[str, Layout] = OrderedDict()
_lock = threading.Lock()
