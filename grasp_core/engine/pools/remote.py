"""Functions that the workers of a Dask cluster run for :mod:`~grasp_core.engine.pools.cluster`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from distributed import get_worker

from grasp_core.engine.pools.versions import versions
from grasp_core.engine.pools.workers import Sent
from grasp_core.errors import GraspError


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """A call, hidden from Dask, which would look for its own keys in the arguments.

    Parameters
    ----------
    function : callable
        Importable by name.
    arguments : tuple
        At most one is a :class:`~grasp_core.engine.pools.workers.Sent`, without its content.
    versions : dict
        What :func:`~grasp_core.engine.pools.versions.versions` returns where the call comes from.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    versions: dict[str, str]

    @property
    def sent(self) -> Sent | None:
        """The argument that was sent before."""
        return next((argument for argument in self.arguments if isinstance(argument, Sent)), None)


@dataclass(frozen=True, slots=True)
class Refused:
    """The worker at this address runs other versions."""

    worker: str
    versions: dict[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class Failed:
    """The work raised an error."""

    error: Exception


def do(call: Call, content: bytes | None = None) -> Any:
    """Do a piece of work.

    Nothing is raised: Dask would write the message, which could quote rater data, to the worker's log.

    Parameters
    ----------
    call : Call
    content : bytes, optional
        Of the argument that was sent before, as Dask holds it.

    Returns
    -------
    object
        What the function returns, or a :class:`Refused` or :class:`Failed`.
    """
    here = versions()
    if here != call.versions:
        return Refused(get_worker().address, here)
    try:
        return call.function(
            *(Sent(one.key, content) if isinstance(one, Sent) else one for one in call.arguments)
        )
    except GraspError as error:
        return Failed(error)
    except Exception as error:
        return Failed(RuntimeError(f"{type(error).__name__} on a worker"))
